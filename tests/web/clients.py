"""Clients of the explorer that write, and the parts of a request that tests repeat."""

from starlette.testclient import TestClient

HERE = "http://127.0.0.1"
ID = "wire/law/bail/000.txt"


class Writer(TestClient):
    """A client that sends forms with the token and the state that it sees."""

    def put_form(self, path, **form):
        files, form = form.pop("files", None), {"state": self.view.mark, **form}
        values = {"token": self.app.state.session.token, **form}
        return self.post(path, data=values, files=files, headers={"Origin": HERE})

    @property
    def view(self):
        return self.app.state.session.view()


def edit(writer, kind, topic, **values):
    return writer.put_form("/shape", edit=kind, topic=topic, state=writer.view.mark, **values)


def leaf(writer, place=0):
    return writer.view.shape.topics[writer.view.tree.leaves[place]]

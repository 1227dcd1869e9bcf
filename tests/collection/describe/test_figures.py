"""Which documents are read to see how words are written."""

from types import SimpleNamespace

from topiarist.collection.describe.figures import AT_ONCE, SPELT, Figures


class Many:
    """A collection of many topics, each with three documents and a word of its own, and who asks for which texts."""

    def __init__(self, topics):
        self.asked = []
        self.outline = SimpleNamespace(tree=SimpleNamespace(root=0))
        own = [SimpleNamespace(words=(f"w{topic}",), rows=range(3 * topic, 3 * topic + 3)) for topic in range(topics)]
        self.tree = SimpleNamespace(nodes=own)
        self.documents = SimpleNamespace(many=self.many)

    def __len__(self):
        return 3 * len(self.tree.nodes)

    def many(self, rows):
        self.asked.append(list(rows))
        return [SimpleNamespace(text="") for _ in rows]


def test_of_many_topics_the_last_are_read_too_and_few_texts_are_held_at_once():
    collection = Many(SPELT - 1)
    assert Figures(collection).spelling == {}
    read = {row // 3 for rows in collection.asked for row in rows}
    assert read == set(range(SPELT - 1))
    assert max(map(len, collection.asked)) == AT_ONCE

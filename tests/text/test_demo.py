"""The bundled collection."""

from topiarist.text.demo import demo_documents


def test_demo_documents_complete() -> None:
    documents = list(demo_documents())
    assert len(documents) == 12_000
    assert len({document.id for document in documents}) == 12_000
    assert all(document.text and document.title and document.labels for document in documents)
    assert {document.date[:4] for document in documents} == {"2014"}

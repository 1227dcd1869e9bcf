"""Documents of another language, or of unknown words, stay at the root with the reason; others go where they belong."""

from tests.grown import collection, grown_once, new_documents, path  # noqa: F401
from topiarist.text.documents import Document

GERMAN = (
    "Die Regierung hat den neuen Haushalt beschlossen, und der Minister sagte in der Stadt, dass die Steuern nicht "
    "steigen. Der Verein gewann das Spiel mit drei zu null, die Fans feierten den Sieg bis in die Nacht."
)


def test_a_german_text_does_not_fit_an_english_collection(collection):  # noqa: F811
    assert collection.languages == ("en",)
    (filed,) = collection.file([Document("de", GERMAN)])
    assert filed.misfit == "it is in German, and this collection in English"
    assert (filed.path, filed.certainty, filed.unusual) == ((), (), True)
    assert filed.topic == collection.outline.topics[collection.outline.tree.root]
    assert filed.to_dict()["misfit"] == filed.misfit


def test_a_text_of_unknown_words_does_not_fit_and_says_how_many_are_known(collection):  # noqa: F811
    text = "grommet flanged sprocket camshaft gasket torqued dipstick carburettor crankcase tappet of the engine block"
    (filed,) = collection.file([Document("car", text)])
    known, _, total = filed.misfit.split(" words")[0].partition(" of its ")
    assert int(known) < int(total) / 2
    assert filed.misfit.endswith("words are known here")


def test_documents_of_its_kind_fit(collection):  # noqa: F811
    assert [one.misfit for one in collection.file(new_documents(20))] == [""] * 20

"""Documents in several languages: each has its language as a column that can be searched, also when it is added."""

from itertools import islice

import numpy as np

from tests.collection.test_misfits import GERMAN
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.text.demo import demo_documents
from topiarist.text.documents import Document

SECOND = "Der Sprecher der Regierung sagte am Montag, dass es für die neue Brücke in der Stadt noch kein Geld gibt."


def test_the_language_is_a_column_of_documents_in_several(tmp_path):
    english = list(islice(demo_documents(), 60))
    words, rng = f"{GERMAN} {SECOND}".split(), np.random.default_rng(0)
    german = [Document(f"de{row}", " ".join(rng.permutation(words)), columns=(("page", str(row)),)) for row in range(5)]
    with Collection.grow([*english, *german], tmp_path / "two.topiary", Recipe(topics=3)) as grown:
        assert grown.languages == ("en", "de")
        assert {hit.id for hit in grown.search("language:german", 50).hits} == {one.id for one in german}
        list(grown.add([Document("new", SECOND * 2), Document("own", SECOND * 2, columns=(("language", "Platt"),))]))
        assert "new" in {hit.id for hit in grown.search("language:German", 50).hits}
        assert [hit.id for hit in grown.search("language:platt", 50).hits] == ["own"]


def test_one_language_needs_no_column_and_one_that_documents_bring_stays(tmp_path):
    english = list(islice(demo_documents(), 60))
    with Collection.grow(english, tmp_path / "one.topiary", Recipe(topics=3)) as grown:
        assert not grown.settings["language_column"]
        assert "language" not in [field.name for field in grown.columns.fields()]

"""Documents in several languages: each has its language as a column that can be searched, also when it is added."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest

from tests.collection.test_misfits import GERMAN
from tests.grown import NoteCollector
from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.collection.grow.document_counts import find_main_language
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.sources import collect_documents
from topiarist.collection.grow.state import GrowOptions
from topiarist.errors import UsageError
from topiarist.storage import facts
from topiarist.text.demo import demo_documents
from topiarist.text.documents import Document
from topiarist.text.language import Language

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


def test_a_stop_list_takes_no_language_away(tmp_path):
    """Languages are told by function words, which are what a stop list takes out of the counts."""
    english = list(islice(demo_documents(), 200))
    words, rng = f"{GERMAN} {SECOND}".split(), np.random.default_rng(0)
    german = [Document(f"de{row}", " ".join(rng.permutation(words))) for row in range(5)]
    told = []
    for stop_words in ("none", "en", "de"):
        recipe = Recipe(topics=3, stop_words=stop_words)
        with Collection.grow([*english, *german], tmp_path / f"{stop_words}.topiary", recipe) as grown:
            told.append((grown.settings["languages"], grown.settings["languages_unknown"]))
            assert grown.languages == ("en", "de")
    assert told[0] == told[1] == told[2]


LANGUAGES = {
    "en": ("the of and to is was for that with which from they their have this", {
        "sport": "game player season coach stadium score winning defeat goal league",
        "web": "computer file program user screen driver memory keyboard install network",
    }),
    "de": ("der die und das ist nicht mit von auf für eine sich auch werden dem", {
        "sport": "spiel spieler saison trainer stadion tor sieg niederlage mannschaft liga",
        "web": "rechner datei programm nutzer bildschirm treiber speicher tastatur netzwerk gerät",
    }),
}  # fmt: skip
SHARED = {
    "sport": "hockey team arsenal basketball olympia champions marathon",
    "web": "windows apple microsoft server software app online",
}


def bilingual(number=130):
    """Documents of two subjects in two languages, that have some names in common."""
    rng, found = np.random.default_rng(0), []
    for code, (grammar, subjects) in LANGUAGES.items():
        for subject, own in subjects.items():
            for row in range(number if code == "en" else number - 20):
                drawn = ((grammar, 20), (own, 14), (SHARED[subject], 4))
                words = [word for known, times in drawn for word in rng.choice(known.split(), times)]
                found.append(Document(f"{code}-{subject}-{row}", " ".join(rng.permutation(words)), f"t{row}"))
    return found


def tops(collection):
    """For each heading how many documents of each language and subject lie under it."""
    tree = collection.outline.tree
    children = list(tree.children(tree.root))
    mask = tree.path_mask(collection.outline.class_nodes)[:, children].astype(float)
    homes = np.asarray(collection.shares @ mask).argmax(axis=1)
    found = [Counter() for _ in children]
    for home, id in zip(homes, collection.documents.ids(), strict=True):
        found[home]["-".join(id.split("-")[:2])] += 1
    return found


def test_together_a_subject_is_one_heading_in_both_languages(tmp_path):
    with Collection.grow(bilingual(), tmp_path / "c.topiary", Recipe(topics=4, headings=False)) as grown:
        assert sorted(sorted(one) for one in tops(grown)) == [["de-sport", "en-sport"], ["de-web", "en-web"]]
        assert "English 2, German 2 topics, each language grown on its own" in grown.description.facts["reason"]
        assert "2 topics are the same in several" in grown.description.facts["reason"]
        assert {"the", "der"} <= set(grown.counting.general)  # of half of the documents of a language
        assert check_folder(grown.folder.path) == []
        filed = list(grown.file([Document("new", "der trainer und die mannschaft von arsenal mit dem tor " * 3)]))
        assert not filed[0].misfit
        grown.shape([], refit=True)
        assert len(grown.outline.tree.leaves) == 4


def test_apart_languages_are_branches_and_one_leaves_the_others_out(tmp_path):
    collector = NoteCollector()
    options = GrowOptions(reporter=collector)
    apart = Recipe(topics=4, headings=False, languages="apart")
    with grow_collection(bilingual(), tmp_path / "a.topiary", apart, options) as grown:
        tree = grown.outline.tree
        assert [tree.names[node] for node in tree.children(tree.root)] == ["English", "German"]
        assert [{key.split("-")[0] for key in one} for one in tops(grown)] == [{"en"}, {"de"}]
    collector.notes.clear()
    one = Recipe(topics=2, headings=False, languages="one")
    with grow_collection(reversed(bilingual()), tmp_path / "o.topiary", one, options) as grown:  # 220 in German first
        assert {id[:2] for id in grown.documents.ids()} == {"en"}
        assert len(grown) == 260
        assert any("220 documents are not in English and left out: German 220" in note for note in collector.notes)
        assert facts.n_problems(grown.generation.database) == 220
        assert grown.settings["n_grown"] == 260


def test_languages_that_cannot_be_grown_so_are_refused_or_said(tmp_path):
    with pytest.raises(UsageError, match="together"):
        Recipe(languages="many")
    with pytest.raises(UsageError, match="cam"):
        Recipe(languages="apart", model="hplsa")
    few = [one for one in bilingual(60) if one.id.startswith("en") or int(one.id.split("-")[2]) < 5]
    collector, recipe = NoteCollector(), Recipe(topics=2, headings=False)
    with grow_collection(few, tmp_path / "f.topiary", recipe, GrowOptions(reporter=collector)) as grown:
        said = "Too few documents for a separate tree, grown with English: German 10 (a language needs 30 "
        assert any(one.startswith(said) for one in collector.notes)
        assert "grown on its own" not in grown.description.facts["reason"]  # ten German ones are too few


class _Kept(list):
    def load_many(self, rows):
        return [self[row] for row in rows]


def test_main_language_is_that_of_most_documents():
    kept = _Kept([Document("d", GERMAN)] * 250 + [Document("e", one.text) for one in islice(demo_documents(), 300)])
    first = Language("de", 1.0, 200)
    assert find_main_language(Recipe(), kept, first).code == "en"
    assert find_main_language(Recipe(language="de"), kept, first) is first
    few = _Kept(kept[:150])
    assert find_main_language(Recipe(), few, first) is first


def test_documents_that_wait_for_their_language_come_as_they_were(tmp_path):
    one = Document("a", GERMAN, "t", ("x", "y"), "s.csv", "2025-01-22", "22/01/2025", (("n", "1"), ("n", "2")))
    with collect_documents([one, Document("b", "short")], tmp_path) as every:
        assert list(every) == [("de", one), ("", Document("b", "short"))]
        assert (every.language.code, every.tie_note) == ("de", "")
    english = next(iter(demo_documents()))
    with collect_documents([one, english], tmp_path) as every:
        assert every.tie_note.startswith("German and English have 1 document each; English is taken, for it has more")
    same = Document("c", english.text[: len(GERMAN.strip())])
    with collect_documents([Document("a", GERMAN.strip()), same], tmp_path) as every:
        assert every.tie_note.endswith(
            'German is taken, for it came first and none has more text (language = "CODE"). '
        )
    assert not list(tmp_path.iterdir())

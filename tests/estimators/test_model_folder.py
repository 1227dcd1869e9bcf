"""Models in folders: the same bits come back, streams go on, and nothing hostile is believed."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import topiarist
from tests.estimators import zoo
from topiarist import PLSA, Corpus, Tree, load_model, load_vocabulary, save_model
from topiarist.counts.settings import CountSettings
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import DamagedError, UsageError
from topiarist.estimators.registry import ESTIMATORS
from topiarist.execution import InProcess
from topiarist.storage.sealed_folder import digest
from topiarist.storage.tensors import map_tensors, write_tensors
from topiarist.text.documents import Document

STREAMS = [name for name in zoo.ZOO if name.startswith(("PLSA", "HPLSA", "CAM"))]
NOT_IN_A_STREAM = {"PLSA, tempered"}


def round_trip(model, folder):
    save_model(model, folder)
    return load_model(folder, check=True)


def same(one, other, where=""):
    """Equal to the last bit, of the same types, in the same order in memory."""
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), where
        if one.flags.forc:
            assert one.flags.c_contiguous == other.flags.c_contiguous, where
        assert one.tolist() == other.tolist() if one.dtype == object else one.tobytes() == other.tobytes(), where
    elif sp.issparse(one):
        same((one.shape, one.toarray()), (other.shape, other.toarray()), where)
    elif isinstance(one, dict):
        assert list(one) == list(other), where
        same(list(one.values()), list(other.values()), where)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            same(left, right, f"{where}[{place}]")
    elif isinstance(one, np.random.RandomState):
        same(one.get_state(legacy=False), other.get_state(legacy=False), where)
    elif isinstance(one, float):
        assert one == other or (one != one and other != other), where
    elif hasattr(one, "get_params") or hasattr(one, "__dataclass_fields__"):
        names = vars(one) if hasattr(one, "get_params") else one.__dataclass_fields__
        for name in names:
            same(getattr(one, name), getattr(other, name), f"{where}.{name}")
    else:
        assert one == other, where


def test_every_public_estimator_is_kept():
    public = {name for name in topiarist.__all__ if hasattr(getattr(topiarist, name), "get_params")}
    own = {"GaussianTree"}  # of collections alone; tests/tasks/test_gaussian_tree.py keeps one
    assert public | own == set(ESTIMATORS)
    assert {name.split(",")[0] for name in zoo.ZOO} == public
    for name in public:
        assert ESTIMATORS[name].type is getattr(topiarist, name)


@pytest.mark.parametrize("name", zoo.ZOO)
def test_what_comes_back_is_what_went(name, tmp_path):
    model = zoo.fitted(name)
    loaded = round_trip(model, tmp_path / "m")
    assert vars(loaded).keys() == vars(model).keys()
    same(model, loaded, type(model).__name__)
    same(zoo.answers(model), zoo.answers(loaded))
    assert zoo.shown(clone(loaded)) == zoo.shown(clone(model))


@pytest.mark.parametrize("name", zoo.ZOO)
def test_the_same_model_gives_the_same_bytes(name, tmp_path):
    for folder in ("a", "b"):
        save_model(zoo.fitted(name), tmp_path / folder)
    save_model(load_model(tmp_path / "a"), tmp_path / "c")
    for file in ("model.json", "model.safetensors"):
        assert len({(tmp_path / folder / file).read_bytes() for folder in "abc"}) == 1, file


@pytest.mark.parametrize("name", sorted(set(STREAMS) - NOT_IN_A_STREAM))
def test_a_stream_goes_on_where_it_was(name, tmp_path):
    model = zoo.ZOO[name]()
    loaded = round_trip(model, tmp_path / "m")
    for place, batch in enumerate([zoo.counts(7), zoo.strange(), zoo.counts(8)]):
        wide = sp.csr_array((batch.data, batch.indices, batch.indptr), shape=(batch.shape[0], model.n_features_in_))
        model.partial_fit(wide)
        loaded.partial_fit(wide)
        loaded = round_trip(loaded, tmp_path / f"m{place}")
    same(model, loaded)
    same(zoo.answers(model), zoo.answers(loaded))


def test_streams_of_the_zoo_have_records():
    for name in ("PLSA, stream", "HPLSA, stream", "CAM, stream"):
        assert len(zoo.fitted(name).stream_) >= 3


@pytest.mark.parametrize("name", zoo.ZOO)
def test_the_registry_knows_the_shape_of_every_array(name):
    """An array that a sweep reads must be in the registry; these are not read by any."""
    free = {"history_", "heldout_history_", "feature_names_in_"}
    model = zoo.fitted(name)
    arrays = {key for key, value in vars(model).items() if isinstance(value, np.ndarray)} - free
    assert arrays <= {key.removesuffix("?") for key in ESTIMATORS[type(model).__name__].shapes}


def test_arrays_are_mapped_and_private(tmp_path):
    loaded = round_trip(zoo.fitted("HPLSA"), tmp_path / "m")
    base = loaded.word_given_topic_
    while base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert base is not None
    assert loaded.word_given_topic_.flags.aligned
    loaded.word_given_topic_[:] = 0
    same(load_model(tmp_path / "m", check=True), zoo.fitted("HPLSA"))


def test_words_and_names_of_columns(tmp_path):
    pd = pytest.importorskip("pandas")
    words = [f"wörter{place:02}" for place in range(zoo.WORDS)]
    model = PLSA(3, random_state=0).fit(pd.DataFrame(zoo.counts().toarray(), columns=words))
    vocabulary = Vocabulary.of(words)
    save_model(model, tmp_path / "m", vocabulary=vocabulary)
    loaded = load_model(tmp_path / "m", check=True)
    same(model, loaded)
    assert load_vocabulary(tmp_path / "m", check=True) == vocabulary
    save_model(model, tmp_path / "n")
    assert load_vocabulary(tmp_path / "n") is None
    with pytest.raises(UsageError, match="40 columns, the vocabulary has 2 words"):
        save_model(model, tmp_path / "o", vocabulary=Vocabulary.of(["a", "b"]))


def test_counted_words_come_back(tmp_path):
    texts = ["tree hedge tree shears", "hedge garden tree", "shears garden hedge"]
    documents = [Document(str(place), text) for place, text in enumerate(texts)]
    corpus = Corpus.from_documents(documents, CountSettings(min_documents=1))
    model = PLSA(2, random_state=0).fit(corpus.counts)
    save_model(model, tmp_path / "m", vocabulary=corpus.vocabulary)
    assert load_vocabulary(tmp_path / "m") == corpus.vocabulary


def test_parameters_that_belong_to_a_process(tmp_path):
    model = clone(zoo.fitted("PLSA")).set_params(executor=InProcess()).fit(zoo.counts())
    assert round_trip(model, tmp_path / "m").executor is None
    assert isinstance(model.executor, InProcess)


@pytest.mark.parametrize(
    ("parameter", "value", "said"),
    [
        ("random_state", np.random.default_rng(0), r"cannot save random_state \(a parameter\).*Generator"),
        ("tol", lambda: 1, r"cannot save tol \(a parameter\).*function"),
        ("dtype", np.dtype("complex128"), r"cannot save dtype"),
        ("tol", np.array([1j]), "cannot save parameters.tol: an array of complex128"),
        ("tol", np.array([object()]), "cannot save parameters.tol: it holds"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(tmp_path, parameter, value, said):
    model = clone(zoo.fitted("PLSA")).fit(zoo.counts())
    setattr(model, parameter, value)
    with pytest.raises(UsageError, match=said):
        save_model(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_fitted_model_of_ours_is_refused(tmp_path):
    class Mine(PLSA):
        pass

    with pytest.raises(UsageError, match="PLSA is not fitted"):
        save_model(PLSA(), tmp_path / "m")
    with pytest.raises(UsageError, match="Mine is not a class"):
        save_model(Mine(), tmp_path / "m")
    with pytest.raises(UsageError, match="int is not a class"):
        save_model(3, tmp_path / "m")
    nested = []
    nested.append(nested)
    model = clone(zoo.fitted("PLSA")).fit(zoo.counts()).set_params(verbose=nested)
    with pytest.raises(UsageError, match="nested too deeply"):
        save_model(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_never_overwritten(tmp_path):
    save_model(zoo.fitted("PLSA"), tmp_path / "m")
    with pytest.raises(UsageError, match="exists already"):
        save_model(zoo.fitted("LSI"), tmp_path / "m")
    assert isinstance(load_model(tmp_path / "m"), PLSA)


FULL = """
import resource, sys
from pathlib import Path
import numpy as np
from topiarist import PLSA
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import ResourceError
from topiarist import save_model

model = PLSA(2, random_state=0, max_iter=2).fit(np.random.default_rng(0).poisson(2, (30, 500)))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    save_model(model, Path(sys.argv[1]) / "m", vocabulary=Vocabulary.of([f"{n:03}" for n in range(500)]))
except ResourceError as error:
    print(error.message)
"""


@pytest.mark.skipif(os.name != "posix", reason="other systems cannot limit files")
@pytest.mark.parametrize("limit", [0, 100, 5_000])
def test_full_disk_raises_error_without_traces(tmp_path, limit):
    command = [sys.executable, "-c", FULL, str(tmp_path), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"cannot write {tmp_path}/.m-")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.json", "model.json"])
def test_no_room_for_any_one_file(tmp_path, monkeypatch, name):
    from topiarist.storage import sealed_folder

    opened = open

    def full(path, mode="r"):
        if name in str(path) and mode == "wb":
            raise OSError(28, "No space left on device")
        return opened(path, mode)

    monkeypatch.setattr(sealed_folder, "open", full, raising=False)
    with pytest.raises(topiarist.errors.ResourceError, match=rf"cannot write .*{name}: .*No space left on device"):
        save_model(zoo.fitted("PLSA"), tmp_path / "m", vocabulary=Vocabulary.of([f"{n:02}" for n in range(40)]))
    assert list(tmp_path.iterdir()) == []


# ---- hostile folders


@pytest.fixture
def folder(tmp_path):
    save_model(zoo.fitted("HPLSA, stream"), tmp_path / "m")
    return tmp_path / "m"


def forged(folder, change):
    """Change the description, checksum and all, as somebody would who means harm."""
    path = folder / "model.json"
    body = json.loads(path.read_text())
    body.pop("sha256")
    change(body)
    path.write_text(json.dumps({**body, "sha256": digest(body)}))


def refused(folder, said, **options):
    with pytest.raises(DamagedError, match=said) as caught:
        load_model(folder, **options)
    assert caught.value.exit_code == 4


def test_no_model_there(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError, match="is not the folder of a model"):
            load_model(path)


def test_a_flipped_bit_is_found(folder):
    rng = np.random.default_rng(0)
    for name in ("model.json", "model.safetensors"):
        content = (folder / name).read_bytes()
        for place in (*rng.integers(0, len(content), 20), len(content) - 2):
            flipped = bytearray(content)
            flipped[place] ^= 1 << int(rng.integers(8))
            (folder / name).write_bytes(flipped)
            with pytest.raises(DamagedError):
                load_model(folder, check=True)
        (folder / name).write_bytes(content)
    load_model(folder, check=True)


def test_sizes_are_always_looked_at(folder):
    path = folder / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    refused(folder, r"model.safetensors has [\d,]+ bytes, [\d,]+ were written")
    path.write_bytes(content[:-1] + b"\1")
    refused(folder, "its checksum differs", check=True)
    path.unlink()
    refused(folder, "model.safetensors cannot be read")


def test_every_truncation_of_the_description_is_refused(folder):
    content = (folder / "model.json").read_bytes()
    for size in range(0, len(content) - 1, 97):
        (folder / "model.json").write_bytes(content[:size])
        with pytest.raises(DamagedError):
            load_model(folder)


def test_a_damaged_vocabulary_is_refused(tmp_path):
    save_model(zoo.fitted("PLSA"), tmp_path / "m", vocabulary=Vocabulary.of([f"{n:02}" for n in range(40)]))
    path = tmp_path / "m" / "vocabulary.json"
    path.write_bytes(path.read_bytes()[:-2] + b"  ")
    load_model(tmp_path / "m")
    with pytest.raises(DamagedError, match=r"vocabulary\.json is damaged"):
        load_vocabulary(tmp_path / "m")
    with pytest.raises(DamagedError, match="its checksum differs"):
        load_model(tmp_path / "m", check=True)


def parameter(**new):
    return lambda body: body["parameters"].update(new)


def learned(**new):
    return lambda body: body["fitted"].update(new)


def array(name, dtype="float64", shape=(1,), order="C"):
    return {"is": "array", "name": name, "dtype": dtype, "shape": list(shape), "order": order}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda body: body.update(format="other"), "is not a manifest of the folder of a model"),
        (lambda body: body.update(version=2), "has version 2 of the format, this topiarist reads 1"),
        (lambda body: body.update(version=[]), "has version"),
        (lambda body: body.update({"class": "SVC"}), "no model of the class 'SVC'"),
        (lambda body: body.update({"class": ["PLSA"]}), "damaged"),
        (lambda body: body.update({"class": "os.system"}), "no model of the class"),
        (lambda body: body.pop("fitted"), "there is no 'fitted'"),
        (lambda body: body.update(fitted={}), "n_features_in_"),
        (lambda body: body.update(parameters=[]), "damaged"),
        (lambda body: body.pop("files"), "there is no 'files'"),
        (lambda body: body["files"].pop("model.safetensors"), "files called"),
        (lambda body: body["files"].update({"../other": {"bytes": 1, "sha256": ""}}), r"files called \['../other'"),
        (lambda body: body["files"].update({"/etc/passwd": {"bytes": 1, "sha256": ""}}), "files called"),
        (parameter(newer=1), "HPLSA has no parameter 'newer'"),
        (parameter(tree={"is": "value", "class": "Popen", "fields": {}}), "no value of the class 'Popen'"),
        (parameter(tree={"is": "value", "class": "Tree", "fields": {"parents": [-1, 5]}}), "damaged"),
        (parameter(tree={"is": "value", "class": "Tree", "fields": {"parents": [-1], "more": 1}}), "more"),
        (parameter(tol={"is": "__init__"}), "an unknown entry '__init__'"),
        (parameter(tol={"is": "estimator"}), "an unknown entry 'estimator'"),
        (parameter(tol={"is": "dict", "items": [[[1], 2]]}), "damaged"),
        (parameter(tol={"is": "scalar", "of": 3}), "damaged"),
        (parameter(tol={"is": "texts", "items": ["a"], "shape": [1], "width": 2**40}), "1 texts of"),
        (parameter(tol={"is": "texts", "items": ["a"], "shape": [2**40], "width": 1}), "damaged"),
        (parameter(tol={"is": "texts", "items": ["a"], "shape": [1], "width": 0}), "1 texts of 0"),
        (parameter(dtype={"is": "dtype", "name": "object", "type": True}), "damaged"),
        (parameter(tree={"is": "model", "class": "SVC", "parameters": {}, "fitted": {}}), "no model of the class"),
        (learned(transform=1), "no learned attribute called 'transform'"),
        (learned(__class__=1), "no learned attribute called '__class__'"),
        (learned(_reader=1), "no learned attribute called '_reader'"),
        (learned(doc_given_class_=1), "no learned attribute called 'doc_given_class_'"),
        (learned(n_classes=1), "no learned attribute called 'n_classes'"),
        (learned(n_features_in_=44), "should be 6 nodes × 44 words, and has the shape"),
        (learned(n_features_in_="45"), "there is no number n_features_in_"),
        (learned(class_nodes_={"is": "tuple", "items": [1]}), "should be"),
        (learned(word_given_topic_=3), "word_given_topic_ should be 6 nodes × 45 words, and is not there"),
        (learned(word_given_topic_=array("nowhere")), "there is no 'nowhere'"),
        (learned(class_prior_=array("fitted.class_prior_", shape=[2**50])), r"not float64 of shape \(11258999"),
        (learned(class_prior_=array("fitted.class_prior_", "int64", [3])), "not int64 of shape"),
        (learned(class_prior_=array("fitted.class_prior_", "object", [3])), "there is no 'object'"),
        (learned(tree_={"is": "value", "class": "Tree", "fields": {"parents": [-1]}}), "should be 1 nodes"),
    ],
)  # fmt: skip
def test_forged_descriptions_are_refused(folder, change, said):
    forged(folder, change)
    refused(folder, said)


def test_arrays_of_other_shapes_are_refused(folder):
    arrays = {name: np.array(array) for name, array in map_tensors(folder / "model.safetensors").items()}
    table = arrays["fitted.word_given_topic_"]
    arrays["fitted.word_given_topic_"] = np.ascontiguousarray(table.T)
    write_tensors(folder / "model.safetensors", arrays)
    refused(folder, r"fitted.word_given_topic_ is float64 of shape \(45, 6\), and not float64 of shape \(6, 45\)")


def test_a_kernel_whose_models_know_other_words_is_refused(tmp_path):
    save_model(zoo.fitted("FisherKernel"), tmp_path / "m")
    forged(tmp_path / "m", learned(n_features_in_=41))
    refused(tmp_path / "m", r"by_word should be 41 words × topics, and has the shape \(40, 1\)")


def test_the_same_memory_is_stored_once(tmp_path):
    """A lens looks through the words of its model."""
    model = zoo.fitted("FisherKernel")
    loaded = round_trip(model, tmp_path / "m")
    assert np.shares_memory(model._lenses[1].by_word, model.models_[1].components_)
    assert np.shares_memory(loaded._lenses[1].by_word, loaded.models_[1].components_)


def test_a_lens_that_does_not_fit_together_is_refused(tmp_path):
    save_model(zoo.fitted("FisherKernel"), tmp_path / "m")
    forged(tmp_path / "m", lambda body: body["fitted"]["_lenses"][1]["fields"].update(class_tokens=array("a")))
    refused(tmp_path / "m", "there is no 'a'")
    prior = json.loads((tmp_path / "m" / "model.json").read_text())["fitted"]["_lenses"][0]["fields"]["class_prior"]
    forged(tmp_path / "m", lambda body: body["fitted"]["_lenses"][1]["fields"].update(class_tokens=prior))
    refused(tmp_path / "m", "expected tokens of 3 classes, got 1")


def test_a_forged_random_state_is_refused(tmp_path):
    """The place in the state is an index that numpy believes."""
    save_model(zoo.fitted("PLSA, generator"), tmp_path / "m")

    def change(body):
        state = dict(body["parameters"]["random_state"]["state"]["items"])["state"]["items"]
        next(pair for pair in state if pair[0] == "pos")[1] = 10**6

    forged(tmp_path / "m", change)
    refused(tmp_path / "m", "an invalid random_state")


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"is": "tuple", "items": ['])
def test_deep_nesting_is_refused(folder, opening):
    closing = {"[": "]", "{": "}"}[opening[0]] if len(opening) < 10 else "]}"
    deep = opening * 100_000 + "1" + closing * 100_000
    path = folder / "model.json"
    path.write_text(path.read_text().replace('"tol": 0.0001', f'"tol": {deep}'))
    refused(folder, "nested too deeply")
    path.write_text(deep)
    refused(folder, "nested too deeply")


def test_not_numbers_are_no_json(folder):
    path = folder / "model.json"
    path.write_text(path.read_text().replace('"tol": 0.0001', '"tol": NaN'))
    refused(folder, "NaN is not JSON")


def test_a_moved_folder_is_the_same_model(folder, tmp_path):
    shutil.move(folder, tmp_path / "elsewhere" / "deep")
    same(load_model(tmp_path / "elsewhere" / "deep", check=True), zoo.fitted("HPLSA, stream"))


def test_missing_parameter_is_damage(folder):
    forged(folder, lambda body: body["parameters"].pop("class_smoothing"))
    refused(folder, "the parameter 'class_smoothing' of HPLSA is missing")


def test_a_tree_with_any_names(tmp_path):
    tree = Tree.from_paths(["ä/a\u2028b", 'ä/"', "\U0001f332/\\"])
    model = topiarist.HPLSA(tree=tree, random_state=0, max_iter=2).fit(zoo.counts())
    assert round_trip(model, tmp_path / "m").tree_ == tree

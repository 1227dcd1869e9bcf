"""The counter as a scikit-learn transformer."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

import topiarist.counts as counts_package
from topiarist.counts import TextCounter


@pytest.mark.parametrize("options", [{}, {"min_df": 3, "max_df": 0.4}, {"min_df": 0.01, "max_df": 200}])
def test_parameters_mean_what_they_mean_in_scikit_learn(real_texts: list[str], options: dict) -> None:
    texts = [text for text in real_texts if text.isascii()][:400]
    theirs = CountVectorizer(**options)
    ours = TextCounter(numbers=True, **options)
    assert (ours.fit_transform(texts) != theirs.fit_transform(texts)).nnz == 0
    assert np.array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert (ours.transform(texts[:9]) != theirs.transform(texts[:9])).nnz == 0


def test_it_stands_in_a_pipeline(real_texts: list[str]) -> None:
    pipeline = make_pipeline(TextCounter(min_df=2, stop_words="en", stem="en", phrases=True), TfidfTransformer())
    features = pipeline.fit_transform(real_texts[:100])
    assert features.shape[0] == 100
    assert abs(pipeline.transform(real_texts[:100]) - features).max() < 1e-12


def test_it_is_an_estimator() -> None:
    counter = TextCounter(stop_words=["tree"], max_features=5)
    assert clone(counter).get_params() == counter.get_params()
    with pytest.raises(NotFittedError):
        counter.transform(["tree"])
    assert counter.fit(["tree leaf"]).get_feature_names_out().tolist() == ["leaf"]


def test_every_public_name_can_be_imported() -> None:
    for name in counts_package.__all__:
        assert getattr(counts_package, name) is not None
    assert dir(counts_package) == counts_package.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        counts_package.nothing  # noqa: B018

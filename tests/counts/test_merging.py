"""A vocabulary that is merged from chunks is the one that is found at once."""

import numpy as np
import pytest

from topiarist.counts import CountSettings, PhraseSettings, count
from topiarist.counts.merging import summarise, vocabulary_of_summary, vocabulary_of_texts
from topiarist.errors import InputError, UsageError

TEXTS = [
    "The gardener trims the hedges; hedge trimming is a garden art.",
    "Gardens and gardeners: the hedge grows, and gardening goes on.",
    "",
    "Trees are trimmed into shapes. A shaped tree, shaping trees!",
    "The art of trees and the art of gardens.",
    "1984 was a year without gardens, hedges or art.",
] * 3


@pytest.mark.parametrize("chunk", [None, 40, 150])
@pytest.mark.parametrize(
    "settings",
    [
        CountSettings(),
        CountSettings(min_documents=1, numbers=True),
        CountSettings(min_documents=4, max_document_share=0.6, stop_words="en"),
        CountSettings(min_documents=2, stem="en"),
        CountSettings(min_documents=2, stem="en", stop_words=("garden", "the"), max_words=5),
    ],
    ids=["plain", "numbers", "pruned", "stems", "stems-stopped"],
)
def test_merged_chunks_give_the_vocabulary_of_the_whole(settings, chunk):
    vocabulary, n_docs = vocabulary_of_texts(TEXTS, settings, chunk=chunk)
    assert n_docs == len(TEXTS)
    assert vocabulary == count(TEXTS, settings)[1]


def test_summaries_add_up_in_any_grouping():
    settings = CountSettings(min_documents=1, stem="en")
    parts = [summarise(TEXTS[start : start + 5], settings) for start in range(0, len(TEXTS), 5)]
    left = parts[0]
    for part in parts[1:]:
        left = left.add(part)
    assert left == summarise(TEXTS, settings)
    assert np.array_equal(vocabulary_of_summary(left, settings).totals, count(TEXTS, settings)[1].totals)


def test_what_cannot_be_merged_is_said():
    with pytest.raises(UsageError, match="phrases need all texts in memory"):
        vocabulary_of_texts(TEXTS, CountSettings(phrases=PhraseSettings()))
    with pytest.raises(InputError, match="no word occurs in at least 99 documents"):
        vocabulary_of_texts(TEXTS, CountSettings(min_documents=99))

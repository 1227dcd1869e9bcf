"""Are the documents too short to be sorted by their words? Told by what the tree gained on words that it had not seen.

A tree makes unseen words more likely than one list of words for all documents does. What that comes to for all words of
a document is what they tell of its topic: e³, twenty times as likely, is what it takes to tell one topic among twenty.
On newsgroup subjects and titles of abstracts and of news it is 1.2 to 13 times, on the first fifty words of the same
texts more than a hundred (``docs/how-to/vectors.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiarist.collection.describe.topic_tree import FEWEST_TO_JUDGE
from topiarist.counts.validation import grand_total

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

SHORT = 15.0  # counted words of a document, on average: more of them say enough, if there is anything to be said
TELLING = 3.0  # nats of a document


@dataclass(frozen=True)
class ShortTexts:
    """Documents that are too short: how many words they have, and how much more likely a topic makes those of one."""

    words: float
    gain: float  # nats of a document, by held-out words

    @property
    def said(self) -> str:
        """In a sentence that says what would help."""
        times = math.exp(self.gain)
        told = f"{times:.1f}" if times < 10 else f"{times:.0f}"
        return (
            f"The documents are too short to be sorted well by words: {self.words:.1f} counted words on average, and"
            f" the topic makes those of a document {told} times as likely, where {math.exp(TELLING):.0f} times would"
            " tell; vectors beside words would help (grow with --encoder, --embed or --vectors)"
        )


def short_texts(collection: Collection) -> ShortTexts | None:
    """Whether documents are too short to be sorted; None where they are not, have vectors, or nobody can tell."""
    tree = collection.tree
    if collection.vectors is not None or tree.curve is None or tree.n_docs < FEWEST_TO_JUDGE:
        return None
    curve, n_docs = tree.curve, len(collection)
    if int(curve.n_leaves[0]) != 1:
        return None
    words = grand_total(collection.counts) / max(n_docs, 1)
    gain = words * math.log(float(curve.perplexity[0]) / float(curve.perplexity[curve.place]))
    return ShortTexts(words, max(gain, 0.0)) if words < SHORT and gain < TELLING else None

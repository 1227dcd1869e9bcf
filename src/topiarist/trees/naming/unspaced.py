"""Words of scripts without spaces in names: no pieces of longer words, no overlapping pairs of characters.

Texts in such scripts are counted as the words of a segmenter and the pairs of characters within them, or as
overlapping pairs alone. A piece is a word that stands within longer words in most of its documents. Pairs alone are
joined to the longest string that is as frequent: 章子 and 子怡 are 章子怡.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from scipy.sparse import csc_array

from topiarist.arrays import Csr
from topiarist.text.characters import patterns
from topiarist.text.tokens import is_unspaced
from topiarist.trees.naming.text_features import TextFeatures

MIN_PIECE_SHARE = 0.7  # of a word's documents have a longer word around it: then it is a piece
MIN_JOINED_SHARE = 0.7  # of the places of a pair have the same character beside it: then this belongs to it
MAX_CONTEXT = 6  # characters that are read on each side of a pair
MAX_PLACES = 200  # texts in which the neighbours of a pair are read
MIN_PLACES = 3
MAX_LENGTH = 8  # characters of joined pairs
MAX_READ = 600  # characters of each text
PAIR = 2  # characters


def remove_pieces(
    features: TextFeatures, texts: Iterable[str], counts: Csr, words: Sequence[str], columns: Collection[int]
) -> TextFeatures:
    """Return features that exclude parts of words from names; ``columns`` are the words for names."""
    candidates = [column for column in sorted(columns) if is_unspaced(words[column])]
    if not candidates:
        return features
    pieces = find_pieces(counts, words, candidates)
    forms = dict(features.forms)
    if not any(is_unspaced(word) and count_characters(word) > PAIR for word in words):  # no segmenter
        joined = join_pairs(texts, [words[column] for column in candidates])
        pieces |= find_repeated(joined)
        forms |= {word: form for word, (form, _) in joined.items() if word not in pieces}
    return replace(features, fragments=features.fragments | pieces, pieces=frozenset(pieces), forms=forms)


def count_characters(word: str) -> int:
    """Return the number of characters with their marks."""
    return len(patterns().unspaced_character.findall(word))


def find_pieces(counts: Csr, words: Sequence[str], columns: Sequence[int]) -> set[str]:
    """Return the words that stand within longer words in most of their documents."""
    places = {words[column]: column for column in columns}
    lengths = sorted({len(word) for word in places})
    longer = defaultdict[str, list[int]](list)
    for column, word in enumerate(words):
        if is_unspaced(word):
            parts = {
                word[start : start + length]
                for length in lengths
                if length < len(word)
                for start in range(len(word) - length + 1)
            }
            for part in parts & places.keys():
                longer[part].append(column)
    needed = sorted({*(places[part] for part in longer), *chain.from_iterable(longer.values())})
    if not needed:
        return set()
    has = csc_array(counts[:, needed])
    rows = {column: has.indices[slice(*has.indptr[place : place + 2])] for place, column in enumerate(needed)}
    pieces = set[str]()
    for part, around in longer.items():
        own_rows, other_rows = rows[places[part]], np.concatenate([rows[column] for column in around])
        if len(own_rows) and np.isin(own_rows, other_rows).mean() >= MIN_PIECE_SHARE:
            pieces.add(part)
    return pieces


def join_pairs(texts: Iterable[str], pairs: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Return the longest string around each pair that is about as frequent, and the number of texts with the pair."""
    contexts = defaultdict[str, list[tuple[str, str]]](list)
    known, lengths = frozenset(pairs), sorted({len(pair) for pair in pairs})
    for text in texts:
        seen = set[str]()
        for run in patterns().unspaced_run.finditer(text[:MAX_READ].lower()):
            letters = run[0]
            for start in range(len(letters)):
                for length in lengths:
                    pair = letters[start : start + length]
                    if pair in known and pair not in seen and len(contexts[pair]) < MAX_PLACES:
                        seen.add(pair)
                        left = letters[max(0, start - MAX_CONTEXT) : start]
                        contexts[pair].append((left, letters[start + length : start + length + MAX_CONTEXT]))
    return {
        pair: (_extend_pair(pair, places), len(places))
        for pair, places in contexts.items()
        if len(places) >= MIN_PLACES
    }


def _extend_pair(pair: str, places: Sequence[tuple[str, str]]) -> str:
    """Return a pair of letters, extended by the neighbours that most of its occurrences share."""
    needed, text, n_left, n_right = MIN_JOINED_SHARE * len(places), pair, 0, 0
    while len(text) < MAX_LENGTH:
        lefts = Counter(left[-n_left - 1] for left, _ in places if len(left) > n_left)
        rights = Counter(right[n_right] for _, right in places if len(right) > n_right)
        (left, n_lefts), (right, n_rights) = (
            max(counter.items(), key=lambda item: (item[1], item[0]), default=("", 0)) for counter in (lefts, rights)
        )
        if max(n_lefts, n_rights) < needed:
            break
        if n_rights >= n_lefts:
            places = [place for place in places if place[1][n_right : n_right + 1] == right]
            text, n_right = text + right, n_right + 1
        else:
            places = [place for place in places if len(place[0]) > n_left and place[0][-n_left - 1] == left]
            text, n_left = left + text, n_left + 1
    return text


def find_repeated(joined: Mapping[str, tuple[str, int]]) -> set[str]:
    """Return the pairs whose string is part of the string of another, equally frequent pair."""
    pieces, strings = set[str](), list[tuple[str, int]]()
    for pair in sorted(joined, key=lambda pair: (-len(joined[pair][0]), -joined[pair][1], pair)):
        form, number = joined[pair]
        if form == pair:
            continue
        if any(form in string and times >= MIN_JOINED_SHARE * number for string, times in strings):
            pieces.add(pair)
        else:
            strings.append((form, number))
    return pieces


def drop_contained_items(items: Sequence[str]) -> list[str]:
    """Return the items of a name without parts of other items in unspaced scripts."""
    return [
        item
        for place, item in enumerate(items)
        if not is_unspaced(item)
        or not any(
            item in other and (item != other or place > number) for number, other in enumerate(items) if number != place
        )
    ]

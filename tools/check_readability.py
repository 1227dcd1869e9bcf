"""Measure how easy the pages for newcomers and the help texts are to read.

Usage::

    python tools/check_readability.py

Prints one row for each page and one for all help texts: sentences, mean words a sentence, Flesch reading ease. The exit
status is 1 if a page exceeds a limit. Code, tables, links and headings do not count as prose.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TUTORIALS = sorted(f"docs/tutorial/{path.name}" for path in ROOT.glob("docs/tutorial/*.md"))
PAGES = ("README.md", "docs/index.md", *TUTORIALS)
MAX_WORDS_PER_SENTENCE = 16.0
MIN_READING_EASE = 50.0  # "fairly difficult" begins below

SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*|\d[\d,.]*")
VOWELS = re.compile(r"[aeiouy]+")


def read_page(path: Path) -> str:
    """Return the prose of a Markdown page, one paragraph or list item a line."""
    text = re.sub(r"(?ms)^```.*?^```$", "\n", path.read_text("utf-8"))
    text = re.sub(r"(?m)^(\||#|!\[).*$", "", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"[*_]{1,2}(\S(?:[^*_]*\S)?)[*_]{1,2}", r"\1", text)
    text = re.sub(r"(?m)^\s*(?:[-*]|\d+\.)\s+", "\n\n", text)
    return "\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip())


def read_help() -> str:
    """Return the help texts of all commands and their options, one a line."""
    import typer

    from topiarist.cli.commands import app

    def texts() -> Iterator[str]:
        group = typer.main.get_command(app)
        for command in (group, *getattr(group, "commands", {}).values()):
            yield from (command.help or "").split("\n\n")
            yield from (getattr(parameter, "help", None) or "" for parameter in command.params)

    lines = (" ".join(re.sub(r"\[/?\w+\]|`[^`]*`|--[\w-]+", " ", text).split()) for text in texts())
    return "\n".join(line for line in lines if line)


def split_sentences(text: str) -> list[list[str]]:
    """Return the words of each sentence; the end of a line ends a sentence."""
    sentences = (WORD.findall(sentence) for line in text.splitlines() for sentence in SENTENCE_END.split(line))
    return [words for words in sentences if len(words) > 1]


def words_per_sentence(text: str) -> float:
    """Return the mean number of words in a sentence."""
    sentences = split_sentences(text)
    return sum(map(len, sentences)) / len(sentences)


def count_syllables(word: str) -> int:
    """Return the number of syllables by groups of vowels; a final silent e does not count."""
    word = word.lower()
    groups = len(VOWELS.findall(word))
    silent = word.endswith("e") and not word.endswith(("le", "ee")) and groups > 1
    return max(1, groups - silent)


def reading_ease(text: str) -> float:
    """Return the Flesch reading ease: 206.835 − 1.015 words a sentence − 84.6 syllables a word."""
    words = [word for sentence in split_sentences(text) for word in sentence if word[0].isalpha()]
    syllables = sum(map(count_syllables, words)) / len(words)
    return 206.835 - 1.015 * words_per_sentence(text) - 84.6 * syllables


def main() -> int:
    """Print the table and return the exit status."""
    failures = 0
    print(f"{'page':34} sentences  words  ease")
    for title, text in [*((path, read_page(ROOT / path)) for path in PAGES), ("help texts", read_help())]:
        length, ease = words_per_sentence(text), reading_ease(text)
        failures += length > MAX_WORDS_PER_SENTENCE or ease < MIN_READING_EASE
        print(f"{title:34} {len(split_sentences(text)):9} {length:6.1f} {ease:5.1f}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())

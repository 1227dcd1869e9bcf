"""The catalogues of messages: what templates and sentences say is taken out, and what was translated is compiled.

    python tools/messages.py            bring every catalogue up to date, and compile it
    python tools/messages.py --missing  list what each language still lacks

A message that is gone is dropped; a new one stands there without a translation. Needs Babel (the developers' set).
"""

from __future__ import annotations

import argparse
import ast
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from topiarist.app.languages import catalogues
from topiarist.app.languages.template_text import messages

APP = Path(catalogues.__file__).parents[1]
EXPLORER = APP / "explorer"
REVIEW_WORDS = APP / "review_words.py"  # said by the command line too
FOLDER = Path(catalogues.__file__).parent / "catalogues"
DATED: Any = dict.fromkeys(("creation_date", "revision_date"), datetime(2026, 1, 1, tzinfo=UTC))  # the same bytes
SAYING = ("worded", "Counted")  # calls whose texts are messages


def of_templates() -> Iterator[tuple[str, str]]:
    """Every message of a template, with where it stands."""
    for path in sorted((EXPLORER / "templates").glob("*.html")):
        for message in messages(path.read_text("utf-8")):
            yield message, f"templates/{path.name}"


def of_sentences() -> Iterator[tuple[str, str]]:
    """Every message that a page says by ``worded``, what it counts, and the tables that it says by ``all_worded``."""
    for path in sorted((*EXPLORER.rglob("*.py"), *FOLDER.parent.glob("*.py"), REVIEW_WORDS)):
        body, place = ast.parse(path.read_text("utf-8")), path.relative_to(APP).as_posix()
        constants = {
            getattr(one.targets[0], "id", ""): one.value
            for one in body.body
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)
        }
        calls = [(one.func.id, one) for one in ast.walk(body) if isinstance(one, ast.Call) and _is_name(one.func)]
        tables = {one.args[0].id for name, one in calls if name == "all_worded" and isinstance(one.args[0], ast.Name)}
        for name, one in calls:
            if name not in SAYING:
                continue
            given = [arg.value if isinstance(arg, ast.Starred) else arg for arg in one.args]
            tables |= {arg.value.id for arg in given if isinstance(arg, ast.Subscript) and _is_name(arg.value)}
            texts = [text for arg in given for text in _texts(constants.get(getattr(arg, "id", ""), arg))]
            if name == "Counted" and len(texts) == 1:
                texts = [texts[0], f"{texts[0]}s"]
            yield from ((text, place) for text in texts)
        for node in body.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in tables:
                yield from ((text, place) for text in _texts(node.value))


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _texts(node: ast.AST) -> Iterator[str]:
    """The texts in an argument or a table: either of two, and all values; keys and conditions are none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif isinstance(node, ast.Dict | ast.Tuple):
        for value in node.values if isinstance(node, ast.Dict) else node.elts:
            yield from _texts(value)


def template() -> Catalog:
    """All messages, in the order in which they stand, each with where that is."""
    found = Catalog(project="topiarist", fuzzy=False)
    for message, place in (*of_templates(), *of_sentences()):
        found.add(message, locations=[(place, None)])
    return found


def updated(language: str) -> Catalog:
    """The catalogue of a language with today's messages, and what was translated of them."""
    path = FOLDER / f"{language}.po"
    known = read_po(io.BytesIO(path.read_bytes()), locale=language) if path.exists() else Catalog()
    found = Catalog(locale=language, project="topiarist", fuzzy=False, **DATED)
    for one in template():
        if one.id:
            old = known.get(one.id)
            found.add(one.id, old.string if old is not None else "", locations=one.locations)
    return found


def po(catalogue: Catalog) -> bytes:
    """A catalogue as its file."""
    body = io.BytesIO()
    write_po(body, catalogue, width=110, omit_header=True, sort_output=False)
    head = f'msgid ""\nmsgstr ""\n"Language: {catalogue.locale}\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
    return head.encode() + body.getvalue()


def mo(catalogue: Catalog) -> bytes:
    """A catalogue as programs read it: the same bytes for the same messages."""
    told = Catalog(locale=catalogue.locale, project="topiarist", fuzzy=False, **DATED)
    for one in catalogue:
        if one.id and one.string:
            told.add(one.id, one.string)
    body = io.BytesIO()
    write_mo(body, told)
    return body.getvalue()


def main() -> None:
    """Write the catalogues, or say what they lack."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--missing", action="store_true")
    missing = asked.parse_args().missing
    for language in catalogues.LANGUAGES:
        if language == catalogues.ENGLISH:
            continue
        found = updated(language)
        lacking = [one.id for one in found if one.id and not one.string]
        if missing:
            print(*(f"{language}: {text}" for text in lacking), sep="\n")
        else:
            (FOLDER / f"{language}.po").write_bytes(po(found))
            (FOLDER / f"{language}.mo").write_bytes(mo(found))
        print(f"{language}: {len(found) - len(lacking)} of {len(found)} messages")


if __name__ == "__main__":
    main()

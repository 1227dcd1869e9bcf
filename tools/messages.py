"""Message catalogues: extract the messages of templates and modules, keep their translations, and compile them.

    python tools/messages.py            update and compile every catalogue
    python tools/messages.py --missing  list the messages without a translation

Obsolete messages are dropped; new ones have no translation yet. Needs Babel (a development dependency).
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
from jinja2.ext import babel_extract

from topiarist.display.locale import catalogues

SOURCE = Path(catalogues.__file__).parents[2]
WEB = SOURCE / "web"
SHARED = (SOURCE / "display" / "review_sentences.py", SOURCE / "display" / "first_sentence.py")  # for terminals too
FOLDER = Path(catalogues.__file__).parent / "catalogues"
DATED: Any = dict.fromkeys(("creation_date", "revision_date"), datetime(2026, 1, 1, tzinfo=UTC))  # the same bytes
TRANSLATING = ("translate", "CountedNoun")  # calls whose texts are messages


def extract_from_templates() -> Iterator[tuple[str, str]]:
    """Yield every message of a template with its file."""
    for path in sorted((WEB / "templates").glob("*.html")):
        with path.open("rb") as file:
            for _, _, message, _ in babel_extract(file, ("_",), (), {"silent": "false"}):
                yield message if isinstance(message, str) else str(message[0]), f"templates/{path.name}"


def extract_from_modules() -> Iterator[tuple[str, str]]:
    """Yield the messages of ``translate``, ``CountedNoun`` and ``translate_table`` with their modules."""
    for path in sorted((*WEB.rglob("*.py"), *FOLDER.parent.glob("*.py"), *SHARED)):
        body, place = ast.parse(path.read_text("utf-8")), path.relative_to(SOURCE).as_posix()
        constants = {
            getattr(one.targets[0], "id", ""): one.value
            for one in body.body
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)
        }
        calls = [(one.func.id, one) for one in ast.walk(body) if isinstance(one, ast.Call) and _is_name(one.func)]
        tables = {
            one.args[0].id for name, one in calls if name == "translate_table" and isinstance(one.args[0], ast.Name)
        }
        for name, one in calls:
            if name not in TRANSLATING:
                continue
            given = [arg.value if isinstance(arg, ast.Starred) else arg for arg in one.args]
            tables |= {arg.value.id for arg in given if isinstance(arg, ast.Subscript) and _is_name(arg.value)}
            texts = [text for arg in given for text in _texts(constants.get(getattr(arg, "id", ""), arg))]
            if name == "CountedNoun" and len(texts) == 1:
                texts = [texts[0], f"{texts[0]}s"]
            yield from ((text, place) for text in texts)
        for node in body.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in tables:
                yield from ((text, place) for text in _texts(node.value))


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts of an argument or a table, without keys and conditions."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif isinstance(node, ast.Dict | ast.Tuple):
        for value in node.values if isinstance(node, ast.Dict) else node.elts:
            yield from _texts(value)


def collect_messages() -> Catalog:
    """Return all messages in the order of the source, with their files."""
    found = Catalog(project="topiarist", fuzzy=False)
    for message, place in (*extract_from_templates(), *extract_from_modules()):
        found.add(message, locations=[(place, None)])
    return found


def update_catalogue(language: str) -> Catalog:
    """Return the catalogue of a language with all current messages and known translations."""
    path = FOLDER / f"{language}.po"
    known = read_po(io.BytesIO(path.read_bytes()), locale=language) if path.exists() else Catalog()
    found = Catalog(locale=language, project="topiarist", fuzzy=False, **DATED)
    for one in collect_messages():
        if one.id:
            old = known.get(one.id)
            found.add(one.id, old.string if old is not None else "", locations=one.locations)
    return found


def format_po(catalogue: Catalog) -> bytes:
    """Return the bytes of a PO file."""
    body = io.BytesIO()
    write_po(body, catalogue, width=110, omit_header=True, sort_output=False)
    head = f'msgid ""\nmsgstr ""\n"Language: {catalogue.locale}\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
    return head.encode() + body.getvalue()


def format_mo(catalogue: Catalog) -> bytes:
    """Return the bytes of an MO file, which depend on the messages only."""
    told = Catalog(locale=catalogue.locale, project="topiarist", fuzzy=False, **DATED)
    for one in catalogue:
        if one.id and one.string:
            told.add(one.id, one.string)
    body = io.BytesIO()
    write_mo(body, told)
    return body.getvalue()


def main() -> None:
    """Write the catalogues, or list missing translations."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--missing", action="store_true")
    missing = asked.parse_args().missing
    for language in catalogues.LANGUAGES:
        if language == catalogues.ENGLISH:
            continue
        found = update_catalogue(language)
        lacking = [one.id for one in found if one.id and not one.string]
        if missing:
            print(*(f"{language}: {text}" for text in lacking), sep="\n")
        else:
            (FOLDER / f"{language}.po").write_bytes(format_po(found))
            (FOLDER / f"{language}.mo").write_bytes(format_mo(found))
        print(f"{language}: {len(found) - len(lacking)} of {len(found)} messages")


if __name__ == "__main__":
    main()

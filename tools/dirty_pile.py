"""Make a pile as piles are: ``python tools/dirty_pile.py pile``.

Bundled abstracts in the disguises in which documents come: mail with quotes and footers, web pages with navigation,
PDF, a table of tickets, text in an old encoding; some twice, some nearly twice, some broken, some empty. The same
pile each time. What is in it is written to ``what-is-in-it.json`` beside it, to compare with what a program finds;
``teams.csv`` there has a label for each ticket.
"""

from __future__ import annotations

import csv
import json
import random
import sys
import zipfile
from email.message import EmailMessage
from html import escape
from itertools import islice
from pathlib import Path

from topiarist import demo_documents
from topiarist.text.documents import Document

FOOTER = (
    "--\nThis message is confidential and meant for nobody but its reader.\nPlease think of trees before you print it."
)
NAVIGATION = "<nav><ul><li>Home</li><li>News</li><li>Contact us</li><li>Log in</li></ul></nav>"
COOKIES = "<div>We use cookies to improve your experience on this website. Accept all cookies</div>"
WORDS = 90  # of each abstract


def main(folder: str = "pile") -> None:
    """Write the pile."""
    pile, rng = Path(folder), random.Random(0)  # noqa: S311 - chance for a toy
    if pile.exists():
        sys.exit(f"{folder} is there already. Try: rm -r {folder}, or another name")
    some = list(islice(demo_documents(), 220))
    made = {
        "messages": _mail(pile / "mail", some[:60]),
        "web pages": _web(pile / "web", some[60:110]),
        "PDF": _papers(pile / "papers", some[110:140]),
        "tickets": _tickets(pile / "tables", some[140:180]),
        "texts in an archive": _archive(pile / "old", some[180:210]),
        "texts in an old encoding": _old_texts(pile / "old", some[210:220]),
        **_copies(pile, rng),
        **_broken(pile / "odd"),
    }
    (pile.parent / "what-is-in-it.json").write_text(json.dumps(made, indent=2), encoding="utf-8")
    print(", ".join(f"{number} {kind}" for kind, number in made.items()), f"in {folder}")


def _text(document: Document) -> str:
    return " ".join(document.text.split()[:WORDS])


def _mail(folder: Path, documents: list[Document]) -> int:
    """Messages, the second half of which answer the first and quote it."""
    folder.mkdir(parents=True)
    half = len(documents) // 2
    for number, document in enumerate(documents):
        message = EmailMessage()
        message["From"] = f"person{number % 7}@example.org"
        message["To"] = "all@example.org"
        message["Date"] = f"{number % 27 + 1} Mar 2014 10:00:00 +0000"
        message["Subject"] = f"{'Re: ' * (number >= half)}{document.title}"
        quoted = (
            "".join(f"> {line}\n" for line in _text(documents[number - half]).split(". ")) if number >= half else ""
        )
        message.set_content(f"{_text(document)}\n\n{quoted}\n{FOOTER}\n")
        (folder / f"{number:03d}.eml").write_bytes(bytes(message))
    return len(documents)


def _web(folder: Path, documents: list[Document]) -> int:
    folder.mkdir(parents=True)
    for number, document in enumerate(documents):
        body = f"<h1>{escape(document.title)}</h1><p>{escape(_text(document))}</p>"
        page = f"<html><title>{escape(document.title)}</title>{NAVIGATION}{COOKIES}{body}<footer>© 2014</footer></html>"
        (folder / f"page-{number:03d}.html").write_text(page, encoding="utf-8")
    return len(documents)


def _papers(folder: Path, documents: list[Document]) -> int:
    folder.mkdir(parents=True)
    for number, document in enumerate(documents):
        (folder / f"paper-{number:03d}.pdf").write_bytes(pdf(document.title, _text(document)))
    (folder / "scan.pdf").write_bytes(pdf("", ""))
    (folder / "torn.pdf").write_bytes(pdf("torn", "in the middle")[:200])
    return len(documents)


def pdf(title: str, text: str) -> bytes:
    """A PDF of one page, as small as they come; without text a page on which nothing can be read."""
    lines, words = [title], text.split()
    while words:
        lines.append(" ".join(words[:10]))
        words = words[10:]
    shown = "".join(
        f"({line.encode('ascii', 'ignore').decode().translate(str.maketrans('()', '[]', chr(92)))}) Tj T*\n"
        for line in lines
        if line
    )
    page = f"BT /F1 10 Tf 14 TL 50 780 Td\n{shown}ET"
    parts = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        f"<< /Length {len(page)} >>\nstream\n{page}\nendstream",
    ]
    made, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(made))
        made += f"{number} 0 obj\n{part}\nendobj\n".encode("ascii")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    trailer = f"trailer\n<< /Size {len(parts) + 1} /Root 1 0 R >>\nstartxref\n{len(made)}\n%%EOF\n"
    return made + f"xref\n0 {len(parts) + 1}\n0000000000 65535 f \n{table}{trailer}".encode("ascii")


def _tickets(folder: Path, documents: list[Document]) -> int:
    folder.mkdir(parents=True)
    with (folder / "tickets.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter=";")
        rows.writerow(["no", "opened", "status", "description"])
        for number, document in enumerate(documents):
            opened = f"2014-{number % 12 + 1:02d}-{number % 28 + 1:02d}"
            rows.writerow([number, opened, ("open", "closed")[number % 3 == 0], _text(document)])
        rows.writerow([len(documents), "", "open", "n/a"])
    teams = [f"{number},{'physics' if 'ph' in one.labels[0] else 'others'}" for number, one in enumerate(documents)]
    (folder.parent.parent / "teams.csv").write_text("\n".join(["id,label", *teams, ""]), encoding="utf-8")
    return len(documents)


def _archive(folder: Path, documents: list[Document]) -> int:
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "backup.zip", "w") as archive:
        for number, document in enumerate(documents):
            archive.writestr(f"notes/{number:03d}.txt", f"{document.title}\n\n{_text(document)}\n")
    return len(documents)


def _old_texts(folder: Path, documents: list[Document]) -> int:
    for number, document in enumerate(documents):
        text = f"Café Müller, São Paulo\n{_text(document)}\n"
        (folder / f"old-{number:03d}.txt").write_bytes(text.encode("cp1252", "replace"))
    return len(documents)


def _copies(pile: Path, rng: random.Random) -> dict[str, int]:
    """Pages that were saved again, and some that were saved again after an edit."""
    folder = pile / "copies"
    folder.mkdir()
    pages = sorted((pile / "web").iterdir())
    for page in pages[:12]:
        (folder / f"copy-of-{page.name}").write_bytes(page.read_bytes())
    for page in pages[12:18]:
        words = page.read_text("utf-8").split(" ")
        drawn = rng.sample(range(20, len(words)), max(1, len(words) // 20))
        for place in [place for place in drawn if words[place].isalpha() and words[place].islower()][::2]:
            words[place] = "edited"
        (folder / f"edited-{page.name}").write_text(" ".join(words), encoding="utf-8")
    return {"copies": 12, "edited copies": 6}


def _broken(folder: Path) -> dict[str, int]:
    folder.mkdir()
    (folder / "empty.txt").write_text("", encoding="utf-8")
    (folder / "picture.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 no document")
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 no archive")
    return {"files without text, or broken": 6}  # a scan and a torn PDF lie with the papers


if __name__ == "__main__":
    main(*sys.argv[1:])

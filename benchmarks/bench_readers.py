"""How fast files are read, beside their library alone in this process: ``python -m benchmarks.bench_readers``.

Documents a second of a processor, so that a busy machine tells the same: of the library alone, of the worker (which
parses, and writes to its pipe), and of the reader (which makes documents and checks ids, the same for every format).
Worker and reader work at the same time; the slower of both is the speed of reading.
"""

from __future__ import annotations

import io
import json
import resource
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.text.readers.makers import docx, paragraph, pdf
from tests.text.readers.office_makers import epub, odt, pptx, xlsx

from topiarist.text.readers import read

WORDS = "the invoice of january is still open and the printer on the third floor is on fire again " * 6
ROWS, FILES = 60_000, 400


def sheets(folder: Path) -> Path:
    rows: list[list[object]] = [["id", "title", "text", "n"], *([n, f"row {n}", WORDS, n / 3] for n in range(ROWS))]
    (folder / "a.xlsx").write_bytes(xlsx({"S": rows}))
    return folder / "a.xlsx"


def by_calamine(path: Path) -> int:
    from python_calamine import load_workbook

    return sum(1 for _ in load_workbook(str(path)).get_sheet_by_index(0).iter_rows()) - 1


def values(folder: Path) -> Path:
    (folder / "a.json").write_text(json.dumps([{"id": n, "text": WORDS} for n in range(ROWS)]))
    return folder / "a.json"


def by_ijson(path: Path) -> int:
    import ijson

    with open(path, "rb") as stream:
        return sum(1 for _ in ijson.items(stream, "item", use_float=True))


def records(folder: Path) -> Path:
    body = "".join(f"<record><id>{n}</id><body>{WORDS}</body></record>" for n in range(ROWS))
    (folder / "a.xml").write_text(f"<all>{body}</all>")
    return folder / "a.xml"


def by_lxml(path: Path) -> int:
    from lxml import etree

    number = 0
    for _, element in etree.iterparse(str(path), tag="record"):
        number += bool("".join(element.itertext()))
        element.clear()
    return number


def table(folder: Path) -> Path:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"id": list(range(ROWS)), "text": [f"{n} {WORDS}" for n in range(ROWS)]}),
                        folder / "a.parquet")  # fmt: skip
    return folder / "a.parquet"


def by_pyarrow(path: Path) -> int:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as found:
        return sum(len(batch.to_pylist()) for batch in found.iter_batches(256, use_threads=False))


def archive(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as made:
        for n in range(10 * FILES):
            made.writestr(f"{n}.txt", WORDS)
    return folder / "a.zip"


def by_zipfile(path: Path) -> int:
    with zipfile.ZipFile(path) as found, tempfile.TemporaryDirectory() as folder:
        for name in found.namelist():
            Path(found.extract(name, folder)).read_text()
        return len(found.namelist())


def tape(folder: Path) -> Path:
    with tarfile.open(folder / "a.tar.gz", "w:gz") as made:
        for n in range(10 * FILES):
            info = tarfile.TarInfo(f"{n}.txt")
            info.size = len(WORDS)
            made.addfile(info, io.BytesIO(WORDS.encode()))
    return folder / "a.tar.gz"


def by_tarfile(path: Path) -> int:
    with tarfile.open(path) as found, tempfile.TemporaryDirectory() as folder:
        found.extractall(folder, filter="data")
        return sum(bool(one.read_text()) for one in Path(folder).iterdir())


def office(suffix: str, data: Callable[[], bytes]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / "in").mkdir()
        for n in range(FILES):
            (folder / "in" / f"{n}{suffix}").write_bytes(data())
        return folder / "in"

    return make


def alone(module: str) -> Callable[[Path], int]:
    """The parser as the worker calls it, in this process."""
    from importlib import import_module

    from topiarist.text.extract import Limits

    extract = import_module(f"topiarist.text.extract.{module}").extract
    return lambda folder: sum(bool(extract(str(path), Limits()).text) for path in folder.iterdir())


def written(make: Callable[[Path], Path]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return make(Path(folder) / "x").read_bytes()


RTF = ("{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 " + WORDS * 4 + "\\par}").encode()
LATEX = (
    "\\documentclass{article}\\begin{document}" + (WORDS + " $x^2$ \\emph{so}\n\n") * 4 + "\\end{document}"
).encode()
CASES: dict[str, tuple[Callable[[Path], Path], Callable[[Path], int], dict[str, str]]] = {
    "xlsx, 60,000 rows": (sheets, by_calamine, {}),
    "json, 60,000 objects": (values, by_ijson, {}),
    "xml, 60,000 elements": (records, by_lxml, {"xml_path": "record"}),
    "parquet, 60,000 rows": (table, by_pyarrow, {}),
    "zip, 4,000 files": (archive, by_zipfile, {}),
    "tar.gz, 4,000 files": (tape, by_tarfile, {}),
    "pptx, 400 files": (office(".pptx", lambda: pptx(("A", WORDS, "n"))), alone("office.slides"), {}),
    "odt, 400 files": (office(".odt", lambda: odt(*[WORDS] * 4)), alone("office.opendocument"), {}),
    "epub, 400 files": (office(".epub", lambda: epub("A", *[WORDS] * 4)), alone("office.epub"), {}),
    "rtf, 400 files": (office(".rtf", lambda: RTF), alone("office.rtf"), {}),
    "tex, 400 files": (office(".tex", lambda: LATEX), alone("latex"), {}),
    "docx, 400 files": (office(".docx", lambda: written(lambda p: docx(p, paragraph(WORDS)))), alone("docx"), {}),
    "pdf, 400 files": (office(".pdf", lambda: written(lambda p: pdf(p, WORDS))), alone("pdf"), {}),
}  # fmt: skip


def processor(work: Callable[[], int]) -> tuple[float, float, int]:
    """Seconds of the processor here and in processes that ended, and the number of documents."""
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    number = work()
    here, after = time.process_time() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return here, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, number


def main() -> None:
    print(f"{'':24}{'library':>12}{'worker':>12}{'reader':>12}   documents a second of a processor")
    for name, (make, library, options) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = make(Path(folder))
            library(path)  # imports are not measured
            alone_seconds, _, number = processor(lambda path=path, library=library: library(path))  # type: ignore[misc]

            def documents(most: int | None, path: Path = path, options: dict[str, str] = options) -> int:
                with read(path, limit=most, **options) as reading:  # type: ignore[arg-type]
                    return sum(1 for _ in reading)

            _, start, _ = processor(lambda: documents(1))  # nor is the start of the worker
            here, there, count = processor(lambda: documents(None))
            assert count == number, (name, count, number)
            speeds = (number / alone_seconds, number / max(there - start, 1e-9), number / here)
            print(f"{name:24}" + "".join(f"{speed:12,.0f}" for speed in speeds), flush=True)


if __name__ == "__main__":
    main()

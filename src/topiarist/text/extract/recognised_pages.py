"""Pages of a PDF that are pictures, read by rapidocr (an optional package); its weights are in its wheel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from topiarist.text.extract.limits import Limits, Part, Source, Told
from topiarist.text.extract.pdf import opened, page_text

if TYPE_CHECKING:
    from pypdfium2 import PdfPage
    from rapidocr import RapidOCR

_DOTS_PER_INCH, _POINTS_PER_INCH = 200, 72
_MOST_DOTS = 3000  # of the longer side
_SURE = 0.5  # lines below this are guesses


def parts(source: Source, limits: Limits, told: Told) -> Iterator[Part]:
    """Each page: its own text where it has some, else what stands in its picture."""
    document = opened(source)
    reader: RapidOCR | None = None
    length = 0
    for number in range(len(document)):
        text = page_text(document, number) or ""
        recognised = not text.strip()
        if recognised:
            reader = reader or _reader()
            text = _recognised(reader, document[number])
        length += len(text)
        yield Part({"page": number + 1, "recognised": int(recognised and bool(text))}, text.encode("utf-8", "replace"))
        if length > limits.characters:
            return


def _reader() -> RapidOCR:
    import onnxruntime
    from rapidocr import RapidOCR

    onnxruntime.disable_telemetry_events()  # on Windows it would tell its maker what it runs
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,  # workers are the threads here
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def _recognised(reader: RapidOCR, page: PdfPage) -> str:
    """The lines of a picture, from the top down."""
    longer = max(page.get_width(), page.get_height(), 1.0)
    scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, _MOST_DOTS / longer)
    found = reader(page.render(scale=scale).to_numpy())
    lines, sure = getattr(found, "txts", None) or (), getattr(found, "scores", None) or ()
    return "\n".join(line for line, how_sure in zip(lines, sure, strict=True) if how_sure >= _SURE)

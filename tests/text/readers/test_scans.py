"""Pages that are pictures: read where a PDF has no text, or where it was asked for, and said page by page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.text.readers.makers import only, reasons
from topiarist.text.readers import read


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    """A PDF of one page, which is a picture."""
    pytest.importorskip("rapidocr")
    pytest.importorskip("onnxruntime")
    import matplotlib
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.truetype(f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans.ttf", 30)
    picture = Image.new("L", (420, 80), "white")
    ImageDraw.Draw(picture).text((20, 20), "Invoice of January", font=font, fill="black")
    picture.save(tmp_path / "scan.pdf", resolution=150)
    return tmp_path / "scan.pdf"


def test_scanned_pages_follow_ocr_setting(scan: Path) -> None:
    document = only(reading := read(scan))
    assert document.text.split() == ["Invoice", "of", "January"]
    assert reasons(reading) == ["scan.pdf: page 1 read from pictures (OCR): expect errors"]
    assert (reading.counts.read, reading.counts.partial) == (1, 1)
    (scan.parent / "a.txt").write_text("text")
    left = read(scan.parent, ocr=False)
    assert only(left).text == "text"
    assert left.counts.empty == 1

"""How ``make docs`` builds the site: from the pages as they are, with nothing that a reader's browser would fetch.

Equations become MathML here, which browsers show without a script. The search is Sphinx's own, in a script of the site.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml

sys.path.insert(0, str(Path(__file__).parent))

from navigation import toctrees

from topiarist.version import __version__

project, author, language = "Topiarist", "the authors of Topiarist", "en"
release = version = __version__
html_title = f"Topiarist {__version__}"
html_theme, html_show_sphinx, html_copy_source, html_show_copyright = "furo", False, False, False
html_theme_options = {"footer_icons": []}
extensions = ["myst_parser"]
exclude_patterns = ["notebooks/**"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 6
html_math_renderer = "mathml"
html_show_search_summary = False  # a browser fetches pages for it, which it may not from a folder of files
suppress_warnings = ["misc.highlighting_failure"]  # a few lines of output are no Python
pygments_style, pygments_dark_style = "friendly", "native"


def setup(app: Any) -> dict[str, Any]:
    """Sections at the left, and equations."""
    app.connect("source-read", _with_sections)
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _with_sections(app: Any, name: str, source: list[str]) -> None:
    if name == "index":
        source[0] += toctrees()


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(latex2mathml.tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: Any) -> None:
    writer.body.append(f'<div class="math">{latex2mathml.tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode

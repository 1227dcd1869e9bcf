"""What the site lists at the left, and in which order. Every page is in it once; a test sees to that."""

from __future__ import annotations

from pathlib import Path

SECTIONS: dict[str, tuple[str, ...]] = {
    "Tutorial": (
        "how-to/install",
        "tutorial/first-tree",
        "tutorial/an-afternoon",
        "tutorial/dirty-pile",
        "tutorial/first-topics",
    ),
    "How to, by what you have": (
        "how-to/for-a-leak",
        "how-to/for-a-repository",
        "how-to/for-tickets",
        "how-to/for-a-pipeline",
        "how-to/coming-from",
        "how-to/vectors",
        "how-to/follow-a-stream",
        "how-to/scale",
        "how-to/use-a-gpu",
        "how-to/embed-the-explorer",
        "how-to/language-models",
    ),
    "How to, by task": (
        "how-to/read-your-files",
        "how-to/count-words",
        "how-to/grow-a-tree",
        "how-to/choose-settings",
        "how-to/explore",
        "how-to/shape-file-find",
        "how-to/time-and-groups",
        "how-to/review",
        "how-to/remove-documents",
        "how-to/save-a-model",
    ),
    "Models": (
        "models/cam",
        "models/hplsa",
        "models/plsa",
        "models/ggm",
        "models/hplc",
        "models/pmm",
        "models/learner",
        "models/fisher",
        "models/vectors",
    ),
    "Concepts": (
        "concepts/levels",
        "concepts/tempering",
        "concepts/headings",
        "concepts/fisher-similarity",
        "concepts/certainty",
    ),
    "Reference": (
        "reference/commands",
        "reference/python",
        "reference/metrics",
        "reference/glossary",
        "reference/rest",
        "reference/rest-fields",
        "measured",
        "reproduction",
        "comparison",
        "results",
        "changelog",
    ),
    "Design": (
        "design/module-overview",
        "design/add-a-model",
        "design/language",
        "design/decisions",
        "design/growing-trees",
        "design/collection-folder",
        "design/security",
        "design/reliability",
        "design/dependencies",
    ),
    "Questions": ("questions", "contributing"),
}


def toctrees() -> str:
    """The sections as Sphinx wants them, for the end of the home page; of pages that are there."""
    here = Path(__file__).parent
    blocks = []
    for title, pages in SECTIONS.items():
        there = [page for page in pages if (here / f"{page}.md").exists()]
        blocks.append("\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *there, "```"]))
    return "\n\n".join(["", *blocks, ""])

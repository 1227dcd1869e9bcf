"""What is said when a reading ends without a single document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from topiarist.errors import InputError, TopiaristError, UsageError
from topiarist.text.documents import Problem
from topiarist.text.readers.columns import listed
from topiarist.text.readers.kinds import ADVICE, LOOKED_FOR
from topiarist.text.readers.sources import Survey

_EXAMPLE = ".log"


def nothing_read(sources: Sequence[str], survey: Survey, problems: Sequence[Problem], summary: str) -> TopiaristError:
    """The error for a reading of `sources` that found no text; `summary` is the counts in one line."""
    closed = {problem.source: problem.reason for problem in problems}
    if len(sources) == 1 and (reason := closed.get(sources[0])) and survey.folders == 1:
        return UsageError(
            f"cannot open the folder {sources[0]}: {reason}",
            hint=f"look who may read it:  ls -ld {sources[0]}",
        )
    where = listed(sources)
    if len(problems) > survey.unknown.total():
        first = next(p for p in problems if not p.reason.startswith(UNKNOWN_TYPE))
        return InputError(
            f"no usable text in {where}\n  {summary}. The first: {first.source}: {first.reason}",
            hint=next(_installing(problems), "open one of the files and see whether it holds text"),
        )
    folders = f" in {survey.folders:,} folder{'s' if survey.folders != 1 else ''}" if survey.folders else ""
    return InputError(
        f"nothing to read in {where}\n  Looked for {LOOKED_FOR}{folders}; {_found(survey)}.",
        hint=_advice(survey),
    )


UNKNOWN_TYPE = "not a known type"
_INSTALL = "pip install"


def _installing(problems: Sequence[Problem]) -> Iterator[str]:
    """The commands that bring what these files need."""
    return (_INSTALL + problem.reason.partition(_INSTALL)[2] for problem in problems if _INSTALL in problem.reason)


def unknown_type(suffix: str) -> str:
    """The reason for leaving out a file whose type has no reader."""
    advice = ADVICE.get(suffix, "").replace("them", "it")
    return f"{UNKNOWN_TYPE} ({suffix or 'no suffix'})" + (f"; {advice}" if advice else "")


def _found(survey: Survey) -> str:
    kinds = [
        f"{number:,} {suffix or 'suffixless'} file{'s' if number != 1 else ''}"
        for suffix, number in sorted(survey.unknown.items(), key=lambda item: (-item[1], item[0]))
    ]
    if survey.deselected:
        kinds.append(f"{survey.deselected:,} that --include and --exclude leave out")
    return f"found {listed(kinds)}" if kinds else "found no files"


def _advice(survey: Survey) -> str:
    if survey.deselected:
        return "other patterns for --include and --exclude."
    if not survey.unknown:
        return "another folder."
    suffix = min(survey.unknown, key=lambda suffix: (-survey.unknown[suffix], suffix))
    if suffix in ADVICE:
        return f"{ADVICE[suffix]}, or name the files with --include '*{_EXAMPLE}'."
    return f"name the files with --include '*{suffix}', if they hold plain text."

"""Options of commands, declared as one frozen value with its ``--help`` and its settings.

A command is a module in ``commands`` with ``Options`` (a dataclass whose docstring is the help), ``EPILOG`` (examples),
``WRITES`` (which options make it change something) and ``run(options)``. Here are the options that several share.
Little is loaded, so that ``--help`` is quick.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer.models import OptionInfo

from topiarist.text.dates import AUTO, ORDERS

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.text.readers import Columns, ReadingSettings

DECLARATION = "declaration"  # key of a field's metadata
PANELS = (None, "What to read", "What to print")
_, READING, OUTPUT = PANELS
ALL_OPTIONS = ("",)  # of a command that changes something whatever its options are


def option(default: Any, help: str, *names: str, panel: str | None = None, **settings: Any) -> Any:
    """Declare an option in one of the panels of ``--help``; without names it is called like its field."""
    declaration = typer.Option(rich_help_panel=panel, help=help, **settings)
    declaration.param_decls = names or None
    return _declare(default, declaration)


def argument(default: Any, help: str, metavar: str) -> Any:
    return _declare(default, typer.Argument(metavar=metavar, help=help, show_default=False))


def _declare(default: Any, declaration: Any) -> Any:
    return field(default=default, metadata={DECLARATION: declaration})


reading, printing = (partial(option, panel=panel) for panel in PANELS[1:])
# A setting is no option of the command line: a key of topiarist.toml or a variable of the environment sets it. The
# parser knows it, hidden, so that its values are read and checked as those of options. ``settings_file`` refuses it.
setting = partial(option, hidden=True)
folder_argument = partial(argument, MISSING, "Folder of a collection that `topiarist grow` made.", "FOLDER")
debug_option = partial(option, False, "Show where an error came from.", hidden=True)
wait_setting = partial(setting, 0.0, "Seconds to wait while another program writes into the collection.", min=0)
topic_option = partial(
    option, None, "Restrict to a topic: its number, its name, or a unique word of its name.", metavar="TOPIC"
)
why_option = partial(printing, False, "Explain each result: matching words and topics.")


def number_option(default: int, help: str = "Number of documents to show.") -> Any:
    return printing(default, help, "--number", "-n", min=1)


def choice_option(default: Any, help: str, *names: str, panel: str | None = None) -> Any:
    """Declare an option that takes one of several names, which ``--help`` lists."""
    return option(default, help, metavar=f"<{'|'.join(names)}>", parser=one_of(names), panel=panel)


def dates_option(default: str | None) -> Any:
    help = "Order of day and month in ambiguous dates such as 05/06/2025: `day-first` or `month-first`."
    return reading(default, help, metavar="ORDER", parser=one_of((AUTO, *ORDERS)))


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """Return a parser that accepts the given names only; other texts are a BadParameter error."""

    def read(text: str) -> str:
        if text not in names:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, names))}.")
        return text

    return read


def examples(*lines: str) -> str:
    return "\n\n".join(["Examples:", *(f"    {line}" for line in lines)])


@dataclass(frozen=True, kw_only=True)
class FolderOptions:
    """Options of all commands on a collection: folder and output."""

    folder: str = folder_argument()
    json: bool = printing(False, "One JSON document on standard output.")
    quiet: bool = printing(False, "Results only: no progress, no advice.", "--quiet", "-q")
    verbose: int = printing(0, "Print details. Twice: more details.", "--verbose", "-v", count=True)
    debug: bool = debug_option()


@dataclass(frozen=True, kw_only=True)
class WritingOptions(FolderOptions):
    """Options of commands that can change a collection: how long to wait for another one."""

    wait: float = wait_setting()


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """Options of all commands that read tables, XML and scans."""

    text_column: str | None = reading(None, "Column that holds the text.", metavar="NAME")
    title_column: str | None = reading(None, "Column that holds the title.", metavar="NAME")
    id_column: str | None = reading(None, "Column that holds the id.", metavar="NAME")
    xml_path: str | None = setting(None, "Elements of XML files that are documents, such as `channel/item`.")
    ocr: bool = setting(False, "Read PDF pages that are pictures, also if other pages have text.")


@dataclass(frozen=True, kw_only=True)
class MetadataOptions(ColumnOptions):
    """Options of commands that also read dates and labels."""

    date_column: str | None = reading(None, "Column that holds the date.", metavar="NAME")
    label_column: str | None = reading(None, "Column that holds the labels, separated by `;`.", metavar="NAME")


@dataclass(frozen=True, kw_only=True)
class AsGrownOptions(MetadataOptions):
    """Options of commands that read documents for a collection, by default as it was grown."""

    def reading_settings(self, collection: Collection) -> ReadingSettings:
        """Return the settings by which sources are read for a collection."""
        from topiarist.collection.grow.read_as_grown import load_reading_settings
        from topiarist.text.readers import ReadingSettings

        named = ReadingSettings(named_columns(self), self.xml_path or "", self.ocr or None)
        return load_reading_settings(collection, named)

    @property
    def named(self) -> list[tuple[str, str]]:
        """Options of columns that were typed, with their values."""
        from topiarist.text.readers.columns import ROLES

        typed = ((f"--{role}-column", getattr(self, f"{role}_column")) for role in ROLES)
        return [(name, value) for name, value in typed if value is not None]


@dataclass(frozen=True, kw_only=True)
class PatternOptions:
    """Options of commands that read folders."""

    include: list[str] | None = reading(None, "Only files with names like this, such as '*.txt'.", metavar="PATTERN")  # noqa: RUF009
    exclude: list[str] | None = reading(None, "No files with names like this.", metavar="PATTERN")  # noqa: RUF009


def named_columns(options: Any) -> Columns:
    """Return the columns named in the options; missing options count as not named."""
    from topiarist.text.readers import Columns
    from topiarist.text.readers.columns import ROLES

    named: dict[str, Any] = {role: getattr(options, f"{role}_column", None) for role in ROLES}
    return Columns(**named)


def signature(options: type) -> inspect.Signature:
    """Return the options as a signature: those of the command before the shared ones."""
    hints = get_type_hints(options)

    def place(parameter: Field[Any]) -> tuple[bool, int, bool]:
        panel = parameter.metadata[DECLARATION].rich_help_panel
        is_first, is_shared = parameter.name in ("folder", "sources"), parameter.name not in options.__annotations__
        return not is_first, PANELS.index(panel), is_shared != (panel == READING)

    return inspect.Signature([make_parameter(item, hints[item.name]) for item in sorted(fields(options), key=place)])


def _choose_metavar(hint: Any, *, is_counted: bool) -> str:
    """Return what stands for the value of an option; a switch has none."""
    kinds = set(get_args(hint)) or {hint}
    if bool in kinds or is_counted:
        return " "
    return "N" if int in kinds else "X" if float in kinds else "TEXT"


def make_parameter(item: Field[Any], hint: Any) -> inspect.Parameter:
    """Return a parameter for the parser. A switch that is off by default has no value and no opposite."""
    declaration = item.metadata[DECLARATION]
    if isinstance(declaration, OptionInfo):
        declaration.param_decls = declaration.param_decls or (f"--{item.name.strip('_').replace('_', '-')}",)
        declaration.metavar = declaration.metavar or _choose_metavar(hint, is_counted=declaration.count)
    default = inspect.Parameter.empty if item.default is MISSING else item.default
    annotation = Annotated[hint, declaration]
    return inspect.Parameter(item.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

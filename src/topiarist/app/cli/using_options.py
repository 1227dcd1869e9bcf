"""What each command may be told: one frozen value per command, from which its ``--help`` is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

OUTPUT = "What to print"


def _output(*names: str, text: str, **limits: Any) -> Any:
    return typer.Option(*names, rich_help_panel=OUTPUT, help=text, **limits)


FOLDER = typer.Argument(metavar="FOLDER", help="A collection, as `topiarist grow` has made it.", show_default=False)
NUMBER = typer.Option("-n", "--number", min=1, rich_help_panel=OUTPUT, help="How many documents to show.")
WHY = _output("--why", text="Say why each was found: words in their sense, and topics.")
UNDER = typer.Option("--topic", help="Only what lies under this topic: its number, its name, or a word of that.")


@dataclass(frozen=True, kw_only=True)
class Output:
    """What every command has: where the collection is, and how to print."""

    folder: Annotated[str, FOLDER]
    json: Annotated[bool, _output("--json", text="One JSON document on standard output.")] = False
    quiet: Annotated[bool, _output("--quiet", "-q", text="Results only: no progress, no advice.")] = False
    verbose: Annotated[int, _output("--verbose", "-v", count=True, text="Say what is done; twice: more.")] = 0
    debug: Annotated[bool, _output("--debug", text="Show where an error came from.")] = False


@dataclass(frozen=True, kw_only=True)
class TreeOptions(Output):
    """Print the tree of topics: words, documents under each, numbers to name a topic by."""

    depth: Annotated[int, _output("--depth", min=0, text="Levels below the root, or below --topic.")] = 3
    words: Annotated[int, _output("--words", min=0, max=20, text="Words of each topic.")] = 5
    documents: Annotated[int, _output("--documents", min=0, max=10, text="Typical documents of each topic.")] = 0
    topic: Annotated[str | None, UNDER] = None


@dataclass(frozen=True, kw_only=True)
class ShowOptions(Output):
    """Show a topic (its words, subtopics, typical documents) or a document (its text, word by word, and why it is
    where it is).
    """

    thing: Annotated[str, typer.Argument(metavar="TOPIC|DOCUMENT", help="A topic, or the id of a document.")]
    words: Annotated[int, _output("--words", min=1, max=200, text="Words of a topic.")] = 12
    number: Annotated[int, NUMBER] = 5
    all: Annotated[bool, _output("--all", text="The whole text, however long it is.")] = False
    likely: Annotated[
        bool, typer.Option("--likely", help="A topic's words by probability, not by what sets it apart.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class FindOptions(Output):
    """Find documents: by words (phrases in quotes, prefix*, -not, topic:, tag:, label:, type:, before:, after:), or by
    meaning.
    """

    query: Annotated[list[str], typer.Argument(metavar="QUERY…", help="What to look for.")]
    by: Annotated[str, typer.Option("--by", help="`words`, `meaning` or `both`.")] = "words"
    topic: Annotated[str | None, UNDER] = None
    number: Annotated[int, NUMBER] = 10
    why: Annotated[bool, WHY] = False


@dataclass(frozen=True, kw_only=True)
class SimilarOptions(Output):
    """Find the documents that are most like one of the collection, or like a file."""

    document: Annotated[str, typer.Argument(metavar="ID|FILE", help="The id of a document, or a file of any kind.")]
    topic: Annotated[str | None, UNDER] = None
    number: Annotated[int, NUMBER] = 10
    why: Annotated[bool, WHY] = False


@dataclass(frozen=True, kw_only=True)
class FileOptions(Output):
    """Put new documents into the tree: each at the deepest topic that is still certain, with the words that decided.

    Nothing is kept without `--add`.
    """

    new: Annotated[
        list[str], typer.Argument(metavar="NEW…", help="Folders, files, or `-` for JSON lines on standard input.")
    ]
    rho: Annotated[float, typer.Option("--rho", min=0, max=1, help="How certain a topic must be to file under it.")] = (
        0.9
    )
    several: Annotated[bool, typer.Option("--several", help="Every topic of which a document has a tenth.")] = False
    add: Annotated[
        bool,
        typer.Option(
            "--add", help="Keep the documents in the collection: all, or none. They cannot be taken out again."
        ),
    ] = False
    no_learn: Annotated[bool, typer.Option("--no-learn", help="Do not let the model learn from --add.")] = False
    rename: Annotated[
        bool, typer.Option("--rename", help="Let --add give a new id to a document whose id is taken.")
    ] = False
    branch: Annotated[
        bool, typer.Option("--branch", help="Look for new topics among the documents that fit nowhere.")
    ] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing, move nothing: only say.")] = False
    output: Annotated[str | None, typer.Option("--output", "-o", help="A file for the rows.")] = None
    format: Annotated[
        str | None, typer.Option("--format", help="`table`, `csv`, `jsonl` or `parquet`; by the name of the file.")
    ] = None
    move_to: Annotated[
        str | None, typer.Option("--move-to", help="Move the files into folders of this one, named as the topics.")
    ] = None
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None
    id_column: Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")] = None


@dataclass(frozen=True, kw_only=True)
class LearnOptions(Output):
    """Learn given categories: from the labels that documents came with, or from a table of ids and labels."""

    labels: Annotated[
        str | None, typer.Option("--labels", help="CSV, TSV or JSON lines with the columns id and label.")
    ] = None
    several: Annotated[
        bool | None, typer.Option("--several/--single", help="Whether a document may have several labels.")
    ] = None
    separator: Annotated[str, typer.Option("--separator", help="What stands between several labels in one cell.")] = "|"
    unlabelled_weight: Annotated[
        float,
        typer.Option("--unlabelled-weight", min=0, max=1, help="How much documents without a label count."),
    ] = 0.2
    holdout: Annotated[
        float, typer.Option("--holdout", min=0, max=0.9, help="Share of the labelled documents to judge by.")
    ] = 0.2


@dataclass(frozen=True, kw_only=True)
class ShapeOptions(Output):
    """Rename, merge, split, move and delete topics, pin documents, grow branches: from the words of a command, or from
    a file.
    """

    edits: Annotated[
        list[str] | None,
        typer.Argument(metavar="[EDIT…|FILE]", help="An edit in words, or a .yaml or .json file of edits."),
    ] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, in numbers.")] = False
    refit: Annotated[
        bool | None,
        typer.Option("--refit/--no-refit", help="Fit the tree again now, or later; by default if an edit needs it."),
    ] = None
    undo: Annotated[bool, typer.Option("--undo", help="Take the last step back, exactly.")] = False
    log: Annotated[bool, typer.Option("--log", help="Print what was done.")] = False
    interactive: Annotated[bool, typer.Option("--interactive", "-i", help="Edit after edit, at a prompt.")] = False


@dataclass(frozen=True, kw_only=True)
class ExportOptions(Output):
    """Write documents with their topics, topics, words, the tree or the model for other programs."""

    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to; `-` is standard output.")]
    what: Annotated[str | None, typer.Option("--what", help="`documents`, `topics`, `words`, `tree` or `model`.")] = (
        None
    )
    format: Annotated[
        str | None,
        typer.Option(
            "--format", help="csv, jsonl, parquet; of a tree json, graphml, newick, paths. By the file's name."
        ),
    ] = None
    rho: Annotated[float, typer.Option("--rho", min=0, max=1, help="How certain the level of a document is.")] = 0.5
    words: Annotated[int, typer.Option("--words", min=1, help="Words of each topic.")] = 20
    texts: Annotated[bool, typer.Option("--texts", help="The texts of the documents too.")] = False
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Output):
    """Compare the trees of two collections, or a tree with what it was before the last step."""

    other: Annotated[str | None, typer.Argument(metavar="OTHER", help="Another collection of the same documents.")] = (
        None
    )
    before: Annotated[bool, typer.Option("--before", help="Compare with the tree before the last step.")] = False
    number: Annotated[int, _output("-n", "--number", min=1, text="Changes of each kind to show.")] = 5


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(Output):
    """Judge the tree: by the labels of its documents where there are any, and by itself."""

    number: Annotated[int, _output("-n", "--number", min=1, text="Labels to show.")] = 10


@dataclass(frozen=True, kw_only=True)
class CheckOptions(Output):
    """Is the collection whole? Every checksum, every table, every part that another one refers to."""

    repair: Annotated[bool, typer.Option("--repair", help="Make the full-text index anew and remove leftovers.")] = (
        False
    )


@dataclass(frozen=True)
class Command:
    """A command: its name, its options, the module that answers, and what to type."""

    name: str
    options: type[Output]
    module: str
    writes: tuple[str, ...] = ()  # options that make it change something; "" where it always does
    examples: tuple[str, ...] = field(default=())

    @property
    def epilog(self) -> str:
        """The examples as ``--help`` shows them."""
        return "Examples:\n\n" + "\n\n".join(f"    topiarist {self.name} {example}" for example in self.examples)


COMMANDS = (
    Command("tree", TreeOptions, "tree", examples=(
        "mail.topiary", "mail.topiary --depth 1 --documents 2", "mail.topiary --topic court --json",
    )),
    Command("show", ShowOptions, "show", examples=(
        "mail.topiary 12", "mail.topiary 'court · judge' --words 30", "mail.topiary inbox/0231.txt",
    )),
    Command("find", FindOptions, "find", examples=(
        "mail.topiary bail hearing", "mail.topiary '\"bail hearing\" -football after:2004'",
        "mail.topiary bail --by meaning --topic court --why",
    )),
    Command("similar", SimilarOptions, "find", examples=(
        "mail.topiary inbox/0231.txt", "mail.topiary ./new-letter.pdf --why",
    )),
    Command("file", FileOptions, "file", examples=(
        "mail.topiary ./inbox", "mail.topiary ./inbox --add", "mail.topiary new.csv -o filed.csv",
        "mail.topiary ./inbox --move-to ./sorted --dry-run", "mail.topiary - --json < new.jsonl",
    ), writes=("add", "move_to", "output")),
    Command("learn", LearnOptions, "learn", examples=(
        "mail.topiary", "mail.topiary --labels labels.csv --several --separator ';'",
    ), writes=("",)),
    Command("shape", ShapeOptions, "shape", examples=(
        "mail.topiary rename 12 'Bail and custody'", "mail.topiary merge 12 15 as Justice --dry-run",
        "mail.topiary edits.yaml", "mail.topiary --undo", "mail.topiary --interactive",
    ), writes=("",)),
    Command("export", ExportOptions, "export", examples=(
        "mail.topiary -o documents.csv", "mail.topiary -o topics.parquet --what topics",
        "mail.topiary -o tree.graphml", "mail.topiary -o model --what model",
    )),
    Command("compare", CompareOptions, "compare", examples=("mail.topiary older.topiary", "mail.topiary --before")),
    Command("evaluate", EvaluateOptions, "compare", examples=("mail.topiary", "mail.topiary --json")),
    Command("check", CheckOptions, "check", examples=("mail.topiary", "mail.topiary --repair"), writes=("repair",)),
)  # fmt: skip

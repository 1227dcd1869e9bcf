"""Measure how far the language of a source tree is from plain technical English.

Usage::

    python check_language.py PATH [PATH ...] [--top N] [--list KIND] [--max N]

``PATH`` is a file or a folder. The script parses ``.py`` files with ``ast`` and reads ``.md`` and ``.html`` files as
text. It prints one row for each first-level package of a folder, one row in total, and a final line
``dialect: N per 1,000 docstrings and names``. Folders called ``tests`` are skipped unless ``PATH`` lies in one.
``--list`` prints the findings of one kind (names, summaries, markers, messages, sentences, tests). ``--max N`` makes
the exit status 1 if the dialect figure is above N, for use as a lint.

The same rules and the same word lists apply to every project: nothing here knows a project name or a path. The rules
are heuristics over word lists, so single findings can be wrong; compare totals, and look at ``--list`` before acting.

The script has no dependencies beyond the standard library (Python 3.11 or newer).
"""

from __future__ import annotations

import argparse
import ast
import html
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# ---------------------------------------------------------------------------------------------------------------------
# Word lists
# ---------------------------------------------------------------------------------------------------------------------

# Names that say neither what a value is nor what a function does, when they are the whole name. Irregular participles,
# adverbs, prepositions, pronouns and quantifiers. Regular participles (``...ed``) are found by their ending.
BARE_NAMES = set(
    """
    begun borne bought bound broken brought built chosen come cut dealt drawn fallen felt forgiven forgotten
    foretold forbidden found frozen given gone grown heard held hidden hurt kept known laid leapt learnt led lent let
    lost made meant met overheard paid put run read ridden risen said seen sent shown shut sold sought spelt spent split
    spoken spread stood stolen struck sung sunk sworn swept taken taught thought thrown told torn understood undone
    unknown unsaid unseen untold woken won worn written
    above across afar after afterwards again ago ahead alike all alone along already also always among anew apart around
    aside away back before behind below beneath beside besides between beyond both close down either elsewhere enough
    ever everywhere far farther few fewer first_of further hence here hither home inside instead into last_of lately
    least less like likely little long many maybe merely more most mostly much near nearby nearer nearest nearly neither
    never nowhere often once only onto otherwise out outside over overall perhaps quite rather seldom several so
    some somewhere soon still such sure surely there thereby therefore thus together too twice under unlike until up
    upon usual usually very well whole wholly within without yet
    any anybody anyone anything each every everybody everyone everything he her hers him his how it its mine my nobody
    none nothing one ones our ours own she somebody someone something that their theirs them these they this those us
    we what whatever when whether which whichever who whoever whole wholes whom whose why you your yours
    farness nearness closeness opposite same wanted
    """.split()
)

# Participles, adverbs and the like that are established names in Python code, because they are flags, states, the usual
# name of a partial result, or terms of the standard library, NumPy and the web. They are never counted.
ESTABLISHED_NAMES = set(
    """
    embed exceed feed need proceed red seed shed speed succeed weed bed deed breed indeed hundred sacred naked wicked
    accelerated accepted aliased allowed annotated appended archived batched blocked broadcasted buffered cached
    cancelled canceled checked chunked cleaned closed clipped coalesced collapsed combined compiled completed compressed
    computed concatenated condensed configured connected converged converted copied corrected created curated decoded
    decompressed deduplicated deferred deleted deprecated deserialized detected disabled disconnected discarded
    downloaded dropped elapsed enabled encoded encrypted ended escaped estimated evaluated excluded executed expanded
    expected expired exported extended extracted failed fetched filled filtered finished fitted fixed flattened
    formatted forwarded frozen generated grouped hashed hidden ignored imported imputed included indented indexed
    inferred inherited initialized inserted installed interpolated inverted joined last least_squares limited linked
    loaded located locked masked matched merged mixed modified moved named needed nested normalized normalised observed
    opened ordered padded paginated paired parallelized parsed patched paused permuted pickled populated predicted
    preprocessed processed projected provided quantized queued quoted raised ranked received reconstructed recorded
    reduced registered rejected released removed renamed rendered repeated replaced requested required resampled
    reshaped resized resolved restored resumed retried returned reversed rotated rounded sampled saved scaled scanned
    scheduled scored selected serialized shared shifted shuffled signed skipped smoothed sorted stacked started stopped
    stored stripped submitted succeeded summed supported suspended tagged tested tokenized traced trained transformed
    transposed truncated typed undefined unified unused updated uploaded used validated verified versioned visited
    warped weighted windowed wrapped zipped
    all any bound cut down first head inside last left long long_ map mean min max next none not off on open out outside
    over parent put read run self set split spread tail then top under unknown up write
    """.split()
)

# Verbs that begin a summary line, in the imperative or (with -s) in the third person.
VERBS = set(
    """
    abort accept access accumulate activate adapt add adjust advance aggregate align allocate allow analyse analyze
    announce annotate answer append apply approximate archive arrange ask assemble assert assess assign associate attach
    attempt augment authenticate authorize average await balance batch be become begin benchmark bind blend block
    bookmark bootstrap bound break broadcast buffer build cache calculate calibrate call cancel canonicalise
    canonicalize
    capture carry cast catch center centre chain change check choose chunk clamp classify clean clear clip clone close
    cluster coerce collapse collect color colour combine commit compact compare compile complete compose compress
    compute concatenate concat condense configure confirm connect consider construct consume contain continue contract
    contribute control convert convolve copy correct count cover crawl create crop cross cycle deactivate debug decide
    declare decode decompose decompress decorate decrease decrement deduplicate define delay delegate delete deliver
    demonstrate denoise derive describe deserialize deserialise destroy detach detect determine diagonalize dilate
    disable discard disconnect discover dispatch display distribute divide do document download draw drop dump duplicate
    echo edit eliminate embed emit emulate enable encode encapsulate encrypt end enforce enqueue ensure enter enumerate
    equalize erase escape establish estimate evaluate examine exchange exclude execute exit expand expect explain
    explore export expose express extend extract factor factorize fail fall feed fetch fill filter finalise finalize
    find finish fire fit fix flag flatten flip flush fold follow force format forget fork forward free freeze gather
    generate get give go grab graph group grow guarantee guess handle hash have hide highlight hold hook identify ignore
    illustrate implement import improve impute include increase increment index indicate infer inform inherit init
    initialise initialize inject insert inspect install instantiate instruct integrate intercept interpolate interpret
    interrupt intersect introduce invalidate invert invoke issue iterate join judge keep kill label launch lay lead
    learn
    leave limit linearize link list listen load locate lock log look loop make manage manipulate map mark marshal mask
    match materialise materialize maximise maximize measure memoize merge migrate minimise minimize mix mock model
    modify monitor move multiply mutate name navigate negate normalise normalize note notify number obtain offer offload
    omit open operate optimise optimize orchestrate order organize output overlay override overwrite pack pad paginate
    pair parallelise parallelize parameterize parse partition pass patch pause perform permute persist pick pickle ping
    place plan plot poll pool pop populate post precompute predict prefetch prefix prepare prepend preprocess present
    preserve pretty-print prevent print process produce profile project promote propagate propose protect prove provide
    prune publish pull pump purge push put quantize query queue raise randomise randomize rank re-raise reach read
    rebalance rebuild recall receive recognise recognize recompute reconnect reconstruct record recover recreate rectify
    redirect reduce reestimate refer refine refit reflect refresh refuse register reject relabel relate release reload
    remember remove rename render reorder repair repeat replace replay replicate report represent reproduce request
    require rescale reschedule reserve reset reshape resize resolve respond restart restore restrict result resume
    retain retire retrieve retry return reuse reverse revert review rewrite rotate round route run sample sanitise
    sanitize save scale scan scatter schedule score scroll search see seed segment select send separate serialise
    serialize
    serve set setup share shift show shrink shuffle shut shutdown shutter sign signal simplify simulate skip sleep slice
    smooth snapshot solve sort specify speed spill split spread squash squeeze stack standardise standardize start state
    steal step stop store stream strip submit subscribe subset substitute subtract suggest sum summarise summarize
    supply support suppress suspend swap sweep switch symmetrize synchronise synchronize tag take teach tear temper
    terminate test threshold throw tidy tile toggle tokenise tokenize touch trace track train transfer transform
    transition translate transpose traverse treat trigger trim truncate try tune turn type unpack unpickle unregister
    unset unwrap update upgrade upload use validate vectorise vectorize verify view visit visualise visualize wait wake
    walk warm warn watch weigh weight whiten widen wrap write yield zip
    """.split()
)

# First words of a summary line that is neither a command nor a noun phrase: question words, pronouns, prepositions,
# conjunctions, adverbs.
WEAK_STARTS = set(
    """
    what how why where when who whom whose which whether whoever whatever whichever wherever
    it its they their them he she his her you your we our us that those these this such same others other another
    somebody someone nobody everybody everyone anybody anyone something nothing everything anything none some few
    several
    most many much more less enough both either neither
    of by in on at from to into onto with without within below above under over beside besides between beyond behind
    before after until since during through along across around about against among as like unlike per
    if unless because although though while whereas so and or but nor not only also too even still again once twice
    here there now then perhaps always never often mostly nearly hardly
    told said known found kept given seen taken made done called shown written
    """.split()
)

# Words and idioms that mark the dialect in prose.
MARKERS = [
    r"(?:some|no|every|any)body(?:'s|s)?",
    r"who(?:so)?ever",
    r"wh?o (?:has|have) none",
    r"tells?|told|untold|foretell|foretold",
    r"says?|said|unsaid",
    r"speaks?|spoken|spoke",
    r"hears?|heard",
    r"lies|lay there",
    r"so (?:many|much|few|great)(?! (?:that|as)\b)",
    r"of (?:those|these|them|which|whom)",
    r"those (?:of|that|who|with|whose|in|below|above|beside)",
    r"that of|those of",
    r"the others",
    r"beside",
    r"anew",
    r"elsewhere",
    r"at home",
    r"as (?:it|they) (?:is|are|was|were|lies?|stands?|comes?)",
    r"lent|lend|lends",
    r"wanted",
    r"likewise",
    r"nowhere",
    r"seen from|with the eyes",
    r"by (?:itself|themselves)",
    r"of its own|of their own|of one's own",
    r"(?:is|are) there(?: (?:already|at all|anyway))?(?=[.,;:)]|$)",
    r"no longer|not any more|any more",
    r"gone",
    r"mended",
]
MARKER = re.compile(r"(?<![\w-])(?:" + "|".join(MARKERS) + r")(?![\w-])", re.IGNORECASE)
QUESTION_START = re.compile(r"^(?:what|how many|how much|the same|whoever|who|where|which|why|whose)\b", re.IGNORECASE)

# Words that turn the name of a test into a sentence with pronouns and auxiliary verbs.
TEST_MARKERS = set(
    """
    told tells tell said says say nobody somebody whoever who whom whose what which that those these they them it its
    is are was were be been being has have had does do did nothing none anew elsewhere beside lies so
    """.split()
)

LONG_LINE = 120
LONG_TEST_NAME = 8
SQL = re.compile(r"^\s*(?:SELECT|INSERT|CREATE|UPDATE|DELETE|WITH|PRAGMA|DROP|ALTER|BEGIN|COMMIT|REPLACE|ATTACH)\b")
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
LITERAL = re.compile(r"``[^`]*``|`[^`]*`|:\w+:`[^`]*`")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”)\]]*\s+(?=[\"'“(\[`*]*[A-Z])|\n\s*\n")
SECTION = re.compile(r"^\s*(?:[-=~^]{3,}|>>> .*|\.\. .*|:\w.*:.*)$")


# ---------------------------------------------------------------------------------------------------------------------
# Results
# ---------------------------------------------------------------------------------------------------------------------


@dataclass
class Result:
    """Counts for one package, with the findings behind them."""

    files: int = 0
    names: int = 0
    bare_names: int = 0
    docstrings: int = 0
    weak_summaries: int = 0
    marked_docstrings: int = 0
    flagged_docstrings: int = 0
    messages: int = 0
    marked_messages: int = 0
    sentences: int = 0
    sentence_words: int = 0
    texts: int = 0
    marked_texts: int = 0
    text_words: int = 0
    lines: int = 0
    long_lines: int = 0
    tests: int = 0
    odd_tests: int = 0
    unreadable: int = 0
    common: Counter[str] = field(default_factory=Counter)
    findings: dict[str, list[str]] = field(default_factory=dict)

    def add(self, other: Result) -> None:
        """Add the counts and findings of another result."""
        for name, value in vars(other).items():
            if isinstance(value, int):
                setattr(self, name, getattr(self, name) + value)
        self.common.update(other.common)
        for kind, lines in other.findings.items():
            self.findings.setdefault(kind, []).extend(lines)

    def note(self, kind: str, line: str) -> None:
        """Record one finding for ``--list``."""
        self.findings.setdefault(kind, []).append(line)

    @property
    def dialect(self) -> float | None:
        """Flagged names and docstrings per 1,000 names and docstrings; None without any."""
        total = self.names + self.docstrings
        return 1000 * (self.bare_names + self.flagged_docstrings) / total if total else None


# ---------------------------------------------------------------------------------------------------------------------
# Rules
# ---------------------------------------------------------------------------------------------------------------------


def plain_name(name: str) -> str:
    """Return a name in lower case with underscores between words and none around it."""
    core = name.strip("_")
    if core.isupper():
        return core.lower()
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", core).lower()


def is_bare(name: str) -> bool:
    """Return whether a whole name is one participle, adverb, pronoun or quantifier."""
    plain = plain_name(name)
    if not plain or "_" in plain or plain in ESTABLISHED_NAMES:
        return False
    return plain in BARE_NAMES or (len(plain) > 4 and plain.endswith("ed") and not plain.endswith("eed"))


def is_verb(word: str) -> bool:
    """Return whether a word is a known verb in the imperative or the third person."""
    if word in VERBS:
        return True
    for ending, stem in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(ending) and word[: -len(ending)] + stem in VERBS:
            return True
    return word.endswith("es") and word[:-1] in VERBS


def summary_of(docstring: str) -> str:
    """Return the first paragraph line of a docstring, without labels such as ``(P5):`` before it."""
    for line in docstring.strip().splitlines():
        if line.strip():
            return re.sub(r"^(?:\((?:[A-Z]?\d+[a-z]?)\)[,:–-]*\s*)+:?\s*", "", line.strip())
    return ""


def is_weak_summary(docstring: str) -> bool:
    """Return whether a summary line is neither a verb phrase nor a noun phrase of at least three words."""
    line = summary_of(docstring)
    if not line:
        return True
    sentence = SENTENCE_END.split(line)[0].strip()
    if sentence.rstrip("\"'”").endswith("?"):
        return True
    words = [match.lower() for match in WORD.findall(LITERAL.sub(" code ", sentence))]
    if not words:
        return True
    if is_verb(words[0]):
        return False
    if " ".join(words[:2]) in ("the same", "the other", "the others", "all of", "one of", "one more", "as many"):
        return True
    return words[0] in WEAK_STARTS or len(words) < 3


def is_marked(text: str) -> bool:
    """Return whether a text contains a marker idiom or begins with a question word."""
    prose = LITERAL.sub(" ", text)
    return MARKER.search(prose) is not None or QUESTION_START.match(prose.strip()) is not None


def sentences_of(text: str) -> list[str]:
    """Split prose into sentences of at least two words; directives, doctests and underlines are left out."""
    prose = "\n".join("" if SECTION.match(line) else line for line in text.splitlines())
    candidates = [part.strip() for part in SENTENCE_END.split(prose)]
    return [part for part in candidates if len(WORD.findall(part)) >= 2]


# ---------------------------------------------------------------------------------------------------------------------
# Python files
# ---------------------------------------------------------------------------------------------------------------------

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.Module


def bindings_of(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each name that a scope binds, once per scope, with the line of its first binding."""
    scopes: list[Scope] = [tree]
    while scopes:
        scope = scopes.pop()
        reported: set[str] = set()
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            parts = scope.args
            arguments = [*parts.posonlyargs, *parts.args, *parts.kwonlyargs, parts.vararg, parts.kwarg]
            for argument in arguments:
                if argument is not None and argument.arg not in ("self", "cls") and argument.arg not in reported:
                    reported.add(argument.arg)
                    yield argument.arg, argument.lineno
        body = scope.body if isinstance(scope.body, list) else [scope.body]
        nodes: list[ast.AST] = list(body)
        while nodes:
            node = nodes.pop()
            name = None
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                scopes.append(node)
                name = node.name if not node.name.startswith("__") else None
                nodes.extend(node.decorator_list)
            elif isinstance(node, ast.Lambda):
                scopes.append(node)
            else:
                nodes.extend(ast.iter_child_nodes(node))
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    name = node.id if not node.id.startswith("__") else None
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    name = node.attr
                elif isinstance(node, ast.ExceptHandler):
                    name = node.name
                elif isinstance(node, ast.alias) and node.asname not in (None, node.name.rpartition(".")[2]):
                    name = node.asname
            if name and name != "_" and name not in reported:
                reported.add(name)
                yield name, node.lineno


def docstring_nodes(tree: ast.Module) -> Iterator[tuple[ast.Constant, int]]:
    """Yield the constant of each docstring of a module, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            constant = first.value if isinstance(first, ast.Expr) else None
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str) and constant.value.strip():
                yield constant, first.lineno


def message_texts(tree: ast.Module, docstrings: set[int]) -> Iterator[tuple[str, int]]:
    """Yield string literals that read as prose: four words or more, no SQL, no docstring."""
    parts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts.update(id(part) for part in node.values)
            text = "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in docstrings or id(node) in parts:
                continue
            text = node.value
        else:
            continue
        if len(WORD.findall(text)) >= 4 and " " in text.strip() and not SQL.match(text):
            yield text, node.lineno


def read_python(path: Path, title: str) -> Result:
    """Measure one Python file."""
    result = Result(files=1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, OSError):
        result.unreadable = 1
        return result
    for name, line in bindings_of(tree):
        result.names += 1
        if is_bare(name):
            result.bare_names += 1
            result.common[plain_name(name)] += 1
            result.note("names", f"{title}:{line}: {name}")
        if name.startswith("test_"):
            words = name.split("_")[1:]
            result.tests += 1
            if len(words) > LONG_TEST_NAME or TEST_MARKERS.intersection(words):
                result.odd_tests += 1
                result.note("tests", f"{title}:{line}: {name}")
    docstrings: set[int] = set()
    for constant, line in docstring_nodes(tree):
        docstrings.add(id(constant))
        text = str(constant.value)
        result.docstrings += 1
        has_weak_summary, has_marker = is_weak_summary(text), is_marked(text)
        result.weak_summaries += has_weak_summary
        result.marked_docstrings += has_marker
        result.flagged_docstrings += has_weak_summary or has_marker
        if has_weak_summary:
            result.note("summaries", f"{title}:{line}: {summary_of(text)}")
        if has_marker:
            result.note("markers", f"{title}:{line}: {' '.join(text.split())[:160]}")
        for sentence in sentences_of(text):
            result.sentences += 1
            result.sentence_words += len(WORD.findall(LITERAL.sub(" code ", sentence)))
    for text, line in message_texts(tree, docstrings):
        result.messages += 1
        if is_marked(text):
            result.marked_messages += 1
            result.note("messages", f"{title}:{line}: {' '.join(text.split())[:160]}")
    return result


# ---------------------------------------------------------------------------------------------------------------------
# Text files
# ---------------------------------------------------------------------------------------------------------------------


def markdown_prose(source: str) -> tuple[str, list[str]]:
    """Return the prose of a Markdown text without code, and its lines outside of code blocks."""
    lines, prose, fence = [], [], ""
    for line in source.splitlines():
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
            prose.append("")
        else:
            lines.append(line)
            text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", line)
            cells = re.split(r"\s*\|\s*", text.strip().strip("|")) if text.lstrip().startswith("|") else [text]
            heading = re.match(r"\s*(?:#{1,6}|[-*+]|\d+\.)\s", text)
            prose.extend(["", *(f"{cell}\n" for cell in cells)] if heading or len(cells) > 1 else cells)
    return "\n".join(prose), lines


def is_long(line: str) -> bool:
    """Return whether a Markdown line is over the limit; of a table row, which cannot be wrapped, the longest cell."""
    cells = line.strip().strip("|").split("|") if line.lstrip().startswith("|") else [line]
    return any(len(cell.strip()) > LONG_LINE for cell in cells)


def html_prose(source: str) -> str:
    """Return the text of an HTML file or a template, one paragraph for each run between tags."""
    text = re.sub(r"(?is)<(script|style)\b.*?</\1\s*>|<!--.*?-->|\{#.*?#\}", "\n\n", source)
    text = re.sub(r"(?s)\{%.*?%\}", "\n\n", text)
    text = re.sub(r"(?s)\{\{.*?\}\}", " value ", text)
    text = re.sub(r"(?i)</?(?:a|b|code|em|i|kbd|q|small|span|strong|sub|sup)\b[^>]*>", " ", text)
    return html.unescape(re.sub(r"(?s)<[^>]*>", "\n\n", text))


def read_text(path: Path, title: str) -> Result:
    """Measure one Markdown or HTML file."""
    result = Result(files=1)
    try:
        source = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        result.unreadable = 1
        return result
    if path.suffix == ".md":
        prose, lines = markdown_prose(source)
        result.lines = len(lines)
        result.long_lines = sum(is_long(line) for line in lines)
    else:
        prose = html_prose(source)
    for sentence in sentences_of(prose):
        result.texts += 1
        result.text_words += len(WORD.findall(LITERAL.sub(" code ", sentence)))
        if is_marked(sentence):
            result.marked_texts += 1
            result.note("sentences", f"{title}: {' '.join(sentence.split())[:160]}")
    return result


# ---------------------------------------------------------------------------------------------------------------------
# Command
# ---------------------------------------------------------------------------------------------------------------------

READERS = {".py": read_python, ".md": read_text, ".html": read_text}


def files_below(root: Path) -> Iterator[Path]:
    """Yield the files to measure, in order; hidden folders and folders of tests are left out."""
    if root.is_file():
        yield root
        return
    in_tests = "tests" in root.resolve().parts
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if any(part.startswith(".") or part in ("__pycache__", "node_modules") for part in parts):
            continue
        if not in_tests and any(part in ("tests", "test") for part in parts[:-1]):
            continue
        if path.suffix in READERS and path.is_file():
            yield path


def measure(root: Path) -> dict[str, Result]:
    """Measure a file or folder, by first-level package."""
    packages: dict[str, Result] = {}
    for path in files_below(root):
        parts = path.relative_to(root).parts if root.is_dir() else (path.name,)
        package = parts[0] if len(parts) > 1 else "."
        packages.setdefault(package, Result()).add(READERS[path.suffix](path, str(path)))
    return packages


def percent(part: int, whole: int) -> str:
    """Return a share in percent with one decimal, or a dash where there is nothing to divide by."""
    return f"{100 * part / whole:.1f}" if whole else "-"


COLUMNS = (
    "names  bare%  docstr  weak%  mark%  msgs  mark%  words  texts  mark%  words  lines  >120  tests  odd%  dialect"
)


# Upper limits of the figures of src/topiarist; docs/design/language.md has those of other projects.
TARGETS = {
    "bare names, %": 1.5,
    "weak summaries, %": 6.0,
    "docstrings with markers, %": 5.0,
    "messages with markers, %": 1.5,
    "words per sentence": 14.0,
    "dialect per 1,000": 20.0,
}


def figures(result: Result) -> dict[str, float]:
    """Return the figures that have a target."""
    return {
        "bare names, %": 100 * result.bare_names / max(result.names, 1),
        "weak summaries, %": 100 * result.weak_summaries / max(result.docstrings, 1),
        "docstrings with markers, %": 100 * result.marked_docstrings / max(result.docstrings, 1),
        "messages with markers, %": 100 * result.marked_messages / max(result.messages, 1),
        "words per sentence": result.sentence_words / max(result.sentences, 1),
        "dialect per 1,000": result.dialect or 0.0,
    }


def row(title: str, result: Result) -> str:
    """Return one line of the table."""
    cells = (
        (str(result.names), 6),
        (percent(result.bare_names, result.names), 6),
        (str(result.docstrings), 7),
        (percent(result.weak_summaries, result.docstrings), 6),
        (percent(result.marked_docstrings, result.docstrings), 6),
        (str(result.messages), 5),
        (percent(result.marked_messages, result.messages), 6),
        (f"{result.sentence_words / result.sentences:.1f}" if result.sentences else "-", 6),
        (str(result.texts), 6),
        (percent(result.marked_texts, result.texts), 6),
        (f"{result.text_words / result.texts:.1f}" if result.texts else "-", 6),
        (str(result.lines), 6),
        (str(result.long_lines), 5),
        (str(result.tests), 6),
        (percent(result.odd_tests, result.tests), 5),
        (f"{result.dialect:.0f}" if result.dialect is not None else "-", 8),
    )
    return title[:16].ljust(16) + " ".join(text.rjust(width) for text, width in cells)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description="Measure the language of a source tree.")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="file or folder to measure")
    parser.add_argument("--top", type=int, default=0, metavar="N", help="print the N most frequent bare names")
    kinds = ("names", "summaries", "markers", "messages", "sentences", "tests")
    parser.add_argument("--list", choices=kinds, help="print the findings of one kind")
    parser.add_argument("--max", type=float, metavar="N", help="exit with 1 if the dialect figure is above N")
    options = parser.parse_args(arguments)
    total = Result()
    for root in options.paths:
        if not root.exists():
            parser.error(f"no such file or folder: {root}")
        packages = measure(root)
        subtotal = Result()
        print(f"{root}")
        print(" " * 16 + COLUMNS)
        for package, result in sorted(packages.items()):
            subtotal.add(result)
            if len(packages) > 1:
                print(row(package, result))
        print(row("total", subtotal))
        if subtotal.unreadable:
            print(f"{subtotal.unreadable} files could not be parsed")
        total.add(subtotal)
    if options.top:
        print("bare names: " + ", ".join(f"{name} {number}" for name, number in total.common.most_common(options.top)))
    if options.list:
        print(*total.findings.get(options.list, []), sep="\n")
    if total.dialect is None:
        print("dialect: no docstrings and names")
        return 0
    print(f"dialect: {total.dialect:.0f} per 1,000 docstrings and names")
    return int(options.max is not None and total.dialect > options.max)


if __name__ == "__main__":
    sys.exit(main())

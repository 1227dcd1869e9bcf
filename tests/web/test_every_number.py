"""Every number that pages say of a planted collection, compared with its documents: no line stays unread."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from scipy.stats import beta
from starlette.testclient import TestClient

from tests.planted import BAIL, FOOTBALL, OIL, planted_documents, planted_path  # noqa: F401
from tests.web.words import GENERAL, TOPICS
from topiarist.web import addresses
from topiarist.web.http.server import explorer

DOCUMENTS = planted_documents()
BY_TITLE = {item.title: item for item in DOCUMENTS}
SOURCE = {item.id: item.labels[0] if item.labels else OIL for item in DOCUMENTS}
SIZES = Counter(SOURCE.values())
DATED = [item for item in DOCUMENTS if len(item.date) > 4]
MONTHS = sorted({item.date[:7] for item in DATED})
MONTH_SIZES = Counter(item.date[:7] for item in DATED)
DESKS = {desk: [item for item in DOCUMENTS if dict(item.columns).get("desk") == desk] for desk in ("north", "south")}
FREQUENCY = Counter(word for item in DOCUMENTS for word in {*item.title.lower().split(), *item.text.split()})
GENERAL_WORDS = {word for word, number in FREQUENCY.items() if number > len(DOCUMENTS) / 2}
BLOCKS = {"p", "li", "h1", "h2", "h3", "td", "th", "dt", "dd", "summary", "figcaption", "button", "label", "tr", "div"}
PERCENT = r"(<?\d+(?:\.\d)?)%"
BETWEEN = rf"{PERCENT} \((\d+(?:\.\d)?)–(\d+(?:\.\d)?)\)"
TIMES = r"([\d.]+) times \(([\d.]+)–([\d.]+)\)"


class VisibleText(HTMLParser):
    """Visible text of a page, a line for each block."""

    def __init__(self):
        super().__init__()
        self.lines, self.hidden = [""], 0

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in ("script", "style", "svg")
        self.lines += [""] * (tag in BLOCKS)

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style", "svg")
        self.lines += [""] * (tag in BLOCKS)

    def handle_data(self, data):
        self.lines[-1] += "" if self.hidden else data


class Pages:
    """Pages of the planted collection, and the names of its topics."""

    def __init__(self, path):
        self.client = TestClient(explorer(str(path)), base_url="http://127.0.0.1")
        view = self.client.app.state.session.view()
        leaves = view.tree.leaves
        words = {node: set(view.collection.tree.nodes[node].words) for node in leaves}
        self.source = {
            view.names[node]: source for node in leaves for source in TOPICS if words[node] & {*TOPICS[source].split()}
        }
        self.topic = {self.source[view.names[node]]: view.shape.topics[node] for node in leaves}

    def lines(self, address):
        html = self.client.get(address).text
        reader = VisibleText()
        reader.feed(re.search(r"<main.*?</main>", html, re.DOTALL)[0])
        return [" ".join(line.split()) for line in reader.lines if line.strip()]

    def read(self, address, claims):
        """Check each line with a number by the first claim that it is; a line that is none is an error.

        A claim is given the groups of its pattern as numbers, the source of the topic that was named last, and how many
        such lines follow the name.
        """
        source, place, word = "", -1, ""
        for line in self.lines(address):
            name = re.sub(r" \d+%$", "", line)
            if name in self.source:
                source, place = self.source[name], -1
            if line.isalpha():
                word = line
            if not re.search(r"\d", line):
                continue
            place += 1
            for pattern, is_true in claims.items():
                if match := re.fullmatch(pattern, line):
                    values = [read_number(group) for group in match.groups()]
                    assert is_true(*values, source=source, place=place, word=word), f"{address}: {line}"
                    break
            else:
                raise AssertionError(f"{address}: nobody checks “{line}”")


def read_number(text):
    plain = (text or "").replace(",", "")
    return float(plain) if re.fullmatch(r"[\d.]+", plain) else text


@pytest.fixture(scope="module")
def pages(planted_path):  # noqa: F811
    return Pages(planted_path)


def is_percent(value, number, total):
    """Whether a printed percentage is right, whole or with one decimal; nearly all is never 100%."""
    return abs(value - 100 * number / total) <= (0.5 if value == int(value) else 0.05) + 1e-6


def is_between(value, low, high, number, total):
    """Whether a share and its interval of 95% are right, by the posterior of Jeffreys."""
    limits = 100 * beta.ppf([0.025, 0.975], number + 0.5, total - number + 0.5)
    return is_percent(value, number, total) and all(
        abs(printed - limit) <= 0.75 for printed, limit in zip((low, high), limits, strict=True)
    )


def count(items, source):
    return sum(SOURCE[item.id] == source for item in items)


def is_document(title, source=None):
    return title in BY_TITLE and source in (None, SOURCE[BY_TITLE[title].id])


def is_date(date, label):
    wanted = () if not label else (label.strip(),)
    return any(item.date == str(date).removesuffix(".0") and item.labels == wanted for item in DOCUMENTS)


def says_date(date, label, **_):
    return is_date(date, label)


def always(*_, **__):
    """A choice or a legend, which says nothing of the documents."""
    return True


TITLE, DATE = r"((?:Note|Odd) \d+)", r"(\d{4}(?:-\d\d-\d\d)?)((?: [a-z]+/[a-z]+)?)"


def test_overview_numbers(pages):
    n_undated = sum(not item.date for item in DOCUMENTS)
    pages.read("/", {
        r"(\d+) documents, (\d+) dated from 2014 and (\d+) undated, in English \((\d+)%; (\d+) without a detected "
        r"language\), sorted into 3 topics\.": lambda n, dated, undated, share, unknown, **_: (
            (n, dated, undated) == (len(DOCUMENTS), len(DOCUMENTS) - n_undated, n_undated)
            and is_percent(share, n - unknown, n)
        ),
        r"Everything (\d+)": lambda n, **_: n == len(DOCUMENTS),
        rf"({'|'.join(map(re.escape, pages.source))}) [a-z ]+ (\d+)✎": lambda name, n, **_: (
            n == SIZES[pages.source[name]]
        ),
    })  # fmt: skip


def test_general_words_are_in_most_documents(pages):
    lines = pages.lines("/")
    words = lines[lines.index("General words of this collection") + 1]
    assert set(words.split(", ")) == GENERAL_WORDS


@pytest.mark.parametrize("source", [BAIL, FOOTBALL, OIL])
def test_topic_page_numbers(pages, source):
    items = [item for item in DOCUMENTS if SOURCE[item.id] == source]
    tokens = Counter(word for item in items for word in item.text.split() if word not in GENERAL_WORDS)

    def has_words(n, *, word, **_):
        return n == sum(word in {*item.title.lower().split(), *item.text.split()} for item in items)

    pages.read(f"/topic/{pages.topic[source]}", {
        r"(?:Tag for these|Mark all|Export these) (\d+)(?: read|: CSV · JSON lines · titles.*)?": (
            lambda n, **_: n == len(items)
        ),
        r"(\d+) documents \((\d+\.\d)% of the collection\)\. Typical words: ([a-z]+), ([a-z]+) and ([a-z]+)\.": (
            lambda n, share, *words, **_: n == len(items) and is_percent(share, n, len(DOCUMENTS))
            and set(words) <= {*TOPICS[source].split()}
        ),
        r"Documents count with their shares: (\d+) documents have at least 1% here, (\d+) at least half\. All shares "
        r"add up to (\d+)\.": lambda n, half, total, **_: n >= half == total == len(items),
        rf"(?:{PERCENT} )?{TITLE}": lambda share, title, **_: is_document(title, source) and not share <= 50
        if share else is_document(title, source),
        DATE: says_date,
        r"(\.\d{3})": lambda share, *, word, **_: abs(share - tokens[word] / tokens.total()) < 0.015,
        r"(\d+)": has_words,
        r".*Show all ?mostly here \(50% or more\) ?unsorted ?unread ?tagged": always,
        r"(?:\d ?)+\d* ?Next ▸": lambda **_: True,
    })  # fmt: skip


def test_document_page_numbers(pages):
    item = next(item for item in DOCUMENTS if SOURCE[item.id] == FOOTBALL)
    pages.read(addresses.document(item.id), {
        r"◂ Previous ?▴ (\d+) of (\d+) under .* Next ▸": lambda rank, n, **_: 1 <= rank <= n == SIZES[FOOTBALL],
        r"▴ (\d+) of (\d+) under .*": lambda rank, n, **_: 1 <= rank <= n == SIZES[FOOTBALL],
        rf"{TITLE}": lambda title, **_: is_document(title),
        r"([\d-]+) · (\d+) words · (\S+) (\S+)": lambda date, n, id, label, **_: (
            (date, n, id, (label,)) == (item.date, len(item.text.split()), item.id, item.labels)
        ),
        rf".* {PERCENT}": lambda share, *, source, **_: 50 < share < 100,
        rf"{TITLE} {PERCENT} similar": lambda title, share, **_: is_document(title) and 0 < share <= 100,
        PERCENT: lambda share, **_: str(share).startswith("<") or 0 < share < 100,
        DATE: says_date,
    })  # fmt: skip


def test_time_page_numbers(pages):
    def has_share(share, low, high, *, source, place, **_):
        items = [item for item in DATED if item.date[:7] == MONTHS[place]]
        return is_between(share, low, high, count(items, source), len(items))

    def is_burst(ratio, usual, *, source, **_):
        inside = [item for item in DATED if item.date[5:7] in ("06", "07")]
        outside = [item for item in DATED if item not in inside]
        expected = count(outside, source) / len(outside)
        return is_percent(usual, count(outside, source), len(outside)) and (
            abs(ratio - count(inside, source) / len(inside) / expected) < 0.06
        )

    pages.read("/time", {
        r"(\d+) documents from (\S+) to (\S+), by month: (\d+) months, 1 burst\.": lambda n, first, last, months, **_: (
            (n, first, last, months) == (len(DATED), MONTHS[0], MONTHS[-1], len(MONTHS))
        ),
        r"(\d+) documents have no date\.": lambda n, **_: n == sum(not item.date for item in DOCUMENTS),
        r"(\d+) documents have a date without a month\.": lambda n, **_: (
            n == sum(len(item.date) == 4 for item in DOCUMENTS)
        ),
        r"((?:\d{4}-\d\d ?)+)": lambda months, **_: set(re.findall(r"\d{4}-\d\d", months)) <= set(MONTHS),
        r"Height: documents, at most (\d+) in a month\. .*": lambda n, **_: n == max(MONTH_SIZES.values()),
        r"Line: share of the documents of a month\. Band: 95% confidence interval\. .*": always,
        BETWEEN: has_share,
        rf"([\d.]+) times the usual {PERCENT}": is_burst,
        rf".+ {PERCENT}": lambda share, *, source, **_: is_percent(share, count(DATED, source), len(DATED)),
        r"(\d+)": lambda n, **_: {n} == set(MONTH_SIZES.values()),
        r"2014-06 to 2014-07, documents of (.*)": lambda name, **_: pages.source[name] == BAIL,
    })  # fmt: skip


def test_group_page_numbers(pages):
    def find_groups(share, others):
        return [desk for desk in DESKS if desk != others]

    def is_count(n, desk, name, **_):
        return n == count(DESKS[desk], pages.source[name])

    def has_share(share, low, high, *, source, **_):
        return any(is_between(share, low, high, count(items, source), len(items)) for items in DESKS.values())

    def has_other_share(share, *, source, **_):
        return any(is_percent(share, count(items, source), len(items)) for items in DESKS.values())

    def has_ratio(ratio, low, high, *, source, **_):
        north, south = (count(items, source) / len(items) for items in DESKS.values())
        return low <= ratio <= high and any(
            abs(ratio / expected - 1) < 0.03 for expected in (north / south, south / north)
        )

    n_without = sum(not item.columns for item in DOCUMENTS)
    pages.read("/groups", {
        r"2 groups by desk, with topics more or less frequent than elsewhere\. (\d+) documents have no value\.": (
            lambda n, **_: n == n_without
        ),
        r"Dot: share of this group\. Line: 95% confidence interval\. .*": always,
        r"(north|south) (\d+) documents of (north|south)": lambda desk, n, same, **_: n == len(DESKS[desk]),
        r"(\d+) documents of (north|south) in (.*)": is_count,
        r"0 ?\d+% ?drawing": always,
        BETWEEN: has_share,
        PERCENT: has_other_share,
        TIMES: has_ratio,
    })  # fmt: skip


def test_category_and_comparison_numbers(pages):
    labelled = [item for item in DOCUMENTS if item.labels]
    pages.read("/categories", {
        r"The documents have (\d+) labels\. No categories are learned yet\.": lambda n, **_: n == len(TOPICS_OF_LABELS),
        r"(\d+)": lambda n, **_: n in TOPICS_OF_LABELS.values(),
        r"(?:Learn the categories: |In a terminal: |)topiarist learn .*": always,
    })  # fmt: skip
    pages.read("/compare", {
        r"3 labels of (\d+) documents against 3 topics\. Agreement \(NMI\): 1\.00\.": lambda n, **_: n == len(labelled),
        r"Compare with ?topics ?level 1": always,
        r"0% ?25% ?50% ?75% ?100% of the label": always,
        r"(\d+)": lambda n, **_: n in {*TOPICS_OF_LABELS.values(), *SIZES.values()},
        r"100%(?: documents of (\S+) in (.*))?": lambda label, name, **_: label in (None, pages.source.get(name)),
        rf"{PERCENT}": lambda share, **_: any(
            is_percent(share, TOPICS_OF_LABELS[label], SIZES[label]) for label in TOPICS_OF_LABELS
        ),
    })  # fmt: skip


TOPICS_OF_LABELS = Counter(label for item in DOCUMENTS for label in item.labels)


def test_model_page_numbers(pages):
    n_words = len({*FREQUENCY} - {*GENERAL_WORDS})
    n_tokens = sum(len(item.text.split()) + 1 for item in DOCUMENTS)  # numbers in titles are not counted
    account = pages.client.get("/model.json").json()["account"]
    unknown = next(entry["number"] for entry in account if "too short" in entry["said"])
    with_vectors = next(entry["number"] for entry in account if entry["what"] == "vectors")
    n_undated = sum(not item.date for item in DOCUMENTS)
    pages.read("/model", {
        r"A cluster-abstraction model with 3 topics and 0 headings, grown [\d-]+ [\d:]+ UTC with seed 0\. "
        r"Size: 3 topics, as asked for \(held-out perplexity \d+\)\.": always,
        r"(\d+) documents ?([\d,]+) words": lambda n, tokens, **_: (n, tokens) == (len(DOCUMENTS), n_tokens),
        r"(\d+) different words ?in the model; (\d+) words of more than half of the documents belong to the root": (
            lambda n, general, **_: general == len(GENERAL_WORDS) and n <= n_words
        ),
        r"1 language ?English, (\d+) in an unknown language": lambda n, **_: n == unknown,
        r"0\.0% unsorted ?0 documents without a topic that holds half of them": always,
        r"(0\.\d+) coherence ?NPMI of the ten first words: 0 is chance, above 0\.1 is good": lambda n, **_: n > 0.1,
        r"(\d+)% word diversity ?of (\d+) first words of topics and headings are distinct: above 70% is usual": (
            lambda share, n, **_: share <= 100 and n <= 3 * 10
        ),
        r"(\d+) held-out perplexity ?on held-out words; lower is better": lambda n, **_: 8 < n < 20,
        r"1\.00 agreement with labels ?normalised mutual information, at most 1": always,
        r"Held-out perplexity by number of topics, lower is better\. 3 topics were chosen\.": always,
        r"(\d) \((\d)\)": lambda level, n, **_: (level, n) in ((0, 1), (1, 3)),  # topics of a level
        r"-?[\d,.]+(?: \(chosen\))?": always,  # curves of the fit
        r"Columns: desk \(category, 2 different\)\.": lambda **_: len(DESKS) == 2,
        r"(\d+) documents": lambda n, **_: n == len(DOCUMENTS),
        r"(\d+) in English": lambda n, **_: n == len(DOCUMENTS) - unknown,
        r"(\d+) too short or too mixed to detect the language": lambda n, **_: n == unknown,
        r"(\d+) documents have no date\.?": lambda n, **_: n == n_undated,
        r"(\d+) documents have a vector from the bundled word vectors, (\d+) have none and are placed by their words": (
            lambda n, rest, **_: n == with_vectors and n + rest == len(DOCUMENTS)
        ),
        r"Collection\.grow\(documents, folder, Recipe\(topics=3, headings=False, seed=0\)\)": always,
        r"[\d-]{10} [\d:]{5}.*": always,  # the log
    })  # fmt: skip


def test_general_words_of_the_test_are_spread(pages):
    assert GENERAL_WORDS - {"note"} <= {*GENERAL}


@pytest.mark.parametrize("query", ["boycott", "sponsor"])
def test_search_page_numbers(pages, query):
    items = [item for item in DOCUMENTS if query in item.text.split()]
    seen = set()

    def is_hit(rank, title, **_):
        seen.add(title)
        return rank == len(seen) and BY_TITLE[title] in items

    pages.read(f"/search?q={query}", {
        rf"(\d+) documents match “{query}”, most of them under (.*)\.": lambda n, name, **_: (
            n == len(items) and 2 * count(items, pages.source[name]) > n
        ),
        r"Export these (\d+): CSV · JSON lines · titles.*": lambda n, **_: n == len(items),
        r"Documents 1 to (\d+) of (\d+)": lambda last, n, **_: last == min(20, n) and n == len(items),
        rf"(\d+) {TITLE}": is_hit,
        r"(\d{4}(?:-\d\d-\d\d)?) (.*?) ?([a-z]+/[a-z]+)": lambda date, name, label, **_: is_date(date, label),
        PERCENT: lambda share, **_: str(share).startswith("<") or 0 < share < 100,
        r"the word “.*”": always,
        r"(?:\d ?)+ ?Next ▸": always,
    })  # fmt: skip
    assert len(seen) == min(20, len(items))

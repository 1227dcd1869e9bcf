"""What axe finds wrong with a page, in both themes from one load: all rules in light, those of colours in dark."""

from pathlib import Path

import axe_playwright_python

SOURCE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
TARGETS = {"target-size": {"enabled": True}}  # axe leaves it out unless it is asked for
ONLY = {"resultTypes": ["violations"]}  # what is right is not told in full
RULES = {"runOnly": {"type": "tag", "values": TAGS}, "rules": TARGETS, **ONLY}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}, **ONLY}
RUN = """(rules) => axe.run(document, rules).then((found) =>
    found.violations.map((one) => [one.id, one.nodes[0].html.slice(0, 150)]))"""


def violations(page, rules=RULES):
    """What breaks a rule: the rule, and the first place of it."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(SOURCE)
    return [tuple(one) for one in page.evaluate(RUN, rules)]


def in_both_themes(page):
    """What breaks a rule in light or, of those about colours, in dark: nothing else differs."""
    found = []
    for theme, rules in (("light", RULES), ("dark", COLOURS)):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        found += [(theme, *one) for one in violations(page, rules)]
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    return found

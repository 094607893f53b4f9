"""Decisions for continuous integration: lines of a log, annotations of GitHub, JUnit reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from setagree.wording.sentences import visible

_WORDS = {True: "holds", False: "fails", None: "no verdict"}
_GITHUB = {True: "notice", False: "error", None: "error"}
_JUNIT = {True: "system-out", False: "failure", None: "error"}


@dataclass(frozen=True)
class Decision:
    """A requirement, whether it holds (None without a verdict), and the sentence of the result."""

    name: str
    holds: bool | None
    basis: str

    @property
    def line(self) -> str:
        """The decision as one line of a log."""
        return visible(f"{_WORDS[self.holds]}: {self.name}. {' '.join(self.basis.split())}")


def exit_code(decisions: Sequence[Decision]) -> int:
    """Return 0 if all requirements hold, 1 if one does not, and 2 if one has no verdict."""
    held = {decision.holds for decision in decisions}
    return 1 if False in held else 2 if None in held else 0


def _github(decisions: Sequence[Decision]) -> str:
    """Return workflow commands, in whose data % and ends of lines are escaped."""
    return "\n".join(
        f"::{_GITHUB[each.holds]} title=setagree::{each.line.replace('%', '%25')}"
        for each in decisions
    )


def _junit(decisions: Sequence[Decision]) -> str:
    """Return a JUnit report with a test case per decision."""
    tags = [_JUNIT[each.holds] for each in decisions]
    counts = {"tests": len(tags), "failures": tags.count("failure"), "errors": tags.count("error")}
    suite = ET.Element("testsuite", {k: str(n) for k, n in counts.items()}, name="setagree")
    for each, tag in zip(decisions, tags, strict=True):
        case = ET.SubElement(suite, "testcase", classname="setagree", name=visible(each.name))
        attributes = {} if each.holds else {"message": each.line}
        ET.SubElement(case, tag, attributes).text = each.line
    ET.indent(suite)
    return f'<?xml version="1.0"?>\n{ET.tostring(suite, encoding="unicode")}'


GATE_FORMS: dict[str, Callable[[Sequence[Decision]], str]] = {
    "line": lambda decisions: "\n".join(each.line for each in decisions),
    "junit": _junit,
    "github": _github,
}
"""The texts of decisions by the names of their formats, in addition to JSON."""

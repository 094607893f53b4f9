"""The topics of a report in their order: a new section is a file, and its name in here."""

from __future__ import annotations

from dataclasses import dataclass, replace

from setagree.errors import SetagreeError
from setagree.progress import stages
from setagree.reporting.headline import headline
from setagree.reporting.sections import (
    chance,
    changes,
    choices,
    confusions,
    data,
    decisions,
    depths,
    groups,
    labels,
    models,
    pairs,
    patterns,
    rater_map,
    raters,
    replication,
    units,
)
from setagree.reporting.sections.base import Findings, Method, Section, Topic
from setagree.wording.sentences import Sentence

_ORDER = (
    *(data, choices, decisions, models, replication, labels, depths, confusions),
    *(raters, pairs, patterns, rater_map, units, groups, changes, chance),
)
TOPICS: tuple[Topic, ...] = tuple(section.TOPIC for section in _ORDER)

UNWEIGHTED = "are counted over the units of the sample, without their weights."
"""How the note of a section ends that does not take sampling weights into account."""

ONE_BY_ONE = "and treat the units as drawn one by one."
"""How the note of a section ends that ignores clusters, strata or a population size."""


@dataclass(frozen=True)
class Finding:
    """A sentence that matters, and the section that has its details."""

    about: str
    section: str
    sentence: Sentence


def find_all(f: Findings) -> None:
    """Fill in what each topic finds, or why it finds nothing."""
    asked = [topic for topic in TOPICS if topic.compute is not None]
    with stages("looking at", len(asked)) as reached:
        for topic in asked:
            reached(topic.id)
            try:
                f.results[topic.id] = topic.compute(f) if topic.compute else None
            except SetagreeError as error:
                if not topic.optional:
                    raise
                f.absent[topic.id] = str(error)


def main_findings(f: Findings) -> list[Finding]:
    """Return the main findings, the costs before the choices."""
    defined = f.main.reason is None
    first = [] if defined else [Finding("No estimate", "data", headline(f))]
    said = [
        Finding(topic.about, topic.id, topic.summary(f))
        for topic in sorted(TOPICS, key=lambda topic: topic.rank)
        if topic.summary is not None and (defined or topic.without_estimate)
    ]
    return [*first, *(finding for finding in said if finding.sentence)]


def sections(f: Findings) -> list[Section]:
    """Return the sections in the order of the report.

    Of a sample with weights, clusters, strata or a population size their notes state what ignores
    these.
    """
    shown = [(topic, section) for topic in TOPICS for section in topic.sections(f)]
    drawn, added = f.study.sampling, [""] * len(shown)
    if f.main.case.is_weighted:
        added = [
            f"{topic.unweighted} {UNWEIGHTED}" if topic.unweighted and section.table else ""
            for topic, section in shown
        ]
    elif drawn is not None:
        ending = f"ignore {drawn.said} {ONE_BY_ONE}"
        added = [topic.one_by_one and f"{topic.one_by_one} {ending}" for topic, _ in shown]
    return [
        replace(section, note=f"{section.note} {more}".strip())
        for (_, section), more in zip(shown, added, strict=True)
    ]


def methods(f: Findings) -> list[Method]:
    """Return the sentences that the topics add to the methods paragraph."""
    said = [topic.method(f) for topic in TOPICS if topic.method is not None]
    return [each for each in said if each is not None]

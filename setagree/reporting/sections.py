"""Findings as sections of sentences and tables, which page, Markdown and terminal all show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from setagree.coefficients.chance import ROUNDING
from setagree.errors import counted
from setagree.reporting.contents import answers, contents
from setagree.reporting.findings import Findings, by_share
from setagree.reporting.panel_sections import map_section, model_sections, replication_section
from setagree.reporting.rater_words import rater_finding
from setagree.reporting.sentences import (
    chance_finding,
    change_finding,
    change_words,
    choice_finding,
    confusion_finding,
    group_finding,
    label_finding,
    unit_finding,
)
from setagree.reporting.tables import Column, Section, Table, table_of
from setagree.scoring.names import coefficient_name, distance_name
from setagree.study.codes import as_objects
from setagree.wording import words
from setagree.wording.words import Name, Sentence

MOST_ROWS = {
    "labels": 40,
    "confusions": 15,
    "raters": 20,
    "pairs": 15,
    "units": 20,
    "groups": 60,
    "changes": 20,
}
"""Rows of a table; the functions that are named below it return them all."""

ENOUGH_SHARED = 10
"""Units that two raters must share to be listed, where any two do."""

_DRAWN = {"labels", "confusions", "raters", "pairs", "units", "groups"}
"""Sections whose frame has a picture of its own."""


def sections(f: Findings) -> list[Section]:
    """Return the sections that have something to say, in the order of the report."""
    makers: list[Callable[[Findings], Section | None]] = [
        data_section,
        choices_section,
        replication_section,
        labels_section,
        confusions_section,
        raters_section,
        pairs_section,
        map_section,
        units_section,
        groups_section,
        changes_section,
        chance_section,
    ]
    made = [each for each in (make(f) for make in makers) if each is not None]
    return [*made[:2], *model_sections(f), *made[2:]]


def data_section(f: Findings) -> Section:
    """Return what was counted, and what was left out and why."""
    columns = (
        Column("What", "text"),
        Column("Number", "count"),
        Column("What became of it", "text"),
    )
    rows = tuple(contents(f.study, f.main))
    table = Table("What the study holds, and what was left out", columns, rows)
    return Section("data", "What was counted, what was left out", (), table)


def choices_section(f: Findings) -> Section:
    """Return the coefficients under several distances."""
    found = {row.coefficient: row.definition for row in f.table}
    names, distances = list(found), list(dict.fromkeys(row.distance for row in f.table))
    heads = [Column(coefficient_name(c, distances), "estimate") for c in found.values()]
    rows = [
        (distance_name(d), *((row.estimate, *row.interval(f.level)) for row in _rows(f, names, d)))
        for d in distances
    ]
    caption = f"Coefficients by distance, with {100 * f.level:g} % intervals"
    table = Table(caption, (Column("Distance", "text"), *heads), tuple(rows))
    note = (
        "A distance says how much credit two answers that differ still get; a coefficient says "
        "what chance is. Percent agreement does not take chance out and is there for comparison."
    )
    title = "Would another choice tell another story?"
    return Section("choices", title, choice_finding(f), table, "forest", note)


def _rows(f: Findings, names: Sequence[str], distance: str) -> list[Any]:
    return [f.table.by_name[name, distance] for name in names]


def labels_section(f: Findings) -> Section | None:
    """Return the labels, the costliest first."""
    columns = [
        Column("Label", "name", "label"),
        Column("Share of disagreement", "share", "share_of_disagreement"),
        Column("Alpha", "estimate", ("alpha", "low", "high")),
        Column("Ratings with it", "count", "n_ratings"),
        Column("Prevalence", "share", "prevalence"),
        Column("AC1", "number", "ac1"),
        Column("Agree on yes", "share", "positive_agreement"),
        Column("Agree on no", "share", "negative_agreement"),
    ]
    note = (
        "Each label is a question of its own: was it given, yes or no? Agree on yes: how often "
        "another rater gives the label, too, where one did. A rare label can have a low alpha with "
        "almost perfect agreement on no; AC1 tells the two apart."
    )
    make = _Maker("labels", "Labels", "Labels, the costliest first", "by_label", note)
    return make(f, label_finding(f), f.frame("labels"), columns)


def confusions_section(f: Findings) -> Section | None:
    """Return what stands for what."""
    frame = f.frame("confusions")
    if frame is not None:
        said = [_confusion(*row) for row in _three(frame.head(MOST_ROWS["confusions"]))]
        frame = _with_sentences(frame, said)
    columns = [
        Column("Confusion", "text", "said"),
        Column("Pairs", "count", "pairs"),
        Column("Share of differing pairs", "share", "share"),
        Column("By chance", "count", "expected"),
        Column("Times chance", "number", "lift"),
        Column("Relation", "name", "relation"),
    ]
    note = (
        "Counted are pairs of ratings of one unit. ↔: one rater has the first label only, the "
        "other the second only. Left out: one has the label, the other has nothing that the first "
        "lacks. A pair can show several. By chance: what reshuffled answers give on average."
    )
    caption = "What stands for what, the most frequent first"
    make = _Maker("confusions", "Confusions", caption, "confusions", note)
    return make(f, confusion_finding(f), frame, columns)


def _three(frame: pd.DataFrame) -> list[tuple[Any, Any, Any]]:
    return list(zip(frame["label"], frame["other"], frame["kind"], strict=True))


def _confusion(label: object, other: object, kind: str) -> Sentence:
    if kind == "left out":
        return (Name.of(label), " left out")
    return (Name.of(label), " ↔ ", Name.of(other))


def _with_sentences(frame: pd.DataFrame, said: Sequence[Sentence]) -> pd.DataFrame:
    """Return a frame with a column of sentences, which stand in its first rows."""
    column = as_objects([*said, *[()] * (len(frame) - len(said))])
    return frame.assign(said=pd.Series(column, index=frame.index))


def raters_section(f: Findings) -> Section | None:
    """Return the raters, those whose leaving helps most first."""
    word = f.main.definition.short
    columns = [
        Column("Rater", "name", "rater"),
        Column("Change without", "change", ("change", "change_low", "change_high")),
        Column("Ratings", "count", "n_ratings"),
        Column("Distance to others", "number", "mean_distance"),
        Column("Labels a unit", "number", "mean_set_size"),
        Column("Against others", "signed", "set_size_bias"),
        Column("Empty", "share", "empty_rate"),
        Column("Overuses", "name", "overused_label"),
        Column("Underuses", "name", "underused_label"),
    ]
    note = (
        f"First number: by how much {word} changes when the rater is left out. Against others, "
        "overuses, underuses: compared with the other raters of the same units. A rater who "
        "disagrees with the others need not be the one who is wrong."
    )
    caption = f"Raters, those without whom {word} rises most first"
    make = _Maker("raters", "Raters", caption, "by_rater", note)
    return make(f, rater_finding(f), f.frame("raters"), columns)


def pairs_section(f: Findings) -> Section | None:
    """Return the pairs of raters, the lowest agreement first."""
    if f.study.n_raters < 3:
        return None
    frame, note = f.frame("pairs"), ""
    if frame is not None:
        frame = frame[frame["estimate"].notna()]
        frame = frame.sort_values(["estimate", "n_shared"], ascending=[True, False], kind="stable")
        enough = frame[frame["n_shared"] >= ENOUGH_SHARED]
        if 0 < len(enough) < len(frame):
            note = f"Pairs that share {ENOUGH_SHARED} units or more; fewer say little."
            frame = enough
    columns = [
        Column("Rater", "name", "rater_a"),
        Column("and rater", "name", "rater_b"),
        _estimate_column(f),
        Column("Shared units", "count", "n_shared"),
        Column("Mean distance", "number", "mean_distance"),
    ]
    caption = "Pairs of raters, the lowest agreement first"
    make = _Maker("pairs", "Pairs of raters", caption, "by_pair", note)
    return make(f, _pair_lead(frame), frame, columns)


def _estimate_column(f: Findings) -> Column:
    head = coefficient_name(f.main.definition, [f.main.distance])
    return Column(head, "estimate", ("estimate", "low", "high"))


def _pair_lead(pairs: pd.DataFrame | None) -> Sentence:
    if pairs is None or not len(pairs):
        return ("No two raters share enough units for a coefficient of their own.",)
    tenth, middle, last = (pairs["estimate"].quantile(q) for q in (0.1, 0.5, 0.9))
    lead = (
        f"Of {counted(len(pairs), 'pair')} of raters the middle one agrees at "
        f"{words.number(middle)}; four of five lie between {words.number(tenth)} and "
        f"{words.number(last)}."
    )
    return (lead,)


def units_section(f: Findings) -> Section | None:
    """Return the units to adjudicate, the worst first, with their answers side by side."""
    frame = f.frame("units")
    if frame is not None:
        frame = by_share(frame)
        worst = list(frame["unit"].iloc[: MOST_ROWS["units"]])
        frame = _with_sentences(frame, answers(f.study, worst))
    columns = [
        Column("Unit", "name", "unit"),
        Column("Answers", "text", "said"),
        Column("Share of all", "share", "share_of_disagreement"),
        Column("Disagreement", "number", "disagreement"),
        Column("Ratings", "count", "n_ratings"),
    ]
    note = (
        "Disagreement: the mean distance between the answers to the unit. Units with more ratings "
        "hold more of all disagreement."
    )
    caption = "Units to adjudicate, those that cost most first"
    make = _Maker("units", "Units to adjudicate", caption, "by_unit", note)
    return make(f, unit_finding(f), frame, columns)


def groups_section(f: Findings) -> Section | None:
    """Return the groups, the lowest first."""
    frame = f.frame("groups")
    if frame is None:
        return None
    columns = [
        Column("Group", "name", "group"),
        _estimate_column(f),
        Column("Against the rest", "signed", "difference"),
        Column("p", "p", "difference_p_value"),
        Column("Units", "count", "n_units"),
        Column("Raters", "count", "n_raters"),
        Column("Ratings", "count", "n_ratings"),
        Column("Why not", "name", "reason"),
    ]
    note = (
        "Against the rest: from the estimate of all other groups together, by Welch's t, not "
        "corrected for the number of groups. With fewer than some 20 units a group is rough."
    )
    make = _Maker("groups", "Groups", "Agreement by group, the lowest first", "by_group", note)
    ordered = frame.sort_values("estimate", kind="stable")
    return make(f, group_finding(f), ordered, columns)


def changes_section(f: Findings) -> Section | None:
    """Return what would follow from a change."""
    frame = f.frame("changes")
    if frame is None or len(frame) < 2:
        return None
    does = [change_words(*row) for row in zip(frame["change"], frame["what"], strict=True)]
    frame = _with_sentences(frame, [(words.capitalised(verb), *rest) for verb, *rest in does])
    columns = [
        Column("Change", "text", "said"),
        _estimate_column(f),
        Column("Difference", "signed", "difference"),
        Column("p", "p", "p_value"),
        Column("Units", "count", "n_units"),
        Column("Ratings", "count", "n_ratings"),
        Column("Distinct answers", "count", "n_values"),
        Column("Why not", "name", "reason"),
    ]
    note = (
        "These changes were chosen after looking at the data, so that their gain is somewhat "
        "flattered; and a label system that is easier to agree on is not always the one you need."
    )
    if _scored_anew(frame, f.frame("raters")):
        note += (
            " Without a rater, what the distance takes from the data and the list of values are "
            "made anew here; in the table of raters they stay those of the whole study."
        )
    caption = "The coefficient after each change"
    make = _Maker("changes", "What would a change bring?", caption, "what_if", note)
    return make(f, change_finding(f), frame, columns)


def _scored_anew(changes: pd.DataFrame, raters: pd.DataFrame | None) -> bool:
    """Say whether a rater's leaving gives another number here than in the table of raters."""
    dropped = changes[changes["change"] == "drop rater"].set_index("what")["estimate"]
    if raters is None or not len(dropped):
        return False
    there = pd.Series(raters["estimate_without"].to_numpy(), [str(g) for g in raters["rater"]])
    there = there[~there.index.duplicated()].reindex(dropped.index)
    return bool(((dropped - there).abs() > ROUNDING).any())


def chance_section(f: Findings) -> Section | None:
    """Return what reshuffled answers give."""
    lead = chance_finding(f)
    if not lead:
        return None
    n, asked = len(f.null.distribution), f.n_reshuffles_asked
    seed = "" if f.seed is None else f" (seed {f.seed})"
    note = f"All answers were reshuffled over all raters and units{seed}."
    if f.null.exact:
        note = "These are all arrangements of the answers over raters and units."
    elif n < asked:
        note += f" {n:,} times instead of {asked:,}, because the study is large."
    return Section("chance", "What chance gives", lead, None, "null", note)


@dataclass(frozen=True)
class _Maker:
    """Makes the section of a frame, or one that says why there is none."""

    name: str
    title: str
    caption: str
    function: str
    note: str = ""

    def __call__(
        self, f: Findings, lead: Sentence, frame: pd.DataFrame | None, columns: Sequence[Column]
    ) -> Section | None:
        if frame is None or not len(frame):
            why = f.absent.get(self.name)
            return None if why is None else Section(self.name, self.title, (why,))
        limit = MOST_ROWS[self.name]
        table = table_of(frame, columns, self.caption, limit=limit, function=self.function)
        drawn = self.name in _DRAWN and (f.main.reason is None or self.name == "labels")
        picture = self.name if drawn else None
        return Section(self.name, self.title, lead, table, picture, self.note)

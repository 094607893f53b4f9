"""Confusions between labels."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from setagree.diagnosis.confusions import ENOUGH_PAIRS, confusions, exceed_chance, has_enough_pairs
from setagree.plots import diagnosis
from setagree.reporting.sections.base import (
    Column,
    Findings,
    Listing,
    Picture,
    Section,
    Topic,
    with_sentences,
)
from setagree.reporting.sections.patterns import has_pattern
from setagree.study.codes import have_degrees
from setagree.wording.number_format import is_nothing, share
from setagree.wording.sentences import Name, Sentence

MOST_ROWS = 15

_BELOW_CHANCE = 0.95
"""Times chance below which the most frequent confusion is not reported."""


def compute(f: Findings) -> pd.DataFrame | None:
    """Return the confusions of labels, or None for numbers."""
    return None if f.study.kind == "number" else confusions(f.study)


def summary(f: Findings) -> Sentence:
    """Return a sentence on labels that are confused or left out more often than by chance."""
    confusions = f.frame("confusions")
    if confusions is None:
        return ()
    known = confusions[has_enough_pairs(confusions)]
    if has_pattern(f, "empty", "rater"):  # what is left out follows from that pattern
        known = known[known["kind"] != "left out"]
    kinds = [rows for _, rows in known.groupby("kind", sort=False)]
    said = [*filter(None, (_furthest(rows, alone=len(kinds) == 1) for rows in kinds))]
    return (*said[0], " ", *said[1]) if len(said) == 2 else said[0] if said else ()


def _furthest(rows: pd.DataFrame, *, alone: bool) -> Sentence:
    """Return the confusion of a kind with most pairs beyond chance; nothing if none has any.

    The most frequent one precedes it unless it is below chance.
    """
    above = rows[exceed_chance(rows)]
    if not len(above):
        return ()
    excess = (above["n_pairs"] - above["expected_pairs"]).sort_values(
        ascending=False, kind="stable"
    )
    most, top = rows.iloc[0], above.loc[excess.index[0]]
    n_tied = int(np.isclose(excess, excess.iloc[0]).sum())
    one, beside = Name.of(top["label"]), _beside_chance(top["lift"], " ({})")
    said: Sentence = (" one rater says ", one, " and the other says ", Name.of(top["other"]))
    said = (*said, f" instead{beside}.")
    if top["kind"] == "left out":
        said = (" ", one, f" is left out{beside}.")
    part = f"n {share(top['share'])} of the pairs that differ,"
    if most.name == top.name or most["lift"] < _BELOW_CHANCE:
        tied = f"One of {n_tied:,} with most pairs beyond chance: i" if n_tied > 1 else "I"
        return (f"{tied}{part}", *said)
    tied = f", one of {n_tied:,}" if n_tied > 1 else ""
    return (*_most_frequent(rows, alone=alone), f" Most pairs beyond chance{tied}: i{part}", *said)


def _most_frequent(rows: pd.DataFrame, *, alone: bool) -> Sentence:
    """Return the most frequent confusion of a kind as a plain fact."""
    most = rows.iloc[0]
    n = int((rows["n_pairs"] == most["n_pairs"]).sum())
    base = f"{share(most['share'])} of the pairs that differ"
    part = f" ({base}{_beside_chance(most['lift'], ', {}')})."
    if most["kind"] == "left out":
        one = f"One of the {n:,} labels" if n > 1 else "The label"
        return (f"{one} most often left out is ", Name.of(most["label"]), part)
    what = "difference" if alone else "swap"
    one = f"One of the {n:,} most frequent {what}s" if n > 1 else f"The most frequent {what}"
    return (f"{one} is ", Name.of(most["label"]), " against ", Name.of(most["other"]), part)


def _beside_chance(lift: float, around: str) -> str:
    """Return the ratio of a confusion to chance within other words; empty if unknown."""
    if is_nothing(lift):
        return ""
    times = f"{lift:.1f} times the number expected by chance"
    return around.format(
        "about as often as expected by chance" if f"{lift:.1f}" == "1.0" else times
    )


def sections(f: Findings) -> list[Section]:
    """Return the section on confused labels."""
    frame, picture = f.frame("confusions"), None
    if frame is not None:
        if f.main.reason is None:
            n = min(len({*frame["label"], *frame["other"]} - {None}), 20)
            height = 2.4 + n * min(0.45, 7 / n)
            picture = Picture(partial(diagnosis.confusions, frame), height, columns=n + 1)
        top = frame.head(MOST_ROWS)
        three = zip(top["label"], top["other"], top["kind"], strict=True)
        said: list[Sentence] = [
            (Name.of(label), *((" left out",) if kind == "left out" else (" ↔ ", Name.of(other))))
            for label, other, kind in three
        ]
        frame = with_sentences(frame, said)
    columns = [
        Column("Confusion", "text", "said"),
        Column("Pairs", "count", "n_pairs"),
        Column("Share of differing pairs", "share", "share", is_part=True),
        Column("Expected", "count", "expected_pairs"),
        Column("Ratio to expected", "number", "lift"),
        Column("Relation", "name", "relation"),
    ]
    note = (
        "The counts are of pairs of ratings of one unit. ↔: one rater has only the first label, "
        "the other only the second. Left out: one has the label, the other has nothing that the "
        "first lacks. A pair can count in several rows. Expected: the number if the pairs that "
        "differ were pairs of answers drawn at random. The main findings name those "
        "with most pairs beyond chance (pairs less expected pairs), if there are at least "
        f"{ENOUGH_PAIRS} observed and {ENOUGH_PAIRS} expected pairs."
    )
    if have_degrees(f.study.values):
        note += (
            " Degrees do not count: a pair of answers with the same labels in other degrees "
            "differs and is in no row."
        )
    caption = "Confused labels, the most frequent first"
    listing = Listing("confusions", "Confusions", caption, "confusions", MOST_ROWS, note)
    return listing.section(f, frame, columns, lead=summary(f), picture=picture)


TOPIC = Topic(
    "confusions",
    sections,
    compute,
    about="Confusion",
    summary=summary,
    optional=True,
    unweighted="Pairs",
    one_by_one="The pairs",
)

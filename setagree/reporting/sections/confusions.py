"""Confusions: which label stands for which."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd

from setagree.diagnosis.confusions import confusions
from setagree.plots import by_label as pictures
from setagree.reporting.sections.base import (
    Findings,
    Listing,
    Picture,
    Section,
    Topic,
    with_sentences,
)
from setagree.reporting.tables import Column
from setagree.wording.numbers import share
from setagree.wording.words import Name, Sentence

MOST_ROWS = 15

_ABOVE_CHANCE = 1.05
"""Times chance from which a confusion is a finding: below, it reads as once or less."""


def find(f: Findings) -> pd.DataFrame | None:
    """Return which labels stand for which; numbers have none."""
    return None if f.study.kind == "number" else confusions(f.study)


def say(f: Findings) -> Sentence:
    """Say which labels are confused and left out most often, of those that are so beyond chance."""
    confusions = f.frame("confusions")
    if confusions is None:
        return ()
    counted = confusions[confusions["pairs"].notna()]
    above = counted[~(counted["lift"] < _ABOVE_CHANCE)]
    first = {kind: rows.iloc[0] for kind, rows in above.groupby("kind", sort=False)}
    said: list[Sentence] = []
    if "instead" in first:
        top = first["instead"]
        one, other = Name.of(top["label"]), Name.of(top["other"])
        often = f" instead (in {_how_often(top, ' of the pairs that differ')})."
        said.append(("Where one rater says ", one, ", another often says ", other, often))
    if "left out" in first:
        top = first["left out"]
        said.append(("Often left out: ", Name.of(top["label"]), f" (in {_how_often(top)})."))
    return (*said[0], " ", *said[1]) if len(said) == 2 else said[0] if said else ()


def _how_often(top: pd.Series[Any], of_what: str = "") -> str:
    """Return the share of a confusion, and how many times chance that is, if it is known."""
    lift = "" if pd.isna(top["lift"]) else f", {top['lift']:.1f} times what chance gives"
    return f"{share(top['share'])}{of_what}{lift}"


def show(f: Findings) -> list[Section]:
    """Return what stands for what."""
    frame, picture = f.frame("confusions"), None
    if frame is not None:
        if f.main.reason is None:
            n = min(len({*frame["label"], *frame["other"]} - {None}), 20)
            height = 2.4 + n * min(0.45, 7 / n)
            picture = Picture(partial(pictures.confusions, frame), height, columns=n + 1)
        top = frame.head(MOST_ROWS)
        three = zip(top["label"], top["other"], top["kind"], strict=True)
        said: list[Sentence] = [
            (Name.of(label), *((" left out",) if kind == "left out" else (" ↔ ", Name.of(other))))
            for label, other, kind in three
        ]
        frame = with_sentences(frame, said)
    columns = [
        Column("Confusion", "text", "said"),
        Column("Pairs", "count", "pairs"),
        Column("Share of differing pairs", "share", "share"),
        Column("By chance", "count", "expected"),
        Column("Times chance", "number", "lift"),
        Column("Relation", "name", "relation"),
    ]
    note = (
        "The counts are of pairs of ratings of one unit. ↔: one rater has only the first label, "
        "the other only the second. Left out: one has the label, the other has nothing that the "
        "first lacks. A pair can count in several rows. By chance: how many there would be if the "
        "pairs that differ were pairs of answers drawn at random. The main findings name those "
        "above chance."
    )
    caption = "What stands for what, the most frequent first"
    listing = Listing("confusions", "Confusions", caption, "confusions", MOST_ROWS, note)
    return listing.section(f, frame, columns, lead=say(f), picture=picture)


TOPIC = Topic("confusions", show, find, about="Confusion", say=say, optional=True)

"""Depths of a hierarchy of labels: how much of the disagreement is inside its branches."""

from __future__ import annotations

from typing import Any

import pandas as pd

from setagree.diagnosis.by_depth import by_depth
from setagree.reporting.sections.base import (
    Column,
    Findings,
    Listing,
    Section,
    Topic,
    estimate_column,
)
from setagree.wording.number_format import share
from setagree.wording.sentences import Sentence

_NOTE = (
    "At a depth every label below it is replaced by the one above it there; a root has depth 1. "
    "Inside a branch: the share of the disagreement, all or nothing, that is then gone. A higher "
    "coefficient at a smaller depth does not mean a better codebook: its labels distinguish less."
)


def compute(f: Findings) -> pd.DataFrame | None:
    """Return the agreement at each depth, if the distance has a hierarchy of several."""
    tree: Any = getattr(f.distance, "hierarchy", None)
    if tree is None:
        return None
    frame = by_depth(f.study, parents=tree, **f.measure, level=f.level)
    return frame if len(frame) > 1 else None


def summary(f: Findings) -> Sentence:
    """Return a sentence on the share of disagreement inside the smallest branches."""
    frame = f.frame("depths")
    if frame is None or not frame["inside"].iloc[-2] > 0:
        return ()
    inside, depth = frame["inside"].iloc[-2], frame["depth"].iloc[-2]
    gone = f"it is gone where labels are replaced by those above them, at depth {depth}"
    return (f"{share(inside)} of the disagreement (all or nothing) is inside branches: {gone}.",)


def sections(f: Findings) -> list[Section]:
    """Return the depths, the roots first."""
    frame = f.frame("depths")
    if frame is None:
        return []
    columns = [
        Column("Depth", "count", "depth"),
        Column("Labels", "count", "n_labels"),
        Column("Inside a branch", "share", "inside"),
        estimate_column(f),
    ]
    caption = "Depths of the hierarchy, the roots first"
    listing = Listing("depths", "Depths of the hierarchy", caption, "by_depth", 15, _NOTE)
    return listing.section(f, frame, columns, lead=summary(f))


TOPIC = Topic("depths", sections, compute, about="Depth", summary=summary, optional=True)

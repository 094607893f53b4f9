# ruff: noqa: D401 - a road says what it is
"""Roads for what is meant, after all policies: flags, counts, wide tables, and back again."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

import setagree as sa

from .roads import objects, scored


def raters_of(units):
    return list(dict.fromkeys(rater for given in units.values() for rater in given))


def labels_of(units):
    sets = [answer for given in units.values() for answer in given.values()]
    return sorted({label for one in sets for label in one}) or ["never"]


def is_of_sets(units):
    return all(isinstance(one, frozenset) for given in units.values() for one in given.values())


def wide_frame(units):
    """Return a table with one row per unit and one column per rater, None if missing."""
    raters = raters_of(units)
    columns = {rater: objects([given.get(rater) for given in units.values()]) for rater in raters}
    return pd.DataFrame(columns).set_axis(list(units), axis="index")


def cube(units):
    """Flags of shape (raters, units, labels), and a mask."""
    raters, labels = raters_of(units), labels_of(units)
    flags = [
        [[label in given.get(rater, ()) for label in labels] for given in units.values()]
        for rater in raters
    ]
    mask = [[rater not in given for given in units.values()] for rater in raters]
    names = {"labels": labels, "units": list(units), "raters": raters}
    return scored(sa.Annotations.from_indicators(np.array(flags), mask=mask, **names), None, {})


def flag_frame(units):
    labels = labels_of(units)
    rows = [(unit, rater, one) for unit, given in units.items() for rater, one in given.items()]
    flags = [[label in one for label in labels] for *_, one in rows]
    index = pd.MultiIndex.from_tuples([row[:2] for row in rows], names=["unit", "rater"])
    frame = pd.DataFrame(flags, index=index, columns=labels)
    return scored(sa.Annotations.from_indicators(frame), None, {})


def flag_columns(units):
    """A long table with a column of 0 and 1 for each label."""
    labels = labels_of(units)
    rows = [(unit, rater, one) for unit, given in units.items() for rater, one in given.items()]
    frame = pd.DataFrame(
        {"unit": objects([r[0] for r in rows]), "rater": objects([r[1] for r in rows])}
    )
    flags = [f"label {label}" for label in labels]
    for name, label in zip(flags, labels, strict=True):
        frame[name] = [int(label in one) for *_, one in rows]
    return sa.agreement(
        frame,
        unit="unit",
        rater="rater",
        labels=flags,
        coefficient=["krippendorff_alpha", "fleiss_kappa"],
        distance=["nominal", "jaccard", "masi"],
    )


def wide(units):
    kind = "labels" if is_of_sets(units) else "value"
    return scored(
        sa.Annotations.from_wide(wide_frame(units), kind=kind, raters=raters_of(units)), None, {}
    )


def wide_text(units):
    """A wide table of JSON lists, with the units in a column."""
    frame = wide_frame(units).map(lambda one: None if one is None else json.dumps(sorted(one)))
    frame = frame.reset_index(drop=True)
    frame.insert(0, "unit of this", objects(list(units)))
    return scored(
        sa.Annotations.from_wide(frame, unit="unit of this", raters=raters_of(units)), None, {}
    )


def counts(units):
    """A table of counts, one row per unit and one column a set."""
    values = list(dict.fromkeys(one for given in units.values() for one in given.values()))
    rows = [[list(given.values()).count(one) for one in values] for given in units.values()]
    names = [json.dumps(sorted(one)) if isinstance(one, frozenset) else one for one in values]
    table = pd.DataFrame(rows, columns=pd.Index(names, dtype=object))
    kind = "labels" if is_of_sets(units) else "value"
    return scored(sa.Tally.from_counts(table, kind=kind), None, {})


def round_trips(units):
    """Triples, then every form that a study is written in, and read again."""
    kind = "labels" if is_of_sets(units) else "value"
    rows = [(rater, unit, one) for unit, given in units.items() for rater, one in given.items()]
    study = sa.Annotations.from_triples(rows, kind=kind)
    study = sa.Annotations.from_triples(study.to_triples(), kind=kind)
    answer = {"labels": "labels"} if kind == "labels" else {"value": "value"}
    study = sa.Annotations.from_long(study.to_long(), **answer)
    study = sa.Annotations.from_wide(study.to_wide(), kind=kind, raters=raters_of(units))
    if kind == "labels":
        study = sa.Annotations.from_indicators(study.to_indicators())
    return scored(sa.Tally.from_annotations(study, keep_raters=True), None, {})


SETS_ALONE = (cube, flag_frame, flag_columns, wide_text)
MEANT_ROADS = (cube, flag_frame, flag_columns, wide, wide_text, counts, round_trips)

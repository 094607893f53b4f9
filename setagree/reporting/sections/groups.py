"""Groups of units, and whether they differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from setagree.diagnosis.by_group import by_group
from setagree.errors import DataError, option
from setagree.inference.comparison import holm
from setagree.plots import diagnosis
from setagree.reporting.sections.base import (
    SURE,
    Column,
    Findings,
    Listing,
    Section,
    Topic,
    estimate_column,
    list_picture,
)
from setagree.reporting.sections.rater_groups import rater_group_words
from setagree.wording.number_format import number, p_phrase
from setagree.wording.sentences import Name, Sentence, enumeration

_ENOUGH_UNITS = 10
"""Units that a group must have to be named as the highest or lowest."""

_NAMED_GROUPS = 3
"""Groups that are named as standing out."""


def compute(f: Findings) -> pd.DataFrame | None:
    """Return the agreement of each group, where groups are given."""
    groups = f.asked.groups
    if groups is None:
        return None
    if not isinstance(groups, pd.DataFrame):
        drawing: dict[str, Any] = {"n_resamples": f.n_redraws, "rng": f.asked.rng}
        return by_group(f.study, groups, **f.measure, level=f.level, **drawing)
    if not {"group", "estimate"} <= set(groups.columns):
        raise DataError(
            "groups is a DataFrame and not what by_group returned; pass that, or a Series or dict "
            "of unit to group."
        )
    _check_measure(groups, {"coefficient": f.main.coefficient, "distance": f.main.distance})
    if f.models and groups.get("n_ratings", pd.Series([0])).sum() > f.study.n_ratings:
        raise DataError(
            "the groups count more answers than the humans gave, those of models among them; pass "
            "the group of each unit, or by_group(study.without_raters(models), ...)."
        )
    return groups


def _check_measure(groups: pd.DataFrame, wanted: dict[str, Any]) -> None:
    """Raise `DataError` where the groups were scored by something that the report does not show."""
    for name, one in wanted.items():
        other = [x for x in groups.get(name, pd.Series(dtype=object)).unique() if x != one]
        if other:
            raise DataError(
                f"the groups were scored with {option(name, other[0])} and the report is about "
                f"{one!r}; give both the same, or pass the group of each unit."
            )


def summary(f: Findings) -> Sentence:
    """Return a sentence on whether the groups differ, and on the outlying or extreme ones."""
    groups = f.frame("groups")
    if groups is None:
        return ()
    compares = _compares(groups)
    if compares == "raters":
        return rater_group_words(groups, f.level)
    said = _of_units(groups)
    apart = " Each group has raters of its own, so that the data cannot show whether the units or "
    return (*said, f"{apart}the raters make a difference.") if "raters" in compares else said


def _compares(groups: pd.DataFrame) -> str:
    """Return the noun for the members of the groups."""
    return str(groups["compares"].iloc[0]) if "compares" in groups else "units"


def _of_units(groups: pd.DataFrame) -> Sentence:
    """Return a sentence on whether groups of units differ, and on the outlying or extreme ones."""
    known = groups[groups["estimate"].notna()].sort_values("estimate", kind="stable")
    if len(known) < 2:
        return ("Fewer than two groups can be scored.",)
    p = float(known["homogeneity_p_value"].iloc[0])
    if np.isnan(p):
        why = known["no_test"].iloc[0] if "no_test" in known else None
        said = f"Whether the {len(known):,} groups differ cannot be tested"
        return (f"{said}: {why}." if isinstance(why, str) else f"{said}.",)
    if not p < SURE:
        test = f"one test of all {len(known):,} against a common value: {p_phrase(p)}"
        return (f"The test does not show that the groups differ ({test}).",)
    large = known[known["n_pairable_units"] >= _ENOUGH_UNITS]
    apart = groups_apart(known)
    # A small group that differs clearly is named; it may be why the test rejects.
    ends = large if len(large) > 1 and apart["group"].isin(large["group"]).all() else known
    if 0 < len(apart) <= min(_NAMED_GROUPS, len(ends) - 2):
        return _groups_apart(apart, ends[~ends["group"].isin(apart["group"])])
    low, high = ends.iloc[0], ends.iloc[-1]
    first = f"The {len(known):,} groups differ ({p_phrase(p)}): from {number(low['estimate'])} in "
    between = f" to {number(high['estimate'])} in "
    return (first, Name.of(low["group"]), between, Name.of(high["group"]), ".")


def _groups_apart(apart: pd.DataFrame, others: pd.DataFrame) -> Sentence:
    """Return a sentence on the groups that differ from the rest, and on the range of the others."""
    parts = []
    for row in apart.to_dict("records"):
        difference = number(row["difference"], signed=True)
        off = f"{difference} against the rest, {p_phrase(row['p_holm'])} by Holm"
        parts.append((Name.of(row["group"]), f" ({number(row['estimate'])}, {off})"))
    low, high = number(others["estimate"].min()), number(others["estimate"].max())
    verb = "stands" if len(parts) == 1 else "stand"
    rest = f"; the other {len(others):,} lie between {low} and {high}."
    return (*enumeration(parts), f" {verb} out{rest}")


def groups_apart(groups: pd.DataFrame) -> pd.DataFrame:
    """Return the groups that differ from the rest, p corrected by Holm, the farthest first.

    A group that differs by less than half of what the farthest does is left out: that one is part
    of its rest.
    """
    tested = groups[groups["difference_p_value"].notna()]
    p = holm(tested["difference_p_value"].to_numpy(dtype=float))
    apart = tested.assign(p_holm=p)[p < SURE]
    far = apart["difference"].abs().to_numpy(dtype=float)
    order = np.argsort(-far, kind="stable")
    return apart.iloc[order[: int((far > far.max(initial=0.0) / 2).sum())]]


def sections(f: Findings) -> list[Section]:
    """Return the groups, the lowest first."""
    frame = f.frame("groups")
    if frame is None:
        return []
    of_raters = _compares(frame) == "raters"
    beside, note = _OF_RATERS if of_raters else _OF_UNITS
    columns = [
        Column("Group", "name", "group"),
        estimate_column(f),
        *beside,
        Column("Units", "count", "n_units"),
        Column("Raters", "count", "n_raters"),
        Column("Ratings", "count", "n_ratings"),
        Column("Reason", "name", "reason"),
    ]
    if not of_raters:
        note += f"{_PERMUTED if 'permutation' in [*frame.get('tested_by', ())] else ''}."
    ordered = frame.sort_values("estimate", kind="stable")
    picture = list_picture(f, diagnosis.groups, ordered) if f.main.reason is None else None
    title = "Groups of raters" if of_raters else "Groups"
    caption = "Agreement by group, the lowest first"
    listing = Listing("groups", title, caption, "by_group", 60, note)
    return listing.section(f, ordered, columns, lead=summary(f), picture=picture)


_OF_UNITS = (
    [Column("Against the rest", "signed", "difference"), Column("p", "p", "difference_p_value")],
    (
        "Against the rest: the difference from the estimate of all other groups together. The "
        "interval of a group with fewer than about 20 units is rough. p is not corrected for the "
        "number of groups; it comes from t"
    ),
)
_PERMUTED = (
    ", or, if a group or its rest has fewer than 100 units, from permuting the units between the "
    "groups"
)
_OF_RATERS = (
    [Column("With all other raters", "estimate", ("between", "between_low", "between_high"))],
    (
        "With all other raters: cross-replication kappa_x on the units of both, its interval from "
        "resampled units; it is 1 if all answers are the same and 0 if agreement is as expected by "
        "chance."
    ),
)

TOPIC = Topic("groups", sections, compute, about="Groups", summary=summary)

"""Groups of units or of raters, and whether they differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from setagree.diagnosis.by_group import by_group
from setagree.diagnosis.common import REASONS
from setagree.errors import DataError, counted, option
from setagree.plots import diagnosis
from setagree.reporting.sections.base import (
    Findings,
    Section,
    Topic,
    estimate_column,
    holds,
    list_picture,
    table_of,
)
from setagree.wording.number_format import interval, level_text, number, p_phrase
from setagree.wording.sentences import Name, Sentence, enumeration
from setagree.wording.tables import Column

_ENOUGH_UNITS = 10
"""Pairable units from which a group can be named as the highest or lowest."""

_NAMED_GROUPS = 3
"""Largest number of groups that are named as different, and of groups of raters in a sentence."""


def compute(f: Findings) -> pd.DataFrame | None:
    """Return the agreement of each group, or None if no groups are given."""
    groups = f.options.groups
    if groups is None:
        return None
    if not isinstance(groups, pd.DataFrame):
        n = min(f.n_reshuffles, f.max_redraws)
        resampling: dict[str, Any] = {"n_resamples": n, "rng": f.options.rng}
        return by_group(f.study, groups, **f.measure, level=f.level, **resampling)
    if not {"group", "estimate"} <= set(groups.columns):
        raise DataError(
            "groups is a DataFrame without the columns of by_group; pass the result of by_group, "
            "or a Series or dict of unit to group."
        )
    for name in ("coefficient", "distance"):
        one = getattr(f.main, name)
        others = [x for x in groups.get(name, pd.Series(dtype=object)).unique() if x != one]
        if others:
            raise DataError(
                f"the groups were scored with {option(name, others[0])} and the report uses "
                f"{one!r}; use the same for both, or pass the group of each unit."
            )
    if f.models and groups.get("n_ratings", pd.Series([0])).sum() > f.study.n_ratings:
        raise DataError(
            "the groups include answers of models, because they have more answers than the humans "
            "gave; pass the group of each unit, or by_group(study.exclude_raters(models), ...)."
        )
    return groups


def summary(f: Findings, groups: pd.DataFrame) -> Sentence:
    """Return whether the groups differ, and which differ from the others or are the extremes."""
    compares = _compares(groups)
    if compares == "raters":
        return _of_raters(f, groups)
    sentences = _of_units(f)
    if "raters" not in compares:
        return sentences
    own = " Each group has its own raters, so that differences between units and between raters "
    return (*sentences, f"{own}cannot be separated.")


def _compares(groups: pd.DataFrame) -> str:
    """Return the kind of members that the groups have."""
    return str(groups["compares"].iloc[0]) if "compares" in groups else "units"


def p_values(_: Findings, groups: pd.DataFrame) -> list[float]:
    """Return p of the test of all groups, then of more than two that of each against the rest."""
    if _compares(groups) == "raters":
        return [groups["permutation_p_value"].iloc[0]]
    each = groups["difference_p_value"] if groups["estimate"].count() > 2 else ()
    return [groups["homogeneity_p_value"].iloc[0], *each]


def with_p(f: Findings) -> pd.DataFrame:
    """Return the groups with p of each, corrected over all claims, NaN of two groups."""
    groups: pd.DataFrame = f.results["groups"]
    p = f.corrected["groups"][1:]
    return groups.assign(p_holm=p if len(p) else np.nan)


def _of_units(f: Findings) -> Sentence:
    """Return a sentence on whether groups of units differ, and on the outlying or extreme ones."""
    groups = with_p(f)
    defined = groups[groups["estimate"].notna()].sort_values("estimate", kind="stable")
    if len(defined) < 2:
        return ("Fewer than two groups have an estimate.",)
    p = f.corrected["groups"][0]
    if np.isnan(p):
        reason = defined["no_test"].iloc[0] if "no_test" in defined else None
        because = f": {reason}" if isinstance(reason, str) else ""
        return (f"Whether the {len(defined):,} groups differ cannot be tested{because}.",)
    # Groups without a difference were not tested, unless no group has one.
    if defined["difference"].notna().any():
        defined = defined[defined["difference"].notna()]
    absent = defined["no_test"].iloc[0] if "no_test" in defined else None
    tail = f" Groups {absent}." if isinstance(absent, str) else ""
    large = defined[defined["n_pairable_units"] >= _ENOUGH_UNITS]
    apart = defined[holds(defined["p_holm"])].sort_values("difference", key=np.abs, ascending=False)
    # Groups that differ by at most half of the largest difference count as the others.
    far = apart["difference"].abs()
    apart = apart[far > far.max() / 2]
    # A small group that differs significantly is named, because the test may reject for it.
    ends = large if len(large) > 1 and apart["group"].isin(large["group"]).all() else defined
    if 0 < len(apart) <= min(_NAMED_GROUPS, len(ends) - 2):
        return (*_groups_apart(apart, ends[~ends["group"].isin(apart["group"])]), tail)
    if not holds(p):
        test = f"test of one common value of all {len(defined):,}: {p_phrase(p)}"
        return (f"The groups are not distinguishable ({test}).{tail}",)
    low, high = ends.iloc[0], ends.iloc[-1]
    differ = f"The {len(defined):,} groups differ (test of one common value: {p_phrase(p)})"
    first = f"{differ}: from {number(low['estimate'])} in "
    between = f" to {number(high['estimate'])} in "
    return (first, Name.of(low["group"]), between, Name.of(high["group"]), f".{tail}")


def _groups_apart(apart: pd.DataFrame, others: pd.DataFrame) -> Sentence:
    """Return a sentence on the groups that differ from the others, and on the range of these."""
    parts = []
    for row in apart.to_dict("records"):
        difference = number(row["difference"], signed=True)
        off = f"{difference}, {p_phrase(row['p_holm'])}"
        parts.append((Name.of(row["group"]), f" ({number(row['estimate'])}, {off})"))
    low, high = number(others["estimate"].min()), number(others["estimate"].max())
    verb = "differs" if len(parts) == 1 else "differ"
    rest = f"; the other {len(others):,} are between {low} and {high}."
    return (*enumeration(parts), f" {verb} from the common value of the others{rest}")


def _of_raters(f: Findings, groups: pd.DataFrame) -> Sentence:
    """Return a sentence on the agreement within and between groups of raters."""
    inside: list[Sentence] = [
        (Name.of(name), f" ({'undefined' if pd.isna(x) else number(x)})")
        for name, x in groups[["group", "estimate"]].head(_NAMED_GROUPS).itertuples(index=False)
    ]
    if (n := len(groups) - _NAMED_GROUPS) > 0:
        inside.append((counted(n, "other group"),))
    first = ("These are groups of raters. Agreement inside ", *enumeration(inside), "; ")
    return (*first, *_between(groups, f.level), _rater_test(f, groups))


def _between(groups: pd.DataFrame, level: float) -> Sentence:
    """Return sentences on the agreement between and within groups of raters."""
    defined = groups[groups["between"].notna()].sort_values("between", kind="stable")
    if not len(defined):
        return ("between groups it is undefined, because they share too few units.",)
    low = defined.iloc[0].to_dict()
    sure = f", {level_text(level)} interval " if pd.notna(low["between_low"]) else ""
    ends = interval(low["between_low"], low["between_high"]) if sure else ""
    value = f"{number(low['between'])} (kappa_x{sure}{ends})."
    lowest: Sentence = (f"between the two {value}",)
    if len(groups) > 2:
        lowest = ("it is lowest between ", Name.of(low["group"]), f" and all others, {value}")
    if not pd.notna(low["normalised_low"]):
        return lowest
    ends = interval(low["normalised_low"], low["normalised_high"])
    divided = " Divided by the root of both agreements inside them it is"
    return (*lowest, f"{divided} {number(low['normalised'])} ({ends}).")


def _rater_test(f: Findings, groups: pd.DataFrame) -> str:
    """Return the result of the permutation test, or the reason for none."""
    (p,) = f.corrected["groups"]
    if np.isnan(p):
        no_test = groups["no_test"].iloc[0]
        return f" Whether the groups of raters differ cannot be tested: {no_test}."
    than = "differ more than" if holds(p) else "are not distinguishable from"
    return f" The groups {than} groups of raters formed at random ({p_phrase(p)})."


def sections(f: Findings, frame: pd.DataFrame) -> list[Section]:
    """Return the table of groups, the lowest first."""
    of_raters = _compares(frame) == "raters"
    if not of_raters:  # the picture has the p of the test of all groups
        frame = with_p(f).assign(homogeneity_p_value=f.corrected["groups"][0])
    columns = [
        Column("group", "name", "Group"),
        estimate_column(f),
        *(_OF_RATERS if of_raters else _OF_UNITS),
        Column("n_units", "count", "Units"),
        Column("n_raters", "count", "Raters"),
        Column("n_ratings", "count", "Ratings"),
        *REASONS,
    ]
    note = ""
    if not of_raters and (test := frame.get("tested_by", pd.Series()).dropna()).size:
        note = f"p: {test.iloc[0]} test that the group has the common value of all others."
    ordered = frame.sort_values("estimate", kind="stable")
    picture = list_picture(f, diagnosis.groups, ordered) if f.main.reason is None else None
    caption = "Agreement by group, the lowest first"
    table = table_of(ordered, columns, caption, limit=60, function="by_group")
    return [Section(table, picture, note, title="Groups of raters" if of_raters else "")]


_OF_UNITS = (
    Column(
        "difference",
        "signed",
        "Against the others",
        "the difference from the common value of all other groups",
    ),
    Column("p_holm", "p", "p, Holm"),
)
_OF_RATERS = (
    Column(
        ("between", "between_low", "between_high"),
        "estimate",
        "With all other raters",
        "cross-replication kappa_x on the units of both, its interval from resampled units; it is "
        "1 if all answers are the same and 0 if agreement is as expected by chance",
    ),
)

TOPIC = Topic(
    "groups", "Groups", sections, compute, about="Groups", summary=summary, p_values=p_values
)

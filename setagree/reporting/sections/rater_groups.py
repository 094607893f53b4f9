"""Sentences on groups of raters: agreement inside and between them, and permutation test."""

from __future__ import annotations

import pandas as pd

from setagree.errors import counted
from setagree.reporting.sections.base import SURE
from setagree.wording.number_format import interval, level_text, number, p_phrase
from setagree.wording.sentences import Name, Sentence, enumeration

_NAMED = 3


def rater_group_words(groups: pd.DataFrame, level: float) -> Sentence:
    """Return a sentence on the agreement within and between groups of raters."""
    inside: list[Sentence] = [
        (Name.of(name), f" ({'undefined' if pd.isna(x) else number(x)})")
        for name, x in groups[["group", "estimate"]].head(_NAMED).itertuples(index=False)
    ]
    if len(groups) > _NAMED:
        inside.append((counted(len(groups) - _NAMED, "other group"),))
    first = ("These are groups of raters. Agreement inside ", *enumeration(inside), "; ")
    return (*first, *_between(groups, level), _dealt(groups))


def _between(groups: pd.DataFrame, level: float) -> Sentence:
    """Return sentences on the agreement between and within groups of raters."""
    known = groups[groups["between"].notna()].sort_values("between", kind="stable")
    if not len(known):
        return ("between groups it is undefined, as they share too few units.",)
    low = known.iloc[0].to_dict()
    sure = f", {level_text(level)} interval " if pd.notna(low["between_low"]) else ""
    ends = interval(low["between_low"], low["between_high"]) if sure else ""
    value = f"{number(low['between'])} (kappa_x{sure}{ends})."
    where: Sentence = (f"between the two {value}",)
    if len(groups) > 2:
        where = ("it is lowest between ", Name.of(low["group"]), f" and all others, {value}")
    if not low["normalised_high"] < 1:
        return (*where, " The units do not show that raters agree less between groups than inside.")
    ends = interval(low["normalised_low"], low["normalised_high"])
    less = " These raters agree less between groups than inside them: divided by the root of both "
    return (*where, f"{less}agreements inside it is {number(low['normalised'])} ({ends}).")


def _dealt(groups: pd.DataFrame) -> str:
    """Return the result of the permutation test, or why it is not possible."""
    row = groups.iloc[0]
    p, why = row["permutation_p_value"], row["no_test"]
    if pd.isna(p):
        return f" Whether other raters would differ as much cannot be tested: {why}."
    than = "differ more than" if p < SURE else "are not distinguishable from"
    return f" The groups {than} groups of raters formed at random ({p_phrase(p)})."

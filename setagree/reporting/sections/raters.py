"""Raters: who lowers the agreement, and the most unusual habit of that one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from setagree.diagnosis.by_rater import by_rater
from setagree.errors import counted
from setagree.plots import diagnosis
from setagree.reporting.sections.base import (
    SURE,
    Column,
    Findings,
    Listing,
    Section,
    Topic,
    list_picture,
)
from setagree.reporting.sections.patterns import has_pattern
from setagree.wording.number_format import count, interval, level_text, number, p_phrase, two_digits
from setagree.wording.sentences import Name, Sentence

_LOW = 0.25
"""What the middle interval of a rater who agrees with no other rater stays below."""

_OFTEN = 0.05
"""By how much more or less often than the others a rater gives a label that the table names."""

_MUCH = 0.1
"""Smallest rise of the coefficient by a removal that counts as a possible cause."""


def compute(f: Findings) -> pd.DataFrame:
    """Return the effect of each rater on the agreement."""
    return by_rater(f.study, **f.measure, level=f.level)


def summary(f: Findings) -> Sentence:
    """Return sentences on the rater whose removal raises the coefficient most."""
    raters = f.frame("raters")
    if raters is None or len(raters) < 3 or raters["difference"].isna().all():
        return ()
    if not f.main.observed_disagreement > 0:
        return ()
    word = f.main.definition.short
    found = raised_without(f)
    first = raters.iloc[0]
    twins = ""
    if has_pattern(f, "copies"):
        twins = " Raters with identical answers count here as if they had rated independently."
    if (
        first["difference"] > 0
        and np.isnan(first["difference_low"])
        and raters["difference_low"].notna().any()
    ):
        # What is left agrees so that it has no spread.
        change = f"{number(first['estimate_without'])} ({number(first['difference'], signed=True)})"
        said = f", {word} would be {change}; what is left has no spread to test that by."
        habit = _with_nobody(f, first["rater"]) or _habit(first)
        return ("Without ", Name.of(first["rater"]), said, *habit, twins)
    if not len(found):
        return _nobody_found(raters, word)
    # Who would raise it most need not be one of whom the test shows it.
    top, n, over = found.iloc[0], len(found), holm_scope(raters)
    more = ""
    if n > 1:
        more = f" There are {count(n)} raters whose removal raises {word} (p < 0.05, {over})."
    gain = (
        f"{number(top['difference'], signed=True)}, "
        f"{interval(top['difference_low'], top['difference_high'])}; "
        f"{p_phrase(top['p_holm'])}, {over}"
    )
    change = f", {word} would be {number(top['estimate_without'])} ({gain})"
    habit = _with_nobody(f, top["rater"]) or _habit(top)
    return ("Without ", Name.of(top["rater"]), f"{change}.", *habit, more, twins)


def raised_without(f: Findings) -> pd.DataFrame:
    """Return the raters whose removal raises the coefficient, as the corrected test has it."""
    raters: pd.DataFrame | None = f.results.get("raters")
    if raters is None:
        return pd.DataFrame()
    return raters[(raters["difference"] > 0) & (raters["p_holm"] < SURE)]


def holm_scope(raters: pd.DataFrame | None) -> str:
    """Return over how many raters p is corrected, and of how many where not all were tested."""
    if raters is None or not len(raters):
        return "Holm over all raters"
    n = int(raters["n_tests"].iloc[0])
    some = f"{n:,} of " if n < len(raters) else ""
    return f"Holm over {some}{counted(len(raters), 'rater')}"


def _nobody_found(raters: pd.DataFrame, word: str) -> Sentence:
    """Return the change by the removal of a rater, if the test finds no rise."""
    n, changes = int(raters["difference"].notna().sum()), f"changes {word} by "
    changes += number(raters["difference"].abs().max()) + (" at most" if n > 1 else "")
    whom = f"any one of the {len(raters):,}"
    if n < len(raters):
        one = "the only one" if n == 1 else f"any one of {n:,}"
        whom = f"{one} of the {len(raters):,} without whom {word} is defined"
    said = f"leaving out {whom} {changes}"
    if raters["difference_low"].isna().all():
        return (
            f"{said[0].upper()}{said[1:]}; it is not tested, as its standard error is not known.",
        )
    none = f"no removal raises it significantly (t-tests, {holm_scope(raters)})"
    if (most := raters["difference_high"].max()) >= _MUCH:
        few = "These data do not show whether a single rater explains it"
        return (f"{few}: {said}, and {none}, but the intervals reach {number(most, signed=True)}.",)
    return (f"No single rater explains it: {said}, and {none}.",)


def _with_nobody(f: Findings, rater: object) -> Sentence:
    """Return a sentence on a rater whose agreement with every other rater is low."""
    pairs = pairs_at_chance(f.frame("pairs"), rater)
    if pairs is None:
        return ()
    ends = interval(pairs["estimate"].min(), pairs["estimate"].max())
    alone = f"{f.main.definition.short} with each of {len(pairs):,} others {ends}"
    return (" ", Name.of(rater), f" agrees with no other rater ({alone}).")


def pairs_at_chance(pairs: pd.DataFrame | None, rater: object) -> pd.DataFrame | None:
    """Return a rater's pairs, if that rater alone agrees with no other rater.

    None of the intervals lies above 0, the middle one ends low, and below where the middle one of
    the others begins.
    """
    if pairs is None:
        return None
    known = pairs[pairs["high"].notna()]
    mine = (known["rater_a"] == rater) | (known["rater_b"] == rater)
    own, others = known[mine], known[~mine]
    if len(own) < 2 or not len(others) or (own["low"] > 0).any():
        return None
    high = float(own["high"].median())
    return own if high < _LOW and high < float(others["low"].median()) else None


def _habit(rater: pd.Series[Any]) -> Sentence:
    """Return the most unusual habit of a rater: set size, or a label."""
    who = Name.of(rater["rater"])
    size, bias = rater["mean_set_size"], rater["set_size_bias"]
    if pd.notna(bias) and abs(bias) >= 0.5:
        others = "more" if bias > 0 else "fewer"
        many = f" gives {two_digits(size)} labels per unit, {two_digits(abs(bias))} {others}"
        return (" ", who, f"{many} than the others.")
    over, under = np.nan_to_num([rater["overuse"], -rater["underuse"]])
    which, others = ("overused", "more") if over >= under else ("underused", "fewer")
    if max(over, under) < 0.1:
        return ()
    often = f" in {100 * max(over, under):.0f} {others} of 100 units than the others."
    return (" ", who, " uses ", Name.of(rater[f"{which}_label"]), often)


def sections(f: Findings) -> list[Section]:
    """Return the raters, those whose removal helps most first."""
    word, raters = f.main.definition.short, f.frame("raters")
    columns = [
        Column("Rater", "name", "rater"),
        Column("Change", "change", ("difference", "difference_low", "difference_high")),
        Column("p, Holm", "p", "p_holm"),
        Column("Ratings", "count", "n_ratings"),
        Column("Mean distance", "number", "mean_distance"),
        Column("Labels", "number", "mean_set_size"),
        Column("vs. others", "signed", "set_size_bias"),
        Column("Empty", "share", "empty_rate"),
        Column("Overuses", "name", "overused_label"),
        Column("Underuses", "name", "underused_label"),
    ]
    over = f.main.drawn and f" ({f.main.drawn})"
    changes = (
        f"Change: by how much {word} changes when the rater is left out, with a "
        f"{level_text(f.level)} interval{over} for each rater alone; p is corrected "
        f"({holm_scope(raters)}). "
    )
    is_known = (
        raters is not None
        and f.main.observed_disagreement > 0
        and bool(raters["difference"].notna().any())
    )
    note = (
        f"{changes if is_known else ''}Mean distance: to the answers of the others. Labels: per "
        "unit, and more (+) or fewer (−) than the others give. Overuses and underuses: the label "
        "that the rater gives more or less often than the others, by "
        f"{100 * _OFTEN:.0f} of 100 units or more. A rater who disagrees with the others need not "
        "be the one who is wrong."
    )
    if raters is not None:
        raters = raters.assign(
            overused_label=raters["overused_label"].where(raters["overuse"] >= _OFTEN),
            underused_label=raters["underused_label"].where(raters["underuse"] <= -_OFTEN),
        )
    caption = f"Raters, by how much {word} rises without them" if is_known else "Raters"
    picture = None
    if raters is not None and f.main.reason is None:
        picture = list_picture(f, diagnosis.raters, raters)
    listing = Listing("raters", "Raters", caption, "by_rater", 20, note)
    return listing.section(f, raters, columns, lead=summary(f), picture=picture)


TOPIC = Topic(
    "raters",
    sections,
    compute,
    about="Raters",
    summary=summary,
    optional=True,
    unweighted="Mean distances, labels and habits",
)

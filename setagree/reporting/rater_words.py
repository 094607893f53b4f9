"""What is said of the raters: who costs the agreement, and what stands out about that one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from setagree.reporting.findings import Findings
from setagree.reporting.standouts import pairs_at_chance
from setagree.wording.words import Name, Sentence, count, interval, number, signed


def rater_finding(f: Findings) -> Sentence:
    """Say whose leaving would raise the coefficient most, and what stands out about that rater."""
    raters = f.frame("raters")
    if raters is None or len(raters) < 3 or not f.main.observed_disagreement > 0:
        return ()
    if raters["change"].isna().all():
        return ()
    word = f.main.definition.short
    sure = raters[raters["change_low"] > 0]
    first = raters.iloc[0]
    if first["change"] > 0 and np.isnan(first["change_low"]) and raters["change_low"].notna().any():
        return (*_without_spread(first, word), *(_with_nobody(f, first["rater"]) or _habit(first)))
    if not len(sure):
        return _nobody_surely(raters, word)
    # Who would raise it most need not be one of whom that is sure.
    top, n = sure.iloc[0], len(sure)
    more = f" There are {count(n)} raters whose leaving would surely raise it." if n > 1 else ""
    gain = f"{signed(top['change'])}, {interval(top['change_low'], top['change_high'])}"
    change = f", {word} would be {number(top['estimate_without'])} ({gain})"
    habit = _with_nobody(f, top["rater"]) or _habit(top)
    return ("Without ", Name.of(top["rater"]), f"{change}.", *habit, more)


def _nobody_surely(raters: pd.DataFrame, word: str) -> Sentence:
    """Return how much a rater's leaving changes, where that raises it surely for none."""
    most = number(raters["change"].abs().max())
    said = f"leaving out any one of the {len(raters):,} changes {word} by {most} at most"
    if raters["change_low"].isna().all():
        return (f"{said[0].upper()}{said[1:]}; how sure that is, no standard error says.",)
    return (f"No single rater explains it: {said}, and surely raises it for none.",)


def _without_spread(rater: pd.Series[Any], word: str) -> Sentence:
    """Return what a rater's leaving changes most, to an agreement that has no spread."""
    change = f"{number(rater['estimate_without'])} ({signed(rater['change'])})"
    said = f", {word} would be {change}; how sure that is, no standard error says."
    return ("Without ", Name.of(rater["rater"]), said)


def _with_nobody(f: Findings, rater: object) -> Sentence:
    """Return that a rater agrees with nobody, where all pairs say so."""
    pairs = pairs_at_chance(f.frame("pairs"), rater)
    if pairs is None:
        return ()
    ends = interval(pairs["estimate"].min(), pairs["estimate"].max())
    alone = f"{f.main.definition.short} with each of {len(pairs):,} others {ends}"
    return (" ", Name.of(rater), f" agrees with nobody ({alone}).")


def _habit(rater: pd.Series[Any]) -> Sentence:
    """Return the habit of a rater that stands out most: set size, or a label."""
    who = Name.of(rater["rater"])
    size, bias = rater["mean_set_size"], rater["set_size_bias"]
    if pd.notna(bias) and abs(bias) >= 0.5:
        others = "more" if bias > 0 else "fewer"
        many = f" gives {size:.1f} labels a unit, {abs(bias):.1f} {others} than the others."
        return (" ", who, many)
    over = rater["overuse"]
    if pd.notna(over) and over >= 0.1:
        used = Name.of(rater["overused_label"])
        often = f" in {100 * over:.0f} more of 100 units than the others."
        return (" ", who, " uses ", used, often)
    return ()

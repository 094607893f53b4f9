"""Agreement expected by chance: the agreement of reshuffled answers."""

from __future__ import annotations

from functools import partial

import numpy as np

from setagree.errors import counted
from setagree.inference.permutation import PermutationTest, permutation_test
from setagree.plots.inference import null
from setagree.reporting.sections.base import Findings, Picture, Section, Topic
from setagree.wording.number_format import number, p_phrase
from setagree.wording.sentences import Sentence

_RESHUFFLED = 10_000_000
"""Ratings that are reshuffled in all, which takes a few seconds."""


def compute(f: Findings) -> PermutationTest:
    """Return the test against chance, with fewer reshuffles if they take long.

    19 are the least that can give p = 0.05.
    """
    tens = _RESHUFFLED // f.study.n_ratings // 10
    n = min(f.asked.n_resamples, max(19, 10 * tens + 9))
    return permutation_test(f.main, n_resamples=n, rng=f.asked.rng)


def summary(f: Findings) -> Sentence:
    """Return a sentence on the observed agreement among that of the reshuffles."""
    test: PermutationTest = f.results["chance"]
    p = test.p_value
    if np.isnan(p):
        return ()
    often = counted(len(test.defined), "reshuffled study", "reshuffled studies")
    if not test.exact and len(test.distribution) < f.asked.n_resamples:
        often += f" (not {f.asked.n_resamples:,}, because the study is large)"
    stay = f"95% of {often} have at most {number(test.quantile(0.95))} ({p_phrase(p)})"
    if test.versus_chance == "below chance":
        lower = p_phrase(test.tail("less"))
        return (f"Agreement is below chance: few or none of {often} are as low ({lower}).",)
    more = test.versus_chance == "above chance"
    said = "Agreement is above chance" if more else "Agreement is not distinguishable from chance"
    return (f"{said}: {stay}.",)


def sections(f: Findings) -> list[Section]:
    """Return the null distribution of the reshuffles."""
    lead = summary(f)
    if not lead:
        return []
    test: PermutationTest = f.results["chance"]
    seed = "" if f.seed is None else f" (seed {f.seed})"
    note = f"All answers were reshuffled over all raters and units{test.over}{seed}."
    if test.exact:
        note = f"These are all arrangements of the answers over raters and units{test.over}."
    return [
        Section(
            "chance",
            "Agreement expected by chance",
            lead,
            None,
            Picture(partial(null, test), 3.4),
            note,
        )
    ]


TOPIC = Topic(
    "chance",
    sections,
    compute,
    about="Chance",
    summary=summary,
    rank=1,
    one_by_one="The reshuffles",
)

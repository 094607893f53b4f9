"""What is said of raters against raters: models, panels, the map."""

from __future__ import annotations

import numpy as np

from setagree.errors import counted, shorten
from setagree.panels.alt_results import AltTest
from setagree.panels.rater_map import RaterMap
from setagree.reporting.findings import Findings
from setagree.wording.words import (
    Name,
    Sentence,
    Words,
    enumeration,
    interval,
    number,
    p_phrase,
    share,
)

_NAMED = 3
"""Names that a sentence lists."""


def models_finding(f: Findings) -> Sentence:
    """Say which models may replace a human."""
    tests = f.panels.tests
    if not tests:
        return (f.panels.absent["tests"],) if "tests" in f.panels.absent else ()
    if len(tests) == 1:
        return test_words(tests[0])
    judged = [test for test in tests if test.reason is None]
    if not judged:
        return (f"No verdict on any of {len(tests):,} models: {tests[0].reason}.",)
    n = counted(len(judged), "model")
    if len(judged) < len(tests):
        n = f"{n} that could be tested (of {len(tests):,})"
    passing = [test.model for test in judged if test.passes]
    best = (" The best: ", *test_words(judged[0]))
    if not passing:
        return (f"None of {n} may replace a human.", *best)
    return (f"{len(passing):,} of {n} may replace a human: ", *_names(passing), ".", *best)


def test_words(test: AltTest) -> Sentence:
    """Return the verdict on one model, and how near it comes to the humans."""
    who = Name.of(test.model)
    if test.reason is not None:
        return ("No verdict on ", who, f": {test.reason}.")
    n, won = len(test.humans), int(test.humans["rejected"].sum())
    may = "may" if test.passes else "may not"
    near = share(test.average_advantage_probability)
    few = " Fewer than three humans could be tested: do not rely on it." if n < 3 else ""
    said = (
        f" {may} replace a human: it wins over {won:,} of {counted(n, 'human')} (epsilon "
        f"{test.epsilon:g}). In {near} of the units, on average, it is at least as near to the "
        f"other humans as the human is.{few}"
    )
    return (who, said, *_notes(test))


def _notes(test: AltTest) -> Sentence:
    """Return what the humans' own agreement says of the test, their names marked as such."""
    pieces: list[Words] = []
    for note in test.notes:
        rest = f" {note}"
        for human in test.humans.index:
            before, found, after = rest.partition(f"{shorten(human)} (")
            if found:
                pieces += [before, Name.of(human)]
                rest = f" ({after}"
        pieces.append(rest)
    return tuple(pieces)


def consensus_words(f: Findings) -> Sentence:
    """Say how often the best model gives the humans' agreed answer, and how often humans do."""
    frame = f.panels.score_table
    top = frame.iloc[0]
    if not top["n_units"]:
        return ("No unit has both an answer of the model and an agreed answer of the humans.",)
    said = (
        f" gives exactly the agreed answer of the humans in {share(top['exact'])} of "
        f"{counted(int(top['n_units']), 'unit')}"
    )
    humans = frame.loc[frame["who"] == "human", "exact"].dropna()
    if not len(humans):
        return (Name.of(top["rater"]), f"{said}.")
    low, high = share(humans.min()), share(humans.max())
    span = f"{low} to {high}" if low != high else low
    return (Name.of(top["rater"]), f"{said}; the humans, each against the others, in {span}.")


def replication_finding(f: Findings) -> Sentence:
    """Say how far two panels replicate each other."""
    found = f.panels.replication
    if found is None:
        return ()
    first, second = map(Name.of, found.panels)
    if found.reason is not None:
        return ("Agreement between ", first, " and ", second, f" is undefined: {found.reason}.")
    low, high = found.interval(f.level)
    sure = f" ({100 * f.level:g} % interval {interval(low, high)})" if np.isfinite(low) else ""
    said = f" agree with each other at kappa_x {number(found.estimate)}{sure}"
    if found.normalised_reason is not None:
        return (first, " and ", second, f"{said}.")
    as_good = f"; {number(found.normalised)} if each panel agreed with itself fully."
    return (first, " and ", second, said, as_good)


def camps_finding(f: Findings) -> Sentence:
    """Say that the raters form camps, or who stands apart, where it is more than noise."""
    found = f.panels.map
    if found is None or not found.p_value <= 0.05:
        return ()
    return map_words(found)


def map_words(found: RaterMap) -> Sentence:
    """Say whether the raters form camps."""
    p = p_phrase(found.p_value)
    if np.isnan(found.p_value):
        return (found.verdict,)
    if not found.p_value <= 0.05:
        chance = "the answers to each unit were dealt out to them by lot"
        return (f"No camps: the raters stand no more in groups than if {chance} ({p}).",)
    camps = found.camps
    if len(camps) > 1:
        sizes = [(f"{len(camp):,} (", *_names(camp), ")") for camp in camps]
        return (f"The raters form {len(camps):,} camps, of ", *enumeration(sizes), f" ({p}).")
    inside = {*camps[0]} if camps else set()
    placed = found.table.index[found.table["cluster"] > 0]
    apart = [rater for rater in placed if rater not in inside]
    verb = "stands" if len(apart) == 1 else "stand"
    return ("No camps, but ", *_names(apart), f" {verb} apart from the others ({p}).")


def _names(raters: list[object]) -> Sentence:
    """Return the first names, and how many more there are."""
    parts: list[Sentence] = [(Name.of(rater),) for rater in raters[:_NAMED]]
    more = len(raters) - _NAMED
    return enumeration([*parts, (f"{more:,} more",)] if more > 0 else parts)

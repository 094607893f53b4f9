"""The tables of panels and consensus that people read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import setagree as sa
from setagree.cli.tables import intervals, paragraphs, table_text, whole, wrapped
from setagree.errors import counted, listing
from setagree.wording.number_format import four, number, p_four
from setagree.wording.sentences import cut, visible


def panels(study: sa.Annotations, found: Sequence[Any], scores: pd.DataFrame) -> str:
    """Return the alt-test of each model, and the models against the humans' consensus."""
    parts = [_summary(study)]
    for test in found:
        frame = test.to_frame()
        shown = {
            "human": [_clipped(name) for name in frame.index],
            "units": map(whole, frame["n_units"]),
            "model wins": map(four, frame["advantage"]),
            "95% interval": intervals(frame),
            "human wins": map(four, frame["human_advantage"]),
            "p (BY)": map(p_four, frame["p_adjusted"]),
            "beaten": ["yes" if won else "no" for won in frame["rejected"]],
        }
        head = f"{_clipped(test.model)} [{test.distance}]"
        parts += [head, table_text(shown) if len(frame) else "", wrapped(_judged(test))]
    shown_scores = {
        "model": [_clipped(name) for name in scores.index],
        "units": map(whole, scores["n_units"]),
        **{name: map(four, scores[key]) for name, key in _AGAINST.items()},
    }
    parts += ["Against the humans' consensus:", table_text(shown_scores), wrapped(_WINS)]
    return paragraphs(*filter(None, parts))


def agreed(study: sa.Annotations, found: Any, frame: pd.DataFrame) -> str:
    """Return the agreed answers of the first units, those to look at again before the others."""
    answer = "labels" if study.kind == "labels" else "value"
    order = np.argsort(~frame["adjudicate"].to_numpy(dtype=bool), kind="stable")
    first = frame.iloc[order[:_UNITS]]
    shown = {
        "unit": map(_clipped, first["unit"]),
        "agreed": ["-" if pd.isna(x) else _clipped(x) for x in first[answer]],
        "support": map(four, first["support"]),
        "confidence": map(four, first["confidence"]),
        "raters": map(whole, first["n_ratings"]),
        "why": first["why"],
    }
    rest = len(frame) - len(first)
    more = f" {rest:,} more units: write them with -o gold.csv." if rest > 0 else ""
    n = int(frame["adjudicate"].sum())
    note = (
        f"By {found.method}; {n:,} of {counted(len(frame), 'unit')} to look at again, for the "
        f"reason why. [] is the empty set, - no answer.{more}"
    )
    return paragraphs(_summary(study), table_text(shown), wrapped(note))


def replacements(tests: Sequence[Any], *, alone: bool) -> str:
    """Return how far agreement changes with each model in the place of each human.

    `alone` says that no alt-test stands above.
    """
    parts = []
    for test in tests:
        frame = test.to_frame()
        shown = {
            "human": [_clipped(name) for name in frame.index],
            "shared": map(whole, frame["n_shared"]),
            "alpha": map(four, frame["alpha"]),
            "with model": map(four, frame["alpha_with_model"]),
            "scale": [number(x, plain=True) for x in frame["scale"]],
            "change": map(four, frame["change"]),
            "90% interval": intervals(frame),
            "p": map(p_four, frame["p_value"]),
        }
        head = f"{_clipped(test.model)} in the place of a human [{test.distance}]"
        parts += [head, table_text(shown), wrapped(test.verdict)]
    return paragraphs(*parts, wrapped(_CHANGES if alone else f"{_CHANGES} {_BESIDE}"))


def facets(found: Any, *, named: bool) -> str:
    """Return how far models agree with themselves, with one another and with people.

    `named` says that people were named.
    """
    frame = found.to_frame()
    shown = {
        "pairs of": [
            cut(visible(one if who == "all" else who), 48)
            for one, who in zip(frame["pairs"], frame["who"], strict=True)
        ],
        "units": map(whole, frame["n_units"]),
        "agreement": map(four, frame["estimate"]),
        "95% interval": intervals(frame),
        "at most": map(four, frame["at_most"]),
        "lost": map(four, frame["lost"]),
    }
    summary, verdict = _summary(found.study), wrapped(found.verdict)
    taken = [people(found.people)] if found.people and not named else []
    return paragraphs(*taken, summary, table_text(shown), verdict, wrapped(_FACETS))


def people(raters: Sequence[object]) -> str:
    """Return whom a command took for people, where nobody said."""
    shown = ", ".join(map(_clipped, raters[:_PEOPLE]))
    rest = len(raters) - _PEOPLE
    more = f" and {rest:,} more" if rest > 0 else ""
    return wrapped(f"People: {shown}{more}; name them with --humans if one is a model.")


_PEOPLE = 20
"""Raters that are named."""

_FACETS = (
    "agreement: 1 - D / De, D the mean distance of such pairs, De that of any two ratings, the "
    "same in all rows. at most: what the agreement of both sides with themselves leaves room for. "
    "lost: how far the sides differ beyond that."
)

_CHANGES = (
    "change: the agreement of the model with the other humans less that of the human. It is scale "
    "times the difference of the two alphas; scale is 1 over twice the human's share of the "
    "ratings. p: of a loss of the margin or more, so that a small one speaks for the model."
)
_BESIDE = "The test above asks how often the model is the nearer of the two, this one by how much."

_UNITS = 20
"""Units that are shown to people."""

_AGAINST = {"exact": "exact", "Jaccard": "jaccard", "micro F1": "micro_f1", "macro F1": "macro_f1"}
_WINS = (
    "model wins: the share of units where the model is at least as near to the other humans as "
    "the human is; its interval is about these raters. beaten: the human is better by less than "
    "epsilon, p corrected for the number of humans (Benjamini-Yekutieli)."
)


def _judged(test: Any) -> str:
    """Return the verdict, the average, and what other values of epsilon would say."""
    rates = ", ".join(
        f"{rate:.2f} at {epsilon:g}"
        for epsilon, rate in test.by_epsilon((0.1, 0.15, 0.2))["winning_rate"].items()
    )
    skipped = (
        f" Too few shared units: {listing(test.skipped.index.tolist())}."
        if len(test.skipped)
        else ""
    )
    if not len(test.to_frame()):
        return f"{test.verdict}{skipped}"
    return (
        f"{test.verdict} Average advantage {four(test.average_advantage_probability)}. Winning "
        f"rate {rates} (epsilon for a crowd, skilled annotators, experts).{skipped} "
        f"{test.power_note}"
    ).rstrip()


def _summary(study: sa.Annotations) -> str:
    """Return the line that counts units, raters and ratings of a study."""
    n = study.unanswered.size
    unanswered = f" ({n:,} more that nobody answered)" if n else ""
    return (
        f"{counted(study.n_units, 'unit')}{unanswered}, {counted(study.n_raters, 'rater')}, "
        f"{counted(study.n_ratings, 'rating')}"
    )


def _clipped(name: object) -> str:
    """Return a name on one line, cut to what a column can hold."""
    return cut(visible(str(name)))

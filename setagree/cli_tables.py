"""The tables that people read: 80 columns, four decimals, and what they mean in a sentence."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import setagree as sa
from setagree.errors import counted, listing

_TERMINAL = 80
_LEFT = {"coefficient", "distance", "file", "basis", "model", "human", "unit", "agreed", "why"}


@dataclass(frozen=True)
class Side:
    """One of the agreements that are compared, and its number in the table."""

    number: int
    file: str
    agreement: sa.Agreement

    def named(self, which: str) -> dict[str, Any]:
        """Return what identifies it, under names that begin with which side it is."""
        row = self.agreement
        return {
            f"{which}_file": self.file,
            f"{which}_coefficient": row.coefficient,
            f"{which}_distance": row.distance,
            f"{which}_estimate": row.estimate,
        }


def bootstrapped(table: sa.AgreementTable, frame: pd.DataFrame) -> str:
    """Return a table of agreements with bootstrap intervals."""
    shown = {
        "coefficient": frame["coefficient"],
        "distance": frame["distance"],
        "pa": map(_four, frame["observed_agreement"]),
        "pe": map(_four, frame["expected_agreement"]),
        "estimate": map(_four, frame["estimate"]),
        "se": map(_four, frame["standard_error"]),
        f"{100 * table.level:g}% interval": _intervals(frame),
    }
    one = frame.iloc[0]
    method = one["interval_method"].removeprefix("bootstrap ")
    note = (
        f"se and interval: bootstrap ({method}), {counted(one['n_resamples'], 'resample')} of the "
        f"units, seed {one['seed']}. {_undefined(frame, 'resamples')}"
    )
    return _paragraphs(_counts(table), _columns(shown), _note(note))


def tests(table: sa.AgreementTable, frame: pd.DataFrame) -> str:
    """Return a table of permutation tests."""
    shown = {
        "coefficient": frame["coefficient"],
        "distance": frame["distance"],
        "estimate": map(_four, frame["estimate"]),
        "by chance": map(_four, frame["null_mean"]),
        "in theory": map(_four, frame["exact_mean"]),
        "95% below": map(_four, frame["null_95"]),
        "p": map(_p, frame["p_value"]),
    }
    note = f"{_meaning_of_p(frame)} {_undefined(frame, 'reshuffles')}"
    return _paragraphs(_counts(table), _columns(shown), _note(note))


def comparison(
    scored: Sequence[sa.AgreementTable], families: Sequence[Sequence[Side]], frame: pd.DataFrame
) -> str:
    """Return the agreements with numbers, and a row for each pair of numbers."""
    pairs = [pair for family in families for pair in combinations(family, 2)]
    shown = {
        "pair": [f"{one.number} - {two.number}" for one, two in pairs],
        "difference": map(_four, frame["difference"]),
        "se": map(_four, frame["standard_error"]),
        f"{100 * scored[0].level:g}% interval": _intervals(frame),
        "p": map(_p, frame["p_value"]),
    }
    if len(frame) > 1:
        shown["p (Holm)"] = map(_p, frame["p_holm"])
    head = [_counts(scored[0])] if len(scored) == 1 else []
    sides = _sides([side for family in families for side in family])
    return _paragraphs(*head, _columns(sides), _columns(shown), _note(_how_compared(frame)))


def plans(table: sa.AgreementTable, frame: pd.DataFrame) -> str:
    """Return what the pilot gave, and a table of what more units and raters would give."""
    parts = [_counts(table)]
    for row in table:
        mine = frame[
            (frame["coefficient"] == row.coefficient) & (frame["distance"] == row.distance)
        ]
        shown = {
            "raters": map(_whole, mine["raters"]),
            "units": map(_whole, mine["units"]),
            "more units": map(_whole, mine["more_units"]),
            f"{100 * table.level:g}% interval": [f"± {_four(half)}" for half in mine["half_width"]],
            "se": map(_four, mine["standard_error"]),
            "basis": mine["basis"],
        }
        parts += [repr(row)[1:-1], _columns(shown)]
    bases = [text for basis, text in _BASES.items() if basis in set(frame["basis"])]
    return _paragraphs(*parts, _note(" ".join([_PLANNED, *bases])))


def panels(study: sa.Annotations, found: Sequence[Any], scores: pd.DataFrame) -> str:
    """Return the alt-test of each model, and the models against the humans' consensus."""
    parts = [_summary(study)]
    for test in found:
        frame = test.to_frame()
        shown = {
            "human": [_clipped(name) for name in frame.index],
            "units": map(_whole, frame["n_units"]),
            "model wins": map(_four, frame["advantage"]),
            "95% interval": _intervals(frame),
            "human wins": map(_four, frame["human_advantage"]),
            "p (BY)": map(_p, frame["p_adjusted"]),
            "beaten": ["yes" if won else "no" for won in frame["rejected"]],
        }
        head = f"{_clipped(test.model)} [{test.distance}]"
        parts += [head, _columns(shown) if len(frame) else "", _note(_judged(test))]
    shown_scores = {
        "model": [_clipped(name) for name in scores.index],
        "units": map(_whole, scores["n_units"]),
        **{name: map(_four, scores[key]) for name, key in _AGAINST.items()},
    }
    parts += ["Against the humans' consensus:", _columns(shown_scores), _note(_WINS)]
    return _paragraphs(*filter(None, parts))


def agreed(study: sa.Annotations, found: Any, frame: pd.DataFrame) -> str:
    """Return the agreed answers of the first units, those to look at again before the others."""
    answer = "labels" if study.kind == "labels" else "value"
    order = np.argsort(~frame["adjudicate"].to_numpy(dtype=bool), kind="stable")
    first = frame.iloc[order[:_UNITS]]
    shown = {
        "unit": map(_clipped, first["unit"]),
        "agreed": ["-" if pd.isna(x) else _clipped(x) for x in first[answer]],
        "support": map(_four, first["support"]),
        "confidence": map(_four, first["confidence"]),
        "raters": map(_whole, first["n_ratings"]),
        "why": first["why"],
    }
    rest = len(frame) - len(first)
    more = f" {rest:,} more units: write them with -o gold.csv." if rest > 0 else ""
    n = int(frame["adjudicate"].sum())
    note = (
        f"By {found.method}; {n:,} of {counted(len(frame), 'unit')} to look at again, for the "
        f"reason why. [] is the empty set, - no answer.{more}"
    )
    return _paragraphs(_summary(study), _columns(shown), _note(note))


_UNITS = 20
"""Units that are shown to people."""

_AGAINST = {"exact": "exact", "Jaccard": "jaccard", "micro F1": "micro_f1", "macro F1": "macro_f1"}
_WINS = (
    "model wins: the share of units where the model is at least as near to the other humans as "
    "the human is. beaten: the human is better by less than epsilon, p corrected for the number "
    "of humans (Benjamini-Yekutieli)."
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
    return (
        f"{test.verdict} Average advantage {_four(test.average_advantage_probability)}. Winning "
        f"rate {rates} (epsilon for a crowd, skilled annotators, experts).{skipped}"
    )


def _summary(study: sa.Annotations) -> str:
    """Return the line that counts units, raters and ratings of a study."""
    return (
        f"{counted(study.n_units, 'unit')}, {counted(study.n_raters, 'rater')}, "
        f"{counted(study.n_ratings, 'rating')}"
    )


def _clipped(name: object) -> str:
    """Return a name on one line, cut to what a column can hold."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(name))
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


_WIDEST = 30


_PLANNED = "more units: beyond those of the pilot that have two ratings."
_BASES = {
    "raters left out": "raters left out: the mean of what the pilot gives with so many of its "
    "raters.",
    "extended": "extended: extrapolated from fewer raters, a rough guide.",
}
_MOVED = {
    "pooled": "all answers over all raters and units",
    "within_rater": "each rater's answers over the units of that rater",
    "table": "all cells of the table, the missing ones too",
}
_REACHED = {"greater": "at least as high", "less": "at least as low", "two-sided": "as far out"}


def _meaning_of_p(frame: pd.DataFrame) -> str:
    """Return what was reshuffled how often, and what counts."""
    drawn = frame[~frame["exact"]]
    one = (drawn if len(drawn) else frame).iloc[0]
    often = f"{one['n_resamples']:,} reshuffles (seed {one['seed']}), the study itself added,"
    if not len(drawn):
        often = f"all {one['n_resamples']:,} arrangements"
    tail = " (twice the smaller side)" if one["alternative"] == "two-sided" else ""
    return (
        f"p: the share of {often} that come out {_REACHED[one['alternative']]} as the "
        f"estimate{tail}. Reshuffled: {_MOVED[one['scheme']]}. by chance: their mean; in theory: "
        "the mean of all, where it is known; 95% below: of the reshuffles."
    )


def _how_compared(frame: pd.DataFrame) -> str:
    """Return the design and where the standard errors come from."""
    one = frame.iloc[0]
    several = (frame["first_file"] != frame["second_file"]).any()
    paired = "The same units, matched by their names" if several else "The same units"
    design = paired if one["design"] == "same_units" else "Independent studies"
    if one["method"] == "linearised":
        how = "standard errors by linearisation."
    else:
        n_undefined = int(frame["n_undefined"].max())
        left_out = f"{n_undefined:,} undefined at most, left out" if n_undefined else "no undefined"
        how = (
            f"{one['n_resamples']:,} resamples of the units, {left_out}, percentile interval, "
            f"seed {one['seed']}."
        )
    holm = f" Holm: p corrected for {len(frame)} comparisons." if len(frame) > 1 else ""
    return f"{design}; {how}{holm}"


def _sides(sides: Sequence[Side]) -> dict[str, Iterable[str]]:
    """Return the columns of the agreements that are compared."""
    files = [side.file for side in sides]
    shown: dict[str, Iterable[str]] = {"": [str(side.number) for side in sides]}
    if len(set(files)) > 1:
        names = {file: Path(file).name for file in files}
        distinct = len(set(names.values())) == len(names)
        shown["file"] = [names[file] if distinct else file for file in files]
    rows = [side.agreement for side in sides]
    shown["coefficient"] = [row.coefficient for row in rows]
    shown["distance"] = [row.distance for row in rows]
    shown["units"] = [f"{row.n_units:,}" for row in rows]
    shown["estimate"] = [_four(row.estimate) for row in rows]
    shown["se"] = [_four(row.standard_error) for row in rows]
    return shown


def _undefined(frame: pd.DataFrame, what: str) -> str:
    """Return how many resamples left which row undefined."""
    rows = [row for row in frame.to_dict("records") if row["n_undefined"]]
    if not rows:
        return f"No undefined {what}."
    listed = ", ".join(
        f"{row['n_undefined']:,} of {row['coefficient']} [{row['distance']}]" for row in rows
    )
    return f"Undefined {what}, left out: {listed}."


def _counts(table: sa.AgreementTable) -> str:
    """Return the line that counts units, raters and ratings."""
    return str(table).partition("\n")[0]


def _intervals(frame: pd.DataFrame) -> list[str]:
    ends = zip(frame["low"], frame["high"], strict=True)
    return ["-" if np.isnan(low) else f"{_four(low)}, {_four(high)}" for low, high in ends]


def _columns(shown: Mapping[str, Iterable[Any]]) -> str:
    """Return columns as lines: names to the left, numbers to the right."""
    cells = {name: [name, *map(str, column)] for name, column in shown.items()}
    widths = {name: max(map(len, column)) for name, column in cells.items()}
    wide = sum(widths.values()) + 2 * (len(widths) - 1) > _TERMINAL
    aligned = [
        [cell.ljust(widths[name]) if name in _LEFT else cell.rjust(widths[name]) for cell in column]
        for name, column in cells.items()
    ]
    lines = zip(*aligned, strict=True)
    return "\n".join((" " if wide else "  ").join(line).rstrip() for line in lines)


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(parts)


def _note(text: str) -> str:
    return textwrap.fill(text, _TERMINAL, break_on_hyphens=False)


def _four(x: float) -> str:
    """Return four decimals, a dash for nan; what rounds to zero has no sign."""
    return "-" if np.isnan(x) else f"{x:.4f}".replace("-0.0000", "0.0000")


def _p(p: float) -> str:
    """Return a p-value; one that rounds to zero is said to be small."""
    return "<.0001" if p < 5e-5 else _four(p)


def _whole(number: Any) -> str:
    return "-" if pd.isna(number) else f"{int(number):,}"

"""Notes below tables of coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from setagree.coefficients.chance import dot
from setagree.coefficients.chance_models import Urn
from setagree.coefficients.conger import UrnOfEachRater
from setagree.credit.base import display_value
from setagree.errors import (
    AdaptiveRatingsWarning,
    FarAnswersWarning,
    FewClustersWarning,
    RareAnswersWarning,
    counted,
    listing,
    option,
    python_or_command,
    shorten,
    warn,
)
from setagree.wording.number_format import four, level_text
from setagree.wording.sentences import visible

if TYPE_CHECKING:
    from setagree.scoring.results import Agreement
    from setagree.study.tally import Tally


_FAR = 0.02
"""Smallest gap between the low ends of the t and score intervals that gets a note."""

_FEW_CLUSTERS, _FEW_DF = 10, 4
"""Clusters, and degrees of freedom, below which a clustered interval is rough."""

_FAR_SHARE, _FAR_UNITS = 1 / 3, 20
"""Share of the disagreement of one unit, and number of units that disagree, for a warning."""

_RARE, _RARE_RATINGS, _RARE_UNITS = 4, 4, 20
"""Smallest weight in units of all answers except one for an interval, if there are at least so
many ratings per unit and so many units."""

_NAMED = 4
"""Maximum number of rows whose score interval is in the line."""


def remarks(rows: Sequence[Agreement], level: float) -> list[str]:
    """Return a line on rows without a t interval, or with a much lower score interval.

    Return an empty list if no row needs a note.
    """
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.standard_error == 0:
            reasons.setdefault(str(row.interval_reason), []).append(_name(row))
    sentences = [
        reason if len(names) == len(rows) else f"{reason} ({', '.join(names)})"
        for reason, names in reasons.items()
    ]
    if sentences:
        test = python_or_command("permutation_test", "'setagree test'")
        sentences = [f"{'. '.join(sentences)}; {test} gives a p-value for this case."]
    wide = [shown for row in rows if (shown := _much_lower(row, level))]
    if wide:
        more = f" and {len(wide) - _NAMED:,} more rows" if len(wide) > _NAMED else ""
        listed = f"{', '.join(wide[:_NAMED])}{more}"
        sentences.append(f"{level_text(level)} score interval, for small studies: {listed}.")
    return [" ".join(sentences)] if sentences else []


def left_out(row: Agreement) -> list[str]:
    """Return sentences on units and raters without ratings, whose cells count as missing."""
    if row.study is None:
        return []
    silent = row.study.silent_raters
    kinds = [
        ("unit", " that nobody rated", row.study.unanswered.tolist(), ""),
        ("rater", " without any rating", [*silent], f" ({sum(silent.values()):,} missing)"),
    ]
    return [
        f"{counted(len(names), kind)}{which} {'was' if len(names) == 1 else 'were'} left out"
        f"{cells}: {listing(names)}."
        for kind, which, names, cells in kinds
        if names
    ]


def drawn_of(rows: Sequence[Agreement], names: Sequence[str] | None = None) -> str:
    """Return the sampling designs of rows, with the rows of each if they differ."""
    rows_of: dict[str, dict[str, None]] = {}
    for row, name in zip(rows, names or [row.coefficient for row in rows], strict=True):
        rows_of.setdefault(row.drawn, {})[name] = None
    if len(rows_of) == 1:
        return rows[0].drawn
    return ", ".join(f"{drawn} ({', '.join(names)})" for drawn, names in rows_of.items())


def drawn_beside(rows: Sequence[Agreement], *, independent: bool) -> str:
    """Return the sampling designs of compared rows, once if they are equal.

    For independent studies a number of clusters or strata is that of each.
    """
    designs = list(dict.fromkeys(row.drawn for row in rows))
    numbered = independent and len(designs) == 1 and any(sign.isdigit() for sign in designs[0])
    return " and ".join(filter(None, designs)) + (" each" if numbered else "")


def sampling_sentence(
    rows: Sequence[Agreement], *, over_units: bool = True, about: str = ""
) -> str:
    """Return a sentence on the sampling design of the units behind the intervals, or a blank.

    It has the number of clusters and the largest share. For intervals over units it also has the
    degrees of freedom, or the reason for a missing interval. `about` is the inference target.
    """
    sample = rows[0].case.sample
    if sample is None:
        return ""
    defined = [one for one in rows if one.reason is None] or rows
    df = sorted({f"{one.degrees_of_freedom:.1f}" for one in defined}, key=float)
    freedom = f"{' to '.join(dict.fromkeys([df[0], df[-1]]))} degrees of freedom"
    freedom = freedom if over_units else ""
    whys = dict.fromkeys(one.spread.reason for one in rows if one.spread.reason)
    tail = f" No interval: {'; '.join(whys)}." if whys and over_units else ""
    tail = tail or (f" About {about}." if about else "")
    if sample.is_clustered:
        shares = [one.spread.clusters.largest_share for one in rows if one.spread.clusters]
        if not shares:
            return f"Clustered by {visible(sample.by)}."
        return (
            f"Standard errors and intervals are clustered by {visible(sample.by)}: "
            f"{drawn_of(rows)}, {freedom and f'{freedom}, '}the largest with "
            f"{100 * max(shares):.0f}% of the units.{tail}"
        )
    parts = []
    if sample.weights is not None:
        parts.append(f"units are weighted by {visible(sample.weighted_by)}")
    if sample.by:
        n = " or ".join(f"{n:,}" for n in sorted({one.rests_on["n_strata"] for one in defined}))
        parts.append(f"drawn from {n} {'stratum' if n == '1' else 'strata'} ({visible(sample.by)})")
    if np.isfinite(sample.sizes).any():
        parts.append("the sizes of the population are taken into account")
    whole = ", ".join(parts)
    return f"{whole[0].upper()}{whole[1:]}{freedom and f'; {freedom}'}.{tail}"


def warn_clusters(rows: Sequence[Agreement]) -> None:
    """Warn if clusters are too few or too unequal for an interval with nominal coverage."""
    row = next((row for row in rows if row.spread.clusters is not None), None)
    if row is None or (clusters := row.spread.clusters) is None:
        return
    n, df, share = clusters.n, row.degrees_of_freedom, clusters.largest_share
    reasons = [
        (n < _FEW_CLUSTERS, f"there {'is' if n == 1 else 'are'} {counted(n, 'cluster')}"),
        (df < _FEW_DF, f"they leave {df:.1f} degrees of freedom"),
        (share > 1 / 3, f"the largest holds {100 * share:.0f}% of the units"),
    ]
    if listed := ", ".join(text for applies, text in reasons if applies):
        warn(
            f"intervals clustered by {clusters.by} are rough, because {listed}; more clusters "
            "help, more units in the same ones hardly do.",
            FewClustersWarning,
        )


def warn_queue(tally: Tally) -> None:
    """Warn if more ratings seem to have been requested because the first ones differed.

    Then every unit of two ratings agrees, every unit with more has a disagreement, and there are
    several of each. In simulations, alpha of such ratings is 0.07 too low, and its interval
    covered the true value in 70% of the studies.
    """
    r, m = tally.pattern_ratings, tally.multiplicity
    distinct = np.diff(tally.indptr)
    two, more = r == 2, r > 2
    n_two, n_more = float(m[two].sum()), float(m[more].sum())
    if min(n_two, n_more) < SEVERAL or (distinct[two] > 1).any() or (distinct[more] == 1).any():
        return
    warn(
        f"all {n_two:,.0f} units with two ratings agree, and all {n_more:,.0f} with more hold a "
        "disagreement, as if more ratings were asked for where the first two differed. A "
        "coefficient of such ratings is biased: mark all but the first two of each unit by 'yes' "
        f"in a column and name it with {option('queued')} (setagree.read).",
        AdaptiveRatingsWarning,
    )


SEVERAL = 10
"""Minimum number of units of each kind, to exclude chance."""


def warn_far_answers(rows: Sequence[Agreement]) -> None:
    """Warn if one unit has a third of the disagreement, under distances without a bound.

    With such long tails t covered the true value in 62% to 82% of simulated studies. If few
    units disagree, one may well have a third by chance.
    """
    for row in rows:
        tally, m, patterns = row.tally, row.tally.multiplicity, row.tally.unit_patterns
        q = row.case.mean_disagreement
        q = q * tally.pattern_ratings if row.definition.model.weigh == "ratings" else q
        if row.case.is_weighted and patterns is not None:  # then units of one pattern differ
            q, m = q[patterns] * row.case.pairable_weights, np.ones(len(patterns))
            patterns = np.arange(len(patterns))
        n, most = int(m[q > 0].sum()), int(q.argmax()) if q.size else 0
        part = float(q[most]) / dot(q, m) if n >= _FAR_UNITS else 0.0
        if part <= _FAR_SHARE:
            continue
        which = ""
        if tally.units is not None and patterns is not None:
            which = f" ({shorten(tally.units[patterns == most][0])})"
        warn(
            f"{_name(row)}: one unit{which} of the {n:,} that disagree holds {100 * part:.0f}% of "
            "the disagreement. No interval is known to keep its level there; look at the answers "
            "to this unit.",
            FarAnswersWarning,
        )
        return


def warn_rare_answers(rows: Sequence[Agreement]) -> None:
    """Warn if one answer dominates so far that no interval is known to keep its coverage."""
    for row in rows:
        if sentence := rare_answers(row, named=True):
            warn(f"{_name(row)}: {sentence}", RareAnswersWarning)
            return


def rare_answers(row: Agreement, *, named: bool = False) -> str:
    """Return a sentence on a dominant answer without an interval of known coverage.

    In n pairable units the other answers weigh n (1 - share of the commonest). In simulations, the
    score interval of alpha covered the true value in 95% of the studies if that is at least 4, and
    in far fewer below it, especially with many raters. Units count without their sampling weights,
    because the number of units with rare answers matters: if these were oversampled, with five
    raters, the coverage was 94% although the other answers had a summed weight below four units.
    """
    n = row.n_pairable_units
    if n < _RARE_UNITS or row.reason is not None:
        return ""
    # Rare answers matter only for these chance models.
    if type(row.definition.model) not in (Urn, UrnOfEachRater):
        return ""
    tally = row.tally
    totals = tally.pairable_totals
    N, most = float(totals.sum()), int(totals.argmax())
    others = n * (N - float(totals[most])) / N
    if not too_rare(n, N, others):
        return ""
    which = f" ({shorten(display_value(tally.values[most]))})" if named else ""
    return (
        f"One answer{which} is {100 * totals[most] / N:.1f}% of the ratings of {n:,} units, so "
        f"that all other answers weigh as much as {others:.1f} units. No interval is known to "
        "keep its level there: in simulated studies of four, five and eight raters the 95% score "
        "interval covered the true value in 92, 89 and 81%. More units help."
    )


def too_rare(n: int, n_ratings: float, others: Any) -> Any:
    """Return whether answers that weigh `others` of n units are too rare for an interval.

    They are if they weigh less than four units, of at least 20 with at least four ratings on
    average: the interval does not keep its nominal coverage. `others` may be an array.
    """
    known = n >= _RARE_UNITS and n_ratings >= _RARE_RATINGS * n
    return known & (others < _RARE)


def _name(row: Agreement) -> str:
    return visible(f"{row.coefficient} [{row.distance}]")


def _much_lower(row: Agreement, level: float) -> str | None:
    """Return the score interval of a row if it extends far below t, or if t is missing."""
    if row.best_method != "score":
        return None
    low, high = row.interval(level, method="score")
    if np.isnan(low) or (row.standard_error > 0 and low >= row.interval(level)[0] - _FAR):
        return None
    return f"{_name(row)} {four(low)} to {four(high)}"

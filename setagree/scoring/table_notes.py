"""Notes below tables of coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from setagree.checks import Codes, Floats
from setagree.coefficients.case import dot
from setagree.coefficients.chance_models import GwetUrn, Uniform, Urn
from setagree.coefficients.sums import UnitSums
from setagree.coefficients.uncertain import patterns_of_units, uncertain_number
from setagree.distances import Distance
from setagree.errors import (
    AdaptiveRatingsWarning,
    FarAnswersWarning,
    FewClustersWarning,
    counted,
    listing,
    option,
    python_or_command,
    shorten,
    warn,
)
from setagree.limits import TIE
from setagree.scoring.intervals import FEWEST_RARER, rarer_answers
from setagree.study.attributes import models_sentences
from setagree.wording.sentences import visible

if TYPE_CHECKING:
    from setagree.scoring.results import Agreement
    from setagree.study.tally import Tally


_FEW_CLUSTERS, _FEW_DF, _LARGE_CLUSTER = 10, 9, 1 / 4
"""Largest number of clusters, number of degrees of freedom below which (ten clusters of one size
leave nine), and share of the largest cluster above which a clustered interval is rough. It is so,
too, if sizes differ so much that the degrees of freedom are less than half the clusters: intervals
of 30 to 500 clusters of sizes 1, 1/2, 1/3, ... covered the true value in 91% of simulated studies.
"""

_FEW_RARER = 8
"""(sum m)² / sum m² of the weights m that all answers except the commonest have in the clusters, or
documents, below which their interval is rough. If a topic of 3% to 10% of 20 to 100 clusters held
nearly all of them, intervals covered the true value in 73% to 94% of simulated studies; Fieller's
of 20 to 100 documents, of which 4 to 10 had a passage, in 72% to 90%, from 8 on in 93% of 222."""

_FEW_DISAGREE = 20
"""Units that disagree below which the t interval of strata and populations is rough: alpha of 0.9
in 30 to 100 units was covered in 88% to 93% of simulated studies; from 20 on in at least 93%."""

_FEW_DOCUMENTS = 5
"""Documents that disagree below which Fieller's interval is rough: with alpha of 0.93 to 0.99 in 15
to 60 documents it covered the true value in 84% to 100% of simulated studies, and missed it in most
studies of 30 or 60 documents of which one disagreed."""

_LARGE_STRATUM = 1 / 20
"""Share of the weight from which a sampled stratum without disagreement, which adds no variance,
makes an interval rough. With two strata, one with 56% to 96% of the weight, 10 to 150 units and 2%
to 10% of disagreement, intervals without either remark covered the true value in 95% of simulated
studies, those with one in 76%."""

_FEW_EQUAL = 60
"""n_Kish = (sum w)² / sum w² below which a score interval of weighted units is rough if it is less
than half of the units too. Lognormal weights that depend on the difficulty of the units, with an
n_Kish of 16 to 59, had intervals that covered the true value in 88% to 94% of simulated studies."""

_FAR_SHARE, _FAR_EXPECTED, _FAR_UNITS = 1 / 3, 1 / 2, 20
"""Shares of the observed and of the expected disagreement of one unit, and number of units that
disagree, for a warning."""


_FEW_OWN = 8
"""Units that would disagree because of one rater if raters were alike, below which the interval of
the change without the rater is rough. In 21 simulated worlds of 3 to 60 raters alike it missed 0 in
24% of the cases with fewer than 2 such units, 11% with 2 to 4, 7.5% with 4 to 5, 5-6% with more.
By world it was at most 7.3% from 5 on, and 6.8% from 8 on, where a thousand cases reach that; of a
crowd of 60, the 1% of the raters with 8 or more missed it in 8%."""

RARE, _RARE_RATINGS = 8, 5
"""Weight in units of all answers except the commonest below which an interval is rough; the score
interval only with at least so many ratings per pairable unit."""

_FEW_UNITS, _LONG_TAIL, _FAR_UNIT = 25, 4, 3
"""For squared distances: units below which an interval is rough; n sum q² / (sum q)² above which
the disagreements q of units have a long tail, if the largest is also so many times that expected by
chance. Without such a tail, simulated intervals of 30 to 300 units kept their coverage."""


def remarks(rows: Sequence[Agreement]) -> list[str]:
    """Return sentences on methods, on rows without an interval or error, and on rough ones."""
    found = [row for row in rows if row.reason is None and row.spread.reason is None]
    of_method = ((text, row) for row in rows for text in _method_texts(row))
    missing = ((_missing_reason(row), row) for row in found)
    rough = ((reason, row) for row in found for reason in rough_reasons(row))
    return _of_rows([*of_method, *missing, *rough], rows)


def _missing_reason(row: Agreement) -> str | None:
    """Return the reason for a missing interval or p, or for a standard error of 0, or None."""
    if (reason := row.interval_reason) is None:
        zero = f"{row.standard_error_reason}, which leaves a standard error of 0"
        return zero if row.standard_error == 0 else None
    test = python_or_command("permutation_test", "'setagree test'")
    is_named = test in reason or row.standard_error != 0
    return reason if is_named else f"{reason}; {test} gives a p-value for this case"


def _method_texts(row: Agreement) -> Iterator[str]:
    """Yield texts on a t interval on request, a score interval of clusters, and p against 0."""
    sample, method = row.case.sample, row.interval_method
    if method == "t" == row.requested_method:
        yield "The interval is estimate ± t se, and p that of the t test"
    elif method == "score" and sample is not None and sample.is_clustered:
        yield "The interval and p are those of the score"
    if isinstance(row.definition.model, GwetUrn | Uniform) and row.p_value >= 0:
        test = python_or_command("permutation_test", "'setagree test'")
        yield f"p is against 0, which unequally frequent answers exceed by chance; use {test}"


def rarity_sentences(rows: Sequence[Agreement]) -> list[str]:
    """Return a sentence on resampled or two-way intervals of studies with rare answers."""
    return _of_rows([(_rarity_of(row, RARE), row) for row in rows if row.reason is None], rows)


def _of_rows(texts: Iterable[tuple[str | None, Agreement]], rows: Sequence[Agreement]) -> list[str]:
    """Return sentences from texts, each with the names of its rows unless it is about all."""
    named: dict[str, list[str]] = {}
    for text, row in texts:
        if text:
            named.setdefault(text, []).append(_name(row))
    return [
        text + ("." if len(names) == len(rows) else f" ({', '.join(names)}).")
        for text, names in named.items()
    ]


def _rarity_of(row: Agreement, least: int) -> str | None:
    """Return a reason for a rough interval if rarer answers count less than `least`, or None."""
    return rarity_remark(row.inference.n_rarer, row.inference.rarer, least)


def rarity_remark(n: float, clause: str, least: int) -> str | None:
    """Return a reason for a rough interval from a clause on rarer answers, `n` units, or None."""
    return f"The interval is rough: {clause}, fewer than {least}" if n < least else None


def remark_of(reasons: Iterable[str | None]) -> str | None:
    """Return reasons for a rough interval as sentences, or None if there are none."""
    return " ".join(f"{reason}." for reason in reasons if reason) or None


def rough_change_reason(n_own: float) -> str | None:
    """Return a reason for a rough interval of the change without a rater, or None.

    `n_own` is the sum of 1 / r over the units that the rater rated and that disagree, of r ratings.
    """
    few = f"fewer than {_FEW_OWN} units would disagree because of this rater"
    return f"The interval is rough: if raters were alike, {few}" if n_own < _FEW_OWN - TIE else None


def rough_t_remarks(n_rarer: Floats, n_pairable: Floats, distance: Distance | None) -> Any:
    """Return the remark on each of many t intervals, or None, from two numbers about its units.

    Its rules are those of `rough_reasons` but that on one unit with a large disagreement.
    """
    few = n_pairable < (_FEW_UNITS if _is_squared(distance) else 0)
    remarks = np.full(len(n_rarer), None, dtype=object)
    for k in np.flatnonzero((n_rarer < RARE) | few):
        n, of_units = n_rarer[k], _few_units_reason(n_pairable[k]) if few[k] else None
        remarks[k] = remark_of([rarity_remark(n, rarer_answers(n), RARE), of_units])
    return remarks


def rough_reasons(row: Agreement) -> list[str]:
    """Return sentences without a full stop on an interval that may not keep its coverage."""
    if (method := row.interval_method) is None:
        return []
    per_unit = float(row.tally.pairable_totals.sum()) / max(row.n_pairable_units, 1)
    is_rare = method == "t" or per_unit >= _RARE_RATINGS
    is_counted = row.case.is_sized  # then `_cluster_reason` counts documents
    rarity = None if is_counted else _rarity_of(row, RARE if is_rare else FEWEST_RARER)
    reasons = [] if rarity is None else [rarity]
    if few := _cluster_reason(row) or _weights_reason(row):
        reasons.append(f"The interval and p are rough: {few}")
    if method == "fieller" or (method == "t" and row.inference.no_score_reason is not None):
        reasons += filter(None, [_few_disagree_reason(row)])
    if _is_squared(row.case.distance) and (reason := _squared_reason(row)):
        reasons.append(reason)
    return reasons


def _few_disagree_reason(row: Agreement) -> str | None:
    """Return the reason for a rough interval because too few units disagree, or None.

    A unit that disagrees adds about c² to the variance, c = w sqrt(1 - f), with its weight w and
    the share f of its stratum that was drawn. The units count as (sum c)² / sum c² with equal c.
    Pieces of documents count as documents.
    """
    q, m, _ = _disagreements(row)
    n, sample, apart, noun = int(m.sum()), row.case.sample, m > 0, "unit"
    n_equal = float(n)
    if row.case.is_weighted and sample is not None:  # then q is that of units
        c = np.where(row.tally.pairable[patterns_of_units(row.tally)], row.case.pairable_weights, 0)
        if not sample.is_clustered:
            strata = np.zeros(len(q), dtype=np.intp) if sample.groups is None else sample.groups
            f = np.minimum(uncertain_number(row.sums).n_drawn / sample.sizes, 1)
            share = np.bincount(strata, c) / c.sum()
            silent = np.where((f < 1) & (np.bincount(strata, apart) == 0), share, 0.0)
            if n and (largest := float(silent.max())) >= _LARGE_STRATUM:
                return (
                    "The interval and p are rough: no disagreement was seen in stratum "
                    f"{shorten(sample.names[silent.argmax()])}, which has {100 * largest:.0f}% of "
                    "the weight"
                )
            c = c * np.sqrt(1 - f)[strata]
        elif sample.is_sized and sample.groups is not None:  # pieces of documents
            c, apart = np.bincount(sample.groups, c), np.bincount(sample.groups, apart) > 0
            n, noun = int(apart.sum()), "document"
        n_equal = c[apart].sum() ** 2 / dot(c[apart], c[apart]) if c[apart].any() else 0.0
    is_t = row.interval_method == "t"
    least, which = (_FEW_DISAGREE, "they are those of t, and ") if is_t else (_FEW_DOCUMENTS, "")
    if round(n_equal, 1) >= least:
        return None
    if n >= least:
        which += f"the {n} {noun}s that disagree count as {n_equal:.1f} {noun}s of equal weight"
    else:
        which += f"{counted(n, noun)} {'disagrees' if n == 1 else 'disagree'}"
    return f"The interval and p are rough: {which}, fewer than {least}"


def _is_squared(distance: Distance | None) -> bool:
    return getattr(distance, "form", None) == "squared"


def _few_units_reason(n: int) -> str:
    return f"{_SQUARED} {n} units are few, and one extreme answer may decide"


_SQUARED = "The interval is rough: with squared distances"


def _squared_reason(row: Agreement) -> str | None:
    """Return the reason for a rough interval of squared distances, or None.

    With normal numbers n sum q² / (sum q)² is 3 for two raters, less for more.
    """
    if (n := row.n_pairable_units) < _FEW_UNITS:
        return _few_units_reason(n)
    q, m, _ = _disagreements(row)
    if not (total := dot(q, m)) > 0:
        return f"{_SQUARED} {n:,} units without disagreement do not exclude far answers"
    largest = n * float(q.max()) / total * (1 - row.estimate)
    if n * dot(q * q, m) / total**2 > _LONG_TAIL and largest > _FAR_UNIT:
        return f"{_SQUARED} one unit disagrees {largest:.0f} times as much as expected by chance"
    return None


def left_out(row: Agreement) -> list[str]:
    """Return sentences on models, and on units and raters without ratings, which are missing."""
    if row.study is None:
        return []
    silent, else_ = row.study.silent_raters, "else " if row.study.models_apart else ""
    kinds = [
        ("unit", f" that nobody {else_}rated", row.study.unanswered.tolist(), ""),
        ("rater", " without any rating", [*silent], f" ({sum(silent.values()):,} missing)"),
    ]
    return models_sentences(row.study) + [
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
    numbered = independent and len(designs) == 1 and rows[0].sampled_groups
    partly = len(designs) > 1 and "" in designs
    tail = " each" if numbered else " (not in all)" if partly else ""
    return " and ".join(filter(None, designs)) + tail


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
            return f"Clustered by {visible(sample.by)}.{tail}"
        by = visible(sample.design.size or "")
        size, of_what = (f"Units count by {by}. ", f"of {by}") if by else ("", "of the units")
        return (
            f"{size}Standard errors and intervals are clustered by {visible(sample.by)}: "
            f"{drawn_of(rows)}, {freedom and f'{freedom}, '}the largest with "
            f"{100 * max(shares):.0f}% {of_what}.{tail}"
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


def _weights_reason(row: Agreement) -> str | None:
    """Return the reason for a rough interval of units with very unequal weights, or None."""
    if not row.case.is_weighted or row.inference.no_score_reason is not None:
        return None
    w = row.case.pairable_weights[row.tally.pairable[patterns_of_units(row.tally)]]
    n_equal = w.sum() ** 2 / dot(w, w)
    if n_equal >= min(_FEW_EQUAL, len(w) / 2):
        return None
    return f"with their unequal weights the {len(w):,} units count as {n_equal:.1f} of equal weight"


def _cluster_reason(row: Agreement) -> str | None:
    """Return the reason for a rough interval of few or unequal clusters, or None."""
    if (clusters := row.spread.clusters) is None:
        return None
    n, df, share = clusters.n, row.degrees_of_freedom, clusters.largest_share
    noun, of_what = ("document", "length") if row.case.is_sized else ("cluster", "units")
    # Fieller's interval of ten documents covered the true value in 93% to 95% of studies.
    few = n < _FEW_CLUSTERS if row.inference.method == "fieller" else n <= _FEW_CLUSTERS
    m = row.inference.rarer_by_cluster
    n_rarer = float(m.sum() ** 2 / dot(m, m)) if m.any() else 0.0
    are_few = not few and n_rarer < _FEW_RARER
    spread = f"only as evenly as over {n_rarer:.1f} equal {noun}s, fewer than {_FEW_RARER}"
    reasons = [
        (few, f"there {'is' if n == 1 else 'are'} {counted(n, noun)}"),
        (are_few, f"answers other than the commonest are spread {spread}"),
        (df < max(_FEW_DF, n / 2), f"they leave {df:.1f} degrees of freedom"),
        (share > _LARGE_CLUSTER, f"the largest has {100 * share:.0f}% of the {of_what}"),
    ]
    return ", ".join(text for applies, text in reasons if applies) or None


def warn_clusters(rows: Sequence[Agreement], *, of: str = "") -> None:
    """Warn if clusters are too few or too unequal for an interval with nominal coverage.

    `of` names the part of a study that has them.
    """
    row = next((row for row in rows if row.spread.clusters is not None), None)
    if row is None or (clusters := row.spread.clusters) is None:
        return
    if few := row.spread.reason or _cluster_reason(row):
        state = "rough" if row.spread.reason is None else "missing"
        warn(
            f"intervals and p-values clustered by {clusters.by}{of} are {state}, because {few}; "
            "more clusters help, more units in the same ones hardly do.",
            FewClustersWarning,
        )


def warn_queue(tally: Tally) -> None:
    """Warn if more ratings seem to have been requested because the first ones differed.

    Then every unit of two ratings agrees, every unit with more has a disagreement, and there are
    several of each. In simulations, alpha of such ratings is 0.07 too low, and its interval
    covered the true value in 70% of the studies.
    """
    r, m = tally.pattern_ratings, tally.multiplicity
    two, more = r == 2, r > 2
    n_two, n_more = float(m[two].sum()), float(m[more].sum())
    if min(n_two, n_more) < SEVERAL:
        return
    distinct = np.diff(tally.indptr)
    if (distinct[two] > 1).any() or (distinct[more] == 1).any():
        return
    warn(
        f"all {n_two:,.0f} units with two ratings agree, and all {n_more:,.0f} with more have "
        "a disagreement, as if more ratings were requested if the first two differed. A "
        "coefficient of such ratings is biased: mark all but the first two of each unit by 'yes' "
        f"in a column and name it with {option('queued')} (setagree.read).",
        AdaptiveRatingsWarning,
    )


SEVERAL = 10
"""Minimum number of units of each kind, to exclude chance."""


def _disagreements(
    row: Agreement, *, by_weight: bool = True
) -> tuple[Floats, Floats, Codes | None]:
    """Return disagreements, the number of units that have each, and the position of each unit.

    They are those of patterns, or of units if they are weighted, as shares of d_max, times ratings
    if ratings count. A number is 0 without disagreement.
    """
    tally, m, of_unit = row.tally, row.tally.multiplicity, row.tally.unit_patterns
    q = row.case.mean_disagreement
    q = q * tally.pattern_ratings if row.definition.model.weigh == "ratings" else q
    if by_weight and row.case.is_weighted and of_unit is not None:  # units of a pattern differ
        q, m = q[of_unit] * row.case.pairable_weights, np.ones(len(of_unit))
        of_unit = np.arange(len(of_unit))
    return q, np.where(q > 0, m, 0.0), of_unit


def warn_far_answers(rows: Sequence[Agreement]) -> None:
    """Warn if one unit has much of the disagreement, under distances without a bound.

    That is a third of the observed disagreement, or half of that expected by chance. With a third,
    t covered the true value in 62% to 82% of simulated studies. If few units disagree, one may well
    have so much by chance. Of label sets the sampling weights do not count: the interval covered
    the true value in 98% of simulated studies in which a heavy unit had more than a third.
    """
    for row in rows:
        by_weight = row.tally.kind == "number" or row.case.is_sized
        q, m, of_unit = _disagreements(row, by_weight=by_weight)
        n, most = int(m.sum()), int(q.argmax()) if q.size else 0
        if n < _FAR_UNITS:
            continue
        share, of_what = float(q[most]) / dot(q, m), "disagreement"
        if share <= _FAR_SHARE:
            (most, share), of_unit = _largest_expected(row), row.tally.unit_patterns
            of_what = "disagreement expected by chance"
            if share <= _FAR_EXPECTED:
                continue
        which = ""
        if row.tally.units is not None and of_unit is not None:
            which = f" ({shorten(row.tally.units[of_unit == most][0])})"
        warn(
            f"{_name(row)}: one unit{which} of the {n:,} that disagree has {100 * share:.0f}% of "
            f"the {of_what}. No available interval keeps its coverage there; look at the answers "
            "to this unit.",
            FarAnswersWarning,
        )
        return


def _largest_expected(row: Agreement) -> tuple[int, float]:
    """Return the pattern of the unit with most of the expected disagreement, and its share.

    The share is 1 - De without the unit / De for the urn X of alpha, of which c are the unit's: the
    form X' F X becomes X' F X - 2 c' F X + c' F c.
    """
    tally, case, urn = row.tally, row.case, Urn("ratings")
    if case.is_weighted:  # then units of one pattern differ
        return 0, 0.0
    whole = row.sums if row.sums.model == urn else UnitSums(case, urn)
    form, N = whole.form, whole.urn.sum()
    if not form > 0:
        return 0, 0.0
    without = form - 2 * whole.to_urn + urn.within(case)
    rest = without / form * (N / np.maximum(N - tally.pattern_ratings, 1)) ** 2
    rest = np.where(tally.pairable, rest, 1.0)
    return int(rest.argmin()), 1 - float(rest.min())


def _name(row: Agreement) -> str:
    return visible(f"{row.coefficient} [{row.distance}]")

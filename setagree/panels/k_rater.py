"""Reliability of the consensus of k raters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
import pandas as pd

from setagree.checks import LOOPED, Codes, Floats, Rng, as_generator, check_drawing
from setagree.coefficients.case import divided
from setagree.coefficients.chance_models import quadratic
from setagree.credit.build import WeightBuilder
from setagree.distances import Distance
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    OptionError,
    UndefinedAgreementWarning,
    check_choice,
    option,
    warn,
)
from setagree.inference.panel_members import (
    Replicated,
    check_least,
    no_interval_reason,
    part_of,
    unweighted_units,
)
from setagree.inference.resampling import block_sizes
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.panels.consensus import Rule, Ties
from setagree.scoring.coefficients import krippendorff_alpha
from setagree.scoring.scorer import Scorer, main_distance
from setagree.scoring.table_notes import rarity_sentences
from setagree.study.annotations import Annotations
from setagree.wording.tables import Column

_RATING_BLOCK_SIZE = 300_000
"""Number of ratings whose panels are aggregated together."""

_FEW_VALUES = 1_000
"""Number of distinct answers up to which the splits share most of the aggregated answers."""


def random_split(
    study: Annotations, k: int, generator: np.random.Generator
) -> tuple[Codes, Floats]:
    """Return the ratings of two random panels of k raters of each unit, (2, n_units, k).

    Also return the number of draws of each unit if units are resampled.
    """
    n = study.n_units
    # Adding random numbers below 1 to the unit codes keeps the units separate.
    order = np.argsort(study.unit_codes + generator.random(study.n_ratings))
    ratings = np.bincount(study.unit_codes, minlength=n)
    first = np.cumsum(ratings) - ratings
    rows = order[first + np.arange(2 * k)[:, None]]
    draws = generator.integers(n, size=(1, n)).astype(np.intp)
    times = np.bincount(draws[0], minlength=n).astype(np.float64)
    return rows.reshape(2, k, n).swapaxes(1, 2), times


def drawn_splits(
    study: Annotations, k: int, n_splits: int, generator: np.random.Generator
) -> Iterator[tuple[Codes, Floats]]:
    """Yield blocks of splits, large enough to share work and small enough for memory."""
    few = study.kind == "labels" and study.n_values <= _FEW_VALUES
    most = _RATING_BLOCK_SIZE if few else 1
    for n in block_sizes(n_splits, study.n_ratings, most=most, what="splits"):
        rows, times = zip(*(random_split(study, k, generator) for _ in range(n)), strict=True)
        yield np.stack(rows), np.stack(times)


def split_alphas(
    rows: Codes, resampled: Floats, study: Annotations, rule: Rule | None, distance: Distance
) -> Floats:
    """Return alpha between the aggregated answers per split, and with the units resampled.

    `rows` of shape (n_splits, 2, n_units, k) and `resampled` of shape (n_splits, n_units) are those
    of `drawn_splits`. The answer of a panel is its consensus by a rule, or the mean of its numbers.
    The third of three rows is the share of the units that are left out.
    """
    S, n = resampled.shape
    values, codes = _decided(rows, study, rule) if rule else _means(rows, study)
    both = (codes >= 0).all(axis=1)
    if not both.any():
        return np.array([[np.nan] * S, [np.nan] * S, [1.0] * S])
    split, unit = np.nonzero(both)
    answers = np.stack([codes[split, side, unit] for side in (0, 1)]).astype(np.intp)
    given = np.bincount(answers.ravel(), minlength=len(values))
    used = np.flatnonzero(given)
    named, K = tuple(values[code] for code in used), len(used)
    times = given[used].astype(np.float64)
    if study.kind != "labels":  # the ends and the ranks of a scale are those of the study
        named += tuple({*study.values} - {*named})
        K, times = len(named), np.pad(times, (0, len(named) - K))
    weights = WeightBuilder(named, study.kind, times, order=study.order).build(distance)
    answers = (np.cumsum(given > 0) - 1)[answers]
    d, cells, alphas = weights.distance_at(*answers), (split * K + answers).ravel(), []
    for times in (np.ones((S, n)), resampled):
        m = times[split, unit]
        pairs, observed = (np.bincount(split, each, S).astype(np.float64) for each in (m, m * d))
        x = np.bincount(cells, np.tile(m, 2), S * K).astype(np.float64).reshape(S, K).T
        # For two raters alpha is 1 - (2n - 1) (sum of d) 2n / x' D x; it is undefined for one unit.
        expected = quadratic(weights, x) * (pairs > 1)
        alphas.append(1 - divided(2 * observed * (2 * pairs - 1), expected))
    return np.array([*alphas, 1 - both.mean(axis=1)])


def _means(rows: Codes, study: Annotations) -> tuple[tuple[Any, ...], Codes]:
    """Return the means of the numbers of all panels, and their codes, (n_splits, 2, n_units)."""
    numbers = np.array(study.values, dtype=float)[study.value_codes]
    values, codes = np.unique(numbers[rows].mean(axis=3), return_inverse=True)
    return tuple(values.tolist()), codes.reshape(rows.shape[:3])


def _decided(rows: Codes, study: Annotations, rule: Rule) -> tuple[tuple[Any, ...], Codes]:
    """Return the consensus of all panels, and its codes, (n_splits, 2, n_units), or -1.

    Panels are decided one by one for distances that depend on the data.
    """
    together = rule.method == "label_majority"
    *shape, k = rows.shape
    rows = rows.reshape(-1, shape[-1] * k)
    values: dict[Any, int] = {}
    found = []
    for block in rows.reshape(1, -1) if together else rows:
        n_units = len(block) // k
        panels = replace(
            study,
            units=np.empty(n_units, dtype=object),
            unit_codes=np.repeat(np.arange(n_units), k),
            rater_codes=study.rater_codes[block],
            value_codes=study.value_codes[block],
        )
        has_scale = study.kind != "labels"  # whose ends and ranks are those of the study
        decision = rule.decide(panels if together or has_scale else panels.with_used_values())
        codes = [values.setdefault(value, len(values)) for value in decision.values]
        found.append(np.array([*codes, -1])[decision.codes])
    return tuple(values), np.concatenate(found).reshape(shape)


Aggregation: TypeAlias = Literal["consensus", "mean"]


@dataclass(frozen=True, eq=False, repr=False)
class KRaterReliability(Replicated):
    """Chance-corrected agreement of the aggregated answers of two panels of k raters.

    Attributes
    ----------
    k : int
        Number of raters per aggregated answer.
    method, distance : str
        Method of the consensus, or ``"mean"``, and distance of the aggregated answers.
    estimate : float
        The mean of alpha over random splits; NaN if it is undefined, see `reason`.
    single : float
        Krippendorff's alpha of the single answers on the same units.
    spearman_brown : float
        k alpha / (1 + (k - 1) alpha) of `single`: the reliability of means of numbers. Only a rough
        guide for sets.
    n_units : int
        Number of units with at least 2 k ratings.
    splits : ndarray of shape (n_splits,)
        alpha of each split; NaN if undefined, for example if all aggregated answers are equal. NaN
        values are counted by `n_undefined` and are not in the mean.
    distribution : ndarray of shape (n_splits,)
        alpha of each split with the units resampled.
    reason : str or None
        Reason for an estimate of NaN, or None.
    share_left_out : float
        Mean share of the units, over the splits, without an aggregated answer of both panels; alpha
        of a split is that of its other units.
    remark : str or None
        Sentence on an interval that rests on too rare answers, or None.
    """

    k: int
    method: str
    distance: str
    estimate: float
    single: float
    spearman_brown: float
    n_units: int
    splits: Floats
    distribution: Floats
    reason: str | None
    share_left_out: float = 0.0
    remark: str | None = None

    columns = (
        Column("k", "count"),
        Column("method", "text"),
        Column("distance", "text"),
        Column("estimate"),
        Column(("low", "high"), "interval"),
        Column("single", meaning="alpha of the single answers"),
        Column("n_units", "count", "units"),
        Column("n_undefined", "count", "undefined", "splits whose alpha is undefined"),
    )

    def _notes(self) -> list[str]:
        why, share = self.interval_reason, self.share_left_out
        basis = f"No interval: {why}." if why else f"The interval is about {self.about}."
        left_out = f"{share:.0%} of the units are left out of a split." if share else ""
        return [basis, self.remark or "", left_out]

    @property
    def n_undefined(self) -> int:
        """Number of splits with an undefined alpha; they are not in the estimate."""
        return int(np.isnan(self.splits).sum())

    def to_frame(self, *, level: float = 0.95) -> pd.DataFrame:
        """Return the result as one row."""
        low, high = self.interval(level)
        return self._one_row(
            "k method distance estimate low high single spearman_brown n_units n_splits "
            "n_undefined share_left_out",
            low=low,
            high=high,
            n_splits=len(self.splits),
        )


@takes_data
def k_rater_reliability(
    study: Data,
    *more: RaterAnswers,
    k: int,
    aggregate: Aggregation = "consensus",
    method: Literal["label_majority", "medoid"] | None = None,
    distance: DistanceLike | None = None,
    ties: Ties = "empty",
    n_splits: int = 100,
    rng: Rng = None,
    **options: Unpack[ReadingOptions],
) -> KRaterReliability:
    """Return the reliability of the aggregated answer of k raters.

    From each unit with at least 2 k ratings, two disjoint panels of k raters are drawn at random;
    the answers of each panel are aggregated, as in `consensus` or to the mean of numbers, and
    compared by Krippendorff's alpha. The estimate is the mean over many splits. Report it if you
    use aggregated answers; report alpha if you use single answers. The raters of a unit are assumed
    to be exchangeable. k is at most half of the raters of a unit, because panels are disjoint.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Who gave what.
    k : int
        Number of raters per panel.
    aggregate : {"consensus", "mean"}
        Whether the answer of a panel is its consensus, or the mean of its numbers.
    method : {"label_majority", "medoid"}, optional
        Method of the consensus. Default: the majority of each label; for scalars the medoid.
    distance : name, callable, Distance or labelled matrix, optional
        Distance of aggregated answers (and of the medoid). Default: MASI for label sets, interval
        for numbers, else nominal.
    ties : {"empty", "plurality", "missing"}
        As in `consensus`, but by default all units are compared. With ``"missing"`` a split leaves
        out the units without an aggregated answer. On these the raters disagree, so that alpha of
        the others is too high for all units; `share_left_out` is their share.
    n_splits : int
        Number of splits.
    rng : int or numpy Generator, optional
        The seed.

    Returns
    -------
    KRaterReliability

    Raises
    ------
    DataError
        No unit has 2 k ratings, or means are requested for values that are not numbers.
    OptionError
        An option is unknown, or a method is given for means.

    Warns
    -----
    UndefinedAgreementWarning
        Some splits have an undefined alpha (they are not in the mean), or all of them (NaN).

    References
    ----------
    Wong and Paritosh (2022), "k-rater reliability: the correct unit of reliability for aggregated
    human annotations".

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(200, 6, skill=0.6, rng=1)
    >>> three = k_rater_reliability(study, k=3, n_splits=50, rng=1)
    >>> round(three.single, 3), round(three.estimate, 3)
    (0.232, 0.532)
    """
    study = unweighted_units(study, "k_rater_reliability")
    check_least("k", k, 1)
    check_least("n_splits", n_splits, 1)
    generator = as_generator(rng)
    check_choice("aggregate", aggregate, ("consensus", "mean"))
    if method is not None:
        check_choice("method", method, ("label_majority", "medoid"))
    means = aggregate == "mean"
    if means and study.kind != "number":
        raise DataError("aggregate='mean' takes numbers; these values are not.")
    if means and method is not None:
        raise OptionError(f"{option('method')} is for a consensus; omit it for means.")
    found = main_distance(study, distance)
    rule = Rule.of(study, method, None, ties, None)
    if rule.method == "medoid":
        rule = replace(rule, distance=found)
    ratings = np.bincount(study.unit_codes, minlength=study.n_units)
    if ratings.max() < 2 * k:
        raise DataError(
            f"k={k} needs units with {2 * k} ratings, for two panels without a rater in common; "
            f"the largest unit has {ratings.max()}, which allows at most k={ratings.max() // 2}."
        )
    enough = part_of(study, (ratings >= 2 * k)[study.unit_codes])
    check_drawing(n_splits, enough.n_ratings + LOOPED, name="n_splits")
    blocks = drawn_splits(enough, k, n_splits, generator)
    drawn = [split_alphas(*some, enough, None if means else rule, found) for some in blocks]
    splits, distribution, left_out = np.concatenate(drawn, axis=1)
    defined = splits[np.isfinite(splits)]
    reason = None if len(defined) else "alpha of the agreed answers is undefined in every split"
    alpha = Scorer(enough).score(krippendorff_alpha, found)
    single = alpha.estimate
    has_interval = no_interval_reason(distribution) is None and reason is None
    if n_undefined := len(splits) - len(defined):
        reasons = f"undefined (nan), because {reason}."
        if reason is None:
            reasons = (
                f"alpha is undefined in {n_undefined:,} of {len(splits):,} splits, in which the "
                "agreed answers leave no disagreement to correct for or too few units; the "
                "estimate is the mean of the others."
            )
        warn(f"k-rater reliability: {reasons}", UndefinedAgreementWarning)
    return KRaterReliability(
        k,
        aggregate if means else rule.method,
        found.name,
        float(defined.mean()) if len(defined) else float("nan"),
        single,
        spearman_brown(single, k),
        enough.n_units,
        splits,
        distribution,
        reason,
        float(left_out.mean()),
        " ".join(rarity_sentences([alpha] * has_interval)) or None,
    )


def spearman_brown(reliability: float, k: int) -> float:
    """Return k a / (1 + (k - 1) a), the reliability of the mean of k parallel measurements.

    Spearman (1910), Brown (1910). Return NaN if the denominator is not above 0.
    """
    below = 1 + (k - 1) * reliability
    return k * reliability / below if below > 0 else float("nan")

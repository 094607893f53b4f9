"""Distances within units compared with those between units: Kolmogorov-Smirnov statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pandas as pd

from setagree.checks import Codes, Floats, Rng, as_generator, check_cost
from setagree.coefficients.case import ROUNDING, value_pairs
from setagree.credit.base import Weights
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, UndefinedAgreementWarning, warn
from setagree.inference.panel_members import check_least, plain_units
from setagree.inference.permutation import (
    null_estimates,
    pairable_ratings,
    ratings_of,
    share_reached,
)
from setagree.inference.shuffler import Cells, pairs_of
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, open_study, takes_data
from setagree.limits import TIE
from setagree.scoring.coefficients import krippendorff_alpha
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import Scorer, main_distance
from setagree.study.annotations import Annotations
from setagree.study.tally import Tally
from setagree.wording.number_format import four, p_phrase, share
from setagree.wording.result_base import Result
from setagree.wording.tables import Column


class PairShuffler(Cells):
    """The answers of pairable units, with the statistic as a function of their order.

    A reshuffle changes which pairs lie within units, but not the distances of all pairs: `every`
    pairs of ratings have each distinct distance, and `cuts` lie between each and the next.
    """

    lists_pairs = True

    def __init__(self, agreement: Agreement, cuts: Floats, every: Floats) -> None:
        unit, _, value = ratings_of(agreement)
        kept = pairable_ratings(unit)
        unit, value = unit[kept], value[kept]
        super().__init__(unit, value, np.zeros_like(unit), agreement.tally, agreement.weights)
        self.cuts, self.up_to = cuts, np.cumsum(every)
        self.n_pairs = round(float((self.sizes * (self.sizes - 1)).sum()) / 2)
        self.places = np.searchsorted(
            cuts, [] if self.dense is None else self.dense.distances.ravel()
        )

    @property
    def width(self) -> int:
        """Number of entries that the evaluation of one reshuffle visits and keeps in memory."""
        return max(len(self.value), self.n_pairs, len(self.up_to))

    n_held = width

    def evaluate(self, V: Codes) -> Floats:
        """Return the largest F_o - F_e of answers V of shape (B, n_ratings)."""
        B, n = len(V), len(self.up_to)
        places = [self._places(k, l).reshape(B, -1) for _, k, l in pairs_of(self.answers(V))]
        place = np.concatenate(places, axis=1) + n * np.arange(B)[:, None]
        within = np.bincount(place.ravel(), minlength=B * n).reshape(B, n).cumsum(axis=1)
        n_expected = self.up_to[-1] - self.n_pairs
        F_o, F_e = within / self.n_pairs, (self.up_to - within) / n_expected
        return np.asarray((F_o - F_e).max(axis=1))

    def _places(self, k: Codes, l: Codes) -> Codes:
        """Return the positions of distances between values among the distinct ones."""
        if self.dense is not None:
            return self.places.take(k * self.n_values + l)
        return np.searchsorted(self.cuts, self.weights.distance_at(k.ravel(), l.ravel()))


@dataclass(frozen=True, eq=False, repr=False)
class KSStatistic(Result):
    """Kolmogorov-Smirnov comparison of distances within and between units.

    Attributes
    ----------
    distance : str
        Name of the distance.
    estimate : float
        The largest difference of the observed and the expected share of small distances: 0 if
        a pair by chance has a distance as small, 1 if all observed ones are smaller. NaN if
        undefined.
    statistic_location : float
        The distance at which the difference is largest.
    curve : DataFrame
        For each `distance`, the shares of `observed` and of `expected` pairs at most that far
        apart.
    n_observed_pairs, n_expected_pairs : int
        Number of pairs of ratings of one unit, and of two units.
    n_units, n_ratings : int
        Number of pairable units, and of their ratings.
    distribution : ndarray of shape (n_resamples,)
        The statistics of the reshuffled studies.
    exact : bool
        Whether the distribution contains every arrangement once.
    reason : str or None
        Why the estimate is NaN, or None.
    """

    distance: str
    estimate: float
    statistic_location: float
    curve: pd.DataFrame
    n_observed_pairs: int
    n_expected_pairs: int
    n_units: int
    n_ratings: int
    distribution: Floats
    exact: bool
    reason: str | None

    columns = (
        Column("distance", "text"),
        Column("estimate"),
        Column(
            "statistic_location",
            head="location",
            meaning="the distance at which the difference is largest",
        ),
        Column("p_value", "p", "p"),
        Column("n_observed_pairs", "count", "pairs inside units"),
        Column("n_expected_pairs", "count", "between units"),
        Column("n_units", "count", "units"),
    )

    @property
    def p_value(self) -> float:
        """(1 + #{at least as large as observed}) / (B + 1); if exact, the share of arrangements.

        NaN without reshuffles, or if the statistic is undefined.
        """
        return share_reached(self.distribution - self.estimate, exact=self.exact)

    @property
    def verdict(self) -> str:
        """The two shares of pairs at the distance `statistic_location`, in one sentence."""
        if self.reason is not None:
            return f"Undefined, because {self.reason}."
        p = f" ({p_phrase(self.p_value)})" if len(self.distribution) else ""
        if self.estimate <= TIE:
            return (
                "At no distance are more of the pairs of answers to one unit as near as that than "
                f"of the pairs of answers to two units{p}."
            )
        row = self.curve[self.curve["distance"] == self.statistic_location].iloc[0]
        return (
            f"{share(row['observed'])} of the pairs of answers to one unit are at most "
            f"{four(self.statistic_location)} apart, and {share(row['expected'])} of the pairs of "
            f"answers to two units{p}."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row with the statistic, its location, p and the counts."""
        return self._one_row(
            "distance estimate statistic_location p_value n_observed_pairs n_expected_pairs "
            "n_units n_ratings n_resamples exact",
            n_resamples=len(self.distribution),
        )


@takes_data
def ks_statistic(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    n_resamples: int = 999,
    rng: Rng = None,
    **options: Unpack[ReadingOptions],
) -> KSStatistic:
    r"""Compare the distances inside units with those expected by chance.

    The statistic is

    .. math:: D = \max_x \, [F_o(x) - F_e(x)],

    where F_o is the share of the pairs of ratings of one unit that are at most x apart, and F_e
    that of the pairs of ratings of two units. It uses only the order of the distances, so that an
    increasing function of them gives the same D. It is not comparable between
    tasks.

    D is exact, from counts of the distinct answers. Units with one rating are left out. Each pair
    counts once, so that a unit of r ratings counts r (r - 1) / 2 times. The cost is that of all
    pairs of distinct answers, and for each reshuffle that of the pairs of ratings inside units.

    Parameters
    ----------
    study : Annotations, Tally, or a table or path as `agreement` takes it
        Ratings, or the number of raters per unit and answer.
    distance : name, callable, Distance or labelled matrix, optional
        Default: MASI for label sets, interval for numbers, else nominal.
    n_resamples : int
        Number of times that all answers of pairable units are reshuffled over their cells, for the
        p-value; all arrangements instead if there are no more of them; 0 for no p-value. The
        published p for two independent samples is not valid, because pairs share ratings.
    rng : int or numpy Generator, optional
        The seed.

    Returns
    -------
    KSStatistic

    Raises
    ------
    CostError
        There are too many distinct answers or distances, or too many reshuffles.
    DataError
        Counts of a tally are fractional.

    Warns
    -----
    UndefinedAgreementWarning
        Fewer than two units have two ratings.

    References
    ----------
    Braylan et al. (2022).

    Examples
    --------
    >>> import setagree as sa
    >>> found = ks_statistic(sa.simulate(60, 3, rng=1), distance="jaccard", n_resamples=99, rng=1)
    >>> round(found.estimate, 4), found.p_value
    (0.3835, 0.01)
    """
    check_least("n_resamples", n_resamples, 0)
    generator = as_generator(rng)
    opened = open_study(study)
    if isinstance(opened, Annotations):
        opened = plain_units(opened, "ks_statistic")
    scorer = Scorer(opened)
    agreement = scorer.score(krippendorff_alpha, main_distance(scorer.tally, distance))
    tally, weights = agreement.tally, agreement.weights
    if (tally.counts % 1).any() or (tally.multiplicity % 1).any():
        raise DataError("pairs of ratings are counted; counts that are fractions have none.")
    d, cuts, every = _distinct_distances(tally, weights)
    observed = np.zeros(len(d))
    times, counts = tally.multiplicity[tally.rows], tally.counts
    observed[0] = (times * counts * (counts - 1)).sum() / 2
    for i, j in value_pairs(tally):
        place = np.searchsorted(cuts, weights.distance_at(tally.indices[i], tally.indices[j]))
        np.add.at(observed, place, times[i] * counts[i] * counts[j])
    with np.errstate(invalid="ignore"):  # NaN without pairs
        F_o, F_e = (n.cumsum() / n.sum() for n in (observed, every - observed))
    n_units, reason = tally.n_pairable_units, None
    estimate, location, distribution, exact = float("nan"), float("nan"), np.zeros(0), False
    if n_units < 2:
        reason = "only one unit has two ratings" if n_units else "no unit has two ratings"
        name = f"ks_statistic [{agreement.distance}]"
        warn(f"{name}: undefined (nan), because {reason}.", UndefinedAgreementWarning)
    else:
        estimate, location = float((F_o - F_e).max()), float(d[(F_o - F_e).argmax()])
        if n_resamples:
            shuffler = PairShuffler(agreement, cuts, every)
            distribution, exact = null_estimates(shuffler, n_resamples, generator)
    return KSStatistic(
        distance=agreement.distance,
        estimate=estimate,
        statistic_location=location,
        curve=pd.DataFrame({"distance": d, "observed": F_o, "expected": F_e}),
        n_observed_pairs=round(float(observed.sum())),
        n_expected_pairs=round(float((every - observed).sum())),
        n_units=n_units,
        n_ratings=round(float(tally.pairable_totals.sum())),
        distribution=distribution,
        exact=exact,
        reason=reason,
    )


def _distinct_distances(tally: Tally, weights: Weights) -> tuple[Floats, Floats, Floats]:
    """Return the distinct distances between ratings of any units, and the numbers of their pairs.

    The distances are ascending from 0, and those that differ by rounding alone are one. The second
    array has the numbers halfway between each and the next.
    """
    used = np.flatnonzero(tally.pairable_totals)
    n, K = tally.pairable_totals[used], len(used)
    instead = "Merge or leave out rare answers, or take a part of the units."
    check_cost(f"The distances between {K:,} answers", n_bytes=32.0 * K**2, instead=instead)
    place, d = pd.factorize(weights.block(used, used).ravel(), sort=True)
    every = np.bincount(place, (np.outer(n, n) - np.diag(n)).ravel(), len(d)) / 2
    if not K:
        d, every = np.zeros(1), np.zeros(1)
    # Rounding may change the twelfth decimal of a distance up to 1, the digit of a larger one.
    least = weights.max_distance if weights.max_distance <= 1 else 0.0
    is_new = np.diff(d) > ROUNDING * np.maximum(d[1:], least)
    starts = np.flatnonzero(np.append(True, is_new))
    return d[starts], (d[1:] + d[:-1])[is_new] / 2, np.add.reduceat(every, starts)

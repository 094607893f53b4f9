"""Distances within units compared with those between units: Kolmogorov-Smirnov statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pandas as pd

from setagree.checks import Codes, Floats, Rng, as_generator, check_cost, check_least
from setagree.coefficients.case import ROUNDING, value_pairs
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, warn_nan
from setagree.inference.panel_members import plain_units
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
from setagree.wording.number_format import four, p_phrase, share
from setagree.wording.result_base import Result
from setagree.wording.tables import Column


@dataclass(frozen=True, eq=False, repr=False)
class KSStatistic(Result):
    """Kolmogorov-Smirnov comparison of distances within and between units.

    Attributes
    ----------
    distance : str
        Name of the distance.
    estimate : float
        The largest difference of the two shares, from 0 to 1. NaN if undefined.
    statistic_location : float
        The distance at which the difference is largest.
    curve : DataFrame
        For each `distance`, the shares of `observed` and of `expected` pairs at most that far
        apart.
    n_observed_pairs, n_expected_pairs : int
        Number of pairs of ratings of one unit, and of two units.
    n_units : int
        Number of pairable units.
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
        shares = self.curve.set_index("distance").loc[self.statistic_location]
        return (
            f"{share(shares['observed'])} of the pairs of answers to one unit are at most "
            f"{four(self.statistic_location)} apart, and {share(shares['expected'])} of the pairs "
            f"of answers to two units{p}."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row with the statistic, its location, p and the counts."""
        names = " ".join(column.first for column in self.columns)
        return self._one_row(f"{names} n_resamples exact", n_resamples=len(self.distribution))


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
    that of the pairs of ratings of two units. An increasing function of the distances gives the
    same D. It is exact, and not comparable between tasks. Units with one rating are left out; a
    unit of r ratings counts r (r - 1) / 2 times.

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
    pairs, n_units = _Pairs(agreement), agreement.n_pairable_units
    F_o, F_e = pairs.shares(pairs.within)
    location, distribution, exact, reason = float("nan"), np.zeros(0), False, None
    if n_units < 2:
        reason = "only one unit has two ratings" if n_units else "no unit has two ratings"
        warn_nan(f"ks_statistic [{agreement.distance}]", reason)
    else:
        location = float(pairs.distances[(F_o - F_e).argmax()])
        if n_resamples:
            distribution, exact = null_estimates(_Reshuffles(pairs), n_resamples, generator)
    return KSStatistic(
        distance=agreement.distance,
        estimate=float((F_o - F_e).max()),
        statistic_location=location,
        curve=pd.DataFrame({"distance": pairs.distances, "observed": F_o, "expected": F_e}),
        n_observed_pairs=round(float(pairs.within.sum())),
        n_expected_pairs=round(float(pairs.up_to[-1] - pairs.within.sum())),
        n_units=n_units,
        distribution=distribution,
        exact=exact,
        reason=reason,
    )


class _Pairs:
    """Numbers of pairs of ratings of pairable units at each distinct distance, ascending from 0.

    `within` counts the pairs of one unit, `up_to` those of any units that are at most so far apart.
    `code` numbers the values in use; those with codes a and b are at distance ``place[a, b]``.
    """

    def __init__(self, agreement: Agreement) -> None:
        self.agreement, tally, weights = agreement, agreement.tally, agreement.weights
        times, counts = tally.multiplicity[tally.rows], tally.counts
        if (times % 1).any() or (counts % 1).any():
            raise DataError("pairs of ratings are counted; counts that are fractions have none.")
        used = np.flatnonzero(tally.pairable_totals)
        n, K = tally.pairable_totals[used], len(used)
        instead = "Merge or leave out rare answers, or take a part of the units."
        check_cost(f"The distances between {K:,} answers", n_bytes=32.0 * K**2, instead=instead)
        place, d = pd.factorize(weights.block(used, used).ravel(), sort=True)
        d = d if K else np.zeros(1)
        # Those that differ by rounding alone are one. Rounding may change the twelfth decimal of a
        # distance up to 1, the digit of a larger one.
        least = weights.max_distance if weights.max_distance <= 1 else 0.0
        is_new = np.append(True, np.diff(d) > ROUNDING * np.maximum(d[1:], least))
        place, self.distances = (is_new.cumsum() - 1)[place], d[is_new]
        every = (np.outer(n, n) - np.diag(n)).ravel()
        self.up_to = np.bincount(place, every, len(self.distances)).cumsum() / 2
        self.place = place.reshape(K, K)
        self.code = (tally.pairable_totals > 0).cumsum() - 1
        self.within, code = np.zeros(len(self.distances)), self.code[tally.indices]
        self.within[0] = (times * counts * (counts - 1)).sum() / 2
        for i, j in value_pairs(tally):
            np.add.at(self.within, self.place[code[i], code[j]], times[i] * counts[i] * counts[j])

    def shares(self, within: Floats | Codes) -> tuple[Floats, Floats]:
        """Return F_o and F_e at each distance, from the numbers of pairs within units."""
        observed = within.cumsum(axis=-1)
        expected = self.up_to - observed
        with np.errstate(invalid="ignore"):  # NaN without pairs
            return observed / observed[..., -1:], expected / expected[..., -1:]


class _Reshuffles(Cells):
    """The answers of pairable units, with the statistic as a function of their order.

    A reshuffle changes which pairs are within units, but not the distances of all pairs.
    """

    lists_pairs = True

    def __init__(self, pairs: _Pairs) -> None:
        self.pairs, agreement = pairs, pairs.agreement
        unit, _, value = ratings_of(agreement)
        kept = pairable_ratings(unit)
        cells = unit[kept], pairs.code[value[kept]], np.zeros_like(kept)
        super().__init__(*cells, agreement.tally, agreement.weights)

    @property
    def width(self) -> int:
        """Number of entries that the evaluation of one reshuffle visits and keeps in memory."""
        return max(super().width, len(self.pairs.distances))

    n_held = width

    def evaluate(self, V: Codes) -> Floats:
        """Return the largest F_o - F_e of answers V of shape (B, n_ratings)."""
        B, n, K = len(V), len(self.pairs.distances), len(self.pairs.place)
        pairs = (k * K + l for _, k, l in pairs_of(self.answers(V)))
        place = [self.pairs.place.take(each).reshape(B, -1) for each in pairs]
        cells = np.concatenate(place, axis=1) + n * np.arange(B)[:, None]
        within = np.bincount(cells.ravel(), minlength=B * n).reshape(B, n)
        F_o, F_e = self.pairs.shares(within)
        return np.asarray((F_o - F_e).max(axis=1))

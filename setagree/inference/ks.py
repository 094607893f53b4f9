"""Distances within units compared with all pairs of ratings: Kolmogorov-Smirnov statistic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from setagree.checks import Rng, as_generator, check_cost, check_drawing, public
from setagree.coefficients.chance import ROUNDING, Codes, Floats
from setagree.coefficients.shuffler import Cells, pairs_of
from setagree.coefficients.within_units import value_pairs
from setagree.credit.base import Weights, chunks
from setagree.distances import get_distance
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, UndefinedAgreementWarning, counted, warn
from setagree.inference.panel_members import check_least, plain_units
from setagree.inference.permutation import pairable_ratings, ratings_of
from setagree.inference.resampling import Resampled
from setagree.large.opening import Data, open_study
from setagree.limits import LONG_WORK, TIE
from setagree.progress import track
from setagree.scoring.coefficients import krippendorff_alpha
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import Scorer, default_distances
from setagree.study.annotations import Annotations
from setagree.study.tally import Tally
from setagree.wording.number_format import four, p_phrase, share

_MOST_LISTED = 40_000_000
"""Pairs of ratings beyond which a reshuffle does not list them; 640 MB."""

_MERGED_AT, _ROW_BYTES = 4_000_000, 120
"""Distinct distances at which those found so far are merged, and what each takes meanwhile."""

_BINS_A_PAIR = 4
"""Distinct distances for each pair up to which counting them is faster than sorting the pairs."""


@dataclass(frozen=True, eq=False)
class PairDistances:
    """The distinct distances between ratings of pairable units, and how many pairs have them.

    Attributes
    ----------
    distances : ndarray of shape (n_distances,)
        Ascending; distances that rounding alone tells apart are one.
    cuts : ndarray of shape (n_distances - 1,)
        What lies between each distance and the next.
    observed, every : ndarray of shape (n_distances,)
        Pairs of ratings of one unit, and of ratings of any units.
    """

    distances: Floats
    cuts: Floats
    observed: Floats
    every: Floats

    @classmethod
    def of(cls, tally: Tally, weights: Weights) -> PairDistances:
        """Count the pairs of a study."""
        found = _merged([*_every(tally, weights), *_observed(tally, weights)])
        d, n = found[0], found[1:]
        # Of a distance up to 1 rounding may change the twelfth decimal, of a larger one the digit.
        least = weights.max_distance if weights.max_distance <= 1 else 0.0
        is_new = np.diff(d) > ROUNDING * np.maximum(d[1:], least)
        starts = np.flatnonzero(np.append(d.size > 0, is_new))
        every, observed = np.add.reduceat(n, starts, axis=1) if d.size else n
        return cls(d[starts], (d[1:] + d[:-1])[is_new] / 2, observed, every)

    @property
    def observed_shares(self) -> Floats:
        """F_o, the share of the pairs inside units that are no further apart."""
        return _cumulative(self.observed)

    @property
    def expected_shares(self) -> Floats:
        """F_e, the same of the pairs of two units."""
        return _cumulative(self.every - self.observed)

    def places(self, d: Floats) -> Codes:
        """Return the position of each distance."""
        return np.searchsorted(self.cuts, d)


def _cumulative(n: Floats) -> Floats:
    sums = np.cumsum(n)
    return np.asarray(sums / sums[-1]) if sums.size and sums[-1] else np.full(len(n), np.nan)


def _merged(parts: list[Floats]) -> Floats:
    """Return the distinct distances in order, with their counts; each part has three rows."""
    d, *n = np.concatenate([np.zeros((3, 0)), *parts], axis=1)
    distinct, place = np.unique(d, return_inverse=True)
    return np.stack([distinct, *(np.bincount(place, each, len(distinct)) for each in n)])


def _every(tally: Tally, weights: Weights) -> list[Floats]:
    """Return distances with the number of pairs of ratings of any units, and 0 observed ones.

    The values that were given are compared in blocks, so that no K x K array is made.
    """
    n = tally.pairable_totals
    blocks = [*chunks(np.flatnonzero(n))]
    K = sum(map(len, blocks))
    instead = "Merge or leave out rare answers, or take a part of the units."
    check_cost(f"The distances between {K:,} answers", n_steps=K**2 / 2, instead=instead)
    parts, size = [np.array([[0.0], [float((n * (n - 1)).sum()) / 2], [0.0]])], 0
    long = K**2 > 2 * LONG_WORK
    for i, rows in enumerate(track(blocks, total=len(blocks), what="blocks", long=long)):
        for columns in blocks[i:]:
            times = np.outer(n[rows], n[columns])
            if columns is rows:
                times = np.triu(times, 1)
            parts.append(_distinct(weights.block(rows, columns).ravel(), times.ravel(), 1))
            size += parts[-1].shape[1]
            if size > _MERGED_AT:
                parts, size = [_merged(parts)], 0
                n_bytes = _ROW_BYTES * parts[0].shape[1]
                check_cost("The list of distinct distances", n_bytes=n_bytes, instead=instead)
    return parts


def _observed(tally: Tally, weights: Weights) -> Iterable[Floats]:
    """Yield distances with the number of pairs of ratings of one unit that are so far apart."""
    times = tally.multiplicity[tally.rows]
    same = float((times * tally.counts * (tally.counts - 1)).sum()) / 2
    yield np.array([[0.0], [0.0], [same]])
    for left, right in value_pairs(tally):
        n = times[left] * tally.counts[left] * tally.counts[right]
        yield _distinct(weights.distance_at(tally.indices[left], tally.indices[right]), n, 2)


def _distinct(d: Floats, n: Floats, row: int) -> Floats:
    """Return the distinct distances, with the summed numbers of pairs in one of the rows."""
    place, distinct = pd.factorize(d)
    out = np.zeros((3, len(distinct)))
    out[0], out[row] = distinct, np.bincount(place, n, len(distinct))
    # What stands on or below a diagonal is no pair.
    return out[:, out[row] > 0]


class PairShuffler(Cells):
    """The answers of pairable units, and the statistic as a function of their order.

    A reshuffle does not change the distances of all pairs, but which of them lie within units.
    """

    max_pairs = _MOST_LISTED

    def __init__(self, agreement: Agreement, pairs: PairDistances) -> None:
        unit, _, value = ratings_of(agreement)
        kept = pairable_ratings(unit)
        unit, value = unit[kept], value[kept]
        super().__init__(unit, value, np.zeros_like(unit), agreement.tally, agreement.weights)
        self.distances = pairs
        self.up_to = np.cumsum(pairs.every)
        self.n_pairs = round(float((self.sizes * (self.sizes - 1)).sum()) / 2)

    @cached_property
    def lists_pairs(self) -> bool:
        """Whether pairs are compared one by one: if few, or without a matrix of distances."""
        return self.dense is None or super().lists_pairs

    @property
    def width(self) -> int:
        """Number of entries that the evaluation of one reshuffle visits."""
        K, n = self.n_values, len(self.units)
        inside = self.n_pairs if self.lists_pairs else max(n * K, K**2)
        return max(len(self.value), inside, min(len(self.up_to), _BINS_A_PAIR * self.n_pairs))

    @property
    def n_held(self) -> int:
        """Number of entries per reshuffle that are in memory at a time."""
        return self.width

    def evaluate(self, V: Codes) -> Floats:
        """Return the statistics of answers V of shape (B, n_ratings)."""
        B, n_bins = len(V), len(self.up_to)
        if not self.lists_pairs:
            return np.array([self._largest(self._matrix_counts(row))[0] for row in V])
        bins = [self._bins(k, l).reshape(B, -1) for _, k, l in pairs_of(self.answers(V))]
        bin_of_pair = np.concatenate(bins, axis=1)
        if n_bins > _BINS_A_PAIR * self.n_pairs:
            bin_of_pair.sort(axis=1)
            within = np.arange(1.0, self.n_pairs + 1)
            return np.asarray(self._leads(within, self.up_to[bin_of_pair]).max(axis=1))
        cells = bin_of_pair + n_bins * np.arange(B)[:, None]
        counts = np.bincount(cells.ravel(), minlength=B * n_bins).astype(np.float64)
        return self._largest(counts.reshape(B, n_bins))

    def _largest(self, observed: Floats) -> Floats:
        """Return the statistics of so many pairs inside units at each distance, (B, n_bins)."""
        within = np.cumsum(np.atleast_2d(observed), axis=1)
        return np.asarray(self._leads(within, self.up_to).max(axis=1))

    def _leads(self, within: Floats, every: Floats) -> Floats:
        """Return F_o - F_e where so many of the pairs are no further apart."""
        n_expected = self.up_to[-1] - self.n_pairs
        return np.asarray(within / self.n_pairs - (every - within) / n_expected)

    def _bins(self, k: Codes, l: Codes) -> Codes:
        """Return the position of the distance between values."""
        if self.dense is not None:
            return self._table.take(k * self.n_values + l)
        d = self.weights.distance_at(k.ravel(), l.ravel())
        return self.distances.places(d).reshape(k.shape)

    @cached_property
    def _table(self) -> Codes:
        """The positions of all K x K distances in a row, where these are at hand."""
        return self.distances.places(np.zeros(0) if self.dense is None else self.dense)

    def _matrix_counts(self, values: Codes) -> Floats:
        """Return how many pairs inside units have each distance, from how often each value comes.

        With C_ik ratings of value k in unit i, C' C counts each pair twice, and each rating once.
        """
        K, n = self.n_values, len(self.units)
        counts = np.bincount(self.unit * K + values, minlength=n * K).reshape(n, K)
        counts = counts.astype(np.float64)
        both = counts.T @ counts
        both[np.diag_indices(K)] -= counts.sum(axis=0)
        found = np.bincount(self._table, both.ravel() / 2, len(self.up_to))
        return found.astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False, repr=False)
class KSStatistic(Resampled):
    """How far the distances inside units lie below those between units.

    Attributes
    ----------
    distance : str
        How answers are compared.
    estimate : float
        The largest lead of the observed over the expected share of small distances: 0 where chance
        gives as small ones, 1 where all observed ones are smaller; nan where it is undefined.
    at : float
        The distance at which the lead is largest.
    curve : DataFrame
        For each `distance`, the shares of `observed` and of `expected` pairs that are no further
        apart.
    n_observed_pairs, n_expected_pairs : int
        Pairs of ratings of one unit, and of two units.
    n_units, n_ratings : int
        Pairable units, and their ratings.
    distribution : ndarray of shape (n_resamples,)
        The statistics of the reshuffled studies.
    exact : bool
        Whether the distribution holds every arrangement once.
    reason : str or None
        Why the estimate is nan, or None.
    """

    distance: str
    estimate: float
    at: float
    curve: pd.DataFrame
    n_observed_pairs: int
    n_expected_pairs: int
    n_units: int
    n_ratings: int
    distribution: Floats
    exact: bool
    reason: str | None

    @property
    def p_value(self) -> float:
        """(1 + #{as large as observed}) / (B + 1); the plain share of all arrangements.

        nan without reshuffles, or where the statistic is undefined.
        """
        if self.reason is not None or not len(self.distribution):
            return float("nan")
        reached = int((self.distribution >= self.estimate - TIE).sum())
        extra = 0 if self.exact else 1
        return (reached + extra) / (len(self.distribution) + extra)

    @property
    def about(self) -> None:
        """There is no interval, so that nothing is to be said of whom it is about."""

    @property
    def verdict(self) -> str:
        """What the statistic says, in one sentence."""
        if self.reason is not None:
            return f"Undefined, because {self.reason}."
        row = self.curve[self.curve["distance"] == self.at].iloc[0]
        sure = "" if np.isnan(self.p_value) else f" ({p_phrase(self.p_value)})"
        if self.estimate <= TIE:
            return (
                "At no distance are more of the pairs of answers to one unit as near as that than "
                f"of the pairs of answers to two units{sure}."
            )
        return (
            f"{share(row['observed'])} of the pairs of answers to one unit are at most "
            f"{four(self.at)} apart, and {share(row['expected'])} of the pairs of answers to two "
            f"units{sure}."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row: the statistic, where it is reached, p, the counts."""
        return self._one_row(
            "distance estimate at p_value n_observed_pairs n_expected_pairs n_units n_ratings "
            "n_resamples exact",
            n_resamples=len(self.distribution),
        )

    def __repr__(self) -> str:
        if self.reason is not None:
            return f"<KSStatistic [{self.distance}]: nan ({self.reason})>"
        how = "arrangement" if self.exact else "reshuffle"
        n = counted(len(self.distribution), how)
        sure = f", {p_phrase(self.p_value)} ({n})" if len(self.distribution) else ""
        return (
            f"<KSStatistic [{self.distance}]: {self.estimate:.4f} at distance {four(self.at)}"
            f"{sure}, {self.n_observed_pairs:,} pairs inside {counted(self.n_units, 'unit')} "
            f"against {self.n_expected_pairs:,}>"
        )


@public
def ks_statistic(
    study: Data,
    *,
    distance: DistanceLike | None = None,
    n_resamples: int = 999,
    rng: Rng = None,
) -> KSStatistic:
    r"""Return how far the distances inside units lie below those that chance gives.

    That is the one-sided statistic of Kolmogorov and Smirnov,

    .. math:: D = \max_x \, [F_o(x) - F_e(x)],

    where F_o is the share of the pairs of ratings of one unit that are at most x apart, and F_e
    that of the pairs of ratings of two units. It needs no mean of distances, so that it is the same
    whatever an increasing function makes of them: it asks only which pairs are further apart. As a
    coefficient it is not corrected to mean the same in all studies; compare it within one task.

    It is exact, from counts of the distinct answers: units with one rating are left out, each pair
    counts once, so that a unit of r ratings counts r (r - 1) / 2 times. The cost is that of all
    pairs of distinct answers, and for each reshuffle that of the pairs of ratings inside units.

    Parameters
    ----------
    study : Annotations, Tally, or a table or path as `agreement` takes it
        Who gave what, or how often each unit got each answer.
    distance : name, callable, Distance or labelled matrix, optional
        Default: MASI for label sets, nominal for scalars.
    n_resamples : int
        How often all answers of pairable units are reshuffled over their cells, for the p-value;
        all arrangements instead, where there are no more of them; 0 for no p-value. The published
        p of two independent samples does not hold, because pairs share ratings.
    rng : int or numpy Generator, optional
        The seed.

    Returns
    -------
    KSStatistic

    Raises
    ------
    CostError
        There are too many distinct answers or distances, or too many reshuffles are asked for.
    DataError
        Counts of a tally are fractions.

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
    named = default_distances(scorer.tally)[0] if distance is None else distance
    agreement = scorer.score(krippendorff_alpha, get_distance(named))
    tally = agreement.tally
    if (tally.counts % 1).any() or (tally.multiplicity % 1).any():
        raise DataError("pairs of ratings are counted; counts that are fractions have none.")
    pairs = PairDistances.of(tally, agreement.weights)
    reason = _why_undefined(tally.n_pairable_units)
    if reason is not None:
        warn(
            f"ks_statistic [{agreement.distance}]: undefined (nan), because {reason}.",
            UndefinedAgreementWarning,
        )
    return _assembled(agreement, pairs, reason, n_resamples, generator)


def _why_undefined(n_units: int) -> str | None:
    if n_units > 1:
        return None
    return "only one unit has two ratings" if n_units else "no unit has two ratings"


def _assembled(
    agreement: Agreement,
    pairs: PairDistances,
    reason: str | None,
    n_resamples: int,
    generator: np.random.Generator,
) -> KSStatistic:
    tally = agreement.tally
    estimate, at, null, exact = float("nan"), float("nan"), np.zeros(0), False
    if reason is None:
        lead = pairs.observed_shares - pairs.expected_shares
        estimate, at = float(lead.max()), float(pairs.distances[lead.argmax()])
        if n_resamples:
            null, exact = _null(PairShuffler(agreement, pairs), n_resamples, generator)
    curve = {
        "distance": pairs.distances,
        "observed": pairs.observed_shares,
        "expected": pairs.expected_shares,
    }
    n_ratings = round(float((tally.pattern_ratings * tally.multiplicity)[tally.pairable].sum()))
    n_observed = round(float(pairs.observed.sum()))
    return KSStatistic(
        agreement.distance,
        estimate,
        at,
        pd.DataFrame(curve),
        n_observed,
        n_ratings * (n_ratings - 1) // 2 - n_observed,
        tally.n_pairable_units,
        n_ratings,
        null,
        exact,
        reason,
    )


def _null(
    shuffler: PairShuffler, n_resamples: int, generator: np.random.Generator
) -> tuple[Floats, bool]:
    """Return the statistics of reshuffled studies, and whether they are of all arrangements."""
    n_arrangements = shuffler.n_arrangements()
    exact = n_arrangements <= n_resamples
    check_drawing(int(min(n_arrangements, n_resamples)), shuffler.width)
    estimates = (
        shuffler.all_estimates() if exact else shuffler.estimates(n_resamples, generator, track)
    )
    return estimates, exact

"""How far the distances inside units lie below those that chance gives: Kolmogorov and Smirnov."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from setagree.checks import Rng, as_generator, check_drawing, public
from setagree.coefficients.chance import Floats
from setagree.distances import get_distance
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, UndefinedAgreementWarning, counted, warn
from setagree.inference.draws import Resampled
from setagree.inference.known_raters import plain_units
from setagree.inference.pair_distances import PairDistances, PairShuffler
from setagree.inference.raters import check_least
from setagree.large.opening import Data, open_study
from setagree.progress import track
from setagree.scoring.coefficients import krippendorff_alpha
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import Scorer, default_distances
from setagree.study.annotations import Annotations
from setagree.wording.numbers import four, p_phrase, share

_TIE = 1e-12
"""Statistics closer than this to the observed one count as equal to it."""


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
        reached = int((self.distribution >= self.estimate - _TIE).sum())
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
        if self.estimate <= _TIE:
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
        row = {
            "distance": self.distance,
            "estimate": self.estimate,
            "at": self.at,
            "p_value": self.p_value,
            "n_observed_pairs": self.n_observed_pairs,
            "n_expected_pairs": self.n_expected_pairs,
            "n_units": self.n_units,
            "n_ratings": self.n_ratings,
            "n_resamples": len(self.distribution),
            "exact": self.exact,
        }
        return pd.DataFrame([row])

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

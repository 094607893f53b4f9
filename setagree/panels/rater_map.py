"""Raters in a plane: who agrees with whom beyond chance, in camps or as chance has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from setagree.checks import LOOPED, Rng, as_generator, check_drawing, public
from setagree.coefficients.chance import ROUNDING, Floats
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, OptionError, counted, listing, option
from setagree.inference.known_raters import known_plain
from setagree.inference.raters import Codes, case_of, check_least
from setagree.large.opening import Data
from setagree.panels.clusters import (
    Partition,
    best_cut,
    by_way_of_others,
    classical_scaling,
    cut,
    linkage_of,
)
from setagree.panels.distances_between import SharedPairs
from setagree.panels.polarisation import unit_camps
from setagree.progress import track
from setagree.study.annotations import Annotations
from setagree.wording.numbers import p_phrase
from setagree.wording.results import Result

_MOST_CLUSTERS = 8
_LONG_WORK = 20_000_000

_MOST_RATERS = 2_000
"""Raters beyond which no map is drawn: a reshuffle of 2,000 takes 5 seconds, and 440 MB."""


@dataclass(frozen=True, eq=False, repr=False)
class RaterMap(Result):
    """Where raters stand by how far they disagree, chance taken into account.

    Attributes
    ----------
    distance : str
        How answers are compared.
    distances : DataFrame
        The mean distance of each pair of raters over the units that both rated; nan where these
        are too few.
    disagreement : DataFrame
        The same over what chance gives the two, from which the map is made: 0 where they always
        agree, 1 where they agree as chance has it, 2 at most.
    shared : DataFrame
        How many units each pair of raters shares.
    table : DataFrame
        A row for each rater: coordinates `x` and `y`, `cluster` from 1 on, `silhouette`, the mean
        distance to the others, and `n_ratings`. Raters who share no units with the rest, not even
        through others, have nan and cluster 0.
    linkage : ndarray
        The tree of the mapped raters, as `scipy.cluster.hierarchy` has it.
    explained : float
        The share of the spread of the distances that two dimensions hold.
    n_bridged : int
        Pairs of raters without units in common, who were placed by the shortest way through others.
    silhouette : float
        The mean silhouette of the clusters; nan where there are none.
    null : ndarray of shape (n_resamples,)
        The same where the answers to each unit are dealt out anew to its raters.
    units : DataFrame
        A row for each unit: its disagreement, and its bimodality with the two answers of the camps.
    """

    distance: str
    distances: pd.DataFrame
    disagreement: pd.DataFrame
    shared: pd.DataFrame
    table: pd.DataFrame
    linkage: Floats
    explained: float
    n_bridged: int
    silhouette: float
    null: Floats
    units: pd.DataFrame

    @property
    def p_value(self) -> float:
        """(1 + #{silhouettes of reshuffles >= the observed one}) / (B + 1); nan without any."""
        if not len(self.null) or np.isnan(self.silhouette):
            return float("nan")
        above = int((self.null >= self.silhouette - 1e-12).sum())
        return (above + 1) / (len(self.null) + 1)

    @property
    def camps(self) -> list[list[object]]:
        """The raters of each cluster that has two or more, the largest first."""
        groups = [
            group.index.tolist()
            for name, group in self.table.groupby("cluster", sort=True)
            if name and len(group) > 1
        ]
        return sorted(groups, key=len, reverse=True)

    @property
    def unplaced(self) -> list[object]:
        """The raters who share too few units with the others to have a place on the map."""
        return self.table.index[self.table["cluster"] == 0].tolist()

    @property
    def verdict(self) -> str:
        """Two camps or noise, in words, and who has no place on the map."""
        if not self.unplaced:
            return self._judged
        who = counted(len(self.unplaced), "rater")
        return (
            f"{self._judged} {who} not placed, because they share too few units with the others: "
            f"{listing(self.unplaced)}."
        )

    @property
    def _judged(self) -> str:
        if np.isnan(self.silhouette):
            few = (self.table["cluster"] > 0).sum() < 4
            why = "fewer than four raters can form no camps" if few else "one cluster was asked for"
            return f"No verdict: {why}."
        if np.isnan(self.p_value):
            return f"No verdict: {option('n_resamples', 0)} leaves out the comparison with chance."
        p = p_phrase(self.p_value)
        if self.p_value > 0.05:
            return (
                "Noise: the raters form no clearer groups than if the answers to each unit were "
                f"assigned to them at random ({p})."
            )
        camps = self.camps
        if len(camps) > 1:
            sizes = " and ".join(str(len(camp)) for camp in camps)
            return f"{len(camps)} camps of {sizes} raters ({p})."
        inside = set(camps[0]) if camps else set()
        placed = self.table.index[self.table["cluster"] > 0]
        apart = [rater for rater in placed if rater not in inside]
        return f"No camps, but raters who stand apart: {listing(apart)} ({p})."

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each rater."""
        return self.table.copy()

    def __repr__(self) -> str:
        n = int(self.table["cluster"].max())
        lost = f", {counted(len(self.unplaced), 'rater')} not placed" if self.unplaced else ""
        return (
            f"<RaterMap of {counted(len(self.table), 'rater')} [{self.distance}]: "
            f"{counted(n, 'cluster')}, silhouette {self.silhouette:.4f}, {p_phrase(self.p_value)}, "
            f"{100 * self.explained:.0f}% in two dimensions{lost}>"
        )


@public
def rater_map(
    study: Data,
    *,
    distance: DistanceLike | None = None,
    n_clusters: int | None = None,
    min_shared: int = 1,
    n_resamples: int = 199,
    rng: Rng = None,
) -> RaterMap:
    """Return a map of the raters by how far they disagree, and whether they form camps.

    Two raters are as far apart as the mean distance of their answers to the units that both rated,
    over the mean distance that chance gives the two, each with the answers that he or she gave as
    often. Where both rated the same units that is 1 minus Cohen's kappa, so that raters with the
    same habits (few labels, say) are near each other only where they agree beyond what these habits
    give. Elsewhere chance is taken from all their answers to units that others rated, too. Pairs
    without common units are as far apart as the shortest way through other raters. The map is
    classical scaling in two dimensions, the clusters are average linkage, cut where the mean
    silhouette is largest. Whether this is more than noise is asked by dealing out the answers to
    each unit anew to the raters of the unit, and looking for clusters in just that way: under the
    hypothesis that raters can be exchanged the p-value is exact. Raters of unequal care are no
    camps, but cannot be exchanged either: camps are clusters of two or more, and need silhouettes,
    not p alone.

    The cost is that of all pairs of ratings inside units, for each reshuffle, and of raters times
    distinct answers and raters squared.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Who gave what.
    distance : name, callable, Distance or labelled matrix, optional
        Default: MASI for label sets, nominal for scalars.
    n_clusters : int, optional
        Default: 2 to 8, by the mean silhouette; one cluster for fewer than four raters.
    min_shared : int
        Units that two raters must share for their mean distance to count.
    n_resamples : int
        How often answers are dealt out anew; 0 for no test.
    rng : int or numpy Generator, optional
        The seed.

    Returns
    -------
    RaterMap

    Raises
    ------
    DataError
        There is one rater, or no two raters share units, or there are more than 2,000 raters.
    OptionError
        An option is out of its range.

    References
    ----------
    Torgerson (1952) for the scaling, Rousseeuw (1987) for silhouettes.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([
    ...     (rater, unit, "ab"[(unit + (rater > "c")) % 2] if unit < 8 else "c")
    ...     for rater in "abcdef" for unit in range(12)
    ... ])
    >>> result = rater_map(study, rng=1)
    >>> result.camps, result.silhouette
    ([['a', 'b', 'c'], ['d', 'e', 'f']], 1.0)
    >>> result.verdict
    '2 camps of 3 and 3 raters (p = .005).'
    """
    study = known_plain(study, "rater_map")
    check_least("min_shared", min_shared, 1)
    check_least("n_resamples", n_resamples, 0)
    if n_clusters is not None:
        check_least("n_clusters", n_clusters, 1)
    generator = as_generator(rng)
    _check_raters(study)
    compared = case_of(study, distance)
    pairs = SharedPairs(study, compared.weights)
    placed = _connected(pairs.counts >= min_shared)
    if len(placed) < 2:
        raise DataError(
            f"no two raters share {counted(min_shared, 'unit')}; a map needs pairs of raters who "
            "rated the same units."
        )
    if n_clusters is not None and n_clusters > len(placed):
        raise OptionError(f"n_clusters={n_clusters} is more than the {len(placed)} mapped raters.")
    chart = _Chart(pairs, min_shared, placed, n_clusters)
    null = _null(chart, n_resamples if chart.parted else 0, generator)
    units = unit_camps(study, compared.weights)
    return _assembled(study, compared.name, chart, null, units)


def _check_raters(study: Annotations) -> None:
    if study.n_raters > _MOST_RATERS:
        raise DataError(
            f"a map has a distance between any two raters; {study.n_raters:,} raters are too many "
            f"(the limit is {_MOST_RATERS:,}). Keep those with the most ratings."
        )


def _null(chart: _Chart, n_resamples: int, generator: np.random.Generator) -> Floats:
    """Return the mean silhouettes where the answers to each unit are dealt out anew."""
    pairs = chart.pairs
    check_drawing(n_resamples, pairs.n_steps + LOOPED)
    long = n_resamples * pairs.n_steps > _LONG_WORK
    rounds = track(range(n_resamples), total=n_resamples, what="reshuffles", long=long)
    dealt = (chart.disagreement(pairs.dealt(generator)) for _ in rounds)
    return np.array([chart.clusters(one).silhouette for one in dealt], dtype=float)


@dataclass(frozen=True, eq=False)
class _Chart:
    """What stays the same when answers are dealt out anew; `placed` can have a place on the map."""

    pairs: SharedPairs
    min_shared: int
    placed: Codes
    n_clusters: int | None

    @property
    def parted(self) -> bool:
        """Whether clusters are looked for at all."""
        if self.n_clusters is not None:
            return self.n_clusters > 1
        return len(self.placed) >= 4

    def means(self, raters: Codes) -> Floats:
        """Return the mean distances of all raters; nan where they share too little."""
        shared = self.pairs.counts
        out = np.full(shared.shape, np.nan)
        np.divide(self.pairs.sums(raters), shared, out=out, where=shared >= self.min_shared)
        np.fill_diagonal(out, 0)
        return out

    def disagreement(self, raters: Codes) -> Floats:
        """Return the mean distances over what chance gives, 2 at most; nan where means are.

        On the same units kappa of two raters is seldom below -1. In the few units that two raters
        share they may differ far more than what is expected of all their answers.
        """
        means, by_chance = self.means(raters), self.pairs.by_chance(raters)
        # Two raters who only ever gave one answer agree fully.
        out = np.where(np.isnan(means), np.nan, 0.0)
        np.divide(means, by_chance, out=out, where=(by_chance > ROUNDING) & (means > 0))
        return np.minimum(out, 2)

    def complete(self, disagreement: Floats) -> Floats:
        """Return how far the placed raters are apart, the missing pairs by way of others."""
        D = disagreement[np.ix_(self.placed, self.placed)]
        return by_way_of_others(D) if np.isnan(D).any() else D

    def clusters(self, disagreement: Floats) -> Partition:
        """Return the clusters of the placed raters."""
        D = self.complete(disagreement)
        n = len(D)
        if not self.parted:
            return Partition(np.ones(n, dtype=np.int64), np.full(n, np.nan))
        tree = linkage_of(D)
        if self.n_clusters is not None:
            return cut(tree, D, self.n_clusters)
        return best_cut(tree, D, min(_MOST_CLUSTERS, n - 1))


def _assembled(
    study: Annotations, distance: str, chart: _Chart, null: Floats, units: pd.DataFrame
) -> RaterMap:
    raters = pd.Index(study.raters, name="rater", dtype=object, tupleize_cols=False)
    others = raters.rename("other")
    means, apart = (find(chart.pairs.raters) for find in (chart.means, chart.disagreement))
    D, partition = chart.complete(apart), chart.clusters(apart)
    points, explained = classical_scaling(D)
    bridged = int(np.isnan(means[np.ix_(chart.placed, chart.placed)]).sum() // 2)
    columns = {
        "x": _spread(points[:, 0], chart, np.nan),
        "y": _spread(points[:, 1], chart, np.nan),
        "cluster": _spread(partition.labels, chart, 0),
        "silhouette": _spread(partition.silhouettes, chart, np.nan),
        "mean_distance": _mean_to_others(means),
        "n_ratings": np.bincount(study.rater_codes, minlength=study.n_raters),
    }
    return RaterMap(
        distance,
        pd.DataFrame(means, index=raters, columns=others),
        pd.DataFrame(apart, index=raters, columns=others),
        pd.DataFrame(chart.pairs.counts.astype(np.int64), index=raters, columns=others),
        pd.DataFrame(columns, index=raters),
        linkage_of(D),
        explained,
        bridged,
        partition.silhouette,
        null,
        units,
    )


def _spread(each: np.ndarray, chart: _Chart, absent: float) -> np.ndarray:
    """Return what the placed raters have, for all raters."""
    out = np.full(chart.pairs.study.n_raters, absent, dtype=each.dtype)
    out[chart.placed] = each
    return out


def _mean_to_others(means: Floats) -> Floats:
    """Return the mean of the known distances of each rater to others; nan where there are none."""
    known = np.isfinite(means) & ~np.eye(len(means), dtype=bool)
    n = known.sum(axis=1)
    out = np.full(len(means), np.nan)
    return np.asarray(np.divide(np.where(known, means, 0).sum(axis=1), n, out=out, where=n > 0))


def _connected(known: np.ndarray) -> Codes:
    """Return the largest group of raters who are joined by shared units, directly or not."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, group = connected_components(csr_array(known), directed=False)
    return np.flatnonzero(group == np.bincount(group).argmax())

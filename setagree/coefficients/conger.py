"""Conger's kappa, with one urn per rater, as far as it differs from coefficients with one urn.

pe = sum_kl w_kl (pbar_k pbar_l - s2_kl / r) (Conger 1980; Gwet 2014, ch. 5), with p_g the shares of
the values in the answers of rater g: the mean of p_g' W p_h over pairs of raters. For two raters
this is Cohen's kappa.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from setagree.coefficients.chance import Case, Codes, Floats, Rated
from setagree.coefficients.chance_models import Model, beyond_rounding, quadratic
from setagree.credit.base import neighbours
from setagree.credit.within_groups import spread_within_groups


@dataclass(frozen=True)
class UrnOfEachRater(Model):
    """An urn for each rater, with that rater's own shares p_g (Conger 1980; two raters: Cohen)."""

    needs_raters: ClassVar[bool] = True

    def chance(self, case: Case, totals: Iterable[Floats], weight: Floats | None = None) -> Floats:
        """Return 1 - pe of each world, from blocks of totals of shape (K, raters, B).

        `weight`, of shape (raters, B), is the number of times that each rater counts, in a single
        block; copies of one rater do not form a pair. A rater without an answer in a sample is
        left out of it.
        """
        both: Floats = np.zeros(1)
        pooled, own, count, squares = 0.0, 0.0, 0.0, 0.0
        for block in totals:
            given = block.sum(axis=0)
            w = (given > 0) * (1.0 if weight is None else weight)
            shares = block / np.where(given > 0, given, 1)
            pooled = pooled + (shares * w).sum(axis=1)
            apart = quadratic(case.weights, shares.reshape(len(block), -1)).reshape(given.shape)
            own = own + (apart * w**2).sum(axis=0)
            count, squares = count + w.sum(axis=0), squares + (w**2).sum(axis=0)
        # 1 - pe = (sum_gh p_g' D p_h - sum_g p_g' D p_g) / (r (r - 1) d_max)
        both = quadratic(case.weights, np.asarray(pooled))
        pairs = np.asarray(count**2 - squares)
        pairs = np.where(pairs > 0, pairs, np.nan) * case.weights.max_distance
        return np.asarray(beyond_rounding(both - own, both) / pairs)

    def linearised(self, case: Case) -> tuple[float, Floats]:
        """Return 1 - pe of a study, and of each row (Gwet 2014, ch. 5).

        z_g = sum_{h != g} D p_h / d_max is needed only at the values that g gave. NaN if there is
        one rater.
        """
        rated, n = case.rated, float(case.mass.sum())
        r, g = rated.n_raters, rated.rater_codes
        if r < 2:
            return float("nan"), np.full(len(rated.row_times), np.nan)
        each, z = self._to_others(case)
        z_mean = np.asarray(np.bincount(g, z * each, r), dtype=np.float64)
        y = float(z_mean.sum()) / (r * (r - 1))
        # Linearised: sum_g n/n_g 1[g rated i] (z_g(v_ig) - mean of z_g), around the mean.
        if rated.strata is None:
            gap = (z - z_mean[g]) * n / rated.ratings[g]
            moves = np.asarray(np.bincount(rated.row_codes, gap, len(rated.row_times)), dtype=float)
        else:
            moves = _stratified_moves(rated, z, z_mean, n)
        return y, y + moves / (r * (r - 1))

    def _to_others(self, case: Case) -> tuple[Floats, Floats]:
        """Return t_ig / n_g of each rating, and z_g = sum_{h != g} D p_h / d_max at its value."""
        rated, weights = case.rated, case.weights
        each = rated.times * (1 / rated.ratings)[rated.rater_codes]
        shares = np.bincount(rated.value_codes, each, weights.n_values).astype(np.float64)
        own = spread_within_groups(
            rated.rater_codes,
            rated.value_codes,
            n_groups=rated.n_raters,
            weights=weights,
            times=rated.times,
        )
        return each, (weights.distance_dot(shares)[rated.value_codes] - own) / weights.max_distance

    def in_parts(self, case: Case, of_row: Codes, n_parts: int) -> tuple[Floats, Floats]:
        """Return 1 - pe of parts of the rows, and share_i c_i' F X of each row up to a constant.

        As in `linearised`, with the raters of each part.
        """
        rated, weights = case.rated, case.weights
        part, values = of_row[rated.row_codes], rated.value_codes
        keys = part.astype(np.int64) * rated.n_raters + rated.rater_codes
        people, who = np.unique(keys, return_inverse=True)
        one = 1 / np.bincount(who)[who]
        r = np.bincount((people // rated.n_raters).astype(np.intp), minlength=n_parts)
        pairs = np.where(r > 1, r * (r - 1.0), np.nan)
        z = r[part] * spread_within_groups(
            part, values, n_groups=n_parts, weights=weights, times=one
        )
        z -= spread_within_groups(who, values, n_groups=len(people), weights=weights)
        z /= weights.max_distance
        y = np.bincount(part, z * one, n_parts) / pairs
        gap = (z - np.bincount(who, z * one)[who]) * one
        n = np.bincount(of_row, minlength=n_parts)
        return y, np.bincount(rated.row_codes, gap, len(of_row)) * (n**2 / pairs)[of_row]

    def of_values(self, case: Case) -> Floats:
        """Return 1 - pe of a row whose answers are all k, of shape (K,).

        sum_g z_g(k) / (r (r - 1)), where the own shares of g drop out: D pbar / d_max.
        """
        rated, weights = case.rated, case.weights
        each = rated.times / rated.ratings[rated.rater_codes] / rated.n_raters
        shares = np.bincount(rated.value_codes, each, weights.n_values).astype(np.float64)
        return np.asarray(weights.distance_dot(shares) / weights.max_distance)

    def reweighted(self, case: Case, times: Floats) -> Floats:
        """Return 1 - pe of samples in which rows count so many times, of shape (B, n_rows)."""
        rated, K = case.rated, case.weights.n_values

        def totals() -> Iterator[Floats]:
            for g in range(rated.n_raters):
                yield (_answers_of(rated, g, K).T @ times.T)[:, None]

        return self.chance(case, totals())

    def without_units(self, case: Case) -> Floats:
        """Return 1 - pe without one unit of each row.

        A rater g of the unit moves from p_g to p_g + (p_g - e_v) / (n_g - 1), with e_v the value
        given; one without another rating moves to 0, and leaves one rater less.
        """
        rated, r, n = case.rated, case.rated.n_raters, len(case.rated.row_times)
        if r < 2 or case.tally.n_units <= 2:
            return np.full(n, np.nan)
        g, v, u, ratings = rated.rater_codes, rated.value_codes, rated.row_codes, rated.ratings
        shares = np.zeros((case.weights.n_values, r))
        np.add.at(shares, (v, g), rated.times * (1 / ratings)[g])
        spread = case.weights.distance_dot(shares)
        only = ratings[g] == 1
        step = np.where(only, 1.0, 1 / np.maximum(ratings[g] - 1, 1))
        stay = np.where(only, 0.0, step)
        between = _means_by_rater(spread, rated)
        others = spread.sum(axis=1)[v] - spread[v, g]
        toward = stay * (between.sum(axis=1) - np.diagonal(between))[g] - step * others
        total = float(between.sum() - np.trace(between))
        joint = _joint_moves(case, spread, between, stay=stay, step=step)
        raters = r - np.bincount(u, only, n)
        left = np.where(raters > 1, total + np.bincount(u, 2 * toward, n) + joint, np.nan)
        pairs = np.maximum(raters * (raters - 1), 1) * case.weights.max_distance
        return np.asarray(left / pairs)

    def without_raters(self, case: Case) -> Floats:
        """Return 1 - pe without each rater; the shares p_g of the others remain.

        sum_{g != h} p_g' D p_h less twice the part of the rater. NaN for fewer than three raters.
        """
        r, (each, z) = case.rated.n_raters, self._to_others(case)
        of_rater = np.bincount(case.rated.rater_codes, each * z, r)
        pairs = (r - 1) * (r - 2) if r > 2 else np.nan
        return np.asarray((of_rater.sum() - 2 * of_rater) / pairs)


def _stratified_moves(rated: Rated, z: Floats, z_mean: Floats, n: float) -> Floats:
    """Return sum_g n/n_g [zbar_gs - zbar_g + (t_ig / v_i) 1[g rated i] (z_ig - zbar_gs)] by row.

    zbar_gs is the mean of z over the units of stratum s that g rated, t_ig the weight of a rating
    and v_i that of a unit; a stratum that g did not rate adds nothing to the sum.
    """
    assert rated.strata is not None  # noqa: S101 - the caller has seen to it
    cells, at = np.unique(rated.cells, return_inverse=True)
    g, s = cells % rated.n_raters, cells // rated.n_raters
    means = np.bincount(at, z) / np.bincount(at)
    shift = np.bincount(s, (means - z_mean[g]) * n / rated.ratings[g], rated.strata.max() + 1)
    each = rated.times / rated.row_times[rated.row_codes] * (z - means[at])
    each *= n / rated.ratings[rated.rater_codes]
    return np.asarray(shift[rated.strata] + np.bincount(rated.row_codes, each, len(rated.strata)))


def _joint_moves(
    case: Case, spread: Floats, between: Floats, *, stay: Floats, step: Floats
) -> Floats:
    """Return, for each unit, the sum over pairs of its raters of move_g' D move_h.

    A rating moves its rater by stay p_g - step e_v.
    """
    rated, n = case.rated, len(case.rated.row_times)
    order = np.argsort(rated.row_codes, kind="stable")
    u, g, v = rated.row_codes[order], rated.rater_codes[order], rated.value_codes[order]
    stay, step, out = stay[order], step[order], np.zeros(n)
    for left, right in neighbours(u):
        joint = stay[left] * stay[right] * between[g[left], g[right]]
        joint -= stay[left] * step[right] * spread[v[right], g[left]]
        joint -= step[left] * stay[right] * spread[v[left], g[right]]
        joint += step[left] * step[right] * case.weights.distance_at(v[left], v[right])
        out += np.bincount(u[left], 2 * joint, n)
    return out


def _means_by_rater(spread: Floats, rated: Rated) -> Floats:
    """Return p_g' D p_h for all pairs of raters, of shape (r, r)."""
    g, v, times, r = rated.rater_codes, rated.value_codes, rated.times, rated.n_raters
    columns = [np.bincount(g, times * spread[v, h], r) / rated.ratings for h in range(r)]
    return np.stack(columns, axis=1)


def _answers_of(rated: Rated, g: int, n_values: int) -> Any:
    """Return the value of rater g in each row, as a sparse array of shape (n_rows, K)."""
    from scipy import sparse

    kept = np.flatnonzero(rated.rater_codes == g)
    return sparse.coo_array(
        (np.ones(len(kept)), (rated.row_codes[kept], rated.value_codes[kept])),
        shape=(len(rated.row_times), n_values),
    ).tocsr()

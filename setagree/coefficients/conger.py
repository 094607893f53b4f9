"""Conger's kappa, with one urn per rater, as far as it differs from coefficients with one urn.

pe = sum_kl w_kl (pbar_k pbar_l - s2_kl / r) (Conger 1980; Gwet 2014, ch. 5), with p_g the shares of
the values in the answers of rater g: the mean of p_g' W p_h over pairs of raters,

    y = sum_{g != h} p_g' D p_h / (r (r - 1) d_max).

For two raters this is Cohen's kappa. The observed disagreement is that of Fleiss' kappa.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from setagree.checks import Codes, Floats
from setagree.coefficients.case import Case
from setagree.coefficients.chance_models import Model, Totals, beyond_rounding, quadratic
from setagree.credit.base import neighbours, small_products
from setagree.credit.within_groups import distinct_keys, spread_within_groups


class _ToOthers(NamedTuple):
    """Distances of answers to those of the other raters of their part of a study.

    Attributes
    ----------
    part : ndarray of shape (n,)
        The part of each rater in a part.
    of_rating : ndarray of shape (n_ratings,)
        The rater in a part that gave each rating.
    share : ndarray of shape (n_ratings,)
        t_ig / n_g, the share of a rating in the ratings of its rater.
    z : ndarray of shape (n_ratings,)
        z_g = sum_{h != g} D p_h / d_max at the value of each rating.
    mean : ndarray of shape (n,)
        zbar_g = p_g' z_g.
    """

    part: Codes
    of_rating: Codes
    share: Floats
    z: Floats
    mean: Floats


@dataclass(frozen=True)
class UrnOfEachRater(Model):
    """An urn for each rater, with that rater's own shares p_g (Conger 1980; two raters: Cohen)."""

    needs_raters: ClassVar[bool] = True

    def of_samples(self, case: Case, totals: Totals, own: Any = 0.0, weight: Any = None) -> Floats:  # noqa: ARG002
        """Return 1 - pe of each sample.

        `weight`, of shape (raters, B), is the number of times that each rater counts, in a single
        block; copies of one rater do not form a pair. A rater without an answer in a sample is
        left out of it.
        """
        pooled, self_pairs, count, squares = 0.0, 0.0, 0.0, 0.0
        for block in totals:
            n_g = block.sum(axis=0)
            w = (n_g > 0) * (1.0 if weight is None else weight)
            p = block / np.where(n_g > 0, n_g, 1)
            pooled = pooled + (p * w).sum(axis=1)
            apart = quadratic(case.weights, p.reshape(len(block), -1)).reshape(n_g.shape)
            self_pairs = self_pairs + (apart * w**2).sum(axis=0)
            count, squares = count + w.sum(axis=0), squares + (w**2).sum(axis=0)
        # sum_{g != h} p_g' D p_h = (sum_g p_g)' D (sum_g p_g) - sum_g p_g' D p_g
        both = quadratic(case.weights, np.asarray(pooled))
        pairs = np.asarray(count**2 - squares)
        pairs = np.where(pairs > 0, pairs, np.nan) * case.weights.max_distance
        return np.asarray(beyond_rounding(both - self_pairs, both) / pairs)

    def _to_others(self, case: Case, of_row: Codes, n_parts: int) -> _ToOthers:
        rated, weights = case.rated, case.weights
        v = rated.value_codes
        part: Any = of_row.astype(np.int64)[rated.row_codes] if n_parts > 1 else np.int64(0)
        keys = part * rated.n_raters + rated.rater_codes
        found, g = distinct_keys(keys, n_parts * rated.n_raters)
        owner = (found // rated.n_raters).astype(np.intp)
        share = rated.times / np.bincount(g, rated.times)[g]
        # z_g = (sum_h D p_h - D p_g) / d_max
        if n_parts == 1:
            shares = np.bincount(v, share, weights.n_values).astype(np.float64)
            z = weights.distance_dot(shares)[v]
        else:  # r times the mean of the p_h is their sum
            r = np.bincount(owner, minlength=n_parts)[part]
            z = r * spread_within_groups(part, v, n_groups=n_parts, weights=weights, times=share)
        z -= spread_within_groups(g, v, n_groups=len(found), weights=weights, times=rated.times)
        z /= weights.max_distance
        return _ToOthers(owner, g, share, z, np.bincount(g, z * share, len(found)).astype(float))

    def in_parts(self, case: Case, of_row: Codes, n_parts: int) -> tuple[Floats, Floats]:
        """Return y of parts of the rows, and y_i - y of each row (Gwet 2014, ch. 5).

        y_i - y = sum_g n / n_g 1[g rated i] (z_g(v_ig) - zbar_g) / (r (r - 1)). NaN for a part of
        one rater.
        """
        rated, out = case.rated, self._to_others(case, of_row, n_parts)
        r = np.bincount(out.part, minlength=n_parts)
        pairs = np.where(r > 1, r * (r - 1.0), np.nan)
        mean, shift = out.mean[out.of_rating], np.zeros(1)
        if rated.strata is not None:
            # zbar_gs over the units of stratum s that g rated: the sum for a unit of s is that of
            # n / n_g [zbar_gs - zbar_g + (t_ig / v_i) 1[g rated i] (z_ig - zbar_gs)]
            cells, at = np.unique(rated.cells, return_inverse=True)
            g, of_cell = cells % rated.n_raters, np.bincount(at, out.z) / np.bincount(at)
            gap = (of_cell - out.mean[g]) / rated.ratings[g]
            shift = np.bincount(cells // rated.n_raters, gap).astype(float)[rated.strata]
            mean = of_cell[at]
        gap = out.share * (out.z - mean) / rated.row_times[rated.row_codes]
        moves = shift + np.bincount(rated.row_codes, gap, len(of_row))
        n = np.bincount(of_row, rated.row_times, n_parts)
        return np.bincount(out.part, out.mean, n_parts) / pairs, moves * (n / pairs)[of_row]

    def of_rows(self, case: Case) -> tuple[float, Floats]:
        """Return y of a study, and y_i of each row."""
        y, moves = self.in_parts(case, np.zeros(len(case.rated.row_times), dtype=np.intp), 1)
        return float(y[0]), y + moves

    def of_values(self, case: Case) -> Floats:
        """Return 1 - pe of a row whose answers are all k, of shape (K,).

        sum_g z_g(k) / (r (r - 1)), where the own shares of g drop out: D pbar / d_max.
        """
        rated, weights = case.rated, case.weights
        each = rated.times / rated.ratings[rated.rater_codes] / rated.n_raters
        shares = np.bincount(rated.value_codes, each, weights.n_values).astype(np.float64)
        return np.asarray(weights.distance_dot(shares) / weights.max_distance)

    def without_raters(self, case: Case) -> Floats:
        """Return 1 - pe without each rater; the shares p_g of the others remain.

        sum_g zbar_g less twice that of the rater. NaN for fewer than three raters.
        """
        r = case.rated.n_raters
        mean = self._to_others(case, np.zeros(len(case.rated.row_times), dtype=np.intp), 1).mean
        pairs = (r - 1) * (r - 2) if r > 2 else np.nan
        return np.asarray((mean.sum() - 2 * mean) / pairs)

    def without_units(self, case: Case) -> Floats:
        """Return 1 - pe without one unit of each row.

        A rater g of the unit moves from p_g by m_g = (p_g - e_v) / (n_g - 1), with e_v the value
        given; one without another rating moves to 0, and leaves one rater less. The sum of p_g' D
        p_h over pairs of raters then changes by 2 sum_g m_g' D (sum_h p_h - p_g) and, over pairs of
        raters of the unit, by sum_{g != h} m_g' D m_h.
        """
        rated, r, n = case.rated, case.rated.n_raters, len(case.rated.row_times)
        if r < 2 or case.tally.n_units <= 2:
            return np.full(n, np.nan)
        g, v, u, K = rated.rater_codes, rated.value_codes, rated.row_codes, case.weights.n_values
        n_g = rated.ratings[g]
        at = v.astype(np.intp) * r + g  # an index of the dense array p
        p = np.bincount(at, rated.times / n_g, K * r).astype(float).reshape(K, r)
        D_p = case.weights.distance_dot(p)
        between = small_products(p.T, D_p)  # p_g' D p_h
        only = n_g == 1
        step = np.where(only, 1.0, 1 / np.maximum(n_g - 1, 1))
        stay = np.where(only, 0.0, step)  # m_g = stay p_g - step e_v
        toward = stay * (between.sum(axis=1) - np.diagonal(between))[g]
        toward -= step * (D_p.sum(axis=1)[v] - D_p[v, g])
        left = between.sum() - np.trace(between) + np.bincount(u, 2 * toward, n)
        order = np.argsort(u, kind="stable")
        for one, two in neighbours(u[order]):
            i, j = order[one], order[two]
            joint = stay[i] * stay[j] * between[g[i], g[j]] - stay[i] * step[j] * D_p[v[j], g[i]]
            joint -= step[i] * stay[j] * D_p[v[i], g[j]]
            joint += step[i] * step[j] * case.weights.distance_at(v[i], v[j])
            left += np.bincount(u[i], 2 * joint, n)
        raters = r - np.bincount(u, only, n)
        pairs = np.maximum(raters * (raters - 1), 1) * case.weights.max_distance
        return np.asarray(np.where(raters > 1, left, np.nan) / pairs)

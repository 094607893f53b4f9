"""Half the mean distance of pairs of ratings that share a unit, a rater, or neither."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setagree.coefficients.chance import Floats
from setagree.coefficients.within_raters import spread_within_groups
from setagree.credit.base import Weights, sums_to_others
from setagree.study.annotations import Annotations

_NAMES = ("unit", "rater", "residual")


@dataclass(frozen=True, eq=False)
class Components:
    """Half the mean distance of three kinds of pairs; arrays where parts are left out.

    Attributes
    ----------
    A : ndarray
        Of two ratings of one unit.
    B : ndarray
        Of two ratings by one rater.
    T : ndarray
        Of two ratings of different units by different raters.
    """

    A: Floats
    B: Floats
    T: Floats

    @property
    def by_name(self) -> dict[str, Floats]:
        """Unit = T - A, rater = T - B, residual = A + B - T."""
        return dict(
            zip(_NAMES, (self.T - self.A, self.T - self.B, self.A + self.B - self.T), strict=True)
        )

    def dependability(self, m: int) -> Floats:
        """Phi_m = u / (u + (r + e) / m); a component below 0 counts as 0."""
        u, r, e = (np.maximum(one, 0.0) for one in self.by_name.values())
        return _ratio(u, u + (r + e) / m)

    def generalizability(self, m: int) -> Floats:
        """E rho²_m = u / (u + e / m)."""
        u, _, e = (np.maximum(one, 0.0) for one in self.by_name.values())
        return _ratio(u, u + e / m)


class PairSums:
    """Sums of distances over pairs of ratings, and what each unit and rater adds to them.

    S is that of all ordered pairs of ratings, S_u of those of one unit, S_g of those by one rater.
    """

    def __init__(self, study: Annotations, weights: Weights) -> None:
        self.study = study
        u, g, v = study.unit_codes, study.rater_codes, study.value_codes
        totals = np.bincount(v, minlength=weights.n_values).astype(np.float64)
        self.r = np.bincount(u, minlength=study.n_units).astype(np.float64)
        self.N_g = np.bincount(g, minlength=study.n_raters).astype(np.float64)
        self.to_all = weights.distance_dot(totals)[v]
        shares = spread_within_groups(g, v, n_groups=study.n_raters, weights=weights)
        self.to_rater = shares * self.N_g[g]
        order = np.argsort(u, kind="stable")
        self.to_unit = np.empty(len(v))
        self.to_unit[order] = sums_to_others(u[order], v[order], np.ones(len(v)), weights)

    def whole(self) -> Components:
        """Return the components of all ratings."""
        S, S_u, S_g = (float(x.sum()) for x in (self.to_all, self.to_unit, self.to_rater))
        r, N_g = self.r, self.N_g
        return _components(S, S_u, S_g, r.sum(), (r**2).sum(), (N_g**2).sum())

    def without_units(self) -> Components:
        """Return the components without each unit: one entry a unit."""
        u, g, n = self.study.unit_codes, self.study.rater_codes, self.study.n_units
        r, N_g = self.r, self.N_g
        S_i, q = (np.bincount(u, x, n) for x in (self.to_all, self.to_unit))
        # A rater has one rating of a unit, which is at 0 from itself.
        S_g = self.to_rater.sum() - 2 * np.bincount(u, self.to_rater, n)
        squares = (N_g**2).sum() - np.bincount(u, (2 * N_g - 1)[g], n)
        return _components(
            self.to_all.sum() - 2 * S_i + q,
            self.to_unit.sum() - q,
            S_g,
            r.sum() - r,
            (r**2).sum() - r**2,
            squares,
        )

    def without_raters(self) -> Components:
        """Return the components without each rater: one entry a rater."""
        u, g, n = self.study.unit_codes, self.study.rater_codes, self.study.n_raters
        r, N_g = self.r, self.N_g
        S_i, own, q = (np.bincount(g, x, n) for x in (self.to_all, self.to_rater, self.to_unit))
        squares = (r**2).sum() - np.bincount(g, (2 * r - 1)[u], n)
        return _components(
            self.to_all.sum() - 2 * S_i + own,
            self.to_unit.sum() - 2 * q,
            self.to_rater.sum() - own,
            r.sum() - N_g,
            squares,
            (N_g**2).sum() - N_g**2,
        )


def _components(
    S: npt.ArrayLike,
    S_u: npt.ArrayLike,
    S_g: npt.ArrayLike,
    N: npt.ArrayLike,
    r2: npt.ArrayLike,
    N2: npt.ArrayLike,
) -> Components:
    """Return A, B and T from sums over ordered pairs and the squared sizes of units and raters."""
    S, S_u, S_g, N, r2, N2 = (np.asarray(x, dtype=np.float64) for x in (S, S_u, S_g, N, r2, N2))
    return Components(
        _ratio(S_u, 2 * (r2 - N)),
        _ratio(S_g, 2 * (N2 - N)),
        _ratio(S - S_u - S_g, 2 * (N**2 - r2 - N2 + N)),
    )


def _ratio(x: Floats, y: Floats) -> Floats:
    """Return x / y; nan where y is 0."""
    out = np.full(np.shape(x), np.nan)
    return np.asarray(np.divide(x, y, out=out, where=np.asarray(y) > 0))

"""Alpha of units with sizes in documents: pairs of one rater, and Fieller's interval.

Two answers of one rater in one document are alike, because labelled spans are long. The expected
disagreement of two unrelated answers leaves all such pairs out:

    De = (n' D n - b) / (T² - c),    T = sum_i w_i r_i,
    b = sum_gd m_gd' D m_gd,    c = sum_gd (1' m_gd)²,

with n the sizes w_i by value, over all pairable units, and m_gd those of rater g in document d.
Under ``chance="characters"`` b = 0 and c = T: a unit of size w is w units, and only pairs of a
rating with itself are left out. All sums are additive over units, and so over documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from setagree.checks import Codes, Floats
from setagree.coefficients.case import ROUNDING, Case, dot
from setagree.coefficients.tails import t_tail
from setagree.credit.within_groups import group_spread


class SameRater(NamedTuple):
    """Sums over the pairs of answers of one rater in one document, by unit.

    Attributes
    ----------
    form, pairs : ndarray of shape (n_units,)
        b_i and c_i, with sums b and c and distances as shares of d_max.
    gone : ndarray of shape (n_units,)
        What c loses without the unit; b loses 2 b_i, as D has a zero diagonal.
    """

    form: Floats
    pairs: Floats
    gone: Floats

    @classmethod
    def of(cls, case: Case) -> SameRater | None:
        """Return the sums of a case, or None if its units have no sizes."""
        study, sample, tally, w = case.study, case.sample, case.tally, case.pairable_weights
        if study is None or sample is None or sample.groups is None or not sample.is_sized:
            return None
        N_i = w * (tally.pairable * tally.pattern_ratings)[tally.unit_patterns]
        if sample.design.chance == "characters":
            return cls(0 * N_i, N_i, N_i)
        rows = np.flatnonzero(tally.pairable[tally.unit_patterns][study.unit_codes])
        units, values = study.unit_codes[rows], study.value_codes[rows]
        documents = sample.groups[units].astype(np.int64)
        keys = documents * study.n_raters + study.rater_codes[rows]
        groups = np.unique(keys, return_inverse=True)[1]
        # m of each group and value in it, and D m
        cells, place = np.unique(groups * tally.n_values + values, return_inverse=True)
        m = np.bincount(place, w[units]).astype(np.float64)
        group, value = np.divmod(cells, tally.n_values)
        spread = group_spread(group, value, m, case.weights) / case.weights.max_distance
        total = np.bincount(groups, w[units])
        b_i, c_i = (
            np.bincount(units, w[units] * x, len(w)).astype(np.float64)
            for x in (spread[place], total[groups])
        )
        return cls(b_i, c_i, 2 * c_i - N_i * w)


def cluster_sums(groups: Codes, x: Floats, mass: Floats) -> tuple[Floats, float]:
    """Return (S_g - h_g sum S) / sqrt(1 - h_g) of each cluster, and the degrees of freedom of t.

    S_g = sum x_i and N_g = sum mass_i over the units of a cluster, h_g = N_g / N: `adjusted` with
    sizes in the place of numbers of units, Q_g = N_g. Clusters without a mass are left out. NaN
    for one cluster.
    """
    size = np.bincount(groups, mass).astype(np.float64)
    used = size > 0
    S, h = np.bincount(groups, x)[used], size[used] / size.sum()
    return adjusted(S - h * S.sum(), size[used], h)


def adjusted(S: Floats, Q_g: Floats, h: Floats) -> tuple[Floats, float]:
    """Return sqrt(c_g) S_g of each cluster, and its degrees of freedom of t.

    With Q_g the variance of S_g but for a factor, Q their sum, and h_g the weight of a cluster in
    the mean that S is taken from,

        c_g = Q_g / (Q_g (1 - 2 h_g) + h_g² Q),    df = Q² / sum_gh c_g c_h C_gh²,
        C_gh = [g = h] Q_g - Q_g h_h - h_g Q_h + h_g h_h Q,

    so that the sum of the squares is unbiased if units have equal variances. If Q_g and h_g are
    proportional this is CR2: c_g = 1 / (1 - h_g) (Bell & McCaffrey 2002).
    """
    Q = Q_g.sum()
    rest = Q_g * (1 - 2 * h) + h**2 * Q
    if not (rest > ROUNDING * Q).all():
        return np.full(len(Q_g), np.nan), 0.0
    c = Q_g / rest
    # sum_gh c_g c_h C_gh² with C_gh = Q h_g h_h - Q_g h_h - h_g Q_h off the diagonal, multiplied
    # out; on the diagonal c_g C_gg = Q_g.
    qq, qh, hh = dot(c * Q_g, Q_g), dot(c * Q_g, h), dot(c * h, h)
    total = 2 * qq * hh + 2 * qh**2 + Q**2 * hh**2 - 4 * Q * qh * hh
    off_diagonal = c * (Q * h**2 - 2 * Q_g * h)
    total += dot(Q_g, Q_g) - dot(off_diagonal, off_diagonal)
    return np.sqrt(c) * S, float(Q**2 / total)


@dataclass(frozen=True, eq=False)
class FiellerInterval:
    """Fieller's interval of alpha = 1 - Do / De over documents, and its p-value.

    Attributes
    ----------
    Do, De : float
        Observed and expected disagreement.
    o, e : ndarray of shape (n_documents,)
        Their deviations by document, whose squares add up to the variances.
    df : float
        Degrees of freedom of t.
    """

    Do: float
    De: float
    o: Floats
    e: Floats
    df: float

    def at(self, t: float) -> tuple[float, float]:
        """Return the ends at a quantile t: 1 - Do / De, with Do / De in (B ± sqrt(B² - A C)) / A.

        A = De² - t² e'e, B = Do De - t² o'e, C = Do² - t² o'o. If A <= 0 there is no upper limit of
        Do / De: the low end is then the smaller of alpha and -1, and the high end is 1.
        """
        Do, De, o, e, k = self.Do, self.De, self.o, self.e, t * t
        A, B, C = De**2 - k * dot(e, e), Do * De - k * dot(o, e), Do**2 - k * dot(o, o)
        if not A > 0:
            return min(1 - Do / De, -1.0), 1.0
        root = sqrt(max(0.0, B * B - A * C))
        return 1 - (B + root) / A, 1 - max(0.0, (B - root) / A)

    def p_value(self) -> float:
        """Return 2 P(t_df > |De - Do| / |o - e|), which inverts the interval."""
        error = float(np.linalg.norm(self.o - self.e))
        t = abs(self.De - self.Do) / error if error > 0 else inf
        return 2 * t_tail(self.df, t)

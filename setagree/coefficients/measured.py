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

import numpy as np

from setagree.checks import Floats, cached_property
from setagree.coefficients.case import dot
from setagree.coefficients.sums import Linearised, Sums, UnitSums, coefficient
from setagree.coefficients.tails import t_tail
from setagree.credit.within_groups import group_spread


class SizedAlpha(UnitSums):
    """The sums of alpha of a study whose units have sizes."""

    @cached_property
    def ratings(self) -> Floats:
        """N_i = w_i r_i of each unit; 0 if it is not pairable."""
        return self.case.pairable_weights * self.of_patterns[0].M[self.case.tally.unit_patterns]

    @cached_property
    def same_rater(self) -> tuple[Floats, Floats]:
        """b_i and c_i, with sums b and c, of each unit, with distances as shares of d_max."""
        case = self.case
        study, tally, w = case.study, case.tally, case.pairable_weights
        assert study is not None  # noqa: S101 - it has the sizes
        if not self.without_same_rater:
            return 0 * self.ratings, self.ratings
        rows = np.flatnonzero(tally.pairable[tally.unit_patterns][study.unit_codes])
        units, values = study.unit_codes[rows], study.value_codes[rows]
        documents = case.clusters[0][units].astype(np.int64)
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
        return b_i, c_i

    @property
    def without_same_rater(self) -> bool:
        """Whether the chance term leaves out all pairs of one rater in one document."""
        sample = self.case.sample
        return sample is not None and sample.design.chance == "documents"

    @cached_property
    def totals(self) -> Sums:
        """The five sums of the study, with c in the place of N."""
        return super().totals._replace(own=self.same_rater[1].sum())

    @cached_property
    def form(self) -> float:
        """X' F X - b."""
        return super().form - float(self.same_rater[0].sum())

    @property
    def _shrunk(self) -> float:
        return 1.0 if self.without_same_rater else super()._shrunk

    @cached_property
    def terms(self) -> tuple[Floats, Floats, Floats]:
        """N_i, dDo_i and dDe_i of each unit."""
        case, tally, (b_i, c_i), N_i = self.case, self.case.tally, self.same_rater, self.ratings
        at, S, Do, De = tally.unit_patterns, self.totals, self.totals.O / self.totals.M, self.y
        to_all = case.pairable_weights * (tally.pairable * self.to_urn)[at]
        dDo = N_i * (case.mean_disagreement[at] - Do) / S.M
        dDe = 2 * to_all - b_i - De * (2 * S.M * N_i - c_i)
        return N_i, dDo, dDe / (S.P**2 - S.own)

    @cached_property
    def linearised(self) -> Linearised:
        """The linearised values, by unit if pairs of one rater in one document are left out."""
        if self.undefined is not None or not self.without_same_rater:
            return super().linearised
        (size, dDo, dDe), w, y = self.terms, self.case.pairable_weights, self.y
        x, counted = self.totals.O / self.totals.M, (size > 0).astype(np.float64)
        dalpha = -dDo / y + x * dDe / y**2
        # alpha + W dalpha_i / w_i, whose sums by document over W are those of dalpha
        return Linearised(1 - x / y + dot(counted, w) * dalpha / w, counted, by_unit=True)

    def reweighted(self, times: Floats) -> Floats:
        """Return the coefficient of samples; b and c of each follow as two more columns."""
        times, (b, c) = times[:, : len(self.times)], times[:, len(self.times) :].T
        S = self.reweighted_totals(times)._replace(own=c)
        # y = (X' F X - b) / (P² - c)
        y = self.model.of_samples(self.case, self.urns(times), c)
        return coefficient(self.model, S, y - b / np.where(c < S.P**2, S.P**2 - c, np.nan))

    @property
    def weighted_units(self) -> tuple[Sums, Floats, Floats]:
        """What each unit adds to the sums, and z' F X and z' F z of what it adds to the urn."""
        gone, to_urn, own_form = super().weighted_units
        b_i, own = self.same_rater
        if self.without_same_rater:  # pairs with other units; those with itself are counted twice
            own = 2 * own - self.ratings * self.case.pairable_weights
        return gone._replace(own=own), to_urn, own_form + 2 * b_i  # D has a zero diagonal


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

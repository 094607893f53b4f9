"""Whether groups of units share one value of a coefficient, and which of them differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign, inf, sqrt
from typing import Any

import numpy as np

from setagree.coefficients.chance import ROUNDING, Codes, Floats
from setagree.coefficients.estimated import Estimated, estimated, units_drawn
from setagree.coefficients.score_interval import ScoreInterval
from setagree.errors import OptionError, listing, option
from setagree.inference.comparison import holm
from setagree.limits import MAX_SCORED_GROUPS
from setagree.scoring.intervals import FEWEST_RARER
from setagree.scoring.results import Agreement

COLUMNS = (
    *("difference", "difference_standard_error", "difference_p_value", "p_holm"),
    *("homogeneity_p_value", "tested_by", "no_test"),
)
"""The columns of the tests: of each group, and of all groups, the same in every row."""

MAX_TESTED_GROUPS = 30
"""Groups up to which each is tested against the others: the work grows with their square."""

_GRID = 41
"""Values of a0 among which the least sum is bracketed."""

_TOLERANCE = 1e-7
"""Precision of a0; that of the sum, which is flat at its least value, is about the square."""

_GOLDEN = (3 - sqrt(5)) / 2


class _CommonValue:
    """X(a0) = sum_g z_g(a0)² of some groups, with z_g that of the score test of a0.

    The values on a grid between the least and the greatest estimate are computed once.
    """

    def __init__(self, scores: Sequence[ScoreInterval]) -> None:
        self.scores, self.estimates = scores, np.array([score.estimate for score in scores])
        self.grid = np.linspace(self.estimates.min(), self.estimates.max(), _GRID)
        self.squares = np.array(
            [[self._square(g, a0) for a0 in self.grid] for g in range(len(scores))]
        )

    def _square(self, g: int, a0: float) -> float:
        return self.scores[g].z_against(a0, chance=False) ** 2

    def least(self, without: int | None = None) -> tuple[float, float]:
        """Return min X(a0), and a0, between the least and the greatest estimate of the groups."""
        some = [g for g in range(len(self.scores)) if g != without]
        low, high = self.estimates[some].min(), self.estimates[some].max()
        if high - low < 1e-12:
            return 0.0, float(low)
        sums = np.where(
            (self.grid >= low) & (self.grid <= high), self.squares[some].sum(axis=0), inf
        )
        k = int(sums.argmin())
        ends = self.grid[[max(k - 1, 0), min(k + 1, _GRID - 1)]].clip(low, high)
        return _least_between(lambda a0: sum(self._square(g, a0) for g in some), *ends.tolist())


def _least_between(f: Callable[[float], float], a: float, b: float) -> tuple[float, float]:
    """Return the least value of f in [a, b], and its place, by Brent's (1973) method.

    Parabolas through the three best points, and golden sections where these do not converge.
    """
    x = w = v = a + _GOLDEN * (b - a)
    fx = fw = fv = f(x)
    step = last = 0.0
    while max(x - a, b - x) > 2 * _TOLERANCE:
        r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
        top, bottom = (x - v) * q - (x - w) * r, 2 * (q - r)
        parabola = -top / bottom if bottom else inf
        if a < x + parabola < b and abs(parabola) < abs(last) / 2:
            last, step = step, parabola
        else:
            last = (b if 2 * x < a + b else a) - x
            step = _GOLDEN * last
        u = x + (step if abs(step) >= _TOLERANCE else copysign(_TOLERANCE, step))
        fu = f(u)
        if fu <= fx:
            a, b = (x, b) if u >= x else (a, x)
            v, fv, w, fw, x, fx = w, fw, x, fx, u, fu
            continue
        a, b = (u, b) if u < x else (a, u)
        if fu <= fw or w == x:
            v, fv, w, fw = w, fw, u, fu
        elif fu <= fv or v in (x, w):
            v, fv = u, fu
    return fx, x


_FEWEST_DF = {"clusters": 9, "units": 12}
"""Degrees of freedom of a group below which it has no Wald test. Of four groups alike, with fewer
one differed at 0.05 in 8% to 14% of simulated studies; with as many or more in 5% to 7%."""


def group_tests(
    whole: Agreement, groups: Sequence[Agreement], rows: Sequence[Codes], names: Sequence[Any]
) -> dict[str, Any]:
    """Return `COLUMNS` for groups of units.

    Parameters
    ----------
    whole : Agreement
        That of the study.
    groups : sequence of Agreement
        Those of the groups; none if there are too many to be scored one by one.
    rows : sequence of ndarray of int
        The ratings of each group.
    names : sequence
        The names of the groups.
    """
    out: dict[str, Any] = {name: np.full(len(rows), np.nan) for name in COLUMNS[:4]}
    out |= {"homogeneity_p_value": np.nan, "tested_by": None, "no_test": None}
    if len(groups) < len(rows):
        return out | {"no_test": f"there are more than {MAX_SCORED_GROUPS} groups"}
    sample = whole.case.sample
    if sample is not None and sample.cluster_strata is not None:
        raise OptionError(
            f"groups of clusters that were drawn from strata have no standard error here; omit "
            f"{option('strata')}."
        )
    tested = [g for g, group in enumerate(groups) if _is_testable(group)]
    if absent := [name for g, name in enumerate(names) if g not in tested]:
        few = "rarer answers" if sample is None else "degrees of freedom"
        out["no_test"] = f"left out, undefined or with too few {few}: {listing(absent)}"
    if len(tested) < 2:
        few = "fewer than two groups can be tested"
        return out | {"no_test": f"{few} ({out['no_test']})" if absent else few}
    if sample is None:
        found = score_tests([groups[g].inference.score for g in tested])
    else:
        domains = [_domain(groups[g], rows[g], whole) for g in tested]
        f = np.array([groups[g].degrees_of_freedom for g in tested])
        values = np.array([domain.value for domain in domains])
        found = wald_tests(values, _covariances(whole, domains), f)
    *each, p = found
    each.append(each[-1] if len(tested) == 2 else holm(each[-1]))
    for name, column in zip(COLUMNS[:4], each, strict=True):
        out[name][tested] = column
    return out | {"homogeneity_p_value": p, "tested_by": "score" if sample is None else "Wald"}


def _is_testable(group: Agreement) -> bool:
    """Return whether a group has an estimate whose uncertainty is known."""
    found = group.inference
    if (sample := group.case.sample) is not None:
        least = _FEWEST_DF["clusters" if sample.is_clustered else "units"] * (1 - ROUNDING)
        return bool(group.standard_error > 0 and group.degrees_of_freedom >= least)
    is_alike = group.standard_error == 0 and group.observed_disagreement > 0
    return found.score is not None and found.n_rarer >= FEWEST_RARER and not is_alike


def score_tests(scores: Sequence[Any]) -> tuple[Floats, Floats, Floats, float]:
    """Return difference, NaN and p of each group, and p of all groups.

    X, the least sum of all groups, has a chi-squared distribution with G - 1 degrees of freedom; X
    less the least sum of the other groups has one. A difference is that from the value a0 of these.
    """
    from scipy.special import chdtrc

    common, G = _CommonValue(scores), len(scores)
    X = common.least()[0]
    gaps, p, unknown = np.full((3, G), np.nan)
    for g in range(G if G <= MAX_TESTED_GROUPS else 0):
        least, a0 = common.least(without=g)
        gaps[g], p[g] = common.estimates[g] - a0, chdtrc(1, max(0.0, X - least))
    return gaps, unknown, p, float(chdtrc(G - 1, X))


def wald_tests(k: Floats, C: Floats, f: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Return difference, standard error and p of each group, and p of all groups.

    k, f : ndarray of shape (G,), estimates and degrees of freedom; C : (G, G), covariances.

    A group differs from the mean of the others, weighted by 1 / SE², by t with Satterthwaite's
    degrees of freedom. All have one value by Welch's (1951) F, with C in place of diag(SE²).
    """
    from scipy.special import fdtrc, stdtr

    G, variances = len(k), np.diag(C)
    w = 1 / variances
    M = np.eye(G) - (1 - np.eye(G)) * w / (w.sum() - w)[:, None]
    gaps, errors = M @ k, np.sqrt(np.einsum("gi,ij,gj->g", M, C, M))
    terms = M**2 * variances
    df = terms.sum(axis=1) ** 2 / (terms**2 / f).sum(axis=1)
    p = 2 * stdtr(df, -np.abs(gaps) / errors)
    off = k - w @ k / w.sum()
    solved = np.linalg.solve(C, np.stack([off, np.ones(G)], axis=1))
    between = float(off @ solved[:, 0] - solved[:, 0].sum() ** 2 / solved[:, 1].sum()) / (G - 1)
    L = float(((1 - w / w.sum()) ** 2 / f).sum())
    F = between / (1 + 2 * (G - 2) * L / (G**2 - 1))
    return gaps, errors, p, float(fdtrc(G - 1, (G**2 - 1) / (3 * L), F))


def _domain(part: Agreement, rows: Codes, whole: Agreement) -> Estimated:
    """Return the estimate of a group with its deviations by unit, or by cluster, of the study."""
    assert whole.study is not None  # noqa: S101 - it was drawn
    places = np.unique(whole.study.unit_codes[rows])
    return estimated(part.parts, places, whole.case.sample)


def _covariances(whole: Agreement, domains: Sequence[Estimated]) -> Floats:
    """Return the covariances of groups of units, of shape (G, G).

    Of clusters sum psi_gc psi_hc. Of units -sum_s (1 - n_s / N_s) (sum u)_gs (sum u)_hs / (n_s - 1)
    for two groups: a stratum of which one has more units than chance would have it leaves fewer to
    the others.
    """
    sample, drawn = whole.case.sample, units_drawn(whole.parts)
    variances = np.array([domain.variance for domain in domains])
    if sample is not None and sample.is_clustered:
        psi = np.zeros((len(domains), 1 + max(int(d.units.max()) for d in domains)))
        for row, domain in zip(psi, domains, strict=True):
            row[domain.units] = domain.deviations
        return np.asarray(psi @ psi.T)
    if sample is None or drawn is None:
        return np.diag(variances)
    sums = np.array([domain.stratum_sums for domain in domains])
    n = np.array([drawn[name] for name in sample.names])
    each = (1 - np.minimum(n / sample.sizes, 1)) / np.maximum(n - 1, 1)
    out = np.asarray(-(sums * each) @ sums.T)
    np.fill_diagonal(out, variances)
    return out

"""Every coefficient without one unit, in closed form.

What is undefined without it is nan; so is a chance term that one unit left would have to show.
Leaving out a unit with counts c changes a quadratic form n' D n by - 2 c' D n + c' D c, and c' D c
is the unit's own disagreement q. The distance stays that of the full study. Each function returns
one number a pattern (for Conger, a unit where the study is in memory).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from setagree.coefficients.chance import NOTHING, Case, Floats, Rated, reach
from setagree.coefficients.kappas import ac_scale, uniform_chance
from setagree.coefficients.replicates import (
    Replicates,
    alpha_replicates,
    beyond_rounding,
    conger_replicates,
    fleiss_replicates,
    one_minus,
)

_LOST = 1e-6
"""A share of the whole study's chance term below which what is left of it is computed anew."""


def alpha_without(case: Case) -> Floats:
    """Return Krippendorff's alpha without one unit of each pattern."""
    tally, weights = case.tally, case.weights
    used = tally.pairable
    m = tally.multiplicity * used
    r = np.where(used, tally.pattern_ratings, 0.0)
    q = np.where(used, case.disagreement, 0.0)
    each = q / np.maximum(r - 1, 1)
    totals = tally.value_totals(m)
    spread = weights.distance_dot(totals)
    N = float(m @ r) - r
    whole = float(totals @ spread)
    pairs = whole - 2 * r * tally.pattern_means(spread) + q
    pairs *= tally.n_pairable_units - used != 1
    out = one_minus(float(m @ each) - each, pairs / np.maximum(N - 1, 1))
    rounding = NOTHING * reach(weights, totals) * float(totals.sum()) ** 2
    return _anew(case, out, pairs, whole, rounding, alpha_replicates)


def fleiss_without(case: Case) -> Floats:
    """Return Fleiss' kappa without one unit of each pattern."""
    tally, weights = case.tally, case.weights
    sums = tally.value_totals(tally.multiplicity / tally.pattern_ratings)
    spread = weights.distance_dot(sums)
    n = tally.n_units - 1
    own = case.disagreement / tally.pattern_ratings**2
    whole = float(sums @ spread)
    pairs = (whole - 2 * tally.pattern_means(spread) + own) * (n != 1)
    chance = pairs / (max(n, 1) ** 2 * weights.max_distance)
    rounding = NOTHING * reach(weights, sums) * float(sums.sum()) ** 2
    out = one_minus(_observed_without(case), chance)
    return _anew(case, out, pairs, whole, rounding, fleiss_replicates)


def ac_without(case: Case) -> Floats:
    """Return Gwet's AC without one unit of each pattern."""
    tally = case.tally
    sums = tally.value_totals(tally.multiplicity / tally.pattern_ratings)
    n = max(tally.n_units - 1, 1)
    own = np.bincount(tally.rows, tally.counts**2, tally.n_patterns) / tally.pattern_ratings**2
    squares = float(sums @ sums) - 2 * tally.pattern_means(sums) + own
    chance = beyond_rounding(1 - ac_scale(case.weights) * (1 - squares / n**2), 1.0)
    return one_minus(_observed_without(case), chance * (n != 1))


def brennan_prediger_without(case: Case) -> Floats:
    """Return the Brennan-Prediger coefficient without one unit of each pattern."""
    chance = np.full(case.tally.n_patterns, uniform_chance(case.weights))
    return one_minus(_observed_without(case), chance)


def percent_without(case: Case) -> Floats:
    """Return the percent agreement without one unit of each pattern."""
    return one_minus(_observed_without(case), np.ones(case.tally.n_patterns))


def conger_without(case: Case) -> Floats:
    """Return Conger's kappa without one unit of each row.

    A rater g of the unit moves from p_g to p_g + (p_g - e_v) / (n_g - 1), with e_v the value given;
    one who gave no other rating moves to 0, and leaves one rater less.
    """
    rated, r = case.rated, case.rated.n_raters
    n = len(rated.row_times)
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
    chance = left / (np.maximum(raters * (raters - 1), 1) * case.weights.max_distance)
    out = one_minus(_observed_without(case)[rated.patterns], chance)
    rounding = NOTHING * reach(case.weights, shares.sum(axis=1)) * r**2
    return _anew(case, out, left, total, rounding, conger_replicates)


def _anew(
    case: Case,
    out: Floats,
    left: Floats,
    whole: float,
    rounding: float,
    replicates: Callable[[Case], Replicates],
) -> Floats:
    """Compute by itself each row whose chance term has lost its digits in the subtraction."""
    if not whole > rounding or case.tally.n_units == 1:
        return np.full(len(out), np.nan)
    lost = np.flatnonzero(left <= max(_LOST * whole, rounding))
    if lost.size:
        evaluate = replicates(case)
        by_row = replicates is conger_replicates
        once = case.rated.row_times if by_row else case.tally.multiplicity
        for row in lost:
            out[row] = evaluate((once - (np.arange(len(out)) == row))[None, :])[0]
    return out


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
    left, shift = np.arange(len(u)), 0
    while left.size:
        shift += 1
        left = left[left + shift < len(u)]
        left = left[u[left + shift] == u[left]]
        right = left + shift
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


def _observed_without(case: Case) -> Floats:
    """Return 1 - pa without one unit of each pattern; nan where no pairable unit is left."""
    tally = case.tally
    left = tally.n_pairable_units - tally.pairable
    total = float(tally.multiplicity @ np.where(tally.pairable, case.mean_disagreement, 0.0))
    out = np.full(tally.n_patterns, np.nan)
    return np.asarray(np.divide(total - case.mean_disagreement, left, out=out, where=left > 0))

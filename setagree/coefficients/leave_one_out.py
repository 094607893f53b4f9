"""Every coefficient without one unit, in closed form.

What is undefined without it is nan; so is a chance term that one unit left would have to show.
Leaving out a unit with counts c changes a form x' F x by - 2 c' F x + c' F c. The distance stays
that of the full study.
"""

from __future__ import annotations

import numpy as np

from setagree.coefficients.chance import NOTHING, Case, Floats, Rated, reach
from setagree.coefficients.models import Fixed, Model, Urn, UrnOfEachRater, one_minus
from setagree.coefficients.replicates import replicates
from setagree.credit.pairs import neighbours

_LOST = 1e-6
"""A share of the whole study's chance term below which what is left of it is computed anew."""


def estimates_without(case: Case, model: Model) -> Floats | None:
    """Return the coefficient without one unit of each row; None where no closed form is known.

    Rows are patterns; for a model that asks who, units where the study is in memory.
    """
    match model:
        case Fixed():
            level = np.full(case.tally.n_patterns, model.level(case))
            return one_minus(_observed_without(case), level)
        case Urn() if model.weigh == "ratings":
            return _without_ratings(case, model)
        case Urn():
            return _without(case, model)
        case UrnOfEachRater():
            return _without_by_rater(case, model)
    return None


def weighted_without(case: Case, model: Fixed | Urn) -> Floats:
    """Return the coefficient without each unit where units have sampling weights.

    A unit with counts c adds v c to the urn: v is its weight, over r where units count. nan
    too where what is left of the chance term has lost its digits.
    """
    tally, w, at = case.tally, case.pairable_weights, case.tally.unit_patterns
    assert at is not None  # noqa: S101 - weights are of units that are known
    r, used = tally.pattern_ratings[at], tally.pairable[at]
    by_ratings = model.weigh == "ratings"
    mass = w * used * (r if by_ratings else 1.0)
    each = mass * case.mean_disagreement[at]
    left = mass.sum() - mass
    observed = (each.sum() - each) / np.where(left > 0, left, np.nan)
    if isinstance(model, Fixed):
        return one_minus(observed, np.full(len(w), model.level(case)))
    v = w * used if by_ratings else case.unit_weights / r
    urn = tally.value_totals(np.bincount(at, v, tally.n_patterns).astype(np.float64))
    spread = model.spread(case, urn)
    whole = float(urn @ spread)
    form = whole - 2 * v * r * tally.pattern_means(spread)[at] + v**2 * model.within(case)[at]
    form[form <= max(_LOST * whole, model.rounding(case, urn))] = np.nan
    own = v**2 * r if by_ratings else 0.0 * v
    pairs = ((v * r).sum() - v * r) ** 2 - (own.sum() - own)
    return one_minus(observed, form / np.where(pairs > 0, pairs, np.nan))


def _without_ratings(case: Case, model: Urn) -> Floats:
    """Return the same where a unit counts as often as it was rated (alpha)."""
    tally, used = case.tally, case.tally.pairable
    m = tally.multiplicity * used
    r = np.where(used, tally.pattern_ratings, 0.0)
    each = np.where(used, case.disagreement, 0.0) / np.maximum(r - 1, 1)
    totals = model.totals(case)
    spread = model.spread(case, totals)
    N = float(m @ r) - r
    whole = float(totals @ spread)
    pairs = whole - 2 * r * tally.pattern_means(spread) + np.where(used, model.within(case), 0.0)
    pairs *= tally.n_pairable_units - used != 1
    chance = pairs * case.weights.max_distance / np.maximum(N - 1, 1)
    out = one_minus(float(m @ each) - each, chance)
    return _anew(case, model, out, pairs, whole, rounding=model.rounding(case, totals))


def _without(case: Case, model: Urn) -> Floats:
    """Return the same where a unit counts once (the kappas)."""
    tally = case.tally
    sums = tally.value_totals(tally.multiplicity / tally.pattern_ratings)
    spread = model.spread(case, sums)
    n = tally.n_units - 1
    own = model.within(case) / tally.pattern_ratings**2
    whole = float(sums @ spread)
    pairs = (whole - 2 * tally.pattern_means(spread) + own) * (n != 1)
    out = one_minus(_observed_without(case), pairs / max(n, 1) ** 2)
    return _anew(case, model, out, pairs, whole, rounding=model.rounding(case, sums))


def _without_by_rater(case: Case, model: UrnOfEachRater) -> Floats:
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
    return _anew(case, model, out, left, total, rounding=rounding)


def _anew(
    case: Case, model: Model, out: Floats, left: Floats, whole: float, *, rounding: float
) -> Floats:
    """Compute by itself each row whose chance term has lost its digits in the subtraction."""
    if not whole > rounding or case.tally.n_units == 1:
        return np.full(len(out), np.nan)
    lost = np.flatnonzero(left <= max(_LOST * whole, rounding))
    if lost.size:
        evaluate = replicates(case, model)
        once = case.rated.row_times if model.asks_who else case.tally.multiplicity
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


def _observed_without(case: Case) -> Floats:
    """Return 1 - pa without one unit of each pattern; nan where no pairable unit is left."""
    tally = case.tally
    left = tally.n_pairable_units - tally.pairable
    total = float(tally.multiplicity @ np.where(tally.pairable, case.mean_disagreement, 0.0))
    out = np.full(tally.n_patterns, np.nan)
    return np.asarray(np.divide(total - case.mean_disagreement, left, out=out, where=left > 0))

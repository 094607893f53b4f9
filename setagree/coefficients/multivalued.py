"""Alpha for multi-valued data: chance redraws labels and keeps the sizes of the sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.coefficients.chance import NOTHING, Case, Estimate, Floats, undefined_estimate
from setagree.distances import Distance, NominalDistance, OverlapDistance
from setagree.tally import dot

SizeFunction: TypeAlias = Callable[[Any, Any, Any], Floats]


def mv_alpha(case: Case) -> Estimate:
    """Return 1 - Do / De with the chance model of Krippendorff & Craggs (2016).

    Do is that of alpha. De = sum_st P_s P_t E_st, where P_s is the share of pairable sets of size s
    and E_st the mean distance of an s-set and a t-set of labels drawn without replacement in
    proportion to how often the labels occur. No analytic variance is known.
    """
    tally, d_max = case.tally, case.weights.max_distance
    m = tally.multiplicity * tally.pairable
    if not m.any():
        return undefined_estimate(case, observed=np.nan, expected=np.nan)
    r = tally.pattern_ratings
    q = case.disagreement / np.where(tally.pairable, r - 1, 1)
    observed = dot(m, q) / dot(m, r)
    expected = redrawn_disagreement(
        tally.values, tally.value_totals(m), size_function(case.distance)
    )
    if not expected > NOTHING * d_max or tally.n_pairable_units == 1:
        return undefined_estimate(case, observed=observed, expected=expected)
    agreements = (1 - observed / d_max, 1 - expected / d_max)
    none = np.zeros(0)
    return Estimate(1 - observed / expected, *agreements, observed, expected, none, none)


def size_function(distance: Distance | None) -> SizeFunction:
    r"""Return the distance as a function of (\|A\|, \|B\|, \|A ∩ B\|); the door has seen to it."""
    if isinstance(distance, OverlapDistance):
        return distance.function
    if isinstance(distance, NominalDistance):
        return _nominal
    raise TypeError(f"{distance!r} is no function of set sizes")


def _nominal(a: Any, b: Any, i: Any) -> Floats:
    return np.where((a == i) & (b == i), 0.0, 1.0)


def redrawn_disagreement(values: tuple[Any, ...], totals: Floats, distance: SizeFunction) -> float:
    """Return De for value totals of shape (K,).

    With W(p, q, i) the coefficient of x^p y^q z^i in prod_c (1 + n_c x + n_c y + n_c (n_c - 1) z),
    E_st = sum_i W(s - i, t - i, i) d(s, t, i) / sum_i W(s - i, t - i, i).
    """
    used = np.flatnonzero(totals > 0)
    if not used.size:
        return 0.0
    sizes = np.array([len(values[k]) for k in used])
    shares = np.bincount(sizes, totals[used]) / totals[used].sum()
    W = pair_coefficients(_label_totals(values, totals, used), len(shares) - 1)
    present = np.flatnonzero(shares)
    out = 0.0
    for s in present:
        for t in present:
            i = np.arange(min(s, t) + 1)
            ways = W[s - i, t - i, i]
            if ways.sum() > 0:
                mean = ways @ distance(np.full(i.shape, s), np.full(i.shape, t), i) / ways.sum()
                out += shares[s] * shares[t] * float(mean)
    return float(out)


def pair_coefficients(n: Floats, top: int) -> Floats:
    """Return W(p, q, i) up to size `top`, each divided by a number that p + q + 2 i alone decides.

    All terms of one ratio have the same p + q + 2 i, so the divisor cancels; without it the
    products of hundreds of label counts overflow.
    """
    p, q, i = np.meshgrid(*(np.arange(top + 1),) * 3, indexing="ij")
    degree = p + q + 2 * i
    W = np.zeros(degree.shape)
    W[0, 0, 0] = 1.0
    log_divisor = np.full(int(degree.max()) + 1, -np.inf)
    log_divisor[0] = 0.0
    for count in n:
        W, log_divisor = _times_label(W, log_divisor, float(count), degree)
    return W


def _times_label(
    W: Floats, log_divisor: Floats, count: float, degree: npt.NDArray[Any]
) -> tuple[Floats, Floats]:
    """Multiply by (1 + n x + n y + n (n - 1) z) and keep the largest term of each degree near 1."""
    log_one = np.log(count)
    log_two = log_one + np.log(count - 1) if count > 1 else -np.inf
    once = np.concatenate([[-np.inf], log_divisor[:-1] + log_one])
    twice = np.concatenate([[-np.inf, -np.inf], log_divisor[:-2] + log_two])[: len(once)]
    scale = np.maximum.reduce([log_divisor, once, twice])
    kept, one, two = (_ratio(part, scale)[degree] for part in (log_divisor, once, twice))
    new = W * kept
    new[1:] += W[:-1] * one[1:]
    new[:, 1:] += W[:, :-1] * one[:, 1:]
    new[:, :, 1:] += W[:, :, :-1] * two[:, :, 1:]
    largest = np.zeros(len(scale))
    np.maximum.at(largest, degree.ravel(), new.ravel())
    largest[largest == 0] = 1.0
    return new / largest[degree], scale + np.log(largest)


def _ratio(part: Floats, scale: Floats) -> Floats:
    """Return exp(part - scale), 0 where the part is nothing."""
    there = np.isfinite(part)
    return np.asarray(np.exp(np.where(there, part - np.where(there, scale, 0.0), 0.0)) * there)


def _label_totals(values: tuple[Any, ...], totals: Floats, used: npt.NDArray[Any]) -> Floats:
    """Return n_c, how many pairable sets contain label c."""
    out: dict[Any, float] = {}
    for k in used:
        for label in values[k]:
            out[label] = out.get(label, 0.0) + float(totals[k])
    return np.array(list(out.values()))

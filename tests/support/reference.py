"""Every coefficient once more: exact fractions, plain loops over units, raters and values.

Written from the papers' formulas (Krippendorff 2011; Gwet 2014, chapters 2 to 5, whose code is the
R package irrCAC; Krippendorff & Craggs 2016), without arrays and without setagree. It is slow and
meant to be read beside the formulas; what the library computes fast must be equal.

A study is a list of units, a unit a list of answers by rater, None where a rating is missing. A
distance is a function of two answers that returns a whole number or a `Fraction`; those with a root
or a sine return a float, and so does what follows from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

Answer = Any
Number = Any
Rows = Sequence[Sequence[Answer | None]]
Distance = Callable[[Answer, Answer], Number]


# ---- Distances between sets ---------------------------------------------------------------------


def nominal(x, y):
    """1[x != y]."""
    return int(x != y)


def jaccard(A, B):
    """1 - |A n B| / |A u B|."""
    return 0 if A == B else 1 - Fraction(len(A & B), len(A | B))


def masi(A, B):
    """1 - J M, M = 1 equal, 2/3 nested, 1/3 overlapping, 0 disjoint (Passonneau 2006)."""
    return 1 - (1 - jaccard(A, B)) * _monotonicity(A, B, Fraction(2, 3), Fraction(1, 3))


def masi_nltk(A, B):
    """Return MASI with 0.67 and 0.33 for the thirds (NLTK before 3.10)."""
    return 1 - (1 - jaccard(A, B)) * _monotonicity(A, B, Fraction(67, 100), Fraction(33, 100))


def _monotonicity(A, B, nested, overlapping):
    if A == B:
        return 1
    if not A & B:
        return 0
    return nested if A <= B or B <= A else overlapping


def masi_dkpro(A, B):
    """(1 - J) times the steps of Passonneau 2004."""
    return jaccard(A, B) * passonneau_2004(A, B)


def passonneau_2004(A, B):
    """0 equal, 1/3 nested (the empty set in every set), 2/3 overlapping, 1 disjoint."""
    if A == B:
        return 0
    if A <= B or B <= A:
        return Fraction(1, 3)
    return Fraction(2, 3) if A & B else 1


def dice(A, B):
    """1 - 2 |A n B| / (|A| + |B|)."""
    return 0 if A == B else 1 - Fraction(2 * len(A & B), len(A) + len(B))


def overlap(A, B):
    """1 - |A n B| / min(|A|, |B|); an empty set is at 1 from every other."""
    if A == B:
        return 0
    return 1 - Fraction(len(A & B), min(len(A), len(B))) if A and B else 1


def kulczynski(A, B):
    """1 - (|A n B| / |A| + |A n B| / |B|) / 2."""
    if A == B:
        return 0
    shared = len(A & B)
    return 1 - (Fraction(shared, len(A)) + Fraction(shared, len(B))) / 2 if A and B else 1


def augmented(A, B):
    """1 - |A n B| / (|A| |B|), 0 for equal sets."""
    if A == B:
        return 0
    return 1 - Fraction(len(A & B), len(A) * len(B)) if A and B else 1


def ochiai(A, B):
    """1 - |A n B| / sqrt(|A| |B|)."""
    if A == B:
        return 0
    return 1 - len(A & B) / math.sqrt(len(A) * len(B)) if A and B else 1


def any_overlap(A, B):
    """0 where the sets share a label or are both empty, else 1."""
    return 0 if A & B or A == B else 1


def hamming(A, B):
    return len(A ^ B)


def ruzicka(A, B):
    """1 - sum min / sum max of degrees, which are 1 for the labels of a set and 0 for others."""
    degrees = [(int(label in A), int(label in B)) for label in A | B]
    return 1 - Fraction(sum(map(min, degrees)), sum(map(max, degrees))) if degrees else 0


def manhattan(A, B):
    """Sum of the differences of degrees, which are 1 for the labels of a set and 0 for others."""
    return sum(abs(int(label in A) - int(label in B)) for label in A | B)


SET_DISTANCES: dict[str, Distance] = {
    "nominal": nominal,
    "masi": masi,
    "jaccard": jaccard,
    "dice": dice,
    "overlap": overlap,
    "ochiai": ochiai,
    "kulczynski": kulczynski,
    "augmented": augmented,
    "any_overlap": any_overlap,
    "hamming": hamming,
    "masi_nltk": masi_nltk,
    "masi_dkpro": masi_dkpro,
    "passonneau_2004": passonneau_2004,
    "ruzicka": ruzicka,
    "manhattan": manhattan,
}


# ---- Distances between numbers ------------------------------------------------------------------


def scale_distances(rows: Rows) -> dict[str, Distance]:
    """Return the distances on the scale of a study, which decides ends, ranks and rank mass."""
    used = sorted({x for unit in rated(rows) for x in unit})
    low, high = used[0], used[-1]

    def bipolar(x, y):
        return x != y and Fraction((x - y) ** 2, (x + y - 2 * low) * (2 * high - x - y))

    def circular(x, y):
        return x != y and math.sin(math.pi * (x - y) / (high - low + 1)) ** 2

    def ordinal(x, y):
        # The ratings from one value to the other, those at the two ends counted half.
        pool = [v for unit in pairable(rows) for v in unit]
        between = [v for v in pool if min(x, y) <= v <= max(x, y)]
        return (len(between) - Fraction(pool.count(x) + pool.count(y), 2)) ** 2 if x != y else 0

    def ordinal_gwet(x, y):
        return math.comb(abs(used.index(x) - used.index(y)) + 1, 2)

    return {
        "nominal": nominal,
        "interval": lambda x, y: (x - y) ** 2,
        "quadratic": lambda x, y: (x - y) ** 2,
        "linear": lambda x, y: abs(x - y),
        "radical": lambda x, y: math.sqrt(abs(x - y)),
        "ratio": lambda x, y: x != y and Fraction(x - y, x + y) ** 2,
        "bipolar": bipolar,
        "circular": circular,
        "ordinal": ordinal,
        "ordinal_gwet": ordinal_gwet,
    }


UNBOUNDED = frozenset(
    [
        "hamming",
        "manhattan",
        "interval",
        "quadratic",
        "linear",
        "radical",
        "ratio",
        "bipolar",
        "circular",
        "ordinal",
        "ordinal_gwet",
    ]
)
"""Distances whose credit is 1 - d / (largest d among the observed values)."""


# ---- Studies ------------------------------------------------------------------------------------


def rated(rows: Rows) -> list[list[Answer]]:
    units = [[x for x in row if x is not None] for row in rows]
    return [unit for unit in units if unit]


def pairable(rows: Rows) -> list[list[Answer]]:
    """Return the ratings of each unit that has two or more."""
    return [unit for unit in rated(rows) if len(unit) >= 2]


def values_of(rows: Rows) -> list[Answer]:
    return list(dict.fromkeys(x for unit in rated(rows) for x in unit))


def largest(values: Sequence[Answer], d: Distance, name: str) -> Number:
    """Return d_max: 1 for a distance bounded by 1, else the largest among the values."""
    return (max(d(x, y) for x in values for y in values) or 1) if name in UNBOUNDED else 1


def mean(numbers: Sequence[Number]) -> Number:
    """Return the sum by the count, as a fraction where the numbers are whole."""
    return sum(numbers, Fraction(0)) / len(numbers)


@dataclass(frozen=True)
class Reference:
    """A coefficient with its parts; `linear` holds one linearised value a unit."""

    estimate: Number
    pa: Number
    pe: Number
    observed: Number
    expected: Number
    linear: list[Number]
    centre: Number

    @property
    def standard_error(self) -> float:
        """Gwet 2014: sqrt(sum (x_i - kappa)² / (n (n - 1)))."""
        n = len(self.linear)
        if n < 2:
            return math.nan
        squares = sum((x - self.centre) ** 2 for x in self.linear)
        return math.sqrt(squares / (n * (n - 1)))


# ---- Coefficients -------------------------------------------------------------------------------


def krippendorff_alpha(rows: Rows, d: Distance, d_max: Number) -> Reference | None:
    """1 - Do / De over all ordered pairs of ratings; Gwet's form for the linearised values."""
    units = pairable(rows)
    if not units:
        return None
    pool = [x for unit in units for x in unit]
    N, n = len(pool), len(units)
    observed = sum(
        sum(d(x, y) for x, y in permutations(u, 2)) / Fraction(len(u) - 1) for u in units
    )
    observed = observed / N
    expected = sum((d(x, y) for x, y in permutations(pool, 2)), Fraction(0)) / (N * (N - 1))
    if not expected:
        return None

    w, K = _credit(d, d_max), values_of(units)
    rbar, eps = mean([len(u) for u in units]), Fraction(1, N)
    p = [
        sum(u.count(k) * (sum(w(k, l) * u.count(l) for l in K) - 1) for k in K)
        / (rbar * (len(u) - 1))
        for u in units
    ]
    pa_prime = mean(p)
    pa = (1 - eps) * pa_prime + eps
    pi = {k: mean([u.count(k) for u in units]) / rbar for k in K}
    pe = sum(w(k, l) * pi[k] * pi[l] for k in K for l in K)
    plain = (pa_prime - pe) / (1 - pe)
    linear = []
    for u, p_i in zip(units, p, strict=True):
        drift = (len(u) - rbar) / rbar
        a = p_i - pa * drift
        e = sum(w(k, l) * pi[l] * u.count(k) for k in K for l in K) / rbar - pe * drift
        linear.append((a - pe) / (1 - pe) - 2 * (1 - plain) * (e - pe) / (1 - pe))
    assert len(linear) == n
    return Reference(1 - observed / expected, pa, pe, observed, expected, linear, plain)


def fleiss_kappa(rows: Rows, d: Distance, d_max: Number) -> Reference | None:
    """Pe = pi' W pi; pe_i = sum_k (W pi)_k r_ik / r_i."""
    units, w = rated(rows), _credit(d, d_max)
    pi = _shares(units)
    pe = sum(w(k, l) * pi[k] * pi[l] for k in pi for l in pi)
    pe_i = [mean([sum(w(x, l) * pi[l] for l in pi) for x in unit]) for unit in units]
    return _corrected(units, w, d_max, pe, pe_i)


def gwet_ac(rows: Rows, d: Distance, d_max: Number, categories=None) -> Reference | None:
    """Pe = T sum pi_k (1 - pi_k), pe_i = T sum r_ik (1 - pi_k) / r_i, T = T_w / (K (K - 1))."""
    units, w = rated(rows), _credit(d, d_max)
    listed = values_of(rows) if categories is None else list(categories)
    K = len(listed)
    if K == 1:
        return None
    scale = sum(w(k, l) for k in listed for l in listed) / Fraction(K * (K - 1))
    pi = _shares(units)
    pe = scale * sum(share * (1 - share) for share in pi.values())
    pe_i = [scale * mean([1 - pi[x] for x in unit]) for unit in units]
    return _corrected(units, w, d_max, pe, pe_i)


def brennan_prediger(rows: Rows, d: Distance, d_max: Number, categories=None) -> Reference | None:
    """Pe = T_w / K², without a correction term."""
    w = _credit(d, d_max)
    listed = values_of(rows) if categories is None else list(categories)
    pe = mean([w(k, l) for k in listed for l in listed])
    return _corrected(rated(rows), w, d_max, pe, None)


def percent_agreement(rows: Rows, d: Distance, d_max: Number) -> Reference | None:
    """Pe = 0."""
    return _corrected(rated(rows), _credit(d, d_max), d_max, 0, None)


def conger_kappa(rows: Rows, d: Distance, d_max: Number) -> Reference | None:
    """Pe = mean of p_g' W p_h over ordered pairs of raters; linearised as in irrCAC."""
    table = [row for row in rows if any(x is not None for x in row)]
    columns = [[row[g] for row in table] for g in range(len(table[0]))]
    columns = [column for column in columns if any(x is not None for x in column)]
    n, r, w, K = len(table), len(columns), _credit(d, d_max), values_of(rows)
    if r < 2:
        return None
    n_g = [sum(x is not None for x in column) for column in columns]
    p = [{k: Fraction(c.count(k), size) for k in K} for c, size in zip(columns, n_g, strict=True)]
    pairs = list(permutations(range(r), 2))
    pe = mean([sum(w(k, l) * p[g][k] * p[h][l] for k in K for l in K) for g, h in pairs])
    # conger.kappa.raw: lambda_ig(k) = n / n_g sum_l w_kl (delta_ig(l) - (eps_ig - n_g / n) p_gl),
    # pe_i = sum_g sum_k lambda_ig(k) (r pbar_k - p_gk) / (r (r - 1)).
    pbar = {k: mean([p_g[k] for p_g in p]) for k in K}
    pe_i = []
    for i in range(n):
        total = Fraction(0)
        for g, column in enumerate(columns):
            part = Fraction(n_g[g], n) - (column[i] is not None)
            lam = {
                k: Fraction(n, n_g[g])
                * sum(w(k, l) * ((column[i] == l) + part * p[g][l]) for l in K)
                for k in K
            }
            total = total + sum(lam[k] * (r * pbar[k] - p[g][k]) for k in K)
        pe_i.append(total / (r * (r - 1)))
    return _corrected(rated(rows), w, d_max, pe, pe_i)


def mv_alpha(rows: Rows, d: Distance, d_max: Number) -> Reference | None:
    """Krippendorff & Craggs 2016, the omega sums over all pairs of subsets of the used labels."""
    units = pairable(rows)
    if not units:
        return None
    pool = [A for unit in units for A in unit]
    observed = sum(
        sum(d(A, B) for A, B in permutations(u, 2)) / Fraction(len(u) - 1) for u in units
    )
    observed = observed / len(pool)
    sizes = {s: Fraction(sum(len(A) == s for A in pool), len(pool)) for s in map(len, pool)}
    expected = Fraction(0)
    for s, P_s in sizes.items():
        for t, P_t in sizes.items():
            expected = expected + P_s * P_t * redrawn(pool, s, t, d)
    if not expected:
        return None
    pa, pe = 1 - observed / d_max, 1 - expected / d_max
    return Reference(1 - observed / expected, pa, pe, observed, expected, [], 0)


def redrawn(pool: Sequence[frozenset], s: int, t: int, d: Distance) -> Number:
    """Return the mean distance of an s-set and a t-set, each pair weighted by omega."""
    n = {c: sum(c in A for A in pool) for c in frozenset().union(*pool)}
    above = below = Fraction(0)
    for C in map(frozenset, combinations(sorted(n), s)):
        for S in map(frozenset, combinations(sorted(n), t)):
            omega = math.prod(n[c] for c in C) * math.prod(n[c] for c in S - C)
            omega *= math.prod(n[c] - 1 for c in C & S)
            above, below = above + omega * d(C, S), below + omega
    return above / below if below else 0


def is_lone(rows: Rows, name: str) -> bool:
    """Tell whether one unit alone would have to show what chance does; that is undefined."""
    if name in {"brennan_prediger", "percent_agreement"}:
        return False
    units = pairable(rows) if name in {"krippendorff_alpha", "mv_alpha"} else rated(rows)
    return len(units) == 1


def _credit(d: Distance, d_max: Number) -> Distance:
    return lambda x, y: 1 - d(x, y) / (Fraction(d_max) if isinstance(d_max, int) else d_max)


def _shares(units: list[list[Answer]]) -> dict[Answer, Fraction]:
    return {k: mean([Fraction(u.count(k), len(u)) for u in units]) for k in values_of(units)}


def _corrected(units, w, d_max, pe, pe_i) -> Reference | None:
    """kappa_i = (n/n') (pa_i - pe 1[r_i >= 2]) / (1 - pe), less 2 (1 - kappa) its chance."""
    pa_i = [
        mean([w(x, y) for x, y in permutations(u, 2)]) if len(u) >= 2 else Fraction(0)
        for u in units
    ]
    n, used = len(units), [len(u) >= 2 for u in units]
    if not any(used) or pe == 1:
        return None
    pa = sum(pa_i) / sum(used)
    kappa = (pa - pe) / (1 - pe)
    linear = [
        Fraction(n, sum(used)) * (p - pe * u) / (1 - pe) for p, u in zip(pa_i, used, strict=True)
    ]
    if pe_i is not None:
        linear = [
            x - 2 * (1 - kappa) * (e - pe) / (1 - pe) for x, e in zip(linear, pe_i, strict=True)
        ]
    return Reference(kappa, pa, pe, (1 - pa) * d_max, (1 - pe) * d_max, linear, kappa)


COEFFICIENTS: dict[str, Callable[..., Reference | None]] = {
    "krippendorff_alpha": krippendorff_alpha,
    "fleiss_kappa": fleiss_kappa,
    "scott_pi": fleiss_kappa,
    "conger_kappa": conger_kappa,
    "cohen_kappa": conger_kappa,
    "gwet_ac": gwet_ac,
    "brennan_prediger": brennan_prediger,
    "percent_agreement": percent_agreement,
    "mv_alpha": mv_alpha,
}

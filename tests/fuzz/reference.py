"""What a table of meant answers gives: policies, alpha and Fleiss' kappa in exact fractions.

An answer is a pair: ("set", labels), ("value", one number or word), or one of ("null", None),
("blank", None) and ("missing", None), which is missing whatever the options say.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction


def units_of(meant, *, blank="missing", duplicates="error", nulls_follow=False):
    """Return the answers of each unit, or None where the table must be refused."""
    kinds = {kind for _, _, (kind, _) in meant}
    alone = nulls_follow and "blank" not in kinds
    becomes = {"null": blank if alone else "missing", "blank": blank}
    given = {}
    for unit, rater, (kind, answer) in meant:
        kind = becomes.get(kind, kind)
        if kind == "error":
            return None
        if kind != "missing":
            answer = frozenset() if kind == "empty" else answer
            given.setdefault((unit, rater), []).append(answer)
    if not given or (duplicates == "error" and any(len(each) > 1 for each in given.values())):
        return None
    units = {}
    for (unit, rater), each in given.items():
        one = frozenset().union(*each) if duplicates == "union" else each[-(duplicates == "last")]
        units.setdefault(unit, {})[rater] = one
    return units


def nominal(a, b):
    """Return 0 for equal answers, else 1."""
    return int(a != b)


def jaccard(a, b):
    """Return 1 less the share of the labels of both that are in both."""
    return 0 if a == b else 1 - Fraction(len(a & b), len(a | b))


def masi(a, b):
    """Return 1 - J M, M = 2/3 for nested and 1/3 for overlapping sets."""
    thirds = 3 if a == b else 2 if a <= b or b <= a else 1
    return 1 - (1 - jaccard(a, b)) * Fraction(thirds, 3)


def alpha(units, d):
    """Return the observed and the expected disagreement, and alpha (of one unit: none)."""
    rows = [list(unit.values()) for unit in units.values() if len(unit) > 1]
    pool = [answer for row in rows for answer in row]
    if len(rows) < 2:
        return None
    within = [Fraction(sum(d(a, b) for a in row for b in row)) / (len(row) - 1) for row in rows]
    observed = sum(within) / len(pool)
    expected = Fraction(sum(d(a, b) for a in pool for b in pool)) / (len(pool) * (len(pool) - 1))
    return observed, expected, 1 - observed / expected if expected else None


def fleiss(units, d):
    """Return the observed and the expected disagreement, and Fleiss' kappa (of one unit: none)."""
    rows = [list(unit.values()) for unit in units.values()]
    pairs = [row for row in rows if len(row) > 1]
    if not pairs or len(rows) < 2:
        return None
    within = [Fraction(sum(d(a, b) for a in r for b in r)) / (len(r) * (len(r) - 1)) for r in pairs]
    shares = Counter()
    for row in rows:
        for answer in row:
            shares[answer] += Fraction(1, len(row) * len(rows))
    observed = sum(within) / len(pairs)
    expected = sum(p * q * d(a, b) for a, p in shares.items() for b, q in shares.items())
    return observed, expected, 1 - observed / expected if expected else None

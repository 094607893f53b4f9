"""What a table of meant answers gives: policies, and coefficients in exact fractions.

An answer is a pair: ("set", labels), ("value", one number or word), or one of ("null", None),
("blank", None) and ("missing", None), which is missing whatever the options say.
"""

from __future__ import annotations

from tests.support.reference import COEFFICIENTS, SET_DISTANCES, is_lone


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


def exactly(coefficient, distance, units):
    """Return a coefficient as the reference has it; None if one unit alone would show chance."""
    rows = [list(unit.values()) for unit in units.values()]
    if is_lone(rows, coefficient):
        return None
    return COEFFICIENTS[coefficient](rows, SET_DISTANCES[distance], 1)

r"""Distances between label sets, as functions of a = \|A\|, b = \|B\|, i = \|A ∩ B\|."""

from __future__ import annotations

import numpy as np

from setagree.checks import Floats, Ints
from setagree.distances.base import NominalDistance, OverlapDistance, distance_of

__all__ = [  # noqa: RUF022 - in the order of `distance_names`
    "nominal",
    "masi",
    "jaccard",
    "dice",
    "overlap",
    "ochiai",
    "kulczynski",
    "augmented",
    "any_overlap",
    "hamming",
    "masi_nltk",
    "masi_dkpro",
    "passonneau_2004",
]
"""The distances of this module. `setagree.distances` and the registry take them from here."""

nominal = NominalDistance("nominal", formula="0 for the same answer, else 1")


def _ratio(part: Ints | Floats, whole: Ints | Floats) -> Floats:
    """Return part / whole, or 1 if both sets are empty (whole = 0)."""
    out = np.ones(np.shape(whole))
    return np.divide(part, whole, out=out, where=np.asarray(whole) > 0)


def _monotonicity(a: Ints, b: Ints, i: Ints) -> Floats:
    """Return Passonneau's M: 1 equal, 2/3 nested, 1/3 overlapping, 0 disjoint."""
    equal, nested = (a == b) & (a == i), i == np.minimum(a, b)
    return np.where(equal, 1.0, np.where(i == 0, 0.0, np.where(nested, 2 / 3, 1 / 3)))


@distance_of(OverlapDistance, title="Jaccard", formula="1 − |A∩B| / |A∪B|", source="Jaccard 1912")
def jaccard(a: Ints, b: Ints, i: Ints) -> Floats:
    """1 - i / (a + b - i).

    Jaccard 1912. Two empty sets are equal (0); an empty set shares nothing with another (1).

    Examples
    --------
    >>> round(jaccard({"a", "b"}, {"b", "c"}), 6)
    0.666667
    >>> jaccard(set(), set()), jaccard(set(), {"a"})
    (0.0, 1.0)
    """
    return 1 - _ratio(i, a + b - i)


@distance_of(
    OverlapDistance,
    title="MASI",
    formula=(
        "1 − M·|A∩B| / |A∪B|, with M = 1 for equal sets, 2/3 nested, 1/3 overlapping, 0 disjoint"
    ),
    source="Passonneau 2006",
)
def masi(a: Ints, b: Ints, i: Ints) -> Floats:
    """1 - M i / (a + b - i), M = 1 equal, 2/3 nested, 1/3 overlapping, 0 disjoint.

    Passonneau 2006, "Measuring agreement on set-valued items (MASI)", LREC; with exact thirds.

    Examples
    --------
    >>> round(masi({"a", "b"}, {"a"}), 6), round(masi({"a", "b"}, {"b", "c"}), 6)
    (0.666667, 0.888889)
    >>> masi(set(), set()), masi(set(), {"a"})
    (0.0, 1.0)
    """
    return 1 - _monotonicity(a, b, i) * _ratio(i, a + b - i)


@distance_of(OverlapDistance, title="Dice", formula="1 − 2·|A∩B| / (|A| + |B|)", source="Dice 1945")
def dice(a: Ints, b: Ints, i: Ints) -> Floats:
    """1 - 2 i / (a + b).

    Dice 1945; also Sørensen 1948, and 1 - F1 of one set against the other.

    Examples
    --------
    >>> dice({"a", "b"}, {"b", "c"})
    0.5
    >>> dice(set(), set()), dice(set(), {"a"})
    (0.0, 1.0)
    """
    return 1 - _ratio(2 * i, a + b)


@distance_of(OverlapDistance, formula="1 − |A∩B| / min(|A|, |B|)", is_squared=False)
def overlap(a: Ints, b: Ints, i: Ints) -> Floats:
    """1 - i / min(a, b): nested sets do not differ.

    Szymkiewicz 1934, Simpson 1943. Two different sets can have distance 0.

    Examples
    --------
    >>> overlap({"a", "b"}, {"a"})
    0.0
    >>> overlap(set(), set()), overlap(set(), {"a"})
    (0.0, 1.0)
    """
    smaller = np.minimum(a, b)
    return np.where((smaller == 0) & (a != b), 1.0, 1 - _ratio(i, smaller))


@distance_of(OverlapDistance, title="Ochiai", formula="1 − |A∩B| / √(|A|·|B|)")
def ochiai(a: Ints, b: Ints, i: Ints) -> Floats:
    """1 - i / sqrt(a b), one minus the cosine of the two indicators.

    Ochiai 1957.

    Examples
    --------
    >>> round(ochiai({"a", "b"}, {"a"}), 6)
    0.292893
    >>> ochiai(set(), set()), ochiai(set(), {"a"})
    (0.0, 1.0)
    """
    # sqrt(a) sqrt(b) differs from a by a rounding error if a = b; sqrt(a b) does not.
    one_empty = (np.minimum(a, b) == 0) & (a != b)
    return np.where(one_empty, 1.0, 1 - _ratio(i, np.sqrt(a * b)))


@distance_of(
    OverlapDistance,
    title="Kulczyński",
    formula="1 − (|A∩B| / |A| + |A∩B| / |B|) / 2",
    is_squared=False,
)
def kulczynski(a: Ints, b: Ints, i: Ints) -> Floats:
    """1 - (i / a + i / b) / 2, one minus the mean of precision and recall.

    Kulczyński 1927.

    Examples
    --------
    >>> kulczynski({"a", "b"}, {"a"}), kulczynski({"a", "b"}, {"b", "c"})
    (0.25, 0.5)
    >>> kulczynski(set(), set()), kulczynski(set(), {"a"})
    (0.0, 1.0)
    """
    one_empty = (np.minimum(a, b) == 0) & (a != b)
    return np.where(one_empty, 1.0, 1 - (_ratio(i, a) + _ratio(i, b)) / 2)


@distance_of(
    OverlapDistance,
    title="augmented kappa's",
    formula="0 for equal sets, else 1 − |A∩B| / (|A|·|B|)",
    source="Rosenberg & Binkowski 2004",
)
def augmented(a: Ints, b: Ints, i: Ints) -> Floats:
    """0 for equal sets, else 1 - i / (a b): each rater divides one vote among the labels.

    Rosenberg and Binkowski 2004, "Augmenting the kappa statistic to determine interannotator
    reliability for multiply labeled data points", HLT-NAACL. The published credit of two equal sets
    is 1 / a; here it is 1, as an answer does not differ from itself.

    Examples
    --------
    >>> augmented({"a", "b"}, {"a"}), augmented({"a", "b"}, {"b", "c"})
    (0.5, 0.75)
    >>> augmented(set(), set()), augmented(set(), {"a"})
    (0.0, 1.0)
    """
    equal = (a == b) & (a == i)
    return np.where(equal, 0.0, 1 - i / np.maximum(np.asarray(a) * b, 1))


@distance_of(OverlapDistance, formula="0 where the sets share a label, else 1", is_squared=False)
def any_overlap(a: Ints, b: Ints, i: Ints) -> Floats:
    """0 where the sets share a label, else 1; two empty sets do not differ.

    Examples
    --------
    >>> any_overlap({"a", "b"}, {"b", "c"}), any_overlap({"a"}, {"b"})
    (0.0, 1.0)
    >>> any_overlap(set(), set()), any_overlap(set(), {"a"})
    (0.0, 1.0)
    """
    return np.where((i == 0) & (a + b > 0), 1.0, 0.0)


@distance_of(
    OverlapDistance, title="Hamming", formula="the number of labels that differ", bounded=False
)
def hamming(a: Ints, b: Ints, i: Ints) -> Floats:
    """Size of the symmetric difference, a + b - 2 i.

    Not bounded by 1; alpha with it is the label-wise binary alphas pooled.

    Examples
    --------
    >>> hamming({"a", "b"}, {"b", "c"})
    2.0
    >>> hamming(set(), set()), hamming(set(), {"a"})
    (0.0, 1.0)
    """
    return np.asarray(a + b - 2 * i, dtype=np.float64)


@distance_of(
    OverlapDistance,
    title="MASI as in NLTK before 3.10",
    formula="MASI with 0.67 and 0.33 in place of thirds",
    source="Passonneau 2006",
)
def masi_nltk(a: Ints, b: Ints, i: Ints) -> Floats:
    """MASI with the constants 0.67 and 0.33 for 2/3 and 1/3, as NLTK had it before 3.10.

    For comparison with older results only; use `masi`.

    Examples
    --------
    >>> round(masi_nltk({"a", "b"}, {"a"}), 6)
    0.665
    >>> masi_nltk(set(), set()), masi_nltk(set(), {"a"})
    (0.0, 1.0)
    """
    exact = _monotonicity(a, b, i)
    rounded = np.select([exact == 2 / 3, exact == 1 / 3], [0.67, 0.33], default=exact)
    return 1 - rounded * _ratio(i, a + b - i)


@distance_of(
    OverlapDistance,
    title="MASI as in DKPro",
    formula="(1 − Jaccard) times 0, 1/3, 2/3 or 1",
    source="Passonneau 2006",
    is_squared=False,
)
def masi_dkpro(a: Ints, b: Ints, i: Ints) -> Floats:
    """(1 - J) times 0 equal, 1/3 nested, 2/3 overlapping, 1 disjoint.

    What DKPro and INCEpTION call MASI; the empty set is nested in every set. For comparison only;
    use `masi`.

    Examples
    --------
    >>> round(masi_dkpro({"a", "b"}, {"a"}), 6)
    0.166667
    >>> masi_dkpro(set(), set()), round(masi_dkpro(set(), {"a"}), 6)
    (0.0, 0.333333)
    """
    return _passonneau_steps(a, b, i) * (1 - _ratio(i, a + b - i))


@distance_of(
    OverlapDistance,
    title="Passonneau's distance of 2004",
    formula="0 for equal, 1/3 nested, 2/3 overlapping, 1 disjoint sets",
    source="Passonneau 2004",
    is_squared=False,
)
def passonneau_2004(a: Ints, b: Ints, i: Ints) -> Floats:
    """0 equal, 1/3 nested, 2/3 overlapping, 1 disjoint; the empty set is nested in every set.

    Passonneau 2004, "Computing reliability for coreference annotation", LREC: MASI without Jaccard.

    Examples
    --------
    >>> round(passonneau_2004({"a", "b"}, {"b", "c"}), 6)
    0.666667
    >>> passonneau_2004(set(), set()), round(passonneau_2004(set(), {"a"}), 6)
    (0.0, 0.333333)
    """
    return _passonneau_steps(a, b, i)


def _passonneau_steps(a: Ints, b: Ints, i: Ints) -> Floats:
    equal, nested = (a == b) & (a == i), i == np.minimum(a, b)
    return np.select([equal, nested, i > 0], [0.0, 1 / 3, 2 / 3], default=1.0)


SET_DISTANCES = tuple(globals()[name] for name in __all__ if name != "nominal")

# doctest looks at functions; these are objects that carry the docstring of one.
__test__ = {distance.name: str(distance.__doc__) for distance in SET_DISTANCES}

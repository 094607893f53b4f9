"""CrowdTruth quality scores of units, raters and labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from setagree.checks import check_cost, public
from setagree.coefficients.chance import Floats
from setagree.credit.base import neighbours
from setagree.credit.geometry import SetGeometry
from setagree.errors import ConvergenceWarning, check_choice, counted, warn
from setagree.inference.panel_members import Codes, known_plain
from setagree.large.opening import Data
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.study.degrees import doubt_degrees
from setagree.wording.label_sets import display_labels, sorted_labels
from setagree.wording.number_format import number
from setagree.wording.result_base import Result

_STILL, _MOST_SWEEPS = 0.001, 100
"""Change at which the sweeps stop, and maximum number of sweeps, as published."""

_LEAST = 1e-8
"""The least denominator of a cosine."""

_ENTRY_BYTES = 100
"""Bytes per pair of ratings, or per label of one."""


@dataclass(frozen=True, eq=False)
class Qualities:
    """Qualities of units, raters and labels, one array each."""

    units: Floats
    raters: Floats
    labels: Floats

    def moved(self, other: Qualities) -> float:
        """Return the largest change of a quality; qualities that are NaN in both are unchanged."""
        parts = zip(self.parts, other.parts, strict=True)
        return max(float(np.nan_to_num(np.abs(a - b)).max(initial=0)) for a, b in parts)

    @property
    def parts(self) -> tuple[Floats, Floats, Floats]:
        """The three of them."""
        return self.units, self.raters, self.labels


class Answers:
    """The ratings of units with two or more, and their pairs.

    Parameters
    ----------
    units, raters, values : ndarray of int, shape (n_ratings,)
        Codes; the units are in ascending order.
    flags : sparse array of shape (K, L)
        Flags of the labels in each value.
    shape : pair of int
        Number of units and of raters.
    """

    def __init__(
        self, units: Codes, raters: Codes, values: Codes, flags: Any, shape: tuple[int, int]
    ) -> None:
        self.units, self.raters, self.values = units, raters, values
        self.flags = flags.astype(np.float64)
        self.n_units, self.n_raters = shape
        r = np.bincount(units)
        labels = np.diff(flags.indptr)[values]
        entries = float((r * (r - 1)).sum()) / 2
        entries += float((labels * (r - 1)[units]).sum())
        n_bytes = _ENTRY_BYTES * entries
        check_cost("The pairs of ratings", n_bytes=n_bytes, instead="Take a part of the units.")
        lefts, rights = zip((units[:0], units[:0]), *neighbours(units), strict=True)
        self.left, self.right = np.concatenate(lefts), np.concatenate(rights)

    @cached_property
    def of_pairs(self) -> Any:
        """Incidence matrix of units and their pairs of ratings, (n_units, n_pairs)."""
        return ones(self.units[self.left], self.n_units)

    @cached_property
    def value_pairs(self) -> tuple[Codes, Codes, Codes, Any]:
        """The distinct pairs of values, the index of each pair in them, and common labels."""
        K = self.flags.shape[0]
        keys = self.values[self.left].astype(np.int64) * K + self.values[self.right]
        distinct, place = np.unique(keys, return_inverse=True)
        k, l = np.divmod(distinct, K)
        return k, l, place, self.flags[k].multiply(self.flags[l]).tocsr()

    @cached_property
    def of_left(self) -> Any:
        """The first rater of each pair, as an incidence matrix, (n_raters, n_pairs)."""
        return ones(self.raters[self.left], self.n_raters)

    @cached_property
    def of_right(self) -> Any:
        """The second rater of each pair, as an incidence matrix, (n_raters, n_pairs)."""
        return ones(self.raters[self.right], self.n_raters)

    @cached_property
    def of_raters(self) -> Any:
        """The ratings of each rater, as an incidence matrix, (n_raters, n_ratings)."""
        return ones(self.raters, self.n_raters)

    @cached_property
    def members(self) -> tuple[Codes, Codes, Codes]:
        """The rating, the label and the cell of each label of each rating.

        A cell is a unit and a label that it got.
        """
        of_ratings = self.flags[self.values]
        rating = np.repeat(np.arange(len(self.values)), np.diff(of_ratings.indptr))
        label = of_ratings.indices.astype(np.intp)
        keys = self.units[rating].astype(np.int64) * self.flags.shape[1] + label
        self._cells, cell = np.unique(keys, return_inverse=True)
        return rating, label, cell

    @cached_property
    def cells(self) -> tuple[Codes, Codes]:
        """The unit and the label of each cell."""
        _ = self.members
        unit, label = np.divmod(self._cells, max(1, self.flags.shape[1]))
        return unit.astype(np.intp), label.astype(np.intp)

    @cached_property
    def votes(self) -> Any:
        """The raters of each cell, as an incidence matrix, (n_cells, n_raters)."""
        rating, _, cell = self.members
        return ones(cell, len(self._cells)) @ ones(self.raters, self.n_raters).T[rating]

    @cached_property
    def of_units(self) -> Any:
        """The cells of each unit, as an incidence matrix, (n_units, n_cells)."""
        return ones(self.cells[0], self.n_units)

    @cached_property
    def of_ratings(self) -> Any:
        """Which of the members each rating has, (n_ratings, n_members)."""
        return ones(self.members[0], len(self.values))

    @cached_property
    def of_labels(self) -> Any:
        """Which triples each label has, (n_labels, n_triples)."""
        return ones(self.triples[2], self.n_labels)

    @cached_property
    def given(self) -> Any:
        """Units in which rater j gave label a and rater i rated, too, (n_triples, n_units)."""
        return self._triples[0]

    @cached_property
    def shared(self) -> Any:
        """Those of these units in which rater i also gave label a, (n_triples, n_units)."""
        return self._triples[1]

    @cached_property
    def triples(self) -> tuple[Codes, Codes, Codes]:
        """The raters i and j and the label a of each triple."""
        return self._triples[2]

    @cached_property
    def _triples(self) -> tuple[Any, Any, tuple[Codes, Codes, Codes]]:
        """Return for which raters i and j and which label a units tell P_ij(a), and what."""
        from scipy import sparse

        R, L = self.n_raters, self.flags.shape[1]
        one = np.concatenate([self.left, self.right])
        two = np.concatenate([self.right, self.left])
        of_two = self.flags[self.values[two]]
        pair = np.repeat(np.arange(len(two)), np.diff(of_two.indptr))
        label = of_two.indices.astype(np.int64)
        both = (self.raters[one].astype(np.int64) * R + self.raters[two]) * L
        distinct, triple = np.unique(both[pair] + label, return_inverse=True)
        ij, a = np.divmod(distinct, max(1, L))
        where = triple, self.units[two][pair]
        too = np.zeros(0)
        if len(pair):  # of no entries at all scipy returns no array
            too = np.asarray(self.flags[self.values[one][pair], label], dtype=np.float64).ravel()
        shape = (len(distinct), self.n_units)
        given, shared = (
            sparse.csr_array((each, where), shape=shape) for each in (np.ones(len(pair)), too)
        )
        return given, shared, (*np.divmod(ij, R), a)

    def swept(self) -> tuple[Qualities, Qualities, int, bool]:
        """Return the first and the last qualities, the number of sweeps, and if they converged."""
        old = Qualities(*(np.ones(n) for n in (self.n_units, self.n_raters, self.n_labels)))
        first = new = self.sweep(old)
        n_sweeps = 1
        while new.moved(old) >= _STILL and n_sweeps < _MOST_SWEEPS:
            old, new, n_sweeps = new, self.sweep(new), n_sweeps + 1
        return first, new, n_sweeps, new.moved(old) < _STILL

    @property
    def n_labels(self) -> int:
        """L, how many labels there are."""
        return int(self.flags.shape[1])

    def sweep(self, old: Qualities) -> Qualities:
        """Return the next qualities from the previous ones, in which NaN counts as 0.

        The quality is 0 if all weights are 0, and NaN without any pair of ratings.
        """
        u, w, q = (np.nan_to_num(part) for part in old.parts)
        k, l, place, common = self.value_pairs
        norms = self.flags @ q
        c = (common @ q / _floored(norms[k] * norms[l]))[place]
        one, two = w[self.raters[self.left]], w[self.raters[self.right]]
        units = _mean(self.of_pairs @ (c * one * two), self.of_pairs @ (one * two))
        of_unit = u[self.units[self.left]]
        beside = _mean(
            self.of_left @ (c * two * of_unit) + self.of_right @ (c * one * of_unit),
            self.of_left @ (two * of_unit) + self.of_right @ (one * of_unit),
        )
        own = self._to_others(q, w, norms) * u[self.units]
        raters = beside * _mean(self.of_raters @ own, self.of_raters @ u[self.units])
        return self._known(units, raters, self._label_qualities(w, u))

    def _to_others(self, q: Floats, w: Floats, norms: Floats) -> Floats:
        """Return the cosine of each rater's answer with those of the others to its unit."""
        rating, label, cell = self.members
        of_cell = self.cells[1]
        vector = self.votes @ w
        mine = w[self.raters]
        rest = vector[cell] - mine[rating]
        weighted = q[of_cell] * vector**2
        squares = (self.of_units @ weighted)[self.units] - self.of_ratings @ weighted[cell]
        squares = np.maximum(squares, 0) + self.of_ratings @ (q[label] * rest**2)
        dots = mine * (self.of_ratings @ (q[label] * rest))
        return np.asarray(dots / _floored(mine**2 * norms[self.values] * squares))

    def _label_qualities(self, w: Floats, u: Floats) -> Floats:
        i, j, _ = self.triples
        given, weight = self.given @ u, w[i] * w[j]
        weight[given <= 0] = 0
        sums = self.of_labels @ (weight * _mean(self.shared @ u, given))
        return _mean(sums, self.of_labels @ weight)

    def _known(self, units: Floats, raters: Floats, labels: Floats) -> Qualities:
        """Return the qualities, or NaN without a pair of ratings."""
        of_parts = (self.units[self.left], self.raters, self.cells[1])
        return Qualities(
            *(
                np.where(np.bincount(codes, minlength=len(part)) > 0, part, np.nan)
                for codes, part in zip(of_parts, (units, raters, labels), strict=True)
            )
        )


def ones(rows: Codes, n_rows: int) -> Any:
    """Return the sparse matrix that sums entries by their row, (n_rows, n_entries)."""
    from scipy import sparse

    n = len(rows)
    return sparse.csr_array((np.ones(n), (rows, np.arange(n))), shape=(n_rows, n))


def _mean(sums: Floats, weights: Floats) -> Floats:
    """Return the weighted means, or 0 if all weights are 0."""
    return np.divide(sums, weights, out=np.zeros(sums.shape), where=weights > 0)


def _floored(squares: Floats) -> Floats:
    return np.maximum(np.sqrt(squares), _LEAST)


Empty: TypeAlias = Literal["label", "published"]


@dataclass(frozen=True, eq=False, repr=False)
class CrowdTruth(Result):
    """Quality of units, raters and labels, from 0 to 1.

    Attributes
    ----------
    units, raters, labels : DataFrame
        A row for each, by name: `quality`, `quality_initial` (of the first sweep, where all others
        still count alike), and `n_ratings` of all units, those with one rating too. The quality is
        NaN for a unit with one rating, for a rater without a co-worker, and for a label that nobody
        gave to a unit with two ratings.
    n_sweeps : int
        Number of sweeps over the qualities.
    converged : bool
        Whether all changes in the last sweep were below 0.001.
    empty : {"label", "published"}
        Treatment of the empty set.
    """

    units: pd.DataFrame
    raters: pd.DataFrame
    labels: pd.DataFrame
    n_sweeps: int
    converged: bool
    empty: str

    def to_frame(self) -> pd.DataFrame:
        """Return all rows: `what` is unit, rater or label, and `name` which; units come first."""
        parts = []
        for frame in (self.units, self.raters, self.labels):
            part = frame.reset_index(names="name").astype({"name": object})
            part.insert(0, "what", str(frame.index.name))
            parts.append(part.reindex(columns=_COLUMNS))
        return pd.concat([part for part in parts if len(part)], ignore_index=True)

    @property
    def reasons(self) -> list[str | None]:
        """The reason for a quality of NaN, for each row of `to_frame`; None if it is a number."""
        frame = self.to_frame()
        whys = frame["what"].map(_WHY_NAN).where(frame["quality"].isna(), None)
        return [None if pd.isna(one) else one for one in whys]

    def __repr__(self) -> str:
        parts = []
        for frame in (self.units, self.raters, self.labels):
            known = frame["quality"].dropna()
            ends = f" {number(known.min())} to {number(known.max())}" if len(known) else " nan"
            parts.append(f"{counted(len(frame), str(frame.index.name))}{ends}")
        stopped = "" if self.converged else ", not converged"
        return f"<CrowdTruth: {', '.join(parts)}, {counted(self.n_sweeps, 'sweep')}{stopped}>"


_COLUMNS = ["what", "name", "quality", "quality_initial", "n_ratings"]

_WHY_NAN = {
    "unit": "the unit has one rating",
    "rater": "nobody else rated the rater's units",
    "label": "nobody gave the label to a unit with two ratings",
}


@public
def crowdtruth(study: Data, *, empty: Empty = "label") -> CrowdTruth:
    r"""Return CrowdTruth's quality scores of units, raters and labels.

    The three are defined by each other (Dumitrache et al. 2018): a unit is clear if good raters
    agree on it, a rater is good who agrees with good raters on clear units, and a label is clear if
    good raters give it together. Answers are vectors v of zeros and ones over the labels, cosines
    weight each label by its quality, and i, j are two raters of a unit u:

    .. math::

        UQS_u &= \textstyle\sum_{i<j} w_i w_j \cos(v_{iu}, v_{ju}) / \sum_{i<j} w_i w_j \\
        WQS_i &= WWA_i \cdot WSA_i \\
        WWA_i &= \textstyle\sum_{u, j} w_j UQS_u \cos(v_{iu}, v_{ju}) / \sum_{u, j} w_j UQS_u \\
        WSA_i &= \textstyle\sum_u UQS_u \cos(v_{iu}, V_u - w_i v_{iu}) / \sum_u UQS_u \\
        AQS_a &= \textstyle\sum_{i \ne j} w_i w_j P_{ij}(a) / \sum_{i \ne j} w_i w_j \\
        P_{ij}(a) &= \textstyle\sum_u UQS_u v_{iua} v_{jua} / \sum_u UQS_u v_{jua}

    where w is WQS, V_u the sum of w_i v_iu, and P_ij is over the units that both rated. All start
    at 1; each sweep computes all from the previous values, until no value changes by 0.001 or more,
    for at most 100 sweeps. The quality is 0 if all weights are 0.

    The scores are not chance-corrected: they depend on the number and frequency of labels. Use them
    to compare raters of one task, not tasks.

    The cost per sweep is the number of pairs of ratings within units, times their labels.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Ratings. Each single value is a label.
    empty : {"label", "published"}
        The empty set is a label of its own, so that two empty sets agree; or as published, where it
        agrees with nothing, not even with itself.

    Returns
    -------
    CrowdTruth

    Raises
    ------
    CostError
        There are too many pairs of ratings.
    DataError
        The study is a tally without rater identities.

    Warns
    -----
    DegreesWarning
        Labels have degrees, which do not count here.
    ConvergenceWarning
        The scores had not converged after 100 sweeps.

    References
    ----------
    Dumitrache et al. (2018).

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([
    ...     ("ann", 1, "a, b"), ("bob", 1, "a"), ("cem", 1, "a"), ("ann", 2, "c"), ("bob", 2, "c"),
    ...     ("cem", 2, set()), ("ann", 3, set()), ("bob", 3, set()), ("cem", 3, "b"),
    ... ])
    >>> found = crowdtruth(study)
    >>> found.raters["quality"].round(3).to_dict()
    {'ann': 0.904, 'bob': 0.904, 'cem': 0.165}
    >>> found.labels.index.tolist()
    ['a', 'b', 'c', '{}']
    """
    study = known_plain(study, "crowdtruth")
    check_choice("empty", empty, ("label", "published"))
    doubt_degrees(study.values, "crowdtruth")
    names, flags = _labelled(study, empty)
    answers = _answers(study, flags)
    first, last, n_sweeps, converged = answers.swept()
    if not converged:
        warn(
            f"crowdtruth: the scores still moved after {n_sweeps} sweeps; they are not final.",
            ConvergenceWarning,
        )
    given = np.asarray(flags[study.value_codes].sum(axis=0)).ravel()
    n_ratings = (np.bincount(study.unit_codes), np.bincount(study.rater_codes), given)
    indices: tuple[Any, ...] = (study.units, study.raters, names)
    units, raters, labels = (
        pd.DataFrame(
            {"quality": new, "quality_initial": old, "n_ratings": n.astype(np.int64)},
            index=pd.Index(as_objects([*index]), name=name, tupleize_cols=False),
        )
        for name, index, new, old, n in zip(
            ("unit", "rater", "label"), indices, last.parts, first.parts, n_ratings, strict=True
        )
    )
    return CrowdTruth(units, raters, labels, n_sweeps, converged, empty)


def _labelled(study: Annotations, empty: Empty) -> tuple[list[Any], Any]:
    """Return the labels, and the flags of those in each value, sparse, (K, L)."""
    from scipy import sparse

    if study.kind != "labels":
        return list(study.values), sparse.eye_array(study.n_values, format="csr")
    geometry = SetGeometry(study.values)
    names, flags = list(geometry.labels), geometry.flags
    codebook = None if study.reading is None else study.reading.syntax.codebook
    unused = sorted_labels({*(codebook or ())} - {*names})
    blank = sparse.csr_array((study.n_values, len(unused)), dtype=flags.dtype)
    parts = [flags, blank]
    if empty == "label" and (geometry.sizes == 0).any():
        parts.append(sparse.csr_array((geometry.sizes == 0).astype(flags.dtype)[:, None]))
        unused.append(display_labels(frozenset()))
    return names + unused, sparse.hstack(parts, format="csr")


def _answers(study: Annotations, flags: Any) -> Answers:
    """Return the ratings of pairable units, in the order of units."""
    sizes = np.bincount(study.unit_codes, minlength=study.n_units)
    order = np.argsort(study.unit_codes, kind="stable")
    order = order[sizes[study.unit_codes[order]] >= 2]
    codes = (study.unit_codes, study.rater_codes, study.value_codes)
    units, raters, values = (each[order].astype(np.intp) for each in codes)
    shape = (study.n_units, study.n_raters)
    return Answers(units, raters, values, flags, shape)

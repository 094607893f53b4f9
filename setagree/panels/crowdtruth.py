"""CrowdTruth quality scores of units, raters and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
import pandas as pd

from setagree.checks import Codes, Floats, check_cost
from setagree.coefficients.case import divided
from setagree.credit.base import neighbours
from setagree.credit.geometry import SetGeometry
from setagree.errors import ConvergenceWarning, check_choice, counted, warn
from setagree.inference.panel_members import ratings_by_unit, unweighted_units
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.study.degrees import warn_degrees
from setagree.wording.label_sets import display_labels, sorted_labels
from setagree.wording.number_format import number
from setagree.wording.result_base import Result
from setagree.wording.tables import Column

_STILL, _MOST_SWEEPS = 0.001, 100
"""Change at which the sweeps stop, and maximum number of sweeps, as published."""

_LEAST = 1e-8
"""The least denominator of a cosine."""

_ENTRY_BYTES = 100
"""Bytes per pair of ratings, or per label of one."""


Qualities: TypeAlias = tuple[Floats, ...]
"""Qualities of units, raters and labels, one array each."""


class Answers:
    """The ratings of units with two or more, their pairs, their labels, and the sweeps over them.

    `flags`, sparse of shape (K, L), are those of the labels in each value.
    """

    def __init__(self, study: Annotations, flags: Any) -> None:
        codes = ratings_by_unit(study)
        is_paired = np.bincount(codes[0])[codes[0]] >= 2
        units, raters, values = (each[is_paired].astype(np.intp) for each in codes)
        self.units, self.raters, self.values = units, raters, values
        self.flags, L = flags.astype(np.float64), flags.shape[1]
        self.shape = study.n_units, study.n_raters, L
        of_ratings = self.flags[values]
        n_labels, r = np.diff(of_ratings.indptr), np.bincount(units)
        n_entries = float((r * (r - 1)).sum()) / 2 + float((n_labels * (r - 1)[units]).sum())
        n_bytes = _ENTRY_BYTES * n_entries
        check_cost("The pairs of ratings", n_bytes=n_bytes, instead="Take a part of the units.")
        # The two ratings of each pair, and the labels that both have.
        pairs = zip((units[:0], units[:0]), *neighbours(units), strict=True)
        self.left, self.right = left, right = [np.concatenate(sides) for sides in pairs]
        self.common = of_ratings[left].multiply(of_ratings[right])
        # The rating of each label of a rating, the label, and its cell: a unit and a label it got.
        self.rating = np.repeat(np.arange(len(values)), n_labels)
        self.label = of_ratings.indices.astype(np.intp)
        keys, self.cell = np.unique(
            units[self.rating].astype(np.int64) * L + self.label, return_inverse=True
        )
        self.cell_units, self.cell_labels = np.divmod(keys.astype(np.intp), max(1, L))
        # The entries of P_ij(a): a unit in which rater j gave label a and rater i rated, too; `too`
        # has those in which rater i also gave it.
        i, j = np.concatenate([left, right]), np.concatenate([right, left])
        entry = np.repeat(np.arange(len(j)), n_labels[j])
        label = of_ratings[j].indices.astype(np.int64)
        raters_of = (raters[i].astype(np.int64) * study.n_raters + raters[j])[entry]
        keys, self.triple = np.unique(raters_of * L + label, return_inverse=True)
        both, labels = np.divmod(keys, max(1, L))
        self.triples = (*np.divmod(both, study.n_raters), labels.astype(np.intp))
        self.triple_units, self.too = units[j][entry], np.zeros(len(entry))
        if len(entry):  # of no entries at all scipy returns no array
            self.too = np.asarray(of_ratings[i[entry], label]).ravel()
        self.has_pairs = [
            np.bincount(codes, minlength=n) > 0
            for codes, n in zip((units, raters, self.cell_labels), self.shape, strict=True)
        ]

    def swept(self) -> tuple[Qualities, Qualities, int, bool]:
        """Return the first and the last qualities, the number of sweeps, and if they converged."""
        old: Qualities = tuple(np.ones(n) for n in self.shape)
        first, new, n_sweeps, moved = None, old, 0, np.inf
        while moved >= _STILL and n_sweeps < _MOST_SWEEPS:
            old, new = new, self.sweep(*map(np.nan_to_num, new))
            first, n_sweeps = first or new, n_sweeps + 1
            changes = [np.nan_to_num(np.abs(a - b)) for a, b in zip(new, old, strict=True)]
            moved = max(float(each.max(initial=0)) for each in changes)
        return first or new, new, n_sweeps, moved < _STILL

    def sweep(self, u: Floats, w: Floats, q: Floats) -> Qualities:
        """Return the next qualities of units, raters and labels from the previous ones.

        The quality is 0 if all weights are 0, and NaN without any pair of ratings.
        """
        n_units, n_raters, n_labels = self.shape
        # cos(v_iu, v_ju) of each pair of ratings; |v|² = sum_a q_a v_a² = sum_a q_a v_a.
        norms, i, j = (self.flags @ q)[self.values], self.left, self.right
        c = self.common @ q / np.maximum(np.sqrt(norms[i] * norms[j]), _LEAST)
        mine, u_i = w[self.raters], u[self.units]
        w_i, w_j, u_ij, unit = mine[i], mine[j], u_i[i], self.units[i]
        # UQS_u = sum_{i<j} w_i w_j cos(v_iu, v_ju) / sum_{i<j} w_i w_j
        units = _ratio(unit, c * w_i * w_j, w_i * w_j, n_units)
        # WWA_i = sum_{u, j} w_j UQS_u cos(v_iu, v_ju) / sum_{u, j} w_j UQS_u
        both = np.concatenate([self.raters[i], self.raters[j]])
        w_u = np.concatenate([w_j * u_ij, w_i * u_ij])
        wwa = _ratio(both, np.tile(c, 2) * w_u, w_u, n_raters)
        # WSA_i = sum_u UQS_u cos(v_iu, V_u - w_i v_iu) / sum_u UQS_u. For label a of the unit
        # (V_u - w_i v_iu)_a is V_ua - w_i if rater i gave it, else V_ua.
        V = np.bincount(self.cell, mine[self.rating], len(self.cell_units))
        rest, n = V[self.cell] - mine[self.rating], len(self.raters)
        squares = q[self.cell_labels] * V**2
        others = np.bincount(self.cell_units, squares, n_units)[self.units]
        others = others - np.bincount(self.rating, squares[self.cell], n)
        others = np.maximum(others, 0) + np.bincount(self.rating, q[self.label] * rest**2, n)
        dots = mine * np.bincount(self.rating, q[self.label] * rest, n)
        to_others = dots / np.maximum(np.sqrt(mine**2 * norms * others), _LEAST)
        wsa = _ratio(self.raters, to_others * u_i, u_i, n_raters)
        # P_ij(a) = sum_u UQS_u v_iua v_jua / sum_u UQS_u v_jua
        (i, j, a), u_t = self.triples, u[self.triple_units]
        given = np.bincount(self.triple, u_t, len(a))
        P = divided(np.bincount(self.triple, self.too * u_t, len(a)), given, 0.0)
        # AQS_a = sum_{i != j} w_i w_j P_ij(a) / sum_{i != j} w_i w_j
        ww = np.where(given > 0, w[i] * w[j], 0)
        labels = _ratio(a, ww * P, ww, n_labels)
        new = zip(self.has_pairs, (units, wwa * wsa, labels), strict=True)
        return tuple(np.where(has, each, np.nan) for has, each in new)


def _ratio(codes: Codes, x: Floats, weights: Floats, n: int) -> Floats:
    """Return the sum of x over that of the weights for each code, or 0 if all weights are 0."""
    return divided(np.bincount(codes, x, n), np.bincount(codes, weights, n), 0.0)


Empty: TypeAlias = Literal["label", "published"]


@dataclass(frozen=True, eq=False, repr=False)
class CrowdTruth(Result):
    """Quality of units, raters and labels, from 0 to 1.

    Attributes
    ----------
    units, raters, labels : DataFrame
        A row for each, by name: `quality`, `quality_initial` (of the first sweep, in which all
        others have equal weights), and `n_ratings` of all units, including those with one rating.
        The quality is NaN for a unit with one rating, for a rater without a co-worker, and for a
        label that nobody gave to a unit with two ratings.
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

    max_rows = 40
    columns = (
        Column("kind", "text"),
        Column("name", "name"),
        Column("quality"),
        Column("quality_initial", head="initial quality"),
        Column("n_ratings", "count", "ratings"),
    )

    def _to_print(self) -> pd.DataFrame:
        frame = self.to_frame()
        return pd.concat([frame[frame["kind"] != "unit"], frame[frame["kind"] == "unit"]])

    def _notes(self) -> list[str]:
        biased = "scores of labels are too low, and those of raters and units too high"
        return [f"The scores have no intervals. In small studies, {biased}."]

    def to_frame(self) -> pd.DataFrame:
        """Return all rows: `kind` is unit, rater or label, and `name` which; units come first."""
        parts = [
            frame.reset_index(names="name").astype({"name": object})
            for frame in (self.units, self.raters, self.labels)
        ]
        for part, kind in zip(parts, _WHY_NAN, strict=True):
            part.insert(0, "kind", kind)
        return pd.concat([part for part in parts if len(part)], ignore_index=True)

    @property
    def reasons(self) -> list[str | None]:
        """The reason for a quality of NaN per row of `to_frame`, or None if it is a number."""
        frame = self.to_frame()
        cells = zip(frame["kind"], frame["quality"], strict=True)
        return [_WHY_NAN[kind] if np.isnan(quality) else None for kind, quality in cells]

    def _heading(self) -> str:
        parts = []
        for frame in (self.units, self.raters, self.labels):
            defined = frame["quality"].dropna()
            ends = (
                f" {number(defined.min())} to {number(defined.max())}" if len(defined) else " nan"
            )
            parts.append(f"{counted(len(frame), str(frame.index.name))}{ends}")
        stopped = "" if self.converged else ", not converged"
        return f"{', '.join(parts)}, {counted(self.n_sweeps, 'sweep')}{stopped}"


_WHY_NAN = {
    "unit": "the unit has one rating",
    "rater": "nobody else rated the rater's units",
    "label": "nobody gave the label to a unit with two ratings",
}


@takes_data
def crowdtruth(
    study: Data,
    *more: RaterAnswers,
    empty: Empty = "label",
    **options: Unpack[ReadingOptions],
) -> CrowdTruth:
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
    to compare raters of one task, not tasks. They have no intervals, because the coverage of
    resampling intervals is far too low. In small studies the scores of labels are too low, and
    those of raters and units too high: in simulated studies of 40 units by up to 0.13 and 0.08, of
    100 units by up to 0.08 and 0.05.

    The cost per sweep is the number of pairs of ratings within units, times their labels.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Ratings. Each single value is a label.
    empty : {"label", "published"}
        ``"label"`` treats the empty set as a label, so that two empty sets agree; with
        ``"published"`` it agrees with no answer.

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
    study = unweighted_units(study, "crowdtruth")
    check_choice("empty", empty, ("label", "published"))
    warn_degrees(study.values, "crowdtruth")
    names, flags = _labelled(study, empty)
    first, last, n_sweeps, converged = Answers(study, flags).swept()
    if not converged:
        warn(
            f"crowdtruth: the scores had not converged after {n_sweeps} sweeps."
            " They are not final.",
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
            ("unit", "rater", "label"), indices, last, first, n_ratings, strict=True
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
    codebook = None if study.reading is None else study.reading.syntax.allowed
    unused = sorted_labels({*(codebook or ())} - {*names})
    blank = sparse.csr_array((study.n_values, len(unused)), dtype=flags.dtype)
    parts = [flags, blank]
    if empty == "label" and (geometry.sizes == 0).any():
        parts.append(sparse.csr_array((geometry.sizes == 0).astype(flags.dtype)[:, None]))
        unused.append(display_labels(frozenset()))
    return names + unused, sparse.hstack(parts, format="csr")

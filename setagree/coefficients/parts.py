"""The coefficient of parts of a study, and of the study without each of them.

A part b is a set of units, or all ratings of a rater. It adds the sums S_b to those of the study, S
(see `sums`), and the counts z_b to its urn, X. The coefficient is the same function of

    the part:          S_b,       X' F X  ->  z' F z
    what is left:      S - S_b,   X' F X  ->  (X - z)' F (X - z) = X' F X - 2 z' F X + z' F z

The values and the distance, with its maximum, remain those of the study. The standard error of what
is left rests on sums of squares over its units. The linearised value of unit i (see
`sums.slopes`), its deviation from the mean, is

    psi_ib = v_b . f_i - d_b nu_ib,    f_i = (1, M_i, O_i, share_i c_i' F X) - their means,

with nu_ib = share_i c_i' F z_b. Over all units the sum of squares is v' (sum f f') v - 2 d v . (sum
f nu) + d² sum nu²; the units that the part itself changes are then corrected one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from setagree.checks import check_cost
from setagree.coefficients.chance import NOTHING, Case, Codes, Floats
from setagree.coefficients.chance_models import Fixed, Model, Redrawn, Urn
from setagree.coefficients.conger import UrnOfEachRater
from setagree.coefficients.multivalued import redrawn_steps
from setagree.coefficients.sums import (
    Flags,
    Left,
    Sums,
    UnitSums,
    coefficient,
    features,
    is_undefined,
    root,
    slopes,
)
from setagree.credit.base import sums_to_others
from setagree.credit.within_groups import distinct_keys
from setagree.study.annotations import Annotations

_SMALL = 1.3e-4
"""Share of the units up to which the distances of all units to the urn of a part count as equal;
the standard error of the others changes by less than 1e-12 of itself."""

_BLOCK_CELLS = 4_000_000
"""Entries of a dense block; 32 MB."""

_MAX_DENSE_VALUES = 2_000
"""Distinct values up to which arrays of values x values are made; 32 MB each."""

_STEPS_PER_ENTRY = 20
"""Elementary steps to take a rating from the urn, per distinct value of its unit."""

_STEPS_PER_RATING = 4
"""Elementary steps of a rating, per rater or per value, in `Absences.deviations`."""

_SQUARES_TOL = 1e-9
"""Share of its terms below which a sum of squares is recomputed, because its digits cancelled."""


class Estimates(NamedTuple):
    """A coefficient of several studies, of shape (n,).

    Attributes
    ----------
    estimate, standard_error : ndarray
        As `Estimate` and `standard_error` define them.
    observed : ndarray
        The observed disagreement as a share of d_max.
    counted : ndarray
        Number of units behind the standard error.
    undefined : ndarray of object
        The reason for an estimate of NaN (an `Undefined`), or None.
    """

    estimate: Floats
    standard_error: Floats
    observed: Floats
    counted: Floats
    undefined: npt.NDArray[np.object_]


class _Urns(NamedTuple):
    """z_bk, the amount that each part adds to the urn per value, sorted by part and value."""

    parts: Codes
    values: Codes
    z: Floats

    def dot(self, x: Floats, n_parts: int) -> Floats:
        """Return z_b' x of each part, for x of shape (K,)."""
        return _added(self.parts, self.z * x[self.values], n_parts)


def are_known(model: Model) -> bool:
    """Return whether the parts of a study are computed together under a model."""
    return isinstance(model, Fixed | Redrawn | Urn | UrnOfEachRater)


@dataclass(frozen=True, eq=False)
class Parts:
    """Units of a study, each in one part.

    Attributes
    ----------
    case : Case
        The units, one row of the tally each; with raters for a model that needs them.
    model : Model
        The chance model.
    of_row : ndarray of shape (n_rows,)
        The part of each unit.
    n_parts : int
        Number of parts.
    """

    case: Case
    model: Model
    of_row: Codes
    n_parts: int

    @cached_property
    def whole(self) -> UnitSums:
        """The sums of all units."""
        return UnitSums(self.case, self.model)

    @cached_property
    def sums(self) -> Sums:
        """The sums S_b of each part."""
        return Sums(*map(self._total, self.whole.of_patterns[0]))

    @cached_property
    def n_units(self) -> Codes:
        """Number of units of each part."""
        return np.bincount(self.of_row, minlength=self.n_parts)

    @cached_property
    def n_pairable(self) -> Codes:
        """Number of pairable units of each part."""
        return self._total(self.case.tally.pairable.astype(np.float64)).astype(np.int64)

    def _total(self, each: Floats) -> Floats:
        return _added(self.of_row, each, self.n_parts)

    @np.errstate(divide="ignore", invalid="ignore")
    def estimates(self) -> Estimates:
        """Return the coefficient of each part."""
        S, (y, near), f = self.sums, self._chance, self.whole.of_patterns[0]
        _, b, c, d = slopes(self.model, S, y, S.M / S.n, varies=not self.model.fixed)
        # Linearised values without their constant, of which deviations from the mean are free.
        terms = zip((b, c, d), (f.M, f.O, near), strict=True)
        x = sum(np.asarray(slope)[self.of_row] * each for slope, each in terms)
        mean = self._total(x * f.n) / np.maximum(S.n, 1)
        squares = self._total(f.n * (x - mean[self.of_row]) ** 2)
        error = root(squares / np.where(S.n > 1, S.n * (S.n - 1), np.nan))
        reasons = self._undefined_reasons(y)
        nan = np.where([one is None for one in reasons], 0.0, np.nan)
        estimate = coefficient(self.model, S, y) + nan
        return Estimates(estimate, error + nan, S.O / S.M, S.n, reasons)

    @np.errstate(divide="ignore", invalid="ignore")
    def rests(self) -> tuple[Estimates, Flags]:
        """Return the coefficient of all units but those of each part.

        Only for a Fixed or Urn model. The flags mark the parts whose rest must be scored instead:
        the part has more than half of the units, or leaves fewer than two pairable ones, or digits
        cancelled.
        """
        whole, near, gone, n = self.whole, self._chance[1], self.sums, self.n_parts
        share = whole.of_patterns[1]
        to_urn = self._total(share * whole.to_urn)
        left = whole.left(gone, to_urn, self._total(near))
        estimate, lost = whole.of_left(left)
        values = _LinearisedValues(whole)
        crossed = np.zeros((n, 4))
        if isinstance(self.model, Urn):
            crossed = np.stack([self._urns.dot(x, n) for x in values.crossed.T], axis=1)
        # A unit has the linearised value 0 in the study without its part.
        change = _Change(np.arange(len(near)), self.of_row, near, 0.0)
        nu = _NuSums(crossed, self._squared_near(to_urn))
        squares, _ = values.squares(values.slopes(left), nu, change)
        left_n, n_pairable = left.sums.n, self.n_pairable.sum() - self.n_pairable
        lost |= (left_n < gone.n) | (n_pairable < 2)
        reasons = np.full(n, None)
        observed = left.sums.O / left.sums.M
        return Estimates(estimate, root(squares), observed, left_n, reasons), lost

    @cached_property
    def _coded(self) -> tuple[_Urns, Codes, Floats]:
        """The urns, and the entry of them that each stored count adds share_i c_ik to."""
        tally, K = self.case.tally, self.case.weights.n_values
        each = tally.counts * self.whole.of_patterns[1][tally.rows]
        keys = self.of_row.astype(np.int64)[tally.rows] * K + tally.indices
        distinct, entry = distinct_keys(keys, self.n_parts * K)
        parts = distinct // K  # much faster than divmod
        values, z = (distinct - parts * K).astype(np.intp), _added(entry, each, len(distinct))
        return _Urns(parts.astype(np.intp), values, z), entry, each

    @property
    def _urns(self) -> _Urns:
        return self._coded[0]

    @cached_property
    def _chance(self) -> tuple[Floats, Floats]:
        """Y of each part, and share_i c_i' F z_b of each unit and its part; 0 if y is fixed."""
        match self.model:
            case Fixed():
                return np.full(self.n_parts, self.model.level(self.case)), np.zeros(
                    len(self.of_row)
                )
            case UrnOfEachRater():
                return self.model.in_parts(self.case, self.of_row, self.n_parts)
            case Redrawn():
                columns = self._columns(np.arange(self.n_parts))
                y = np.concatenate([self.model.chance(self.case, z) for _, z in columns])
                return y, np.full(len(self.of_row), np.nan)  # no closed form of a unit is known
            case Urn():
                urns, entry, each = self._coded
                spread = self.model.spread_in_groups(self.case, *urns)
                near = _added(self.case.tally.rows, each * spread[entry], len(self.of_row))
                pairs = self.sums.P**2 - self.sums.own
                form = _added(urns.parts, urns.z * spread, self.n_parts)
                return form / np.where(pairs > 0, pairs, np.nan), near
        raise TypeError(f"the parts of {self.model!r} are not computed together")

    def _undefined_reasons(self, y: Floats) -> npt.NDArray[np.object_]:
        """Return the reason for each estimate of NaN, or None; see `estimate`."""
        n_pairable = self.n_pairable
        enough = y > NOTHING * self._reach / self.case.weights.max_distance
        bad = is_undefined(self.model, self.sums) | ~enough
        out = np.full(self.n_parts, None)
        out[bad] = "no chance disagreement"
        out[bad & (n_pairable == 1)] = "one unit"
        out[bad & (np.bincount(self._urns.parts, minlength=self.n_parts) == 1)] = "one value"
        out[bad & (n_pairable == 0)] = "no pairable unit"
        return out

    @property
    def _reach(self) -> Floats:
        """The largest distance of each part from one value in use to another; see `reach`."""
        used = np.flatnonzero(self._urns.z)
        part, value = self._urns.parts[used], self._urns.values[used]
        start = np.flatnonzero(np.diff(part, prepend=-1))
        first = np.repeat(value[start], np.diff(start, append=len(part)))
        out = np.zeros(self.n_parts)
        if len(start):
            d = self.case.weights.distance_at(first, value)
            out[part[start]] = np.maximum.reduceat(d, start)
        return np.where(out > 0, out, self.case.weights.max_distance)

    def _squared_near(self, to_urn: Floats) -> Floats:
        """Return sum_i nu_ib² over all units, nu_ib = share_i c_i' F z_b; their sum is z' F X.

        For a part that is small compared with the study, all nu_ib count as equal.
        """
        n = float(self.whole.sums.n)
        out = to_urn**2 / max(n, 1)
        large = np.flatnonzero((self.sums.n > _SMALL * n) & (not self.model.fixed))
        for some, z in self._columns(large, len(self.of_row)):
            near = self.whole.counts @ self.whole.spread(z)
            out[some] = np.einsum("up,up->p", near, near)
        return out

    def _columns(self, parts: Codes, width: int = 1) -> Iterator[tuple[Codes, Floats]]:
        """Yield some of the parts and their urns, of shape (K, n), in bounded memory."""
        urns, K = self._urns, self.case.weights.n_values
        block_size = max(1, _BLOCK_CELLS // max(K, width))
        for start in range(0, len(parts), block_size):
            some = parts[start : start + block_size]
            place = np.full(self.n_parts, -1)
            place[some] = np.arange(len(some))
            column = place[urns.parts]
            kept = np.flatnonzero(column >= 0)
            z = np.zeros((K, len(some)))
            z[urns.values[kept], column[kept]] = urns.z[kept]
            yield some, z


@dataclass(frozen=True, eq=False)
class Absences:
    """A study without each of its raters.

    Without a rating v, the r, q and c of its unit become r - 1, q - 2 sum_l c_l d_vl and c - e_v.

    Attributes
    ----------
    whole : UnitSums
        The sums of the study.
    study : Annotations
        The ratings.
    """

    whole: UnitSums
    study: Annotations

    def estimates(self) -> tuple[Floats, Flags]:
        """Return the coefficient without each rater, and whether it must be scored instead.

        Raises
        ------
        TypeError
            The chance model does not define what it gives without a rater.
        """
        match self.whole.model:
            case UrnOfEachRater() as model:
                y, gone = model.without_raters(self.whole.case), self._gone
                left = Left(self.whole.sums.minus(gone), y, y)
                out, lost = self.whole.of_left(left)
                # Weights from the sizes of strata change if a unit is left without ratings.
                return out, lost | ((gone.n > 0) & (self.whole.case.rated.strata is not None))
            case Redrawn() as model:
                return self._redrawn(model)
            case Fixed() | Urn():
                return self.whole.of_left(self._left)
        raise TypeError(f"{self.whole.model!r} is not a model whose raters can be left out")

    def _redrawn(self, model: Redrawn) -> tuple[Floats, Flags]:
        """Return the estimates if labels are redrawn, once for raters of the same answers."""
        case, bounds, gone = self.whole.case, self._urn.indptr, self._gone
        alike: dict[tuple[bytes, bytes], list[int]] = {}
        for g in np.flatnonzero(self.whole.sums.n - gone.n > 1).tolist():
            mine = slice(bounds[g], bounds[g + 1])
            answers = self._urn.indices[mine].tobytes(), self._urn.data[mine].tobytes()
            alike.setdefault(answers, []).append(g)
        check_cost(
            "mv_alpha without each rater",
            n_steps=len(alike) * redrawn_steps(case.tally.values),
            instead="Krippendorff's alpha passes, or fewer raters.",
        )
        y = np.full(self.study.n_raters, np.nan)
        for raters in alike.values():
            z = self._urn[[raters[0]]].toarray()[0]
            y[raters] = model.chance(case, (self.whole.urn - z)[:, None])
        return self.whole.of_left(Left(self.whole.sums.minus(gone), y, y))

    @cached_property
    def _entries(self) -> Codes:
        """The stored count of the tally that each rating is one of."""
        tally, K = self.whole.case.tally, self.whole.case.weights.n_values
        if tally.unit_patterns is None:
            raise TypeError("this case has no patterns of units")
        patterns = tally.unit_patterns.astype(np.int64)[self.study.unit_codes]
        keys = tally.rows.astype(np.int64) * K + tally.indices
        return np.searchsorted(keys, patterns * K + self.study.value_codes)

    @cached_property
    def _to_others(self) -> Floats:
        """sum_l c_l d_vl of each stored count of v: the distances to the others of its unit."""
        tally = self.whole.case.tally
        return sums_to_others(tally.rows, tally.indices, tally.counts, self.whole.case.weights)

    @property
    def distances(self) -> Floats:
        """Sum of the distances from each rating to the others of its unit."""
        return self._to_others[self._entries]

    @cached_property
    def _after(self) -> tuple[Sums, Floats]:
        """Contribution of a unit to the sums without one rating per stored count, and `share`."""
        case, tally = self.whole.case, self.whole.case.tally
        r = tally.pattern_ratings[tally.rows] - 1
        q = case.disagreement[tally.rows] - 2 * self._to_others
        d_max, pairs = case.weights.max_distance, np.where(r > 1, r * (r - 1), np.inf)
        return features(self.whole.model, r, r, q / (d_max * pairs))

    @cached_property
    def _by_rater(self) -> tuple[Codes, Codes]:
        """The ratings in the order of their raters, and the bounds of those of each rater."""
        order = np.argsort(self.study.rater_codes, kind="stable")
        counts = np.bincount(self.study.rater_codes, minlength=self.study.n_raters)
        return order, np.concatenate([[0], np.cumsum(counts)])

    def _ratings(self, weights: Floats | None = None) -> Any:
        """Return the frequency or weight of each stored count by rater, as a sparse array."""
        from scipy import sparse

        order, ends = self._by_rater
        w = np.ones(len(order)) if weights is None else weights[self.study.unit_codes[order]]
        shape = self.study.n_raters, self.whole.case.tally.counts.size
        return sparse.csr_array((w, self._entries[order], ends), shape)

    @cached_property
    def _gone(self) -> Sums:
        """Contribution of each rater to the sums."""
        rows, (before, _) = self.whole.case.tally.rows, self.whole.of_patterns
        moved = [x[rows] - rest for x, rest in zip(before, self._after[0], strict=True)]
        if not self.whole.case.is_weighted:
            return Sums(*(self._ratings() @ np.stack(moved, axis=1)).T)
        w, v = self.whole.unit_weights
        by_weight = (self._ratings(each) for each in (None, w, w, v, w**2))
        return Sums(*(ratings @ x for ratings, x in zip(by_weight, moved, strict=True)))

    @cached_property
    def _urn(self) -> Any:
        """z_b, sum_i s_i c_i - s'_i (c_i - e_v) of each rater, of shape (n_raters, K), sparse.

        s_i is share_i, and s'_i share_i without the rating v.
        """
        from scipy import sparse

        whole, after, tally = self.whole, self._after[1], self.whole.case.tally
        ratings = self._ratings(whole.unit_weights[1] if whole.case.is_weighted else None)
        at, data, ends = ratings.indices, ratings.data, ratings.indptr
        R, K = self.study.n_raters, whole.case.weights.n_values
        z = sparse.csr_array((data * after[at], tally.indices[at], ends.copy()), (R, K))
        # s c - s' c = (1 - s' / s) (s c), of the units in which a rating less changes share_i
        before = whole.of_patterns[1][tally.rows]
        moved = np.where(before != after, 1 - after / np.where(before > 0, before, 1), 0.0)
        if moved.any():
            units = sparse.csr_array(
                (data * moved[at], tally.rows[at], ends.copy()), (R, tally.n_patterns)
            )
            units.eliminate_zeros()
            check_cost(
                "Leaving out each rater",
                n_steps=_STEPS_PER_ENTRY * float(np.diff(tally.indptr)[units.indices].sum()),
                instead="Krippendorff's alpha passes, or fewer raters.",
            )
            z = z + units @ whole.counts
        z.sum_duplicates()  # which sorts, too
        return z

    @cached_property
    def _left(self) -> Left:
        """The study without each rater, for a Fixed or Urn model."""
        model, none = self.whole.model, np.zeros(self.study.n_raters)
        if not isinstance(model, Urn):
            return self.whole.left(self._gone, none, none)
        z = self._urn
        raters = np.repeat(np.arange(len(none)), np.diff(z.indptr))
        values = z.indices.astype(np.intp)
        spread = model.spread_in_groups(self.whole.case, raters, values, z.data)
        own_form = _added(raters, z.data * spread, len(none))
        return self.whole.left(self._gone, z @ self.whole.to_values, own_form)

    @property
    def _is_dense(self) -> bool:
        """Whether F, and F (sum_i s_i² c_i c_i') F, are made as arrays of shape (K, K)."""
        K, R = self.whole.case.weights.n_values, self.study.n_raters
        return bool(min(R, _MAX_DENSE_VALUES, (R * self.whole.counts.nnz) ** (1 / 3)) >= K)

    @property
    def n_steps(self) -> float:
        """Number of elementary steps of `deviations`."""
        K, R = self.whole.case.weights.n_values, self.study.n_raters
        return _STEPS_PER_RATING * float(self.study.n_ratings) * (K if self._is_dense else R)

    @np.errstate(divide="ignore", invalid="ignore")
    def deviations(self) -> tuple[Floats, Floats, Flags]:
        """Return the standard errors without each rater and of the change, and lost-digit flags.

        They are the roots of sum_i psi_ib² and of sum_i (psi_ib - psi_i)², with psi_i that of the
        study. Only for a Fixed or Urn model.
        """
        values, K = _LinearisedValues(self.whole), self.whole.case.weights.n_values
        dense = self.whole.spread(np.eye(K)) if self._is_dense else None
        squared = None if dense is None else dense @ (values.products @ dense)
        tally, (order, ends) = self.whole.case.tally, self._by_rater
        sizes = np.diff(tally.indptr)[tally.rows[self._entries]]
        n_cells = K if dense is not None else K + tally.n_patterns
        cells = n_cells + np.bincount(self.study.rater_codes, sizes, self.study.n_raters)
        bounds = np.flatnonzero(np.diff(np.cumsum(cells) // _BLOCK_CELLS)) + 1
        blocks = []
        for start, stop in pairwise([0, *bounds.tolist(), self.study.n_raters]):
            mine = order[ends[start] : ends[stop]]
            blocks.append(self._deviations(values, dense, squared, slice(start, stop), mine))
        own, change, lost = np.concatenate(blocks, axis=1)
        return own, change, lost > 0

    def _deviations(
        self,
        values: _LinearisedValues,
        dense: Floats | None,
        squared: Floats | None,
        some: slice,
        mine: Codes,
    ) -> Floats:
        """Return `deviations` of some raters, whose ratings are `mine`, of shape (3, n)."""
        z, left, whole = self._urn[some], self._left, self.whole
        F_z = z @ dense if dense is not None else whole.spread(z.toarray().T).T  # (n, K)
        entry, who = self._entries[mine], self.study.rater_codes[mine] - some.start
        at, v = whole.case.tally.rows[entry], self.study.value_codes[mine]
        # nu_ib = s_i c_i' F z_b: of all units, or its sums and that of the units of each rater
        every_nu: Floats | _NuSums
        if squared is None:
            every_nu = products = np.asarray(whole.counts @ F_z.T)
            nu = products[at, who]
        else:
            every_nu = _NuSums(z @ values.crossed, z.multiply(z @ squared).sum(axis=1))
            counts = whole.counts[at]
            row = np.repeat(np.arange(len(at)), np.diff(counts.indptr))
            nu = _added(row, counts.data * F_z[who[row], counts.indices], len(at))
        # s'_i (c_i - e_v)' F (X - z_b)
        before, after = whole.of_patterns[1][at], self._after[1][entry]
        ratio = after / np.where(before > 0, before, 1)
        near = ratio * (before * whole.to_urn[at] - nu) - after * (whole.to_values[v] - F_z[who, v])
        f = values.centred(Sums(*(x[entry] for x in self._after[0])), near)
        slopes_b = values.slopes(
            Left(Sums(*(x[some] for x in left.sums)), left.form[some], left.y[some])
        )
        psi = np.einsum("ij,ij->i", f, slopes_b[who])
        change = _Change(at, who, nu, psi)
        own, lost = values.squares(slopes_b, every_nu, change)
        gap, _ = values.squares(slopes_b, every_nu, change, minus=values.of_whole)
        return np.stack([root(own), root(gap), lost])


class _Change(NamedTuple):
    """Units that parts change: row, part, nu_ib, and psi_ib without the part."""

    rows: Codes
    parts: Codes
    nu: Floats
    psi: Floats | float


class _NuSums(NamedTuple):
    """sum_i f_i nu_ib and sum_i nu_ib² of each part."""

    crossed: Floats
    square: Floats


class _LinearisedValues:
    """Sums over units of squares and products of f_i; see the module.

    Attributes
    ----------
    times : ndarray of shape (n_rows,)
        Number of units of each row.
    f : ndarray of shape (n_rows, 4)
        f_i; 0 for a unit that does not count.
    crossed : ndarray of shape (K, 4)
        sum_i F (share_i c_i) f_i'.
    of_whole : ndarray of shape (4,)
        v of the study itself.
    """

    def __init__(self, whole: UnitSums) -> None:
        f, share = whole.of_patterns
        self.whole, self.times = whole, whole.times
        sums = np.array(
            [whole.sums.M, whole.sums.O, whole.form if isinstance(whole.model, Urn) else 0.0]
        )
        self.means = sums / whole.sums.n
        self.f = self.centred(f, share * whole.to_urn)
        weighted = self.f * self.times[:, None]
        self.squared = self.f.T @ weighted
        self.crossed = whole.spread(whole.counts.T @ weighted)
        S = Sums(*map(np.atleast_1d, whole.sums))
        self.of_whole = self.slopes(
            Left(S, np.atleast_1d(whole.form), np.atleast_1d(whole.chance[0]))
        )[0]

    @property
    def products(self) -> Any:
        """sum_i share_i² c_i c_i' of shape (K, K), sparse."""
        counts = self.whole.counts
        return counts.T @ counts.multiply(self.times[:, None]).tocsr()

    def centred(self, f: Sums, near: Floats) -> Floats:
        """Return f_i from the features of units."""
        return np.stack(
            [f.n, *(x - f.n * mean for x, mean in zip((f.M, f.O, near), self.means, strict=True))],
            axis=1,
        )

    def slopes(self, left: Left) -> Floats:
        """Return v_b / sqrt(n (n - 1)) of shape (B, 4), n the units left; sum_i v_b . f_i = 0."""
        S, n = left.sums, left.sums.n
        _, b, c, d = slopes(self.whole.model, S, left.y, S.M / n, varies=not self.whole.model.fixed)
        form = left.form if isinstance(self.whole.model, Urn) else np.zeros(len(n))
        v = np.stack([np.zeros(len(n)), b, c, d], axis=1)
        means = np.stack([S.M, S.O, form], axis=1) / n[:, None] - self.means
        v[:, 0] = -(v[:, 1:] * means).sum(axis=1)
        return v / np.sqrt(n * (n - 1))[:, None]

    def squares(
        self, v: Floats, nu: Floats | _NuSums, change: _Change, *, minus: Floats | None = None
    ) -> tuple[Floats, Flags]:
        """Return sum_i psi_ib² of the remaining units, and whether its digits cancelled.

        With u as `minus`, sum_i (psi_ib - u . f_i)². `nu` is nu_ib of shape (n_rows, B), or its
        sums.
        """
        rows, parts, of_changed, psi = change
        u = np.zeros(4) if minus is None else minus
        w, d, f = v - u, v[:, 3], self.f[rows]
        if isinstance(nu, _NuSums):
            everywhere = np.einsum("bi,ij,bj->b", w, self.squared, w) + d**2 * nu.square
            everywhere -= 2 * d * (nu.crossed * w).sum(axis=1)
        else:
            everywhere = self.times @ (self.f @ w.T - d * nu) ** 2
        before = np.einsum("ij,ij->i", f, w[parts]) - d[parts] * of_changed
        changed = _added(parts, (psi - f @ u) ** 2 - before**2, len(v))
        level = (w**2 * np.diag(self.squared)).max(axis=1)
        out = np.maximum(everywhere + changed, 0.0)
        return out, out <= _SQUARES_TOL * level


def _added(codes: Codes, each: Floats, n: int) -> Floats:
    return np.bincount(codes, each, n).astype(np.float64, copy=False)

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
    undefined_reasons,
)
from setagree.credit.base import sums_to_others
from setagree.credit.within_groups import distinct_keys
from setagree.limits import BLOCK_ENTRIES
from setagree.study.annotations import Annotations

_SMALL = 1.3e-4
"""Share of the units up to which the distances of all units to the urn of a part count as equal;
the standard error of the others changes by less than 1e-12 of itself."""

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


def are_computed_together(model: Model) -> bool:
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
        whole, near, S, z = self.whole, self._chance[1], self.sums, self._coded[0]
        to_urn = z @ whole.to_values
        left = whole.left(S, to_urn, self._total(near))
        estimate, lost = whole.of_left(left)
        values, n = _LinearisedValues(whole), float(whole.sums.n)
        # The nu_ib of a small part count as equal; their sum is z' F X.
        squared_nu = to_urn**2 / max(n, 1)
        for some in self._blocks(np.flatnonzero((S.n > _SMALL * n) & (not self.model.fixed))):
            squared_nu[some] = values.squared_nu(whole.spread(z[some].T.toarray()))
        # A unit has the linearised value 0 in the study without its part.
        units = np.arange(len(near))
        taken = _Taken(z @ values.crossed, squared_nu, units, self.of_row, near, 0.0)
        squares, _ = values.squares(values.slopes(left), taken)
        n_pairable = self.n_pairable.sum() - self.n_pairable
        lost |= (left.sums.n < S.n) | (n_pairable < 2)
        observed, reasons = left.sums.O / left.sums.M, np.full(self.n_parts, None)
        return Estimates(estimate, root(squares), observed, left.sums.n, reasons), lost

    @cached_property
    def _coded(self) -> tuple[Any, Codes, Floats]:
        """z_b, and the entry of z and the amount share_i c_ik that each stored count adds.

        z_b is what a part adds to the urn per value: a sparse array of shape (n_parts, K).
        """
        from scipy import sparse

        tally, K = self.case.tally, self.case.weights.n_values
        each = tally.counts * self.whole.of_patterns[1][tally.rows]
        keys = self.of_row.astype(np.int64)[tally.rows] * K + tally.indices
        distinct, entry = distinct_keys(keys, self.n_parts * K)
        parts = distinct // K  # much faster than divmod
        ends = np.searchsorted(parts, np.arange(self.n_parts + 1))
        z = (_added(entry, each, len(distinct)), (distinct - parts * K).astype(np.intp), ends)
        return sparse.csr_array(z, (self.n_parts, K)), entry, each

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
                blocks = self._blocks(np.arange(self.n_parts))
                z = (self._coded[0][some].toarray().T for some in blocks)
                y = np.concatenate([self.model.chance(self.case, each) for each in z])
                return y, np.full(len(self.of_row), np.nan)  # no closed form of a unit is known
            case Urn():
                z, entry, each = self._coded
                spread, form = _urn_forms(self.whole, self.model, z)
                near = _added(self.case.tally.rows, each * spread[entry], len(self.of_row))
                pairs = self.sums.P**2 - self.sums.own
                return form / np.where(pairs > 0, pairs, np.nan), near
        raise TypeError(f"the parts of {self.model!r} are not computed together")

    def _undefined_reasons(self, y: Floats) -> npt.NDArray[np.object_]:
        """Return the reason for each estimate of NaN, or None; see `estimate`."""
        enough = y > NOTHING * self._reach / self.case.weights.max_distance
        bad = is_undefined(self.model, self.sums) | ~enough
        n_values = np.diff(self._coded[0].indptr)
        return np.asarray(np.where(bad, undefined_reasons(self.n_pairable, n_values), None))

    @property
    def _reach(self) -> Floats:
        """The largest distance of each part from one value in use to another; see `reach`."""
        z, out = self._coded[0], np.zeros(self.n_parts)
        used = np.flatnonzero(z.data)
        part, value = _parts_of(z)[used], z.indices[used].astype(np.intp)
        start = np.flatnonzero(np.diff(part, prepend=-1))
        first = np.repeat(value[start], np.diff(start, append=len(part)))
        if len(start):
            d = self.case.weights.distance_at(first, value)
            out[part[start]] = np.maximum.reduceat(d, start)
        return np.where(out > 0, out, self.case.weights.max_distance)

    def _blocks(self, parts: Codes) -> list[Codes]:
        """Return the parts in blocks whose arrays of units, or of values, are of bounded size."""
        width = max(self.case.weights.n_values, len(self.of_row))
        return np.split(parts, np.arange(0, len(parts), max(1, BLOCK_ENTRIES // width))[1:])


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
        out, lost = self.whole.of_left(self._left)
        if isinstance(self.whole.model, UrnOfEachRater):
            # Weights from the sizes of strata change if a unit is left without ratings.
            lost |= (self._gone.n > 0) & (self.whole.case.rated.strata is not None)
        return out, lost

    @cached_property
    def _left(self) -> Left:
        """The study without each rater."""
        whole, none = self.whole, np.zeros(self.study.n_raters)
        match whole.model:
            case Fixed():
                return whole.left(self._gone, none, none)
            case Urn() as model:
                own_form = _urn_forms(whole, model, self._urn)[1]
                return whole.left(self._gone, self._urn @ whole.to_values, own_form)
            case UrnOfEachRater() as model:
                y = model.without_raters(whole.case)
            case Redrawn() as model:
                y = self._redrawn(model)
            case _:
                raise TypeError(f"{whole.model!r} is not a model whose raters can be left out")
        return Left(whole.sums.minus(self._gone), y, y)

    def _redrawn(self, model: Redrawn) -> Floats:
        """Return y without each rater if labels are redrawn, once for raters of equal answers."""
        case, z, y = self.whole.case, self._urn, np.full(self.study.n_raters, np.nan)
        alike: dict[tuple[bytes, bytes], list[int]] = {}
        for g in np.flatnonzero(self.whole.sums.n - self._gone.n > 1).tolist():
            mine = slice(z.indptr[g], z.indptr[g + 1])
            answers = z.indices[mine].tobytes(), z.data[mine].tobytes()
            alike.setdefault(answers, []).append(g)
        check_cost(
            "mv_alpha without each rater",
            n_steps=len(alike) * redrawn_steps(case.tally.values),
            instead="Krippendorff's alpha passes, or fewer raters.",
        )
        for raters in alike.values():
            y[raters] = model.chance(case, (self.whole.urn - z[[raters[0]]].toarray()[0])[:, None])
        return y

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

    @cached_property
    def _gone(self) -> Sums:
        """Contribution of each rater to the sums."""
        study, rows, before = self.study, self.whole.case.tally.rows, self.whole.of_patterns[0]
        pairs = zip(before, self._after[0], strict=True)
        moved = Sums(*((x[rows] - rest)[self._entries] for x, rest in pairs))
        if self.whole.case.is_weighted:
            moved = moved.weighted(*(w[study.unit_codes] for w in self.whole.unit_weights))
        return Sums(*(_added(study.rater_codes, x, study.n_raters) for x in moved))

    @cached_property
    def _urn(self) -> Any:
        """z_b, sum_i s_i c_i - s'_i (c_i - e_v) of each rater, of shape (n_raters, K), sparse.

        s_i is share_i, and s'_i share_i without the rating v.
        """
        from scipy import sparse

        whole, after, tally = self.whole, self._after[1], self.whole.case.tally
        (order, ends), K = self._by_rater, whole.case.weights.n_values
        at, w, R = self._entries[order], np.ones(len(order)), self.study.n_raters
        if whole.case.is_weighted:
            w = whole.unit_weights[1][self.study.unit_codes[order]]
        z = sparse.csr_array((w * after[at], tally.indices[at], ends.copy()), (R, K))
        # s c - s' c = (1 - s' / s) (s c), of the units in which a rating less changes share_i
        before = whole.of_patterns[1][tally.rows]
        moved = np.where(before != after, 1 - after / np.where(before > 0, before, 1), 0.0)
        if moved.any():
            shape = R, tally.n_patterns
            units = sparse.csr_array((w * moved[at], tally.rows[at], ends.copy()), shape)
            units.eliminate_zeros()
            check_cost(
                "Leaving out each rater",
                n_steps=_STEPS_PER_ENTRY * float(np.diff(tally.indptr)[units.indices].sum()),
                instead="Krippendorff's alpha passes, or fewer raters.",
            )
            z = z + units @ whole.counts
        z.sum_duplicates()  # which sorts, too
        return z

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
        whole, z, (order, ends) = self.whole, self._urn, self._by_rater
        (R, K), values = z.shape, _LinearisedValues(whole)
        entry, who, v = self._entries[order], self.study.rater_codes[order], self.study.value_codes
        at, v, n_cells = whole.case.tally.rows[entry], v[order], K
        slopes_b = values.slopes(self._left)
        if self._is_dense:
            F = whole.spread(np.eye(K))
            # sum_i nu_ib² = z_b' F (sum_i share_i² c_i c_i') F z_b
            products = values.rooted.T @ values.rooted
            squares = (z * (z @ (F @ (products @ F)))).sum(axis=1)
        else:
            squares, n_cells = np.empty(R), K + len(values.times)
        n_cells += int(np.diff(whole.counts.indptr)[at].sum()) // R
        nu, to_z = np.empty((2, len(at)))  # share_i c_i' F z_b, and e_v' F z_b
        for start, stop in pairwise([*range(0, R, max(1, BLOCK_ENTRIES // n_cells)), R]):
            mine = slice(ends[start], ends[stop])
            some, column, counts = z[start:stop], who[mine] - start, whole.counts[at[mine]]
            F_z = some @ F if self._is_dense else whole.spread(some.T.toarray()).T  # (n, K)
            if not self._is_dense:
                squares[start:stop] = values.squared_nu(F_z.T)
            row = np.repeat(np.arange(len(column)), np.diff(counts.indptr))
            nu[mine] = _added(row, counts.data * F_z[column[row], counts.indices], len(column))
            to_z[mine] = F_z[column, v[mine]]
        # s'_i (c_i - e_v)' F (X - z_b)
        before, after = whole.of_patterns[1][at], self._after[1][entry]
        ratio = after / np.where(before > 0, before, 1)
        near = ratio * (before * whole.to_urn[at] - nu) - after * (whole.to_values[v] - to_z)
        f = values.centred(Sums(*(x[entry] for x in self._after[0])), near)
        psi = np.einsum("ij,ij->i", f, slopes_b[who])
        taken = _Taken(z @ values.crossed, squares, at, who, nu, psi)
        own, lost = values.squares(slopes_b, taken)
        gap, _ = values.squares(slopes_b, taken, minus=values.of_whole)
        return root(own), root(gap), lost


class _Taken(NamedTuple):
    """sum_i f_i nu_ib and sum_i nu_ib² of each part, and the units that parts change.

    `psi` is the linearised value that a changed unit has without the part.
    """

    crossed: Floats
    squares: Floats
    rows: Codes
    parts: Codes
    nu: Floats
    psi: Floats | float


class _LinearisedValues:
    """The f_i of a study, 0 for a unit that does not count, and sums of their products."""

    def __init__(self, whole: UnitSums) -> None:
        f, share = whole.of_patterns
        self.whole, self.times = whole, whole.times
        form = whole.form if isinstance(whole.model, Urn) else 0.0
        self.means = np.array([whole.sums.M, whole.sums.O, form]) / whole.sums.n
        self.f = self.centred(f, share * whole.to_urn)
        weighted = self.f * self.times[:, None]
        self.products = self.f.T @ weighted  # sum_i f_i f_i', of shape (4, 4)
        self.crossed = whole.spread(whole.counts.T @ weighted)  # sum_i F (share_i c_i) f_i', (K, 4)
        every = [np.atleast_1d(x) for x in (*whole.sums, whole.form, whole.chance[0])]
        self.of_whole = self.slopes(Left(Sums(*every[:5]), *every[5:]))[0]

    @cached_property
    def rooted(self) -> Any:
        """share_i c_i times the root of the number of units of each row, as a sparse array."""
        from scipy import sparse

        counts, rows = self.whole.counts, self.whole.case.tally.rows
        each = counts.data * np.sqrt(self.times)[rows]
        return sparse.csr_array((each, counts.indices, counts.indptr), counts.shape)

    def squared_nu(self, F_z: Floats) -> Floats:
        """Return sum_i nu_ib², nu_ib = share_i c_i' F z_b, of parts with F z_b of shape (K, B)."""
        nu = self.rooted @ F_z
        return np.asarray(np.einsum("ib,ib->b", nu, nu))

    def centred(self, f: Sums, near: Floats) -> Floats:
        """Return f_i = (1, M_i, O_i, share_i c_i' F X) - their means, of shape (n, 4)."""
        means = zip((f.M, f.O, near), self.means, strict=True)
        return np.stack([f.n, *(x - f.n * mean for x, mean in means)], axis=1)

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
        self, v: Floats, taken: _Taken, *, minus: Floats | float = 0.0
    ) -> tuple[Floats, Flags]:
        """Return sum_i psi_ib² of the remaining units, and whether its digits cancelled.

        With u as `minus`, sum_i (psi_ib - u . f_i)².
        """
        crossed, squares, rows, parts, nu, psi = taken
        w, d, f = v - minus, v[:, 3], self.f[rows]
        # sum_i (w . f_i - d nu_i)² = w' (sum f f') w - 2 d w . (sum f nu) + d² sum nu²
        out = np.einsum("bi,ij,bj->b", w, self.products, w) + d**2 * squares
        out -= 2 * d * (crossed * w).sum(axis=1)
        # less (w . f_i - d nu_i)² of the units that the part changes, plus what they have instead
        before = np.einsum("ij,ij->i", f, w[parts]) - d[parts] * nu
        after = psi - f @ np.broadcast_to(minus, 4)
        out = np.maximum(out + _added(parts, after**2 - before**2, len(v)), 0.0)
        return out, out <= _SQUARES_TOL * (w**2 * np.diag(self.products)).max(axis=1)


def _parts_of(z: Any) -> Codes:
    """Return the part of each entry of the urns z."""
    return np.repeat(np.arange(z.shape[0]), np.diff(z.indptr))


def _urn_forms(whole: UnitSums, model: Urn, z: Any) -> tuple[Floats, Floats]:
    """Return F z_b at each entry of the urns z, and z_b' F z_b of each part."""
    parts = _parts_of(z)
    spread = model.spread_in_groups(whole.case, parts, z.indices.astype(np.intp), z.data)
    return spread, _added(parts, z.data * spread, z.shape[0])


def _added(codes: Codes, each: Floats, n: int) -> Floats:
    return np.bincount(codes, each, n).astype(np.float64, copy=False)

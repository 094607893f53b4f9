"""The coefficient of each set of units of a study, and of the study without each rater.

A part b, a set of units or the ratings of a rater, adds the sums S_b to those of the study, S (see
`sums`), and the counts z_b to its urn, X. The coefficient is the same function of

    the part:          S_b,       X' F X  ->  z' F z
    what is left:      S - S_b,   X' F X  ->  (X - z)' F (X - z) = X' F X - 2 z' F X + z' F z

The values and the distance, with its maximum, remain those of the study. The standard error without
a rater rests on sums of squares over the units. The linearised value of unit i (see `sums.slopes`),
its deviation from the mean, is

    psi_ib = v_b . f_i - d_b nu_ib,    f_i = (1, M_i, O_i, share_i c_i' F X) - their means,

with nu_ib = share_i c_i' F z_b. Over all units the sum of squares is v' (sum f f') v - 2 d v . (sum
f nu) + d² sum nu²; the units that the rater rated are then corrected one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes, Flags, Floats, cached_property, check_cost
from setagree.coefficients.case import NOTHING, divided
from setagree.coefficients.chance_models import Fixed, Model, Redrawn, Urn
from setagree.coefficients.conger import UrnOfEachRater
from setagree.coefficients.multivalued import redrawn_steps
from setagree.coefficients.sums import (
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

_MAX_DENSE_VALUES = 2_000
"""Distinct values up to which arrays of values x values are made; 32 MB each."""

_STEPS_PER_ENTRY = 20
"""Elementary steps to take a rating from the urn, per distinct value of its unit."""

_STEPS_PER_RATING = 4
"""Elementary steps of a rating, per rater or per value, in `RaterParts.errors`."""

_SQUARES_TOL = 1e-9
"""Share of its terms below which a sum of squares is recomputed, because its digits cancelled."""


class Estimates(NamedTuple):
    """A coefficient of several studies, of shape (n,).

    Attributes
    ----------
    estimate, standard_error : ndarray
        As `UnitSums.estimate` and `standard_error` define them.
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
class _Parts:
    """Sets of units or of ratings: the part of each is `part`, one of `n_parts`."""

    whole: UnitSums
    part: Codes
    n_parts: int

    def _total(self, each: Floats) -> Floats:
        return _added(self.part, each, self.n_parts)


class Parts(_Parts):
    """Sets of units, without sampling weights, of a study with one row of the tally per unit."""

    @cached_property
    def n_units(self) -> Codes:
        """Number of units of each part."""
        return np.bincount(self.part, minlength=self.n_parts)

    @cached_property
    def n_pairable(self) -> Codes:
        """Number of pairable units of each part."""
        return self._total(self.whole.case.tally.pairable.astype(np.float64)).astype(np.int64)

    @cached_property
    def sums(self) -> Sums:
        """The sums S_b of each part."""
        return Sums(*map(self._total, self.whole.of_patterns[0]))

    @cached_property
    def _urns(self) -> tuple[Any, Codes, Floats]:
        """z_b, and the entry of z and the amount that each stored count of a unit adds."""
        from scipy import sparse

        tally, K, B = self.whole.case.tally, self.whole.case.weights.n_values, self.n_parts
        each = tally.counts * self.whole.of_patterns[1][tally.rows]
        keys = self.part.astype(np.int64)[tally.rows] * K + tally.indices
        distinct, entry = distinct_keys(keys, B * K)
        parts = distinct // K  # much faster than divmod
        ends = np.searchsorted(parts, np.arange(B + 1))
        z = (_added(entry, each, len(distinct)), (distinct - parts * K).astype(np.intp), ends)
        return sparse.csr_array(z, (B, K)), entry, each

    @np.errstate(divide="ignore", invalid="ignore")
    def estimates(self) -> Estimates:
        """Return the coefficient of each part."""
        model, S, (y, near) = self.whole.model, self.sums, self._chance
        f = self.whole.of_patterns[0]
        _, b, c, d = slopes(model, S, y, S.M / S.n)
        # Linearised values without their constant, of which deviations from the mean are free.
        terms = zip((b, c, d), (f.M, f.O, near), strict=True)
        x = sum(np.asarray(slope)[self.part] * each for slope, each in terms)
        mean = self._total(x * f.n) / np.maximum(S.n, 1)
        squares = self._total(f.n * (x - mean[self.part]) ** 2)
        error = root(squares / np.where(S.n > 1, S.n * (S.n - 1), np.nan))
        # The reason for each estimate of NaN, or None; see `UnitSums.undefined`.
        enough = y > NOTHING * self._reach / self.whole.case.weights.max_distance
        reasons = undefined_reasons(self.n_pairable, np.diff(self._urns[0].indptr), S.n)
        reasons[~is_undefined(model, S) & enough] = None
        nan = np.where(reasons == None, 0.0, np.nan)  # noqa: E711 - elementwise
        return Estimates(coefficient(model, S, y) + nan, error + nan, S.O / S.M, S.n, reasons)

    @cached_property
    def _chance(self) -> tuple[Floats, Floats]:
        """Y of each part, and share_i c_i' F z_b of each unit and its part; 0 if y is fixed."""
        case, model, S = self.whole.case, self.whole.model, self.sums
        n = len(self.part)
        if isinstance(model, Urn):
            z, entry, each = self._urns
            F_z, form = _forms(self.whole, z)
            near = _added(case.tally.rows, each * F_z[entry], n)
            return divided(form, S.P**2 - S.own), near
        if isinstance(model, UrnOfEachRater):
            y, moves = model.in_parts(case, self.part, self.n_parts)
            return y, moves * S.P[self.part]
        if model.fixed:
            return np.full(self.n_parts, self.whole.y), np.zeros(n)
        z, at_once = self._urns[0], max(1, BLOCK_ENTRIES // max(case.weights.n_values, n))
        blocks = (z[k : k + at_once].toarray().T[:, None] for k in range(0, self.n_parts, at_once))
        y = np.concatenate([model.of_samples(case, [each]) for each in blocks])
        return y, np.full(n, np.nan)  # no closed form of a unit is known

    @property
    def _reach(self) -> Floats:
        """The largest distance of each part from one value in use to another; see `reach`."""
        z, out, weights = self._urns[0], np.zeros(self.n_parts), self.whole.case.weights
        used = np.flatnonzero(z.data)
        part = np.repeat(np.arange(self.n_parts), np.diff(z.indptr))[used]
        value, start = z.indices[used].astype(np.intp), np.flatnonzero(np.diff(part, prepend=-1))
        if len(start):
            first = np.repeat(value[start], np.diff(start, append=len(part)))
            out[part[start]] = np.maximum.reduceat(weights.distance_at(first, value), start)
        return np.where(out > 0, out, weights.max_distance)


class RaterParts(_Parts):
    """The ratings of each rater, or other sets of ratings of which no two are of one unit.

    `part` may be several such divisions of the ratings of the study, one after the other.
    Without a rating v, the r, q and c of its unit become r - 1, q - 2 sum_l c_l d_vl and c - e_v.
    Under a model that needs raters, parts must be raters.
    """

    @cached_property
    def _entries(self) -> Codes:
        """The stored count of the tally that each rating is one of."""
        case, K = self.whole.case, self.whole.case.weights.n_values
        if case.study is None or case.tally.unit_patterns is None:
            raise TypeError("this case has no patterns of units")
        patterns = case.tally.unit_patterns.astype(np.int64)[case.study.unit_codes]
        keys = case.tally.rows.astype(np.int64) * K + case.tally.indices
        return self._repeated(np.searchsorted(keys, patterns * K + case.study.value_codes))

    def _repeated(self, each: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what each rating has once for each division of the ratings."""
        return np.tile(each, len(self.part) // len(each))

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
    def sums(self) -> Sums:
        """The sums S_b that the study loses without each part."""
        case, entries = self.whole.case, self._entries
        rows, pairs = case.tally.rows, zip(self.whole.of_patterns[0], self._after[0], strict=True)
        lost = [x[rows] - after for x, after in pairs]
        if case.is_weighted:
            f = Sums(*(x[entries] for x in lost)).weighted(*self._rating_weights)
            return Sums(*map(self._total, f))
        n = np.bincount(self.part, minlength=self.n_parts)
        # In a complete design only O differs between ratings.
        return Sums(*(x[0] * n if np.ptp(x) == 0 else self._total(x[entries]) for x in lost))

    @cached_property
    def _by_part(self) -> tuple[Codes, Codes]:
        """The ratings in the order of their parts, and the bounds of those of each part."""
        counts = np.bincount(self.part, minlength=self.n_parts)
        return np.argsort(self.part, kind="stable"), np.concatenate([[0], np.cumsum(counts)])

    @property
    def _rating_weights(self) -> tuple[Floats, Floats]:
        """The sampling weights of the unit of each rating; see `UnitSums.unit_weights`."""
        study = self.whole.case.study
        w, v = self.whole.unit_weights
        if study is None:
            return w, v
        return self._repeated(w[study.unit_codes]), self._repeated(v[study.unit_codes])

    @property
    def _shares(self) -> tuple[Floats, Floats]:
        """`share` of the unit of each rating, with the rating and without it."""
        rows = self.whole.case.tally.rows
        return self.whole.of_patterns[1][rows][self._entries], self._after[1][self._entries]

    @cached_property
    def _urns(self) -> Any:
        """z_b, what a part adds to the urn per value: a sparse array of shape (n_parts, K)."""
        from scipy import sparse

        # A unit adds s'_i (c_i - e_v) without a rating v, with s_i = share_i, s'_i that without v:
        # s_i c_i - s'_i (c_i - e_v) = (1 - s'_i / s_i) s_i c_i + s'_i e_v less.
        whole, tally, (share, after) = self.whole, self.whole.case.tally, self._shares
        B, K, is_moved = self.n_parts, whole.case.weights.n_values, bool((share != after).any())
        if not is_moved and len(self.part) >= B * K:  # where sums are faster than sorting
            after = self._rating_weights[1] * after if whole.case.is_weighted else after
            cells = _added(self.part * K + tally.indices[self._entries], after, B * K)
            return sparse.csr_array(cells.reshape(B, K))
        order, ends = self._by_part
        entry, before, after = self._entries[order], share[order], after[order]
        w: Any = self._rating_weights[1][order] if whole.case.is_weighted else 1.0
        z = sparse.csr_array((w * after, tally.indices[entry], ends.copy()), (B, K))
        if is_moved:
            rows = tally.rows[entry]
            moved = np.where(before != after, 1 - after / np.where(before > 0, before, 1), 0.0)
            taken = sparse.csr_array((w * moved, rows, ends.copy()), (B, len(whole.times)))
            taken.eliminate_zeros()
            check_cost(
                "Leaving out each rater",
                n_steps=_STEPS_PER_ENTRY * float(np.diff(tally.indptr)[taken.indices].sum()),
                instead="Krippendorff's alpha passes, or fewer raters.",
            )
            z = z + taken @ whole.counts
        z.sum_duplicates()  # which sorts, too
        return z

    @cached_property
    def left(self) -> Left:
        """The study without each part.

        Raise TypeError if the chance model does not define what it gives without a rater.
        """
        whole, model, y = self.whole, self.whole.model, None
        if isinstance(model, Urn):
            return whole.without(
                self.sums, self._urns @ whole.to_values, _forms(whole, self._urns)[1]
            )
        if isinstance(model, UrnOfEachRater):
            y = model.without_raters(whole.case)
        elif not model.fixed:
            y = self._redrawn()
        return whole.without(self.sums, y=y)

    def _redrawn(self) -> Floats:
        """Return y without each part if labels are redrawn, once for parts of equal answers."""
        case, z, y = self.whole.case, self._urns, np.full(self.n_parts, np.nan)
        alike: dict[tuple[bytes, bytes], list[int]] = {}
        for b in np.flatnonzero(self.whole.totals.n - self.sums.n > 1).tolist():
            mine = slice(z.indptr[b], z.indptr[b + 1])
            answers = z.indices[mine].tobytes(), z.data[mine].tobytes()
            alike.setdefault(answers, []).append(b)
        check_cost(
            "mv_alpha without each rater",
            n_steps=len(alike) * redrawn_steps(case.tally.values),
            instead="Krippendorff's alpha passes, or fewer raters.",
        )
        for parts in alike.values():
            X = self.whole.urn - z[[parts[0]]].toarray()[0]
            y[parts] = self.whole.model.of_samples(case, [X[:, None, None]])
        return y

    @property
    def n_steps(self) -> float:
        """Number of elementary steps of `errors`."""
        n = self.whole.case.weights.n_values if self._is_dense else self.n_parts
        return _STEPS_PER_RATING * float(len(self.part)) * n

    @property
    def _is_dense(self) -> bool:
        """Whether F, and F (sum_i s_i² c_i c_i') F, are made as arrays of shape (K, K)."""
        K, B = self.whole.case.weights.n_values, self.n_parts
        return bool(min(B, _MAX_DENSE_VALUES, (B * self.whole.counts.nnz) ** (1 / 3)) >= K)

    @np.errstate(divide="ignore", invalid="ignore")
    def errors(self) -> tuple[Floats, Flags]:
        """Return the standard error of the change without each part, and lost-digit flags.

        It is the root of sum_i (psi_ib - psi_i)², with psi_i that of the study. The digits of it,
        or of sum_i psi_ib², may have cancelled. Only for a Fixed or Urn model, without sampling
        weights.
        """
        whole, left, z = self.whole, self.left, self._urns
        f, share = whole.of_patterns
        has_urn = isinstance(whole.model, Urn)
        means = np.array([whole.totals.M, whole.totals.O, whole.form * has_urn]) / whole.totals.n

        def centred(f: Sums, near: Floats) -> Floats:
            """Return f_i = (1, M_i, O_i, share_i c_i' F X) - their means, of shape (n, 4)."""
            terms = zip((f.M, f.O, near), means, strict=True)
            return np.stack([f.n, *(x - f.n * mean for x, mean in terms)], axis=1)

        def slopes_of(S: Sums, form: Floats, y: Floats) -> Floats:
            """Return v_b / sqrt(n (n - 1)) of shape (B, 4), n the units left; sum v_b . f_i = 0."""
            _, b, c, d = slopes(whole.model, S, y, S.M / S.n)
            v = np.stack([0 * S.n, b, c, d + 0 * S.n], axis=1)
            of_left = np.stack([S.M, S.O, form * has_urn], axis=1) / S.n[:, None]
            v[:, 0] = -(v[:, 1:] * (of_left - means)).sum(axis=1)
            return v / np.sqrt(S.n * (S.n - 1))[:, None]

        every = [np.atleast_1d(x) for x in (*whole.totals, whole.form, whole.y)]
        u, v = slopes_of(Sums(*every[:5]), *every[5:])[0], slopes_of(left.sums, left.form, left.y)
        f_i = centred(f, share * whole.to_urn)
        weighted = f_i * whole.times[:, None]
        products = f_i.T @ weighted  # sum_i f_i f_i', of shape (4, 4)
        crossed = z @ whole.form_dot(whole.counts.T @ weighted)  # sum_i f_i nu_ib, of shape (B, 4)
        rows, nu, squared_nu, after = self._changed()
        psi = np.einsum("ij,ij->i", centred(*after), v[self.part])
        f_i, d = f_i[rows], v[:, 3]

        def squares(minus: Floats | float) -> tuple[Floats, Flags]:
            """Return sum_i (psi_ib - u . f_i)² of the units left, and whether digits cancelled."""
            w = v - minus
            # sum_i (w . f_i - d nu_i)² = w' (sum f f') w - 2 d w . (sum f nu) + d² sum nu²
            out = np.einsum("bi,ij,bj->b", w, products, w) + d**2 * squared_nu
            out -= 2 * d * (crossed * w).sum(axis=1)
            # less (w . f_i - d nu_i)² of the units that the part changes, plus what they have then
            before = np.einsum("ij,ij->i", f_i, w[self.part]) - d[self.part] * nu
            then = psi - f_i @ np.broadcast_to(minus, 4)
            out = np.maximum(out + self._total(then**2 - before**2), 0.0)
            return out, out <= _SQUARES_TOL * (w**2 * np.diag(products)).max(axis=1)

        (_, lost), (changes, lost_changes) = squares(0.0), squares(u)
        of_change = root(changes)
        return of_change, lost | (lost_changes & (of_change > 0))

    def _changed(self) -> tuple[Codes, Floats, Floats, tuple[Sums, Floats]]:
        """Return the row of the unit of each rating, and what the unit has without the rating.

        Then its nu_ib, sum_i nu_ib² of each part over all units, and the features and share_i c_i'
        F (X - z_b) of the unit without the rating.
        """
        whole, z, entry, case = self.whole, self._urns, self._entries, self.whole.case
        assert case.study is not None  # noqa: S101 - `_entries` checks it
        (B, K), rows, v = z.shape, case.tally.rows[entry], case.study.value_codes
        order, ends = self._by_part
        squared_nu, n_cells, F = np.empty(B), K + len(whole.times), None
        if self._is_dense:
            F, n_cells = whole.form_dot(np.eye(K)), K
            # sum_i nu_ib² = z_b' F (sum_i share_i² c_i c_i') F z_b
            products = self._rooted.T @ self._rooted
            squared_nu = (z * (z @ (F @ (products @ F)))).sum(axis=1)
        n_cells += int(np.diff(whole.counts.indptr)[rows].sum()) // B
        nu, to_z = np.empty((2, len(rows)))  # share_i c_i' F z_b, and e_v' F z_b
        for start, stop in pairwise([*range(0, B, max(1, BLOCK_ENTRIES // n_cells)), B]):
            mine = order[ends[start] : ends[stop]]
            some, column, counts = z[start:stop], self.part[mine] - start, whole.counts[rows[mine]]
            F_z = whole.form_dot(some.T.toarray()).T if F is None else some @ F  # (n, K)
            if F is None:
                nu_i = self._rooted @ F_z.T
                squared_nu[start:stop] = np.einsum("ib,ib->b", nu_i, nu_i)
            row = np.repeat(np.arange(len(column)), np.diff(counts.indptr))
            nu[mine] = _added(row, counts.data * F_z[column[row], counts.indices], len(column))
            to_z[mine] = F_z[column, v[mine]]
        # s'_i (c_i - e_v)' F (X - z_b)
        before, (f, share) = whole.of_patterns[1][rows], self._after
        after, ratio = share[entry], share[entry] / np.where(before > 0, before, 1)
        near = ratio * (before * whole.to_urn[rows] - nu) - after * (whole.to_values[v] - to_z)
        return rows, nu, squared_nu, (Sums(*(x[entry] for x in f)), near)

    @cached_property
    def _rooted(self) -> Any:
        """share_i c_i times the root of the number of units of each row, as a sparse array."""
        counts = self.whole.counts.copy()
        counts.data *= np.sqrt(self.whole.times)[self.whole.case.tally.rows]
        return counts


def _forms(whole: UnitSums, z: Any) -> tuple[Floats, Floats]:
    """Return F z_b at each entry of the urns z, and z_b' F z_b of each; only for an urn."""
    assert isinstance(whole.model, Urn)  # noqa: S101 - callers check it
    parts = np.repeat(np.arange(z.shape[0]), np.diff(z.indptr))
    F_z = whole.model.form_dot_in_groups(whole.case, parts, z.indices.astype(np.intp), z.data)
    return F_z, _added(parts, z.data * F_z, z.shape[0])


def _added(codes: Codes, each: Floats, n: int) -> Floats:
    return np.bincount(codes, each, n).astype(np.float64, copy=False)

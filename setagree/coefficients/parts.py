"""The coefficient of parts of a study, and of the study without each of them.

A part b is a set of units, or of ratings, such as those of a rater. It adds the sums S_b to those
of the study, S (see `sums`), and the counts z_b to its urn, X. The coefficient is the same function
of

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
from setagree.coefficients.chance import NOTHING, Codes, Floats
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

_SMALL = 1.3e-4
"""Share of the units up to which the distances of all units to the urn of a part count as equal;
the standard error of the others changes by less than 1e-12 of itself."""

_MAX_DENSE_VALUES = 2_000
"""Distinct values up to which arrays of values x values are made; 32 MB each."""

_STEPS_PER_ENTRY = 20
"""Elementary steps to take a rating from the urn, per distinct value of its unit."""

_STEPS_PER_RATING = 4
"""Elementary steps of a rating, per rater or per value, in `Parts.errors`."""

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
    """Parts of a study: sets of units, or sets of ratings of which no two are of one unit.

    Without a rating v, the r, q and c of its unit become r - 1, q - 2 sum_l c_l d_vl and c - e_v.

    Attributes
    ----------
    whole : UnitSums
        The sums of the study. For sets of units, without sampling weights and with one row of the
        tally per unit.
    part : ndarray of shape (n_units,), or (n_ratings,) under `of_ratings`
        The part of each unit, or of each rating of the study: its rater, under a model that needs
        raters.
    n_parts : int
        Number of parts.
    of_ratings : bool
        Whether the parts are sets of ratings.
    """

    whole: UnitSums
    part: Codes
    n_parts: int
    of_ratings: bool = False

    @cached_property
    def n_units(self) -> Codes:
        """Number of units of each part."""
        return np.bincount(self.part, minlength=self.n_parts)

    @cached_property
    def n_pairable(self) -> Codes:
        """Number of pairable units of each part."""
        return self._total(self.whole.case.tally.pairable.astype(np.float64)).astype(np.int64)

    def _total(self, each: Floats) -> Floats:
        return _added(self.part, each, self.n_parts)

    # -- ratings that are left out

    @cached_property
    def _entries(self) -> Codes:
        """The stored count of the tally that each rating is one of."""
        case, K = self.whole.case, self.whole.case.weights.n_values
        if case.study is None or case.tally.unit_patterns is None:
            raise TypeError("this case has no patterns of units")
        patterns = case.tally.unit_patterns.astype(np.int64)[case.study.unit_codes]
        keys = case.tally.rows.astype(np.int64) * K + case.tally.indices
        return np.searchsorted(keys, patterns * K + case.study.value_codes)

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
    def _by_part(self) -> tuple[Codes, Codes]:
        """The ratings in the order of their parts, and the bounds of those of each part."""
        counts = np.bincount(self.part, minlength=self.n_parts)
        return np.argsort(self.part, kind="stable"), np.concatenate([[0], np.cumsum(counts)])

    @property
    def _rating_weights(self) -> tuple[Floats, Floats]:
        """The sampling weights of the unit of each rating; see `UnitSums.unit_weights`."""
        study = self.whole.case.study
        w, v = self.whole.unit_weights
        return (w, v) if study is None else (w[study.unit_codes], v[study.unit_codes])

    # -- sums and urns of the parts

    @cached_property
    def sums(self) -> Sums:
        """The sums S_b of each part."""
        f, case = self.whole.of_patterns[0], self.whole.case
        if self.of_ratings:
            rows, pairs = case.tally.rows, zip(f, self._after[0], strict=True)
            f = Sums(*((x[rows] - after)[self._entries] for x, after in pairs))
            if case.is_weighted:
                f = f.weighted(*self._rating_weights)
        return Sums(*map(self._total, f))

    @cached_property
    def _urns(self) -> Any:
        """z_b, what a part adds to the urn per value: a sparse array of shape (n_parts, K)."""
        from scipy import sparse

        if not self.of_ratings:
            return self._urns_of_units[0]
        # A unit adds s'_i (c_i - e_v) without a rating v, with s_i = share_i, s'_i that without v:
        # s_i c_i - s'_i (c_i - e_v) = (1 - s'_i / s_i) s_i c_i + s'_i e_v less.
        whole, tally, (order, ends) = self.whole, self.whole.case.tally, self._by_part
        entry, B = self._entries[order], self.n_parts
        w: Any = self._rating_weights[1][order] if whole.case.is_weighted else 1.0
        rows, after = tally.rows[entry], self._after[1][entry]
        before, K = whole.of_patterns[1][rows], whole.case.weights.n_values
        z = sparse.csr_array((w * after, tally.indices[entry], ends.copy()), (B, K))
        moved = np.where(before != after, 1 - after / np.where(before > 0, before, 1), 0.0)
        if moved.any():
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
    def _urns_of_units(self) -> tuple[Any, Codes, Floats]:
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

    @cached_property
    def _forms(self) -> tuple[Floats, Floats]:
        """F z_b at each entry of the urns z, and z_b' F z_b of each part; only for an urn."""
        z, model = self._urns, self.whole.model
        assert isinstance(model, Urn)  # noqa: S101 - callers check it
        parts = np.repeat(np.arange(self.n_parts), np.diff(z.indptr))
        spread = model.spread_in_groups(self.whole.case, parts, z.indices.astype(np.intp), z.data)
        return spread, _added(parts, z.data * spread, self.n_parts)

    # -- the coefficient of the parts

    @np.errstate(divide="ignore", invalid="ignore")
    def estimates(self) -> Estimates:
        """Return the coefficient of each part, a set of units."""
        model, S, (y, near), f = (
            self.whole.model,
            self.sums,
            self._chance,
            self.whole.of_patterns[0],
        )
        _, b, c, d = slopes(model, S, y, S.M / S.n, varies=not model.fixed)
        # Linearised values without their constant, of which deviations from the mean are free.
        terms = zip((b, c, d), (f.M, f.O, near), strict=True)
        x = sum(np.asarray(slope)[self.part] * each for slope, each in terms)
        mean = self._total(x * f.n) / np.maximum(S.n, 1)
        squares = self._total(f.n * (x - mean[self.part]) ** 2)
        error = root(squares / np.where(S.n > 1, S.n * (S.n - 1), np.nan))
        # The reason for each estimate of NaN, or None; see `estimate`.
        enough = y > NOTHING * self._reach / self.whole.case.weights.max_distance
        reasons = undefined_reasons(self.n_pairable, np.diff(self._urns.indptr))
        reasons[~is_undefined(model, S) & enough] = None
        nan = np.where(reasons == None, 0.0, np.nan)  # noqa: E711 - elementwise
        return Estimates(coefficient(model, S, y) + nan, error + nan, S.O / S.M, S.n, reasons)

    @cached_property
    def _chance(self) -> tuple[Floats, Floats]:
        """Y of each part, and share_i c_i' F z_b of each unit and its part; 0 if y is fixed."""
        case, model, S = self.whole.case, self.whole.model, self.sums
        n = len(self.part)
        if isinstance(model, Urn):
            (_, entry, each), (spread, form) = self._urns_of_units, self._forms
            pairs = S.P**2 - S.own
            near = _added(case.tally.rows, each * spread[entry], n)
            return form / np.where(pairs > 0, pairs, np.nan), near
        if isinstance(model, UrnOfEachRater):
            y, moves = model.in_parts(case, self.part, self.n_parts)
            return y, moves * S.P[self.part]
        if model.fixed:
            return np.full(self.n_parts, self.whole.chance[0]), np.zeros(n)
        blocks = self._blocks(np.arange(self.n_parts))
        z = (self._urns[some].toarray().T[:, None] for some in blocks)
        y = np.concatenate([model.chance(case, [each]) for each in z])
        return y, np.full(n, np.nan)  # no closed form of a unit is known

    @property
    def _reach(self) -> Floats:
        """The largest distance of each part from one value in use to another; see `reach`."""
        z, out, weights = self._urns, np.zeros(self.n_parts), self.whole.case.weights
        used = np.flatnonzero(z.data)
        part = np.repeat(np.arange(self.n_parts), np.diff(z.indptr))[used]
        value, start = z.indices[used].astype(np.intp), np.flatnonzero(np.diff(part, prepend=-1))
        if len(start):
            first = np.repeat(value[start], np.diff(start, append=len(part)))
            out[part[start]] = np.maximum.reduceat(weights.distance_at(first, value), start)
        return np.where(out > 0, out, weights.max_distance)

    def _blocks(self, parts: Codes) -> list[Codes]:
        """Return the parts in blocks whose arrays of units, or of values, are of bounded size."""
        width = max(self.whole.case.weights.n_values, len(self.part))
        return np.split(parts, np.arange(0, len(parts), max(1, BLOCK_ENTRIES // width))[1:])

    # -- the coefficient of what is left

    @cached_property
    def left(self) -> Left:
        """The study without each part.

        Raises
        ------
        TypeError
            The chance model does not define what it gives without a rater.
        """
        whole, model = self.whole, self.whole.model
        if isinstance(model, Urn):
            return whole.without(self.sums, self._urns @ whole.to_values, self._forms[1])
        if model.fixed:
            return whole.without(self.sums)
        if not isinstance(model, UrnOfEachRater):
            return whole.without(self.sums, y=self._redrawn())
        left = whole.without(self.sums, y=model.without_raters(whole.case))
        # Weights from the sizes of strata change if a unit is left without ratings.
        has_sizes = whole.case.rated.strata is not None
        return left._replace(lost=left.lost | (self.sums.n > 0) & has_sizes)

    def _redrawn(self) -> Floats:
        """Return y without each part if labels are redrawn, once for parts of equal answers."""
        case, z, y = self.whole.case, self._urns, np.full(self.n_parts, np.nan)
        alike: dict[tuple[bytes, bytes], list[int]] = {}
        for b in np.flatnonzero(self.whole.sums.n - self.sums.n > 1).tolist():
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
            y[parts] = self.whole.model.chance(case, [X[:, None, None]])
        return y

    def rests(self) -> tuple[Estimates, Flags]:
        """Return the coefficient of all units but those of each part, a set of units.

        Only for a Fixed or Urn model. The flags mark the parts whose rest must be scored instead:
        the part has more than half of the units, or leaves fewer than two pairable ones, or digits
        cancelled.
        """
        left, (error, _, _) = self.left, self.errors()
        n_pairable = self.n_pairable.sum() - self.n_pairable
        lost = left.lost | (left.sums.n < self.sums.n) | (n_pairable < 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = left.sums.O / left.sums.M
        reasons = np.full(self.n_parts, None)
        return Estimates(left.estimate, error, observed, left.sums.n, reasons), lost

    @property
    def n_steps(self) -> float:
        """Number of elementary steps of `errors` for sets of ratings."""
        n = self.whole.case.weights.n_values if self._is_dense else self.n_parts
        return _STEPS_PER_RATING * float(len(self.part)) * n

    @property
    def _is_dense(self) -> bool:
        """Whether F, and F (sum_i s_i² c_i c_i') F, are made as arrays of shape (K, K)."""
        K, B = self.whole.case.weights.n_values, self.n_parts
        return bool(min(B, _MAX_DENSE_VALUES, (B * self.whole.counts.nnz) ** (1 / 3)) >= K)

    @np.errstate(divide="ignore", invalid="ignore")
    def errors(self) -> tuple[Floats, Floats, Flags]:
        """Return the standard errors without each part and of the change, and lost-digit flags.

        They are the roots of sum_i psi_ib² and of sum_i (psi_ib - psi_i)², with psi_i that of the
        study; the second is NaN for sets of units. Only for a Fixed or Urn model.
        """
        whole, left, z = self.whole, self.left, self._urns
        f, share = whole.of_patterns
        has_urn = isinstance(whole.model, Urn)
        means = np.array([whole.sums.M, whole.sums.O, whole.form * has_urn]) / whole.sums.n

        def centred(f: Sums, near: Floats) -> Floats:
            """Return f_i = (1, M_i, O_i, share_i c_i' F X) - their means, of shape (n, 4)."""
            terms = zip((f.M, f.O, near), means, strict=True)
            return np.stack([f.n, *(x - f.n * mean for x, mean in terms)], axis=1)

        def slopes_of(S: Sums, form: Floats, y: Floats) -> Floats:
            """Return v_b / sqrt(n (n - 1)) of shape (B, 4), n the units left; sum v_b . f_i = 0."""
            _, b, c, d = slopes(whole.model, S, y, S.M / S.n, varies=not whole.model.fixed)
            v = np.stack([0 * S.n, b, c, d + 0 * S.n], axis=1)
            of_left = np.stack([S.M, S.O, form * has_urn], axis=1) / S.n[:, None]
            v[:, 0] = -(v[:, 1:] * (of_left - means)).sum(axis=1)
            return v / np.sqrt(S.n * (S.n - 1))[:, None]

        every = [np.atleast_1d(x) for x in (*whole.sums, whole.form, whole.chance[0])]
        u, v = slopes_of(Sums(*every[:5]), *every[5:])[0], slopes_of(left.sums, left.form, left.y)
        f_i = centred(f, share * whole.to_urn)
        weighted = f_i * whole.times[:, None]
        products = f_i.T @ weighted  # sum_i f_i f_i', of shape (4, 4)
        crossed = z @ whole.spread(whole.counts.T @ weighted)  # sum_i f_i nu_ib, of shape (B, 4)
        rows, nu, squared_nu, after = self._changed()
        psi = 0.0 if after is None else np.einsum("ij,ij->i", centred(*after), v[self.part])
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

        own, lost = squares(0.0)
        change = squares(u)[0] if self.of_ratings else np.full(len(own), np.nan)
        return root(own), root(change), lost

    def _changed(self) -> tuple[Any, Floats, Floats, tuple[Sums, Floats] | None]:
        """Return the units that the parts change, and what they have then.

        The row of each, its nu_ib, sum_i nu_ib² of each part over all units, and the features and
        share_i c_i' F (X - z_b) that it has without the part, or None if it is gone.
        """
        whole, z = self.whole, self._urns
        if self.of_ratings:
            return self._changed_by_ratings()
        # The nu_ib of a small part count as equal; their sum is z' F X.
        near, n = self._chance[1], float(whole.sums.n)
        squared_nu = (z @ whole.to_values) ** 2 / max(n, 1)
        large = np.flatnonzero((self.sums.n > _SMALL * n) & (not whole.model.fixed))
        for some in self._blocks(large):
            squared_nu[some] = self._squared_nu(whole.spread(z[some].T.toarray()))
        return slice(None), near, squared_nu, None

    def _changed_by_ratings(self) -> tuple[Any, Floats, Floats, tuple[Sums, Floats]]:
        """Return `_changed` of parts that are sets of ratings."""
        whole, z, entry, case = self.whole, self._urns, self._entries, self.whole.case
        assert case.study is not None  # noqa: S101 - `_entries` checks it
        (B, K), rows, v = z.shape, case.tally.rows[entry], case.study.value_codes
        order, ends = self._by_part
        squared_nu, n_cells, F = np.empty(B), K + len(whole.times), None
        if self._is_dense:
            F, n_cells = whole.spread(np.eye(K)), K
            # sum_i nu_ib² = z_b' F (sum_i share_i² c_i c_i') F z_b
            products = self._rooted.T @ self._rooted
            squared_nu = (z * (z @ (F @ (products @ F)))).sum(axis=1)
        n_cells += int(np.diff(whole.counts.indptr)[rows].sum()) // B
        nu, to_z = np.empty((2, len(rows)))  # share_i c_i' F z_b, and e_v' F z_b
        for start, stop in pairwise([*range(0, B, max(1, BLOCK_ENTRIES // n_cells)), B]):
            mine = order[ends[start] : ends[stop]]
            some, column, counts = z[start:stop], self.part[mine] - start, whole.counts[rows[mine]]
            F_z = whole.spread(some.T.toarray()).T if F is None else some @ F  # (n, K)
            if F is None:
                squared_nu[start:stop] = self._squared_nu(F_z.T)
            row = np.repeat(np.arange(len(column)), np.diff(counts.indptr))
            nu[mine] = _added(row, counts.data * F_z[column[row], counts.indices], len(column))
            to_z[mine] = F_z[column, v[mine]]
        # s'_i (c_i - e_v)' F (X - z_b)
        before, (f, share) = whole.of_patterns[1][rows], self._after
        after, ratio = share[entry], share[entry] / np.where(before > 0, before, 1)
        near = ratio * (before * whole.to_urn[rows] - nu) - after * (whole.to_values[v] - to_z)
        return rows, nu, squared_nu, (Sums(*(x[entry] for x in f)), near)

    def _squared_nu(self, F_z: Floats) -> Floats:
        """Return sum_i nu_ib², nu_ib = share_i c_i' F z_b, of parts with F z_b of shape (K, B)."""
        nu = self._rooted @ F_z
        return np.asarray(np.einsum("ib,ib->b", nu, nu))

    @cached_property
    def _rooted(self) -> Any:
        """share_i c_i times the root of the number of units of each row, as a sparse array."""
        counts = self.whole.counts.copy()
        counts.data *= np.sqrt(self.whole.times)[self.whole.case.tally.rows]
        return counts


def _added(codes: Codes, each: Floats, n: int) -> Floats:
    return np.bincount(codes, each, n).astype(np.float64, copy=False)

"""A coefficient of many parts of a study at once, and of the rest of the study beside each part.

A part has units, raters and chance of its own, as if it were a study; the values, the distance
between them and the largest distance are those of the whole. The linearised value of a unit is a
sum of what it has (its ratings, its disagreement, its distance to the urn) times slopes, one a
part. So its spread over the rest follows from sums of squares and products over all units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.coefficients.chance import NOTHING, ROUNDING, Case, Codes, Floats, dot
from setagree.coefficients.chance_models import Fixed, Model, Redrawn, Urn, one_minus
from setagree.coefficients.conger import UrnOfEachRater
from setagree.coefficients.sums import UnitSums
from setagree.coefficients.within_raters import distinct_keys, spread_within_groups

_LOST = 1e-6
"""A share of the whole study's chance term below which a difference from it has lost digits."""

_SMALL = 1.3e-4
"""A share of the units to whose urn all others are taken to be equally far: 1e-12 of the error."""

_CELLS_AT_ONCE = 4_000_000

_Slopes: TypeAlias = tuple[Floats, Floats, Floats]


class Estimates(NamedTuple):
    """A coefficient of several studies, of shape (n,).

    Attributes
    ----------
    estimate, standard_error : ndarray
        As `Estimate` and `standard_error` have them.
    observed : ndarray
        The observed disagreement as a share of d_max.
    counted : ndarray
        The units behind the standard error.
    undefined : ndarray of object
        Why the estimate is nan, an `Undefined`; or None.
    """

    estimate: Floats
    standard_error: Floats
    observed: Floats
    counted: Floats
    undefined: npt.NDArray[np.object_]


class _Totals(NamedTuple):
    """Sums over units: the units, pairable ones, the ratings of these, what was observed."""

    units: Floats
    pairable: Floats
    ratings: Floats
    observed: Floats


class _Urns(NamedTuple):
    """How much each part has of each of its values, sorted by part and value.

    `each` is what a stored count adds to the entry at `entry`.
    """

    parts: Codes
    values: Codes
    x: Floats
    entry: Codes
    each: Floats


def are_known(model: Model) -> bool:
    """Say whether the parts of a study are computed together under a model."""
    return isinstance(model, Fixed | Redrawn | Urn | UrnOfEachRater)


@dataclass(frozen=True, eq=False)
class Parts:
    """Units of a study, each in one part.

    Attributes
    ----------
    case : Case
        The units: one row of the tally each, equal ones too; with raters for a model that asks who.
    model : Model
        How chance answers.
    of_row : ndarray of shape (n_rows,)
        The part of each unit.
    n_parts : int
        How many parts there are.
    """

    case: Case
    model: Model
    of_row: Codes
    n_parts: int

    @np.errstate(divide="ignore", invalid="ignore")
    def estimates(self) -> Estimates:
        """Return the coefficient of each part."""
        chance, moves = self._chance
        estimate, observed, slopes = _linear(self.model, self.totals, chance)
        one, two, counted = self._features
        each = sum(s[self.of_row] * f for s, f in zip(slopes, (one, two, moves), strict=True))
        n = self._sums(counted)
        mean = self._sums(each * counted) / np.maximum(n, 1)
        error = _standard_error(self._sums(counted * (each - mean[self.of_row]) ** 2), n)
        why = self._undefined(chance)
        nan = np.where([one is None for one in why], 0.0, np.nan)
        return Estimates(estimate + nan, error + nan, observed, n, why)

    @np.errstate(divide="ignore", invalid="ignore")
    def rests(self) -> tuple[Estimates, npt.NDArray[np.bool_]]:
        """Return the coefficient of all units but those of each part.

        Only for a Fixed or Urn model. The flags say where it is not to be used: the part has half
        of the units, or leaves too few, or too little chance for a difference to hold its digits.
        """
        totals = _Totals(*(each.sum() - each for each in self.totals))
        chance, least, urn = self._chance_without(totals)
        estimate, observed, slopes = _linear(self.model, totals, chance)
        n = float(self._features[2].sum()) - self._sums(self._features[2])
        error = _standard_error(self._squares_without(slopes, urn, n), n)
        lost = (n < self._sums(self._features[2])) | (totals.pairable < 2) | ~(chance > least)
        return Estimates(estimate, error, observed, n, np.full(self.n_parts, None)), lost

    @property
    def _by_ratings(self) -> bool:
        return self.model.weigh == "ratings"

    def _sums(self, each: Floats) -> Floats:
        return _added(self.of_row, each, self.n_parts)

    @cached_property
    def _features(self) -> tuple[Floats, Floats, Floats]:
        """Two features of each unit, and whether the variance counts it."""
        tally = self.case.tally
        used = tally.pairable.astype(np.float64)
        if self._by_ratings:
            r, d_max = tally.pattern_ratings, self.case.weights.max_distance
            return r, used * self.case.disagreement / (np.maximum(r - 1, 1) * d_max), used
        return used, used * self.case.mean_disagreement, np.ones(len(used))

    @cached_property
    def totals(self) -> _Totals:
        """The sums over the units of each part."""
        r, used = self.case.tally.pattern_ratings, self.case.tally.pairable.astype(np.float64)
        return _Totals(*map(self._sums, (np.ones(len(r)), used, used * r, self._features[1])))

    @property
    def _factor(self) -> Floats:
        """How much a rating of each unit counts in an urn."""
        tally = self.case.tally
        return tally.pairable.astype(float) if self._by_ratings else 1 / tally.pattern_ratings

    @cached_property
    def _urns(self) -> _Urns:
        tally, K = self.case.tally, self.case.weights.n_values
        each = tally.counts * self._factor[tally.rows]
        keys = self.of_row.astype(np.int64)[tally.rows] * K + tally.indices
        distinct, entry = distinct_keys(keys, self.n_parts * K)
        parts = distinct // K  # much faster than divmod
        values, x = (distinct - parts * K).astype(np.intp), _added(entry, each, len(distinct))
        return _Urns(parts.astype(np.intp), values, x, entry, each)

    @cached_property
    def _chance(self) -> tuple[Floats, Floats]:
        """1 - pe of each part, and how far each unit is from the urn of its part."""
        if isinstance(self.model, Fixed):
            return np.full(self.n_parts, self.model.level(self.case)), np.zeros(len(self.of_row))
        if isinstance(self.model, UrnOfEachRater):
            return self._chance_by_rater()
        if isinstance(self.model, Redrawn):
            columns = self._columns(np.arange(self.n_parts))
            chance = np.concatenate([self.model.chance(self.case, x) for _, x in columns])
            return chance, np.full(len(self.of_row), np.nan)  # no closed form of a unit is known
        urns, rows = self._urns, self.case.tally.rows
        spread = self._urn.spread_in_groups(self.case, urns.parts, urns.values, urns.x)
        moves = _added(rows, urns.each * spread[urns.entry], len(self.of_row))
        form = _added(urns.parts, urns.x * spread, self.n_parts)
        return form / self._pairs(self.totals), moves

    @property
    def _urn(self) -> Urn:
        if not isinstance(self.model, Urn):
            raise TypeError(f"the parts of {self.model!r} are not computed together")
        return self.model

    def _pairs(self, totals: _Totals) -> Floats:
        """Return how many pairs of answers an urn gives; nan for none."""
        N = totals.ratings
        pairs = N * (N - 1) if self._by_ratings else totals.units**2
        return np.where(pairs > 0, pairs, np.nan)

    def _chance_by_rater(self) -> tuple[Floats, Floats]:
        """Return the same of urns of each rater; see `UrnOfEachRater.linearised`."""
        rated, weights = self.case.rated, self.case.weights
        part, values = self.of_row[rated.row_codes], rated.value_codes
        keys = part.astype(np.int64) * rated.n_raters + rated.rater_codes
        people, who = np.unique(keys, return_inverse=True)
        one = 1 / np.bincount(who)[who]
        r = np.bincount((people // rated.n_raters).astype(np.intp), minlength=self.n_parts)
        pairs = np.where(r > 1, r * (r - 1.0), np.nan)
        n_parts, n_people = self.n_parts, len(people)
        z = r[part] * spread_within_groups(
            part, values, n_groups=n_parts, weights=weights, times=one
        )
        z -= spread_within_groups(who, values, n_groups=n_people, weights=weights)
        z /= weights.max_distance
        gap = (z - np.bincount(who, z * one)[who]) * one
        moves = _added(rated.row_codes, gap, len(self.of_row))
        scale = self.totals.units**2 / pairs
        return _added(part, z * one, n_parts) / pairs, moves * scale[self.of_row]

    def _undefined(self, chance: Floats) -> npt.NDArray[np.object_]:
        """Return why the estimate of each part is nan; see `estimate`."""
        units, pairable = self.totals.units, self.totals.pairable
        lone = pairable == 1 if self._by_ratings else (units == 1) & (not self.model.fixed)
        enough = chance > NOTHING * self._reach / self.case.weights.max_distance
        bad = (pairable == 0) | lone | ~enough
        out = np.full(self.n_parts, None)
        out[bad] = "no chance disagreement"
        out[bad & (pairable == 1)] = "one unit"
        out[bad & (np.bincount(self._urns.parts, minlength=self.n_parts) == 1)] = "one value"
        out[bad & (pairable == 0)] = "no pairable unit"
        return out

    @property
    def _reach(self) -> Floats:
        """The largest distance from one value in use to another of each part; see `reach`."""
        used = np.flatnonzero(self._urns.x)
        part, value = self._urns.parts[used], self._urns.values[used]
        start = np.flatnonzero(np.diff(part, prepend=-1))
        first = np.repeat(value[start], np.diff(start, append=len(part)))
        out = np.zeros(self.n_parts)
        if len(start):
            d = self.case.weights.distance_at(first, value)
            out[part[start]] = np.maximum.reduceat(d, start)
        return np.where(out > 0, out, self.case.weights.max_distance)

    def _chance_without(self, totals: _Totals) -> tuple[Floats, Floats, Floats]:
        """Return 1 - pe of each rest, what it must exceed, and how far values are from all."""
        K, least = self.case.weights.n_values, np.zeros(self.n_parts)
        if isinstance(self.model, Fixed):
            return np.full(self.n_parts, self.model.level(self.case)), least, np.zeros(K)
        x = _added(self._urns.values, self._urns.x, K)
        urn, pairs = self._urn.spread(self.case, x), self._pairs(totals)
        whole = dot(x, urn)
        form = whole - 2 * self._to(urn) + self._sums(self._chance[1])
        least += max(_LOST * whole, self._urn.rounding(self.case, x))
        return form / pairs, least / pairs, urn

    def _to(self, each: Floats) -> Floats:
        """Return the sum of a number of each value over the urn of each part."""
        urns = self._urns
        return _added(urns.parts, urns.x * each[urns.values], self.n_parts)

    def _squares_without(self, slopes: _Slopes, urn: Floats, n: Floats) -> Floats:
        """Return the squared deviations of the linearised values over the rest of each part.

        The third feature of a unit is its distance to the whole urn less that to the part.
        """
        urns, rows, (_, _, counted) = self._urns, self.case.tally.rows, self._features
        away = _added(rows, urns.each * urn[self.case.tally.indices], len(counted))
        f = np.stack([*self._features[:2], away])
        f = (f - (f @ counted / counted.sum())[:, None]) * counted
        means = np.zeros(self.n_parts)
        squares = np.zeros(self.n_parts)
        for j in range(3):
            means += slopes[j] * (f[j].sum() - self._sums(f[j]))
            for k in range(3):
                both = f[j] * f[k]
                squares += slopes[j] * slopes[k] * (both.sum() - self._sums(both))
        if urn.any():
            own, K = self._chance[1], self.case.weights.n_values
            for j in range(3):
                x = _added(self.case.tally.indices, urns.each * f[j][rows], K)
                both = self._to(self._urn.spread(self.case, x)) - self._sums(f[j] * own)
                squares -= 2 * slopes[2] * slopes[j] * both
            cross = self._to(urn)
            means -= slopes[2] * (cross - self._sums(own))
            squares += slopes[2] ** 2 * (self._squares_near(cross) - self._sums(own**2))
        return np.maximum(squares - means**2 / np.maximum(n, 1), 0)

    def _squares_near(self, cross: Floats) -> Floats:
        """Return the sum over all units of their squared distances to the urn of each part.

        To a part that is small beside the study, all units are taken to be equally far.
        """
        counted = self._features[2]
        n = float(counted.sum())
        out = cross**2 / max(n, 1)
        large = np.flatnonzero(self._sums(counted) > _SMALL * n)
        counts = UnitSums(self.case, self.model).counts
        for some, x in self._columns(large, len(counted)):
            away = counts @ self._urn.spread(self.case, x)
            out[some] = np.einsum("up,up->p", away, away)
        return out

    def _columns(self, parts: Codes, width: int = 1) -> Iterator[tuple[Codes, Floats]]:
        """Yield some of the parts and their urns, of shape (K, n), in bounded memory."""
        urns, K = self._urns, self.case.weights.n_values
        at_once = max(1, _CELLS_AT_ONCE // max(K, width))
        for start in range(0, len(parts), at_once):
            some = parts[start : start + at_once]
            place = np.full(self.n_parts, -1)
            place[some] = np.arange(len(some))
            column = place[urns.parts]
            kept = np.flatnonzero(column >= 0)
            x = np.zeros((K, len(some)))
            x[urns.values[kept], column[kept]] = urns.x[kept]
            yield some, x


def _linear(model: Model, totals: _Totals, chance: Floats) -> tuple[Floats, Floats, _Slopes]:
    """Return 1 - x / y, x, and what each feature of a unit adds to its linearised value.

    The same as in `estimate`, with y = 1 - pe, and without what all units have in common.
    """
    units, pairable, N, observed = totals
    if model.weigh == "units":
        x, seen = observed / pairable, units / pairable
        moves = 2 * x / (chance**2 * units) * (not model.fixed)
        return one_minus(x, chance), x, (seen, -seen / chance, moves)
    x, r = observed / N, N / pairable
    y = (1 - 1 / N) * chance
    apart = x / y
    slopes = (x / chance - 2 * apart) / r, -1 / (r * y), 2 * apart / (r * N * y)
    return one_minus(x, chance), x, slopes


def _added(codes: Codes, each: Floats, n: int) -> Floats:
    return np.bincount(codes, each, n).astype(np.float64, copy=False)


def _standard_error(squares: Floats, n: Floats) -> Floats:
    """Return what `standard_error` does, of summed squared deviations."""
    error = np.sqrt(squares / np.where(n > 1, n * (n - 1), np.nan))
    return np.where(error > ROUNDING, error, error * 0)

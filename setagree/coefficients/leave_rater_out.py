"""Every coefficient without one rater, from sums over the rater's own ratings.

The distance stays that of the full study. A rater's absence takes one rating from each of the
rater's units; what all units sum up to changes by what these change by. A sum of which next to
nothing is left has lost its digits in the subtraction: such a rater is marked, to be left out by
scoring the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.checks import check_cost
from setagree.coefficients.chance import NOTHING, Case, Floats
from setagree.coefficients.chance_models import Fixed, Model, Redrawn, Urn
from setagree.coefficients.conger import UrnOfEachRater
from setagree.coefficients.multivalued import redrawn_steps
from setagree.coefficients.within_raters import spread_within_raters
from setagree.credit.base import sums_to_others
from setagree.study.annotations import Annotations

Codes: TypeAlias = npt.NDArray[np.integer[Any]]
Left: TypeAlias = tuple[Floats, npt.NDArray[np.bool_]]
"""One estimate a rater, and whether it must be computed anew."""

_LOST = 1e-6
"""A share of the whole below which what is left of a sum is computed anew."""

_ENTRIES_AT_ONCE = 2_000_000
_STEPS_AN_ENTRY = 20


@dataclass(frozen=True, eq=False)
class Absence:
    """What the absence of each rater takes from a study in memory.

    Attributes
    ----------
    case : Case
    study : Annotations
    """

    case: Case
    study: Annotations

    @cached_property
    def r(self) -> Floats:
        """r_i of the unit of each rating."""
        return np.bincount(self.study.unit_codes)[self.study.unit_codes].astype(np.float64)

    @cached_property
    def q(self) -> Floats:
        """q_i of the unit of each rating, and the same without the rating."""
        tally, K = self.case.tally, self.case.weights.n_values
        far = sums_to_others(tally.rows, tally.indices, tally.counts, self.case.weights)
        patterns = self._patterns[self.study.unit_codes]
        entry = np.searchsorted(
            tally.rows.astype(np.int64) * K + tally.indices, patterns * K + self.study.value_codes
        )
        q = self.case.disagreement[patterns]
        return np.stack([q, q - 2 * far[entry]])

    @cached_property
    def _patterns(self) -> Codes:
        patterns = self.case.tally.unit_patterns
        if patterns is None:
            raise TypeError("this case does not know the patterns of its units")
        return patterns.astype(np.int64)

    def sums(self, each: Floats) -> Floats:
        """Return the sum over the ratings of each rater."""
        out = np.bincount(self.study.rater_codes, each, self.study.n_raters)
        return out.astype(np.float64)

    @cached_property
    def n_units(self) -> Floats:
        """How many units are left without each rater."""
        return self.study.n_units - self.sums(self.r == 1)

    @cached_property
    def n_pairable(self) -> Floats:
        """How many units with two ratings or more are left without each rater."""
        return self.case.tally.n_pairable_units - self.sums(self.r == 2)

    def disagreement(self, of: Callable[[Floats], Floats]) -> tuple[float, Floats]:
        """Return sum_i q_i / of(r_i) over pairable units: of all raters, and without each."""
        tally = self.case.tally
        used = tally.pairable
        whole = float(
            tally.multiplicity[used]
            @ (self.case.disagreement[used] / of(tally.pattern_ratings[used]))
        )
        before, after = np.zeros(len(self.r)), np.zeros(len(self.r))
        np.divide(self.q[0], of(self.r), out=before, where=self.r >= 2)
        np.divide(self.q[1], of(self.r - 1), out=after, where=self.r >= 3)
        return whole, whole + self.sums(after - before)

    def observed(self) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Return 1 - pa without each rater, and where it has lost its digits."""
        whole, left = self.disagreement(lambda r: r * (r - 1))
        n, out = self.n_pairable, np.full(len(left), np.nan)
        np.divide(left, n * self.case.weights.max_distance, out=out, where=n > 0)
        return out, (left <= _LOST * whole) & (whole > 0)

    @cached_property
    def pooled(self) -> tuple[Floats, Codes, Codes, Floats]:
        """Alpha's value totals n, and who takes how much of which value from them."""
        study, tally = self.study, self.case.tally
        totals = tally.pairable_totals
        own = np.flatnonzero(self.r >= 2)
        order = np.argsort(study.unit_codes, kind="stable")
        two = order[self.r[order] == 2]
        # A unit of two ratings counts no more: the partner's goes, too.
        partners = two.reshape(-1, 2)[:, ::-1].ravel()
        raters = np.concatenate([study.rater_codes[own], study.rater_codes[two]])
        values = np.concatenate([study.value_codes[own], study.value_codes[partners]])
        return totals, raters, values, np.full(len(raters), -1.0)

    def quadratic(
        self, model: Urn, totals: Floats, raters: Codes, values: Codes, amounts: Floats
    ) -> tuple[float, Floats]:
        """Return x' F x of the totals: of all raters, and with each one's amounts added."""
        spread = model.spread(self.case, totals)
        owners, taken, x = _summed(raters, values, amounts, self.case.weights.n_values)
        own = model.spread_in_groups(self.case, owners, taken, x)
        change = np.bincount(owners, x * (2 * spread[taken] + own), self.study.n_raters)
        whole = float(totals @ spread)
        return whole, np.asarray(whole + change, dtype=np.float64)

    def shares_taken(self) -> list[tuple[Codes, Codes, Floats]]:
        """Return who takes how much of which value from sum_i r_ik / r_i, some raters at a time.

        A rating less in a unit makes all others count for more: 1 / (r - 1) instead of 1 / r.
        """
        study, tally = self.study, self.case.tally
        patterns = self._patterns[study.unit_codes]
        sizes = np.diff(tally.indptr)[patterns]
        check_cost(
            "Leaving out each rater",
            n_steps=_STEPS_AN_ENTRY * float(sizes.sum()),
            instead="Krippendorff's alpha passes, or fewer raters.",
        )
        order = np.argsort(study.rater_codes, kind="stable")
        done = np.cumsum(sizes[order])
        bounds = np.searchsorted(study.rater_codes[order], np.arange(study.n_raters + 1))
        blocks, first = [], 0
        while first < study.n_raters:
            before = done[bounds[first] - 1] if bounds[first] else 0
            last = int(np.searchsorted(done[bounds[1:] - 1], before + _ENTRIES_AT_ONCE, "right"))
            last = max(last, first + 1)
            blocks.append(self._taken(order[bounds[first] : bounds[last]], patterns))
            first = last
        return blocks

    def _taken(self, ratings: Codes, patterns: Codes) -> tuple[Codes, Codes, Floats]:
        tally, K = self.case.tally, self.case.weights.n_values
        starts, sizes = tally.indptr[patterns[ratings]], np.diff(tally.indptr)[patterns[ratings]]
        owner = np.repeat(np.arange(len(ratings)), sizes)
        entries = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes - starts, sizes)
        r, raters = self.r[ratings], self.study.rater_codes[ratings]
        more = np.where(r > 1, 1 / np.maximum(r - 1, 1) - 1 / r, -1.0)
        own = np.where(r > 1, -1 / np.maximum(r - 1, 1), 0.0)
        return _summed(
            np.concatenate([raters[owner], raters]),
            np.concatenate([tally.indices[entries], self.study.value_codes[ratings]]),
            np.concatenate([more[owner] * tally.counts[entries], own]),
            K,
        )


def _summed(
    raters: Codes, values: Codes, amounts: Floats, n_values: int
) -> tuple[Codes, Codes, Floats]:
    """Add up the amounts of each rater and value, sorted by rater."""
    keys, which = np.unique(raters.astype(np.int64) * n_values + values, return_inverse=True)
    owners, taken = np.asarray(np.divmod(keys, n_values), dtype=np.intp)
    return owners, taken, np.bincount(which, amounts, len(keys)).astype(np.float64)


def _ratio(absence: Absence, chance: Floats, whole: float, *, several: Floats) -> Left:
    """Return 1 - x / y, nan where one unit would have to show what chance does."""
    x, lost = absence.observed()
    gone = ~(absence.n_pairable > 0) | (several == 1)
    lost |= chance <= max(_LOST * whole, NOTHING)
    out = np.full(len(x), np.nan)
    np.divide(x, chance, out=out, where=~gone & (chance > 0))
    return 1 - out, lost & ~gone


def without_raters(absence: Absence, model: Model) -> Left:
    """Return the coefficient without each rater.

    Raises
    ------
    TypeError
        The model is of no kind that can do without a rater.
    """
    match model:
        case Fixed():
            return _fixed(absence, model)
        case UrnOfEachRater():
            return _of_each_rater(absence)
        case Redrawn():
            return _redrawn(absence, model)
        case Urn() if model.weigh == "ratings":
            return _by_ratings(absence, model)
        case Urn():
            return _by_units(absence, model)
    raise TypeError(f"{model!r} is not a model of chance whose raters can be left out")


def _by_ratings(absence: Absence, model: Urn) -> Left:
    """Return the same where a unit counts as often as it was rated (alpha)."""
    whole, left = absence.disagreement(lambda r: r - 1)
    totals, raters, values, amounts = absence.pooled
    pairs, apart = absence.quadratic(model, totals, raters, values, amounts)
    N = totals.sum() + np.bincount(raters, amounts, absence.study.n_raters)
    gone = absence.n_pairable < 2
    out = np.full(len(left), np.nan)
    d_max = absence.case.weights.max_distance
    np.divide(left * (N - 1), apart * d_max, out=out, where=~gone & (apart > 0))
    lost = (left <= _LOST * whole) & (whole > 0) | (apart <= _LOST * pairs)
    return 1 - out, lost & ~gone


def _by_units(absence: Absence, model: Urn) -> Left:
    """Return the same where a unit counts once (the kappas)."""
    tally = absence.case.tally
    sums = tally.value_totals(tally.multiplicity / tally.pattern_ratings)
    left, whole = np.zeros(absence.study.n_raters), 0.0
    for part in absence.shares_taken():
        whole, changed = absence.quadratic(model, sums, *part)
        own = np.unique(part[0])
        left[own] = changed[own]
    chance = left / np.maximum(absence.n_units, 1) ** 2
    return _ratio(absence, chance, whole / tally.n_units**2, several=absence.n_units)


def _fixed(absence: Absence, model: Fixed) -> Left:
    """Return the same where nobody's absence changes chance."""
    level = model.level(absence.case)
    each = np.full(absence.study.n_raters, level)
    return _ratio(absence, each, level, several=np.zeros(len(each)))


def _of_each_rater(absence: Absence) -> Left:
    """Return the same where each rater has an urn: the shares p_g of the others stay."""
    rated, weights = absence.case.rated, absence.case.weights
    g, v, r = rated.rater_codes, rated.value_codes, rated.n_raters
    if r < 3:
        return np.full(r, np.nan), np.zeros(r, dtype=bool)
    each = (rated.times / rated.ratings[g]).astype(np.float64)
    spread = weights.distance_dot(np.bincount(v, each, weights.n_values).astype(np.float64))
    apart = each * (spread[v] - spread_within_raters(rated, weights))
    toward = np.bincount(g, apart, r).astype(np.float64)
    pairs = float(toward.sum())
    chance = (pairs - 2 * toward) / ((r - 1) * (r - 2) * weights.max_distance)
    whole = pairs / (r * (r - 1) * weights.max_distance)
    return _ratio(absence, chance, whole, several=absence.n_units)


def _redrawn(absence: Absence, model: Redrawn) -> Left:
    """Return the same where labels are redrawn; those who gave the same answers are one case."""
    case, R = absence.case, absence.study.n_raters
    totals, raters, values, amounts = absence.pooled
    owners, taken, x = _summed(raters, values, amounts, case.weights.n_values)
    bounds = np.searchsorted(owners, np.arange(R + 1))
    alike: dict[tuple[bytes, bytes], list[int]] = {}
    for g in np.flatnonzero(absence.n_pairable > 1).tolist():
        mine = slice(bounds[g], bounds[g + 1])
        alike.setdefault((taken[mine].tobytes(), x[mine].tobytes()), []).append(g)
    check_cost(
        "mv_alpha without each rater",
        n_steps=len(alike) * redrawn_steps(case.tally.values),
        instead="Krippendorff's alpha passes, or fewer raters.",
    )
    whole, left = absence.disagreement(lambda r: r - 1)
    out = np.full(R, np.nan)
    for same in alike.values():
        n, mine = totals.copy(), slice(bounds[same[0]], bounds[same[0] + 1])
        n[taken[mine]] += x[mine]
        expected = float(model.chance(case, n[:, None])[0]) * case.weights.max_distance
        if expected > 0:
            out[same] = 1 - left[same] / n.sum() / expected
    return out, (left <= _LOST * whole) & (whole > 0) & (absence.n_pairable > 1)

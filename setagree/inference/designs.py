"""Which units studies have in common, which decides how they can be compared."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from setagree.distances import Distance
from setagree.errors import DataError, SimilarLabelsWarning, counted, listing, option, warn
from setagree.inference.known_raters import known_study
from setagree.inference.units import on_one_tally
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import Scorer, warn_undefined

Comparable: TypeAlias = Literal["same_units", "shared_units", "independent"]
"""The designs of a comparison by name."""


_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)|(?<=\d)\.0+(?![\d.])")
"""Zeros in front of a number, and what makes a whole number a decimal one."""
_FEW = 4
"""Of so many studies a sentence lists the sizes."""


def design_of(agreements: Sequence[Agreement]) -> Comparable:
    """Return the design that the identifiers of the units speak for.

    Raises
    ------
    DataError
        Some have no identifiers, or some are shared and others not.

    Warns
    -----
    SimilarLabelsWarning
        No identifier is shared, but some differ only in case, space, zeros in front or type; or
        clusters of one name are in several studies.
    """
    if on_one_tally(agreements):
        return "same_units"
    known = _known_units(agreements)
    if all(one == known[0] for one in known):
        return "same_units"
    alike = _alike(known)
    if all(one.isdisjoint(two) for one, two in itertools.combinations(known, 2)):
        if alike:
            warn(
                f"no unit is shared, so that the studies are taken as independent, but {alike}; "
                f"spell them alike if they are the same, or say {option('design', 'independent')}.",
                SimilarLabelsWarning,
            )
        _doubt_shared_clusters(agreements)
        return "independent"
    counts = [len(one) for one in known]
    sizes = " and ".join(f"{n:,}" for n in counts) + " units"
    if len(counts) > _FEW:
        sizes = f"the {min(counts):,} to {max(counts):,} units in each of {len(counts):,} studies"
    n_in_all = len(frozenset.intersection(*known))
    shared = f"{option('design', 'shared_units')} (only those, scored anew), 'same_units'"
    first = shared if n_in_all else option("design", "same_units")
    apart = (
        "" if n_in_all else f" Or compare two at a time, with {option('design', 'shared_units')}."
    )
    raise DataError(
        f"the studies share some units and not others: of {sizes}, {n_in_all:,} are in all; "
        f"say {first} (all: units with the same name are the same things) or "
        f"'independent' (names are alike by chance).{apart}"
        + (f" Besides, {alike}." if alike else "")
    )


def _doubt_shared_clusters(agreements: Sequence[Agreement]) -> None:
    """Warn where studies that share no unit have clusters of the same names."""
    samples = [one.case.sample for one in agreements]
    named = [
        frozenset(sample.names[np.unique(sample.groups)].tolist())
        for sample in samples
        if sample is not None and sample.groups is not None and sample.is_clustered
    ]
    shared = sorted({x for a, b in itertools.combinations(named, 2) for x in a & b}, key=str)
    if shared:
        have = "has units" if len(shared) == 1 else "have units"
        warn(
            "no unit is shared, so that the studies are taken as independent, but "
            f"{counted(len(shared), 'cluster')} {have} in more than one of them "
            f"({listing(shared, limit=2)}); say {option('design', 'same_units')} if clusters of "
            f"one name are the same, or {option('design', 'independent')} if not.",
            SimilarLabelsWarning,
        )


def on_shared_units(agreements: Sequence[Agreement]) -> list[Agreement]:
    """Return the agreements scored anew on the units that all of the studies have.

    The values that count as possible (for `gwet_ac`, `brennan_prediger`) stay those of the whole
    study, and the distance is made anew, as it is where a file holds the shared units alone.

    Raises
    ------
    DataError
        No unit is in all, or it is not known who gave what.
    """
    if on_one_tally(agreements):
        return list(agreements)
    known = _known_units(agreements)
    shared = frozenset.intersection(*known)
    if not shared:
        alike = _alike(known)
        raise DataError(f"no unit is in all of the studies.{f' But {alike}.' if alike else ''}")
    parts = [
        one if len(units) == len(shared) else _restricted(one, shared)
        for one, units in zip(agreements, known, strict=True)
    ]
    warn_undefined([part for part, one in zip(parts, agreements, strict=True) if part is not one])
    return parts


def n_shared(one: Agreement, two: Agreement) -> int:
    """Return how many units are in both."""
    if on_one_tally([one, two]):
        return one.n_units
    return len(frozenset.intersection(*_known_units([one, two])))


def _known_units(agreements: Sequence[Agreement]) -> list[frozenset[Any]]:
    units = [agreement.tally.units for agreement in agreements]
    known = [frozenset(one.tolist()) for one in units if one is not None]
    if len(known) < len(units):
        raise DataError(
            "some units have no identifiers and cannot be matched; say "
            f"{option('design', 'independent')} if the studies share no unit."
        )
    return known


def distance_of(agreement: Agreement) -> Distance:
    """Return the distance that an agreement was scored with."""
    if agreement.case.distance is None:
        raise TypeError("this agreement does not know its distance")
    return agreement.case.distance


def _restricted(agreement: Agreement, shared: Collection[Any]) -> Agreement:
    study = known_study(agreement, f"{option('design', 'shared_units')} scores anew and must know")
    distance = distance_of(agreement)
    kept = np.array([unit in shared for unit in study.units.tolist()], dtype=bool)
    part = study.take(kept[study.unit_codes])
    return Scorer(part, categories=agreement.weights.values).score(agreement.definition, distance)


def _alike(known: Sequence[frozenset[Any]]) -> str:
    """Return how many identifiers of two studies differ only in spelling; nothing where none do."""
    spelled: dict[str, Any] = {_plain(unit): unit for unit in known[0]}
    pairs = [
        (spelled[_plain(unit)], unit)
        for units in known[1:]
        for unit in sorted(units - known[0], key=str)
        if _plain(unit) in spelled and spelled[_plain(unit)] not in units
    ]
    if not pairs:
        return ""
    verb = "differs" if len(pairs) == 1 else "differ"
    return (
        f"{counted(len(pairs), 'unit')} {verb} only in case, space, zeros or type "
        f"({' and '.join(map(repr, pairs[0]))}{' and others' if pairs[1:] else ''})"
    )


def _plain(unit: object) -> str:
    """Return an identifier without case, space, zeros in front of whole numbers, and type."""
    if isinstance(unit, tuple):
        return f"({','.join(map(_plain, unit))})"
    return _ZEROS.sub("", "".join(str(unit).split()).casefold())

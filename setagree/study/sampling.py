"""How the units of a study were drawn, and whether what is said of that makes sense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import (
    DataError,
    OptionError,
    SetagreeWarning,
    a_type,
    counted,
    listing,
    option,
    python_or_command,
    shorten,
    warn,
)
from setagree.study.codes import Codes, as_objects
from setagree.study.identifiers import tidied
from setagree.study.numbers import as_float

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations

Floats: TypeAlias = npt.NDArray[np.float64]
Sizes: TypeAlias = Mapping[Any, float] | float | None
"""How many units each stratum has, or the population."""
Chance: TypeAlias = Literal["documents", "characters"]
"""Pairs of answers of one rater that the expected disagreement of measured units leaves out: those
within one cluster (document), or only those of one unit of size (character) with itself."""

OF_SIZES, OF_SIZES_PAIRABLE = "population per unit", "population per pairable unit"
"""The columns of weights that follow from the sizes of strata: of rated and of pairable units."""

_MOST = 1e50
"""Weights beyond it, or below its inverse, are scaled: of these the fourth powers are no floats."""

_MOST_UNEQUAL = 1e9
"""How many times the smallest weight the largest may be: beyond it sums lose their digits."""


@dataclass(frozen=True)
class Sampling:
    """How the units were drawn: names of columns of units, and the sizes of what they stand for.

    Attributes
    ----------
    cluster : str or None
        Units of one cluster were drawn together.
    sampling_weight : str or None
        How many units of the population each stands for, or what is proportional to that.
    strata : str or None
        The part of the population that each unit was drawn from.
    population_size : mapping or float, optional
        How many units each stratum has; without strata, the whole population.
    size : str or None
        Length of each unit, in characters, tokens or seconds: a unit of size w is w units.
    chance : {"documents", "characters"}
        Pairs that the disagreement expected by alpha leaves out, if units have sizes.
    """

    cluster: str | None = None
    sampling_weight: str | None = None
    strata: str | None = None
    population_size: Sizes = None
    size: str | None = None
    chance: Chance = "documents"

    @property
    def is_weighted(self) -> bool:
        """Whether units have sampling weights."""
        return self.sampling_weight is not None

    @property
    def said(self) -> str:
        """What is said of how the units were drawn, in words: "clusters", "strata"."""
        is_sized = self.population_size is not None
        said = {
            "clusters": self.cluster,
            "sampling weights": self.sampling_weight not in {None, OF_SIZES},
            "strata of known size" if is_sized else "strata": self.strata,
            "a population size": is_sized and self.strata is None,
            "sizes of units": self.size,
        }
        return " and ".join(words for words, is_said in said.items() if is_said)


@dataclass(frozen=True, eq=False)
class Sample:
    """The units of a study as they were drawn; None for what is not said.

    Attributes
    ----------
    weights : ndarray of shape (n_units,), or None
        The sampling weights; huge or tiny ones over a power of 2, so that the largest is near 1.
    pairable_weights : ndarray of shape (n_units,), or None
        The weights in sums over pairable units: N_s / n_pairable_s where sizes of strata make the
        weights, which are N_s / n_rated_s in sums over rated units; else the same weights.
    groups : ndarray of int, shape (n_units,), or None
        The cluster of each unit, or its stratum.
    names : ndarray of object
        The clusters, or the strata.
    sizes : ndarray of shape (n_strata,)
        Number of units, or of clusters if there are some, in each stratum of the population, or in
        the population; infinite if unknown.
    is_clustered : bool
        Whether the groups are clusters.
    by, weighted_by : str
        The column of the clusters, or of the strata; that of the weights.
    said : str
        What is said of the units, in words.
    cluster_strata : ndarray of int, shape (n_clusters,), or None
        The stratum of each cluster, if clusters were drawn from strata.
    stratum_names : ndarray of object, or None
        The names of these strata.
    size_by : str
        The column of the sizes of units, which are then the weights; blank without sizes.
    chance : {"documents", "characters"}
        As in `Sampling`.
    """

    weights: Floats | None
    pairable_weights: Floats | None
    groups: Codes | None
    names: npt.NDArray[np.object_]
    sizes: Floats
    is_clustered: bool
    by: str
    weighted_by: str
    said: str
    cluster_strata: Codes | None = None
    stratum_names: npt.NDArray[np.object_] | None = None
    size_by: str = ""
    chance: Chance = "documents"

    @property
    def is_sized(self) -> bool:
        """Whether units have sizes."""
        return bool(self.size_by)

    @property
    def is_plain_clusters(self) -> bool:
        """Whether clusters were drawn without weights, strata and a population of known size."""
        plain = self.weights is None and self.cluster_strata is None
        return self.is_clustered and plain and not np.isfinite(self.sizes).any()

    @property
    def strata_of_size(self) -> Codes | None:
        """The stratum of each unit where the sizes of strata make the weights; else None."""
        return self.groups if self.weighted_by == OF_SIZES and not self.is_clustered else None


def warn_ignored(sampling: Sampling | None, what: str, instead: str = "") -> None:
    """Warn that `what` ignores how the units were drawn, if anything is given of that."""
    if sampling is None:
        return
    if sampling.size is not None:
        raise OptionError(f"{what} is not defined for units with sizes: it counts each unit once.")
    names = ("cluster", "sampling_weight", "strata", "population_size")
    given = [option(name) for name in names if getattr(sampling, name) not in (None, OF_SIZES)]
    warn(
        f"{what} treats the units as drawn one by one, all alike: {' and '.join(given)} "
        f"{'is' if len(given) == 1 else 'are'} ignored.{instead}",
        SetagreeWarning,
    )


def sample_of(study: Annotations) -> Sample | None:
    """Return how the units of a study were drawn, or None if nothing is said of that."""
    how = study.sampling
    if how is None:
        return None
    frame = study.units_frame
    by = how.cluster or how.strata or ""
    strata: Any = [""]
    groups, names = pd.factorize(as_objects(frame[by])) if by else (None, as_objects([""]))
    weights = pairable = None
    if how.sampling_weight:
        weights = pairable = _scaled(frame[how.sampling_weight].to_numpy(dtype=float))
    if how.sampling_weight == OF_SIZES:
        pairable = _scaled(frame[OF_SIZES_PAIRABLE].to_numpy(dtype=float))
    if how.size is not None:  # a size is no proportion, so that it is not scaled
        weights = pairable = frame[how.size].to_numpy(dtype=float)
    named: tuple[Any, ...] = (by, how.sampling_weight or "", how.said)
    is_clustered = how.cluster is not None
    if is_clustered and how.strata is not None:
        of_unit, strata = pd.factorize(as_objects(frame[how.strata]))
        first = np.unique(np.asarray(groups), return_index=True)[1]
        named = (*named, of_unit[first], as_objects(strata))
    listed = strata if is_clustered else names
    size = how.population_size
    known = [size.get(name, np.inf) if isinstance(size, Mapping) else size for name in listed]
    sizes = np.array([np.inf if one is None else float(one) for one in known])
    out = Sample(weights, pairable, groups, as_objects(names), sizes, is_clustered, *named)
    return replace(out, size_by=how.size or "", chance=how.chance)


def _scaled(weights: Floats) -> Floats:
    """Return the weights, divided by a power of 2 if they are huge or tiny: proportions count."""
    if 1 / _MOST < weights.max(initial=0) < _MOST:
        return weights
    return np.ldexp(weights, -int(np.frexp(weights.max(initial=0))[1]))


def check_weights(study: Annotations, column: str, noun: str = "sampling weight") -> None:
    """Raise an error for weights, or sizes, that are not finite and above 0, or too unequal."""
    cells = study.units_frame[column]
    plain = {*map(type, cells)} == {float}  # which most are, and many
    weights = cells.to_numpy(dtype=float) if plain else np.array([*map(_as_float, cells)])
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if bad.size:
        has = f"{'has' if bad.size == 1 else 'have'} no such {noun.split()[-1]}"
        raise OptionError(
            f"a {noun} is a finite number above 0; unit {shorten(study.units[bad[0]])} "
            f"has {shorten(cells.iloc[bad[0]])} ({counted(bad.size, 'unit')} of "
            f"{study.n_units:,} {has}). Correct the {noun.split()[-1]}s, or leave such units out."
        )
    least, most = int(weights.argmin()), int(weights.argmax())
    if weights[least] < weights[most] / _MOST_UNEQUAL:
        said = [f"{weights[k]:g} of unit {shorten(study.units[k])}" for k in (least, most)]
        what = (
            "the weights that follow from the sizes"
            if column in {OF_SIZES, OF_SIZES_PAIRABLE}
            else f"the {noun.split()[-1]}s"
        )
        raise OptionError(
            f"{noun}s differ at most {_MOST_UNEQUAL:,.0f}-fold; {what} go from "
            f"{said[0]} to {said[1]}. Correct them, or leave such units out."
        )


def _as_float(cell: object) -> float:
    """Return the number that a cell is or spells, or NaN if it is none, or True or False."""
    if isinstance(cell, bool | np.bool_):
        return np.nan
    number = as_float(cell.item() if isinstance(cell, np.generic) else cell)
    return np.nan if number is None else number


def check_sizes(study: Annotations, size: Sizes, strata: str | None, cluster: str | None) -> Sizes:
    """Return the sizes of the population, by strata as these are called in the study.

    Sizes count units, or clusters if there are some.

    Raises
    ------
    DataError
        A size is that of a stratum of which no unit was drawn.
    OptionError
        A size is no number, or below what was drawn; a stratum has none; strata and sizes do not
        go together.
    """
    noun = "units" if cluster is None else "clusters"
    if strata is None:
        if isinstance(size, Mapping):
            raise OptionError(
                f"{option('population_size')} by stratum needs {option('strata')}, what names the "
                "stratum of each unit."
            )
        n = study.n_units if cluster is None else study.units_frame[cluster].nunique()
        _check_size(size, n, "", noun)
        return size
    if not isinstance(size, Mapping):
        example = python_or_command("{'a': 90, 'b': 40}", "a=90,b=40")
        raise OptionError(
            f"{option('population_size')} beside {option('strata')} says the size of each, as in "
            f"{example}; it is {' '.join(shorten(size).split())}, {a_type(size)}."
        )
    sizes = {tidied(name): one for name, one in size.items()}
    if len(sizes) < len(size):
        raise OptionError(f"{option('population_size')} names a stratum twice: {listing([*size])}.")
    frame = study.units_frame
    if cluster is not None:
        frame = frame.drop_duplicates(cluster)
    codes, names = pd.factorize(as_objects(frame[strata]))
    drawn = dict(zip(names, np.bincount(codes).tolist(), strict=True))
    if absent := [name for name in drawn if name not in sizes]:
        named = f"it names {listing([*size])}" if size else "it names none"
        raise OptionError(
            f"{option('population_size')} lacks the strata {listing(absent)}; {named}."
        )
    if empty := [name for name in sizes if name not in drawn]:
        raise DataError(
            f"{option('population_size')} names {listing(empty)}, of which no unit was drawn; the "
            "sample says nothing of that part of the population."
        )
    for name, n in drawn.items():
        _check_size(sizes[name], n, f" of stratum {shorten(name)}", noun)
    return sizes


def _check_size(size: object, n_drawn: int, of: str, noun: str) -> None:
    """Raise OptionError if a size is not a number, or is below the number that was drawn."""
    number = np.nan if isinstance(size, str) else _as_float(size)
    shown = int(number) if np.isfinite(number) and number == round(number) else size
    said = f"{option('population_size', shown, limit=80)}{of}"
    if not np.isfinite(number):
        raise OptionError(
            f"{said} is not a number of {noun}; write a finite number, {n_drawn:,} (the {noun} "
            "drawn) or more."
        )
    if number < n_drawn:
        raise OptionError(f"{said} is below the {n_drawn:,} {noun} drawn of it.")


def check_strata(study: Annotations, strata: str, cluster: str | None) -> None:
    """Raise DataError if a stratum has one pairable unit, or one cluster of such units.

    Also if a cluster has units of several strata.
    """
    pairable = np.bincount(study.unit_codes, minlength=study.n_units) >= 2
    frame, noun = study.units_frame, "unit with two ratings"
    if cluster is not None:
        noun = "cluster of units with two ratings"
        n_strata = frame.groupby(cluster, sort=False)[strata].nunique()
        if split := n_strata.index[n_strata > 1].tolist():
            raise DataError(
                f"strata: {listing(split)} of {cluster!r} {'has' if len(split) == 1 else 'have'} "
                f"units in several strata ({strata!r}); clusters are drawn from one stratum."
            )
    frame = frame[pairable]
    frame = frame if cluster is None else frame.drop_duplicates(cluster)
    codes, names = pd.factorize(as_objects(frame[strata]))
    if alone := names[np.bincount(codes, minlength=len(names)) == 1].tolist():
        raise DataError(
            f"strata: {listing(alone)} {'has' if len(alone) == 1 else 'have'} one {noun}, which "
            "shows no spread; join such a stratum with another."
        )

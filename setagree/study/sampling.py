"""Sampling design of the units of a study, and its checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes, Floats
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
from setagree.lazy import pd
from setagree.study.codes import as_objects
from setagree.study.identifiers import tidied
from setagree.study.numbers import as_float

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations

Sizes: TypeAlias = Mapping[Any, float] | float | None
"""Number of units in each stratum, or in the population."""
Chance: TypeAlias = Literal["documents", "characters"]
"""Pairs of answers of one rater that the expected disagreement of measured units leaves out: those
within one cluster (document), or only those of one unit of size (character) with itself."""

OF_SIZES, OF_SIZES_PAIRABLE = "population per unit", "population per pairable unit"
"""Columns of weights derived from the sizes of strata, for rated and for pairable units."""

_MAX_WEIGHT = 1e50
"""Weights beyond it or below its inverse are scaled, because their fourth powers overflow."""

_MAX_RATIO = 1e9
"""Largest ratio of two weights; beyond it, sums lose digits."""


@dataclass(frozen=True)
class Sampling:
    """Sampling design of the units: names of columns of units, and sizes of the population.

    The fields are explained in `Annotations.sampled`.
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
    def description(self) -> str:
        """Parts of the design in words, such as "clusters and strata"."""
        is_sized = self.population_size is not None
        parts = {
            "clusters": self.cluster,
            "sampling weights": self.sampling_weight not in {None, OF_SIZES},
            "strata of known size" if is_sized else "strata": self.strata,
            "a population size": is_sized and self.strata is None,
            "sizes of units": self.size,
        }
        return " and ".join(words for words, is_present in parts.items() if is_present)


@dataclass(frozen=True, eq=False)
class Sample:
    """Sampling design as arrays over the units of a study; None for absent parts.

    Attributes
    ----------
    weights : ndarray of shape (n_units,), or None
        The sampling weights. Huge or tiny weights are divided by a power of 2.
    pairable_weights : ndarray of shape (n_units,), or None
        The weights in sums over pairable units. If they are derived from the sizes of strata, they
        are N_s / n_pairable_s, and `weights` are N_s / n_rated_s; otherwise both are equal. NaN if
        raters were left out and a stratum has no pairable unit anymore.
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
        The column of the clusters or strata, and that of the weights.
    design : Sampling
        The names of these columns.
    cluster_strata : ndarray of int, shape (n_clusters,), or None
        The stratum of each cluster, if clusters were sampled from strata.
    stratum_names : ndarray of object, or None
        The names of these strata.
    """

    weights: Floats | None
    pairable_weights: Floats | None
    groups: Codes | None
    names: npt.NDArray[np.object_]
    sizes: Floats
    is_clustered: bool
    by: str
    weighted_by: str
    design: Sampling
    cluster_strata: Codes | None = None
    stratum_names: npt.NDArray[np.object_] | None = None

    @property
    def is_sized(self) -> bool:
        """Whether units have sizes, which are then the weights."""
        return self.design.size is not None

    @property
    def is_plain_clusters(self) -> bool:
        """Whether clusters were sampled without weights, strata or population sizes."""
        plain = self.weights is None and self.cluster_strata is None
        return self.is_clustered and plain and not np.isfinite(self.sizes).any()

    @property
    def strata_of_size(self) -> Codes | None:
        """Stratum of each unit if the weights are derived from sizes of strata, otherwise None."""
        return self.groups if self.weighted_by == OF_SIZES and not self.is_clustered else None


def warn_ignored(sampling: Sampling | None, what: str, instead: str = "") -> None:
    """Warn that `what` ignores the sampling design, if there is one; sizes are refused."""
    if sampling is None:
        return
    if sampling.size is not None:
        raise OptionError(f"{what} is not defined for units with sizes: it counts each unit once.")
    names = ("cluster", "sampling_weight", "strata", "population_size")
    ignored = [option(name) for name in names if getattr(sampling, name) not in (None, OF_SIZES)]
    warn(
        f"{what} treats the units as drawn one by one, all alike: {' and '.join(ignored)} "
        f"{'is' if len(ignored) == 1 else 'are'} ignored.{instead}",
        SetagreeWarning,
    )


def sample_of(study: Annotations) -> Sample | None:
    """Return the sampling design as arrays over the units, or None without a design."""
    design = study.sampling
    if design is None:
        return None
    frame = study.units_frame
    by = design.cluster or design.strata or ""
    strata: Any = [""]
    groups, names = pd.factorize(as_objects(frame[by])) if by else (None, as_objects([""]))
    weights = pairable = None
    if design.sampling_weight:
        weights = pairable = _scaled(frame[design.sampling_weight].to_numpy(dtype=float))
    if design.sampling_weight == OF_SIZES:
        pairable = _scaled(frame[OF_SIZES_PAIRABLE].to_numpy(dtype=float))
    if design.size is not None:  # sizes count units of size 1, so do not scale them
        weights = pairable = frame[design.size].to_numpy(dtype=float)
    named: tuple[Any, ...] = (by, design.sampling_weight or "", design)
    is_clustered = design.cluster is not None
    if is_clustered and design.strata is not None:
        of_unit, strata = pd.factorize(as_objects(frame[design.strata]))
        first = np.unique(np.asarray(groups), return_index=True)[1]
        named = (*named, of_unit[first], as_objects(strata))
    listed = strata if is_clustered else names
    size = design.population_size
    of_strata = [size.get(name, np.inf) if isinstance(size, Mapping) else size for name in listed]
    sizes = np.array([np.inf if n is None else float(n) for n in of_strata])
    return Sample(weights, pairable, groups, as_objects(names), sizes, is_clustered, *named)


def _scaled(weights: Floats) -> Floats:
    """Return the weights, divided by a power of 2 if they are huge or tiny."""
    if 1 / _MAX_WEIGHT < weights.max(initial=0) < _MAX_WEIGHT:
        return weights
    return np.ldexp(weights, -int(np.frexp(weights.max(initial=0))[1]))


def check_weights(study: Annotations, column: str, noun: str = "sampling weight") -> None:
    """Raise an error for weights or sizes that are not finite and positive, or too unequal."""
    cells = study.units_frame[column]
    are_floats = {*map(type, cells)} == {float}  # a faster path for the usual case
    weights = cells.to_numpy(dtype=float) if are_floats else np.array([*map(_as_float, cells)])
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if bad.size:
        has = f"{'has' if bad.size == 1 else 'have'} no such {noun.split()[-1]}"
        raise OptionError(
            f"a {noun} is a finite number above 0; unit {shorten(study.units[bad[0]])} "
            f"has {shorten(cells.iloc[bad[0]])} ({counted(bad.size, 'unit')} of "
            f"{study.n_units:,} {has}). Correct the {noun.split()[-1]}s, or omit such units."
        )
    least, most = int(weights.argmin()), int(weights.argmax())
    if weights[least] < weights[most] / _MAX_RATIO:
        low, high = (f"{weights[k]:g} of unit {shorten(study.units[k])}" for k in (least, most))
        what = (
            "the weights derived from the sizes"
            if column in {OF_SIZES, OF_SIZES_PAIRABLE}
            else f"the {noun.split()[-1]}s"
        )
        raise OptionError(
            f"{noun}s may differ at most {_MAX_RATIO:,.0f}-fold; {what} range from "
            f"{low} to {high}. Correct them, or omit such units."
        )


def _as_float(cell: object) -> float:
    """Return the number that a cell is or spells; NaN for other cells, including flags."""
    if isinstance(cell, bool | np.bool_):
        return np.nan
    number = as_float(cell.item() if isinstance(cell, np.generic) else cell)
    return np.nan if number is None else number


def check_sizes(study: Annotations, size: Sizes, strata: str | None, cluster: str | None) -> Sizes:
    """Return the sizes of the population, with the names of strata as in the study.

    Sizes count units, or clusters if there are some.
    """
    noun = "units" if cluster is None else "clusters"
    if strata is None:
        if isinstance(size, Mapping):
            raise OptionError(
                f"{option('population_size')} by stratum needs {option('strata')}, the stratum of "
                "each unit."
            )
        n = study.n_units if cluster is None else study.units_frame[cluster].nunique()
        _check_size(size, n, "", noun)
        return size
    if not isinstance(size, Mapping):
        example = python_or_command("{'a': 90, 'b': 40}", "a=90,b=40")
        raise OptionError(
            f"{option('population_size')} with {option('strata')} must give the size of each "
            f"stratum, as in {example}, not {' '.join(shorten(size).split())}, {a_type(size)}."
        )
    sizes = {tidied(name): n for name, n in size.items()}
    if len(sizes) < len(size):
        raise OptionError(f"{option('population_size')} names a stratum twice: {listing([*size])}.")
    frame = study.units_frame
    if cluster is not None:
        frame = frame.drop_duplicates(cluster)
    codes, names = pd.factorize(as_objects(frame[strata]))
    n_sampled = dict(zip(names, np.bincount(codes).tolist(), strict=True))
    if absent := [name for name in n_sampled if name not in sizes]:
        named = f"it names {listing([*size])}" if size else "it is empty"
        raise OptionError(
            f"{option('population_size')} lacks the strata {listing(absent)}; {named}."
        )
    if empty := [name for name in sizes if name not in n_sampled]:
        raise DataError(
            f"{option('population_size')} names {listing(empty)}, without a sampled unit; the "
            "agreement in that part of the population cannot be estimated."
        )
    for name, n in n_sampled.items():
        _check_size(sizes[name], n, f" of stratum {shorten(name)}", noun)
    return sizes


def _check_size(size: object, n_sampled: int, of: str, noun: str) -> None:
    """Raise `OptionError` if a size is not a number, or is smaller than the sample."""
    number = np.nan if isinstance(size, str) else _as_float(size)
    shown = int(number) if np.isfinite(number) and number == round(number) else size
    start = f"{option('population_size', shown, limit=80)}{of}"
    if not np.isfinite(number):
        raise OptionError(
            f"{start} must be a number of {noun}, at least {n_sampled:,} (the sampled {noun})."
        )
    if number < n_sampled:
        raise OptionError(f"{start} must be at least {n_sampled:,}, the number of sampled {noun}.")


def check_strata(study: Annotations, strata: str, cluster: str | None) -> None:
    """Raise `DataError` for strata with one pairable unit or cluster, and for split clusters."""
    pairable = np.bincount(study.unit_codes, minlength=study.n_units) >= 2
    frame, noun = study.units_frame, "unit with two ratings"
    if cluster is not None:
        noun = "cluster of units with two ratings"
        n_strata = frame.groupby(cluster, sort=False)[strata].nunique()
        if split := n_strata.index[n_strata > 1].tolist():
            raise DataError(
                f"strata: {listing(split)} of {cluster!r} {'has' if len(split) == 1 else 'have'} "
                f"units in several strata ({strata!r}); each cluster must be in one stratum."
            )
    frame = frame[pairable]
    frame = frame if cluster is None else frame.drop_duplicates(cluster)
    codes, names = pd.factorize(as_objects(frame[strata]))
    if alone := names[np.bincount(codes, minlength=len(names)) == 1].tolist():
        raise DataError(
            f"strata: {listing(alone)} {'has' if len(alone) == 1 else 'have'} one {noun} and "
            "thus no variance; merge such a stratum with another."
        )

"""What is known of each unit beside its answers, and how the units were drawn.

A column of units may name the cluster (document, patient) or the stratum of each unit, or how many
units of the population it stands for; or a batch or a time that a diagnosis asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import public
from setagree.errors import (
    DataError,
    OptionError,
    check_list,
    counted,
    did_you_mean,
    listing,
    option,
    shorten,
)
from setagree.study.beside import as_column, said_of, with_columns
from setagree.study.codes import Codes, as_objects
from setagree.study.frames import Frame
from setagree.study.labels import is_missing
from setagree.study.reading import Reading

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations

Floats: TypeAlias = npt.NDArray[np.float64]
OfUnits: TypeAlias = "str | Mapping[Any, Any] | pd.Series[Any]"
"""A column of units by name, or what says something of each unit."""
Sizes: TypeAlias = Mapping[Any, float] | float | None
"""How many units each stratum has, or the population."""
OF_SIZES = "population per unit"
"""The column of weights that follow from the sizes of strata."""


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
    """

    cluster: str | None = None
    sampling_weight: str | None = None
    strata: str | None = None
    population_size: Sizes = None

    @property
    def is_weighted(self) -> bool:
        """Whether units have sampling weights."""
        return self.sampling_weight is not None


@dataclass(frozen=True, eq=False)
class Sample:
    """The units of a study as they were drawn; None for what is not said.

    Attributes
    ----------
    weights : ndarray of shape (n_units,), or None
        The sampling weights.
    groups : ndarray of int, shape (n_units,), or None
        The cluster of each unit, or its stratum.
    names : ndarray of object
        The clusters, or the strata.
    sizes : ndarray of shape (n_strata,)
        How many units the population has in each stratum, or in all; infinite where not said.
    is_clustered : bool
        Whether the groups are clusters.
    by, weighted_by : str
        The column of the clusters, or of the strata; that of the weights.
    """

    weights: Floats | None
    groups: Codes | None
    names: npt.NDArray[np.object_]
    sizes: Floats
    is_clustered: bool
    by: str
    weighted_by: str


def sample_of(study: Annotations) -> Sample | None:
    """Return how the units of a study were drawn; None where nothing is said of that."""
    how = study.sampling
    if how is None:
        return None
    frame = study.units_frame
    by = how.cluster or how.strata or ""
    groups, names = pd.factorize(as_objects(frame[by])) if by else (None, as_objects([""]))
    weights = frame[how.sampling_weight].to_numpy(dtype=float) if how.sampling_weight else None
    size = how.population_size
    known = [size.get(name, np.inf) if isinstance(size, Mapping) else size for name in names]
    sizes = np.array([np.inf if one is None else float(one) for one in known])
    named = (by, how.sampling_weight or "")
    return Sample(weights, groups, as_objects(names), sizes, how.cluster is not None, *named)


def units_frame(study: Annotations) -> pd.DataFrame:
    """Return what is known of each unit beside its answers: a row a unit, a column each thing.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(4, 2, rng=1).with_units({"doc": dict(u1=1, u2=1, u3=2, u4=2)})
    >>> study.units_frame.T
    unit u1 u2 u3 u4
    doc   1  1  2  2
    """
    index = pd.Index(study.units, dtype=object, name="unit", tupleize_cols=False)
    return (
        pd.DataFrame(index=index) if study.unit_table is None else study.unit_table.reindex(index)
    )


def with_units(
    study: Annotations, columns: pd.DataFrame | Mapping[str, Mapping[Any, Any] | pd.Series[Any]]
) -> Annotations:
    """Return the study with further things known of its units.

    Parameters
    ----------
    columns : DataFrame or mapping
        A table whose index names the units; or for each column a mapping, or Series, from unit. It
        may say more than is asked, of units that the study does not have.

    Raises
    ------
    DataError
        A unit has several entries.

    Examples
    --------
    >>> from setagree import Annotations
    >>> study = Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "b"), ("ann", 2, "b")])
    >>> study.with_units({"doc": {1: "x", 2: "y"}}).units_frame["doc"].tolist()
    ['x', 'y']
    """
    return replace(study, unit_table=with_columns(study.units_frame, columns, "unit"))


@public
def sampled(
    study: Annotations,
    *,
    cluster: OfUnits | None = None,
    sampling_weight: OfUnits | None = None,
    strata: OfUnits | None = None,
    population_size: Sizes = None,
) -> Annotations:
    """Return the study with how its units were drawn, which every interval of it then respects.

    What was said before stays, unless it is said anew.

    Parameters
    ----------
    cluster : str, mapping or Series, optional
        The document, patient or conversation of each unit: a column of `units_frame`, or what says
        it of each unit. Units of one cluster are alike, and are no independent evidence.
    sampling_weight : str, mapping or Series, optional
        How many units of the population each unit stands for, where some were more likely to be
        drawn; no frequencies. Only their proportions count.
    strata : str, mapping or Series, optional
        The part of the population that each unit was drawn from on its own.
    population_size : mapping or number, optional
        How many units each stratum has; without strata, the population. Strata without weights
        then weigh as much as their size says.

    Raises
    ------
    DataError
        A unit has no cluster, weight or stratum, or a stratum has one unit with two ratings.
    OptionError
        Clusters stand beside weights or strata, or something is no weight or size.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(40, 3, rng=1)
    >>> document = {unit: k // 4 for k, unit in enumerate(study.units)}
    >>> sa.krippendorff_alpha(study.sampled(cluster=document))
    <krippendorff_alpha [masi]: 0.3156 (se 0.0388, 95% 0.2278 to 0.4035, 10 clusters), 40 units>
    """
    given = {"cluster": cluster, "sampling_weight": sampling_weight, "strata": strata}
    before = study.sampling or Sampling()
    names = {
        role: name for role in given if (name := getattr(before, role)) not in {None, OF_SIZES}
    }
    for role, column in given.items():
        if column is None:
            continue
        if not isinstance(column, str):
            study, column = with_units(study, {role: column}), role
        _check_column(study, column, role)
        names[role] = column
    population_size = before.population_size if population_size is None else population_size
    if "cluster" in names and (len(names) > 1 or population_size is not None):
        raise OptionError(
            f"{option('cluster')} beside weights, strata or sizes is not defined; give one."
        )
    study = replace(study, sampling=Sampling(**names, population_size=population_size))
    return _checked(study)


def read_column(study: Annotations, of_unit: OfUnits, role: str) -> npt.NDArray[np.object_]:
    """Return what a column of units, or a mapping, says of each unit.

    Raises
    ------
    DataError
        The study knows no such column, or it says nothing of some units.
    """
    name = role
    if isinstance(of_unit, str):
        name = of_unit
    else:
        study = with_units(study, {role: of_unit})
    _check_column(study, name, role)
    return as_objects(study.units_frame[name])


def read_units(study: Annotations, data: Frame, reading: Reading) -> Annotations:
    """Return the study with the columns of its table that say one thing of each unit.

    Raises
    ------
    DataError
        A column is absent, or says several things of one unit.
    """
    if reading.unit_columns is not None:
        check_list("unit_columns", reading.unit_columns, "columns")
    if not reading.of_units:
        return study
    columns = study.units_frame
    for name, said in said_of(study.units, data, reading.unit, reading.of_units, "unit").items():
        columns[name] = as_column(said, columns)
    study = replace(study, unit_table=columns)
    return sampled(study, **reading.drawn) if reading.drawn else study


def _check_column(study: Annotations, column: str, role: str) -> None:
    """Refuse a column that is absent, or that says nothing of some units."""
    known = study.units_frame
    if column not in known:
        listed = f"it knows {listing([*known])}" if len(known.columns) else "it knows none"
        raise DataError(
            f"the study knows no column {column!r} of its units, {listed}; name it when the table "
            f"is read: unit_columns=[{column!r}].{did_you_mean(column, known)}"
        )
    cells = known[column]
    without = [unit for unit, one in zip(study.units, cells, strict=True) if is_missing(one)]
    if without:
        raise DataError(
            f"{role}: {counted(len(without), 'unit')} of {study.n_units:,} "
            f"{'has' if len(without) == 1 else 'have'} none in {column!r} ({listing(without)})."
        )


def _checked(study: Annotations) -> Annotations:
    """Return the study once weights, strata and sizes are seen to fit."""
    how = study.sampling
    assert how is not None  # noqa: S101 - it was said just now
    if how.sampling_weight is not None:
        _check_weights(study, study.units_frame[how.sampling_weight])
    if how.strata is None and isinstance(how.population_size, Mapping):
        raise OptionError(f"{option('population_size')} by stratum needs {option('strata')}.")
    if how.strata is not None:
        _check_strata(study, study.units_frame[how.strata], how.population_size)
    sample = sample_of(study)
    if sample is None or how.population_size is None:
        return study
    groups = np.zeros(study.n_units, dtype=np.intp) if sample.groups is None else sample.groups
    drawn = np.bincount(groups)
    for name, n, size in zip(sample.names, drawn, sample.sizes, strict=True):
        if not size >= n or np.isinf(size):
            of = f" of stratum {name!r}" if how.strata else ""
            said = f"{option('population_size', float(size)).removesuffix('.0')}{of}"
            less = f"is below the {n:,} units drawn of it"
            raise OptionError(f"{said} {less if size < n else 'is no number of units'}.")
    if how.sampling_weight is not None or how.strata is None:
        return study
    # Units with one rating stand for no other: agreement is that of the pairable ones.
    pairable = np.bincount(study.unit_codes, minlength=study.n_units) >= 2
    each = (sample.sizes / np.bincount(groups[pairable], minlength=len(drawn)))[groups]
    weighted = with_units(study, {OF_SIZES: dict(zip(study.units, each, strict=True))})
    return replace(weighted, sampling=replace(how, sampling_weight=OF_SIZES))


def _check_weights(study: Annotations, cells: pd.Series[Any]) -> None:
    weights = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if bad.size:
        unit = study.units[bad[0]]
        raise OptionError(
            f"a sampling weight is a number above 0; unit {shorten(unit)} has "
            f"{shorten(cells.iloc[bad[0]])}."
        )


def _check_strata(study: Annotations, cells: pd.Series[Any], size: Sizes) -> None:
    if size is not None and not isinstance(size, Mapping):
        sizes = f"{option('population_size')} beside {option('strata')}"
        raise OptionError(f"{sizes} says the size of each: {{stratum: size}}.")
    if absent := [one for one in cells.unique() if size is not None and one not in size]:
        raise OptionError(f"{option('population_size')} lacks the strata {listing(absent)}.")
    if empty := [one for one in size or () if one not in set(cells)]:
        raise DataError(
            f"{option('population_size')} names {listing(empty)}, of which no unit was drawn; the "
            "sample says nothing of that part of the population."
        )
    pairable = np.bincount(study.unit_codes, minlength=study.n_units) >= 2
    times = cells[pairable].value_counts()
    if alone := times.index[times == 1].tolist():
        raise DataError(
            f"strata: {listing(alone)} {'has' if len(alone) == 1 else 'have'} one unit with two "
            "ratings, which shows no spread; join such a stratum with another."
        )

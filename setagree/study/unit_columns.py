"""What is known of each unit beside its answers, and how the units were drawn.

A column of units may name the cluster (document, patient) or the stratum of each unit, or how many
units of the population it stands for; or a batch or a time that a diagnosis asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import numpy as np
import pandas as pd

from setagree.checks import public
from setagree.errors import (
    DataError,
    OptionError,
    check_choice,
    check_list,
    counted,
    did_you_mean,
    listing,
    option,
)
from setagree.study.assembly import pick_column, warn_names
from setagree.study.beside import GROUPS, as_column, attribute_values, no_name, with_columns
from setagree.study.frames import Frame, as_pandas
from setagree.study.labels import is_missing
from setagree.study.reading import Reading
from setagree.study.sampling import (
    OF_SIZES,
    OF_SIZES_PAIRABLE,
    Chance,
    Sample,
    Sampling,
    Sizes,
    check_sizes,
    check_strata,
    check_weights,
    sample_of,
)

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations

OfUnits: TypeAlias = "str | Mapping[Any, Any] | pd.Series[Any]"
"""A column of units by name, or what says something of each unit."""


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
    size: OfUnits | None = None,
    chance: Chance | None = None,
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
        drawn; no frequencies. Only their proportions count; the largest may be 1e9 times the least.
    strata : str, mapping or Series, optional
        The part of the population that each unit was drawn from on its own.
    population_size : mapping or number, optional
        Number of units in each stratum, or in the population if there are no strata; of clusters if
        there are some. Strata without weights then weigh as much as their size states.
    size : str, mapping or Series, optional
        Length of each unit, such as its characters, tokens or seconds, if units are measured pieces
        of documents: a unit of size w counts as w units of size 1 with the same answers. Sizes are
        not sampling weights, and require `cluster`, the document of each unit.
    chance : {"documents", "characters"}, optional
        Of units with sizes: the pairs of answers that the disagreement expected by Krippendorff's
        alpha leaves out. ``"documents"`` (the default) leaves out all pairs of answers of one rater
        in one cluster, which are alike; ``"characters"`` only those of a character (a unit of size
        1) with itself, as if each were a unit of its own.

    Raises
    ------
    DataError
        A unit has no cluster, weight or stratum; a stratum has one unit with two ratings, or one
        cluster of such units; or a cluster has units of several strata.
    OptionError
        Something is not a weight or a size; or units with sizes have no cluster, or weights, strata
        or a population size, too.

    Warns
    -----
    SimilarLabelsWarning
        Names of clusters or strata look alike, such as 1 and "1".

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(40, 3, rng=1)
    >>> document = {unit: k // 4 for k, unit in enumerate(study.units)}
    >>> sa.krippendorff_alpha(study.sampled(cluster=document))
    <krippendorff_alpha [masi]: 0.3156 (se 0.0388, 95% 0.2278 to 0.4035, 10 clusters), 40 units>
    """
    given = {
        "cluster": cluster,
        "sampling_weight": sampling_weight,
        "strata": strata,
        "size": size,
    }
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
        if role in GROUPS and getattr(before, role) != column:
            warn_names(GROUPS[role], pd.unique(study.units_frame[column]))
        names[role] = column
    population_size = before.population_size if population_size is None else population_size
    drawn = Sampling(**names, population_size=population_size)
    if drawn.size is not None or chance is not None:
        drawn = _measured(drawn, before.chance if chance is None else chance)
    return _checked(replace(study, sampling=drawn))


def _measured(drawn: Sampling, chance: Chance) -> Sampling:
    """Return the design of units with sizes; raise OptionError if its parts do not fit."""
    check_choice("chance", chance, get_args(Chance))
    if drawn.size is None:
        raise OptionError(f"chance={chance!r} is for units with sizes; use size=.")
    others = ("sampling_weight", "strata", "population_size")
    if odd := [name for name in others if getattr(drawn, name) not in {None, OF_SIZES}]:
        raise OptionError(f"size= does not go together with {option(odd[0])}; omit one of the two.")
    if drawn.cluster is None:
        raise OptionError(
            f"size= requires {option('cluster')}, the document of each unit: answers to "
            "neighbouring pieces are alike, so that documents are the independent evidence."
        )
    return replace(drawn, chance=chance)


def read_column(study: Annotations, of_unit: OfUnits, role: str) -> pd.Series[Any]:
    """Return the value of each unit in a column of units, or in a mapping.

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
    column: pd.Series[Any] = study.units_frame[name].reset_index(drop=True)
    return column


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
    numbers = {reading.sampling_weight}
    found = attribute_values(
        study.units, data, reading.unit, reading.of_units, "unit", numbers=numbers
    )
    for name, said in found.items():
        given = pick_column(as_pandas(data, [name]), name)
        columns[name] = as_column(said, columns, given.dtype)
    study = replace(study, unit_table=columns)
    return sampled(study, **reading.drawn) if reading.drawn else study


def _check_column(study: Annotations, column: str, role: str) -> None:
    """Raise an error for a column that is absent, or that says nothing of some units."""
    known = study.units_frame
    if column not in known:
        listed = f"it knows {listing([*known])}" if len(known.columns) else "it knows none"
        raise DataError(
            f"the study knows no column {column!r} of its units, {listed}; name it when the table "
            f"is read: unit_columns=[{column!r}].{did_you_mean(column, known)}"
        )
    cells = known[column]
    try:
        pd.unique(cells)
    except TypeError:
        raise DataError(f"{role}, column {column!r}: {no_name(cells)}") from None
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
        check_weights(study, how.sampling_weight)
    if how.size is not None:
        check_weights(study, how.size, "size")
    if how.strata is not None:
        check_strata(study, how.strata, how.cluster)
    if how.population_size is None:
        return study
    how = replace(
        how, population_size=check_sizes(study, how.population_size, how.strata, how.cluster)
    )
    study = replace(study, sampling=how)
    sample = sample_of(study)
    if how.sampling_weight is not None or sample is None or sample.groups is None:
        return study
    if sample.is_clustered:
        return _weighted_by_clusters(study, sample)
    # N_s / n_s, with n_s the rated units of a stratum in sums over rated units, and the pairable
    # ones in sums over pairable units: a unit with one rating shows answers, but no agreement.
    pairable = np.bincount(study.unit_codes, minlength=study.n_units) >= 2
    n_pairable = np.bincount(sample.groups[pairable], minlength=len(sample.names))
    if not n_pairable.all():
        raise DataError(
            f"strata: {listing(sample.names[n_pairable == 0].tolist())} without a unit with two "
            "ratings, so that the sample says nothing of agreement in that part of the population."
        )
    n_rated = np.bincount(sample.groups, minlength=len(sample.names))
    for column, n in {OF_SIZES: n_rated, OF_SIZES_PAIRABLE: n_pairable}.items():
        each = (sample.sizes / n)[sample.groups]
        study = with_units(study, {column: dict(zip(study.units, each, strict=True))})
        check_weights(study, column)
    return replace(study, sampling=replace(how, sampling_weight=OF_SIZES))


def _weighted_by_clusters(study: Annotations, sample: Sample) -> Annotations:
    """Return the study with the weight N_s / G_s of each unit of the G_s clusters of a stratum."""
    how, strata, clusters = study.sampling, sample.cluster_strata, sample.groups
    if how is None or strata is None or clusters is None:
        return study
    each = (sample.sizes / np.bincount(strata))[strata[clusters]]
    of_unit = dict(zip(study.units, each, strict=True))
    for column in (OF_SIZES, OF_SIZES_PAIRABLE):
        study = with_units(study, {column: of_unit})
        check_weights(study, column)
    return replace(study, sampling=replace(how, sampling_weight=OF_SIZES))

"""Attributes of units and raters: columns of a table with one value per unit or rater."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import public
from setagree.errors import (
    DataError,
    OptionError,
    a_type,
    check_choice,
    check_list,
    counted,
    did_you_mean,
    listing,
    option,
    shorten,
)
from setagree.study.answer_warnings import warn_merged_names
from setagree.study.assembly import pick_column, warn_names
from setagree.study.codes import as_objects, as_ordered, is_ordered
from setagree.study.columns import with_columns as with_roles
from setagree.study.frames import Frame, as_pandas, column_names
from setagree.study.identifiers import find_names, tidied
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


GROUPS = {"cluster": "Clusters", "strata": "Strata"}
"""The roles that name groups of units, and these as sentences call them."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d{9,}$")
"""How a time begins: a date, or the seconds since 1970."""


def attribute_values(
    known: npt.NDArray[np.object_],
    data: Frame,
    by: str | None,
    names: Sequence[str],
    what: str,
    *,
    numbers: Collection[str | None] = (),
) -> dict[str, npt.NDArray[np.object_]]:
    """Return what columns of a table say of each unit, or of each rater, or None for nothing.

    Parameters
    ----------
    known : ndarray of object
        The units, or the raters.
    data : DataFrame
        The table.
    by : str or None
        The column that identifies them; None for the index.
    names : list of str
        The columns.
    what : {"unit", "rater"}
        Which they are.
    numbers : collection of str
        The columns whose cells are numbers, and no names of groups.

    Raises
    ------
    DataError
        A column is absent, or says several things of one of them.
    """
    table = as_pandas(data, [*([] if by is None else [by]), *names])
    ids = as_objects(table.index) if by is None else as_objects(pick_column(table, by))
    codes, listed = pd.factorize(ids)
    place = {name: k for k, name in enumerate(known.tolist())}
    of_row = np.array([place.get(tidied(one), -1) for one in listed], dtype=np.int64)[codes]
    kept = np.flatnonzero(of_row >= 0)
    which, found = of_row[kept], {}
    for name in names:
        given = as_objects(pick_column(table, name).iloc[kept])
        cells, things = _things(given, name, what, is_group=name not in numbers)
        said, told = np.full(len(known), -1, dtype=np.int64), cells >= 0
        said[which[told]] = cells[told]
        other = told & (said[which] != cells)
        if other.any():
            one = which[np.flatnonzero(other)[0]]
            several = [things[k] for k in np.unique(cells[told & (which == one)])]
            timed = what == "unit" and all(_TIME.match(str(thing)) for thing in several)
            raise DataError(
                f"column {name!r} says several things of {what} {shorten(known[one])}: "
                f"{listing(several)}. A column of {what}s says one thing of each."
                f"{_how_complete(name, by) if timed else ''}"
            )
        found[name] = as_objects([*things, None])[said]
    return found


def _how_complete(name: str, by: str | None) -> str:
    """Return a sentence on how to derive the time of a unit from those of its answers."""
    return (
        " If each answer has its own time, make a column with the latest of each unit, when it was "
        f"complete: table.groupby({by or 'unit'!r})[{name!r}].transform('max') in pandas, or "
        "MAXIFS in a spreadsheet."
    )


def with_columns(
    table: pd.DataFrame, columns: pd.DataFrame | Mapping[str, Any], what: str
) -> pd.DataFrame:
    """Return a table of units, or of raters, with further columns, each a mapping from them."""
    if not isinstance(columns, Mapping | pd.DataFrame):
        raise OptionError(f"columns is {a_type(columns)}; give a frame, or a mapping of mappings.")
    for name, of_each in columns.items():
        each = _of_each(table.index, of_each, str(name), what)
        table[name] = as_column(each, table, getattr(of_each, "dtype", None))
    return table


def _of_each(known: pd.Index[Any], of_each: Any, name: str, what: str) -> list[Any]:
    """Return what a mapping or a Series says of each, or None if it says nothing."""
    if not isinstance(of_each, Mapping | pd.Series):
        raise OptionError(
            f"{name}: a column of {what}s by name, or a mapping or Series from {what}, is wanted, "
            f"not {a_type(of_each)}."
        )
    keys = as_objects(of_each.index if isinstance(of_each, pd.Series) else of_each).tolist()
    ids = [tidied(one) for one in keys]
    if len({*ids}) < len(ids):
        twice = [one for one in dict.fromkeys(ids) if ids.count(one) > 1]
        raise DataError(f"{name}: the {what}s {listing(twice)} have several entries.")
    entries = as_objects(of_each if isinstance(of_each, pd.Series) else of_each.values())
    if name in GROUPS:
        codes, things = _things(entries, name, what)
        entries = as_objects([*things, None])[codes]
    found = dict(zip(ids, map(_said, entries), strict=True))
    return [found.get(one) for one in known.tolist()]


def _things(
    cells: npt.NDArray[np.object_], name: str, what: str, *, is_group: bool = True
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.object_]]:
    """Return what cells say as codes of distinct things, -1 where a cell says nothing.

    Names of groups that become one without the space around them are said in a warning. A truth
    value among numbers is made text: it is no number, and would be taken for 1 or 0.
    """
    if not is_group:
        cells = as_objects(str(one) if isinstance(one, bool | np.bool_) else one for one in cells)
    try:
        codes, given = pd.factorize(cells)
    except TypeError:
        raise DataError(f"column {name!r}: {no_name(cells, what)}") from None
    merged, things = pd.factorize(as_objects(map(_said, given)))
    if is_group:
        first: dict[int, object] = {}
        pairs = [(first.setdefault(k, n), n) for k, n in zip(merged.tolist(), given, strict=True)]
        spelled = [pair for pair, k in zip(pairs, merged, strict=True) if k >= 0]
        warn_merged_names("group", [(one, other) for one, other in spelled if one != other])
    return np.append(merged, -1)[codes], things


def no_name(cells: Iterable[Any], what: str = "unit") -> str:
    """Word which of some cells cannot be the name of something, nor a number."""
    for cell in cells:
        try:
            hash(cell)
        except TypeError:
            return f"text, a number or a date is wanted of each {what}, not {shorten(cell)}."
    return f"text, a number or a date is wanted of each {what}."


def _said(cell: Any) -> Any:
    """Return what a cell says, or None if it says nothing."""
    said = tidied(cell)
    return None if is_missing(said) or (isinstance(said, str) and not said) else said


def as_column(cells: Iterable[Any], table: pd.DataFrame, dtype: Any = None) -> pd.Series[Any]:
    """Return a column of a table whose cells stay what they are, in the order of their dtype."""
    column = pd.Series(as_objects(cells), index=table.index, dtype=object)
    if not is_ordered(dtype):
        return column
    return as_ordered(column, dict.fromkeys(map(tidied, dtype.categories)))


IS_MODEL = "is_model"
"""The column that marks the raters that are models."""


_MODELS, _PEOPLE = {"model", "llm", "ai", "machine"}, {"human", "person", "expert", "annotator"}
"""The roles of raters in a column of roles, casefolded."""

_MODEL_NAME = re.compile(
    r"(?:[\w.-]+/)?(?:(?:claude|llama|gemini|gemma|mistral|grok|palm|phi|command-r)(?=.*\d)|"
    r"claude[ _-](?:opus|sonnet|haiku)|(?:chat-?)?gpt(?![a-z])|mixtral|qwen|deepseek)|o[134]-",
    re.IGNORECASE,
)
"""How models are called, and people are not."""
_MAYBE_MODEL = re.compile("(?:claude|gemini|gemma|grok|llama|mistral)$", re.IGNORECASE)
"""Names of models that people, or teams of them, may have, too."""


def marked_models(study: Annotations) -> list[Any]:
    """Return the raters that are marked as models: by `IS_MODEL`, or by a column of roles.

    A column of roles has "human" and "model", or synonyms, for all raters.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(4, 2, rng=1).with_raters({"role": {"r1": "human", "r2": "model"}})
    >>> marked_models(study)
    ['r2']
    """
    known, models = study.raters_frame, dict[Any, None]()
    for name in known:
        roles = {rater: str(cell).casefold().strip() for rater, cell in known[name].items()}
        is_role = _MODELS & {*roles.values()} and {*roles.values()} <= _MODELS | _PEOPLE
        if name == IS_MODEL or is_role:
            models |= dict.fromkeys(r for r, role in roles.items() if role in {"true", *_MODELS})
    return [*models]


def likely_models(study: Annotations, *, maybe: bool = False) -> list[Any]:
    """Return the raters that nothing marks, but that are called like a model, such as gpt-4o.

    With `maybe`, those whose names people have, too.

    Examples
    --------
    >>> from setagree import Annotations
    >>> study = Annotations.from_triples([("llama-3-70b", 1, "a"), ("Claude", 1, "a")])
    >>> likely_models(study), likely_models(study, maybe=True)
    (['llama-3-70b'], ['Claude'])
    """
    marked, pattern = marked_models(study), _MAYBE_MODEL if maybe else _MODEL_NAME
    return [x for x in study.raters.tolist() if x not in marked and pattern.match(str(x))]


def models_sentences(study: Annotations) -> list[str]:
    """Return sentences on models: those that were set apart, and those among the raters."""
    marked, likely = marked_models(study), likely_models(study)
    sets = f"{option('model')} sets models apart"
    parts = [f"Set apart, as models: {listing(study.models_apart)}."] if study.models_apart else []
    if marked and len(marked) < study.n_raters:
        count = "Models count as raters" if len(marked) > 1 else "A model counts as a rater"
        parts.append(f"{count}: {listing(marked)}. {sets}.")
    if likely and len(likely) < study.n_raters:
        which = "Models, by their names, are" if len(likely) > 1 else "A model, by its name, is"
        parts.append(f"{which} among the raters: {listing(likely)}. {sets}.")
    if maybe := likely_models(study, maybe=True):
        which = f"Are {listing(maybe)} models" if len(maybe) > 1 else f"Is {listing(maybe)} a model"
        parts.append(f"{which}? {sets}.")
    return parts


def set_apart(study: Annotations, models: str | Sequence[str]) -> Annotations:
    """Return the study of the other raters, which names the models that were set apart.

    Examples
    --------
    >>> import setagree as sa
    >>> set_apart(sa.simulate(4, 3, rng=1), "r3").models_apart
    ('r3',)
    """
    listed = [models] if isinstance(models, str) else models
    check_list("model", listed, "raters")
    names = find_names([str(one) for one in listed], study.raters.tolist())
    return replace(study.exclude_raters(names), models_apart=(*study.models_apart, *names))


def raters_frame(study: Annotations) -> pd.DataFrame:
    """Return the attributes of the raters: one row per rater, one column per attribute.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(4, 2, rng=1).with_raters({"model": {"r1": "gpt", "r2": "claude"}})
    >>> study.raters_frame.T
    rater   r1      r2
    model  gpt  claude
    """
    return _frame(study.raters, study.rater_table, "rater")


def _frame(known: npt.NDArray[np.object_], table: pd.DataFrame | None, what: str) -> pd.DataFrame:
    index = pd.Index(known, dtype=object, name=what, tupleize_cols=False)
    return pd.DataFrame(index=index) if table is None else table.reindex(index)


def with_raters(
    study: Annotations, columns: pd.DataFrame | Mapping[str, Mapping[Any, Any] | pd.Series[Any]]
) -> Annotations:
    """Return the study with further attributes of its raters.

    Parameters
    ----------
    columns : DataFrame or mapping
        A table whose index contains the raters; or a mapping or Series from rater for each column.
        Raters that the study does not have are ignored.

    Raises
    ------
    DataError
        A rater has several entries.

    Examples
    --------
    >>> from setagree import Annotations
    >>> study = Annotations.from_triples([("gpt-1", 1, "a"), ("gpt-2", 1, "b"), ("ann", 1, "b")])
    >>> study.with_raters({"run": {"gpt-1": 1, "gpt-2": 2}}).raters_frame["run"].tolist()
    [1, 2, None]
    """
    return replace(study, rater_table=with_columns(study.raters_frame, columns, "rater"))


def read_raters(study: Annotations, data: Frame, reading: Reading) -> Annotations:
    """Return the study with the columns of its table that say one thing of each rater.

    Raises
    ------
    DataError
        A column is absent, or says several things of one rater.
    """
    names = reading.rater_columns or []
    check_list("rater_columns", names, "columns")
    if not names:
        return study
    said = attribute_values(study.raters, data, reading.rater, names, "rater")
    by_rater = {name: dict(zip(study.raters, said[name], strict=True)) for name in said}
    return study.with_raters(by_rater)


def named_raters(data: Frame, reading: Reading) -> tuple[Frame, Reading]:
    """Return a table with a column of raters: where it has none, their other columns name them.

    Examples
    --------
    >>> runs = pd.DataFrame({"unit": [1], "model": ["gpt"], "run": [2], "labels": ["a"]})
    >>> table, how = named_raters(runs, Reading(rater_columns=["model", "run"]))
    >>> table["rater"].tolist()
    ['gpt / 2']
    """
    names = reading.rater_columns or []
    check_list("rater_columns", names, "columns")
    if not names or reading.rater is not None:
        return data, reading
    listed = [*map(str, data if isinstance(data, pd.DataFrame) else column_names(data))]
    if not {*names} <= {*listed} or "rater" in listed:
        return data, reading
    try:
        with_roles(reading, listed)
    except DataError:
        table = as_pandas(data)
        said = [["" if is_missing(x) else text_of_cell(x) for x in table[name]] for name in names]
        parts = ([one for one in row if one] for row in zip(*said, strict=True))
        raters = as_objects(" / ".join(row) or None for row in parts)
        return table.assign(rater=raters), replace(reading, rater="rater")
    return data, reading


def text_of_cell(cell: Any) -> str:
    """Return the text of a cell; a run that is a number stays whole where others have none."""
    return f"{cell:g}" if isinstance(cell, float) else str(cell).strip()


OfUnits: TypeAlias = "str | Mapping[Any, Any] | pd.Series[Any]"
"""A column of units by name, or what says something of each unit."""


def units_frame(study: Annotations) -> pd.DataFrame:
    """Return the attributes of the units: one row per unit, one column per attribute.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(4, 2, rng=1).with_units({"doc": dict(u1=1, u2=1, u3=2, u4=2)})
    >>> study.units_frame.T
    unit u1 u2 u3 u4
    doc   1  1  2  2
    """
    return _frame(study.units, study.unit_table, "unit")


def with_units(
    study: Annotations, columns: pd.DataFrame | Mapping[str, Mapping[Any, Any] | pd.Series[Any]]
) -> Annotations:
    """Return the study with further attributes of its units.

    Parameters
    ----------
    columns : DataFrame or mapping
        A table whose index contains the units; or a mapping or Series from unit for each column.
        Units that the study does not have are ignored.

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
    """Return the study with the sampling design of its units, which all its intervals use.

    Parts of an earlier design remain unless they are passed again.

    Parameters
    ----------
    cluster : str, mapping or Series, optional
        The document, patient or conversation of each unit: a column of `units_frame`, or a mapping
        from unit. Units of one cluster are similar, and are not independent.
    sampling_weight : str, mapping or Series, optional
        The number of population units that each unit represents, if some units had a higher
        probability of selection; not frequencies. Only their ratios matter, up to 1e9.
    strata : str, mapping or Series, optional
        The part of the population, sampled separately, that each unit belongs to.
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
        in one cluster, which are similar; ``"characters"`` only those of a character (a unit of
        size 1) with itself, as if each were a separate unit.

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
    >>> study = sa.simulate(120, 3, rng=1)
    >>> document = {unit: k // 3 for k, unit in enumerate(study.units)}
    >>> sa.krippendorff_alpha(study.sampled(cluster=document))
    <krippendorff_alpha [masi]: 0.3529 (se 0.0262, 95% 0.3000 to 0.4058, 40 clusters), 120 units>
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
        distinct = pd.unique(cells)
    except TypeError:
        raise DataError(f"{role}, column {column!r}: {no_name(cells)}") from None
    if not any(map(is_missing, distinct)):
        return
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

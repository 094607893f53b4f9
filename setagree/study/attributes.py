"""Attributes of units and raters: columns of a table with one value per unit or rater."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

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
from setagree.lazy import pd
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
"""Roles of columns with groups of units, and the names of the groups in messages."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d{9,}$")
"""Beginning of a time: a date, or the seconds since 1970."""


def _with_values(
    frame: pd.DataFrame,
    table: pd.DataFrame,
    by: str | None,
    names: Sequence[str],
    what: str,
    *,
    numbers: Collection[str | None] = (),
) -> pd.DataFrame:
    """Return a table of units or raters with further columns, with None if there is no value.

    The index of `frame` are the units or raters, which the column `by` of `table` identifies, or
    its index if `by` is None. Columns in `numbers` have numbers, the others names of groups.
    """
    ids = as_objects(table.index) if by is None else as_objects(pick_column(table, by))
    codes, listed = pd.factorize(ids)
    members = as_objects(frame.index)
    place = {name: k for k, name in enumerate(members.tolist())}
    of_row = np.array([place.get(tidied(name), -1) for name in listed], dtype=np.int64)[codes]
    kept = np.flatnonzero(of_row >= 0)
    member_codes = of_row[kept]
    for name in names:
        column = pick_column(table, name)
        cells = as_objects(column.iloc[kept])
        codes, values = _distinct_values(cells, name, what, is_group=name not in numbers)
        value_codes, present = np.full(len(members), -1, dtype=np.int64), codes >= 0
        value_codes[member_codes[present]] = codes[present]
        conflicts = present & (value_codes[member_codes] != codes)
        if conflicts.any():
            member = member_codes[np.flatnonzero(conflicts)[0]]
            several = [values[k] for k in np.unique(codes[present & (member_codes == member)])]
            are_times = what == "unit" and all(_TIME.match(str(value)) for value in several)
            hint = (
                " If each answer has its own time, make a column with the latest time of each "
                f"unit: table.groupby({by or 'unit'!r})[{name!r}].transform('max') in pandas, or "
                "MAXIFS in a spreadsheet."
            )
            raise DataError(
                f"column {name!r} has several values for {what} {shorten(members[member])}: "
                f"{listing(several)}. A column of {what}s must have one value per {what}."
                f"{hint if are_times else ''}"
            )
        frame[name] = as_column(as_objects([*values, None])[value_codes], frame, column.dtype)
    return frame


def with_columns(
    table: pd.DataFrame, columns: pd.DataFrame | Mapping[str, Any], what: str
) -> pd.DataFrame:
    """Return a table of units or of raters with further columns, each a mapping from them."""
    if not isinstance(columns, Mapping | pd.DataFrame):
        raise OptionError(
            f"columns= must be a DataFrame or a mapping of mappings, not {a_type(columns)}."
        )
    for name, mapping in columns.items():
        values = _mapped_values(table.index, mapping, str(name), what)
        table[name] = as_column(values, table, getattr(mapping, "dtype", None))
    return table


def _mapped_values(members: pd.Index[Any], mapping: Any, name: str, what: str) -> list[Any]:
    """Return the value of each unit or rater in a mapping or Series, or None without a value."""
    if not isinstance(mapping, Mapping | pd.Series):
        raise OptionError(
            f"{name} must be the name of a column of {what}s, or a mapping or Series from {what}, "
            f"not {a_type(mapping)}."
        )
    keys = as_objects(mapping.index if isinstance(mapping, pd.Series) else mapping).tolist()
    ids = [tidied(key) for key in keys]
    if len({*ids}) < len(ids):
        repeated = [x for x in dict.fromkeys(ids) if ids.count(x) > 1]
        raise DataError(f"{name}: the {what}s {listing(repeated)} have several entries.")
    entries = as_objects(mapping if isinstance(mapping, pd.Series) else mapping.values())
    if name in GROUPS:
        codes, values = _distinct_values(entries, name, what)
        entries = as_objects([*values, None])[codes]
    value_of = dict(zip(ids, map(_tidy_cell, entries), strict=True))
    return [value_of.get(member) for member in members.tolist()]


def _distinct_values(
    cells: npt.NDArray[np.object_], name: str, what: str, *, is_group: bool = True
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.object_]]:
    """Return codes of the cells, -1 for a missing value, and the distinct values.

    Warn of names of groups that differ only in the space around them. Truth values among numbers
    become text, because they would be read as 1 or 0.
    """
    if not is_group:
        cells = as_objects(str(x) if isinstance(x, bool | np.bool_) else x for x in cells)
    try:
        codes, distinct = pd.factorize(cells)
    except TypeError:
        raise DataError(f"column {name!r}: {no_name(cells, what)}") from None
    merged, values = pd.factorize(as_objects(map(_tidy_cell, distinct)))
    if is_group:
        keyed = zip(merged.tolist(), distinct, strict=True)
        warn_merged_names("group", ((code, name) for code, name in keyed if code >= 0))
    return np.append(merged, -1)[codes], values


def no_name(cells: Iterable[Any], what: str = "unit") -> str:
    """Return a sentence on the first cell that is not text, a number or a date."""
    for cell in cells:
        try:
            hash(cell)
        except TypeError:
            return f"each {what} must have text, a number or a date, not {shorten(cell)}."
    return f"each {what} must have text, a number or a date."


def _tidy_cell(cell: Any) -> Any:
    """Return the tidied value of a cell, or None if it is missing or blank."""
    value = tidied(cell)
    return None if is_missing(value) or (isinstance(value, str) and not value) else value


def as_column(cells: Iterable[Any], table: pd.DataFrame, dtype: Any = None) -> pd.Series[Any]:
    """Return a column of objects, or an ordered categorical if `dtype` is one."""
    column = pd.Series(as_objects(cells), index=table.index, dtype=object)
    if not is_ordered(dtype):
        return column
    return as_ordered(column, dict.fromkeys(map(tidied, dtype.categories)))


IS_MODEL = "is_model"
"""Column that marks the raters that are models."""


_MODELS, _PEOPLE = {"model", "llm", "ai", "machine"}, {"human", "person", "expert", "annotator"}
"""The roles of raters in a column of roles, casefolded."""

_MODEL_NAME = re.compile(
    r"(?:[\w.-]+/)?(?:(?:claude|llama|gemini|gemma|mistral|grok|palm|phi|command-r)(?=.*\d)|"
    r"claude[ _-](?:opus|sonnet|haiku)|(?:chat-?)?gpt(?![a-z])|mixtral|qwen|deepseek)|o[134]-",
    re.IGNORECASE,
)
"""Names of models that people do not have."""
_MAYBE_MODEL = re.compile("(?:claude|gemini|gemma|grok|llama|mistral)$", re.IGNORECASE)
"""Names of models that people or teams may also have."""


def marked_models(study: Annotations) -> list[Any]:
    """Return the raters that are marked as models: by `IS_MODEL`, or by a column of roles.

    A column of roles has "human" and "model", or synonyms, and nothing else.
    """
    return [rater for rater, is_model in _marked(study).items() if is_model]


def _marked(study: Annotations) -> dict[Any, bool]:
    """Return whether each rater with a role is a model; `IS_MODEL` marks models only."""
    marked = dict[Any, bool]()
    for name, cells in () if study.rater_table is None else study.raters_frame.items():
        known = cells.dropna().items()  # that of a model in another table may be missing
        roles = {rater: str(cell).casefold().strip() for rater, cell in known}
        if name == IS_MODEL:
            marked |= {rater: True for rater, role in roles.items() if role == "true"}
        elif _MODELS & {*roles.values()} and {*roles.values()} <= _MODELS | _PEOPLE:
            people = {rater: False for rater, role in roles.items() if role in _PEOPLE}
            marked = people | marked | {x: True for x, role in roles.items() if role in _MODELS}
    return marked


def likely_models(study: Annotations, *, maybe: bool = False) -> list[Any]:
    """Return the raters without a role that have the name of a model, such as gpt-4o.

    With `maybe`, return those whose names people may also have.
    """
    marked, pattern = _marked(study), _MAYBE_MODEL if maybe else _MODEL_NAME
    return [x for x in study.raters.tolist() if x not in marked and pattern.match(str(x))]


def models_sentences(study: Annotations) -> list[str]:
    """Return sentences on the models that were set apart and those among the raters."""
    groups = {
        "Models count as raters": marked_models(study),
        "Raters with names of models": likely_models(study),
        "Raters who may be models": likely_models(study, maybe=True),
    }
    apart = [f"Set apart, as models: {listing(study.models_apart)}."] if study.models_apart else []
    return apart + [
        f"{what}: {listing(raters)}. {option('model')} sets models apart."
        for what, raters in groups.items()
        if 0 < len(raters) < study.n_raters
    ]


def set_apart(study: Annotations, models: str | Sequence[str]) -> Annotations:
    """Return the study without the models, which are listed in its `models_apart`."""
    listed = [models] if isinstance(models, str) else models
    check_list("model", listed, "raters")
    names = find_names([*map(str, listed)], study.raters.tolist())
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


def _frame(members: npt.NDArray[np.object_], table: pd.DataFrame | None, what: str) -> pd.DataFrame:
    index = pd.Index(members, dtype=object, name=what, tupleize_cols=False)
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


def read_raters(study: Annotations, table: pd.DataFrame, reading: Reading) -> Annotations:
    """Return the study with the rater columns of its table."""
    names = reading.rater_columns or []
    check_list("rater_columns", names, "columns")
    if not names:
        return study
    frame = _with_values(study.raters_frame, table, reading.rater, names, "rater")
    return replace(study, rater_table=frame)


def named_raters(data: Frame, reading: Reading) -> tuple[Frame, Reading]:
    """Return a table with a column of raters, composed of the rater columns if it has none."""
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
        texts = [["" if is_missing(x) else text_of_cell(x) for x in table[name]] for name in names]
        parts = ([part for part in row if part] for row in zip(*texts, strict=True))
        raters = as_objects(" / ".join(row) or None for row in parts)
        return table.assign(rater=raters), replace(reading, rater="rater")
    return data, reading


def text_of_cell(cell: Any) -> str:
    """Return the text of a cell; 2.0, an integer in a column with missing cells, becomes 2."""
    is_whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if is_whole else cell).strip()


OfUnits: TypeAlias = "str | Mapping[Any, Any] | pd.Series[Any]"
"""Name of a column of units, or a mapping or Series from unit to value."""


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
        A value is not a weight or a size; or units with sizes have no cluster, or also have
        weights, strata or a population size.

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
    columns = {
        "cluster": cluster,
        "sampling_weight": sampling_weight,
        "strata": strata,
        "size": size,
    }
    before = study.sampling or Sampling()
    names = {
        role: name for role in columns if (name := getattr(before, role)) not in {None, OF_SIZES}
    }
    for role, column in columns.items():
        if column is None:
            continue
        study, names[role] = _with_column(study, column, role)
        if role in GROUPS and getattr(before, role) != names[role]:
            warn_names(GROUPS[role], pd.unique(study.units_frame[names[role]]))
    population_size = before.population_size if population_size is None else population_size
    design = Sampling(**names, population_size=population_size)
    if design.size is not None or chance is not None:
        design = _sized_design(design, before.chance if chance is None else chance)
    return _checked(replace(study, sampling=design))


def _sized_design(design: Sampling, chance: Chance) -> Sampling:
    """Return the design of units with sizes; raise `OptionError` if its parts do not fit."""
    check_choice("chance", chance, get_args(Chance))
    if design.size is None:
        raise OptionError(f"chance={chance!r} is for units with sizes; use size=.")
    others = ("sampling_weight", "strata", "population_size")
    if odd := [name for name in others if getattr(design, name) not in {None, OF_SIZES}]:
        raise OptionError(f"size= does not go together with {option(odd[0])}; omit one of the two.")
    if design.cluster is None:
        raise OptionError(
            f"size= requires {option('cluster')}, the document of each unit: answers to "
            "neighbouring pieces are alike, so that documents are the independent evidence."
        )
    return replace(design, chance=chance)


def read_column(study: Annotations, of_unit: OfUnits, role: str) -> pd.Series[Any]:
    """Return the value of each unit in a column of units, or in a mapping."""
    study, name = _with_column(study, of_unit, role)
    column: pd.Series[Any] = study.units_frame[name].reset_index(drop=True)
    return column


def read_units(study: Annotations, table: pd.DataFrame, reading: Reading) -> Annotations:
    """Return the study with the unit columns of its table and its sampling design."""
    if reading.unit_columns is not None:
        check_list("unit_columns", reading.unit_columns, "columns")
    if not reading.of_units:
        return study
    numbers, frame = {reading.sampling_weight}, study.units_frame
    names = reading.of_units
    frame = _with_values(frame, table, reading.unit, names, "unit", numbers=numbers)
    study = replace(study, unit_table=frame)
    return sampled(study, **reading.drawn) if reading.drawn else study


def _with_column(study: Annotations, of_unit: OfUnits, role: str) -> tuple[Annotations, str]:
    """Return the study with a mapping as a column of units, and the name of the column.

    Raise an error if the column is absent or has no value for some units.
    """
    column, entries = role, list[Any]()
    if isinstance(of_unit, str):
        column = of_unit
    else:
        study, entries = with_units(study, {role: of_unit}), [*dict(of_unit)]
    frame = study.units_frame
    if column not in frame:
        listed = listing([*frame]) if len(frame.columns) else "no columns"
        raise DataError(
            f"the study has no unit column {column!r}; it has {listed}. Name the column when you "
            f"read the table: unit_columns=[{column!r}].{did_you_mean(column, frame)}"
        )
    cells = frame[column]
    try:
        distinct = pd.unique(cells)
    except TypeError:
        raise DataError(f"{role}, column {column!r}: {no_name(cells)}") from None
    if not any(map(is_missing, distinct)):
        return study, column
    without = [unit for unit, cell in zip(study.units, cells, strict=True) if is_missing(cell)]
    units = {*study.units}
    unknown = [one for one in map(tidied, entries) if one not in units]  # may be misspelt
    raise DataError(
        f"{role}: {counted(len(without), 'unit')} of {study.n_units:,} "
        f"{'has' if len(without) == 1 else 'have'} none in {column!r} ({listing(without)})."
        f"{did_you_mean(without[0], unknown)}"
    )


def _checked(study: Annotations) -> Annotations:
    """Return the study with checked weights, strata and sizes, and weights of given sizes."""
    design = study.sampling
    assert design is not None  # noqa: S101 - the caller sets it
    if design.sampling_weight is not None:
        check_weights(study, design.sampling_weight)
    if design.size is not None:
        check_weights(study, design.size, "size")
    if design.strata is not None:
        check_strata(study, design.strata, design.cluster)
    if design.population_size is None:
        return study
    sizes = check_sizes(study, design.population_size, design.strata, design.cluster)
    study = weighted_by_sizes(replace(study, sampling=replace(design, population_size=sizes)))
    if study.sampling is None or study.sampling.sampling_weight != OF_SIZES:
        return study
    if absent := _unpaired(study, study):
        raise DataError(
            f"strata: {listing(absent)} without a unit with two ratings, so that agreement "
            "in that part of the population cannot be estimated."
        )
    for column in (OF_SIZES, OF_SIZES_PAIRABLE):
        check_weights(study, column)
    return study


def _unpaired(part: Annotations, study: Annotations) -> list[Any]:
    """Return the strata of known size of a study that have no pairable unit in a part of it.

    None if the part has no such unit at all: it estimates no agreement, but perhaps shares.
    """
    design = study.sampling
    if design is None or design.sampling_weight != OF_SIZES or design.cluster is not None:
        return []
    paired = {*part.units_frame[design.strata][np.bincount(part.unit_codes) >= 2]}
    strata = pd.unique(study.units_frame[design.strata]) if paired else []
    return [name for name in strata if name not in paired]


def weighted_by_sizes(study: Annotations) -> Annotations:
    """Return the study with the weights that sizes of strata give to units without others.

    They are N_s / n_s, with n_s the rated units of a stratum in sums over rated units, and the
    pairable units in sums over pairable units, because a unit with one rating shows no agreement;
    N_s / G_s for each unit of the G_s clusters of a stratum.
    """
    design, sample = study.sampling, sample_of(study)
    if design is None or sample is None or sample.groups is None or design.strata is None:
        return study
    if design.population_size is None or (design.sampling_weight or OF_SIZES) != OF_SIZES:
        return study
    if sample.cluster_strata is not None:
        strata = sample.cluster_strata[sample.groups]
        n_rated = n_pairable = np.bincount(sample.cluster_strata)
    else:
        strata, n_rated = sample.groups, np.bincount(sample.groups)
        pairable = strata[np.bincount(study.unit_codes) >= 2]
        n_pairable = np.bincount(pairable, minlength=len(n_rated))
    columns = {
        column: (sample.sizes / np.maximum(n, 1))[strata]
        for column, n in {OF_SIZES: n_rated, OF_SIZES_PAIRABLE: n_pairable}.items()
    }
    design = replace(design, sampling_weight=OF_SIZES)
    return replace(study, unit_table=units_frame(study).assign(**columns), sampling=design)


def of_raters(study: Annotations, rows: npt.NDArray[Any]) -> Annotations:
    """Return the ratings of some raters, at a mask or positions, as if others had never answered.

    Unlike those of `Annotations.take`, weights from sizes of strata are by the units rated then;
    they are NaN if a stratum has no unit with two ratings left (see `_unpaired`).
    """
    part = weighted_by_sizes(study.take(rows))
    if study.sampling is None or not _unpaired(part, study):
        return part
    table = units_frame(part).assign(**{OF_SIZES_PAIRABLE: np.nan})
    return replace(part, unit_table=table)

"""Joining of answers of models in other tables or files to a study."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.checks import expanded
from setagree.errors import (
    DataError,
    MissingMarkerWarning,
    RepeatsError,
    SetagreeError,
    counted,
    listing,
    option,
    python_or_command,
)
from setagree.files.streams import COMPRESSED, JSON_SUFFIXES, TEXT_SUFFIXES
from setagree.large.opening import note_or_warn, open_study, open_table
from setagree.lazy import pd
from setagree.study.annotations import Annotations
from setagree.study.answer_warnings import warn_similar
from setagree.study.attributes import marked_models, named_raters
from setagree.study.codes import as_objects, common_order, have_degrees
from setagree.study.columns import with_columns
from setagree.study.frames import as_pandas
from setagree.study.identifiers import tidied
from setagree.study.reading import Note, Reading
from setagree.study.row_filter import Where, kept_rows
from setagree.wording.label_sets import Degrees

_BINARY = {".parquet", ".feather", ".arrow", ".xlsx", ".xls", ".ods"}
_ENDINGS = {*TEXT_SUFFIXES, *JSON_SUFFIXES, *COMPRESSED, *_BINARY}
"""Endings of names of files; a rater may be called gpt-3.5."""

_MAX_FACET_VALUES = 50
"""Largest number of values of a column of prompts or runs."""


def with_models(
    study: Annotations,
    models: Any,
    *,
    note: Note | None = None,
    rater_columns: list[str] | None = None,
    all_units: bool = False,
) -> tuple[Annotations, list[Any]]:
    """Return a study with the answers of models, and the names of the models in it.

    `models` is one or a list of: a rater of the study, which takes precedence over a file of that
    name; or a frame, a study or a file. These have the answers of models to units of the study, and
    are read as the study was, including ``duplicates=``, and ``where=`` and ``order_by=`` if they
    have the columns. The names of models are in the column of raters or in a column ``model``;
    without one, the name is that of the file, or "model". Default: the raters that are marked as
    models.

    `note` receives sentences about omitted answers (default: a warning). `rater_columns` of the
    models' tables have one value per model; default: those that the study was read with, if a table
    has them. With `all_units`, units of models alone become units of the study.
    """
    names: list[Any] = marked_models(study) if models is None else []
    models = [] if models is None else models
    for model in models if isinstance(models, list) else [models]:
        if not _is_source(study, model):
            names.append(model)
            continue
        answers = _read(study, model, note, rater_columns)
        names += answers.raters.tolist()
        _check_fits(study, answers, _source_name(model))
        if not all_units:
            answers = _shared(study, answers, _source_name(model), note)
        study = _joined(study, answers)
    return study, names


def model_files(models: Sequence[str] | None) -> list[str]:
    """Return the names of models that are files."""
    return [name for name in models or () if os.path.isfile(expanded(name))]  # noqa: PTH113


def is_data(model: object) -> bool:
    """Return whether a model is a table, a study or an existing file."""
    if isinstance(model, str):
        return bool(model_files([model]))
    # Of the type, because lazy frames of Polars warn if their columns are used.
    is_table = hasattr(type(model), "columns") or hasattr(type(model), "column_names")
    return is_table or isinstance(model, Annotations | os.PathLike)


def _is_source(study: Annotations, model: object) -> bool:
    """Return whether a model is a table, a study or a file, not the name of a rater."""
    if not isinstance(model, str):
        return is_data(model)
    if tidied(model) in map(str, study.raters) or "\0" in model or not model.strip():
        return False
    looks_like_a_file = os.sep in model or Path(model).suffix.lower() in _ENDINGS
    return looks_like_a_file or is_data(model)


def _source_name(source: object) -> str:
    """Return the name of a file without its folder, or "model" for a table in memory."""
    return Path(source).name if isinstance(source, str | os.PathLike) else "model"


def _stem(name: str) -> str:
    """Return the name of a file without all its endings."""
    while Path(name).suffix.lower() in _ENDINGS:
        name = Path(name).stem
    return name


def _read(
    study: Annotations, source: Any, note: Note | None, rater_columns: list[str] | None
) -> Annotations:
    """Return the answers of a model, read with the study's options for cells."""
    if isinstance(source, Annotations):
        return source
    humans = study.reading or Reading()
    names = ["label_sep", "blank", "case", "na_values", "duplicates", "encoding"]
    names += ["codebook", "empty"] if study.kind == "labels" else []
    reading = Reading(**{name: getattr(humans, name) for name in names})
    if isinstance(source, str | os.PathLike):
        from setagree.large import recognition  # loads the readers of all formats

        tool, _ = recognition.find_export(source, reading)
        if tool is not None:
            columns = recognition.table_columns(source, tool, reading)
            where = humans.where if _applies(humans.condition, columns, source, note) else None
            return recognition.read_export(source, tool, replace(reading, where=where))
    table, _ = open_table(source, replace(reading, tool="table"))
    if rater_columns is None and humans.rater_columns is not None:
        rater_columns = [name for name in humans.rater_columns if name in table] or None
    reading = replace(reading, rater_columns=rater_columns)
    if not _applies(humans.condition, list(table), source, note):
        return _from_table(study, table, reading, source)
    assert humans.condition is not None  # noqa: S101 - one applies
    try:
        kept = kept_rows(table, humans.condition, name=_source_name(source))
        return _from_table(study, kept, reading, source)
    except SetagreeError as error:
        raise error.worded(f"{_source_name(source)}: {error}") from None


def _applies(where: Where | None, columns: list[Any], source: object, note: Note | None) -> bool:
    """Return whether a condition applies to a model's table; report absent columns."""
    absent = [] if where is None else [n for n in where.columns if n not in map(str, columns)]
    if where is None or not absent:
        return where is not None
    note_or_warn(
        f"{_source_name(source)}: {option('where', where.text)} was not applied to the model's "
        f"answers, which have no column {absent[0]!r}.",
        note,
    )
    return False


def _from_table(
    study: Annotations, table: pd.DataFrame, reading: Reading, source: Any
) -> Annotations:
    """Return the answers of a model in a table."""
    humans, has_sets = study.reading or Reading(), study.kind == "labels"
    if has_sets and {"labels", "adjudicate", "reason"} <= {*table}:
        # In a written consensus the empty set is [], and a blank cell is missing.
        reading = replace(reading, blank="missing")
    # Use the columns of the study that the table has, too.
    columns = humans.columns.items()
    roles: dict[str, Any] = {r: x for r, x in columns if isinstance(x, str) and x in table.columns}
    of_rows = {name: getattr(humans, name) for name in ("order_by", "status", "queued", "degree")}
    roles |= {name: column for name, column in of_rows.items() if column in table.columns}
    reading = replace(reading, **roles)
    with_raters, reading = named_raters(table, reading)
    frame, reading = _with_rater(as_pandas(with_raters), reading, _stem(_source_name(source)))
    answer, other = ("labels", "value") if has_sets else ("value", "labels")
    roles = {answer: reading.answer, other: None}
    with warnings.catch_warnings():
        # The model's table may not have the na_values of the humans' table.
        warnings.filterwarnings("ignore", "No answer is ", MissingMarkerWarning)
        try:
            read = open_study(frame, replace(reading, **roles, kind=study.kind))
        except RepeatsError as error:
            hint = _facets_hint(frame, reading)
            raise error.worded(f"{_source_name(source)}: {error}{hint}") from None
    assert isinstance(read, Annotations)  # noqa: S101 - a table in memory is never reduced
    return read


def _facets_hint(table: pd.DataFrame, reading: Reading) -> str:
    """Return a sentence on columns that distinguish several answers of a model to a unit."""
    pair, facets = [str(reading.unit), str(reading.rater)], [*(reading.rater_columns or ())]
    text = table.astype(str)
    n = text.drop(columns=[*pair, str(reading.answer), *facets]).nunique()
    # A column of prompts or runs has few values; one of times or comments has many.
    columns = n[(n > 1) & (n <= _MAX_FACET_VALUES)].sort_values(kind="stable").index
    repeats = text.duplicated(pair).sum()
    few = [name for name in columns if text.duplicated([*pair, name]).sum() < repeats]
    differing: list[str] = []
    while text.duplicated([*pair, *differing]).any():
        if len(differing) == len(few):
            return ""
        differing.append(few[len(differing)])
    models = [] if pair[1].startswith("\0") else pair[1:]
    spelled = option("facets", [*(facets or models), *differing])
    compare = python_or_command(f"facet_agreement(..., {spelled})", spelled)
    return (
        f" They differ in column{'s' if len(differing) > 1 else ''} {listing(differing)}: "
        f"{compare} compares all of them; for another question keep the rows of one."
    )


def _with_rater(table: pd.DataFrame, reading: Reading, name: str) -> tuple[pd.DataFrame, Reading]:
    """Return a table with a column of raters; without one, all rows are of the rater `name`."""
    try:
        return table, with_columns(reading, [str(column) for column in table])
    except DataError:
        models = [str(column) for column in table if str(column).strip().lower() == "model"]
        column = models[0] if models else "\0rater"
        frame = table if models else table.assign(**{column: name})
        try:
            return frame, with_columns(replace(reading, rater=column), [*map(str, frame)])
        except DataError:
            columns = listing([*map(str, table)], limit=12)
            missing = "the column of the answers is not known; call it"
            if reading.unit is None:
                missing = "the columns of unit and answers are not known; call them 'unit' and"
            raise DataError(
                f"the columns of model {name!r} are {columns}: {missing} 'labels' (or 'value'), or "
                "as in the study's table."
            ) from None


def _joined(study: Annotations, model: Annotations) -> Annotations:
    """Return a study with the answers of a model, and the units of both."""
    new = model.units[_places(study, model) < 0]
    is_new = pd.Series(study.unanswered, dtype=object).isin(new).to_numpy()
    units, unanswered = as_objects([*study.units, *new]), study.unanswered[~is_new]
    study = replace(study, units=units, unanswered=unanswered)
    codes = {value: code for code, value in enumerate(study.values)}
    moved = np.array([codes.setdefault(value, len(codes)) for value in model.values])
    values = [*map(Degrees.of, codes)] if have_degrees(codes) else codes
    if study.kind != "number":
        warn_similar("Labels", {*chain.from_iterable(codes)} if study.kind == "labels" else codes)
    frame = pd.concat([x.raters_frame for x in (study, model)]).astype(object)
    unobserved = [x.unobserved for x in (study, model) if x.unobserved is not None]
    return replace(
        study,
        rater_table=frame.where(frame.notna(), None) if len(frame.columns) else None,
        raters=as_objects([*study.raters, *model.raters]),
        values=tuple(values),
        order=common_order([study.order, model.order], codes),
        unit_codes=_after(study.unit_codes, _places(study, model)[model.unit_codes]),
        rater_codes=_after(study.rater_codes, study.n_raters + model.rater_codes),
        value_codes=_after(study.value_codes, moved[model.value_codes]),
        n_missing=study.n_missing + model.n_missing,
        n_repeated=study.n_repeated + model.n_repeated,
        missing_by_rater={**study.missing_by_rater, **model.missing_by_rater},
        unobserved=pd.concat(unobserved, ignore_index=True) if unobserved else None,
    ).with_used_values()


def _after(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    return np.concatenate([first, second]).astype(np.int32)


def _check_fits(study: Annotations, model: Annotations, name: str) -> None:
    """Raise an error for answers of another kind, for raters in both, and without a common unit."""
    if model.kind != study.kind:
        raise DataError(
            f"{name}: the model's answers are of kind {model.kind!r} and the study's "
            f"{study.kind!r}; read both alike."
        )
    raters = {*map(str, study.raters)}
    both = [rater for rater in model.raters if str(rater) in raters]
    if both:
        raise DataError(
            f"{name}: the model has the name of a rater of the study, {listing(both)}; rename it."
        )
    if (_places(study, model) < 0).all():
        raise DataError(
            f"{name}: no unit of the model is one of the study. The model has "
            f"{listing(model.units.tolist())}; the study has {listing(study.units.tolist())}."
        )


def _shared(study: Annotations, model: Annotations, name: str, note: Note | None) -> Annotations:
    """Return the answers of a model to the units of a study, and report its other units."""
    is_other = _places(study, model) < 0
    if not is_other.any():
        return model
    sentence = (
        f"{name}: {int(is_other.sum()):,} of the model's {counted(model.n_units, 'unit')} left "
        f"out, as nobody in the study rated them ({listing(model.units[is_other].tolist())})."
    )
    note_or_warn(sentence, note)
    return model.take(~is_other[model.unit_codes])


def _places(study: Annotations, model: Annotations) -> npt.NDArray[np.int64]:
    """Return the position in the study of each unit of the model; -1 for other units.

    Units are matched by name, or else by spelling (1 and "1") if it is unique.
    """
    exact: dict[Any, int] = {unit: place for place, unit in enumerate(study.units)}
    spelled: dict[str, int] = {}
    for place, unit in enumerate(study.units):
        spelled[str(unit)] = -1 if str(unit) in spelled else place
    places = [exact[unit] if unit in exact else spelled.get(str(unit), -1) for unit in model.units]
    return np.array(places, dtype=np.int64)

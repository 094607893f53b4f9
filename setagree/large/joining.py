"""The answers of a model that stand elsewhere, joined to the study of the humans."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import expanded
from setagree.errors import (
    DataError,
    MissingMarkerWarning,
    RepeatsError,
    SetagreeError,
    SetagreeWarning,
    counted,
    listing,
    option,
    python_or_command,
    warn,
)
from setagree.large.opening import open_study, open_table
from setagree.study.annotations import Annotations
from setagree.study.attributes import named_raters
from setagree.study.codes import as_objects, common_order, have_degrees
from setagree.study.columns import with_columns
from setagree.study.frames import as_pandas
from setagree.study.identifiers import tidied
from setagree.study.reading import Note, Reading, no_note
from setagree.study.row_filter import Where, counting_rows, kept_rows
from setagree.wording.label_sets import Degrees

_ENDINGS = {
    *(".csv", ".tsv", ".tab", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".feather"),
    *(".arrow", ".xlsx", ".xls", ".ods", ".gz", ".zip", ".bz2", ".xz", ".zst"),
}
"""How the name of a file ends; a rater may be called gpt-3.5."""

_MANY = 50
"""More prompts or runs than a model is asked in."""


def with_models(
    study: Annotations,
    models: Any,
    *,
    note: Note | None = None,
    rater_columns: list[str] | None = None,
    all_units: bool = False,
) -> tuple[Annotations, list[Any]]:
    """Return a study with the answers of models, and what the models are called in it.

    Parameters
    ----------
    study : Annotations
        The humans, perhaps with models among them.
    models : rater, frame, study or path, or list of these
        A rater of the study is one, whatever files there are. A frame, a study or a file holds the
        answers of models to the same units, and is read as the study was: its ``duplicates=``, and
        its ``where=`` if the column is there, hold for it too. Its column of raters says what they
        are called (also one called ``model``); without one it is the name of the file, or "model".
    note : callable, optional
        Takes sentences about what was left out; default: a warning.
    rater_columns : list of str, optional
        Columns of the models' tables that say one thing of each. Default: those that the study was
        read with, as far as a table has them.
    all_units : bool
        Whether units of a model that nobody in the study rated become units of the study. Default:
        they are left out.

    Raises
    ------
    DataError
        No unit is one of the study, or a model is called like a rater of the study.

    Examples
    --------
    >>> humans = Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "b")])
    >>> gpt = pd.DataFrame({"unit": ["1"], "labels": ["a"]})
    >>> joined, names = with_models(humans, gpt)
    >>> joined.raters.tolist(), names
    (['ann', 'bob', 'model'], ['model'])
    """
    names: list[Any] = []
    for one in models if isinstance(models, list) else [models]:
        if not _is_elsewhere(study, one):
            names.append(one)
            continue
        answers = _read(study, one, note, rater_columns)
        names += answers.raters.tolist()
        study = _joined(study, answers, _called(one), note, all_units=all_units)
    return study, names


def model_files(models: Sequence[str] | None) -> list[str]:
    """Return which of the models that are named are files."""
    return [name for name in models or () if os.path.isfile(expanded(name))]  # noqa: PTH113


def _is_elsewhere(study: Annotations, model: object) -> bool:
    """Return whether answers of a model are in a table of their own, not those of a rater."""
    is_table = hasattr(model, "columns") or hasattr(model, "column_names")
    if is_table or isinstance(model, Annotations | os.PathLike):
        return True
    if not isinstance(model, str) or tidied(model) in map(str, study.raters):
        return False
    if "\0" in model or not model.strip():
        return False
    looks_like_a_file = os.sep in model or Path(model).suffix.lower() in _ENDINGS
    return looks_like_a_file or os.path.isfile(expanded(model))  # noqa: PTH113


def _called(source: object) -> str:
    """Return what a file is called without its folder; "model" for a table in memory."""
    return Path(source).name if isinstance(source, str | os.PathLike) else "model"


def _stem(name: str) -> str:
    """Return the name of a file without what such names end with."""
    while Path(name).suffix.lower() in _ENDINGS:
        name = Path(name).stem
    return name


def _read(
    study: Annotations, source: Any, note: Note | None, rater_columns: list[str] | None
) -> Annotations:
    """Return the answers of a model, read as the study was as far as that is said of its cells."""
    if isinstance(source, Annotations):
        return source
    given = study.reading or Reading()
    has_sets = study.kind == "labels"
    how = Reading(
        label_sep=given.label_sep, blank=given.blank, case=given.case, na_values=given.na_values
    )
    how = replace(how, duplicates=given.duplicates, encoding=given.encoding)
    if has_sets:
        how = replace(how, codebook=given.codebook, empty=given.empty)
    if isinstance(source, str | os.PathLike):
        from setagree.large import recognition  # loads the readers of all formats

        found, _ = recognition.find_export(source, how)
        if found is not None:
            columns = recognition.table_columns(source, found, how)
            where = given.where if _applies(given.condition, columns, source, note) else None
            return recognition.read_export(source, found, replace(how, where=where))
    table = open_table(source, replace(how, tool="table"))
    if rater_columns is None and given.rater_columns is not None:
        rater_columns = [name for name in given.rater_columns if name in table] or None
    how = replace(how, rater_columns=rater_columns)
    if not _applies(given.condition, list(table), source, note):
        return _of_table(study, table, how, source)
    assert given.condition is not None  # noqa: S101 - one applies
    with _naming(source), counting_rows(given.condition.counted_from):
        kept = kept_rows(table, given.condition, name=_called(source))
        return _of_table(study, kept, how, source)


def _applies(where: Where | None, columns: list[Any], source: object, note: Note | None) -> bool:
    """Return whether a model's table has the columns of a condition; report if it does not."""
    absent = [] if where is None else [n for n in where.columns if n not in map(str, columns)]
    if where is None or not absent:
        return where is not None
    _tell(
        f"{_called(source)}: {option('where', where.text)} was not applied to the model's answers, "
        f"which have no column {absent[0]!r}.",
        note,
    )
    return False


@contextmanager
def _naming(source: object) -> Iterator[None]:
    """Let errors say which table of a model they are about."""
    try:
        yield
    except SetagreeError as error:
        raise type(error)(f"{_called(source)}: {error}") from error


def _of_table(study: Annotations, table: pd.DataFrame, how: Reading, source: Any) -> Annotations:
    """Return the answers of a model in a table."""
    given, has_sets = study.reading or Reading(), study.kind == "labels"
    if has_sets and {"labels", "adjudicate", "reason"} <= {*table}:
        # In a written consensus the empty set is [], and a blank cell has no answer.
        how = replace(how, blank="missing")
    # The columns that are named for the study and that the table has.
    columns = given.columns.items()
    named: dict[str, Any] = {r: x for r, x in columns if isinstance(x, str) and x in table.columns}
    of_rows = {"status": given.status, "queued": given.queued, "degree": given.degree}
    named |= {name: column for name, column in of_rows.items() if column in table.columns}
    how = replace(how, **named)
    with_raters, how = named_raters(table, how)
    frame, how = _with_rater(as_pandas(with_raters), how, _stem(_called(source)))
    answer, other = ("labels", "value") if has_sets else ("value", "labels")
    named = {answer: how.answer, other: None}
    with warnings.catch_warnings():
        # What the humans' table writes for no annotation, the model's may never write.
        warnings.filterwarnings("ignore", "No answer is ", MissingMarkerWarning)
        try:
            read = open_study(frame, replace(how, **named, kind=study.kind))
        except RepeatsError as error:
            said = f"{_called(source)}: {error}{_several_answers(frame, how)}"
            raise RepeatsError(said, error.pair) from error
    assert isinstance(read, Annotations)  # noqa: S101 - a table in memory is never reduced
    return read


def _several_answers(table: pd.DataFrame, how: Reading) -> str:
    """Return what the columns are for that tell several answers of a model to a unit apart."""
    pair, facets = [str(how.unit), str(how.rater)], [*(how.rater_columns or ())]
    text = table.astype(str)
    n = text.drop(columns=[*pair, str(how.answer), *facets]).nunique()
    # A prompt or a run has few names; a time or a comment has one for nearly each answer.
    beside = n[(n > 1) & (n <= _MANY)].sort_values(kind="stable").index
    repeats = text.duplicated(pair).sum()
    few = [name for name in beside if text.duplicated([*pair, name]).sum() < repeats]
    apart: list[str] = []
    while text.duplicated([*pair, *apart]).any():
        if len(apart) == len(few):
            return ""
        apart.append(few[len(apart)])
    models = [] if pair[1].startswith("\0") else pair[1:]
    asked = option("facets", [*(facets or models), *apart])
    compare = python_or_command(f"facet_agreement(..., {asked})", asked)
    columns = f"column{'s' if len(apart) > 1 else ''} {listing(apart)}"
    return (
        f" They differ in {columns}: {compare} compares all of them; for another question keep the "
        "rows of one."
    )


def _with_rater(table: pd.DataFrame, how: Reading, name: str) -> tuple[pd.DataFrame, Reading]:
    """Return a table with a column of raters, of which there is one where it has no such column."""
    try:
        return table, with_columns(how, [str(column) for column in table])
    except DataError:
        models = [str(column) for column in table if str(column).strip().lower() == "model"]
        column = models[0] if models else "\0rater"
        frame = table if models else table.assign(**{column: name})
        try:
            return frame, with_columns(replace(how, rater=column), [str(each) for each in frame])
        except DataError:
            columns = listing([str(each) for each in table], limit=12)
            known = "" if how.unit is None else f"{how.unit!r} is the unit, but "
            ask = "which is the answer is not known; call it"
            if how.unit is None:
                ask = "which is the unit and which the answer is not known; call them 'unit' and"
            raise DataError(
                f"the columns that model {name!r} has are {columns}, and {known}{ask} 'labels' (or "
                "'value'), or as in the study's table."
            ) from None


def _joined(
    study: Annotations, model: Annotations, name: str, note: Note | None, *, all_units: bool
) -> Annotations:
    """Return a study with the answers of a model to its units, or to all units of the model."""
    _check_alike(study, model, name)
    shared = _shared(study, model, name, no_note if all_units else note)
    if all_units:
        new = model.units[_places(study, model) < 0]
        left = [unit for unit in study.unanswered if unit not in {*new}]
        units = as_objects([*study.units, *new])
        study = replace(study, units=units, unanswered=as_objects(left))
    model = model if all_units else shared
    codes = {value: code for code, value in enumerate(study.values)}
    moved = np.array([codes.setdefault(value, len(codes)) for value in model.values])
    values = [*map(Degrees.of, codes)] if have_degrees(codes) else codes
    known = pd.concat([one.raters_frame for one in (study, model)]).astype(object)
    unobserved = [one.unobserved for one in (study, model) if one.unobserved is not None]
    return replace(
        study,
        rater_table=known.where(known.notna(), None) if len(known.columns) else None,
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


def _check_alike(study: Annotations, model: Annotations, name: str) -> None:
    """Raise an error for answers of another kind, and raters who are in both."""
    if model.kind != study.kind:
        raise DataError(
            f"{name}: the model's answers are of kind {model.kind!r} and the study's "
            f"{study.kind!r}; read both alike."
        )
    known = {*map(str, study.raters)}
    both = [rater for rater in model.raters if str(rater) in known]
    if both:
        raise DataError(
            f"{name}: the model is called {listing(both)}, as a rater of the study is; rename it."
        )


def _shared(study: Annotations, model: Annotations, name: str, note: Note | None) -> Annotations:
    """Return the answers of a model to the units of a study; say how many units it has besides."""
    gone = _places(study, model) < 0
    if gone.all():
        raise DataError(
            f"{name}: no unit of the model is one of the study. The model has "
            f"{listing(model.units.tolist())}; the study has {listing(study.units.tolist())}."
        )
    if not gone.any():
        return model
    sentence = (
        f"{name}: {int(gone.sum()):,} of the model's {counted(model.n_units, 'unit')} left out, as "
        f"nobody in the study rated them ({listing(model.units[gone].tolist())})."
    )
    _tell(sentence, note)
    return model.take(~gone[model.unit_codes])


def _tell(sentence: str, note: Note | None) -> None:
    """Hand a sentence on, or say it in a warning where nobody takes it."""
    if note is None:
        warn(sentence, SetagreeWarning)
    else:
        note(sentence)


def _places(study: Annotations, model: Annotations) -> npt.NDArray[np.int64]:
    """Return the unit of the study that each unit of the model is; -1 for none.

    They are the same where their names are, or failing that where they are spelled alike (1, "1").
    """
    exact: dict[Any, int] = {unit: place for place, unit in enumerate(study.units)}
    spelled: dict[str, int] = {}
    for place, unit in enumerate(study.units):
        spelled[str(unit)] = -1 if str(unit) in spelled else place
    found = [exact[unit] if unit in exact else spelled.get(str(unit), -1) for unit in model.units]
    return np.array(found, dtype=np.int64)

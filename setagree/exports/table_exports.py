"""Exports that are tables: cells with their locations, roles of columns, flags and label lists."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import Flags
from setagree.errors import (
    DataError,
    FileError,
    OptionError,
    SetagreeError,
    SetagreeWarning,
    counted,
    did_you_mean,
    listing,
    option,
    shorten,
    warn,
)
from setagree.exports.blank_answers import Found
from setagree.exports.format import Request
from setagree.exports.json_nodes import Node, read_records, shown
from setagree.exports.reader_helpers import choose_question
from setagree.files.records import unique_keys
from setagree.files.streams import Source, readable
from setagree.files.tables import read_table
from setagree.study.answer_warnings import warn_brackets, warn_merged_names, warn_separator
from setagree.study.columns import Role, guess_columns, plain_name
from setagree.study.labels import splitter
from setagree.study.layouts import from_cube
from setagree.study.row_filter import matching_rows
from setagree.wording.label_sets import LabelSep, LabelSet, read_sep

T = TypeVar("T")

TRUE = frozenset({"true", "1", "1.0"})
FALSE = frozenset({"false", "0", "0.0"})

# Usual names of a column of unit identifiers, the surest first.
_USUAL_IDS = (
    *("unit", "unitid", "item", "itemid", "doc", "docid", "document", "documentid"),
    *("textid", "exampleid", "sampleid", "caseid", "recordid", "sentenceid", "tweetid", "imageid"),
    *("id", "uid", "key", "index", "name", "filename", "file", "imagename", "image", "imageurl"),
)


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table of text with the location of each row.

    `starts` are the lines where rows begin, with the header in line 1; if `counts` is "row", they
    are the numbers of the rows. `name` is the file in messages. Null cells are blank in `frame`.
    """

    name: str
    frame: pd.DataFrame
    starts: npt.NDArray[np.int64]
    counts: str = "line"

    @classmethod
    def open(cls, path: Path, request: Request) -> Sheet:
        """Read a file."""
        frame = read_table(path, encoding=request.encoding, sheet=request.sheet)
        null = frame.isna()
        for column in frame.columns[null.any()]:  # JSON and Parquet; files of text have no nulls
            if pd.api.types.infer_dtype(frame[column], skipna=True) in {"string", "empty"}:
                frame[column] = frame[column].astype(object).mask(null[column], "")
        typed = [str(name) for name in frame if not pd.api.types.is_string_dtype(frame[name])]
        if typed:
            raise FileError(
                f"{path.name} is not a table of text, as the export of a tool is: column "
                f"{typed[0]!r} has numbers or lists. Read it as a table, with from_long or "
                "from_wide."
            )
        breaks = np.zeros(len(frame), dtype=np.int64)
        for name in frame:
            breaks += frame[name].str.count("\n").to_numpy(dtype=np.int64)
        header = 2 + sum(str(name).count("\n") for name in frame)
        starts = header + np.arange(len(frame)) + np.cumsum(breaks) - breaks
        sheet = cls(path.name, frame, starts)
        if _n_lines(path) != starts[-1] + breaks[-1]:
            sheet = replace(sheet, starts=np.arange(1, len(frame) + 1), counts="row")
        return sheet if request.where is None else sheet.keep(matching_rows(frame, request.where))

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.frame]

    @cached_property
    def places(self) -> list[str]:
        """Location of each row in the file."""
        return [f"{self.counts} {start}" for start in self.starts.tolist()]

    def keep(self, rows: Flags) -> Sheet:
        """Return the table with the marked rows."""
        return replace(self, frame=self.frame[rows], starts=self.starts[rows])

    def after(self, prefix: str) -> dict[str, str]:
        """Return the columns with a prefix, by their names without it."""
        return {n.removeprefix(prefix): n for n in self.columns if n.startswith(prefix)}

    def cells(self, name: str) -> pd.Series[str]:
        """Return a column without the space around its cells."""
        if name not in self.frame:
            hint = did_you_mean(name, self.columns)
            columns = listing(self.columns, limit=12)
            raise FileError(f"{self.name} has no column {name!r}; the columns are {columns}.{hint}")
        return self.frame[name].str.strip()

    def ids(self, name: str, role: str = "identifier") -> list[Hashable]:
        """Return identifiers without the space around them, or None for blank cells."""
        ids: list[Hashable] = [cell or None for cell in self.cells(name).tolist()]
        distinct = self.frame[name].unique().tolist()
        warn_merged_names(role, ((cell.strip(), cell) for cell in distinct if cell.strip()))
        return ids

    def blank(self, name: str) -> Flags:
        """Return whether each cell of a column is blank."""
        return (self.cells(name) == "").to_numpy(dtype=bool)

    def groups(self, names: Sequence[str]) -> npt.NDArray[np.integer[Any]]:
        """Return a code per row; rows have equal codes if all these columns are equal."""
        cells = pd.DataFrame({name: self.cells(name) for name in names})
        return cells.groupby(list(names), sort=False).ngroup().to_numpy()

    def among(self, name: str, texts: Collection[str]) -> Flags:
        """Return whether each cell is one of `texts`, in any case; False without the column."""
        if name not in self.frame:
            return np.zeros(len(self.frame), dtype=bool)
        codes, distinct = pd.factorize(self.frame[name].to_numpy(dtype=object))
        return np.array([cell.strip().lower() in texts for cell in distinct], dtype=bool)[codes]

    def one_of(
        self, name: str, texts: Collection[str], others: Collection[str], problem: str
    ) -> Flags:
        """Return whether each cell of a column is one of `texts`; else it must be of `others`.

        `problem` is the error for another cell, after the cell itself.
        """
        matches = self.among(name, texts)
        odd = np.flatnonzero(~(matches | self.among(name, others)))
        if odd.size:
            cell = shorten(self.frame[name].iloc[odd[0]])
            raise self.error(int(odd[0]), name, f"{cell} {problem}")
        return matches

    def parse(self, name: str, read: Callable[[str], T | None]) -> list[T | None]:
        """Return the parsed cells, or None if they are blank; each distinct cell is read once."""
        codes, distinct = pd.factorize(self.cells(name).to_numpy(dtype=object))
        parsed: list[T | None] = []
        for code, cell in enumerate(distinct):
            try:
                parsed.append(read(cell) if cell else None)
            except SetagreeError as error:
                raise self.error(int(np.argmax(codes == code)), name, error) from error
        return [parsed[code] for code in codes]

    def error(self, row: int, column: str, sentence: object) -> FileError:
        """Return the error for a cell, with its location."""
        return FileError(f"{self.name}, {self.places[row]}, column {column!r}: {sentence}")

    def partly_blank(self, row: int, column: str, whole: str) -> FileError:
        """Return the error for a blank flag in a row or text whose other flags are not blank."""
        return self.error(
            row, column, f"the cell is blank, and other labels of that {whole} are not."
        )

    def found(
        self,
        units: list[Hashable],
        raters: list[Hashable],
        labels: Sequence[LabelSet | None],
        unclear: Flags,
    ) -> Found:
        """Return one answer per row."""
        return Found(self.name, units, raters, list(labels), self.places, unclear)


def records_or_rows(path: Path, request: Request, *, name: str = "rows") -> list[Node]:
    """Return the objects of a file in JSON, `name` in messages, or the rows of a table."""
    with readable(source := Source(path)), source.open() as stream:
        start = stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith((b"{", b"[")):
        return read_records(path, request.encoding, name=name)
    sheet = Sheet.open(path, request)
    rows = sheet.frame.to_dict("records")
    return [Node(row, shown(path), p) for row, p in zip(rows, sheet.places, strict=True)]


def from_columns(
    sheet: Sheet,
    raters: list[Hashable],
    units: Mapping[str, str],
    read: Callable[[str], tuple[list[LabelSet | None], Flags]],
) -> Found:
    """Return the answers in a table with one row per rater; `units` maps columns to units."""
    answers = [read(column) for column in units]
    places = [f"{place}, column {column!r}" for column in units for place in sheet.places]
    return Found(
        sheet.name,
        [unit for unit in units.values() for _ in raters],
        raters * len(units),
        [labels for column, _ in answers for labels in column],
        places,
        np.concatenate([blank for _, blank in answers]),
    )


def _n_lines(path: Path) -> int:
    """Return the number of lines of a file, including blank ones, which tables skip."""
    n, last = 0, b""
    with path.open("rb") as file:
        while block := file.read(2**20):
            n, last = n + block.count(b"\n"), block[-1:]
    return n + (last != b"\n")


# ---- Columns ------------------------------------------------------------------------------------


def pick_question(question: str | None, questions: Sequence[str], file: str) -> str:
    """Return the requested question, or the only one; raise an error if there is none."""
    if not questions:
        raise FileError(f"{file} has no column of answers.")
    return str(choose_question(question, questions, file))


def question_units(
    name: str, request: Request, labels_of: Mapping[str, tuple[str, ...] | None], without: str
) -> dict[str, str]:
    """Return the questions of a survey that are its units, each under its own name.

    They are those that match the pattern `request.question`, or all if all have the same labels.
    `without` is what the file lacks if there is no question.
    """
    pattern = request.question
    if not labels_of:
        raise DataError(
            f"{name} has {without}, so that the columns of units cannot be identified; write it "
            "with one row per unit and rater."
        )
    questions = f"its questions are {listing(list(labels_of), limit=12)}"
    labels = {*labels_of.values()}
    if pattern is None and (None in labels or len(labels) > 1):
        raise OptionError(
            f"{name} has no looped question, so that the questions are the units: {questions}. "
            f"Select some by a pattern, as in {option('question', 'Q*')}, or all with "
            f"{option('question', '*')}."
        )
    selected = {q: q for q in labels_of if pattern in (None, q) or fnmatchcase(q, str(pattern))}
    if not selected:
        raise OptionError(
            f"{option('question', pattern)} matches no question of {name}; {questions}."
        )
    return selected


def usual_column(role: Role, names: Iterable[str], file: str) -> str:
    """Return the only column with a usual name for the unit or the rater."""
    listed = list(names)
    others: dict[str, Any] = {r: f"\0{r}" for r in ("unit", "rater", "labels") if r != role}
    try:
        return str(getattr(guess_columns([*listed, *others.values()], **others), role))
    except DataError:
        raise DataError(
            f"{file}: no column has a usual name for the {role}, or several have one; the columns "
            f"are {listing(listed, limit=12)}. Rename the column to {role!r}."
        ) from None


def unit_names(
    sheet: Sheet, keys: Sequence[str], inputs: Mapping[str, str], otherwise: str
) -> list[Hashable]:
    """Return names of the units, which are the rows with equal `keys`.

    They are in the column of `inputs` (name: column) with a usual name whose values identify the
    same units, so that ``u3`` is not called ``502``; otherwise in the column `otherwise`, in the
    first row of each unit.
    """
    codes = sheet.groups(keys)
    by_plain = {plain_name(name): column for name, column in inputs.items()}
    for column in filter(None, map(by_plain.get, _USUAL_IDS)):
        names = sheet.cells(column)
        pairs = pd.DataFrame({"code": codes, "name": names.to_numpy()}).drop_duplicates()
        if pairs["code"].is_unique and pairs["name"].is_unique and not (names == "").any():
            return sheet.ids(column)
    first = sheet.cells(otherwise).groupby(codes, sort=False).transform("first")
    return [cell or None for cell in first.tolist()]


def segments(sheet: Sheet, document: str, part: str) -> list[Hashable]:
    """Return the units: the documents if each has one marked part, otherwise the parts."""
    if part not in sheet.frame:
        return sheet.ids(document)
    sizes = np.bincount(sheet.groups([document, part]))
    if sizes.size == sheet.groups([document]).max() + 1:
        return sheet.ids(document)
    if alone := int(np.count_nonzero(sizes == 1)):
        warn(
            f"{sheet.name}: {counted(alone, 'segment')} of {sizes.size:,} marked by only one rater;"
            f" segments are one unit if {document!r} and {part!r} are equal.",
            SetagreeWarning,
        )
    return [f"{d} [{p}]" for d, p in zip(sheet.cells(document), sheet.cells(part), strict=True)]


# ---- Cells --------------------------------------------------------------------------------------


def flag_sets(
    sheet: Sheet,
    columns: Mapping[str, str],
    *,
    true: Collection[str] = TRUE,
    false: Collection[str] = FALSE,
    no_answer: Collection[str] = ("",),
) -> tuple[list[LabelSet | None], Flags]:
    """Return the label sets in one column of flags per label, and the rows without any flag.

    `columns` maps each column to its label. A row without flags has no label set; a row with
    flags in only some columns is an error.
    """
    if not columns:
        raise FileError(f"{sheet.name} has no columns of labels.")
    problem = f"is neither {max(true)!r} nor {max(false)!r}."
    others = {*false, *no_answer}
    flags = np.column_stack([sheet.one_of(name, true, others, problem) for name in columns])
    blank = np.column_stack([sheet.among(name, no_answer) for name in columns])
    is_blank: Flags = np.logical_and.reduce(blank, axis=1)
    partly = np.argwhere(blank & ~is_blank[:, None])
    if partly.size:
        row, k = partly[0]
        raise sheet.partly_blank(int(row), list(columns)[k], "row")
    return sets_of_flags(flags, columns.values(), is_blank), is_blank


def sets_of_flags(flags: Flags, labels: Iterable[str], blank: Flags) -> list[LabelSet | None]:
    """Return the label set of each row of flags, with a column per label; None if it is blank."""
    return from_cube(flags[None], [*labels], None, None, blank[None]).answer.tolist()


def read_json(cell: str) -> Any:
    """Return the JSON of a cell."""
    try:
        return json.loads(cell, object_pairs_hook=unique_keys)
    except (json.JSONDecodeError, RecursionError):
        raise FileError(f"{shorten(cell)} is not JSON.") from None
    except ValueError as error:
        raise FileError(f"{shorten(cell)}: {error}.") from None


def label_list(labels: object, cell: str) -> LabelSet:
    """Return the labels in a JSON list; `cell` is for the error."""
    if isinstance(labels, list) and all(isinstance(label, str) for label in labels):
        return frozenset(labels)
    raise FileError(f"{shorten(cell)} is not a list of labels.")


def cell_splitter(label_sep: LabelSep) -> Callable[[str], LabelSet]:
    """Return a function that splits a cell into labels at `label_sep`."""
    split = splitter(read_sep(label_sep))
    return lambda cell: frozenset(part for part in split(cell) if part.strip())


def warn_columns(sheet: Sheet, names: Iterable[str], label_sep: LabelSep) -> None:
    """Warn if labels in columns appear to be separated by another separator than `label_sep`."""
    distinct = dict.fromkeys(cell for name in names for cell in sheet.cells(name).unique())
    cells = [cell for cell in distinct if cell]
    warn_separator(cells, label_sep)
    warn_brackets(cells, label_sep)


def split_column(sheet: Sheet, name: str, label_sep: LabelSep) -> list[LabelSet | None]:
    """Return the label sets of a column, split at `label_sep`."""
    split = cell_splitter(label_sep)
    warn_columns(sheet, [name], label_sep)
    return sheet.parse(name, split)


def leave_out(
    labels: Sequence[LabelSet | None], rows: Flags, what: str, name: str
) -> list[LabelSet | None]:
    """Return the label sets without those of the marked rows; a warning counts these."""
    warn_left_out(rows, what, name)
    return drop(labels, rows)


def warn_left_out(rows: Flags, what: str, name: str) -> None:
    """Warn with the number of marked rows, which are `what`, if there are any."""
    if n := int(np.count_nonzero(rows)):
        warn(f"{name}: {counted(n, what)} left out.", SetagreeWarning)


def drop(labels: Sequence[LabelSet | None], rows: Flags) -> list[LabelSet | None]:
    """Return the label sets, with None (no annotation) in the marked rows."""
    return [None if is_out else x for x, is_out in zip(labels, rows.tolist(), strict=True)]

"""Exports that are tables: their cells, where these stand, and what columns tell."""

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
from setagree.exports.format import Request
from setagree.exports.gathering import choose_question
from setagree.exports.unclear import Flags, Found
from setagree.files.records import unique_keys
from setagree.files.tables import read_table
from setagree.study.answer_warnings import warn_brackets, warn_merged_names, warn_separator
from setagree.study.columns import Role, guess_columns
from setagree.study.layouts import from_cube
from setagree.study.row_filter import matching_rows
from setagree.wording.label_sets import LabelSet

T = TypeVar("T")

TRUE = frozenset({"true", "1", "1.0"})
FALSE = frozenset({"false", "0", "0.0"})

# What people call the column that identifies their units, the surest first.
_OWN_IDS = (
    *("unit", "unitid", "item", "itemid", "doc", "docid", "document", "documentid"),
    *("textid", "exampleid", "sampleid", "caseid", "recordid", "sentenceid", "tweetid", "imageid"),
    *("id", "uid", "key", "index", "name", "filename", "file", "imagename", "image", "imageurl"),
)


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table of text, and the line where each of its rows begins.

    `starts` are these lines, the header in line 1; where `unit` is "row", the numbers of the rows.
    `name` is what sentences call the file, and `null` says which cells are null; they are blank.
    """

    name: str
    frame: pd.DataFrame
    starts: npt.NDArray[np.int64]
    unit: str = "line"
    null: pd.DataFrame | None = None

    @classmethod
    def open(cls, path: Path, request: Request) -> Sheet:
        """Read a file."""
        frame = read_table(path, encoding=request.encoding, sheet=request.sheet)
        null = frame.isna()
        for column in frame.columns[null.any()]:  # of JSON and Parquet; text has none
            if pd.api.types.infer_dtype(frame[column], skipna=True) in {"string", "empty"}:
                frame[column] = frame[column].astype(object).mask(null[column], "")
        odd = [str(name) for name in frame if not pd.api.types.is_string_dtype(frame[name])]
        if odd:
            raise FileError(
                f"{path.name} is not a table of text, as the export of a tool is: column "
                f"{odd[0]!r} holds numbers or lists. Read it as a table, with from_long or "
                "from_wide."
            )
        breaks = np.zeros(len(frame), dtype=np.int64)
        for name in frame:
            breaks += frame[name].str.count("\n").to_numpy(dtype=np.int64)
        header = 2 + sum(str(name).count("\n") for name in frame)
        starts = header + np.arange(len(frame)) + np.cumsum(breaks) - breaks
        sheet = cls(path.name, frame, starts, null=null)
        if _n_lines(path) != starts[-1] + breaks[-1]:
            sheet = replace(sheet, starts=np.arange(1, len(frame) + 1), unit="row")
        return sheet if request.where is None else sheet.keep(matching_rows(frame, request.where))

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self.frame]

    @cached_property
    def places(self) -> list[str]:
        """Where each row stands."""
        return [f"{self.unit} {start}" for start in self.starts.tolist()]

    def keep(self, rows: Flags) -> Sheet:
        """Return some of the rows."""
        null = None if self.null is None else self.null[rows]
        return replace(self, frame=self.frame[rows], starts=self.starts[rows], null=null)

    def after(self, prefix: str) -> dict[str, str]:
        """Return the columns with a prefix, by what follows it."""
        return {n.removeprefix(prefix): n for n in self.columns if n.startswith(prefix)}

    def cells(self, name: str) -> pd.Series[str]:
        """Return a column without the space around its cells."""
        if name not in self.frame:
            hint = did_you_mean(name, self.columns)
            known = listing(self.columns, limit=12)
            raise FileError(f"{self.name} has no column {name!r}; the columns are {known}.{hint}")
        return self.frame[name].str.strip()

    def ids(self, name: str, role: str = "identifier") -> list[Hashable]:
        """Return identifiers without the space around them; a blank cell is none."""
        found = [cell or None for cell in self.cells(name).tolist()]
        first: dict[str, str] = {}
        written = self.frame[name].unique().tolist()
        spelled = [(first.setdefault(one.strip(), one), one) for one in written if one.strip()]
        warn_merged_names(role, [pair for pair in spelled if pair[0] != pair[1]])
        return list(found)

    def blank(self, name: str) -> Flags:
        """Return which cells of a column are blank."""
        return (self.cells(name) == "").to_numpy(dtype=bool)

    def is_null(self, name: str) -> Flags:
        """Return which cells of a column are null."""
        if self.null is None:
            return np.zeros(len(self.frame), dtype=bool)
        return self.null[name].to_numpy(dtype=bool)

    def groups(self, names: Sequence[str]) -> npt.NDArray[np.integer[Any]]:
        """Return codes of the rows that are the same where all these columns are."""
        cells = pd.DataFrame({name: self.cells(name) for name in names})
        return cells.groupby(list(names), sort=False).ngroup().to_numpy()

    def among(self, name: str, texts: Collection[str]) -> Flags:
        """Return which cells are one of these texts, in whatever case; none without the column."""
        if name not in self.frame:
            return np.zeros(len(self.frame), dtype=bool)
        codes, distinct = pd.factorize(self.frame[name].to_numpy(dtype=object))
        found = np.array([cell.strip().lower() in texts for cell in distinct], dtype=bool)
        return found[codes]

    def parse(self, name: str, read: Callable[[str], T | None]) -> list[T | None]:
        """Return what each cell says, or None if it is blank; each distinct cell is read once."""
        codes, distinct = pd.factorize(self.cells(name).to_numpy(dtype=object))
        found: list[T | None] = []
        for code, cell in enumerate(distinct):
            try:
                found.append(read(cell) if cell else None)
            except SetagreeError as error:
                raise self.error(int(np.argmax(codes == code)), name, error) from error
        return [found[code] for code in codes]

    def error(self, row: int, column: str, sentence: object) -> FileError:
        """Return the error of a cell, with its place."""
        return FileError(f"{self.name}, {self.places[row]}, column {column!r}: {sentence}")

    def partly_blank(self, row: int, column: str, whole: str) -> FileError:
        """Return the error of the blank cell of a label, where others of the `whole` are not."""
        hint = f"the cell is blank, and other labels of that {whole} are not."
        return self.error(row, column, hint)

    def found(
        self,
        units: list[Hashable],
        raters: list[Hashable],
        labels: Sequence[LabelSet | None],
        unclear: Flags,
    ) -> Found:
        """Return one answer per row."""
        return Found(self.name, units, raters, list(labels), self.places, unclear)


def of_columns(
    sheet: Sheet,
    raters: list[Hashable],
    units: Mapping[str, str],
    read: Callable[[str], tuple[list[LabelSet | None], Flags]],
) -> Found:
    """Return the answers of a table with one row per rater; `units` maps columns to units."""
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
    """Return how many lines a file of text has; blank ones, which no table shows, count."""
    n, last = 0, b""
    with path.open("rb") as file:
        while block := file.read(2**20):
            n, last = n + block.count(b"\n"), block[-1:]
    return n + (last != b"\n")


# ---- Columns ------------------------------------------------------------------------------------


def plain(name: str) -> str:
    """Return a name without case, spaces and punctuation."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def pick_question(asked: str | None, known: Sequence[str], where: str) -> str:
    """Return the question that was asked for, or the only one there is."""
    if not known:
        raise FileError(f"{where} has no column of answers.")
    return str(choose_question(asked, known, where))


def question_units(
    name: str, request: Request, labels_of: Mapping[str, tuple[str, ...] | None], without: str
) -> dict[str, str]:
    """Return the questions of a survey that are its units, each under its own name.

    They are those that match the pattern `request.question`, or all if all have the same labels.
    `without` is what the file lacks if there is no question.
    """
    asked = request.question
    if not labels_of:
        raise DataError(
            f"{name} has {without}, so that nothing tells which columns are units; write it as one "
            "row for each unit and rater."
        )
    known = f"its questions are {listing(list(labels_of), limit=12)}"
    labels = {*labels_of.values()}
    if asked is None and (None in labels or len(labels) > 1):
        raise OptionError(
            f"{name} has no looped question, so that the questions are the units: {known}. Say "
            f"which count by a pattern, as {option('question', 'Q*')}; {option('question', '*')} "
            "takes all."
        )
    chosen = {q: q for q in labels_of if asked is None or q == asked or fnmatchcase(q, asked)}
    if not chosen:
        raise OptionError(f"{option('question', asked)} fits no question of {name}; {known}.")
    return chosen


def usual_column(role: Role, names: Iterable[str], where: str) -> str:
    """Return the one column with a usual name for the unit or the rater."""
    listed = list(names)
    others: dict[str, Any] = {r: f"\0{r}" for r in ("unit", "rater", "labels") if r != role}
    try:
        return str(getattr(guess_columns([*listed, *others.values()], **others), role))
    except DataError:
        raise DataError(
            f"{where}: which column names the {role}? None of {listing(listed, limit=12)} is it "
            f"beyond doubt; call it {role!r}."
        ) from None


def unit_names(
    sheet: Sheet, keys: Sequence[str], own: Mapping[str, str], otherwise: str
) -> list[Hashable]:
    """Return names of the units that are the same where all `keys` are.

    A column of `own` (name: column) that identifies the same units gives its names, so that
    ``u3`` is not called ``502``; else the column `otherwise` does, by its first cell for a unit.
    """
    codes = sheet.groups(keys)
    by_plain = {plain(name): column for name, column in own.items()}
    for name in _OWN_IDS:
        column = by_plain.get(name)
        if column is not None and _same_units(codes, sheet.cells(column)):
            return sheet.ids(column)
    first = sheet.cells(otherwise).groupby(codes, sort=False).transform("first")
    return [cell or None for cell in first.tolist()]


def _same_units(codes: npt.NDArray[Any], names: pd.Series[str]) -> bool:
    pairs = pd.DataFrame({"code": codes, "name": names.to_numpy()}).drop_duplicates()
    return pairs["code"].is_unique and pairs["name"].is_unique and not (names == "").any()


def segments(sheet: Sheet, document: str, part: str) -> list[Hashable]:
    """Return the units: documents where each has one marked part, else the parts."""
    if part not in sheet.frame:
        return sheet.ids(document)
    sizes = np.bincount(sheet.groups([document, part]))
    if sizes.size == sheet.groups([document]).max() + 1:
        return sheet.ids(document)
    if alone := int(np.count_nonzero(sizes == 1)):
        warn(
            f"{sheet.name}: {counted(alone, 'segment')} of {sizes.size:,} marked by one rater "
            f"only; segments are one unit where {document!r} and {part!r} are the same.",
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
    """Return the label sets of one column per label, and which rows are blank in all of them.

    `columns` maps each column to its label. A blank row has no set; a row that is blank in part
    is an error.
    """
    if not columns:
        raise FileError(f"{sheet.name} has no columns of labels.")
    on, blank = (np.empty((len(sheet.frame), len(columns)), dtype=bool) for _ in range(2))
    for k, name in enumerate(columns):
        on[:, k], blank[:, k] = _flags(sheet, name, true, false, no_answer)
    nothing: Flags = np.logical_and.reduce(blank, axis=1)
    partly = np.argwhere(blank & ~nothing[:, None])
    if partly.size:
        row, k = partly[0]
        raise sheet.partly_blank(int(row), list(columns)[k], "row")
    answer = from_cube(on[None], list(columns.values()), None, None, nothing[None]).answer
    return answer.tolist(), nothing


def ticked(sheet: Sheet, name: str) -> Flags:
    """Return which cells of a column, which must be there, are true; a blank one is not."""
    sheet.cells(name)
    return _flags(sheet, name)[0]


def _flags(
    sheet: Sheet,
    name: str,
    true: Collection[str] = TRUE,
    false: Collection[str] = FALSE,
    no_answer: Collection[str] = ("",),
) -> tuple[Flags, Flags]:
    on, blank, off = (sheet.among(name, texts) for texts in (true, no_answer, false))
    odd = np.flatnonzero(~(on | blank | off))
    if odd.size:
        row = int(odd[0])
        known = f"{max(true)!r} nor {max(false)!r}"
        said = shorten(sheet.frame[name].iloc[row])
        raise sheet.error(row, name, f"{said} is neither {known}.")
    return on, blank


def read_json(cell: str) -> Any:
    """Return the JSON of a cell."""
    try:
        return json.loads(cell, object_pairs_hook=unique_keys)
    except (json.JSONDecodeError, RecursionError):
        raise FileError(f"{shorten(cell)} is not JSON.") from None
    except ValueError as error:
        raise FileError(f"{shorten(cell)}: {error}.") from None


def label_list(found: object, cell: str) -> LabelSet:
    """Return the labels of a JSON list."""
    if isinstance(found, list) and all(isinstance(label, str) for label in found):
        return frozenset(found)
    raise FileError(f"{shorten(cell)} is not a list of labels.")


def splitter(label_sep: str) -> Callable[[str], LabelSet]:
    """Return the reader of cells whose labels have `label_sep` between them."""
    if not label_sep:
        raise OptionError(
            f"{option('label_sep', '')} cannot stand between labels; that is one character or more."
        )
    return lambda cell: frozenset(part for part in cell.split(label_sep) if part.strip())


def warn_columns(sheet: Sheet, names: Iterable[str], label_sep: str) -> None:
    """Warn if another separator than `label_sep` seems to separate the labels of columns."""
    distinct = dict.fromkeys(cell for name in names for cell in sheet.cells(name).unique())
    cells = [cell for cell in distinct if cell]
    warn_separator(cells, label_sep)
    warn_brackets(cells, label_sep)


def split_column(sheet: Sheet, name: str, label_sep: str) -> list[LabelSet | None]:
    """Return the label sets of a column, split at `label_sep`."""
    split = splitter(label_sep)
    warn_columns(sheet, [name], label_sep)
    return sheet.parse(name, split)


def leave_out(
    labels: Sequence[LabelSet | None], rows: Flags, what: str, name: str
) -> list[LabelSet | None]:
    """Return the labels without those rows; one warning counts them."""
    n = int(np.count_nonzero(rows))
    if not n:
        return list(labels)
    warn(f"{name}: {counted(n, what)} left out.", SetagreeWarning)
    return drop(labels, rows)


def drop(labels: Sequence[LabelSet | None], rows: Flags) -> list[LabelSet | None]:
    """Return the labels, with no annotation in those rows."""
    return [None if out else each for each, out in zip(labels, rows.tolist(), strict=True)]

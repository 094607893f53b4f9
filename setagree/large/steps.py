"""The reduction as one program for every engine that narwhals speaks to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from setagree.errors import DataError, option, shorten
from setagree.large.engines import Engine, fetch
from setagree.large.partitions import id_of_text
from setagree.large.patterns import Repeats, tally_of_entries
from setagree.large.survey import CodedCells, Survey, code_cells
from setagree.study.codes import MISSING
from setagree.study.numbers import EXACT
from setagree.study.reading import AnswerKind, Reading
from setagree.study.tally import Tally

if TYPE_CHECKING:
    import narwhals as nw

# Everything that str.strip takes off.
SPACE = "".join(map(chr, [*range(9, 14), *range(28, 33), 133, 160, 5760, *range(8192, 8203)]))
SPACE += "\u2028\u2029\u202f\u205f\u3000"
_MAY_NEED_STRIPPING = r"^\s|\s$|[^ -~]"


@dataclass(frozen=True)
class Rows:
    """The rows of a study in an engine.

    Attributes
    ----------
    frame : narwhals LazyFrame
        Columns ``unit``, ``rater`` and ``answer``; ``written_unit`` and ``written_rater`` where
        those are text: as it was before it was tidied.
    engine : Engine
        What computes it.
    name : str
        What the column of answers is called where it comes from.
    in_json : bool
        Whether answers are lists, written as JSON.
    long : bool
        Whether answers are whole numbers of 128 bits, written as text.
    """

    frame: nw.LazyFrame[Any]
    engine: Engine
    name: str
    in_json: bool
    long: bool = False


@dataclass(frozen=True)
class CodedRows:
    """The annotations in an engine: ``unit``, ``rater``, ``code``, and numbers to add up.

    Attributes
    ----------
    frame : narwhals LazyFrame
        The columns.
    engine : Engine
        What computes it.
    numbers : tuple of str
        The columns of the random numbers of the value (or of rater and value).
    keys : tuple of str
        The columns that a pattern is made of: ``code``, with raters kept also ``who``.
    marked : bool
        Whether a column ``mark`` holds a power of two for each rater.
    others : tuple of narwhals LazyFrame
        The other pieces, where these rows are one of several.
    """

    frame: nw.LazyFrame[Any]
    engine: Engine
    numbers: tuple[str, ...] = ("one", "two")
    keys: tuple[str, ...] = ("code",)
    marked: bool = False
    others: tuple[nw.LazyFrame[Any], ...] = ()


def pick_rows(
    frame: nw.LazyFrame[Any],
    engine: Engine,
    columns: Mapping[str, str],
    *,
    name: str | None = None,
    in_json: bool = False,
    kind: AnswerKind = "labels",
) -> Rows:
    """Return the three columns; ids without the space around them, lists as text.

    `columns` names the columns of the roles unit, rater and answer. `name` is what that of the
    answers is called elsewhere. `in_json` says that the answers are JSON already. Answers of the
    `kind` "value" may be whole numbers of 128 bits, which travel as text.
    """
    import narwhals as nw

    known = frame.collect_schema()
    long = kind == "value" and _is_long(known[columns["answer"]])
    for role, column in columns.items():
        if role != "answer" or not long:
            check_type(role, name if role == "answer" and name else column, known[column])
    picked = frame.select(**{r: _plain(nw.col(c), known[c]) for r, c in columns.items()})
    dtypes = picked.collect_schema()
    for role in ("unit", "rater"):
        if dtypes[role] == nw.String:
            picked = picked.with_columns(nw.col(role).alias(f"written_{role}"))
            picked = _by(engine.composed, picked, role)
            picked = picked.with_columns(_stripped(nw.col(role)).alias(role))
    lists = isinstance(dtypes["answer"], nw.List | nw.Array)
    if lists:
        picked = _by(engine.as_json, picked, "answer")
    return Rows(picked, engine, name or columns["answer"], in_json or lists, long)


def check_type(role: str, column: str, dtype: Any) -> None:
    """Refuse types that engines compare or hand over otherwise than memory reads them.

    Raises
    ------
    DataError
        Identifiers are lists, objects or intervals; answers are so, or times to the nanosecond, or
        lists of anything but text, whole numbers and flags.
    """
    import narwhals as nw

    def plain(dtype: Any) -> bool:
        return (dtype.is_integer() and not _is_long(dtype)) or any(
            dtype == one for one in (nw.String, nw.Categorical, nw.Enum, nw.Boolean)
        )

    others = (nw.Float32, nw.Float64, nw.Decimal, nw.Date, nw.Time, nw.Datetime, nw.Binary)
    if any(dtype == one for one in others) and (role != "answer" or "'ns'" not in str(dtype)):
        return
    lists = role == "answer" and isinstance(dtype, nw.List | nw.Array)
    if plain(dtype) or (lists and plain(dtype.inner)):
        return
    raise DataError(
        f"column {column!r} holds {dtype}, which engines do not compare as memory does, so that it "
        f"cannot be the {role}; make it text or numbers first, or read the table into memory (for "
        f"files, without {option('memory_limit')} and the like)."
    )


def survey(rows: Rows) -> tuple[Survey, nw.DataFrame[Any], list[str]]:
    """Count the rows of each distinct answer, and those without a unit or a rater.

    Returns the survey, its cells as a table of the engine's, and which of unit and rater are the
    same as they are written in every row.
    """
    import narwhals as nw

    roles = ("unit", "rater")
    dtypes = rows.frame.collect_schema()
    bad = [_bad(nw.col(r), dtypes[r]).sum().cast(nw.Int64).alias(f"no_{r}") for r in roles]
    floats = [role for role in roles if dtypes[role].is_float()]
    bad += [nw.col(role).abs().max().cast(nw.Float64).alias(f"most_{role}") for role in floats]
    texts = [role for role in roles if f"written_{role}" in dtypes]
    changed = {r: (nw.col(r) != nw.col(f"written_{r}")).cast(nw.Int64) for r in texts}
    bad += [change.sum().alias(f"changed_{role}") for role, change in changed.items()]
    counts = rows.frame.group_by("answer").agg(nw.len().alias("times"), *bad)
    found = fetch(counts, rows.engine)
    known = found.filter(~nw.col("answer").is_null()).sort("answer")
    listed = known["answer"].to_list()
    times = known["times"].to_numpy().astype(np.int64)
    n_null = int(found["times"].sum() or 0) - int(times.sum())
    n_bad = {role: int(found[f"no_{role}"].sum() or 0) for role in roles}
    inexact = tuple(role for role in floats if (found[f"most_{role}"].max() or 0) >= EXACT)
    tidy = [role for role in texts if not found[f"changed_{role}"].sum()]
    cells = list(map(rows.engine.from_json, listed)) if rows.in_json else listed
    cells = list(map(int, cells)) if rows.long else cells
    return Survey(cells, times, n_null, n_bad, inexact), known.select("answer"), tidy


def code_rows(
    rows: Rows,
    cells: nw.DataFrame[Any],
    coded: CodedCells,
    tidy: Sequence[str] = (),
    *,
    keep_raters: bool = False,
) -> CodedRows:
    """Give every row the code and the numbers of its value; missing rows drop out.

    What is tidy is taken as it is written, so that no later step looks for space again.
    """
    import narwhals as nw

    written = [nw.col(f"written_{role}").alias(role) for role in tidy]
    rows = replace(rows, frame=rows.frame.with_columns(*written)) if written else rows
    if coded.null_code != MISSING:
        rows, cells = _nulls_as_blanks(rows, cells)
    codes = coded.answers.codes[: len(cells)].astype(np.int64)
    numbers = coded.numbers(keep_raters=keep_raters)[codes]
    names = ("one", "two", "three")[: numbers.shape[1]]
    new = {"code": codes, **dict(zip(names, numbers.T, strict=True))}
    series = [nw.new_series(n, v, nw.Int64, backend=rows.engine.home) for n, v in new.items()]
    table = cells.with_columns(*series).filter(nw.col("code") != MISSING)
    uploaded = rows.engine.upload(rows.frame.to_native(), table.to_native())
    joined = rows.frame.join(nw.from_native(uploaded), on="answer", how="inner")
    return CodedRows(joined.select("unit", "rater", *new), rows.engine, names)


def pieces(rows: CodedRows, n_rows: int) -> list[CodedRows]:
    """Return the rows as pieces of whole units, each of which the engine has memory for."""
    import narwhals as nw

    found = map(nw.from_native, rows.engine.pieces(rows.frame.to_native(), n_rows))
    frames: tuple[nw.LazyFrame[Any], ...] = tuple(found)
    return [
        replace(rows, frame=frame, others=frames[:place] + frames[place + 1 :])
        for place, frame in enumerate(frames)
    ]


def code_answers(
    rows: Rows, reading: Reading
) -> tuple[CodedCells, nw.DataFrame[Any], Sequence[str]]:
    """Survey the rows and read each distinct cell once; return also what else `survey` does."""
    surveyed, cells, tidy = survey(rows)

    def place(position: int) -> str:
        return _place(rows, [*cells["answer"].to_list(), None][position])

    return code_cells(surveyed, reading, name=rows.name, place=place), cells, tidy


def find_repeats(rows: CodedRows) -> Repeats:
    """Count the pairs of unit and rater with more than one annotation, and name a few.

    Where there are any in a piece, those of the others count, too.
    """
    found = _repeats(rows.frame, rows.engine)
    return sum((_repeats(one, rows.engine) for one in rows.others if found.n), found)


def _repeats(frame: nw.LazyFrame[Any], engine: Engine) -> Repeats:
    import narwhals as nw

    repeated = _repeated(frame)
    n = int(fetch(repeated.select(nw.len().alias("n")), engine)["n"][0])
    if not n:
        return Repeats(0, [])
    few = fetch(repeated.sort("unit", "rater").head(3), engine)
    found = few.select("unit", "rater", "times").iter_rows()
    return Repeats(n, [(id_of_text(unit), id_of_text(rater), n) for unit, rater, n in found])


def places_of_repeat(rows: CodedRows, parts: Sequence[CodedRows]) -> list[int]:
    """Return which parts of the rows hold the first pair that `find_repeats` names."""
    import narwhals as nw

    first = fetch(_repeated(rows.frame).sort("unit", "rater").head(1), rows.engine)
    unit, rater = first.select("unit", "rater").row(0)
    is_pair = (nw.col("unit") == unit) & (nw.col("rater") == rater)
    return [
        place
        for place, part in enumerate(parts)
        if len(fetch(part.frame.filter(is_pair).select("unit").head(1), part.engine))
    ]


def _repeated(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return the pairs of unit and rater with more than one annotation, and how many times."""
    import narwhals as nw

    pairs = frame.group_by("unit", "rater").agg(nw.len().alias("times"))
    return pairs.filter(nw.col("times") > 1)


def find_patterns(rows: CodedRows) -> tuple[Tally, bool]:
    """Return the tally of the patterns, whose values are codes; so are raters that are kept.

    Units with equal fingerprints (how many annotations, the sums of their numbers) have one
    pattern. One unit stands for each, and only its annotations are looked up again.

    Of rows with marks return also whether a rater annotated a unit twice: powers of two that all
    differ, and no others, have a sum with as many bits as they are.
    """
    import narwhals as nw

    fingerprint, marks = ("size", *rows.numbers), ["mark"] * rows.marked
    sums = [nw.col(name).sum().cast(nw.Int64) for name in (*rows.numbers, *marks)]
    units = rows.frame.group_by("unit").agg(nw.len().alias("size"), *sums)
    for mark in marks:
        units = _by(rows.engine.bit_count, units, mark)
    repeats = [(nw.col(mark) != nw.col("size")).any() for mark in marks]
    times, one = nw.len().alias("times"), nw.col("unit").min()
    patterns = units.group_by(*fingerprint).agg(times, one, *repeats)
    answers = rows.frame.select("unit", *rows.keys).join(patterns, on="unit", how="inner")
    known = (*fingerprint, "times", *marks, *rows.keys)
    entries = fetch(answers.group_by(*known).agg(nw.len().alias("count")), rows.engine)
    return tally_of_entries(entries, fingerprint), any(entries[mark].any() for mark in marks)


def _plain(column: nw.Expr, dtype: Any) -> nw.Expr:
    """Return categories and whole numbers of 128 bits as text, and no number as missing."""
    import narwhals as nw

    if dtype == nw.Categorical or dtype == nw.Enum or _is_long(dtype):
        return column.cast(nw.String)
    if dtype.is_float():
        return nw.when(~column.is_nan()).then(column)
    return column


def _is_long(dtype: Any) -> bool:
    return dtype.is_integer() and "128" in str(dtype)


def _stripped(text: nw.Expr) -> nw.Expr:
    """Take the space off the ends; plain text, which needs it rarely, is told apart first."""
    import narwhals as nw

    odd = text.str.contains(_MAY_NEED_STRIPPING)
    return nw.when(odd).then(text.str.strip_chars(SPACE)).otherwise(text)


def _by(change: Any, frame: nw.LazyFrame[Any], column: str) -> nw.LazyFrame[Any]:
    import narwhals as nw

    return nw.from_native(change(frame.to_native(), column))  # type: ignore[no-any-return]


def _bad(column: nw.Expr, dtype: Any) -> nw.Expr:
    import narwhals as nw

    missing = column.is_null()
    return ((missing | (column == "")) if dtype == nw.String else missing).cast(nw.Int64)


def _nulls_as_blanks(rows: Rows, cells: nw.DataFrame[Any]) -> tuple[Rows, nw.DataFrame[Any]]:
    """Write nulls as the blank text that stands for them, of which there is no other."""
    import narwhals as nw

    blank = '""' if rows.in_json else ""
    texts = [*cells["answer"].to_list(), blank]
    series = nw.new_series("answer", texts, nw.String, backend=rows.engine.home)
    filled = nw.col("answer").cast(nw.String).fill_null(blank)
    return replace(rows, frame=rows.frame.with_columns(filled)), series.to_frame()


def _place(rows: Rows, answer: object) -> str:
    """Word where an answer, or None for a null, stands, for an error."""
    import narwhals as nw

    cell = nw.col("answer")
    asked = cell.is_null() if answer is None else cell == answer
    there = rows.frame.filter(asked).select("unit", "rater").head(1)
    unit, rater = next(iter(fetch(there, rows.engine).iter_rows()), ("?", "?"))
    return f"Unit {shorten(id_of_text(unit))}, rater {shorten(id_of_text(rater))}"

"""The reduction as one program for every engine that narwhals speaks to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setagree.errors import DataError, counted, option, shorten
from setagree.large.engines import DuckDB, Engine, fetch
from setagree.large.patterns import (
    PRIME,
    CodedCells,
    Numbers,
    Repeats,
    Survey,
    code_cells,
    id_of_text,
    merge_all,
    tally_of_entries,
    tally_of_lists,
)
from setagree.study.codes import MISSING, as_objects
from setagree.study.frames import as_pandas
from setagree.study.numbers import EXACT
from setagree.study.reading import AnswerKind, Reading
from setagree.study.tally import Tally

if TYPE_CHECKING:
    import narwhals as nw

# Everything that str.strip takes off.
SPACE = "".join(map(chr, [*range(9, 14), *range(28, 33), 133, 160, 5760, *range(8192, 8203)]))
SPACE += "\u2028\u2029\u202f\u205f\u3000"


@dataclass(frozen=True)
class Rows:
    """The rows of a study in an engine.

    Attributes
    ----------
    frame : narwhals LazyFrame
        Columns ``unit``, ``rater`` and ``answer``; ``written_unit`` and ``written_rater`` where
        those are text: as it was before it was tidied; ``odd_unit`` and ``odd_rater``: whether it
        may be another text then.
    engine : Engine
        What computes it.
    name : str
        What the column of answers is called where it comes from.
    in_json : bool
        Whether answers are lists, written as JSON.
    long : bool
        Whether answers are whole numbers of 128 bits, written as text.
    order : tuple
        The categories of an ordered column of answers, in their order.
    """

    frame: nw.LazyFrame[Any]
    engine: Engine
    name: str
    in_json: bool
    long: bool = False
    order: tuple[Any, ...] = ()


@dataclass(frozen=True)
class CodedRows:
    """The annotations in an engine: ``unit``, ``rater``, ``code``; once numbered, ``who``, too."""

    frame: nw.LazyFrame[Any]
    engine: Engine


def pick_rows(
    frame: nw.LazyFrame[Any],
    engine: Engine,
    columns: Mapping[str, str],
    *,
    names: Mapping[str, str] | None = None,
    in_json: bool = False,
    kind: AnswerKind = "labels",
    order: tuple[Any, ...] = (),
) -> Rows:
    """Return the three columns; ids without the space around them, lists as text.

    `columns` names the columns of the roles unit, rater and answer, `names` what these are called
    elsewhere. `in_json` says that the answers are JSON already. Answers of the `kind` "value" may
    be whole numbers of 128 bits, which travel as text. `order` has the ordered categories of the
    answers where the type of the column does not.
    """
    import narwhals as nw

    known = frame.collect_schema()
    long = kind == "value" and is_long(known[columns["answer"]])
    order = order or tuple(getattr(known[columns["answer"]], "categories", ()))  # of an Enum
    for role, column in columns.items():
        if role != "answer" or not long:
            check_type(role, (names or columns)[role], known[column])
    picked = frame.select(**{r: _plain(nw.col(c), known[c]) for r, c in columns.items()})
    dtypes = picked.collect_schema()
    for role in ("unit", "rater"):
        if dtypes[role] == nw.String:
            picked = picked.with_columns(nw.col(role).alias(f"written_{role}"))
            picked = _by(engine.composed, _by(engine.odd, picked, role), role)
            if engine.tidies:
                continue
            stripped = nw.when(nw.col(f"odd_{role}")).then(nw.col(role).str.strip_chars(SPACE))
            picked = picked.with_columns(stripped.otherwise(nw.col(role)).alias(role))
    lists = isinstance(dtypes["answer"], nw.List | nw.Array)
    if lists:
        picked = _by(engine.as_json, picked, "answer")
    name = (names or columns)["answer"]
    return Rows(picked, engine, name, in_json or lists, long, order)


def check_type(role: str, column: str, dtype: Any) -> None:
    """Raise an error for types that engines compare or hand over otherwise than memory reads them.

    Raises
    ------
    DataError
        Identifiers are lists, objects or intervals; answers are so, or times to the nanosecond, or
        lists of anything but text, whole numbers and flags.
    """
    import narwhals as nw

    def plain(dtype: Any) -> bool:
        return (dtype.is_integer() and not is_long(dtype)) or any(
            dtype == one for one in (nw.String, nw.Categorical, nw.Enum, nw.Boolean)
        )

    others = (nw.Float32, nw.Float64, nw.Decimal, nw.Date, nw.Time, nw.Datetime, nw.Binary)
    is_rounded = isinstance(dtype, nw.Datetime) and dtype.time_unit == "ns"
    if any(dtype == one for one in others) and (role != "answer" or not is_rounded):
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
    texts = [role for role in roles if f"written_{role}" in dtypes]
    doubts = [_doubt(role, is_text=role in texts) for role in roles]
    floats = [role for role in roles if dtypes[role].is_float()]
    most = [nw.col(role).abs().max().cast(nw.Float64).alias(f"most_{role}") for role in floats]
    counts = rows.frame.group_by("answer").agg(nw.len().alias("times"), *doubts, *most)
    found = fetch(counts, rows.engine)
    known = found.filter(~nw.col("answer").is_null()).sort("answer")
    listed = known["answer"].to_list()
    times = known["times"].to_numpy().astype(np.int64)
    n_null = int(found["times"].sum() or 0) - int(times.sum())
    odd = [role for role in roles if found[f"doubt_{role}"].any()]
    n_bad, changed = _untidy(rows, [role for role in odd if role in texts], odd)
    inexact = tuple(role for role in floats if (found[f"most_{role}"].max() or 0) >= EXACT)
    cells = list(map(rows.engine.from_json, listed)) if rows.in_json else listed
    cells = list(map(int, cells)) if rows.long else cells
    tidy = [role for role in texts if role not in changed]
    surveyed = Survey(cells, times, n_null, n_bad, inexact, rows.order)
    return surveyed, known.select("answer"), tidy


def _doubt(role: str, *, is_text: bool) -> nw.Expr:
    """Return whether any identifier is missing, or text that may not be tidy."""
    import narwhals as nw

    missing = nw.col(role).is_null()
    return ((missing | nw.col(f"odd_{role}")) if is_text else missing).any().alias(f"doubt_{role}")


def _untidy(
    rows: Rows, texts: Sequence[str], doubted: Sequence[str]
) -> tuple[dict[str, int], list[str]]:
    """Count the rows without a unit or a rater; say in which of them text is not tidy."""
    import narwhals as nw

    n_bad = {"unit": 0, "rater": 0}
    if not doubted:
        return n_bad, []
    bad = {role: nw.col(role).is_null() for role in doubted}
    bad |= {role: bad[role] | (nw.col(role) == "") for role in texts}
    # Some databases cast no booleans to numbers.
    ones = {role: nw.when(test).then(nw.lit(1)).otherwise(nw.lit(0)) for role, test in bad.items()}
    sums = [one.sum().alias(f"no_{role}") for role, one in ones.items()]
    changed = {role: (nw.col(role) != nw.col(f"written_{role}")).any() for role in texts}
    sums += [change.alias(f"changed_{role}") for role, change in changed.items()]
    found = fetch(rows.frame.select(*sums), rows.engine)
    n_bad |= {role: int(found[f"no_{role}"][0] or 0) for role in doubted}
    return n_bad, [role for role in texts if found[f"changed_{role}"][0]]


def code_rows(
    rows: Rows, cells: nw.DataFrame[Any], coded: CodedCells, tidy: Sequence[str] = ()
) -> CodedRows:
    """Give every row the code of its value; missing rows drop out.

    What is tidy is taken as it is written, so that no later step looks for space again.
    """
    import narwhals as nw

    written = [nw.col(f"written_{role}").alias(role) for role in tidy]
    rows = replace(rows, frame=rows.frame.with_columns(*written)) if written else rows
    if coded.null_code != MISSING:
        rows, cells = _nulls_as_blanks(rows, cells)
    codes = coded.answers.codes[: len(cells)].astype(np.int64)
    code = table_of({"code": codes}, rows.engine)["code"]
    table = cells.with_columns(code).filter(nw.col("code") != MISSING)
    joined = join_small(rows.frame, rows.engine, table, "answer")
    return CodedRows(joined.select("unit", "rater", "code"), rows.engine)


@contextmanager
def pieces(rows: CodedRows, names: Sequence[str], n_rows: int) -> Iterator[list[nw.LazyFrame[Any]]]:
    """Give columns of the rows, ``unit`` among them, in pieces the engine has memory for.

    Each holds all rows of its units.
    """
    import narwhals as nw

    with rows.engine.pieces(rows.frame.select(*names).to_native(), n_rows) as found:
        yield list(map(nw.from_native, found))


def code_answers(
    rows: Rows, reading: Reading
) -> tuple[CodedCells, nw.DataFrame[Any], Sequence[str]]:
    """Survey the rows and read each distinct cell once; return also what else `survey` does."""
    surveyed, cells, tidy = survey(rows)

    def place(position: int) -> str:
        return _place(rows, [*cells["answer"].to_list(), None][position])

    return code_cells(surveyed, reading, name=rows.name, place=place), cells, tidy


def find_repeats(rows: CodedRows) -> Repeats:
    """Count the pairs of unit and rater with more than one annotation, and name a few."""
    import narwhals as nw

    repeated = _repeated(rows.frame)
    n = int(fetch(repeated.select(nw.len().alias("n")), rows.engine)["n"][0])
    if not n:
        return Repeats(0, [])
    few = fetch(repeated.sort("unit", "rater").head(3), rows.engine)
    found = few.select("unit", "rater", "times").iter_rows()
    return Repeats(n, [(id_of_text(unit), id_of_text(rater), n) for unit, rater, n in found])


def has_repeats(pieces: Sequence[nw.LazyFrame[Any]], engine: Engine) -> bool:
    """Return whether a pair of unit and rater occurs more than once."""
    return any(len(fetch(_repeated(piece, "who").head(1), engine)) for piece in pieces)


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


def _repeated(frame: nw.LazyFrame[Any], rater: str = "rater") -> nw.LazyFrame[Any]:
    """Return the pairs of unit and rater with more than one annotation, and how many times."""
    import narwhals as nw

    pairs = frame.group_by("unit", rater).agg(nw.len().alias("times"))
    return pairs.filter(nw.col("times") > 1)


MANY_VALUES = 5_000
"""Values from which most units have a pattern of their own, so that lists take less time."""


def find_patterns(
    pieces: Sequence[nw.LazyFrame[Any]], engine: Engine, numbers: Numbers
) -> Tally | None:
    """Return the tally of the patterns, whose values and raters are codes.

    Units with equal fingerprints (their number of ratings, and the sums of their numbers) have one
    pattern; one unit represents each, and only the ratings of these units are fetched. If there are
    many values, an engine that can groups the units by the sorted list of their codes instead.

    None if a rater rated a unit twice: the sum of m powers of two has m bits exactly if they
    differ.
    """
    if isinstance(engine, DuckDB) and len(numbers.of_values["code"]) >= MANY_VALUES:
        tally = _listed_patterns(pieces, engine, numbers)
    else:
        tally = _represented_patterns(pieces, engine, numbers)
    return None if tally is None or (tally.given and tally.given.has_repeats()) else tally


def _listed_patterns(
    pieces: Sequence[nw.LazyFrame[Any]], engine: DuckDB, numbers: Numbers
) -> Tally | None:
    import narwhals as nw

    # Keys below 2^63: values times raters.
    key = f"code * {numbers.n_raters}::BIGINT + who" if numbers.keep_raters else "code::INTEGER"
    tallies = []
    for piece in pieces:
        grouped = engine.grouped(piece.to_native(), key, is_marked=bool(numbers.marks))
        table = fetch(nw.from_native(grouped), engine)
        if table["repeated"].any():
            return None
        tallies.append(tally_of_lists(table, numbers))
    return merge_all(tallies)


def _represented_patterns(
    pieces: Sequence[nw.LazyFrame[Any]], engine: Engine, numbers: Numbers
) -> Tally | None:
    import narwhals as nw

    fingerprint = ("size", *numbers.names)
    known, one = (*fingerprint, "times", *numbers.marks), nw.col("unit").min()
    found = [_fingerprints(piece, engine, numbers).to_native() for piece in pieces]
    patterns = nw.from_native(engine.kept(found))
    if len(found) > 1:
        marks = [nw.col(mark).any() for mark in numbers.marks]
        patterns = patterns.group_by(*fingerprint).agg(nw.col("times").sum(), one, *marks)
        patterns = nw.from_native(engine.kept([patterns.to_native()]))
    entries = []
    for piece in pieces:
        answers = piece.select("unit", *numbers.keys).join(patterns, on="unit", how="inner")
        counts = answers.group_by(*known, *numbers.keys).agg(nw.len().alias("count"))
        entries.append(fetch(counts, engine))
    table = nw.concat(entries)
    repeated = any(table[mark].any() for mark in numbers.marks)
    return None if repeated else tally_of_entries(table, fingerprint)


def _fingerprints(piece: nw.LazyFrame[Any], engine: Engine, numbers: Numbers) -> nw.LazyFrame[Any]:
    """Return the fingerprints of the units, with the number of units and the first unit of each.

    With marks, a column for whether a rater rated one of these units twice is included.
    """
    import narwhals as nw

    names = numbers.names
    frame = join_small(piece, engine, table_of(numbers.of_values, engine), "code")
    if numbers.of_raters is not None:
        frame = join_small(frame, engine, table_of(numbers.of_raters, engine), "who")
    if numbers.keep_raters:
        mixed = [(nw.col(name) * nw.col(f"{name}_of_rater")) % PRIME for name in names]
        frame = frame.with_columns(*(one.alias(n) for one, n in zip(mixed, names, strict=True)))
    # The remainder keeps the sums of units with millions of ratings within 64 bits. Marks of raters
    # without repeats add up to less, so that theirs is the sum itself.
    sums = [(nw.col(name).sum() % 2**62).cast(nw.Int64) for name in (*names, *numbers.marks)]
    units = frame.group_by("unit").agg(nw.len().alias("size"), *sums)
    for mark in numbers.marks:
        units = _by(engine.bit_count, units, mark)
    repeats = [(nw.col(mark) != nw.col("size")).any() for mark in numbers.marks]
    times, one = nw.len().alias("times"), nw.col("unit").min()
    return units.group_by("size", *names).agg(times, one, *repeats)


def _plain(column: nw.Expr, dtype: Any) -> nw.Expr:
    """Return categories and whole numbers of 128 bits as text, and no number as missing."""
    import narwhals as nw

    if dtype == nw.Categorical or dtype == nw.Enum or is_long(dtype):
        return column.cast(nw.String)
    if dtype.is_float():
        return nw.when(~column.is_nan()).then(column)
    return column


def is_long(dtype: Any) -> bool:
    """Return whether a type is one of whole numbers of 128 bits."""
    import narwhals as nw

    return dtype in {nw.Int128, nw.UInt128}


def _by(change: Any, frame: nw.LazyFrame[Any], column: str) -> nw.LazyFrame[Any]:
    import narwhals as nw

    return nw.from_native(change(frame.to_native(), column))  # type: ignore[no-any-return]


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


Ints = npt.NDArray[np.int64]


def table_of(columns: Mapping[str, Ints], engine: Engine) -> nw.DataFrame[Any]:
    """Return whole numbers as a table that goes up to an engine."""
    import narwhals as nw

    made = [nw.new_series(n, v, nw.Int64, backend=engine.home) for n, v in columns.items()]
    return made[0].to_frame().with_columns(*made[1:])


def join_small(
    frame: nw.LazyFrame[Any], engine: Engine, table: nw.DataFrame[Any], on: str
) -> nw.LazyFrame[Any]:
    """Return the rows with what a small table, whose first column is `on`, knows of it."""
    import narwhals as nw

    uploaded = nw.from_native(engine.upload(frame.to_native(), table.to_native()))
    return frame.join(uploaded, on=on, how="inner")


_SEED = 1
# The sums of the marks of more would not fit in 64 bits for as many ratings of a unit as others.
_MOST_MARKED = 40


@dataclass(frozen=True)
class Roster:
    """Who gave annotations: each ``rater`` in the order of the codes, and how many ``times``."""

    found: nw.DataFrame[Any]

    @cached_property
    def names(self) -> list[Any]:
        """The raters."""
        return as_pandas(self.found, ["rater"])["rater"].tolist()  # which keeps nanoseconds

    @cached_property
    def totals(self) -> Ints:
        """How many annotations each gave."""
        return self.found["times"].to_numpy().astype(np.int64)

    @property
    def is_short(self) -> bool:
        """Whether each rater can have a power of two."""
        return len(self.names) <= _MOST_MARKED

    def number(self, rows: CodedRows) -> CodedRows:
        """Give every row the code ``who`` of its rater."""
        who = table_of({"who": np.arange(len(self.names))}, rows.engine)["who"]
        table = self.found.select("rater").with_columns(who)
        return CodedRows(join_small(rows.frame, rows.engine, table, "rater"), rows.engine)

    def numbers(self, coded: CodedCells, *, marked: bool, keep_raters: bool) -> Numbers:
        """Return what fingerprints add up: numbers of values, and those of raters where asked for.

        To keep raters, the numbers of rater and value are multiplied modulo a prime; three of them
        make a fingerprint.
        """
        numbers = coded.numbers(keep_raters=keep_raters)
        names, n = ("one", "two", "three")[: numbers.shape[1]], len(self.names)
        of_values = {"code": np.arange(len(numbers)), **dict(zip(names, numbers.T, strict=True))}
        of_raters = {"who": np.arange(n)}
        if keep_raters:
            own = np.random.default_rng(_SEED).integers(PRIME, size=(n, len(names)))
            of_raters |= {f"{name}_of_rater": own[:, k] for k, name in enumerate(names)}
        elif marked:
            of_raters["mark"] = 2 ** np.arange(n)
        return Numbers(of_values, of_raters if len(of_raters) > 1 else None, keep_raters)

    def name(self, tally: Tally) -> Tally:
        """Return a tally whose raters are codes with their names, checked to count each rating."""
        if tally.given is None:
            return tally
        given = tally.given
        times = tally.multiplicity[given.rows]
        totals = np.bincount(given.rater_codes, times, len(self.names))
        wrong = np.flatnonzero(totals != self.totals)
        if wrong.size:
            raise DataError(
                f"the patterns hold {totals.sum():,.0f} annotations of raters and the rows "
                f"{self.totals.sum():,} ({counted(wrong.size, 'rater')} differ), so there is no "
                "result: did the table change while it was read?"
            )
        return replace(tally, given=replace(given, raters=as_objects(self.names)))


def find_raters(rows: CodedRows) -> Roster:
    """Return who gave annotations."""
    import narwhals as nw

    counts = rows.frame.group_by("rater").agg(nw.len().alias("times"))
    return Roster(fetch(counts, rows.engine).sort("rater"))

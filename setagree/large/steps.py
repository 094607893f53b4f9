"""Steps of the reduction of a table, for all engines that narwhals supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from setagree.checks import Ints
from setagree.errors import DataError, option, shorten
from setagree.large.engines import DuckDB, Engine, fetch
from setagree.large.patterns import (
    PRIME,
    CodedCells,
    Numbers,
    Repeats,
    Survey,
    check_totals,
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

# All characters that str.strip removes.
SPACE = "".join(map(chr, [*range(9, 14), *range(28, 33), 133, 160, 5760, *range(8192, 8203)]))
SPACE += "\u2028\u2029\u202f\u205f\u3000"


@dataclass(frozen=True)
class Rows:
    """The rows of a study in an engine, with the columns ``unit``, ``rater`` and ``answer``.

    If identifiers are text, ``written_unit`` and ``written_rater`` are the original texts, and
    ``odd_unit`` and ``odd_rater`` whether these may differ from the tidied ones. `name` is the
    original name of the column of answers, and `order` its ordered categories. Answers are text for
    lists, written as JSON (`in_json`), and for whole numbers of 128 bits (`long`).
    """

    frame: nw.LazyFrame[Any]
    engine: Engine
    name: str
    in_json: bool
    long: bool = False
    order: tuple[Any, ...] = ()


@dataclass(frozen=True)
class CodedRows:
    """Annotations in an engine: ``unit``, ``rater``, ``code``, and ``who`` after numbering."""

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
    """Return the three columns, with tidied identifiers and lists as text.

    `columns` are the columns of the roles unit, rater and answer, and `names` their original names.
    With `in_json`, answers are already JSON. Answers of the `kind` "value" may be whole numbers of
    128 bits, which are fetched as text. `order` has the ordered categories of the answers if the
    type of the column does not.
    """
    import narwhals as nw

    schema = frame.collect_schema()
    long = kind == "value" and is_long(schema[columns["answer"]])
    order = order or tuple(getattr(schema[columns["answer"]], "categories", ()))  # of an Enum
    for role, column in columns.items():
        if role != "answer" or not long:
            check_type(role, (names or columns)[role], schema[column])
    picked = frame.select(**{r: _plain(nw.col(c), schema[c]) for r, c in columns.items()})
    dtypes = picked.collect_schema()
    texts = [role for role in ("unit", "rater") if dtypes[role] == nw.String]
    if texts:
        picked = picked.with_columns(*(nw.col(role).alias(f"written_{role}") for role in texts))
        for role in texts:
            picked = _by(engine.composed, _by(engine.odd, picked, role), role)
    if texts and not engine.tidies:
        stripped = {
            role: nw.when(nw.col(f"odd_{role}"))
            .then(nw.col(role).str.strip_chars(SPACE))
            .otherwise(nw.col(role))
            for role in texts
        }
        picked = picked.with_columns(**stripped)
    lists = isinstance(dtypes["answer"], nw.List | nw.Array)
    if lists:
        picked = _by(engine.as_json, picked, "answer")
    name = (names or columns)["answer"]
    return Rows(picked, engine, name, in_json or lists, long, order)


def check_type(role: str, column: str, dtype: Any) -> None:
    """Raise an error for types that engines compare or return differently than tables in memory."""
    import narwhals as nw

    def plain(dtype: Any) -> bool:
        return (dtype.is_integer() and not is_long(dtype)) or any(
            dtype == kind for kind in (nw.String, nw.Categorical, nw.Enum, nw.Boolean)
        )

    others = (nw.Float32, nw.Float64, nw.Decimal, nw.Date, nw.Time, nw.Datetime, nw.Binary)
    is_rounded = isinstance(dtype, nw.Datetime) and dtype.time_unit == "ns"
    if any(dtype == kind for kind in others) and (role != "answer" or not is_rounded):
        return
    lists = role == "answer" and isinstance(dtype, nw.List | nw.Array)
    if plain(dtype) or (lists and plain(dtype.inner)):
        return
    raise DataError(
        f"column {column!r} holds {dtype}, which engines do not compare as memory does, so that it "
        f"cannot be the {role}; make it text or numbers first, or read the table into memory (for "
        f"files, without {option('memory_limit')} and similar options)."
    )


def survey(rows: Rows) -> tuple[Survey, nw.DataFrame[Any], list[str]]:
    """Count the rows of each distinct answer, and those without a unit or a rater.

    Return the survey, its cells as a table of the engine, and the roles whose original texts are
    tidy in every row.
    """
    import narwhals as nw

    roles = ("unit", "rater")
    dtypes = rows.frame.collect_schema()
    texts = [role for role in roles if f"written_{role}" in dtypes]
    # Missing, or text that may not be tidy.
    bad = {role: nw.col(role).is_null() for role in roles}
    bad |= {role: bad[role] | nw.col(f"odd_{role}") for role in texts}
    tests = [test.any().alias(f"bad_{role}") for role, test in bad.items()]
    floats = [role for role in roles if dtypes[role].is_float()]
    largest = [nw.col(role).abs().max().cast(nw.Float64).alias(f"max_{role}") for role in floats]
    counts = rows.frame.group_by("answer").agg(nw.len().alias("times"), *tests, *largest)
    table = fetch(counts, rows.engine)
    present = table.filter(~nw.col("answer").is_null()).sort("answer")
    listed = present["answer"].to_list()
    times = present["times"].to_numpy().astype(np.int64)
    n_null = int(table["times"].sum() or 0) - int(times.sum())
    odd = [role for role in roles if table[f"bad_{role}"].any()]
    n_bad, changed = _untidy(rows, [role for role in odd if role in texts], odd)
    inexact = tuple(role for role in floats if (table[f"max_{role}"].max() or 0) >= EXACT)
    cells = list(map(rows.engine.from_json, listed)) if rows.in_json else listed
    cells = list(map(int, cells)) if rows.long else cells
    tidy = [role for role in texts if role not in changed]
    surveyed = Survey(cells, times, n_null, n_bad, inexact, rows.order)
    return surveyed, present.select("answer"), tidy


def _untidy(
    rows: Rows, texts: Sequence[str], roles: Sequence[str]
) -> tuple[dict[str, int], list[str]]:
    """Return the numbers of rows without a unit or a rater, and the roles with untidy text."""
    import narwhals as nw

    n_bad = {"unit": 0, "rater": 0}
    if not roles:
        return n_bad, []
    bad = {role: nw.col(role).is_null() for role in roles}
    bad |= {role: bad[role] | (nw.col(role) == "") for role in texts}
    # Some databases cannot cast booleans to numbers.
    ones = {role: nw.when(test).then(nw.lit(1)).otherwise(nw.lit(0)) for role, test in bad.items()}
    sums = [terms.sum().alias(f"no_{role}") for role, terms in ones.items()]
    changed = {role: (nw.col(role) != nw.col(f"written_{role}")).any() for role in texts}
    sums += [change.alias(f"changed_{role}") for role, change in changed.items()]
    counts = fetch(rows.frame.select(*sums), rows.engine)
    n_bad |= {role: int(counts[f"no_{role}"][0] or 0) for role in roles}
    return n_bad, [role for role in texts if counts[f"changed_{role}"][0]]


def code_rows(
    rows: Rows, cells: nw.DataFrame[Any], coded: CodedCells, tidy: Sequence[str] = ()
) -> CodedRows:
    """Return the rows with the codes of their values, without missing annotations.

    Tidy identifiers are replaced by the original texts, so that no later step tidies them again.
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


def without_blank_rows(rows: Rows) -> Rows:
    """Return the rows that have a unit, a rater or an answer."""
    import narwhals as nw

    dtypes = rows.frame.collect_schema()
    filled = [~nw.col(name).is_null() & (nw.col(name) != "") if dtypes[name] == nw.String
              else ~nw.col(name).is_null() for name in ("unit", "rater", "answer")]  # fmt: skip
    return replace(rows, frame=rows.frame.filter(nw.any_horizontal(*filled, ignore_nulls=True)))


def code_answers(
    rows: Rows, reading: Reading
) -> tuple[CodedCells, nw.DataFrame[Any], Sequence[str]]:
    """Return the coded distinct cells of the rows, and the further results of `survey`."""
    surveyed, cells, tidy = survey(rows)

    def place(position: int) -> str:
        return _place(rows, [*cells["answer"].to_list(), None][position])

    return code_cells(surveyed, reading, name=rows.name, place=place), cells, tidy


def find_repeats(rows: CodedRows) -> Repeats:
    """Return the number of pairs of unit and rater with several annotations, and a few of them."""
    import narwhals as nw

    repeated = _repeated(rows.frame)
    n = int(fetch(repeated.select(nw.len().alias("n")), rows.engine)["n"][0])
    if not n:
        return Repeats(0, [])
    few = fetch(repeated.sort("unit", "rater").head(3), rows.engine)
    pairs = few.select("unit", "rater", "times").iter_rows()
    return Repeats(n, [(id_of_text(unit), id_of_text(rater), n) for unit, rater, n in pairs])


def has_repeats(pieces: Sequence[nw.LazyFrame[Any]], engine: Engine) -> bool:
    """Return whether a pair of unit and rater occurs more than once."""
    return any(len(fetch(_repeated(piece, "who").head(1), engine)) for piece in pieces)


def places_of_repeat(rows: CodedRows, parts: Sequence[CodedRows]) -> list[int]:
    """Return the positions of the parts with the first repeated pair of `find_repeats`."""
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
    """Return the pairs of unit and rater with several annotations, and their numbers."""
    import narwhals as nw

    pairs = frame.group_by("unit", rater).agg(nw.len().alias("times"))
    return pairs.filter(nw.col("times") > 1)


def find_patterns(
    pieces: Sequence[nw.LazyFrame[Any]], engine: Engine, numbers: Numbers
) -> Tally | None:
    """Return the tally of the patterns, whose values and raters are codes.

    DuckDB groups the units by the sorted list of their codes. Other engines group them by
    fingerprint: their number of ratings, and the sums of their numbers.

    Return None if a rater rated a unit twice: the sum of m powers of two has m bits if and only if
    they are distinct.
    """
    if isinstance(engine, DuckDB):
        tally = _listed_patterns(pieces, engine, numbers)
    else:
        (rows,) = pieces
        tally = _represented_patterns(rows, engine, numbers)
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
    rows: nw.LazyFrame[Any], engine: Engine, numbers: Numbers
) -> Tally | None:
    """Return the tally; one unit represents each pattern, and only its ratings are fetched."""
    import narwhals as nw

    fingerprint = ("size", *numbers.names)
    patterns = _fingerprints(rows, engine, numbers)
    answers = rows.select("unit", *numbers.keys).join(patterns, on="unit", how="inner")
    columns = (*fingerprint, "times", *numbers.marks, *numbers.keys)
    table = fetch(answers.group_by(*columns).agg(nw.len().alias("count")), engine)
    repeated = any(table[mark].any() for mark in numbers.marks)
    return None if repeated else tally_of_entries(table, fingerprint)


def _fingerprints(rows: nw.LazyFrame[Any], engine: Engine, numbers: Numbers) -> nw.LazyFrame[Any]:
    """Return the fingerprints of the units, with the number of units and the first unit of each.

    With marks, a column for whether a rater rated one of these units twice is included.
    """
    import narwhals as nw

    names = numbers.names
    frame = join_small(rows, engine, table_of(numbers.of_values, engine), "code")
    if numbers.of_raters is not None:
        frame = join_small(frame, engine, table_of(numbers.of_raters, engine), "who")
    if numbers.keep_raters:
        mixed = [(nw.col(name) * nw.col(f"{name}_of_rater")) % PRIME for name in names]
        frame = frame.with_columns(*(term.alias(n) for term, n in zip(mixed, names, strict=True)))
    # The remainder keeps the sums of units with millions of ratings within 64 bits. The sum of
    # distinct marks is smaller, so that it is unchanged.
    sums = [(nw.col(name).sum() % 2**62).cast(nw.Int64) for name in (*names, *numbers.marks)]
    units = frame.group_by("unit").agg(nw.len().alias("size"), *sums)
    for mark in numbers.marks:
        units = _by(engine.bit_count, units, mark)
    repeats = [(nw.col(mark) != nw.col("size")).any() for mark in numbers.marks]
    times, first_unit = nw.len().alias("times"), nw.col("unit").min()
    return units.group_by("size", *names).agg(times, first_unit, *repeats)


def _plain(column: nw.Expr, dtype: Any) -> nw.Expr:
    """Return categories and whole numbers of 128 bits as text, and NaN as missing."""
    import narwhals as nw

    if dtype == nw.Categorical or dtype == nw.Enum or is_long(dtype):
        return column.cast(nw.String)
    if dtype.is_float():
        return nw.when(~column.is_nan()).then(column)
    return column


def is_long(dtype: Any) -> bool:
    """Return whether a type has whole numbers of 128 bits."""
    import narwhals as nw

    return dtype in {nw.Int128, nw.UInt128}


def _by(change: Any, frame: nw.LazyFrame[Any], column: str) -> nw.LazyFrame[Any]:
    import narwhals as nw

    return nw.from_native(change(frame.to_native(), column))  # type: ignore[no-any-return]


def _nulls_as_blanks(rows: Rows, cells: nw.DataFrame[Any]) -> tuple[Rows, nw.DataFrame[Any]]:
    """Return rows and cells with nulls as blank text, which does not occur otherwise."""
    import narwhals as nw

    blank = '""' if rows.in_json else ""
    texts = [*cells["answer"].to_list(), blank]
    series = nw.new_series("answer", texts, nw.String, backend=rows.engine.home)
    filled = nw.col("answer").cast(nw.String).fill_null(blank)
    return replace(rows, frame=rows.frame.with_columns(filled)), series.to_frame()


def _place(rows: Rows, answer: object) -> str:
    """Return the first place of an answer, or of a null if `answer` is None, for an error."""
    import narwhals as nw

    cell = nw.col("answer")
    test = cell.is_null() if answer is None else cell == answer
    first = rows.frame.filter(test).select("unit", "rater").head(1)
    unit, rater = next(iter(fetch(first, rows.engine).iter_rows()), ("?", "?"))
    return f"Unit {shorten(id_of_text(unit))}, rater {shorten(id_of_text(rater))}"


def table_of(columns: Mapping[str, Ints], engine: Engine) -> nw.DataFrame[Any]:
    """Return whole numbers as a table that an engine can upload."""
    import narwhals as nw

    series = [nw.new_series(n, v, nw.Int64, backend=engine.home) for n, v in columns.items()]
    return series[0].to_frame().with_columns(*series[1:])


def join_small(
    frame: nw.LazyFrame[Any], engine: Engine, table: nw.DataFrame[Any], on: str
) -> nw.LazyFrame[Any]:
    """Return the rows joined with a small table, whose first column is `on`."""
    import narwhals as nw

    uploaded = nw.from_native(engine.upload(frame.to_native(), table.to_native()))
    return frame.join(uploaded, on=on, how="inner")


_SEED = 1
# With more marks, their sums over a unit with many ratings would exceed 64 bits.
_MAX_MARKED = 40


@dataclass(frozen=True)
class Roster:
    """Raters in the order of their codes (``rater``), and their numbers of ratings (``times``)."""

    table: nw.DataFrame[Any]

    @cached_property
    def names(self) -> list[Any]:
        """The raters."""
        return as_pandas(self.table, ["rater"])["rater"].tolist()  # as_pandas keeps nanoseconds

    @cached_property
    def totals(self) -> Ints:
        """Number of annotations of each rater."""
        return self.table["times"].to_numpy().astype(np.int64)

    @property
    def is_short(self) -> bool:
        """Whether each rater can have a power of two."""
        return len(self.names) <= _MAX_MARKED

    def number(self, rows: CodedRows) -> CodedRows:
        """Return the rows with the code ``who`` of their rater."""
        who = table_of({"who": np.arange(len(self.names))}, rows.engine)["who"]
        table = self.table.select("rater").with_columns(who)
        return CodedRows(join_small(rows.frame, rows.engine, table, "rater"), rows.engine)

    def numbers(self, coded: CodedCells, *, marked: bool, keep_raters: bool) -> Numbers:
        """Return the random numbers of values for fingerprints, and those of raters if needed.

        To keep raters, the numbers of rater and value are multiplied modulo `PRIME`, and a
        fingerprint has three of them.
        """
        numbers = coded.numbers(keep_raters=keep_raters)
        names, n = ("one", "two", "three")[: numbers.shape[1]], len(self.names)
        of_values = {"code": np.arange(len(numbers)), **dict(zip(names, numbers.T, strict=True))}
        of_raters = {"who": np.arange(n)}
        if keep_raters:
            random = np.random.default_rng(_SEED).integers(PRIME, size=(n, len(names)))
            of_raters |= {f"{name}_of_rater": random[:, k] for k, name in enumerate(names)}
        elif marked:
            of_raters["mark"] = 2 ** np.arange(n)
        return Numbers(of_values, of_raters if len(of_raters) > 1 else None, keep_raters)

    def name(self, tally: Tally) -> Tally:
        """Return a tally with names instead of codes of raters, and with checked counts."""
        if tally.given is None:
            return tally
        pattern_raters = tally.given
        times = tally.multiplicity[pattern_raters.rows]
        totals = np.bincount(pattern_raters.rater_codes, times, len(self.names))
        check_totals(totals, self.totals, "rater")
        return replace(tally, given=replace(pattern_raters, raters=as_objects(self.names)))


def find_raters(rows: CodedRows) -> Roster:
    """Return the raters with an annotation."""
    import narwhals as nw

    counts = rows.frame.group_by("rater").agg(nw.len().alias("times"))
    return Roster(fetch(counts, rows.engine).sort("rater"))

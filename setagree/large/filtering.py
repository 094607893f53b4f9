"""Rows that match a condition, found where the table is, as memory finds them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from setagree.checks import check_cost
from setagree.errors import DataError, counted, option
from setagree.large.engines import Engine, fetch, find_engine
from setagree.study.frames import as_pandas, column_names
from setagree.study.numbers import exact
from setagree.study.where import YES, Counts, Key, Where, kept_rows, some_held

if TYPE_CHECKING:
    import narwhals as nw

CELL = "setagree_where"
# Types of DuckDB that narwhals has no name for, and that DuckDB writes as text in full.
_NAMELESS = {"UUID", "TIMESTAMPTZ_NS", "TIME_NS"}
_BYTES = 300
_BITS = {"Int8": 8, "Int16": 16, "Int32": 32, "Int64": 64}


@dataclass(frozen=True)
class Matching:
    """What tells the rows that match, in every part of a table.

    `cells` is a native frame of the cells that match, each once; where there is none, an expression
    tells.
    """

    where: Where
    column: str
    counts: Counts
    cells: Any = None

    def kept(self, frame: nw.LazyFrame[Any], engine: Engine) -> nw.LazyFrame[Any]:
        """Return the rows of a table, or of a part of one, that match."""
        import narwhals as nw

        names = frame.collect_schema()
        if self.cells is None:
            return frame.filter(_matches(self.where, self.column, names[self.column]))
        keyed = frame.with_columns(_cell(self.column, names[self.column]))
        uploaded = nw.from_native(engine.upload(keyed.to_native(), self.cells))
        return keyed.join(uploaded, on=CELL, how="semi").select(*names)


def find_matching(frame: nw.LazyFrame[Any], engine: Engine, where: Where, column: str) -> Matching:
    """Return what tells the rows of a lazy table that match a condition.

    Numbers are compared in the engine. Of all else, which no two engines compare or convert alike,
    each distinct cell is read once, by the rule of tables in memory.

    Raises
    ------
    DataError
        The column holds lists or objects, or no row matches.
    CostError
        It has too many distinct cells.
    """
    import narwhals as nw

    dtype = frame.collect_schema()[column]
    if not _is_comparable(dtype) and not _is_nameless(frame, engine, column):
        raise DataError(
            f"{option('where', where.text)}: column {column!r} holds {dtype}; only text, numbers, "
            "flags and dates are compared."
        )
    if dtype.is_float() or (dtype.is_integer() and "128" not in str(dtype)):
        counts = _count(frame, engine, where, column)
        counts.check(where)
        return Matching(where, column, counts)
    keyed = frame.select(_cell(column, dtype))
    n_distinct = int(fetch(keyed.select(nw.col(CELL).n_unique()), engine)[CELL][0] or 0)
    check_cost(
        f"{option('where', where.text)} on {counted(n_distinct, 'distinct cell')} of column "
        f"{column!r}",
        n_bytes=_BYTES * n_distinct,
        instead="Filter the table in its own engine, or by a column of fewer distinct cells.",
    )
    found = fetch(keyed.group_by(CELL).agg(nw.len().alias("times")), engine)
    column_of_cells = as_pandas(found, [CELL])[CELL]  # to the nanosecond, as in memory
    verdicts = where.of_column(column_of_cells)
    counts = Counts.of(verdicts, column_of_cells, found["times"].to_numpy().astype(np.int64))
    counts.check(where)
    cells = found.filter((verdicts == YES).tolist()).select(CELL).to_native()
    return Matching(where, column, counts, cells)


def kept_lazy(
    frame: nw.LazyFrame[Any], engine: Engine, where: Where, column: str
) -> nw.LazyFrame[Any]:
    """Return the rows of a lazy table that match; warn how many do not."""
    matching = find_matching(frame, engine, where, column)
    matching.counts.warn_dropped(where)
    return matching.kept(frame, engine)


def kept_where(frame: Any, where: Where) -> Any:
    """Return the rows of a table in memory or a lazy one that match; warn how many do not."""
    if (engine := find_engine(frame)) is None:
        return kept_rows(frame, where)
    return kept_lazy(frame, engine, where, where.found_in(column_names(frame)))


def kept_part(
    part: pd.DataFrame, where: Where, column: Any, roles: Mapping[str, Any]
) -> tuple[pd.DataFrame, Counts]:
    """Return the columns of the roles of the rows that match, and how many there are."""
    verdicts = where.of_column(part[column])
    picked = part.loc[verdicts == YES, list(roles.values())]
    counts = Counts.of(verdicts, part[column])
    return picked.rename(columns={n: role for role, n in roles.items()}), counts


def _cell(column: str, dtype: Any) -> nw.Expr:
    """Return the column to join on: what engines do not hand over as it is becomes text."""
    import narwhals as nw

    as_text = dtype.is_integer() or any(
        dtype == one for one in (nw.Categorical, nw.Enum, nw.Unknown)
    )
    cell = nw.col(column).cast(nw.String) if as_text else nw.col(column)
    return cell.alias(CELL)


def _is_nameless(frame: nw.LazyFrame[Any], engine: Engine, column: str) -> bool:
    """Say whether only narwhals, and not DuckDB, has no name for the type of a column."""
    if engine.name != "DuckDB":
        return False
    native = frame.to_native()
    return str(native.types[native.columns.index(column)]) in _NAMELESS


def _is_comparable(dtype: Any) -> bool:
    import narwhals as nw

    others = (nw.String, nw.Categorical, nw.Enum, nw.Boolean, nw.Date, nw.Time, nw.Datetime)
    return dtype.is_numeric() or any(dtype == one for one in others)


def _count(frame: nw.LazyFrame[Any], engine: Engine, where: Where, column: str) -> Counts:
    import narwhals as nw

    dtype = frame.collect_schema()[column]
    null = nw.col(column).is_null()
    null = null | nw.col(column).is_nan() if dtype.is_float() else null
    matched = _matches(where, column, dtype)
    tests = {"null": null, "kept": matched}
    sums = [nw.when(test).then(1).otherwise(0).sum().alias(n) for n, test in tests.items()]
    found = fetch(frame.select(nw.len().alias("n"), *sums), engine)
    n, n_kept, n_null = (int(found[name][0] or 0) for name in ("n", "kept", "null"))
    if n_kept:
        return Counts(n, n_kept, n_null)
    few = fetch(frame.select(column).filter(~null).head(1000), engine)
    return Counts(n, n_kept, n_null, some_held(few[column].to_list()))


def _matches(where: Where, column: str, dtype: Any) -> nw.Expr:
    """Return the test of a column of numbers, which is never null."""
    import narwhals as nw

    cell = nw.col(column)
    some = ~cell.is_null()
    if dtype.is_float():
        some = some & ~cell.is_nan()
        cell = cell.cast(nw.Float64)
    tests = [_test(cell, where.operator, key, dtype) for key in where.keys]
    return some & reduce(or_, tests)


def _test(cell: nw.Expr, sign: str, key: Key, dtype: Any) -> nw.Expr:
    """Return the test against one value, of which the column's own type may have none."""
    import narwhals as nw

    if isinstance(key, str):
        return nw.lit(sign == "!=")
    below, above = _neighbours(key, dtype)
    if sign in {"==", "!=", "in"}:
        known = below is not None and below == above
        same = cell == below if known else nw.lit(False)  # noqa: FBT003 - narwhals has it so
        return ~same if sign == "!=" else same
    # x < key says that x is less than the least number that is no less than key, and so on.
    bound = above if sign in {"<", ">="} else below
    if bound is None:  # it is beyond all numbers of the type
        return nw.lit((sign in {"<", "<="}) == (below is not None))
    tests = {"<": cell < bound, "<=": cell <= bound, ">": cell > bound, ">=": cell >= bound}
    return tests[sign]


def _neighbours(key: Fraction | float, dtype: Any) -> tuple[float | None, float | None]:
    """Return the greatest number of a type up to a key, and the least from it on; None for none."""
    if dtype.is_float():
        return _float_neighbours(key)
    name = str(dtype)
    bits = _BITS[name.removeprefix("U")]
    least, most = (
        (0, 2**bits - 1) if name.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
    if key > most:
        return most, None
    if key < least:
        return None, least
    return math.floor(key), math.ceil(key)


def _float_neighbours(key: Fraction | float) -> tuple[float, float]:
    if isinstance(key, float):  # infinity
        return key, key
    try:
        near = float(key)
    except OverflowError:
        near = math.inf if key > 0 else -math.inf
    own = near if math.isinf(near) else exact(near if not near.is_integer() else int(near))
    below = near if own <= key else math.nextafter(near, -math.inf)
    return below, near if own >= key else math.nextafter(near, math.inf)

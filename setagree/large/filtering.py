"""Rows of lazy tables that match a condition, by the same rules as in memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from setagree.study.row_filter import (
    NO,
    NO_ROWS,
    NULL,
    YES,
    Condition,
    Counts,
    Key,
    Where,
    example_cells,
    kept_rows,
)

if TYPE_CHECKING:
    import narwhals as nw

CELL, VERDICT = "setagree_cell", "setagree_verdict"
# Types of DuckDB that narwhals has no name for, and that DuckDB writes as text in full.
_NAMELESS = {"UUID", "TIMESTAMPTZ_NS", "TIME_NS"}
_BYTES = 300
_BITS = {"Int8": 8, "Int16": 16, "Int32": 32, "Int64": 64}


@dataclass(frozen=True)
class Matching:
    """How the rows that match are found in any part of a lazy table.

    Attributes
    ----------
    where : Where
        The conditions.
    columns : tuple of str
        The column of each condition.
    cells : tuple
        For each condition a native frame of the distinct cells of its column with their verdicts,
        or None if the engine compares numbers itself.
    counts : Counts
        The counts of the whole table.
    """

    where: Where
    columns: tuple[str, ...]
    cells: tuple[Any, ...]
    counts: Counts = NO_ROWS

    def kept(self, frame: nw.LazyFrame[Any], engine: Engine) -> nw.LazyFrame[Any]:
        """Return the rows of a table, or of a part of one, that match."""
        import narwhals as nw

        names = frame.collect_schema()
        return self.judged(frame, engine).filter(nw.col(VERDICT) == YES).select(*names)

    def judged(self, frame: nw.LazyFrame[Any], engine: Engine) -> nw.LazyFrame[Any]:
        """Return a table with the verdict of each condition, and of the whole, on each row."""
        import narwhals as nw

        names = frame.collect_schema()
        for k, (condition, column) in enumerate(
            zip(self.where.conditions, self.columns, strict=True)
        ):
            verdict, cells = f"{VERDICT}_{k}", self.cells[k]
            if cells is None:
                each = _verdict(condition, column, names[column])
                frame = frame.with_columns(each.alias(verdict))
                continue
            cell = f"{CELL}_{k}"
            frame = frame.with_columns(_cell(column, names[column], cell))
            uploaded = nw.from_native(engine.upload(frame.to_native(), cells))
            # Cells that are null have no partner.
            known = nw.when(~nw.col(verdict).is_null()).then(nw.col(verdict)).otherwise(NULL)
            frame = frame.join(uploaded, on=cell, how="left").with_columns(known.alias(verdict))
        whole = self.where.combined(
            [nw.col(f"{VERDICT}_{k}") for k in range(len(self.columns))],
            least=nw.min_horizontal,
            most=nw.max_horizontal,
            minus=lambda verdict: 0 - verdict,
        )
        return frame.with_columns(whole.alias(VERDICT))


def find_matching(
    frame: nw.LazyFrame[Any], engine: Engine, where: Where, columns: Sequence[str]
) -> Matching:
    """Return how the rows of a lazy table that match a condition are found.

    Numbers are compared in the engine. No two engines compare or convert other types alike, so each
    distinct cell of these is read once, by the rule of tables in memory.

    Parameters
    ----------
    frame, engine
        The table.
    where : Where
        The condition.
    columns : sequence of str
        The column of the table for each of `where.columns`.

    Raises
    ------
    DataError
        A column holds lists or objects, or no row matches.
    CostError
        It has too many distinct cells.
    """
    import narwhals as nw

    named = dict(zip(where.columns, columns, strict=True))
    cells = tuple(
        _judged_cells(frame, engine, where, k, named[each.column])
        for k, each in enumerate(where.conditions)
    )
    found = Matching(where, tuple(named[each.column] for each in where.conditions), cells)
    verdicts = {"kept": (VERDICT, YES), "null": (VERDICT, NULL)}
    verdicts |= {f"alone_{k}": (f"{VERDICT}_{k}", YES) for k in range(len(cells))}
    sums = [
        nw.when(nw.col(column) == verdict).then(1).otherwise(0).sum().alias(name)
        for name, (column, verdict) in verdicts.items()
    ]
    totals = fetch(found.judged(frame, engine).select(nw.len().alias("n"), *sums), engine)
    n, *each = (int(totals[name][0] or 0) for name in ("n", *verdicts))
    counts = Counts(n, each[0], each[1], tuple(each[2:]))
    if n and not counts.n_kept and len(columns) == 1:
        counts = replace(counts, examples=_held(frame, engine, columns[0], cells[0]))
    counts.check(where)
    return replace(found, counts=counts)


def _judged_cells(
    frame: nw.LazyFrame[Any], engine: Engine, where: Where, k: int, column: str
) -> Any:
    """Return the distinct cells of a column with their verdicts by condition k.

    None if they are numbers, which the engine compares.
    """
    import narwhals as nw

    dtype = frame.collect_schema()[column]
    if not _is_comparable(dtype) and not _is_nameless(frame, engine, column):
        raise DataError(
            f"{option('where', where.text)}: column {where.conditions[k].column!r} holds {dtype}; "
            "only text, numbers, flags and dates are compared."
        )
    if dtype.is_float() or (dtype.is_integer() and dtype not in {nw.Int128, nw.UInt128}):
        return None
    cell = f"{CELL}_{k}"
    distinct = frame.select(_cell(column, dtype, cell)).filter(~nw.col(cell).is_null())
    n_distinct = int(fetch(distinct.select(nw.col(cell).n_unique()), engine)[cell][0] or 0)
    check_cost(
        f"{option('where', where.text)} on {counted(n_distinct, 'distinct cell')} of column "
        f"{where.conditions[k].column!r}",
        n_bytes=_BYTES * n_distinct,
        instead="Filter the table in its own engine, or by a column of fewer distinct cells.",
    )
    found = fetch(distinct.unique(), engine)
    # as_pandas keeps nanoseconds, as tables in memory do
    verdicts = where.conditions[k].verdicts(as_pandas(found, [cell])[cell])
    series = nw.new_series(
        f"{VERDICT}_{k}", verdicts.astype(np.int64), nw.Int64, backend=found.implementation
    )
    return found.with_columns(series).to_native()


def _held(frame: nw.LazyFrame[Any], engine: Engine, column: str, cells: Any) -> Any:
    """Return some cells of a column, for the error that no row matches."""
    import narwhals as nw

    if cells is not None:
        found = nw.from_native(cells)
        return example_cells(as_pandas(found, [found.columns[0]])[found.columns[0]])
    some = frame.select(column).filter(~nw.col(column).is_null())
    return example_cells(fetch(some.head(1000), engine)[column].to_list())


def kept_lazy(
    frame: nw.LazyFrame[Any], engine: Engine, where: Where, columns: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Return the rows of a lazy table that match; warn how many do not."""
    matching = find_matching(frame, engine, where, columns)
    matching.counts.warn_dropped(where)
    return matching.kept(frame, engine)


def kept_where(frame: Any, where: Where) -> Any:
    """Return the rows of a table in memory or a lazy one that match; warn how many do not."""
    if (engine := find_engine(frame)) is None:
        return kept_rows(frame, where)
    return kept_lazy(frame, engine, where, where.columns_in(column_names(frame)))


def kept_part(
    part: pd.DataFrame, where: Where, columns: Sequence[Any], roles: Mapping[str, Any]
) -> tuple[pd.DataFrame, Counts]:
    """Return the columns of the roles of the rows that match, and the counts."""
    kept, counts = where.match([part[column] for column in columns])
    picked = part.loc[kept, list(roles.values())]
    return picked.rename(columns={n: role for role, n in roles.items()}), counts


def _cell(column: str, dtype: Any, name: str) -> nw.Expr:
    """Return the column to join on. Types that engines do not hand over unchanged become text."""
    import narwhals as nw

    as_text = dtype.is_integer() or any(
        dtype == one for one in (nw.Categorical, nw.Enum, nw.Unknown)
    )
    cell = nw.col(column).cast(nw.String) if as_text else nw.col(column)
    return cell.alias(name)


def _is_nameless(frame: nw.LazyFrame[Any], engine: Engine, column: str) -> bool:
    """Return whether only narwhals, and not DuckDB, has no name for the type of a column."""
    if engine.name != "DuckDB":
        return False
    native = frame.to_native()
    return str(native.types[native.columns.index(column)]) in _NAMELESS


def _is_comparable(dtype: Any) -> bool:
    import narwhals as nw

    others = (nw.String, nw.Categorical, nw.Enum, nw.Boolean, nw.Date, nw.Time, nw.Datetime)
    return dtype.is_numeric() or any(dtype == one for one in others)


def _verdict(condition: Condition, column: str, dtype: Any) -> nw.Expr:
    """Return the verdict of a condition on a column of numbers."""
    import narwhals as nw

    cell = nw.col(column)
    null = cell.is_null()
    if dtype.is_float():
        null = null | cell.is_nan()
        cell = cell.cast(nw.Float64)
    matches = reduce(or_, [_test(cell, condition.operator, key, dtype) for key in condition.keys])
    judged = nw.when(matches).then(nw.lit(YES)).otherwise(nw.lit(NO))
    return nw.when(null).then(nw.lit(NULL)).otherwise(judged)


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
    """Return the nearest numbers of a type on both sides of a key, or None if there is none."""
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

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
from setagree.large.engines import Engine, fetch
from setagree.study.frames import as_pandas
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
)

if TYPE_CHECKING:
    import narwhals as nw

CELL, VERDICT = "setagree_cell", "setagree_verdict"
# Types of DuckDB that narwhals does not have, and that DuckDB converts to text without loss.
_EXTRA_TYPES = {"UUID", "TIMESTAMPTZ_NS", "TIME_NS"}
_BYTES = 300
_BITS = {"Int8": 8, "Int16": 16, "Int32": 32, "Int64": 64}


@dataclass(frozen=True)
class Matching:
    """Condition on a lazy table with the verdicts of its distinct cells.

    For each condition, `cells` is a native frame of the distinct cells of its column with their
    verdicts, or None if the engine compares numbers itself. `counts` are of the whole table.
    """

    where: Where
    columns: tuple[str, ...]
    cells: tuple[Any, ...]
    counts: Counts = NO_ROWS

    def kept(self, frame: nw.LazyFrame[Any], engine: Engine) -> nw.LazyFrame[Any]:
        """Return the matching rows of a table or of a part of it."""
        import narwhals as nw

        names = frame.collect_schema()
        return self.with_verdicts(frame, engine).filter(nw.col(VERDICT) == YES).select(*names)

    def with_verdicts(self, frame: nw.LazyFrame[Any], engine: Engine) -> nw.LazyFrame[Any]:
        """Return the table with the verdicts of each condition and of their combination."""
        import narwhals as nw

        names = frame.collect_schema()
        for k, (condition, column) in enumerate(
            zip(self.where.conditions, self.columns, strict=True)
        ):
            verdict, cells = f"{VERDICT}_{k}", self.cells[k]
            if cells is None:
                expression = _verdict(condition, column, names[column])
                frame = frame.with_columns(expression.alias(verdict))
                continue
            cell = f"{CELL}_{k}"
            frame = frame.with_columns(_cell(column, names[column], cell))
            uploaded = nw.from_native(engine.upload(frame.to_native(), cells))
            # Null cells have no match in the join.
            filled = nw.when(~nw.col(verdict).is_null()).then(nw.col(verdict)).otherwise(NULL)
            frame = frame.join(uploaded, on=cell, how="left").with_columns(filled.alias(verdict))
        combined = self.where.combined(
            [nw.col(f"{VERDICT}_{k}") for k in range(len(self.columns))],
            least=nw.min_horizontal,
            most=nw.max_horizontal,
            minus=lambda verdict: 0 - verdict,
        )
        return frame.with_columns(combined.alias(VERDICT))


def find_matching(
    frame: nw.LazyFrame[Any], engine: Engine, where: Where, columns: Sequence[str]
) -> Matching:
    """Return a condition with the verdicts for a lazy table; `columns` are those of the table.

    Numbers are compared in the engine. Engines compare and convert other types differently, so each
    of their distinct cells is compared once, by the rules of tables in memory.
    """
    import narwhals as nw

    named = dict(zip(where.columns, columns, strict=True))
    cells = tuple(
        _cell_verdicts(frame, engine, where, k, named[condition.column])
        for k, condition in enumerate(where.conditions)
    )
    matching = Matching(where, tuple(named[c.column] for c in where.conditions), cells)
    verdicts = {"kept": (VERDICT, YES), "null": (VERDICT, NULL)}
    verdicts |= {f"alone_{k}": (f"{VERDICT}_{k}", YES) for k in range(len(cells))}
    sums = [
        nw.when(nw.col(column) == verdict).then(1).otherwise(0).sum().alias(name)
        for name, (column, verdict) in verdicts.items()
    ]
    totals = fetch(matching.with_verdicts(frame, engine).select(nw.len().alias("n"), *sums), engine)
    n, n_kept, n_null, *n_alone = (int(totals[name][0] or 0) for name in ("n", *verdicts))
    counts = Counts(n, n_kept, n_null, tuple(n_alone))
    if n and not counts.n_kept and len(columns) == 1:
        counts = replace(counts, examples=_examples(frame, engine, columns[0], cells[0]))
    counts.check(where)
    return replace(matching, counts=counts)


def _cell_verdicts(
    frame: nw.LazyFrame[Any], engine: Engine, where: Where, k: int, column: str
) -> Any:
    """Return the distinct cells of a column with their verdicts by condition k.

    Return None for numbers, which the engine compares.
    """
    import narwhals as nw

    dtype = frame.collect_schema()[column]
    if not _is_comparable(frame, engine, column):
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
    table = fetch(distinct.unique(), engine)
    # as_pandas keeps nanoseconds, as for tables in memory
    verdicts = where.conditions[k].verdicts(as_pandas(table, [cell])[cell])
    series = nw.new_series(
        f"{VERDICT}_{k}", verdicts.astype(np.int64), nw.Int64, backend=table.implementation
    )
    return table.with_columns(series).to_native()


def _examples(frame: nw.LazyFrame[Any], engine: Engine, column: str, cells: Any) -> Any:
    """Return some cells of a column, for the error that no row matches."""
    import narwhals as nw

    if cells is not None:
        table = nw.from_native(cells)
        return example_cells(as_pandas(table, [table.columns[0]])[table.columns[0]])
    some = frame.select(column).filter(~nw.col(column).is_null())
    return example_cells(fetch(some.head(1000), engine)[column].to_list())


def kept_lazy(
    frame: nw.LazyFrame[Any], engine: Engine, where: Where, columns: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Return the matching rows of a lazy table, and warn of the number of other rows."""
    matching = find_matching(frame, engine, where, columns)
    matching.counts.report(where)
    return matching.kept(frame, engine)


def kept_part(
    part: pd.DataFrame, where: Where, columns: Sequence[Any], roles: Mapping[str, Any]
) -> tuple[pd.DataFrame, Counts]:
    """Return the columns of the roles for the matching rows, and the counts."""
    kept, counts = where.match([part[column] for column in columns])
    picked = part.loc[kept, list(roles.values())]
    return picked.rename(columns={n: role for role, n in roles.items()}), counts


def _cell(column: str, dtype: Any, name: str) -> nw.Expr:
    """Return the column to join on, as text for types that engines do not return unchanged."""
    import narwhals as nw

    as_text = dtype.is_integer() or any(
        dtype == kind for kind in (nw.Categorical, nw.Enum, nw.Unknown)
    )
    cell = nw.col(column).cast(nw.String) if as_text else nw.col(column)
    return cell.alias(name)


def _is_comparable(frame: nw.LazyFrame[Any], engine: Engine, column: str) -> bool:
    """Return whether a column has text, numbers, flags, dates or a type of `_EXTRA_TYPES`."""
    import narwhals as nw

    dtype, native = frame.collect_schema()[column], frame.to_native()
    others = (nw.String, nw.Categorical, nw.Enum, nw.Boolean, nw.Date, nw.Time, nw.Datetime)
    if dtype.is_numeric() or any(dtype == kind for kind in others):
        return True
    is_duckdb = engine.name == "DuckDB"
    return is_duckdb and str(native.types[native.columns.index(column)]) in _EXTRA_TYPES


def _verdict(condition: Condition, column: str, dtype: Any) -> nw.Expr:
    """Return the verdict of a condition on a column of numbers."""
    import narwhals as nw

    cell = nw.col(column)
    null = cell.is_null()
    if dtype.is_float():
        null = null | cell.is_nan()
        cell = cell.cast(nw.Float64)
    matches = reduce(or_, [_test(cell, condition.operator, key, dtype) for key in condition.keys])
    verdict = nw.when(matches).then(nw.lit(YES)).otherwise(nw.lit(NO))
    return nw.when(null).then(nw.lit(NULL)).otherwise(verdict)


def _test(cell: nw.Expr, sign: str, key: Key, dtype: Any) -> nw.Expr:
    """Return the test against one value, which the type of the column may not represent."""
    import narwhals as nw

    if isinstance(key, str):
        return nw.lit(sign == "!=")
    below, above = _neighbours(key, dtype)
    if sign in {"==", "!=", "in"}:
        is_represented = below is not None and below == above
        is_equal = cell == below if is_represented else nw.lit(False)  # noqa: FBT003 - narwhals
        return ~is_equal if sign == "!=" else is_equal
    # x < key if and only if x < above, because no number of the type is between; likewise others.
    bound = above if sign in {"<", ">="} else below
    if bound is None:  # the key is beyond all numbers of the type
        return nw.lit((sign in {"<", "<="}) == (below is not None))
    tests = {"<": cell < bound, "<=": cell <= bound, ">": cell > bound, ">=": cell >= bound}
    return tests[sign]


def _neighbours(key: Fraction | float, dtype: Any) -> tuple[float | None, float | None]:
    """Return the largest number <= key and the smallest >= key of a type, or None without one."""
    if dtype.is_float():
        return _float_neighbours(key)
    name = str(dtype)
    bits = _BITS[name.removeprefix("U")]
    low, high = (
        (0, 2**bits - 1) if name.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
    if key > high:
        return high, None
    if key < low:
        return None, low
    return math.floor(key), math.ceil(key)


def _float_neighbours(key: Fraction | float) -> tuple[float, float]:
    if isinstance(key, float):  # infinity
        return key, key
    try:
        near = float(key)
    except OverflowError:
        near = math.inf if key > 0 else -math.inf
    value = near if math.isinf(near) else exact(near if not near.is_integer() else int(near))
    below = near if value <= key else math.nextafter(near, -math.inf)
    return below, near if value >= key else math.nextafter(near, math.inf)

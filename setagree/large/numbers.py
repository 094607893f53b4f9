"""Small tables of whole numbers that go up to an engine: codes, and what fingerprints add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setagree.large.engines import Engine

if TYPE_CHECKING:
    import narwhals as nw

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Numbers:
    """What is added up to the fingerprint of a unit.

    Attributes
    ----------
    of_values : narwhals DataFrame
        ``code``, and random numbers of each value.
    of_raters : narwhals DataFrame or None
        ``who``, and the ``mark`` of each rater, a power of two; or, to keep raters, as many random
        numbers as of a value.
    keep_raters : bool
        Whether the numbers of rater and value are multiplied, modulo a prime.
    """

    of_values: nw.DataFrame[Any]
    of_raters: nw.DataFrame[Any] | None
    keep_raters: bool

    @property
    def keys(self) -> list[str]:
        """The columns that a pattern is made of."""
        return ["code", *["who"] * self.keep_raters]

    @property
    def marks(self) -> list[str]:
        """The column of marks, if there is one."""
        return ["mark"] * (self.of_raters is not None and not self.keep_raters)


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

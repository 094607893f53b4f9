"""The raters of a large table: counted, coded, and what they add to fingerprints of units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setagree.errors import DataError, counted
from setagree.large.engines import Engine, fetch
from setagree.large.numbers import Numbers, join_small, table_of
from setagree.large.steps import CodedRows
from setagree.large.survey import PRIME, CodedCells
from setagree.study.codes import as_objects
from setagree.study.tally import Tally

if TYPE_CHECKING:
    import narwhals as nw

Ints = npt.NDArray[np.int64]

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
        return self.found["rater"].to_list()

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

    def numbers(
        self, coded: CodedCells, engine: Engine, *, marked: bool, keep_raters: bool
    ) -> Numbers:
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
        is_asked = len(of_raters) > 1
        raters = table_of(of_raters, engine) if is_asked else None
        return Numbers(table_of(of_values, engine), raters, keep_raters)

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

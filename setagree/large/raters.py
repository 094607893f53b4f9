"""The raters of a large table: counted, marked, coded and mixed into fingerprints of units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setagree.errors import DataError, counted
from setagree.large.engines import fetch
from setagree.large.steps import CodedRows
from setagree.large.survey import PRIME
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
    """Who gave annotations: the raters in the order of their codes, and how many each gave."""

    names: list[Any]
    totals: Ints

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


def find_raters(rows: CodedRows) -> nw.DataFrame[Any]:
    """Return who gave annotations, and how many ``times``."""
    import narwhals as nw

    counts = rows.frame.group_by("rater").agg(nw.len().alias("times"))
    return fetch(counts, rows.engine)


def mark_raters(rows: CodedRows, raters: nw.DataFrame[Any]) -> CodedRows | None:
    """Give every row a power of two for its rater, as ``mark``; return None for many raters."""
    if len(raters) > _MOST_MARKED:
        return None
    marks = {"mark": 2 ** np.arange(len(raters))}
    return replace(rows, frame=_joined(rows, raters, marks), marked=True)


def number_raters(rows: CodedRows, raters: nw.DataFrame[Any]) -> tuple[CodedRows, Roster]:
    """Give every row the code ``who`` of its rater, and mix the numbers of rater and value.

    The mixed number is the product of the two modulo a prime; three of them make a fingerprint.
    """
    import narwhals as nw

    raters, n = raters.sort("rater"), len(raters)
    numbers = np.random.default_rng(_SEED).integers(PRIME, size=(n, len(rows.numbers)))
    own = [f"{name}_of_rater" for name in rows.numbers]
    new = {"who": np.arange(n), **dict(zip(own, numbers.T, strict=True))}
    pairs = zip(rows.numbers, own, strict=True)
    mixed = [((nw.col(one) * nw.col(other)) % PRIME).alias(one) for one, other in pairs]
    frame = _joined(rows, raters, new).select("unit", "rater", "who", "code", *mixed)
    roster = Roster(raters["rater"].to_list(), raters["times"].to_numpy().astype(np.int64))
    return replace(rows, frame=frame, keys=("code", "who")), roster


def _joined(rows: CodedRows, raters: nw.DataFrame[Any], new: dict[str, Ints]) -> Any:
    """Return the rows with what is new of each rater."""
    import narwhals as nw

    series = [nw.new_series(k, v, nw.Int64, backend=rows.engine.home) for k, v in new.items()]
    table = raters.select("rater").with_columns(*series)
    uploaded = rows.engine.upload(rows.frame.to_native(), table.to_native())
    return rows.frame.join(nw.from_native(uploaded), on="rater", how="inner")

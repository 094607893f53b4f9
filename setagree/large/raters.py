"""The raters of a large table: counted, coded, and mixed into the fingerprints of units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.errors import DataError, counted
from setagree.large.engines import fetch
from setagree.large.steps import CodedRows
from setagree.large.survey import PRIME
from setagree.study.codes import as_objects
from setagree.study.tally import Tally

Ints = npt.NDArray[np.int64]

_SEED = 1


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


def number_raters(rows: CodedRows) -> tuple[CodedRows, Roster]:
    """Give every row the code ``who`` of its rater, and mix the numbers of rater and value.

    The mixed number is the product of the two modulo a prime; three of them make a fingerprint.
    """
    import narwhals as nw

    counts = rows.frame.group_by("rater").agg(nw.len().alias("times"))
    found = fetch(counts, rows.engine).sort("rater")
    n = len(found)
    numbers = np.random.default_rng(_SEED).integers(PRIME, size=(n, len(rows.numbers)))
    own = [f"{name}_of_rater" for name in rows.numbers]
    new = {"who": np.arange(n), **dict(zip(own, numbers.T, strict=True))}
    series = [nw.new_series(k, v, nw.Int64, backend=rows.engine.home) for k, v in new.items()]
    table = found.select("rater").with_columns(*series)
    uploaded = rows.engine.upload(rows.frame.to_native(), table.to_native())
    joined = rows.frame.join(nw.from_native(uploaded), on="rater", how="inner")
    pairs = zip(rows.numbers, own, strict=True)
    mixed = [((nw.col(one) * nw.col(other)) % PRIME).alias(one) for one, other in pairs]
    frame = joined.select("unit", "rater", "who", "code", *mixed)
    roster = Roster(found["rater"].to_list(), found["times"].to_numpy().astype(np.int64))
    return replace(rows, frame=frame, keys=("code", "who")), roster

"""A result for each row of a table of agreements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import pandas as pd

from setagree.errors import counted
from setagree.scoring.results import Agreement, AgreementTable, check_agreement
from setagree.wording.results import Result


class OfAgreement(Protocol):
    """A result that knows which agreement it is of."""

    @property
    def agreement(self) -> Agreement:
        """What it was computed from."""

    def to_frame(self) -> pd.DataFrame:
        """Return it as a frame."""


R = TypeVar("R", bound=OfAgreement)


@dataclass(frozen=True, eq=False, repr=False)
class ResultTable(Result, Generic[R]):
    """A result for each row of a table of agreements, in its order.

    Look one up with ``table["krippendorff_alpha", "masi"]``; iterate for all of them.

    Examples
    --------
    >>> import setagree as sa
    >>> table = sa.agreement(sa.simulate(40, 3, rng=1))
    >>> without = sa.jackknife(table, over="raters")
    >>> without
    <ResultTable of 2 results: Jackknife>
    >>> without["krippendorff_alpha", "masi"].values.round(3).to_dict()
    {'r1': 0.412, 'r2': 0.238, 'r3': 0.302}
    >>> without.to_frame().columns.tolist()
    ['coefficient', 'distance', 'rater', 'estimate_without', 'change', 'n_ratings']
    """

    rows: tuple[R, ...]

    def __getitem__(self, name: tuple[str, str]) -> R:
        """Return the result of a (coefficient, distance)."""
        known = [(row.agreement.coefficient, row.agreement.distance) for row in self.rows]
        if name in known:
            return self.rows[known.index(name)]
        raise KeyError(f"no row {name!r}; the rows are {known}.")

    def __iter__(self) -> Iterator[R]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_frame(self) -> pd.DataFrame:
        """Return the frames of all rows, with the coefficient and the distance of each."""
        return pd.concat([_named(row, row.to_frame()) for row in self.rows], ignore_index=True)

    def __str__(self) -> str:
        shown = self.to_frame().round(4)
        return f"{self!r}\n\n{shown.to_string(index=False, max_rows=_SHOWN)}"

    def __repr__(self) -> str:
        said = f"{counted(len(self), 'result')}: {type(self.rows[0]).__name__}"
        return f"<{type(self).__name__} of {said}>"


_SHOWN = 40
"""Rows that are printed."""


def _named(row: OfAgreement, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame of a result, with what it is of in its first columns."""
    if "coefficient" in frame:
        return frame
    flat = frame.reset_index(drop=frame.index.name is None)
    flat.insert(0, "coefficient", row.agreement.coefficient)
    flat.insert(1, "distance", row.agreement.distance)
    return flat


def for_each_row(
    agreement: Agreement | AgreementTable, result_of: Callable[[Agreement], R]
) -> R | ResultTable[R]:
    """Return the result of an agreement, or a table with that of each row of a table."""
    if isinstance(agreement, AgreementTable):
        return ResultTable(tuple(result_of(row) for row in agreement.rows))
    check_agreement(agreement)
    return result_of(agreement)

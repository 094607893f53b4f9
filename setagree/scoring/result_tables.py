"""Several agreements in a table, and a result for each row of it."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import pandas as pd

from setagree.errors import counted, did_you_mean
from setagree.scoring.results import Agreement, check_agreement
from setagree.wording.escaping import visible
from setagree.wording.numbers import four, four_interval, level_text, p_four
from setagree.wording.results import Result
from setagree.wording.tables import aligned

_SHOWN_COLUMNS = {
    "coefficient": "coefficient",
    "distance": "distance",
    "observed_agreement": "pa",
    "expected_agreement": "pe",
    "estimate": "estimate",
    "standard_error": "se",
}


@dataclass(frozen=True, eq=False, repr=False)
class AgreementTable(Result):
    """Several agreements of one study: a row for each coefficient and distance.

    Look one up with ``table["krippendorff_alpha", "masi"]``; iterate for all of them.

    Examples
    --------
    >>> import setagree as sa
    >>> table = sa.agreement(sa.simulate(50, 3, rng=1), distance=["masi", "jaccard"])
    >>> table["krippendorff_alpha", "masi"]
    <krippendorff_alpha [masi]: 0.3382 (se 0.0447, 95% 0.2483 to 0.4281), 50 units>
    >>> [f"{row.coefficient} [{row.distance}]" for row in table][1]
    'krippendorff_alpha [jaccard]'
    >>> table.to_frame().shape
    (4, 16)
    """

    rows: tuple[Agreement, ...]
    level: float = 0.95
    n_missing: int = 0
    by_name: dict[tuple[str, str], Agreement] = field(init=False)

    def __post_init__(self) -> None:
        by_name = {(row.coefficient, row.distance): row for row in self.rows}
        object.__setattr__(self, "by_name", by_name)

    def __getitem__(self, name: tuple[str, str]) -> Agreement:
        """Return the agreement of a (coefficient, distance)."""
        try:
            return self.by_name[name]
        except (KeyError, TypeError):
            names = [", ".join(known) for known in self.by_name]
            asked = ", ".join(map(str, name)) if isinstance(name, tuple) else name
            hint = did_you_mean(asked, names)
            raise KeyError(f"no row {asked!r}; the rows are {names}.{hint}") from None

    def __iter__(self) -> Iterator[Agreement]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        said = "".join(f"\n\n{sentence}" for sentence in self._remarks())
        shown = self._shown()
        columns = [[str(name), *map(visible, shown[name])] for name in shown]
        lines = aligned(columns, left=[name in {"coefficient", "distance"} for name in shown])
        return "\n".join([self._counts(), "", *lines]) + said

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self._remarks())
        return f"<p>{self._counts()}</p>{self._shown().to_html(index=False, escape=True)}{said}"

    def to_frame(self, *, level: float | None = None) -> pd.DataFrame:
        """Return a tidy frame, one row a coefficient and distance, nothing rounded."""
        level = self.level if level is None else level
        return pd.concat([row.to_frame(level=level) for row in self.rows], ignore_index=True)

    def _counts(self) -> str:
        one = self.rows[0]
        lone = one.n_units - one.n_pairable_units
        parts = [
            counted(one.n_units, "unit") + (f" ({lone:,} with one rating)" if lone else ""),
            counted(one.n_raters, "rater") if one.n_raters is not None else "raters unknown",
            counted(one.n_ratings, "rating")
            + (f" ({self.n_missing:,} missing)" if self.n_missing else ""),
            counted(
                one.n_values, "distinct set" if one.tally.kind == "labels" else "distinct value"
            ),
        ]
        return ", ".join(parts)

    def _remarks(self) -> list[str]:
        """Return why rows have no interval though their standard error is 0, in one line."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if row.standard_error == 0:
                name = f"{row.coefficient} [{row.distance}]"
                found.setdefault(str(row.interval_reason), []).append(name)
        said = [
            why if len(names) == len(self.rows) else f"{why} ({', '.join(names)})"
            for why, names in found.items()
        ]
        return [f"{'. '.join(said)}; permutation_test gives a p for that."] if said else []

    def _shown(self) -> pd.DataFrame:
        frame = self.to_frame()
        out = pd.DataFrame({new: frame[old] for old, new in _SHOWN_COLUMNS.items()})
        ends = [*map(four_interval, frame["low"], frame["high"])]
        out[f"{level_text(self.level, gap='')} interval"] = ends
        # That an agreement is not 0 says nothing where chance was not taken out.
        tested = frame["coefficient"] != "percent_agreement"
        out["p"] = [*map(p_four, frame["p_value"].where(tested))]
        for name in ("pa", "pe", "estimate", "se"):
            out[name] = [*map(four, out[name])]
        return out


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

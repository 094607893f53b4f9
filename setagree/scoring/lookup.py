"""Which row of a table of results is meant by a name or a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from setagree.errors import did_you_mean, shorten

if TYPE_CHECKING:
    from setagree.scoring.results import Agreement

RowName: TypeAlias = "str | tuple[str, str] | int"


def find_row(rows: Sequence[Agreement], asked: RowName) -> int:
    """Return the number of the row that is meant.

    Parameters
    ----------
    rows : sequence of Agreement
        What the rows are of.
    asked : str, tuple or int
        A coefficient, where one row has it, by its name, a short name or, failing these, a part of
        its name (``"kappa"``); a coefficient and a distance; or the number of the row, from the
        end where it is negative.

    Raises
    ------
    KeyError
        No row has the name, or several have it.
    IndexError
        There are fewer rows; iteration of sequences ends so.

    Examples
    --------
    >>> import setagree as sa
    >>> rows = sa.agreement(sa.simulate(20, 3, rng=1), distance=["masi", "jaccard"]).rows
    >>> find_row(rows, ("alpha", "jaccard")), find_row(rows, -1)
    (1, 3)
    >>> find_row(rows, "fleiss")
    Traceback (most recent call last):
    KeyError: "'fleiss' stands for 2 rows; name one: table['fleiss_kappa', 'masi'], \
table['fleiss_kappa', 'jaccard']."
    """
    if isinstance(asked, int | np.integer) and not isinstance(asked, bool):
        if not -len(rows) <= asked < len(rows):
            raise IndexError(f"there is no row {asked}; the table has {len(rows)} rows, from 0.")
        return int(asked) % len(rows)
    names = [(row.coefficient, row.distance) for row in rows]
    wanted = asked if isinstance(asked, tuple) else (asked,)
    found = [k for k, row in enumerate(rows) if _fits(row, wanted)]
    found = found or [k for k, row in enumerate(rows) if _fits(row, wanted, in_part=True)]
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(f"table[{', '.join(map(repr, names[k]))}]" for k in found)
        raise KeyError(f"{asked!r} stands for {len(found)} rows; name one: {several}.")
    known = [", ".join(name) for name in names]
    said = ", ".join(map(str, asked)) if isinstance(asked, tuple) else asked
    raise KeyError(f"no row {shorten(said)}; the rows are {known}.{did_you_mean(said, known)}")


def _fits(row: Agreement, wanted: tuple[object, ...], *, in_part: bool = False) -> bool:
    """Say whether a row has a name: a coefficient, or a coefficient and a distance."""
    names = (row.coefficient, *row.definition.short_names)
    names = tuple(row.coefficient.split("_")) if in_part else names
    is_called = any(one in names or str(one).lower() in names for one in wanted[:1])
    return is_called and wanted[1:] in ((), (row.distance,))

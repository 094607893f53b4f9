"""The distinct answers of a large table: coded once, counted, numbered for fingerprints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import DataError, counted
from setagree.study.assembly import code_answers
from setagree.study.codes import MISSING, Answers, as_objects, as_ordered, common_order
from setagree.study.frames import inexact_ids
from setagree.study.reading import Reading

Ints = npt.NDArray[np.int64]

_BITS = 40
_SEED = 0

PRIME = 2**31 - 1
"""Products of two numbers below it fit in 64 bits."""


@dataclass(frozen=True)
class Held:
    """A list, a set or an object among cells, which are compared by their text.

    Attributes
    ----------
    text : str
        What it looks like.
    cell : object
        What it is.
    """

    text: str
    cell: Any = field(compare=False)


@dataclass(frozen=True)
class Survey:
    """What one pass over the rows finds.

    Attributes
    ----------
    cells : list
        The distinct cells of the answers, without the missing one.
    times : ndarray of shape (n_cells,)
        How many rows have each.
    n_null : int
        How many rows have no cell.
    n_bad : dict of str to int
        Rows without a unit, and without a rater.
    inexact : tuple of str
        Which of unit and rater are floats so large that two may have been rounded to one.
    order : tuple
        The categories of an ordered column of answers, in their order.
    """

    cells: list[Any]
    times: Ints
    n_null: int
    n_bad: dict[str, int]
    inexact: tuple[str, ...] = ()
    order: tuple[Any, ...] = ()

    def check(self) -> None:
        """Raise `DataError` where there are no rows, or some whose unit or rater is not known."""
        if not len(self.cells) and not self.n_null:
            raise DataError("the table has 0 rows; there is nothing to score.")
        for role in self.inexact:
            raise inexact_ids(role)
        for role, n_bad in self.n_bad.items():
            if n_bad:
                raise DataError(
                    f"{counted(n_bad, 'row')} without a {role}; name the {role} or drop the rows."
                )


@dataclass(frozen=True)
class CodedCells:
    """The distinct cells as codes of values, and how many rows they stand for.

    Attributes
    ----------
    answers : Answers
        Code of each cell, -1 where it is no annotation; and the values.
    totals : ndarray of shape (n_values,)
        How many annotations have each value.
    n_missing : int
        Rows without an annotation.
    null_code : int
        The code of rows without a cell; -1 where they are no annotation.
    """

    answers: Answers
    totals: Ints
    n_missing: int
    null_code: int = MISSING

    def numbers(self, *, keep_raters: bool = False) -> Ints:
        """Return two random 40-bit numbers for each value, shape (n_values, 2).

        To keep raters, three below a prime instead, which are multiplied by those of a rater. The
        seed is fixed, so that every engine finds the same patterns in the same table.
        """
        n, below = (3, PRIME) if keep_raters else (2, 2**_BITS)
        shape = (len(self.answers.values), n)
        return np.random.default_rng(_SEED).integers(below, size=shape)


def code_cells(
    survey: Survey, reading: Reading, *, name: str, place: Callable[[int], str]
) -> CodedCells:
    """Read each distinct cell once, by the rules of tables in memory.

    `place` words where the cell of a position first stands; after the last, where there is none.
    """
    survey.check()
    cells = [cell.cell if isinstance(cell, Held) else cell for cell in survey.cells]
    column = pd.Series(as_objects(cells), name=name, dtype=object)
    times = survey.times
    if survey.n_null:
        column = pd.concat([column, pd.Series([None], dtype=object)], ignore_index=True)
        column.name, times = name, np.append(times, survey.n_null)
    column = as_ordered(column, common_order([survey.order], cells))
    answers = code_answers(column, reading, is_long=True, place=place, times=times)
    rated = answers.codes != MISSING
    if not rated.any():
        raise DataError(
            f"all {counted(int(times.sum()), 'cell')} are missing; there is nothing to score."
        )
    totals = np.zeros(len(answers.values), dtype=np.int64)
    np.add.at(totals, answers.codes[rated], times[rated])
    null_code = int(answers.codes[-1]) if survey.n_null else MISSING
    return CodedCells(answers, totals, int(times[~rated].sum()), null_code)

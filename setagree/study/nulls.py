"""What nulls in a column of answers mean: no annotation, or what a blank is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.errors import LabelError, counted
from setagree.study.codes import MISSING, Answers, Codes, Column
from setagree.study.doubts import doubt_blanks, doubt_nulls, doubt_nulls_left, how_many
from setagree.study.labels import EMPTY, Blank


def read_nulls(
    answers: Answers,
    column: Column,
    blank: Blank,
    *,
    is_asked: bool,
    is_long: bool,
    place: Callable[[int], str],
    times: Codes | None = None,
) -> Answers:
    """Return the answers with nulls as what they mean; say in one warning what that is.

    Readers make nulls of blank cells. In the one column of label text that a long table has, a null
    is therefore what a blank is, unless blank text stands beside it: then somebody told the two
    apart. Everywhere else a null is no annotation.

    Parameters
    ----------
    answers : Answers
        The coded column.
    column : Series
        The column.
    blank : {"missing", "empty", "error"}
        What a blank is.
    is_asked : bool
        Whether somebody said so; else it is the default.
    is_long : bool
        Whether the column is that of a long table.
    place, times
        As in `code_label_sets`.

    Raises
    ------
    LabelError
        Nulls are blanks, and a blank is a mistake.
    """
    is_null = (answers.codes == MISSING) & column.isna().to_numpy(dtype=bool)
    n_null, asked = how_many(is_null, times), blank if is_asked else None
    if n_null and is_long and answers.is_text:
        taken: Blank = "missing" if answers.n_blank else blank
        if taken == "error":
            raise _refused(place(int(np.flatnonzero(is_null)[0])), n_null)
        if taken == "empty" or answers.values:  # else all is missing, which is refused
            doubt_nulls(n_null, answers.n_blank, taken=taken, asked=asked)
        return _made_empty(answers, is_null) if taken == "empty" else answers
    if asked is not None:
        doubt_nulls_left(n_null, asked, has_sets=answers.kind == "labels")
    elif answers.kind == "labels" and blank == "missing":  # of scalars, blanks can only be missing
        doubt_blanks(answers.n_blank)
    return answers


def _refused(place: str, n_null: int) -> LabelError:
    return LabelError(
        f"{place}: the cell is null (None or NaN), and with {counted(n_null, 'null')} and no blank "
        "text in the column blank='error' is about the nulls; say blank='missing' (no annotation) "
        "or 'empty' (no label applies)."
    )


def _made_empty(answers: Answers, is_null: npt.NDArray[Any]) -> Answers:
    values = tuple(dict.fromkeys([*answers.values, EMPTY]))
    code = np.int32(values.index(EMPTY))
    return replace(answers, codes=np.where(is_null, code, answers.codes), values=values)

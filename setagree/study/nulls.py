"""What nulls and blanks in a column of answers mean: no annotation, or an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from setagree.errors import BlankLabelsWarning, LabelError, counted, option, warn
from setagree.study.codes import MISSING, Answers, Codes, Column
from setagree.study.doubts import how_many
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

    `is_asked` says whether somebody said what a blank is, or it is the default; `is_long` whether
    the column is that of a long table. `place` and `times` are as in `code_label_sets`.
    """
    is_null = (answers.codes == MISSING) & column.isna().to_numpy(dtype=bool)
    n_null, asked = how_many(is_null, times), blank if is_asked else None
    if n_null and is_long and answers.is_text:
        taken: Blank = "missing" if answers.n_blank else blank
        if taken == "error":
            raise _refused(place(int(np.flatnonzero(is_null)[0])), n_null)
        if taken == "empty" or answers.values:  # else all is missing, which is refused
            warn_nulls(n_null, answers, taken=taken, asked=asked)
        if taken == "missing":
            return answers
        values = tuple(dict.fromkeys([*answers.values, EMPTY]))
        codes = np.where(is_null, np.int32(values.index(EMPTY)), answers.codes)
        return replace(answers, codes=codes, values=values)
    if asked is not None:
        warn_nulls_left(n_null, asked, has_sets=answers.kind == "labels")
    elif answers.kind == "labels" and blank == "missing":  # of scalars, blanks can only be missing
        warn_blanks(answers.n_blank)
    return answers


def warn_blanks(n_blank: int) -> None:
    """Warn that blank cells were read as missing by default, with their number."""
    if n_blank:
        warn(
            f"{counted(n_blank, 'blank cell')} taken as missing; say {option('blank', 'empty')} if "
            f"blank means 'no label applies', or {option('blank', 'missing')} to accept this.",
            BlankLabelsWarning,
        )


_KEPT_AS_TEXT = "(pandas: keep_default_na=False; Polars: missing_utf8_is_empty_string=True)"


def warn_nulls(n_null: int, answers: Answers, *, taken: Blank, asked: Blank | None) -> None:
    """Warn how nulls in a long column of label text were read, with the number of blanks.

    `asked` is what blank= says, None by default.
    """
    beside = " Other cells say by themselves, such as [], that no label applies."
    warn(
        f"{counted(n_null, 'null')} (None or NaN) and {counted(answers.n_blank, 'blank text')} "
        f"among the labels: {_taken(answers.n_blank, taken, asked)}."
        f"{beside if taken == 'empty' and answers.spells_empty else ''} Many readers make nulls of "
        "blank cells, and pandas also of texts such as NA or None: keep them as text "
        f"{_KEPT_AS_TEXT}, or pass the path. If a null means no annotation, drop its row to "
        "silence this warning.",
        BlankLabelsWarning,
    )


def _taken(n_blank: int, taken: Blank, asked: Blank | None) -> str:
    """Word what nulls, and blank texts beside them, were taken as."""
    says = "" if asked is None else f" ({option('blank', asked)})"
    if not n_blank:
        what = "the empty set" if taken == "empty" else "missing"
        hint = "" if asked else f"; say {option('blank', 'empty')} if they mean 'no label applies'"
        return f"the nulls are taken as {what}{says}{hint}"
    if asked == "empty":
        return f"the nulls are taken as missing, the blank texts as the empty set{says}"
    hint = (
        "" if asked else f"; say {option('blank', 'empty')} if blank text means 'no label applies'"
    )
    return f"both are taken as missing{says}{hint}"


def warn_nulls_left(n_null: int, asked: Blank, *, has_sets: bool) -> None:
    """Warn that nulls are missing although `blank`, which concerns blank text, is not "missing"."""
    if asked == "missing" or not n_null:
        return
    why = (
        "outside a long column of label text a null means no annotation. If a reader made nulls "
        f"of blank cells, keep these as text {_KEPT_AS_TEXT}"
        if has_sets
        else "a single value has no empty answer"
    )
    warn(
        f"{counted(n_null, 'null')} (None or NaN) stayed missing, as {option('blank', asked)} is "
        f"about blank text: {why}.",
        BlankLabelsWarning,
    )


def _refused(place: str, n_null: int) -> LabelError:
    return LabelError(
        f"{place}: the cell is null (None or NaN), and with {counted(n_null, 'null')} and no blank "
        f"text in the column {option('blank', 'error')} is about the nulls; say "
        f"{option('blank', 'missing')} (no annotation) or 'empty' (no label applies)."
    )

"""Wide tables that nobody has called so: each column but one a rater."""

from __future__ import annotations

import re
from collections import Counter

import pandas as pd

from setagree.errors import DataError, listing, option
from setagree.study.codes import Column
from setagree.study.columns import guess_wide_unit, usual_roles
from setagree.study.labels import is_missing
from setagree.study.numbers import as_number
from setagree.study.reading import Reading

_MOST_ROWS = 1000
_NO_WORDS = re.compile(r"[\s\[\](){}'\"]+")


def detect_wide_layout(frame: pd.DataFrame, reading: Reading) -> tuple[str, list[str]] | None:
    """Return the unit and the raters of a table that shows itself as wide, or None if it may not.

    It does where no column is called like a rater or like answers, one identifies the units, and
    each of the others holds labels that another holds, too.

    Examples
    --------
    >>> table = pd.DataFrame({"id": [1, 2], "ann": ["joy", "fear"], "bob": ["joy, fear", "joy"]})
    >>> detect_wide_layout(table, Reading())
    ('id', ['ann', 'bob'])
    """
    named = [name for role, name in reading.columns.items() if role != "unit" and name is not None]
    told = usual_roles(str(name) for name in frame)
    if named or reading.kind is not None or {"rater", "labels", "value"} & {*told}:
        return None
    unit = reading.unit or guess_wide_unit(frame)
    raters = [str(name) for name in frame if name != unit]
    if unit is None or unit not in frame or len(raters) < 2:
        return None
    words = {name: _words(frame[name], reading.syntax.label_sep) for name in raters}
    times = Counter(word for found in words.values() for word in found)
    alike = [name for name in raters if any(times[word] > 1 for word in words[name])]
    if len(alike) < 2:
        return None
    if others := [name for name in raters if name not in alike]:
        have = "has" if len(others) == 1 else "have"
        raise DataError(
            f"Columns {listing(alike)} have answers in common, as raters have, and "
            f"{listing(others)} {have} none. If each rater has a column, say {option('wide')} and "
            f"{option('raters', alike)}; if each row is one annotation, say "
            f"{option('unit', '...')}, {option('rater', '...')} and {option('labels', '...')}."
        )
    if all(as_number(word) is not None for word in times):
        raise DataError(
            f"Columns {listing(alike)} hold numbers alone, so that each may be a rater or a label. "
            f"If each rater has a column, say {option('wide')}; if each label has one, name the "
            "columns of the unit, the rater and the labels."
        )
    return unit, raters


def _words(column: Column, label_sep: str) -> set[str]:
    """Return what the first cells of a column consist of, roughly."""
    cells = [cell for cell in column.head(_MOST_ROWS).tolist() if not is_missing(cell)]
    parts = (
        _NO_WORDS.sub(" ", part).strip() for cell in cells for part in str(cell).split(label_sep)
    )
    return {part for part in parts if part}

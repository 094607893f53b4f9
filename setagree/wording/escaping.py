"""Text that a user wrote, made safe for where it is shown: a terminal, a Markdown table, a page."""

from __future__ import annotations

import re

JOINERS = "\u200c\u200d"
"""What holds emoji and Persian words together; every other invisible sign is spelled out."""

_MARKS = re.compile(r"([\\`*{}\[\]()#+\-.!|~:@]|(?<![^\W_])_|_(?![^\W_]))")


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the start of a formula."""


def visible(text: str, *, keep: str = "") -> str:
    r"""Return text whose invisible characters are spelled out, except those in `keep`.

    They could move the cursor, or reverse or hide the text that follows.

    Examples
    --------
    >>> print(visible("joy\n\x1b[31mfear"))
    joy\n\x1b[31mfear
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in JOINERS + keep else c.encode("unicode_escape").decode()
        for c in text
    )


def escape_formula(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula.

    Examples
    --------
    >>> print(escape_formula("=1+1"))
    '=1+1
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def as_markdown(text: str) -> str:
    r"""Return text on one line in which no sign means anything, to Markdown or to HTML.

    Examples
    --------
    >>> print(as_markdown("a|b\n<i>"))
    a\|b\\n&lt;i&gt;
    """
    safe = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(r"\\\1", safe)

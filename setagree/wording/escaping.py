"""Text that a user wrote, made safe for where it is shown: a terminal, a Markdown table, a page."""

from __future__ import annotations

import re

JOINERS = "\u200c\u200d"
"""What holds emoji and Persian words together; every other invisible sign is spelled out."""

_MARKS = re.compile(r"([\\`*{}\[\]()#+\-.!|~:@]|(?<![^\W_])_|_(?![^\W_]))")


def visible(text: str) -> str:
    r"""Return text whose invisible signs are spelled out: they could turn or hide what follows.

    Examples
    --------
    >>> print(visible("joy\n\x1b[31mfear"))
    joy\n\x1b[31mfear
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode() for c in text
    )


def as_markdown(text: str) -> str:
    r"""Return text on one line in which no sign means anything, to Markdown or to HTML.

    Examples
    --------
    >>> print(as_markdown("a|b\n<i>"))
    a\|b\\n&lt;i&gt;
    """
    safe = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(r"\\\1", safe)

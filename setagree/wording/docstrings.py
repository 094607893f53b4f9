"""Docstrings with what several functions have in common, told once."""

from __future__ import annotations

import inspect
import re


def split_sections(doc: str) -> list[str]:
    r"""Return the text of a docstring, then its sections, each with its heading.

    Examples
    --------
    >>> split_sections("Do it.\n\n    Returns\n    -------\n    int\n    ")
    ['Do it.', 'Returns\n-------\nint']
    """
    return re.split(r"\n\n(?=[A-Z][A-Za-z ]+\n-+\n)", inspect.cleandoc(doc))


def parameter_texts(section: str) -> dict[str, str]:
    r"""Return what a section says of each name; names that are told together have one text.

    Examples
    --------
    >>> parameter_texts("Parameters\n----------\na, b : float\n    Ends.\nn : int\n    N.")["b"]
    'a, b : float\n    Ends.'
    """
    entries = re.findall(r"^(\w+(?:, \w+)*)(.*(?:\n    .*)+)", section, re.MULTILINE)
    return {name: names + text for names, text in entries for name in names.split(", ")}

"""What every result does with its frame: Markdown, plain values, and a table in a notebook."""

from __future__ import annotations

import html
from typing import Any

import pandas as pd

from setagree.wording.label_sets import display_labels
from setagree.wording.tables import markdown_text

_SHOWN = 20
"""Rows that a notebook shows."""


class Result:
    """A value that has a frame.

    Examples
    --------
    >>> import setagree as sa
    >>> test = sa.permutation_test(sa.fleiss_kappa(sa.simulate(30, 3, rng=1)), rng=1)
    >>> test.to_dict()["p_value"]
    [0.0001]
    >>> print(test.to_markdown()[:55])
    | coefficient | distance | estimate | p_value | alterna
    """

    def to_frame(self) -> pd.DataFrame:
        """Return the result as a tidy frame of its own, nothing rounded."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame`, each a list of plain Python values."""
        return {str(name): cells.tolist() for name, cells in _flat(self.to_frame()).items()}

    def to_markdown(self) -> str:
        """Return `to_frame` as a Markdown table with four decimals."""
        return markdown_text(_flat(self.to_frame()).map(_shown))

    def _repr_html_(self) -> str:
        frame = self.to_frame().map(_shown)
        return f"<p>{html.escape(repr(self))}</p>{frame.to_html(escape=True, max_rows=_SHOWN)}"


def _shown(value: Any) -> Any:
    """Return a label set as people read it, anything else as it is."""
    return display_labels(value) if isinstance(value, frozenset) else value


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose index, if it has a name, is a column."""
    return frame if frame.index.name is None else frame.reset_index()

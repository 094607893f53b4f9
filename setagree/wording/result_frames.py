"""Frames with declared main columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import pandas as pd

from setagree.errors import counted
from setagree.wording.tables import Column, TextTable, latex_text


class ResultFrame(pd.DataFrame):
    """Frame with declared main columns, which a notebook and LaTeX show rounded.

    What pandas computes from it is a plain frame.
    """

    _metadata: ClassVar[list[str]] = ["main_columns"]
    main_columns: tuple[Column, ...] = ()

    @classmethod
    def of(cls, frame: pd.DataFrame, columns: Iterable[Column]) -> ResultFrame:
        """Return a frame with its main columns."""
        result = cls(frame)
        result.main_columns = tuple(columns)
        return result

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def _shown_columns(self) -> list[Column]:
        """Return the main columns that the frame has."""
        # The method of all intervals needs no column, unless they are of several.
        is_mixed = "interval_method" in self and self["interval_method"].nunique() > 1
        hidden = () if is_mixed else ("interval_method",)
        return [one for one in self.main_columns if one.is_in(self) and one.source not in hidden]

    def _repr_html_(self) -> str:
        columns = self._shown_columns()
        table = TextTable.of(self, columns, 0.95)
        shown = sum(1 if isinstance(one.source, str) else len(one.source) for one in columns)
        more = len(self.columns) - shown
        note = f"<p>{counted(more, 'more column')} in the frame.</p>" if more else ""
        return f"{table.to_html()}{note}"

    def to_latex(self, *args: Any, **options: Any) -> Any:
        """Return the main columns in LaTeX for booktabs; with arguments, as pandas does."""
        if args or options:
            return pd.DataFrame(self).to_latex(*args, **options)
        return latex_text(self, self._shown_columns())

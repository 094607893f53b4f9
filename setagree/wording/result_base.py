"""Base classes of results: Markdown, JSON, plain values, a table in a notebook."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from setagree.errors import counted, python_or_command
from setagree.lazy import pd
from setagree.wording.label_sets import display_labels
from setagree.wording.tables import (
    Column,
    TextTable,
    columns_for,
    html_table,
    json_text,
    latex_text,
    markdown_text,
    terminal_width,
)

R = TypeVar("R")

_LONGEST = 300
"""Largest number of letters of a repr."""


class Result:
    """A value that has a frame.

    Examples
    --------
    >>> import setagree as sa
    >>> test = sa.permutation_test(sa.fleiss_kappa(sa.simulate(30, 3, rng=1)), rng=1)
    >>> test.to_dict()["p_value"]
    [0.0001]
    >>> print(test.to_json().splitlines()[2])
        "coefficient": "fleiss_kappa",
    >>> print(test.to_markdown()[:55])
    | coefficient | distance | estimate | p_value | alterna
    """

    columns: ClassVar[tuple[Column, ...]] = ()
    """The columns of `to_frame` that are printed. Without any, one line is printed."""
    frame_columns: ClassVar[tuple[Column, ...]] = ()
    """The columns of `to_frame` in a notebook and in LaTeX if one line is printed. Default: all."""

    max_rows: ClassVar[int] = 1000
    """Rows that are printed."""

    frame_name: ClassVar[str] = "frame"
    """The attribute whose copy `to_frame` returns, if it does not build one."""

    def to_frame(self) -> pd.DataFrame:
        """Return the result as a tidy frame of its own, nothing rounded."""
        frame: pd.DataFrame = getattr(self, self.frame_name)
        return frame.copy()

    def _one_row(self, names: str, **others: Any) -> pd.DataFrame:
        """Return a frame of one row: attributes of the result or of its agreement, or others."""
        agreement: Any = getattr(self, "agreement", None)
        cells = {
            name: getattr(self if hasattr(self, name) else agreement, name)
            for name in names.split()
            if name not in others
        }
        return pd.DataFrame([cells | others], columns=names.split())

    def _to_print(self) -> pd.DataFrame:
        """Return the rows that are printed, the most important first."""
        return self.to_frame()

    def _shown_columns(self, frame: pd.DataFrame) -> Sequence[Column]:
        """Return the columns of a table that people read."""
        return self.columns or self.frame_columns or columns_for(frame)

    def _heading(self) -> str:
        """Return the text above the table."""
        return ""

    def _notes(self) -> Iterable[str]:
        """Return the paragraphs that are printed below the table; default: the verdict, if any."""
        return filter(None, [getattr(self, "verdict", "")])

    def _printed(self) -> tuple[TextTable, str]:
        """Return the table as text, and a paragraph on its columns and the rows left out."""
        frame, level = _flat(self._to_print()), getattr(self, "level", 0.95)
        columns = self._shown_columns(frame)
        table = TextTable.of(frame.head(self.max_rows), columns, level)
        notes = {column.heading(level): column.note(level) for column in columns}
        last = [notes[x] for x in table.cells if notes[x] and table.has(x)]
        if (n := len(frame) - self.max_rows) > 0:
            where = python_or_command("to_frame() returns", "-o FILE writes")
            last.append(f"{counted(n, 'more row')}; {where} all.")
        return table, " ".join(last)

    def _parts(self) -> tuple[str, str]:
        """Return the printed text, and its last paragraph."""
        table, last = self._printed()
        shown = str(table) if any(table.cells.values()) else ""
        notes = map(wrapped, filter(None, self._notes()))
        return paragraphs(self._heading(), shown, *notes), wrapped(last)

    def __str__(self) -> str:
        return paragraphs(*self._parts()) if self.columns else repr(self)

    def to_latex(self) -> str:
        """Return the table that is printed, in LaTeX for the package booktabs."""
        frame = _flat(self._to_print()).head(self.max_rows)
        return latex_text(frame, self._shown_columns(frame), getattr(self, "level", 0.95))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame`, each a list of plain Python values."""
        return {str(name): cells.tolist() for name, cells in _flat(self.to_frame()).items()}

    def to_markdown(self) -> str:
        """Return `to_frame` as a Markdown table with four decimals, and with what `to_json` adds.

        That is what intervals rest on and are about; no reasons.
        """
        results = getattr(self, "rows", (self,))
        frame = _flat(self.to_frame()).map(_shown)
        return markdown_text(_about(described(frame, results), results), self.columns)

    def to_json(self) -> str:
        """Return the rows of `to_frame` as JSON, a list of objects, as ``--format json`` does.

        NaN is null, with its ``reason``; ``about`` is whether intervals are about these raters or
        raters like these; label sets are sorted lists. Agreements and comparisons also have their
        degrees of freedom and the sampling design, and a ``remark`` on rough intervals.
        """
        results = getattr(self, "rows", (self,))
        frame = described(_flat(self.to_frame()), results)
        for name, text_of in (("reason", _reason_of), ("remark", _remark_of)):
            texts: list[Any] = getattr(self, f"{name}s", None) or [*map(text_of, results)]
            if name in frame or _NO_TEXT in texts:
                continue
            if len(texts) != len(frame):
                lengths = [len(result.to_frame()) for result in results]
                texts = [text for text, n in zip(texts, lengths, strict=True) for _ in range(n)]
            frame = frame.assign(**{name: pd.Series(texts, index=frame.index, dtype=object)})
        return json_text(_about(frame, results))

    def _line(self) -> str:
        """Return the heading, and the cells of the only row or the number of rows."""
        frame, level = _flat(self._to_print()), getattr(self, "level", 0.95)
        shown = f"{len(frame):,} rows"
        if len(frame) == 1:
            table = TextTable.of(frame, self._shown_columns(frame), level)
            cells = table.cells.items()
            shown = ", ".join(f"{head} {cell}" for head, (cell,) in cells if table.has(head))
        parts = [self._heading().rstrip(":"), shown]
        return f"{type(self).__name__}: {'; '.join(filter(None, parts))}"

    def __repr__(self) -> str:
        """Return what is printed in one line, a remark on the interval first; a long one is cut."""
        notes = dict.fromkeys(filter(None, [getattr(self, "remark", None), *self._notes()]))
        text = ". ".join(filter(None, [self._line(), " ".join(notes)]))
        return f"<{textwrap.shorten(text, _LONGEST, placeholder=' …')}>"

    def _repr_html_(self) -> str:
        line = html.escape(self._line() if self.columns else repr(self)[1:-1])
        if not self.columns:
            shown = _flat(self.to_frame()).map(_shown)
            if self.frame_columns:
                shown = pd.DataFrame(self._printed()[0].cells, dtype=object)
            return f"<p>{line}</p>{html_table(shown)}"
        table, last = self._printed()
        notes = filter(None, [*self._notes(), last])
        below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
        return f"<p>{line}</p>{table.to_html()}{below}"


def paragraphs(*parts: str) -> str:
    """Return the parts that are not blank, with a blank line between them."""
    return "\n\n".join(filter(None, parts))


def wrapped(text: str) -> str:
    """Return a paragraph in lines that fit the terminal."""
    return textwrap.fill(text, terminal_width(), break_on_hyphens=False)


def described(frame: pd.DataFrame, results: Iterable[Any]) -> pd.DataFrame:
    """Return a frame with the basis of the interval of each row, if the results have it."""
    found = [each for result in results if (each := getattr(result, "rests_on", None))]
    rests = [one for each in found for one in (each if isinstance(each, list) else [each])]
    if len(rests) != len(frame):
        return frame
    more = pd.DataFrame(rests, index=frame.index)
    return frame.join(more[[name for name in more if name not in frame]])


def _about(frame: pd.DataFrame, results: Iterable[Any]) -> pd.DataFrame:
    """Return a frame with the target of its intervals, if the results have it."""
    about = {getattr(result, "about", None) for result in results} - {None}
    return frame.assign(about=about.pop()) if about else frame


class ResultRows(Result, Generic[R]):
    """A result of several rows; iterate for all of them."""

    rows: tuple[R, ...]

    def __iter__(self) -> Iterator[R]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        rows: Any = self.rows
        parts = [row._parts() for row in rows]  # noqa: SLF001 - a method of the base class
        return paragraphs(*(text for text, _ in parts), *dict.fromkeys(last for _, last in parts))


class ResultPerModel(ResultRows[R]):
    """A result per model, the best model first; `columns` are those of `summary`."""

    def summary(self) -> str:
        """Return a table with one line per model, and the verdict on each."""
        return paragraphs(*self._parts())

    def _to_print(self) -> pd.DataFrame:
        """Return the rows, without a decision on models whose test has a reason for none."""
        is_open = [_reason_of(row) is not None for row in self.rows]
        frame = self.to_frame().astype({"passes": object})
        frame.loc[is_open, "passes"] = None
        return frame

    def _notes(self) -> list[str]:
        return [row.verdict for row in self.rows]  # type: ignore[attr-defined]

    def __getitem__(self, model: object) -> R:
        """Return the result of a model."""
        models: list[object] = [row.model for row in self.rows]  # type: ignore[attr-defined]
        if model not in models:
            raise KeyError(f"no model {model!r}; the models are {models}.")
        return self.rows[models.index(model)]


_NO_TEXT = object()
"""What a result has whose numbers have no reason, or its interval no remark."""


def _reason_of(result: Any) -> Any:
    """Return the reason for NaN in a result, or None if its numbers are defined."""
    for one in (result, getattr(result, "agreement", None)):
        for name in ("interval_reason", "reason"):
            if hasattr(one, name):
                return getattr(one, name)
    return _NO_TEXT


def _remark_of(result: Any) -> Any:
    """Return the remark on a rough interval of a result, or None if it is not rough."""
    return getattr(result, "remark", _NO_TEXT)


def bracketed(line: str, note: str | None = None) -> str:
    """Return the repr of a result: a line and, if there is one, a note on its interval."""
    text = (note or "").rstrip(".")
    return f"<{line}. {text[0].upper()}{text[1:]}>" if text else f"<{line}>"


def _shown(value: Any) -> Any:
    """Return a label set as text for display, and other values unchanged."""
    return display_labels(value) if isinstance(value, frozenset) else value


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose index, if it has a name, is a column."""
    return frame if frame.index.name is None else frame.reset_index()

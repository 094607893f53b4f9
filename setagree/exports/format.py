"""What the registry of formats and the readers of exports say to one another."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from setagree.files.tables import sniff_delimiter
from setagree.study.columns import Role, usual_roles
from setagree.study.identifiers import find_names
from setagree.study.labels import Blank, Case, NaValues
from setagree.study.reading import Predictions
from setagree.study.row_filter import Where
from setagree.study.spans import Spans
from setagree.wording.label_sets import Label

Basis: TypeAlias = Literal["tool", "source", "documented", "plain"]
"""How the layout is known: written by the tool's code, from its source, or from its documents.

Or it is no tool's, but a plain table.
"""

Shape: TypeAlias = Literal["records", "table", "folder", "text"]
"""JSON objects, rows below a header, a folder of files, or text of another kind."""

_MOST_ROWS = 500
_NEVER = "(?!)"


def of_tool(tool: str, function: str, *kind: str) -> Callable[..., Any]:
    """Return a function of a tool's file, which is imported when the function is first called.

    It is called with `kind` behind its other arguments, where one serves several formats.
    """

    def call(*arguments: Any) -> Any:
        module = import_module(f"setagree.exports.tools.{tool}")
        return getattr(module, function)(*arguments, *kind)

    return call


@dataclass(frozen=True)
class Answers:
    """What a reader found: one entry for each annotation seen.

    Attributes
    ----------
    units, raters : list
        Who annotated what.
    labels : list of frozenset or None
        The answers. None: seen and skipped, or blank under ``blank="missing"``: no annotation.
    places : list of str
        Where each stands, such as ``line 7`` or ``tasks[3].annotations[0]``.
    files : list of str
        Of several files: the one that each comes from.
    predicted : Answers or None
        The answers of models that stand beside those of people; their labels are None unless they
        are asked for. The raters are the models.
    models : set
        The raters that are models, as the file states.
    """

    units: list[Hashable] = field(default_factory=list)
    raters: list[Hashable] = field(default_factory=list)
    labels: list[frozenset[Label] | None] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    predicted: Answers | None = None
    models: set[Hashable] = field(default_factory=set)

    def extend(self, other: Answers, file: str, prefix: str) -> None:
        """Add the annotations of a file; `prefix` goes before their places."""
        self.models.update(other.models)
        self.files.extend([file] * len(other.units))
        self.units.extend(other.units)
        self.raters.extend(other.raters)
        self.labels.extend(other.labels)
        self.places.extend(prefix + place for place in other.places)

    def add(
        self, unit: Hashable, rater: Hashable, labels: frozenset[Label] | None, place: str
    ) -> None:
        """Add one annotation."""
        self.units.append(unit)
        self.raters.append(rater)
        self.labels.append(labels)
        self.places.append(place)


@dataclass(frozen=True)
class Request:
    """What the caller said about the file.

    Attributes
    ----------
    question : str or None
        Which of several questions.
    blank : {"missing", "empty", "error"} or None
        What a blank answer means; None: not said.
    roster : path, DataFrame or None
        Columns unit and rater: who was asked, or who answered what.
    label_sep : str or None
        What stands between the labels of a cell, where the format leaves it open.
    encoding : str
        How the bytes spell text.
    where : Where or None
        Of a table: which rows count.
    sheet : str, int or None
        Of a workbook: which sheet.
    na_values : collection of text or numbers, or None
        Answers that mean no annotation.
    case : {"keep", "lower"}
        How these are compared with cells.
    predictions : bool or collection of str
        Whether answers of models are read, or of which models.
    is_one_of_several : bool
        Of spans: whether the file is one of several that are read together.
    """

    question: str | None = None
    blank: Blank | None = None
    roster: object | None = None
    label_sep: str | None = None
    encoding: str = "utf-8"
    where: Where | None = None
    sheet: str | int | None = None
    na_values: NaValues | None = None
    case: Case = "keep"
    predictions: Predictions = False
    is_one_of_several: bool = False

    def sep_or(self, usual: str) -> str:
        """Return the text between labels, by default the usual one of the format."""
        return usual if self.label_sep is None else self.label_sep

    def reads(self, model: Hashable) -> bool:
        """Return whether the answers of a model are read."""
        if isinstance(self.predictions, bool):
            return self.predictions
        return str(model) in self.named_models([str(model)])

    def named_models(self, known: Collection[str]) -> list[str]:
        """Return the models that are asked for; one text may hold several, between commas."""
        asked = [] if isinstance(self.predictions, bool) else self.predictions
        return find_names([asked] if isinstance(asked, str) else asked, known)


@dataclass(frozen=True)
class Peek:
    """The beginning of a file or folder, read once for all recognisers.

    Attributes
    ----------
    path : Path
    is_folder : bool
    head : str
        The first 64 KiB as text; blank for a folder.
    header : tuple of str
        The cells of the first row, where it is a delimited table; else ().
    record : object
        The first JSON object, of a list or of lines; else None.
    names : tuple of str
        Relative names of files in a folder (a bounded number of them); else ().
    is_binary : bool
        Whether it is a workbook, Parquet file or database, of which the first rows were seen.
    """

    path: Path
    is_folder: bool = False
    head: str = ""
    header: tuple[str, ...] = ()
    record: object = None
    names: tuple[str, ...] = ()
    is_binary: bool = False

    @cached_property
    def roles(self) -> dict[Role, str]:
        """The columns of a table by what their usual names say; nothing without rows."""
        return usual_roles(name.strip() for name in self.header) if self.rows else {}

    @cached_property
    def rows(self) -> list[list[str]]:
        """The cells of the first rows below the header that are whole."""
        text = io.StringIO(self.head, newline="")
        rows = (row for row in csv.reader(text, delimiter=sniff_delimiter(self.head)) if row)
        cells = list(islice(rows, _MOST_ROWS + 1))
        return [row for row in cells[1:] if len(row) == len(cells[0])]

    def names_of(self, shape: Shape) -> tuple[str, ...]:
        """Return what a signature of that shape looks at; nothing where the shape is another."""
        if shape == "records":
            return tuple(self.record) if isinstance(self.record, dict) else ()
        if shape == "text":
            return (self.head,)
        return self.header if shape == "table" else self.names


@dataclass(frozen=True)
class Signature:
    """How the beginning of a file or folder shows its format.

    Attributes
    ----------
    shape : {"records", "table", "folder", "text"}
        Whose names are looked at: the keys of the first JSON object, the columns of a table, or
        the files in a folder. A text has one name, which is its beginning.
    names : collection of str
        The names that must all be there.
    some : collection of str
        Regular expressions, each of which must be the whole of one name at least.
    none : str
        A regular expression that must be the whole of no name.
    first : str
        A regular expression that must be the whole of the first name.
    roles, no_roles : collection of str
        What columns must, and must not, be told to be by their usual names: "unit", "rater",
        "labels" or "value".
    also : callable, optional
        Says the rest where names are not enough; it is asked when all else is right.

    Examples
    --------
    >>> peek = Peek(Path("a.csv"), False, "", ("unit_id", "worker", "answer:q1"), None, ())
    >>> Signature("table", {"unit_id"}, some=["answer:.*"]).fits(peek)
    True
    >>> Signature("table", {"unit_id"}, none="worker").fits(peek)
    False
    """

    shape: Shape
    names: Collection[str] = ()
    some: Collection[str] = ()
    none: str = _NEVER
    first: str = ".*"
    roles: Collection[Role] = ()
    no_roles: Collection[Role] = ()
    also: Callable[[Peek], bool] | None = None

    def fits(self, peek: Peek) -> bool:
        """Return whether a beginning has this signature."""
        names = peek.names_of(self.shape)
        return (
            bool(names)
            and {*self.names} <= {*names}
            and _is_one(self.first, names[:1])
            and all(_is_one(pattern, names) for pattern in self.some)
            and not _is_one(self.none, names)
            and (not self.roles or self._fits_roles(peek.roles))
            and (self.also is None or self.also(peek))
        )

    def _fits_roles(self, found: Collection[Role]) -> bool:
        return {*self.roles} <= {*found} and {*self.no_roles}.isdisjoint(found)


def _is_one(pattern: str, names: Collection[str]) -> bool:
    """Return whether a pattern is the whole of one name; its dot is any character."""
    whole = re.compile(pattern, re.DOTALL).fullmatch
    return any(map(whole, names))


Reader: TypeAlias = Callable[[Path, Request], Answers]


@dataclass(frozen=True)
class Format:
    """A format that can be recognised and read.

    Attributes
    ----------
    name : str
        Such as ``label_studio_json``.
    title : str
        Such as ``Label Studio, JSON``.
    basis : {"tool", "source", "documented", "plain"}
        How its layout is known.
    signatures : tuple of Signature
        How it shows itself: one of them fits only what no other format can be.
    read : callable
        Reads a file or folder.
    asks : str
        What the format cannot tell and which option answers it, in one sentence; an option is
        written ``$blank``, to be spelled where it is shown.
    read_spans : callable, optional
        Adds the labelled spans of all layers of a file or folder to `Spans`.
    """

    name: str
    title: str
    basis: Basis
    signatures: tuple[Signature, ...]
    read: Reader
    asks: str = ""
    read_spans: Callable[[Path, Request, Spans], None] | None = None

    @property
    def shapes(self) -> set[Shape]:
        """The shapes in which it comes."""
        return {each.shape for each in self.signatures}

    def fits(self, peek: Peek) -> bool:
        """Return whether a file or folder that begins so may have this format."""
        return any(each.fits(peek) for each in self.signatures)

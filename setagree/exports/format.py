"""Interface between the registry of formats and the readers of exports."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from setagree.files.tables import sniff_delimiter
from setagree.study.columns import Role, usual_roles
from setagree.study.identifiers import find_names
from setagree.study.labels import Blank
from setagree.study.reading import Predictions
from setagree.study.row_filter import Where
from setagree.study.spans import Spans
from setagree.wording.label_sets import Label, LabelSep, read_sep

Basis: TypeAlias = Literal["tool", "source", "documented", "plain"]
"""Basis of a layout: a file written by the tool's code, the tool's source, or its documentation.

"plain" is a plain table, which does not belong to a tool.
"""

Shape: TypeAlias = Literal["records", "table", "folder", "text"]
"""JSON objects, a table with a header, a folder of files, or other text."""

_MAX_ROWS = 500
_NEVER = "(?!)"


def of_tool(tool: str, function: str, *kind: str) -> Callable[..., Any]:
    """Return a function of a module in `tools`, which is imported at the first call.

    `kind` is appended to its arguments, for a function that serves several formats.
    """

    def call(*arguments: Any) -> Any:
        module = import_module(f"setagree.exports.tools.{tool}")
        return getattr(module, function)(*arguments, *kind)

    return call


@dataclass(frozen=True)
class Answers:
    """Answers in an export, with one entry per annotation.

    Attributes
    ----------
    units, raters : list
        Unit and rater of each annotation.
    labels : list of frozenset or None
        The answers; None if there is no annotation (skipped, or blank under ``blank="missing"``).
    places : list of str
        Location of each annotation in the file, such as ``line 7`` or ``tasks[3].annotations[0]``.
    files : list of str
        The file of each annotation, if several are read.
    predicted : Answers or None
        Answers of models that the export has in addition to those of people. The raters are the
        models; labels are None unless the model is requested.
    models : set
        Raters that the file states to be models.
    controls : set
        The kinds of controls of the question, if the format names them: answers to a "rating" are
        numbers in an order.
    data : dict
        What each unit shows, if the format has it: ids may start anew in each of several files.
    label_sep : str, list of str or None
        The separator at which cells have been split; None if the format writes lists or flags.
    """

    units: list[Hashable] = field(default_factory=list)
    raters: list[Hashable] = field(default_factory=list)
    labels: list[frozenset[Label] | None] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    predicted: Answers | None = None
    models: set[Hashable] = field(default_factory=set)
    controls: set[object] = field(default_factory=set)
    data: dict[Hashable, Mapping[str, object]] = field(default_factory=dict)
    label_sep: LabelSep | None = None

    @property
    def are_numbers(self) -> bool:
        """Whether each answer is the label of a number."""
        return self.controls == {"rating"}

    def extend(self, other: Answers, file: str, prefix: str) -> None:
        """Add the annotations of a file, with `prefix` before their places."""
        self.models.update(other.models)
        self.controls.update(other.controls)
        self.data.update(other.data)
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
    """Options for reading an export; see `Reading`.

    `used_seps` are the separators at which cells have been split.
    """

    question: str | None = None
    blank: Blank | None = None
    roster: object | None = None
    label_sep: LabelSep | None = None
    encoding: str = "utf-8"
    where: Where | None = None
    sheet: str | int | None = None
    predictions: Predictions = False
    unit: str | None = None
    used_seps: list[LabelSep] = field(init=False, default_factory=list)

    def sep_or(self, usual: str) -> LabelSep:
        """Return the separator at which cells are split, by default the usual one of the format."""
        self.used_seps.append(read_sep(usual if self.label_sep is None else self.label_sep))
        return self.used_seps[-1]

    def reads(self, model: Hashable) -> bool:
        """Return whether the answers of a model are read."""
        if isinstance(self.predictions, bool):
            return self.predictions
        return str(model) in self.named_models([str(model)])

    def named_models(self, models: Collection[str]) -> list[str]:
        """Return the requested models; one text may list several, separated by commas."""
        names = [] if isinstance(self.predictions, bool) else self.predictions
        return find_names([names] if isinstance(names, str) else names, models)


@dataclass(frozen=True)
class Peek:
    """The beginning of a file or folder, read once for the signatures of all formats.

    Attributes
    ----------
    path : Path
    is_folder : bool
    head : str
        The first 64 KiB as text; blank for a folder.
    header : tuple of str
        The cells of the first row of a table; () if the file is not a table.
    record : object
        The first JSON object of a list or of lines, or None.
    names : tuple of str
        Relative names of at most 10,000 files in a folder; () for a file.
    is_binary : bool
        Whether the file is a workbook, Parquet file or database; `head` has its first rows as CSV.
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
        """The columns of a table by role, from their usual names; empty if it has no rows."""
        return usual_roles(name.strip() for name in self.header) if self.rows else {}

    @cached_property
    def rows(self) -> list[list[str]]:
        """The cells of the first rows below the header that have as many cells as it."""
        text = io.StringIO(self.head, newline="")
        rows = (row for row in csv.reader(text, delimiter=sniff_delimiter(self.head)) if row)
        cells = list(islice(rows, _MAX_ROWS + 1))
        return [row for row in cells[1:] if len(row) == len(cells[0])]

    def beginning(self, name: str) -> str:
        """Return the first 64 KiB of a file in the folder as text; blank if it cannot be read."""
        try:
            with (self.path / name).open(encoding="utf-8-sig", errors="replace") as file:
                return file.read(2**16)
        except OSError:
            return ""

    def names_of(self, shape: Shape) -> tuple[str, ...]:
        """Return the names that a signature of a shape tests; () if the shape is another."""
        if shape == "records":
            return tuple(self.record) if isinstance(self.record, dict) else ()
        if shape == "text":
            return (self.head,)
        return self.header if shape == "table" else self.names


@dataclass(frozen=True)
class Signature:
    """Conditions on the beginning of a file or folder that identify its format.

    Attributes
    ----------
    shape : {"records", "table", "folder", "text"}
        The names that are tested: the keys of the first JSON object, the columns of a table, or
        the files in a folder. A text has one name, its beginning.
    names : collection of str
        Names that must all be present.
    some : collection of str
        Regular expressions, each of which must match at least one whole name.
    none : str
        A regular expression that must not match any whole name.
    first : str
        A regular expression that must match the whole first name.
    roles, no_roles : collection of str
        Roles that columns with usual names must, and must not, have: "unit", "rater", "labels" or
        "value".
    also : callable, optional
        A further condition, tested if all others hold.
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
        """Return whether the beginning of a file or folder has this signature."""
        names = peek.names_of(self.shape)
        return (
            bool(names)
            and {*self.names} <= {*names}
            and _matches(self.first, names[:1])
            and all(_matches(pattern, names) for pattern in self.some)
            and not _matches(self.none, names)
            and (not self.roles or {*self.roles} <= {*peek.roles})
            and (not self.roles or {*self.no_roles}.isdisjoint(peek.roles))
            and (self.also is None or self.also(peek))
        )


def _matches(pattern: str, names: Collection[str]) -> bool:
    """Return whether a pattern matches one whole name; its dot matches any character."""
    return any(map(re.compile(pattern, re.DOTALL).fullmatch, names))


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
    signatures : tuple of Signature
        A file or folder has the format if one of them fits, and none of another format.
    read : callable
        Reads a file or folder.
    notes : str
        A sentence on what the format leaves open and the options for it, written as ``$blank``.
    read_spans : callable, optional
        Adds the labelled spans of all layers of a file or folder to `Spans`.
    basis : {"tool", "source", "documented", "plain"}
        Basis of its layout.
    has_unit : bool
        Whether `unit` may name the field of the data that identifies a unit.
    """

    name: str
    title: str
    signatures: tuple[Signature, ...]
    read: Reader
    notes: str = ""
    read_spans: Callable[[Path, Request, Spans], None] | None = None
    basis: Basis = "documented"
    has_unit: bool = False

    @property
    def shapes(self) -> set[Shape]:
        """Shapes of the format's files."""
        return {signature.shape for signature in self.signatures}

    def fits(self, peek: Peek) -> bool:
        """Return whether a file or folder may have this format."""
        return any(signature.fits(peek) for signature in self.signatures)

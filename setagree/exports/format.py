"""What the registry of formats and the readers of exports say to one another."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from setagree.study.labels import Blank
from setagree.wording.label_sets import Label

Basis: TypeAlias = Literal["tool", "source", "documented"]
"""How the layout is known: written by the tool's code, from its source, or from its documents."""


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
    """

    units: list[Hashable]
    raters: list[Hashable]
    labels: list[frozenset[Label] | None]
    places: list[str]


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
    sep : str or None
        What stands between the labels of a cell, where the format leaves it open.
    encoding : str
        How the bytes spell text.
    """

    question: str | None = None
    blank: Blank | None = None
    roster: object | None = None
    sep: str | None = None
    encoding: str = "utf-8"


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
    """

    path: Path
    is_folder: bool
    head: str
    header: tuple[str, ...]
    record: object
    names: tuple[str, ...]


@dataclass(frozen=True)
class Format:
    """A format that can be recognised and read.

    Attributes
    ----------
    name : str
        Such as ``label_studio_json``.
    title : str
        Such as ``Label Studio, JSON``.
    basis : {"tool", "source", "documented"}
        How its layout is known.
    recognise : callable
        Says yes only to what no other format can be.
    read : callable
        Reads a file or folder.
    asks : str
        What the format cannot tell and which option answers it, in one sentence.
    """

    name: str
    title: str
    basis: Basis
    recognise: Callable[[Peek], bool]
    read: Callable[[Path, Request], Answers]
    asks: str = ""

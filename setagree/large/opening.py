"""The door for what annotation tools export."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from setagree.errors import (
    DataError,
    FileError,
    OptionError,
    SetagreeError,
    shorten,
)
from setagree.exports import FORMATS, Answers, Format, Peek, Request
from setagree.exports.detection import (
    detect,
    format_of_name,
    is_binary,
    other_formats,
    peek,
    peek_frame,
    peek_record,
    recognised,
    the_one,
)
from setagree.exports.nodes import class_files, shown
from setagree.files.streams import check_encoding, expanded, listable, matching, no_collection
from setagree.files.tables import read_table
from setagree.study.annotations import Annotations
from setagree.study.labels import Blank, Case, Missing
from setagree.study.reading import Duplicates, Reading
from setagree.wording.label_sets import Label

_ROW_A_LABEL = "plain_row_per_label"
_TABLES = {"plain_long", "plain_wide", _ROW_A_LABEL}
_BASIS = {
    "tool": "written by the tool's own code",
    "source": "from the tool's source",
    "documented": "from the documented format, not verified against a live export",
    "plain": "no tool's, a plain table",
}


def read(
    path: str | os.PathLike[str],
    *,
    format: str = "auto",  # noqa: A002 - what pandas and everybody calls it
    question: str | None = None,
    blank: Blank | None = None,
    roster: str | os.PathLike[str] | pd.DataFrame | None = None,
    sep: str | None = None,
    case: Case = "keep",
    codebook: Collection[Label] | None = None,
    missing: Missing | None = None,
    duplicates: Duplicates = "error",
    encoding: str = "utf-8",
) -> Annotations:
    r"""Return the annotations of a file or folder that an annotation tool exported.

    Parameters
    ----------
    path : str or path
        The export. Some tools write a folder, with a file for each rater or unit.
    format : str
        A name that `formats` lists. Default: the one that the beginning of the file shows; where it
        could be several, that is an error.
    question : str, optional
        Which question, where the export holds answers to several.
    blank : {"missing", "empty", "error"}, optional
        What a blank answer means. Default: what the format says; where it cannot tell "no label
        applies" from "no answer", that is an error. An empty list is always the empty set, null in
        the place of a list no annotation.
    roster : path or DataFrame, optional
        Columns ``unit`` and ``rater``: who answered what, where the format cannot tell.
    sep : str, optional
        What stands between the labels of a cell, where the format leaves it open.
    case, codebook, missing, duplicates
        As in `Annotations.from_long`.
    encoding : str
        How the bytes spell text.

    Returns
    -------
    Annotations

    Raises
    ------
    FileError
        The file is absent or damaged, or has no format that is known.
    DataError
        The format cannot tell what is asked; the sentence says which option, or which other
        export, can.
    OptionError
        The file could have several formats, or holds several questions.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> ann = '{"id": "u1", "annotator": "ann", "labels": ["joy"]}\n'
    >>> bob = '{"id": "u1", "annotator": "bob", "labels": []}\n'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "emotions.jsonl")
    ...     _ = file.write_text(ann + bob)
    ...     read(file)
    <Annotations: 2 ratings, 1 unit, 2 raters, 2 distinct label sets>
    """
    reading = Reading(
        sep=sep,
        blank=blank,
        case=case,
        codebook=codebook,
        missing=missing,
        duplicates=duplicates,
        encoding=encoding,
        format=format,
        question=question,
        roster=roster,
    )
    check_encoding(encoding)
    where = expanded(path)
    _refuse_several(where)
    found = find_format(where, name=format, encoding=encoding, duplicates=duplicates)
    with no_collection(), listable(where):
        answers = found.read(where, Request(question, blank, roster, sep, encoding))
    if not answers.units:
        raise DataError(f"{shown(where)} has no annotations; there is nothing to score.")
    try:
        study = Annotations.from_triples(
            zip(answers.raters, answers.units, answers.labels, strict=True),
            case=case,
            codebook=codebook,
            missing=missing,
            duplicates=duplicates,
        )
    except SetagreeError as error:
        repeats = _repeats(answers) if duplicates == "error" else ""
        raise type(error)(f"{shown(where)}: {error}{repeats}") from error
    return replace(study, reading=reading)


def formats() -> pd.DataFrame:
    """Return the formats that `read` knows: name, title, basis, and what each leaves open.

    The basis says how the layout is known: written by the tool's own code, taken from the tool's
    source, or from the documented format and not verified against a live export.

    An installed package adds formats as entry points of the group ``setagree.formats``, each the
    name of a `setagree.exports.Format`; they are asked where no other format fits.

    Examples
    --------
    >>> formats().set_index("name").loc["label_studio_json", "title"]
    'Label Studio, JSON'
    """
    known = (*FORMATS, *other_formats())
    rows = [(each.name, each.title, _BASIS[each.basis], each.asks) for each in known]
    return pd.DataFrame(rows, columns=["name", "title", "basis", "asks"])


def find_format(
    path: Path, *, name: str = "auto", encoding: str = "utf-8", duplicates: Duplicates = "error"
) -> Format:
    """Return the format of a name, or the one that a file or folder has.

    Who says what to do with repeated annotations says that rows of one unit and rater are such.

    Raises
    ------
    OptionError
        A file of one row a label is named, whose rows are united, and repeats are to be dropped.
    """
    if not isinstance(name, str):
        raise OptionError(f"format={shorten(name)} must be the name of a format.")
    if name == "auto":
        one_answer = duplicates == "error"
        formats = [each for each in FORMATS if one_answer or each.name != _ROW_A_LABEL]
        return detect(path, formats, encoding=encoding)
    if name == _ROW_A_LABEL and duplicates in {"first", "last"}:
        raise OptionError(
            f"format={name!r} unites the rows of a unit and a rater, so that duplicates="
            f"{duplicates!r} has none to drop; say one of the two."
        )
    return format_of_name(name, FORMATS)


def seen_format(path: Path, *, encoding: str = "utf-8") -> Format | None:
    """Return the format of a tool's export, or None for a table and for what is not there.

    Raises
    ------
    OptionError
        It could have several formats.
    FileError
        It is damaged JSON.
    """
    path = expanded(path)
    if not (path.is_file() or path.is_dir()):
        return None
    return _of_tool(peek(path, encoding), path, [path])


def plain_table(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", sep: str | None = None
) -> pd.DataFrame:
    """Return the table in a file, or in several, where `seen_format` saw no export of a tool.

    Raises
    ------
    FileError
        It cannot be read as a table; see `read_table`.
    DataError
        What it could not look into, a pattern or standard input, is the export of a tool.
    """
    frame = read_table(path, encoding=encoding, sep=sep)
    where = expanded(path)
    if where.is_file() and not is_binary(where):
        return frame  # of which all was seen
    files = [] if str(path) == "-" else matching(path)
    for peeked in (peek_frame(frame, where), peek_record(frame, where)):
        if (found := _of_tool(peeked, where, files)) is not None:
            raise DataError(
                f"{_named(where)} looks like the export of a tool, {found.title}, which is read "
                f"from one file that is named (format={found.name!r}). If it is a plain table, "
                "say which columns are unit=, rater= and labels=."
            )
    return frame


def _of_tool(peeked: Peek, path: Path, files: Sequence[Path]) -> Format | None:
    """Return the format of a tool that a beginning has; None for a table."""
    seen = recognised(peeked, FORMATS)
    if {each.name for each in seen} <= _TABLES:
        return None
    found = the_one(seen, path)
    if found is None or found.name != "hf_sequence":
        return found
    # Rows of lists are a table as it stands, unless a file beside them names their numbers.
    return found if any(class_files(file) for file in files) else None


def _named(path: Path) -> str:
    return "standard input" if str(path) == "-" else shown(path)


def _refuse_several(path: Path) -> None:
    """Refuse what is no name of one file or folder."""
    if not os.path.lexists(path) and (str(path) == "-" or glob.has_magic(str(path))):
        raise FileError(
            f"{_named(path)}: the export of a tool is read from one file or folder that is named; "
            "several, or standard input, are read as plain tables alone, by setagree.agreement."
        )


def _repeats(answers: Answers) -> str:
    """Return where the first pair of unit and rater stands that is annotated twice."""
    seen: dict[tuple[Hashable, Hashable], str] = {}
    for unit, rater, labels, place in zip(
        answers.units, answers.raters, answers.labels, answers.places, strict=True
    ):
        if labels is not None and (unit, rater) in seen:
            return f" The first stand in {seen[unit, rater]} and {place}."
        if labels is not None:
            seen[unit, rater] = place
    return ""

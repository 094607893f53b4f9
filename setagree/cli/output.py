"""What the command prints: results on stdout or in a file, sentences on stderr."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import typer

from setagree.checks import check_target, expanded, replace_file
from setagree.cli.inputs import check_not_read
from setagree.cli.options import CALLED, Delivery, Reading
from setagree.cli.show import hang_up, print_text, say
from setagree.errors import (
    DroppedRowsWarning,
    FileError,
    OptionError,
    SetagreeError,
    SetagreeWarning,
    check_choice,
    spelling,
)
from setagree.progress import stages, without_line
from setagree.wording.result_base import Result
from setagree.wording.sentences import escape_formula, visible
from setagree.wording.tables import csv_text, json_text, latex_text, markdown_text

WRITERS: dict[str, Callable[[pd.DataFrame], str]] = {
    "json": json_text,
    "csv": csv_text,
    "markdown": markdown_text,
    "latex": latex_text,
}
"""The formats for programs; the table for people comes from the result itself."""

FORMS = ("table", *WRITERS)
_NO_TEXT = {
    *(".xlsx", ".xls", ".ods", ".parquet", ".feather", ".arrow", ".pdf", ".doc", ".docx", ".png"),
    *(".svg", ".pkl", ".db", ".sqlite", ".gz", ".bz2", ".xz", ".zst", ".zip"),
}
"""Endings that promise what is no text, whatever --format says."""

ENDINGS = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}
ENDINGS |= {".txt": "table", ".xml": "junit"}


class Deliverer:
    """Writes a result where it is wanted, in the form that is wanted; both are checked first.

    What is written is never put in the place of a file that the command reads. A file and a pipe
    get the data as they are; a terminal gets control characters spelled out.
    """

    def __init__(
        self,
        delivery: Delivery,
        files: Sequence[str],
        reading: Reading | None = None,
        *,
        forms: Sequence[str] = FORMS,
    ) -> None:
        self.form = _format(delivery.form, delivery.output, forms)
        self.escape = delivery.escape
        if self.escape and self.form not in WRITERS:
            raise OptionError(
                f"--escape makes sense only with --format {', '.join(WRITERS)}; a table for people "
                "has no formulas."
            )
        self.output = None if delivery.output is None else expanded(delivery.output)
        if self.output is not None:
            check_target(self.output)
            check_not_read(self.output, files, reading)

    def __call__(
        self,
        frame: pd.DataFrame,
        table: str,
        *,
        reasons: Iterable[str | None] | None = None,
        remarks: Iterable[str | None] | None = None,
        about: str | None = None,
        result: Result | None = None,
    ) -> None:
        """Write the frame as a program wants it, or the table that people read.

        LaTeX has the columns that the result prints, if there is one.

        What programs read says what intervals are about; JSON also why numbers of a row are null,
        and whether its interval is rough.
        """
        write = WRITERS.get(self.form)
        for name, texts in (("reason", reasons), ("remark", remarks)):
            if self.form == "json" and texts is not None:
                column = pd.Series([*texts], index=frame.index, dtype=object)
                frame = frame.assign(**{name: column})
        if self.form == "latex" and result is not None:
            table, write = result.to_latex().removesuffix("\n"), None
        if write is not None and about is not None:
            frame = frame.assign(about=about)
        if write is not None and self.escape:
            frame = frame.map(escape_formula).rename(columns=escape_formula)
        text = f"{table}\n" if write is None else write(frame)
        if self.output is not None:
            with replacing(self.output):
                replace_file(self.output, text)
            return
        if self.form == "csv" and sys.stdout.isatty():
            # A line break in a cell would look like the next row.
            shown = csv_text(frame.map(lambda x: visible(x) if isinstance(x, str) else x))
            if shown != text:
                say("Control characters are spelled out here; a file (-o) or a pipe gets them raw.")
            text = shown
        with printing():
            print_text(text, heads=write is None)


@contextmanager
def printing() -> Iterator[None]:
    """Word what fails while results are printed."""
    try:
        with without_line():
            yield
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        hang_up()
        reason = error.strerror or error
        raise FileError(f"the results cannot be written: {reason}.") from error


@contextmanager
def replacing(output: Path) -> Iterator[None]:
    """Print the name of a file that is replaced."""
    existed = output.exists()
    yield
    if existed:
        say(f"Replaced: {output}")


def _format(form: str | None, output: Path | None, forms: Sequence[str]) -> str:
    """Return the format that is asked for, or that the ending of the file asks for."""
    if form is not None:
        check_choice("format", form, forms)
    known = {ending: each for ending, each in ENDINGS.items() if each in forms}
    check_ending(output, [*known], form=form)
    ending = "" if output is None else output.suffix.lower()
    return form or known.get(ending, forms[0])


def check_ending(output: Path | None, endings: Sequence[str], *, form: str | None) -> None:
    """Raise an error for a file whose ending does not match the format, and for "-"."""
    if str(output) == "-":
        raise OptionError(
            "-o names a file, and '-' is none; without -o, results are printed on the standard "
            "output (a report is always a file, such as report.html)."
        )
    ending = "" if output is None else output.suffix.lower()
    if not ending or ending in endings or (form is not None and ending not in _NO_TEXT):
        return
    *others, last = endings
    known = f"{', '.join(others)} or {last}" if others else last
    raise OptionError(f"{ending} files are not written here; let {str(output)!r} end in {known}.")


@contextmanager
def sentences() -> Iterator[None]:
    """Print each warning once, in a line; turn bad input into a sentence and exit code 2.

    They spell options as the command does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", SetagreeWarning)
        warnings.showwarning = _shown_once()
        try:
            with spelling(CALLED), stages("working"):
                yield
        except SetagreeError as error:
            say(f"Error: {error}")
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except BrokenPipeError:
            raise typer.Exit(hang_up()) from None
        except OSError as error:
            what = "a file" if error.filename is None else repr(str(error.filename))
            say(f"Error: {what} cannot be read: {error.strerror or error}.")
            raise typer.Exit(2) from None


def _shown_once() -> Callable[..., None]:
    """Return what shows a warning that it has not shown yet."""
    shown = set[str]()

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        # That rows were dropped as asked is a note.
        is_note = issubclass(category, DroppedRowsWarning)
        sentence = f"{message}" if is_note else f"Warning: {message}"
        if is_note or sentence not in shown:
            shown.add(sentence)
            say(sentence)

    return show


@contextmanager
def about(file: str | None) -> Iterator[Callable[[str], None]]:
    """Name a file, where one is given, in each warning, error or note that does not name it."""
    show = warnings.showwarning

    def named(sentence: str) -> str:
        return sentence if file is None or repr(file) in sentence else f"{file}: {sentence}"

    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *rest, **more: show(
            named(str(message)), *rest, **more
        )
        try:
            yield lambda sentence: say(named(sentence))
        except SetagreeError as error:
            raise type(error)(named(str(error))) from error

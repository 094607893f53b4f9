"""Output of the command: results on stdout or in a file, sentences on stderr."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import typer

from setagree.checks import check_target, expanded, replace_file
from setagree.cli.inputs import check_not_read
from setagree.cli.options import CALLED, Delivery, Reading, grouped
from setagree.cli.show import discard_stdout, print_text, say
from setagree.errors import (
    DroppedRowsWarning,
    FileError,
    OptionError,
    SetagreeError,
    SetagreeWarning,
    check_choice,
    option,
    spelling,
)
from setagree.lazy import pd
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
"""The formats for programs. The result itself prints the table for people."""

FORMS = ("table", *WRITERS)
_BINARY = {
    *(".xlsx", ".xls", ".ods", ".parquet", ".feather", ".arrow", ".pdf", ".doc", ".docx", ".png"),
    *(".svg", ".pkl", ".db", ".sqlite", ".gz", ".bz2", ".xz", ".zst", ".zip"),
}
"""Endings of files that are not text, which are refused with any --format."""

ENDINGS = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}
ENDINGS |= {".txt": "table", ".xml": "junit"}


class Deliverer:
    """Writes a result in the requested format to the requested file; both are checked first.

    A file that the command reads is never replaced. A file or a pipe gets the data unchanged; on a
    terminal, control characters are escaped.
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
                f"--escape makes sense only with --format {', '.join(WRITERS)}; a table for "
                "people has no formulas."
            )
        self.output = None if delivery.output is None else expanded(delivery.output)
        if self.output is not None:
            check_target(self.output)
            check_not_read(self.output, files, reading)

    def __call__(
        self,
        frame: pd.DataFrame | Callable[[], pd.DataFrame],
        table: str,
        *,
        reasons: Iterable[str | None] | None = None,
        remarks: Iterable[str | None] | None = None,
        about: str | None = None,
        result: Result | None = None,
    ) -> None:
        """Write the frame for programs (or what returns it), or the table for people.

        LaTeX has the columns that the result prints, if there is one. Formats for programs include
        the target of the intervals (`about`); JSON also has the reason for nulls in a row, and the
        remark on a rough interval.
        """
        write = WRITERS.get(self.form)
        frame = frame() if write is not None and callable(frame) else cast("pd.DataFrame", frame)
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
            # On a terminal, a line break in a cell would look like the next row.
            shown = csv_text(frame.map(lambda x: visible(x) if isinstance(x, str) else x))
            if shown != text:
                say("Control characters are escaped here; a file (-o) or a pipe keeps them.")
            text = shown
        with printing():
            print_text(text, heads=write is None)


@contextmanager
def printing() -> Iterator[None]:
    """Raise `FileError` if results cannot be printed."""
    try:
        with without_line():
            yield
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_stdout()
        raise FileError(f"the results cannot be written: {error.strerror or error}.") from error


@contextmanager
def replacing(output: Path) -> Iterator[None]:
    """Print the name of a file that is replaced."""
    existed = output.exists()
    yield
    if existed:
        say(f"Replaced: {output}")


def _format(form: str | None, output: Path | None, forms: Sequence[str]) -> str:
    """Return the format that --format names, or by default that of the ending of the file."""
    if form is not None:
        check_choice("format", form, forms)
    endings = {ending: each for ending, each in ENDINGS.items() if each in forms}
    check_ending(output, [*endings], form=form)
    ending = "" if output is None else output.suffix.lower()
    return form or endings.get(ending, forms[0])


def check_ending(output: Path | None, endings: Sequence[str], *, form: str | None) -> None:
    """Raise an error for a file whose ending does not match the format, and for "-"."""
    if str(output) == "-":
        raise OptionError(
            "-o must name a file, not '-'; to print results, omit it (a report needs a file, such "
            "as report.html)."
        )
    ending = "" if output is None else output.suffix.lower()
    if not ending or ending in endings or (form is not None and ending not in _BINARY):
        return
    *others, last = endings
    allowed = f"{', '.join(others)} or {last}" if others else last
    raise OptionError(
        f"{ending} files cannot be written here; use a name that ends in {allowed}, not "
        f"{str(output)!r}."
    )


@contextmanager
def sentences() -> Iterator[None]:
    """Print each warning once, as a line, and turn an error into a line and exit code 2.

    Options are spelled as on the command line.
    """
    remedies: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("always", SetagreeWarning)
        warnings.showwarning = _shown_once(remedies)
        try:
            with spelling(CALLED), stages("working"):
                yield
            _say_all(remedies)
        except SetagreeError as error:
            say(f"Error: {error}")
            _say_all(remedies | dict(error.remedy))
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except BrokenPipeError:
            raise typer.Exit(discard_stdout()) from None
        except OSError as error:
            what = "a file" if error.filename is None else repr(str(error.filename))
            say(f"Error: {what} cannot be read: {error.strerror or error}.")
            raise typer.Exit(2) from None


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function as a command: with options from groups, and with `sentences`."""
    return grouped(sentences()(function))


def _say_all(remedies: Mapping[str, Any]) -> None:
    """Print the command with all options that warnings and the error propose, if several do."""
    if CALLED["where"] in sys.argv:  # a second condition would replace the first
        remedies = {name: value for name, value in remedies.items() if name != "where"}
    called = shlex.join(sys.argv[1:])
    with spelling(CALLED):
        options = [option(name, value) for name, value in remedies.items()]
    new = [text for text in options if shlex.join(shlex.split(text)) not in called]
    if len(new) > 1:
        say("With all these options (omit any that does not apply):")
        say(f"setagree {called} {' '.join(new)}")


def _shown_once(remedies: dict[str, Any]) -> Callable[..., None]:
    """Return a function that prints a warning unless it has printed it before.

    The function adds the options that warnings propose to `remedies`.
    """
    printed = set[str]()

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        remedy = dict(getattr(message, "remedy", {}))
        if {"raters"} <= remedy.keys() & remedies.keys():  # each warning leaves out others
            remedy["raters"] = [x for x in remedies["raters"] if x in remedy["raters"]]
        remedies.update(remedy)
        # Dropping rows on request is not worth a warning, and counts differ between groups.
        is_note = issubclass(category, DroppedRowsWarning)
        sentence = f"{message}" if is_note else f"Warning: {message}"
        if is_note or sentence not in printed:
            printed.add(sentence)
            say(sentence)

    return show


@contextmanager
def about(file: str | None) -> Iterator[Callable[[str], None]]:
    """Put the name of a file, if there is one, before each warning, error or note without it."""
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
            raise error.worded(named(str(error))) from None

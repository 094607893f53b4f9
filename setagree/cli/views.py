"""The commands that explain an agreement: report and diagnose."""

from __future__ import annotations

import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any, cast

import pandas as pd

import setagree as sa
from setagree.checks import check_target, expanded
from setagree.cli import options as options
from setagree.cli.inference import resamples_or, seed_or_drawn
from setagree.cli.inputs import check_not_read
from setagree.cli.label_files import wished
from setagree.cli.options import (
    RESULTS,
    SURE,
    Asked,
    Delivery,
    QuestionsReading,
    Reading,
    SpanReading,
    Text,
    grouped,
    member,
    option,
)
from setagree.cli.output import Deliverer, check_ending, replacing, sentences
from setagree.cli.reading import long_table, names, read_with_models, with_population
from setagree.cli.scores import by_questions
from setagree.cli.show import say
from setagree.diagnosis.by_group import compare_groups
from setagree.diagnosis.by_question import QuestionTable
from setagree.diagnosis.grouping import first_times, grouped_table, study_and_column, windowed_times
from setagree.errors import DroppedRowsWarning, OptionError, SetagreeWarning, check_choice
from setagree.large.joining import model_files
from setagree.reporting.findings import (
    ONE_BY_ONE,
    UNWEIGHTED,
    claims_note,
    gather,
    main_findings,
    sections,
)
from setagree.reporting.headline import headline, verdict_sentence
from setagree.reporting.report import report as write_report
from setagree.reporting.sections.base import Findings, Section, Table
from setagree.study.annotations import Annotations
from setagree.study.columns import with_missing_ids
from setagree.study.numbers import as_number
from setagree.wording.sentences import Sentence, columns_of, cut, plain
from setagree.wording.tables import TERMINAL, Column, TextTable, aligned

OverTime = Annotated[Text, option(options.COLUMNS, "COLUMN", "Time of rating: dates or numbers.")]
Window = Annotated[Text, option(options.COLUMNS, "LENGTH", "With --time: 7D, 12h, or 50.")]


def time_lines(
    files: Sequence[str],
    reading: Reading,
    column: str | None,
    window: str | None,
    given: dict[str, Any],
    models: Sequence[Any] = (),
) -> list[str]:
    """Return a table of the humans' agreement in each window of time; nothing if none is asked."""
    if (column is None) != (window is None):
        raise OptionError("--time and --window belong together: --time date --window 7D.")
    if column is None or window is None:
        return []
    frame, how, without = long_table(files, reading, besides=column, option="--time")
    frame = with_missing_ids(frame, [column])
    number = as_number(window)
    length = window if number is None else number if isinstance(number, int) else float(number)
    with warnings.catch_warnings():
        # All of them have been said when the study was read.
        warnings.simplefilter("ignore", SetagreeWarning)
        gone = [*without, *models]
        study, cells, units = study_and_column(frame, column, how, without=gone)
        study = with_population(study, reading)
        times = windowed_times(cells, f"--time {column!r}")
        first = first_times(times, units, study.n_units)
        at = dict(zip(study.units, map(first.shown, cast("Any", first.values)), strict=True))
        found = sa.over_time(study, at, window=length, **given)
    found = found.assign(start=[*map(_moment, found["start"])], end=[*map(_moment, found["end"])])
    table = TextTable.of(found, _WINDOWS, given.get("level", 0.95))
    return ["", f"OVER TIME ({column}, {window})", *str(table).splitlines()]


_WINDOWS = (
    Column("start", "text", "from"),
    Column("end", "text", "to before"),
    Column("n_units", "count", "units"),
    Column("n_raters", "count", "raters"),
    Column("n_ratings", "count", "ratings"),
    Column("estimate"),
    Column(("low", "high"), "interval"),
)


def _moment(time: Any) -> str:
    """Return a number, or a date and the minute."""
    return f"{time:%Y-%m-%d %H:%M}" if isinstance(time, pd.Timestamp) else f"{time:g}"


REPORT_HELP = """[bold]setagree report study.csv -o report.html[/bold]

[not dim]One page: how far raters agree, what lowers agreement, what to fix. Also:[/]

setagree report study.csv -o report.html --by batch --title "Round 2"
setagree report study.csv -o report.html --model gpt --model claude
setagree report study.csv -o report.md -d jaccard --seed 1
setagree report study.csv -o report.md --threshold 0.667 --model gpt --margin 0.1
setagree report study.csv -o report.pdf
setagree report survey.csv -o report.html --questions emotion,stance
"""

DIAGNOSE_HELP = """[bold]setagree diagnose study.csv[/bold]

[not dim]Which labels, raters and units lower the agreement. Also:[/]

setagree diagnose study.csv --by batch --rows 10
setagree diagnose study.csv --time created --window 7D
setagree diagnose study.csv --model gpt
setagree diagnose study.csv -c fleiss_kappa -d jaccard --seed 1
"""

Title = Annotated[Text, option(RESULTS, "TEXT", "Title of the report.")]
Page = Annotated[
    Text, option(RESULTS, "AS", "html, markdown, pdf (default: by -o).", "--format", "-f")
]
Target = Annotated[Path, option(RESULTS, "FILE", "Where it is written.", "--output", "-o")]
Found = Annotated[Path | None, option(RESULTS, "FILE", "Write it as text.", "--output", "-o")]
_REACHED, _TOLD = "Also: is it at least VALUE?", "Also: do models agree with themselves?"
Reached = Annotated[float | None, option(SURE, "VALUE", _REACHED, "--threshold")]
Told = Annotated[list[str] | None, option(options.PANEL, "COLUMNS", _TOLD, "--facets")]
Rows = Annotated[int | None, option(RESULTS, "N", "Tables with N rows (default: 5).", "--rows")]


@dataclass(frozen=True, kw_only=True)
class Explained(Asked):
    """Which agreement is explained, by what, and how surely."""

    by: Text = member(options.COLUMNS, "COLUMN", "Groups to compare, such as batches.")
    level: options.Level = 0.95
    model: options.AnyModels = None
    resamples: int | None = member(
        SURE, "N", "How many (default: 999, of large files fewer).", "--resamples"
    )
    seed: options.Seed = None


_REDRAWN = 100_000_000
"""Units that are redrawn in all where groups are panels of raters."""

_NARROWEST, _LONGEST_LINE = 40, 100
_ROWS = 5
_UNLIMITED = 10**9
"""Columns of a file or a pipe, where no cell is cut."""

_NAME, _SENTENCE = 28, 44
"""Columns that a name may take in a table of 80, and a text where there is no more room."""

_text = partial(plain, quoted=False)


@grouped
@sentences()
def report(
    files: options.Files,
    *,
    reading: QuestionsReading,
    asked: Explained,
    margin: options.Margin = None,
    threshold: Reached = None,
    facets: Told = None,
    title: Title = None,
    form: Page = None,
    output: Target,
) -> None:
    """Write a one-page report on a file."""
    check_ending(output, [".html", ".htm", ".md", ".markdown", ".pdf"], form=form)
    # What cannot or must not be replaced is refused before any work.
    check_target(expanded(output))
    read = [*files, *asked.paths, *model_files(asked.model)]
    check_not_read(expanded(output), read, reading)
    if form is not None:
        check_choice("format", form, ("html", "markdown", "pdf"))
    columns = names(facets)
    study: Any
    if reading.questions is None:
        study, given, how = _studied(files, reading, asked, facets=columns)
    else:
        study, given, how = _questions(files, reading, asked)
    how |= {"margin": margin, "threshold": threshold, "facets": columns or None}
    with replacing(expanded(output)):
        path = write_report(
            study,
            output,
            **given,
            **how,
            title=", ".join(Path(file).stem for file in files) if title is None else title,
            format=form,  # type: ignore[arg-type]  # checked above
        )
    n = path.stat().st_size
    size = f"{n / 1e6:.1f} MB" if n >= 1e5 else f"{n / 1e3:.0f} kB"
    say(f"Written: {path} ({size}, seed {how['rng']})")


@grouped
@sentences()
def diagnose(
    files: options.Files,
    *,
    reading: SpanReading,
    asked: Explained,
    time: OverTime = None,
    window: Window = None,
    tables: options.Tables = False,
    rows: Rows = None,
    output: Found = None,
) -> None:
    """List the causes of low agreement, with remedies."""
    read = [*files, *asked.paths, *model_files(asked.model)]
    deliver = Deliverer(Delivery(output=output), read, reading, forms=["table"])
    if rows is not None and rows < 1:
        raise OptionError(f"--rows {rows} must be 1 or more.")
    study, given, how = _studied(files, reading, asked)
    times = time_lines(files, reading, time, window, given, how["model"] or ())
    found = gather(study, **given, **how)
    is_shown = output is None and sys.stdout.isatty()
    width = max(get_terminal_size((TERMINAL, 24)).columns, _NARROWEST) if is_shown else TERMINAL
    lines = [*terminal_lines(found, width=width)]
    drawn = f"{how['n_resamples']:,} resamples, seed {how['rng']}."
    if tables or rows is not None:
        limit = width if is_shown else _UNLIMITED
        lines += [*table_lines(found, rows or _ROWS, width=width, tables=limit), "", drawn]
    else:
        lines += _wrapped(
            (" ".join([*_claims(found), drawn, options.MORE]),), min(width, _LONGEST_LINE)
        )
    deliver(pd.DataFrame(), "\n".join([*lines, *times]).rstrip())


def _studied(
    files: Sequence[str], reading: SpanReading, asked: Explained, *, facets: Sequence[str] = ()
) -> tuple[Annotations, dict[str, Any], dict[str, Any]]:
    """Return the study, which of its agreements is explained, and how that is done."""
    seed, given = seed_or_drawn(asked.seed), _one_of_each(asked, reading)
    n_resamples = resamples_or(asked.resamples, 999)
    study, models = read_with_models(files, reading, asked.model, facets=facets, all_units=True)
    how = {"model": models or None, "n_resamples": n_resamples, "rng": seed}
    return study, given, {**how, "groups": _groups(files, reading, asked.by, given, how)}


def _questions(
    files: Sequence[str], reading: QuestionsReading, asked: Explained
) -> tuple[QuestionTable, dict[str, Any], dict[str, Any]]:
    """Return the agreement on each of several questions, and how each is explained."""
    if asked.by is not None:
        raise OptionError("--by is for one question; drop it with --questions.")
    _one_of_each(asked, reading)
    (table,) = by_questions(files, reading, asked, asked.level, names(asked.model))
    how = {"n_resamples": resamples_or(asked.resamples, 999), "rng": seed_or_drawn(asked.seed)}
    return table, {"level": asked.level}, how


def _one_of_each(asked: Explained, reading: Reading) -> dict[str, Any]:
    """Return the coefficient and the distance that are to be explained."""
    given: dict[str, Any] = {"level": asked.level}
    for name, chosen in wished(asked, reading).items():
        if len(chosen) > 1:
            raise OptionError(f"one {name} is explained; --{name} names {len(chosen)}.")
        given[name] = chosen[0]
    return given


def _groups(
    files: Sequence[str],
    reading: SpanReading,
    column: str | None,
    given: dict[str, Any],
    how: dict[str, Any],
) -> pd.DataFrame | None:
    """Return the agreement of the humans in each group that a column of a long table names."""
    if column is None:
        return None
    frame, table, without = long_table(files, reading, besides=column, option="--by")
    with warnings.catch_warnings():
        # All others were given when the study was read.
        warnings.simplefilter("ignore", SetagreeWarning)
        warnings.filterwarnings("always", ".* with nothing in column", DroppedRowsWarning)
        grouped = grouped_table(frame, column, table, without=[*without, *(how["model"] or ())])
        grouped = replace(grouped, study=with_population(grouped.study, reading))
        most = max(99, _REDRAWN // grouped.study.n_units)
        n_resamples = min(how["n_resamples"], most)
        return compare_groups(grouped, by=column, **given, n_resamples=n_resamples, rng=how["rng"])


# ---- The terminal -------------------------------------------------------------------------------


def terminal_lines(f: Findings, *, width: int) -> Iterator[str]:
    """Yield the estimate, the verdict and the findings as lines of at most 100 columns."""
    long = min(width, _LONGEST_LINE)
    yield from _wrapped(headline(f), long)
    if f.main.reason is None:
        yield from _wrapped((verdict_sentence(f, brief=True),), long)
    yield ""
    for finding in main_findings(f):
        yield from _wrapped((f"{finding.about}: ", *finding.sentence), long, bullet="- ")
    yield ""


def table_lines(f: Findings, rows: int, *, width: int, tables: int) -> Iterator[str]:
    """Yield what the claims rest on, and the sections with their tables."""
    long = min(width, _LONGEST_LINE)
    if note := claims_note(f):
        yield from _wrapped((note,), long)
    for section in sections(f):
        yield from _section_lines(section, rows, long, tables)


def _claims(f: Findings) -> Iterator[str]:
    """Yield the sentence on the correction of p, if there are claims."""
    if f.n_claims:
        yield f"p is {f.holm_clause}."


def _section_lines(section: Section, rows: int, width: int, tables: int) -> Iterator[str]:
    if section.table is None and section.picture is not None:
        return  # what it says stands among the main findings
    yield from ("", section.title.upper())
    if section.table is None:
        yield from _wrapped(section.lead or (), width)
        return
    n = rows if section.table.is_ranking else len(section.table.rows)
    yield from _table_lines(section.table, n, tables)
    if section.note.endswith((UNWEIGHTED, ONE_BY_ONE)):
        yield from _wrapped((section.note.rpartition(". ")[2],), width)


def _table_lines(table: Table, rows: int, terminal: int) -> Iterator[str]:
    """Yield as many columns as fit, the first of them first, and the first rows."""
    shown_rows = table.rows[:rows]
    say_cell = _in_full if terminal == _UNLIMITED else _text
    columns = [
        [column.heading(), *(column.text(row[k], say_cell) for row in shown_rows)]
        for k, column in enumerate(table.columns)
    ]
    columns = _cut_columns(columns, table.columns, terminal)
    n = _fitting([max(map(columns_of, cells)) for cells in columns], terminal)
    left = [not column.is_number for column in table.columns]
    yield from aligned(columns[:n], left=left[:n], terminal=terminal)
    if rows < len(table.rows) or table.more:
        yield f"(the first {len(shown_rows)}; --rows shows more)"


def _in_full(sentence: Sentence) -> str:
    """Return a sentence as text, names of any length in it."""
    return "".join(piece if isinstance(piece, str) else piece.text for piece in sentence)


def _fitting(widths: Sequence[int], terminal: int) -> int:
    """Return how many columns fit the terminal; the first always does."""
    total, n = widths[0], 1
    while n < len(widths) and total + 2 + widths[n] <= terminal:
        total += 2 + widths[n]
        n += 1
    return n


def _cut_columns(
    columns: Sequence[Sequence[str]], heads: Sequence[Column], terminal: int
) -> list[list[str]]:
    """Return columns of cells, names cut to their part of the terminal, texts to what is left."""
    name = max(_NAME, _NAME * terminal // TERMINAL)
    named = [
        [cut(cell, name) if head.kind == "name" else cell for cell in cells]
        for cells, head in zip(columns, heads, strict=True)
    ]
    is_text = [head.kind == "text" for head in heads]
    others = [
        max(map(columns_of, cells)) + 2 for cells, no in zip(named, is_text, strict=True) if not no
    ]
    text = max(min(_SENTENCE, terminal - 2), (terminal - sum(others)) // max(sum(is_text), 1) - 2)
    return [
        [cut(cell, text) for cell in cells] if is_cut else cells
        for cells, is_cut in zip(named, is_text, strict=True)
    ]


def _wrapped(sentence: Sentence, width: int, *, bullet: str = "") -> list[str]:
    return textwrap.wrap(
        _text(sentence),
        width,
        initial_indent=bullet,
        subsequent_indent=" " * len(bullet),
        break_on_hyphens=False,
    )

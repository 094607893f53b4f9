"""Commands that explain an agreement: report and diagnose."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pandas as pd

import setagree as sa
from setagree.checks import check_target, expanded
from setagree.cli import options as options
from setagree.cli.inference import seed_or_random
from setagree.cli.inputs import check_not_read
from setagree.cli.label_files import chosen_measures
from setagree.cli.options import (
    COLUMNS,
    INFERENCE,
    OUTPUT,
    Count,
    Delivery,
    Group,
    Measures,
    Number,
    QuestionsReading,
    Reading,
    SpanReading,
    Text,
    member,
)
from setagree.cli.output import Deliverer, check_ending, command, replacing
from setagree.cli.reading import (
    how_read,
    long_table,
    names,
    quiet,
    read_with_models,
    with_population,
)
from setagree.cli.scores import chosen_questions
from setagree.cli.show import say
from setagree.diagnosis.by_group import compare_groups
from setagree.diagnosis.grouping import first_times, grouped_table, study_and_column, windowed_times
from setagree.errors import DroppedRowsWarning, OptionError, check_choice
from setagree.large.joining import model_files
from setagree.reporting.findings import (
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
from setagree.wording.tables import TERMINAL, Column, TextTable, aligned, terminal_width

REPORT_HELP = """[bold]setagree report study.csv -o report.html[/bold]

[not dim]Write a page on the agreement, its causes and the remedies. Also:[/]

setagree report study.csv -o report.html --by batch --title "Round 2"
setagree report study.csv -o report.html --model gpt --model claude
setagree report study.csv -o report.md -d jaccard --seed 1
setagree report study.csv -o report.md --model gpt --margin 0.1
setagree report study.csv -o report.pdf --threshold 0.667
setagree report survey.csv -o report.html --questions emotion,stance
"""

DIAGNOSE_HELP = """[bold]setagree diagnose study.csv[/bold]

[not dim]List the labels, raters and units that lower agreement. Also:[/]

setagree diagnose study.csv --by batch --tables
setagree diagnose study.csv --time created --window 7D
setagree diagnose study.csv --model gpt
setagree diagnose study.csv -c fleiss_kappa -d jaccard --seed 1
"""


class Explained(Measures, panel=COLUMNS):
    """The agreement that is explained, and how."""

    by: Text = member("COLUMN", "Groups to compare, such as batches.")
    level: options.Level = 0.95
    model: options.Models = None
    resamples: Count = member(
        "N", "Number of resamples (default: 999; fewer for large files).", panel=INFERENCE
    )
    seed: options.Seed = None

    @property
    def n_resamples(self) -> int:
        """Number of resamples."""
        return 999 if self.resamples is None else self.resamples


class Page(Group, panel=OUTPUT):
    """What else a report has, and where it is written."""

    threshold: Number = member(
        "VALUE", "Also test whether alpha is at least this.", panel=INFERENCE
    )
    margin: options.Margin = None
    facets: options.Facets = None
    title: Text = member("TEXT", "Title (default: the name of the file).")
    form: Text = member(
        "AS", "html, markdown or pdf (default: by the file name).", "--format", "-f"
    )
    output: Path = member(
        "FILE", "File to write: .html, .md or .pdf.", "--output", "-o", default=MISSING
    )


@command
def report(
    files: options.Files, *, reading: QuestionsReading, explained: Explained, page: Page
) -> None:
    """Write a one-page report on a file."""
    check_ending(page.output, [".html", ".htm", ".md", ".markdown", ".pdf"], form=page.form)
    target = expanded(page.output)
    check_target(target)
    check_not_read(target, [*files, *explained.paths, *model_files(explained.model)], reading)
    if page.form is not None:
        check_choice("format", page.form, ("html", "markdown", "pdf"))
    columns = names(page.facets)
    study: Any
    if reading.questions is None:
        study, measure, how = _studied(files, reading, explained, facets=columns)
    else:
        if explained.by is not None:
            raise OptionError("--by does not apply to --questions; omit one of them.")
        study, measure = files, _single_measure(explained, reading)
        how = {"questions": chosen_questions(reading), "reading": how_read(reading)}
        how |= {"model": names(explained.model) or None, "n_resamples": explained.n_resamples}
        how["rng"] = seed_or_random(explained.seed)
    how |= {"margin": page.margin, "threshold": page.threshold, "facets": columns or None}
    title = ", ".join(Path(file).stem for file in files) if page.title is None else page.title
    with replacing(target):
        path = write_report(
            study, page.output, **measure, **how, title=title, format=cast(Any, page.form)
        )
    n = path.stat().st_size
    size = f"{n / 1e6:.1f} MB" if n >= 1e5 else f"{n / 1e3:.0f} kB"
    say(f"Written: {path} ({size}, seed {how['rng']})")


class Shown(Group, panel=COLUMNS):
    """The windows of time and the tables of a diagnosis."""

    time: Text = member("COLUMN", "The time of each rating: dates or numbers.")
    window: Text = member("LENGTH", "Length of the windows of --time: 7D, 12h or 50.")
    tables: options.Tables = False
    output: Path | None = member("FILE", "Text file to write.", "--output", "-o", panel=OUTPUT)


@command
def diagnose(
    files: options.Files, *, reading: SpanReading, explained: Explained, shown: Shown
) -> None:
    """List the causes of low agreement, with remedies."""
    read = [*files, *explained.paths, *model_files(explained.model)]
    output = shown.output
    deliver = Deliverer(Delivery(output=output), read, reading, forms=["table"])
    study, measure, how = _studied(files, reading, explained)
    times = time_lines(files, reading, shown.time, shown.window, measure, how["model"] or ())
    found = gather(study, **measure, **how)
    is_terminal = output is None and sys.stdout.isatty()
    width = terminal_width(sys.maxsize) if is_terminal else TERMINAL
    lines = [*terminal_lines(found, width=width)]
    drawn = f"{how['n_resamples']:,} resamples, seed {how['rng']}."
    if shown.tables:
        limit = width if is_terminal else _UNLIMITED
        lines += [*table_lines(found, width=width, tables=limit), "", drawn]
    else:
        claims = [f"p is{clause[1:]}."] if (clause := found.holm_clause) else []
        lines += _wrapped((" ".join([*claims, drawn, options.MORE]),), width)
    deliver(pd.DataFrame(), "\n".join([*lines, *times]).rstrip())


def _studied(
    files: Sequence[str], reading: SpanReading, explained: Explained, *, facets: Sequence[str] = ()
) -> tuple[Annotations, dict[str, Any], dict[str, Any]]:
    """Return the study, the measure that is explained, and the other options of a report."""
    seed, measure = seed_or_random(explained.seed), _single_measure(explained, reading)
    study, models = read_with_models(files, reading, explained.model, facets=facets, all_units=True)
    how = {"model": models or None, "n_resamples": explained.n_resamples, "rng": seed}
    return study, measure, {**how, "groups": _groups(files, reading, explained.by, measure, how)}


def _single_measure(explained: Explained, reading: Reading) -> dict[str, Any]:
    """Return the level, and the coefficient and the distance if they are named."""
    measure: dict[str, Any] = {"level": explained.level}
    for name, chosen in chosen_measures(explained, reading).items():
        if len(chosen) > 1:
            raise OptionError(f"only one {name} can be explained; --{name} has {len(chosen)}.")
        measure[name] = chosen[0]
    return measure


_MAX_RESAMPLED_UNITS = 100_000_000
"""Total number of units in the resamples of groups that are panels of raters."""


def _groups(
    files: Sequence[str],
    reading: SpanReading,
    column: str | None,
    measure: dict[str, Any],
    how: dict[str, Any],
) -> pd.DataFrame | None:
    """Return the agreement of the humans in each group of a column of a long table."""
    if column is None:
        return None
    table, how_read, without = long_table(files, reading, besides=column, option="--by")
    with quiet((".* with nothing in column", DroppedRowsWarning)):
        grouped = grouped_table(table, column, how_read, without=[*without, *(how["model"] or ())])
        grouped = replace(grouped, study=with_population(grouped.study, reading))
        most = max(99, _MAX_RESAMPLED_UNITS // grouped.study.n_units)
        n_resamples = min(how["n_resamples"], most)
        return compare_groups(
            grouped, by=column, **measure, n_resamples=n_resamples, rng=how["rng"]
        )


def time_lines(
    files: Sequence[str],
    reading: Reading,
    column: str | None,
    window: str | None,
    measure: dict[str, Any],
    models: Sequence[Any] = (),
) -> list[str]:
    """Return a table of the humans' agreement in windows of time, or no lines without --time."""
    if (column is None) != (window is None):
        raise OptionError("--time and --window belong together: --time date --window 7D.")
    if column is None or window is None:
        return []
    table, how_read, without = long_table(files, reading, besides=column, option="--time")
    table = with_missing_ids(table, [column])
    number = as_number(window)
    length = window if number is None else number if isinstance(number, int) else float(number)
    with quiet():
        left_out = [*without, *models]
        study, cells, units = study_and_column(table, column, how_read, without=left_out)
        study = with_population(study, reading)
        times = windowed_times(cells, f"--time {column!r}")
        first = first_times(times, units, study.n_units)
        at = dict(zip(study.units, map(first.shown, cast("Any", first.values)), strict=True))
        found = sa.over_time(study, at, window=length, **measure)
    found = found.assign(start=[*map(_moment, found["start"])], end=[*map(_moment, found["end"])])
    shown = TextTable.of(found, _WINDOWS, measure.get("level", 0.95))
    return ["", f"OVER TIME ({column}, {window})", *str(shown).splitlines()]


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
    """Return a number, or a date to the minute."""
    return f"{time:%Y-%m-%d %H:%M}" if isinstance(time, pd.Timestamp) else f"{time:g}"


# ---- The terminal -------------------------------------------------------------------------------

_MAX_TEXT_WIDTH = 100
_UNLIMITED = 10**9
"""Width of a file or a pipe, in which no cell is cut."""

_NAME_WIDTH, _TEXT_WIDTH = 28, 44
"""Maximum width of a name in a table of 80 columns, and minimum width of a text."""


def terminal_lines(f: Findings, *, width: int) -> Iterator[str]:
    """Yield the estimate, the verdict and the findings."""
    yield from _wrapped(headline(f), width)
    if f.main.reason is None:
        yield from _wrapped((verdict_sentence(f, brief=True),), width)
    yield ""
    for finding in main_findings(f):
        yield from _wrapped((f"{finding.about}: ", *finding.sentence), width, bullet="- ")
    yield ""


def table_lines(f: Findings, *, width: int, tables: int) -> Iterator[str]:
    """Yield the note on corrected p-values, and the sections with their tables."""
    if note := claims_note(f):
        yield from _wrapped((note,), width)
    for section in sections(f):
        yield from _section_lines(section, width, tables)


def _section_lines(section: Section, width: int, tables: int) -> Iterator[str]:
    if section.table is None and section.picture is not None:
        return  # its sentences are among the main findings
    yield from ("", section.title.upper())
    if section.table is None:
        yield from _wrapped(section.lead or (), width)
        return
    yield from _table_lines(section.table, tables)
    if section.table.more:
        yield from _wrapped((section.table.more,), width)
    if section.design_note:
        yield from _wrapped((section.design_note,), width)


def _table_lines(table: Table, terminal: int) -> Iterator[str]:
    """Yield the rows, with as many of the first columns as fit."""
    in_words = _uncut if terminal == _UNLIMITED else partial(plain, quoted=False)
    columns = [
        [column.heading(), *(column.text(row[k], in_words) for row in table.rows)]
        for k, column in enumerate(table.columns)
    ]
    columns = _cut_columns(columns, table.columns, terminal)
    n, total = 1, max(map(columns_of, columns[0]))
    for cells in columns[1:]:
        total += 2 + max(map(columns_of, cells))
        if total > terminal:
            break
        n += 1
    left = [not column.is_number for column in table.columns]
    yield from aligned(columns[:n], left=left[:n], terminal=terminal)


def _uncut(sentence: Sentence) -> str:
    """Return a sentence as text with uncut names."""
    return "".join(piece if isinstance(piece, str) else piece.text for piece in sentence)


def _cut_columns(
    columns: Sequence[Sequence[str]], heads: Sequence[Column], terminal: int
) -> list[list[str]]:
    """Return columns with names cut to a share of the terminal, and texts to the rest of it."""
    limits = {"name": max(_NAME_WIDTH, _NAME_WIDTH * terminal // TERMINAL)}
    kinds = [head.kind for head in heads]
    widths = [
        min(max(map(columns_of, cells)), limits.get(kind, terminal))
        for cells, kind in zip(columns, kinds, strict=True)
        if kind != "text"
    ]
    remaining = terminal - sum(widths) - 2 * len(widths)
    share = remaining // max(kinds.count("text"), 1) - 2
    limits["text"] = max(min(_TEXT_WIDTH, terminal - 2), share)
    return [
        [cut(cell, limits[kind]) for cell in cells] if kind in limits else [*cells]
        for cells, kind in zip(columns, kinds, strict=True)
    ]


def _wrapped(sentence: Sentence, width: int, *, bullet: str = "") -> list[str]:
    """Return a sentence in lines of at most 100 columns."""
    return textwrap.wrap(
        plain(sentence, quoted=False),
        min(width, _MAX_TEXT_WIDTH),
        initial_indent=bullet,
        subsequent_indent=" " * len(bullet),
        break_on_hyphens=False,
    )

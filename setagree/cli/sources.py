"""The commands about where annotations come from: formats, convert."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import setagree as sa
from setagree.cli import options as options
from setagree.cli.options import Delivery, SpanReading, grouped
from setagree.cli.output import Deliverer, printing, sentences
from setagree.cli.reading import long_table, read_study, unescaped
from setagree.cli.show import print_list, say
from setagree.diagnosis.grouping import grouped_table
from setagree.errors import OptionError, SetagreeWarning, counted
from setagree.study.columns import usual_roles
from setagree.wording.label_sets import format_labels, sorted_labels

CONVERT_HELP = """[bold]setagree convert export.json -o long.csv[/bold]

[not dim]One row for each unit and rater; [] is the empty set, --label-sep between labels. Also:[/]

setagree convert doccano/ --roster asked.csv -o long.csv
setagree convert wide.csv --wide --blank empty -f json
"""

_UNVERIFIED = "* from the documented format, not verified against a live export\n"


@grouped
@sentences()
def list_formats(*, delivery: Delivery) -> None:
    """List the exports of tools that are read."""
    table = sa.formats()
    if delivery.form not in {None, "table"} or delivery.output is not None:
        Deliverer(delivery, [])(table, _plain(table))
        return
    with printing():
        print_list(_rows(table))
        sys.stdout.write(f"\n{_UNVERIFIED}")


@grouped
@sentences()
def convert(files: options.Files, *, reading: SpanReading, delivery: Delivery) -> None:
    """Convert an export or a table to a long CSV."""
    if delivery.form == "table":
        raise OptionError("--format 'table' is for results; use csv, json or markdown.")
    if reading.population_size:
        raise OptionError(
            "--population-size is not a column of the table; omit it here and pass it to the "
            "command that reads the table, such as score."
        )
    deliver = Deliverer(delivery, files, reading, forms=("csv", "json", "markdown"))
    study = read_study(files, reading)
    frame, label_sep = (
        _with_unit_columns(study),
        "," if reading.label_sep is None else unescaped(reading.label_sep),
    )
    if reading.degree is not None:
        frame = row_a_label(frame, label_sep)
    elif study.kind == "labels" and deliver.form != "json":
        frame["labels"] = [
            format_labels(labels, label_sep=label_sep) or "[]" for labels in frame["labels"]
        ]
    elif study.kind == "labels":
        frame["labels"] = [sorted_labels(labels) for labels in frame["labels"]]
    if reading.filename_column is not None:
        frame = _with_files(frame, files, reading)
    deliver(frame, "")
    left_out = f"; {study.n_missing:,} missing left out" if study.n_missing else ""
    say(
        f"{counted(study.n_ratings, 'rating')} of {counted(study.n_units, 'unit')} by "
        f"{counted(study.n_raters, 'rater')}{left_out}. Only these "
        f"columns are written: {', '.join(map(str, frame))}."
    )
    if study.kind == "labels" and deliver.form != "json" and label_sep != ",":
        say(
            "Labels are separated as in the file: read this again with "
            f"--label-sep {reading.label_sep!r}."
        )


def _with_files(frame: pd.DataFrame, files: Sequence[str], reading: SpanReading) -> pd.DataFrame:
    """Return a table of answers with the file of each, unless the files are units or raters."""
    source = str(reading.filename_column)
    if source in {reading.unit, reading.rater, *usual_roles([source]).values()}:
        return frame
    table, how, without = long_table(files, reading, besides=source, option="--filename-column")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # all were given when the study was read
        found = grouped_table(table, source, how, without=without)
    part = found.study
    # A unit of several files is (unit, file) there.
    units = [unit[0] if isinstance(unit, tuple) else unit for unit in part.units]
    pairs = [
        (units[k], part.raters[r]) for k, r in zip(part.unit_codes, part.rater_codes, strict=True)
    ]
    rows = list(zip(pairs, found.names[found.of_rating], strict=True))
    file_of = dict(rows if reading.duplicates == "last" else rows[::-1])
    keys = zip(frame["unit"], frame["rater"], strict=True)
    frame[source] = [file_of.get(key) for key in keys]
    return frame


def _with_unit_columns(study: sa.Annotations) -> pd.DataFrame:
    """Return the long table of a study with its clusters, sampling weights and strata."""
    frame, of_units = study.to_long(), study.units_frame
    for name in of_units:
        if name in frame:
            raise OptionError(
                f"column {name!r} of the units has the name of a column that is written; rename "
                "it in the file."
            )
        frame[name] = of_units[name].loc[frame["unit"]].to_numpy()
    return frame


def row_a_label(frame: pd.DataFrame, label_sep: str) -> pd.DataFrame:
    """Return a table of answers with degrees as it is read: one row for each label."""
    cells: list[list[tuple[Any, float | None]]] = [
        [(None, None)]
        if one is None
        else [(label, one.degrees[label]) for label in sorted_labels(one)] or [("[]", None)]
        for one in frame["labels"]
    ]
    out = frame.loc[np.repeat(frame.index, [len(each) for each in cells])].reset_index(drop=True)
    found = [pair for each in cells for pair in each]
    labels = [one if x is None else format_labels([one], label_sep=label_sep) for one, x in found]
    place = [*out].index("labels")
    out.insert(place + 1, "degree", [x for _, x in found])
    return out.assign(labels=labels)


def _rows(table: pd.DataFrame) -> list[tuple[str, str]]:
    star = table["basis"].str.startswith("from the documented").map({True: "*", False: ""})
    return list(zip(table["name"], table["title"] + star, strict=True))


def _plain(table: pd.DataFrame) -> str:
    rows = _rows(table)
    width = max(len(name) for name, _ in rows) + 2
    return "\n".join([*(f"{name:<{width}}{title}" for name, title in rows), "", _UNVERIFIED[:-1]])

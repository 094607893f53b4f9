"""Commands for input formats: formats and convert."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import setagree as sa
from setagree.cli import options as options
from setagree.cli.options import Delivery, SpanReading
from setagree.cli.output import Deliverer, command, printing
from setagree.cli.reading import long_table, quiet, read_study, written_seps
from setagree.cli.show import list_lines, print_list, say
from setagree.diagnosis.grouping import grouped_table
from setagree.errors import OptionError, counted
from setagree.study.columns import usual_roles
from setagree.wording.label_sets import LabelSep, sorted_labels, written_set

CONVERT_HELP = """[bold]setagree convert export.json -o long.csv[/bold]

[not dim]Write a row per unit and rater. [] is the empty set; labels are separated
by --label-sep. Also:[/]

setagree convert doccano/ --roster asked.csv -o long.csv
setagree convert wide.csv --wide --blank empty -f json
"""

_UNVERIFIED = "* from the documented format, not verified against a live export"


@command
def list_formats(*, delivery: Delivery) -> None:
    """List the exports of tools that are read."""
    table = sa.formats()
    star = table["basis"].str.startswith("from the documented").map({True: "*", False: ""})
    rows = list(zip(table["name"], table["title"] + star, strict=True))
    if delivery.form not in {None, "table"} or delivery.output is not None:
        Deliverer(delivery, [])(table, "\n".join([*list_lines(rows), "", _UNVERIFIED]))
        return
    with printing():
        print_list(rows)
        sys.stdout.write(f"\n{_UNVERIFIED}\n")


@command
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
    frame = _with_unit_columns(study)
    label_sep = written_seps(reading)
    is_text = study.kind == "labels" and deliver.form != "json"
    if reading.degree is not None:
        frame = label_rows(frame, label_sep)
    elif study.kind == "labels":
        write: Any = partial(written_set, label_sep=label_sep) if is_text else sorted_labels
        frame["labels"] = [*map(write, frame["labels"])]
    if reading.filename_column is not None:
        frame = _with_filenames(frame, files, reading)
    deliver(frame, "")
    left_out = f"; {study.n_missing:,} missing left out" if study.n_missing else ""
    say(
        f"{counted(study.n_ratings, 'rating')} of {counted(study.n_units, 'unit')} by "
        f"{counted(study.n_raters, 'rater')}{left_out}. Only these columns are written: "
        f"{', '.join(map(str, frame))}."
    )
    if is_text and label_sep[0] != ",":
        say(
            "Labels are separated as in the file: to read this again, use --label-sep "
            f"{label_sep[0]!r}."
        )


def _with_filenames(
    frame: pd.DataFrame, files: Sequence[str], reading: SpanReading
) -> pd.DataFrame:
    """Return a table of answers with the file of each, unless the files are units or raters."""
    column = str(reading.filename_column)
    if column in {reading.unit, reading.rater, *usual_roles([column]).values()}:
        return frame
    table, how, without = long_table(files, reading, besides=column, option="--filename-column")
    with quiet():
        found = grouped_table(table, column, how, without=without)
    study = found.study
    # A unit in several files is (unit, file) in that study.
    units = [unit[0] if isinstance(unit, tuple) else unit for unit in study.units]
    codes = zip(study.unit_codes, study.rater_codes, found.of_rating, strict=True)
    rows = [((units[u], study.raters[r]), found.names[f]) for u, r, f in codes]
    file_of = dict(rows if reading.duplicates == "last" else rows[::-1])
    keys = zip(frame["unit"], frame["rater"], strict=True)
    frame[column] = [file_of.get(key) for key in keys]
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


def label_rows(frame: pd.DataFrame, label_sep: LabelSep) -> pd.DataFrame:
    """Return a table of answers with degrees in its input layout: one row per label."""
    cells: list[list[tuple[Any, float | None]]] = [
        [(None, None)]
        if one is None
        else [(label, one.degrees[label]) for label in sorted_labels(one)] or [("[]", None)]
        for one in frame["labels"]
    ]
    out = frame.loc[np.repeat(frame.index, [len(each) for each in cells])].reset_index(drop=True)
    pairs = [pair for each in cells for pair in each]
    labels: list[Any] = [one if x is None else written_set([one], label_sep) for one, x in pairs]
    out.insert([*out].index("labels") + 1, "degree", [x for _, x in pairs])
    return out.assign(labels=labels)

# ruff: noqa: D401, PTH123 - a road says what it is
"""Every road that a table can take into the library.

A road is a function of the columns (unit, rater, answer, as they are written), a folder and the
options; it returns a table of results. What it can carry is said beside it: the shapes, and whether
nulls arrive as nulls ("typed") or as blank text ("text").
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

import setagree as sa


@dataclass(frozen=True)
class Road:
    """A way into the library, and what it can carry."""

    name: str
    take: Callable[..., Any]
    shapes: frozenset[str]
    nulls: str = "typed"
    one_type: bool = False
    reduces: bool = False
    long: bool = True
    workbook: bool = False
    package: str | None = None


ROADS: dict[str, Road] = {}


def road(shapes: str, **carries: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a road under the name of its function."""

    def register(take: Callable[..., Any]) -> Callable[..., Any]:
        ROADS[take.__name__] = Road(take.__name__, take, frozenset(shapes.split()), **carries)
        return take

    return register


TEXT = "text category"
TYPED = "text category list number"
ALL = "text category list number object"


# ---- What the roads share -----------------------------------------------------------------------


def objects(cells):
    """Return a column of objects, whatever they are."""
    column = pd.Series([None] * len(cells), dtype=object)
    for row, cell in enumerate(cells):
        column.iat[row] = cell
    return column


def plain_frame(columns):
    return pd.DataFrame({name: objects(cells) for name, cells in columns.items()})


def scored(data, role, options):
    """Return the results of a long table, or of a study that is built."""
    distances = ["nominal"] if role == "value" else ["nominal", "jaccard", "masi"]
    named = {} if role is None else {"unit": "unit", "rater": "rater", role: "answer", **options}
    if role is None:
        distances = ["nominal", "jaccard", "masi"] if data.kind == "labels" else ["nominal"]
    both = ["krippendorff_alpha", "fleiss_kappa"]
    return sa.agreement(data, coefficient=both, distance=distances, **named)


def arrow_table(columns):
    import pyarrow as pa

    return pa.table({name: pa.array(cells) for name, cells in columns.items()})


def as_text(cell):
    return "" if cell is None else str(cell)


def text_file(path, columns, opener=open):
    """Write CSV, or TSV by the name, and return the path."""
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if ".tsv" in path else ",")
        writer.writerow(columns)
        writer.writerows(zip(*(map(as_text, c) for c in columns.values()), strict=True))
    return path


# ---- Long tables in memory ----------------------------------------------------------------------


@road(ALL)
def pandas_object(columns, folder, role, options):
    return scored(plain_frame(columns), role, options)


@road(ALL)
def pandas_odd_index(columns, folder, role, options):
    """An index that repeats itself, further columns."""
    frame = plain_frame(columns).assign(note="x")
    frame.index = [7] * len(frame)
    return scored(frame, role, options)


@road(ALL)
def from_long(columns, folder, role, options):
    """The study, then its results."""
    named = {"unit": "unit", "rater": "rater", role: "answer"}
    return scored(sa.Annotations.from_long(plain_frame(columns), **named, **options), None, {})


@road(TEXT, one_type=True)
def pandas_string(columns, folder, role, options):
    return scored(plain_frame(columns).astype({"answer": "string"}), role, options)


@road(TEXT, one_type=True, package="pyarrow")
def pandas_string_arrow(columns, folder, role, options):
    frame = plain_frame(columns).astype({"answer": "string[pyarrow]"})
    return scored(frame, role, options)


@road("category number")
def pandas_category(columns, folder, role, options):
    return scored(plain_frame(columns).astype({"answer": "category"}), role, options)


@road("number")
def pandas_inferred(columns, folder, role, options):
    """The types that pandas infers: int64, float64, or object."""
    return scored(plain_frame(columns).infer_objects(), role, options)


@road(TYPED, one_type=True, package="pyarrow")
def pandas_arrow(columns, folder, role, options):
    frame = arrow_table(columns).to_pandas(types_mapper=pd.ArrowDtype)
    return scored(frame, role, options)


@road(TYPED, one_type=True, package="pyarrow")
def arrow(columns, folder, role, options):
    return scored(arrow_table(columns), role, options)


@road(TEXT, one_type=True, package="pyarrow")
def arrow_dictionary(columns, folder, role, options):
    """An Arrow table in chunks, each with a dictionary of its own."""
    import pyarrow as pa

    table = arrow_table(columns)
    parts = [table.slice(k, 2) for k in range(0, len(table), 2)]
    coded = [
        p.set_column(2, "answer", p["answer"].cast(pa.string()).dictionary_encode()) for p in parts
    ]
    return scored(pa.concat_tables(coded), role, options)


@road(TYPED, one_type=True, package="polars")
def polars(columns, folder, role, options):
    import polars as pl

    return scored(pl.DataFrame(columns, strict=True), role, options)


@road(TEXT, one_type=True, package="polars")
def polars_category(columns, folder, role, options):
    import polars as pl

    frame = pl.DataFrame(columns, strict=True)
    return scored(frame.with_columns(pl.col("answer").cast(pl.Categorical)), role, options)


@road(TYPED, one_type=True, reduces=True, package="polars")
def polars_lazy(columns, folder, role, options):
    """A lazy frame of Polars, which stays in its engine."""
    import polars as pl

    return scored(pl.DataFrame(columns, strict=True).lazy(), role, options)


@road(TYPED, one_type=True, reduces=True, package="duckdb")
def duckdb_relation(columns, folder, role, options):
    import duckdb

    with duckdb.connect() as connection:
        return scored(connection.from_arrow(arrow_table(columns)), role, options)


@road(TEXT + " number", one_type=True, reduces=True, package="dask")
def dask(columns, folder, role, options):
    """A frame of Dask in three partitions."""
    import dask
    import dask.dataframe as dd

    frame = arrow_table(columns).to_pandas(types_mapper=pd.ArrowDtype)
    with dask.config.set(scheduler="synchronous"):
        return scored(dd.from_pandas(frame, npartitions=3), role, options)


@road(TYPED, one_type=True, reduces=True, package="duckdb")
def reduced(columns, folder, role, options):
    named = {"unit": "unit", "rater": "rater", role: "answer"}
    options = {name: option for name, option in options.items() if name != "duplicates"}
    return scored(sa.tally(arrow_table(columns), **named, **options), None, {})


@road(ALL, long=False)
def triples(columns, folder, role, options):
    """Triples of rater, unit, answer."""
    rows = list(zip(columns["rater"], columns["unit"], columns["answer"], strict=True))
    kind = "value" if role == "value" else "labels"
    return scored(sa.Annotations.from_triples(rows, kind=kind, **options), None, {})


# ---- Files --------------------------------------------------------------------------------------


@road(TEXT + " number", nulls="text")
def csv_file(columns, folder, role, options):
    return scored(text_file(f"{folder}/study.csv", columns), role, options)


@road(TEXT + " number", nulls="text")
def tsv_file(columns, folder, role, options):
    return scored(text_file(f"{folder}/study.tsv", columns), role, options)


@road(TEXT + " number", nulls="text", reduces=True, package="duckdb")
def csv_reduced(columns, folder, role, options):
    path = text_file(f"{folder}/study.csv", columns)
    return scored(path, role, {**options, "memory_limit": "500MB"})


@road(TEXT, nulls="text")
def csv_gzip(columns, folder, role, options):
    import gzip

    return scored(text_file(f"{folder}/study.csv.gz", columns, gzip.open), role, options)


@road(TEXT, nulls="text")
def csv_zip(columns, folder, role, options):
    import zipfile

    path = text_file(f"{folder}/study.csv", columns)
    with zipfile.ZipFile(f"{path}.zip", "w") as archive:
        archive.write(path, "study.csv")
    return scored(f"{path}.zip", role, options)


@road(TEXT, nulls="text")
def csv_xz(columns, folder, role, options):
    import lzma

    return scored(text_file(f"{folder}/study.csv.xz", columns, lzma.open), role, options)


@road(TEXT, nulls="text", reduces=True, package="duckdb")
def tsv_bzip2_reduced(columns, folder, role, options):
    """A TSV file in bzip2 that DuckDB reduces."""
    import bz2

    path = text_file(f"{folder}/study.tsv.bz2", columns, bz2.open)
    return scored(path, role, {**options, "memory_limit": "500MB"})


def lines_file(path, columns):
    """Write JSON lines and return the path; a null is a key that is absent in every second row."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        for k, cells in enumerate(zip(*columns.values(), strict=True)):
            row = dict(zip(columns, cells, strict=True))
            if k % 2:
                row = {name: cell for name, cell in row.items() if cell is not None}
            file.write(json.dumps(row, ensure_ascii=bool(k % 3)) + "\n")
    return path


@road("text category list")
def json_lines(columns, folder, role, options):
    return scored(lines_file(f"{folder}/study.jsonl", columns), role, options)


@road("text category list", reduces=True, package="duckdb")
def json_lines_reduced(columns, folder, role, options):
    path = lines_file(f"{folder}/study.jsonl", columns)
    return scored(path, role, {**options, "memory_limit": "500MB"})


def parquet_file(path, columns):
    import pyarrow.parquet as pq

    pq.write_table(arrow_table(columns), path)
    return path


@road(TYPED, one_type=True, package="pyarrow")
def parquet(columns, folder, role, options):
    return scored(parquet_file(f"{folder}/study.parquet", columns), role, options)


@road(TYPED, one_type=True, reduces=True, package="duckdb")
def parquet_reduced(columns, folder, role, options):
    path = parquet_file(f"{folder}/study.parquet", columns)
    return scored(path, role, {**options, "memory_limit": "500MB"})


@road(TEXT, nulls="text", workbook=True, package="openpyxl")
def excel(columns, folder, role, options):
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    for row, cells in enumerate([tuple(columns), *zip(*columns.values(), strict=True)], 1):
        for place, cell in enumerate(cells, 1):
            if cell is not None and cell != "":
                made = sheet.cell(row, place, cell)
                made.data_type = "s" if isinstance(cell, str) else made.data_type
    book.save(f"{folder}/study.xlsx")
    return scored(f"{folder}/study.xlsx", role, options)


@road(TEXT, nulls="text")
def command(columns, folder, role, options):
    """The command, in this process; its JSON becomes the results."""
    from typer.testing import CliRunner

    from setagree.cli import app as cli

    words = ["score", text_file(f"{folder}/study.csv", columns), "--format", "json"]
    words += ["--unit", "unit", "--rater", "rater", f"--{role}", "answer", "-d", "nominal"]
    words += [] if role == "value" else ["-d", "jaccard", "-d", "masi"]
    for name, option in options.items():
        for one in option if isinstance(option, list) and name == "na_values" else [option]:
            text = one
            if name == "codebook":
                label_sep = options.get("label_sep", ",")
                text = "\n".join(sa.format_labels([label], label_sep=label_sep) for label in one)
                with open(f"{folder}/labels.txt", "w", encoding="utf-8", newline="") as file:
                    file.write(text)
                text = f"{folder}/labels.txt"
            words += [f"--{name.replace('_', '-')}", text]
    done = CliRunner().invoke(cli.app, words)
    if done.exit_code == 2 and "Error: " in done.stderr:
        raise sa.SetagreeError(done.stderr)
    assert done.exit_code == 0, (done.exception, done.stderr)
    return json.loads(done.stdout)

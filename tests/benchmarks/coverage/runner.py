"""Run a study cell by cell: on all processors, on where it was stopped, again where in doubt."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.benchmarks.coverage.record import AGAIN, Cell, append, read, run, write

TIMES_AGAIN = 4
"""How many times as many studies are drawn of a cell that missed a promise: some do by luck."""


def parser_of(name: str, results: Path) -> argparse.ArgumentParser:
    """Return what reads the command line of ``python -m tests.benchmarks.NAME``."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.benchmarks.{name}")
    parser.add_argument("--only", default="", help="cells whose name holds this text")
    parser.add_argument("--anew", help="forget the results of cells whose name holds this text")
    parser.add_argument("--processes", type=int, help="default: one for each processor")
    parser.add_argument("--tables", action="store_true", help="print the tables of the guide")
    parser.add_argument("--output", type=Path, default=results, help="the file of results")
    return parser


def run_all(options: argparse.Namespace, cells: Iterable[Cell]) -> None:
    """Run the cells that are wanted and not in the file yet, then again those in doubt."""
    if options.anew:
        known = read(options.output)
        kept = {name: one for name, one in known.items() if options.anew not in name}
        write(options.output, kept)
    start = time.perf_counter()
    with ProcessPoolExecutor(options.processes, initializer=_quiet) as workers:
        wanted = [cell for cell in cells if options.only in cell.name]
        _run(workers, wanted, options.output)
        _run(workers, in_doubt(wanted, options.output), options.output)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


def in_doubt(cells: Sequence[Cell], path: Path) -> list[Cell]:
    """Return the cells that missed a promise, to be drawn anew with more studies."""
    known = read(path)
    found = [cell for cell in cells if cell.name in known and cell.misses(known[cell.name])]
    return [_again(cell) for cell in found]


def _again(cell: Any) -> Cell:  # cells are dataclasses, which a protocol cannot say
    again: Cell = replace(cell, suffix=AGAIN, n_studies=TIMES_AGAIN * cell.n_studies)
    return again


def _quiet() -> None:
    warnings.simplefilter("ignore")  # of studies that are small on purpose


def _run(workers: ProcessPoolExecutor, cells: Sequence[Cell], path: Path) -> None:
    """Run the cells that are not in the file, and add each as soon as it is done."""
    known = read(path)
    if not known:
        write(path, {})
    missing = [cell for cell in cells if cell.name not in known]
    for k, (cell, found) in enumerate(zip(missing, workers.map(run, missing), strict=True)):
        append(path, [(cell.name, found)])
        print(f"{k + 1:,} of {len(missing):,}: {cell.name}", file=sys.stderr)

"""Run the study: ``python -m tests.benchmarks.coverage [--only TEXT] [--output FILE]``.

A run that was stopped goes on where it was. ``--tables`` prints the tables of the guide, and
``--picture FILE`` draws its picture, from what is in the file of results, without running anything.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from tests.benchmarks.coverage.designs import interval_cells
from tests.benchmarks.coverage.intervals import Intervals
from tests.benchmarks.coverage.nulls import Null, null_cells
from tests.benchmarks.coverage.picture import draw
from tests.benchmarks.coverage.record import AGAIN, RESULTS, Cell, append, read, run, write
from tests.benchmarks.coverage.tables import tables

TIMES_AGAIN = 4
"""How many times as many studies are drawn of a cell that missed a promise: some do by luck."""


def main(arguments: list[str] | None = None) -> None:
    """Run what is not in the file yet.

    Parameters
    ----------
    arguments : list of str, optional
        Command line; by default that of the process.
    """
    options = _options(arguments)
    if options.tables or options.picture:
        _show(options)
        return
    if options.anew:
        known = read(options.output)
        kept = {name: one for name, one in known.items() if options.anew not in name}
        write(options.output, kept)
    start = time.perf_counter()
    with ProcessPoolExecutor(options.processes, initializer=_quiet) as workers:
        wanted = [cell for cell in every_cell() if options.only in cell.name]
        _run(workers, wanted, options.output)
        _run(workers, doubtful(wanted, options.output), options.output)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


def every_cell() -> Iterator[Intervals | Null]:
    """Yield the cells in the order in which they are run."""
    yield from interval_cells()
    yield from null_cells()


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.coverage")
    parser.add_argument("--only", default="", help="cells whose name holds this text")
    parser.add_argument("--anew", help="forget the results of cells whose name holds this text")
    parser.add_argument("--processes", type=int, help="default: one for each processor")
    parser.add_argument("--tables", action="store_true", help="print the tables of the guide")
    parser.add_argument("--picture", type=Path, help="draw the picture into this file")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the file of results")
    return parser.parse_args(arguments)


def _show(options: argparse.Namespace) -> None:
    known = read(options.output)
    if options.tables:
        print("\n\n".join(f"{name}\n\n{table}" for name, table in tables(known).items()))
    if options.picture:
        draw(known, options.picture)


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


def doubtful(cells: Sequence[Intervals | Null], path: Path) -> list[Intervals | Null]:
    """Return the cells that missed a promise, to be drawn anew with more studies."""
    known = read(path)
    found = [cell for cell in cells if cell.name in known and cell.misses(known[cell.name])]
    return [replace(cell, suffix=AGAIN, n_studies=TIMES_AGAIN * cell.n_studies) for cell in found]


if __name__ == "__main__":
    main()

"""Run the study: ``python -m tests.benchmarks.coverage [--only TEXT] [--output FILE]``.

A run that was stopped goes on where it was. ``--tables`` prints the tables of the guide, and
``--picture FILE`` draws its picture, from what is in the file of results, without running anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.coverage.defaults import Default, default_cells
from tests.benchmarks.coverage.designs import interval_cells
from tests.benchmarks.coverage.intervals import Intervals
from tests.benchmarks.coverage.levels import level_cells
from tests.benchmarks.coverage.nulls import Null, null_cells
from tests.benchmarks.coverage.picture import draw
from tests.benchmarks.coverage.record import RESULTS, read
from tests.benchmarks.coverage.runner import parser_of, run_all
from tests.benchmarks.coverage.spans import OfSpans, span_cells
from tests.benchmarks.coverage.tables import printed, tables


def main(arguments: list[str] | None = None) -> None:
    """Run what is not in the file yet."""
    parser = parser_of("coverage", RESULTS)
    parser.add_argument("--picture", type=Path, help="draw the picture into this file")
    options = parser.parse_args(arguments)
    if options.tables:
        print(printed(tables(read(options.output))))
    if options.picture:
        draw(read(options.output), options.picture)
    if not options.tables and not options.picture:
        run_all(options, every_cell())


def every_cell() -> Iterator[Default | Intervals | Null | OfSpans]:
    yield from interval_cells()
    yield from null_cells()
    yield from default_cells()
    yield from level_cells()
    yield from span_cells()


if __name__ == "__main__":
    main()

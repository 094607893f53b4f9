"""Run the study: ``python -m tests.benchmarks.decisions [--only TEXT] [--output FILE]``.

A run that was stopped goes on where it was. ``--tables`` prints the tables of the guide from what
is in the file of results, without running anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.coverage.record import read
from tests.benchmarks.coverage.runner import parser_of, run_all
from tests.benchmarks.coverage.tables import printed
from tests.benchmarks.decisions.cells import RESULTS, Decisions
from tests.benchmarks.decisions.components import component_cells
from tests.benchmarks.decisions.crowds import crowd_cells
from tests.benchmarks.decisions.facets import facet_cells
from tests.benchmarks.decisions.looks import look_cells
from tests.benchmarks.decisions.models import model_cells
from tests.benchmarks.decisions.queues import queue_cells
from tests.benchmarks.decisions.tables import tables
from tests.benchmarks.decisions.thresholds import threshold_cells


def main(arguments: list[str] | None = None) -> None:
    """Run what is not in the file yet."""
    options = parser_of("decisions", RESULTS).parse_args(arguments)
    if options.tables:
        print(printed(tables(read(options.output))))
    else:
        run_all(options, every_cell())


def every_cell() -> Iterator[Decisions]:
    yield from threshold_cells()
    yield from component_cells()
    yield from queue_cells()
    yield from look_cells()
    yield from model_cells()
    yield from facet_cells()
    yield from crowd_cells()


if __name__ == "__main__":
    main()

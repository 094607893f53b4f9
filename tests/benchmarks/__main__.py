"""Run the benchmarks: ``python -m tests.benchmarks [--only NAME] [--quick] [--output FILE]``.

``--only race --picture speed.png`` draws the picture of the race, too.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from tests.benchmarks.batches import batches
from tests.benchmarks.callback import custom_callback
from tests.benchmarks.chance import chance_term
from tests.benchmarks.door import growth, large_frame
from tests.benchmarks.files import reduced_files
from tests.benchmarks.imports import import_time
from tests.benchmarks.multivalued import many_labels
from tests.benchmarks.p_values import p_values
from tests.benchmarks.peers import against_peers
from tests.benchmarks.prevalence import prevalence
from tests.benchmarks.race import race
from tests.benchmarks.resampling import resampling
from tests.benchmarks.spans import spans
from tests.benchmarks.table import Row, markdown


class Benchmark(Protocol):
    """Measures something and yields a row for each promise."""

    def __call__(self, *, quick: bool) -> Iterator[Row]: ...


BENCHMARKS: dict[str, Benchmark] = {
    "frame": large_frame,
    "growth": growth,
    "files": reduced_files,
    "peers": against_peers,
    "chance": chance_term,
    "callback": custom_callback,
    "mv_alpha": many_labels,
    "p": p_values,
    "resampling": resampling,
    "batches": batches,
    "prevalence": prevalence,
    "spans": spans,
    "import": import_time,
    "race": race,
}


def main(arguments: list[str] | None = None) -> None:
    """Print the table and write it where asked."""
    options = _parser().parse_args(arguments)
    benchmarks = BENCHMARKS | {"race": partial(race, picture=options.picture)}
    rows: list[Row] = []
    for name in options.only or benchmarks:
        rows += _rows(name, benchmarks[name], options.quick)
        text = f"{markdown(rows)}\n\n{_circumstances(options.quick)}\n"
        if options.output:  # after each benchmark, so that an interrupted run keeps the others
            options.output.write_text(text, encoding="utf-8")
    print(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", choices=BENCHMARKS, help="may be repeated")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, under a minute")
    parser.add_argument("--picture", type=Path, help="draw the race into this .png or .svg file")
    parser.add_argument("--output", type=Path, help="write the table as Markdown to this file")
    return parser


def _rows(name: str, benchmark: Benchmark, quick: bool) -> list[Row]:
    """Return the rows of one benchmark; a failure becomes the last of them."""
    start = time.perf_counter()
    rows: list[Row] = []
    try:
        rows.extend(benchmark(quick=quick))
    except Exception as error:  # noqa: BLE001  one failure must not cost the rest of the table
        rows.append(Row(f"{name}: failed", ours=f"{type(error).__name__}: {error}", holds=False))
    print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return rows


def _circumstances(quick: bool) -> str:
    """Return what the numbers were measured with, in one line."""
    tools = ", ".join(f"{name} {version(name)}" for name in ("numpy", "pandas", "scipy"))
    sizes = " Quick sizes: the bars are meant for the full ones." if quick else ""
    return (
        f"Python {platform.python_version()}, {tools}. Processor seconds, best of several.{sizes}"
    )


if __name__ == "__main__":
    main()

"""``import setagree`` beside ``import pandas``, each in fresh interpreters."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator

from tests.benchmarks.probe import ROOT
from tests.benchmarks.table import Row, at_most, duration

BAR = 1.25
ENGINES = {
    *("matplotlib", "jinja2", "seaborn", "typer", "click", "rich", "tqdm", "duckdb"),
    *("narwhals", "polars", "dask", "pyspark", "openpyxl", "sklearn", "statsmodels", "nltk"),
}
MODULES = "import sys, {}; print(*{{name.partition('.')[0] for name in sys.modules}})"


def import_time(*, quick: bool) -> Iterator[Row]:
    """Compare the import of the library with that of pandas.

    Parameters
    ----------
    quick : bool
        Whether to take 5 rounds instead of 15.

    Yields
    ------
    Row
        The time; then which packages are loaded beyond those of pandas.
    """
    names = ("setagree", "pandas")
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(5 if quick else 15):
        for name in names:
            seconds[name].append(_processor_seconds(f"import {name}"))
    # As everywhere here the best: what the machine does besides only adds.
    ours, other = (min(seconds[name]) for name in names)
    yield at_most(
        "import setagree (best of fresh interpreters)",
        ours=duration(ours),
        other=f"import pandas: {duration(other)}",
        ratio=ours / other,
        bar=BAR,
    )
    yield _beyond_pandas()


def _beyond_pandas() -> Row:
    """Return the row of the packages that only our import loads."""
    extra = _packages("setagree") - _packages("pandas")
    public = sorted(name for name in extra if name not in sys.stdlib_module_names)
    unwanted = sorted(extra & ENGINES)
    return Row(
        "packages loaded beyond those of pandas",
        ours=" ".join(public),
        other=f"plotting, CLI or engine: {' '.join(unwanted) or 'none'}",
        bar="none of those",
        holds=not unwanted,
    )


def _packages(name: str) -> set[str]:
    """Return the top-level modules after an import in a fresh interpreter."""
    return set(_python(MODULES.format(name)).split())


def _processor_seconds(code: str) -> float:
    """Return user and system time of a fresh interpreter that runs the code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _python(code)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _python(code: str) -> str:
    """Return what a fresh interpreter prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

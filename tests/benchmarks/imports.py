"""What starts the library and the command, beside ``import pandas``, in fresh interpreters."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator

from tests.benchmarks.probe import ROOT
from tests.benchmarks.table import Row, at_most, duration

EXAMPLE = ROOT / "examples" / "walkthrough.csv"
LOOK = "import setagree; setagree.agreement"
# What is started, beside `import pandas`: its name, the words after the interpreter, the bar.
STARTS = (
    ("import setagree, and its agreement", ["-c", LOOK], 1.0),
    ("setagree --version", ["-m", "setagree", "--version"], 0.1),
    ("setagree --help", ["-m", "setagree", "--help"], 0.5),
    ("setagree score, the example", ["-m", "setagree", "score", str(EXAMPLE), "--wide"], 1.3),
)
ENGINES = {
    *("matplotlib", "jinja2", "seaborn", "typer", "click", "rich", "tqdm", "duckdb"),
    *("narwhals", "polars", "dask", "pyspark", "openpyxl", "sklearn", "statsmodels", "nltk"),
}
MODULES = "import sys; import {}; print(*{{name.partition('.')[0] for name in sys.modules}})"


def import_time(*, quick: bool) -> Iterator[Row]:
    """Compare what starts the library and the command with the import of pandas."""
    started = {"pandas": ["-c", "import pandas"]} | {name: words for name, words, _ in STARTS}
    seconds: dict[str, list[float]] = {name: [] for name in started}
    for _ in range(5 if quick else 15):
        for name, words in started.items():
            seconds[name].append(_processor_seconds(words))
    # As everywhere here the best: what the machine does besides only adds.
    best = {name: min(each) for name, each in seconds.items()}
    for name, _, bar in STARTS:
        yield at_most(
            f"{name} (best of fresh interpreters)",
            ours=duration(best[name]),
            other=f"import pandas: {duration(best['pandas'])}",
            ratio=best[name] / best["pandas"],
            bar=bar,
        )
    yield _beyond_pandas()


def _beyond_pandas() -> Row:
    """Return the row of the packages that only our import loads."""
    extra = _packages(LOOK.removeprefix("import ")) - _packages("pandas")
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
    return set(_python(["-c", MODULES.format(name)]).split())


def _processor_seconds(words: list[str]) -> float:
    """Return user and system time of a fresh interpreter with these words."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _python(words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _python(words: list[str]) -> str:
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

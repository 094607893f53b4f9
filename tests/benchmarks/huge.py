"""More ratings than memory holds: ``python -m tests.benchmarks.huge FOLDER [--ratings N ...]``.

Writes generated ratings to Parquet files in a folder, a million units each, and scores them in a
fresh process through DuckDB within a memory limit. Of several numbers of ratings each takes the
first files, and the growth from one to the next is printed. One file is scored in memory too: both
roads must give the same numbers.

With ``--complete`` ten raters give each unit one of ten label sets, in 64 files. ``--beside`` runs
DuckDB's own group-by of the units within the same limit, too.

``--limit`` is what DuckDB keeps to by itself. With ``--enforce 2GB`` the kernel refuses the process
more, whoever asks for it (RLIMIT_DATA: Linux since 4.7; not macOS). It counts the private memory
that is reserved, used or not: about 0.5 GB before the first row, and for DuckDB up to twice its
limit. So ``--limit 500MB`` goes with it. Arrow's own allocator, which reserves 1 GB at once, is
replaced by that of the system.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import setagree as sa
from tests.benchmarks.data import Recipe, simulate

ROOT = Path(__file__).resolve().parents[2]
RECIPE = Recipe(max_size=2, labels_per_unit=1.2, add=0.1, miss=0.1)
N_RATERS = 5
PIECE = 1_000_000
"""Units in a file."""
TEN_SETS = ("", "a", "b", "c", "a, b", "a, c", "b, c", "d", "a, d", "a, b, c")
N_FILES, COMPLETE_RATERS = 64, 10


@dataclass(frozen=True)
class Run:
    """How a study is scored.

    - limit: What DuckDB may hold in memory.
    - by_file: Whether each file is reduced by itself.
    - unchecked: Whether repeats of unit and rater are looked for.
    - enforced: What the kernel lets the process have.
    - alone: Whether DuckDB groups the units by itself, without setagree.
    """

    limit: str
    by_file: bool
    unchecked: bool
    enforced: str | None = None
    alone: bool = False


def write(folder: Path, n_ratings: int, recipe: Recipe = RECIPE) -> list[Path]:
    """Write about so many ratings; files that are there already are kept, and shared by sizes."""
    n_units = round(n_ratings / N_RATERS / (1 - recipe.missing))
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for start in range(0, n_units, PIECE):
        size = min(PIECE, n_units - start)
        part = "" if size == PIECE else f"-{size}"
        path = folder / f"ratings-{start // PIECE:04d}{part}.parquet"
        if not path.exists():
            _write_piece(path, start, size, recipe)
        paths.append(path)
    return paths


def _write_piece(path: Path, start: int, n_units: int, recipe: Recipe) -> None:
    """Write one file, its rows in random order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ratings = simulate(n_units, N_RATERS, recipe=recipe, seed=start)
    rows = np.random.default_rng(start).permutation(len(ratings.units))
    names = [f"doc-{unit:010d}" for unit in range(start, start + n_units)]
    columns = {**ratings.columns(), "doc": (names, ratings.units)}
    arrays = {
        name: pa.array(texts).take(pa.array(codes[rows]))
        for name, (texts, codes) in columns.items()
    }
    pq.write_table(pa.table(arrays), path)


def write_complete(folder: Path, n_ratings: int) -> list[Path]:
    """Write so many ratings by ten raters with ten label sets, in 64 files; as `write` otherwise.

    Seven of ten ratings of a unit have its own label set, the others any of the ten.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_units = round(n_ratings / COMPLETE_RATERS / N_FILES)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"complete-{n_units}-{k:02d}.parquet" for k in range(N_FILES)]
    for k, path in enumerate(paths):
        if path.exists():
            continue
        rng = np.random.default_rng(k)
        shape = n_units, COMPLETE_RATERS
        true = rng.integers(len(TEN_SETS), size=(n_units, 1), dtype=np.int8)
        other = rng.integers(len(TEN_SETS), size=shape, dtype=np.int8)
        tags = np.where(rng.random(shape, dtype=np.float32) < 0.7, true, other).ravel()
        units = np.repeat(np.arange(k * n_units, (k + 1) * n_units), COMPLETE_RATERS)
        raters = np.tile(np.arange(COMPLETE_RATERS, dtype=np.int8), n_units)
        names = pa.DictionaryArray.from_arrays(pa.array(tags), pa.array(TEN_SETS))
        pq.write_table(pa.table({"doc": units, "who": raters, "tags": names}), path)
    return paths


def group_by(paths: Sequence[str], limit: str, folder: str) -> int:
    """Count the patterns as DuckDB would by itself: a hash for a label set, no label read."""
    import duckdb

    config = {"memory_limit": limit, "temp_directory": folder, "preserve_insertion_order": 0}
    with duckdb.connect(config=config) as connection:
        units = f"SELECT sum(hash(tags)) AS one FROM read_parquet({[*paths]}) GROUP BY doc"  # noqa: S608
        query = f"SELECT count(*) FROM (SELECT one, count(*) FROM ({units}) GROUP BY one)"  # noqa: S608
        return int(connection.execute(query).fetchall()[0][0])


def score(paths: Sequence[str], run: Run, temp_directory: str) -> dict[str, object]:
    """Score files in this process; return the numbers, the seconds and the most memory held."""
    if run.enforced is not None:
        n_bytes = _bytes(run.enforced)
        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))
    start = time.perf_counter()
    if run.alone:
        return {"patterns": group_by(paths, run.limit, temp_directory), **_spent(start)}
    tally = sa.tally(
        list(paths),
        temp_directory=temp_directory,
        unit="doc",
        rater="who",
        labels="tags",
        blank="empty",
        memory_limit=run.limit,
        assume_unique=run.unchecked,
        partitioned_by_unit=run.by_file,
    )
    reduced = time.perf_counter() - start
    return {
        **numbers(tally),
        "units": tally.n_units,
        "patterns": tally.n_patterns,
        "ratings": tally.n_ratings,
        "seconds to reduce": round(reduced, 1),
        **_spent(start),
    }


def _spent(start: float) -> dict[str, float]:
    """Return the time and the most memory that this process took."""
    return {
        "seconds": round(time.perf_counter() - start, 1),
        "processor seconds": round(time.process_time(), 1),
        "peak GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 2),
    }


def _bytes(amount: str) -> int:
    """Return how many bytes an amount such as 2GB or 500MB is."""
    number, unit = amount[:-2], amount[-2:].upper()
    return round(float(number) * {"KB": 10**3, "MB": 10**6, "GB": 10**9}[unit])


def numbers(study: sa.Annotations | sa.Tally) -> dict[str, float]:
    """Return the estimates and standard errors that both roads must share."""
    table = sa.agreement(study, distance="masi")
    return {
        f"{row.coefficient} {part}": getattr(row, part)
        for row in table
        for part in ("estimate", "standard_error")
    }


def in_fresh_process(paths: Sequence[Path], run: Run) -> dict[str, Any]:
    """Score files in an interpreter of its own, so that its peak of memory is theirs.

    What lies beside the files for a while is looked at twice a second.
    """
    command = [sys.executable, "-m", "tests.benchmarks.huge", *map(str, paths), "--limit"]
    command += [run.limit] + ["--by-file"] * run.by_file + ["--unchecked"] * run.unchecked
    command += ["--alone"] * run.alone
    environment = dict(os.environ)
    if run.enforced is not None:
        command += ["--enforce", run.enforced]
        environment |= {"ARROW_DEFAULT_MEMORY_POOL": "system", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(dir=paths[0].parent) as temp_directory:
        command += ["--score", temp_directory]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        )
        disk = 0
        while process.poll() is None:
            time.sleep(0.5)
            disk = max(disk, _bytes_in(Path(temp_directory)))
        said = process.communicate()[0]
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
    return {**json.loads(said), "disk GB": round(disk / 1e9, 2)}


def _bytes_in(folder: Path) -> int:
    """Return how many bytes the files in a folder have; some may go while they are counted."""
    total = 0
    for inner, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(inner) / name).stat().st_size
            except FileNotFoundError:
                continue
    return total


def check_sample(path: Path, run: Run) -> float:
    """Return by how much the two roads differ at most on one file."""
    import pandas as pd

    table = pd.read_parquet(path)
    study = sa.Annotations.from_long(table, unit="doc", rater="who", labels="tags", blank="empty")
    ours = in_fresh_process([path], run)
    return max(abs(float(str(ours[name])) - number) for name, number in numbers(study).items())


def main() -> None:
    """Write, score, compare and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.huge", description=__doc__)
    parser.add_argument("folder", nargs="+", help="where the files are written, or are already")
    parser.add_argument("--ratings", type=float, nargs="+", default=[1e8])
    parser.add_argument("--limit", default="1GB", help="what DuckDB may hold in memory")
    parser.add_argument("--by-file", action="store_true", help="reduce each file by itself")
    parser.add_argument("--unchecked", action="store_true", help="do not look for repeats")
    parser.add_argument("--score", metavar="SPILL", help="only score; the folders are files")
    parser.add_argument("--enforce", metavar="SIZE", help="what the kernel lets the process have")
    parser.add_argument("--complete", action="store_true", help="ten raters, ten label sets")
    parser.add_argument("--beside", action="store_true", help="time DuckDB's own group-by, too")
    parser.add_argument("--alone", action="store_true", help="only group by units")
    options = parser.parse_args()
    run = Run(options.limit, options.by_file, options.unchecked, options.enforce, options.alone)
    writer = write_complete if options.complete else write
    if options.score:
        print(json.dumps(score(options.folder, run, options.score)))
        return
    found = []
    for n_ratings in sorted(map(int, options.ratings)):
        paths = writer(Path(options.folder[0]), n_ratings)
        size = sum(path.stat().st_size for path in paths)
        print(f"{len(paths)} files of {size / 1e9:.2f} GB together", flush=True)
        if options.beside:
            alone = in_fresh_process(paths, replace(run, alone=True))
            print("DuckDB's own group-by:", json.dumps(alone, indent=2), flush=True)
        found.append(in_fresh_process(paths, run))
        print(json.dumps(found[-1], indent=2), flush=True)
    for less, more in pairwise(found):
        n, seconds = (more[name] / less[name] for name in ("ratings", "processor seconds"))
        print(
            f"{n:.3g} times the ratings take {seconds:.3g} times the processor seconds: "
            f"ratings^{math.log(seconds) / math.log(n):.2f}"
        )
    print(f"largest difference to memory on one file: {check_sample(paths[0], run):.1e}")


if __name__ == "__main__":
    main()

"""One file, one fresh process: time and memory of ``sa.agreement`` on the frame that it holds.

Run as ``python -m tests.benchmarks.probe FILE STORAGE ROUNDS``; prints the findings as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

import setagree as sa
from tests.benchmarks import memory
from tests.benchmarks.timing import alternate

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Findings:
    """What one probe saw.

    - n_rows, n_values: Ratings, and distinct sets among them.
    - agreement, factorize: Processor seconds of the call, and of coding the same columns with
      pandas.
    - encode, categorical: Of coding them with Arrow, and of the call where they are categories;
      0 without pyarrow.
    - frame: Bytes that became resident when the frame was read.
    - frame_deep: What ``memory_usage(deep=True)`` says; strings that rows share are counted for
      each row.
    - peak: Resident high-water mark of the first call, less what was resident before the frame
      was read; so the frame is part of it.
    """

    n_rows: int
    n_values: int
    agreement: float
    factorize: float
    encode: float = 0.0
    categorical: float = 0.0
    frame: int = 0
    frame_deep: int = 0
    peak: int = 0


def run(path: Path, *, storage: str, rounds: int) -> Findings:
    """Measure one file in a fresh interpreter."""
    command = [sys.executable, "-m", "tests.benchmarks.probe", str(path), storage, str(rounds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "the probe died").splitlines()[-1])
    return Findings(**json.loads(done.stdout.splitlines()[-1]))


def measure(path: Path, storage: str, rounds: int) -> Findings:
    """Measure one file in this process, memory first."""
    pd.set_option("mode.string_storage", storage)
    _agree(_tiny())  # so that modules which are loaded on first use are not counted
    if not memory.available():
        return _timed(pd.read_csv(path), rounds)
    memory.settle()
    before = memory.resident()
    frame = pd.read_csv(path)
    memory.settle()
    loaded = memory.resident()
    peak = memory.high_water(lambda: _agree(frame))
    return replace(
        _timed(frame, rounds),
        frame=loaded - before,
        frame_deep=int(frame.memory_usage(deep=True).sum()),
        peak=peak - before,
    )


def _timed(frame: pd.DataFrame, rounds: int) -> Findings:
    calls = {"agreement": lambda: _agree(frame), "factorize": lambda: _factorize(frame)}
    if find_spec("pyarrow"):
        categories = frame.astype("category")
        calls |= {"encode": lambda: _encode(frame), "categorical": lambda: _agree(categories)}
    best = alternate(calls, rounds=rounds)
    return Findings(
        n_rows=len(frame),
        n_values=frame["tags"].nunique(),
        **best,
    )


def _agree(frame: pd.DataFrame) -> pd.DataFrame:
    """Return alpha and Fleiss' kappa under MASI with their standard errors."""
    return sa.agreement(frame, unit="doc", rater="who", labels="tags").to_frame()


def _factorize(frame: pd.DataFrame) -> None:
    """Code each column as pandas does."""
    for name in frame:
        pd.factorize(frame[name])


def _encode(frame: pd.DataFrame) -> None:
    """Code each column as Arrow does."""
    import pyarrow as pa

    for name in frame:
        pa.array(frame[name]).dictionary_encode()


def _tiny() -> pd.DataFrame:
    tags = np.array(["joy", "joy, hope", "hope", "fear"])
    return pd.DataFrame({"doc": list("aabb"), "who": list("xyxy"), "tags": tags})


if __name__ == "__main__":
    file, storage, rounds = sys.argv[1:]
    print(json.dumps(asdict(measure(Path(file), storage, int(rounds)))))

"""MASI alpha beside the programs that people use today."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

import setagree as sa
from tests.benchmarks import data
from tests.benchmarks.table import Row, at_least, at_most, duration
from tests.benchmarks.timing import alternate, seconds

BAR = 100
NUMBERS_BAR = 1.5
TOLERANCE = 1e-9
LabelSet = frozenset[str]


def exact_masi(first: LabelSet, second: LabelSet) -> float:
    """Return the MASI distance with exact constants, for non-empty sets."""
    shared = len(first & second)
    if first == second:
        monotone = 1.0
    elif shared == min(len(first), len(second)):
        monotone = 2 / 3
    else:
        monotone = 1 / 3 if shared else 0.0
    return 1 - monotone * shared / len(first | second)


def against_peers(*, quick: bool) -> Iterator[Row]:
    """Compare the time of alpha with NLTK, simpledorff and krippendorff."""
    ratings = data.simulate(1_000 if quick else 10_000, 3)
    frame, triples = ratings.frame(), ratings.triples()
    ours = _ours(frame)
    fastest = alternate({"ours": lambda: _ours(frame)}, rounds=10)["ours"]
    what = f"{'1e3' if quick else '1e4'} units x 3 raters, K = {len(ratings.masks):,}: "
    for name, load in {"nltk": _nltk, "simpledorff": _simpledorff}.items():
        try:
            peer = load(triples)
        except ImportError:
            yield Row(what + name, other="not installed")
            continue
        found: list[float] = []
        taken = min(seconds(lambda: found.append(peer())) for _ in range(2))  # noqa: B023
        yield _faster(f"{what}{name} {version(name)}", fastest, taken)
        yield _same(f"the same number as {name}", ours, found[0])
    yield from _numbers(quick=quick)


def _numbers(*, quick: bool) -> Iterator[Row]:
    """Compare alpha of a wide table of numbers with the package krippendorff."""
    n = 100_000 if quick else 1_000_000
    what = f"interval alpha of a wide table, {'1e5' if quick else '1e6'} units x 5 raters: "
    try:
        peer: Any = importlib.import_module("krippendorff").alpha
    except ImportError:
        yield Row(what + "krippendorff", other="not installed")
        return
    rng = np.random.default_rng(0)
    ratings = np.clip(np.round(3 + rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, 5))), 1, 5)
    ratings[rng.random(ratings.shape) < 0.1] = np.nan
    table = pd.DataFrame(ratings, columns=list("abcde"))
    found: dict[str, float] = {}

    def ours() -> None:
        study = sa.Annotations.from_wide(table, kind="number")
        found["ours"] = sa.krippendorff_alpha(study, distance="interval").estimate

    def theirs() -> None:
        found["theirs"] = peer(ratings.T, level_of_measurement="interval")

    taken = alternate({"ours": ours, "theirs": theirs}, rounds=5)
    yield at_most(
        f"{what}krippendorff {version('krippendorff')}",
        ours=duration(taken["ours"]),
        other=duration(taken["theirs"]),
        ratio=taken["ours"] / taken["theirs"],
        bar=NUMBERS_BAR,
    )
    yield _same("the same number as krippendorff", found["ours"], found["theirs"])


def _ours(frame: pd.DataFrame) -> float:
    """Return our estimate from a frame of strings, the road a user takes."""
    table = sa.agreement(frame, unit="doc", rater="who", labels="tags")
    return table["krippendorff_alpha", "masi"].estimate


def _faster(what: str, ours: float, taken: float) -> Row:
    return at_least(what, ours=duration(ours), other=duration(taken), ratio=taken / ours, bar=BAR)


def _same(what: str, ours: float, theirs: float) -> Row:
    row = at_most(what, ours=f"{ours:.12f}", other=f"{theirs:.12f}", ratio=0, bar=TOLERANCE)
    gap = abs(ours - theirs)
    return Row(row.what, row.ours, row.other, f"differ by {gap:.1e}", row.bar, gap <= TOLERANCE)


def _nltk(triples: list[tuple[str, str, LabelSet]]) -> Callable[[], float]:
    """Return NLTK's alpha as a call; its input is ready, which is in its favour."""
    task: Any = importlib.import_module("nltk.metrics.agreement").AnnotationTask
    masi: Any = importlib.import_module("nltk.metrics").masi_distance
    return lambda: float(task(triples, distance=masi).alpha())


def _simpledorff(triples: list[tuple[str, str, LabelSet]]) -> Callable[[], float]:
    """Return simpledorff's alpha as a call; its frame is ready, which is in its favour."""
    alpha: Any = importlib.import_module("simpledorff").calculate_krippendorffs_alpha_for_df
    frame = pd.DataFrame(triples, columns=["who", "doc", "tags"])
    return lambda: float(alpha(frame, "doc", "who", "tags", metric_fn=exact_masi))

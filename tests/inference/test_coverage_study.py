"""The study of coverage: its worlds, its arrays, its file; and that the guide tells its results."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import setagree as sa
from tests.benchmarks.coverage import __main__ as study
from tests.benchmarks.coverage import runner
from tests.benchmarks.coverage.defaults import WORLDS, Default, Z, bounds, default_cells
from tests.benchmarks.coverage.designs import Clusters, RatersToo, Strata, Weighted, interval_cells
from tests.benchmarks.coverage.intervals import (
    CROWD,
    SHAPES,
    Dominated,
    Hard,
    Intervals,
    Numbers,
    Plain,
)
from tests.benchmarks.coverage.levels import LEVELS, Level, level_cells
from tests.benchmarks.coverage.nulls import TESTS, Null, null_cells
from tests.benchmarks.coverage.picture import draw
from tests.benchmarks.coverage.record import AGAIN, read, run, write
from tests.benchmarks.coverage.spans import span_cells
from tests.benchmarks.coverage.tables import results_of, tables

KNOWN = read()
GUIDE = Path(__file__).parents[2] / "examples/guide"
DESIGNS = [
    Plain("nominal", "skewed", 0.4, 3, 20_000),
    Plain("masi", "equal", 0.9, 2, 20_000, missing=0.3),
    Plain("masi", "skewed", 0.7, CROWD, 20_000, missing=0.3),
    Dominated("nominal", "one", 0.7, 4, 20_000),
    Hard("masi", "rare", 0.7, 2, 20_000),
    Clusters("masi", "equal", 0.7, 3, 20_000, n_clusters=1_000),
    RatersToo("nominal", "equal", 0.4, 200, 2_000, tilt=0.7),
    Weighted("masi", "equal", 0.7, 3, 20_000),
    Strata("nominal", "equal", 0.7, 3, 2_000),
    *(Numbers("interval", shape, SHAPES[shape].alpha, 2, 20_000) for shape in SHAPES),
]


class TestWorlds:
    @pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
    def test_alpha(self, design: Intervals) -> None:
        """The estimate of a large study lies within four standard errors."""
        drawn, truth = next(design.studies(1, np.random.default_rng(1)))
        row = design.scored(drawn)
        assert truth == pytest.approx(design.alpha, abs=0.03)  # of strata, that of 4,000 units
        error = row.two_way.standard_error if isinstance(design, RatersToo) else row.standard_error
        # The standard error of long tails is itself far too small.
        assert row.estimate == pytest.approx(
            truth, abs=4 * error + 0.02 * ("long" in design.labels)
        )

    def test_the_template_changes_nothing(self) -> None:
        design = Plain("masi", "skewed", 0.7, 3, 15, missing=0.3)
        for drawn, _ in design.studies(5, np.random.default_rng(2)):
            quick, own = design.scored(drawn), sa.krippendorff_alpha(drawn.with_used_values())
            for method in ("t", "score"):
                assert quick.interval(method=method) == pytest.approx(own.interval(method=method))


class TestFile:
    CELLS = (Plain("nominal", "equal", 0.4, 2, 10, 60), Null("permutation pooled", 10, 20))

    @pytest.fixture(autouse=True)
    def few(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Have two small cells, neither of which is drawn anew."""
        monkeypatch.setattr(study, "every_cell", lambda: iter(self.CELLS))
        monkeypatch.setattr(runner, "in_doubt", lambda cells, path: [])

    def test_a_stopped_run_goes_on(self, tmp_path: Path) -> None:
        whole, stopped = tmp_path / "whole.csv", tmp_path / "stopped.csv"
        study.main(["--output", str(whole), "--processes", "1"])
        lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
        assert len(lines) == 3
        stopped.write_text("".join(lines[:2]), encoding="utf-8")
        study.main(["--output", str(stopped), "--processes", "2"])
        assert stopped.read_bytes() == whole.read_bytes()

    def test_anew(self, tmp_path: Path) -> None:
        """Cells that are named are forgotten and run again, as they were."""
        path = tmp_path / "results.csv"
        write(path, {cell.name: run(cell) for cell in self.CELLS})
        before = read(path)
        write(path, {name: replace(one, left_out=3) for name, one in before.items()})
        study.main(["--output", str(path), "--anew", "plain", "--only", "plain"])
        assert [one.left_out for one in read(path).values()] == [3, 0]

    def test_doubtful_cells_are_drawn_anew(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cell = Plain("nominal", "equal", 0.4, 2, 10)
        assert not cell.misses(run(replace(cell, n_studies=60)))
        bad = replace(run(replace(cell, n_studies=60)), results={"score": (0.0, 5.0, 0.0, 1.0)})
        assert cell.misses(bad)


class TestResults:
    def test_every_cell_was_run(self) -> None:
        intervals, tests = [*interval_cells(), *default_cells()], [*null_cells(), *level_cells()]
        names = {cell.name for cell in [*intervals, *tests, *span_cells()]}
        assert names == {name.removesuffix(AGAIN) for name in KNOWN}

    @pytest.mark.parametrize(
        ("page", "names"),
        [
            ("coverage.md", {"methods"}),
            ("coverage-tables.md", {"grid", "designs", "tests"}),
            ("coverage-worlds.md", {"broken", "defaults", "switch", "levels"}),
        ],
    )
    def test_the_guide_tells_them(self, page: str, names: set[str]) -> None:
        text = (GUIDE / page).read_text(encoding="utf-8")
        assert {name for name, table in tables(KNOWN).items() if table in text} == names

    def test_intervals_of_spans_hold_over_documents(self) -> None:
        for cell in span_cells():
            assert not cell.misses(KNOWN.get(cell.name + AGAIN, KNOWN[cell.name])), cell.name

    def test_intervals_hold_what_is_promised(self) -> None:
        for cell, found in results_of(KNOWN):
            for method, (low, high) in cell.promised.items():
                share = found.coverage(method)
                slack = 3 * np.sqrt(low * (1 - low) / found.n)
                assert low - slack <= share <= high + slack, (cell.name, method, share)

    def test_tests_keep_their_size(self) -> None:
        for cell, level in product(null_cells(), (0.05, 0.01)):
            found = KNOWN.get(cell.name + AGAIN, KNOWN[cell.name])
            for test in cell.promised(found):
                slack = 3 * np.sqrt(level * (1 - level) / found.n)
                assert found.size(test, level) <= level + slack, (cell.name, test)

    def test_picture(self, tmp_path: Path) -> None:
        pytest.importorskip("matplotlib", reason="matplotlib draws it")
        path = tmp_path / "coverage.svg"
        draw(KNOWN, path)
        assert path.stat().st_size > 10_000


@pytest.mark.parametrize("what", TESTS)
def test_every_null_runs(what: str) -> None:
    """Each test of a true hypothesis gives p-values between 0 and 1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = TESTS[what](20, np.random.default_rng(1))
    assert all(0 <= p <= 1 for p in found.values() if not np.isnan(p))


@pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
@pytest.mark.parametrize("what", LEVELS)
def test_every_level_runs(what: str) -> None:
    """Each test of a default output gives p-values between 0 and 1, or none."""
    found = Level(what, 20).p_values(np.random.default_rng(1))
    assert all(0 <= p <= 1 for p in found.values() if not np.isnan(p))


@pytest.mark.parametrize("world", WORLDS)
def test_every_world_runs(world: str) -> None:
    found = Default(world, 50, 5).run(np.random.default_rng(1))
    n_none = {method: found.results[method][0] for method in ("default", "not rough")}
    assert n_none["default"] <= n_none["not rough"] <= found.n
    assert sum(found.results["t"][:3]) <= found.n - n_none["default"]


@pytest.mark.parametrize(("k", "n"), [(0, 400), (20, 400), (380, 400), (19, 20)])
def test_bounds(k: int, n: int) -> None:
    """A share lies within Z standard errors of a true share exactly between the bounds."""
    low, high = bounds(k, n)
    assert low <= k / n <= high
    for p in (low, high):
        assert abs(k / n - p) == pytest.approx(Z * np.sqrt(p * (1 - p) / n), abs=1e-12)

"""The study of decisions: its worlds, its cells, its file; and that the guide tells its results."""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import pytest

import setagree as sa
from tests.benchmarks.coverage.record import AGAIN, read, run
from tests.benchmarks.decisions import __main__ as study
from tests.benchmarks.decisions import components, models, thresholds
from tests.benchmarks.decisions.cells import RESULTS, Decisions
from tests.benchmarks.decisions.components import Repeats, Variances
from tests.benchmarks.decisions.crowds import Crowds
from tests.benchmarks.decisions.facets import EVERY, Facets
from tests.benchmarks.decisions.looks import LastBatch, Looks, Stops
from tests.benchmarks.decisions.models import MARGIN, Models
from tests.benchmarks.decisions.queues import Adaptive, Gain
from tests.benchmarks.decisions.tables import risk_table, tables
from tests.benchmarks.decisions.thresholds import Thresholds

KNOWN = read(RESULTS)
PAGE = Path(__file__).parents[2] / "examples/guide/decision-tables.md"
CELLS = [*study.every_cell()]
SMALL = (
    Models("masi", "equal", "hard", "alike", 0.5, -MARGIN, 3, 30, n_studies=3),
    Models("nominal", "equal", "alike", "alike", 0.5, -MARGIN, 3, 30, 0.0, 3, n_studies=3),
    Thresholds("masi", "equal", "hard", 0.8, 3, 20, 0.3, n_studies=20),
    Looks("nominal", "skewed", "alike", 0.4, 20, 3, n_studies=3),
    Facets("masi", "hard", 0.7, 30, n_studies=3),
    Stops("nominal", "skewed", "hard", 0.5, 40, 2, n_studies=3),
    LastBatch("masi", "equal", 0.7, 0.2, 30, 3, n_studies=3),
    Variances("masi", 0.0, 5, 20, 0.3, n_studies=3),
    Variances("numbers", 1.0, 3, 20, n_studies=3),
    Repeats("nominal", "hard", 0.7, 3, 20, n_studies=3),
    Adaptive("nominal", "alike", 0.4, 20, n_studies=2),
    Gain(5, 0.4, n_units=20, n_studies=2),
    Crowds("spammers", 4, 30, n_studies=2),
)


@pytest.fixture(autouse=True)
def quiet():
    """Leave out warnings of studies that are small on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.slow
class TestTruths:
    @pytest.mark.parametrize("humans", ["alike", "expert"])
    def test_change(self, humans: str) -> None:
        """A model loses the margin in the place of the first human, whatever is missing."""
        people = models.world_of("masi", "equal", "hard", humans, 0.5)
        cell = Models("masi", "equal", "hard", humans, 0.5, -MARGIN, 3, 5_000, 0.3, n_studies=1)
        seen = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Models, "_check", lambda self, drawn, _: seen.append(drawn))
            [*cell.seen(np.random.default_rng(1))]
        assert models.with_model(people, 3, -MARGIN).raters[-1].skill < people.raters[0].skill
        first, *_ = sa.noninferiority_test(seen[0], model="r3", distance="masi")["r3"].changes
        assert first.difference == pytest.approx(-MARGIN, abs=4 * first.standard_error)
        assert first.standard_error < 0.02

    @pytest.mark.parametrize("answers", ["masi", "numbers"])
    def test_components(self, answers: str) -> None:
        """The components lie in their intervals of a large study."""
        cell = Variances(answers, 2.0, 25, 200, 0.3)
        drawn, distance = cell._study(np.random.default_rng(2))
        frame = sa.variance_components(drawn, distance=distance, level=0.999).frame
        for name, row in frame.set_index("component").iterrows():
            assert row["low"] <= cell.truth[name] <= row["high"]

    @pytest.mark.parametrize("distance", ["nominal", "masi"])
    def test_facets(self, distance: str) -> None:
        """Pairs of each kind agree in a large study as much as is said, and lose as much."""
        cell = Facets(distance, "hard", 0.9, 10_000)
        study = cell._study(np.random.default_rng(4))
        found = sa.facet_agreement(study, facets=["model", "run"], distance=distance).frame
        every = found[found["who"] == "all"].set_index("pairs")
        for kind in every.index:
            assert every.loc[kind, "estimate"] == pytest.approx(cell.truth[kind], abs=0.025)
        lost = every.loc["models with people", "difference"]
        assert lost == pytest.approx(cell.truth[EVERY[-1]], abs=0.025)

    def test_repeats(self) -> None:
        """Raters agree with themselves as much as is said."""
        cell = Repeats("nominal", "hard", 0.7, 3, 3_000, n_studies=1)
        seen = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Repeats, "_held", lambda self, drawn: seen.append(drawn))
            [*cell.seen(np.random.default_rng(3))]
        pooled = sa.intra_rater_agreement(seen[0], distance="nominal").pooled
        assert pooled.estimate == pytest.approx(0.7, abs=0.04)


@pytest.mark.parametrize("cell", SMALL, ids=lambda cell: cell.name)
def test_every_kind_of_cell_runs(cell: Decisions) -> None:
    found = run(cell)
    assert found == run(replace(cell))
    assert found.n_studies == cell.n_studies
    assert {*cell.promised} <= {*found.results}
    for numbers in found.results.values():
        assert all(0 <= count <= cell.n_studies for count in numbers[:3])


def test_a_run_fills_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "every_cell", lambda: iter(SMALL[2:3]))
    path = tmp_path / "results.csv"
    for _ in range(2):
        study.main(["--output", str(path), "--processes", "1"])
        assert read(path)[SMALL[2].name] == run(SMALL[2])


class TestResults:
    def test_every_cell_was_run(self) -> None:
        assert {cell.name for cell in CELLS} == {name.removesuffix(AGAIN) for name in KNOWN}

    def test_the_guide_tells_them(self) -> None:
        page = PAGE.read_text(encoding="utf-8")
        assert [name for name, table in tables(KNOWN).items() if table not in page] == []

    def test_promises_are_kept(self) -> None:
        missed = [
            (cell.name, key)
            for cell in CELLS
            for key in cell.promised
            if not cell.kept(KNOWN.get(cell.name + AGAIN, KNOWN[cell.name]), key, slack=3)
        ]
        assert missed == []


class TestAcceptance:
    def test_risks(self) -> None:
        for plan, producer, consumer in thresholds.risks():
            assert producer <= plan.producer_risk
            assert consumer <= plan.consumer_risk

    def test_the_upper_end_holds(self) -> None:
        plan = sa.acceptance_plan(acceptable_rate=0.05, rejectable_rate=0.2)
        tests = [sa.acceptance_test(plan, n_errors=k, n_checked=plan.n) for k in range(plan.n + 1)]
        for rate in np.linspace(0.001, 0.6, 200):
            held = sum(
                comb(plan.n, k) * rate**k * (1 - rate) ** (plan.n - k)
                for k, one in enumerate(tests)
                if rate <= one.upper_bound
            )
            assert held >= 0.95 - 1e-12

    def test_table(self) -> None:
        assert "| 0.02 | 0.1 | 65 | 3 |" in risk_table()


def test_components_of_a_world_without_habits() -> None:
    cell = Variances("masi", 0.0, 3, 20)
    assert cell.truth["rater"] == pytest.approx(0, abs=1e-12)
    assert components.variances(cell._world)["unit"] > 0

"""What missing answers could do to alpha: every completion of small studies, and the sentences."""

import itertools

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import CostError, OptionError, UndefinedAgreementWarning
from setagree.inference.completion import completion_bounds


def drawn(seed, *, values="abc", n_units=5, n_missing=3):
    """Return a long table of three raters, a few of whose answers were refused."""
    rng = np.random.default_rng(seed)
    sets = ["a", "b", "a, b", "c"][: len(values) + 1]
    rows = [(u, g, sets[rng.integers(len(sets))], "") for u in range(n_units) for g in "xyz"]
    table = pd.DataFrame(rows, columns=["unit", "rater", "labels", "status"])
    gone = rng.choice(len(table), n_missing, replace=False)
    table.loc[gone, ["labels", "status"]] = [None, "refused"]
    return table


def every_alpha(table, distance):
    """Return alpha of each completion by answers of the study; nan where it is undefined."""
    study = sa.read(table, status="status")
    gone = np.flatnonzero(table["status"] == "refused")
    full, out = table.drop(columns="status"), []
    matrix = sa.weights(study, distance)
    known = {value: k for k, value in enumerate(study.values)}

    def d(x, y):
        return float(matrix.distance_at(np.array([known[x]]), np.array([known[y]]))[0])

    for answers in itertools.product(study.values, repeat=len(gone)):
        cells = [sa.parse_labels(one) if isinstance(one, str) else None for one in full["labels"]]
        for k, answer in zip(gone, answers, strict=True):
            cells[k] = answer
        rows = [*zip(full["unit"], cells, strict=True)]
        units = [[x for unit, x in rows if unit == u] for u in dict.fromkeys(full["unit"])]
        pooled = [x for unit in units for x in unit]
        n = len(pooled)
        Do = sum(
            sum(d(x, y) for x, y in itertools.permutations(unit, 2)) / (len(unit) - 1)
            for unit in units
        )
        De = sum(d(x, y) for x, y in itertools.permutations(pooled, 2)) / (n - 1)
        out.append(1 - Do / De if De > 0 else np.nan)
    return np.array(out)


class TestBounds:
    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("distance", ["masi", "nominal"])
    def test_every_completion(self, seed, distance):
        table = drawn(seed)
        found = completion_bounds(sa.read(table, status="status"), distance=distance)
        every = every_alpha(table, distance)
        assert found.lowest == pytest.approx(np.nanmin(every), abs=1e-9)
        assert found.highest == pytest.approx(np.nanmax(every), abs=1e-9)
        assert found.n_completed == 3

    @pytest.mark.filterwarnings("ignore::setagree.errors.UndefinedAgreementWarning")
    @pytest.mark.parametrize("seed", [78, 88])
    def test_a_completion_that_single_changes_do_not_reach(self, seed):
        table = drawn(seed, values="a", n_units=4, n_missing=7)
        found = completion_bounds(sa.read(table, status="status"), distance="nominal")
        every = every_alpha(table, "nominal")
        assert found.lowest == pytest.approx(np.nanmin(every), abs=1e-9)
        assert found.highest == pytest.approx(np.nanmax(every), abs=1e-9)

    @pytest.mark.parametrize("seed", range(3))
    def test_the_search_of_many_completions(self, seed, monkeypatch):
        monkeypatch.setattr("setagree.inference.completion._MAX_TRIED", 0)
        self.test_every_completion(seed, "masi")

    def test_units_that_nobody_answered(self):
        table = drawn(1, n_missing=0)
        more = pd.DataFrame([(9, g, None, "refused") for g in "xy"], columns=[*table.columns])
        study = sa.read(pd.concat([table, more]), status="status")
        found = completion_bounds(study)
        assert (found.n_completed, study.n_units) == (2, 5)
        assert found.lowest < found.estimate < found.highest

    def test_nothing_to_complete(self):
        for study, asked in (
            (sa.simulate(20, 3, rng=1), ["refused"]),
            (sa.read(drawn(1), status="status"), ["abstained"]),
        ):
            found = completion_bounds(study, statuses=asked)
            alpha = sa.krippendorff_alpha(study).estimate
            assert found.lowest == found.highest == found.estimate == alpha
            assert found.n_completed == 0

    def test_a_larger_study(self, monkeypatch):
        table = drawn(3, n_units=40, n_missing=25)
        study = sa.read(table, status="status")
        found = completion_bounds(study)
        monkeypatch.setattr("setagree.inference.completion.BLOCK_ENTRIES", 200)
        assert repr(completion_bounds(study)) == repr(found)
        assert found.lowest < found.estimate < found.highest
        rng = np.random.default_rng(1)
        sets = [sa.format_labels(value) for value in study.values]
        for _ in range(20):
            full = table.copy()
            gone = full["status"] == "refused"
            full.loc[gone, "labels"] = [sets[k] for k in rng.integers(len(sets), size=gone.sum())]
            alpha = sa.krippendorff_alpha(full.drop(columns="status")).estimate
            assert found.lowest <= alpha <= found.highest


class TestWords:
    def test_undefined(self):
        """Where the observed answers leave alpha undefined there is a reason."""
        table = pd.DataFrame(
            [(1, "x", "a", ""), (1, "y", None, "refused"), (2, "x", "b", "")],
            columns=["unit", "rater", "labels", "status"],
        )
        with pytest.warns(UndefinedAgreementWarning, match="there is only one rater"):
            found = completion_bounds(sa.read(table, status="status"))
        assert np.isnan(found.estimate)
        assert "Undefined, because there is only one rater." in repr(found)

    def test_one_unit(self):
        rows = [(1, "x", "a", ""), (1, "y", "b", ""), (1, "z", None, "refused")]
        table = pd.DataFrame(rows, columns=["unit", "rater", "labels", "status"])
        with pytest.warns(UndefinedAgreementWarning, match="only one unit has two ratings"):
            found = completion_bounds(sa.read(table, status="status"))
        assert np.isnan([found.lowest, found.highest]).all()

    def test_one_value(self):
        """One completion of more answers than an array has dimensions."""
        rows = [
            (u, g, *(("a", "") if g != "z" else (None, "refused")))
            for u in range(70)
            for g in "xyz"
        ]
        table = pd.DataFrame(rows, columns=["unit", "rater", "labels", "status"])
        with pytest.warns(UndefinedAgreementWarning, match="only one value was used"):
            found = completion_bounds(sa.read(table, status="status"))
        assert np.isnan([found.estimate, found.lowest, found.highest]).all()

    def test_part_of_a_study(self):
        rows = [(u, g, "ab"[(u + (g == "y")) % 2], "") for u in (1, 2, 3) for g in "xyz"]
        table = pd.DataFrame(rows, columns=["unit", "rater", "labels", "status"])
        table.loc[[2, 7, 8], ["labels", "status"]] = [None, "refused"]
        study = sa.read(table, status="status")
        assert completion_bounds(study).n_completed == 3
        part = study.take(np.isin(study.units[study.unit_codes], [1, 2]))
        expected = completion_bounds(sa.read(table[table["unit"] < 3], status="status"))
        assert part.unobserved.to_numpy().tolist() == [[1, "z", "refused"]]
        assert repr(completion_bounds(part)) == repr(expected)

    def test_refusals(self, monkeypatch):
        """A status that is none, and too much."""
        study = sa.read(drawn(1), status="status")
        with pytest.raises(OptionError, match="statuses='bored' is unknown; use 'abstained', 'n"):
            completion_bounds(study, statuses=["bored"])
        with pytest.raises(OptionError, match="statuses"):
            completion_bounds(study, statuses="refused")
        monkeypatch.setattr("setagree.checks.MOST_STEPS", 100)
        with pytest.raises(CostError, match="The search for the completions would take about"):
            completion_bounds(study)

"""What takes an agreement takes a table of them alike, and answers with a table of results."""

import html

import numpy as np
import pandas as pd
import pytest
from results_support import spoil

import setagree as sa
from setagree.errors import DataError, OptionError
from setagree.scoring.result_tables import ResultTable

STUDY = sa.simulate(60, 3, rng=1)
TABLE = sa.agreement(STUDY, distance=["masi", "nominal"])
ALPHA = TABLE["krippendorff_alpha", "masi"]

CALLS = {
    "jackknife": sa.jackknife,
    "jackknife, raters": lambda given: sa.jackknife(given, over="raters"),
    "permutation_test": lambda given: sa.permutation_test(given, n_resamples=49, rng=3),
    "benchmark": lambda given: sa.benchmark(given, scale="altman"),
    "plan": lambda given: sa.plan(given, sa.PlanGoals(n_units=[100, 200])),
    "bootstrap": lambda given: sa.bootstrap(given, n_resamples=40, rng=3),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
class TestEveryRow:
    def test_rows_are_the_single_results(self, call):
        results = call(TABLE)
        assert isinstance(results, ResultTable)
        assert len(results) == len([*results]) == 4
        for agreement, result in zip(TABLE, results, strict=True):
            alone = call(agreement)
            assert type(result) is type(alone)
            assert result is results[agreement.coefficient, agreement.distance]
            pd.testing.assert_frame_equal(result.to_frame(), alone.to_frame())

    def test_the_frame_is_tidy(self, call):
        results = call(TABLE)
        frame = results.to_frame()
        assert frame.columns[:2].tolist() == ["coefficient", "distance"]
        assert len(frame) == sum(len(row.to_frame()) for row in results)
        assert isinstance(frame.index, pd.RangeIndex)
        names = [*zip(frame["coefficient"], frame["distance"], strict=True)]
        assert [*dict.fromkeys(names)] == [(row.coefficient, row.distance) for row in TABLE]

    def test_unknown_rows(self, call):
        with pytest.raises(KeyError, match=r"no row 'masi'; the rows are \['krippendorff_alpha, m"):
            call(TABLE)["masi"]

    def test_the_frame_is_a_copy(self, call):
        for result in (call(ALPHA), call(TABLE)):
            before = result.to_frame().copy()
            spoil(result.to_frame())
            pd.testing.assert_frame_equal(result.to_frame(), before)

    def test_shown(self, call):
        """A line for programmers; Markdown, HTML and plain values for everything else."""
        for result in (call(ALPHA), call(TABLE)):
            assert "\n" not in repr(result)
            assert result.to_markdown().count("\n") == len(result.to_frame()) + 2
            start = repr(result)[1:-1].split(". ")[0]
            assert html.unescape(result._repr_html_()).startswith(f"<p>{start}")
            plain = result.to_dict()
            assert {len(cells) for cells in plain.values()} == {len(result.to_frame())}
            assert not any(isinstance(x, np.generic) for cells in plain.values() for x in cells)


def test_units_without_names():
    counts = pd.DataFrame({"a": [3, 0, 2], "b": [0, 3, 1]})
    tally = sa.Tally.from_counts(counts)
    frame = sa.jackknife(sa.agreement(tally, distance="nominal")).to_frame()
    assert len(frame) == 6
    assert "estimate_without" in frame


def test_printed_tables_are_cut():
    found = sa.jackknife(TABLE)
    assert " ".join(str(found).split()).count("40 more rows; to_frame() returns all.") == 1
    n_lines = [len(str(one).split("\n\n")[1].splitlines()) for one in found]
    assert n_lines == [21] * len(TABLE)


class TestCompare:
    def test_one_table(self):
        pd.testing.assert_frame_equal(sa.compare(TABLE).to_frame(), sa.compare(*TABLE).to_frame())

    @pytest.mark.parametrize("method", ["linearised", "bootstrap"])
    def test_several_tables(self, method):
        other = sa.agreement(sa.simulate(50, 3, skill=0.9, rng=2), distance="masi")
        options = {"method": method, "n_resamples": 60, "rng": 1, "design": "independent"}
        mine = sa.agreement(STUDY, distance="masi")
        both = sa.compare(mine, other, **options).to_frame()
        for k, (one, two) in enumerate(zip(mine, other, strict=True)):
            alone = sa.compare(one, two, **options).to_frame()
            columns = ["first", "second", "difference", "standard_error", "low", "high", "p_value"]
            assert both.loc[k, columns].tolist() == alone.loc[0, columns].tolist()
        low, high = sorted(both["p_value"])
        assert sorted(both["p_holm"]) == [min(1, 2 * low), max(min(1, 2 * low), high)]

    @pytest.mark.parametrize("others", [[ALPHA], [sa.agreement(STUDY, distance="dice")]])
    def test_other_rows(self, others):
        """A table beside a row, or beside other coefficients, has no pairs."""
        with pytest.raises(DataError, match=r"pass one row: table\[name, distance\]"):
            sa.compare(TABLE, *others)

    def test_a_table_of_one(self):
        table = sa.agreement(STUDY, coefficient="fleiss_kappa", distance="masi")
        with pytest.raises(OptionError, match="needs two agreements or more"):
            sa.compare(table)

    @pytest.mark.parametrize("method", ["linearised", "bootstrap"])
    @pytest.mark.parametrize("design", ["same_units", "independent"])
    def test_interval_at_another_level(self, method, design):
        rows = [*TABLE][:2]
        options = {"method": method, "n_resamples": 80, "rng": 2, "design": design}
        at = {level: sa.compare(*rows, level=level, **options) for level in (0.8, 0.95)}
        assert at[0.95].interval(0.8) == at[0.8].interval() == at[0.8].interval(0.8)
        assert at[0.8].interval(0.95) == at[0.95].interval()
        frame = at[0.8].to_frame()
        assert (frame["low"].item(), frame["high"].item()) == at[0.8].interval()
        with pytest.raises(OptionError, match="level=95 must lie between"):
            at[0.8].interval(95)

    def test_the_frame_is_a_copy(self):
        result = sa.compare(TABLE)
        before = result.to_frame().copy()
        spoil(result.to_frame())
        pd.testing.assert_frame_equal(result.to_frame(), before)


def test_the_old_word_for_what_is_redrawn():
    """`resample=` is `over=`, as in the jackknife; the sentence says so."""
    with pytest.raises(OptionError, match=r"^resample= is called over=\.$"):
        sa.bootstrap(ALPHA, resample="units")

"""Results of one row, and of the jackknife, print the table of their base."""

from __future__ import annotations

import pytest
from results_support import flat
from small_studies import annotations, text

import setagree as sa
from setagree.errors import UndefinedAgreementWarning

STUDY = sa.simulate(30, 4, rng=1)
PANELS = {"experts": ["r1", "r2"]}


def table_of(result):
    """Return the cells of the printed table, the heads first, by runs of two spaces."""
    lines = str(result).split("\n\n")
    table = next(part for part in lines if "  " in part)
    return [line.split() for line in table.splitlines()]


def test_jackknife():
    """A row per rater, the largest change first; the heading is part of the one-line repr."""
    found = sa.jackknife(STUDY, over="raters")
    assert repr(found) == f"<Jackknife: {str(found).splitlines()[0]}; 4 rows>"
    heads, *rows = table_of(found)
    assert heads == ["rater", "estimate", "without", "difference", "ratings"]
    frame = found.to_frame()
    order = frame["difference"].abs().sort_values(ascending=False).index
    assert [row[0] for row in rows] == order.tolist()
    assert [row[1] for row in rows] == [f"{frame['estimate_without'][r]:.4f}" for r in order]


def test_jackknife_of_units():
    assert table_of(sa.jackknife(STUDY))[0][0] == "unit"


def test_at_least():
    """The bounds stand in the table and the decision below it."""
    found = sa.at_least(STUDY, 0.2)
    assert f"{found.low:.4f}" in table_of(found)[1]
    assert found.verdict in flat(found)


def test_statistic_of_distances():
    found = sa.ks_statistic(STUDY, n_resamples=19, rng=1)
    assert f"{found.estimate:.4f}" in table_of(found)[1]
    assert f"{found.n_expected_pairs:,}" in table_of(found)[1]
    assert " ".join(found.verdict.split()) in flat(found)


def test_cross_replication():
    found = sa.cross_replication(STUDY, panels=PANELS, n_resamples=50, rng=1)
    row = table_of(found)[1]
    assert row[:4] == ["experts", "others", "masi", f"{found.estimate:.4f}"]
    assert f"{found.normalised:.4f}" in row
    assert "Intervals are about these raters" in flat(found)


def test_cross_replication_without_intervals():
    rows = annotations(text("a a a a / a a a a"))
    with pytest.warns(UndefinedAgreementWarning, match="chance leaves no disagreement"):
        found = sa.cross_replication(rows, panels={"X": ["r0", "r1"]}, n_resamples=5)
    assert "No interval: chance leaves no disagreement to correct for." in flat(found)
    assert "about these raters" not in flat(found)


def test_completion_bounds():
    found = sa.completion_bounds(STUDY)
    assert table_of(found)[1] == ["masi", *[f"{found.estimate:.4f}"] * 3, "0"]
    with pytest.warns(UndefinedAgreementWarning, match="only one unit has two ratings"):
        undefined = sa.completion_bounds(annotations(text("a a / b .")))
    assert "Undefined, because only one unit has two ratings." in flat(undefined)


@pytest.mark.parametrize(
    ("n_raters", "over", "are_few"), [(5, "both", True), (6, "both", False), (5, "units", False)]
)
def test_intervals_over_both_of_few_raters(n_raters, over, are_few):
    table = sa.agreement(sa.simulate(12, n_raters, rng=1))
    found = sa.bootstrap(table, over=over, n_resamples=9, rng=1).in_table(table, seed=1)
    assert ("of whom 5 are few" in flat(found)) is are_few

"""Ratings that a queue asked for: marks leave them out of coefficients; others are doubted."""

import warnings

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import (
    DataError,
    DroppedRowsWarning,
    OptionError,
    SetagreeWarning,
)

ROWS = [
    *[("ann", 1, "a"), ("ben", 1, "a"), ("ann", 2, "a"), ("ben", 2, "b")],
    *[("eva", 2, "b"), ("ann", 3, "c"), ("ben", 3, "c")],
]


def table(marks):
    frame = pd.DataFrame(ROWS, columns=["rater", "unit", "labels"])
    return frame.assign(queued=marks)


@pytest.mark.parametrize(
    "marks",
    [
        [False, False, False, False, True, False, False],
        ["", "", "no", "0", "yes", None, "False"],
        [0.0, 0, 0, 0, 1.0, None, 0],
    ],
)
def test_marked_ratings_are_left_out_of_coefficients(marks):
    with pytest.warns(DroppedRowsWarning, match="1 of 7 ratings came from a queue"):
        study = sa.Annotations.from_long(table(marks), queued="queued")
    plain = sa.Annotations.from_triples([row for row in ROWS if row[0] != "eva"])
    assert sa.krippendorff_alpha(study) == sa.krippendorff_alpha(plain)
    assert study.with_queued.n_ratings == 7
    assert sa.consensus(study).answers[2] == frozenset("b")
    assert pd.isna(sa.consensus(plain).answers[2])


FRAMES = {
    "pandas": lambda frame, _: frame,
    "CSV": lambda frame, path: (frame.to_csv(path, index=False), path)[1],
    "Polars": lambda frame, _: pytest.importorskip("polars").from_pandas(frame),
    "Polars, lazy": lambda frame, _: pytest.importorskip("polars").from_pandas(frame).lazy(),
    "DuckDB": lambda frame, _: pytest.importorskip("duckdb").from_df(frame),
}
MARKS = [*["no"] * 4, "yes", "no", "no"]


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_table_reads_the_marks(kind, tmp_path):
    for name in ("queued", "asked for"):
        frame = table(MARKS).rename(columns={"queued": name})
        with pytest.warns(DroppedRowsWarning, match=rf"1 of 7 ratings .* \(column '{name}'\)"):
            study = sa.read(FRAMES[kind](frame, tmp_path / "t.csv"), queued=name)
        assert (study.n_ratings, study.with_queued.n_ratings) == (6, 7)


@pytest.mark.parametrize("function", [sa.agreement, sa.Annotations.from_long, sa.tally])
@pytest.mark.parametrize("kind", FRAMES)
def test_without_the_option_all_ratings_count(kind, function, tmp_path):
    if (function, kind) == (sa.Annotations.from_long, "CSV"):
        function = sa.read
    reads_files = function is sa.tally and kind == "CSV"
    marked = FRAMES[kind](table(MARKS), tmp_path / "t.csv")
    message = "is not read in an engine" if reads_files else "marks 1 of 7 rows by yes; they count"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = function(marked)
    assert [message in str(one.message) for one in caught] == [True]
    assert "queued='queued'" in str(caught[0].message)
    study = found[0] if function is sa.agreement else found
    assert study.n_ratings == 7
    if not reads_files:
        dates = table(["2024-05-01", *["2024-05-02"] * 6])
        function(FRAMES[kind](dates, tmp_path / "d.csv"))


@pytest.mark.filterwarnings("ignore::setagree.errors.DroppedRowsWarning")
@pytest.mark.parametrize("kind", FRAMES)
def test_marks_are_counted_after_a_condition(kind, tmp_path):
    frame = FRAMES[kind](table(MARKS), tmp_path / "t.csv")
    with pytest.warns(SetagreeWarning, match="marks 1 of 5 rows by yes"):
        sa.agreement(frame, where="unit < 3")


def test_a_condition_on_the_column_replaces_the_option():
    with pytest.warns(DroppedRowsWarning, match="drops 1 of 7 rows") as caught:
        study = sa.read(table(MARKS), where="queued == no")
    assert len(caught) == 1
    assert study.n_ratings == 6


def test_a_column_has_one_role():
    with pytest.raises(OptionError, match="queued='labels' has another role, too"):
        sa.read(table(MARKS), labels="labels", queued="labels")
    with pytest.raises(OptionError, match="queued= makes sense only without wide="):
        sa.read(table(MARKS), queued="queued", wide=True)


def test_a_queue_counts_what_it_asked_for(tmp_path):
    with pytest.warns(DroppedRowsWarning):
        study = sa.Annotations.from_long(table(MARKS), queued="queued")
    asked = sa.next_ratings(study, budget=9).frame.set_index("unit")["n_ratings"]
    assert asked.get(2) == 3
    rest = study.exclude_raters(["ann"])
    assert rest.with_queued.n_ratings == 4
    assert study.take(slice(0, 2)).with_queued is None


def test_marks_are_yes_or_no():
    with pytest.raises(DataError, match="row 2, counted from 1 below the header, has 'maybe'"):
        sa.Annotations.from_long(table(["", "maybe", "", "", "", "", ""]), queued="queued")
    with pytest.raises(DataError, match="all 7 ratings are marked"):
        sa.Annotations.from_long(table([True] * 7), queued="queued")


def test_a_column_of_that_name_may_be_the_answer():
    frame = table(["a"] * 7)
    study = sa.Annotations.from_long(frame, labels="queued")
    assert study.n_ratings == 7
    assert study.with_queued is None


@pytest.mark.filterwarnings("ignore::setagree.errors.DroppedRowsWarning")
def test_a_reduced_file_takes_a_condition_on_the_marks(tmp_path):
    pytest.importorskip("duckdb")
    path = tmp_path / "more.csv"
    table(MARKS).to_csv(path, index=False)
    tally = sa.tally(path, memory_limit="1GB", where="queued == 'no'")
    alpha = sa.krippendorff_alpha(sa.read(path, queued="queued"))
    assert sa.krippendorff_alpha(tally).estimate == pytest.approx(alpha.estimate, abs=1e-12)


def test_a_column_of_weights_without_the_option():
    table = pd.DataFrame(
        {
            "unit": [1, 1, 2, 2],
            "rater": ["a", "b"] * 2,
            "labels": list("xxxy"),
            "sampling_weight": 2,
        }
    )
    with pytest.warns(SetagreeWarning, match="'sampling_weight' is not used.*pass sampling_weight"):
        sa.agreement(table)
    sa.agreement(table, sampling_weight="sampling_weight")

"""Ratings that a queue asked for: marks leave them out of coefficients; others are doubted."""

import warnings

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import AdaptiveRatingsWarning, DataError, DroppedRowsWarning, OptionError

ROWS = [
    *[("ann", 1, "a"), ("ben", 1, "a"), ("ann", 2, "a"), ("ben", 2, "b")],
    *[("eva", 2, "b"), ("ann", 3, "c"), ("ben", 3, "c")],
]


def table(marks):
    """Return the ratings with the marks of a queue."""
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
    """A study has the ratings without a mark, and keeps all of them for the consensus."""
    with pytest.warns(DroppedRowsWarning, match="1 of 7 ratings came from a queue"):
        study = sa.Annotations.from_long(table(marks))
    plain = sa.Annotations.from_triples([row for row in ROWS if row[0] != "eva"])
    assert sa.krippendorff_alpha(study) == sa.krippendorff_alpha(plain)
    assert study.with_queued.n_ratings == 7
    assert sa.consensus(study).answers[2] == frozenset("b")
    assert pd.isna(sa.consensus(plain).answers[2])


def test_all_doors_know_the_column():
    """A table, a file and `agreement` leave marked ratings out alike."""
    marked = table([False] * 4 + [True] + [False] * 2)
    plain = sa.agreement(sa.Annotations.from_triples([row for row in ROWS if row[0] != "eva"]))
    with pytest.warns(DroppedRowsWarning, match="came from a queue"):
        assert sa.agreement(marked)[0] == plain[0]


def test_a_queue_counts_what_it_asked_for(tmp_path):
    """The next queue sees the ratings of the one before; leaving a rater out keeps the others."""
    with pytest.warns(DroppedRowsWarning):
        study = sa.Annotations.from_long(table([False] * 4 + [True] + [False] * 2))
    asked = sa.next_ratings(study, budget=9).frame.set_index("unit")["n_ratings"]
    assert asked.get(2) == 3
    rest = study.without_raters(["ann"])
    assert rest.with_queued.n_ratings == 4
    assert study.take(slice(0, 2)).with_queued is None


def test_marks_are_yes_or_no():
    """Another word is refused with its row, and so is a table in which every rating is marked."""
    with pytest.raises(DataError, match="row 2, counted from 1 below the header, has 'maybe'"):
        sa.Annotations.from_long(table(["", "maybe", "", "", "", "", ""]))
    with pytest.raises(DataError, match="all 7 ratings are marked"):
        sa.Annotations.from_long(table([True] * 7))


def test_a_column_of_that_name_may_be_the_answer():
    """Where the column is named as the answer, the unit or the rater, it marks nothing."""
    frame = table(["a"] * 7)
    study = sa.Annotations.from_long(frame, labels="queued")
    assert study.n_ratings == 7
    assert study.with_queued is None


def until_agreed(n):
    """Return ratings of which a third was asked for where the first two differed."""
    rows = []
    for k in range(n):
        rows += [("ann", k, "a"), ("ben", k, "ab"[k % 2])]
        rows += [("eva", k, "a")] if k % 2 else []
    return sa.Annotations.from_triples(rows)


def test_ratings_until_agreement_are_doubted():
    """All units of two ratings agree and all of three differ: it is said what that does."""
    with pytest.warns(AdaptiveRatingsWarning, match="all 15 units with two ratings agree"):
        sa.agreement(until_agreed(30))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.agreement(until_agreed(18))  # too few to be no accident
        sa.agreement(sa.simulate(200, 4, missing=0.4, rng=1))


@pytest.mark.filterwarnings("ignore::setagree.errors.DroppedRowsWarning")
def test_engines_refuse_marks_that_they_do_not_look_at(tmp_path):
    """A file that is reduced needs a condition on the marks; with one it gives the same number."""
    path = tmp_path / "more.csv"
    table(["no", "no", "no", "no", "yes", "no", "no"]).to_csv(path, index=False)
    pytest.importorskip("duckdb")
    with pytest.raises(OptionError, match="marks ratings that a queue asked for"):
        sa.tally(path, memory_limit="1GB")
    tally = sa.tally(path, memory_limit="1GB", where="queued == 'no'")
    plain = sa.Annotations.from_triples([row for row in ROWS if row[0] != "eva"])
    alpha = sa.krippendorff_alpha(plain)
    assert sa.krippendorff_alpha(tally).estimate == pytest.approx(alpha.estimate, abs=1e-12)

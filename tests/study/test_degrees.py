"""A table with a degree for each label: the rows of a unit and a rater are one answer."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import (
    BlankLabelsWarning,
    DataError,
    DegreesWarning,
    DistanceError,
    DroppedRowsWarning,
    OptionError,
    SetagreeError,
)
from setagree.large.opening import open_study
from setagree.study.identifiers import value_numbers
from setagree.study.reading import Reading
from setagree.wording.label_sets import Degrees, display_labels

ROWS = [
    ("u1", "ann", "joy", 0.75),
    ("u1", "ann", "fear", 0.25),
    ("u1", "bob", "joy", 0.5),
    ("u2", "bob", "calm", 0),
    ("u2", "ann", "joy", 1),
    ("u1", "bob", "calm", 0.5),
]
NAMES = ["unit", "rater", "labels", "degree"]
TABLE = pd.DataFrame(ROWS, columns=NAMES)


def read(rows, **options):
    """Read rows of unit, rater, label and degree."""
    return sa.Annotations.from_long(pd.DataFrame(rows, columns=NAMES), degree="degree", **options)


def answers(study):
    return {(u, r): dict(one.degrees) for r, u, one in study.to_triples()}


EXPECTED = {
    ("u1", "ann"): {"joy": 0.75, "fear": 0.25},
    ("u1", "bob"): {"joy": 0.5, "calm": 0.5},
    ("u2", "bob"): {},
    ("u2", "ann"): {"joy": 1.0},
}


def test_rows_of_a_rating_are_one_answer():
    study = read(ROWS)
    assert answers(study) == EXPECTED
    assert (study.kind, study.n_ratings, study.labels) == ("labels", 4, ("calm", "fear", "joy"))
    assert read([(*row[:3], str(row[3])) for row in ROWS]).values == study.values
    assert answers(sa.read(TABLE.rename(columns={"degree": "score"}), degree="score")) == EXPECTED


def test_ratings_from_a_queue_are_counted_not_their_rows():
    marks = pd.DataFrame(ROWS, columns=NAMES).assign(queued=[1, 1, 0, 0, 0, 0])
    with pytest.warns(DroppedRowsWarning, match="1 of 4 ratings came from a queue"):
        study = sa.Annotations.from_long(marks, degree="degree", queued="queued")
    assert set(answers(study)) == {("u1", "bob"), ("u2", "bob"), ("u2", "ann")}
    said = "Unit 'u1', rater 'ann': column 'queued' marks some of the 2 rows of this answer"
    partly = marks.assign(queued=[1, 0, 0, 0, 0, 0])
    with pytest.raises(DataError, match=said):
        sa.Annotations.from_long(partly, degree="degree", queued="queued")


def test_raters_on_two_scales_are_told():
    def scaled(a, b, n=3):
        return [("u1", "ann", str(k), a) for k in range(n)] + [("u1", "bob", "1", b), *ROWS[3:4]]

    for a, b in ((0.8, 80), (1, 10)):
        said = rf"No degree of 1 rater \('ann'\) is above 1, and those of 'bob' reach {b}: if some"
        with pytest.warns(DegreesWarning, match=said):
            read(scaled(a, b))
    for a, b, n in ((0.8, 9, 3), (0.8, 80, 2), (1.5, 80, 3), (0.8, 1, 3)):
        assert read(scaled(a, b, n)).n_ratings == 3


@pytest.mark.parametrize("degree", [1.1e100, 1.7e308, "1e300"])
def test_degrees_whose_sums_overflow_are_refused(degree):
    with pytest.raises(DataError, match="must be a degree, a number from 0 to 1e\\+100"):
        read([*ROWS, ("u3", "ann", "joy", degree)])
    with pytest.raises(DistanceError, match="it is a number from 0 to 1e\\+100"):
        sa.distances.ruzicka({"joy": float(degree)}, {"joy": 1})
    largest = [("u3", who, label, 1e100) for who, label in (("ann", "joy"), ("bob", "fear"))]
    for distance in ("ruzicka", "manhattan"):
        row = sa.krippendorff_alpha(read([*ROWS, *largest]), distance=distance)
        assert np.isfinite([row.estimate, row.standard_error]).all()


def test_an_answer_is_a_label_set_with_degrees():
    answer = Degrees({"joy": 0.5, "fear": 1, "calm": 0})
    assert isinstance(answer, frozenset)
    assert set(answer) == {"joy", "fear"}
    assert repr(answer) == "Degrees({'joy': 0.5, 'fear': 1.0})"
    assert display_labels(answer) == "fear 1, joy 0.5"
    for same in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):  # noqa: S301
        assert same == answer
        assert dict(same.degrees) == dict(answer.degrees)
    plain = frozenset({"joy", "fear"})
    assert answer != plain
    assert plain != answer
    assert Degrees.of(plain) == plain
    assert plain == Degrees.of(plain)
    assert len({plain, Degrees.of(plain), answer, Degrees({"joy": 0.25, "fear": 1})}) == 3
    assert Degrees({}) == frozenset()
    assert answer - {"joy"} == frozenset({"fear"})
    numbers = value_numbers([plain, Degrees.of(plain), answer, answer - {"fear"}, {"joy"} - plain])
    assert numbers[0] == numbers[1]
    assert len(set(numbers.tolist())) == 4


def test_blank_labels_say_what_blank_says():
    rows = [*ROWS, ("u2", "cem", "", None), ("u1", "cem", "fear", 1), ("u3", "cem", "[]", None)]
    with pytest.warns(BlankLabelsWarning, match="1 blank cell read as missing"):
        study = read(rows)
    assert (study.n_missing, study.missing_by_rater) == (1, {"cem": 1})
    assert ("u2", "cem") not in answers(study)
    assert answers(study)["u3", "cem"] == {}
    assert answers(read(rows[:-1], blank="empty"))["u2", "cem"] == {}
    assert read([*ROWS, ("u2", "cem", "NA", 0)], na_values=["NA"]).n_missing == 1


REFUSED = {
    "1 row with a label and no degree in column 'degree' (first: row 7, counted from 1 below the "
    "header); write 0 if the label": ("u2", "cem", "joy", None),
    "Row 7, counted from 1 below the header: -0.5 in column": ("u2", "cem", "joy", -0.5),
    "Row 7, counted from 1 below the header: inf in column": ("u2", "cem", "joy", np.inf),
    "Row 7, counted from 1 below the header: 'much' in column 'degree' must be a degree, a "
    "number from 0 to 1e+100.": ("u2", "cem", "joy", "much"),
    "Row 7 has 2 labels (fear, joy); with degree= each row": ("u2", "cem", "joy, fear", 1),
    "Unit 'u1', rater 'bob' has label 'joy' 2 times (rows 3 and 7,": ("u1", "bob", "joy", 1),
    "rater 'bob' has a row without a label next to others (row 7,": ("u1", "bob", "[]", None),
    "1 row with a degree and no label (first: row 7, counted": ("u2", "cem", "[]", 0.5),
    "1 row without a unit (first: row 7, counted from 1": (None, "cem", "joy", 0.5),
}


@pytest.mark.filterwarnings("ignore::setagree.errors.DroppedRowsWarning")
@pytest.mark.parametrize("said", REFUSED)
def test_refused_rows(said):
    table = pd.DataFrame([*ROWS, REFUSED[said]], columns=NAMES)
    with pytest.raises(SetagreeError, match=re.escape(said)):
        sa.read(table, degree="degree")
    second = np.arange(len(table)) == 1
    marked = table.assign(queued=np.where(table.index < 2, "yes", ""))
    with pytest.raises(SetagreeError, match=re.escape(said)):
        sa.read(marked, degree="degree", queued="queued")
    table = table.assign(status=np.where(second, "refused", ""))
    with pytest.raises(SetagreeError, match=re.escape(said)):
        sa.read(table, degree="degree", status="status")


@pytest.mark.parametrize(
    "options",
    [{"duplicates": "first"}, {"order_by": "at"}, {"labels": ["a", "b"]}, {"value": "labels"}],
)
def test_options_that_mean_nothing_beside_degrees(options):
    with pytest.raises(OptionError, match="does not apply with degree="):
        read(ROWS, **options)


def test_columns_that_are_named_twice():
    with pytest.raises(OptionError, match="degree='labels' has another role, too"):
        sa.Annotations.from_long(TABLE, degree="labels")
    with pytest.raises(DataError, match="there is no column 'much'"):
        sa.Annotations.from_long(TABLE, degree="much")
    for layout in ("wide", "raters_in_rows"):
        with pytest.raises(OptionError, match=f"degree= makes sense only without {layout}="):
            Reading(degree="degree", **{layout: True})


def test_beside_other_columns():
    table = TABLE.assign(doc=["d1", "d1", "d1", "d2", "d2", "d1"], status="")
    table.loc[3, ["status", "labels"]] = "refused", None
    study = sa.read(table, degree="degree", unit_columns=["doc"], status="status", case="lower")
    assert study.units_frame["doc"].tolist() == ["d1", "d2"]
    assert study.statuses.loc["bob"].tolist() == [1, 0, 0, 0, 1]
    lone = [
        ("u2", "cem", None, None, "d2", "refused"),
        ("u2", "cem", None, None, "d2", "abstained"),
    ]
    more = pd.concat([table, pd.DataFrame(lone, columns=table.columns)], ignore_index=True)
    twice = sa.read(more, degree="degree", status="status")
    assert (twice.n_missing, twice.statuses.loc["cem"].tolist()) == (2, [0, 1, 0, 0, 0])
    with pytest.raises(SetagreeError, match="1 label is not in the codebook: 'joy'"):
        sa.read(TABLE, degree="degree", codebook=["calm", "fear"])


def test_all_doors(tmp_path):
    TABLE.to_csv(tmp_path / "a.csv", index=False)
    sources = [tmp_path / "a.csv"]
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    sources += [polars.from_pandas(TABLE), polars.from_pandas(TABLE).lazy(), duckdb.from_df(TABLE)]
    for source in sources:
        assert answers(sa.read(source, degree="degree")) == EXPECTED
        assert answers(open_study(source, Reading(degree="degree"))) == EXPECTED
    with pytest.raises(OptionError, match=r"agreement\(\) has no degree=; use reading=sa"):
        sa.agreement(TABLE, degree="degree")


def test_round_trips():
    study = read(ROWS)
    assert answers(sa.Annotations.from_long(study.to_long())) == EXPECTED
    assert answers(sa.Annotations.from_triples(study.to_triples())) == EXPECTED
    wide = sa.Annotations.from_wide(study.to_wide())
    assert answers(wide) == EXPECTED
    mixed = sa.Annotations.from_triples([("ann", 1, Degrees({"a": 0.5})), ("bob", 1, "a, b")])
    assert dict(mixed.values[1].degrees) == {"a": 1.0, "b": 1.0}


def test_many_rows():
    rng = np.random.default_rng(1)
    n = 20_000
    table = pd.DataFrame({
        "unit": rng.integers(2_000, size=n), "rater": rng.integers(4, size=n),
        "labels": rng.choice([*"abcdef"], n), "degree": rng.integers(4, size=n) / 4,
    }).drop_duplicates(["unit", "rater", "labels"])  # fmt: skip
    study = sa.Annotations.from_long(table, degree="degree")
    expected = {}
    for unit, rater, label, degree in table.itertuples(index=False):
        expected.setdefault((unit, rater), {}).update({label: degree} if degree else {})
    assert answers(study) == expected

"""The door for tables: several coefficients and distances in one call."""

import sys

import pandas as pd
import pytest
from small_studies import annotations, numbers, text, triples

import setagree as sa
from setagree.errors import DataError, FileError, OptionError
from setagree.scoring.results import COLUMNS

ROWS = text("a ab b / a a . / b b b / ab {} a")
STUDY = annotations(ROWS)
LONG = pd.DataFrame(triples(ROWS), columns=["rater", "unit", "labels"])
TEXT = LONG.assign(labels=LONG["labels"].map(sa.format_labels))


def names(table):
    return [(row.coefficient, row.distance) for row in table]


def same(one, other):
    """Compare two tables, number by number."""
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())


class TestData:
    def test_a_frame(self):
        """A long table scores as the study it stands for, whatever its columns are called."""
        expected = sa.agreement(STUDY)
        same(sa.agreement(LONG), expected)
        renamed = LONG.rename(columns={"rater": "who", "unit": "doc", "labels": "tags"})
        same(sa.agreement(renamed, unit="doc", rater="who", labels="tags"), expected)

    def test_a_path_and_a_glob(self, tmp_path):
        expected = sa.agreement(STUDY)
        path = tmp_path / "study.csv"
        TEXT.to_csv(path, index=False)
        for place in (path, str(path)):
            same(sa.agreement(place, blank="empty"), expected)
        for part, rows in TEXT.groupby("unit"):
            rows.to_csv(tmp_path / f"part_{part}.csv", index=False)
        same(sa.agreement(str(tmp_path / "part_*.csv"), blank="empty"), expected)

    def test_a_tally(self):
        """Counts will do where raters are not needed."""
        tally = sa.Tally.from_annotations(STUDY)
        table = sa.agreement(tally)
        assert [row.estimate for row in table] == [row.estimate for row in sa.agreement(STUDY)]

    def test_values(self):
        scores = pd.DataFrame(
            triples(numbers("1 2 / 2 2 / 5 4")), columns=["rater", "unit", "score"]
        )
        table = sa.agreement(scores, unit="unit", rater="rater", value="score")
        assert {row.distance for row in table} == {"nominal", "ordinal", "interval"}

    @pytest.mark.parametrize("wrong", [5, None])
    def test_anything_else(self, wrong):
        with pytest.raises(
            DataError, match=f"^Expected a table, got an? {type(wrong).__name__}; pass a DataFrame"
        ):
            sa.agreement(wrong)

    def test_a_path_that_is_not_there(self, tmp_path):
        with pytest.raises(FileError, match=r"nowhere\.csv"):
            sa.agreement(str(tmp_path / "nowhere.csv"))

    def test_the_input_is_not_changed(self):
        before = TEXT.copy(deep=True)
        sa.agreement(TEXT, blank="empty")
        pd.testing.assert_frame_equal(TEXT, before)


def test_the_road_of_a_plain_frame():
    frame = TEXT.assign(labels=[cell or "a, b" for cell in TEXT["labels"].fillna("c")])
    sa.agreement(frame)
    seen = set()

    def remember(frame, event, _):
        if event == "call":
            seen.add(frame.f_globals.get("__name__", ""))

    before = sys.getprofile()
    sys.setprofile(remember)
    try:
        sa.agreement(frame)
    finally:
        sys.setprofile(before)
    ours = {name for name in seen if name.startswith("setagree.")}
    rooms = {name.split(".")[1] for name in ours}
    assert len(ours) <= 24, ours
    assert len(rooms) <= 7, rooms
    assert not rooms & {"errors", "files", "exports"}


class TestOptions:
    def test_the_default_table(self):
        default = [("krippendorff_alpha", "masi"), ("fleiss_kappa", "masi")]
        assert names(sa.agreement(STUDY)) == default

    def test_product(self):
        table = sa.agreement(
            STUDY, coefficient=["gwet_ac", "conger_kappa"], distance=("dice", "nominal")
        )
        assert names(table) == [
            ("gwet_ac", "dice"),
            ("gwet_ac", "nominal"),
            ("conger_kappa", "dice"),
            ("conger_kappa", "nominal"),
        ]

    def test_single_names(self):
        assert names(sa.agreement(STUDY, coefficient="mv_alpha")) == [("mv_alpha", "dice")]
        one = sa.agreement(STUDY, coefficient=["fleiss_kappa"] * 2, distance="hamming")
        assert names(one) == [("fleiss_kappa", "hamming")]

    def test_every_way_to_give_a_distance(self):
        def unlike(x, y):
            return float(x != y)

        matrix = pd.DataFrame(
            [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]],
            index=["a", "b", "a, b", ""],
            columns=["a", "b", "a, b", ""],
        )
        table = sa.agreement(
            STUDY,
            coefficient="fleiss_kappa",
            distance=["nominal", unlike, matrix, sa.distances.taxonomy({})],
        )
        assert [row.distance for row in table] == ["nominal", "unlike", "matrix", "taxonomy"]
        estimates = [row.estimate for row in table]
        assert estimates[1] == estimates[2] == pytest.approx(estimates[0], rel=1e-14)

    def test_categories(self):
        """A codebook reaches those who depend on it."""
        table = sa.agreement(
            STUDY,
            coefficient=["brennan_prediger", "fleiss_kappa"],
            distance="nominal",
            categories=["a", "b", "a, b", "", "c"],
        )
        assert table["brennan_prediger", "nominal"].expected_agreement == pytest.approx(1 / 5)
        assert table["fleiss_kappa", "nominal"].n_values == 4

    def test_reading_options(self):
        """Separator, case, blank, codebook and duplicates reach the reading of the table."""
        rows = [("x", 1, "A;b"), ("y", 1, "a; B"), ("x", 2, ""), ("y", 2, "b"), ("x", 1, "b")]
        table = pd.DataFrame(rows, columns=["rater", "unit", "labels"])
        options = {"label_sep": ";", "case": "lower", "blank": "empty", "duplicates": "first"}
        result = sa.agreement(table, codebook=["a", "b"], **options)["fleiss_kappa", "masi"]
        assert (result.n_units, result.n_ratings, result.n_values) == (2, 4, 3)
        with pytest.raises(ValueError, match="not in the codebook"):
            sa.agreement(table, codebook=["b"], **options)

    def test_level(self):
        """The level is that of the table; outside (0, 1) it is refused before anything is read."""
        assert sa.agreement(STUDY, level=0.5).level == 0.5
        for level in (0, 1, 95):
            with pytest.raises(OptionError, match=f"level={level} must lie between 0 and 1"):
                sa.agreement("nowhere.csv", level=level)

    @pytest.mark.parametrize("options", [{"coefficient": []}, {"distance": []}])
    def test_nothing_asked(self, options):
        with pytest.raises(OptionError, match="name at least one coefficient and one distance"):
            sa.agreement(STUDY, **options)

    def test_unknown_names_are_found_before_the_data_are_read(self):
        with pytest.raises(OptionError, match="Did you mean 'fleiss_kappa'"):
            sa.agreement("nowhere.csv", coefficient="fleis_kappa")
        with pytest.raises(OptionError, match="Did you mean 'masi'"):
            sa.agreement("nowhere.csv", distance=["masy"])

    def test_two_distances_of_one_name(self):
        with pytest.raises(
            OptionError, match="two distances are called '<lambda>'; give one another"
        ):
            sa.agreement(STUDY, distance=[lambda x, y: 0.0, lambda x, y: 1.0 * (x != y)])

    def test_options_of_reading_with_a_study_that_is_built(self):
        with pytest.raises(
            OptionError, match="the study is already built; omit unit=, blank=, label_sep="
        ):
            sa.agreement(STUDY, unit="doc", label_sep=";", blank="empty")
        assert len(sa.agreement(STUDY, case="keep", duplicates="error")) == 2


def test_missing_cells_are_counted():
    table = LONG.astype(object)
    table.loc[len(table)] = ["r9", "u0", None]
    assert "(1 missing)" in str(sa.agreement(table))
    assert sa.agreement(table).n_missing == 1


def test_columns_of_the_frame():
    frame = sa.agreement(STUDY, coefficient=["mv_alpha", "percent_agreement"]).to_frame()
    assert frame.columns.tolist() == list(COLUMNS)


class TestWeights:
    def test_default_is_masi(self):
        """Without a distance it is MASI: {a} against {a, b} has 1/2 x 2/3 = 1/3."""
        assert sa.weights(STUDY).to_frame().loc["a", "a, b"] == pytest.approx(1 / 3)

    def test_any_distance(self):
        credit = sa.weights(STUDY, lambda x, y: 0.25 * (x != y)).to_frame()
        assert credit.loc["{}", "b"] == 0.75

    def test_of_a_tally(self):
        assert sa.weights(sa.Tally.from_annotations(STUDY), "dice").n_values == 4

    def test_refusals(self):
        with pytest.raises(DataError, match="Expected a table, got an int"):
            sa.weights(3)


def test_weights_choose_their_distance_as_agreement_does():
    labels = sa.Annotations.from_triples([("a", 1, "x, y"), ("b", 1, "x")])
    pd.testing.assert_frame_equal(
        sa.weights(labels).to_frame(), sa.weights(labels, "masi").to_frame()
    )
    for answers in ([1, 2, 2], ["x", "y", "y"]):
        triples = [(rater, 1, answer) for rater, answer in zip("abc", answers, strict=True)]
        credit = sa.weights(sa.Annotations.from_triples(triples, kind="value"))
        assert credit.to_frame().to_numpy().tolist() == [[1, 0], [0, 1]]


def test_categories_are_read_like_the_labels():
    """categories= of a table uses its separator: with jaccard, pe = 5/9 and S = -1/2."""
    table = pd.DataFrame(
        {"unit": [1, 1, 2, 2, 3, 3], "rater": list("xyxyxy"), "labels": [*"aabaab"]}
    )
    found = sa.agreement(
        table,
        label_sep="|",
        categories=["a", "b", "a|b"],
        coefficient="brennan_prediger",
        distance="jaccard",
    )["brennan_prediger", "jaccard"]
    # Credits over {a}, {b}, {a, b}: 3 on the diagonal and 4 x 1/2 off it, so pe = 5/9; pa = 1/3.
    assert found.expected_agreement == pytest.approx(5 / 9, abs=1e-15)
    assert found.estimate == pytest.approx((1 / 3 - 5 / 9) / (4 / 9), abs=1e-14)

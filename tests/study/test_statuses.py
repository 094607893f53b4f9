"""A column of statuses: who abstained, refused, or answered nothing that could be read."""

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, DroppedRowsWarning, OptionError
from setagree.large.joining import with_models

ROWS = [
    ("u1", "ann", "a", "observed"),
    ("u1", "gpt", None, "refused"),
    ("u2", "ann", "b", ""),
    ("u2", "bob", "b", "observed"),
    ("u2", "gpt", None, "failed_to_parse"),
    ("u3", "bob", "a, b", None),
    ("u3", "gpt", "b", "observed"),
    ("u3", "gpt", None, "Refused"),
    ("u4", "ann", None, "not-applicable"),
    ("u4", "cem", None, "abstained"),
]
TABLE = pd.DataFrame(ROWS, columns=["unit", "rater", "labels", "status"])
COUNTS = {
    "ann": [2, 0, 1, 0, 0],
    "bob": [2, 0, 0, 0, 0],
    "gpt": [1, 0, 0, 1, 1],
    "cem": [0, 1, 0, 0, 0],
}


def test_counted_by_rater():
    study = sa.Annotations.from_long(TABLE, status="status")
    assert study.statuses.columns.tolist() == [
        *("observed", "abstained", "not applicable", "failed to parse", "refused")
    ]
    assert {rater: row.tolist() for rater, row in study.statuses.iterrows()} == COUNTS
    assert study.n_missing == 4
    assert study.missing_by_rater == {"gpt": 2, "ann": 1, "cem": 1}
    assert study.unobserved.to_numpy().tolist() == [
        ["u1", "gpt", "refused"],
        ["u2", "gpt", "failed to parse"],
        ["u4", "ann", "not applicable"],
        ["u4", "cem", "abstained"],
    ]


def test_asked_again():
    again = pd.DataFrame(
        [("u1", "gpt", None, "abstained"), ("u2", "gpt", None, "Failed to parse")],
        columns=TABLE.columns,
    )
    study = sa.Annotations.from_long(pd.concat([TABLE, again]), status="status")
    counts = {rater: row.tolist() for rater, row in study.statuses.iterrows()}
    assert counts == {**COUNTS, "gpt": [1, 1, 0, 1, 0]}
    assert study.n_missing == 4


@pytest.mark.filterwarnings("ignore::setagree.errors.DroppedRowsWarning")
def test_the_latest_status_counts():
    """In the order of `order_by`, not of the rows; with a condition, of the rows that match."""
    rows = [("u", "gpt", None, "refused", 9), ("u", "gpt", None, "abstained", 3)]
    rows += [("u", "gpt", None, "failed to parse", 12), ("u", "ann", "a", "observed", 1)]
    table = pd.DataFrame(rows, columns=[*TABLE.columns, "at"])
    for options, status in (
        ({}, "failed to parse"),
        ({"order_by": "at"}, "failed to parse"),
        ({"where": "at < 12"}, "abstained"),
        ({"where": "at < 12", "order_by": "at"}, "refused"),
    ):
        reading = sa.Reading(unit="unit", rater="rater", status="status", **options)
        for study in (
            sa.Annotations.from_reading(table, reading),
            sa.read(table, status="status", **options),
        ):
            assert study.unobserved["status"].tolist() == [status]
    with pytest.raises(DataError, match="order_by='at': 1 row of 4 has nothing in that column"):
        sa.read(table.replace({"at": {9: None}}), status="status", order_by="at")


def test_a_unit_without_any_observed_annotation():
    study = sa.Annotations.from_long(TABLE, status="status")
    assert (study.n_units, study.unanswered.tolist()) == (3, ["u4"])
    assert study.exclude_raters(["gpt"]).unanswered.tolist() == ["u4"]
    timed = TABLE.assign(at=range(len(TABLE)), who=TABLE["rater"].str.upper())
    read = sa.read(timed, order_by="at", rater_columns=["who"], status="status")
    assert read.statuses.equals(study.statuses)
    assert read.raters_frame["who"].tolist() == ["ANN", "BOB", "GPT"]
    with pytest.raises(OptionError, match="status='at' has another role, too"):
        sa.read(timed, order_by="at", status="at")


def test_coefficients_see_observed_ratings_alone():
    study = sa.Annotations.from_long(TABLE, status="status")
    kept = TABLE[TABLE["labels"].notna()]
    assert sa.krippendorff_alpha(study) == sa.krippendorff_alpha(sa.Annotations.from_long(kept))
    assert sa.Annotations.from_long(kept).statuses.iloc[:, 1:].to_numpy().sum() == 0


def test_all_doors(tmp_path):
    study = sa.read(TABLE, status="status")
    TABLE.to_csv(tmp_path / "a.csv", index=False)
    polars = pytest.importorskip("polars")
    for source in (tmp_path / "a.csv", polars.from_pandas(TABLE)):
        pd.testing.assert_frame_equal(sa.read(source, status="status").statuses, study.statuses)
    rest = study.exclude_raters(["gpt"])
    assert rest.statuses.index.tolist() == ["ann", "bob", "cem"]
    assert rest.n_missing == len(rest.unobserved) == 2


def test_an_answer_beside_a_status_does_not_count():
    odd = TABLE.assign(labels=TABLE["labels"].where(TABLE["status"] != "failed_to_parse", "{x"))
    with pytest.warns(DroppedRowsWarning, match="1 row with another status than 'observed' and an"):
        study = sa.Annotations.from_long(odd, status="status")
    assert study.labels == ("a", "b")


@pytest.mark.filterwarnings("ignore::setagree.errors.DroppedRowsWarning")
def test_refusals():
    with pytest.raises(DataError, match=r"row 1 has 'skiped'\. It must be one of 'observed', "):
        sa.read(TABLE.assign(status="skiped"), status="status")
    with pytest.raises(DataError, match="'observed' or blank for an answer that counts"):
        sa.read(TABLE.assign(status="OK"), status="status")
    odd = TABLE.assign(status=[*TABLE["status"][:9], "skiped"])
    with pytest.raises(DataError, match="row 10 has 'skiped'"):
        sa.read(odd, status="status", where="unit != u1")
    with pytest.raises(DataError, match="no row has the status 'observed'"):
        sa.read(TABLE.assign(status="refused"), status="status")
    with pytest.raises(DataError, match="'state'"):
        sa.read(TABLE, status="state")
    with pytest.raises(OptionError, match="status='labels' has another role, too"):
        sa.Annotations.from_long(TABLE, status="labels")
    with pytest.raises(OptionError, match="status= makes sense only without wide="):
        sa.read(TABLE, wide=True, status="status")


def test_the_report_shows_them(tmp_path):
    path = sa.report(sa.read(TABLE, status="status"), tmp_path / "a.md", n_resamples=9, rng=1)
    text = path.read_text(encoding="utf-8")
    assert "| Status “refused” | 1 | missing ratings of gpt 1 |" in text
    assert "| Status “abstained” | 1 | missing ratings of cem 1 |" in text


def test_a_model_in_a_file_of_its_own():
    humans, model = (TABLE[TABLE["rater"].eq("gpt") == own] for own in (False, True))
    joined, _ = with_models(sa.read(humans, status="status"), [model])
    assert {who: row.tolist() for who, row in joined.statuses.iterrows()} == COUNTS
    plain = model.drop(columns="status").dropna()
    assert with_models(sa.read(humans, status="status"), [plain])[0].statuses.loc["gpt"].sum() == 1


@pytest.mark.filterwarnings("ignore::setagree.errors.DroppedRowsWarning")
@pytest.mark.parametrize("column", ["status", "queued"])
def test_errors_number_the_rows_of_the_table(column, tmp_path):
    rows = [("u1", "ann", "a"), ("u1", "bob", "b"), ("u2", "ann", "a"), ("u2", None, "a")]
    table = pd.DataFrame(rows, columns=["unit", "rater", "labels"])
    table[column] = ["refused" if column == "status" else "yes", "", "", ""]
    how = {column: column}
    table.to_csv(tmp_path / "a.csv", index=False)
    for source in (table, table.set_axis([*"wxyz"]), tmp_path / "a.csv"):
        with pytest.raises(DataError, match=r"without a rater \(first: row 4, counted from 1"):
            sa.read(source, **how)
    flags = table.assign(rater="ann", x=[1, 0, 1, 1], y=[1, 0, 1, None]).drop(columns="labels")
    with pytest.raises(DataError, match=r"none for others \(first: row 4, counted from 1"):
        sa.read(flags, labels=["x", "y"], **how)


@pytest.mark.filterwarnings("ignore::setagree.errors.DroppedRowsWarning")
def test_errors_about_rows_of_another_status():
    table = TABLE.copy()
    table.loc[[4, 7, 8, 9], "rater"] = None
    with pytest.raises(DataError, match=r"4 rows without a rater \(first: rows 5, 8, 9, 10"):
        sa.Annotations.from_long(table, status="status")
    odd = TABLE.assign(queued=["", "", "", "perhaps", *[""] * 6])
    with pytest.raises(DataError, match="row 4, counted from 1 below the header, has 'perhaps'"):
        sa.Annotations.from_long(odd, status="status", queued="queued")

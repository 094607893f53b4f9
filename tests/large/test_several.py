"""Several files, conditions, sheets and wide tables through the public functions."""

import io
from pathlib import Path

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, FileError, OptionError, RepeatsError, SetagreeWarning
from setagree.large.opening import open_study
from setagree.study.reading import Plan, Reading

HEAD = "unit,rater,labels,repeat\n"
ONE = HEAD + "u1,ann,joy,0\nu1,bob,fear,0\nu1,bob,joy,1\nu3,ann,joy,0\nu3,bob,joy,0\n"
TWO = HEAD + "u2,ann,joy,0\nu2,bob,fear,0\nu1,ann,joy,1\n"
WIDE = 'id,ann,bob,cy\nt1,joy,"joy, fear",fear\nt2,fear,fear,joy\nt3,joy,joy,joy\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a fresh folder with two rounds, and a wide table."""
    monkeypatch.chdir(tmp_path)
    Path("round-1.csv").write_text(ONE)
    Path("round-2.csv").write_text(TWO)
    Path("wide.csv").write_text(WIDE)


BOTH = ["round-1.csv", "round-2.csv"]
FIRST = pytest.mark.filterwarnings("ignore:where=")


class TestRowsALabel:
    TABLE = HEAD[:-8] + "\nu1,ann,joy\nu1,ann,fear\nu1,bob,joy\nu2,ann,fear\nu2,bob,fear\n"
    SAYS = r"If each row has one label of a set, use duplicates='union', or for a file .*row_per"

    def test_every_road_says_both_readings(self):
        Path("rows.csv").write_text(self.TABLE)
        frame = pd.read_csv("rows.csv")
        for data in (frame, "rows.csv"):
            for call in (sa.agreement, sa.by_label, sa.tally):
                with pytest.raises(RepeatsError, match=self.SAYS):
                    call(data)

    def test_what_it_says_works(self):
        Path("rows.csv").write_text(self.TABLE)
        study = sa.read("rows.csv", tool="plain_row_per_label", blank="missing")
        united = sa.read(pd.read_csv("rows.csv"), duplicates="union")
        assert sa.krippendorff_alpha(study) == sa.krippendorff_alpha(united)
        with pytest.raises(
            OptionError, match=r"^tool='plain_row_per_label' is for files, not for a DataFrame"
        ):
            sa.read(pd.read_csv("rows.csv"), tool="plain_row_per_label")

    def test_not_where_it_cannot_be(self):
        for cells, options in (
            (["a, b", "c"], {"labels": "labels"}),
            (["a", "a"], {"labels": "labels"}),
            (["1", "2"], {"value": "labels"}),
        ):
            table = pd.DataFrame({"unit": [1, 1], "rater": ["ann", "ann"], "labels": cells})
            with pytest.raises(RepeatsError) as caught:
                sa.agreement(table, **options)
            assert "one label of a set" not in str(caught.value)


@FIRST
class TestSeveral:
    @pytest.mark.slow
    def test_a_pattern_is_its_list(self):
        tables = [
            sa.agreement(files, where="repeat == 0", **limit).to_frame()
            for files in (BOTH, "round-?.csv", tuple(map(Path, BOTH)))
            for limit in ({}, {"memory_limit": "500MB"})
        ]
        for table in tables[1:]:
            pd.testing.assert_frame_equal(table, tables[0])
        assert tables[0]["n_ratings"].tolist() == [6, 6]

    def test_order(self):
        assert sa.read(BOTH, where="repeat == 0").units.tolist() == ["u1", "u3", "u2"]
        assert sa.read(BOTH[::-1], where="repeat == 0").units.tolist() == ["u2", "u1", "u3"]

    def test_a_repeat_names_both_files(self):
        for call in (sa.read, sa.tally):
            with pytest.raises(RepeatsError, match=r"The first pair is in 'round-1.csv' and 'r"):
                call(BOTH)
        assert sa.read(BOTH, duplicates="first").n_repeated == 2

    @pytest.mark.slow
    @pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
    def test_an_engine_names_both_files(self, ending):
        for name, text in (("first", ONE), ("second", TWO), ("third", HEAD + "u9,ann,joy,0\n")):
            frame = pd.read_csv(io.StringIO(text.replace("u", "")))
            frame = frame.rename(columns={"nit": "unit"})
            if ending == "csv":
                frame.to_csv(f"{name}.csv", index=False)
            elif ending == "jsonl":
                frame.to_json(f"{name}.jsonl", orient="records", lines=True)
            else:
                frame.to_parquet(f"{name}.parquet")
        files = [f"{name}.{ending}" for name in ("first", "second", "third")]
        said = rf"The first pair is in 'first\.{ending}' and 'second\.{ending}'\.$"
        for call in (sa.tally, lambda files: sa.agreement(files, memory_limit="500MB")):
            with pytest.raises(RepeatsError, match=said):
                call(files)
        with pytest.raises(RepeatsError) as caught:
            sa.tally(files[0])
        assert "stands in" not in str(caught.value)
        with pytest.raises(RepeatsError) as caught:
            sa.agreement("round-1.csv")
        assert "round-1.csv" not in str(caught.value)

    def test_a_repeat_in_wide_files(self):
        Path("wide-2.csv").write_text("id,ann,bob,cy\nt1,,joy,\nt4,joy,,\n")
        with pytest.raises(RepeatsError, match=r"'t1', rater 'bob'.*'wide.csv' and 'wide-2.csv'"):
            sa.read(["wide.csv", "wide-2.csv"], wide=True, blank="missing")
        with (
            pytest.raises(RepeatsError, match=r"'wide.csv' and 'wide-2.csv'"),
            pytest.warns(SetagreeWarning, match="Read as a wide table"),
        ):
            sa.agreement(["wide.csv", "wide-2.csv"], blank="missing")

    def test_source(self):
        study = sa.read(
            BOTH, filename_column="round", where="round == round-1.csv", duplicates="first"
        )
        assert study.n_ratings == 4
        for who in ("ann", "bob"):
            Path(f"{who}.csv").write_text("unit,labels\nu1,joy\n")
        assert sa.read(["ann.csv", "bob.csv"], filename_column="rater").raters.tolist() == [
            *("ann.csv", "bob.csv"),
        ]
        with pytest.raises(
            OptionError, match=r"filename_column= is for files that are read into memory"
        ):
            open_study(BOTH, Reading(filename_column="round"), Plan(memory_limit="1GB"))


class TestWhere:
    def test_frames_and_files(self):
        frame = pd.read_csv("round-1.csv")
        for data in (frame, "round-1.csv"):
            with pytest.warns(SetagreeWarning, match="where='repeat == 0' drops 1 of 5 rows"):
                assert sa.read(data, where="repeat == 0").n_ratings == 4

    def test_wide(self):
        Path("rounds.csv").write_text("id,ann,bob,round\nt1,joy,joy,1\nt2,joy,fear,2\n")
        with pytest.warns(SetagreeWarning, match="drops 1 of 2 rows"):
            study = sa.read("rounds.csv", wide=True, where="round == 1")
        assert study.raters.tolist() == ["ann", "bob"]

    @FIRST
    def test_rows_of_errors(self):
        Path("round-1.csv").write_text(HEAD + "u1,ann,joy,1\n,bob,fear,0\n")
        with pytest.raises(DataError, match=r"\(first: row 2, counted from 1 below the header\)"):
            sa.read("round-1.csv", where="repeat == 0")

    def test_exports(self):
        Path("a.jsonl").write_text('{"text": "a", "label": ["joy"], "id": 1, "Comments": []}\n')
        with pytest.raises(OptionError, match=r"where= is for tables, and .* is read as doccano"):
            sa.read("a.jsonl", where="id == 1", tool="doccano_jsonl")

    def test_a_study_has_no_rows(self):
        with pytest.raises(OptionError, match="the study is already built; omit where="):
            sa.agreement(sa.read("wide.csv", wide=True), where="id == t1")


class TestSheets:
    def test_sheet(self):
        pytest.importorskip("openpyxl", reason="the extra 'files' is not installed")
        with pd.ExcelWriter("rounds.xlsx") as book:
            for name in ("one", "two"):
                pd.read_csv("wide.csv", dtype=str).to_excel(book, sheet_name=name, index=False)
        with pytest.raises(FileError, match=r"cells in 2 sheets .*; choose one with sheet='one'"):
            sa.read("rounds.xlsx", wide=True)
        assert sa.read("rounds.xlsx", wide=True, sheet="two").n_ratings == 9
        assert sa.read("rounds.xlsx", wide=True, sheet=2).n_ratings == 9


class TestWide:
    def test_recognised(self):
        named = sa.agreement(sa.read("wide.csv", wide=True)).to_frame()
        said = r"Read as a wide table: unit = id, raters = ann, bob, cy \(wide=\)"
        for data in ("wide.csv", pd.read_csv("wide.csv")):
            with pytest.warns(SetagreeWarning, match=said):
                pd.testing.assert_frame_equal(sa.agreement(data).to_frame(), named)
            with pytest.warns(SetagreeWarning, match=said):
                assert sa.read(data).n_raters == 3

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("id,text,ann,bob\n1,hi,joy,joy\n2,yo,joy,fear\n", "'text' has none. If each rater ha"),
            ("id,ann,bob\n1,3,4\n2,4,3\n", "'ann', 'bob' have only numbers"),
            ("id,ann,bob\n1,joy,fear\n2,hope,rage\n", "No column has a usual name for the rater"),
            ("id,rater,joy,fear\n1,ann,yes,no\n2,ann,no,yes\n", "usual name for the labels"),
        ],
    )
    def test_ambiguity_asks(self, text, sentence):
        Path("odd.csv").write_text(text)
        with pytest.raises(DataError, match=sentence):
            sa.agreement("odd.csv")


@pytest.mark.parametrize("address", ["https://example.com/a.csv", "hf://datasets/x", "s3://b/*.c"])
def test_addresses(address):
    for function in (sa.agreement, sa.read, sa.tally, sa.by_label, sa.krippendorff_alpha):
        with pytest.raises(FileError, match="is an address, and only files on this computer"):
            function(address)
    with pytest.raises(FileError, match="is an address"):
        sa.read("round-1.csv", tool="plain_row_per_label", roster=address)

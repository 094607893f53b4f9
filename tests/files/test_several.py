"""Several files, the sheets of a workbook, and addresses that are no files."""

import warnings
from pathlib import Path

import pandas as pd
import pytest

import setagree as sa
from setagree.checks import expanded
from setagree.errors import FileError, OptionError
from setagree.files.streams import matching
from setagree.files.tables import read_table


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a fresh folder with two rounds."""
    monkeypatch.chdir(tmp_path)
    Path("round-1.csv").write_text("unit,rater,labels\nu1,ann,joy\n")
    Path("round-2.csv").write_text("unit,rater,labels\nu1,bob,fear\nu2,bob,\n")


class TestSeveral:
    def test_order(self):
        both = ["round-1.csv", "round-2.csv"]
        assert read_table(both)["unit"].tolist() == ["u1", "u1", "u2"]
        assert read_table(both[::-1])["unit"].tolist() == ["u1", "u2", "u1"]
        pd.testing.assert_frame_equal(read_table(both), read_table("round-*.csv"))
        pd.testing.assert_frame_equal(read_table((Path(both[0]), "*-2.csv")), read_table(both))
        assert [*read_table(both, queued="queued")] == ["unit", "rater", "labels"]

    def test_source(self):
        frame = read_table("round-*.csv", filename_column="round")
        assert frame["round"].tolist() == ["round-1.csv", "round-2.csv", "round-2.csv"]
        Path("b").mkdir()
        Path("b/round-1.csv").write_text("unit,rater,labels\nu3,ann,joy\n")
        frame = read_table(["round-1.csv", "b/round-1.csv"], filename_column="round")
        assert frame["round"].tolist() == ["round-1.csv", str(Path("b/round-1.csv"))]

    def test_refusals(self):
        with pytest.raises(FileError, match=r"'round-1\.csv' is named twice; name each file once"):
            read_table(["round-1.csv", "round-*.csv"])
        with pytest.raises(FileError, match="list of files is empty"):
            read_table([])
        with pytest.raises(FileError, match=r"Standard input \('-'\) cannot be read together"):
            read_table(["round-1.csv", "-"])
        with pytest.raises(OptionError, match="path=7 is an int; name a file by its path"):
            read_table(["round-1.csv", 7])
        with pytest.raises(
            OptionError, match="filename_column='unit': the table has a column of that name"
        ):
            read_table("round-*.csv", filename_column="unit")
        Path("other.csv").write_text("unit,rater,tags\nu1,bob,fear\n")
        with pytest.raises(FileError, match="different columns: only one of them has 'labels', 't"):
            read_table(["round-1.csv", "other.csv"])


class TestSheets:
    @pytest.fixture(autouse=True)
    def book(self):
        pytest.importorskip("openpyxl", reason="the extra 'files' is not installed")
        with pd.ExcelWriter("rounds.xlsx") as book:
            read_table("round-1.csv").to_excel(book, sheet_name="Round 1", index=False)
            read_table("round-2.csv").to_excel(book, sheet_name="2", index=False)

    @pytest.mark.parametrize("sheet", ["Round 1", 1, "1"])
    def test_first(self, sheet):
        assert read_table("rounds.xlsx", sheet=sheet)["rater"].tolist() == ["ann"]

    @pytest.mark.parametrize("sheet", ["2", 2])
    def test_second(self, sheet):
        assert read_table("rounds.xlsx", sheet=sheet)["rater"].tolist() == ["bob", "bob"]

    def test_which(self):
        with pytest.raises(FileError, match=r"cells in 2 sheets \('Round 1', '2'\); choose"):
            read_table("rounds.xlsx")

    @pytest.mark.parametrize("title", [[["Round 1"], []], []])
    def test_which_with_a_title_and_notes(self, title, tmp_path):
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        rows = [["item", "Ann K", "bob", "notes"], ["u1", "x", "y"], [], ["u2", "y", "x", "hm"]]
        for row in [*title, *rows]:
            book.active.append(row)
        book.create_sheet("codes").append(["label", "meaning"])
        book.create_sheet("Read me", 0).append(["Please do not edit"])
        book.save(tmp_path / "a.xlsx")
        path, raters = tmp_path / "a.xlsx", ["Ann K", "bob"]
        sheet = r"3 sheets \('Read me', 'Sheet', 'codes'\); choose one with sheet='Sheet'\. Then: "
        with pytest.raises(FileError, match=rf"{sheet}Columns .* wide=True and raters=") as caught:
            sa.agreement(path)
        remedy = {"sheet": "Sheet", "unit": "item", "wide": True, "raters": raters}
        assert caught.value.remedy == remedy
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sa.SetagreeWarning)
            assert sa.read(path, **remedy).to_wide().shape == (2, 2)

    def test_a_sheet_of_notes_is_ignored(self, tmp_path):
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in (["unit", "rater", "labels"], ["u1", "ann", "x"]):
            book.active.append(row)
        book.create_sheet("Read me", 0).append(["Please do not edit"])
        book.save(tmp_path / "a.xlsx")
        with pytest.warns(sa.SetagreeWarning, match=r"'Read me' ignored, .* \(sheet='Sheet'\)"):
            assert read_table(tmp_path / "a.xlsx").shape == (1, 3)

    def test_absent(self):
        with pytest.raises(FileError, match=r"no sheet 'Round1'; it has 2 sheets, .* Did you mean"):
            read_table("rounds.xlsx", sheet="Round1")
        with pytest.raises(
            FileError, match="no sheet 3; it has 2 sheets, 'Round 1', '2', numbered"
        ):
            read_table("rounds.xlsx", sheet=3)

    def test_no_workbook(self):
        with pytest.raises(OptionError, match=r"sheet=1 is for Excel workbooks; 'round-1\.csv' is"):
            read_table("round-1.csv", sheet=1)


class TestAddresses:
    @pytest.mark.parametrize(
        "address",
        ["https://example.com/a.csv", "s3://bucket/a-*.parquet", "hf://datasets/x/y", "gs://b/a"],
    )
    def test_one_sentence(self, address):
        for path in (address, Path(address), [address]):
            with pytest.raises(FileError) as caught:
                read_table(path)
            assert str(caught.value).startswith(f"'{address}' is an address, and only files on ")
            assert "Download it first" in str(caught.value)
        with pytest.raises(FileError, match="is an address"):
            expanded(address)

    def test_names_that_look_like_one(self):
        Path("s3:").mkdir()
        Path("s3:/a.csv").write_text("a\n1\n")
        assert matching("s3:/a.csv") == [Path("s3:/a.csv")]
        assert matching("c:/a.csv") == [Path("c:/a.csv")]

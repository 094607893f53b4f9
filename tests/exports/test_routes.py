"""What a tool exported is read as such or refused, by whatever road it comes."""

import io
import json
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest
from cli_support import ok, refusal
from typer.testing import CliRunner

import setagree as sa
from setagree.cli import app as cli
from setagree.errors import DataError, FileError, OptionError
from setagree.large.opening import open_table

APPEN = [
    ("_unit_id", "_tainted", "_golden", "_worker_id", "emotion"),
    (1, "false", "false", 1, "joy"),
    (1, "false", "false", 2, "joy"),
    (1, "true", "false", 3, "fear"),
    (2, "false", "false", 1, "fear"),
    (2, "false", "false", 2, "fear"),
    (2, "true", "false", 3, "joy"),
]
"""Two units on which two workers agree; a third one's judgments are tainted."""

PLAIN = "unit,rater,labels\nu1,ana,joy\nu1,ben,joy\nu2,ana,fear\nu2,ben,joy\n"


def appen_frame():
    """Return the export as a table of text."""
    return pd.DataFrame(APPEN[1:], columns=APPEN[0]).astype(str)


def prodigy():
    """Return examples that two people accepted, with other choices in each."""
    return "".join(
        json.dumps(
            {
                "text": f"t{unit}",
                "_input_hash": unit,
                "_task_hash": unit,
                "options": [{"id": "joy"}, {"id": "fear"}],
                "accept": accept,
                "answer": "accept",
                "_annotator_id": who,
            }
        )
        + "\n"
        for unit in (1, 2)
        for who, accept in (("ana", ["joy"]), ("ben", ["fear"]))
    )


def feed(monkeypatch, text):
    """Let a text come through standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize("ending", ["xlsx", "parquet", "parquet.gz"])
def test_a_workbook_or_parquet_is_read_as_what_it_is(tmp_path, ending):
    pytest.importorskip("openpyxl" if ending == "xlsx" else "pyarrow")
    frame = appen_frame()
    path = tmp_path / f"report.{ending}"
    if ending == "xlsx":
        frame.to_excel(path, index=False)
    else:
        import gzip

        frame.to_parquet(tmp_path / "plain.parquet")
        content = (tmp_path / "plain.parquet").read_bytes()
        path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    csv = tmp_path / "report.csv"
    frame.to_csv(csv, index=False)
    for file in (csv, path):
        with pytest.warns(sa.errors.SetagreeWarning, match="2 tainted judgments left out"):
            table = sa.agreement(file, distance="nominal")
        assert table["krippendorff_alpha", "nominal"].estimate == 1.0
        assert table["krippendorff_alpha", "nominal"].n_ratings == 4


def test_typed_exports_in_parquet_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "report.parquet"
    pd.DataFrame(APPEN[1:], columns=APPEN[0]).to_parquet(path)
    with pytest.raises(FileError, match="not a table of text, as the export of a tool is"):
        sa.agreement(path)
    records = [json.loads(line) for line in prodigy().splitlines()]
    pd.DataFrame(records).drop(columns="options").to_parquet(path)
    said = r"looks like .*Prodigy.*: name the file that the tool wrote, .*tool='prodigy'"
    with pytest.raises(DataError, match=said):
        sa.agreement(path)


class TestSeveralExports:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path, monkeypatch):
        """Write the export of two units, and each unit by itself."""
        monkeypatch.chdir(tmp_path)
        lines = prodigy().splitlines(keepends=True)
        units = [json.loads(line)["_input_hash"] for line in lines]
        assert len({*units}) == 2
        for name, chosen in (("all", {*units}), ("one", {units[0]}), ("two", {units[-1]})):
            kept = [line for line, unit in zip(lines, units, strict=True) if unit in chosen]
            Path(f"{name}.jsonl").write_text("".join(kept))

    def test_they_are_joined(self):
        whole = sa.agreement("all.jsonl").to_frame()
        for files in (["one.jsonl", "two.jsonl"], "[ot]*.jsonl"):
            assert sa.read(files).n_ratings == 4
            pd.testing.assert_frame_equal(sa.agreement(files).to_frame(), whole)
        first, second = sa.read("one.jsonl").units.tolist(), sa.read("two.jsonl").units.tolist()
        assert sa.read(["two.jsonl", "one.jsonl"]).units.tolist() == [*second, *first]
        words = ["--format", "csv"]
        assert ok("score", "one.jsonl", "two.jsonl", *words) == ok("score", "all.jsonl", *words)

    def test_a_repeat_names_both_files(self):
        """A unit and rater in two files is a repeat, which duplicates= settles."""
        shutil.copy("one.jsonl", "again.jsonl")
        files = ["one.jsonl", "again.jsonl", "two.jsonl"]
        places = r"The first are in 'one.jsonl', .* and 'again.jsonl', "
        with pytest.raises(DataError, match=rf"'one.jsonl' and 2 more: .*'first'.*{places}"):
            sa.read(files)
        assert sa.read(files, duplicates="first").n_repeated == sa.read("one.jsonl").n_ratings
        assert "'again.jsonl', line" in refusal("score", *files)
        kept = {"filename_column": "file", "where": "file != two.jsonl"}
        with pytest.raises(DataError, match=places), pytest.warns(match="drops 2 of 6 rows"):
            sa.read(["two.jsonl", *files[:2]], **kept)

    def test_other_files_are_refused(self):
        appen_frame().to_csv("report.csv", index=False)
        Path("plain.csv").write_text(PLAIN)
        for other, what in (("report.csv", "one of Appen"), ("plain.csv", "none")):
            said = rf"'one.jsonl' is the export of a tool, Prodigy.*'{other}' is {what}"
            with pytest.raises(OptionError, match=said):
                sa.agreement(["one.jsonl", other])
        with pytest.raises(OptionError, match="roster= is the roster of one export"):
            sa.read(["one.jsonl", "two.jsonl"], roster="plain.csv")


def test_columns_that_are_named_are_believed(tmp_path):
    appen_frame().to_csv(tmp_path / "report-1.csv", index=False)
    pattern = str(tmp_path / "report-*.csv")
    named = {"unit": "_unit_id", "rater": "_worker_id", "labels": "emotion"}
    table = sa.agreement(pattern, **named, distance="nominal")
    assert table["fleiss_kappa", "nominal"].n_ratings == 6
    options = [word for role, column in named.items() for word in (f"--{role}", column)]
    assert "fleiss_kappa" in ok("score", pattern, *options, "--format", "csv")


def test_standard_input(monkeypatch):
    for text, tool in [(prodigy(), "Prodigy"), (appen_frame().to_csv(index=False), "Appen")]:
        feed(monkeypatch, text)
        with pytest.raises(DataError, match=rf"standard input looks like .*{tool}.* write it to"):
            sa.agreement("-")
        result = CliRunner().invoke(cli.app, ["score", "-"], input=text)
        assert (result.exit_code, result.stdout) == (2, "")
        assert tool in result.stderr
    feed(monkeypatch, PLAIN)
    assert sa.agreement("-")["fleiss_kappa", "masi"].n_ratings == 4


def test_plain_tables_by_every_road(tmp_path):
    (tmp_path / "study-1.csv").write_text(PLAIN)
    frame = pd.read_csv(tmp_path / "study-1.csv")
    paths = [tmp_path / "study-1.csv", tmp_path / "study-*.csv"]
    for ending, write in [("xlsx", frame.to_excel), ("parquet", frame.to_parquet)]:
        pytest.importorskip("openpyxl" if ending == "xlsx" else "pyarrow")
        paths.append(tmp_path / f"table.{ending}")
        write(paths[-1], index=False)
    found = {sa.agreement(path)["fleiss_kappa", "masi"].estimate for path in paths}
    assert len(found) == 1


def test_numbers_of_classes_in_a_pattern(tmp_path):
    rows = [{"id": "u1", "annotator": who, "labels": [0]} for who in "ab"]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "rows-1.jsonl").write_text(text)
    pattern = tmp_path / "rows-*.jsonl"
    assert open_table(pattern, sa.Reading())[0]["labels"].tolist() == [[0], [0]]
    names = {"labels": {"feature": {"_type": "ClassLabel", "names": ["joy"]}}}
    (tmp_path / "rows-1.features.json").write_text(json.dumps(names))
    assert open_table(pattern, sa.Reading())[0]["labels"].tolist() == [["joy"], ["joy"]]


def test_read_takes_patterns(tmp_path, monkeypatch):
    (tmp_path / "prod-1.jsonl").write_text(prodigy())
    with pytest.raises(FileError, match="are read from files or folders"):
        sa.read("-", tool="prodigy")
    assert sa.read(tmp_path / "prod-*.jsonl").n_ratings == 4
    if sys.platform != "win32":
        shutil.copy(tmp_path / "prod-1.jsonl", tmp_path / "prod*.jsonl")
        assert sa.read(tmp_path / "prod*.jsonl").n_ratings == 4


class TestAConditionOnSeveral:
    KEEPS = "round == 1"

    @pytest.fixture(autouse=True)
    def halves(self, tmp_path, monkeypatch):
        """Write an export, whole and in two halves, of which the second has only one round."""
        monkeypatch.chdir(tmp_path)
        whole = appen_frame().assign(round=["1", "1", "1", "2", "2", "2"])
        whole = pd.concat([whole, whole[:3].assign(_unit_id="3", round="1")])
        whole.to_csv("whole.csv", index=False)
        for name, rows in (("ap1", whole[:3]), ("ap2", whole[3:6]), ("ap3", whole[6:])):
            rows.to_csv(f"{name}.csv", index=False)

    def told(self, files, **options):
        """Return the annotations, and what was said of the rows that are dropped."""
        with pytest.warns(sa.SetagreeWarning) as told:
            study = sa.read(files, question="emotion", **options)
        dropped = [text for one in told if "where=" in (text := str(one.message))]
        return {*study.to_triples()}, dropped

    def test_rows_of_all_files(self):
        wanted = self.told("whole.csv", where=self.KEEPS)
        assert wanted[1] == ["where='round == 1' drops 3 of 9 rows."]
        for files in ("ap?.csv", ["ap1.csv", "ap2.csv", "ap3.csv"]):
            assert self.told(files, where=self.KEEPS) == wanted
        with pytest.raises(DataError, match=r"keeps none of 9 rows; column 'round' holds '1', '2'"):
            sa.read("ap?.csv", question="emotion", where="round == 7")

    def test_what_file_a_row_comes_from(self):
        wanted, _ = self.told("ap1.csv", where=self.KEEPS)
        for files, n in (("ap?.csv", 9), (["ap1.csv"], 3), ("ap1.csv", 3)):
            found = self.told(files, filename_column="file", where="file == ap1.csv")
            assert found == (wanted, [f"where='file == ap1.csv' drops {n - 3} of {n} rows."])
        with pytest.raises(DataError, match=r"column 'file' holds 'ap1.csv', 'ap2.csv', 'ap3.csv'"):
            sa.read("ap?.csv", filename_column="file", where="file == ap9.csv")
        with pytest.raises(
            OptionError, match="filename_column='round': the table has a column of that name"
        ):
            sa.read("ap?.csv", filename_column="round", where="round == ap1.csv")

    def test_the_command(self):
        said = ("--where", self.KEEPS, "--question", "emotion", "-f", "json")
        one = CliRunner().invoke(cli.app, ["score", "whole.csv", *said])
        several = CliRunner().invoke(cli.app, ["score", "ap1.csv", "ap2.csv", "ap3.csv", *said])
        assert several.stdout == one.stdout
        assert several.stderr.count("--where 'round == 1' drops 3 of 9 rows.") == 1

    def test_a_file_without_the_column(self):
        appen_frame().to_csv("ap4.csv", index=False)
        with pytest.raises(DataError, match=r"ap4.csv.*: where='round == 1': there is no column"):
            sa.read("ap?.csv", question="emotion", where=self.KEEPS)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--batch", ("monitor", "--batch", "text", "--threshold", "0.5")),
        ("--strata", ("score", "--strata", "answer")),
        ("--order-by", ("score", "--order-by", "_input_hash")),
        ("--queued", ("score", "--queued", "answer")),
        ("--delimiter", ("score", "--delimiter", ",")),
    ],
)
def test_options_for_columns_do_not_make_a_table_of_an_export(tmp_path, option, words):
    path = tmp_path / "tasks.jsonl"
    path.write_text(prodigy(), encoding="utf-8")
    said = refusal(words[0], path, *words[1:])
    assert said.startswith(f"Error: {option} is for tables, and ")
    assert (
        "read as Prodigy, JSONL (choice, spans). The name of the file is a column with "
        "--filename-column" in said
    )
    columns = {"unit": "text", "rater": "_annotator_id", "labels": "answer"}
    assert sa.read(path, **columns, strata="answer").sampling.strata == "answer"

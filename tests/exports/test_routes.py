"""What a tool exported is read as such or refused, by whatever road it comes."""

import io
import json
import shutil
import sys

import pandas as pd
import pytest
from cli_support import ok, refusal
from typer.testing import CliRunner

import setagree as sa
from setagree.cli import app as cli
from setagree.errors import DataError, FileError
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
    """Tainted judgments are left out of an Appen report, in Excel and Parquet as in CSV."""
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
    """A report whose numbers are numbers is no export as the tool writes it; records are JSON."""
    pytest.importorskip("pyarrow")
    path = tmp_path / "report.parquet"
    pd.DataFrame(APPEN[1:], columns=APPEN[0]).to_parquet(path)
    with pytest.raises(FileError, match="no table of text, as the export of a tool is"):
        sa.agreement(path)
    records = [json.loads(line) for line in prodigy().splitlines()]
    pd.DataFrame(records).drop(columns="options").to_parquet(path)
    with pytest.raises(DataError, match=r"report.parquet' looks like .*Prodigy.*format='prodigy'"):
        sa.agreement(path)


def test_a_pattern_of_exports_is_refused(tmp_path):
    """Several files of a tool are no table, of which another column would be scored."""
    (tmp_path / "prod-1.jsonl").write_text(prodigy())
    pattern = str(tmp_path / "prod-*.jsonl")
    with pytest.raises(DataError, match=r"prod-\*\.jsonl' looks like .*Prodigy"):
        sa.agreement(pattern)
    assert "--from 'prodigy'" in refusal("score", pattern)
    appen_frame().to_csv(tmp_path / "report-1.csv", index=False)
    with pytest.raises(DataError, match=r"looks like .*Appen.*unit=, rater= and labels="):
        sa.agreement(str(tmp_path / "report-*.csv"))


def test_columns_that_are_named_are_believed(tmp_path):
    """Who names columns, or says that it is a table, gets the table."""
    appen_frame().to_csv(tmp_path / "report-1.csv", index=False)
    pattern = str(tmp_path / "report-*.csv")
    named = {"unit": "_unit_id", "rater": "_worker_id", "labels": "emotion"}
    table = sa.agreement(pattern, **named, distance="nominal")
    assert table["fleiss_kappa", "nominal"].n_ratings == 6
    options = [word for role, column in named.items() for word in (f"--{role}", column)]
    assert "fleiss_kappa" in ok("score", pattern, *options, "--format", "csv")


def test_standard_input(monkeypatch):
    """What comes through standard input is looked at, too: exports are refused, tables scored."""
    for text, tool in [(prodigy(), "Prodigy"), (appen_frame().to_csv(index=False), "Appen")]:
        feed(monkeypatch, text)
        with pytest.raises(DataError, match=rf"standard input looks like .*{tool}"):
            sa.agreement("-")
        result = CliRunner().invoke(cli.app, ["score", "-"], input=text)
        assert (result.exit_code, result.stdout) == (2, "")
        assert tool in result.stderr
    feed(monkeypatch, PLAIN)
    assert sa.agreement("-")["fleiss_kappa", "masi"].n_ratings == 4


def test_plain_tables_by_every_road(tmp_path):
    """A plain table is one, in a pattern, a workbook, a Parquet file or by itself."""
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
    """Rows of lists whose numbers a file beside them names are refused; without it, a table."""
    rows = [{"id": "u1", "annotator": who, "labels": [0]} for who in "ab"]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "rows-1.jsonl").write_text(text)
    pattern = tmp_path / "rows-*.jsonl"
    assert open_table(pattern, sa.Reading())["labels"].tolist() == [[0], [0]]
    names = {"labels": {"feature": {"_type": "ClassLabel", "names": ["joy"]}}}
    (tmp_path / "rows-1.features.json").write_text(json.dumps(names))
    with pytest.raises(DataError, match="Hugging Face"):
        open_table(pattern, sa.Reading())


def test_read_takes_one_name(tmp_path, monkeypatch):
    """`read` says that it takes no pattern and no standard input; a name with a star is a name."""
    (tmp_path / "prod-1.jsonl").write_text(prodigy())
    for path in (tmp_path / "prod-*.jsonl", "-"):
        with pytest.raises(FileError, match="read from one file or folder that is named"):
            sa.read(path, format="prodigy")
    if sys.platform != "win32":
        shutil.copy(tmp_path / "prod-1.jsonl", tmp_path / "prod*.jsonl")
        assert sa.read(tmp_path / "prod*.jsonl").n_ratings == 4

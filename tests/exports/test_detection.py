"""Which format a file has: exactly one recogniser says yes, or a sentence says why not."""

from __future__ import annotations

import bz2
import gc
import gzip
import json
import lzma
import os
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from exports import json_writers as toy

import setagree as sa
from setagree.errors import DataError, FileError, OptionError
from setagree.exports import FORMATS
from setagree.exports import json_nodes as json_files
from setagree.exports.detection import format_of_name, peek, recognised, the_one
from setagree.large.recognition import find_export, find_format

MIXED = {(u, r): {"crow"} for u in ("p1", "p2") for r in ("mia", "noa")}
NAMES = [each.name for each in FORMATS]


def test_formats_are_listed():
    table = sa.formats()
    assert table.columns.tolist() == ["name", "title", "basis", "notes"]
    assert table["name"].tolist() == NAMES
    assert len(set(NAMES)) == len(NAMES) >= 13
    assert table["title"].is_unique
    assert {each.basis for each in FORMATS} <= {"tool", "source", "documented", "plain"}
    hand_made = table.loc[table["name"] == "prodigy", "basis"].item()
    assert hand_made == "from the documented format, not verified against a live export"
    assert all(not text or text.endswith(".") for text in table["notes"])


@pytest.mark.parametrize("name", toy.WRITERS)
def test_one_recogniser_says_yes(tmp_path, name):
    found = recognised(peek(toy.write(tmp_path, name)), FORMATS)
    assert [each.name for each in found] == [name]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (toy.doccano, "doccano_jsonl"),
        (lambda folder, truth: toy.doccano(folder, truth, kind="csv"), "doccano_csv"),
        (toy.sagemaker, "sagemaker"),
    ],
)
def test_one_recogniser_says_yes_to_a_folder(tmp_path, make, name):
    found = recognised(peek(make(tmp_path, toy.TRUTH)), FORMATS)
    assert [each.name for each in found] == [name]


def test_several_are_never_guessed_between(tmp_path):
    """Where two formats fit, both are named and tool= decides."""
    path = toy.write(tmp_path, "prodigy")
    twins = [replace(each, name=f"{each.name}_{k}") for k in (1, 2) for each in FORMATS]
    with pytest.raises(
        OptionError, match=r"could be 'prodigy_1', 'prodigy_2'; .* tool='prodigy_1'"
    ):
        the_one(recognised(peek(path), twins), path)
    assert find_export(path, sa.Reading())[0].name == "prodigy"


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        (
            "a.csv",
            "colour;size\nred;3\n",
            DataError,
            "name the .* columns are 'colour', 'size'",
        ),
        ("a.json", '[{"colour": 1, "size": [2]}]', DataError, "columns are 'colour', 'size'"),
        ("a.txt", "a text\nof two lines\n", DataError, "No column has a usual name for the unit"),
        ("a.bin", "\0\1", FileError, "line 1 has a NUL character; it is not text"),
        ("a.csv", "[1],b\nx,y\n", DataError, r"columns are '\[1\]', 'b'"),
    ],
)
def test_a_file_that_is_neither_export_nor_table(tmp_path, name, text, error, message):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    for function in (sa.read, sa.agreement):
        with pytest.raises(error, match=message):
            function(path)


TABLES = {
    "unit,rater,value": ("t.csv", "unit,rater,value\nu1,ana,1\nu1,ben,2\nu2,ana,3\nu2,ben,3\n"),
    "JSON with text labels": (
        "plain.json",
        '{"unit": [1, 1, 2, 2], "rater": ["a", "b", "a", "b"], "labels": ["x", "x, y", "y", "y"]}',
    ),
    "wide": ("w.csv", "doc,ana,ben\nd1,joy,fear\nd2,fear,fear\n"),
    "repeats": ("r.csv", "unit,rater,labels\nu1,ana,a\nu1,ana,b\nu1,ben,a\n"),
    "unknown columns": ("c.csv", "colour,size\nred,3\n"),
    "numbers": ("n.csv", "id,ana,ben\n1,4,4\n2,3,4\n"),
    "flags": ("f.csv", "unit,rater,joy,fear\nu1,ana,1,0\nu1,ben,0,0\nu2,ana,0,1\nu2,ben,1,1\n"),
}


@pytest.mark.filterwarnings("ignore:Read as a (wide )?table")
@pytest.mark.parametrize("table", TABLES)
def test_read_and_agreement_read_the_same_tables(tmp_path, table):
    name, text = TABLES[table]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    def outcome(function):
        try:
            return function(path).to_frame()
        except sa.SetagreeError as error:
            return type(error), str(error)

    read, scored = outcome(lambda file: sa.agreement(sa.read(file))), outcome(sa.agreement)
    if isinstance(scored, tuple):
        assert read == scored
    else:
        pd.testing.assert_frame_equal(read, scored, check_exact=True)


def test_a_folder_that_is_no_export(tmp_path):
    with pytest.raises(FileError, match=r"is a folder; name a file in it, or use .*\*\.csv"):
        sa.read(tmp_path)


def test_absent_and_odd_files(tmp_path):
    toy.write(tmp_path, "prodigy")
    assert (
        find_export(tmp_path / "prodgy.json", sa.Reading())[0] is None
    )  # that is for who reads tables to say
    with pytest.raises(FileError, match=r"There is no file .* Did you mean 'prodigy\.json'"):
        sa.read(tmp_path / "prodgy.json")
    with pytest.raises(
        FileError, match=r"There is no file '/nowhere/at/all\.json'\. There is no f"
    ):
        sa.read("/nowhere/at/all.json")
    for odd in ("~nobody-of-this-name/x.json", "a\0b.json"):
        with pytest.raises(FileError, match="There is no file"):
            sa.read(odd)
    for door in (sa.read, sa.agreement, sa.tally):
        for long in ("a" * 3000, "a" * 3000 + ".csv"):
            with pytest.raises(FileError, match="File name too long"):
                door(long)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="is a pipe or a device"):
        sa.read(tmp_path / "pipe")
    with pytest.raises(FileError, match="is a folder; name a file in it"):
        sa.read(tmp_path, tool="prodigy")
    (tmp_path / "blank.json").write_text(" \n", encoding="utf-8")
    for options in ({"tool": "prodigy"}, {}):
        with pytest.raises(FileError, match=r"blank\.json' is empty"):
            sa.read(tmp_path / "blank.json", **options)


def test_damaged_json_is_an_error_at_the_door(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('[{"id": 1, "data": {', encoding="utf-8")
    with pytest.raises(FileError, match=r"line 1, column \d+: the JSON is cut off"):
        sa.read(path)
    path.write_text('[\n{"id": 1, "data": nothing}]', encoding="utf-8")
    with pytest.raises(FileError, match="line 2, column 19: this is not JSON"):
        sa.read(path)


def test_a_first_record_longer_than_the_head(tmp_path):
    records = toy.label_studio(toy.TRUTH)
    records[0]["data"]["text"] = "x" * 100_000
    path = toy.write(tmp_path, "label_studio_json", records)
    assert toy.found(sa.read(path)) == toy.answered(toy.TRUTH)


def test_compressed_and_encoded(tmp_path):
    """Compression is looked through; for another encoding the byte that breaks UTF-8 is named."""
    text = toy.as_lines(toy.prodigy(toy.TRUTH))
    path = tmp_path / "birds.jsonl.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert toy.found(sa.read(path)) == toy.answered(toy.TRUTH)
    path.write_bytes(gzip.compress(text.encode())[:-20])
    for options in ({}, {"tool": "prodigy"}):
        with pytest.raises(FileError, match=r"birds\.jsonl\.gz' is damaged or cut off"):
            sa.read(path, **options)
    for kind in (bz2, lzma):
        path.write_bytes(kind.compress(text.encode()))
        assert toy.found(sa.read(path)) == toy.answered(toy.TRUTH)
    latin = tmp_path / "latin.jsonl"
    rows = toy.hf_sequence({("p1", "mia"): {"grèbe"}, ("p1", "noa"): {"grèbe"}})
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    latin.write_bytes(lines.encode("latin-1"))
    with pytest.raises(FileError, match=r"is not UTF-8: byte 0xe8 at offset \d+ \(line 1\)"):
        sa.read(latin)
    assert sa.read(latin, encoding="latin-1").labels == ("grèbe",)
    with pytest.raises(FileError, match="is not ascii: byte 0xe8"):
        sa.read(latin, encoding="ascii")
    with pytest.raises(OptionError, match="encoding='utf-9' is not a text encoding"):
        sa.read(latin, encoding="utf-9")


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_workbooks_and_parquet(tmp_path, ending):
    pytest.importorskip("openpyxl" if ending == "xlsx" else "pyarrow")
    pairs = [(unit, rater, ", ".join(x)) for (unit, rater), x in MIXED.items()]
    frame = pd.DataFrame(pairs, columns=["unit", "rater", "labels"])
    path = tmp_path / f"study.{ending}"
    frame.to_excel(path, index=False) if ending == "xlsx" else frame.to_parquet(path)
    assert toy.found(sa.read(path)) == MIXED
    assert find_export(path, sa.Reading())[0] is None
    frame.columns = ["colour", "size", "weight"]
    frame.to_excel(path, index=False) if ending == "xlsx" else frame.to_parquet(path)
    with pytest.raises(DataError, match=r"name the .*columns are 'colour', 'size', 'weight'"):
        sa.read(path)


def test_unreadable_files(tmp_path, monkeypatch):
    """An error of the system is a sentence; so is a file that would fill the memory."""
    path = toy.write(tmp_path, "prodigy")
    monkeypatch.setattr(json_files, "_MAX_BYTES", path.stat().st_size)
    assert sa.read(path).n_units
    monkeypatch.setattr(json_files, "_MAX_BYTES", 100)
    with pytest.raises(
        FileError, match=r"prodigy\.json' has more than 100 bytes of JSON; export p"
    ):
        sa.read(path)

    def broken(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", broken)
    with pytest.raises(FileError, match=r"prodigy\.json' cannot be read: Permission denied"):
        sa.read(path)


def test_names_of_formats(tmp_path):
    assert format_of_name("lighttag", FORMATS).title == "LightTag, JSON"
    with pytest.raises(OptionError, match=r"tool='label_studio' is unknown; .* Did you mean"):
        sa.read(tmp_path, tool="label_studio")
    assert find_format("sagemaker").name == "sagemaker"


def test_a_format_that_is_named_is_not_doubted(tmp_path):
    """Under tool= no recogniser is asked; a wrong name ends in the reader's sentence."""
    with pytest.raises(FileError, match=r"line 1: no key '_input_hash'|line 1: no key 'answer'"):
        sa.read(toy.write(tmp_path, "labelbox"), tool="prodigy")


@pytest.mark.parametrize("was_on", [True, False])
def test_reading_leaves_the_collector_as_it_was(tmp_path, was_on):
    good, bad = toy.write(tmp_path, "prodigy"), toy.write(tmp_path, "lighttag", {"examples": 3})
    usual = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        sa.read(good)
        assert gc.isenabled() == was_on
        with pytest.raises(FileError):
            sa.read(bad, tool="lighttag")
        assert gc.isenabled() == was_on
    finally:
        (gc.enable if usual else gc.disable)()


@toy.needs_samples
def test_no_sample_has_two_formats():
    for path in sorted(toy.SAMPLES.iterdir()):
        if path.name not in {"README.md", "expected.csv"}:
            assert len(recognised(peek(path), FORMATS)) <= 1, path.name

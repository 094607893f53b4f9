"""Names of units, raters, groups and labels: one reading on every road, and what is no text."""

import json
import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_support import ok, refusal, rows

import setagree as sa
from setagree.errors import DataError, LabelError
from setagree.study.identifiers import find_names, is_whole, spelled_time, tidied

pytest.importorskip("typer", reason="the command needs the cli extra")

HALF = "a\ud83d"
ZOE, DECOMPOSED = "Zoé", "Zoe\u0301"


def objects(columns):
    """Return a frame of objects, as pandas reads no half of a character into its text."""
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


class TestReading:
    @pytest.mark.parametrize(
        ("name", "read"),
        [
            (" a ", "a"),
            (DECOMPOSED, ZOE),
            ("\u3000" + DECOMPOSED + "\n", ZOE),
            (7, 7),
            (None, None),
        ],
    )
    def test_tidied(self, name, read):
        assert tidied(name) == read

    def test_times_of_any_zone(self):
        time = datetime.fromisoformat("2024-05-01T02:00:00+02:00")
        assert spelled_time(time) == "2024-05-01T00:00:00+00:00"

    @pytest.mark.parametrize(
        ("given", "found"),
        [
            (["ann"], ["ann"]),
            ([" ann , cy"], ["ann", "cy"]),
            (["ann,bob"], ["ann,bob"]),
            (["ann, bob"], ["ann", "bob"]),
            (["cy,ann,bob,cy"], ["cy", "ann,bob", "cy"]),
            (["x, y ,z,w"], [" x, y ,z", "w"]),
            ([DECOMPOSED, ZOE], [DECOMPOSED, DECOMPOSED]),
            (["1"], [1, "1"]),
            (["nobody,,"], ["nobody"]),
            ([","], []),
        ],
    )
    def test_found(self, given, found):
        known = ["ann", "bob", "cy", "ann,bob", " x, y ,z", DECOMPOSED, 1, "1"]
        assert find_names(given, known) == found

    def test_whole(self):
        """An emoji is text, half of one is none, in a tuple either."""
        assert is_whole("\U0001f600")
        assert is_whole(("é", 1, None))
        assert not is_whole("\ud83d")
        assert not is_whole(("u", HALF))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def study_table(odd):
    """Return a long table of three raters, one of them called something odd."""
    answers = ["a", "a, b", "b", "c", "a", "b, c"]
    cells = [
        (
            f"u{k}",
            who,
            answers[(k * (2 + j)) % 6],
            f"2026-01-{k + 1:02d}",
            ["even", "odd"][k % 2],
        )
        for k in range(12)
        for j, who in enumerate(("ann", "bob", odd))
    ]
    return pd.DataFrame(cells, columns=["unit", "rater", "labels", "date", "group"])


class TestWithout:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("written", "said"),
        [
            (DECOMPOSED, ZOE),
            (ZOE, DECOMPOSED),
            ("ann, cy", " ann, cy "),
            (f"x, {DECOMPOSED}", f"x, {ZOE}"),
        ],
    )
    def test_groups_and_times(self, folder, written, said):
        table = study_table(written)
        table.to_csv("all.csv", index=False)
        table[table["rater"] != written].to_csv("others.csv", index=False)
        words = ["--by", "group", "--time", "date", "--window", "4D"]
        words += ["--resamples", "99", "--seed", "1"]
        left_out = ok("diagnose", "--tables", "all.csv", *words, "--exclude-raters", said)
        expected = ok("diagnose", "--tables", "others.csv", *words)
        for heading in ("GROUPS", "OVER TIME"):
            assert heading in left_out
        assert left_out == expected.replace("others.csv", "all.csv")

    def test_a_rater_who_never_answered(self, folder):
        table = study_table("ann,bob")
        table.loc[table["rater"] == "ann,bob", "labels"] = ""
        table.to_csv("all.csv", index=False)
        text = ok("diagnose", "all.csv", "--exclude-raters", "ann,bob", "--seed", "1")
        assert "ann,bob" not in text

    def test_columns_of_raters(self, folder):
        wide = pd.DataFrame({"unit": ["u", "v", "w"], "x, y": list("aab"), DECOMPOSED: list("abb")})
        wide.assign(other="a").to_csv("wide.csv", index=False)
        text = ok("score", "wide.csv", "--wide", "--unit", "unit", "--raters", f"x, y,{ZOE}")
        assert "3 units" in text
        assert "2 raters" in text

    def test_models_and_humans(self, folder, few_draws):
        table, people = study_table(DECOMPOSED), ("ann", "bob")
        more = [table, *(table[table["rater"] == who].assign(rater=f"{who},2") for who in people)]
        pd.concat(more).to_csv("all.csv", index=False)
        words = ["--model", ZOE, "--humans", "bob,ann,2", "--humans", "ann", "--min-units", "5"]
        assert [row["human"] for row in rows("panel", "all.csv", *words)] == ["ann", "bob", "ann,2"]


class TestLibrary:
    def test_raters(self):
        study = sa.Annotations.from_long(study_table(DECOMPOSED))
        for name in (ZOE, DECOMPOSED, f" {ZOE} "):
            assert study.exclude_raters([name]).raters.tolist() == ["ann", "bob"]
            frame = sa.what_if(study, exclude_raters=[name])
            assert frame["target"].tolist() == ["", ZOE]
            found = sa.score_against_consensus(study, raters=[name]).to_frame()
            expected = sa.score_against_consensus(study, raters=[ZOE]).to_frame()
            pd.testing.assert_frame_equal(found, expected)

    def test_groups(self):
        table = study_table("cy").assign(unit=lambda t: "é" + t["unit"])
        study = sa.Annotations.from_long(table)
        group = dict(zip(table["unit"], table["group"], strict=True))
        expected = sa.by_group(study, group, rng=1)
        again = {f" e\u0301{unit[1:]}": f"{name} " for unit, name in group.items()}
        pd.testing.assert_frame_equal(sa.by_group(study, again, rng=1), expected)
        pd.testing.assert_frame_equal(sa.by_group(study, pd.Series(again), rng=1), expected)
        with pytest.raises(DataError, match="'éu0' have several entries"):
            sa.by_group(study, {**group, "e\u0301u0": "even"})

    def test_groups_of_a_column(self):
        table = study_table("cy")
        names = np.where(np.arange(len(table)) % 2, "é", " e\u0301")
        with pytest.warns(sa.errors.SetagreeWarning):
            frame = sa.by_group(table.assign(group=names), "group")
        assert frame["group"].tolist() == ["é"]
        with pytest.warns(sa.SetagreeWarning, match="1 row with nothing in column 'group' left"):
            sa.by_group(table.assign(group=[" ", *table["group"][1:]]), "group")

    def test_counts(self):
        tally = sa.Tally.from_counts(pd.DataFrame({"a": [2], "b": [1]}, index=[DECOMPOSED]))
        assert tally.units.tolist() == [ZOE]
        with pytest.raises(DataError, match="several rows for the units 'Zoé'"):
            sa.Tally.from_counts(pd.DataFrame({"a": [2, 1]}, index=[DECOMPOSED, ZOE]))


SAID = "holds half a character"
CUBE = [[[1, 0], [0, 1]], [[1, 1], [0, 0]]]
COUNTS = pd.DataFrame([[3, 1], [0, 2]], index=["a", "b"], columns=["a", "b"])
STUDY = sa.Annotations.from_triples([("x", 1, "a"), ("y", 1, "a"), ("x", 2, "b"), ("y", 2, "a")])


def named(index):
    """Return a table of counts whose rows are called so."""
    return COUNTS.set_axis(pd.Index(index, dtype=object), axis="index")


class TestHalves:
    @pytest.mark.parametrize("role", ["unit", "rater", "labels"])
    @pytest.mark.parametrize("kind", ["labels", "value"])
    @pytest.mark.parametrize("road", ["long", "triples", "reduce", "agreement"])
    def test_tables(self, role, kind, road):
        columns = {"unit": ["1", "1", "2"], "rater": ["x", "y", "x"], "labels": ["p", "p", "q"]}
        columns[role][2] = HALF
        place = "row 3" if role != "labels" else "Unit '2', rater 'x'"
        answer = {kind: "labels"}
        triples = list(zip(columns["rater"], columns["unit"], columns["labels"], strict=True))
        roads = {
            "long": lambda: sa.Annotations.from_long(objects(columns), **answer),
            "triples": lambda: sa.Annotations.from_triples(triples, kind=kind),
            "reduce": lambda: sa.tally(objects(columns), unit="unit", rater="rater", **answer),
            "agreement": lambda: sa.agreement(
                objects(columns), unit="unit", rater="rater", **answer
            ),
        }
        with pytest.raises((DataError, LabelError), match=SAID) as caught:
            roads[road]()
        assert place in str(caught.value)
        assert r"'a\ud83d'" in str(caught.value)

    @pytest.mark.parametrize(
        "made",
        [
            lambda: sa.Annotations.from_triples([("x", 1, {HALF})]),
            lambda: sa.Annotations.from_triples([("x", ("u", HALF), "a")]),
            lambda: sa.Annotations.from_wide(objects({"x": ["a", "b"], "y": ["a", HALF]})),
            lambda: sa.Annotations.from_wide(named(["a", HALF]).T),
            lambda: sa.Annotations.from_wide(
                objects({"u": [HALF, "b"], "x": ["a", "b"], "y": ["a", "b"]}), unit="u"
            ),
            lambda: sa.Annotations.from_wide(
                pd.DataFrame({"x": ["a", "b"]}, index=pd.Index([HALF, "u"], dtype=object))
            ),
            lambda: sa.Annotations.from_indicators(CUBE, units=["u", HALF]),
            lambda: sa.Annotations.from_indicators(CUBE, raters=["r", HALF]),
            lambda: sa.Annotations.from_indicators(CUBE, labels=["l", HALF]),
            lambda: sa.Annotations.from_contingency(named(["a", HALF])),
            lambda: sa.Annotations.from_contingency(named(["a", HALF]), kind="value"),
            lambda: sa.Annotations.from_contingency(named(["a", HALF]).T),
            lambda: sa.Annotations.from_contingency(COUNTS, raters=("r", HALF)),
            lambda: sa.Tally.from_counts(named(["a", HALF])),
            lambda: sa.Tally.from_counts(named(["a", HALF]).T),
            lambda: sa.Tally.from_counts(named(["a", HALF]).T, kind="value"),
            lambda: sa.parse_labels(f"b, {HALF}"),
            lambda: sa.parse_labels(r'["\ud83d"]'),
            lambda: sa.parse_labels("a", codebook=["a", HALF]),
            lambda: sa.parse_labels("a", label_sep=HALF),
            lambda: sa.Annotations.from_triples([("x", 1, "a")], na_values=[HALF]),
            lambda: sa.by_group(STUDY, {1: HALF, 2: "b"}),
        ],
    )
    def test_elsewhere(self, made):
        with pytest.raises(sa.SetagreeError, match=SAID):
            made()

    def test_whole_characters(self):
        study = sa.Annotations.from_triples([("\U0001f600", "\U0001f601", "\U0001f602")])
        assert study.raters.tolist() == ["\U0001f600"]

    @pytest.mark.parametrize("role", ["unit", "rater", "labels"])
    @pytest.mark.parametrize("command", ["score", "convert", "diagnose", "consensus"])
    def test_files(self, folder, role, command):
        objects = [{"unit": k, "rater": who, "labels": "a"} for k in "12" for who in "xy"]
        objects[2][role] = HALF
        Path("a.json").write_text(json.dumps(objects), encoding="utf-8")
        assert SAID in refusal(command, "a.json", "--unit", "unit")
        Path("a.jsonl").write_text("\n".join(map(json.dumps, objects)), encoding="utf-8")
        assert SAID in refusal("score", "a.jsonl", "--memory-limit", "1GB")

    def test_keys(self, folder):
        row = {"unit": "u", "rater": "x", "labels": "a", HALF: 1}
        Path("a.json").write_text(json.dumps([row]), encoding="utf-8")
        assert f"the column {HALF!r} {SAID}" in refusal("score", "a.json")

    @pytest.mark.parametrize("place", ["text", "email", "label"])
    def test_exports(self, folder, place):
        task = {"id": 1, "data": {"text": "t"}, "annotations": []}
        for who in ("x@y.org", "z@y.org"):
            choice = HALF if place == "label" else "a"
            task["annotations"].append(
                {
                    "completed_by": {"email": HALF if place == "email" else who},
                    "result": [
                        {"from_name": "q", "type": "choices", "value": {"choices": [choice]}}
                    ],
                }
            )
        Path("tool.json").write_text(json.dumps([task]), encoding="utf-8")
        if place == "text":
            assert sa.read("tool.json").n_ratings == 2
            return
        with pytest.raises(sa.SetagreeError, match=SAID):
            sa.read("tool.json")

    @pytest.mark.parametrize(
        "words",
        [
            ["--exclude-raters", HALF],
            ["--codebook", f"a,{HALF}"],
            ["--na-values", HALF],
            ["--label-sep", HALF],
        ],
    )
    def test_options(self, folder, words):
        study_table("cy").to_csv("all.csv", index=False)
        assert SAID in refusal("score", "all.csv", *words)

    @pytest.mark.parametrize("words", [["--unit", HALF], ["--by", HALF], ["--model", HALF]])
    def test_other_options(self, folder, words):
        study_table("cy").to_csv("all.csv", index=False)
        assert r"a\ud83d" in refusal("diagnose", "all.csv", *words)

    @pytest.mark.slow
    @pytest.mark.skipif(os.name != "posix", reason="other systems hand over no bytes")
    def test_bytes_of_the_command_line(self, folder):
        study_table("cy").to_csv("all.csv", index=False)
        run = [sys.executable, "-m", "setagree", "score", "all.csv", "--exclude-raters"]
        done = subprocess.run([*run, b"Zo\xe9"], capture_output=True, check=False)
        assert done.returncode == 2
        assert re.search(rf"^Error: the name .* {SAID}".encode(), done.stderr, re.MULTILINE)
        assert b"Traceback" not in done.stderr

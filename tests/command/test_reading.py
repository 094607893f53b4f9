"""The command on tables as people have them: repeats, odd layouts, raters who do not count."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from cli_support import invoke, ok, refusal, rows

import setagree as sa
from setagree.errors import FileError, OptionError

pytest.importorskip("typer", reason="the command needs the cli extra")

from setagree.cli import app as cli
from setagree.cli.options import Reading
from setagree.cli.views import time_lines

LABELS = ["joy", "joy, fear", "fear", "anger", "", "joy"]
RAW = [(f"t{k}", who, LABELS[(k * (1 + j)) % 6]) for k in range(12) for j, who in enumerate("abc")]
FORM = """Timestamp,Email Address,Text 1: which?,Text 2: which?,Text 3: which?
2026/03/01 10:01:00 am GMT+1,p0@x.org,"Billing, Refund",Praise,Refund
2026/03/02 10:11:00 am GMT+1,p1@x.org,Billing,Praise,
2026/03/03 10:21:00 am GMT+1,p2@x.org,"Refund, Billing",Refund,Refund
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a fresh folder with a long table, the same without one rater, and a form."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(RAW, columns=["doc", "who", "tags"])
    frame.to_csv("long.csv", index=False)
    frame[frame["who"] != "c"].to_csv("two.csv", index=False)
    Path("form.csv").write_text(FORM)
    return tmp_path


BLANK = ["--blank", "empty"]


class TestRepeats:
    def test_note(self):
        with Path("long.csv").open("a") as file:
            file.write("t0,a,joy\nt1,a,fear\n")
        result = invoke("score", "long.csv", *BLANK, "--duplicates", "last")
        assert "2 repeated ratings dropped (--duplicates last)." in result.stderr
        result = invoke("score", "long.csv", *BLANK, "--duplicates", "union")
        assert "2 repeated ratings united with others (--duplicates union)." in result.stderr

    def test_rows_of_one_label(self):
        Path("rows.csv").write_text("unit,rater,label\nu1,ann,joy\nu1,ann,fear\nu1,bob,joy\n")
        said = refusal("score", "rows.csv")
        assert said.endswith(
            "use --duplicates 'last' (corrections), 'first' or 'union'; "
            "'repeats' compares raters with themselves. If each row has one label of a set, "
            "use --duplicates 'union', or "
            "for a file --tool plain_row_per_label; if it has a degree of the label, too, name its "
            "column with --degree. The first pair is in row 1 and row 2, counted from 1 below "
            "any header."
        )
        ok("score", "rows.csv", "--tool", "plain_row_per_label", "--blank", "missing")
        engine = refusal("score", "rows.csv", "--memory-limit", "200MB")
        assert "for a file --tool plain_row_per_label;" in engine

    def test_a_remark_is_no_unit(self):
        frame = pd.read_csv("two.csv", keep_default_na=False).rename(columns={"doc": "Ticket Ref"})
        frame.assign(comment="check").to_csv("remarks.csv", index=False)
        result = invoke("score", "remarks.csv", *BLANK, "--duplicates", "last")
        assert "Columns guessed: unit = Ticket Ref, " in result.stderr
        assert "repeated" not in result.stderr
        words = ["--unit", "comment", "--duplicates", "last"]
        result = invoke("score", "remarks.csv", *BLANK, *words)
        assert "Warning: --duplicates 'last': 22 of 24 ratings dropped" in result.stderr


class TestWithout:
    @pytest.mark.parametrize(
        "words",
        [
            ["score"],
            ["test", "--resamples", "99", "--seed", "1"],
            ["compare", "-d", "masi,jaccard"],
            ["plan", "--half-width", "0.2", "--seed", "1"],
            ["convert"],
            ["consensus"],
        ],
    )
    def test_like_a_file_without_the_rows(self, words):
        left_out = ok(words[0], "long.csv", *words[1:], *BLANK, "--exclude-raters", "c")
        expected = ok(words[0], "two.csv", *words[1:], *BLANK)
        assert left_out == expected.replace("two.csv", "long.csv")

    def test_panel(self):
        """A human who does not count is not among the humans of the panel."""
        words = ["--model", "a", "--min-units", "5", *BLANK]
        people = pd.DataFrame(RAW, columns=["doc", "who", "tags"])
        more = [people.assign(who=people["who"] + k) for k in ("", "1")]
        pd.concat(more).to_csv("six.csv", index=False)
        found = rows("panel", "six.csv", *words, "--exclude-raters", "c1", "--exclude-raters", "b1")
        assert [row["human"] for row in found] == ["b", "c", "a1"]

    def test_note(self):
        with Path("long.csv").open("a") as file:
            file.write("t99,c,joy\n")
        result = invoke("score", "long.csv", *BLANK, "--exclude-raters", "c")
        assert "Left out: 13 ratings and 1 unit that no other rater rated (--exclude-raters)." in (
            result.stderr
        )
        assert "12 units, 2 raters, 24 ratings" in result.stdout
        assert "rater 'C' gave no answer" in refusal(
            "score", "long.csv", *BLANK, "--exclude-raters", "C"
        )


class TestPeopleInRows:
    def test_like_the_transposed_table(self):
        wide = pd.read_csv("form.csv", keep_default_na=False).drop(columns="Timestamp")
        study = sa.Annotations.from_wide(wide.set_index("Email Address").T, blank="missing")
        words = ["form.csv", "--tool", "table", "--raters-in-rows", "--blank", "missing"]
        (expected, _) = sa.agreement(study)
        assert rows("score", *words)[0]["estimate"] == expected.estimate
        result = invoke("score", *words)
        assert "3 units = Text 1: which?, Text 2: which?, Text 3: which?; left out: Timestamp" in (
            result.stderr
        )
        assert "3 units, 3 raters, 8 ratings (1 missing)" in result.stdout
        assert "2 units, 3 raters" in ok("score", *words, "--unit", "Text [12]*")

    def test_the_form_says_so(self):
        sentence = refusal("score", "form.csv")
        assert "--tool 'table' and --raters-in-rows" in sentence
        assert "--tool 'table', --unit '...', --rater 'Email Address'" in sentence

    def test_values(self):
        Path("stars.csv").write_text("who,s1,s2\nann,1,2\nbob,1,3\n")
        words = ["stars.csv", "--raters-in-rows", "--kind", "value"]
        assert "2 units, 2 raters, 4 ratings, 3 distinct values" in ok("score", *words)

    @pytest.mark.parametrize(
        ("words", "part"),
        [
            (["--wide"], "--wide makes sense only without --raters-in-rows"),
            (["--raters", "a"], "--raters makes sense only without --raters-in-rows"),
            (["--labels", "a"], "--labels makes sense only without --raters-in-rows"),
            (["--kind", "numbers"], "--kind 'numbers' is unknown"),
            (["--unit", "Q*"], "No column matches --unit 'Q*'"),
            (["--tool", "prodigy"], "--raters-in-rows is for tables"),
        ],
    )
    def test_refused(self, words, part):
        assert part in refusal("score", "form.csv", "--raters-in-rows", *words)

    def test_a_person_without_a_name(self):
        Path("form.csv").write_text(FORM.replace("p1@x.org", " "))
        sentence = refusal("score", "form.csv", "--raters-in-rows")
        assert "1 row without a rater (first: row 2, counted from 1 below the header)" in sentence


class TestOverTime:
    WORDS = ("diagnose", "dated.csv", *BLANK, "--resamples", "9", "--seed", "1", "--time")

    def dated(self, **columns):
        """Write the table with further columns, and return it."""
        frame = pd.DataFrame(RAW, columns=["doc", "who", "tags"]).assign(**columns)
        frame.to_csv("dated.csv", index=False)
        return frame

    @pytest.mark.parametrize("without", [[], ["--exclude-raters", "c"]])
    def test_dates(self, without):
        """The windows are those of `over_time`, without the raters who do not count."""
        days = pd.to_datetime("2026-03-01") + pd.to_timedelta([k // 3 for k in range(36)], unit="D")
        frame = self.dated(created=days.strftime("%Y-%m-%d"))
        frame = frame[frame["who"] != "c"] if without else frame
        expected = sa.over_time(frame, "created", window="4D", reading=sa.Reading(blank="empty"))
        words = [*self.WORDS, "created", "--window", "4D", *without]
        lines = ok(*words).partition("OVER TIME (created, 4D)\n")[2].splitlines()
        assert len(lines) == 1 + len(expected) == 4
        assert lines[1].startswith("2026-03-01 00:00 2026-03-05 00:00 ")
        shown = [line.split()[7] for line in lines[1:]]
        assert shown == [f"{x:.4f}" for x in expected["estimate"]]

    def test_numbers(self):
        frame = self.dated(step=[k // 3 for k in range(36)])
        expected = sa.over_time(frame, "step", window=6, reading=sa.Reading(blank="empty"))
        lines = ok(*self.WORDS, "step", "--window", "6").splitlines()[-2:]
        assert [line.split()[0] for line in lines] == ["0", "6"]
        assert [line.split()[5] for line in lines] == [f"{x:.4f}" for x in expected["estimate"]]

    @pytest.mark.parametrize(
        ("words", "part"),
        [
            (["created"], "--time and --window belong together"),
            (["created", "--window", "7"], "such as '7D', as the times are dates"),
            (["created", "--window", "soon"], "must be a length of time, such as '7D'"),
            (["gone", "--window", "7"], "no column 'gone'"),
            (["blank", "--window", "7D"], "36 rows of 36 have nothing in column 'blank'"),
        ],
    )
    def test_refused(self, words, part):
        self.dated(created="2026-03-01", blank=" ")
        assert part in refusal(*self.WORDS, *words)

    @pytest.mark.parametrize("layout", ["wide", "raters_in_rows"])
    def test_long_tables_only(self, layout):
        reading = Reading(**{layout: True})
        option = f"--{layout.replace('_', '-')}"
        with pytest.raises(OptionError, match=f"--time makes sense only without {option}"):
            time_lines("form.csv", reading, "Timestamp", "7D", {})

    def test_a_column_of_times_is_no_group(self):
        self.dated(created=[f"2026-03-01 10:{k:02}" for k in range(36)])
        words = ("diagnose", "dated.csv", *BLANK, "--by", "created")
        assert "column 'created' makes 36 groups of 36 units" in refusal(*words)
        assert "--time COLUMN --window 7D" in refusal(*words)


def test_missing_reaches_exports():
    line = '{"id": "u1", "annotator": "%s", "labels": ["%s"]}\n'
    Path("toy.jsonl").write_text(line % ("ann", "joy") + line % ("bob", "skip"))
    written = ok("convert", "toy.jsonl", "--na-values", "skip")
    assert written.splitlines() == ["unit,rater,labels", "u1,ann,joy"]


def test_similar_raters():
    Path("long.csv").write_text(Path("long.csv").read_text().replace("t0,b,", "t0,B,"))
    result = invoke("score", "long.csv", *BLANK)
    assert "Raters that look alike are kept apart: 'B' and 'b'. If they are one" in result.stderr


def test_the_help_of_the_command(monkeypatch, capsys):
    for words, where in (["score", "x.csv", "--foo"], "setagree score"), (["--foo"], "setagree"):
        monkeypatch.setattr("sys.argv", ["setagree", *words])
        assert cli.run() == 2
        assert f"See '{where} --help'." in capsys.readouterr().err


def test_the_order_of_a_codebook_counts(tmp_path):
    rows = [{"unit": 1, "rater": "a", "labels": [True, False]}]
    rows += [{"unit": 1, "rater": "b", "labels": [True, True]}]
    Path("flags.json").write_text(json.dumps(rows), encoding="utf-8")
    Path("codes.txt").write_text("joy\nanger\n", encoding="utf-8")
    for codebook in ("joy,anger", "codes.txt", '["joy", "anger"]'):
        text = ok("convert", "flags.json", "--codebook", codebook)
        assert text.splitlines()[1:] == ["1,a,joy", '1,b,"anger, joy"']


def test_standard_input_without_end(monkeypatch):
    class Endless(io.RawIOBase):
        def __init__(self, text):
            self.text, self.given = text, 0

        def read(self, n=-1):
            assert n > 0
            self.given += n
            return (self.text * n)[:n]

    monkeypatch.setattr("setagree.files.streams.MOST_BYTES", 20_000_000)
    for text, sentence in [
        (b"\0", "standard input, line 1 has a NUL character; it is not text."),
        (b"u,r,l\n", "standard input has more than 20,000,000 bytes, too many to read into memory"),
    ]:
        endless = Endless(text)
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=endless))
        with pytest.raises(FileError, match=sentence):
            sa.agreement("-")
        assert endless.given <= 30_000_000


def test_a_rater_with_missing_answers_is_one(tmp_path):
    Path("skips.csv").write_text(
        "unit,rater,labels\n1,ann,x\n1,bob,x\n1,cy,x\n2,ann,\n2,bob,y\n2,cy,y\n"
        "3,ann,y\n3,bob,y\n3,cy,x\n",
        encoding="utf-8",
    )
    assert ok("diagnose", "--tables", "skips.csv", "--model", "ann", "--resamples", "20")


class TestStatuses:
    def test_they_are_missing(self):
        frame = pd.DataFrame(RAW, columns=["doc", "who", "tags"])
        frame["state"] = ["refused" if who == "c" else "" for who in frame["who"]]
        frame.loc[frame["who"] == "c", "tags"] = ""
        frame.to_csv("states.csv", index=False)
        found = rows("score", "states.csv", *BLANK, "--status", "state")
        assert found == rows("score", "two.csv", *BLANK)
        assert "(12 missing)" in ok("score", "states.csv", *BLANK, "--status", "state")
        said = refusal("score", "states.csv", "--status", "state", "--memory-limit", "1GB")
        assert said.startswith("Error: --status is for files that are read into memory")


class TestDegrees:
    def test_scored_and_written(self):
        said = [("1", "ann", "joy", 0.75), ("1", "ann", "fear", 0.25), ("1", "bob", "joy", 0.75),
                ("2", "ann", "joy", 0), ("2", "bob", "joy", 1), ("2", "cem", "joy", 1),
                ("3", "ann", "fear", 0.5), ("3", "bob", "fear", 0.5)]  # fmt: skip
        frame = pd.DataFrame(said, columns=["unit", "rater", "labels", "sure"])
        frame.to_csv("sure.csv", index=False)
        found = rows("score", "sure.csv", "--degree", "sure")
        assert [row["distance"] for row in found] == ["ruzicka", "ruzicka"]
        alpha = sa.krippendorff_alpha(sa.read("sure.csv", degree="sure")).estimate
        assert found[0]["estimate"] == pytest.approx(alpha)
        for name in ("long.csv", "long.json"):
            told = invoke("convert", "sure.csv", "--degree", "sure", "-o", name).stderr
            assert "Only these columns are written: unit, rater, labels, degree." in told
        assert rows("score", "long.csv", "--degree", "degree") == found
        ok("consensus", "sure.csv", "--degree", "sure", "-o", "gold.csv")
        gold = pd.read_csv("gold.csv")[["unit", "labels", "degree"]]
        assert gold.dropna().to_numpy().tolist() == [[2, "joy", 1], [3, "fear", 0.5]]
        assert "fear 0.5" in ok("consensus", "sure.csv", "--degree", "sure", "-f", "table")

    def test_refused(self):
        frame = pd.DataFrame({"unit": [1], "rater": [1], "labels": ["a"], "sure": [-1]})
        frame.to_csv("sure.csv", index=False)
        said = refusal("score", "sure.csv", "--degree", "sure", "--memory-limit", "1GB")
        assert said.startswith("Error: --degree is for files that are read into memory")
        said = refusal("score", "sure.csv", "--degree", "sure", "--duplicates", "first")
        assert "--duplicates 'first' does not apply with --degree" in said
        said = refusal("score", "sure.csv", "--degree", "sure")
        assert (
            "Row 1, counted from 1 below the header: '-1' in column 'sure' must be a degree" in said
        )

"""The command: what it prints, where, and how it ends."""

import csv
import inspect
import io
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pytest
from cli_support import WALKTHROUGH, invoke, ok, refusal, script

import setagree as sa
from setagree.scoring.coefficients import COEFFICIENTS
from setagree.scoring.results import COLUMNS

pytest.importorskip("typer", reason="the command needs the cli extra")


from setagree import __main__
from setagree.cli import app as cli
from setagree.cli import scores as cli_scores

LONG = 'doc,who,tags\nd1,ann,"joy, fear"\nd1,bob,joy\nd2,ann,fear\nd2,bob,fear\nd3,ann,\nd3,bob,\n'
SCORES = "item,coder,score\n1,a,2\n1,b,10\n2,a,3\n2,b,3\n3,a,10\n3,b,9\n"
DATA = os.environ.get("SETAGREE_DATA")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a fresh folder with a wide table, a long one and one of scores."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(sa.__file__).parents[1]))
    for name, text in {"walk.csv": WALKTHROUGH, "long.csv": LONG, "scores.csv": SCORES}.items():
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


MODULE_WITHOUT = """
    import runpy, sys
    sys.modules[{!r}] = None
    runpy.run_module("setagree", run_name="__main__")
    """


def process(*words, code=None, **options):
    start = ["-m", "setagree"] if code is None else ["-c", textwrap.dedent(code)]
    return subprocess.run(
        [sys.executable, *start, *words], capture_output=True, text=True, timeout=120, **options
    )


def estimates(text):
    """Return the estimates of a JSON result by coefficient and distance."""
    return {(row["coefficient"], row["distance"]): row["estimate"] for row in json.loads(text)}


class TestScore:
    def test_wide_walkthrough(self):
        """The 11 units of the R walk-through give alpha 0.4026 and kappa 0.4074."""
        printed = ok("score", "walk.csv", "--wide", "--blank", "missing")
        assert "0.4026" in printed
        assert "0.4074" in printed
        assert "11 units, 3 raters, 32 ratings" in printed

    def test_long_equals_the_library(self):
        frame = pd.read_csv("long.csv", keep_default_na=False)
        names = {"unit": "doc", "rater": "who", "labels": "tags"}
        expected = sa.agreement(frame, **names, blank="empty", level=0.9).to_frame()
        rows = json.loads(ok("score", "long.csv", "--blank=empty", "--level=0.9", "-f", "json"))
        expected["degrees_of_freedom"] = 2.0
        reason = sa.agreement(frame, **names, blank="empty")[0].interval_reason
        # Three units: there is no interval, and JSON has the reason, with the command's words.
        expected["reason"] = reason.replace("permutation_test", "'setagree test'")
        expected["remark"], expected["about"] = None, "these raters"
        found = pd.DataFrame(rows).astype(dict.fromkeys(["low", "high", "p_value"], float))
        pd.testing.assert_frame_equal(found, expected, check_exact=True)

    def test_wide_equals_long(self):
        frame = pd.read_csv("walk.csv", keep_default_na=False)
        frame.melt("unit", var_name="rater", value_name="labels").to_csv("molten.csv", index=False)
        wide = ok("score", "walk.csv", "--wide", "--blank", "empty", "-f", "csv")
        assert wide == ok("score", "molten.csv", "--blank", "empty", "-f", "csv")

    def test_columns_by_name(self):
        options = ["--unit", "doc", "--rater", "who", "--labels", "tags", "--blank", "empty"]
        result = invoke("score", "long.csv", *options)
        assert (result.exit_code, result.stderr) == (0, "")

    def test_guesses_are_printed(self):
        result = invoke("score", "long.csv", "--blank", "empty")
        assert result.stderr == "Columns guessed: unit = doc, rater = who, labels = tags\n"
        assert "guessed" not in result.stdout

    def test_wide_guesses_are_printed(self):
        result = invoke("score", "walk.csv", "--wide", "--blank", "missing")
        assert result.stderr == "Columns guessed: unit = unit, raters = r1, r2, r3\n"
        Path("bare.csv").write_text("ann,bob\na,a\na,b\nb,b\n")
        result = invoke("score", "bare.csv", "--wide")
        assert result.stderr == "Columns guessed: unit = none, one per row, raters = ann, bob\n"

    def test_many_raters_are_cut(self):
        raters = ",".join(f"rater{k}" for k in range(20))
        Path("many.csv").write_text(f"unit,{raters}\n" + f"1{',a' * 20}\n" + f"2{',b' * 20}\n")
        assert "rater7, ...\n" in invoke("score", "many.csv", "--wide").stderr

    def test_some_raters(self):
        Path("notes.csv").write_text("unit,note,r1,r2\n1,x,a,a\n2,y,b,b\n3,z,a,b\n")
        rows = json.loads(ok("score", "notes.csv", "--wide", "--raters", "r1,r2", "-f", "json"))
        assert rows[0]["n_raters"] == 2

    def test_numbers(self):
        """Scores are numbers, not text: 2 and 10 are 8 apart."""
        found = estimates(ok("score", "scores.csv", "-d", "interval", "-d", "ratio", "-f", "json"))
        frame = pd.read_csv("scores.csv")
        for distance in ("interval", "ratio"):
            table = sa.agreement(frame, value="score", distance=distance)
            alpha = table["krippendorff_alpha", distance].estimate
            assert found["krippendorff_alpha", distance] == alpha

    def test_wide_numbers(self):
        Path("wide.csv").write_text("item,a,b\n1,2,10\n2,3,3\n3,10,9\n")
        wide = ok("score", "wide.csv", "--wide", "--kind", "value", "-d", "interval", "-f", "json")
        assert wide == ok("score", "scores.csv", "-d", "interval", "-f", "json")

    def test_several_names(self):
        names = ["-c", "fleiss_kappa, cohen_kappa", "-c", "krippendorff_alpha"]
        names += ["-d", "dice,nominal"]
        found = estimates(ok("score", "long.csv", "--blank", "empty", *names, "-f", "json"))
        assert list(found) == [
            (coefficient, distance)
            for coefficient in ("fleiss_kappa", "cohen_kappa", "krippendorff_alpha")
            for distance in ("dice", "nominal")
        ]

    def test_none_is_a_label(self):
        Path("na.csv").write_text("unit,rater,labels\n1,a,None\n1,b,NA\n2,a,nan\n2,b,nan\n")
        assert "4 ratings, 3 distinct sets" in ok("score", "na.csv")

    @pytest.mark.parametrize(
        ("blank", "n_ratings"), [("missing", 4), ("empty", 6), (None, 4)], ids=str
    )
    def test_blank(self, blank, n_ratings):
        """A blank cell is no annotation, or the empty set, as one says; by default with a count."""
        result = invoke("score", "long.csv", *([f"--blank={blank}"] if blank else []))
        assert f"{n_ratings} ratings" in result.stdout
        assert ("2 blank cells" in result.stderr) == (blank is None)

    def test_duplicates(self):
        Path("twice.csv").write_text(LONG + LONG.partition("\n")[2])
        refused = refusal("score", "twice.csv", "--blank", "empty")
        assert "6 pairs" in refused
        assert "--duplicates" in refused
        once = ok("score", "long.csv", "--blank", "empty", "-f", "csv")
        for policy in ("first", "last", "union"):
            options = ["--blank", "empty", "-f", "csv", "--duplicates", policy]
            assert ok("score", "twice.csv", *options) == once

    @pytest.mark.parametrize(
        ("label_sep", "written"),
        [(";", ";"), ("|", "|"), (r"\n", "\n"), (r"\t", "\t"), (" + ", " + ")],
    )
    def test_sep(self, label_sep, written):
        """Labels are split at --label-sep; line breaks and tabs can be written as in Python."""
        with Path("sep.csv").open("w", newline="") as file:
            rows = [(u, r, written.join("ab" if u == 1 else r)) for u in (1, 2) for r in "xy"]
            csv.writer(file).writerows([("unit", "rater", "labels"), *rows])
        assert "3 distinct sets" in ok("score", "sep.csv", "--label-sep", label_sep)

    def test_several_separators(self):
        rows = 'unit,rater,labels\n1,a,"x, y"\n1,b,y/x\n2,a,"""x/y"", z"\n2,b,z\n'
        Path("sep.csv").write_text(rows)
        options = ("sep.csv", "--label-sep", "/", "--label-sep", ",")
        assert "3 distinct sets" in ok("score", *options)
        written = ok("convert", *options, "-f", "csv")
        assert written.splitlines()[1:] == ["1,a,x/y", "1,b,x/y", '2,a,"""x/y""/z"', "2,b,z"]
        Path("how.toml").write_text('label_sep = [",", "/"]')
        assert "3 distinct sets" in ok("score", "sep.csv", "--config", "how.toml")
        Path("how.toml").write_text('label_sep = ","')
        assert "4 distinct sets" in ok("score", "sep.csv", "--config", "how.toml")

    def test_case(self):
        Path("case.csv").write_text("unit,rater,labels\n1,a,Joy\n1,b,joy\n2,a,x\n2,b,x\n")
        assert "3 distinct sets" in ok("score", "case.csv")
        assert "2 distinct sets" in ok("score", "case.csv", "--case", "lower")

    @pytest.mark.parametrize("listed", ["joy,fear", "codes.txt", "./codes"])
    def test_codebook(self, listed):
        for name in ("codes.txt", "codes"):
            Path(name).write_text("\ufefffear\njoy\n\n", encoding="utf-8")
        ok("score", "long.csv", "--blank", "empty", "--codebook", listed)

    @pytest.mark.parametrize("label_sep", [";", "|", " ", r"\t", ","])
    @pytest.mark.parametrize("listed", ["joy,fear", "joy, fear", "joy{}fear", "v1,2.txt", "{}.x,"])
    def test_codebook_with_every_separator(self, label_sep, listed):
        """Commas list a codebook whatever separates labels in cells; so does that separator.

        A file whose name has a comma is a file, and a long list with a full stop is none.
        """
        written = "\t" if label_sep == r"\t" else label_sep
        Path("v1,2.txt").write_text("fear\njoy\n")
        Path("sep.csv").write_text(LONG.replace(", ", written))
        codes = listed.format(written) if listed[0] != "{" else "joy,fear," + "a.b," * 200
        ok("score", "sep.csv", "--blank", "empty", "--label-sep", label_sep, "--codebook", codes)
        other = ["sep.csv", "--blank", "empty", "--label-sep", label_sep, "--codebook", "joy,anger"]
        assert "not in the codebook" in refusal("score", *other)

    @pytest.mark.parametrize("blank", ["empty", "missing", "error"])
    @pytest.mark.parametrize("words", [["NA,n/a"], ["n/a", "--na-values", "NA"]])
    @pytest.mark.parametrize("layout", ["long", "wide", "value"])
    def test_missing_answers(self, blank, words, layout):
        """--na-values takes answers for no annotation, whatever --blank makes of blank ones.

        The table is the one in which those rows are absent, and the warning about markers is gone.
        """
        answers = ["joy", " NA ", "joy", "n/a", "fear", "joy", "fear", "fear", "NA", "joy"]
        triples = [(k // 2, "ab"[k % 2], answer) for k, answer in enumerate(answers)]
        lines = [",".join(map(str, triple)) for triple in triples]
        kept = [line for line in lines if line.split(",")[2].strip() not in {"NA", "n/a"}]
        for name, some in {"marked.csv": lines, "kept.csv": kept}.items():
            Path(name).write_text("\n".join(["unit,rater,labels", *some]) + "\n")
        options = ["--blank", blank] if layout != "value" else ["--value", "labels"]
        expected = ok("score", "kept.csv", *options).replace(" ratings,", " ratings (3 missing),")
        if layout == "wide":
            wide = ["unit,a,b", *(f"{k},{answers[2 * k]},{answers[2 * k + 1]}" for k in range(5))]
            Path("marked.csv").write_text("\n".join(wide) + "\n")
            options += ["--wide", "--raters", "a,b"] if blank == "error" else ["--wide"]
        result = invoke("score", "marked.csv", *options, "--na-values", *words)
        assert result.stdout.split() == expected.split()
        assert "Warning" not in result.stderr

    def test_markers_are_said_with_the_option(self):
        Path("marked.csv").write_text(LONG.replace("d2,ann,fear", "d2,ann,n/a"))
        result = invoke("score", "marked.csv", "--blank", "empty")
        assert (
            "1 cell that may mean 'missing' read as labels: 'n/a'; if they do, use --na-values"
            in (result.stderr)
        )
        Path("marked.csv").write_text(
            LONG.replace("d2,ann,fear", "d2,ann,n/a").replace("fear", "?")
        )
        result = invoke("score", "marked.csv", "--blank", "empty")
        assert "if they do, use --na-values 'n/a,?'." in result.stderr

    def test_missing_that_is_not_there(self):
        result = invoke("score", "long.csv", "--blank", "empty", "--na-values", "NA,n/a")
        assert (result.exit_code, result.stdout) == (0, ok("score", "long.csv", "--blank", "empty"))
        assert "No answer is 'NA', 'n/a', which --na-values lists." in result.stderr
        assert "--na-values must list answers" in refusal("score", "long.csv", "--na-values", " ")

    @pytest.mark.parametrize("listed", ["joys,anger", "codes.txt"])
    def test_outside_the_codebook(self, listed):
        Path("codes.txt").write_text("joys\nanger\n")
        sentence = refusal("score", "long.csv", "--blank", "empty", "--codebook", listed)
        assert "Unit 'd1', rater 'ann'" in sentence
        assert "not in the codebook" in sentence

    @pytest.mark.parametrize(
        "text", ["from,to\njoyful,joy\n\nfeer,fear\n", "0,none\n1,joy, fear\n"]
    )
    def test_codebook_of_two_columns(self, text):
        """Both columns would be permitted labels, and joyful not joy."""
        Path("codes.csv").write_text(text)
        assert refusal("score", "long.csv", "--codebook", "codes.csv").endswith(
            "The codebook 'codes.csv' has several labels in each line: write one label per line, "
            "and another spelling of it as joyful=joy."
        )

    @pytest.mark.parametrize("name", ["gone.txt", "./gone", ".", "bytes.txt"])
    def test_codebook_that_cannot_be_read(self, name):
        Path("bytes.txt").write_bytes(b"\xff\n")
        assert "codebook" in refusal("score", "long.csv", "--codebook", name)

    def test_encoding_and_delimiter(self):
        Path("latin.csv").write_bytes(
            "unit^rater^labels\n1^a^é\n1^b^é\n2^a^x\n2^b^x\n".encode("latin-1")
        )
        assert "encoding" in refusal("score", "latin.csv", "--delimiter", "^")
        ok("score", "latin.csv", "--delimiter", "^", "--encoding", "latin-1")

    def test_pattern(self):
        head, _, body = LONG.partition("\n")
        rows = body.splitlines()
        Path("part-1.csv").write_text("\n".join([head, *rows[:3]]) + "\n")
        Path("part-2.csv").write_text("\n".join([head, *rows[3:]]) + "\n")
        options = ["--blank", "empty", "-f", "csv"]
        assert ok("score", "part-*.csv", *options) == ok("score", "long.csv", *options)

    def test_undefined(self):
        """An estimate that is undefined is a dash and a warning that says why; the end is good."""
        Path("same.csv").write_text("unit,rater,labels\n1,a,x\n1,b,x\n2,a,x\n2,b,x\n")
        result = invoke("score", "same.csv")
        assert result.exit_code == 0
        assert "only one value was used" in result.stderr
        assert result.stderr.count("Warning:") == 1

    def test_no_disagreement(self):
        """The line below the table names the command that gives a p, as typed here."""
        Path("same.csv").write_text("unit,rater,labels\n1,a,x\n1,b,x\n2,a,y\n2,b,y\n")
        said = ok("score", "same.csv")
        assert "was seen in 2 units, and all answers except the commonest" in said
        assert "; 'setagree test' compares the estimate with chance." in said
        assert "permutation_test" not in said

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("unit,rater,labels\n1,a,x\n2,a,y\n", "only one rater"),
            ("unit,rater,labels\n1,a,x\n2,b,y\n", "no unit has two ratings"),
        ],
    )
    def test_nothing_to_compare(self, text, reason):
        Path("few.csv").write_text(text)
        assert reason in invoke("score", "few.csv").stderr

    @pytest.mark.parametrize(
        "label",
        ["=cmd()", "<script>", "%s", "{x}", "[bold]x[/bold]", "x" * 10_000, "🙂", "\u202ea"],
    )
    def test_odd_labels(self, label):
        table = pd.DataFrame(
            [(u, r, label if u < 3 else f"y{r}") for u in (1, 2, 3) for r in "ab"],
            columns=["unit", "rater", "labels"],
        )
        table.to_csv("odd.csv", index=False)
        assert "3 distinct sets" in ok("score", "odd.csv")


class TestFormats:
    def test_json(self):
        """JSON is a list of objects with the columns of to_frame, null for nan, and its reason.

        It says what the interval is about, too.
        """
        Path("same.csv").write_text("unit,rater,labels\n1,a,x\n1,b,x\n2,a,x\n2,b,x\n")
        text = ok("score", "same.csv", "--format", "json")
        rows = json.loads(text, parse_constant=pytest.fail)
        added = ["degrees_of_freedom", "reason", "remark", "about"]
        assert [list(row) for row in rows] == [[*COLUMNS, *added]] * 2
        assert rows[0]["estimate"] is None
        assert rows[0]["reason"] == "only one value was used"
        assert rows[0]["n_units"] == 2

    def test_csv(self):
        """CSV is to_frame, read back to the last digit, what intervals rest on and are about."""
        text = ok("score", "long.csv", "--blank", "empty", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(text)))
        table = sa.agreement("long.csv", blank="empty").to_frame()
        assert list(rows[0]) == [*table, "degrees_of_freedom", "about"]
        for column, cells in table.items():
            for row, cell in zip(rows, cells, strict=True):
                assert row[column] == "" if pd.isna(cell) else type(cell)(row[column]) == cell

    def test_markdown(self):
        """Markdown is `to_markdown`: a table of to_frame with four decimals, and what JSON adds."""
        lines = ok("score", "walk.csv", "--wide", "--format", "markdown").splitlines()
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        assert cells[0] == [*COLUMNS, "degrees_of_freedom", "about"]
        table = sa.agreement(sa.read("walk.csv", wide=True, blank="missing"))
        assert "\n".join(lines) == table.to_markdown().rstrip()
        assert set(cells[1]) == {":---", "---:"}
        assert [row[2] for row in cells[2:]] == ["0.4026", "0.4074"]

    def test_table_is_the_printed_table(self):
        table = sa.agreement("long.csv", blank="empty")
        said = f"{table}\n".replace("permutation_test compares", "'setagree test' compares")
        assert ok("score", "long.csv", "--blank", "empty") == said

    @pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
    def test_stdout_holds_results_only(self, form):
        result = invoke("score", "long.csv", "--format", form)
        assert "blank" in result.stderr
        assert "blank" not in result.stdout
        assert result.stdout.endswith("\n")

    def test_ascii_terminal(self):
        for words in (["score", "long.csv"], ["--help"], ["distances"], ["score", "--help"]):
            run = script(*words, stdout=io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
            assert (run.returncode, "Traceback" in run.stderr) == (0, False), run.stderr


class TestOutput:
    OPTIONS = ("score", "long.csv", "--blank", "empty", "--output")

    def test_written(self):
        expected = ok("score", "long.csv", "--blank", "empty")
        assert ok(*self.OPTIONS, "out.txt") == ""
        assert Path("out.txt").read_text(encoding="utf-8") == expected

    @pytest.mark.parametrize(
        ("ending", "form"), [("json", "json"), ("csv", "csv"), ("MD", "markdown")]
    )
    def test_ending(self, ending, form):
        ok(*self.OPTIONS, f"out.{ending}")
        assert Path(f"out.{ending}").read_text() == ok(*self.OPTIONS[:-1], "--format", form)
        ok(*self.OPTIONS, f"out.{ending}", "--format", "table")
        assert "distinct sets" in Path(f"out.{ending}").read_text()

    def test_replaced(self):
        Path("real.txt").write_text("old")
        Path("real.txt").chmod(0o640)
        Path("link.txt").symlink_to("real.txt")
        ok(*self.OPTIONS, "link.txt")
        assert Path("link.txt").is_symlink()
        assert "ratings" in Path("real.txt").read_text()
        assert stat.S_IMODE(Path("real.txt").stat().st_mode) == 0o640

    def test_mode_of_a_new_file(self):
        Path("usual.txt").touch()
        ok(*self.OPTIONS, "new.txt")
        assert Path("new.txt").stat().st_mode == Path("usual.txt").stat().st_mode

    @pytest.mark.parametrize(
        "words",
        [
            ["gone.csv"],
            ["long.csv", "--unit", "gone"],
            ["long.csv", "--blank", "error"],
            ["long.csv", "-d", "gone"],
            ["long.csv", "--level", "95"],
        ],
    )
    def test_unharmed_by_bad_input(self, words):
        Path("out.txt").write_text("old")
        before = sorted(Path().iterdir())
        refusal("score", *words, "--output", "out.txt")
        assert Path("out.txt").read_text() == "old"
        assert sorted(Path().iterdir()) == before

    def test_disk_full(self, monkeypatch):
        Path("out.txt").write_text("old")
        before = sorted(Path().iterdir())

        def full(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        assert "No space left" in refusal(*self.OPTIONS, "out.txt")
        assert Path("out.txt").read_text() == "old"
        assert sorted(Path().iterdir()) == before

    @pytest.mark.parametrize("name", ["gone/out.txt", "."])
    def test_no_place(self, name):
        refusal(*self.OPTIONS, name)

    def test_pipe(self):
        """A pipe is refused, as it could not be replaced; nothing waits for a reader."""
        os.mkfifo("pipe")
        assert "could be replaced" in refusal(*self.OPTIONS, "pipe")

    @pytest.mark.parametrize(
        ("file", "output"), [("long.csv", "./long.csv"), ("lon*.csv", "long.csv")]
    )
    def test_the_input_is_not_written(self, file, output):
        assert "is the input" in refusal("score", file, "--output", output)
        assert Path("long.csv").read_text() == LONG


class TestRefusals:
    @pytest.mark.parametrize(
        ("words", "part"),
        [
            (["gone.csv"], "There is no file 'gone.csv'"),
            (["lnog.csv"], "Did you mean 'long.csv'"),
            (["."], "is a folder"),
            (["numbers.csv"], "have only numbers, so that each may be a rater or a label"),
            (["long.csv", "--unit", "docs"], "Did you mean 'doc'?"),
            (["long.csv", "--rater", "doc", "--unit", "doc"], "cannot have two roles"),
            (
                ["long.csv", "--labels", "tags", "--value", "tags"],
                "(one scalar per cell), not both",
            ),
            (["long.csv", "-d", "massi"], "Did you mean 'masi'?"),
            (["long.csv", "-c", "kripendorff_alpha"], "Did you mean 'krippendorff_alpha'?"),
            (["long.csv", "--blank", "emtpy"], "--blank 'emtpy' is unknown"),
            (["long.csv", "--blank", "error"], "blank"),
            (["long.csv", "--duplicates", "frist"], "Did you mean 'first'?"),
            (["long.csv", "--case", "upper"], "--case 'upper' is unknown"),
            (["long.csv", "--format", "jsn"], "Did you mean 'json'?"),
            (["long.csv", "--encoding", "utf-88"], "not a text encoding"),
            (["long.csv", "--delimiter", ",,"], "must be one character"),
            (["long.csv", "--label-sep", ""], "--label-sep"),
            (["long.csv", "--level", "95"], "level"),
            (["long.csv", "--blank", "empty", "-d", "interval"], "interval"),
            (["scores.csv", "-d", "masi"], "masi"),
            (["long.csv", "--raters", "ann"], "--raters makes sense only with --wide"),
            (["long.csv", "--kind", "value"], "--kind makes sense only with --wide"),
            (["walk.csv", "--wide", "--rater", "r1"], "--rater makes sense only without --wide"),
            (["walk.csv", "--wide", "--kind", "vlaue"], "--kind 'vlaue' is unknown"),
            (["walk.csv", "--wide", "--unit", "gone"], "no column 'gone'"),
            (["walk.csv", "--wide", "--raters", "r1,r9"], "no column 'r9'"),
        ],
        ids=lambda words: " ".join(words) if isinstance(words, list) else "",
    )
    def test_sentence(self, words, part):
        Path("numbers.csv").write_text("id,ann,bob\n1,3,4\n2,4,3\n")
        assert part in refusal("score", *words)

    @pytest.mark.parametrize(
        ("text", "part"),
        [
            ("", "is empty"),
            ("unit,rater,labels\n", "no rows"),
            ("unit,rater,labels\n1,a,x,y\n", "line 2 has 4 cells"),
            ("unit,rater,labels\n,a,x\n1,b,x\n", "1 row without a unit"),
            ("unit,rater,labels\n1, ,x\n1,,x\n", "2 rows without a rater"),
            ('unit,rater,labels\n1,a,"""x, y"\n', "unbalanced quote"),
            ("unit,rater,score\n1,a,inf\n1,b,2\n", "Error"),
        ],
    )
    def test_bad_tables(self, text, part):
        Path("bad.csv").write_text(text)
        assert part in refusal("score", "bad.csv", "-d", "interval" if "inf" in text else "masi")

    def test_stray_column_of_a_wide_table(self):
        Path("notes.csv").write_text(
            "unit,note,r1,r2\n1,x1,a,a\n2,x2,b,b\n3,x3,a,b\n4,x4,a,a\n5,x5,a,a\n"
        )
        assert "'note'" in refusal("score", "notes.csv", "--wide")

    def test_control_characters_are_escaped(self):
        Path("esc.csv").write_text("unit,rater,\x1b[31mtags\n1,a,joy\n")
        assert "\x1b" not in refusal("score", "esc.csv")
        Path("esc.csv").write_text("unit\x1b[31m,rater,tags\n1,a,x\n1,b,x\n")
        assert "\x1b" not in invoke("score", "esc.csv", "--unit", "unit\x1b[31m").stderr

    @pytest.mark.parametrize(
        ("words", "part"),
        [
            (["scor", "long.csv"], "No such command 'scor'"),
            (["score", "--distnace", "masi"], "No such option: --distnace"),
            (["score", "long.csv", "--sep", ";"], "--sep is called --label-sep (between labels;"),
            (["score", "long.csv", "--conf-level", ".9"], "--conf-level is called --level. See"),
            (["score", "long.csv", "--from", "prodigy"], "--from is called --tool. See"),
            (["score", "long.csv", "--without", "a"], "--without is called --exclude-raters. See"),
            (["score", "long.csv", "--missing", "NA"], "--missing is called --na-values. See"),
            (
                ["score", "long.csv", "--sheet", "a", "--sheet=b"],
                "--sheet takes one value; pass it",
            ),
            (["score", "long.csv", "-f", "csv", "--format", "csv"], "--format takes one value;"),
            (["diagnose", "long.csv", "--group", "b"], "--group is called --by. See"),
            (["diagnose", "long.csv", "--over-time", "b"], "--over-time is called --time. See"),
            (["monitor", "long.csv", "--at", "b"], "--at is called --batch. See"),
            (["score"], "Missing argument 'FILE'"),
            (["monitor", "long.csv"], "Missing option '--batch'. Missing option '--threshold'."),
            (["monitor", "--threshold", "0.8"], "argument 'FILE'. Missing option '--batch'. See"),
            (["score", "long.csv", "--level", "x"], "--level"),
            (["score", "long.csv", "--unit"], "--unit"),
        ],
    )
    def test_wrong_options(self, words, part, monkeypatch, capsys):
        monkeypatch.setattr(sys, "argv", ["setagree", *words])
        assert __main__.main() == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert len(printed.err.splitlines()) == 1
        assert part in printed.err
        assert "--help" in printed.err

    def test_what_is_not_foreseen_is_not_hidden(self, monkeypatch):
        def broken(*args, **options):
            raise ZeroDivisionError

        monkeypatch.setattr(cli.sa, "agreement", broken)
        monkeypatch.setattr(sys, "argv", ["setagree", "score", "long.csv", "--blank", "empty"])
        with pytest.raises(ZeroDivisionError):
            __main__.main()


class TestHelp:
    def test_version(self):
        assert ok("--version") == f"setagree {sa.__version__}\n"

    @pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
    def test_help(self, words):
        printed = ok(*words)
        assert printed.index("setagree score study.csv") < printed.index("distances")
        assert "bool" not in printed

    def test_help_of_score(self):
        run = script("score", "--help", env={"COLUMNS": "80", "NO_COLOR": "1"})
        lines = run.stdout.splitlines()
        assert max(map(len, lines)) <= 80
        assert len(lines) <= 112
        assert "bool" not in run.stdout
        assert run.stdout.index("score study.csv") < run.stdout.index("--unit ")
        options = {
            name for name in inspect.signature(cli_scores.score).parameters if name != "files"
        }
        spelled = {"format"}
        for option in options - {"form", "file_column"} | spelled:
            assert f"--{option.replace('_', '-')} " in run.stdout

    def test_distances(self):
        lines = ok("distances").splitlines()
        names = {line.split()[0]: line for line in lines if not line.startswith(" ")}
        assert set(names) == set(sa.distances.distance_names())
        assert all(len(line.split()) > 2 for line in names.values())
        assert len({line.split(maxsplit=1)[1] for line in names.values()}) == len(names)

    def test_coefficients(self):
        lines = ok("coefficients").splitlines()
        assert {line.split()[0] for line in lines if not line.startswith(" ")} == set(COEFFICIENTS)

    @pytest.mark.parametrize("command", ["coefficients", "distances"])
    def test_lists_have_no_markup(self, command):
        assert not {"`", "\\"} & {*ok(command)}


@pytest.mark.slow
class TestProcess:
    def test_module(self):
        run = process("score", "walk.csv", "--wide", "--blank", "missing")
        assert run.returncode == 0
        assert "0.4026" in run.stdout
        assert run.stderr.splitlines() == ["Columns guessed: unit = unit, raters = r1, r2, r3"]

    def test_warnings_are_one_line_each(self):
        run = script("score", "long.csv")
        lines = run.stderr.splitlines()
        assert len(lines) == 2
        assert lines[1].startswith("Warning: 2 blank cells read as missing; use --blank 'empty'")

    @pytest.mark.parametrize("words", [["score", "gone.csv"], ["score", "long.csv", "--nope"]])
    def test_bad_input(self, words):
        run = script(*words)
        assert (run.returncode, run.stdout) == (2, "")
        assert len(run.stderr.splitlines()) == 1

    def test_name_of_a_file_that_is_no_text(self):
        run = process(b"score", b"\xff.csv")
        assert (run.returncode, len(run.stderr.splitlines())) == (2, 1)

    def test_without_the_extra(self):
        run = process("score", "walk.csv", code=MODULE_WITHOUT.format("typer"))
        assert (run.returncode, run.stdout) == (2, "")
        assert len(run.stderr.splitlines()) == 1
        assert 'pip install "setagree[cli]"' in run.stderr

    @pytest.mark.parametrize("words", [["score", "walk.csv", "--wide"], ["--help"]])
    def test_without_rich(self, words):
        run = process(*words, code=MODULE_WITHOUT.format("rich"))
        assert (run.returncode, "Traceback" in run.stderr) == (0, False), run.stderr
        if words == ["--help"]:
            assert "setagree score study.csv" in run.stdout
            assert "[/" not in run.stdout
        else:
            assert run.stdout == script(*words).stdout

    def test_another_module_that_is_missing(self):
        run = process(
            "score",
            "walk.csv",
            code="""
            import sys
            from setagree.__main__ import main
            sys.modules["setagree.scoring"] = None
            main()
            """,
        )
        assert "setagree.scoring" in run.stderr
        assert "setagree[cli]" not in run.stderr

    def test_the_library_does_without(self):
        run = process(
            code="""
            import sys, setagree
            print(sorted({"typer", "rich", "click", "setagree.cli"} & set(sys.modules)))
            """
        )
        assert run.stdout == "[]\n"

    @pytest.mark.usefixtures("ctrl_c_is_heard")
    def test_interrupt(self):
        """Ctrl-C ends with 130, without a traceback, and leaves the old file as it was."""
        Path("out.txt").write_text("old")
        code = """
            import sys, time
            import setagree as sa
            from setagree.cli import app as cli
            def slow(*args, **options):
                print("ready", file=sys.stderr, flush=True)
                time.sleep(60)
            sa.agreement = slow
            sys.exit(cli.run())
            """
        words = ["score", "long.csv", "--blank", "empty", "--output", "out.txt"]
        start = [sys.executable, "-c", textwrap.dedent(code), *words]
        with subprocess.Popen(start, stderr=subprocess.PIPE, text=True) as run:
            said = next((line for line in run.stderr if "ready" in line), "it ended before")
            run.send_signal(signal.SIGINT)
            rest = run.stderr.read()
        assert said == "ready\n"
        assert (run.returncode, rest) == (130, "")
        assert Path("out.txt").read_text() == "old"
        assert not list(Path().glob(".*"))

    def test_broken_pipe(self):
        reader, writer = os.pipe()
        os.close(reader)
        start = [sys.executable, "-m", "setagree", "--help"]
        run = subprocess.run(start, stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        assert "Traceback" not in run.stderr
        assert "Broken" not in run.stderr

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device of a full disk")
    def test_full_disk_behind_stdout(self):
        start = [sys.executable, "-m", "setagree", "score", "walk.csv", "--wide"]
        with Path("/dev/full").open("w") as full:
            run = subprocess.run(start, stdout=full, stderr=subprocess.PIPE, text=True)
        assert run.returncode == 2
        assert run.stderr.splitlines()[-1].startswith("Error: the results cannot be written")

    def test_fifo(self):
        os.mkfifo("pipe.csv")
        run = script("score", "pipe.csv")
        assert run.returncode == 2
        assert "pipe" in run.stderr


GOLDEN = Path(__file__).parents[1] / "golden" / "datasets.json"
OPTIONS = {
    "convabuse/types_all": ["--blank", "empty", "--duplicates", "first"],
    "convabuse/target_all": ["--blank", "empty", "--duplicates", "first", "--labels", "target"],
    "hs_brexit": ["--blank", "empty"],
    "medrel/as_exported": ["--duplicates", "first"],
    "person_video/as_exported": [],
}


@pytest.mark.skipif(not DATA, reason="the real data is found through SETAGREE_DATA")
@pytest.mark.parametrize("name", OPTIONS)
def test_real_data(name):
    """Published data in one command: the estimates of the peers, to 1e-9.

    The figures come from NLTK 3.10.4, krippendorff 0.9.0 and R irrCAC with rounding removed, as
    golden/datasets.json says; their largest spread is 2.4e-13.
    """
    study = json.loads(GOLDEN.read_text(encoding="utf-8"))["datasets"][name]
    names = ["krippendorff_alpha", "fleiss_kappa", "gwet_ac", "brennan_prediger"]
    options = [*OPTIONS[name], "-d", "nominal,jaccard,masi", "-c", ",".join(names), "-f", "json"]
    found = estimates(ok("score", Path(DATA, study["file"]), *options))
    for distance, expected in study["coefficients"].items():
        for coefficient in names:
            value = expected[coefficient]["value"]
            assert found[coefficient, distance] == pytest.approx(value, abs=1e-9)

"""The command loses no file, ends in a sentence whatever is closed, and shows names safely."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from cli_support import invoke, ok, refusal, rows

pytest.importorskip("typer", reason="the command needs the cli extra")

from cli_support import Terminal, script
from typer.testing import CliRunner

import setagree as sa
from setagree.cli.app import app
from setagree.errors import FileError

ROOT = Path(sa.__file__).parents[1]
ROWS = "unit,rater,labels\n" + "".join(
    f"u{u},{r},{'joy' if (u * k) % 3 else 'fear'}\n" for u in range(6) for k, r in enumerate("abcd")
)
LONG = ["s.csv", "--unit", "unit", "--rater", "rater", "--labels", "labels"]
ODD = "u\x1b[31m|\n<img onerror=x>"

posix = pytest.mark.skipif(os.name == "nt", reason="shells and devices are those of POSIX")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with one study, which is also its home."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    Path("s.csv").write_text(ROWS)
    return tmp_path


def shell(line, **options):
    """Run a line of bash in which S is the command; return exit code, stdout and stderr."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "S": f"{sys.executable} -m setagree"}
    run = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=env, **options)
    return run.returncode, run.stdout, run.stderr


class TestInputs:
    @pytest.mark.parametrize(
        ("words", "output"),
        [
            (["~/s.csv"], "s.csv"),
            (["s.csv"], "~/s.csv"),
            (["s.csv"], "inside/../s.csv"),
            (["s.csv"], "link.csv"),
            (["link.csv"], "s.csv"),
            (["s.csv"], "hard.csv"),
            (["s*.csv"], "s.csv"),
            (["s.csv", "--codebook", "book.txt"], "book.txt"),
            (["s.csv", "--codebook", "~/book.txt"], "book.txt"),
            (["s.csv", "--config", "options.toml"], "options.toml"),
            (["s.csv", "--roster", "roster.csv", "--tool", "brat"], "roster.csv"),
        ],
    )
    @pytest.mark.parametrize("command", ["convert", "score", "consensus", "report"])
    def test_files(self, command, words, output):
        """Under whatever name: the input, the codebook, the config and the roster stay."""
        Path("inside").mkdir()
        Path("link.csv").symlink_to("s.csv")
        os.link("s.csv", "hard.csv")
        Path("book.txt").write_text("joy\nfear\n")
        Path("options.toml").write_text('blank = "empty"\n')
        Path("roster.csv").write_text("unit,rater\nu1,a\n")
        before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
        form = "html" if command == "report" else "csv"
        sentence = refusal(command, *words, "-f", form, "-o", output)
        assert "choose another output file" in sentence
        assert {path: path.read_bytes() for path in before} == before

    @pytest.mark.parametrize("command", ["diagnose", "test", "compare", "plan", "panel"])
    def test_other_commands(self, command):
        Path("book.txt").write_text("joy\nfear\n")
        model = ["--model", "a"] if command == "panel" else []
        words = [command, *LONG, *model, "--codebook", "book.txt", "-o", "book.txt"]
        assert "is the file of --codebook; choose another output file" in refusal(*words)

    def test_files_of_a_folder(self):
        Path("export", "deep").mkdir(parents=True)
        Path("export", "ana.jsonl").write_text('{"text": "x", "label": ["joy"]}\n')
        Path("export", "deep", "note.csv").write_text("kept")
        for output in ("export/ana.jsonl", "export/deep/note.csv"):
            words = ["convert", "export", "-o", output, "-f", "csv", "--tool", "doccano_jsonl"]
            assert "is the input" in refusal(*words)

    def test_a_new_file_inside_a_folder(self):
        Path("export").mkdir()
        Path("export", "ana.jsonl").write_text('{"text": "x", "label": ["joy"]}\n')
        Path("link").symlink_to("export")
        for output in ("export/new.csv", "link/new.csv"):
            words = ["convert", "export", "-o", output, "--tool", "doccano_jsonl"]
            assert "would lie inside the input, 'export'" in refusal(*words)

    @pytest.mark.slow
    @posix
    def test_standard_input(self):
        code, _, said = shell("$S convert - -o s.csv < s.csv")
        assert (code, "choose another output file" in said) == (2, True)
        assert Path("s.csv").read_text() == ROWS

    @pytest.mark.parametrize("command", ["convert", "consensus", "score"])
    def test_replaced(self, command):
        """Another file that is there is replaced, and that is said; a new one is no news."""
        assert "Replaced" not in invoke(command, *LONG, "-o", "gold.csv").stderr
        assert "Replaced: gold.csv\n" in invoke(command, *LONG, "-o", "gold.csv").stderr

    @pytest.mark.parametrize("command", ["convert", "score", "report"])
    @pytest.mark.parametrize("place", ["", "[{}]\n", "[convert]\n"])
    def test_no_config_names_the_output(self, command, place):
        Path("mine.md").write_text("mine")
        Path("o.toml").write_text(f'{place.format(command)}output = "mine.md"\n')
        output = ["-o", "page.md"] if command == "report" else []
        done = script(command, *LONG, *output, "--config", "o.toml")
        assert (done.returncode, done.stdout) == (2, "")
        assert "a file of options cannot name the output; remove it, and use -o FILE" in done.stderr
        assert Path("mine.md").read_text() == "mine"

    def test_reports(self):
        words = ["report", *LONG, "-o", "~/page.md", "--resamples", 19]
        assert "Replaced" not in invoke(*words).stderr
        assert f"Replaced: {Path.home() / 'page.md'}\n" in invoke(*words).stderr

    def test_reports_of_the_library(self):
        """`report` does not know the file of a study: a table stays, unless format= says."""
        study = sa.read("s.csv")
        with pytest.raises(FileError, match="its name is not that of a report"):
            sa.report(study, "s.csv", n_resamples=19)
        assert Path("s.csv").read_text() == ROWS
        sa.report(study, "s.csv", n_resamples=19, format="markdown")
        assert Path("s.csv").read_text().startswith("# s\n")


class TestReading:
    def run(self, *words):
        """Run the console script's own entry, where a wrong config is a sentence."""
        run = script(*words)
        assert (run.returncode, run.stdout) == (2, ""), run.stderr
        assert "Traceback" not in run.stderr
        return run.stderr.splitlines()[-1]

    def test_deep_config(self):
        Path("deep.toml").write_text(f"a = {'[' * 3000}{']' * 3000}\n")
        assert "its nesting is too deep" in self.run("score", *LONG, "--config", "deep.toml")

    @posix
    @pytest.mark.parametrize("option", ["--config", "--codebook", "--roster"])
    @pytest.mark.parametrize("name", ["/dev/zero", "pipe.txt"])
    def test_devices(self, option, name):
        os.mkfifo("pipe.txt")
        table = ["s.csv", "--tool", "doccano_csv"] if option == "--roster" else LONG
        if option == "--roster":
            Path("s.csv").unlink()
            Path("s.csv").mkdir()
            Path("s.csv", "ann.csv").write_text("id,data,label\n1,text,joy\n")
        assert "is a pipe or a device" in self.run("score", *table, option, name)

    @posix
    @pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are those of POSIX")
    def test_folders(self, monkeypatch):
        """A folder that cannot be listed cannot be read, and nothing is said of writing."""

        def refused(*_):
            raise PermissionError(13, "Permission denied", "/root/x")

        Path("export").mkdir()
        monkeypatch.setattr(Path, "rglob", refused)
        sentence = "Error: '/root/x' cannot be read: Permission denied."
        assert refusal("score", "export") == sentence
        with pytest.raises(FileError, match="'/root/x' cannot be read"):
            sa.read("export")


@posix
class TestDescriptors:
    PROCESSES = ("score s.csv", "--help")
    COMMANDS = (
        "distances",
        "test s.csv --resamples 9",
        "compare s.csv -d masi,nominal",
        "plan s.csv",
        "diagnose s.csv --resamples 19",
        "panel s.csv -m a --min-units 2",
        "consensus s.csv",
        "convert s.csv",
        "formats",
        "coefficients",
        "--version",
        "score --help",
    )

    @pytest.mark.parametrize("command", COMMANDS)
    def test_stdout(self, command):
        """Results that cannot be printed end with 2 and one sentence."""
        with open(os.open(os.devnull, os.O_RDONLY), "w") as closed:  # noqa: PTH123
            run = script(*command.split(), stdout=closed)
        assert run.returncode == 2, run.stderr
        assert run.stderr.splitlines()[-1].startswith("Error: the results cannot be written: ")

    @pytest.mark.slow
    @pytest.mark.parametrize("command", PROCESSES)
    def test_stdout_of_a_process(self, command):
        code, _, said = shell(f"$S {command} >&-")
        assert (code, "Traceback" in said) == (2, False), said
        assert said.splitlines()[-1].startswith("Error: the results cannot be written: ")

    def test_full_disks(self):
        if not Path("/dev/full").exists():
            pytest.skip("there is no device of a full disk")
        for command in ("--help", "distances", "--version"):
            with Path("/dev/full").open("w") as full:
                run = script(command, stdout=full)
            assert (run.returncode, len(run.stderr.splitlines())) == (2, 1), run.stderr

    @pytest.mark.slow
    def test_stderr(self):
        """What nobody can be told changes neither the results nor the exit code."""
        assert shell("$S convert s.csv 2>/dev/full")[:2] == (0, ROWS)
        assert shell("$S score gone.csv 2>&-")[:2] == (2, "")

    @pytest.mark.slow
    def test_stdin(self):
        """Only commands that read standard input fail without it."""
        code, _, said = shell("$S score - <&-")
        assert (code, len(said.splitlines())) == (2, 1)
        assert said.startswith("Error: Standard input cannot be read: ")

    def test_stdin_and_groups(self):
        Path("g.csv").write_text("unit,rater,labels,batch\n" + "".join(
            f"{u},{r},{'x' if (u * k) % 3 else 'y'},{'pq'[u % 2]}\n"
            for u in range(12) for k, r in enumerate("abc")
        ))  # fmt: skip
        compared, diagnosed = (
            CliRunner().invoke(app, [name, "-", "--by", "batch"], input=Path("g.csv").read_text())
            for name in ("compare", "diagnose")
        )
        assert (compared.exit_code, "p - q" in compared.stdout) == (0, True)
        assert diagnosed.exit_code == 2
        assert (
            "--by reads the data twice, which standard input does not allow; save a file."
            in diagnosed.stderr
        )

    @pytest.mark.slow
    def test_all_of_them(self):
        assert shell("$S convert s.csv -o out.csv <&- >&- 2>&-")[0] == 0
        assert Path("out.csv").read_text() == ROWS


class TestWrittenNames:
    @pytest.fixture(autouse=True)
    def odd(self, folder):
        """Write a study with a unit of a hostile name."""
        with Path("odd.csv").open("w", newline="") as file:
            rows = [["unit", "rater", "labels"], [ODD, "a", "joy"], [ODD, "b", "<b>|\x1b]"]]
            csv.writer(file).writerows([*rows, ["u2", "a", "x_y"], ["u2", "b", "joy"]])

    @pytest.mark.parametrize("command", ["convert", "consensus"])
    def test_markdown(self, command):
        """A row stays a row, a tag is text, and control characters are spelled out."""
        lines = ok(command, "odd.csv", "-f", "markdown").splitlines()
        assert len(lines) == (6 if command == "convert" else 4)
        text = "".join(lines)
        assert "\x1b" not in text
        assert "<" not in text
        assert r"u\\x1b\[31m\|\\n&lt;img onerror=x&gt;" in text
        assert len({line.replace(r"\|", "").count("|") for line in lines}) == 1

    def test_csv_in_files_and_pipes(self):
        printed = ok("convert", "odd.csv")
        assert next(iter(csv.DictReader(io.StringIO(printed, newline=""))))["unit"] == ODD
        ok("convert", "odd.csv", "-o", "out.csv")
        assert Path("out.csv").read_bytes().decode() == printed

    @pytest.mark.parametrize("words", [["convert"], ["consensus", "-f", "csv"], ["consensus"]])
    def test_terminals(self, words):
        """A terminal gets control characters spelled out."""
        terminal = Terminal(io.BytesIO(), encoding="utf-8")
        shown = script(*words, "odd.csv", stdout=terminal, env={"COLUMNS": "80"}).stdout
        assert "[31m|" in shown
        assert "\x1b[31m" not in shown
        assert r"u\x1b[31m|\n<img" in shown

    def test_names_of_columns_on_terminals(self):
        head, name = "unit,rater,pro\x1b[2Jmpt,labels\n", "pro\x1b[2Jmpt"
        rows = [f"u{u},m{k},{k % 2},joy\n" for u in range(6) for k in range(4)]
        Path("runs.csv").write_text(head + "".join(rows))
        words = ["panel", "runs.csv", "--facets", name, "-f", "csv"]
        assert name in script(*words).stdout
        shown = script(*words, stdout=Terminal(io.BytesIO(), encoding="utf-8")).stdout
        assert r"pro\x1b[2Jmpt" in shown
        assert "\x1b" not in shown

    @pytest.mark.parametrize(
        "words",
        [
            ["convert"],
            ["consensus"],
            ["next", "--budget", "3"],
            ["panel", "--model", "=ann", "--min-units", "2"],
            ["repeats"],
        ],
    )
    def test_formulas(self, words):
        """--escape keeps a spreadsheet from running a name; without it, names stay as they are."""
        times = 2 if words == ["repeats"] else 1
        cells = [
            f"=u{u},{rater},{'joy' if (u * k) % 3 else 'fear'}\n"
            for u in range(9)
            for k, rater in enumerate(["=ann", "+ben", "@cem", "dora"] * times)
        ]
        Path("odd.csv").write_text("unit,rater,labels\n" + "".join(cells))
        words = [words[0], "odd.csv", *words[1:], "-f", "csv"]
        plain, escaped = (
            list(csv.reader(io.StringIO(ok(*words, *more)))) for more in ([], ["--escape"])
        )
        is_formula = [[cell.startswith(("=", "+", "@")) for cell in row] for row in plain]
        assert any(map(any, is_formula))
        assert escaped == [
            [f"'{cell}" if flag else cell for cell, flag in zip(row, flags, strict=True)]
            for row, flags in zip(plain, is_formula, strict=True)
        ]


def test_json_of_anything(folder):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    from datetime import date
    from decimal import Decimal

    for value in (date(2024, 5, 1), Decimal("1.50"), 2.5):
        table = pyarrow.table({"unit": [1, 1], "rater": ["a", "b"], "value": [value, value]})
        parquet.write_table(table, "v.parquet")
        printed = ok("convert", "v.parquet", "--value", "value", "-f", "json")
        found = json.loads(printed, parse_constant=pytest.fail)
        assert len(found) == 2
    Path("same.csv").write_text("unit,rater,labels\n1,a,x\n1,b,x\n2,a,x\n2,b,x\n")
    reason = "only one value was used"
    for words in (
        ["score"],
        ["score", "--interval", "bootstrap", "--resamples", 20],
        ["test", "--resamples", 19],
        ["compare", "-d", "masi,jaccard"],
    ):
        printed = ok(words[0], "same.csv", *words[1:], "-f", "json")
        for row in json.loads(printed, parse_constant=pytest.fail):
            assert row["reason"] == reason
            assert None in row.values()
    panel = json.loads(ok("panel", "s.csv", "-m", "a", "-f", "json"), parse_constant=pytest.fail)
    assert panel[0]["reason"] == "no human shares enough units with the model"


@pytest.mark.slow
def test_lists_without_docstrings():
    run = subprocess.run(
        [sys.executable, "-OO", "-m", "setagree", "distances"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert run.returncode == 0
    assert "masi" in run.stdout.split("\n")
    assert "(name:" not in run.stdout
    assert "drops the descriptions" in run.stderr


@pytest.mark.parametrize("command", ["convert", "consensus"])
def test_answers_in_markdown_are_not_rounded(command):
    Path("n.csv").write_text("unit,rater,score\n1,a,0.12341\n1,b,0.12341\n2,a,1e-9\n2,b,1e-9\n")
    written = ok(command, "n.csv", "--value", "score", "-f", "markdown")
    assert "| 0.12341 |" in written
    assert "| 1e-09 |" in written


@pytest.mark.parametrize("blank", ["empty", "missing"])
def test_groups_and_times_read_nulls_as_the_study_does(blank):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    rows = [
        row
        for u in range(12)
        for row in (
            (u, "ann", "a" if u % 2 else None, u % 2),
            (u, "bob", "a" if u % 3 else "b", u % 2),
            (u, "gold", "" if u % 2 else "a", None),
        )
    ]
    frame = pd.DataFrame(rows, columns=["unit", "rater", "labels", "batch"]).assign(day=0)
    frame.to_parquet("nulls.parquet")
    words = ["nulls.parquet", "--exclude-raters", "gold", "--blank", blank]
    said = ok("diagnose", "--tables", *words, "--by", "batch", "--time", "day", "--window", 9,
              "--resamples", 19, "--seed", 1)  # fmt: skip
    groups = said.partition("\nGROUPS\n")[2].partition("\n\n")[0]
    assert re.search(r" 6 +2 +12\b", groups)
    assert re.search(r" 6 +\d +6\b", groups)
    assert json.loads(ok("score", *words, "-f", "json"))[0]["n_ratings"] == 18
    assert said.partition("OVER TIME")[2].splitlines()[2].split()[4] == "18"


def test_the_folder_one_is_in_may_be_the_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.csv").write_text("unit,rater,labels\n1,a,x\n1,b,y\n")
    assert "'study.csv' is the input; choose another" in refusal("convert", ".", "-o", "study.csv")
    words = ["score", "study.csv", "--codebook", ".", "-o", "out.csv"]
    assert "labels are not in the codebook: 'x'" in refusal(*words)


def test_a_codebook_in_no_encoding(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.csv").write_text("unit,rater,labels\n1,a,x\n1,b,y\n")
    Path("codes.txt").write_text("x\ny\n")
    words = ["--codebook", "codes.txt", "--encoding", "klingon", "--tool", "table"]
    assert "klingon" in refusal("plan", "study.csv", *words)


def test_a_codebook_that_is_not_there():
    assert "gone.txt" in refusal("score", *LONG, "--codebook", "./gone.txt", "-o", "out.csv")
    assert not Path("out.csv").exists()


BLANK = ["--blank", "empty"]


class TestWhatIsWritten:
    @pytest.fixture(autouse=True)
    def long(self, folder):
        """Write a table of twelve units and three raters."""
        labels = ["joy", "joy, fear", "fear", "anger", "", "joy"]
        rows = [
            (f"t{k}", who, labels[k * j % 6]) for k in range(12) for j, who in enumerate("abc", 1)
        ]
        pd.DataFrame(rows, columns=["doc", "who", "tags"]).to_csv("long.csv", index=False)

    @pytest.mark.parametrize(
        ("words", "known"),
        [
            (["score", "-o", "s.pdf"], ".json, .csv, .md, .tex or .txt"),
            (["score", "-o", "s.html"], ".json, .csv, .md, .tex or .txt"),
            (["score", "-o", "s.xlsx", "-f", "csv"], ".json, .csv, .md, .tex or .txt"),
            (["convert", "-o", "s.parquet"], ".json, .csv or .md"),
            (["convert", "-o", "s.txt"], ".json, .csv or .md"),
            (["consensus", "-o", "s.csv.gz"], ".json, .csv, .md, .tex or .txt"),
        ],
    )
    def test_other_endings_are_refused(self, words, known):
        command, *rest = words
        sentence = refusal(command, "long.csv", *BLANK, *rest)
        assert f"use a name that ends in {known}, not '{rest[1]}'." in sentence
        assert not Path(rest[1]).exists()

    @pytest.mark.parametrize("command", ["convert", "score", "consensus", "report"])
    def test_no_file_is_called_a_dash(self, command):
        sentence = refusal(command, "long.csv", *BLANK, "-o", "-")
        assert "to print results, omit it" in sentence
        assert not Path("-").exists()

    def test_endings_of_their_own(self):
        ok("score", "long.csv", *BLANK, "-o", "s.data", "-f", "csv")
        assert Path("s.data").read_text().startswith("coefficient,")
        ok("score", "long.csv", *BLANK, "-o", "plain")
        assert Path("plain").read_text() == ok("score", "long.csv", *BLANK)
        ok("convert", "long.csv", *BLANK, "-o", "long.md")
        assert Path("long.md").read_text().startswith("| unit |")

    def test_consensus_says_what_it_wrote(self):
        frame = pd.DataFrame(rows("consensus", "long.csv", *BLANK, "--exclude-raters", "c"))
        result = invoke("consensus", "long.csv", *BLANK, "--exclude-raters", "c", "-o", "gold.csv")
        n = int(frame["adjudicate"].sum())
        assert f"Written: gold.csv (12 units, {n} to adjudicate)" in result.stderr
        assert 0 < n < 12

    def test_the_separator_that_was_asked_for(self):
        text = Path("long.csv").read_text().replace('"joy, fear"', "joy;fear")
        Path("semi.csv").write_text(text)
        for command in (["convert"], ["consensus", "--threshold", "0.3"]):
            assert "fear; joy" in ok(*command, "semi.csv", *BLANK, "--label-sep", ";", "-f", "csv")
            assert "fear, joy" in ok(*command, "long.csv", *BLANK, "-f", "csv")


class TestSpelling:
    def test_words_of_users(self):
        rows = "unit,rater,labels\nu1,where=a,blank=b\nu1,ann,joy\nu2,where=a,joy\nu2,ann,joy\n"
        Path("units=3.csv").write_text(rows)
        said = refusal("score", "units=3.csv", "--codebook", "joy,blank=c")
        assert "1 label is not in the codebook: 'blank=b' (1 answer, near 'blank=c')" in said
        assert "'missing=x'" in refusal("score", "units=3.csv", "--unit", "missing=x")
        assert "'raters=b'" in refusal("score", "units=3.csv", "--exclude-raters", "raters=b")
        assert "'units=3.csv' is the input" in refusal("score", "units=3.csv", "-o", "units=3.csv")

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["consensus", "--method", "medoid", "--threshold", "1"], "--threshold does not apply"),
            (["score", "--interval", "bootstrap", "--over", "raters", "--resamples", "9",
              "--interval-method", "BCa"], "--interval-method 'BCa' requires a bootstrap over"),
            (["panel", "--model", "a", "--humans", "b,c,b"], "--humans lists 'b' more than once"),
            (["panel", "--model", "a", "--q", "2"], "--q 2.0 must be 0 or more and below 1."),
            (["test", "--resamples", "0"], "--resamples 0 must be a whole number of 1 or more."),
            (["score", "--level", "7"], "--level 7.0 must lie between 0 and 1, such as 0.95."),
            (["score", "--tool", "table", "--question", "q"], "see 'setagree formats' and --tool."),
        ],
    )  # fmt: skip
    def test_names_of_the_command(self, words, sentence):
        command, *rest = words
        assert sentence in refusal(command, *LONG, *rest)

    def test_no_spread(self):
        """Where all agree, the table names the command that gives a p-value."""
        rows = "".join(f"u{u},{r},joy\nv{u},{r},fear\n" for u in range(3) for r in "ab")
        Path("alike.csv").write_text(f"unit,rater,labels\n{rows}")
        assert "'setagree test' compares the estimate with chance" in " ".join(
            ok("score", "alike.csv").split()
        )


def test_latex(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = sa.simulate(40, 3, labels=["a_b", "50%", "{x}"], n_labels=3, rng=1)
    study.to_long().assign(
        labels=lambda x: [sa.format_labels(one) or "[]" for one in x["labels"]],
        other=lambda x: x["labels"],
    ).to_csv("s.csv", index=False)
    read = sa.read("s.csv")
    assert ok("score", "s.csv", "-f", "latex") == sa.agreement(read).to_latex()
    ok("consensus", "s.csv", "-o", "gold.tex")
    text = Path("gold.tex").read_text("utf-8")
    assert text.startswith("\\begin{tabular}")
    assert "\\bottomrule" in text
    assert r"a\_b" in text
    assert r"50\%" in text
    assert r"\{x\}" in text
    assert ok("panel", "s.csv", "-m", "r1", "--margin", 0.1, "-f", "latex").count("r1 & ") == 1
    for asked in (
        ("test", "s.csv", "--resamples", 19, "--seed", 1),
        ("compare", "s.csv", "-d", "masi,jaccard"),
        ("score", "s.csv", "--questions", "labels,other", "-d", "masi,jaccard"),
    ):
        head = ok(*asked, "-f", "latex").splitlines()[2]
        assert len(head.split(" & ")) <= 8


def test_the_methods_paragraph_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text(
        "unit,rater,labels\nu,a,x\nu,b,y\nv,a,x\nv,b,x\nw,a,y\nw,b,y\n", "utf-8"
    )
    found = ok("cite", "--methods", "s.csv", "-c", "krippendorff_alpha")
    table = sa.agreement("s.csv", coefficient="krippendorff_alpha")
    assert found == f"{sa.methods_text(table)}\n"

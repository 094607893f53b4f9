"""The command on files that may be larger than memory: --memory-limit and what goes with it."""

from pathlib import Path

import pandas as pd
import pytest
from cli_support import invoke, ok, refusal, rows
from exports import json_writers as toy
from reduction_support import generated, in_whole_units

pytestmark = pytest.mark.slow

pytest.importorskip("typer", reason="the command needs the cli extra")
pytest.importorskip("duckdb", reason="DuckDB reduces the files")
pytest.importorskip("narwhals", reason="DuckDB is spoken to through it")

LARGE = ["--memory-limit", "500MB"]
TIGHT = {"check_exact": False, "rtol": 0, "atol": 1e-12}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a fresh folder with one long table, whole and in parts that hold whole units."""
    monkeypatch.chdir(tmp_path)
    table = generated(n_units=80)
    table.to_csv("study.csv", index=False)
    Path("parts").mkdir()
    for k, part in enumerate(in_whole_units(table)):
        part.to_csv(f"parts/{k}.csv", index=False)
    return tmp_path


def same(words, more):
    """Check that a command gives the same rows with further words, and return them."""
    one, two = (pd.DataFrame(rows(*some)) for some in (words, [*words, *more]))
    pd.testing.assert_frame_equal(one, two, **TIGHT)
    return two


class TestScore:
    @pytest.mark.parametrize(
        ("file", "more"),
        [
            ("study.csv", LARGE),
            ("parts/*.csv", ["--temp-directory", "parts"]),
            ("study.csv", ["--assume-unique"]),
            ("parts/*.csv", ["--partitioned-by-unit", "--tool", "table"]),
        ],
    )
    def test_the_same_numbers(self, file, more):
        """Conger's kappa asks the rater of each answer."""
        words = ["-d", "masi,jaccard", "-c", "conger_kappa,krippendorff_alpha"]
        assert len(same(["score", file, "--blank", "empty", *words], more)) == 4

    def test_unasked(self, monkeypatch):
        """A file that needs much memory is reduced unasked, unless only memory can read it so."""
        from setagree.large import opening

        words = ["score", "study.csv", "--blank", "empty"]
        expected = pd.DataFrame(rows(*words))
        monkeypatch.setattr(opening, "LARGE", 100)
        pd.testing.assert_frame_equal(pd.DataFrame(rows(*words)), expected, **TIGHT)
        said = "GiB of memory and is reduced in DuckDB."
        assert said in invoke(*words).stderr
        assert said not in invoke(*words, "--duplicates", "first").stderr
        monkeypatch.setattr(opening, "LARGE", 10**9)
        assert said not in invoke(*words).stderr

    def test_bootstrap(self):
        """A seed gives the same interval on both roads, too."""
        words = ["score", "study.csv", "--blank", "empty", "--interval", "bootstrap", "--seed", "1"]
        same([*words, "--resamples", "300"], LARGE)

    def test_how_the_file_is_read(self):
        text = "doc,who,tags\n" + "".join(
            f"d{k},{who},{cell}\n"
            for k, cells in enumerate(["a;B", "n/a", "b", "", "A"])
            for who, cell in zip(["ann", "bob"], [cells, "b;a"], strict=True)
        )
        Path("odd.csv").write_text(text, encoding="latin-1")
        words = ["score", "odd.csv", "--unit", "doc", "--rater", "who", "--labels", "tags"]
        words += ["--label-sep", ";", "--case", "lower", "--na-values", "n/a"]
        words += ["--codebook", "a,b,c"]
        words += ["--blank", "empty", "--encoding", "latin-1", "--level", "0.9", "-c", "gwet_ac"]
        assert same(words, LARGE)["n_ratings"].item() == 9

    def test_values(self):
        """Numbers have the distances of numbers; missing ones are counted in what people read."""
        cells = ["unit,rater,value", "1,a,2", "1,b,10", "2,a,3", "2,b,3", "3,a,", "3,b,9"]
        Path("scores.csv").write_text("\n".join(cells), encoding="utf-8")
        assert len(same(["score", "scores.csv"], LARGE)) == 6
        assert ok("score", "scores.csv", *LARGE) == ok("score", "scores.csv")
        assert "(1 missing)" in ok("score", "scores.csv", *LARGE)

    def test_what_is_said(self):
        one, two = (invoke("score", "study.csv", *more).stderr for more in ([], LARGE))
        assert one == two
        assert two.startswith("Columns guessed: unit = unit, rater = rater, labels = labels\n")
        assert "blank" in two

    def test_settings(self):
        """A TOML file gives the options as well; the command line goes first."""
        Path("settings.toml").write_text(
            'memory-limit = "500MB"\n[score]\ntemp_directory = "gone"\nassume_unique = true\n',
            encoding="utf-8",
        )
        words = ["score", "study.csv", "--config", "settings.toml"]
        assert refusal(*words) == "Error: --temp-directory 'gone' is not a folder."
        found = rows(*words, "--temp-directory", "parts", "--blank", "empty")
        expected = rows("score", "study.csv", "--blank", "empty")
        pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(expected), **TIGHT)


@pytest.mark.parametrize(
    "words",
    [
        # All 6 arrangements are listed: both roads have the same ones.
        "test few.csv --seed 1",
        "compare study.csv -d masi,nominal --method bootstrap --seed 1 --resamples 99",
        "compare parts/0.csv parts/1.csv --design independent",
        "plan study.csv --half-width 0.03",
    ],
)
def test_other_commands(words):
    Path("few.csv").write_text("unit,rater,labels\n1,a,x\n1,b,x\n2,a,y\n2,b,y\n", "utf-8")
    same([*words.split(), "--blank", "empty"], LARGE)


class TestRefusals:
    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["--wide"], "--wide is for files that are read into memory; omit it, or --memory"),
            (["--raters-in-rows"], "--raters-in-rows is for files that are read into memory"),
            (["--exclude-raters", "r1"], "--exclude-raters is for files"),
            (["--delimiter", ";"], "--delimiter is for files"),
            (["--question", "q"], "--question is for files"),
            (["--roster", "r"], "--roster is for files"),
            (["--tool", "brat"], "--tool 'brat' is for files"),
            (["--duplicates", "first"], "--duplicates is for files"),
            (["-c", "cohen_kappa"], "cohen_kappa"),
            (["--temp-directory", "gone"], "--temp-directory 'gone' is not a folder."),
            (["--assume-unique", "--wide"], "or --assume-unique, --memory-limit."),
        ],
    )
    def test_options(self, words, sentence):
        """Layouts, exports, repeats and coefficients by rater need the file in memory."""
        assert sentence in refusal("score", "study.csv", *LARGE, *words)

    def test_memory_limit(self):
        sentence = refusal("score", "study.csv", "--memory-limit", "much")
        assert "--memory-limit 'much' is not an amount of memory; write" in sentence

    def test_files(self, folder):
        """Files that DuckDB does not read, are not there, or are the export of a tool."""
        export = toy.write(folder, "label_studio_json")
        generated(9).to_json("study.json", orient="records")
        sentence = refusal("score", export, *LARGE)
        assert "the export of a tool, Label Studio, JSON, which is read into memory" in sentence
        assert "omit --memory-limit" in sentence
        assert sentence.endswith("name the columns: --unit, --rater and --labels.")
        sentence = refusal("score", "study.json", "--labels", "labels", *LARGE)
        assert "is read into memory as a whole; only Parquet, CSV" in sentence
        assert "Omit --memory-limit or convert it" in sentence
        assert "gone.csv" in refusal("score", "gone.csv", *LARGE)
        assert "read into memory" in refusal("score", "-", *LARGE)

    def test_repeats(self):
        """Repeated ratings are an error there, too, unless they are not looked for."""
        Path("twice.csv").write_text("unit,rater,labels\n1,a,x\n1,a,y\n2,a,x\n2,b,x\n", "utf-8")
        assert "1 pair of unit and rater annotated more than once" in refusal(
            "score", "twice.csv", *LARGE
        )
        assert ok("score", "twice.csv", "--assume-unique")

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (
                ["test", "study.csv", "--scheme", "table"],
                "--scheme table is for files that are read into",
            ),
            (
                ["plan", "study.csv", "--ratings", "2,3"],
                "--ratings is for files that are read into memory",
            ),
            (
                ["plan", "study.csv", "--budget", "99", "--cost-rating", "1"],
                "--cost-rating is for files that are read into memory",
            ),
            (["compare", "parts/0.csv", "parts/1.csv"], "--design independent"),
        ],
    )
    def test_commands(self, words, sentence):
        """Reshuffles by rater, other numbers of raters, and units that are matched."""
        assert sentence in refusal(*words, *LARGE)

    @pytest.mark.parametrize("command", ["diagnose", "report", "consensus", "convert"])
    def test_not_everywhere(self, command):
        result = invoke(command, "study.csv", *LARGE)
        assert result.exit_code == 2
        assert "No such option" in result.stderr

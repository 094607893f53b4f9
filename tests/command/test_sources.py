"""The command on exports of tools: formats, convert, --tool, --config, completion, terminals."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path

import pandas as pd
import pytest
from cli_support import Terminal, invoke, ok, on_a_terminal, on_one_screen, refusal, script
from exports import json_writers as toy

import setagree as sa
from setagree.cli import show as cli_show
from setagree.errors import spelling

pytest.importorskip("typer", reason="the command needs the cli extra")


from setagree import __main__
from setagree.cli import options as cli_options
from setagree.large import recognition as reading

LONG = 'doc,who,tags\nd1,ann,"joy, fear"\nd1,bob,joy\nd2,ann,fear\nd2,bob,fear\nd3,ann,\nd3,bob,\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a fresh folder with a long table."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(sa.__file__).parents[1]))
    Path("long.csv").write_text(LONG, encoding="utf-8")
    return tmp_path


class TestFormats:
    def test_list(self):
        printed = ok("formats")
        for name, title in sa.formats()[["name", "title"]].itertuples(index=False):
            assert re.search(rf"^{re.escape(name)} +{re.escape(title)}\*?$", printed, re.MULTILINE)
        assert "prodigy                Prodigy, JSONL (choice, spans)*\n" in printed
        assert "* from the documented format, not verified against a live export\n" in printed

    def test_for_programs(self):
        with spelling(cli_options.CALLED):
            expected = sa.formats().to_dict("records")
        assert json.loads(ok("formats", "-f", "json")) == expected
        notes = {row["name"]: row["notes"] for row in expected}
        assert notes["cvat"] == "An image without tags needs --blank or --roster."
        notes = sa.formats().set_index("name")["notes"]
        assert notes["cvat"] == "An image without tags needs blank= or roster=."
        assert "blank='missing' is used" in notes["atlasti"]
        assert not notes.str.contains("$", regex=False).any()
        ok("formats", "-o", "list.txt")
        assert Path("list.txt").read_text(encoding="utf-8") == ok("formats")


class TestConvert:
    @pytest.mark.parametrize("name", ["label_studio_json", "prodigy", "labelbox", "hf_nested"])
    def test_round_trip(self, folder, name):
        """Converted and read as a long CSV, the truth is the same; no blank= is needed."""
        result = invoke("convert", toy.write(folder, name), "-o", "out.csv")
        assert (result.exit_code, result.stdout) == (0, "")
        assert "10 ratings of 4 units by 3 raters" in result.stderr
        cells = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
        assert cells.columns.tolist() == ["unit", "rater", "labels"]
        assert toy.found(sa.Annotations.from_long(cells)) == toy.answered(toy.TRUTH)

    def test_to_stdout(self, folder):
        result = invoke("convert", toy.write(folder, "prodigy"))
        frame = pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)
        assert toy.found(sa.Annotations.from_long(frame)) == toy.answered(toy.TRUTH)
        assert "1 missing left out" in result.stderr
        assert result.stdout.count("[]") == 2

    @pytest.mark.parametrize("words", [["-f", "json"], ["-o", "out.json"]])
    def test_json(self, folder, words):
        printed = ok("convert", toy.write(folder, "prodigy"), *words)
        rows = json.loads(printed or Path("out.json").read_text(encoding="utf-8"))
        assert rows[1] == {"unit": "p1", "rater": "noa", "labels": ["crow", "gull"]}
        assert rows[5]["labels"] == []

    def test_tables_and_values(self):
        Path("wide.csv").write_text("item,a,b\n1,2,10\n2,3,\n", encoding="utf-8")
        wide = ok("convert", "wide.csv", "--wide", "--kind", "value", "--blank", "missing")
        assert wide == "unit,rater,value\n1,a,2\n2,a,3\n1,b,10\n"
        assert "| d1 | ann | fear, joy |" in ok("convert", "long.csv", "-f", "markdown")
        json_rows = json.loads(ok("convert", "wide.csv", "--wide", "--kind", "value", "-f", "json"))
        assert json_rows[0] == {"unit": "1", "rater": "a", "value": 2}

    @pytest.mark.parametrize(("which", "row"), [("first", "a,y,one.csv"), ("last", "a,z,two.csv")])
    def test_files_of_repeated_answers(self, which, row):
        for name, labels in (("one", "y"), ("two", "z")):
            Path(f"{name}.csv").write_text(f"unit,rater,labels\nu,a,{labels}\nv,b,{labels}\n")
        words = ["one.csv", "two.csv", "--filename-column", "round", "--duplicates", which]
        assert ok("convert", *words).splitlines()[:2] == ["unit,rater,labels,round", f"u,{row}"]

    def test_a_table_for_people_is_no_table_to_convert_to(self):
        assert "use csv, json or markdown" in refusal("convert", "long.csv", "-f", "table")

    def test_formulas(self):
        """--escape keeps a spreadsheet from running a cell; without it nothing is changed."""
        Path("odd.csv").write_text("unit,rater,labels\n=1,+a,@x\n=1,-b,y\n", encoding="utf-8")
        assert ok("convert", "odd.csv") == "unit,rater,labels\n=1,+a,@x\n=1,-b,y\n"
        assert ok("convert", "odd.csv", "--escape") == "unit,rater,labels\n'=1,'+a,'@x\n'=1,'-b,y\n"

    def test_the_input_is_not_written(self, folder):
        path = toy.write(folder, "prodigy")
        assert "is the input" in refusal("convert", path, "-o", path)


class TestFrom:
    def test_score(self, folder):
        """A recognised export is scored as `sa.read` reads it, and the format is said."""
        path = toy.write(folder, "label_studio_json")
        result = invoke("score", path, "-f", "csv")
        table = sa.agreement(sa.read(path))
        df = [row.degrees_of_freedom for row in table]
        expected = table.to_frame().assign(degrees_of_freedom=df, about="these raters")
        assert result.stdout == expected.to_csv(index=False, lineterminator="\n")
        assert result.stderr == "Read as Label Studio, JSON (--tool 'label_studio_json')\n"

    @pytest.mark.parametrize("command", ["test", "compare", "plan"])
    def test_other_commands(self, folder, command):
        """So are exports in the other commands; a named format is not said again."""
        words = [toy.write(folder, "prodigy"), "--tool", "prodigy", "--seed", "1"]
        words += {"test": ["--resamples", "9"], "compare": ["-d", "masi,nominal"]}.get(command, [])
        words = [word for word in words if command != "compare" or word not in {"--seed", "1"}]
        result = invoke(command, *words)
        assert result.exit_code == 0, result.stderr
        assert "Read as" not in result.stderr

    def test_options_of_exports(self, folder):
        records = toy.label_studio(toy.TRUTH)
        records[0]["annotations"][0]["result"].append(toy.choices({"yes"}, name="sharp"))
        path = toy.write(folder, "label_studio_json", records)
        assert "--question 'birds'" in refusal("convert", path)
        words = ["--question", "birds", "--blank", "empty", "--case", "lower"]
        words += ["--codebook", 'crow,gull,"heron, grey",wren|owl#']
        assert len(ok("convert", path, *words).splitlines()) == 11
        toy.OPTIONS["argilla_nested"]["roster"].to_csv("roster.csv", index=False)
        nested = toy.write(folder, "argilla_nested")
        assert "--roster" in refusal("convert", nested)
        assert len(ok("convert", nested, "--roster", "roster.csv").splitlines()) == 11
        truth = {("p1", "mia"): {"a;b"}, ("p1", "noa"): {"a"}}
        Path("csv").mkdir()
        toy.doccano(Path("csv"), truth, kind="csv")
        split, plain = (invoke("convert", "csv", *more) for more in (["--label-sep", ";"], []))
        assert "a; b" in split.stdout
        assert "to read this again, use --label-sep ';'" in split.stderr
        assert "a;b" in plain.stdout
        assert "to read this again" not in plain.stderr

    @pytest.mark.parametrize("command", ["convert", "consensus"])
    def test_labels_with_another_separator_are_quoted(self, folder, command):
        cells = ['"and/or", joy/fear', "joy", "a/joy"]
        rows = {"unit": [1, 2, 3], "rater": ["a"] * 3, "labels": cells}
        pd.DataFrame(rows).to_csv("m.csv", index=False)
        ok(command, "m.csv", "--label-sep", ",", "--label-sep", "/", "-o", "out.csv")
        written = pd.read_csv("out.csv")["labels"]
        assert written.tolist() == ['"and/or", fear, joy', "joy", "a, joy"]

    def test_tables_stay_tables(self, folder):
        assert "Columns guessed" in invoke("score", "long.csv", "--blank", "empty").stderr
        toy.doccano(folder, {("1", "ann"): {"x"}}, kind="csv")
        assert "does not identify the rater" in refusal("convert", "ann.csv")
        assert "No column has a usual name" in refusal("convert", "ann.csv", "--tool", "table")
        named = ["--unit", "id", "--rater", "text", "--labels", "label"]
        assert "1 row without a rater" in refusal("convert", "ann.csv", *named)

    @pytest.mark.parametrize(
        ("words", "part"),
        [
            (["--tool", "prodgy"], "--tool 'prodgy' is unknown; 'setagree formats' lists them."),
            (
                ["--tool", "prodigy", "--unit", "doc"],
                "--unit is for tables: use --tool 'table', or omit it",
            ),
            (["--tool", "prodigy", "--wide"], "--wide is for tables"),
            (["--tool", "prodigy", "--raters", "a"], "--raters is for tables"),
            (["--question", "q"], "--question is for the export of a tool; see 'setagree formats'"),
            (["--roster", "q.csv", "--raters-in-rows"], "--roster is for label sets in a column"),
            (["--encoding", "utf-9"], "not a text encoding"),
        ],
    )
    def test_sentences(self, words, part):
        assert part in refusal("score", "long.csv", *words)

    def test_plan_calls_its_columns_by_their_name(self):
        words = ["--tool", "prodigy", "--raters", "a"]
        assert "--raters is for tables" in refusal("plan", "long.csv", *words)

    def test_several_formats(self, folder, monkeypatch):
        """What could be two formats is not guessed; --tool settles it."""
        monkeypatch.setattr(reading, "FORMATS", reading.FORMATS * 2)
        path = toy.write(folder, "prodigy")
        sentence = refusal("score", path)
        assert "could be 'prodigy', 'prodigy'; choose one with --tool 'prodigy'." in sentence
        ok("score", path, "--tool", "prodigy")

    def test_damaged(self, folder):
        path = toy.write(folder, "label_studio_json")
        path.write_text(path.read_text(encoding="utf-8")[:200], encoding="utf-8")
        assert re.search(r"label_studio_json\.json', line \d+", refusal("score", path))


class TestConfig:
    def write(self, text):
        """Write the settings and return the option that names them."""
        Path("setagree.toml").write_text(text, encoding="utf-8")
        return ["--config", "setagree.toml"]

    def test_options_of_a_command(self):
        config = self.write(
            'blank = "empty"\n[score]\n'
            'distance = ["masi", "jaccard"]\ncoefficient = "fleiss_kappa"\n'
            "interval-method = 'basic'\ninterval = 'bootstrap'\nresamples = 50\nseed = 3\n"
        )
        words = ["--blank", "empty", "-d", "masi,jaccard", "-c", "fleiss_kappa", "--seed", "3"]
        words += ["--interval", "bootstrap", "--interval-method", "basic", "--resamples", "50"]
        assert ok("score", "long.csv", *config) == ok("score", "long.csv", *words)
        words[words.index("masi,jaccard")] = "dice"
        assert ok("score", "long.csv", *config, "-d", "dice") == ok("score", "long.csv", *words)

    def test_what_a_command_has_no_use_for(self):
        Path("again.csv").write_text(
            "unit,rater,labels,score\n1,a,x,1\n1,a,y,1\n1,b,x,2\n2,a,x,1\n2,b,x,2\n"
        )
        config = self.write('duplicates = "last"\nthreshold = 0.6\ncodebook = ["x", "y"]\n')
        result = invoke("repeats", "again.csv", *config)
        assert result.exit_code == 0
        assert "setagree.toml: not used by repeats: duplicates, threshold." in result.stderr
        result = invoke("score", "again.csv", "--value", "score", *config)
        assert result.exit_code == 0
        assert "codebook ignored, because single values have none." in result.stderr
        assert "omit --duplicates last" in refusal(
            "repeats", "again.csv", *self.write('[repeats]\nduplicates = "last"\n')
        )

    def test_all_kinds_of_values(self):
        Path("wide.csv").write_text('q,a,b\n1,"x, y",y\n2,y,y\n', encoding="utf-8")
        config = self.write(
            'codebook = ["x", "y", "z, z"]\n[score]\n'
            'wide = true\nraters = ["a", "b"]\nlevel = 0.9\n'
            'unit = "q"\nformat = "json"\n[plan]\nunits = [10, 20]\nhalf_width = 0.1\n'
        )
        rows = json.loads(ok("score", "wide.csv", *config))
        expected = ["--codebook", 'x,y,"z, z"', "--wide", "--level", "0.9", "--unit", "q"]
        assert rows == json.loads(ok("score", "wide.csv", *expected, "-f", "json"))

    def test_settings_of_other_commands(self):
        config = self.write('resamples = 9\nscheme = "table"\n[test]\nseed = 1\n')
        ok("convert", "long.csv", *config)

    @pytest.mark.parametrize(
        ("text", "part"),
        [
            ("distnace = 'masi'", "no command has an option 'distnace'. Did you mean 'distance'"),
            ("[scoer]\nlevel = 1", "no command 'scoer'. Did you mean 'score' or"),
            ("[score]\nlevle = 1", "[score]: no option 'levle'. Did you mean 'level' or"),
            ("[test]\nlevle = 1", "[test]: no option 'levle'."),
            ("config = 'x'", "no command has an option 'config'"),
            ("wide = 1", "wide must be true or false, not 1."),
            ("blank = true", "blank must be text or a number, not True."),
            ("blank = ['a']", "blank must be one value, not ['a']."),
            ("distance = [1979-05-27]", "distance must be text or a number, not ["),
            ("level = 'high'", "--level"),
            ("blank = 'emtpy'", "--blank 'emtpy' is unknown"),
            ("blank =", "is not TOML: Invalid value"),
        ],
    )
    def test_sentences(self, text, part, monkeypatch, capsys):
        code, printed = self.main(monkeypatch, capsys, *self.write(text))
        assert (code, printed.out) == (2, "")
        assert part in printed.err
        errors = [line for line in printed.err.splitlines() if line.startswith("Error: ")]
        assert len(errors) == 1

    def test_files_that_cannot_be_read(self, monkeypatch, capsys):
        Path("bytes.toml").write_bytes(b"a = '\xff'")
        for name, part in (("gone.toml", "There is no file"), ("bytes.toml", "is not TOML")):
            code, printed = self.main(monkeypatch, capsys, "--config", name)
            assert (code, part in printed.err) == (2, True)

    def test_a_byte_order_mark(self, monkeypatch, capsys):
        Path("bom.toml").write_bytes(b"\xef\xbb\xbfdistance = 'jaccard'\n")
        code, printed = self.main(monkeypatch, capsys, "--config", "bom.toml")
        assert (code, "jaccard" in printed.out) == (0, True)

    def main(self, monkeypatch, capsys, *words):
        """Run score as the console script does."""
        monkeypatch.setattr(sys, "argv", ["setagree", "score", "long.csv", *words])
        return __main__.main(), capsys.readouterr()

    def test_help_is_not_kept_from_anybody(self):
        self.write("blank =")
        env = {"_SETAGREE_COMPLETE": "complete_bash"}
        env |= {"COMP_WORDS": "setagree score --config setagree.toml --too", "COMP_CWORD": "4"}
        assert "--tool" in script(env=env).stdout


class TestCompletion:
    @pytest.mark.parametrize(
        ("words", "found"),
        [
            ("setagree conv", "convert"),
            ("setagree score --distance mas", "masi"),
            ("setagree score --distance nominal,mas", "nominal,masi"),
            ("setagree panel --distance mas", "masi"),
            ("setagree consensus -d jac", "jaccard"),
            ("setagree score -c krip", "krippendorff_alpha"),
            ("setagree score -c alph", "alpha"),
            ("setagree score -c alpha,flei", "alpha,fleiss"),
            ("setagree score --tool label_", "label_studio_json"),
            ("setagree score --tool tab", "table"),
        ],
    )
    def test_bash(self, words, found):
        env = {"_SETAGREE_COMPLETE": "complete_bash", "COMP_WORDS": words}
        env["COMP_CWORD"] = str(len(words.split()) - 1)
        assert found in script(env=env).stdout.split()

    def test_values(self):
        """The last of several values is gone on with; the formats are those that are listed."""
        known = ["masi", "masi_nltk", "dice"]
        assert cli_options.completing(lambda: known)("dice,mas") == ["dice,masi", "dice,masi_nltk"]
        assert cli_options.completing(lambda: known)("") == known
        assert cli_options._format_names() == ["table", *sa.formats()["name"]]

    def test_it_can_be_installed(self):
        assert "--install-completion" in ok("--help")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
class TestTerminal:
    BOLD = "\x1b[1m"

    def plain(self, text):
        return re.sub(r"\x1b\[[0-9;]*m", "", text)

    @pytest.mark.slow
    def test_results(self):
        """The head of a table stands out, and every line is the plain one."""
        pytest.importorskip("rich")
        words = ["score", "long.csv", "--blank", "empty"]
        shown = on_a_terminal(*words)
        assert f"{self.BOLD}coefficient" in shown
        assert f"{self.BOLD}3 units" not in shown
        assert self.plain(shown) == script(*words).stdout

    def test_lists(self):
        """Names stand out in lists; redirected they are plain."""
        pytest.importorskip("rich")
        for command in ("formats", "distances"):
            terminal = Terminal(io.BytesIO(), encoding="utf-8")
            assert self.BOLD in script(command, stdout=terminal, env={"TERM": "xterm"}).stdout
            assert "\x1b" not in script(command).stdout

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "words",
        [
            ["test", "many.csv", "--resamples", "99", "--seed", "1"],
            ["score", "many.csv", "--interval", "bootstrap", "--seed", "1"],
        ],
    )
    def test_progress(self, words):
        """Work that takes long is shown in one line, of which nothing is left beside results."""
        pytest.importorskip("tqdm")
        study = sa.simulate(60, 5, n_labels=4, rng=1).to_long()
        study["labels"] = [sa.format_labels(one) or "[]" for one in study["labels"]]
        study.to_csv("many.csv", index=False)
        written, left = on_one_screen(*words)
        assert "working" in written or "reading" in written
        plain = script(*words)
        expected = [*plain.stderr.splitlines(), *plain.stdout.splitlines()]
        assert [line for line in left if line] == [line for line in expected if line]

    def test_inside_this_process(self, monkeypatch, capsys):
        pytest.importorskip("rich")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        cli_show.print_list([("masi", "overlap")])
        cli_show.print_text("3 units\n\nname  n\nmasi  1\n\nA note.\n", heads=True)
        words = self.plain(capsys.readouterr().out).split()
        assert " ".join(words) == "masi overlap 3 units name n masi 1 A note."

    def test_without_rich(self, monkeypatch, capsys):
        monkeypatch.setitem(sys.modules, "rich", None)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        cli_show.print_list([("masi", "over " * 30), ("dice", "")])
        cli_show.print_text("a\nb\n", heads=True)
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= 80
        assert lines[0].startswith("masi  over over")
        assert lines[-3:] == ["dice", "a", "b"]
        assert cli_show.marked("[bold]x[/bold] [not dim]y[/] [] [a]") == "x y [] [a]"

"""The commands report and diagnose: the same findings, in a file and in the terminal."""

import io
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from cli_support import Terminal, invoke, ok, refusal, script

import setagree as sa
from setagree.errors import OptionError

pytest.importorskip("typer", reason="the command needs the cli extra")

from typer.testing import CliRunner

from setagree.cli import app as cli
from setagree.reporting.findings import gather, main_findings
from setagree.wording.sentences import Name, columns_of

EXAMPLE = Path(sa.__file__).parents[1] / "examples/study.csv"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write a long file, a wide one, one of scores, a hostile one, and others."""
    files = tmp_path_factory.mktemp("files")
    frame = sa.simulate(40, 3, n_labels=4, labels=["joy", "fear", "anger", "calm"], rng=1).to_long()
    frame["labels"] = [sa.format_labels(one) for one in frame["labels"]]
    frame["batch"] = ["first" if int(unit[1:]) <= 20 else "second" for unit in frame["unit"]]
    frame.to_csv(files / "long.csv", index=False)
    frame.pivot_table(index="unit", columns="rater", values="labels", aggfunc="first").to_csv(
        files / "wide.csv"
    )
    frame.assign(score=frame["labels"].str.len())[["unit", "rater", "score"]].to_csv(
        files / "scores.csv", index=False
    )
    for label, hostile in {"joy": HOSTILE, "fear": "多标签" * 20, "calm": "a\u202eb"}.items():
        frame["labels"] = frame["labels"].str.replace(label, hostile)
    frame.to_csv(files / "hostile.csv", index=False)
    five().to_long().assign(
        labels=[sa.format_labels(one) for one in five().to_long()["labels"]]
    ).to_csv(files / "five.csv", index=False)
    (files / "same.csv").write_text("unit,rater,labels\n1,a,x\n1,b,x\n2,a,x\n2,b,x\n", "utf-8")
    return files


@pytest.fixture(autouse=True)
def folder(files, tmp_path, monkeypatch, few_draws):
    """Work in a fresh folder with the files."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(sa.__file__).parents[1]))


def on_screen(*words, columns=80):
    """Return what the command, which must succeed, shows on a terminal of so many columns."""
    stream = Terminal(io.BytesIO(), encoding="utf-8")
    env = {"COLUMNS": str(columns), "TERM": "dumb"}  # which knows no bold letters
    run = script(*words, env=env, stdout=stream)
    assert run.returncode == 0, run.stderr
    return run.stdout


def five():
    """Return a study of five raters, the last of them the best."""
    return sa.simulate(120, 5, n_labels=4, skill=[0.7, 0.7, 0.7, 0.7, 0.9], rng=1)


def study():
    frame = pd.read_csv("long.csv", dtype=str, keep_default_na=False)
    return sa.Annotations.from_long(frame, blank="empty")


LONG = ["long.csv", "--blank", "empty", "--resamples", "19", "--seed", "1"]


class TestDiagnose:
    def test_the_findings_are_those_of_the_library(self):
        printed = " ".join(ok("diagnose", *LONG).split())
        found = gather(study(), n_resamples=19, rng=1)
        for one in main_findings(found):
            said = "".join(x.short if isinstance(x, Name) else x for x in one.sentence)
            assert f"- {one.about}: {' '.join(said.split())}" in printed

    @pytest.mark.parametrize("file", ["long.csv", "hostile.csv"])
    def test_it_fits_the_terminal(self, file):
        printed = on_screen("diagnose", "--tables", file, *LONG[1:], "--by", "batch")
        assert max(map(columns_of, printed.splitlines())) <= 80

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("file", "columns"), [("long.csv", 40), ("hostile.csv", 60), ("hostile.csv", 200)]
    )
    def test_it_uses_the_width_of_the_terminal(self, file, columns):
        narrow = on_screen("diagnose", "--tables", file, *LONG[1:])
        printed = on_screen("diagnose", "--tables", file, *LONG[1:], columns=columns)
        widest = max(map(columns_of, printed.splitlines()))
        assert widest <= columns
        if columns > 80:
            assert widest > 80
            assert printed.count("…") < narrow.count("…")

    def test_no_cell_is_cut_in_a_pipe_or_a_file(self):
        shown = on_screen("diagnose", "--tables", "hostile.csv", *LONG[1:], columns=60)
        piped = ok("diagnose", "--tables", "hostile.csv", *LONG[1:])
        assert "…" in shown
        assert "多标签" * 20 not in shown
        assert "…" not in piped
        assert "多标签" * 20 in piped
        heads = piped.partition("LABELS\n")[2].partition("\n")[0]
        assert heads.split()[-6:] == ["Agree", "on", "yes", "Agree", "on", "no"]
        assert max(map(columns_of, piped.partition("DATA USED")[0].splitlines())) <= 80
        ok("diagnose", "--tables", "hostile.csv", *LONG[1:], "-o", "out.txt")
        assert Path("out.txt").read_text(encoding="utf-8") == piped

    def test_hostile_signs_are_spelled_out(self):
        printed = ok("diagnose", "--tables", "hostile.csv", *LONG[1:])
        assert "\u202e" not in printed
        assert HOSTILE in printed

    def test_the_seed_is_printed(self):
        assert ok("diagnose", "--tables", *LONG).endswith("\n19 resamples, seed 1.\n")
        shown = " ".join(ok("diagnose", *LONG).split())
        assert shown.endswith(" 19 resamples, seed 1. For the tables, use --tables.")
        words = [word for word in map(str, LONG) if word != "--seed" and word != "1"]
        printed = ok("diagnose", "--tables", *words)
        seed = printed.rpartition("seed ")[2].strip().removesuffix(".")
        assert ok("diagnose", "--tables", *words, "--seed", seed) == printed

    @pytest.mark.parametrize("blank", ["missing", "empty"])
    def test_the_findings_of_the_example_fit_a_terminal_of_25_lines(self, blank):
        lines = ok("diagnose", EXAMPLE, "--blank", blank, "--seed", "1").splitlines()
        assert len(lines) <= 25
        assert max(map(columns_of, lines)) <= 80

    def test_rows(self):
        """A table has the rows of the report, and its note on more."""
        printed = ok("diagnose", "--tables", *LONG)
        rows = printed.partition("LABELS\n")[2].partition("\n\n")[0].splitlines()
        assert {row.split()[0] for row in rows[1:]} == {"joy", "fear", "anger", "calm"}
        assert re.search(r"\nThe first 12 of \d\d; sa\.by_unit returns all\.\n", printed)

    def test_groups(self):
        printed = ok("diagnose", "--tables", *LONG, "--by", "batch")
        frame = pd.read_csv("long.csv", dtype=str, keep_default_na=False)
        expected = sa.by_group(frame, "batch", reading=sa.Reading(blank="empty")).set_index(
            "group"
        )["estimate"]
        for group, estimate in expected.items():
            assert re.search(rf"^{group} +{estimate:.3f} \(", printed, re.MULTILINE)

    def test_options(self):
        """Coefficient, distance and level are those that are asked for; wide files are read."""
        words = ["-c", "fleiss_kappa", "-d", "jaccard", "--level", "0.9", *LONG[1:]]
        long, wide = (
            ok("diagnose", "--tables", "long.csv", *words),
            ok("diagnose", "--tables", "wide.csv", "--wide", *words),
        )
        assert long.startswith("Fleiss' kappa with the Jaccard distance is ")
        assert "90% score interval" in long
        assert wide.splitlines()[0] == long.splitlines()[0]

    def test_models(self):
        printed = ok("diagnose", "--tables", "five.csv", *LONG[1:], "--model", "r5")
        table = sa.alt_test(five(), model="r5")["r5"].humans
        assert "- Models: r5 may replace a human: it wins over 4 of 4 humans" in printed
        assert "MAY A MODEL REPLACE A HUMAN?" in printed
        assert "AGREEMENT WITH THE CONSENSUS OF THE HUMANS" in printed
        assert "RATERS ON A MAP" in printed
        for human, row in table.iterrows():
            line = rf"^{human} +{row['n_units']} +{row['advantage']:.3f} \("
            assert re.search(line, printed, re.MULTILINE)
        both = ok("diagnose", "--tables", "five.csv", *LONG[1:], "--model", "r5", "-m", "r4")
        assert "MODEL 2 COMPARED WITH EACH HUMAN" in both
        assert ok("diagnose", "--tables", "five.csv", *LONG[1:], "--model", "r5,r4") == both
        assert "MODEL 1" not in printed

    def test_what_is_left_out_is_said(self):
        printed = ok("diagnose", "--tables", *LONG, "--model", "r3")
        section = printed.partition("MAY A MODEL REPLACE A HUMAN?\n")[2].partition("\n\n")[0]
        people = (
            "Treated as people: r1 and r2 (all raters without the mark or the name of a model)."
        )
        assert " ".join(section.split()).endswith(f"the study has 2 humans. {people}")

    def test_unknown_model(self):
        sentence = refusal("diagnose", *LONG, "--model", "r33")
        assert "model 'r33' gave no answer in this study. Did you mean" in sentence

    def test_scores(self):
        """Numbers have findings, too."""
        printed = ok("diagnose", "--tables", "scores.csv", "--value", "score", *LONG[3:])
        assert printed.startswith("Krippendorff's alpha with the interval distance is ")
        assert "CONFUSIONS" not in printed

    def test_undefined(self):
        """Where nothing can be said, the reason is."""
        assert "only one value was used" in ok("diagnose", "--tables", "same.csv", *LONG[3:])

    def test_to_a_file(self):
        printed = ok("diagnose", "--tables", *LONG)
        assert ok("diagnose", "--tables", *LONG, "-o", "found.txt") == ""
        assert Path("found.txt").read_text(encoding="utf-8") == printed

    def test_the_seed_is_drawn_where_none_is_given(self):
        assert "Agreement is above chance" in ok("diagnose", "--tables", *LONG[:-2])


class TestReport:
    @pytest.mark.slow
    def test_page(self):
        pytest.importorskip("jinja2", reason="the page needs the report extra")
        pytest.importorskip("matplotlib", reason="the page needs the report extra")
        from setagree.reporting.report import report

        result = invoke("report", *LONG, "-o", "out.html", "--by", "batch")
        assert (result.exit_code, result.stdout) == (0, "")
        assert re.search(r"^Written: out.html \(0.\d MB, seed 1\)$", result.stderr, re.MULTILINE)
        frame = pd.read_csv("long.csv", dtype=str, keep_default_na=False)
        report(
            study(),
            "direct.html",
            groups=sa.by_group(
                frame, "batch", reading=sa.Reading(blank="empty"), n_resamples=19, rng=1
            ),
            title="long",
            n_resamples=19,
            rng=1,
        )
        assert Path("out.html").read_bytes() == Path("direct.html").read_bytes()

    @pytest.mark.parametrize(
        ("command", "file", "endings"),
        [
            ("report", "y.docx", ".html, .htm, .md, .markdown or .pdf"),
            ("report", "y.txt", ".html, .htm, .md, .markdown or .pdf"),
            ("diagnose", "d.pdf", ".txt"),
            ("diagnose", "d.json", ".txt"),
        ],
    )
    def test_endings(self, command, file, endings):
        """A file whose ending promises something else is refused, and nothing is written."""
        said = refusal(command, *LONG, "-o", file)
        assert said.endswith(f"use a name that ends in {endings}, not '{file}'.")
        assert not Path(file).exists()

    def test_how_it_was_read(self):
        ok("report", *LONG, "-o", "y.md", "--na-values", "NA,n/a", "--case", "lower")
        written = Path("y.md").read_text(encoding="utf-8")
        assert "the answers “NA” and “n/a” count as missing" in written
        assert "labels were compared in lower case" in written

    def test_markdown(self):
        ok("report", *LONG, "-o", "out.md", "--title", "Round 2")
        assert Path("out.md").read_text(encoding="utf-8").startswith("# Round 2\n")
        ok("report", *LONG, "-o", "out.txt", "--format", "markdown")
        said = Path("out.txt").read_text(encoding="utf-8")
        assert said.startswith("# long\n")
        assert "blank cells were taken as the empty set; " in said

    def test_models(self):
        ok("report", "five.csv", *LONG[1:], "--model", "r5", "-o", "out.md")
        said = Path("out.md").read_text(encoding="utf-8")
        assert "## May a model replace a human?" in said
        assert "- **Models.** r5 may replace a human" in said

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["-o", "x.md", "--model", "rx"], "model 'rx' gave no answer"),
            (
                ["-o", "long.csv", "--format", "markdown"],
                "is the input; choose another",
            ),
            (["-o", "absent/x.html"], "There is no folder 'absent'"),
            (["-o", "x.html", "--format", "docx"], "--format 'docx' is unknown"),
            (["-o", "x.md", "-d", "masi,jaccard"], "only one distance can be explained"),
            (["-o", "x.md", "-c", "fleiss_kappa", "-c", "mv_alpha"], "only one coefficient can"),
            (["-o", "x.md", "--by", "bach"], "Did you mean 'batch'?"),
            (["-o", "x.md", "--seed", "-3"], "--seed -3 must be at least 0"),
            (["-o", "x.md", "--resamples", "0"], "--resamples 0 must be"),
            (["-o", "x.md", "--level", "7"], "--level 7.0 must lie between 0 and 1"),
        ],
    )
    def test_refusals(self, words, sentence):
        before = sorted(Path().iterdir())
        content = Path("long.csv").read_bytes()
        assert sentence in refusal("report", *LONG[:3], *words)
        assert sorted(Path().iterdir()) == before
        assert Path("long.csv").read_bytes() == content

    @pytest.mark.parametrize("command", ["diagnose", "report"])
    def test_a_model_in_a_file(self, command):
        table = sa.simulate(60, 5, rng=1).to_long()
        table["labels"] = table["labels"].map(sa.format_labels)
        table = table.replace({"rater": {"r5": "gpt"}})
        is_model = table["rater"] == "gpt"
        pd.concat([table[~is_model], table[is_model]]).to_csv("all.csv", index=False)
        table[~is_model].to_csv("humans.csv", index=False)
        table[is_model].drop(columns="rater").to_csv("gpt.csv", index=False)
        words = ["--blank", "empty", "--seed", "1", "--resamples", "19"]
        pages = []
        for file, model in (("all.csv", "gpt"), ("humans.csv", "gpt.csv")):
            target = ["-o", "x.md", "--title", "x"] if command == "report" else []
            printed = ok(command, file, "--model", model, *words, *target)
            pages.append(Path("x.md").read_text() if target else printed)
        assert "gpt" in pages[0]
        assert pages[0] == pages[1]

    def test_groups_of_raters(self):
        people = [
            (f"u{u}", r, "ab"[u % 2 if r < "d" else u // 2 % 2])
            for u in range(40)
            for r in "abcdefg"
        ]
        table = pd.DataFrame(people, columns=["unit", "rater", "labels"])
        table["panel"] = (table["rater"] < "d").map({True: "north", False: "south"})
        table.to_csv("panels.csv", index=False)
        printed = " ".join(
            ok("diagnose", "--tables", "panels.csv", "--by", "panel", "--seed", "1").split()
        )
        assert "Agreement inside north (1.000) and south (1.000); between the two" in printed
        # The least p of 35 divisions does not hold beside the other claims.
        assert "The groups are not distinguishable from groups of raters formed at" in printed
        without = ok(
            "diagnose", "panels.csv", "--by", "panel", "--seed", "1", "--exclude-raters", "g"
        )
        assert "so few raters can be divided" in " ".join(without.split())

    @pytest.mark.parametrize("role", ["unit", "rater", "labels"])
    def test_a_column_that_has_a_role(self, role):
        """A column of the units, raters or labels names no groups, and no times; the error says so.

        The functions say the same.
        """
        table = pd.DataFrame(
            {"unit": ["1", "1", "2", "2"], "rater": ["a", "b"] * 2, "labels": ["x", "x", "y", "x"]}
        )
        table.to_csv("roles.csv", index=False)
        says = f"{role!r}: this column is already used as the {role}; name another."
        assert refusal("diagnose", "roles.csv", "--by", role) == f"Error: --by {says}"
        times = ("--time", role, "--window", "7D")
        assert refusal("diagnose", "roles.csv", *times) == f"Error: --time {says}"
        for call in (
            lambda: sa.by_group(table, by=role),
            lambda: sa.over_time(table, time=role, window="7D"),
        ):
            with pytest.raises(OptionError, match=f"={says}"):
                call()

    def test_group_of_a_wide_file(self):
        words = ["wide.csv", "--wide", *LONG[1:], "-o", "x.md", "--by", "batch"]
        assert "--by makes sense only without --wide" in refusal("report", *words)

    def test_the_target_is_needed(self):
        done = script("report", "long.csv")
        assert done.returncode == 2
        assert done.stdout == ""
        assert "'--output' / '-o'" in done.stderr


@pytest.mark.parametrize("command", ["report", "diagnose"])
def test_help_fits_the_terminal(command):
    printed = CliRunner().invoke(cli.app, [command, "--help"], env={"COLUMNS": "80"}).stdout
    assert f"setagree {command} study.csv" in printed
    assert max(map(len, printed.splitlines())) <= 80

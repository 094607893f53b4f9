"""The commands that say how sure: the bootstrap of score, test, compare and plan."""

import csv
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_support import WALKTHROUGH, invoke, ok, refusal, rows
from inference_support import planned

import setagree as sa

pytest.importorskip("typer", reason="the command needs the cli extra")

from typer.testing import CliRunner

from setagree.cli import app as cli
from setagree.cli import inference as cli_inference
from setagree.cli.options import CALLED
from setagree.errors import spelling

# Alpha of the walk-through with masi, its se, and with nominal: irrCAC with rounding removed.
MASI, MASI_SE, NOMINAL = 0.40257152, 0.15186146, 0.35266821
# Three units, two raters: alpha = 1 - Do / De with Do = 1/3 and De = 2 * 3 * 3 / (6 * 5) = 3/5.
SMALL = "unit,rater,labels\n1,a,x\n1,b,x\n2,a,y\n2,b,y\n3,a,x\n3,b,y\n"
SAME = "unit,rater,labels\n1,a,x\n1,b,x\n2,a,x\n2,b,x\n"
WIDE = ["--wide", "--blank", "missing"]
ALPHA = "krippendorff_alpha"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a fresh folder with the walk-through, a small study and one without variation."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"walk.csv": WALKTHROUGH, "small.csv": SMALL, "same.csv": SAME}.items():
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def walk():
    return sa.Annotations.from_wide(pd.read_csv("walk.csv", dtype=str), unit="unit")


def shares(*names):
    """Return a long table of two raters on the named units, who agree on all units but the last."""
    lines = [f"{name},{rater},{'xyz'[k % 3]}" for k, name in enumerate(names) for rater in "ab"]
    lines[-1] = f"{names[-1]},b,w"
    return "\n".join(["unit,rater,labels", *lines]) + "\n"


class TestScore:
    @pytest.mark.parametrize("method", ["percentile", "basic", "BCa"])
    def test_equals_the_library(self, walk, method):
        words = ["--interval", "bootstrap", "--interval-method", method, "--resamples", "300"]
        words += ["--seed", "7", "--level", "0.9"]
        found = rows("score", "walk.csv", *WIDE, *words)
        table = sa.agreement(walk)
        expected = sa.bootstrap(table, n_resamples=300, rng=7)
        assert [row["coefficient"] for row in found] == [ALPHA, "fleiss_kappa"]
        for row, boot in zip(found, expected.rows, strict=True):
            low, high = boot.interval(0.9, method=method)
            assert (row["low"], row["high"]) == (low, high)
            assert row["standard_error"] == boot.standard_error
            assert row["interval_method"] == f"bootstrap {method}"
            assert (row["n_resamples"], row["n_undefined"], row["seed"]) == (300, 0, 7)

    @pytest.mark.parametrize("over", ["raters", "both"])
    def test_over_raters(self, walk, over):
        words = ["--interval", "bootstrap", "--over", over, "--resamples", "60", "--seed", "7"]
        found = rows("score", "walk.csv", *WIDE, *words)
        expected = sa.bootstrap(sa.agreement(walk), n_resamples=60, over=over, rng=7)
        for row, boot in zip(found, expected, strict=True):
            assert (row["low"], row["high"]) == boot.interval()
            assert (row["over"], row["interval_method"]) == (over, "bootstrap percentile")
        text = " ".join(ok("score", "walk.csv", *WIDE, *words).split())
        said = {"raters": "raters", "both": "units and raters"}[over]
        assert f"bootstrap (percentile), 60 resamples of the {said}, seed 7." in text

    def test_only_the_interval_changes(self):
        analytic = rows("score", "walk.csv", *WIDE)[0]
        assert analytic.pop("reason") is analytic.pop("remark") is None
        assert analytic.pop("about") == "these raters"
        # It belongs to the analytic interval: the bootstrap has no p-value.
        del analytic["p_value"]
        found = rows("score", "walk.csv", *WIDE, "--interval", "bootstrap", "--resamples", 50)[0]
        added = {"over", "n_resamples", "n_undefined", "seed", "reason", "remark", "about"}
        assert list(found)[: len(analytic)] == list(analytic)
        assert set(found) - set(analytic) == added
        changed = {name for name in analytic if found[name] != analytic[name]}
        assert changed == {"standard_error", "low", "high", "interval_method", "degrees_of_freedom"}
        assert found["estimate"] == pytest.approx(MASI, abs=5e-9)

    def test_the_table_says_how(self):
        """The method, how many resamples, the seed and how many undefined stand below the table.

        A resample of SMALL is undefined where it has unit 1 or unit 2 alone: 2 in 27.
        """
        words = ["--interval", "bootstrap", "--interval-method", "bca", "--seed", "3"]
        text = " ".join(ok("score", "small.csv", "-c", ALPHA, *words).split())
        assert "bootstrap (BCa), 2,000 resamples of the units, seed 3." in text
        n_undefined = int(re.search(r"left out: ([\d,]+) of krippendorff_alpha \[masi\]", text)[1])
        # A binomial count: within 5 standard deviations.
        assert n_undefined == pytest.approx(2000 * 2 / 27, abs=5 * math.sqrt(2000 * 2 / 27))
        walk = ok("score", "walk.csv", *WIDE, *words)
        assert "No undefined resamples." in " ".join(walk.split())

    def test_undefined_estimate(self):
        words = ["score", "same.csv", "--interval", "bootstrap", "--resamples", "20", "-c", ALPHA]
        assert re.search(r"masi +1\.0000 +1\.0000 +- +- +-$", ok(*words), re.MULTILINE)
        row = rows(*words)[0]
        assert (row["low"], row["high"], row["standard_error"]) == (None, None, None)
        assert row["n_undefined"] == 20

    def test_what_has_no_analytic_error(self, walk):
        words = ["-c", "mv_alpha", "--interval", "bootstrap", "--seed", "1", "--resamples", "40"]
        row = rows("score", "walk.csv", *WIDE, *words)[0]
        expected = sa.bootstrap(sa.mv_alpha(walk), n_resamples=40, rng=1)
        assert (row["low"], row["high"]) == expected.interval()
        assert "p_value" not in row
        assert row["reason"] is None  # that of the missing analytic interval is none of this one

    # The 90% intervals of T1: the score interval of an independent plain program, and t of irrCAC.
    @pytest.mark.parametrize(
        ("words", "method", "shown"),
        [
            ([], "score", "0.1273, 0.6741"),
            (["--interval", "score"], "score", "0.1273, 0.6741"),
            (["--interval", "t"], "t", "0.1273, 0.6778"),
        ],
        ids=" ".join,
    )
    def test_methods(self, walk, words, method, shown):
        """Score intervals by default, t on request, with their p; every form names the method."""
        words = ["score", "walk.csv", *WIDE, *words, "--level", "0.9"]
        table = sa.agreement(walk, level=0.9, interval=method)
        for row, one in zip(rows(*words), table, strict=True):
            assert [row["low"], row["high"]] == [*one.interval(0.9, method=method)]
            assert row["interval_method"] == method
            assert (row["standard_error"], row["p_value"]) == (one.standard_error, one.p_value)
        assert shown in ok(*words)
        by_t = "The interval is estimate ± t se, and p that of the t test."
        assert (by_t in ok(*words)) == (method == "t")
        head, first, _ = csv.reader(io.StringIO(ok(*words, "--format", "csv")))
        assert dict(zip(head, first, strict=True))["interval_method"] == method
        head, _, first, _ = ok(*words, "--format", "markdown").splitlines()
        cells = dict(zip(head.split(" | "), first.split(" | "), strict=True))
        assert cells["interval_method"] == method

    def test_bootstrap_without_disagreement(self):
        frame = pd.DataFrame([(u, r, "aaabbbcccd"[u]) for u in range(10) for r in "xy"])
        frame.to_csv("full.csv", index=False, header=["unit", "rater", "labels"])
        text = ok("score", "full.csv", "--interval", "bootstrap", "--seed", "1")
        assert "No disagreement was seen in 10 units." in text
        assert "None" not in text

    @pytest.mark.parametrize(
        "words",
        [*(["--interval", kind] for kind in ("t", "score", "bootstrap")), ["--over", "both"]],
        ids=" ".join,
    )
    def test_rare_answers(self, words):
        frame = pd.DataFrame(
            [
                (u, r, "ab"[(u, r) in {(3, "x"), (5, "y"), (7, "z")}])
                for u in range(40)
                for r in "xyz"
            ]
        )
        frame.to_csv("rare.csv", index=False, header=["unit", "rater", "labels"])
        study = ["score", "rare.csv", "-c", ALPHA]
        (row,) = rows(*study)
        assert (row["low"], row["p_value"]) == (None, None)
        assert row["reason"].startswith("Too few rarer answers for an interval or a p-value")
        (row,) = rows(*study, *words)
        assert row["reason"] is None
        assert row["low"] is not None
        # Three of 120 answers are another one: 3 * 40 / 120 units.
        rough = r"The interval is rough: .* as much as 1\.0 unit, fewer than [48]"
        assert re.search(rough, " ".join(ok(*study, *words).split()))

    @pytest.mark.parametrize("words", [["score", "--interval"], ["compare", "-d", "masi,dice"]])
    def test_few_resamples(self, words):
        """Fewer than 200 resamples are too few for an interval, and that is said; 200 are not."""
        command, *rest = words
        rest += ["bootstrap"] if command == "score" else ["--method", "bootstrap"]
        warnings = {}
        for n in (1, 199, 200):
            result = invoke(command, "walk.csv", *WIDE, *rest, "--resamples", n, "--seed", 1)
            assert result.exit_code == 0
            warnings[n] = [x for x in result.stderr.splitlines() if "much on the seed" in x]
        more = "depends much on the seed. Use at least 1,000."
        assert warnings == {
            1: [f"Warning: an interval of 1 resample {more}"],
            199: [f"Warning: an interval of 199 resamples {more}"],
            200: [],
        }

    def test_small_p_in_markdown(self):
        pd.DataFrame(
            [(u, r, "abc"[u % 3]) for u in range(99) for r in "xyz"],
            columns=["unit", "rater", "labels"],
        ).assign(labels=lambda f: f["labels"].where(f.index % 50 != 7, "d")).to_csv("many.csv")
        words = ["many.csv", "-c", ALPHA, "-f", "markdown"]
        assert "| <0.0001 |" in ok("score", *words)
        assert "| 0.0000 |" not in ok("score", *words)

    @pytest.mark.parametrize(
        ("words", "part"),
        [
            (["--interval", "bootstap"], "Did you mean 'bootstrap'?"),
            (
                ["--interval", "score", "--seed", "1"],
                "--seed makes sense only with --interval boot",
            ),
            (["--interval", "score", "-c", "mv_alpha"], "--interval 'score' was not simulated"),
            (["--interval-method", "BCa"], "--interval-method makes sense only with --interval"),
            (["--resamples", "10"], "--resamples makes sense only with --interval bootstrap"),
            (["--seed", "1"], "--seed makes sense only with --interval bootstrap"),
            (["--interval", "bootstrap", "--interval-method", "bc"], "Did you mean 'BCa'?"),
            (["--interval", "bootstrap", "--resamples", "0"], "--resamples 0 must be"),
            (["--interval", "bootstrap", "--seed", "-1"], "--seed -1 must be"),
            (["--interval", "bootstrap", "--level", "2"], "--level 2.0 must lie"),
        ],
        ids=" ".join,
    )
    def test_refusals(self, words, part):
        assert part in refusal("score", "small.csv", *words)


class TestPermutation:
    @pytest.mark.parametrize("scheme", ["pooled", "within_rater", "table"])
    @pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
    def test_equals_the_library(self, walk, scheme, alternative):
        words = ["--scheme", scheme, "--alternative", alternative, "--resamples", "99"]
        row = rows("test", "walk.csv", *WIDE, *words, "--seed", "5")[0]
        options = {"scheme": scheme, "alternative": alternative, "n_resamples": 99, "rng": 5}
        test = sa.permutation_test(sa.krippendorff_alpha(walk), **options)
        expected = test.to_frame().assign(seed=5, reason=None).iloc[0].to_dict()
        assert list(row) == list(expected)
        for name, value in expected.items():
            assert row[name] == value or (row[name] is None and math.isnan(value))

    def test_several(self, walk):
        words = ["-c", "conger_kappa,fleiss_kappa", "-d", "jaccard", "--resamples", "20"]
        found = rows("test", "walk.csv", *WIDE, *words)
        named = [(row["coefficient"], row["distance"]) for row in found]
        assert named == [("conger_kappa", "jaccard"), ("fleiss_kappa", "jaccard")]
        default = rows("test", "walk.csv", *WIDE, "--resamples", "20")
        assert [(row["coefficient"], row["distance"]) for row in default] == [(ALPHA, "masi")]

    def test_each_row_has_its_arrangements(self):
        """Alpha counts 6 answers in units of two, 3 of them b: 6! / (3! 3!) = 20 arrangements.

        Percent agreement reshuffles all 8 answers, 5 of them b: 8! / (5! 3!) = 56.
        """
        lines = ["1,x,a", "1,y,b", "2,x,a", "2,y,a", "3,x,b", "4,y,b", "5,x,b", "5,y,b"]
        Path("lone.csv").write_text("\n".join(["unit,rater,labels", *lines]))
        words = ["test", "lone.csv", "-c", "krippendorff_alpha,percent_agreement"]
        words += ["--scheme", "pooled"]
        assert [row["n_resamples"] for row in rows(*words)] == [20, 56]
        text = " ".join(ok(*words).split())
        assert "krippendorff_alpha [masi]: p: the share of all 20 arrangements that come" in text
        assert "percent_agreement [masi]: p: the share of all 56 arrangements that come" in text
        few = " ".join(ok(*words, "--resamples", "30", "--seed", "1").split())
        assert "krippendorff_alpha [masi]: p: the share of all 20 arrangements that come" in few
        assert "share of 30 reshuffles and the study itself that come out" in few
        assert few.endswith("Seed 1.")

    def test_undefined(self):
        """Without variation there is a warning, dashes, and the count of what is undefined."""
        result = invoke("test", "same.csv", "--resamples", "30", "--seed", "1")
        assert result.exit_code == 0
        assert "only one value was used" in result.stderr
        assert "Undefined reshuffles, left out:" in result.stdout

    @pytest.mark.parametrize(
        ("words", "part"),
        [
            (["--scheme", "poled"], "Did you mean 'pooled'?"),
            (["--alternative", "grater"], "Did you mean 'greater'?"),
            (["--resamples", "0"], "--resamples 0 must be"),
            (["--seed", "-3"], "--seed -3 must be"),
            (["-c", "kripendorff_alpha"], "Did you mean 'krippendorff_alpha'?"),
        ],
        ids=" ".join,
    )
    def test_refusals(self, words, part):
        assert part in refusal("test", "small.csv", *words)

    def test_large_studies_are_reshuffled_less(self, monkeypatch):
        words = ["test", "walk.csv", *WIDE, "--seed", "1"]
        monkeypatch.setattr(cli_inference, "_RESHUFFLES", ((99, 5), (49, 32)))
        assert rows(*words)[0]["n_resamples"] == 49
        said = "49 reshuffles of 32 ratings; for more, use --resamples."
        assert said in invoke(*words).stderr
        assert rows(*words, "--resamples", "60")[0]["n_resamples"] == 60
        monkeypatch.setattr(cli_inference, "_RESHUFFLES", ((99, 32),))
        assert "reshuffles of" not in invoke(*words).stderr


class TestCompare:
    def test_two_distances_of_one_file(self, walk):
        row = rows("compare", "walk.csv", *WIDE, "-d", "masi,nominal")[0]
        assert row["difference"] == pytest.approx(MASI - NOMINAL, abs=1e-8)
        assert (row["first_estimate"], row["second_estimate"]) == (
            pytest.approx(MASI, abs=5e-9),
            pytest.approx(NOMINAL, abs=5e-9),
        )
        alphas = [sa.krippendorff_alpha(walk, distance=name) for name in ("masi", "nominal")]
        expected = sa.compare(*alphas)
        assert (row["standard_error"], row["p_value"]) == (
            expected.standard_error,
            expected.p_value,
        )
        assert (row["low"], row["high"]) == expected.interval()
        assert (row["design"], row["method"]) == ("same_units", "linearised")

    def test_all_pairs_of_one_file(self):
        found = rows("compare", "walk.csv", *WIDE, "-d", "masi,jaccard,nominal")
        pairs = [(row["first_distance"], row["second_distance"]) for row in found]
        assert pairs == [("masi", "jaccard"), ("masi", "nominal"), ("jaccard", "nominal")]
        p = sorted(row["p_value"] for row in found)
        holm = np.minimum(np.maximum.accumulate([3 * p[0], 2 * p[1], p[2]]), 1)
        assert sorted(row["p_holm"] for row in found) == pytest.approx(holm.tolist())

    def test_rounds_in_one_file(self):
        one, two = (shares(*units).splitlines() for units in ("abcdef", "ghijklmno"))
        names = ('say "1"', "2/b")
        lines = [f"{one[0]},a round"]
        for name, rows_of in zip(names, (one[1:], two[1:]), strict=True):
            cell = name.replace('"', '""')
            lines += [f'{line},"{cell}"' for line in rows_of]
        Path("rounds.csv").write_text("\n".join([*lines, "z,r1,a,"]))
        for name, text in (("one.csv", one), ("two.csv", two)):
            Path(name).write_text("\n".join(text))
        found = rows("compare", "rounds.csv", "--by", "a round")[0]
        expected = rows("compare", "one.csv", "two.csv")[0]
        assert (found.pop("first_file"), found.pop("second_file")) == names
        assert found == {name: x for name, x in expected.items() if not name.endswith("_file")}
        result = invoke("compare", "rounds.csv", "--by", "a round")
        assert "1 row with nothing in column 'a round' left out" in result.stderr
        assert "drops" not in result.stderr
        for words, said in (
            (["rounds.csv", "--by", "a rund"], "Did you mean 'a round'?"),
            (["rounds.csv", "--by", "unit"], "already used as the unit"),
        ):
            assert said in refusal("compare", *words)

    def test_rounds_in_several_files(self):
        for name, units in (("one.csv", "abcdef"), ("two.csv", "ghijklmno")):
            Path(name).write_text(shares(*units))
        expected = rows("compare", "one.csv", "two.csv", "--where", "unit != b")[0]
        words = ("compare", "one.csv", "two.csv", "--filename-column", "file", "--by", "file")
        assert rows(*words, "--where", "unit != b")[0] == expected
        result = invoke(*words, "--where", "unit != b")
        assert result.stderr.count("drops") == 1

    @pytest.mark.parametrize(
        "names", [("1.1", "1.10"), ("1", "01"), ("1e1", "10"), ("TRUE", "True")]
    )
    @pytest.mark.filterwarnings("ignore:Groups that look alike")
    def test_rounds_are_the_groups_of_diagnose(self, names):
        one, two = (shares(*units).splitlines() for units in ("abcdef", "ghijklmno"))
        sides = zip(names, (one[1:], two[1:]), strict=True)
        lines = [f"{line},{name}" for name, rows_of in sides for line in rows_of]
        Path("rounds.csv").write_text("\n".join([f"{one[0]},version", *lines]))
        for name, text in (("one.csv", one), ("two.csv", two)):
            Path(name).write_text("\n".join(text))
        alphas = [rows("score", name, "-d", "masi")[0] for name in ("one.csv", "two.csv")]
        first, second = (row["estimate"] for row in alphas)
        assert first != second
        found = rows("compare", "rounds.csv", "--by", "version")[0]
        assert (found["first_file"], found["second_file"]) == names
        assert found["difference"] == pytest.approx(first - second, abs=1e-12)
        groups = sa.by_group("rounds.csv", "version", n_resamples=99, rng=1)
        assert groups["group"].tolist() == [*names]
        assert groups["estimate"].tolist() == pytest.approx([first, second], abs=1e-12)

    def test_times_are_no_rounds(self):
        times = [f"u{k},{rater},a,10:{k}" for k in range(51) for rater in ("ann", "ben")]
        Path("times.csv").write_text("\n".join(["unit,rater,labels,time", *times]))
        said = refusal("compare", "times.csv", "--by", "time")
        assert "--by 'time': 51 groups; at most 50 are compared, each with each." in said
        assert "setagree diagnose FILE --time 'time'" in said

    def test_independent_files(self):
        Path("one.csv").write_text(shares(*"abcdef"))
        Path("two.csv").write_text(shares(*"ghijklmno"))
        row = rows("compare", "one.csv", "two.csv")[0]
        one, two = (rows("score", name, "-c", ALPHA)[0] for name in ("one.csv", "two.csv"))
        se = math.hypot(one["standard_error"], two["standard_error"])
        difference = one["estimate"] - two["estimate"]
        assert difference != 0
        assert row["difference"] == pytest.approx(difference)
        assert row["standard_error"] == pytest.approx(se)
        low = math.hypot(one["estimate"] - one["low"], two["high"] - two["estimate"])
        assert row["low"] == pytest.approx(difference - low)
        assert row["p_holm"] == row["p_value"]
        assert (row["design"], row["first_file"]) == ("independent", "one.csv")

    def test_same_units_in_two_files(self):
        for name in ("one.csv", "again.csv"):
            Path(name).write_text(shares(*"abcdefghij"))
        row = rows("compare", "one.csv", "again.csv")[0]
        named = ("design", "difference", "standard_error", "p_value")
        assert [row[name] for name in named] == ["same_units", 0, 0, 1]
        apart = rows("compare", "one.csv", "again.csv", "--design", "independent")[0]
        assert apart["design"] == "independent"
        assert apart["standard_error"] > 0

    def test_several_files_and_distances(self):
        for name in ("a.csv", "b.csv", "c.csv"):
            Path(name).write_text(shares(*"abcdefghij"))
        found = rows("compare", "a.csv", "b.csv", "c.csv", "-d", "masi,nominal")
        seen = [(row["first_distance"], row["first_file"], row["second_file"]) for row in found]
        pairs = [("a.csv", "b.csv"), ("a.csv", "c.csv"), ("b.csv", "c.csv")]
        assert seen == [(distance, *pair) for distance in ("masi", "nominal") for pair in pairs]
        text = ok("compare", "a.csv", "b.csv", "c.csv", "-d", "masi,nominal")
        assert "corrected for 6 comparisons" in " ".join(text.split())
        assert re.search(r"^4  a\.csv +krippendorff_alpha  nominal", text, re.MULTILINE)
        pairs = re.findall(r"^(\d - \d) ", text, re.MULTILINE)
        assert pairs == ["1 - 2", "1 - 3", "2 - 3", "4 - 5", "4 - 6", "5 - 6"]

    def test_what_is_subtracted_from_what(self):
        """The pair is named by the files, or by what differs; by numbers where that is too long.

        SMALL has alpha 1 - (1/3) / (3/5) = 4/9, and 1 where its raters agree throughout.
        """
        Path("after.csv").write_text(SMALL.replace("3,b,y", "3,b,x"))
        text = ok("compare", "after.csv", "small.csv")
        assert re.search(r"^after\.csv - small\.csv +0\.5556 ", text, re.MULTILINE)
        assert "difference: the first minus the second." in text
        assert "The same units, matched by their names (3 shared)" in text
        assert "higher value" not in text
        long = "a_very_long_name_of_a_file_after_training.csv"
        Path(long).write_text(SMALL)
        assert re.search(r"^1 - 2 ", ok("compare", long, "small.csv"), re.MULTILINE)
        walk = ["compare", "walk.csv", *WIDE, "-c"]
        text = ok(*walk, f"{ALPHA},fleiss_kappa", "-d", "masi")
        assert re.search(r"^krippendorff_alpha - fleiss_kappa ", text, re.MULTILINE)
        assert re.search(r"^ +coefficient +distance +units +estimate +se$", text, re.MULTILINE)
        text = ok(*walk, "gwet_ac,fleiss_kappa", "-d", "masi,dice")
        assert re.search(r"^2 - 4 ", text, re.MULTILINE)
        two = [*walk[2:], "gwet_ac,fleiss_kappa", "-d", "masi"]
        Path("again.csv").write_text(WALKTHROUGH)
        text = ok("compare", "walk.csv", "again.csv", *two)
        assert re.search(r"^3 - 4 ", text, re.MULTILINE)
        assert max(map(len, text.splitlines())) <= 80

    def test_distances_are_no_contest(self):
        said = "a higher value does not mean better agreement"
        for words in (["-d", "masi,nominal"], ["-c", f"{ALPHA},fleiss_kappa", "-d", "masi"]):
            assert said in " ".join(ok("compare", "walk.csv", *WIDE, *words).split())

    def test_shared_units(self):
        Path("less.csv").write_text("\n".join(SMALL.splitlines()[:5]) + "\n")
        Path("other.csv").write_text(SMALL.replace("1,b,x", "1,b,y"))
        sentence = refusal("compare", "other.csv", "less.csv")
        assert "of 3 and 2 units, 2 are in all; use --design 'shared_units'" in sentence
        Path("cut.csv").write_text("\n".join(Path("other.csv").read_text().splitlines()[:5]) + "\n")
        row = rows("compare", "other.csv", "less.csv", "--design", "shared_units")[0]
        expected = rows("compare", "cut.csv", "less.csv")[0]
        for name in ("difference", "standard_error", "low", "p_value", "first_estimate"):
            assert row[name] == expected[name]
        assert (row["n_shared_units"], row["design"]) == (2, "shared_units")
        text = " ".join(ok("compare", "other.csv", "less.csv", "--design", "shared_units").split())
        assert "Only the 2 units that all studies share, recomputed" in text
        text = " ".join(ok("compare", "cut.csv", "less.csv").split())
        assert "matched by their names (2 shared)" in text
        words = ["other.csv", "less.csv", "cut.csv", "--design", "same_units"]
        assert "(2 shared)" in " ".join(ok("compare", *words).split())
        Path("wide.csv").write_text(SMALL)
        words = ["other.csv", "less.csv", "wide.csv", "--design", "same_units"]
        assert "(2 to 3 shared)" in " ".join(ok("compare", *words).split())

    def test_units_spelled_in_two_ways(self):
        for name, prefix in {"one.csv": "doc-", "two.csv": "DOC-"}.items():
            Path(name).write_text(shares(*(f"{prefix}{k}" for k in range(5))))
        result = invoke("compare", "one.csv", "two.csv")
        assert result.exit_code == 0
        said = "5 units differ only in case, space, zeros or type ('doc-0' and 'DOC-0' and others)"
        assert said in result.stderr
        assert "Independent studies;" in result.stdout

    @pytest.mark.parametrize("layout", ["long", "wide"])
    def test_other_column_names(self, layout):
        if layout == "long":
            Path("other.csv").write_text(SMALL.replace("labels", "tags"))
            words = ["small.csv", "other.csv", "--labels", "labels"]
        else:
            Path("other.csv").write_text(WALKTHROUGH.replace("r2", "anna"))
            words = ["walk.csv", "other.csv", *WIDE, "--raters", "r1,r2"]
        sentence = refusal("compare", *words)
        assert sentence.startswith("Error: other.csv: ")
        assert "A named column must be in all files: rename it there" in sentence
        if layout == "long":
            assert rows("compare", "small.csv", "other.csv")[0]["difference"] == 0
            alone = refusal("compare", "small.csv", "--labels", "tags", "-d", "masi,dice")
            assert "must be in all files" not in alone
            gone = refusal("compare", "small.csv", "gone.csv", "--labels", "labels")
            assert "must be in all files" not in gone

    def test_bootstrap(self, walk):
        """The bootstrap of the difference is that of sa.compare, and its terms are printed."""
        words = ["compare", "walk.csv", *WIDE, "-d", "masi,dice", "--method", "bootstrap"]
        words += ["--resamples", "60", "--seed", "2"]
        row = rows(*words)[0]
        alphas = [sa.krippendorff_alpha(walk, distance=name) for name in ("masi", "dice")]
        expected = sa.compare(*alphas, method="bootstrap", n_resamples=60, rng=2)
        assert (row["low"], row["high"]) == expected.interval()
        assert (row["n_resamples"], row["seed"], row["n_undefined"]) == (60, 2, 0)
        text = " ".join(ok(*words).split())
        assert "resamples of the units, none undefined, expanded percentile interval" in text
        assert text.endswith("60 resamples, seed 2.")

    def test_a_difference_without_spread(self, walk):
        Path("full.csv").write_text(
            "unit,r1,r2\n1,a,a\n2,b,b\n3,a,b\n4,b,b\n5,a,a\n6,b,b\n7,b,a\n8,a,a\n"
        )
        words = ["compare", "full.csv", *WIDE, "-c", "alpha,fleiss_kappa", "-d", "nominal"]
        row = rows(*words)[0]
        assert (row["p_value"], row["degrees_of_freedom"]) == (None, None)
        assert row["reason"] == "The difference shows no spread to judge it by"
        assert f"{row['reason']}." in ok(*words)

    def test_undefined_resamples_are_counted(self):
        Path("again.csv").write_text(SMALL)
        words = ["--method", "bootstrap", "--resamples", "200", "--seed", "1"]
        row = rows("compare", "small.csv", "again.csv", *words)[0]
        assert 0 < row["n_undefined"] < 200
        text = " ".join(ok("compare", "small.csv", "again.csv", *words).split())
        assert f"at most {row['n_undefined']} undefined and left out" in text

    def test_sentences_name_the_file(self):
        Path("bad.csv").write_text("unit,rater,labels\n,a,x\n")
        result = invoke("compare", "same.csv", "bad.csv")
        lines = result.stderr.splitlines()
        assert lines[0] == "same.csv: Columns guessed: unit = unit, rater = rater, labels = labels"
        assert lines[1].startswith("Warning: same.csv: krippendorff_alpha [masi]: undefined")
        assert lines[-1].startswith("Error: bad.csv: ")
        assert "1 row without a unit" in lines[-1]

    def test_long_paths(self):
        for folder in ("one", "two"):
            Path(folder).mkdir()
            Path(folder, "study.csv").write_text(SMALL)
            Path(folder, f"{folder}.csv").write_text(SMALL)
        assert "1  one.csv" in ok("compare", "one/one.csv", "two/two.csv")
        assert "1  one/study.csv" in ok("compare", "one/study.csv", "two/study.csv")

    @pytest.mark.parametrize(
        ("words", "part"),
        [
            (["small.csv"], "a single file is compared by its distances"),
            (["small.csv", "gone.csv"], "There is no file 'gone.csv'"),
            (["small.csv", "same.csv"], "--design 'shared_units'"),
            (["small.csv", "same.csv", "--design", "same"], "--design 'same' is unknown"),
            (["small.csv", "-d", "masi,dice", "--method", "boot"], "--method 'boot' is unknown"),
            (["small.csv", "-d", "masi,dice", "--seed", "1"], "only with --method bootstrap"),
            (["small.csv", "-c", "mv_alpha", "-d", "dice,masi"], "--method 'bootstrap'"),
            (["small.csv", "small.csv", "--level", "0"], "--level 0.0 must lie"),
            (["small.csv", "score.csv"], "different kinds of answers"),
        ],
        ids=" ".join,
    )
    def test_refusals(self, words, part):
        Path("score.csv").write_text("unit,rater,score\n1,a,1\n1,b,2\n2,a,2\n2,b,2\n")
        assert part in refusal("compare", *words)

    def test_output_is_no_input(self):
        Path("again.csv").write_text(SMALL)
        sentence = refusal("compare", "small.csv", "again.csv", "--output", "again.csv")
        assert "is the input" in sentence
        assert Path("again.csv").read_text() == SMALL


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (["test"], lambda alpha: sa.permutation_test(alpha, n_resamples=99, rng=1)),
        (["plan"], lambda alpha: sa.plan(alpha, sa.PlanGoals(half_width=0.05))),
    ],
    ids=["test", "plan"],
)
def test_the_command_prints_the_result(walk, words, made):
    options = ["--resamples", "99", "--seed", "1"] if words == ["test"] else []
    shown = ok(*words, "walk.csv", *WIDE, *options)
    with spelling(CALLED):
        assert f"\n\n{made(sa.krippendorff_alpha(walk))}\n" in shown


class TestPlan:
    def test_already_reached(self):
        """A pilot that has what is wanted says so; T1 has t(10) x 0.15186146 = 0.33837 at 95%."""
        text = ok("plan", "walk.csv", *WIDE, "--half-width", 0.4)
        said = "The pilot itself already gives ± 0.3384, within the ± 0.4 of the goal"
        assert said in " ".join(text.split())
        assert "already" not in ok("plan", "walk.csv", *WIDE, "--half-width", 0.3)

    def test_which_units_more_are_added_to(self):
        lines = ["1,x,a", "1,y,b", "2,x,a", "2,y,a", "3,x,b", "4,y,b", "5,x,b", "5,y,b"]
        Path("lone.csv").write_text("\n".join(["unit,rater,labels", *lines]))
        words = ["plan", "lone.csv", "--units", "10", "-c"]
        assert [row["n_additional_units"] for row in rows(*words, f"fleiss_kappa,{ALPHA}")] == [
            5,
            7,
        ]
        text = {c: " ".join(ok(*words, c).split()) for c in ("fleiss_kappa", ALPHA)}
        assert text["fleiss_kappa"].endswith("more units: beyond the 5 units of the pilot.")
        assert text[ALPHA].endswith("beyond the 3 units of the pilot that have two ratings.")
        both = " ".join(ok(*words, f"fleiss_kappa,{ALPHA}").split())
        fleiss, alpha = both.split(f"{ALPHA} [")
        assert fleiss.rstrip().endswith("beyond the 5 units of the pilot.")
        assert alpha.endswith("beyond the 3 units of the pilot that have two ratings.")

    def test_no_linearised_error(self, walk):
        words = ["walk.csv", *WIDE, "-c", "mv_alpha", "--units", "11"]
        text = ok("plan", *words)
        assert "mv_alpha: se by the jackknife over units" in " ".join(text.split())
        found = rows("plan", *words)[0]["standard_error"]
        expected = sa.jackknife(sa.mv_alpha(walk)).standard_error
        assert found == pytest.approx(expected)

    def test_a_sparse_rater(self):
        """A rater with 2 of 20 units is named and left out; without --ratings it is 2.1 raters."""
        lines = [f"{u},{r},{'ab'[(u * k) % 7 > 3]}" for u in range(20) for k, r in enumerate("xy")]
        lines += [f"{u},z,a" for u in range(2)]
        Path("sparse.csv").write_text("\n".join(["unit,rater,labels", *lines]))
        result = invoke("plan", "sparse.csv", "--ratings", "2")
        assert "Warning: 1 rater with fewer than half" in result.stderr
        assert "('z' with 2 of 20 units)" in result.stderr
        assert re.search(r"^ +2 .* raters left out$", result.stdout, re.MULTILINE)
        alone = invoke("plan", "sparse.csv")
        assert "Warning: 1 rater" not in alone.stderr
        assert re.search(r"^ +2\.10 .* pilot$", alone.stdout, re.MULTILINE)

    def test_turns(self):
        """Raters who take turns: the number is of ratings a unit, as the table says."""
        cells = [(u, "wxyz"[(u + k) % 4], "ab"[u * k % 5 > 2]) for u in range(40) for k in range(3)]
        lines = [",".join(map(str, cell)) for k, cell in enumerate(cells) if k % 9]
        Path("turns.csv").write_text("\n".join(["unit,rater,labels", *lines]))
        text = ok("plan", "turns.csv", "--ratings", "2", "--seed", "1")
        assert re.search(r"^ +2 .* ratings left out$", text, re.MULTILINE)
        assert "as raters take turns in the pilot, so many ratings per unit" in " ".join(
            text.split()
        )
        more = " ".join(ok("plan", "turns.csv", "--ratings", "9", "--seed", "1").split())
        assert "raters: ratings per unit, as the raters of the pilot take turns." in more
        assert "take turns" not in ok("plan", "walk.csv", *WIDE, "--ratings", "9")

    def test_default(self):
        """Without a wish the half-width is 0.05."""
        assert ok("plan", "walk.csv", *WIDE) == ok("plan", "walk.csv", *WIDE, "--half-width", 0.05)

    def test_raters(self, walk):
        """--ratings are numbers of ratings per unit; the table explains what they rest on."""
        words = ["plan", "walk.csv", *WIDE, "--ratings", "2,3,5"]
        found = rows(*words, "--seed", "1")
        assert [row["basis"] for row in found] == ["raters left out", "pilot", "extended"]
        expected = sa.plan(sa.krippendorff_alpha(walk), n_raters=[2, 3, 5], rng=1).to_frame()
        assert [row["n_units"] for row in found] == expected["n_units"].tolist()
        text = " ".join(ok(*words).split())
        assert "raters left out: the mean of what the pilot gives" in text
        assert "extended: extrapolated from fewer raters, a rough guide" in text

    @pytest.mark.parametrize(
        ("words", "options"),
        [
            (["--half-width", "0.1", "--assurance", "0.8"], {"half_width": 0.1, "assurance": 0.8}),
            (["--at-least", "0.1", "--power", "0.9"], {"at_least": 0.1, "power": 0.9}),
            (["--power", "0.9"], {"power": 0.9}),
            (["--units", "50,90", "--at-least", "0.1"], {"n_units": [50, 90], "at_least": 0.1}),
            (
                ["--budget", "500", "--cost-unit", "1", "--cost-rating", "0.5"],
                {"budget": 500, "per_unit": 1, "per_rating": 0.5},
            ),
            (
                ["--half-width", "0.1", "--cost-rating", "2", "--ratings", "2,3"],
                {"half_width": 0.1, "per_rating": 2, "n_raters": [2, 3]},
            ),
        ],
        ids=lambda x: " ".join(x) if isinstance(x, list) else "",
    )
    def test_what_else_is_planned_for(self, walk, words, options):
        words = ["plan", "walk.csv", *WIDE, *words, "--seed", "1"]
        expected = planned(sa.krippendorff_alpha(walk), **options, rng=1)
        for row, theirs in zip(rows(*words), expected.frame.to_dict("records"), strict=True):
            assert {name: row[name] for name in theirs} == pytest.approx(theirs)
        text = " ".join(ok(*words).split())
        with spelling(CALLED):
            notes = expected.notes
        assert notes
        assert all(note in text for note in notes)
        for column in {"power", "cost"} & {*expected.frame}:
            assert f" {column} " in text

    def test_rater_columns(self):
        two = rows("plan", "walk.csv", *WIDE, "--raters", "r1,r2")[0]
        assert two["n_raters"] == 2
        assert "--ratings 'r1,r2' must be whole numbers" in refusal(
            "plan", "walk.csv", *WIDE, "--ratings", "r1,r2"
        )
        said = refusal("plan", "small.csv", "--raters", "a")
        assert "--raters makes sense only with --wide" in said
        said = refusal("plan", "small.csv", "--raters", "2,3")
        assert "--raters names columns; for numbers of ratings per unit, use --ratings." in said
        Path("notes.csv").write_text(
            "unit,note,r1,r2\n1,x1,a,a\n2,x2,b,b\n3,x3,a,b\n4,x4,a,a\n5,x5,a,a\n"
        )
        assert "--raters 'r1,r2'" in refusal("plan", "notes.csv", "--wide")

    def test_several(self):
        text = ok("plan", "walk.csv", *WIDE, "-d", "masi,nominal")
        assert text.count("raters  units  more units") == 2
        assert "krippendorff_alpha [masi]: 0.4026 (se 0.1519" in text
        assert "krippendorff_alpha [nominal]: 0.3527" in text

    @pytest.mark.parametrize(
        ("words", "part"),
        [
            (["--half-width", "2"], "--half-width 2.0 must lie between 0 and 1"),
            (["--half-width", "0.1", "--units", "10"], "--half-width (how many units?) or --units"),
            (["--units", "ten"], "--units 'ten' must be whole numbers"),
            (["--units", "1"], "--units '1' must be"),
            (
                ["--ratings", "1,2"],
                "--ratings '1,2' must be whole numbers of at least 2, such as 2,3,5.",
            ),
            (["--ratings", "9"], "two raters"),
            (["--level", "95"], "--level 95.0 must lie"),
            (["--assurance", "80"], "--assurance 80.0 must lie between 0 and 1"),
            (["--at-least", "1"], "--at-least 1.0 must be a number from -1 to below 1"),
            (["--power", "0.8", "--units", "9"], "--units (what interval?) or --power (how many"),
            (["--budget", "9"], "--budget requires --cost-rating, the cost of a rating"),
            (["--budget", "1", "--cost-rating", "1"], "--budget 1.0 covers fewer than two units"),
        ],
        ids=" ".join,
    )
    def test_refusals(self, words, part):
        assert part in refusal("plan", "small.csv", *words)

    def test_pilot_without_variation(self):
        assert "no standard error" in refusal("plan", "same.csv")


COMMANDS = {
    "score": ["score", "walk.csv", *WIDE, "--interval", "bootstrap", "--resamples", "60"],
    "test": ["test", "walk.csv", *WIDE, "--resamples", "60"],
    "compare": [
        *("compare", "walk.csv", *WIDE, "-d", "masi,nominal"),
        *("--method", "bootstrap", "--resamples", "60"),
    ],
    "plan": ["plan", "walk.csv", *WIDE, "--ratings", "2,3"],
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
class TestEveryCommand:
    def test_seed(self, words):
        """The same seed gives the same output; a seed that is drawn is printed and repeats it."""
        assert ok(*words, "--seed", "4") == ok(*words, "--seed", "4")
        drawn = rows(*words)
        assert drawn == rows(*words, "--seed", drawn[0]["seed"])

    def test_csv_equals_json(self, words):
        words = [*words, "--seed", "4"]
        table = list(csv.DictReader(io.StringIO(ok(*words, "-f", "csv"))))
        for cells, row in zip(table, rows(*words), strict=True):
            for only_json in ("reason", "remark"):
                row.pop(only_json, None)
            assert list(cells) == list(row)
            for name, value in row.items():
                assert cells[name] == ("" if value is None else str(value))

    def test_output(self, words):
        words = [*words, "--seed", "4"]
        assert ok(*words, "--output", "out.json") == ""
        assert json.loads(Path("out.json").read_text()) == rows(*words)
        ok(*words, "--output", "out.txt")
        assert Path("out.txt").read_text(encoding="utf-8") == ok(*words)

    def test_table_fits(self, words):
        lines = ok(*words).splitlines()
        assert max(map(len, lines)) <= 80
        assert all(line == line.rstrip() for line in lines)
        assert "nan" not in " ".join(lines)

    def test_help(self, words):
        """Help fits 80 columns, begins with an example and names every option.

        Each option has a line or two of its own.
        """
        result = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"}).invoke(
            cli.app, [words[0], "--help"], terminal_width=80
        )
        lines = result.stdout.splitlines()
        assert max(map(len, lines)) <= 80
        assert len(lines) <= 112
        examples = [line.strip() for line in lines if f" setagree {words[0]} " in line]
        assert result.stdout.index(examples[0]) < result.stdout.index("--unit ")
        for option in ("--blank", "--wide", "--coefficient", "--distance", "--format", "--output"):
            assert f"{option} " in result.stdout

    def test_same_reading_as_score(self, words):
        words = [*words, "--codebook", "a,b,c,d"]
        assert "labels are not in the codebook" in refusal(*words)


def test_examples_in_the_help():
    for name in ("study.csv", "before.csv", "after.csv", "pilot.csv"):
        Path(name).write_text(WALKTHROUGH.replace("r1,r2,r3", "ann,bob,cat"))
    Path("study.csv").write_text(SMALL)
    head, *lines = SMALL.splitlines()
    rounds = [f"{line},{name}" for name in ("one", "two") for line in lines]
    Path("rounds.csv").write_text("\n".join([f"{head},round", *rounds]))
    for command in ("test", "compare", "plan"):
        text = CliRunner(env={"COLUMNS": "120"}).invoke(cli.app, [command, "--help"]).stdout
        examples = re.findall(rf"^ *setagree ({command} .*?)[ │]*$", text, re.MULTILINE)
        assert len(examples) >= 3
        for example in examples:
            words = example.split()
            words += [] if {"study.csv", "rounds.csv"} & {*words} else WIDE
            short = ["--resamples", "99"] if "--resamples" not in words else []
            words += short if command == "test" else []
            assert invoke(*words).exit_code == 0, (example, invoke(*words).stderr)

"""A standard error of 0 is no certainty: what is said where all units agree, or disagree alike."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from asking import alpha_of, the_warning
from cli_support import invoke
from small_studies import annotations, text

import setagree as sa
from setagree.errors import DataError, FarAnswersWarning, FewClustersWarning
from setagree.reporting.findings import gather, main_findings
from setagree.reporting.headline import headline, verdict_sentence
from setagree.wording.sentences import plain

AGREED = "a a / b b"
ALIKE = "a b / b a / a b / b a"
SAID = {AGREED: "No disagreement was seen in 2 units", ALIKE: "All units disagree alike"}
RARE = {
    # Two units with one answer each weigh 2 (1 - 1/2), four with both answers 4 (1 - 1/2).
    AGREED: "all answers except the commonest weigh as much as 1.0 unit, fewer than 4",
    ALIKE: "all answers except the commonest weigh as much as 2.0 units, fewer than 4",
}
MIXED = "a a / b b / a b / b b / a a / b a"

both = pytest.mark.parametrize("rows", [AGREED, ALIKE])


def study(rows):
    return annotations(text(rows))


def finding(about, found):
    """Return the main finding on a subject, blank if there is none."""
    return "".join(plain(one.sentence) for one in main_findings(found) if one.about == about)


def write_csv(rows, path):
    """Write rows of answers as a long table."""
    frame = study(rows).to_long()
    frame["labels"] = [",".join(sorted(cell)) for cell in frame["labels"]]
    frame.to_csv(path, index=False)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write the two studies into the folder that the commands run in."""
    monkeypatch.chdir(tmp_path)
    for name, rows in (("agreed", AGREED), ("alike", ALIKE), ("mixed", MIXED)):
        write_csv(rows, f"{name}.csv")


class TestAgreement:
    COEFFICIENTS = (
        *("krippendorff_alpha", "fleiss_kappa", "conger_kappa", "cohen_kappa", "scott_pi"),
        *("gwet_ac", "brennan_prediger", "percent_agreement"),
    )

    @both
    @pytest.mark.parametrize("name", COEFFICIENTS)
    def test_every_coefficient(self, name, rows):
        one = getattr(sa, name)(study(rows))
        assert np.isfinite(one.estimate)
        assert one.standard_error == 0
        assert np.isnan([*one.interval(), *one.interval(0.5), one.p_value]).all()
        assert one.to_frame()[["low", "high", "p_value"]].isna().all(axis=None)
        assert one.standard_error_reason == SAID[rows]
        assert one.interval_reason.startswith(f"{SAID[rows]}, and all answers except the commonest")
        assert one.rests_on == {"degrees_of_freedom": one.n_units - 1}
        assert SAID[rows] in repr(one)
        assert "95%" not in repr(one)

    def test_rounding_is_no_spread(self):
        one = sa.fleiss_kappa(study("a b ab / b ab a / ab a b / a ab b"), distance="masi")
        assert one.standard_error == 0
        assert one.standard_error_reason == "All units disagree alike"

    def test_an_interval_without_a_test_of_units_that_disagree_alike(self):
        """The score interval needs no spread; the test against 0 is left to full agreement."""
        alike, full = (sa.fleiss_kappa(study(" / ".join([rows] * 10))) for rows in (ALIKE, AGREED))
        assert alike.interval_method == full.interval_method == "score"
        assert alike.interval_reason == "All units disagree alike"
        assert math.isnan(alike.p_value)
        assert full.interval_reason is None
        assert full.p_value < 0.001

    def test_units_that_can_disagree_are_counted(self):
        one = sa.krippendorff_alpha(study("a a / b b / c ."))
        assert one.standard_error_reason == "No disagreement was seen in 2 units"
        drawn = study("a a / b b / b b / b b").sampled(cluster={f"u{k}": k for k in range(4)})
        with pytest.warns(FewClustersWarning):
            one = sa.krippendorff_alpha(drawn)
        assert one.standard_error_reason == "No disagreement was seen in 4 units"

    @pytest.mark.parametrize("scale", [1e-9, 1e9])
    def test_unbounded_distances(self, scale):
        """Whether there was any disagreement does not hang on the unit of the distance."""
        numbers = sa.Annotations.from_triples(
            [(rater, unit, scale * (unit + rater)) for unit in range(3) for rater in range(2)],
            kind="value",
        )
        one = sa.percent_agreement(numbers, distance="interval")
        assert one.standard_error_reason == "All units disagree alike"

    def test_units_that_differ(self):
        """Ten aa and ten ba: Conger's kappa is 0 with the same linearised value of every unit."""
        one = sa.conger_kappa(study(" / ".join(["a a", "b a"] * 10)))
        assert one.standard_error_reason.startswith("All units have the same linearised value")
        pairs = study(" / ".join(["a a"] * 20 + ["a b", "b b"] * 5))
        strata = {unit: "full" if k < 20 else "rest" for k, unit in enumerate(pairs.units)}
        drawn = pairs.sampled(strata=strata, population_size={"full": 100, "rest": 10})
        assert sa.percent_agreement(drawn).standard_error_reason == (
            "All units of a stratum that was sampled have the same linearised value, which leaves "
            "a standard error of 0"
        )

    def test_a_disagreement_that_rounds_to_0(self):
        """39 units disagree by 1; three answers of 1e7 make the expected disagreement."""
        rows = [(rater, unit, float(unit + rater)) for unit in range(39) for rater in range(3)]
        rows += [(rater, 39, 1e7) for rater in range(3)]
        numbers = sa.Annotations.from_triples(rows, kind="number")
        with pytest.warns(FarAnswersWarning, match="100% of the disagreement expected by chance"):
            one = sa.krippendorff_alpha(numbers, distance="interval")
        assert one.standard_error_reason == (
            "The observed disagreement is at most 1e-12 of the largest distance"
        )

    def test_where_there_is_an_interval(self):
        assert sa.krippendorff_alpha(study(f"{MIXED} / {MIXED}")).interval_reason is None
        with pytest.warns(sa.UndefinedAgreementWarning):
            one = sa.krippendorff_alpha(study("a a / a a"))
        assert one.interval_reason == one.reason == "only one value was used"
        mv = sa.mv_alpha(study(MIXED))
        assert mv.interval_reason.startswith("mv_alpha has no standard error here; bootstrap ")

    @both
    def test_the_table(self, rows):
        table = sa.agreement(study(rows))
        lines = str(table).splitlines()
        assert lines[-2] == ""
        said = (
            f"{SAID[rows]}, and {RARE[rows]}: too few for an interval or a p-value; "
            "permutation_test compares the estimate with chance."
        )
        assert lines[-1] == said
        assert f"<p>{said}</p>" in table._repr_html_()
        assert list(table.to_frame()) == list(sa.agreement(study(MIXED)).to_frame())

    def test_only_some_rows(self):
        rows = "a ab / b b / c c / a a / b b / c c / d d"
        text_ = str(sa.agreement(study(rows), distance=["masi", "overlap"]))
        assert text_.splitlines()[-1] == (
            "No disagreement was seen in 7 units, which leaves a standard error of 0 "
            "(krippendorff_alpha [overlap], fleiss_kappa [overlap])."
        )

    @pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
    def test_no_standard_error(self):
        one = sa.agreement(study("a b"), coefficient="percent_agreement")
        assert "Only one unit has two ratings, and all answers" in str(one)
        rows = study(f"{MIXED} / {MIXED}")
        clusters = {unit: k // 3 for k, unit in enumerate(rows.units)}
        some = sa.krippendorff_alpha(rows.sampled(cluster=clusters, population_size=9))
        assert some.drawn == "4 clusters of 9"
        whole = sa.agreement(rows.sampled(cluster=clusters, population_size=4))
        assert str(whole).endswith("No interval: All clusters of the population were rated.")
        assert repr(whole[0]).endswith(" units. All clusters of the population were rated>")

    def test_the_permutation_test_gives_a_p(self):
        """Two units in full agreement: two of the six arrangements agree, p = 1/3."""
        assert sa.permutation_test(sa.krippendorff_alpha(study(AGREED))).p_value == 1 / 3


class TestWhatFollows:
    @both
    def test_planning(self, rows):
        """No number of units follows from it, and the error says why."""
        with pytest.raises(DataError, match=f"so no plan follows. {SAID[rows]}"):
            sa.plan(sa.krippendorff_alpha(study(rows)))

    def test_groups(self):
        """A group in full agreement has no interval and no p against the rest, and says why."""
        rows = study("a a / b b / c c / a b / b b / c a / a a")
        batch = {unit: "sure" if k < 3 else "other" for k, unit in enumerate(rows.units)}
        frame = sa.by_group(rows, batch).set_index("group")
        columns = ["low", "high", "difference_p_value", "difference_standard_error"]
        assert frame.loc["sure", columns].isna().all()
        reason = frame.loc["sure", "reason"]
        assert reason.startswith("No disagreement was seen in 3 units, and all answers except the")
        assert frame.loc["other", columns[2:]].isna().all()
        assert frame["homogeneity_p_value"].isna().all()
        assert "cannot be tested" in finding("Groups", gather(rows, groups=batch, rng=1))

    @pytest.mark.parametrize("coefficient", ["krippendorff_alpha", "fleiss_kappa"])
    def test_pairs_of_raters(self, coefficient):
        rows = study("a a b / b b b / a a a / b b a")
        frame = sa.by_pair(rows, coefficient=coefficient).iloc[-1]
        assert (frame["estimate"], frame["standard_error"]) == (1, 0)
        assert frame[["low", "high"]].isna().all()
        assert frame["reason"].startswith("No disagreement was seen in 4 units, and all answers")
        swapped = sa.by_pair(study("a b / b a / a b / b a"), coefficient=coefficient).iloc[0]
        assert swapped["standard_error"] == 0
        assert swapped["reason"].startswith("All units disagree alike, and all answers")

    @pytest.mark.parametrize("coefficient", ["krippendorff_alpha", "fleiss_kappa"])
    def test_without_a_rater(self, coefficient):
        rows = study("a a b / b b b / a a a / b b a / c c b / c c c")
        frame = sa.by_rater(rows, coefficient=coefficient)
        top = frame.iloc[0]
        assert top["estimate_without"] == 1
        assert top[["difference_standard_error", "difference_low", "difference_high"]].isna().all()
        said = finding("Raters", gather(rows, coefficient=coefficient, rng=1))
        assert said.startswith("Leaving out any one of the 3 raters changes ")
        assert f"by at most {top['difference']:.3f}; no removal raises it significantly" in said

    def test_a_change_that_ends_all_disagreement(self):
        rows = study("a a / b b / c c / a b / b a / c c / a a / b a")
        tried = sa.what_if(rows, merge=[["a", "b"]]).set_index("action").loc["merge"]
        assert tried["estimate"] == 1
        assert np.isnan([tried["p_value"], tried["difference_standard_error"]]).all()
        rows = study("a a,x / b b / c c,x / a a / b b,x / c c / a a / b b".replace(",", ""))
        said = finding("Change", gather(rows, rng=1))
        assert "Alpha rises (no test is possible) if you drop the label “x”: 1" in said

    def test_labels(self):
        """A label on which all agree has an interval if yes and no are frequent enough."""
        rows = "a a / b b / c c / a b / ab b / c c / c c / c c / b b"
        frame = sa.by_label(study(rows)).set_index("label")
        assert frame.loc["c", "standard_error"] == 0
        low, high = frame.loc["c", ["low", "high"]]
        assert 0 < low < high == 1
        assert frame.loc["a", "reason"].startswith("Too few rarer answers")

    def test_the_picture_of_a_bootstrap(self):
        pytest.importorskip("matplotlib")
        from setagree import plots

        alpha = sa.krippendorff_alpha(study("a a / b b / c c / a a"))
        ax = plots.bootstrap(sa.bootstrap(alpha, n_resamples=20, rng=1))
        texts = " ".join(text_.get_text() for text_ in ax.texts)
        assert "no interval. No disagreement was seen in 4 units" in " ".join(texts.split())


class TestReport:
    @both
    def test_findings(self, rows):
        """There is no interval and no verdict; reshuffles give the p."""
        found = gather(study(rows), n_resamples=99, rng=1)
        assert "interval" not in plain(headline(found))
        assert verdict_sentence(found).startswith(f"No verdict. {SAID[rows]}, and {RARE[rows]}: ")
        assert "It is" not in finding("Chance", found)
        percent = gather(study(rows), coefficient="percent_agreement", n_resamples=99, rng=1)
        assert verdict_sentence(percent).startswith(f"No verdict. {SAID[rows]}, and all answers ")

    @both
    def test_methods(self, rows):
        """The paragraph for the paper says so instead of an interval, and names no t interval."""
        said = sa.methods_text(sa.krippendorff_alpha(study(rows)))
        why = SAID[rows][0].lower() + SAID[rows][1:]
        assert f", without an interval: {why}" in said
        assert "t interval" not in said


@pytest.mark.usefixtures("files")
class TestCommand:
    @pytest.mark.parametrize(("file", "rows"), [("agreed", AGREED), ("alike", ALIKE)])
    @pytest.mark.parametrize(
        "words",
        [
            "score",
            "score --memory-limit 50MB",
            "score --interval bootstrap --seed 1",
            "test --seed 1",
            "diagnose --seed 1",
        ],
    )
    def test_tables(self, file, rows, words):
        """Every table tells it, and none has an interval or a t test's p."""
        command, *options = words.split()
        done = invoke(command, f"{file}.csv", *options)
        assert done.exit_code == 0, done.stderr
        assert SAID[rows] in " ".join(done.stdout.split())
        assert "<0.0001" not in done.stdout
        assert "elow chance" not in done.stdout
        if command == "score" and not options:
            assert "'setagree test' compares" in done.stdout

    def test_compare(self):
        """The difference has no interval and no p; it says of which study that is."""
        done = invoke("compare", "agreed.csv", "alike.csv", "--design", "independent")
        row = next(line for line in done.stdout.splitlines() if line.startswith("agreed.csv - "))
        assert row.split()[3:] == ["1.7500", "-", "-", "-"]
        for said in SAID.values():
            assert said in done.stdout
        sure = invoke("compare", "agreed.csv", "mixed.csv", "--design", "independent")
        assert SAID[AGREED] in sure.stdout
        assert SAID[ALIKE] not in sure.stdout

    def test_markdown_report(self):
        done = invoke("report", "agreed.csv", "-o", "out.md", "--seed", "1")
        assert done.exit_code == 0, done.stderr
        said = Path("out.md").read_text(encoding="utf-8")
        assert "No verdict. No disagreement was seen in 2 units, and all answers except" in said


class TestBelowChance:
    @staticmethod
    def random_study(rng, *, units=20, raters=3, rare=0.1):
        """Return a study whose raters answer yes rarely, and at random."""
        yes = rng.random((units, raters)) < rare
        return sa.Annotations.from_triples(
            [(g, u, "yes" if yes[u, g] else "no") for u in range(units) for g in range(raters)]
        )

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::setagree.errors.UndefinedAgreementWarning")
    def test_random_raters_with_rare_labels(self):
        """In 20 units the t test has a fifth of such studies below 0; the lower tail few, as said.

        One tail at 0.025: of 200 studies, 13 or more come out in fewer than 1 of 200 runs.
        """
        rng = np.random.default_rng(5)
        by_t = below = above = 0
        for _ in range(200):
            alpha = sa.krippendorff_alpha(self.random_study(rng), distance="nominal")
            test = sa.permutation_test(alpha, n_resamples=199, rng=rng)
            by_t += alpha.standard_error > 0 and alpha.interval(method="t")[1] < 0
            below += test.versus_chance == "below chance"
            above += test.versus_chance == "above chance"
        assert by_t > 20
        assert below < 13
        assert above < 13

    def test_raters_who_do_disagree(self):
        rows = study(" / ".join(["a b", "b a"] * 8))
        test = sa.permutation_test(sa.krippendorff_alpha(rows), n_resamples=199, rng=1)
        assert test.versus_chance == "below chance"
        assert (test.tail("less"), test.p_value) == (0.005, test.tail("greater"))
        assert test.p_value > 0.9
        found = gather(rows, n_resamples=199, rng=1)
        assert finding("Chance", found).startswith("Agreement is below chance: ")

    def test_raters_who_agree(self):
        alpha = sa.krippendorff_alpha(sa.simulate(40, 3, rng=1))
        test = sa.permutation_test(alpha, n_resamples=99, rng=1, alternative="two-sided")
        assert test.versus_chance == "above chance"
        assert "Above chance (upper tail: p 0.0100)." in str(test)
        assert test.p_value == 2 * test.tail("greater") == 0.02
        assert test.tail("greater") + test.tail("less") >= 1

    @pytest.mark.filterwarnings("ignore::setagree.errors.UndefinedAgreementWarning")
    def test_undefined(self):
        """What has no estimate is told from nothing."""
        test = sa.permutation_test(sa.krippendorff_alpha(study("a a / a a")), n_resamples=9)
        assert test.versus_chance is None
        assert np.isnan(test.tail("less"))

    @pytest.mark.parametrize("command", ["test", "diagnose"])
    def test_commands(self, tmp_path, monkeypatch, command):
        """`test` and `diagnose` say it by the lower tail; `score` never does."""
        monkeypatch.chdir(tmp_path)
        write_csv(" / ".join(["a b", "b a"] * 8), "avoid.csv")
        write_csv(" / ".join(["a a", "b b"] * 8), "agree.csv")
        below = invoke(command, "avoid.csv", "--seed", "1").stdout
        more = invoke(command, "agree.csv", "--seed", "1").stdout
        assert "elow chance" in below
        assert "bove chance" in more
        assert "bove chance" not in below
        assert "elow chance" not in more
        assert "chance" not in invoke("score", "avoid.csv").stdout


def test_a_column_of_reasons_is_not_added():
    frame = sa.agreement(study(AGREED)).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert "reason" not in frame


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([(1, "x", "a"), (2, "x", "b")], "there is only one rater"),
        ([(1, "x", "a"), (2, "y", "b")], "no unit has two ratings"),
        ([(1, "x", "a"), (1, "y", "b")], "only one unit has two ratings"),
        ([(1, "x", "a"), (1, "y", "b"), (1, "z", "a")], "only one unit has two ratings"),
    ],
)
def test_one_rater_no_unit_with_two_ratings_one_unit(rows, reason):
    alpha, words = the_warning(sa.UndefinedAgreementWarning, alpha_of, *rows)
    assert math.isnan(alpha.estimate)
    assert alpha.reason == reason
    assert words == f"krippendorff_alpha [nominal]: undefined (nan), because {reason}."


def test_all_answers_identical():
    """nan, because only one value was used, in one warning for all; percent agreement still 1."""
    study = sa.Annotations.from_triples([(r, u, "a, b") for r in "xyz" for u in range(3)])
    names = ["krippendorff_alpha", "fleiss_kappa", "conger_kappa", "percent_agreement"]
    table, words = the_warning(sa.UndefinedAgreementWarning, sa.agreement, study, coefficient=names)
    for name in names[:3]:
        assert math.isnan(table[name, "masi"].estimate)
        assert table[name, "masi"].reason == "only one value was used"
        assert f"{name} [masi]" in words
    assert table["percent_agreement", "masi"].estimate == 1
    assert table["percent_agreement", "masi"].reason is None
    assert "percent_agreement" not in words

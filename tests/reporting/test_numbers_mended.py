"""Numbers and sentences that were wrong once: each expected value is derived beside the test."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from small_studies import annotations, text

import setagree as sa
from setagree.inference.bootstrap import Bootstrap
from setagree.reporting.findings import gather
from setagree.reporting.headline import verdict_sentence
from setagree.reporting.sections import chance, changes
from setagree.reporting.sections.registry import main_findings
from setagree.wording.numbers import level_text
from setagree.wording.words import plain


class TestMethodsText:
    """The methods paragraph says what the numbers are."""

    @pytest.fixture
    def alpha(self):
        """Return alpha of a study of 40 units."""
        return sa.krippendorff_alpha(sa.simulate(40, 3, rng=2))

    def said(self, *args, **options):
        """Return the paragraph alone."""
        return sa.methods_text(*args, references=False, **options)

    @pytest.mark.parametrize(
        ("level", "shown"), [(0.975, "97.5%"), (0.999, "99.9%"), (0.9, "90%"), (0.55, "55%")]
    )
    def test_levels_are_not_rounded(self, alpha, level, shown):
        """A level is the one that was asked for: 0.999 is not 100 %."""
        low, high = alpha.interval(level)
        assert f"{shown} interval {low:.3f} to {high:.3f}" in self.said(alpha, level=level)
        assert f"the {shown} intervals are t intervals" in self.said(alpha, level=level)
        assert level_text(level, gap="") == shown

    def test_a_level_that_is_no_number(self, alpha):
        """It is refused in a sentence, as everywhere."""
        with pytest.raises(sa.SetagreeError, match=r"level='0\.9' must lie between 0 and 1"):
            self.said(alpha, level="0.9")

    def test_an_interval_is_called_what_it_is(self, alpha):
        """The bias-corrected interval is called BCa, that of quantiles percentile."""
        boot = sa.bootstrap(alpha, n_resamples=200, rng=3)
        low, high = boot.interval(0.9, method="BCa")
        assert f"90% BCa interval of 200 bootstrap resamples of the units is {low:.3f} to " in (
            self.said(alpha, level=0.9, bootstrap=boot)
        )
        assert (low, high) != tuple(np.quantile(boot.distribution, [0.05, 0.95]))
        raters = sa.bootstrap(alpha, n_resamples=200, rng=3, over="both")
        low, high = np.quantile(raters.defined, [0.05, 0.95])
        text_ = self.said(alpha, level=0.9, bootstrap=raters)
        assert "percentile interval of 200 bootstrap resamples of the units and raters, " in text_
        assert f"{raters.n_undefined} of them undefined and left out, is {low:.3f} to " in text_

    def test_krippendorffs_algorithm(self, alpha):
        """It redraws pairs of ratings, not units."""
        with pytest.warns(sa.SetagreeWarning):
            boot = sa.bootstrap(alpha, n_resamples=50, rng=3, method="krippendorff")
        assert "50 bootstrap resamples of pairs of ratings" in self.said(alpha, bootstrap=boot)

    def test_no_bca(self):
        """Where all resamples lie on one side there is no BCa interval, but one of quantiles."""
        alpha = sa.krippendorff_alpha(annotations(text("a a / b b / a a / b a")))
        below = alpha.estimate - np.linspace(0.1, 0.2, 50)
        boot = Bootstrap(alpha, below, "units", "standard")
        assert math.isnan(boot.interval(method="BCa")[0])
        assert " percentile interval of 50 bootstrap resamples of the units" in self.said(
            alpha, bootstrap=boot
        )
        # Where all are the same there is none at all.
        alike = sa.krippendorff_alpha(annotations(text("a a / b b / a a / b b")))
        boot = sa.bootstrap(alike, n_resamples=50, rng=3)
        assert "bootstrap" not in self.said(alike, bootstrap=boot)

    def test_undefined_is_left_out(self):
        """A test and a bootstrap without a number are not reported as a dash."""
        with pytest.warns(sa.UndefinedAgreementWarning):
            alpha = sa.krippendorff_alpha(annotations(text("a a / a a")))
        boot = sa.bootstrap(alpha, n_resamples=9, rng=1)
        test = sa.permutation_test(alpha, n_resamples=9, rng=1)
        said = self.said(alpha, bootstrap=boot, test=test)
        assert "bootstrap" not in said
        assert "permutation" not in said
        assert "undefined, because" in said

    def test_of_another_coefficient(self, alpha):
        """What was resampled must be what is reported."""
        other = sa.krippendorff_alpha(alpha.study, distance="nominal")
        boot = sa.bootstrap(other, n_resamples=50, rng=3)
        test = sa.permutation_test(other, n_resamples=9, rng=3)
        with pytest.raises(sa.SetagreeError, match=r"bootstrap= is of <krip.*nominal"):
            self.said(alpha, bootstrap=boot)
        with pytest.raises(sa.SetagreeError, match=r"test= is of <krip.*nominal"):
            self.said(alpha, test=test)
        with pytest.raises(sa.SetagreeError, match="bootstrap= is "):
            self.said(alpha, bootstrap=sa.bootstrap(sa.agreement(alpha.study), n_resamples=9))
        elsewhere = sa.krippendorff_alpha(sa.simulate(40, 3, rng=9))
        with pytest.raises(sa.SetagreeError, match="not what is reported"):
            self.said(alpha, test=sa.permutation_test(elsewhere, n_resamples=9, rng=3))

    def test_of_one_of_several(self, alpha):
        """In a table it is said which row was resampled."""
        table = sa.agreement(alpha.study, distance=["masi", "nominal"])
        test = sa.permutation_test(table["fleiss_kappa", "nominal"], n_resamples=9, rng=3)
        boot = sa.bootstrap(table["fleiss_kappa", "nominal"], n_resamples=9, rng=3)
        said = self.said(table, test=test, bootstrap=boot)
        assert "compared the estimate of Fleiss' kappa with nominal with 9 random" in said
        assert "interval of Fleiss' kappa with nominal of 9 bootstrap resamples" in said

    def test_a_distance_that_borrows_a_name(self, alpha):
        """A function of the user's that is called masi is not Passonneau's."""

        def masi(A, B):
            return float(A != B)

        own = sa.krippendorff_alpha(alpha.study, distance=masi)
        said = sa.methods_text(own)
        assert "“masi” (defined by the authors)" in said
        assert "Passonneau" not in said
        assert "Passonneau" in sa.methods_text(alpha)


def unsure_and_sure():
    """Return scores of five raters: r4 is far out once, r3 is always off by one, to the middle."""
    rows = []
    for unit in range(30):
        true = 1 + unit * 7 % 9
        off, far = (1 if true < 5 else -1), (8 if unit == 5 else 0)
        rows += [(f"r{g}", unit, true) for g in range(3)]
        rows += [("r3", unit, true + off), ("r4", unit, true + far)]
    return sa.Annotations.from_triples(rows, kind="value")


class TestReportSentences:
    """Sentences of the report do not contradict each other or the numbers."""

    def test_the_surest_rater_need_not_be_the_first(self):
        """A rater whose leaving surely helps is named, although another might help more."""
        study = unsure_and_sure()
        raters = sa.by_rater(study, distance="interval").set_index("rater")
        assert raters.index[0] == "r4"
        assert raters.loc["r4", "change_low"] < 0 < raters.loc["r3", "change_low"]
        found = gather(study, distance="interval", n_resamples=19, rng=1)
        said = {one.about: plain(one.sentence) for one in main_findings(found)}
        assert said["Raters"].startswith("Without “r3”, alpha would be ")
        assert "surely raises it for none" not in said["Raters"]
        assert "leave out the rater “r3”" in said["Change"]

    def test_no_standard_error(self):
        """Of mv-alpha it is not said that a rater's leaving surely raises nothing."""
        study = sa.simulate(60, 4, skill=[0.9, 0.9, 0.9, 0], rng=1)
        found = gather(study, coefficient="mv_alpha", n_resamples=19, rng=1)
        said = {one.about: plain(one.sentence) for one in main_findings(found)}
        whole = sa.mv_alpha(study).estimate
        changes = []
        for rater in study.raters:
            rows = [row for row in study.to_triples() if row[0] != rater]
            changes.append(abs(sa.mv_alpha(sa.Annotations.from_triples(rows)).estimate - whole))
        assert said["Raters"] == (
            f"Leaving out any one of the 4 changes mv-alpha by {max(changes):.3f} at most; how "
            "sure that is, no standard error says."
        )
        assert "though how surely is not known" in said["Change"]
        assert "surely raises" not in said["Change"]

    def test_no_change_helps(self):
        """Without a standard error, changes that only cost are not named."""
        found = gather(sa.simulate(30, 3, rng=1), coefficient="mv_alpha", n_resamples=19, rng=1)
        worse = found.results["changes"].assign(difference=-0.1)
        found.results["changes"] = worse
        assert changes.say(found) == ()

    def test_models_that_were_not_tested(self):
        """Too few shared units give no verdict on any model, not a bad one."""
        study = sa.simulate(20, 6, rng=1)
        found = gather(study, model=["r1", "r2"], n_resamples=19, rng=1)
        said = {one.about: plain(one.sentence) for one in main_findings(found)}["Models"]
        assert said == (
            "No verdict on any of 2 models: no human shares enough units with the model."
        )

    def test_one_model_of_two_was_tested(self):
        """The count is of the models that were tested."""
        rows = sa.simulate(40, 5, rng=1).to_triples()
        rows = [row for row in rows if row[0] != "r1" or row[1] in {"u1", "u2"}]
        study = sa.Annotations.from_triples(rows)
        found = gather(study, model=["r1", "r2"], n_resamples=19, rng=1)
        said = {one.about: plain(one.sentence) for one in main_findings(found)}["Models"]
        assert "1 model that could be tested (of 2) may replace a human" in said

    def test_groups_of_another_coefficient(self, tmp_path):
        """Groups that were scored by something else are not shown under the wrong head."""
        study = sa.simulate(40, 3, rng=1)
        batch = {unit: k % 2 for k, unit in enumerate(study.units)}
        for options in ({"coefficient": "fleiss_kappa"}, {"distance": "nominal"}):
            groups = sa.by_group(study, batch, **options)
            with pytest.raises(sa.SetagreeError, match="the groups were scored with"):
                sa.report(study, tmp_path / "r.md", groups=groups, n_resamples=19, rng=1)
            sa.report(study, tmp_path / "r.md", groups=groups, n_resamples=19, rng=1, **options)
        assert "Agreement by group" in (tmp_path / "r.md").read_text()

    def test_full_agreement_is_not_certain(self):
        """Where nothing varies there is no verdict; chance is given by all six studies.

        a a b b over two units of two: two of the six arrangements agree fully, so that the least
        number that 95 % of them do not exceed is 1, and p is a third.
        """
        found = gather(annotations(text("a a / b b")), n_resamples=99, rng=1)
        assert verdict_sentence(found) == "No verdict. No disagreement was seen in 2 units."
        full = sum(p[0] == p[1] for p in permutations("aabb"))
        assert full / 24 == pytest.approx(found.results["chance"].p_value)
        assert plain(chance.say(found)) == (
            "Chance alone may give as much: 95 % of 6 reshuffled studies give 1.000 at most "
            "(p = .333)."
        )

    def test_limits_are_not_for_percent_agreement(self):
        """Agreement by chance alone would pass them."""
        found = gather(
            sa.simulate(30, 3, rng=1), coefficient="percent_agreement", n_resamples=19, rng=1
        )
        assert verdict_sentence(found).startswith("No verdict: ")

    def test_a_generator_has_no_seed(self, tmp_path):
        """A Generator leaves no seed to report."""
        path = sa.report(
            sa.simulate(30, 3, rng=1),
            tmp_path / "r.md",
            n_resamples=19,
            rng=np.random.default_rng(1),
        )
        assert "(seed None)" not in path.read_text()

    def test_two_ways_to_leave_out_a_rater(self, tmp_path):
        """Mid-ranks of the whole study, or of the rest: the page says why the numbers differ."""
        drawn = np.random.default_rng(0).integers(1, 7, 25).tolist()
        rows = [
            (f"r{g}", u, drawn[u] if g == 3 else 1 + (u + (g == u % 5)) % 4)
            for u in range(25)
            for g in range(4)
        ]
        study = sa.Annotations.from_triples(rows, kind="value")
        whole = sa.by_rater(study, distance="ordinal").set_index("rater")
        anew = sa.what_if(study, distance="ordinal", drop_raters=["r3"]).set_index("what")
        rest = sa.Annotations.from_triples([row for row in rows if row[0] != "r3"], kind="value")
        alone = sa.krippendorff_alpha(rest, distance="ordinal").estimate
        assert anew.loc["r3", "estimate"] == pytest.approx(alone)
        assert abs(whole.loc["r3", "estimate_without"] - alone) > 1e-3
        assert whole.loc["r3", "change_low"] > 0
        path = sa.report(study, tmp_path / "r.md", distance="ordinal", n_resamples=19, rng=1)
        assert "are made anew here" in path.read_text()
        path = sa.report(study, tmp_path / "r.md", distance="nominal", n_resamples=19, rng=1)
        assert "made anew here" not in path.read_text()

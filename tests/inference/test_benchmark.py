"""Benchmark scales: by the score interval, and by Gwet's cumulative membership."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_support import HARD, T1, one_line, score
from plain_score import plain
from results_support import flat
from scipy import stats
from small_studies import annotations, text

import setagree as sa
from setagree.errors import DataError, FewClustersWarning, OptionError
from setagree.inference.benchmark import SCALES

ALPHA = score(T1, "krippendorff_alpha")
MV = score(T1, "mv_alpha")
STRATA = sa.krippendorff_alpha(
    sa.simulate(60, 3, rng=1).sampled(strata={f"u{k}": k % 2 for k in range(1, 61)})
)
every_scale = pytest.mark.parametrize("scale", SCALES)


def with_error(agreement, estimate, se):
    made = replace(agreement, estimate=estimate)
    vars(made)["standard_error"] = se
    return made


def judged(estimate, se, scale="altman"):
    """Judge a coefficient without a score interval, of this size with this standard error."""
    return sa.benchmark(with_error(STRATA, estimate, se), scale=scale)


def test_gwets_example():
    """Kappa 0.67, se 0.15 on Altman's scale: 0.18168 0.67511 0.96356 0.99912 1, so "moderate".

    Gwet 2014, ch. 6, the example as irrCAC's altman.bf() prints it, to every printed digit.
    """
    result = judged(0.67, 0.15)
    assert result.levels["level"].tolist() == ["very good", "good", "moderate", "fair", "poor"]
    printed = [0.18168, 0.67511, 0.96356, 0.99912, 1]
    assert result.levels["cumulative"].tolist() == pytest.approx(printed, abs=5.1e-6)
    assert result.verdict == "moderate"


@every_scale
@settings(max_examples=15)
@given(estimate=st.floats(-1, 1), se=st.floats(1e-3, 2))
def test_membership_is_a_truncated_normal(scale, estimate, se):
    levels = judged(estimate, se, scale).levels
    cut = stats.truncnorm((-1 - estimate) / se, (1 - estimate) / se, loc=estimate, scale=se)
    inside = cut.cdf(levels["to"]) - cut.cdf(levels["from"])
    assert levels["membership"].tolist() == pytest.approx(inside.tolist(), abs=1e-9)
    assert levels["cumulative"].iloc[-1] == pytest.approx(1, abs=1e-9)


@every_scale
@given(estimate=st.floats(-1, 1), se=st.floats(0, 2, exclude_min=True))
def test_the_verdict_is_the_first_to_reach_95_percent(scale, estimate, se):
    result = judged(estimate, se, scale)
    at = result.levels["level"].tolist().index(result.verdict)
    assert result.levels["cumulative"].iloc[at] >= 0.95 - 1e-9
    assert (result.levels["cumulative"].iloc[:at] < 0.95).all()


@pytest.mark.parametrize(
    ("scale", "ends"),
    [
        ("krippendorff", {0.667: "tentative", 0.8: "reliable"}),
        (
            "landis_koch",
            {
                0.0: "slight",
                0.2: "fair",
                0.4: "moderate",
                0.6: "substantial",
                0.8: "almost perfect",
            },
        ),
        ("altman", {0.2: "fair", 0.4: "moderate", 0.6: "good", 0.8: "very good"}),
        ("fleiss", {0.4: "intermediate to good", 0.75: "excellent"}),
    ],
)
def test_boundaries(scale, ends):
    """A level begins at its lower end and ends at the next one: all but certain estimates tell.

    Lower ends: Krippendorff 2004, Landis & Koch 1977, Altman 1991, Fleiss 1981.
    """
    lowest = {"krippendorff": "discard"}.get(scale, "poor")
    below = [lowest, *list(ends.values())[:-1]]
    for (end, name), before in zip(ends.items(), below, strict=True):
        assert judged(end + 1e-9, 1e-10, scale).verdict == name
        assert judged(end - 1e-9, 1e-10, scale).verdict == before
        levels = judged(end, 1e-10, scale).levels
        assert levels.loc[levels["level"] == name, "from"].item() == end
        assert levels.loc[levels["level"] == before, "to"].item() == end
    assert judged(1.0, 1e-10, scale).verdict == list(ends.values())[-1]
    assert judged(-1.0, 1e-10, scale).verdict == lowest


@every_scale
def test_nan(scale):
    """Without an estimate, or without a standard error, there is no verdict."""
    none = f"none: {MV.interval_reason}"
    assert none.startswith("none: mv_alpha has no standard error here; bootstrap gives")
    for estimate, verdict in ((np.nan, "undefined"), (0.9, none)):
        result = sa.benchmark(with_error(MV, estimate, np.nan), scale=scale)
        assert result.verdict == verdict
        assert result.levels[["membership", "cumulative"]].isna().all(axis=None)


def test_far_below_the_scale():
    """Brennan-Prediger with partial credit can lie below -1: the lowest level, not 0 / 0."""
    for se in (1e-9, 1e-3):
        result = judged(-2.5, se)
        assert result.verdict == "poor"
        assert result.levels["membership"].tolist() == [0, 0, 0, 0, 1]
    assert judged(-1.01, 0.01).verdict == "poor"


def test_a_small_standard_error():
    level = {-1.0: "poor", -0.3: "poor", 0.25: "fair", 0.5: "moderate", 0.61: "good"}
    for estimate, verdict in (level | {0.99: "very good", 1.0: "very good"}).items():
        assert judged(estimate, 1e-9).verdict == verdict


@every_scale
def test_a_standard_error_of_0(scale):
    alike = sa.krippendorff_alpha(annotations(text("a b / b a") * 4))
    result = sa.benchmark(alike, scale=scale)
    assert result.verdict == "none: All units disagree alike"
    assert "No verdict. All units disagree alike." in flat(result)
    assert result.levels[["membership", "cumulative"]].isna().all(axis=None)
    agreed = sa.krippendorff_alpha(annotations(text("a a / b b / c c") * 4))
    verdict = "none: No disagreement was seen in 12 units"
    assert sa.benchmark(agreed, scale=scale).verdict == verdict


def test_a_scale_of_your_own():
    result = judged(0.6, 1e-9, {"fine": 0.5, "no": -1, "so so": 0.1})
    assert result.scale == "your scale"
    assert result.levels[["level", "from", "to"]].to_numpy().tolist() == [
        ["fine", 0.5, 1.0],
        ["so so", 0.1, 0.5],
        ["no", -1.0, 0.1],
    ]
    assert result.verdict == "fine"
    assert judged(0.6, 1e-9, {"only": -1.0}).verdict == "only"


@pytest.mark.parametrize(
    "scale",
    [
        {},
        {"a": 0.0, "b": 0.5},
        {"a": -1, "b": 1},
        {"a": -1, "b": 0.5, "c": 0.5},
        {"a": -2, "b": -1},
        {"a": -1, "b": float("nan")},
        {"a": -1, "b": "high"},
        3,
        ["a", "b"],
    ],
)
def test_scales_that_are_none(scale):
    with pytest.raises(OptionError, match="lower end, the lowest -1, all different and below 1"):
        sa.benchmark(ALPHA, scale=scale)


def test_unknown_scale():
    with pytest.raises(OptionError, match=r"scale='altmann' is unknown; .* Did you mean 'altman'"):
        sa.benchmark(ALPHA, scale="altmann")


@pytest.mark.parametrize(("estimate", "se"), [(0.71, 0.04), (0.9, 0.01), (np.float64(-0.2), 0.1)])
def test_a_published_coefficient(estimate, se):
    """It is judged by Gwet's rule, as a coefficient without a score interval is."""
    found, known = sa.benchmark((estimate, se)), judged(estimate, se, "krippendorff")
    assert found.verdict == known.verdict
    assert found.levels.equals(known.levels)
    assert f"estimate {estimate:.4f} (se {se:.4f})" in repr(found)
    assert f"Verdict: {found.verdict}. It is the best level whose cumulative" in flat(found)


@pytest.mark.parametrize("pair", [(1.2, 0.1), (0.5, 0), (0.5, -1), (np.nan, 0.1), (0.5, np.inf)])
def test_impossible_published_numbers(pair):
    with pytest.raises(OptionError, match="a published estimate, at most 1, and its standard"):
        sa.benchmark(pair)


def test_no_agreement():
    with pytest.raises(
        DataError, match="Expected an agreement, got a float; pass what krippendorff_alpha"
    ):
        sa.benchmark(0.8)


def test_result():
    """The levels as a frame, one line to look at, and in full what such words are worth."""
    result = judged(0.67, 0.15, "krippendorff")
    assert result.to_frame().columns.tolist() == ["level", "from", "to", "membership", "cumulative"]
    assert one_line(result)
    assert "3 rows. Verdict: discard." in repr(result)
    shown = flat(result)
    assert "Verdict: discard." in shown
    assert "the same verdict does not mean the same agreement with it as with nominal" in shown


class TestNoVerdict:
    def test_no_standard_error(self):
        mv = score(HARD, "mv_alpha", "nominal")
        found = sa.benchmark(mv)
        assert np.isfinite(mv.estimate)
        assert found.verdict == f"none: {mv.interval_reason}"
        assert "No verdict. mv_alpha has no standard error here; " in flat(found)

    def test_undefined(self):
        found = sa.benchmark(score(text("a a / a a"), "krippendorff_alpha"))
        assert found.verdict == "undefined"


class TestScoreInterval:
    def test_the_walk_through(self):
        """T1: the 90% interval begins at 0.1273285 (an independent plain program)."""
        found = sa.benchmark(ALPHA, scale="landis_koch")
        assert found.at_least == pytest.approx(0.1273285, abs=6e-8)
        assert found.verdict == "slight"
        assert "krippendorff_alpha is at least 0.1273 with 95% confidence" in flat(found)

    @pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "scott_pi"])
    def test_against_the_loops(self, name):
        """11 units, 1 disagreement: "substantial" by the standard error, "moderate" by score.

        The low end is that of the plain loops, from the ratings, where it lies below that of t.
        """
        rows = text("a a / b b / c c / a a / a a / a a / b b / b b / b b / c c / a b")
        found = sa.benchmark(score(rows, name), scale="landis_koch")
        by_ratings = name == "krippendorff_alpha"
        low, _ = plain(rows, lambda x, y: float(x != y), 0.90, by_ratings=by_ratings)
        assert found.at_least == pytest.approx(low, abs=1e-12)
        assert 0.4 < low < 0.6
        assert found.verdict == "moderate"
        by_membership = found.levels.loc[found.levels["cumulative"] >= 0.95, "level"]
        assert by_membership.iloc[0] == "substantial"

    def test_memberships_stay_gwets(self):
        alike = with_error(STRATA, ALPHA.estimate, ALPHA.standard_error)
        assert sa.benchmark(ALPHA).levels.equals(sa.benchmark(alike).levels)
        assert "membership is Gwet's" in flat(sa.benchmark(ALPHA))
        assert np.isnan(sa.benchmark(alike).at_least)
        assert "whose cumulative membership (Gwet's) reaches 95%" in flat(sa.benchmark(alike))

    def test_one_pairable_unit(self):
        found = sa.benchmark(score(text("a b / a . / . b"), "fleiss_kappa"))
        assert np.isfinite(found.agreement.estimate)
        assert found.verdict.startswith("none: Too few rarer answers")

    def test_below_the_scale(self):
        """A low end of -1 is in the lowest level."""
        found = sa.benchmark(score(text("a b") * 9 + text("b b"), "krippendorff_alpha"))
        assert found.at_least == -1
        assert found.verdict == "discard"


def test_rough_bounds_are_called_rough():
    """What rests on few clusters has the remark of the table."""
    study = sa.simulate(60, 3, rng=1)
    with pytest.warns(FewClustersWarning):
        alpha = sa.krippendorff_alpha(
            study.sampled(cluster={u: k % 6 for k, u in enumerate(study.units)})
        )
    for result in (sa.at_least(alpha, 0.1), sa.benchmark(alpha)):
        assert "The interval and p are rough: there are 6 clusters" in flat(result)
    assert "rough" not in flat(sa.at_least(study, 0.1))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("a a / b b / c c / d d", "no disagreement was seen in 20 units"),
        ("a b / b a", "all units disagree alike"),
        ("a a / b a", "all units have the same linearised value"),
    ],
)
def test_a_standard_error_of_0_gives_no_benchmark(rows, reason):
    """`benchmark` needs a standard error; `at_least` compares a bound of the score interval."""
    pairs = " / ".join([rows] * (20 // len(rows.split(" / "))))
    kappa = sa.conger_kappa(annotations(text(pairs)))
    test = sa.at_least(kappa, 0.6)
    assert test.low == kappa.interval(0.9)[0]
    assert test.passes == (test.low >= 0.6)
    assert sa.benchmark(kappa).verdict.lower().startswith(f"none: {reason}")


def test_the_caution_is_that_of_the_scale():
    cautions = {
        "krippendorff": "The limits were proposed for alpha with nominal, ordinal, interval or",
        "altman": "The scale was proposed for kappa with the nominal distance",
    }
    for scale, caution in cautions.items():
        assert caution in flat(sa.benchmark(ALPHA, scale=scale))
    assert "proposed" not in flat(sa.benchmark(ALPHA, scale={"low": -1, "high": 0.5}))

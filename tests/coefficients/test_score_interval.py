"""The score interval: its vectors, a plain reference, and that it holds where t does not."""

import math

import numpy as np
import pytest
import reference
from plain_score import plain, plain_of_model
from small_studies import annotations, random_rows, score_ends, sets_of, text

import setagree as sa
from setagree.coefficients import score_interval as module
from setagree.coefficients.chance_models import Urn
from setagree.coefficients.score_interval import ScoreInterval, score_interval
from setagree.credit.build import WeightBuilder
from setagree.distances import distance_names, get_distance
from setagree.errors import OptionError, UndefinedAgreementWarning

T1 = (
    "a,b a b / a,b a,b a,b / a a a / c c . / c a,c a,c / d d d / b d e / a,b a b / "
    "a,b a,b,c a,b,c,i / a b,d a / a a e"
)
T2 = "a,b a / a,b a,b / a a / c c / c a,c / d d / b d / a,b a / a,b a,b,c / a a / a a"


def study_of(rows):
    """Return a study; labels of one answer stand with commas between them, a dot is missing."""
    cells = [row.split() for row in rows.split("/")]
    return sa.Annotations.from_triples(
        (rater, unit, set(cell.split(",")))
        for unit, row in enumerate(cells)
        for rater, cell in enumerate(row)
        if cell != "."
    )


class TestVectors:
    @pytest.mark.parametrize(
        ("level", "ends"),
        [
            (0.95, (0.0642031, 0.7191400461)),
            (0.90, (0.1273285, 0.6740731)),
            (0.99, (-0.0787189, 0.7986110)),
        ],
    )
    def test_walkthrough(self, level, ends):
        """T1; the low ends are those of t, which lie lower."""
        alpha = sa.krippendorff_alpha(study_of(T1))
        assert alpha.interval(level) == pytest.approx(ends, abs=6e-8)

    def test_walkthrough_inside(self):
        """T1, its own low end and what it is made of."""
        alpha = sa.krippendorff_alpha(study_of(T1))
        found = score_interval(alpha.sums)
        assert found.s == pytest.approx(0.7435992016, abs=6e-11)
        assert pytest.approx(-1.0019488083, abs=6e-11) == found.B
        assert found.n * found.Do / found.s == pytest.approx(6.8057683195, abs=6e-11)
        assert score_ends(alpha.case, Urn("ratings"), 0.95) == pytest.approx(
            (0.1609905268, 0.7191400461), abs=6e-11
        )

    @pytest.mark.parametrize(
        ("rows", "name", "distance", "ends"),
        [
            (T1, "krippendorff_alpha", "nominal", (0.0095073, 0.6884994998)),
            (T1, "fleiss_kappa", "masi", (0.0646332, 0.722947)),
            (T2, "krippendorff_alpha", "masi", (0.1648602, 0.8322471023)),
        ],
    )
    def test_others(self, rows, name, distance, ends):
        """T1 with nominal and Fleiss, T2."""
        found = getattr(sa, name)(study_of(rows), distance=distance)
        assert found.interval(method="score") == pytest.approx(ends, abs=6e-7)

    def test_units_with_one_rating(self):
        kappa = sa.fleiss_kappa(study_of(T1 + " / a . . / . d . / e . ."))
        assert kappa.estimate == pytest.approx(0.4202706594, abs=6e-11)
        own = score_ends(kappa.case, Urn("units"), 0.95)
        # The figures are cut after ten digits, not rounded.
        assert own == pytest.approx((0.1505346279, 0.7126091434), abs=1.01e-10)

    def test_full_agreement(self):
        alpha = sa.krippendorff_alpha(study_of(" / ".join(f"{c} {c}" for c in "aaabbbcccd")))
        assert math.isnan(alpha.interval(method="t")[0])
        assert alpha.interval() == pytest.approx((0.6145377780, 1), abs=6e-11)


SK = "aa aa aa aa aa aa ab bb aa aa bb aa"
NEG = "ab ba ab bc ca ab ba cb ac aa"
DOMINATED = " ".join(["aaaaa"] * 38 + ["aaaab"] * 8 + ["aaaac"] * 4)


def letters(words):
    """Return rows of answers of one letter each, from a word per unit."""
    return " / ".join(" ".join(word) for word in words.split())


@pytest.mark.parametrize(
    ("rows", "distance", "estimate", "ends", "p"),
    [
        (T1, "masi", 0.4025715242, (0.0642031050, 0.7191400461), 0.02427498266),
        (T1, "nominal", 0.3526682135, (0.0095072905, 0.6884994998), 0.0450236767),
        (T2, "masi", 0.5403556772, (0.1648602116, 0.8322471023), 0.009389249673),
        (letters("aa aa aa bb bb bb cc cc cc dd"), "nominal", 1, (0.614537778, 1), 3.958856766e-07),
        (letters(SK), "nominal", 0.7578947368, (-0.0273774877, 0.9893950657), 0.05712837237),
        (letters(NEG), "nominal", -0.3464566929, (-0.656402221, 0.188043532), 0.1838171759),
        (
            letters(" ".join([NEG] * 3)),
            *("nominal", -0.3937007874, (-0.5498094255, -0.1426692895), 0.005216222143),
        ),
        (
            letters(DOMINATED),
            *("nominal", -0.03462603878, (-0.0557517806, 0.1260240988), 0.545123758),
        ),
    ],
)
def test_interval_and_p(rows, distance, estimate, ends, p):
    alpha = sa.krippendorff_alpha(study_of(rows), distance=distance)
    error, df = alpha.standard_error, alpha.degrees_of_freedom
    found = score_interval(alpha.sums, error, df)
    assert alpha.estimate == pytest.approx(estimate, rel=6e-10)
    assert found.interval(0.95) == pytest.approx(ends, abs=6e-11)
    assert found.p_value() == pytest.approx(p, rel=6e-10)
    is_rare = alpha.inference.n_rarer < 4
    assert math.isnan(alpha.p_value) == is_rare == math.isnan(alpha.interval()[0])
    assert is_rare or alpha.p_value == found.p_value()


@pytest.mark.parametrize("rows", [T1, letters(SK), letters(NEG), letters(DOMINATED)])
def test_p_takes_few_steps(rows, monkeypatch):
    """Newton's method needs at most eight values of the distribution of t."""
    alpha = sa.krippendorff_alpha(study_of(rows), distance="nominal")
    calls, t_tail = [], module.t_tail
    monkeypatch.setattr(module, "t_tail", lambda *of: calls.append(of) or t_tail(*of))
    assert alpha.inference.score.p_value() > 0
    assert 0 < len(calls) <= 8


@pytest.mark.parametrize(
    ("name", "ends", "p"),
    [
        ("krippendorff_alpha", (0.0642, 0.7409), 0.0243),
        ("fleiss_kappa", (0.0646, 0.7501), 0.0244),
    ],
)
def test_t_on_request(name, ends, p):
    """The published walk-through (irrCAC 1.0), and the p-value of its t test."""
    table = sa.agreement(study_of(T1), coefficient=name, interval="t")
    assert table[0].interval() == pytest.approx(ends, abs=5e-5)
    assert table[0].p_value == pytest.approx(p, abs=5e-5)
    assert table.to_frame()["interval_method"].tolist() == ["t"]


@pytest.mark.parametrize("distance", ["masi", "nominal", "jaccard"])
@pytest.mark.parametrize("skill", [0.0, 0.3])
def test_p_is_at_most_a_exactly_if_0_is_outside(distance, skill):
    rng = np.random.default_rng(5)
    for seed in range(30):
        n, r = int(rng.integers(5, 40)), int(rng.integers(2, 6))
        study = sa.simulate(n, r, skill=skill, rng=seed)
        for name in ("krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac"):
            found = getattr(sa, name)(study, distance=distance)
            for level in (0.8, 0.95, 0.99):
                low, high = found.interval(level)
                assert (found.p_value <= 1 - level + 1e-12) == (low > 0 or high < 0)


@pytest.mark.parametrize("distance", ["masi", "jaccard", "nominal", "hamming"])
@pytest.mark.parametrize("by_ratings", [True, False])
def test_against_loops(distance, by_ratings):
    rng = np.random.default_rng(7)
    d, name = reference.SET_DISTANCES[distance], ("fleiss_kappa", "krippendorff_alpha")[by_ratings]
    model = Urn("ratings" if by_ratings else "units")
    for _ in range(30):
        rows = random_rows(
            rng, sets_of("abc"), units=int(rng.integers(3, 12)), raters=4, missing=0.3
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("setagree.scoring.scorer.warn_nan", lambda *_: None)
            found = getattr(sa, name)(annotations(rows), distance=distance)
        if found.reason is None:
            expected = plain(rows, lambda x, y: float(d(x, y)), by_ratings=by_ratings)
            assert score_ends(found.case, model, 0.95) == pytest.approx(expected, abs=1e-12)


OTHERS = ("fleiss_kappa", "conger_kappa", "gwet_ac", "brennan_prediger", "percent_agreement")


@pytest.mark.parametrize("distance", ["masi", "jaccard", "nominal"])
@pytest.mark.parametrize("name", OTHERS)
def test_other_chance_against_loops(name, distance):
    """With any model of chance the ends are those of loops, with and without missing answers.

    The loops take psi as a difference quotient, which has 8 digits.
    """
    rng = np.random.default_rng(8)
    d = reference.SET_DISTANCES[distance]
    for missing in (0, 0, 0.3, 0.3):
        rows = random_rows(rng, sets_of("ab"), units=12, raters=3, missing=missing)
        rows = [row for row in rows if any(x is not None for x in row)]
        found = getattr(sa, name)(annotations(rows), distance=distance)
        expected = plain_of_model(rows, lambda x, y: float(d(x, y)), name)
        own = score_ends(found.case, found.definition.model, 0.95)
        assert own == pytest.approx(expected, abs=1e-7)
        ends = (min(own[0], found.interval(method="t")[0]), own[1])
        assert found.interval(method="score") == pytest.approx(ends, abs=1e-14)


def test_two_raters_who_answer_alike():
    cohen, conger = (one(study_of(T2)) for one in (sa.cohen_kappa, sa.conger_kappa))
    assert cohen.interval(method="score") == conger.interval(method="score")


def test_a_free_marginal_is_a_share_of_the_observed_agreement():
    """1 - BP = (1 - pa) / (1 - pe) with pe fixed, and so are the ends of its interval."""
    bp, pa = (one(study_of(T1)) for one in (sa.brennan_prediger, sa.percent_agreement))
    scale = 1 - bp.expected_agreement
    ends = [1 - (1 - end) / scale for end in pa.interval(method="score")]
    assert bp.interval(method="score") == pytest.approx(ends, abs=1e-12)


def interval_of(Do, v0):
    """Return an interval of 100 units with De = E = 1, s = 1/2 and B = 0, without t's."""
    return ScoreInterval(100, 99, Do, 1, 1, 0.5, 0, v0, math.nan, math.nan, None)


def test_a_look_excludes_0_under_the_variance_of_chance():
    """The estimate is 1/2: the bound on q is 100 (1/2)² / v0 = 6.25, where V(1) is only 1/2."""
    found = interval_of(0.5, v0=4)
    assert found.at_q(6.24)[0] == found.roots(6.24)[0] > 0.3
    assert found.at_q(6.26)[0] == 0


def test_a_look_below_a_third_takes_units_known_or_guessed_into_account():
    """The estimate is 1/6, so that w = 1/2: n (T - th)² = q V, V = T/4 + T (v0 + 1 - T) / 2."""
    found, q = interval_of(5 / 6, v0=2), 5.0
    T = 1 - found.at_q(q)[0]
    assert T > 1
    V = T / 4 + T * (3 - T) / 2
    assert q * V == pytest.approx(100 * (T - 5 / 6) ** 2, rel=1e-12)


def test_only_the_test_against_0_has_the_variance_of_chance():
    """V(1) = 1/2 and V(9/10) = 9/20, against v0 = 4; q is z² as Do is above s."""
    found = interval_of(1.2, v0=4)
    for z, T, V in (
        (found.z_against(), 1.0, 4.0),
        (found.z_against(chance=False), 1.0, 0.5),
        (found.z_against(0.1), 0.9, 0.45),
    ):
        assert z**2 == pytest.approx(100 * (found.shifted - T) ** 2 / V, rel=1e-9)


class TestEdges:
    def test_undefined(self):
        """One value, or one pairable unit: nan, as the estimate."""
        for rows in ("a a / a a", "a b"):
            with pytest.warns(UndefinedAgreementWarning):
                alpha = sa.krippendorff_alpha(annotations(text(rows)))
            assert all(map(math.isnan, alpha.interval(method="score")))

    def test_never_above_t(self):
        """The low end is the lower of the two; no end lies below -1 unless the estimate does."""
        rng = np.random.default_rng(3)
        for _ in range(40):
            rows = random_rows(rng, sets_of("ab"), units=5, raters=2, missing=0)
            alpha = sa.krippendorff_alpha(annotations(rows), distance="nominal")
            low, high = alpha.interval(method="score")
            if alpha.standard_error > 0 and alpha.interval(method="t")[0] > -1:
                assert low <= alpha.interval(method="t")[0] + 1e-15  # rounding
            assert min(alpha.estimate, -1) <= low <= alpha.estimate <= high <= 1

    @pytest.mark.parametrize("coefficient", ["fleiss_kappa", "gwet_ac", "percent_agreement"])
    def test_all_units_disagree_alike(self, coefficient):
        """The interval contains the estimate if all units disagree alike."""
        rows = text(" / ".join(["a a b b", "b a a b"] * 10))
        found = getattr(sa, coefficient)(annotations(rows), distance="nominal")
        assert found.standard_error == 0
        for level in (0.5, 0.95):
            low, high = found.interval(level, method="score")
            assert low == found.estimate < high

    def test_other_coefficients(self):
        """It is refused where it was not simulated: mv-alpha, and a model of one's own."""
        with pytest.raises(OptionError, match="was not simulated for mv_alpha; the bootstrap"):
            sa.mv_alpha(study_of(T1)).interval(method="score")

    def test_unknown_method(self):
        with pytest.raises(OptionError, match=r"bootstrap\(\.\.\.\)\.interval\(method=\)"):
            sa.krippendorff_alpha(study_of(T1)).interval(method="BCa")

    def test_scale(self):
        """The unit of a distance does not matter."""
        rows = [[1, 2], [2, 2], [5, 3], [4, 4], [1, 1]]
        study, far = (annotations([[by * x for x in row] for row in rows]) for by in (1, 10**9))
        for name in ("interval", "linear", "ratio"):
            one, other = (sa.krippendorff_alpha(s, distance=name) for s in (study, far))
            expected = pytest.approx(one.interval(method="score"), rel=1e-9)
            assert other.interval(method="score") == expected


@pytest.mark.parametrize("distance", distance_names())
def test_squares(distance):
    """The sum of squared distances is that of the double loop, for every kind of weights."""
    rng = np.random.default_rng(5)
    found = get_distance(distance)
    scale = hasattr(found, "position")
    values = (1, 2, 5, 9) if scale else tuple(sets_of("abcd"))
    weights = WeightBuilder(values, "number" if scale else "labels", np.ones(len(values))).build(
        found
    )
    x = rng.random(len(values)) * (rng.random(len(values)) < 0.8)
    k, l = np.divmod(np.arange(len(values) ** 2), len(values))
    d = weights.distance_at(k, l) / weights.max_distance
    assert weights.squares(x) == pytest.approx(float((x[k] * x[l]) @ d**2), rel=1e-12)


@pytest.mark.slow
def test_it_holds_where_t_does_not():
    rng = np.random.default_rng(11)
    truth, hits, by_t = 0.9, 0, 0
    for _ in range(600):
        first = rng.integers(4, size=20)
        kept = rng.random(20) < truth
        second = np.where(kept, first, rng.integers(4, size=20))
        rows = [[int(a), int(b)] for a, b in zip(first, second, strict=True)]
        alpha = sa.krippendorff_alpha(annotations(rows), distance="nominal")
        low, high = alpha.interval(method="score")
        hits += low <= truth <= high
        low, high = alpha.interval(method="t")
        by_t += low <= truth <= high
    assert hits / 600 >= 0.93
    assert by_t / 600 < 0.9

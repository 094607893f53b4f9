"""Two panels against each other: the published vector, exact cases, a slow reference."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from inference_support import one_line
from small_studies import annotations, numbers, random_rows, row_lists, sets_of, text, triples

import setagree as sa
from setagree.distances import CallableDistance, get_distance
from setagree.errors import DataError, OptionError, UndefinedAgreementWarning
from setagree.inference import cross_replication as cross_replication_module
from setagree.inference.cross_replication import cross_replication
from setagree.inference.resampling import draw_units

PANELS = {"X": ["r0", "r1"], "Y": ["r2", "r3"]}


def reference(rows, x, y, distance):
    """Return d_o, d_e and kappa_x by loops over the pairs of answers of two sets of columns."""
    above = below = 0.0
    left, right = [], []
    for row in rows:
        X, Y = ([row[g] for g in side if row[g] is not None] for side in (x, y))
        if X and Y:
            d = sum(distance(a, b) for a in X for b in Y) / (len(X) * len(Y))
            above += (len(X) + len(Y)) * d
            below += len(X) + len(Y)
            left += X
            right += Y
    expected = sum(distance(a, b) for a in left for b in right) / (len(left) * len(right))
    return above / below, expected, 1 - above / below / expected


def alpha_of(rows, columns, distance):
    """Return alpha of some columns, scored as a study of its own."""
    rows = [[row[g] for g in columns] for row in rows]
    return sa.krippendorff_alpha(annotations(rows), distance=distance).estimate


class TestVector:
    def test_the_parts(self):
        """d_o = 9/22, d_e = 1/2, kappa_x = 2/11; the last unit has no answer of Y."""
        rows = numbers("1 1 . 1 1 / 1 1 1 1 0 / 0 0 . 0 1 / 0 0 0 1 0 / 0 1 . 0 0 / 0 0 0 . .")
        panels = {"X": ["r0", "r1", "r2"], "Y": ["r3", "r4"]}
        result = cross_replication(annotations(rows), panels=panels, n_resamples=10, rng=1)
        assert result.observed_disagreement == pytest.approx(9 / 22, abs=1e-15)
        assert result.expected_disagreement == pytest.approx(1 / 2, abs=1e-15)
        assert result.estimate == pytest.approx(2 / 11, abs=1e-15)
        assert (result.n_units, result.n_ratings) == (5, (12, 10))
        assert result.alphas[1] < 0
        assert np.isnan(result.normalised)
        assert result.normalised_reason == "panel Y agrees with itself no better than chance"
        assert one_line(result)


class TestExact:
    def test_identical_panels(self):
        """Panels that are copies: kappa_x = 1 - (1 - alpha) (R - 1)/R N/(N - 1).

        d_o takes each answer with its copy too: Do (R - 1)/R; d_e with all copies: De (N - 1)/N.
        """
        rows = text("ab a / ab b / c c / {} a / abc ab / {} {}")
        alpha = sa.krippendorff_alpha(annotations(rows)).estimate
        twice = [[*row, *row] for row in rows]
        result = cross_replication(annotations(twice), panels=PANELS, n_resamples=10, rng=1)
        assert result.estimate == pytest.approx(1 - (1 - alpha) / 2 * 12 / 11, abs=1e-14)
        assert result.alphas == pytest.approx((alpha, alpha), abs=1e-14)
        assert result.normalised == pytest.approx(result.estimate / alpha, abs=1e-14)

    def test_unanimous_identical_panels(self):
        """Panels that agree inside and with each other: 1, also where resampled: no interval."""
        rows = text("a a a a / b b b b / ab ab ab ab")
        result = cross_replication(annotations(rows), panels=PANELS, n_resamples=50, rng=1)
        assert (result.estimate, result.normalised, result.alphas) == (1, 1, (1, 1))
        assert (result.distribution[np.isfinite(result.distribution)] == 1).all()
        assert np.isnan([*result.interval(), *result.normalised_interval()]).all()
        assert result.normalised_reason is None
        assert np.isnan(result.distribution).any()  # one unit drawn three times

    def test_copies_of_one_rater(self):
        rows = random_rows(np.random.default_rng(2), sets_of("abc"), units=30, raters=3)
        copied = [[row[0], row[0], row[0], row[1], row[2]] for row in rows]
        alone = cross_replication(annotations(rows), panels={"X": ["r0"]}, n_resamples=1, rng=1)
        copies = cross_replication(
            annotations(copied), panels={"X": ["r0", "r1", "r2"]}, n_resamples=1, rng=1
        )
        assert copies.panels == ("X", "others")
        assert copies.estimate == pytest.approx(alone.estimate, abs=1e-14)
        assert copies.alphas[0] == 1
        assert np.isnan(alone.alphas[0])
        assert alone.normalised_reason == "panel X has no alpha of its own on these units"

    @pytest.mark.slow
    def test_random_raters_score_nothing(self):
        """Copies of one rater against random raters: the mean over 200 studies is 0.

        Given both panels' answers, every arrangement of Y over units is as likely, and the mean of
        d_o over arrangements is d_e: kappa_x has mean 0 exactly. Within 4 standard errors.
        """
        rng = np.random.default_rng(3)
        found = []
        for _ in range(200):
            rows = random_rows(rng, sets_of("ab"), units=25, raters=3)
            rows = [[row[0], row[0], row[1], row[2]] for row in rows]
            result = cross_replication(annotations(rows), panels=PANELS, n_resamples=1, rng=1)
            found.append(result.estimate)
        assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(len(found))

    def test_one_rater_each(self):
        """Two raters: 1 - d_o / d_e is Cohen's kappa (weighted)."""
        rows = random_rows(np.random.default_rng(4), sets_of("abc"), units=40, raters=2)
        study = annotations(rows)
        result = cross_replication(study, panels={"X": ["r0"], "Y": ["r1"]}, n_resamples=1, rng=1)
        assert result.estimate == pytest.approx(sa.cohen_kappa(study).estimate, abs=1e-13)


class TestReference:
    @given(rows=row_lists(sets_of("ab"), units=6, raters=4).filter(lambda r: len(r[0]) == 4))
    def test_equals_the_loops(self, rows):
        both = [
            row
            for row in rows
            if any(x is not None for x in row[:2]) and any(x is not None for x in row[2:])
        ]
        if len(both) < 2 or len({a for row in both for a in row if a is not None}) < 2:
            return
        expected = reference(both, (0, 1), (2, 3), sa.distances.jaccard)
        if not expected[1]:
            return
        given_raters = {g for row in both for g in range(4) if row[g] is not None}
        panels = {"X": [f"r{g}" for g in (0, 1) if g in given_raters]}
        panels["Y"] = [f"r{g}" for g in (2, 3) if g in given_raters]
        result = cross_replication(
            annotations(both), panels=panels, distance="jaccard", n_resamples=2, rng=1
        )
        found = (result.observed_disagreement, result.expected_disagreement, result.estimate)
        assert found == pytest.approx(expected, abs=1e-12)

    def test_alphas_are_those_of_the_shared_units(self):
        rng = np.random.default_rng(5)
        rows = random_rows(rng, sets_of("abc"), units=40, raters=5, missing=0.3)
        shared = [
            row
            for row in rows
            if any(x is not None for x in row[:3]) and any(x is not None for x in row[3:])
        ]
        assert len(shared) < len(rows)
        panels = {"X": ["r0", "r1", "r2"], "Y": ["r3", "r4"]}
        result = cross_replication(annotations(rows), panels=panels, n_resamples=1, rng=1)
        assert result.alphas[0] == pytest.approx(alpha_of(shared, (0, 1, 2), "masi"), abs=1e-13)
        assert result.alphas[1] == pytest.approx(alpha_of(shared, (3, 4), "masi"), abs=1e-13)

    def test_resamples_are_studies(self, monkeypatch):
        rng = np.random.default_rng(6)
        rows = random_rows(rng, sets_of("abc"), units=15, raters=4, missing=0.1)
        rows = [row for row in rows if None not in row[:1] + row[2:3]]
        made, in_order = [], cross_replication_module._in_order

        def spied(tally, n_values):
            made.append((tally.unit_patterns.tolist(), in_order(tally, n_values)))
            return made[-1][1]

        monkeypatch.setattr(cross_replication_module, "_in_order", spied)
        result = cross_replication(annotations(rows), panels=PANELS, n_resamples=20, rng=9)
        patterns, order = made[0]
        rows = [rows[patterns.index(pattern)] for pattern in order]
        draws = next(draw_units(len(rows), 20, np.random.default_rng(9)))
        for drawn, kappa, normalised in zip(
            draws, result.distribution, result.normalised_distribution, strict=True
        ):
            again = cross_replication(
                annotations([rows[i] for i in drawn]), panels=PANELS, n_resamples=1, rng=1
            )
            assert kappa == pytest.approx(again.estimate, abs=1e-12, nan_ok=True)
            assert normalised == pytest.approx(again.normalised, abs=1e-12, nan_ok=True)

    @pytest.mark.parametrize("distance", ["ordinal", "interval"])
    def test_other_raters_and_units_have_no_effect(self, distance):
        """Nor have units of one panel only: mid-ranks are those of the compared answers."""
        rng = np.random.default_rng(11)
        rows = random_rows(rng, [1, 2, 3, 4], units=30, raters=4)
        more = [[*row, [1, 1, 9][k % 3]] for k, row in enumerate(rows)]
        more += [[9, 7, None, None, 1], [None, None, 1, 8, 9]]
        options = {"panels": PANELS, "distance": distance, "n_resamples": 20, "rng": 1}
        one = cross_replication(annotations(rows), **options)
        two = cross_replication(annotations(more), **options)
        assert two.estimate == pytest.approx(one.estimate, abs=1e-14)
        assert two.alphas == pytest.approx(one.alphas, abs=1e-14)
        np.testing.assert_allclose(two.distribution, one.distribution, atol=1e-12)

    @pytest.mark.parametrize("name", ["bipolar", "circular"])
    def test_the_ends_of_a_scale_are_those_of_the_study(self, name):
        """As for `score_against_panel`: an answer of another rater extends the scale to 9."""
        rows = random_rows(np.random.default_rng(11), [1, 2, 3, 4], units=30, raters=4)
        study = annotations([[*row, 9] for row in rows])
        scale = get_distance(name).function
        fixed = CallableDistance(lambda x, y: float(scale(x, y, 1, 9)), bounded=False)
        one, two = (
            cross_replication(study, panels=PANELS, distance=d, n_resamples=9, rng=1)
            for d in (name, fixed)
        )
        assert one.estimate == pytest.approx(two.estimate, abs=1e-12)
        scores = [sa.score_against_panel(study, distance=d).table["share"] for d in (name, fixed)]
        assert scores[0].tolist() == pytest.approx(scores[1].tolist(), abs=1e-12)

    def test_ordinal_by_hand(self):
        rng = np.random.default_rng(12)
        rows = random_rows(rng, [1, 2, 3, 5], units=20, raters=5)
        answers = sorted(x for row in rows for x in row[:4])
        rank = {x: answers.index(x) + answers.count(x) / 2 for x in answers}
        result = cross_replication(
            annotations(rows), panels=PANELS, distance="ordinal", n_resamples=1, rng=1
        )
        expected = reference(rows, (0, 1), (2, 3), lambda a, b: (rank[a] - rank[b]) ** 2)
        assert result.estimate == pytest.approx(expected[2], abs=1e-12)

    def test_a_scale(self):
        rows = numbers("1 2 1 2 / 3 3 2 3 / 5 4 5 5 / 2 2 1 . / 4 . 4 4")
        result = cross_replication(
            annotations(rows), panels=PANELS, distance="interval", n_resamples=5, rng=1
        )
        expected = reference(rows, (0, 1), (2, 3), lambda a, b: (a - b) ** 2)
        assert result.estimate == pytest.approx(expected[2], abs=1e-13)


class TestResult:
    def test_frame(self):
        """One row, with the intervals of the asked level."""
        rows = random_rows(np.random.default_rng(7), sets_of("ab"), units=30, raters=4)
        result = cross_replication(annotations(rows), panels=PANELS, n_resamples=200, rng=1)
        frame = result.to_frame(level=0.8)
        assert len(frame) == 1
        ends = np.percentile(result.distribution, [10, 90])
        assert frame.loc[0, ["low", "high"]].tolist() == pytest.approx(ends.tolist())
        assert frame.loc[0, "first"] == "X"

    def test_the_seed_decides(self):
        rows = random_rows(np.random.default_rng(8), sets_of("ab"), units=10, raters=4)
        one, two = (
            cross_replication(annotations(rows), panels=PANELS, n_resamples=9, rng=3)
            for _ in range(2)
        )
        np.testing.assert_array_equal(one.distribution, two.distribution)

    @pytest.mark.parametrize(
        ("drawn", "interval"),
        [
            ([np.nan, np.nan, np.nan], (np.nan, np.nan)),
            ([np.nan, 0.2, np.nan], (np.nan, np.nan)),
            ([0.6, np.nan, 0.2], (0.21, 0.59)),  # 2.5 and 97.5% of the way from 0.2 to 0.6
            ([0.6, 0.1, 0.2], (0.105, 0.58)),  # 5% from 0.1 to 0.2, 95% from 0.2 to 0.6
        ],
    )
    def test_resamples_that_make_an_interval(self, drawn, interval):
        rows = text("a a a b / a b a a / b b b b / a a ab a / ab b ab ab")
        result = cross_replication(annotations(rows), panels=PANELS, n_resamples=3, rng=1)
        again = replace(
            result, distribution=np.array(drawn), normalised_distribution=np.array(drawn)
        )
        for found in (again.interval(), again.normalised_interval()):
            assert found == pytest.approx(interval, abs=1e-15, nan_ok=True)
        assert again.n_undefined == again.n_normalised_undefined == np.isnan(drawn).sum()
        assert ("95%" in repr(again)) == np.isfinite(interval[0])

    def test_two_units_are_enough(self):
        """Units {a | b}, {b | b}: d_o = 1/2; x is a or b, y always b: d_e = 1/2, so 0."""
        study = annotations(text("a b / b b"))
        result = cross_replication(study, panels={"X": ["r0"]}, n_resamples=1, rng=1)
        assert (result.reason, result.n_units, result.estimate) == (None, 2, 0)

    @pytest.mark.parametrize(
        ("x", "alpha"),
        [
            ("a / b / b", None),  # nobody to agree with
            ("a a / b b / b .", 1),  # two answers are a pair; N = 4, one unit has one answer
            ("a b / b b / b .", 0),  # n = (1, 3): Do = 2/4, De = 2 x 3/12 = 1/2
            ("a b b / b b b / b . .", 0),  # n = (1, 5): Do = 4/2/6, De = 2 x 5/30 = 1/3
        ],
    )
    def test_panels_of_one_two_and_three(self, x, alpha):
        rows = [[*row, *other] for row, other in zip(text(x), text("a a / b b / b b"), strict=True)]
        n = len(rows[0])
        panels = {"X": [f"r{g}" for g in range(n - 2)], "Y": [f"r{n - 2}", f"r{n - 1}"]}
        result = cross_replication(annotations(rows), panels=panels, n_resamples=1, rng=1)
        expected = (np.nan if alpha is None else alpha, 1)
        assert result.alphas == pytest.approx(expected, abs=1e-15, nan_ok=True)
        assert np.isnan(result.normalised) == (alpha != 1)
        why = {
            None: "panel X has no alpha of its own on these units",
            0: "panel X agrees with itself no better than chance",
            1: None,
        }
        assert result.normalised_reason == why[alpha]

    def test_no_interval_without_an_estimate(self):
        """Where a panel agrees with itself no better than chance there is no normalised interval.

        Though some resamples have alphas above 0.
        """
        rng = np.random.default_rng(0)
        rows = random_rows(rng, sets_of("ab"), units=12, raters=4)
        result = cross_replication(annotations(rows), panels=PANELS, n_resamples=300, rng=1)
        assert min(result.alphas) <= 0
        assert np.isfinite(result.normalised_distribution).sum() > 20
        assert np.isnan(result.normalised_interval()).all()
        assert result.to_frame()[["normalised_low", "normalised_high"]].isna().all().all()
        assert "without a normalised value" not in repr(result)
        assert np.isfinite(result.interval()).all()
        why = f"No interval of the normalised estimate: {result.normalised_reason}."
        assert why in " ".join(str(result).split())

    def test_resamples_that_are_left_out(self):
        rows = text("a a a b / a b a a / b b b b / a a ab a / ab b ab ab")
        result = cross_replication(annotations(rows), panels=PANELS, n_resamples=400, rng=1)
        missed = np.isnan(result.normalised_distribution).sum()
        assert np.isfinite(result.normalised)
        assert 0 < missed < 400
        frame = result.to_frame()
        assert frame.loc[0, "n_normalised_undefined"] == missed
        assert frame.loc[0, "n_undefined"] == np.isnan(result.distribution).sum()
        assert f"{missed} resamples without a normalised value" in " ".join(str(result).split())

    @pytest.mark.parametrize(
        ("rows", "why"),
        [
            ("a a a a / a a a a", "chance leaves no disagreement"),
            ("a a b b / a a . . / . . b b", "there is only one unit with both panels"),
        ],
    )
    def test_undefined(self, rows, why):
        """nan, with the reason and one warning; the interval is nan too."""
        with pytest.warns(UndefinedAgreementWarning, match=why):
            result = cross_replication(annotations(text(rows)), panels=PANELS, n_resamples=5)
        assert np.isnan(result.estimate)
        assert why in result.reason
        assert result.normalised_reason == result.reason
        assert np.isnan(result.interval()).all()
        assert one_line(result)

    @pytest.mark.parametrize(
        ("panels", "error", "words"),
        [
            ({}, OptionError, "maps two names"),
            ([["r0"], ["r1"]], OptionError, "maps two names"),
            ({"X": ["r0"], "Y": ["r1"], "Z": ["r2"]}, OptionError, "maps two names"),
            ({"X": ["r0", "r1"], "Y": ["r1"]}, OptionError, "'r1' cannot be in both"),
            ({"X": ["r0", "r7"]}, DataError, "rater of X 'r7' gave no answer"),
            ({"X": []}, OptionError, "no rater of X is named"),
            ({"X": "r0"}, OptionError, r"panels\['X'\]='r0' must be a list of raters"),
            ({"X": ["r0"], "Y": ["r4"]}, DataError, "no unit has an answer of both panels"),
        ],
    )
    def test_refusals(self, panels, error, words):
        rows = triples(text("a a a . . / . b b b a"))
        with pytest.raises(error, match=words):
            cross_replication(sa.Annotations.from_triples(rows), panels=panels)


def test_intervals_of_few_units_and_rare_answers_are_rough():
    rare = sa.simulate(30, 4, skill=0.9, rng=3)
    answers = [frozenset({"b"} if k < 5 else {"a"}) for k in range(30)]
    rows = [(r, u, answers[k]) for k, u in enumerate(rare.units) for r in ("w", "x", "y", "z")]
    rows[0] = (rows[0][0], rows[0][1], frozenset({"a"}))
    study = sa.Annotations.from_triples(rows)
    found = sa.cross_replication(study, panels={"A": ["w", "x"], "B": ["y", "z"]}, rng=1)
    # 19 of the 120 answers are b, which is 30 x 19 / 120 units.
    assert found.n_rarer == pytest.approx(30 * 19 / 120)
    remark = found.to_frame()["remark"][0]
    assert "all answers except the commonest weigh as much as 4.8 units, fewer than 8." in remark
    assert "normalised estimate is rough: 30 units are fewer than 200." in remark
    assert remark in " ".join(str(found).split())
    frame = sa.by_group(study, {"w": 1, "x": 1, "y": 2, "z": 2}, n_resamples=19, rng=1)
    assert all("Between groups: The interval is rough" in one for one in frame["remark"])

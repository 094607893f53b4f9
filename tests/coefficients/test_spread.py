"""Standard errors of units that were drawn in clusters, with weights, or from strata."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
import reference
from inference_support import T1
from plain_score import plain_drawn
from small_studies import annotations, random_rows, score_ends, sets_of

import setagree as sa
from setagree.coefficients.uncertain import uncertain_number
from setagree.errors import DataError, FewClustersWarning, OptionError, SetagreeError
from setagree.inference.permutation import shuffler_of
from setagree.scoring.coefficients import COEFFICIENTS
from setagree.scoring.scorer import score_part

CLUSTERS = {f"u{k}": name for k, name in enumerate("AAABBCCCCDD")}
WEIGHTS = {f"u{k}": w for k, w in enumerate([1, 2, 1, 1, 3, 1, 1, 2, 1, 1, 1])}


class TestVectors:
    def test_clusters(self):
        """CR2 with the degrees of freedom of Bell and McCaffrey; the estimate stays."""
        with pytest.warns(FewClustersWarning, match="there are 4 clusters, they leave 2.7 degrees"):
            alpha = sa.krippendorff_alpha(annotations(T1).sampled(cluster=CLUSTERS))
        assert alpha.estimate == pytest.approx(27678 / 68753, abs=1e-14)
        assert alpha.standard_error == pytest.approx(0.1147739923, abs=6e-11)
        assert alpha.degrees_of_freedom == pytest.approx(2.7129186603, abs=6e-11)
        assert alpha.interval() == pytest.approx((0.01443907, 0.79070398), abs=6e-9)

    def test_clustered_score_interval(self):
        with pytest.warns(FewClustersWarning, match="there are 4 clusters, they leave 2.7 degrees"):
            alpha = sa.krippendorff_alpha(annotations(T1).sampled(cluster=CLUSTERS))
        own = score_ends(alpha.case, alpha.definition.model, 0.95)
        assert own == pytest.approx((0.2464032585, 0.8764230478), abs=6e-11)
        found = alpha.interval(method="score")
        assert found == pytest.approx((0.0144390692, 0.8764230478), abs=6e-11)

    def test_clusters_with_weights(self):
        """STATISTICS 10.10, of an independent plain program; R's survey has SE 0.1147 (CR1)."""
        drawn = {"cluster": CLUSTERS, "sampling_weight": WEIGHTS}
        with pytest.warns(FewClustersWarning):
            alpha = sa.krippendorff_alpha(annotations(T1).sampled(**drawn))
        assert alpha.estimate == pytest.approx(0.412583010274, abs=6e-13)
        assert alpha.standard_error == pytest.approx(0.1145639087, abs=6e-11)
        assert alpha.degrees_of_freedom == pytest.approx(2.350274227, abs=6e-10)
        assert alpha.interval_method == "t"

    @pytest.mark.parametrize(
        ("sizes", "error"), [(None, 0.0228061209), ({"A": 6, "B": 8}, 0.0192920900)]
    )
    def test_clusters_in_strata(self, sizes, error):
        """STATISTICS 10.10; R's survey has 0.0228 and 0.0193. Below 2 degrees: no interval."""
        strata = {f"u{k}": "A" if k < 5 else "B" for k in range(11)}
        drawn = {"cluster": CLUSTERS, "sampling_weight": WEIGHTS, "strata": strata}
        study = annotations(T1).sampled(**drawn, population_size=sizes)
        with pytest.warns(FewClustersWarning):
            alpha = sa.krippendorff_alpha(study)
        found = uncertain_number(alpha.sums)
        assert found.standard_error == pytest.approx(error, abs=6e-11)
        if sizes is None:
            assert found.degrees_of_freedom == pytest.approx(1.854599407, abs=6e-10)
        assert math.isnan(alpha.interval()[0])
        assert "degrees of freedom" in repr(alpha)

    def test_weights(self):
        """Alpha with sampling weights, in all its parts."""
        alpha = sa.krippendorff_alpha(annotations(T1).sampled(sampling_weight=WEIGHTS))
        assert alpha.observed_disagreement == pytest.approx(0.448232323232, abs=6e-13)
        assert alpha.expected_disagreement == pytest.approx(0.763056450650, abs=6e-13)
        assert alpha.estimate == pytest.approx(0.412583010274, abs=6e-13)
        assert alpha.standard_error == pytest.approx(0.139892587481, abs=6e-13)
        assert alpha.degrees_of_freedom == pytest.approx(8)

    def test_weighted_kappa(self):
        kappa = sa.fleiss_kappa(annotations(T1).sampled(sampling_weight=WEIGHTS))
        assert kappa.estimate == pytest.approx(0.4059704157, abs=6e-11)
        assert kappa.standard_error == pytest.approx(0.1406603400, abs=6e-11)


# R 4.2.2, T1 with MASI and WEIGHTS: the coefficient and its standard error by svymean of survey
# 4.1-1 with the weights; the standard error with the strata u0-u4, u5-u10 and fpc 20 and 30, too;
# that of coef_test(lm(x ~ 1), "CR2", "Satterthwaite") of clubSandwich 0.5.8 with CLUSTERS. The
# kappas were written in R as functions of the weights (Gwet 2014), and x is their derivative by
# numDeriv, which leaves 9 digits. Alpha's x is influence as the library has it.
BY_R = {
    "fleiss_kappa": (0.405970415056, 0.140660339987, 0.116269529383, 0.124323742778),
    "conger_kappa": (0.421711980182, 0.129003856185, 0.105202769727, 0.119050604000),
    "gwet_ac": (0.452656948095, 0.136023474004, 0.104827123656, 0.139447967847),
    "brennan_prediger": (0.443896172746, 0.136279998331, 0.105664639537, 0.137495689472),
    "percent_agreement": (0.561728394768, 0.107403780915, 0.083275476474, 0.108361880572),
    "krippendorff_alpha": (None, 0.139892587481, 0.116532018260, 0.114773992289),
}


@pytest.mark.parametrize("name", BY_R)
def test_standard_errors_of_r(name):
    estimate, weighted, stratified, clustered = BY_R[name]
    study, of = annotations(T1), getattr(sa, name)
    parts = {f"u{k}": "x" if k < 5 else "y" for k in range(11)}
    row = of(study.sampled(sampling_weight=WEIGHTS))
    if estimate is not None:
        assert row.estimate == pytest.approx(estimate, abs=2e-9)
    assert row.standard_error == pytest.approx(weighted, abs=2e-9)
    sizes = {"x": 20, "y": 30}
    both = study.sampled(sampling_weight=WEIGHTS, strata=parts, population_size=sizes)
    assert of(both).standard_error == pytest.approx(stratified, abs=2e-9)
    with pytest.warns(FewClustersWarning):
        row = of(study.sampled(cluster=CLUSTERS))
    assert row.standard_error == pytest.approx(clustered, abs=2e-9)
    assert row.degrees_of_freedom == pytest.approx(2.712918660287, abs=1e-11)


def test_every_draw_of_clusters():
    """Over all draws of three of four clusters the mean CR2 variance is the variance, exactly.

    Of percent agreement, clusters of two units drawn with replacement (Cochran 1977, ch. 9): the
    mean of what is drawn has an estimate of its variance without bias.
    """
    rng = np.random.default_rng(6)
    answers = rng.choice(list("aab"), (4, 2, 3))
    found = []
    for drawn in itertools.product(range(4), repeat=3):
        rows = [list(answers[c, u]) for c in drawn for u in range(2)]
        cluster = {f"u{k}": k // 2 for k in range(6)}
        study = annotations([[frozenset(x) for x in row] for row in rows])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = sa.percent_agreement(study.sampled(cluster=cluster), distance="nominal")
        found.append((row.estimate, row.standard_error))
    estimates, errors = np.array(found).T
    assert (errors**2).mean() == pytest.approx(estimates.var(), rel=1e-12)


NAMES = sorted(COEFFICIENTS.keys() - {"scott_pi", "cohen_kappa", "mv_alpha"})


def drawn_study(n=40, seed=5, missing=0.25):
    """Return a study with holes and a weight from 1 to 4 for each of its units."""
    study = sa.simulate(n, 4, missing=missing, rng=seed)
    return study, {unit: 1.0 + k % 4 for k, unit in enumerate(study.units)}


class TestWeights:
    @pytest.mark.parametrize("name", NAMES)
    def test_all_alike(self, name):
        study, weights = drawn_study()
        row = getattr(sa, name)(study)
        found = getattr(sa, name)(study.sampled(sampling_weight=dict.fromkeys(weights, 7.5)))
        assert found.estimate == pytest.approx(row.estimate, abs=1e-13)
        assert found.standard_error == pytest.approx(row.standard_error, rel=1e-11)
        assert found.degrees_of_freedom == pytest.approx(row.degrees_of_freedom)
        assert found.interval() == pytest.approx(row.interval(), abs=1e-11, nan_ok=True)
        assert found.p_value == pytest.approx(row.p_value, rel=1e-9, nan_ok=True)

    @pytest.mark.parametrize("name", NAMES)
    def test_the_influence_is_the_derivative(self, name):
        """A little more weight of one unit moves the coefficient by its linearised value.

        d kappa / d w_i = (x_i - kappa) / sum w, by central differences; of alpha that holds without
        its small-sample term: 1 - (1 - alpha) N_eff / (N_eff - 1), where all units have as many
        ratings (Gwet's form has a further term in 1 / N); of the others where all have two.
        """
        study, weights = drawn_study(missing=0.0 if name == "krippendorff_alpha" else 0.25)
        study = study.take((np.bincount(study.unit_codes) >= 2)[study.unit_codes])

        def kappa(w):
            row = getattr(sa, name)(study.sampled(sampling_weight=w))
            if name != "krippendorff_alpha":
                return row.estimate
            r = np.bincount(study.unit_codes)
            each = np.array([w[unit] for unit in study.units]) * (r >= 2)
            n_eff = (each @ r) ** 2 / (each**2 @ r)
            return 1 - (1 - row.estimate) * n_eff / (n_eff - 1)

        row = getattr(sa, name)(study.sampled(sampling_weight=weights))
        total = sum(weights[unit] for unit in row.influence.index)
        for unit in study.units[:6]:
            up, down = ({**weights, unit: weights[unit] + h} for h in (1e-5, -1e-5))
            slope = (kappa(up) - kappa(down)) / 2e-5
            x = row.influence.get(unit)
            expected = 0.0 if x is None else (x - kappa(weights)) / total
            assert slope == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("name", NAMES)
    def test_without_each_unit(self, name):
        study, weights = drawn_study(n=16)
        weighted = study.sampled(sampling_weight=weights)
        whole = getattr(sa, name)(weighted, distance="masi")
        frame = sa.by_unit(weighted, coefficient=name).set_index("unit")
        for unit, without in frame["estimate_without"].items():
            rest = weighted.take(study.unit_codes != study.units.tolist().index(unit))
            assert without == pytest.approx(score_part(whole, rest).estimate, abs=1e-12)
        q = frame["disagreement"] * frame["n_ratings"] * frame.index.map(weights)
        assert frame["share_of_disagreement"].tolist() == pytest.approx((q / q.sum()).tolist())

    def test_ordinal_ranks(self):
        """Ranks of an ordinal distance are those of the population, not of the sample."""
        rows = [("a", 1, 1), ("b", 1, 2), ("a", 2, 2), ("b", 2, 3), ("a", 3, 5), ("b", 3, 3)]
        weights = {1: 1, 2: 3, 3: 2}
        study = sa.Annotations.from_triples(rows, kind="number")
        found = sa.krippendorff_alpha(study.sampled(sampling_weight=weights), distance="ordinal")
        again = [(who, (u, k), x) for who, u, x in rows for k in range(weights[u])]
        whole = sa.krippendorff_alpha(
            sa.Annotations.from_triples(again, kind="number"), distance="ordinal"
        )
        assert found.observed_disagreement / whole.observed_disagreement == pytest.approx(1)

    def test_mv_alpha(self):
        study, weights = drawn_study()
        with pytest.raises(OptionError, match="not defined for sampling weights"):
            sa.mv_alpha(study.sampled(sampling_weight=weights))

    @pytest.mark.parametrize("weight", [0, -1, float("inf"), "many"])
    def test_bad_weights(self, weight):
        """A weight is a number above 0; the first unit with another one is named."""
        study, weights = drawn_study()
        with pytest.raises(OptionError, match="finite number above 0; unit 'u2' has"):
            study.sampled(sampling_weight={**weights, "u2": weight})

    def test_labels(self):
        """A label's own agreement is weighted, too; with Hamming the parts add up to alpha's."""
        study, weights = drawn_study()
        weighted = study.sampled(sampling_weight=weights)
        frame = sa.by_label(weighted)
        alpha = sa.krippendorff_alpha(weighted, distance="hamming")
        parts = frame["observed_disagreement"].sum(), frame["expected_disagreement"].sum()
        assert 1 - parts[0] / parts[1] == pytest.approx(alpha.estimate, abs=1e-12)
        same = sa.by_label(study.sampled(sampling_weight=dict.fromkeys(weights, 2)))
        pd.testing.assert_frame_equal(same, sa.by_label(study), rtol=1e-10)

    @pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"])
    def test_reshuffles(self, name):
        """The reshuffle that changes nothing gives the estimate; chance alone gives about 0."""
        study, weights = drawn_study()
        row = getattr(sa, name)(study.sampled(sampling_weight=weights))
        shuffler = shuffler_of(row, "pooled")
        assert shuffler.evaluate(shuffler.value[None])[0] == pytest.approx(row.estimate, abs=1e-12)
        test = sa.permutation_test(row, n_resamples=1500, rng=1)
        assert test.defined.mean() == pytest.approx(0, abs=0.02)

    def test_what_takes_units_for_alike(self):
        study, weights = drawn_study()
        row = sa.krippendorff_alpha(study.sampled(sampling_weight=weights))
        for function in (sa.bootstrap, sa.jackknife, sa.plan):
            with pytest.raises(OptionError, match="not defined for sampling weights, which"):
                function(row)


class TestStrata:
    @pytest.mark.slow
    def test_exact_enumeration(self):
        """Over all samples of a small population the mean variance is the variance, exactly.

        For percent agreement, a mean, stratified sampling without replacement has an estimate and
        a variance without bias (Cochran 1977, ch. 5); alpha is a ratio, and near that.
        """
        rng = np.random.default_rng(4)
        strata = {"x": range(6), "y": range(6, 11)}
        answers = {u: rng.choice(list("aab"), 3) for u in range(11)}
        population = [(g, u, a) for u, row in answers.items() for g, a in enumerate(row)]
        where = {u: name for name, units in strata.items() for u in units}
        names = ("percent_agreement", "krippendorff_alpha")
        truth = {name: score(population, name) for name in names}
        found = {name: [] for name in truth}
        for x in itertools.combinations(strata["x"], 3):
            for y in itertools.combinations(strata["y"], 2):
                sample = [row for row in population if row[1] in {*x, *y}]
                study = sa.Annotations.from_triples(sample).sampled(
                    strata=where, population_size={"x": 6, "y": 5}
                )
                for name in truth:
                    row = score(study, name)
                    found[name].append((row.estimate, row.standard_error))
        estimates, errors = np.array(found["percent_agreement"]).T
        assert estimates.mean() == pytest.approx(truth["percent_agreement"].estimate, abs=1e-12)
        assert (errors**2).mean() == pytest.approx(estimates.var(), rel=1e-10)
        alphas, errors = np.array(found["krippendorff_alpha"]).T
        assert np.nanmean(alphas) == pytest.approx(truth["krippendorff_alpha"].estimate, abs=0.08)

    def test_a_census(self):
        study, _ = drawn_study(missing=0.0)
        row = sa.krippendorff_alpha(study.sampled(population_size=study.n_units))
        assert row.standard_error == 0
        assert row.estimate == sa.krippendorff_alpha(study).estimate

    def test_weights_follow_from_sizes(self):
        study, _ = drawn_study()
        where = {unit: k % 4 == 0 for k, unit in enumerate(study.units)}
        sized = study.sampled(strata=where, population_size={True: 10, False: 300})
        pairable = [where[unit] for unit in study.to_wide().dropna(thresh=2).index]
        each = {first: size / pairable.count(first) for first, size in ((True, 10), (False, 300))}
        weights = {unit: each[first] for unit, first in where.items()}
        weighted = study.sampled(strata=where, sampling_weight=weights)
        one, two = map(sa.krippendorff_alpha, (sized, weighted))
        assert one.estimate == pytest.approx(two.estimate, abs=1e-13)
        assert one.standard_error < two.standard_error

    def test_sizes_that_are_said_anew(self):
        study, weights = drawn_study()
        where = {unit: k % 4 == 0 for k, unit in enumerate(study.units)}
        study = study.with_units({"sampling_weight": weights})
        first = study.sampled(strata=where, population_size={True: 100, False: 100})
        again = first.sampled(population_size={True: 10, False: 300})
        at_once = study.sampled(strata=where, population_size={True: 10, False: 300})
        one, two = map(sa.krippendorff_alpha, (again, at_once))
        assert one == two
        assert again.units_frame["sampling_weight"].to_dict() == weights

    def test_degrees_of_freedom(self):
        study, weights = drawn_study(missing=0.0)
        where = {unit: k % 3 for k, unit in enumerate(study.units)}
        row = sa.krippendorff_alpha(study.sampled(strata=where, sampling_weight=weights))
        w = np.array(list(weights.values()))
        assert row.degrees_of_freedom == pytest.approx(w.sum() ** 2 / (w @ w) - 3)
        with pytest.raises(OptionError, match="these were drawn from strata; use the t interval"):
            row.interval(method="score")

    def test_differences(self):
        """On the same units the errors of a difference are stratified like those of one."""
        study, weights = drawn_study(missing=0.0)
        where = {unit: k % 3 for k, unit in enumerate(study.units)}
        drawn = study.sampled(strata=where, sampling_weight=weights)
        one, two = (sa.percent_agreement(drawn, distance=d) for d in ("masi", "nominal"))
        gap = sa.compare(one, two)
        only = sa.percent_agreement(drawn, distance=sa.CallableDistance(halved, name="halved"))
        # d_masi - d_nominal is a distance times -1, so that its own error is that of the gap.
        assert gap.standard_error == pytest.approx(only.standard_error * abs_scale(only), rel=1e-9)

    @pytest.mark.parametrize("role", ["strata", "sampling_weight", "cluster"])
    def test_one_rater_is_left(self, role):
        study = sa.simulate(24, 2, rng=1)
        drawn = study.sampled(**{role: {unit: 1 + k % 12 for k, unit in enumerate(study.units)}})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = sa.by_rater(drawn)
        assert frame["difference_low"].isna().all()

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"strata": {"u1": 0}}, "strata: 39 units of 40 have none in 'strata'"),
            ({"population_size": {"x": 3}}, "needs strata="),
            ({"population_size": 7}, "must be at least 40, the number"),
        ],
    )
    def test_what_does_not_fit(self, options, words):
        study, _ = drawn_study(missing=0.0)
        with pytest.raises(SetagreeError, match=words):
            study.sampled(**options)

    def test_one_unit(self):
        study, _ = drawn_study(missing=0.0)
        where = {unit: "lone" if k == 3 else "rest" for k, unit in enumerate(study.units)}
        with pytest.raises(DataError, match="strata: 'lone' has one unit with two ratings"):
            study.sampled(strata=where)


def score(data, name):
    """Return a coefficient with the nominal distance, of triples or of a study."""
    study = sa.Annotations.from_triples(data) if isinstance(data, list) else data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(sa, name)(study, distance="nominal")


def halved(A, B):
    """Return d_nominal - d_masi."""
    return float(A != B) - sa.distances.masi(A, B)


def abs_scale(row):
    """Return what a disagreement of 1 is as a share of the largest distance, undone."""
    return row.weights.max_distance


@pytest.mark.slow
def test_coverage_of_a_population():
    """Hard units three times oversampled: the weighted 95% interval holds the population's alpha.

    200 samples of 80 units; the Monte Carlo error of a coverage of 0.95 is 0.015.
    """
    rng = np.random.default_rng(11)
    N, n, labels = 4000, 80, np.array(list("abcd"))
    hard = rng.random(N) < 0.3
    truth = rng.integers(4, size=N)
    knows = rng.random((3, N)) < np.where(hard, 0.35, 0.9)
    given = np.where(knows, truth, rng.integers(4, size=(3, N)))
    values, w = labels[given], np.where(hard, 1.0, 3.0)

    def study(units):
        return sa.Annotations.from_triples(
            [(g, int(u), values[g, u]) for u in units for g in range(3)]
        )

    alpha = sa.krippendorff_alpha(study(range(N)), distance="nominal").estimate
    chance, held, naive = np.where(hard, 3.0, 1.0), 0, 0
    chance /= chance.sum()
    for _ in range(200):
        units = rng.choice(N, n, p=chance)  # with replacement, as N is large
        names = {k: float(w[u]) for k, u in enumerate(units)}
        sample = sa.Annotations.from_triples(
            [(g, k, values[g, u]) for k, u in enumerate(units) for g in range(3)]
        )
        row = sa.krippendorff_alpha(sample.sampled(sampling_weight=names), distance="nominal")
        low, high = row.interval()
        held += low <= alpha <= high
        low, high = sa.krippendorff_alpha(sample, distance="nominal").interval()
        naive += low <= alpha <= high
    assert 0.92 < held / 200 < 0.975
    assert naive < held


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("how", ["weights", "clusters"])
def test_score_interval_by_loops(seed, how):
    rng = np.random.default_rng(seed)
    rows = [
        [x for x in row if x is not None]
        for row in random_rows(rng, sets_of("ab"), units=24, raters=4, missing=0.3)
    ]
    rows = [row for row in rows if len(row) > 1]
    units = [f"u{k}" for k in range(len(rows))]
    said = rng.integers(1, 3 + seed, len(rows)).tolist()  # the first has two clusters
    study = annotations(rows)
    if how == "weights":
        study = study.sampled(sampling_weight=dict(zip(units, said, strict=True)))
    else:
        study = study.sampled(cluster=dict(zip(units, said, strict=True)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alpha = sa.krippendorff_alpha(study, distance="jaccard")
    expected = plain_drawn(
        rows, lambda a, b: float(reference.SET_DISTANCES["jaccard"](a, b)), **{how: said}
    )
    found = score_ends(alpha.case, alpha.definition.model, 0.95)
    assert found == pytest.approx(expected, abs=1e-11)


def test_units_with_one_rating_do_not_change_what_a_stratum_weighs():
    rows = [(rater, k, "ab"[(k * (2 + rater)) % 3 == 0]) for k in range(20) for rater in (1, 2)]
    sizes = {"x": 100, "y": 100}
    alphas = []
    for more in (0, 5):
        study = sa.Annotations.from_triples([*rows, *((1, 20 + k, "a") for k in range(more))])
        part = {unit: "x" if unit < 10 else "y" for unit in study.units}
        alphas.append(sa.krippendorff_alpha(study.sampled(strata=part, population_size=sizes)))
    assert alphas[0].estimate == pytest.approx(alphas[1].estimate)


def test_a_rated_population_has_no_sampling_error():
    study = sa.simulate(20, 3, rng=1).sampled(population_size=20)
    found = sa.krippendorff_alpha(study)
    assert found.standard_error == 0
    assert found.interval_reason.startswith("All units of the population were rated")


def test_weights_that_leave_no_freedom_give_no_interval():
    study = sa.simulate(11, 3, rng=1)
    weights = {unit: 1.0 if k == 0 else 1e-3 for k, unit in enumerate(study.units)}
    found = sa.krippendorff_alpha(study.sampled(sampling_weight=weights))
    assert np.isnan(found.standard_error)
    assert found.interval_reason == "11 units with such weights leave 0.02 degrees of freedom"
    found = sa.krippendorff_alpha(
        sa.simulate(2, 3, rng=3).sampled(sampling_weight={"u1": 1, "u2": 1.2})
    )
    assert found.interval_reason == "2 units with such weights leave 0.98 degrees of freedom"


def test_percent_agreement_has_no_bound_below_zero():
    rows = [("ann", 1, "a,b"), ("ben", 1, "b,a"), ("ann", 2, "b"), ("ben", 2, "a")]
    study = sa.Annotations.from_triples([*rows, ("ann", 3, "c"), ("ben", 3, "c")])
    assert sa.percent_agreement(study).interval(method="score")[0] == 0


def test_a_stratum_of_which_nothing_was_drawn_is_refused():
    study = sa.simulate(20, 3, rng=1)
    part = {unit: "ab"[k % 2] for k, unit in enumerate(study.units)}
    with pytest.raises(DataError, match="names 'c', without a sampled unit"):
        study.sampled(strata=part, population_size={"a": 50, "b": 60, "c": 1000})

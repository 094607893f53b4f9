"""Units that were drawn in clusters: redrawn, left out, reshuffled, compared and planned so."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from inference_support import planned
from results_support import flat
from scipy import stats

import setagree as sa
from setagree.coefficients.uncertain import cluster_deviations
from setagree.errors import (
    DataError,
    FewClustersWarning,
    OptionError,
    SetagreeWarning,
    SimilarLabelsWarning,
)
from setagree.scoring.coefficients import COEFFICIENTS

SIZES = (4, 2, 5, 3, 4, 6, 2, 3, 4, 5, 3, 4)
NAMES = COEFFICIENTS.keys() - {"scott_pi", "cohen_kappa", "mv_alpha"}


def documents(study, sizes=SIZES):
    """Return the document of each unit: runs of units of some sizes."""
    names = np.repeat([f"d{k}" for k in range(len(sizes))], sizes)
    return dict(zip(study.units, names, strict=True))


@pytest.fixture(name="study", scope="module")
def clustered_study():
    """Return 45 units in 12 documents, rated by four raters, some of them not."""
    study = sa.simulate(sum(SIZES), 4, missing=0.2, rng=3)
    return study.sampled(cluster=documents(study))


def plain(study):
    """Return the same study as if its units had been drawn one by one."""
    return sa.Annotations.from_triples(study.to_triples())


class TestStandardError:
    @pytest.mark.parametrize("name", sorted(NAMES))
    @pytest.mark.parametrize("method", ["t", "score"])
    def test_one_unit_a_cluster(self, study, name, method):
        own = plain(study)
        one = own.sampled(cluster={unit: unit for unit in own.units})
        found, expected = (getattr(sa, name)(x) for x in (one, own))
        assert found.estimate == pytest.approx(expected.estimate, abs=1e-14)
        assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-12)
        assert found.degrees_of_freedom == pytest.approx(expected.degrees_of_freedom)
        ends = expected.interval(method=method)
        assert found.interval(method=method) == pytest.approx(ends, abs=1e-12)

    @pytest.mark.parametrize("name", sorted(NAMES))
    def test_by_matrices(self, study, name):
        """CR2 and its degrees of freedom from their definition, with whole n x n matrices."""
        row = getattr(sa, name)(study)
        x = row.influence
        groups = pd.factorize(study.units_frame["cluster"].loc[x.index])[0]
        n = len(x)
        residuals = x.to_numpy() - x.mean()
        hat = np.full((n, n), 1 / n)
        rest = np.eye(n) - hat
        parts, total = [], 0.0
        for g in range(groups.max() + 1):
            mine = np.flatnonzero(groups == g)
            block = rest[np.ix_(mine, mine)]
            value, vector = np.linalg.eigh(block)
            adjust = vector @ np.diag(value**-0.5) @ vector.T
            weights = np.ones(len(mine)) / n @ adjust
            total += float(weights @ residuals[mine]) ** 2
            parts.append(weights @ rest[mine])
        assert row.standard_error == pytest.approx(np.sqrt(total), rel=1e-10)
        gram = np.array(parts) @ np.array(parts).T
        df = np.trace(gram) ** 2 / (gram**2).sum()
        assert row.degrees_of_freedom == pytest.approx(df, rel=1e-10)

    def test_one_cluster(self, study):
        with pytest.warns(
            FewClustersWarning, match="are missing, because all units are in one cluster"
        ):
            alpha = sa.krippendorff_alpha(study.sampled(cluster=dict.fromkeys(study.units, "d")))
        assert np.isnan([*alpha.interval(), *alpha.interval(method="score")]).all()
        assert alpha.interval_reason == "all units are in one cluster (cluster 'd')"
        with pytest.warns(FewClustersWarning):
            table = sa.agreement(study.sampled(cluster=dict.fromkeys(study.units, "d")))
        assert "No interval: all units are in one cluster (cluster 'd')." in str(table)
        with pytest.warns(FewClustersWarning, match="of the group True are missing"):
            groups = sa.by_group(study, {u: k < 2 for k, u in enumerate(study.units)})
        assert "all units are in one cluster" in groups["reason"][0]

    def test_two_unequal_clusters(self, study):
        """Fewer than 2 degrees of freedom give no t interval, and the reason says so."""
        two = {unit: k < 3 for k, unit in enumerate(study.units)}
        with pytest.warns(FewClustersWarning):
            alpha = sa.krippendorff_alpha(study.sampled(cluster=two))
        assert np.isnan([*alpha.interval(), *alpha.interval(method="score")]).all()
        assert "2 clusters of such sizes leave 1.00 degrees of freedom" in alpha.interval_reason

    @pytest.mark.parametrize(
        ("sizes", "reason"),
        [
            ([4] * 11, ""),
            ([4] * 10, "there are 10 clusters"),
            ([12, *[2] * 17], "the largest has 26% of the units"),
            ([60, 40, 30, *[2] * 47], r"they leave \d+\.\d degrees of freedom"),
        ],
    )
    def test_few_or_unequal(self, sizes, reason):
        study = sa.simulate(sum(sizes), 3, rng=1)
        study = study.sampled(cluster=documents(study, sizes))
        if not reason:
            assert "rough" not in str(sa.agreement(study))
            return
        with pytest.warns(FewClustersWarning, match=f"are rough, because .*{reason}"):
            text = str(sa.agreement(study))
        assert re.search(f"The interval and p are rough: .*{reason}", text)

    def test_said(self, study):
        """The table, and the line of a row, say that the interval is clustered, over how many."""
        table = sa.agreement(study)
        assert "clustered by cluster: 12 clusters" in str(table)
        assert "12 clusters" in repr(table[0])
        assert "clustered" not in str(sa.agreement(plain(study)))


class TestSayingSo:
    def test_roads(self, study):
        """A column, a mapping, a Series, a study that knows and an agreement give one result."""
        frame = study.to_long().assign(doc=lambda t: t["unit"].map(documents(study)))
        of_unit = documents(study)
        own = plain(study)
        found = [
            sa.agreement(frame, cluster="doc")[0],
            sa.agreement(frame, cluster=of_unit)[0],
            sa.agreement(own, cluster=pd.Series(of_unit))[0],
            sa.krippendorff_alpha(sa.read(frame, cluster="doc")),
            sa.agreement(sa.read(frame, unit_columns=["doc"]), cluster="doc")[0],
            sa.krippendorff_alpha(own.with_units({"doc": of_unit}).sampled(cluster="doc")),
        ]
        errors = {round(row.standard_error, 12) for row in found}
        assert errors == {round(sa.krippendorff_alpha(study).standard_error, 12)}

    def test_without_a_cluster(self, study):
        some = dict(list(documents(study).items())[2:])
        with pytest.raises(DataError, match=r"cluster: 2 units of 45 have none in 'cluster'"):
            plain(study).sampled(cluster=some)

    def test_with_equal_weights(self, study):
        alpha = sa.krippendorff_alpha(study)
        both = sa.krippendorff_alpha(study.sampled(sampling_weight=dict.fromkeys(study.units, 3)))
        assert both.standard_error == pytest.approx(alpha.standard_error, rel=1e-12)
        assert both.degrees_of_freedom == pytest.approx(alpha.degrees_of_freedom, rel=1e-12)
        with pytest.raises(OptionError, match="clusters and sampling weights"):
            sa.bootstrap(both, rng=1)

    def test_in_strata(self, study):
        strata = {unit: k % 2 for k, unit in enumerate(study.units)}
        with pytest.raises(DataError, match="have units in several strata"):
            study.sampled(strata=strata)
        first = study.units_frame[study.sampling.cluster].iloc[0]
        alone = study.units_frame[study.sampling.cluster] == first
        with pytest.raises(DataError, match="has one cluster of units with two ratings"):
            study.sampled(strata=dict(zip(study.units, alone, strict=True)))

    def test_no_such_column(self, study):
        with pytest.raises(DataError, match=r"has no unit column 'doc'; .* unit_columns=\['doc'\]"):
            plain(study).sampled(cluster="doc")

    def test_a_tally(self, study):
        """A tally does not tell its units apart."""
        tally = sa.Tally.from_annotations(plain(study))
        for ask in (
            lambda: sa.agreement(tally, cluster="doc"),
            lambda: sa.bootstrap(sa.krippendorff_alpha(tally), cluster="doc"),
        ):
            with pytest.raises(DataError, match="requires the identities of the units"):
                ask()

    def test_several_clusters_of_one_unit(self, study):
        frame = study.to_long()
        with pytest.raises(DataError, match="column 'rater' has several values for unit"):
            sa.read(frame.assign(who=frame["rater"]), rater="who", unit_columns=["rater"])


class TestResampling:
    def test_jackknife(self, study):
        """The estimate without each cluster is that of the study without its units."""
        found = sa.jackknife(sa.krippendorff_alpha(study))
        assert found.over == "clusters"
        for name, value in list(found.values.items())[:4]:
            kept = study.units_frame["cluster"].to_numpy() != name
            part = study.take(kept[study.unit_codes]).with_used_values()
            assert value == pytest.approx(sa.krippendorff_alpha(part).estimate, abs=1e-12)

    def test_bootstrap(self, study):
        """Every resample is a sum of whole clusters; its spread is that of clusters."""
        alpha = sa.krippendorff_alpha(study)
        boot = sa.bootstrap(alpha, n_resamples=3000, rng=1)
        assert boot.standard_error == pytest.approx(alpha.standard_error, rel=0.25)
        assert "3,000 resamples of the 12 clusters" in repr(boot)
        single = plain(study)
        each = single.sampled(cluster={unit: unit for unit in single.units})
        one, two = (sa.bootstrap(x, n_resamples=50, rng=1) for x in (each, single))
        assert np.sort(one.distribution) == pytest.approx(np.sort(two.distribution), abs=1e-12)

    @pytest.mark.parametrize("over", ["units", "both"])
    def test_one_cluster_never_varies(self, study, over):
        with pytest.warns(FewClustersWarning):
            boot = sa.bootstrap(
                sa.krippendorff_alpha(plain(study)),
                cluster=dict.fromkeys(study.units, "d"),
                n_resamples=20,
                over=over,
                rng=1,
            )
        if over == "units":
            assert np.ptp(boot.distribution) == pytest.approx(0, abs=1e-12)
        assert np.isfinite(boot.distribution).any()

    def test_order_of_rows(self, study):
        frame = study.to_long().assign(doc=lambda t: t["unit"].map(documents(study)))
        other = frame.sample(frac=1, random_state=1).assign(doc=lambda t: t["doc"].str[::-1])
        one, two = (
            sa.bootstrap(sa.agreement(x, cluster="doc")[0], n_resamples=30, rng=1)
            for x in (frame, other)
        )
        assert one.distribution == pytest.approx(two.distribution, abs=1e-12)

    def test_permutation_within(self, study):
        """Within clusters the answers of each document stay in it; over them they do not."""
        alpha = sa.krippendorff_alpha(study)
        inside = sa.permutation_test(alpha, scheme="within_cluster", n_resamples=99, rng=1)
        with pytest.warns(SetagreeWarning, match="cluster= is ignored.*scheme='within_cluster'"):
            pooled = sa.permutation_test(alpha, n_resamples=99, rng=1)
        assert "The reshuffles ignore 12 clusters: " in flat(pooled)
        assert alpha.estimate > 0
        ps = {"two-sided": 1.0, "greater": 0.5, "less": 1 / alpha.p_value - 0.5}
        for side, share in ps.items():
            assert pooled.claim_p(0.0, side) == pytest.approx(alpha.p_value * share, rel=1e-12)
            assert pooled.claim_p(1.0, side) == 1
        weighted = sa.krippendorff_alpha(
            study.sampled(cluster=documents(study), sampling_weight=dict.fromkeys(study.units, 2))
        )
        assert replace(pooled, agreement=weighted).ignored == "weights and 12 clusters"
        assert "ignore" not in flat(inside)
        own = plain(study)
        whole = dict.fromkeys(own.units, "d")
        with pytest.warns(FewClustersWarning):
            one = sa.permutation_test(
                own, scheme="within_cluster", cluster=whole, n_resamples=2000, rng=1
            )
        assert one.defined.mean() == pytest.approx(0, abs=4 * one.defined.std() / 2000**0.5)
        with pytest.raises(OptionError, match="needs cluster="):
            sa.permutation_test(own, scheme="within_cluster")

    def test_documents_that_speak_of_one_thing(self):
        rng = np.random.default_rng(2)
        rows = [
            (
                rater,
                unit,
                frozenset("abcdef"[unit // 8] if rng.random() < 0.7 else "gh"[rng.integers(2)]),
            )
            for unit in range(48)
            for rater in ("ann", "bob")
        ]
        study = sa.Annotations.from_triples(rows)
        cluster = {unit: unit // 8 for unit in range(48)}
        with pytest.warns(FewClustersWarning):
            alpha = sa.agreement(study, cluster=cluster)[0]
        with pytest.warns(SetagreeWarning, match="cluster= is ignored"):
            over = sa.permutation_test(alpha, n_resamples=499, rng=1)
        within = sa.permutation_test(alpha, scheme="within_cluster", n_resamples=499, rng=1)
        assert over.p_value < 0.01
        assert within.p_value > 0.05

    def test_without_linearised_values(self, study):
        alpha = sa.mv_alpha(study)
        boot = sa.bootstrap(alpha, n_resamples=20, rng=1)
        assert boot.drawn == "12 clusters"
        assert len(sa.jackknife(alpha).values) == 12
        with pytest.raises(DataError, match="a plan in clusters needs their spread"):
            planned(alpha)

    def test_a_plan_without_disagreement(self):
        rows = [(rater, unit, "ab"[unit % 2]) for unit in range(24) for rater in range(2)]
        cluster = {unit: unit // 2 for unit in range(24)}
        alpha = sa.krippendorff_alpha(sa.Annotations.from_triples(rows).sampled(cluster=cluster))
        with pytest.raises(DataError, match="needs their spread: No disagreement was seen in 24"):
            planned(alpha)


class TestComparing:
    def test_same_units(self, study):
        one, two = (sa.krippendorff_alpha(study, distance=d) for d in ("masi", "nominal"))
        found = sa.compare(one, two)
        gaps = one.influence - two.influence
        groups = pd.factorize(study.units_frame["cluster"].loc[gaps.index])[0]
        n_g, n = np.bincount(groups), len(gaps)
        sums = np.bincount(groups, gaps - gaps.mean())
        se = np.sqrt((sums**2 / (1 - n_g / n)).sum()) / n
        assert found.standard_error == pytest.approx(se, rel=1e-10)
        assert found.differences[0].degrees_of_freedom == pytest.approx(one.degrees_of_freedom)
        boot = sa.compare(one, two, method="bootstrap", n_resamples=3000, rng=1)
        assert boot.standard_error == pytest.approx(se, rel=0.3)

    def test_one_without(self, study):
        with pytest.raises(DataError, match="some of the agreements have clusters"):
            sa.compare(study, plain(study), design="same_units")

    def test_groups(self):
        """Groups of whole clusters are independent: their errors add up."""
        study = sa.simulate(88, 3, rng=3)
        document = documents(study, (4,) * 22)
        batch = {u: int(d[1:]) < 11 for u, d in document.items()}
        frame = sa.by_group(study.sampled(cluster=document).with_units({"batch": batch}), "batch")
        errors = frame["standard_error"]
        assert frame["difference_standard_error"][0] == pytest.approx(np.hypot(*errors), rel=1e-12)
        assert np.isfinite(frame["homogeneity_p_value"]).all()

    def test_groups_of_few_clusters(self, study):
        """Six clusters leave too few degrees of freedom for the test of a group."""
        batch = {u: int(d[1:]) < 6 for u, d in documents(study).items()}
        with pytest.warns(FewClustersWarning, match="of the group True are rough, .* 6 clusters"):
            frame = sa.by_group(study.with_units({"batch": batch}), "batch")
        assert frame[["homogeneity_p_value", "difference_p_value"]].isna().all(axis=None)
        assert "or with too few degrees of freedom): True, False" in frame["no_test"][0]

    def test_groups_that_share_clusters(self, study):
        half = {unit: k % 2 for k, unit in enumerate(study.units)}
        frame = sa.by_group(plain(study), half, cluster=documents(study))
        assert set(frame["tested_by"]) == {"Wald"}
        assert np.isfinite(frame[["homogeneity_p_value", "difference_p_value"]]).all(axis=None)
        assert (frame["difference_standard_error"] != np.hypot(*frame["standard_error"])).all()

    def test_studies_that_share_clusters(self, study):
        """Halves of the same documents: there is a warning, and the same units are said of them.

        Their difference is then that of groups that share clusters.
        """
        half = np.arange(study.n_units) % 2
        frame = sa.by_group(study, dict(zip(study.units, half.tolist(), strict=True)))
        one, two = (sa.krippendorff_alpha(study.take(half[study.unit_codes] == h)) for h in (0, 1))
        said = r"12 clusters have units in more than one of them \('d0', 'd1' and 10 more\); use"
        with pytest.warns(SimilarLabelsWarning, match=said):
            assert sa.compare(one, two).design == "independent"
        found = sa.compare(one, two, design="same_units")
        error = frame["difference_standard_error"][0]
        assert found.standard_error == pytest.approx(error, rel=1e-10)
        assert "standard errors by linearisation, 12 clusters." in repr(found)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            apart = sa.compare(one, two, design="independent")
        assert "Independent studies; " in repr(apart)
        assert ", 12 clusters each." in repr(apart)

    def test_plan(self, study):
        """As many units in as many clusters give the pilot's error; larger clusters need more."""
        equal = sa.simulate(60, 4, rng=3)
        equal = equal.sampled(cluster=documents(equal, (5,) * 12))
        alpha = sa.krippendorff_alpha(equal)
        frame = planned(alpha, n_units=[60]).frame
        assert frame["clusters"].tolist() == [12]
        bound = sa.krippendorff_alpha(plain(equal)).standard_error
        expected = max(alpha.standard_error, bound)
        assert frame["standard_error"][0] == pytest.approx(expected, rel=1e-12)
        wide = planned(alpha, half_width=0.05, units_per_cluster=[1, 5, 20]).frame
        assert wide["n_units"].is_monotonic_increasing
        assert wide["clusters"].is_monotonic_decreasing
        with pytest.raises(OptionError, match="needs cluster="):
            planned(plain(study), units_per_cluster=[4])

    @pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
    def test_plan_of_larger_clusters(self):
        """It says what the plan of clusters larger than the pilot's rests on, a rough rho.

        n SE² grows with 1 + (m - 1) rho: for m = 41 and rho = 0 by 1 + 40 x 0.1 with rho = 0.1.
        """
        study = sa.simulate(40, 3, rng=5)
        study = study.sampled(cluster=documents(study, (4,) * 10))
        plan = planned(study, n_units=[820], units_per_cluster=[4, 41])
        assert plan.alike == 0
        assert (
            "rest on how alike its units are, rho 0.00, which 10 clusters show roughly: with 0.10 "
            "intervals of clusters of 41 would be 2.2 times as wide."
        ) in flat(plan)
        assert planned(study, n_units=[80], units_per_cluster=[2, 4]).larger_clusters == ""
        assert planned(study, n_units=[80]).larger_clusters == ""

    def test_plan_of_the_pilot_itself(self):
        """As many units in clusters as unequal as the pilot's have its error, freedom and width.

        Where units of a cluster are alike: this pilot's error is larger than that of its units.
        """
        study = sa.simulate(sum(SIZES), 4, rng=5)
        alpha = sa.krippendorff_alpha(study.sampled(cluster=documents(study)))
        assert sa.krippendorff_alpha(study).standard_error < alpha.standard_error
        plan = planned(alpha, n_units=[sum(SIZES)], at_least=0.1)
        row = plan.frame.iloc[0]
        assert row["clusters"] == len(SIZES)
        assert row["degrees_of_freedom"] == pytest.approx(alpha.degrees_of_freedom, rel=1e-12)
        assert row["standard_error"] == pytest.approx(alpha.standard_error, rel=1e-12)
        assert row["half_width"] == pytest.approx(plan.pilot_half_width, rel=1e-12)

    @pytest.mark.parametrize("sizes", [(20, 20, 20, 10), (7,) * 9, (3, 3, 2)])
    def test_planned_degrees_of_freedom(self, study, sizes):
        """Bell and McCaffrey's of the clusters that so many units make, the last one with the rest.

        The half width takes their t.
        """
        frame = planned(study, n_units=[sum(sizes)], units_per_cluster=[sizes[0]]).frame
        groups = np.repeat(np.arange(len(sizes)), sizes)
        alike = np.ones(len(groups))
        _, df = cluster_deviations(groups, 0 * alike, alike, alike)
        row = frame.iloc[0]
        expected = df if df >= 2 else np.nan
        assert row["degrees_of_freedom"] == pytest.approx(expected, rel=1e-12, nan_ok=True)
        half = stats.t.ppf(0.975, expected) * row["standard_error"]
        assert row["half_width"] == pytest.approx(half, rel=1e-9, nan_ok=True)

    def test_plan_of_too_few(self, study):
        """Where clusters leave fewer than 2 degrees of freedom there is no number, but a sentence.

        Neither is one found for a width or a power, however small.
        """
        alpha = sa.krippendorff_alpha(study)
        plan = planned(alpha, n_units=[15, 25, 60], units_per_cluster=[20], at_least=0.0)
        numbers = ["degrees_of_freedom", "standard_error", "half_width", "power"]
        assert plan.frame[numbers].isna().all(axis=1).tolist() == [True, True, False]
        why = "25 units in 2 clusters leave fewer than 2 degrees of freedom"
        assert plan.frame["reason"][1] == why
        assert pd.isna(plan.frame["reason"][2])
        assert "No interval is possible: 15 units in 1 cluster leave" in flat(plan)
        assert why in plan.to_json()
        for wish in ({"half_width": 0.99}, {"power": 0.01, "at_least": -0.9}):
            least = planned(alpha, **wish, units_per_cluster=[20]).frame.iloc[0]
            assert (least["clusters"], least["degrees_of_freedom"]) == (3, pytest.approx(2))
        budget = {"budget": 100.0, "per_rating": 1.0, "n_raters": [3], "units_per_cluster": [20]}
        with pytest.raises(OptionError, match="covers too few clusters"):
            planned(alpha, **budget)


class TestEverywhere:
    def test_pairs_and_raters(self, study):
        own = plain(study)
        for function in (sa.by_pair, sa.by_rater):
            one, two = function(study), function(own)
            columns = [name for name in one if "standard_error" in name]
            assert not np.allclose(one[columns], two[columns])
            assert one["estimate_without" if "difference" in one else "estimate"].tolist() == (
                pytest.approx(
                    two["estimate_without" if "difference" in two else "estimate"].tolist()
                )
            )
        label = study.labels[0]
        one, two = (sa.what_if(x, exclude_labels=[label]) for x in (study, own))
        assert one["difference"].tolist() == pytest.approx(two["difference"].tolist())
        assert one["difference_standard_error"][1] != two["difference_standard_error"][1]

    @pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
    def test_labels(self, study):
        frame = sa.by_label(study).set_index("label")
        label = frame.index[0]
        binary = study.with_answers(lambda answer: frozenset({"yes"} if label in answer else ()))
        alpha = sa.krippendorff_alpha(binary, distance="nominal")
        assert frame.loc[label, "estimate"] == pytest.approx(alpha.estimate, abs=1e-12)
        ends = frame.loc[label, ["low", "high"]].tolist()
        assert ends == pytest.approx(alpha.interval(), abs=1e-12)

    def test_what_takes_units_as_drawn_one_by_one(self, study):
        with pytest.warns(sa.SetagreeWarning, match="cluster= is ignored"):
            sa.k_rater_reliability(study, k=2, n_splits=2, rng=1)

    def test_words(self, study):
        """The methods paragraph, the benchmark and a comparison say it in words."""
        alpha = sa.krippendorff_alpha(study)
        with pytest.warns(SetagreeWarning, match="cluster= is ignored"):
            test = sa.permutation_test(alpha, n_resamples=50, rng=1)
        boot = sa.bootstrap(alpha, n_resamples=50, rng=1)
        said = sa.methods_text(alpha, bootstrap=boot, test=test)
        assert "clustered by cluster (12 clusters, the largest with 14% of the units; CR2)" in said
        assert "50 bootstrap resamples of the 12 clusters" in said
        assert "over all raters and units, ignoring 12 clusters: p" in said
        assert "within each rater and of the estimate over clusters" in said
        assert "Bell, R. M., & McCaffrey, D. F. (2002)" in said
        assert "12 clusters" in flat(sa.benchmark(alpha))
        other = sa.krippendorff_alpha(study, distance="nominal")
        assert "linearisation, 12 clusters" in repr(sa.compare(alpha, other))
        weighted = plain(study).sampled(strata={u: u[-1] > "4" for u in study.units})
        said = sa.methods_text(weighted)
        assert "stratified by strata (2 strata)" in said


TWO = {"a": ["r1", "r2"], "b": ["r3", "r4"]}
TAKE_UNITS_FOR_ALIKE = {
    "cross_replication": lambda s: sa.cross_replication(s, panels=TWO, n_resamples=50, rng=1),
    "k_rater_reliability": lambda s: sa.k_rater_reliability(s, k=2, n_splits=5, rng=1),
    "alt_test": lambda s: sa.alt_test(s, model="r4", min_units=5),
    "score_against_consensus": sa.score_against_consensus,
    "rater_map": lambda s: sa.rater_map(s, n_resamples=19, rng=1),
}


@pytest.mark.filterwarnings("ignore:.*(few|rough):UserWarning")
@pytest.mark.parametrize("how", ["cluster", "sampling_weight"])
@pytest.mark.parametrize("name", TAKE_UNITS_FOR_ALIKE)
def test_what_takes_units_for_alike(study, name, how):
    bare = plain(study)
    drawn = bare.sampled(**{how: {unit: 1 + k % 15 for k, unit in enumerate(bare.units)}})
    with pytest.warns(SetagreeWarning, match=f"{name} treats the units as drawn one by one"):
        found = TAKE_UNITS_FOR_ALIKE[name](drawn)
    expected = TAKE_UNITS_FOR_ALIKE[name](bare)
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())

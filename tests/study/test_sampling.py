"""What is said of how units were drawn: numbers that make sense, or a sentence."""

import re
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, OptionError
from setagree.inference.permutation import shuffler_of
from setagree.study.sampling import sample_of

STUDY = sa.simulate(12, 4, rng=1)
PART = {unit: "s" if k < 6 else "t" for k, unit in enumerate(STUDY.units)}
WEIGHTS = {unit: 1.0 + k % 3 for k, unit in enumerate(STUDY.units)}
COLUMNS = {"unit": "unit", "rater": "rater", "labels": "labels"}
NO_SIZE = [
    *("x", "500", True, np.True_, float("inf"), float("nan"), None, pd.NA, 500 + 0j, [500]),
    *(np.array([500]), datetime(2020, 1, 1), 10**400, Decimal("Infinity")),
]


class TestSizes:
    @pytest.mark.parametrize("size", [one for one in NO_SIZE if one is not None], ids=repr)
    def test_no_size(self, size):
        words = re.escape("must be a number of units, at least 12 (the sampled units).")
        with pytest.raises(OptionError, match=words):
            STUDY.sampled(population_size=size)
        with pytest.raises(OptionError, match=words):
            sa.agreement(STUDY, population_size=size)

    @pytest.mark.parametrize("size", NO_SIZE, ids=repr)
    def test_no_size_of_a_stratum(self, size):
        with pytest.raises(OptionError, match=r"of stratum 's' must be a number of units, .* 6 \("):
            STUDY.sampled(strata=PART, population_size={"s": size, "t": 60})

    @pytest.mark.parametrize("size", [11, 0, -5, 1e-300, Fraction(1, 2)])
    def test_too_small(self, size):
        with pytest.raises(OptionError, match="must be at least 12, the number of sampled units"):
            STUDY.sampled(population_size=size)

    @pytest.mark.parametrize("size", [12, 500, 500.0, np.int64(500), Decimal(500), Fraction(500)])
    def test_any_number(self, size):
        found = sa.krippendorff_alpha(STUDY.sampled(population_size=size))
        expected = sa.krippendorff_alpha(STUDY).standard_error * np.sqrt(1 - 12 / float(size))
        assert found.standard_error == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize(
        ("sizes", "words"),
        [
            ({"S": 50, "t": 60}, "lacks the strata 's'; it names 'S', 't'."),
            ({}, "lacks the strata 's', 't'; it is empty."),
            ({"s": 50, " s": 50, "t": 60}, "names a stratum twice: 's', ' s', 't'."),
            (500, "{'a': 90, 'b': 40}, not 500, an int."),
            (pd.Series({"s": 50, "t": 60}), "not s 50 t 60 dtype: int64, a Series."),
        ],
    )
    def test_keys(self, sizes, words):
        with pytest.raises(OptionError, match=re.escape(words)):
            STUDY.sampled(strata=PART, population_size=sizes)

    def test_names_are_read_as_everywhere(self):
        one, two = (
            STUDY.sampled(strata=PART, population_size={name: 50, "t": 60}) for name in ("s", " s ")
        )
        assert sa.krippendorff_alpha(one) == sa.krippendorff_alpha(two)

    def test_nothing_to_stand_for_a_stratum(self):
        rows = [row for row in STUDY.to_triples() if PART[row[1]] == "t" or row[0] == "r1"]
        study = sa.Annotations.from_triples(rows)
        with pytest.raises(DataError, match="'s' without a unit with two ratings"):
            study.sampled(strata=PART, population_size={"s": 50, "t": 60})

    def test_where_to_say_it(self):
        for function in (sa.read, sa.tally, sa.krippendorff_alpha):
            with pytest.raises(OptionError, match=r"study\.sampled\(population_size=\.\.\.\)\.$"):
                function(STUDY, population_size=50)


class TestSizesOfIncompleteStrata:
    """Sizes of strata weigh rated units in sums over these, and pairable units in theirs.

    Worked by hand in exact fractions: ann and ben rate x0 to x9 (ann p, ben p for seven, else q),
    ann rates y0 to y9 q, ben y0 p and y1 q; 100 units in each of the strata x and y. Observed
    disagreement (0.3 + 0.5) / 2; shares of p (0.85 + 0.05) / 2; ann's shares of p (1 + 0) / 2,
    ben's (0.7 + 0.5) / 2.
    """

    @staticmethod
    def study():
        rows = [("ann", f"x{k}", "p") for k in range(10)]
        rows += [("ben", f"x{k}", "p" if k < 7 else "q") for k in range(10)]
        rows += [("ann", f"y{k}", "q") for k in range(10)]
        study = sa.Annotations.from_triples([*rows, ("ben", "y0", "p"), ("ben", "y1", "q")])
        strata = {unit: unit[0] for unit in study.units}
        return study.sampled(strata=strata, population_size={"x": 100, "y": 100})

    @pytest.mark.parametrize(
        ("name", "expected_disagreement", "estimate"),
        [
            ("fleiss_kappa", Fraction(99, 200), Fraction(19, 99)),
            ("scott_pi", Fraction(99, 200), Fraction(19, 99)),
            ("gwet_ac", Fraction(101, 200), Fraction(21, 101)),
            ("conger_kappa", Fraction(1, 2), Fraction(1, 5)),
            ("cohen_kappa", Fraction(1, 2), Fraction(1, 5)),
            ("brennan_prediger", Fraction(1, 2), Fraction(1, 5)),
            ("krippendorff_alpha", None, Fraction(25, 99)),
        ],
    )
    def test_estimates(self, name, expected_disagreement, estimate):
        found = getattr(sa, name)(self.study(), distance="nominal")
        assert found.observed_disagreement == pytest.approx(0.4, rel=1e-12)
        assert found.estimate == pytest.approx(float(estimate), rel=1e-12)
        if expected_disagreement is not None:
            expected = pytest.approx(float(expected_disagreement), rel=1e-12)
            assert found.expected_disagreement == expected

    def test_standard_errors(self):
        """Residuals are taken from the means of strata.

        Brennan-Prediger: u = 2 / 200 times 10 (x - 0.3) in stratum x, 50 (x - 0.5) at the two
        pairable units of y, 0 at its other units; SE² = sum over strata (1 - 10 / 100) 10 / 9 u².
        """
        study = self.study()
        fleiss = sa.fleiss_kappa(study, distance="nominal").standard_error
        assert fleiss == pytest.approx(0.3853630455, abs=1e-10)
        squares = (
            Fraction(10, 9) * Fraction(9, 10) * (100 * Fraction(21, 10) + 2500 * Fraction(1, 2))
        )
        error = float(squares) ** 0.5 * 2 / 200
        for name in ("brennan_prediger", "conger_kappa"):
            found = getattr(sa, name)(study, distance="nominal").standard_error
            assert found == pytest.approx(error, rel=1e-12)
        plain = sa.percent_agreement(study, distance="nominal").standard_error
        assert plain == pytest.approx(error / 2, rel=1e-12)

    def test_weights_are_shown(self):
        frame = self.study().units_frame
        rated, pairable = frame["population per unit"], frame["population per pairable unit"]
        assert rated.groupby(frame["strata"]).sum().to_dict() == {"x": 100, "y": 100}
        assert rated.unique().tolist() == [10]
        assert pairable.groupby(frame["strata"]).unique().str[0].to_dict() == {"x": 10, "y": 50}

    @pytest.mark.parametrize("scheme", ["pooled", "within_rater", "table"])
    @pytest.mark.parametrize("name", ["fleiss_kappa", "conger_kappa", "krippendorff_alpha"])
    def test_reshuffles_keep_the_estimate(self, scheme, name):
        study = self.study()
        agreement = getattr(sa, name)(study, distance="nominal")
        shuffler = shuffler_of(agreement, scheme)
        found = shuffler.evaluate(shuffler.value[None, :])
        assert found.tolist() == pytest.approx([agreement.estimate], rel=1e-12)


class TestWeights:
    @pytest.mark.parametrize(
        "weight",
        [
            *("x", True, False, np.True_, float("inf"), -1, 0, 2 + 0j, np.complex128(2), 10**400),
            *((1,), datetime(2020, 1, 1), Decimal("Infinity"), Decimal("1e400"), pd.Timedelta(1)),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("road", ["mapping", "frame"])
    def test_no_weight(self, weight, road):
        weights = {**dict.fromkeys(STUDY.units, 1.0), "u4": weight}
        words = r"a sampling weight is a finite number above 0; unit 'u4' has .* \(1 unit of 12 has"
        data, how = STUDY, {"sampling_weight": weights}
        if road == "frame":
            data = STUDY.to_long()
            data["w"] = pd.Series([weights[u] for u in data["unit"]], dtype=object)
            how = {**COLUMNS, "sampling_weight": "w"}
        with pytest.raises(OptionError, match=words):
            sa.agreement(data, **how)

    @pytest.mark.parametrize("weight", [None, pd.NA, float("nan"), pd.NaT, "", Decimal("nan")])
    def test_missing(self, weight):
        with pytest.raises(DataError, match=r"sampling_weight: 1 unit of 12 has none in .* \('u4'"):
            STUDY.sampled(sampling_weight={**WEIGHTS, "u4": weight})

    @pytest.mark.parametrize("weight", ["2", " 2", Decimal(2), Fraction(2), np.float32(2), "2e0"])
    def test_any_number(self, weight):
        one, two = (
            sa.krippendorff_alpha(STUDY.sampled(sampling_weight={**WEIGHTS, "u4": w}))
            for w in (weight, 2)
        )
        assert one == two

    @pytest.mark.parametrize("scale", [5e-324, 1e-307, 1e-160, 1e-3, 1e160, 1e300, 5e307])
    @pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"])
    def test_any_scale(self, scale, name):
        weights = {unit: scale * weight for unit, weight in WEIGHTS.items()}
        one, two = (getattr(sa, name)(STUDY.sampled(sampling_weight=w)) for w in (WEIGHTS, weights))
        numbers = [
            (row.estimate, row.standard_error, *row.interval(), *row.interval(method="score"))
            for row in (one, two)
        ]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-9)

    @pytest.mark.parametrize("weight", [1e300, 1e-300, 5e-324, 1e10])
    def test_too_unequal(self, weight):
        words = (
            "sampling weights may differ at most 1,000,000,000-fold; the weights range from .*'u4'"
        )
        with pytest.raises(OptionError, match=words):
            STUDY.sampled(sampling_weight={**dict.fromkeys(STUDY.units, 1.0), "u4": weight})
        with pytest.raises(OptionError, match="the weights derived from the sizes range from 10"):
            STUDY.sampled(strata=PART, population_size={"s": 1e300, "t": 60})


class TestReducedTables:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "drawn",
        [{"population_size": "x"}, {"population_size": 50}, {"sampling_weight": WEIGHTS}],
        ids=lambda drawn: next(iter(drawn)),
    )
    def test_refused(self, drawn, tmp_path):
        path = tmp_path / "table.csv"
        frame = STUDY.to_long()
        frame.assign(labels=["; ".join(sorted(x)) or "[]" for x in frame["labels"]]).to_csv(path)
        words = "requires the identities of the units, which a tally lacks"
        with pytest.raises(DataError, match=words):
            sa.agreement(path, **COLUMNS, label_sep=";", memory_limit="1GB", **drawn)
        with pytest.raises(DataError, match=words):
            sa.agreement(sa.tally(path, **COLUMNS, label_sep=";"), **drawn)

    @pytest.mark.parametrize("make", ["polars", "duckdb"])
    @pytest.mark.parametrize("drawn", [{"population_size": 50}, {"sampling_weight": WEIGHTS}])
    def test_lazy_tables_are_read_into_memory(self, make, drawn):
        pl = pytest.importorskip("polars", reason="Polars is not installed")
        duckdb = pytest.importorskip("duckdb", reason="the extra 'files' is not installed")
        rows = STUDY.to_long()
        table = pl.DataFrame({x: rows[x].tolist() for x in ("unit", "rater")}).with_columns(
            labels=pl.Series([", ".join(sorted(x)) or "[]" for x in rows["labels"]])
        )
        lazy = table.lazy() if make == "polars" else duckdb.from_arrow(table.to_arrow())
        found = sa.agreement(lazy, **drawn).rows[0]
        expected = sa.agreement(STUDY, **drawn).rows[0]
        assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-12)
        assert found.interval() == pytest.approx(expected.interval(), rel=1e-12)


@pytest.mark.parametrize(
    ("drawn", "said"),
    [
        ({"population_size": 500}, "a population size"),
        ({"strata": PART}, "strata"),
        ({"strata": PART, "population_size": {"s": 50, "t": 60}}, "strata of known size"),
        ({"sampling_weight": WEIGHTS}, "sampling weights"),
        ({"sampling_weight": WEIGHTS, "strata": PART}, "sampling weights and strata"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_refusals_name_what_was_given(drawn, said):
    study = STUDY.sampled(**drawn)
    row = sa.krippendorff_alpha(study)
    for function, what in ((sa.bootstrap, "The bootstrap"), (sa.jackknife, "The jackknife")):
        with pytest.raises(OptionError, match=f"^{what} is not defined for {said}, which the t "):
            function(row)
    with pytest.raises(OptionError, match=f"^A plan is not defined for {said}, which the t "):
        sa.plan(row, sa.PlanGoals(half_width=0.1))
    with pytest.warns(
        sa.SetagreeWarning, match=f"{' and '.join(f'{k}=' for k in drawn)} (is|are) ig"
    ):
        sa.k_rater_reliability(study, k=2, n_splits=2, rng=1)
    if study.sampling.is_weighted:
        with pytest.raises(OptionError, match=f"^mv_alpha is not defined for {said}; kripp"):
            sa.mv_alpha(study)


def test_clusters_that_were_drawn_without_anything_else():
    study = sa.simulate(12, 3, rng=1)
    place = {unit: k for k, unit in enumerate(study.units)}
    cluster = {unit: k // 2 for unit, k in place.items()}
    others = {
        "strata": {unit: k // 6 for unit, k in place.items()},
        "sampling_weight": {unit: 1 + k // 2 for unit, k in place.items()},
        "population_size": 50,
    }
    assert sample_of(study.sampled(cluster=cluster)).is_plain_clusters
    assert not sample_of(study.sampled(strata=others["strata"])).is_plain_clusters
    for name, drawn in others.items():
        assert not sample_of(study.sampled(cluster=cluster, **{name: drawn})).is_plain_clusters


def of_sizes(rows):
    """Return the study of rows (rater, unit, label), drawn from two strata of known size."""
    study = sa.Annotations.from_triples(rows)
    part = {unit: "st"[unit % 2] for unit in study.units}
    return study.sampled(strata=part, population_size={"s": 400, "t": 100})


class TestRatersLeftOut:
    """Weights from sizes of strata are those of a study whose other raters never answered."""

    RATINGS = sa.simulate(60, 3, n_labels=3, rng=1).to_triples()

    @pytest.fixture
    def rows(self):
        """Return rows of three raters who left out more units of stratum s."""
        rng = np.random.default_rng(2)
        rows = [(rater, int(unit[1:]), labels) for rater, unit, labels in self.RATINGS]
        return [row for row in rows if rng.random() > (0.1 if row[1] % 2 else 0.5)]

    @pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"])
    def test_excluded(self, rows, name):
        coefficient = getattr(sa, name)
        study = of_sizes(rows)
        alone = coefficient(of_sizes([row for row in rows if row[0] != "r3"]))
        found = coefficient(study.exclude_raters(["r3"]))
        assert found.estimate == pytest.approx(alone.estimate, abs=1e-12)
        assert found.standard_error == pytest.approx(alone.standard_error, abs=1e-12)
        numbers = [
            sa.jackknife(coefficient(study), over="raters").values["r3"],
            sa.by_rater(study, coefficient=name).set_index("rater").loc["r3", "estimate_without"],
            sa.what_if(study, exclude_raters=["r3"], coefficient=name).loc[1, "estimate"],
        ]
        assert numbers == pytest.approx([alone.estimate] * 3, abs=1e-12)

    def test_stratum_without_pairs(self, rows):
        """Rater r2 leaves out stratum t, so that without r3 its units have one rating."""
        study = of_sizes([row for row in rows if not (row[1] % 2 and row[0] == "r2")])
        alpha = sa.krippendorff_alpha(study)
        with pytest.warns(sa.UndefinedAgreementWarning, match="stratum of known size has no unit"):
            assert np.isnan(sa.krippendorff_alpha(study.exclude_raters(["r3"])).estimate)
        numbers = [
            sa.jackknife(alpha, over="raters").values["r3"],
            sa.by_rater(study).set_index("rater").loc["r3", "estimate_without"],
            sa.what_if(study, exclude_raters=["r3"]).loc[1, "estimate"],
        ]
        assert np.isnan(numbers).all()
        assert sa.by_pair(study)["estimate"].notna().all()  # of the units that both rated

    def test_pairs(self, rows):
        pairs = sa.by_pair(of_sizes(rows)).set_index(["rater_a", "rater_b"]).sort_index()
        for a, b in pairs.index:
            alone = sa.krippendorff_alpha(of_sizes([row for row in rows if row[0] in (a, b)]))
            numbers = pairs.loc[(a, b), ["estimate", "standard_error", "low", "high"]].tolist()
            expected = [alone.estimate, alone.standard_error, *alone.interval()]
            assert numbers == pytest.approx(expected, abs=1e-12)

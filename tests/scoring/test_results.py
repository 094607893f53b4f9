"""What a coefficient comes back as."""

import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from small_studies import annotations, random_rows, sets_of, text

import setagree as sa
from setagree.coefficients.chance_models import Urn
from setagree.coefficients.sums import Linearised
from setagree.errors import FewClustersWarning, OptionError
from setagree.scoring.results import COLUMNS, AgreementTable
from setagree.wording.number_format import share

ROWS = random_rows(np.random.default_rng(12), sets_of("abc"), units=9, raters=3, missing=0.15)
ROWS.append([frozenset("a"), None, None])
STUDY = annotations(ROWS)
AGREE = annotations(text("a a / b b / c c / a ab"))


@sa.coefficient(model=Urn(), title="Some kappa", symbol="κ", short="kappa")
def some_kappa(study, *, distance=None):
    return sa.score(study, some_kappa, distance=distance)


def made(estimate, influence, counted=None):
    agreement = some_kappa(STUDY)
    counted = np.ones(len(influence)) if counted is None else np.array(counted, dtype=float)
    sums = replace(agreement.sums)
    linearised = Linearised(np.array(influence), counted, by_unit=False)
    vars(sums).update(estimate=estimate, linearised=linearised)
    return replace(agreement, estimate=estimate, sums=sums, requested_method="t")


class TestInterval:
    @pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
    @pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"])
    def test_t_quantile(self, name, level):
        """Estimate -+ t x SE, n - 1 degrees of freedom (n the units the variance counts)."""
        result = getattr(sa, name)(STUDY)
        n = result.n_pairable_units if name == "krippendorff_alpha" else result.n_units
        assert result.degrees_of_freedom == n - 1
        half = stats.t.ppf((1 + level) / 2, n - 1) * result.standard_error
        low, high = result.interval(level=level, method="t")
        assert low == pytest.approx(result.estimate - half, rel=1e-12)
        assert high == pytest.approx(min(1, result.estimate + half), rel=1e-12)

    def test_upper_end_is_cut_at_one(self):
        result = sa.krippendorff_alpha(AGREE)
        half = stats.t.ppf(0.975, 3) * result.standard_error
        assert result.estimate + half > 1
        assert result.interval(method="t")[1] == 1

    def test_lower_end_is_not_cut(self):
        low, _ = made(-0.5, [-1.0, 0.0]).interval(method="t")
        # mean -1/2, SE 1/2, one degree of freedom: t = tan(0.475 pi) = 12.7062
        assert low == pytest.approx(-0.5 - math.tan(0.475 * math.pi) / 2)
        assert low < -6

    @pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan")])
    def test_level(self, level):
        """A level outside (0, 1), such as 95, is refused."""
        with pytest.raises(OptionError, match=f"level={level} must lie between 0 and 1"):
            made(0.5, [0.4, 0.6]).interval(level=level)

    def test_without_a_standard_error(self):
        assert all(map(math.isnan, made(0.5, []).interval(method="t")))
        assert all(map(math.isnan, made(0.5, [0.5]).interval(method="t")))

    def test_of_no_spread(self):
        result = made(0.5, [0.5, 0.5, 0.5])
        assert result.standard_error == 0
        assert all(map(math.isnan, result.interval(method="t")))
        assert result.standard_error_reason.startswith("All units have the same linearised value")


class TestPValue:
    @pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "gwet_ac"])
    def test_t_test(self, name):
        """It equals scipy's survival function twice."""
        result = sa.agreement(STUDY, coefficient=name, interval="t")[0]
        t = abs(result.estimate) / result.standard_error
        expected = 2 * stats.t.sf(t, result.degrees_of_freedom)
        assert result.p_value == pytest.approx(expected, rel=1e-10)

    def test_sign_does_not_matter(self):
        spread = [0.25, 0.75, 0.5]
        below = made(-0.5, [-x for x in spread])
        assert made(0.5, spread).p_value == pytest.approx(below.p_value)

    def test_without_spread(self):
        """A standard error of 0 has no p, whatever the estimate."""
        assert math.isnan(made(1.0, [1.0, 1.0]).p_value)
        assert math.isnan(made(0.0, [0.0, 0.0]).p_value)

    def test_without_a_standard_error(self):
        assert math.isnan(made(0.5, []).p_value)


class TestInfluence:
    @pytest.mark.parametrize(
        "name", ["fleiss_kappa", "conger_kappa", "gwet_ac", "percent_agreement"]
    )
    def test_units_and_mean(self, name):
        result = getattr(sa, name)(STUDY)
        influence = result.influence
        assert influence.index.tolist() == STUDY.units.tolist()
        assert (influence.name, influence.index.name) == ("influence", "unit")
        assert influence.mean() == pytest.approx(result.estimate, rel=1e-12)
        assert influence.sem() == pytest.approx(result.standard_error, rel=1e-12)

    def test_of_alpha(self):
        """Alpha leaves lone ratings out; the mean is alpha without its 1/N term."""
        result = sa.krippendorff_alpha(STUDY)
        assert "u9" in STUDY.units
        assert "u9" not in result.influence.index
        N = sum(sum(x is not None for x in row) for row in ROWS[:9])
        plain = 1 - (1 - result.estimate) * N / (N - 1)
        assert result.influence.mean() == pytest.approx(plain, rel=1e-12)
        assert result.influence.sem() == pytest.approx(result.standard_error, rel=1e-12)

    def test_of_a_tally_without_names(self):
        tally = replace(sa.Tally.from_annotations(AGREE), units=None, unit_patterns=None)
        assert sa.fleiss_kappa(tally).influence.index.tolist() == [0, 1, 2, 3]

    def test_low_values_point_at_the_trouble(self):
        assert sa.krippendorff_alpha(AGREE).influence.idxmin() == "u3"


class TestAgreement:
    def test_counts(self):
        result = sa.fleiss_kappa(STUDY)
        ratings = [sum(x is not None for x in row) for row in ROWS]
        assert result.n_units == 10
        assert result.n_pairable_units == sum(r >= 2 for r in ratings)
        assert result.n_raters == 3
        assert result.n_ratings == sum(ratings)
        assert result.n_values == len({x for row in ROWS for x in row if x is not None})

    @pytest.mark.parametrize("method", ["z", 1, np.array([]), np.array(["t", "score"])])
    def test_unknown_interval(self, method):
        with pytest.raises(OptionError, match=r"method=.* is unknown; use 'score' or 't'"):
            sa.fleiss_kappa(STUDY).interval(method=method)

    def test_what_it_carries(self):
        result = sa.fleiss_kappa(STUDY)
        assert result.study is STUDY
        assert result.tally.n_units == 10
        assert result.weights.n_values == result.n_values
        counted = sa.fleiss_kappa(sa.Tally.from_annotations(STUDY))
        assert counted.study is None

    def test_is_frozen(self):
        with pytest.raises(AttributeError):
            sa.fleiss_kappa(STUDY).estimate = 1.0

    def test_repr_is_one_line(self):
        result = made(0.5, [0.5, 0.5])
        assert repr(result) == (
            "<some_kappa [masi]: 0.5000 (se 0), 10 units. All units have the same linearised "
            "value, which leaves a standard error of 0>"
        )
        assert repr(made(0.5, [])) == "<some_kappa [masi]: 0.5000, 10 units>"
        assert repr(made(-1e-17, [])) == "<some_kappa [masi]: 0.0000, 10 units>"
        undefined = replace(result, estimate=math.nan, reason="there is only one rater")
        assert repr(undefined) == "<some_kappa [masi]: nan (there is only one rater), 10 units>"

    def test_is_a_number_where_one_is_due(self):
        result = made(0.123456, [])
        assert f"{result:.3f}" == "0.123"
        assert float(result) == 0.123456
        assert f"{result}" == repr(result)

    def test_to_frame(self):
        """One row, the columns of the table in their order, nothing rounded."""
        result = sa.krippendorff_alpha(STUDY)
        frame = result.to_frame(level=0.8)
        assert frame.columns.tolist() == list(COLUMNS)
        row = frame.iloc[0]
        assert len(frame) == 1
        assert (row["low"], row["high"]) == result.interval(level=0.8)
        for name in set(COLUMNS) - {"low", "high"}:
            assert row[name] == getattr(result, name)

    def test_columns(self):
        assert " ".join(COLUMNS) == (
            "coefficient distance estimate standard_error low high p_value observed_agreement "
            "expected_agreement observed_disagreement expected_disagreement n_units "
            "n_pairable_units n_raters n_ratings n_values interval_method full_agreement"
        )

    @pytest.mark.parametrize(
        ("answers", "weights", "agreed"),
        [
            ("a a / a b / b b / a .", None, 2 / 3),
            ("a a / a b / b b / a .", [1, 3, 2, 9], 1 / 2),
            ("a . / . b", None, np.nan),
            ("a,b b,a / a a", None, 1),
            ("a b c / a a b", None, 0),
        ],
    )
    def test_full_agreement(self, answers, weights, agreed):
        study = annotations(text(answers))
        if weights is not None:
            study = study.sampled(sampling_weight=dict(zip(study.units, weights, strict=True)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = sa.agreement(study, coefficient="krippendorff_alpha")
        found = table.to_frame()["full_agreement"].item()
        assert found == pytest.approx(agreed, rel=1e-12, nan_ok=True)
        of = "of the units" if weights is None else "of the sampling weight"
        equal = f"{share(agreed)} {of}"
        assert (equal in table.heading) == np.isfinite(agreed)

    def test_full_agreement_of_spans_is_by_length(self):
        """Of ten characters the raters agree on 0-2 (nothing), 4-6 (x) and 8-10 (nothing)."""
        rows = [(d, *row) for d in "de" for row in [("a", "x", 2, 6), ("b", "x", 4, 8)]]
        frame = pd.DataFrame(rows, columns=["document", "rater", "label", "start", "end"])
        study = sa.Annotations.from_spans(frame, length={"d": 10, "e": 10})
        with pytest.warns(FewClustersWarning):
            table = sa.agreement(study)
        assert table[0].full_agreement == pytest.approx(6 / 10, rel=1e-12)
        assert "All ratings are equal in 60% of the length." in table.heading


class TestTable:
    TABLE = sa.agreement(
        STUDY, coefficient=["krippendorff_alpha", "conger_kappa"], distance=["masi", "dice"]
    )

    @pytest.mark.parametrize(("sign", "spread"), [(-1, 0.1), (1, 0.1), (-1, 9)])
    def test_below_chance(self, sign, spread):
        """The table tells nothing from chance: its t test errs too often where units are few."""
        row = made(sign * 0.5, [sign * 0.5 - spread, sign * 0.5, sign * 0.5 + spread])
        assert "chance" not in str(AgreementTable((row,), 0.95, 0))

    def test_lookup_and_order(self):
        names = [(row.coefficient, row.distance) for row in self.TABLE]
        assert names == [
            ("krippendorff_alpha", "masi"),
            ("krippendorff_alpha", "dice"),
            ("conger_kappa", "masi"),
            ("conger_kappa", "dice"),
        ]
        assert len(self.TABLE) == 4
        for name, row in zip(names, self.TABLE, strict=True):
            assert self.TABLE[name] is row

    @pytest.mark.parametrize(
        ("asked", "sentence"),
        [
            (("krippendorf_alpha", "masi"), "Did you mean 'krippendorff_alpha, masi'"),
            (("conger_kappa", "jaccard"), "no row 'conger_kappa, jaccard'; the rows are"),
            ("masi", "no row 'masi'; the rows are"),
            (None, "no row None; the rows are"),
            ((1, 2), "no row '1, 2'"),
            (["conger_kappa", "masi"], r"no row \['conger_kappa', 'masi'\]"),
        ],
    )
    def test_wrong_lookups(self, asked, sentence):
        with pytest.raises(KeyError, match=sentence):
            self.TABLE[asked]

    def test_a_part_of_a_name(self):
        study = sa.simulate(20, 3, rng=1)
        one = sa.agreement(study)
        assert one["kappa"] is one["Kappa", "masi"] is one["fleiss_kappa"]
        both = sa.agreement(study, coefficient=["krippendorff_alpha", "mv_alpha"])
        assert both["alpha"].coefficient == "krippendorff_alpha"  # a short name is surer
        two = sa.agreement(study, coefficient=["fleiss_kappa", "conger_kappa"])
        several = "'kappa' matches 2 rows; name one: table['fleiss_kappa', 'masi'], table['con"
        with pytest.raises(KeyError, match=re.escape(several)):
            two["kappa"]

    def test_to_frame(self):
        frame = self.TABLE.to_frame()
        assert frame.columns.tolist() == list(COLUMNS)
        assert frame["estimate"].tolist() == [row.estimate for row in self.TABLE]
        assert frame["low"].tolist() == [row.interval(level=0.95)[0] for row in self.TABLE]
        wide = self.TABLE.to_frame(level=0.99)
        assert wide["low"].tolist() == [row.interval(level=0.99)[0] for row in self.TABLE]
        assert frame.dtypes[["n_units", "estimate"]].tolist() == [np.dtype(int), np.dtype(float)]

    def test_level_of_the_table(self):
        for level, head in ((0.9, "90% interval"), (0.975, "97.5% interval"), (0.999, "99.9% int")):
            table = sa.agreement(STUDY, level=level)
            assert head in str(table)
            assert (
                table.to_frame()["low"][0] == table["krippendorff_alpha", "masi"].interval(level)[0]
            )

    def test_printed(self):
        """The counts, then a line each: names, pa, pe, estimate, se, interval, p to 4 decimals."""
        counts, agreed, empty, head, *lines = str(self.TABLE).splitlines()
        row = self.TABLE["krippendorff_alpha", "masi"]
        low, high = row.interval()
        assert counts == (
            f"10 units ({10 - row.n_pairable_units} with one rating), 3 raters, "
            f"{row.n_ratings} ratings, {row.n_values} distinct sets"
        )
        assert agreed == "All ratings are equal in 0% of the units with several ratings."
        assert empty == ""
        assert " ".join(head.split()) == "coefficient distance pa pe estimate se 95% interval p"
        assert len(lines) == 4
        figures = f"{row.observed_agreement:.4f} {row.expected_agreement:.4f} {row.estimate:.4f}"
        figures += f" {row.standard_error:.4f} {low:.4f}, {high:.4f} {row.p_value:.4f}"
        assert lines[0].split() == ["krippendorff_alpha", "masi", *figures.split()]
        assert repr(self.TABLE) == str(self.TABLE)

    def test_fits_a_terminal(self):
        assert max(map(len, str(self.TABLE).splitlines())) <= 80

    def test_what_is_missing_is_counted(self):
        frame = pd.DataFrame({"x": ["a", "b", None], "y": ["a", None, "b"]})
        table = sa.agreement(sa.Annotations.from_wide(frame), coefficient="percent_agreement")
        assert str(table).startswith(
            "3 units (2 with one rating), 2 raters, 4 ratings (2 missing), 2 distinct sets"
        )

    def test_units_that_nobody_rated_are_named(self):
        frame = pd.DataFrame({"x": ["a", "b", None, None], "y": ["a", "b", "", None]})
        study = sa.read(frame, wide=True, blank="missing")
        table = sa.agreement(study)
        counts, _, named, blank = str(table).splitlines()[:4]
        assert counts.startswith("2 units, 2 raters, 4 ratings (4 missing)")
        assert (named, blank) == ("2 units that nobody rated were left out: 2, 3.", "")
        assert f"{named}</p>" in table._repr_html_()
        assert "nobody rated" not in str(sa.agreement(study.take(study.unit_codes >= 0)))

    def test_raters_without_any_rating_are_named(self):
        cells = {"x": ["a", "b", "a"], "y": ["", "", None], "z": ["a", None, "b"]}
        study = sa.read(pd.DataFrame(cells), wide=True, blank="missing")
        counts, _, named, blank = str(sa.agreement(study)).splitlines()[:4]
        assert counts.startswith("3 units (1 with one rating), 2 raters, 5 ratings (4 missing)")
        assert (named, blank) == ("1 rater without any rating was left out (3 missing): 'y'.", "")
        assert "without any" not in str(sa.agreement(study.exclude_raters(["y"])))

    def test_scalars_and_unknown_raters(self):
        tally = sa.Tally.from_counts(pd.DataFrame({1: [2, 1], 2: [0, 1]}), kind="value")
        table = sa.agreement(tally, distance="nominal")
        assert str(table).startswith("2 units, raters unknown, 4 ratings, 2 distinct values")
        frame = table.to_frame()
        assert frame["n_raters"].isna().all()
        assert len(frame) == 2

    def test_undefined_rows(self):
        study = annotations(text("a a / a a"))
        with pytest.warns(sa.UndefinedAgreementWarning, match="only one value"):
            table = sa.agreement(study, coefficient=["fleiss_kappa", "percent_agreement"])
        undefined, defined, _, said = str(table).splitlines()[4:]
        alike = "No disagreement was seen in 2 units, and all answers except the commonest weigh "
        assert said.startswith(alike)
        assert said.endswith("compares the estimate with chance (percent_agreement [masi]).")
        assert undefined.split() == ["fleiss_kappa", "masi", "1.0000", "1.0000", *"----"]
        assert defined.split() == ["percent_agreement", "masi", *["1.0000", "0.0000"] * 2, *"--"]

    def test_small_p_values(self):
        """A p below 0.0001 is shown as that, not as 0.0000; what rounds to zero has no sign."""
        tiny = made(0.9, [0.9, 0.9001, 0.8999, 0.9])
        text_of = str(AgreementTable((tiny,)))
        assert text_of.splitlines()[4].endswith("<0.0001")
        zero = made(-1e-9, [0.1, -0.1])
        assert "-0.0000" not in str(AgreementTable((zero,)))

    def test_wide_names_stay_in_line(self):
        long = sa.CallableDistance(
            lambda x, y: float(x != y), name="a distance with a long name " * 3
        )
        table = sa.agreement(STUDY, distance=[long, "masi"], coefficient="fleiss_kappa")
        lines = str(table).splitlines()[3:]
        assert len(lines) == 3
        assert len(set(map(len, lines))) == 1

    def test_html_is_escaped(self):
        hostile = sa.CallableDistance(lambda x, y: float(x != y), name="<script>alert(1)</script>")
        html = sa.agreement(STUDY, distance=hostile, coefficient="fleiss_kappa")._repr_html_()
        assert "<script>" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
        assert html.startswith("<p>10 units")
        assert "fleiss_kappa" in html


def test_a_stratum_without_a_pair_of_ratings_is_not_counted():
    rows = [(g, u, "ab"[(u + g * (u % 3 == 0)) % 2]) for u in range(20) for g in range(2)]
    study = sa.Annotations.from_triples([*rows, *((0, u, "a") for u in range(20, 25))])
    drawn = study.sampled(strata={u: "xyz"[u // 10] for u in study.units})
    assert sa.krippendorff_alpha(drawn).rests_on["n_strata"] == 2

"""The mergeable statistic: patterns of units and how often each occurs."""

import math
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from small_studies import annotations, numbers, random_rows, row_lists, sets_of, text

import setagree as sa
from setagree import Tally
from setagree.distances import get_distance
from setagree.errors import (
    DataError,
    LabelError,
    MixedScaleWarning,
    OptionError,
    SimilarLabelsWarning,
)
from setagree.scoring.coefficients import get_coefficient
from setagree.scoring.scorer import Scorer
from setagree.study import tally

ANY_RATERS = ["krippendorff_alpha", "fleiss_kappa", "gwet_ac", "brennan_prediger", "mv_alpha"]


def patterns_of(made):
    """Return the patterns as a counter of multisets of values: what a tally means."""
    out = Counter()
    for row, times in enumerate(made.multiplicity):
        entries = slice(made.indptr[row], made.indptr[row + 1])
        pattern = frozenset(
            (made.values[k], float(n))
            for k, n in zip(made.indices[entries], made.counts[entries], strict=True)
        )
        out[pattern] += times
    return out


def by_hand(rows):
    """Return the same from units x raters rows."""
    return Counter(frozenset(Counter(unit).items()) for unit in reference.rated(rows))


def estimates(made, distance="masi"):
    """Return estimates and standard errors of what needs no raters."""
    scorer = Scorer(made)
    results = [scorer.score(get_coefficient(name), get_distance(distance)) for name in ANY_RATERS]
    return [x for r in results for x in (r.estimate, r.standard_error, r.expected_disagreement)]


def same(one, other, distance="masi"):
    """Compare two tallies by what they give."""
    assert patterns_of(one) == patterns_of(other)
    both = [estimates(some, distance) for some in (one, other)]
    assert both[0] == pytest.approx(both[1], rel=1e-12, abs=1e-12, nan_ok=True)


class TestFromAnnotations:
    def test_by_hand(self):
        rows = text("a a b / b a a / . a . / b b b / a . .")
        made = Tally.from_annotations(annotations(rows))
        assert patterns_of(made) == by_hand(rows)
        assert (made.n_patterns, made.n_units, made.n_pairable_units) == (3, 5, 3)
        assert (made.n_ratings, made.n_values, made.n_raters) == (11, 2, 3)
        assert made.multiplicity.tolist() == [2, 2, 1]
        assert made.pattern_ratings.tolist() == [3, 1, 3]
        assert made.pairable.tolist() == [True, False, True]
        assert made.unit_patterns.tolist() == [0, 0, 1, 2, 1]
        assert made.units.tolist() == ["u0", "u1", "u2", "u3", "u4"]
        assert repr(made) == "<Tally: 5 units in 3 patterns of 2 values>"

    @given(rows=row_lists(sets_of("ab"), units=8, raters=5))
    def test_any_study(self, rows):
        study = annotations(rows)
        made = Tally.from_annotations(study)
        assert patterns_of(made) == by_hand(rows)
        units = reference.rated(rows)
        for unit, pattern in zip(units, made.unit_patterns, strict=True):
            entries = slice(made.indptr[pattern], made.indptr[pattern + 1])
            counted = dict(zip(made.indices[entries].tolist(), made.counts[entries], strict=True))
            assert {made.values[k]: n for k, n in counted.items()} == Counter(unit)

    def test_sums_and_means(self):
        made = Tally.from_annotations(annotations(text("a a b / c . . / c b .")))
        order = [made.values.index(frozenset(label)) for label in "abc"]
        assert made.value_totals(np.array([1.0, 10, 100]))[order].tolist() == [2, 101, 110]
        x = np.empty(3)
        x[order] = [3, 6, 30]
        assert made.pattern_means(x).tolist() == [4, 30, 18]

    def test_weights_are_not_dropped_silently(self):
        study = annotations(text("a a b / b a a / b b b"))
        weighted = study.sampled(sampling_weight=dict(zip(study.units, (1, 2, 3), strict=True)))
        said = "Tally.from_annotations treats the units as drawn one by one, all alike: sampling_"
        with pytest.warns(sa.SetagreeWarning, match=said):
            Tally.from_annotations(weighted)
        sized = study.sampled(
            cluster=dict.fromkeys(study.units, "d"), size=dict.fromkeys(study.units, 2)
        )
        with pytest.raises(OptionError, match="from_annotations is not defined for units with"):
            Tally.from_annotations(sized)


class TestFromCounts:
    def test_equals_the_annotations(self):
        rows = text("ab b b / {} b . / ab ab ab / . . b / {} b .")
        columns = {"a, b": [1, 0, 3, 0, 0], "": [0, 1, 0, 0, 1], "b": [2, 1, 0, 1, 1]}
        counted = Tally.from_counts(pd.DataFrame(columns, index=list("vwxyz")))
        study = Tally.from_annotations(annotations(rows))
        same(counted, study)
        assert counted.units.tolist() == list("vwxyz")
        assert counted.n_raters is None
        assert counted.kind == "labels"

    @given(rows=row_lists(sets_of("abc"), units=6, raters=4))
    def test_any_study(self, rows):
        values = sets_of("abc")
        table = pd.DataFrame(
            [[unit.count(A) for A in values] for unit in reference.rated(rows)],
            columns=[sa.format_labels(A) for A in values],
        )
        counted = Tally.from_counts(table.loc[:, table.any()])
        same(counted, Tally.from_annotations(annotations(rows)))

    def test_columns_of_one_value_are_added_up(self):
        table = pd.DataFrame([[1, 1, 1, 0], [0, 2, 0, 3]], columns=["a, b", "b,a", "c", "c"])
        made = Tally.from_counts(table)
        assert set(made.values) == {frozenset("ab"), frozenset("c")}
        same(made, Tally.from_counts(pd.DataFrame({"a,b": [2, 2], "c": [1, 3]})))

    def test_numbers_and_categories(self):
        on_scale = Tally.from_counts(pd.DataFrame({1: [2, 0], 2: [0, 3]}), kind="value")
        assert (on_scale.kind, on_scale.values) == ("number", (1, 2))
        as_text = Tally.from_counts(pd.DataFrame({"1": [2, 0], "2.0": [0, 3]}), kind="value")
        assert (as_text.kind, as_text.values) == ("number", (1, 2))
        named = Tally.from_counts(pd.DataFrame({"low, very": [2], "high": [1]}), kind="value")
        assert (named.kind, named.values) == ("category", ("low, very", "high"))

    def test_separator_and_case(self):
        table = pd.DataFrame([[1, 1]], columns=["Joy;fear", "anger"])
        made = Tally.from_counts(table, label_sep=";", case="lower")
        assert set(made.values) == {frozenset({"joy", "fear"}), frozenset({"anger"})}

    def test_units_without_a_rating_are_no_units(self):
        made = Tally.from_counts(pd.DataFrame({"a": [0, 2, 0, 1], "b": [0, 1, 0, 1]}))
        assert made.n_units == 2
        assert made.units.tolist() == [1, 3]
        influence = sa.fleiss_kappa(made).influence
        assert influence.index.tolist() == [1, 3]

    def test_values_nobody_gave_stay_listed(self):
        """A column of zeros is a category: Brennan-Prediger counts three, 1 - 1/3 by chance.

        Units {a a}, {a b}: pa = 1/2, pe = 1/3, so (1/2 - 1/3) / (2/3) = 1/4.
        """
        made = Tally.from_counts(pd.DataFrame({"a": [2, 1], "b": [0, 1], "c": [0, 0]}))
        result = sa.brennan_prediger(made, distance="nominal")
        assert result.n_values == 3
        assert result.estimate == pytest.approx(1 / 4, abs=1e-15)

    def test_fractional_counts(self):
        """Counts may be fractions: alpha by hand from Do and De over weights.

        Units (1.5 a, 0.5 b), (2 b): N = 4, Do = (2 x 1.5 x 0.5 / 1) / 4 = 3/8; n = (1.5, 2.5),
        De = 2 x 1.5 x 2.5 / (4 x 3) = 5/8, alpha = 1 - 3/5 = 2/5.
        """
        made = Tally.from_counts(pd.DataFrame({"a": [1.5, 0], "b": [0.5, 2]}))
        alpha = sa.krippendorff_alpha(made, distance="nominal")
        assert alpha.observed_disagreement == pytest.approx(3 / 8)
        assert alpha.expected_disagreement == pytest.approx(5 / 8)
        assert alpha.estimate == pytest.approx(2 / 5)
        assert made.n_ratings == 4

    def test_counts_that_are_text_of_numbers(self):
        made = Tally.from_counts(pd.DataFrame({"a": ["2", "0"], "b": ["1", "3"]}))
        same(made, Tally.from_counts(pd.DataFrame({"a": [2, 0], "b": [1, 3]})))

    @pytest.mark.parametrize(
        ("cell", "shown"), [(-1, "-1.0"), (float("nan"), "nan"), (None, "nan"), (math.inf, "inf")]
    )
    def test_what_is_no_count(self, cell, shown):
        table = pd.DataFrame({"a": [1, 2], "b": [0, cell]}, index=["u1", "u2"])
        with pytest.raises(DataError, match=f"row 'u2', column 'b' has {shown}"):
            Tally.from_counts(table)

    @pytest.mark.parametrize("form", [list, tuple, np.array])
    def test_rows_of_counts_with_their_values(self, form):
        made = Tally.from_counts(form([[2, 1, 0], [0, 3, 1]]), values=["a", {"b", "a"}, ""])
        table = pd.DataFrame({"a": [2, 0], "a, b": [1, 3], "": [0, 1]})
        same(made, Tally.from_counts(table))

    def test_text(self):
        with pytest.raises(DataError, match="only numbers; make the names of its rows the index"):
            Tally.from_counts(pd.DataFrame({"unit": ["u1", "u2"], "a": [1, 2]}))

    @pytest.mark.parametrize("name", [None, float("nan"), pd.NA])
    def test_columns_without_a_name(self, name):
        with pytest.raises(DataError, match=r"1 column of counts without a name \(first: number 2"):
            Tally.from_counts(pd.DataFrame([[1, 1], [2, 0]], columns=["a", name]))

    def test_a_unit_with_two_rows(self):
        table = pd.DataFrame({"a": [2, 1, 0], "b": [0, 1, 2]}, index=["u", "v", "u"])
        with pytest.raises(DataError, match="several rows for the units 'u'"):
            Tally.from_counts(table)

    def test_a_column_of_numbered_units(self):
        with pytest.raises(
            DataError, match="column 'Unit' has the name of units; make it the index"
        ):
            Tally.from_counts(pd.DataFrame({"Unit": [1, 2], "a": [2, 1], "b": [0, 1]}))

    def test_a_column_of_sums(self):
        table = pd.DataFrame({"a": [2, 1], "b": [0, 1], "Total": [2, 2]})
        with pytest.raises(DataError, match="column 'Total' is the sum of the others; remove it"):
            Tally.from_counts(table)
        # called so, and something else: a label
        assert Tally.from_counts(table.assign(Total=[0, 1])).n_values == 3

    def test_numbers_where_labels_are_due(self):
        with pytest.raises(LabelError, match=r"int64 numbers instead of labels; .* kind='value'"):
            Tally.from_counts(pd.DataFrame({1: [1], 2: [1]}))

    def test_blank_names_of_scalars(self):
        with pytest.raises(DataError, match="Column '': the cell is blank"):
            Tally.from_counts(pd.DataFrame({"": [1], "a": [1]}), kind="value")

    @pytest.mark.parametrize(
        ("table", "sentence"),
        [
            (pd.DataFrame(), r"shape \(0, 0\) has no counts"),
            (pd.DataFrame({"a": []}), r"shape \(0, 1\) has no counts"),
            (pd.DataFrame({"a": [0, 0]}), "has no count above 0"),
            (np.ones((2, 2)), r"got a ndarray; pass a DataFrame .* values=\['a', 'b'\]"),
            (pd.Series([1, 2]), "Expected a table of counts, got a Series"),
        ],
    )
    def test_no_table(self, table, sentence):
        with pytest.raises(DataError, match=sentence):
            Tally.from_counts(table)

    @pytest.mark.parametrize("table", [[[1, 2, 3]], [[1, 2], [3]], [1, 2], np.ones((2, 2, 2))])
    def test_counts_that_do_not_fit_the_values(self, table):
        with pytest.raises(DataError, match="must be one row per unit, of 2 counts each"):
            Tally.from_counts(table, values=["a", "b"])
        with pytest.raises(OptionError, match="is for arrays and lists; the columns have names"):
            Tally.from_counts(pd.DataFrame(np.ones((2, 2))), values=["a", "b"])

    def test_unknown_kind(self):
        with pytest.raises(
            OptionError,
            match="kind='label' is unknown; use 'labels', 'number'",
        ):
            Tally.from_counts(pd.DataFrame({"a": [1]}), kind="label")


def parts_of(seed):
    """Return three studies whose values overlap, as tallies, and the study of all units."""
    rng = np.random.default_rng(seed)
    answers = [sets_of("ab"), sets_of("bc"), sets_of("abc")]
    rows = [random_rows(rng, some, units=6, raters=3, missing=0.2) for some in answers]
    whole = Tally.from_annotations(annotations([row for some in rows for row in some]))
    return [Tally.from_annotations(annotations(some)) for some in rows], whole


class TestMerge:
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("distance", ["nominal", "masi", "hamming"])
    def test_merging_parts_gives_the_whole(self, seed, distance):
        (one, two, three), whole = parts_of(seed)
        same(one.merge(two).merge(three), whole, distance)

    @pytest.mark.parametrize("seed", range(4))
    def test_order_does_not_matter(self, seed):
        (one, two, three), _ = parts_of(seed)
        same(one.merge(two).merge(three), one.merge(two.merge(three)))
        same(one.merge(two), two.merge(one))

    @given(
        one=row_lists(sets_of("ab"), units=4, raters=3),
        two=row_lists(sets_of("bc"), units=4, raters=3),
    )
    def test_any_two_studies(self, one, two):
        merged = Tally.from_annotations(annotations(one)).merge(
            Tally.from_annotations(annotations(two))
        )
        assert patterns_of(merged) == by_hand(one) + by_hand(two)
        # equal units share a pattern, in whatever order the two sides list their values
        assert merged.n_patterns == len(patterns_of(merged))
        longest = max(len(row) for row in one + two)
        rows = [[*row, *[None] * (longest - len(row))] for row in one + two]
        same(merged, Tally.from_annotations(annotations(rows)))

    def test_patterns_are_shared(self):
        made = Tally.from_counts(pd.DataFrame({"a": [2, 1], "b": [0, 1]}, index=["u", "v"]))
        twice = made.merge(made)
        assert twice.n_patterns == 2
        assert twice.multiplicity.tolist() == [2, 2]
        assert twice.units.tolist() == ["u", "v", "u", "v"]
        assert twice.unit_patterns.tolist() == [0, 1, 0, 1]
        assert sa.fleiss_kappa(twice).influence.index.tolist() == ["u", "v", "u", "v"]

    @pytest.mark.parametrize(
        ("one", "two"),
        [
            ("a b . / b b . / a a b / b b .", "ab c . / b b ."),  # a pattern of both
            ("ab c . / b b .", "a b . / b b . / a a b / b b ."),
            ("a b / a a / b b", "c c / ab ab"),  # none
            ("c c / ab ab", "a b / a a / b b"),
        ],
    )
    def test_each_unit_keeps_its_pattern(self, one, two):
        rows = [text(words) for words in (one, two)]
        merged = Tally.from_annotations(annotations(rows[0])).merge(
            Tally.from_annotations(annotations(rows[1]))
        )
        matrix = np.zeros((merged.n_patterns, merged.n_values))
        matrix[merged.rows, merged.indices] = merged.counts
        found = [
            {v: n for v, n in zip(merged.values, matrix[row], strict=True) if n}
            for row in merged.unit_patterns
        ]
        expected = [Counter(x for x in row if x is not None) for row in rows[0] + rows[1]]
        assert found == expected
        assert merged.units.tolist() == [f"u{i}" for some in rows for i in range(len(some))]
        assert np.bincount(merged.unit_patterns).tolist() == merged.multiplicity.tolist()

    def test_patterns_are_shared_across_orders(self):
        one = Tally.from_counts(pd.DataFrame({"a": [2], "b": [1], "c": [0]}))
        two = Tally.from_counts(pd.DataFrame({"c": [1, 0, 0], "b": [0, 1, 3], "a": [2, 2, 0]}))
        assert one.merge(two).multiplicity.tolist() == [2, 1, 1]
        assert two.merge(one).multiplicity.tolist() == [1, 2, 1]

    def test_raters_are_forgotten(self):
        part = Tally.from_annotations(annotations(text("a b / a a")))
        assert part.n_raters == 2
        assert part.merge(part).n_raters is None

    def test_values_stand_where_they_were(self):
        one = Tally.from_counts(pd.DataFrame({"b": [2], "a": [0]}))
        two = Tally.from_counts(pd.DataFrame({"c": [2], "a": [1]}))
        assert [set(A) for A in one.merge(two).values] == [{"b"}, {"a"}, {"c"}]

    def test_units_that_are_not_known(self):
        named = Tally.from_counts(pd.DataFrame({"a": [2, 1], "b": [0, 1]}))
        bare = Tally(
            named.kind, named.values, named.indptr, named.indices, named.counts, named.multiplicity
        )
        halfway = Tally(
            named.kind,
            named.values,
            named.indptr,
            named.indices,
            named.counts,
            named.multiplicity,
            named.units,
        )
        for nameless in (bare, halfway):
            for merged in (named.merge(nameless), nameless.merge(named)):
                assert merged.units is None
                assert merged.unit_patterns is None
                assert merged.n_units == 4
                assert (
                    sa.fleiss_kappa(merged).estimate == sa.fleiss_kappa(named.merge(named)).estimate
                )

    def test_sets_and_scalars(self):
        sets = Tally.from_counts(pd.DataFrame({"a": [2]}))
        scores = Tally.from_counts(pd.DataFrame({1: [2]}), kind="value")
        with pytest.raises(DataError, match="a tally of labels does not merge with one of number"):
            sets.merge(scores)
        with pytest.raises(DataError, match="a tally of number does not merge with one of labels"):
            scores.merge(sets)

    def test_numbers_and_categories(self):
        scores = Tally.from_annotations(annotations(numbers("1 1 / 1 2")))
        named = Tally.from_counts(pd.DataFrame({"high": [2], "low": [1]}), kind="value")
        merged = scores.merge(named)
        assert merged.kind == "category"
        assert merged.n_values == 4
        assert scores.merge(scores).kind == "number"


class TestFingerprints:
    def test_a_collision_changes_no_result(self, monkeypatch):
        study = annotations(text("a a b / b a a / c c c / ab b b / a b ab"))
        expected = estimates(Tally.from_annotations(study))
        monkeypatch.setattr(tally, "_FEW_CELLS", 0)
        monkeypatch.setattr(
            tally, "_fingerprints", lambda made: np.zeros(made.n_patterns, dtype=np.uint64)
        )
        apart = Tally.from_annotations(study)
        assert apart.n_patterns == 5
        assert estimates(apart) == pytest.approx(expected, rel=1e-12, nan_ok=True)

    def test_a_collision_of_equal_lengths(self, monkeypatch):
        table = pd.DataFrame({"a": [2, 2, 1, 2], "b": [1, 1, 2, 0], "c": [0, 0, 0, 1]})
        monkeypatch.setattr(
            tally, "_fingerprints", lambda made: np.zeros(made.n_patterns, dtype=np.uint64)
        )
        assert Tally.from_counts(table).n_patterns == 4
        assert Tally.from_counts(table.iloc[:2]).n_patterns == 1

    @pytest.mark.slow
    @settings(max_examples=200)
    @given(
        st.lists(
            st.lists(st.sampled_from([0, 0, 1, 2, 3, 0.5]), min_size=3, max_size=3).filter(any),
            min_size=1,
            max_size=12,
        )
    )
    def test_equal_rows_become_one(self, rows):
        made = Tally.from_counts(pd.DataFrame(rows, columns=["a", "b", "c"]))
        assert made.n_patterns == len(set(map(tuple, rows)))


def test_listing_values_keeps_the_counts():
    made = Tally.from_counts(pd.DataFrame({"a": [2], "b": [1]}))
    listed = made.with_values((frozenset("b"), frozenset("c"), frozenset()))
    assert [set(A) for A in listed.values] == [{"a"}, {"b"}, {"c"}, set()]
    assert listed.value_totals(np.ones(1)).tolist() == [2, 1, 0, 0]
    assert patterns_of(listed) == patterns_of(made)


def text_study(*answers):
    """Return the tally of one unit that two raters gave the answers, read from text."""
    rows = [
        (rater, unit, answer)
        for unit, pair in enumerate(answers)
        for rater, answer in enumerate(pair)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedScaleWarning)
        return sa.Tally.from_annotations(sa.Annotations.from_triples(rows, kind="value"))


class TestMergedKinds:
    def test_numbers_and_text(self):
        numbers, categories = text_study(("1", "2")), text_study(("1", "x"))
        assert (numbers.kind, categories.kind) == ("number", "category")
        for one, two in [(numbers, categories), (categories, numbers)]:
            with pytest.warns(
                SimilarLabelsWarning, match=r"that look alike are kept apart: 1 and '1'"
            ):
                merged = one.merge(two)
            assert (merged.kind, merged.n_values) == ("category", 4)

    def test_numbers_and_other_text(self):
        assert text_study(("1", "2")).merge(text_study(("x", "y"))).kind == "category"
        assert text_study(("1", "2")).merge(text_study(("1", "3"))).n_values == 3
        assert text_study(("1", "x")).merge(text_study(("1", "y"))).n_values == 3

    def test_units_of_one_name(self):
        merged = text_study(("a", "b")).merge(text_study(("a", "b")))
        assert merged.units.tolist() == [0, 0]
        assert merged.n_units == 2


@pytest.mark.parametrize(
    ("extra", "words"),
    [({"unit": [1, 2]}, "has the name of units"), ({"Total": [3, 3]}, "sum of the others")],
)
def test_odd_column_of_counts(extra, words):
    table = pd.DataFrame({"a": [2, 1], "b": [1, 2], **extra})
    with pytest.raises(sa.SetagreeError, match=words):
        sa.Tally.from_counts(table)


def test_repeated_rows_of_counts():
    table = pd.DataFrame({"a": [2, 1], "b": [1, 2]}, index=["u1", "u1"])
    with pytest.raises(sa.SetagreeError, match="several rows for the units 'u1'"):
        sa.Tally.from_counts(table)

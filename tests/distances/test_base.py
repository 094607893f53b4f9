"""The kinds of distance: what they accept, what they promise, what they refuse."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from asking import SETS, sentence
from small_studies import annotations, numbers, text

import setagree as sa
from setagree.distances import NominalDistance, ScaleDistance
from setagree.distances.base import Distance, as_label_set
from setagree.errors import DistanceError, LabelError
from setagree.reporting.findings import gather
from setagree.reporting.headline import headline
from setagree.wording.sentences import plain


class TestNominal:
    @pytest.mark.parametrize(
        ("x", "y", "expected"),
        [
            ({"a", "b"}, ["b", "a"], 0),
            ({"a"}, set(), 1),
            ((), frozenset(), 0),
            (np.array(["a"]), {"a"}, 0),
            (1, 1.0, 0),
            (1, 2, 1),
            ("a", "b", 1),
            ("a, b", "b, a", 1),
        ],
    )
    def test_on_anything(self, x, y, expected):
        assert sa.distances.nominal(x, y) == expected
        assert sa.distances.nominal(y, x) == expected

    def test_is_bounded(self):
        assert sa.distances.nominal.bounded
        assert repr(NominalDistance("nominal")) == "<NominalDistance 'nominal'>"


class TestOverlap:
    def test_called_on_two_sets(self):
        seen = sa.OverlapDistance(
            lambda a, b, i: 100.0 * a + 10 * b + i, name="seen", bounded=False
        )
        assert seen({"a", "b", "c"}, {"b", "c"}) == 322
        assert seen(set(), "a") == 10

    def test_carries_name_bound_and_docstring(self):
        def gap(a, b, i):
            """Return the gap of the sizes."""
            return np.abs(a - b)

        distance = sa.OverlapDistance(gap, name="gap", bounded=False)
        assert (distance.name, distance.bounded) == ("gap", False)
        assert distance.__doc__ == "Return the gap of the sizes."

    def test_is_frozen(self):
        with pytest.raises(AttributeError):
            sa.distances.masi.name = "other"


def alpha(distance, words="a b / ab a / a a / ab b"):
    """Score a study of {a}, {b}, {a, b} with a distance."""
    return sa.krippendorff_alpha(annotations(text(words)), distance=distance)


def always(value):
    """Return a function of two answers that is 0 between equal ones, else `value`."""
    return lambda x, y: 0 if x == y else value


A, B, AB = frozenset("a"), frozenset("b"), frozenset("ab")


class TestCallableContract:
    def test_a_good_function_is_called_once_a_pair(self):
        asked = []

        def counted(x, y):
            asked.append((x, y))
            return float(x != y)

        assert alpha(counted).estimate == alpha("nominal").estimate
        # 3 values to themselves, 3 pairs, 3 pairs the other way round
        assert len(asked) == 9
        assert len(set(asked)) == 9

    def test_negative(self):
        with pytest.raises(
            DistanceError, match=r"finite and >= 0; the pair \{'a'\}, \{'b'\} has -0.5"
        ):
            alpha(lambda x, y: -0.5 if {x, y} == {A, B} else float(x != y))

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_not_finite(self, value):
        with pytest.raises(DistanceError, match=rf"the pair \{{'a'\}}, \{{'b'\}} has {value}"):
            alpha(always(value))

    def test_nan_between_equal_values(self):
        with pytest.raises(DistanceError, match=r"0 between equal values.* has nan"):
            alpha(lambda x, y: float("nan"))

    def test_not_zero_between_equal_values(self):
        with pytest.raises(DistanceError, match=r"pair \{'b'\}, \{'b'\} has 0.25.$"):
            alpha(lambda x, y: 0.25 if x == y == B else float(x != y))

    def test_a_similarity(self):
        """F(x, x) = 1 for all looks like a similarity: the hint says what to pass."""
        with pytest.raises(DistanceError, match="It looks like a similarity: pass 1 - f instead"):
            alpha(lambda x, y: float(x == y))

    def test_asymmetric(self):
        """An asymmetric distance is seen in a small study wherever it is, with both numbers."""

        def lopsided(x, y):
            return 0.5 if (x, y) == (B, A) else float(x != y)

        with pytest.raises(DistanceError, match=r"symmetric; the pair .* has 1.0 one way and 0.5"):
            alpha(lopsided)

    def test_raising(self):
        def fails(x, y):
            if x != y:
                raise KeyError("no such label")
            return 0

        with pytest.raises(
            DistanceError, match=r"raised KeyError\('no such label'\) for the pair"
        ) as e:
            alpha(fails)
        assert isinstance(e.value.__cause__, KeyError)

    def test_raising_between_equal_values(self):
        with pytest.raises(DistanceError, match=r"raised ZeroDivisionError.*\{'a'\}, \{'a'\}") as e:
            alpha(lambda x, y: 1 / len(x ^ y))
        assert isinstance(e.value.__cause__, ZeroDivisionError)

    @pytest.mark.parametrize("value", [None, "far", [1, 2]])
    def test_no_number(self, value):
        with pytest.raises(
            DistanceError, match=r"the distance gave .* for the pair \{'a'\}, \{'b'\}"
        ):
            alpha(always(value))

    def test_more_than_the_promised_bound(self):
        three = sa.CallableDistance(always(3), name="three", bounded=True)
        with pytest.raises(
            DistanceError, match=r"'three' was declared to be bounded by 1; .* has 3.0"
        ):
            alpha(three)

    def test_interrupt_is_not_swallowed(self):
        def stop(x, y):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            alpha(stop)


class TestOverlapContract:
    @pytest.mark.parametrize(
        ("function", "sentence"),
        [
            (
                lambda a, b, i: np.where(i == 1, np.nan, 0),
                r"is finite; 'mine' gives nan for \|A\|=1",
            ),
            (lambda a, b, i: 2.0 * i - a - b, "is not negative; 'mine' gives -1.0"),
            (lambda a, b, i: i / np.maximum(a + b - i, 1), "is 0 between equal sets.*similarity"),
            (
                lambda a, b, i: (a - i) / (a + 1),
                "is symmetric; 'mine' gives 0.0 one way and 0.5 the other",
            ),
            (lambda a, b, i: a + b - 2 * i, "stays at 1 or below unless bounded=False"),
        ],
        ids=["nan", "negative", "similarity", "asymmetric", "unbounded"],
    )
    def test_broken_rules(self, function, sentence):
        with pytest.raises(DistanceError, match=sentence):
            alpha(sa.OverlapDistance(function, name="mine"))

    def test_raising_is_chained(self):
        scalar = sa.OverlapDistance(lambda a, b, i: 0 if a == b else 1, name="mine")
        with pytest.raises(DistanceError, match=r"'mine' raised ValueError.*three arrays") as e:
            alpha(scalar)
        assert isinstance(e.value.__cause__, ValueError)

    def test_wrong_shape(self):
        with pytest.raises(DistanceError, match=r"returned shape \(2,\) for arrays of shape"):
            alpha(sa.OverlapDistance(lambda a, b, i: np.zeros(2), name="mine"))

    def test_whole_numbers_and_flags_are_distances(self):
        flags = sa.OverlapDistance(lambda a, b, i: (a != i) | (b != i), name="flags")
        whole = sa.OverlapDistance(lambda a, b, i: a + b - 2 * i, name="whole", bounded=False)
        assert alpha(flags).estimate == pytest.approx(alpha("nominal").estimate, rel=1e-15)
        assert alpha(whole).estimate == pytest.approx(alpha("hamming").estimate, rel=1e-15)


class TestScale:
    def test_without_the_scale(self):
        for name in ("ordinal", "ordinal_gwet", "bipolar", "circular"):
            with pytest.raises(DistanceError, match="depends on the whole scale"):
                getattr(sa.distances, name)(1, 2)

    def test_text_is_refused_in_a_study(self):
        study = sa.Annotations.from_triples([("x", 1, "low"), ("y", 1, "high")], kind="value")
        with pytest.raises(DistanceError, match=r"'interval' compares numbers.*such as 'low'"):
            sa.krippendorff_alpha(study, distance="interval")

    def test_sets_are_refused(self):
        with pytest.raises(
            DistanceError, match="'ratio' compares numbers; these values are label sets"
        ):
            alpha("ratio")

    def test_numbers_are_refused_by_set_distances(self):
        with pytest.raises(DistanceError, match=r"'masi' compares label sets; .* one number each"):
            sa.krippendorff_alpha(annotations(numbers("1 2 / 2 2")), distance="masi")

    def test_negative_numbers_have_no_ratio(self):
        with pytest.raises(DistanceError, match=r"'ratio' needs amounts of zero or more; .* is -3"):
            sa.krippendorff_alpha(annotations(numbers("1 -3 / 2 2")), distance="ratio")


def frame(entries, rows, columns=None):
    """Return a labelled matrix; labels of any kind are kept as they are."""
    axes = [pd.Index(axis, dtype=object, tupleize_cols=False) for axis in (rows, columns or rows)]
    return pd.DataFrame(entries, index=axes[0], columns=axes[1])


class TestMatrix:
    entries = ((0, 0.5, 1), (0.5, 0, 0.25), (1, 0.25, 0))
    names = ("a", "a, b", "")

    def test_positions_do_not_matter(self):
        shuffled = frame(
            np.array(self.entries)[np.ix_([2, 0, 1], [1, 2, 0])],
            [frozenset(), "a", ("b", "a")],
            ["b,a", "", {"a"}],
        )
        for matrix in (frame(self.entries, self.names), shuffled):
            d = sa.distance_matrix(matrix)
            assert d({"a"}, {"a", "b"}) == d("b, a", "a") == 0.5
            assert d(set(), {"a"}) == 1
            assert d([], ["a", "b"]) == 0.25

    def test_a_matrix_for_people_can_be_read_again(self):
        shown = sa.weights(annotations(text("a ab / {} a")), "masi").to_frame()
        assert "{}" in shown.index
        d = sa.distance_matrix(shown, similarity=True)
        assert d(set(), "a") == 1
        assert d("a", "a, b") == pytest.approx(2 / 3)

    def test_more_rows_than_values(self):
        d = sa.distance_matrix(frame(self.entries, self.names), name="mine")
        by_function = alpha(d.__call__, "a a / ab a / a ab / ab ab")
        by_matrix = alpha(d, "a a / ab a / a ab / ab ab")
        assert by_matrix.estimate == by_function.estimate
        assert by_matrix.distance == "mine"

    def test_values_it_does_not_list(self):
        with pytest.raises(DistanceError, match="'matrix' has no row for 'b'"):
            alpha(frame(self.entries, self.names))
        with pytest.raises(DistanceError, match=r"'matrix' has no row for \{'z'\}"):
            sa.distance_matrix(frame(self.entries, self.names))({"a"}, {"z"})
        with pytest.raises(DistanceError, match=r"'matrix' has no row for \{'z'\}"):
            sa.distance_matrix(frame(self.entries, self.names))({"z"}, {"a"})

    def test_numbers_and_categories(self):
        study = annotations(numbers("1 2 / 2 2 / 1 1"))
        rows = [[0, 0.5], [0.5, 0]]
        expected = sa.krippendorff_alpha(study, distance=lambda x, y: 0.5 * (x != y)).estimate
        for names in ([1, 2], ["1", "2"], [1.0, 2.0]):
            assert sa.krippendorff_alpha(study, distance=frame(rows, names)).estimate == expected
        words = sa.Annotations.from_triples(
            [("x", 1, "low, very"), ("y", 1, "high"), ("x", 2, "high"), ("y", 2, "high")],
            kind="value",
        )
        matrix = frame(rows, ["high", "low, very"])
        half = sa.krippendorff_alpha(words, distance=lambda x, y: 0.5 * (x != y)).estimate
        assert sa.krippendorff_alpha(words, distance=matrix).estimate == half

    def test_similarities(self):
        """With similarity=True, d = 1 - s."""
        d = sa.distance_matrix(1 - frame(self.entries, self.names), similarity=True)
        assert d({"a"}, {"a", "b"}) == 0.5
        assert d({"a"}, set()) == 1
        assert d.bounded

    def test_bound(self):
        """Entries above 1 make it unbounded."""
        assert not sa.distance_matrix(frame([[0, 3], [3, 0]], ["a", "b"])).bounded

    BROKEN = (
        (
            [[0, 1], [0.5, 0]],
            {},
            r"a distance is symmetric; the pair \{'a'\}, \{'b'\} has 1.0 one way",
        ),
        ([[0, -1], [-1, 0]], {}, r"finite and >= 0; the pair \{'a'\}, \{'b'\} has -1.0"),
        ([[0, np.nan], [1, 0]], {}, "finite and >= 0; .* has nan"),
        ([[0, np.inf], [np.inf, 0]], {}, "finite and >= 0; .* has inf"),
        ([[0, 1], [1, 0.5]], {}, r"the pair \{'b'\}, \{'b'\} has 0.5, not 0.$"),
        ([[1, 0.5], [0.5, 1]], {}, "It looks like a similarity: use similarity=True"),
        ([[0, 1], [1, 0]], {"similarity": True}, "has 0.0. It looks like a distance: drop similar"),
        ([[1, 1], [1, 0.5]], {"similarity": True}, "1 between equal values; .* has 0.5.$"),
        ([[1, 1.5], [1.5, 1]], {"similarity": True}, "between 0 and 1; .* has 1.5"),
        ([[1, np.nan], [0.5, 1]], {"similarity": True}, "between 0 and 1; .* has nan"),
        (
            [[1, 0.2], [0.3, 1]],
            {"similarity": True},
            "a similarity is symmetric; .* has 0.2 one way",
        ),
        ([["x", 1], [1, 0]], {}, "holds entries that are not numbers"),
    )

    @pytest.mark.parametrize(("entries", "options", "sentence"), BROKEN)
    def test_broken_entries(self, entries, options, sentence):
        with pytest.raises(DistanceError, match=sentence):
            sa.distance_matrix(frame(entries, ["a", "b"]), **options)

    def test_unlabelled(self):
        """Arrays, and frames whose axes pandas merely numbered, are refused."""
        with pytest.raises(DistanceError, match="needs its labels"):
            sa.distance_matrix(np.array(self.entries))
        with pytest.raises(DistanceError, match="not labelled, only numbered"):
            sa.distance_matrix(pd.DataFrame(self.entries))

    def test_numbers_from_zero_may_be_named(self):
        d = sa.distance_matrix(pd.DataFrame(self.entries, index=[0, 1, 2], columns=[0, 1, 2]))
        assert d(0, 2) == 1

    def test_no_entries(self):
        with pytest.raises(DistanceError, match=r"shape \(0, 0\) has no entries"):
            sa.distance_matrix(pd.DataFrame())

    def test_incomplete(self):
        with pytest.raises(DistanceError, match=r"only one axis .* lists .*'c'"):
            sa.distance_matrix(frame([[0, 1, 1], [1, 0, 1]], ["a", "b"], ["a", "b", "c"]))

    def test_the_same_value_twice(self):
        with pytest.raises(DistanceError, match="name the same value"):
            sa.distance_matrix(frame([[0, 0], [0, 0]], ["a, b", "b,a"]))

    def test_unreadable_names(self):
        with pytest.raises(LabelError, match="unbalanced quote"):
            sa.distance_matrix(frame([[0, 1], [1, 0]], ['"a', "b"]))

    def test_pickle(self):
        again = pickle.loads(pickle.dumps(sa.distance_matrix(frame(self.entries, self.names))))  # noqa: S301
        assert again("a", "a, b") == 0.5


def test_as_label_set():
    assert as_label_set("b, a") == as_label_set(["a", "b"]) == frozenset("ab")
    assert as_label_set("") == as_label_set(()) == frozenset()
    assert as_label_set(7) == {7}
    assert as_label_set(AB) is AB


def test_a_kind_without_weights_is_refused():
    with pytest.raises(
        DistanceError, match=r"<Distance 'mine'> has no weights; derive from a known"
    ):
        alpha(Distance("mine"))
    assert ScaleDistance.__mro__[1] is Distance


@pytest.mark.parametrize(
    ("callback", "pair", "value", "rule"),
    [
        (
            lambda x, y: float(len(x) > len(y)),
            "{'a'}, {'a', 'b'}",
            "0.0 one way and 1.0",
            "symmetr",
        ),
        (lambda x, y: -float(x != y), "{'a'}, {'a', 'b'}", "-1.0", ">= 0"),
        (lambda x, y: math.nan if x != y else 0.0, "{'a'}, {'a', 'b'}", "nan", "finite"),
        (lambda x, y: math.inf if x != y else 0.0, "{'a'}, {'a', 'b'}", "inf", "finite"),
        (lambda x, y: 0.5, "{'a'}, {'a'}", "0.5", "0 between equal values"),
        (lambda x, y: None, "{'a'}, {'a'}", "None", "the distance gave None"),
    ],
    ids=["asymmetric", "negative", "nan", "inf", "not zero on equal values", "None"],
)
def test_distance_callback_that_breaks_the_rules(callback, pair, value, rule):
    words = sentence(DistanceError, sa.krippendorff_alpha, SETS, distance=callback)
    assert f"the pair {pair}" in words.replace("{'b', 'a'}", "{'a', 'b'}")
    assert value in words
    assert rule in words


def test_distance_callback_that_raises():
    def broken(x, y):
        return len(x) / 0

    with pytest.raises(DistanceError, match=r"raised ZeroDivisionError\(.*the pair \{'a'\}") as one:
        sa.krippendorff_alpha(SETS, distance=broken)
    assert isinstance(one.value.__cause__, ZeroDivisionError)


def test_similarity_given_where_a_distance_is_due():
    """f(x, x) = 1 for all x is told from a distance, with the hint; so is such a matrix."""
    words = sentence(
        DistanceError, sa.krippendorff_alpha, SETS, distance=lambda x, y: float(x == y)
    )
    assert words == (
        "a distance is 0 between equal values; the pair {'a'}, {'a'} has 1.0. It looks like a "
        "similarity: pass 1 - f instead."
    )
    names = ["a", "a, b", "b", "", "c"]
    matrix = pd.DataFrame(np.eye(5), index=names, columns=names)
    words = sentence(DistanceError, sa.krippendorff_alpha, SETS, distance=matrix)
    assert words.endswith("has 1.0, not 0. It looks like a similarity: use similarity=True.")
    nominal = sa.krippendorff_alpha(SETS, distance="nominal").estimate
    similarity = sa.distance_matrix(matrix, similarity=True)
    assert sa.krippendorff_alpha(SETS, distance=similarity).estimate == pytest.approx(
        nominal, abs=1e-15
    )


def test_weight_matrix():
    names = ["c", "", "b, a", "b", "a"]
    matrix = pd.DataFrame(1 - np.eye(5), index=names, columns=names)
    matrix.loc["b", "c"] = matrix.loc["c", "b"] = 0.25
    shuffled = matrix.sample(frac=1, random_state=0).sample(frac=1, random_state=1, axis=1)
    alphas = [sa.krippendorff_alpha(SETS, distance=one) for one in (matrix, shuffled)]
    # By hand: Do = (1 + 1 + 0) / 3; values a, ab, b, {} once, c twice: of 30 ordered pairs 2 are
    # (c, c) with 0, 4 are (b, c) with 1/4 and 24 have 1, so De = 25/30 and alpha = 1 - 2/3 * 6/5.
    for alpha in alphas:
        assert alpha.estimate == pytest.approx(1 / 5, abs=1e-15)

    refused = {
        "is not labelled, only numbered": pd.DataFrame(matrix.to_numpy()),
        "has no row for 'c', 'b'": matrix.drop(["b", "c"]).drop(["b", "c"], axis=1),
        "lists \"{'b'}\"": matrix.drop("b"),
        "the pair {'c'}, {'b'} has 0.75 one way and 0.25": matrix.mask(
            (matrix == 0.25) & (matrix.index.to_numpy()[:, None] == "c"), 0.75
        ),
    }
    for words, one in refused.items():
        refusal = sentence(DistanceError, sa.krippendorff_alpha, SETS, distance=one)
        assert words in refusal.replace("'b', 'c'", "'c', 'b'")
    assert "pass a name, a function of two answers, or a DataFrame" in sentence(
        DistanceError, sa.krippendorff_alpha, SETS, distance=matrix.to_numpy()
    )


class TestSizes:
    study = annotations(text("a a / b b / a b / ab a"))

    @pytest.mark.parametrize("far", [1e308, 1e-320])
    def test_too_large_or_small(self, far):
        with pytest.raises(sa.SetagreeError, match=r"lies between 1e-150 and 1e\+150.*'a'"):
            sa.krippendorff_alpha(self.study, distance=lambda A, B: far * (A != B))
        names = ["a", "b", "a, b"]
        frame = pd.DataFrame(far * (1 - np.eye(3)), index=names, columns=names)
        with pytest.raises(sa.SetagreeError, match=r"lies between 1e-150 and 1e\+150"):
            sa.krippendorff_alpha(self.study, distance=frame)

    @pytest.mark.parametrize("size", [1e-150, 1e-13, 1.0, 1e150])
    def test_alpha_does_not_depend_on_the_unit(self, size):
        """Alpha is a ratio: Do / De of 0, 0, 1, 1 over units is the same in any unit.

        a a / b b / a b / ab a: Do = 4 / 8 (two units of four ordered pairs differ, N = 8); of the
        56 ordered pairs of a a a a b b b ab, 4 * 3 + 3 * 2 agree, so De = 38 / 56.
        """
        alpha = sa.krippendorff_alpha(self.study, distance=lambda A, B: size * (A != B))
        assert alpha.estimate == pytest.approx(float(1 - Fraction(4, 8) / Fraction(38, 56)))

    def test_small_and_asymmetric(self):
        def skewed(A, B):
            return 1e-13 * ((A != B) + (len(A) > len(B)))

        with pytest.raises(sa.SetagreeError, match="a distance is symmetric"):
            sa.krippendorff_alpha(self.study, distance=skewed)
        names = ["a", "b", "a, b"]
        matrix = pd.DataFrame([[0, 1, 1], [1, 0, 1], [2, 1, 0]], index=names, columns=names) * 1e-13
        with pytest.raises(sa.SetagreeError, match="a distance is symmetric"):
            sa.distance_matrix(matrix)


class TestRounding:
    study = annotations(text("a ab / b b / abc bc / c ac / {} a"))
    off = -4e-10

    def check(self, distance):
        """Check that credit is 1 where the distance is rounded: for equal sets, and a with b."""
        credit = sa.weights(self.study, distance).to_frame()
        assert (np.diagonal(credit) == 1).all()
        assert credit.loc["a", "b"] == 1
        assert (credit <= 1).all(axis=None)

    def test_a_function(self):
        """As the cosine of vectors gives -2e-16 for equal ones."""
        self.check(lambda A, B: self.off if A == B or len(A) == len(B) == 1 else 0.5)

    def test_a_matrix(self):
        """The same in a table of distances, and of similarities above 1."""
        names = ["a", "b", "c", "a, b", "a, c", "b, c", "a, b, c", ""]
        ones = np.outer(np.arange(8) < 3, np.arange(8) < 3) | np.eye(8, dtype=bool)
        entries = np.where(ones, self.off, 0.5)
        self.check(pd.DataFrame(entries, names, names))
        near = pd.DataFrame(1 - entries, names, names)
        self.check(sa.distance_matrix(near, similarity=True))

    def test_a_function_of_the_counts(self):
        self.check(
            sa.OverlapDistance(
                lambda a, b, i: np.where(((a == b) & (i == a)) | (a * b == 1), self.off, 0.5),
                name="rounded",
            )
        )

    def test_more_is_refused(self):
        with pytest.raises(DistanceError, match=r"finite and >= 0; .* has -1e-08"):
            sa.weights(self.study, lambda A, B: -1e-8 * (A != B))


class TestExtremeWeights:
    study = annotations(text("ab a / b b / abc bc / c ac / {} a"))

    @pytest.mark.parametrize("size", [1e308, 1.0, 1e-307])
    def test_label_weights_count_as_ratios(self, size):
        distance = sa.distances.weighted_jaccard(dict.fromkeys("abc", size))
        plain_ = sa.krippendorff_alpha(self.study, distance="jaccard")
        weighted = sa.krippendorff_alpha(self.study, distance=distance)
        assert weighted.estimate == pytest.approx(plain_.estimate, rel=1e-12)
        assert weighted.standard_error == pytest.approx(plain_.standard_error, rel=1e-12)

    def test_labels_without_weight(self):
        """Weights of 0 alone leave no difference between any two sets."""
        distance = sa.distances.weighted_jaccard(dict.fromkeys("abc", 0.0))
        with pytest.warns(sa.UndefinedAgreementWarning, match="no disagreement"):
            assert math.isnan(sa.krippendorff_alpha(self.study, distance=distance).estimate)

    @pytest.mark.parametrize("far", [1e308, 1e-320])
    def test_a_function_of_the_counts(self, far):
        distance = sa.OverlapDistance(
            lambda a, b, i: far * ((a != i) | (b != i)), name="far", bounded=False
        )
        with pytest.raises(sa.SetagreeError, match=r"is 0 or between 1e-150 and 1e\+150"):
            sa.krippendorff_alpha(self.study, distance=distance)

    def test_a_small_function_that_is_not_symmetric(self):
        distance = sa.OverlapDistance(
            lambda a, b, i: 1e-13 * (1.0 * ((a != i) | (b != i)) + (a > b)), name="odd"
        )
        with pytest.raises(sa.SetagreeError, match="is symmetric"):
            sa.krippendorff_alpha(self.study, distance=distance)

    def test_a_borrowed_name_in_the_report(self):
        def masi(A, B):
            return float(A != B)

        study = sa.simulate(20, 3, rng=1)
        found = gather(study, distance=masi, n_resamples=19, rng=1)
        said = plain(headline(found))
        assert said.startswith("Krippendorff's alpha with a distance of your own, “masi” is ")
        ours = gather(study, distance="masi", n_resamples=19, rng=1)
        assert plain(headline(ours)).startswith("Krippendorff's alpha with the MASI distance is ")

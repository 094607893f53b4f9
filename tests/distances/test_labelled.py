"""Distances that know the labels: weights, a taxonomy, a distance between labels."""

import gzip
import math
import pickle
import time
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from small_studies import annotations, sets_of, text

import setagree as sa
from setagree.distances import jaccard, taxonomy, transport, weighted_jaccard
from setagree.distances.hierarchy import read_hierarchy
from setagree.errors import DistanceError

LABELS = "abcdef"
EMPTY = frozenset()
label_sets = st.frozensets(st.sampled_from(LABELS))


WEIGHTS = dict(zip(LABELS, [3.0, 1.0, 0.5, 0.0, 2.0, 0.25], strict=True))


class TestWeightedJaccard:
    @given(label_sets, label_sets)
    def test_is_the_share_of_weight(self, A, B):
        union, shared = (sum(WEIGHTS[x] for x in some) for some in (A | B, A & B))
        expected = 1 - shared / union if union else 0
        assert weighted_jaccard(WEIGHTS)(A, B) == pytest.approx(expected, abs=1e-15)

    @given(label_sets, label_sets)
    def test_equal_weights_are_jaccard(self, A, B):
        d = weighted_jaccard(dict.fromkeys(LABELS, 0.3))
        assert d(A, B) == pytest.approx(jaccard(A, B), abs=1e-15)

    def test_the_empty_set(self):
        """The empty set is at 0 from itself and from sets without weight, at 1 from the rest."""
        d = weighted_jaccard(WEIGHTS)
        assert (d(set(), set()), d(set(), {"d"}), d(set(), {"a"})) == (0, 0, 1)

    @pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), "heavy", None])
    def test_what_is_no_weight(self, weight):
        with pytest.raises(DistanceError, match=f"label 'b' has weight {weight!r}; a weight is"):
            weighted_jaccard({"a": 1, "b": weight})

    def test_labels_without_a_weight(self):
        """With default=None a label in use without a weight is named, by hand and in a study."""
        d = weighted_jaccard({"a": 1}, default=None)
        with pytest.raises(DistanceError, match="no weight is given for the labels 'b', 'c'"):
            d("a, c", "b")
        with pytest.raises(DistanceError, match="no weight is given for the labels 'b'"):
            sa.krippendorff_alpha(annotations(text("a b / a a")), distance=d)

    def test_other_labels_weigh_one(self):
        assert weighted_jaccard({"a": 3})("a", "a, b") == 1 - Fraction(3, 4)
        d = weighted_jaccard({"a": 3}, default=6)
        assert d("a", "a, b") == pytest.approx(6 / 9, abs=1e-15)
        found = sa.weights(annotations(text("a ab / b b")), d).to_frame()
        assert found.loc["a", "a, b"] == pytest.approx(3 / 9, abs=1e-15)
        with pytest.raises(DistanceError, match="a label that is not listed has weight -1"):
            weighted_jaccard({}, default=-1)

    def test_weights_that_no_label_has(self):
        study = annotations(text("a ab / b b"))
        d = weighted_jaccard({"a": 3, "Pnuemonia": 2}, default=1)
        with pytest.warns(sa.SetagreeWarning, match="has a weight for 'Pnuemonia', which no") as w:
            sa.agreement(study, distance=d)
        assert len(w) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sa.agreement(study, distance=weighted_jaccard({"a": 3}, default=1))

    def test_labels_that_no_weight_is_given_for(self):
        study = annotations(text("a bcdefg / b b"))
        said = "'weighted_jaccard' lists no weight for 6 labels of the study, which it counts as 1"
        with pytest.warns(sa.SetagreeWarning, match=f"{said}: 'b', .*, 'f' and 1 more") as w:
            sa.agreement(study, distance=weighted_jaccard({"a": 3}))
        assert len(w) == 1
        with pytest.warns(sa.SetagreeWarning, match="for 1 label of the study, which it counts"):
            sa.weights(annotations(text("a b / b b")), weighted_jaccard({"a": 3}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sa.agreement(study, distance=weighted_jaccard({"a": 3}, default=1.0))

    def test_later_changes_of_the_mapping_do_not_reach_it(self):
        weights = {"a": 1.0, "b": 1.0}
        d = weighted_jaccard(weights)
        weights["a"] = 100.0
        assert d("a", "a, b") == 0.5

    def test_name_and_pickle(self):
        d = weighted_jaccard({"a": 1, "b": np.float64(3)}, name="by rarity")
        assert d.name == "by rarity"
        assert pickle.loads(pickle.dumps(d))("a", "a, b") == 0.75  # noqa: S301


TREE = {"a": "x", "b": "x", "c": ["y", "z"], "x": "top", "y": "top", "d": None, "e": ""}
# By hand: the ancestors of each label.
ABOVE = {"a": "a x top", "b": "b x top", "c": "c y z top", "d": "d", "e": "e", "f": "f"}


class TestTaxonomy:
    @given(label_sets, label_sets)
    def test_is_jaccard_of_the_closures(self, A, B):
        closed = [frozenset(" ".join(ABOVE[x] for x in some).split()) for some in (A, B)]
        assert taxonomy(TREE)(A, B) == pytest.approx(jaccard(*closed), abs=1e-15)

    def test_siblings_are_near(self):
        """{a} and {b} share x and top of four labels: 1/2; {a} and {d} share none."""
        d = taxonomy(TREE)
        assert (d("a", "b"), d("a", "d"), d("a", "a, x")) == (0.5, 1, 0)
        assert (d(set(), set()), d(set(), "a")) == (0, 1)

    def test_without_parents_it_is_jaccard(self):
        assert taxonomy({})("a, b", "b, c") == jaccard("a, b", "b, c")

    def test_missing_parents_are_roots(self):
        d = taxonomy({"a": float("nan"), "b": None, "c": "a"})
        assert d("a", "b") == 1
        assert d("c", "a") == 0.5

    @pytest.mark.parametrize("loop", [{"a": "a"}, {"a": "b", "b": "c", "c": "a"}])
    def test_loops(self, loop):
        """A label above itself is an error that names it."""
        with pytest.raises(DistanceError, match="label 'a' is its own ancestor"):
            taxonomy(loop)

    def test_numbers_as_labels(self):
        assert taxonomy({1: 0, 2: 0})([1], [2]) == pytest.approx(2 / 3)

    def test_name_and_pickle(self):
        d = taxonomy(TREE, name="tree")
        assert d.name == "tree"
        assert pickle.loads(pickle.dumps(d))("a", "b") == 0.5  # noqa: S301


def as_obo(parents):
    """Return a hierarchy as the text of an OBO file, whose terms are named as the labels."""
    text = "format-version: 1.2\n"
    known = sorted({*parents, *(one for above in parents.values() for one in above)})
    for label in known:
        above = "".join(f"is_a: X:{one} ! {one}\n" for one in sorted(parents.get(label, ())))
        text += f"\n[Term]\nid: X:{label}\nname: {label}\n{above}"
    return f"{text}\n[Term]\nid: X:q\nname: q\nis_a: X:a\nis_obsolete: true\n\n[Typedef]\nid: of\n"


CLEAN = {"a": ["x"], "b": ["x"], "c": ["y", "z"], "x": ["top"], "y": ["top"], "d": [], "e": []}


class TestHierarchies:
    @pytest.fixture
    def forms(self, tmp_path):
        rows = [(child, parent) for child, above in CLEAN.items() for parent in above or [""]]
        table = pd.DataFrame(rows, columns=["Child", " parent"])
        table.to_csv(tmp_path / "tree.csv", index=False)
        (tmp_path / "tree.obo").write_text(as_obo(CLEAN), encoding="utf-8")
        with gzip.open(tmp_path / "tree.obo.gz", "wt", encoding="utf-8") as file:
            file.write(as_obo(CLEAN))
        nested = {"top": {"x": ["a", "b"], "y": "c"}, "z": ["c"], "d": None, "e": {}}
        polars = pytest.importorskip("polars", reason="the extra 'dev' is not installed")
        arrow = pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
        frames = [polars.DataFrame(table), arrow.Table.from_pandas(table)]
        files = [tmp_path / name for name in ("tree.csv", "tree.obo", "tree.obo.gz")]
        return [CLEAN, table, nested, *frames, *files, str(files[1]), taxonomy(CLEAN)]

    def test_all_forms_state_the_same(self, forms):
        sets = sets_of("abcde")
        expected = [taxonomy(TREE)(A, B) for A in sets for B in sets]
        for form in forms:
            d = taxonomy(form)
            assert [d(A, B) for A in sets for B in sets] == expected

    def test_ids_of_an_obo_file(self, forms):
        d = taxonomy(forms[6])
        assert d(["X:a"], ["X:b"]) == 0.5
        assert d(["q"], ["a"]) == 1

    def test_paths_in_the_labels(self):
        d = taxonomy("/")
        # {e, e/joy} and {e, e/fear} share one of three; {e, e/joy, e/joy/pride} one of four.
        assert d("e/joy", "e/fear") == pytest.approx(2 / 3, abs=1e-15)
        assert d("e/joy/pride", "e/fear") == pytest.approx(3 / 4, abs=1e-15)
        assert (d("e / joy", "e/joy"), d("e/joy", "f/joy"), d([1], ["e"])) == (0, 1, 1)
        study = annotations([[frozenset(["e/joy"]), frozenset(["e/fear"])]] * 2)
        assert sa.weights(study, d).to_frame().iloc[0, 1] == pytest.approx(1 / 3)

    def test_depths(self):
        """A root has depth 1; at a depth stand the ancestors there, or what is above it."""
        tree = read_hierarchy(TREE)
        depths = {label: tree.depth(label) for label in [*TREE, "top", "z", "f"]}
        assert depths == dict(a=3, b=3, c=2, x=2, y=2, d=1, e=1, top=1, z=1, f=1)  # noqa: C408
        assert [tree.at_depth("a", k) for k in (1, 2, 3, 9)] == [{"top"}, {"x"}, {"a"}, {"a"}]
        assert tree.at_depth("c", 1) == {"top", "z"}
        assert tree.lifting(2)(frozenset("abd")) == {"x", "d"}

    def test_depths_where_a_parent_stands_deeper(self):
        tree = read_hierarchy({"v": ["top", "w"], "w": "x", "x": "top"})
        assert (tree.depth("v"), tree.depth("w")) == (2, 3)
        assert [tree.at_depth("v", k) for k in (1, 2, 3)] == [{"top"}, {"v"}, {"v"}]

    def test_an_obo_file_without_a_header(self, tmp_path):
        lines = "[Term]\nid: A\nis_a: R\n\n[Term]\nid: R\n"
        (tmp_path / "a.obo").write_text(lines, encoding="utf-8")
        assert taxonomy(tmp_path / "a.obo")("A", "R") == 0.5

    def test_missing_among_several_parents(self):
        assert taxonomy({"a": ["x", None]})("a", "x") == 0.5

    @pytest.mark.parametrize(
        ("stated", "sentence"),
        [
            (lambda: taxonomy(" "), "or '/' if labels are paths"),
            (lambda: taxonomy("absent.obo"), "There is no file"),
            (lambda: taxonomy(pd.DataFrame({"a": [1]})), "needs the columns child and parent; it"),
            (lambda: taxonomy({"a": {"b": {"a": None}}}), "label 'a' is its own ancestor"),
            (
                lambda: taxonomy(pd.DataFrame({"child": ["a", None], "parent": ["x", "y"]})),
                "a label below 'y' is blank in the taxonomy; every row names its child",
            ),
            (
                lambda: taxonomy({"a": [["x"]]}),
                r"\['x'\] is in a place where the taxonomy needs a label",
            ),
            (lambda: taxonomy(weighted_table("heavy")), "label 'b' has weight 'heavy'; write a"),
            (lambda: taxonomy(weighted_table(-1)), "label 'b' has weight -1.0; a weight is finite"),
            (lambda: taxonomy({}, credit="resnik"), "'resnik' is unknown"),
            (lambda: taxonomy({}, credit="wu_palmer", label_weights={}), "counts steps and uses"),
            (lambda: taxonomy({}, label_weights="rare"), "'rare' is unknown"),
            (lambda: weighted_jaccard("-log prevalence", default=1), "the study gives every label"),
            (lambda: weighted_jaccard("-log prevalence")("a", "b"), "weights of labels from a st"),
            (lambda: taxonomy({}, credit="lin")("a", "b"), "weights of labels from a study"),
            (
                lambda: taxonomy({"a": "x"}, credit="lin", label_weights={"a": 1, "x": 2}),
                r"label 'a' holds less information \(1\) than 'x' above it \(2\)",
            ),
            (
                lambda: taxonomy({"a": "x"}, credit="lin", label_weights={"a": 1})("a", "b"),
                "no information is given for the labels 'b', 'x'",
            ),
            (
                lambda: taxonomy({"a": "x"}, label_weights={"a": 1})("a", "b"),
                "no weight is given for the labels 'b', 'x'",
            ),
        ],
    )
    def test_what_is_refused(self, stated, sentence):
        with pytest.raises(sa.SetagreeError, match=sentence):
            stated()

    def test_a_term_that_the_file_lacks(self, tmp_path):
        (tmp_path / "none.obo").write_text("format-version: 1.2\n", encoding="utf-8")
        with pytest.raises(DistanceError, match=r"has no term: an OBO file lists them as \[Term\]"):
            taxonomy(tmp_path / "none.obo")

    def test_labels_that_the_hierarchy_does_not_know(self):
        study = annotations(text("a ab / b b"))
        for credit in ("ancestors", "lin"):
            with pytest.warns(sa.SetagreeWarning, match="no label of the study is in the hier"):
                sa.krippendorff_alpha(study, distance=taxonomy({"A": "X"}, credit=credit))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for d in (taxonomy({"a": "X"}), taxonomy({}), taxonomy("/")):
                sa.krippendorff_alpha(study, distance=d)


def weighted_table(weight):
    return pd.DataFrame({"child": ["a", "b"], "parent": ["b", None], "weight": [2, weight]})


@st.composite
def hierarchies(draw):
    """Draw parents of the labels a to f and four more; none stands above itself."""
    names = [*LABELS, *"wxyz"]
    return {
        name: draw(st.lists(st.sampled_from(names[k + 1 :]), max_size=2, unique=True))
        for k, name in enumerate(names[:-1])
    }


def ways_up(parents, label):
    above = parents.get(label, [])
    if not above:
        return [[label]]
    return [[label, *way] for parent in above for way in ways_up(parents, parent)]


def shared_of(parents, a, b):
    """Return what stands above both labels: the label and the fewest steps from a and from b."""
    steps = [{}, {}]
    for found, label in zip(steps, (a, b), strict=True):
        for way in ways_up(parents, label):
            for up, one in enumerate(way):
                found[one] = min(found.get(one, up), up)
    return [(one, up, steps[1][one]) for one, up in steps[0].items() if one in steps[1]]


def wu_palmer(parents, a, b):
    """2 N3 / (N1 + N2 + 2 N3), over the label above both that makes it largest."""
    found = [Fraction(0)]
    for one, n1, n2 in shared_of(parents, a, b):
        n3 = min(map(len, ways_up(parents, one)))
        found.append(Fraction(2 * n3, n1 + n2 + 2 * n3))
    return max(found)


def best_match(A, B, similarity):
    """One minus the mean of the best matches, both ways."""
    if not A or not B:
        return int(A != B)
    ways = [sum(max(similarity(a, b) for b in Y) for a in X) / len(X) for X, Y in ((A, B), (B, A))]
    return 1 - sum(ways) / 2


def prevalences(parents, rows):
    """Return the share of ratings that hold a label or one below it."""
    answers = [answer for row in rows for answer in row]
    held = [
        {one for x in answer for way in ways_up(parents, x) for one in way} for answer in answers
    ]
    return {one: sum(one in some for some in held) / len(held) for one in frozenset().union(*held)}


STUDY_ROWS = text("ab a / cd {} / ef ace / b abc / d f / {} a")


class TestBestMatch:
    @given(hierarchies(), label_sets, label_sets)
    def test_wu_palmer_by_all_ways_up(self, parents, A, B):
        expected = best_match(A, B, lambda a, b: wu_palmer(parents, a, b))
        assert taxonomy(parents, credit="wu_palmer")(A, B) == pytest.approx(expected, abs=1e-14)

    @settings(max_examples=15)
    @given(hierarchies(), st.sampled_from(["wu_palmer", "lin"]))
    def test_a_study_by_plain_loops(self, parents, credit):
        share = prevalences(parents, STUDY_ROWS)

        def lin(a, b):
            above = max((-math.log(share[c]) for c, *_ in shared_of(parents, a, b)), default=0)
            both = -math.log(share[a]) - math.log(share[b])
            return 1 if a == b else 2 * above / both if both else 0

        study = annotations(STUDY_ROWS)
        found = sa.weights(study, taxonomy(parents, credit=credit))
        alike = lin if credit == "lin" else lambda a, b: wu_palmer(parents, a, b)
        k, l = (grid.ravel() for grid in np.indices((study.n_values,) * 2))
        expected = [
            best_match(study.values[i], study.values[j], alike) for i, j in zip(k, l, strict=True)
        ]
        assert found.distance_at(k, l) == pytest.approx(expected, abs=1e-14)
        assert found.max_distance == 1

    def test_lin_by_hand(self):
        """IC 2 of both children, 1 of the parent: s = 2 / 4; {a, b} and {a}: 1 - (3/4 + 1) / 2."""
        stated = pd.DataFrame(
            {"child": [*"abx"], "parent": ["x", "x", None], "information": ["2", 2, 1.0]}
        )
        d = taxonomy(stated, credit="lin")
        assert (d("a", "b"), d("a, b", "b, a"), d("a, b", "a")) == (0.5, 0, 1 - 7 / 8)
        assert (d(set(), set()), d(set(), "a"), d("a", "x")) == (0, 1, 1 - 2 / 3)

    def test_identical_labels_without_information(self):
        study = annotations(text("a a / ab a"))
        found = sa.weights(study, taxonomy({}, credit="lin")).to_frame()
        assert found.to_numpy() == pytest.approx(np.array([[1, 0.75], [0.75, 1]]))

    def test_pickle(self):
        d = pickle.loads(pickle.dumps(taxonomy(TREE, credit="wu_palmer", name="wup")))  # noqa: S301
        assert d.name == "wup"
        assert d("a", "b") == pytest.approx(1 / 3)  # N1 = N2 = 1, N3 = 2: 4 / 6


class TestWeightsFromTheData:
    def test_by_hand(self):
        """Of 12 ratings 5 hold a, 4 b, 3 c and so on: -log of these shares, as if listed."""
        share = prevalences({}, STUDY_ROWS)
        listed = {label: -math.log(part) for label, part in share.items()}
        assert share["a"] == 5 / 12
        study = annotations(STUDY_ROWS)
        for coefficient in (sa.krippendorff_alpha, sa.fleiss_kappa):
            found = coefficient(study, distance=weighted_jaccard("-log prevalence"))
            expected = coefficient(study, distance=weighted_jaccard(listed))
            assert found.estimate == pytest.approx(expected.estimate, abs=1e-14)
            assert found.standard_error == pytest.approx(expected.standard_error, abs=1e-14)

    def test_of_a_hierarchy(self):
        study, parents = annotations(STUDY_ROWS), {"a": "x", "b": "x", "c": "y", "x": "t", "y": "t"}
        listed = {
            k: -math.log(p)
            for k, p in prevalences({k: [v] for k, v in parents.items()}, STUDY_ROWS).items()
        }
        found = sa.krippendorff_alpha(
            study, distance=taxonomy(parents, label_weights="-log prevalence")
        )
        expected = sa.krippendorff_alpha(study, distance=taxonomy(parents, label_weights=listed))
        assert found.estimate == pytest.approx(expected.estimate, abs=1e-14)
        assert (
            expected.estimate != sa.krippendorff_alpha(study, distance=taxonomy(parents)).estimate
        )

    def test_only_pairable_ratings_count(self):
        d = weighted_jaccard("-log prevalence")
        alone = annotations(text("ab a / b b / b . / a b / q ."))
        paired = annotations(text("ab a / b b / a b"))
        both = [sa.krippendorff_alpha(each, distance=d).estimate for each in (alone, paired)]
        assert both[0] == both[1]
        assert np.isfinite(sa.fleiss_kappa(alone, distance=d).estimate)

    def test_a_tally_says_the_same(self):
        study, d = annotations(STUDY_ROWS), weighted_jaccard("-log prevalence")
        found = sa.krippendorff_alpha(sa.Tally.from_annotations(study), distance=d)
        assert found.estimate == sa.krippendorff_alpha(study, distance=d).estimate

    def test_labels_in_every_rating(self):
        study = annotations(text("a a / a a"))
        with pytest.warns(sa.UndefinedAgreementWarning):
            found = sa.krippendorff_alpha(study, distance=weighted_jaccard("-log prevalence"))
        assert np.isnan(found.estimate)


def on_a_line(x, y):
    """Return a distance between labels that is a metric: places on a line."""
    return abs(LABELS.index(x) - LABELS.index(y)) / 5


def by_linear_programme(A, B, between):
    """Carry mass 1/|A| from every label of A to 1/|B| at every label of B, at the least cost."""
    A, B = sorted(A), sorted(B)
    cost = [0.0 if x == y else between(x, y) for x in A for y in B]
    leaves = [[float(i == k) for i in range(len(A)) for _ in B] for k in range(len(A))]
    arrives = [[float(j == k) for _ in A for j in range(len(B))] for k in range(len(B))]
    mass = [1 / len(A)] * len(A) + [1 / len(B)] * len(B)
    return linprog(cost, A_eq=leaves + arrives, b_eq=mass).fun


class TestTransport:
    @given(label_sets.filter(len), label_sets.filter(len))
    def test_equals_the_linear_programme(self, A, B):
        expected = by_linear_programme(A, B, on_a_line)
        assert transport(on_a_line)(A, B) == pytest.approx(expected, abs=1e-9)

    @given(label_sets.filter(len), label_sets.filter(len), st.data())
    def test_any_table_equals_the_linear_programme(self, A, B, data):
        pairs = [(x, y) for x in LABELS for y in LABELS if x < y]
        table = {pair: data.draw(st.integers(0, 20)) / 10 for pair in pairs}
        expected = by_linear_programme(A, B, lambda x, y: table[min(x, y), max(x, y)])
        assert transport(table)(A, B) == pytest.approx(expected, abs=1e-9)

    def test_by_hand(self):
        """{a, b, c} to {a, d}: a sixth of b's and all of c's mass goes on; worked out on a line.

        Shares 1/3 at 0, 1, 2 against 1/2 at 0, 3: the cumulated shares differ by 1/6, 1/6, 1/2 over
        steps of length 1/5, so the cost is (1/6 + 1/6 + 1/2) / 5 = 1/6.
        """
        assert transport(on_a_line)("a, b, c", "a, d") == pytest.approx(1 / 6, abs=1e-15)

    def test_nominal_labels_give_the_share_that_moves(self):
        d = transport(lambda x, y: 1)
        for A in sets_of("abcd")[1:]:
            for B in sets_of("abcd")[1:]:
                expected = 1 - len(A & B) / max(len(A), len(B))
                assert d(A, B) == pytest.approx(expected, abs=1e-15)

    def test_lists_and_text(self):
        d = transport({("angry", "calm"): 0.5})
        assert d("angry", "calm, calm") == d(["angry"], ["calm", "calm"]) == 0.5
        assert d("", []) == 0

    def test_the_empty_set(self):
        """Nothing can be carried to the empty set: `empty` says how far it is; 0 from itself."""
        assert transport(on_a_line)(frozenset(), frozenset("a")) == 1
        assert transport(on_a_line, empty=0.4)(frozenset("a"), frozenset()) == 0.4
        assert transport(on_a_line)(frozenset(), frozenset()) == 0

    def test_pairs_that_the_table_lacks(self):
        d = transport({("a", "b"): 0.5})
        assert d(frozenset("a"), frozenset("b")) == 0.5
        with pytest.raises(DistanceError, match="no distance is given for the labels 'a', 'c'"):
            d(frozenset("a"), frozenset("c"))
        with pytest.raises(DistanceError, match="no distance is given for the labels 'a', 'c'"):
            sa.krippendorff_alpha(annotations(text("a c / a a")), distance=d)

    def test_sets_larger_than_each_other(self):
        """Six labels against four: shares of 1/6 and 1/4 meet in parcels of 1/12, exactly."""
        A, B = frozenset(LABELS), frozenset("abcd")
        # cumulated 1/6 2/6 3/6 4/6 5/6 against 1/4 2/4 3/4 1 1: gaps 1/12 2/12 3/12 4/12 2/12
        assert transport(on_a_line)(A, B) == pytest.approx(12 / 12 / 5, abs=1e-15)

    @pytest.mark.slow
    @pytest.mark.parametrize("metric", [True, False])
    def test_all_pairs_equal_the_linear_programme(self, metric):
        """Hundreds of pairs of sets of up to 9 labels, at once and one by one.

        Places in a plane keep shared mass where it is; costs at random allow detours. The programme
        ends at a vertex, which is exact but for rounding.
        """
        rng = np.random.default_rng(7)
        for n in (3, 6, 9):
            places = rng.normal(size=(n, 2))
            cost = (
                np.linalg.norm(places[:, None] - places, axis=2) if metric else rng.random((n, n))
            )
            cost = (cost + cost.T) * (1 - np.eye(n))
            members = rng.random((20, n)) < 0.5
            sets = list({frozenset(np.flatnonzero(row).tolist()) for row in members} - {EMPTY})
            d = transport(lambda x, y, cost=cost: cost[x, y])
            found = d.among(sets)
            assert (found == found.T).all()
            for k, l in zip(*np.triu_indices(len(sets), 1), strict=True):
                expected = by_linear_programme(sets[k], sets[l], lambda x, y, c=cost: c[x, y])
                assert found[k, l] == pytest.approx(expected, abs=1e-12)
                assert d(sets[k], sets[l]) == pytest.approx(expected, abs=1e-12)

    def test_tables_of_any_form(self):
        pairs = {("a", "b"): 0.3, ("b", "c"): 0.5, ("c", "a"): 0.7}
        nested = {"a": {"b": 0.3, "c": 0.7}, "c": {"b": 0.5}}
        frame = pd.DataFrame(
            [[0.5, 0, 0.7], [0.3, 0.7, 0], [0, 0.5, 0.3]], index=[*"cab"], columns=["b", "c ", "a"]
        )
        study = annotations(text("a ab / bc c / abc b"))
        expected = sa.krippendorff_alpha(study, distance=transport(pairs)).estimate
        for table in (nested, frame, {frozenset(pair): d for pair, d in pairs.items()}):
            assert sa.krippendorff_alpha(study, distance=transport(table)).estimate == expected

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            (lambda f: f.assign(b=[0.3, 0.2, 0.5]), "the pair 'b', 'b' has 0.2, not 0"),
            (lambda f: f.assign(b=[0.31, 0, 0.5]), "is symmetric; the pair 'a', 'b' has 0.31 one"),
            (lambda f: f.assign(b=[np.nan, 0, 0.5]), "finite and >= 0; the pair 'a', 'b' has nan"),
            (lambda f: f.rename(columns={"b": "x"}), "only one axis .* lists .*'b'.*'x'"),
            (lambda f: f.drop(index="c", columns="c"), "'a', 'c' in the table .* no entry for 'c'"),
        ],
    )
    def test_tables_that_state_no_distance(self, change, sentence):
        frame = pd.DataFrame([[0, 0.3, 0.7], [0.3, 0, 0.5], [0.7, 0.5, 0]], [*"abc"], [*"abc"])
        study = annotations(text("a ab / bc c / abc b"))
        with pytest.raises(DistanceError, match=sentence):
            sa.krippendorff_alpha(study, distance=transport(change(frame)))

    def test_a_table_of_labels_that_is_passed_as_one_of_answers(self):
        frame = pd.DataFrame([[0, 0.3], [0.3, 0]], [*"ab"], [*"ab"])
        study = annotations(text("a ab / b b"))
        with pytest.raises(DistanceError, match=r"no row for .* sa\.distances\.transport\(table\)"):
            sa.krippendorff_alpha(study, distance=frame)

    def test_asymmetric_pairs(self):
        """A pair that is stated twice must be stated alike."""
        with pytest.raises(DistanceError, match=r"symmetric; the pair .* has 0.3 one way"):
            transport({("a", "b"): 0.3, ("b", "a"): 0.4})

    def test_rounding(self):
        """Up to 1e-9 below zero, off symmetry or on the diagonal is rounding."""
        off = 1e-10
        frame = pd.DataFrame([[off, 0.3], [0.3 + off, -off]], [*"ab"], [*"ab"])
        assert transport(frame)("a", "b") == pytest.approx(0.3, abs=1e-9)
        assert transport({("a", "b"): -off})("a", "b") == 0
        with pytest.raises(DistanceError, match="finite and >= 0"):
            transport({("a", "b"): -1e-8})

    def test_one_word_each(self):
        """A category is one label, also where it has a comma: {"x, y"} and {"z"} are 0.25 apart."""
        values = pd.DataFrame({"u": [1, 1, 2, 2], "r": [*"abab"], "v": ["x, y", "z", "z", "z"]})
        study = sa.Annotations.from_long(values, unit="u", rater="r", value="v")
        found = sa.weights(study, transport({("x, y", "z"): 0.25})).to_frame()
        assert found.loc["x, y", "z"] == 0.75

    def test_name_and_pickle(self):
        d = transport({("a", "b"): 0.5}, name="moves")
        assert d.name == "moves"
        assert pickle.loads(pickle.dumps(d))(frozenset("a"), frozenset("b")) == 0.5  # noqa: S301


def test_transport_between_large_sets_is_quick():
    """60 labels on a line against 59: the area between the two distribution functions.

    Split into the 3,540 parcels of their least common multiple, one pair took 8 seconds.
    """
    A, B = set(range(60)), {3 * k for k in range(59)}
    line = [
        Fraction(sum(x <= t for x in A), 60) - Fraction(sum(x <= t for x in B), 59)
        for t in range(180)
    ]
    start = time.perf_counter()
    found = transport(lambda x, y: abs(x - y))(A, B)
    assert time.perf_counter() - start < 3
    assert found == pytest.approx(float(sum(map(abs, line))), rel=1e-12)


@pytest.mark.parametrize("unit", [1e-8, 1e-3, 1e9])
def test_transport_between_large_sets_in_any_unit(unit):
    points = np.random.default_rng(0).random((60, 2))

    def between(x, y):
        return float(np.linalg.norm(points[x] - points[y]))

    A, B = set(range(29)), set(range(20, 60))
    moved = transport(lambda x, y: unit * between(x, y))(A, B)
    assert moved / unit == pytest.approx(transport(between)(A, B), rel=1e-9)

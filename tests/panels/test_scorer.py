"""Neighbours: other libraries take our distances and tables, and give the same numbers."""

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import setagree as sa
from setagree.errors import DataError, UndefinedAgreementWarning
from setagree.wording.label_sets import display_labels

TRIPLES = [
    ("ann", "u1", {"joy"}),
    ("bob", "u1", {"joy", "fear"}),
    ("eva", "u1", {"joy"}),
    ("ann", "u2", set()),
    ("bob", "u2", set()),
    ("eva", "u2", {"anger"}),
    ("ann", "u3", {"anger", "fear"}),
    ("bob", "u3", {"anger", "joy"}),
    ("ann", "u4", {"fear"}),
    ("bob", "u4", {"fear", "joy", "anger"}),
    ("eva", "u4", {"fear"}),
]
STUDY = sa.Annotations.from_triples(TRIPLES)


class TestTriples:
    def test_round_trip(self):
        assert STUDY.to_triples() == [(r, u, frozenset(s)) for r, u, s in TRIPLES]
        again = sa.Annotations.from_triples(STUDY.to_triples())
        assert again.to_triples() == STUDY.to_triples()

    def test_scalars(self):
        """Single values are triples too, numbers and categories."""
        rows = [("ann", 1, 2), ("bob", 1, 3.5), ("ann", (2, "b"), 2)]
        assert sa.Annotations.from_triples(rows, kind="value").to_triples() == rows


class TestNltk:
    @pytest.mark.parametrize("name", ["masi", "jaccard", "nominal", "dice"])
    def test_alpha(self, name):
        """Its alpha with our distance is ours; the empty set is a label like any other."""
        agreement = pytest.importorskip("nltk.metrics.agreement")
        distance = getattr(sa.distances, name)
        task = agreement.AnnotationTask(data=STUDY.to_triples(), distance=distance)
        ours = sa.krippendorff_alpha(STUDY, distance=name)
        assert task.alpha() == pytest.approx(ours.estimate, abs=1e-12)

    def test_masi(self):
        """Its masi_distance (since 3.10) is ours for every pair of sets."""
        distance = pytest.importorskip("nltk.metrics.distance")
        for a, b in itertools.product(STUDY.values, repeat=2):
            if a or b:  # of two empty sets it makes a division by zero
                assert distance.masi_distance(a, b) == pytest.approx(sa.distances.masi(a, b))


@pytest.mark.filterwarnings("ignore:Starting with pandas version 4")
def test_simpledorff():
    """Simpledorff's alpha with our distance as metric_fn is ours."""
    simpledorff = pytest.importorskip("simpledorff")
    alpha = simpledorff.calculate_krippendorffs_alpha_for_df(
        STUDY.to_long(),
        experiment_col="unit",
        annotator_col="rater",
        class_col="labels",
        metric_fn=sa.distances.masi,
    )
    assert alpha == pytest.approx(sa.krippendorff_alpha(STUDY).estimate, abs=1e-12)


class TestKrippendorff:
    def counts(self):
        """Return units x values counts, and the values as an array of objects."""
        counts = np.zeros((STUDY.n_units, STUDY.n_values), dtype=int)
        np.add.at(counts, (STUDY.unit_codes, STUDY.value_codes), 1)
        values = np.empty(STUDY.n_values, dtype=object)
        values[:] = STUDY.values
        return counts, values

    def test_the_distance(self):
        krippendorff = pytest.importorskip("krippendorff")
        counts, values = self.counts()
        alpha = krippendorff.alpha(
            value_counts=counts,
            value_domain=values,
            level_of_measurement=lambda v1, v2, **_: np.vectorize(sa.distances.masi)(v1, v2),
        )
        assert alpha == pytest.approx(sa.krippendorff_alpha(STUDY).estimate, abs=1e-12)

    def test_the_matrix(self):
        krippendorff = pytest.importorskip("krippendorff")
        weights = sa.weights(STUDY, "masi")
        codes = np.arange(STUDY.n_values)
        D = weights.distance_at(*(g.ravel() for g in np.meshgrid(codes, codes))).reshape(
            len(codes), -1
        )
        alpha = krippendorff.alpha(
            value_counts=self.counts()[0],
            level_of_measurement=lambda v1, v2, i1, i2, **_: D[i1, i2],
        )
        assert alpha == pytest.approx(sa.krippendorff_alpha(STUDY).estimate, abs=1e-12)


def test_multi_label_binarizer():
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    binarizer = preprocessing.MultiLabelBinarizer()
    theirs = binarizer.fit_transform(STUDY.to_long()["labels"])
    ours = STUDY.to_indicators()
    assert ours.to_numpy().astype(int).tolist() == theirs.tolist()
    assert list(ours.columns) == binarizer.classes_.tolist()
    assert [tuple(sorted(labels)) for labels in STUDY.to_long()["labels"]] == (
        binarizer.inverse_transform(ours.to_numpy().astype(int))
    )
    again = sa.Annotations.from_indicators(ours)
    assert again.to_triples() == STUDY.to_triples()


class TestTablesForR:
    def test_ratings_and_weights(self):
        """From numbered ratings and the matrix of credits follows our alpha.

        Krippendorff (2011) from the tables alone: De over all pairs of pairable ratings without
        replacement, Do over those of one unit, each unit weighted by its ratings.
        """
        W = sa.weights(STUDY, "masi").to_frame()
        number = {name: k for k, name in enumerate(W.index, start=1)}
        table = STUDY.to_wide().map(lambda s: number[display_labels(s)], na_action="ignore")
        assert table.shape == (4, 3)
        rows = [[int(cell) for cell in row if not pd.isna(cell)] for row in table.to_numpy()]
        D = 1 - W.to_numpy()
        flat = [cell for row in rows for cell in row]
        n = len(flat)
        observed = sum(
            D[a - 1, b - 1] / (len(row) - 1)
            for row in rows
            for a, b in itertools.permutations(row, 2)
        )
        expected = sum(D[a - 1, b - 1] for a, b in itertools.permutations(flat, 2)) / (n - 1)
        alpha = sa.krippendorff_alpha(STUDY)
        assert 1 - observed / expected == pytest.approx(alpha.estimate, abs=1e-12)


def masi(a, b):
    if a == b:
        return Fraction(0)
    if not a & b:
        return Fraction(1)
    monotone = Fraction(2, 3) if a <= b or b <= a else Fraction(1, 3)
    return 1 - monotone * Fraction(len(a & b), len(a | b))


def kappa_x(triples, said):
    """Return kappa_x of Wong et al. (2021) of a panel and a model, pair by pair."""
    observed = total = Fraction(0)
    used = {u: [set(s) for _, unit, s in triples if unit == u] for u in said}
    used = {u: human for u, human in used.items() if human}
    for unit, human in used.items():
        n = len(human)
        observed += Fraction(n + 1, n) * sum(masi(s, said[unit]) for s in human)
        total += n + 1
    pairs = [masi(s, said[other]) for human in used.values() for s in human for other in used]
    return float(1 - (observed / total) / (sum(pairs) / len(pairs)))


class Model:
    def __init__(self, answers):
        self.answers = answers

    def predict(self, X):
        return self.answers[: len(X)]


SAID = {"u1": {"joy"}, "u2": set(), "u3": {"anger", "fear"}, "u4": {"joy"}}
X = pd.DataFrame({"x": range(4)}, index=list(SAID))
FLAGS = np.array([[name in s for name in STUDY.labels] for s in SAID.values()])


class TestScorer:
    @pytest.mark.parametrize(
        "answers",
        [
            list(SAID.values()),
            [", ".join(sorted(s)) for s in SAID.values()],
            FLAGS,
            FLAGS.astype(float),
            sparse.csr_array(FLAGS.astype(int)),
            pd.DataFrame(FLAGS, columns=list(STUDY.labels)),
        ],
        ids=["sets", "text", "flags", "floats", "sparse", "frame"],
    )
    def test_kappa_x(self, answers):
        score = sa.panel_scorer(STUDY)(Model(answers), X)
        assert isinstance(score, float)
        assert score == pytest.approx(kappa_x(TRIPLES, SAID), abs=1e-12)

    def test_part_of_the_units(self):
        scorer = sa.panel_scorer(STUDY)
        part = {u: SAID[u] for u in ("u4", "u1")}
        assert scorer.score(list(part), list(part.values())) == pytest.approx(
            kappa_x(TRIPLES, part), abs=1e-12
        )
        more = {"u0": {"joy"}, **part, "u9": set()}
        assert scorer.score(list(more), list(more.values())) == pytest.approx(
            kappa_x(TRIPLES, part), abs=1e-12
        )

    def test_no_answer(self):
        scorer = sa.panel_scorer(STUDY)
        said = {**SAID, "u3": None}
        part = {u: s for u, s in said.items() if s is not None}
        assert scorer.score(list(said), list(said.values())) == pytest.approx(
            kappa_x(TRIPLES, part), abs=1e-12
        )

    def test_ends_of_the_scale(self):
        triples = [(r, u, s) for u, s in SAID.items() for r in ("ann", "bob")]
        study = sa.Annotations.from_triples(triples)
        assert sa.panel_scorer(study).score(list(SAID), list(SAID.values())) == 1
        turned = dict(zip(SAID, [*list(SAID.values())[1:], SAID["u1"]], strict=True))
        assert sa.panel_scorer(study).score(list(turned), list(turned.values())) < 0

    def test_numbers(self):
        """Single values: interval distances, and the mean squares of the definition."""
        scores = {"a": (1, 2), "b": (4, 4), "c": (2, 3)}
        said = {"a": 1, "b": 5, "c": 3}
        study = sa.Annotations.from_triples(
            [(r, u, v) for u, pair in scores.items() for r, v in zip("xy", pair, strict=True)],
            kind="value",
        )
        observed = np.mean([(v - said[u]) ** 2 for u, pair in scores.items() for v in pair])
        expected = np.mean(
            [(v - m) ** 2 for pair in scores.values() for v in pair for m in said.values()]
        )
        scorer = sa.panel_scorer(study)
        assert scorer.score(list(said), np.array(list(said.values()))) == pytest.approx(
            1 - observed / expected
        )
        nominal = sa.panel_scorer(study, distance="nominal")
        assert -1 < nominal.score(list(said), list(said.values())) < 1

    def test_one_value(self):
        """Model and panel with one value only: undefined, with one warning."""
        study = sa.Annotations.from_triples([("a", 1, "x"), ("b", 1, "x"), ("a", 2, "x")])
        with pytest.warns(UndefinedAgreementWarning, match="one value only"):
            assert np.isnan(sa.panel_scorer(study).score([1, 2], ["x", "x"]))

    def test_names_of_flags(self):
        order = STUDY.labels[::-1]
        scorer = sa.panel_scorer(STUDY, labels=order)
        assert scorer.score(list(SAID), FLAGS[:, ::-1]) == pytest.approx(
            kappa_x(TRIPLES, SAID), abs=1e-12
        )

    @pytest.mark.parametrize(
        ("units", "answers", "words"),
        [
            (["u1", "u1"], ["joy", "joy"], "a unit occurs in two rows"),
            (["u1"], ["joy", "joy"], "2 predictions do not fit 1 units"),
            (["x", "y"], ["joy", "joy"], r"none of the 2 predicted units \(first: 'x', 'y'\)"),
            (["u1"], np.array([[1, 0]]), "do not fit"),
        ],
    )
    def test_refusals(self, units, answers, words):
        with pytest.raises(DataError, match=words):
            sa.panel_scorer(STUDY).score(units, answers)

    def test_no_index(self):
        """An X without an index has no units; what is no study is no panel."""
        with pytest.raises(DataError, match="a list has no index of units; pass a DataFrame"):
            sa.panel_scorer(STUDY)(Model(["joy"]), [[1]])
        with pytest.raises(DataError, match=r"answers of shape \(1,\)"):
            sa.panel_scorer([1])

    def test_scikit_learn(self):
        """It works as scoring= of cross_val_score and GridSearchCV, and survives pickling."""
        selection = pytest.importorskip("sklearn.model_selection")
        neighbors = pytest.importorskip("sklearn.neighbors")
        rng = np.random.default_rng(3)
        names = [f"t{k}" for k in range(40)]
        features = pd.DataFrame({"x": np.arange(40.0) // 10}, index=names)
        sets = [{"a"}, {"a", "b"}, set(), {"b", "c"}]
        rows = [
            (rater, unit, sets[int(rng.choice(4)) if rng.random() < 0.2 else k // 10])
            for k, unit in enumerate(names)
            for rater in ("ann", "bob")
        ]
        study = sa.Annotations.from_triples(rows)
        y = np.array([[label in sets[k // 10] for label in "abc"] for k in range(40)]).astype(int)
        model = neighbors.KNeighborsClassifier(n_neighbors=3)
        scorer = pickle.loads(pickle.dumps(sa.panel_scorer(study)))  # noqa: S301 - our own bytes
        folds = selection.KFold(4, shuffle=True, random_state=0)
        scores = selection.cross_val_score(model, features, y, scoring=scorer, cv=folds)
        for score, (train, test) in zip(scores, folds.split(features), strict=True):
            answers = model.fit(features.iloc[train], y[train]).predict(features.iloc[test])
            said = {
                names[k]: {n for n, f in zip("abc", row, strict=True) if f}
                for k, row in zip(test, answers, strict=True)
            }
            assert score == pytest.approx(kappa_x(rows, said), abs=1e-12)
        search = selection.GridSearchCV(
            model, {"n_neighbors": [1, 3]}, scoring=scorer, cv=folds
        ).fit(features, y)
        assert search.best_score_ > 0.5
        assert repr(scorer).startswith("<PanelScorer: masi, <Annotations: 80 ratings")

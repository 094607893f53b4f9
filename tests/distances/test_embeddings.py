"""Distances between labels that have vectors: cosine of centroids, and transport over cosine."""

import gzip
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cosine
from small_studies import annotations, random_rows, sets_of, text

import setagree as sa
from setagree.distances import embedding
from setagree.errors import DistanceError

LABELS = "abcdef"
VECTORS = dict(zip(LABELS, np.random.default_rng(3).normal(size=(6, 4)), strict=True))
label_sets = st.frozensets(st.sampled_from(LABELS))


def centroids(A, B):
    """Return scipy's cosine distance of the mean vectors; the empty set is at 1 from others."""
    if not A or not B:
        return int(A != B)
    return cosine(*(np.mean([VECTORS[x] for x in some], axis=0) for some in (A, B)))


def moved(A, B):
    """Return the least cost of moving the mass of A to B, at scipy's cosine distances."""
    if not A or not B:
        return int(A != B)
    cost = [cosine(VECTORS[x], VECTORS[y]) for x in A for y in B]
    leaves = np.kron(np.eye(len(A)), np.ones(len(B)))
    arrives = np.kron(np.ones(len(A)), np.eye(len(B)))
    mass = [1 / len(A)] * len(A) + [1 / len(B)] * len(B)
    return linprog(cost, A_eq=np.vstack([leaves, arrives]), b_eq=mass).fun


class TestEmbedding:
    @given(label_sets, label_sets)
    def test_centroids(self, A, B):
        """It is scipy's cosine distance of the means; 0 for equal sets, and never below."""
        found = embedding(VECTORS)(A, B)
        assert found == pytest.approx(centroids(A, B), abs=1e-14)
        assert found >= 0
        assert A != B or found == 0

    @given(label_sets, label_sets)
    def test_transport(self, A, B):
        """It is the linear programme over scipy's cosine distances of labels."""
        found = embedding(VECTORS, match="transport")(A, B)
        assert found == pytest.approx(moved(A, B), abs=1e-9)

    def test_rounding_is_zero(self):
        """Sets whose means point the same way are at 0 exactly, not a digit above or below."""
        d = embedding({"a": [0.1, 0.7], "b": [0.3, 2.1], "c": [1e-3, 7e-3]})
        assert [d("a", "b"), d("a, b", "c"), d("a", "a, b, c")] == [0, 0, 0]
        study = annotations(text("a b / ab c / c a"))
        with pytest.warns(sa.UndefinedAgreementWarning):
            assert np.isnan(sa.krippendorff_alpha(study, distance=d).estimate)

    def test_forms(self, tmp_path):
        """A dict, a table by index or by a column, lists in a column, CSV, JSON, Parquet: alike."""
        pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
        frame = pd.DataFrame.from_dict(VECTORS, orient="index")
        named = frame.rename_axis("label").reset_index()
        lists = pd.DataFrame(
            {"label": [*VECTORS], "vector": [v.tolist() for v in VECTORS.values()]}
        )
        text_lists = lists.assign(vector=lists["vector"].map(json.dumps))
        named.to_csv(tmp_path / "v.csv", index=False)
        text_lists.to_csv(tmp_path / "lists.csv", index=False)
        lists.to_json(tmp_path / "v.json", orient="records", double_precision=15)
        named.rename(columns=str).to_parquet(tmp_path / "v.parquet")
        with gzip.open(tmp_path / "v.tsv.gz", "wt", encoding="utf-8") as file:
            file.write(named.rename(columns={"label": "tag"}).to_csv(index=False, sep="\t"))
        files = [tmp_path / name for name in ("v.csv", "lists.csv", "v.json", "v.parquet")]
        files += [str(tmp_path / "v.tsv.gz")]
        last = named.rename(columns={"label": "tag"})[[0, 1, 2, 3, "tag"]]
        last.to_csv(tmp_path / "last.csv", index=False)
        files += [tmp_path / "last.csv"]
        shuffled = named[[1, "label", 0, 2, 3]].rename(columns={"label": " Label"})
        expected = embedding(VECTORS)("a, b", "c")
        polars = pytest.importorskip("polars", reason="the extra 'dev' is not installed")
        others = [polars.DataFrame(named.rename(columns=str)), polars.DataFrame(lists)]
        for form in (frame, named, lists, text_lists, shuffled, *others, *files):
            assert embedding(form)("a, b", "c") == pytest.approx(expected, abs=1e-14)

    @pytest.mark.parametrize(
        ("vectors", "sentence"),
        [
            ({}, "there is not one label"),
            ({"a": [1, 2], "b": [1]}, r"label 'b' has shape \(1,\); it is one list of 2 numbers"),
            ({"a": [[1, 2]]}, r"label 'a' has shape \(1, 2\); it is one list"),
            ({"a": ["x"]}, "label 'a' is not a list of numbers"),
            ({"a": [0, 0]}, "label 'a' has length 0; its numbers are finite, and not all 0"),
            ({"a": [np.nan, 1]}, "label 'a' has length nan"),
            ({"b": [1], "a": [1], " a": [2]}, "label 'a' has two vectors"),
            (pd.DataFrame({"label": ["a", None], "x": [1, 2]}), "vector in row 2 has no label"),
            (3, "vectors=3 must be a dict, a table or a file"),
            ("absent.csv", "There is no file"),
            (pd.DataFrame({"label": ["a"]}), "has no column of numbers next to the labels"),
        ],
    )
    def test_what_is_refused(self, vectors, sentence):
        with pytest.raises(sa.SetagreeError, match=sentence):
            embedding(vectors)

    def test_labels_without_a_vector(self):
        for match in ("centroid", "transport"):
            d = embedding({"a": [1, 0]}, match=match)
            with pytest.raises(DistanceError, match="no vector is given for 2 labels: 'b', 'c'"):
                sa.krippendorff_alpha(annotations(text("a b / c a")), distance=d)
        with pytest.raises(DistanceError, match="no vector is given for 1 label: 'b'"):
            embedding({"a": [1, 0]})("a", "b")

    def test_vectors_that_cancel_out(self):
        vectors = {"a": [1, 0], "b": [-1, 0], "c": [0, 1]}
        said = "the vectors of the labels a, b cancel out: their mean is 0 and has no cosine. Use"
        with pytest.raises(DistanceError, match=said):
            embedding(vectors)("a, b", "c")
        study = annotations(text("ab c / c c"))
        with pytest.raises(DistanceError, match=said):
            sa.krippendorff_alpha(study, distance=embedding(vectors))
        found = sa.weights(study, embedding(vectors, match="transport"))
        assert found.to_frame(distance=True).to_numpy().max() == 1

    def test_scale_of_the_vectors(self):
        study = annotations(
            random_rows(np.random.default_rng(1), sets_of("abc"), units=9, raters=3)
        )
        expected = sa.krippendorff_alpha(study, distance=embedding(VECTORS)).estimate
        for factor in (1e-120, 1e120):
            scaled = embedding({label: v * factor for label, v in VECTORS.items()})
            found = sa.krippendorff_alpha(study, distance=scaled).estimate
            assert found == pytest.approx(expected, abs=1e-13)
            assert scaled("a", "b, c") == pytest.approx(centroids({"a"}, {"b", "c"}), abs=1e-13)

    def test_name_and_pickle(self):
        for match in ("centroid", "transport"):
            d = embedding(VECTORS, match=match, name="glove")
            assert d.name == "glove"
            assert pickle.loads(pickle.dumps(d))("a", "b") == d("a", "b")  # noqa: S301


STUDY = annotations(
    random_rows(np.random.default_rng(5), sets_of("abcdef"), units=40, raters=3, missing=0.1)
)


class TestWeights:
    @pytest.mark.parametrize(
        ("match", "coefficient"),
        [
            ("centroid", "krippendorff_alpha"),
            ("centroid", "fleiss_kappa"),
            ("centroid", "conger_kappa"),
            ("transport", "krippendorff_alpha"),
        ],
    )
    def test_coefficients(self, match, coefficient):
        """Estimate and standard error equal those of a plain function with the same distances."""
        plain = {"centroid": centroids, "transport": moved}[match]
        score = getattr(sa, coefficient)
        small = STUDY.take(np.flatnonzero(STUDY.unit_codes < 5)).with_used_values()
        found = score(small, distance=embedding(VECTORS, match=match))
        expected = score(small, distance=sa.CallableDistance(lambda A, B: max(plain(A, B), 0)))
        assert found.estimate == pytest.approx(expected.estimate, abs=1e-9)
        assert found.standard_error == pytest.approx(expected.standard_error, abs=1e-9)
        assert found.observed_disagreement == pytest.approx(
            expected.observed_disagreement, abs=1e-9
        )

    def test_credit(self):
        """1 - d without a negative cosine between labels in use, 1 - d / 2 with one."""
        study = annotations(text("a b / b b"))
        away = {"a": [1, 0], "b": [-1, 1], "c": [0, 1]}
        assert sa.weights(study, embedding(away)).max_distance == 2
        near = {"a": [1, 0], "b": [1, 1], "c": [-1, 0]}  # nobody gave c
        assert sa.weights(study, embedding(near)).max_distance == 1

    def test_right_angles(self):
        """A cosine that is negative by rounding alone is 0, so that d_max is 1."""
        study = annotations(text("a b / a a"))
        assert np.dot([1, 1, 1], [-0.1, -0.2, 0.3]) < 0
        square = embedding({"a": [1, 1, 1], "b": [-0.1, -0.2, 0.3]})
        assert sa.weights(study, square).max_distance == 1
        assert sa.percent_agreement(study, distance=square).estimate == pytest.approx(0.5)

    @pytest.mark.parametrize("match", ["centroid", "transport"])
    def test_free_text(self, match):
        cells = pd.DataFrame(
            {
                "unit": [1, 1, 2, 2, 3, 3],
                "rater": ["ann", "bob"] * 3,
                "tag": ["so happy", "glad, I think", "mad", "so happy", "mad", "mad"],
            }
        )
        vectors = {"so happy": [1, 0.1], "glad, I think": [0.9, 0.2], "mad": [0, 1]}
        d = embedding(vectors, match=match)
        texts = sa.Annotations.from_long(cells, value="tag")
        sets = sa.Annotations.from_long(cells.assign(tag=[[t] for t in cells["tag"]]), labels="tag")
        found = [sa.krippendorff_alpha(each, distance=d).estimate for each in (texts, sets)]
        assert found[0] == found[1]

    def test_ten_thousand_labels(self):
        rng = np.random.default_rng(0)
        names = [f"tag {k}" for k in range(10_000)]
        vectors = dict(zip(names, 1 + rng.normal(size=(10_000, 8)), strict=True))
        answers = rng.integers(10_000, size=(10_000, 2))
        study = sa.Annotations.from_triples(
            [
                (r, u, [names[k], names[u]])
                for u, row in enumerate(answers)
                for r, k in enumerate(row)
            ]
        )
        assert study.n_values > 15_000
        assert -1 < sa.krippendorff_alpha(study, distance=embedding(vectors)).estimate < 1

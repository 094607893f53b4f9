"""Agreement at each depth of a hierarchy, and how much of the disagreement is inside a branch."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import setagree as sa

TREE = {"good": {"joy": {"glee": None}, "pride": None}, "bad": ["fear", "anger"]}
ABOVE = {"joy": "good", "glee": "joy", "pride": "good", "fear": "bad", "anger": "bad"}


def study(**options):
    """Return a study whose labels stand in the hierarchy, but for one."""
    labels = ["joy", "glee", "pride", "fear", "anger", "calm"]
    return sa.simulate(30, 3, n_labels=6, labels=labels, skill=0.6, rng=2, **options)


def up(label, depth):
    """Return the ancestor of a label at a depth, by walking down from the root."""
    way = [label]
    while way[0] in ABOVE:
        way.insert(0, ABOVE[way[0]])
    return way[min(depth, len(way)) - 1]


def rebuilt(data, depth):
    """Return the study with every label at a depth, made anew from its triples."""
    triples = [(r, u, {up(x, depth) for x in a}) for r, u, a in data.to_triples()]
    return sa.Annotations.from_triples(triples)


@pytest.mark.parametrize("coefficient", ["krippendorff_alpha", "gwet_ac"])
@pytest.mark.parametrize("distance", ["masi", "nominal"])
def test_each_depth_is_the_study_merged_there(coefficient, distance):
    data = study(missing=0.2)
    frame = sa.by_depth(data, parents=TREE, coefficient=coefficient, distance=distance)
    assert frame["depth"].tolist() == [1, 2, 3]
    assert frame["n_labels"].tolist() == [3, 5, 6]
    for row in frame.to_dict("records"):
        expected = getattr(sa, coefficient)(rebuilt(data, row["depth"]), distance=distance)
        assert row["estimate"] == pytest.approx(expected.estimate, abs=1e-12)
        assert row["standard_error"] == pytest.approx(expected.standard_error, abs=1e-12)
        assert row["observed_disagreement"] == pytest.approx(expected.observed_disagreement)
    whole = getattr(sa, coefficient)(data, distance=distance)
    assert frame["estimate"].iloc[-1] == whole.estimate


def test_inside_counts_pairs():
    data = study()
    answers = {}
    for _, unit, answer in data.to_triples():
        answers.setdefault(unit, []).append(answer)
    pairs = [p for given in answers.values() for p in combinations(given, 2) if p[0] != p[1]]
    frame = sa.by_depth(data, parents=TREE).set_index("depth")
    for depth in (1, 2, 3):
        same = [{up(x, depth) for x in A} == {up(x, depth) for x in B} for A, B in pairs]
        assert frame.loc[depth, "inside"] == pytest.approx(np.mean(same), abs=1e-12)
    assert frame.loc[1, "inside"] > frame.loc[2, "inside"] > frame.loc[3, "inside"] == 0


def test_every_form_of_a_hierarchy():
    data = study()
    expected = sa.by_depth(data, parents=TREE)
    table = pd.DataFrame(ABOVE.items(), columns=["child", "parent"])
    for parents in (ABOVE, table, sa.distances.taxonomy(TREE, credit="lin")):
        pd.testing.assert_frame_equal(sa.by_depth(data, parents=parents), expected)
    paths = sa.Annotations.from_triples(
        [
            (r, u, {"/".join(dict.fromkeys(up(x, k) for k in (1, 2, 3))) for x in a})
            for r, u, a in data.to_triples()
        ]
    )
    for parents in (sa.distances.taxonomy("/"), "/"):
        pd.testing.assert_frame_equal(sa.by_depth(paths, parents=parents), expected)


def test_merging_to_a_depth_as_a_what_if():
    data = study()
    rows = sa.what_if(data, parents=TREE, depth=1)
    assert rows["action"].tolist() == ["as it is", "to depth"]
    assert rows["target"].tolist() == ["", "1"]
    frame = sa.by_depth(data, parents=TREE)
    assert rows["estimate"].tolist() == frame["estimate"].iloc[[2, 0]].tolist()
    table = sa.what_if(data, parents=pd.DataFrame(ABOVE.items(), columns=["child", "parent"]))
    pd.testing.assert_frame_equal(table, sa.what_if(data, parents=ABOVE))


def test_a_label_under_parents_of_two_depths():
    tree = {"joy": ["mood", "glee"], "glee": "good", "good": "mood", "bad": "mood"}
    data = sa.Annotations.from_triples(
        [("a", 1, "joy"), ("b", 1, "glee"), ("a", 2, "joy"), ("b", 2, "joy"), ("a", 3, "bad")]
    )
    frame = sa.by_depth(data, parents=tree)
    assert frame["inside"].tolist() == [1, 0, 0]
    assert frame["n_labels"].tolist() == [1, 3, 3]


def test_nobody_disagrees():
    data = sa.Annotations.from_triples([("a", 1, "joy"), ("b", 1, "joy"), ("a", 2, "fear")])
    assert sa.by_depth(data, parents=TREE)["inside"].isna().all()


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: sa.by_depth(study()), "needs parents=, the parent of each label"),
        (lambda: sa.by_depth(study(), parents=3), "parents=3 must be a dict"),
        (lambda: sa.what_if(study(), depth=1), "depth=1 needs parents=, those of the labels"),
        (lambda: sa.what_if(study(), parents=TREE, depth=0), "depth=0 must be a whole number of 1"),
        (
            lambda: sa.by_depth(
                sa.Annotations.from_triples([("a", 1, 2), ("b", 1, 3)], kind="value"), parents=TREE
            ),
            "a hierarchy needs labels",
        ),
    ],
)
def test_what_is_refused(ask, sentence):
    with pytest.raises(sa.SetagreeError, match=sentence):
        ask()

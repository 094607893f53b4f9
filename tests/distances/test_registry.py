"""Names of distances, and what stands for one."""

import pandas as pd
import pytest

import setagree as sa
from setagree.distances import (
    CallableDistance,
    Distance,
    MatrixDistance,
    distance_names,
    get_distance,
)
from setagree.errors import DistanceError, OptionError


@pytest.mark.parametrize("name", distance_names())
def test_every_name_is_a_distance_of_that_name(name):
    distance = get_distance(name)
    assert isinstance(distance, Distance)
    assert distance.name == name
    assert getattr(sa.distances, name) is distance


def test_names_are_those_of_the_papers():
    sets = "nominal masi jaccard dice overlap ochiai kulczynski augmented any_overlap hamming"
    older = "masi_nltk masi_dkpro passonneau_2004"
    scales = "interval quadratic linear ordinal ratio bipolar radical circular ordinal_gwet"
    assert distance_names() == (
        *(*sets.split(), *older.split(), "ruzicka", "manhattan"),
        *scales.split(),
    )


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("msai", "'masi'"),
        ("jacard", "'jaccard'"),
        ("intervall", "'interval'"),
        ("Haming", "'hamming'"),
    ],
)
def test_unknown_names_are_answered_with_near_ones(wrong, near):
    with pytest.raises(OptionError, match=f"distance '{wrong}' is unknown. Did you mean {near}"):
        get_distance(wrong)


@pytest.mark.parametrize("name", ["MASI", "Masi", "hAmMiNg"])
def test_case_of_a_name_does_not_matter(name):
    assert get_distance(name) is get_distance(name.lower())


def test_names_like_none_list_all():
    with pytest.raises(
        OptionError, match=r"'xyz' is unknown. Known: nominal, masi, .*ordinal_gwet\."
    ):
        get_distance("xyz")


def test_a_distance_stands_for_itself():
    assert get_distance(sa.distances.dice) is sa.distances.dice


def test_a_function_is_wrapped_under_its_name():
    def unlike(x, y):
        return float(x != y)

    distance = get_distance(unlike)
    assert isinstance(distance, CallableDistance)
    assert distance.name == "unlike"
    assert distance("a", "b") == 1
    assert not distance.bounded


def test_a_callable_without_a_name_is_called_by_its_repr():
    class Unlike:
        def __call__(self, x, y):
            return float(x != y)

        def __repr__(self):
            return "Unlike()"

    assert get_distance(Unlike()).name == "Unlike()"


def test_a_labelled_frame_is_a_matrix():
    frame = pd.DataFrame([[0, 0.5], [0.5, 0]], index=["a", "b"], columns=["a", "b"])
    distance = get_distance(frame)
    assert isinstance(distance, MatrixDistance)
    assert distance({"a"}, {"b"}) == 0.5


def test_a_dict_is_a_matrix():
    study = sa.Annotations.from_triples([("r", 1, "a"), ("s", 1, "a, b"), ("r", 2, "b")])
    pairs = {("a", "b, a"): 0.25, ("a", "b"): 1, ("b", "a, b"): 0.5}
    nested = {"a": {"b, a": 0.25, "b": 1}, "b": {"a, b": 0.5}}
    for table in (pairs, nested):
        assert sa.weights(study, table).to_frame().loc["a", "a, b"] == 0.75
    with pytest.raises(DistanceError, match=r"no distance is given for the pair .*'b'"):
        get_distance({("a", "a, b"): 0.25, ("a", "b"): 1})


@pytest.mark.parametrize("wrong", [5, None, ["masi"], {"a": 1}, frozenset()])
def test_anything_else_is_refused(wrong):
    with pytest.raises(
        DistanceError, match=f"{type(wrong).__name__} is not a distance; pass a name"
    ):
        get_distance(wrong)


def test_an_array_is_refused():
    with pytest.raises(DistanceError, match=r"ndarray is not a distance.*label sets on both axes"):
        get_distance(pd.DataFrame([[0.0, 1], [1, 0]]).to_numpy())

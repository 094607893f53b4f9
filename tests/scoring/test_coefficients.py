"""The door for one coefficient: a public function each."""

import inspect

import numpy as np
import pandas as pd
import pytest
from small_studies import annotations, numbers, text

import setagree as sa
from setagree.errors import DataError, OptionError, UndefinedAgreementWarning
from setagree.large.opening import ReadingOptions
from setagree.scoring.coefficients import COEFFICIENTS, measured

SETS = annotations(text("a ab / a a / b b / ab {}"))
every_function = pytest.mark.parametrize("name", COEFFICIENTS)


@every_function
def test_the_function_scores_its_coefficient(name):
    result = getattr(sa, name)(SETS, distance="jaccard")
    assert (result.coefficient, result.distance) == (name, "jaccard")
    table = sa.agreement(SETS, coefficient=name, distance="jaccard")
    assert result.estimate == table[name, "jaccard"].estimate


@every_function
def test_defaults(name):
    """MASI for label sets (Dice for mv-alpha), nominal for scalars."""
    assert getattr(sa, name)(SETS).distance == ("dice" if name == "mv_alpha" else "masi")
    scores = annotations(numbers("1 2 / 2 2 / 1 1"))
    if name == "mv_alpha":
        with pytest.raises(DataError, match=r"redraws labels of sets; here .*by label: yes or no"):
            sa.mv_alpha(scores)
    else:
        assert getattr(sa, name)(scores).distance == "nominal"


@every_function
def test_signature(name):
    """The study or the raters come first; only those who depend on K take categories."""
    parameters = inspect.signature(getattr(sa, name)).parameters
    first, *rest = parameters.values()
    assert first.name == "study"
    more, *rest = rest
    assert more.kind is inspect.Parameter.VAR_POSITIONAL
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in rest)
    options = ["distance", "categories"] if COEFFICIENTS[name].model.lists_values else ["distance"]
    assert [p.name for p in rest] == [*options, *ReadingOptions.__annotations__]


@every_function
def test_docstring(name):
    doc = inspect.getdoc(getattr(sa, name))
    for section in ("Parameters", "Returns", "References", "Examples"):
        assert f"\n{section}\n---" in doc


@every_function
def test_a_table_is_read(name):
    study = sa.Annotations.from_triples(
        [("x", 1, "a"), ("y", 1, "a"), ("x", 2, "b"), ("y", 2, "a")]
    )
    found, expected = (getattr(sa, name)(one) for one in (study.to_long(), study))
    np.testing.assert_equal(found.estimate, expected.estimate)
    np.testing.assert_equal(found.standard_error, expected.standard_error)


@every_function
def test_a_table_with_other_columns(name):
    table = pd.DataFrame({"doc": [1], "who": ["x"], "said": ["a"]})
    with pytest.raises(
        DataError, match=r"name for the labels; name the column with labels='\.\.\.'"
    ):
        getattr(sa, name)(table)
    with pytest.warns(UndefinedAgreementWarning):
        assert getattr(sa, name)(table, labels="said").n_ratings == 1


@every_function
def test_unknown_distance(name):
    with pytest.raises(OptionError, match=r"'jacard' is unknown\. Did you mean 'jaccard'"):
        getattr(sa, name)(SETS, distance="jacard")


@pytest.mark.parametrize("name", ["gwet_ac", "brennan_prediger"])
def test_categories(name):
    """A codebook enters chance: K counts the listed values."""
    observed = getattr(sa, name)(SETS, distance="nominal")
    listed = getattr(sa, name)(SETS, distance="nominal", categories=["a", "b", "a, b", "", "c"])
    assert (observed.n_values, listed.n_values) == (4, 5)
    assert listed.expected_agreement < observed.expected_agreement


def test_the_measure_of_a_frame():
    frame = pd.DataFrame({"coefficient": ["fleiss_kappa"], "distance": ["masi"]})
    assert measured(frame) == measured(frame.assign(n=1)) == "Fleiss' kappa, the MASI distance"
    assert measured(frame.iloc[:0]) == measured(frame[["distance"]]) == ""

"""An argument of another type than is asked for is refused in a sentence, wherever it is given."""

import numpy as np
import pandas as pd
import pytest
from asking import SETS, alpha_of, long_table, sentence

import setagree as sa
from setagree.errors import DataError, OptionError

STUDY = sa.simulate(6, 3, 3, rng=1)
WIDE = pd.DataFrame({"ann": ["x", "y"], "bob": ["x", "x"]})
NUMBERS = sa.Annotations.from_triples([("a", 1, 1), ("b", 1, 2), ("a", 2, 2)], kind="value")
COUNTS = pd.DataFrame([[1, 0], [0, 1]], index=["x", "y"], columns=["x", "y"])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: sa.by_unit(STUDY, coefficient={}),
            "coefficient={} is neither the name",
        ),
        (lambda: sa.agreement(STUDY, coefficient=3), "coefficient=3 must be a list of names"),
        (
            lambda: sa.agreement(STUDY, coefficient=[[]]),
            "coefficient=[] is neither the name",
        ),
        (lambda: sa.agreement(pd.DataFrame(), unit=COUNTS), "There is no column"),
        (lambda: sa.parse_labels("x", blank=np.zeros(2)), "blank=array([0., 0.]) is unknown"),
        (lambda: sa.Tally.from_counts(COUNTS, kind=pd.Series([1, 2])), "is unknown; use 'labels'"),
        (lambda: sa.distances.ratio({}, 1), "'ratio' compares numbers: ({}, 1)"),
        (lambda: sa.distances.interval("x", 1), "'interval' compares numbers: ('x', 1)"),
        (lambda: sa.distances.masi([{}], "x"), "[{}] is no label set"),
        (lambda: sa.distances.taxonomy("x"), "parents='x' must be a dict"),
        (lambda: sa.what_if(STUDY, parents=3), "parents=3 must be a dict"),
        (lambda: sa.what_if(STUDY, merge=int), "must be a list of groups of labels"),
        (lambda: sa.distances.weighted_jaccard([1]), "label_weights=[1] must be a dict"),
        (lambda: sa.Annotations.from_wide(WIDE, raters=0.5), "raters=0.5 must be a list"),
        (lambda: sa.Annotations.from_contingency(COUNTS, raters=np.eye(2)), "must name two raters"),
        (lambda: sa.what_if(NUMBERS, merge=WIDE), "only label sets can be changed"),
        (lambda: sa.Annotations.from_indicators([[[1]]], labels=0.5), "labels=0.5 must be a list"),
        (lambda: STUDY.without_raters(7), "raters=7 must be a list of raters"),
        (lambda: sa.simulate(5, labels=2.0), "labels=2.0 must be a list of names"),
        (lambda: sa.read(3), "path=3 is an int; name a file by its path"),
        (lambda: sa.read("x.csv", encoding=[]), "encoding=[] is no text encoding"),
        (lambda: sa.read(".", format=COUNTS), "must be the name of a format"),
        (lambda: sa.report(STUDY, None), "path=None is a NoneType; name a file by its path"),
        (lambda: sa.methods_text(STUDY, missing=1), "missing=1 must be a list of texts"),
        (lambda: sa.Tally.from_annotations([]), "a list is no Annotations"),
        (lambda: sa.Tally.from_annotations(STUDY).merge([]), "a list is no Tally"),
    ],
)
def test_another_type(call, said):
    """The sentence names the argument and what was given."""
    with pytest.raises(sa.SetagreeError) as refused:
        call()
    assert said in str(refused.value)


def test_level_of_a_picture():
    """A picture asks for a level as everything does."""
    plots = pytest.importorskip("setagree.plots")
    with pytest.raises(sa.SetagreeError, match="must lie between 0 and 1"):
        plots.raters(sa.by_rater(STUDY), level="x")


def test_array_of_missing_texts():
    """An array of texts goes for a list of them."""
    alpha = sa.krippendorff_alpha(STUDY)
    assert "n/a" in sa.methods_text(alpha, missing=np.array(["n/a", "-"]))


def test_rows_without_a_unit_are_counted_in_words():
    """Several rows are rows, not "row of a units"."""
    frame = pd.DataFrame({"unit": [None, None], "ann": ["x", "y"], "bob": ["x", "x"]})
    with pytest.raises(sa.SetagreeError, match="2 rows of a unit without a name"):
        sa.Annotations.from_wide(frame, unit="unit")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: sa.krippendorff_alpha(SETS, distance="massi"),
            OptionError,
            "Did you mean 'masi'?",
        ),
        (lambda: sa.krippendorff_alpha(SETS, distance="xyz"), OptionError, "Known: nominal, masi,"),
        (
            lambda: sa.agreement(SETS, coefficient="fleis_kappa"),
            OptionError,
            "coefficient 'fleis_kappa' is unknown. Did you mean 'fleiss_kappa'",
        ),
        (
            lambda: sa.Annotations.from_long(long_table((1, "x", "a")), labels="label"),
            DataError,
            "no column 'label'; the columns are 'unit', 'rater', 'labels'. Did you mean 'labels'?",
        ),
        (lambda: alpha_of((1, "x", "a"), duplicates="frist"), OptionError, "Did you mean 'first'?"),
    ],
    ids=["distance", "distance unlike any", "coefficient", "column", "option"],
)
def test_unknown_names(call, error, words):
    """An unknown name is an error with near matches, or with all there are."""
    assert words in sentence(error, call)

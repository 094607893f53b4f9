"""An argument of another type than is asked for is refused in a sentence, wherever it is given."""

import numpy as np
import pandas as pd
import pytest
from asking import SETS, alpha_of, long_table, sentence

import setagree as sa
from setagree.errors import DataError, OptionError

STUDY = sa.simulate(6, 3, n_labels=3, rng=1)
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
        (lambda: sa.distances.masi([{}], "x"), "[{}] is not a label set"),
        (lambda: sa.distances.taxonomy("x"), "parents='x' must be a dict"),
        (lambda: sa.what_if(STUDY, parents=3), "parents=3 must be a dict"),
        (lambda: sa.what_if(STUDY, merge=int), "must be a list of groups of labels"),
        (lambda: sa.distances.weighted_jaccard([1]), "label_weights=[1] must be a dict"),
        (lambda: sa.Annotations.from_wide(WIDE, raters=0.5), "raters=0.5 must be a list"),
        (lambda: sa.Annotations.from_contingency(COUNTS, raters=np.eye(2)), "must name two raters"),
        (lambda: sa.what_if(NUMBERS, merge=WIDE), "only label sets can be changed"),
        (lambda: sa.Annotations.from_indicators([[[1]]], labels=0.5), "labels=0.5 must be a list"),
        (lambda: STUDY.exclude_raters(7), "raters=7 must be a list of raters"),
        (lambda: sa.simulate(5, labels=2.0), "labels=2.0 must be a list of n_labels=5 names"),
        (
            lambda: sa.read(3),
            "Expected a table, got an int; pass a DataFrame (pandas, Polars, Arrow, DuckDB, ...)",
        ),
        (lambda: sa.read("x.csv", encoding=[]), "encoding=[] is not a text encoding"),
        (lambda: sa.read(".", tool=COUNTS), "must be the name of a format"),
        (lambda: sa.report(STUDY, None), "path=None is a NoneType; name a file by its path"),
        (lambda: sa.Reading(na_values=1), "na_values=1 must be a list of answers"),
        (lambda: sa.Tally.from_annotations([]), "Expected annotations, got a list"),
        (lambda: sa.Tally.from_annotations(STUDY).merge([]), "Expected a tally, got a list"),
        (
            lambda: sa.score(STUDY, "fleiss_kappa"),
            "coefficient='fleiss_kappa' is not a Coefficient",
        ),
        (lambda: sa.distances.interval(1e200, -1e200), "is not a finite number"),
        (lambda: sa.distances.interval(np.inf, np.inf), "is not a finite number"),
        (lambda: sa.distances.transport({("x", "y"): []}), "has distance []; a distance is finite"),
        (lambda: sa.distances.transport({"x": 1.0}), "'x' is not a pair of labels"),
        (lambda: sa.distances.transport(3), "label_distance=3 must be a function"),
        (lambda: sa.distances.transport(lambda *_: np.nan)("x", "y"), "must be finite numbers"),
        (lambda: sa.what_if(STUDY, exclude_raters=0), "exclude_raters=0 must be a list of raters"),
        (lambda: sa.what_if(STUDY, exclude_labels=0), "exclude_labels=0 must be a list of labels"),
        (lambda: sa.what_if(STUDY, merge=np.array(["a", "b"])), "must be a list of groups"),
        (
            lambda: sa.Annotations.from_long([[1, 2, 3, 3], [1, 2, 2, 3]], unit="a"),
            "got a list; pass a DataFrame (pandas, Polars, Arrow, DuckDB, ...), or Python objects ",
        ),
        (lambda: sa.krippendorff_alpha([1, 2]), "cannot read answers of shape (2,)"),
        (lambda: sa.over_time(WIDE, "ann", window=2, reading="x"), "reading='x' must be a Reading"),
        (lambda: sa.by_group(WIDE, "ann", reading="unit"), "reading='unit' must be a Reading"),
        (lambda: sa.by_group(STUDY, {}, reading="unit"), "already built; omit reading="),
        (lambda: sa.agreement(STUDY, memory_limit=COUNTS), "omit memory_limit="),
        (lambda: sa.agreement(WIDE, unit=pd.NA), "There is no column <NA>"),
        (lambda: STUDY.exclude_raters([["r1"]]), "rater ['r1'] gave no answer"),
        (lambda: sa.panel_scorer(STUDY, labels=0.5), "labels=0.5 must be a list of labels"),
        (
            lambda: sa.Annotations.from_triples(np.array("x")),
            "Expected a list of (rater, unit, labels) triples, got a ndarray",
        ),
        (lambda: sa.Annotations.from_contingency(COUNTS, kind=COUNTS), "use 'labels', 'number'"),
        (lambda: sa.parse_labels("x", codebook=np.array("x")), "must be a list of labels"),
        (
            lambda: sa.Annotations.from_triples([], na_values=[np.zeros(2)]),
            "it must list answers, as text or numbers",
        ),
        (lambda: sa.simulate(5, labels=iter("ab")), "must be a list of n_labels=5 names"),
        (lambda: sa.pair_matrix(sa.by_pair(STUDY), column=np.eye(2)), "no column of numbers"),
        (lambda: sa.format_labels(None), "labels=None must be a list of labels"),
        (lambda: sa.format_labels(3), "labels=3 must be a list of labels"),
        (lambda: sa.format_labels("joy"), "labels='joy' must be a list of labels, not one text"),
        (lambda: sa.format_labels(["joy", None]), "must be a list of text or whole numbers"),
        (
            lambda: sa.format_labels(["joy"], label_sep=3),
            "label_sep=3 must be text of one character or more",
        ),
    ],
)
def test_another_type(call, said):
    with pytest.raises(sa.SetagreeError) as refused:
        call()
    assert said in str(refused.value)


def test_level_of_a_picture():
    plots = pytest.importorskip("setagree.plots")
    with pytest.raises(sa.SetagreeError, match="must lie between 0 and 1"):
        plots.raters(sa.by_rater(STUDY), level="x")


def test_array_of_missing_texts():
    rows = [("ann", 1, "a"), ("bob", 1, "a"), ("ann", 2, "b"), ("bob", 2, "a")]
    rows += [("ann", 3, "n/a"), ("bob", 3, "-")]
    study = sa.Annotations.from_triples(rows, na_values=np.array(["n/a", "-"]))
    assert "n/a" in sa.methods_text(study)


def test_rows_without_a_unit_are_counted_in_words():
    frame = pd.DataFrame({"unit": [None, None], "ann": ["x", "y"], "bob": ["x", "x"]})
    with pytest.raises(sa.SetagreeError, match=r"^2 rows without a unit \(first: rows 1, 2"):
        sa.Annotations.from_wide(frame, unit="unit")


@pytest.mark.parametrize("wrong", [pd.NA, pd.Series([True]), "yes", 1, None])
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("keep_raters", lambda flag: sa.Tally.from_annotations(STUDY, keep_raters=flag)),
        ("keep_raters", lambda flag: sa.tally(STUDY.to_long(), keep_raters=flag)),
        ("similarity", lambda flag: sa.distance_matrix(COUNTS, similarity=flag)),
        ("references", lambda flag: sa.methods_text(STUDY, references=flag)),
        ("bounded", lambda flag: sa.OverlapDistance(max, name="d", bounded=flag)),
        ("assume_unique", lambda flag: sa.tally(STUDY.to_long(), assume_unique=flag)),
    ],
)
def test_no_flag(name, call, wrong):
    """A flag is True or False, and nothing that only counts as one, or as neither."""
    with pytest.raises(sa.SetagreeError, match=rf"(?s){name}=.* must be True or False"):
        call(wrong)


MODEL = sa.fleiss_kappa.model
MINE = {"model": MODEL, "title": "mine", "symbol": "m", "short": "mine"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": "urn"}, "model='urn' must be a model of chance"),
        ({"model": type(MODEL)}, "must be a model of chance"),
        ({"title": 3}, "title=3 must be text"),
        ({"source": COUNTS}, "must be text or None"),
        ({"raters": "three"}, "raters='three' is unknown; use 'any', 'known', 'two'"),
        ({"short_names": "m"}, "short_names='m' must be a tuple of names"),
    ],
)
def test_no_coefficient(given, said):
    with pytest.raises(sa.SetagreeError) as refused:
        sa.coefficient(**{**MINE, **given})(lambda study: study)
    assert said in str(refused.value)


@pytest.mark.parametrize("function", [3, {}, int, "score"])
def test_no_function_of_a_coefficient(function):
    with pytest.raises(sa.SetagreeError, match="must be a function that has a name"):
        sa.coefficient(**MINE)(function)


@pytest.mark.parametrize("name", [COUNTS, 3, b"d"])
@pytest.mark.parametrize(
    "call",
    [
        lambda name: sa.CallableDistance(lambda x, y: float(x != y), name=name),
        lambda name: sa.OverlapDistance(lambda a, b, i: a + b - 2 * i, name=name),
        lambda name: sa.distance_matrix(COUNTS, name=name),
        lambda name: sa.distances.weighted_jaccard({"x": 1}, name=name),
        lambda name: sa.distances.taxonomy({"x": "y"}, name=name),
        lambda name: sa.distances.transport({("x", "y"): 1}, name=name),
    ],
)
def test_no_name_of_a_distance(call, name):
    with pytest.raises(sa.SetagreeError, match="must be text"):
        call(name)


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
    assert words in sentence(error, call)


@pytest.mark.parametrize("wrong", [pd.NA, pd.Series(["a", "b"]), COUNTS])
@pytest.mark.parametrize(
    "name", ["unit", "labels", "wide", "raters_in_rows", "raters", "question", "tool"]
)
def test_a_reading_of_no_names(name, wrong):
    with pytest.raises(sa.SetagreeError, match=f"(?s){name}=.* (is|must be) "):
        sa.Reading(**{name: wrong})

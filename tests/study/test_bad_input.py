"""What bad, odd or hostile input gets: one test for each way that data go wrong.

Each of them gives a silent wrong number, or a crash without a sentence, in at least one well-known
tool. Here it gives the right number, or an error that says the rule, the offending value, where it
is, how many there are and what to do; where a default had to be chosen, one warning that counts.
Files and the command have tests of their own.
"""

import math

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import (
    BlankLabelsWarning,
    DataError,
    DistanceError,
    LabelError,
    MixedScaleWarning,
    OptionError,
    SetagreeError,
    SimilarLabelsWarning,
    SwappedColumnsWarning,
)

HOSTILE = [
    "=cmd()",
    "<script>alert(1)</script>",
    "%s%n",
    "{x}",
    "x" * 10_000,
    "😀",
    "שלום",
    "\u202egnorw",
    'a "quoted" word',
    "[bracket]",
    "a, b",
    "__import__('os')",
]


def long_table(*rows):
    """Return a table of (unit, rater, labels) rows."""
    return pd.DataFrame(rows, columns=["unit", "rater", "labels"])


def alpha_of(*rows, distance="nominal", **options):
    """Return Krippendorff's alpha of (unit, rater, labels) rows."""
    study = sa.Annotations.from_long(long_table(*rows), **options)
    return sa.krippendorff_alpha(study, distance=distance)


def sentence(error, function, *arguments, **options):
    """Return the sentence with which a call is refused, by a SetagreeError of one kind."""
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    assert isinstance(caught.value, SetagreeError)
    return str(caught.value)


def the_warning(category, function, *arguments, **options):
    """Return what a call gives and the words of the one warning it gives."""
    with pytest.warns(category) as caught:
        result = function(*arguments, **options)
    assert [one.category for one in caught] == [category]
    return result, str(caught[0].message)


SETS = sa.Annotations.from_triples(
    [("x", 1, "a"), ("y", 1, "a, b"), ("x", 2, "b"), ("y", 2, []), ("x", 3, "c"), ("y", 3, "c")]
)
"""Units (a, ab), (b, {}), (c, c)."""


def test_empty_set_as_an_answer():
    """The empty set is a value like any other, however it is written.

    Units ({}, {}), ({}, a), nominal: Do = 1/2; values 3 {}, 1 a: De = 2 * 3 * 1 / (4 * 3) = 1/2, so
    alpha = 0. Were {} missing, no unit would be pairable.
    """
    for empty in ([], set(), frozenset(), np.array([]), "[]", "set()"):
        alpha = alpha_of((1, "x", empty), (1, "y", empty), (2, "x", empty), (2, "y", "a"))
        assert (alpha.observed_disagreement, alpha.expected_disagreement) == (0.5, 0.5)
        assert alpha.estimate == 0
    blank = alpha_of((1, "x", ""), (1, "y", " "), (2, "x", ""), (2, "y", "a"), blank="empty")
    assert blank.estimate == 0


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT, np.datetime64("NaT")], ids=str)
def test_missing_cell(missing):
    """A missing cell is no rating and never a category: the number is that of the other rows.

    Units (a, a), (a, b), (b, .): Do = 1/2; pairable values 3 a, 1 b: De = 1/2, so alpha = 0.
    """
    rows = [(1, "x", "a"), (1, "y", "a"), (2, "x", "a"), (2, "y", "b"), (3, "x", "b")]
    alpha, words = the_warning(BlankLabelsWarning, alpha_of, *rows, (3, "y", missing))
    assert words.startswith("1 null (None or NaN) and 0 blank texts among the labels: ")
    assert alpha.estimate == alpha_of(*rows).estimate == 0
    assert (alpha.n_values, alpha.n_ratings, alpha.n_pairable_units) == (2, 5, 2)


def test_missing_cell_that_is_blank():
    """Blank text is missing by default, which one warning counts, with both ways out."""
    rows = [(1, "x", "a"), (1, "y", "a"), (2, "x", "b"), (2, "y", ""), (3, "x", " "), (3, "y", "b")]
    study, words = the_warning(BlankLabelsWarning, sa.Annotations.from_long, long_table(*rows))
    assert (study.n_ratings, study.n_missing, study.n_values) == (4, 2, 2)
    assert words == (
        "2 blank cells taken as missing; say blank='empty' if blank means 'no label applies', or "
        "blank='missing' to accept this."
    )
    words = sentence(LabelError, alpha_of, *rows, blank="error")
    assert words == (
        "Unit 2, rater 'y': '' is blank; say blank='missing' (no annotation) or 'empty' (no label "
        "applies). (1 more row fails.)"
    )


def test_labels_with_spaces_trailing_or_doubled_separators_repeats_another_order():
    """They are the same set: three raters who write it differently agree, with alpha 1."""
    same = ["a,b", " b ,a,", "a,,b , a"]
    alpha = alpha_of(
        *((1, rater, cell) for rater, cell in enumerate(same)), (2, 0, "c"), (2, 1, "c,")
    )
    assert (alpha.n_values, alpha.estimate) == (2, 1)


def test_case_accents_and_types_of_labels():
    """Accents are made one; case, and the number beside its text, are kept apart with a warning."""
    rows = [(1, "x", "Joy"), (1, "y", "joy"), (2, "x", [1]), (2, "y", ["1"])]
    accents = [(3, "x", "\u00e9"), (3, "y", "e\u0301")]
    table = long_table(*rows, *accents)
    study, words = the_warning(SimilarLabelsWarning, sa.Annotations.from_long, table)
    assert set(study.labels) == {"Joy", "joy", 1, "1", "\u00e9"}
    assert words == (
        "Labels kept apart that look alike: (1, '1'), ('Joy', 'joy'); case='lower' or cleaning the "
        "types makes them one."
    )
    assert sa.Annotations.from_long(long_table(*rows[:2]), case="lower").labels == ("joy",)


def test_label_outside_the_codebook():
    """It is an error with the place, the label, the nearest spelling and the number of rows."""
    words = sentence(
        LabelError,
        alpha_of,
        (1, "x", "joy"),
        (1, "y", "joy, suprise"),
        (2, "x", "suprise"),
        codebook=["joy", "surprise", "fear"],
    )
    assert words == (
        "Unit 1, rater 'y': label 'suprise' is not in the codebook. Did you mean 'surprise'? (1 "
        "more row fails.)"
    )


def test_labels_that_contain_the_separator():
    """They are read from quotes and from JSON lists; an unbalanced quote is an error, placed."""
    alpha = alpha_of((1, "x", '"a, b", c'), (1, "y", '["c", "a, b"]'), (2, "x", "d"), (2, "y", "d"))
    assert (alpha.n_values, alpha.estimate) == (2, 1)
    words = sentence(LabelError, alpha_of, (1, "x", "a"), (1, "y", '"a, b'))
    assert words.startswith("Unit 1, rater 'y': '\"a, b' has an unbalanced quote;")


@pytest.mark.parametrize(
    "cells",
    [
        [["a", "b"], ["b", "a"], ["a"], []],
        [("a", "b"), ("b", "a"), ("a",), ()],
        [{"a", "b"}, {"b", "a"}, {"a"}, set()],
        [frozenset("ab"), frozenset("ba"), frozenset("a"), frozenset()],
        [np.array(["a", "b"]), np.array(["b", "a"]), np.array(["a"]), np.array([])],
        [[True, True], [True, True], [True, False], [False, False]],
    ],
    ids=["lists", "tuples", "sets", "frozensets", "arrays", "one-hot rows"],
)
def test_collections_as_cells(cells):
    """They are accepted, and mean the same: units (ab, ab), (a, {}) have nominal alpha 2/5.

    Do = 1/2, values 2 ab, 1 a, 1 {}: De = (12 - 2) / 12 = 5/6, alpha = 1 - (1/2) / (5/6) = 2/5.
    """
    places = [(1, "x"), (1, "y"), (2, "x"), (2, "y")]
    rows = [(*place, cell) for place, cell in zip(places, cells, strict=True)]
    alpha = alpha_of(*rows, codebook=["a", "b"])
    assert alpha.estimate == pytest.approx(2 / 5, abs=1e-15)


@pytest.mark.parametrize(("cell", "what"), [({"a": 1}, "dict"), (3, "int"), (2.5, "float")])
def test_dict_or_number_where_labels_were_asked_for(cell, what):
    """It is an error with its place and type, and for numbers with the way to read them."""
    words = sentence(LabelError, alpha_of, (1, "x", "a"), (1, "y", cell), (2, "x", cell))
    article = "an" if what == "int" else "a"
    assert words.startswith(f"Unit 1, rater 'y': {cell!r} is {article} {what}, not labels.")
    assert ("Use value=" in words) is (what != "dict")
    assert words.endswith("(1 more row fails.)")


def test_column_of_numbers_where_labels_were_asked_for():
    """A numeric column is refused with its name, dtype and what to do."""
    table = long_table((1, "x", 3), (1, "y", 4))
    words = sentence(LabelError, sa.Annotations.from_long, table)
    assert words == (
        "column 'labels' holds int64 numbers where labels are due; use value= (or kind='value') "
        "for one value a cell, or make the labels text."
    )


def test_same_unit_and_rater_twice():
    """It is an error with the number of pairs and the first of them, unless duplicates= decides."""
    rows = [(1, "x", "a"), (1, "y", "a"), (2, "x", "b"), (2, "y", "b"), (2, "y", "a")]
    words = sentence(DataError, alpha_of, *rows)
    assert words == (
        "1 pair of unit and rater annotated more than once (unit 2, rater 'y': 2 times); say "
        "duplicates='first', 'last' or 'union'."
    )
    assert alpha_of(*rows, duplicates="first").estimate == 1
    # Units (a, a), (b, a): Do = 1/2, values 3 a, 1 b: De = 1/2.
    assert alpha_of(*rows, duplicates="last").estimate == 0
    # Units (a, a), (b, ab): Do = 1/2, values 2 a, 1 b, 1 ab: De = 5/6.
    assert alpha_of(*rows, duplicates="union").estimate == pytest.approx(2 / 5, abs=1e-15)


def test_file_concatenated_twice():
    """The error counts all pairs and asks whether the file was appended to itself."""
    rows = [(unit, rater, "ab"[unit % 2]) for unit in range(4) for rater in "xy"]
    words = sentence(DataError, alpha_of, *rows, *rows)
    assert words.startswith("8 pairs of unit and rater annotated more than once (unit 0, rater 'x'")
    assert words.endswith("Every pair stands twice: was the file appended to itself?")
    assert alpha_of(*rows, *rows, duplicates="first").estimate == 1


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([(1, "x", "a"), (2, "x", "b")], "there is only one rater"),
        ([(1, "x", "a"), (2, "y", "b")], "no unit has two ratings"),
        ([(1, "x", "a"), (1, "y", "b")], "there is only one unit"),
        ([(1, "x", "a"), (1, "y", "b"), (1, "z", "a")], "there is only one unit"),
    ],
)
def test_one_rater_no_unit_with_two_ratings_one_unit(rows, reason):
    """The estimate is nan with the reason, and one warning says so."""
    alpha, words = the_warning(sa.UndefinedAgreementWarning, alpha_of, *rows)
    assert math.isnan(alpha.estimate)
    assert alpha.reason == reason
    assert words == f"krippendorff_alpha [nominal]: undefined (nan), because {reason}."


def test_all_answers_identical():
    """nan, because only one value was used, in one warning for all; percent agreement still 1."""
    study = sa.Annotations.from_triples([(r, u, "a, b") for r in "xyz" for u in range(3)])
    names = ["krippendorff_alpha", "fleiss_kappa", "conger_kappa", "percent_agreement"]
    table, words = the_warning(sa.UndefinedAgreementWarning, sa.agreement, study, coefficient=names)
    for name in names[:3]:
        assert math.isnan(table[name, "masi"].estimate)
        assert table[name, "masi"].reason == "only one value was used"
        assert f"{name} [masi]" in words
    assert table["percent_agreement", "masi"].estimate == 1
    assert table["percent_agreement", "masi"].reason is None
    assert "percent_agreement" not in words


def test_raters_and_units_swapped():
    """The number is given, with a warning that counts both and asks."""
    table = long_table(*((unit, rater, "ab"[unit]) for unit in range(2) for rater in range(10)))
    table = table.assign(rater=table["rater"] + 10 * table["unit"])
    study, words = the_warning(SwappedColumnsWarning, sa.Annotations.from_long, table)
    assert words == "20 raters and only 2 units: are the unit and the rater column exchanged?"
    assert sa.krippendorff_alpha(study).estimate == 1


def test_mixed_type_ids():
    """The unit 1, the unit "1" and the unit "u1" are three, and raters may be mixed as well."""
    rows = [
        (unit, rater, "ab"[k > 0]) for k, unit in enumerate([1, "1", "u1"]) for rater in (7, "x")
    ]
    with pytest.warns(sa.SetagreeWarning, match="Units kept apart that look alike"):
        alpha = alpha_of(*rows)
    assert (alpha.n_units, alpha.n_raters, alpha.estimate) == (3, 2, 1)


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, "", " "], ids=repr)
@pytest.mark.parametrize("role", ["unit", "rater"])
def test_ids_that_are_missing(role, missing):
    """A row without unit or rater is an error that counts such rows and shows the first."""
    table = long_table(("u", "x", "a"), ("u", "y", "a"), ("v", "x", "b"), ("v", "y", "b"))
    table.loc[[1, 3], role] = missing
    words = sentence(DataError, sa.Annotations.from_long, table)
    assert words == (
        f"2 rows without a {role} (first: rows 2, 4, counted from 1 below the header); name the "
        f"{role} or drop the rows."
    )


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
    """The error says the rule, the pair of values and what the callback gave for it."""
    words = sentence(DistanceError, sa.krippendorff_alpha, SETS, distance=callback)
    assert f"the pair {pair}" in words.replace("{'b', 'a'}", "{'a', 'b'}")
    assert value in words
    assert rule in words


def test_distance_callback_that_raises():
    """The error names the pair, and what was raised is chained."""

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
    assert words.endswith("has 1.0, not 0. It looks like a similarity: say similarity=True.")
    nominal = sa.krippendorff_alpha(SETS, distance="nominal").estimate
    similarity = sa.distance_matrix(matrix, similarity=True)
    assert sa.krippendorff_alpha(SETS, distance=similarity).estimate == pytest.approx(
        nominal, abs=1e-15
    )


def test_weight_matrix():
    """Aligned by label whatever its order; unlabelled, incomplete, asymmetric: refused, named."""
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


def test_numbers_as_text_on_a_numeric_scale():
    """They are numbers, never sorted as text: "10" is 8 from "2" and 1 from "9".

    Units (2, 2), (9, 10), interval: Do = (0 + 1) / 2; values 2, 2, 9, 10: the squared differences
    of the six pairs are 0, 49, 64, 49, 64, 1, so De = 2 * 227 / 12 and alpha = 1 - 3 / 227.
    """
    rows = [("x", 1, "2"), ("y", 1, " 2.0 "), ("x", 2, "9"), ("y", 2, "10")]
    study = sa.Annotations.from_triples(rows, kind="value")
    alpha = sa.krippendorff_alpha(study, distance="interval")
    assert alpha.observed_disagreement == 0.5
    assert alpha.estimate == pytest.approx(1 - 3 / 227, abs=1e-15)
    # Ordinal, by rank mass between values: counts 2, 1, 1 for 2 < 9 < 10, mid-ranks 1, 2.5, 3.5;
    # Do = 1/2, De = 2 * (2 * 1.5**2 + 2 * 2.5**2 + 1) / 12 = 3.
    ordinal = sa.krippendorff_alpha(study, distance="ordinal")
    assert ordinal.estimate == pytest.approx(5 / 6, abs=1e-15)


def test_text_on_a_numeric_scale():
    """It makes the scale one of categories, with a warning that places it; distances refuse it."""
    rows = [("x", 1, "2"), ("y", 1, "2"), ("x", 2, "10"), ("y", 2, "n/a")]
    study, words = the_warning(MixedScaleWarning, sa.Annotations.from_triples, rows, kind="value")
    assert words == (
        "1 answer among numbers cannot be read as one (Unit 2, rater 'y': 'n/a'), so that all "
        "answers are taken as categories; make them numbers, or make them missing."
    )
    words = sentence(DistanceError, sa.krippendorff_alpha, study, distance="interval")
    assert words == "'interval' compares numbers; these values are categories, such as 'n/a'."


@pytest.mark.parametrize("odd", [math.inf, -math.inf, "inf", "-Infinity"])
def test_inf_on_a_numeric_scale(odd):
    """It is refused with the cell."""
    rows = [("x", 1, 1), ("y", 1, 2), ("x", 2, odd)]
    words = sentence(DataError, sa.Annotations.from_triples, rows, kind="value")
    assert words == f"Unit 2, rater 'x': {odd!r} is not a finite number."


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


def test_wide_table_with_a_stray_column():
    """The columns are listed, and one that looks like unit ids or free text is refused."""
    table = pd.DataFrame(
        {
            "tweet": ["so good", "so bad, really", "meh", "why?"],
            "ann": ["a", "b", "a", "a, b"],
            "bob": ["a", "b", "b", "a"],
        }
    )
    words = sentence(DataError, sa.Annotations.from_wide, table)
    assert words == (
        "column 'tweet' looks like unit identifiers or free text, not like the answers of a rater "
        "(4 of its 4 cells are different, and most stand in no other column); say unit='tweet', or "
        "list the raters: raters=['ann', 'bob']."
    )
    named = sa.Annotations.from_wide(table, unit="tweet")
    assert named.raters.tolist() == ["ann", "bob"]


@pytest.mark.parametrize("label", HOSTILE, ids=lambda label: repr(label)[:16])
def test_hostile_labels(label):
    """They are labels: counted, compared, quoted in sentences, and nothing is evaluated."""
    study = sa.Annotations.from_triples(
        [("x", 1, [label]), ("y", 1, [label, "b"]), ("x", 2, "b"), ("y", 2, "b")]
    )
    assert set(study.labels) == {label, "b"}
    # Units (l, lb), (b, b), nominal: Do = 1/2; values l, lb, b, b: De = (12 - 2) / 12.
    nominal = sa.krippendorff_alpha(study, distance="nominal")
    assert nominal.estimate == pytest.approx(1 - 0.5 / (10 / 12), abs=1e-15)
    frame = sa.weights(study, "jaccard").to_frame()
    assert frame.loc[sa.format_labels([label]), sa.format_labels([label, "b"])] == 0.5
    words = sentence(
        LabelError, sa.Annotations.from_triples, [(label, label, [label])], codebook=["b"]
    )
    assert "is not in the codebook" in words
    assert len(words) < 500
    assert "\u202e" not in words


def test_no_rows_no_columns():
    """Each is an error sentence, in every layout."""
    nothing = "the table has 0 rows; there is nothing to score."
    assert sentence(DataError, sa.Annotations.from_long, long_table()) == nothing
    assert sentence(DataError, sa.Annotations.from_triples, []) == nothing
    assert sentence(DataError, sa.Annotations.from_indicators, np.zeros((2, 0, 3))) == nothing
    assert "the table has no columns" in sentence(
        DataError, sa.Annotations.from_long, pd.DataFrame()
    )
    assert "0 raters" in sentence(DataError, sa.Annotations.from_wide, pd.DataFrame(index=[1]))
    assert "0 units" in sentence(DataError, sa.Annotations.from_contingency, pd.DataFrame())
    assert "has no counts" in sentence(DataError, sa.Tally.from_counts, pd.DataFrame())
    assert sentence(DataError, sa.agreement, long_table()) == nothing


def test_dense_matrix_that_is_too_large():
    """to_frame() of more values than anyone can look at is refused with the size it would take."""
    study = sa.Annotations.from_triples([(r, u, [f"l{u}"]) for u in range(5001) for r in "xy"])
    words = sentence(DataError, sa.weights(study, "masi").to_frame)
    assert words == (
        "a matrix of 5,001 x 5,001 values would take 0.2 GB; the limit is 5,000 values."
    )

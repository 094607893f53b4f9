"""Units with sizes: labelled spans cut into atoms, against characters and against vectors.

The vectors are those of an independent program (all sums in loops over atoms and documents), with
the standard error, degrees of freedom and intervals over documents.
"""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import spans_support as spans

import setagree as sa
from setagree.coefficients.measured import FiellerInterval
from setagree.errors import FewClustersWarning, OptionError

pytestmark = pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")

VECTORS = """
V1 masi documents: .770411639 .1236842105 .5387216059 .08936507406 2.96969697 .4843632765 1
V1 jaccard documents: .769277597 .1236842105 .5360736926 .08933435428 2.96969697 .4833275654 1
V1 nominal documents: .7726466045 .1236842105 .5440174326 .08945423913 2.96969697 .4863128339 1
V2 masi documents: .4700880351 .3306666667 .6240030204 .1594428908 2.677232694 -.07375645047 1
V2 jaccard documents: .4810195178 .32 .6165935155 .1661451401 2.677232694 -.08568570036 1
V2 nominal documents: .4489858156 .352 .6388220303 .1481653855 2.677232694 -.05639217547 .9543638067
tokens masi documents: .3859381359 .4047619048 .6591549296 .265694872 2.686738836 -.5182258551 1
tokens jaccard documents: .3909856519 .3928571429 .6450704225 .2764339934 2.686738836 -.5497237446 1
tokens nominal documents: .3764637002 .4285714286 .6873239437 .2460447723 2.686738836 -.4608306802 1
"""
"""Alpha, Do, De, standard error, degrees of freedom and the ends of t."""

CHARACTERS = """
V1 masi .7657012499 .1236842105 .5278910385 .04663225464 .980943739
V1 jaccard .764396246 .1236842105 .5249670619 .07393869129 .980866101
V1 nominal .7682683626 .1236842105 .5337389917 -.01731679748 .9810985968
V2 masi .4586677933 .3306666667 .6108387097 -.1687190949 .9570160637
V2 jaccard .4695187166 .32 .6032258065 -.1704867291 .9970359937
V2 nominal .4377576257 .352 .6260645161 -.1651200598 .8961165925
tokens masi .3863636364 .4047619048 .6596119929 -.6582206326 1
tokens jaccard .3913934426 .3928571429 .6455026455 -.6550309182 1
tokens nominal .3769230769 .4285714286 .6878306878 -.6697591822 1
"""
"""Alpha, Do, De and the ends of Fieller's interval under chance="characters"."""

FIELLER = """
V1 masi .1120076978 .9810529879
V1 jaccard .1359484525 .9809760851
V1 nominal .05668575439 .9812062284
V2 masi -.1458818305 .9579850854
V2 jaccard -.1481199823 .9971079548
V2 nominal -.1413778825 .8982016632
tokens masi -.6149579125 1
tokens jaccard -.6143348458 1
tokens nominal -.6208508362 1
"""


def study_of(name, chance="documents"):
    """Return a study by its name; `tokens` is V2 in tokens."""
    case = spans.V1 if name == "V1" else spans.V2
    how = {"length": case["lengths"]} if name != "tokens" else {"text": spans.TOKENS}
    how |= {"tokens": "words"} if name == "tokens" else {}
    return sa.Annotations.from_spans(spans.rows(case), done=spans.done(case), chance=chance, **how)


def listed(text):
    """Return the lines of vectors as names and numbers."""
    cells = [line.replace(":", "").split() for line in text.strip().splitlines()]
    return [(*row[:2], [float(x) for x in row[2:] if x != "documents"]) for row in cells]


@pytest.mark.parametrize(("name", "distance", "vector"), listed(VECTORS))
def test_alpha_leaves_out_pairs_of_one_rater_in_one_document(name, distance, vector):
    alpha = sa.krippendorff_alpha(study_of(name), distance=distance)
    observed, expected = alpha.observed_disagreement, alpha.expected_disagreement
    found = [alpha.estimate, observed, expected, alpha.standard_error, alpha.degrees_of_freedom]
    assert [*found, *alpha.interval(method="t")] == pytest.approx(vector, rel=2e-9)


@pytest.mark.parametrize(("name", "distance", "vector"), listed(FIELLER))
def test_the_interval_is_fiellers(name, distance, vector):
    alpha = sa.krippendorff_alpha(study_of(name), distance=distance)
    assert alpha.interval_method == "fieller"
    assert alpha.interval() == pytest.approx(vector, rel=2e-9)
    # the p-value is the level at which the interval ends at 0
    low, high = alpha.interval(1 - alpha.p_value)
    assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize(("name", "distance", "vector"), listed(CHARACTERS))
def test_alpha_of_characters(name, distance, vector):
    alpha = sa.krippendorff_alpha(study_of(name, "characters"), distance=distance)
    found = [alpha.estimate, alpha.observed_disagreement, alpha.expected_disagreement]
    assert [*found, *alpha.interval()] == pytest.approx(vector, rel=2e-9)


def test_fiellers_interval_without_an_upper_limit():
    """A = 0.25 - 0.02 t² is below 0 at t = 4; at t = 2, A = 0.17, B = 0.1 and C = -0.04."""
    e, o = np.array([0.1, -0.1]), np.array([0.1, 0.1])
    found = FiellerInterval(0.2, 0.5, o, e, 4.0)
    assert found.at(4.0) == (-1, 1)
    assert FiellerInterval(1.5, 0.5, o, e, 4.0).at(4.0) == (-2, 1)
    root = math.sqrt(0.01 + 0.17 * 0.04)
    assert found.at(2.0) == pytest.approx((1 - (0.1 + root) / 0.17, 1))
    assert FiellerInterval(0.2, 0.5, e, e, 4.0).p_value() == 0


def test_p_value_and_error_of_the_first_study():
    alpha = sa.krippendorff_alpha(study_of("V1"))
    assert alpha.p_value == pytest.approx(0.0433871871, rel=1e-8)
    alpha = sa.krippendorff_alpha(study_of("V1", "characters"))
    assert alpha.standard_error == pytest.approx(0.0928361012, rel=1e-8)
    assert alpha.interval(method="t")[0] == pytest.approx(0.4685424883, rel=1e-8)


COEFFICIENTS = (
    *("krippendorff_alpha", "fleiss_kappa", "gwet_ac", "brennan_prediger", "percent_agreement"),
    "conger_kappa",
)


@pytest.mark.parametrize("name", ["V1", "V2"])
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_unit_of_size_w_is_w_units(name, coefficient):
    study = study_of(name, "characters")
    size = study.units_frame["length"].astype(int)
    copies = [
        (rater, (unit, k), labels)
        for rater, unit, labels in study.to_triples()
        for k in range(size[unit])
    ]
    one_each = sa.Annotations.from_triples(copies)
    document = {unit: unit[0].partition(":")[0] for unit in one_each.units}
    one_each = one_each.sampled(cluster=document)
    sized, plain = (
        sa.agreement(x, coefficient=coefficient, distance=["masi", "nominal"])
        for x in (study, one_each)
    )
    for one, other in zip(sized, plain, strict=True):
        both = [
            (
                *(row.estimate, row.observed_agreement, row.expected_agreement),
                *(row.standard_error, row.degrees_of_freedom, *row.interval(method="t")),
            )
            for row in (one, other)
        ]
        assert both[0] == pytest.approx(both[1], abs=1e-12)


@pytest.mark.parametrize("chance", ["documents", "characters"])
def test_cutting_an_atom_changes_nothing(chance):
    study = study_of("V2", chance)
    triples, document, size = [], {}, {}
    for rater, unit, labels in study.to_triples():
        for k, part in enumerate((0.25, 0.75)):
            triples.append((rater, f"{unit}/{k}", labels))
            document[f"{unit}/{k}"] = unit.partition(":")[0]
            size[f"{unit}/{k}"] = part * study.units_frame["length"][unit]
    halves = sa.Annotations.from_triples(triples)
    halves = halves.sampled(cluster=document, size=size, chance=chance)
    for one, other in zip(sa.agreement(study), sa.agreement(halves), strict=True):
        assert one.estimate == pytest.approx(other.estimate, abs=1e-12)
        assert one.standard_error == pytest.approx(other.standard_error, abs=1e-12)
        assert one.interval() == pytest.approx(other.interval(), abs=1e-12)


def test_linearised_values_add_up_to_the_error_by_documents():
    alpha = sa.krippendorff_alpha(study_of("V1"))
    size = study_of("V1").units_frame["length"][alpha.influence.index]
    shares = size.groupby(alpha.influence.index.str.partition(":").get_level_values(0)).sum()
    u = (alpha.influence - alpha.estimate) * size / size.sum()
    S = u.groupby(u.index.str.partition(":").get_level_values(0)).sum()
    h = shares / shares.sum()
    S = S - h * S.sum()
    assert (S**2 / (1 - h)).sum() ** 0.5 == pytest.approx(alpha.standard_error, rel=1e-10)


def test_full_agreement_has_no_interval():
    marked = "d 0-4 P, e 1-2 Q, f 1-2 Q, g 0-1 P"
    rows = spans.rows({"lengths": {}, "a": marked, "b": marked})
    length = dict.fromkeys("defg", 9)
    alpha = sa.krippendorff_alpha(sa.Annotations.from_spans(rows, length=length))
    assert alpha.estimate == 1
    assert alpha.interval_method is None
    assert alpha.interval_reason == "No disagreement was seen in 4 documents"
    assert alpha.p_value != alpha.p_value


def test_no_span_at_all_is_undefined():
    rows = spans.rows({"lengths": {}, "a": "d 0-4 P", "b": "d 0-4 P"}).assign(label=None)
    rows = rows.assign(start=None, end=None)
    with pytest.warns(sa.UndefinedAgreementWarning):
        alpha = sa.krippendorff_alpha(sa.Annotations.from_spans(rows, length={"d": 9}))
    assert alpha.reason == "only one value was used"


def test_one_document_has_an_estimate_alone():
    rows = spans.rows({"lengths": {}, "a": "d 0-4 P", "b": "d 2-4 P"})
    alpha = sa.krippendorff_alpha(sa.Annotations.from_spans(rows, length={"d": 9}))
    assert alpha.estimate < 1
    assert alpha.interval_reason == "all units are in one cluster (document 'd')"


def test_few_documents_warn():
    with pytest.warns(FewClustersWarning, match="there are 4 documents"):
        sa.krippendorff_alpha(study_of("V1"))


EXAMPLE_A = {"lengths": {"d": 24}, "a": "d 2-10 A, d 14-20 A", "b": "d 4-8 A, d 15-17 A"}
EXAMPLE_B = {
    "lengths": {"d": 24},
    "a": "d 0-18 B",
    "b": "d 0-2 B, d 2-3 B, d 3-4 B, d 4-5 B, d 5-6 B, d 6-9 B, d 9-10 B",
}
EXAMPLE_2004 = {
    "lengths": {"d": 300},
    "a": "d 75-145 c, d 220-250 c, d 30-90 k, d 150-200 k",
    "b": "d 70-150 c, d 205-225 c, d 250-270 c, d 30-90 k, d 150-200 k",
}


@pytest.mark.parametrize("example", [EXAMPLE_A, EXAMPLE_B])
def test_digitised_alpha_of_the_unitizing_examples_of_1995(example):
    """Krippendorff (1995, p. 57) has .329 for A: 8 of 24 places differ, 20 of 48 are marked.

    1 - (47 x 8 / 24) / (20 x 28 / 24) = 1 - 15.67 / 23.33. B has 8 and 28 in the same places.
    """
    study = sa.Annotations.from_spans(
        spans.rows(example), length=example["lengths"], chance="characters"
    )
    alpha = sa.krippendorff_alpha(study, distance="nominal").estimate
    assert alpha == pytest.approx(1 - (47 * 8 / 24) / (20 * 28 / 24), abs=1e-12)


def test_the_unitizing_example_of_2004():
    """Krippendorff (2004, p. 254), offsets as in DKPro's test; figures of the second program."""
    found = []
    for chance in ("characters", "documents"):
        study = sa.Annotations.from_spans(
            spans.rows(EXAMPLE_2004), length=EXAMPLE_2004["lengths"], chance=chance
        )
        labels = sa.by_label(study).set_index("label")["estimate"]
        alpha = sa.krippendorff_alpha(study, distance="nominal").estimate
        found.append((alpha, labels["c"], labels["k"]))
    expected = [(0.6676, 0.4984, 1), (0.6677, 0.5, 1)]
    assert [pytest.approx(one, abs=5e-5) for one in expected] == found


REFUSED = {
    "size without cluster": ({"size": "n"}, "size= requires cluster="),
    "chance without size": ({"cluster": "doc", "chance": "documents"}, "is for units with sizes"),
    "unknown chance": ({"cluster": "doc", "size": "n", "chance": "words"}, "is unknown"),
    "weights too": (
        {"cluster": "doc", "size": "n", "sampling_weight": "n"},
        "size= does not go together with sampling_weight=",
    ),
    "size of zero": ({"cluster": "doc", "size": "zero"}, "a size is a finite number above 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_designs_that_do_not_fit_are_refused(name):
    options, message = REFUSED[name]
    study = sa.simulate(4, 2, rng=1)
    columns = {"doc": [1, 1, 2, 2], "n": [1, 2, 3, 4], "zero": [0, 1, 1, 1]}
    frame = {key: dict(zip(study.units, cells, strict=True)) for key, cells in columns.items()}
    with pytest.raises(OptionError, match=message):
        study.with_units(frame).sampled(**options)


UNSIZED = {
    **{name: {} for name in ("by_presence", "consensus", "crowdtruth", "rater_map", "what_if")},
    "variance_components": {},
    "k_rater_reliability": {"k": 2},
    "by_depth": {"parents": {"claim": "all"}},
    "monitor": {"threshold": 0.6, "batch": "document"},
    "over_time": {"time": "length", "window": 1},
    "next_ratings": {"budget": 3},
    **{name: {"model": "b"} for name in ("alt_test", "prevalence")},
}


@pytest.mark.parametrize("name", UNSIZED)
def test_functions_that_count_units_once_refuse_sizes(name):
    study, function, options = study_of("V1"), getattr(sa, name), UNSIZED[name]
    with pytest.raises(OptionError, match=f"{name} is not defined for units with sizes"):
        function(study, **options)
    alpha = sa.krippendorff_alpha(study)
    for source in (alpha, sa.agreement(study), [alpha, alpha]):
        with pytest.raises(sa.SetagreeError):
            function(source, **options)


def test_intervals_that_do_not_fit_are_refused():
    alpha = sa.krippendorff_alpha(study_of("V1"))
    with pytest.raises(OptionError, match="these have sizes; use the t interval"):
        alpha.interval(method="score")
    assert str(alpha.interval(over="both")[0]) == "nan"
    with pytest.raises(OptionError, match="is for units with sizes"):
        sa.krippendorff_alpha(sa.simulate(20, 3, rng=1)).interval(method="fieller")
    with pytest.raises(
        OptionError, match="mv_alpha is not defined for clusters and sizes of units"
    ):
        sa.agreement(study_of("V1"), coefficient="mv_alpha", distance="jaccard")


def test_labels_are_scored_by_sizes():
    study = study_of("V1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", FewClustersWarning)
        frame = sa.by_label(study).set_index("label")
    claim = study.with_answers(lambda answer: frozenset(answer & {"claim"}))
    expected = sa.krippendorff_alpha(claim, distance="nominal")
    assert frame.loc["claim", "estimate"] == pytest.approx(expected.estimate, abs=1e-12)
    # Three of the four documents hold a claim (STATISTICS 10.14: fewer than four, no interval).
    assert math.isnan(frame.loc["claim", "low"])
    assert math.isnan(expected.interval()[0])
    assert "occur in 3 documents, fewer than 4" in frame.loc["claim", "reason"]
    # a: 40 + 10 + 30 of d1 to d3, b: 35 + 10 + 30, of 2 x 380 characters
    assert frame.loc["claim", "prevalence"] == pytest.approx(155 / 760)


def test_few_documents_that_disagree_are_counted_whatever_their_pieces():
    """One of thirty documents disagrees, at two places."""
    rows = pd.DataFrame({"document": [*range(30)] * 2, "rater": ["a"] * 30 + ["b"] * 30})
    rows = rows.assign(start=2, end=6, label="P")
    rows.loc[0, ["start", "end"]] = 1, 7
    study = sa.Annotations.from_spans(rows, length=dict.fromkeys(range(30), 10))
    table = str(sa.agreement(study, coefficient=["krippendorff_alpha", "fleiss_kappa"]))
    assert "rough: they are those of t, and 1 document disagrees, fewer than 20 (fleiss" in table
    assert "rough: 1 document disagrees, fewer than 5 (krippendorff_alpha" in table

"""The walk-through studies T1, T2, T3, the mv-alpha tables and the table of distances.

Birth certificates
------------------
T1 : Cross Validated question 407453, three coders with MASI, the published R answer. Coefficients
    with pa, pe, SE, interval and p: R irrCAC 1.0 sources with rounding removed. Alphas: NLTK
    3.10.4 and krippendorff 0.9.0 with the same distance, or exact fractions.
T2, T3 : the same coefficients on two raters, and on a study with empty sets; fractions are exact.
mv-alpha : Krippendorff & Craggs (2016), "The reliability of multi-valued coding of data",
    Communication Methods and Measures 10(4); observed and expected from exact enumeration.
Distances : by hand from the formulas; MASI is Passonneau (2006), 1 - J M with M in 1, 2/3, 1/3, 0.

Tolerance: half a unit of the last printed digit, fractions and whole numbers to 1e-12.
"""

from __future__ import annotations

from functools import cache

import pytest
from golden_support import is_printed, label_set, presence, printed, scores, words

import setagree as sa

T1 = (
    "ab a b / ab ab ab / a a a / c c . / c ac ac / d d d / b d e / ab a b / "
    "ab abc abci / a bd a / a a e"
)
T2 = "ab a / ab ab / a a / c c / c ac / d d / b d / ab a / ab abc / a a / a a"
T3 = "{} {} / a {} / a a / a b / ab a / ab ac / abc abc / c ac / c ac"

# distance, coefficient, then figure and value pairs.
FIGURES = {
    "T1": """
masi krippendorff_alpha pa 0.55430773 pe 0.25398220 est 0.40257152 est 27678/68753 se 0.15186146
masi krippendorff_alpha low 0.0642031 high 0.7409399 p 0.0242750 Do .4600694444 De .7700828853
masi fleiss_kappa pa 0.55387205 pe 0.24718906 est 0.40738381 se 0.15382819
masi fleiss_kappa low 0.0646332 high 0.7501344 p 0.0243839
masi conger_kappa est 0.41972497 se 0.14387429
masi gwet_ac pe 0.19889580 est 0.44310871 se 0.14388795
masi brennan_prediger pe 0.21188889 est 0.43392760 se 0.14500164
jaccard krippendorff_alpha est 0.42749259 se 0.15622133
jaccard fleiss_kappa est 0.43433924 se 0.15760789
jaccard conger_kappa est 0.44250039
jaccard gwet_ac est 0.46286390
jaccard brennan_prediger est 0.45011838
dice krippendorff_alpha est 0.44571004 se 0.16514262
dice fleiss_kappa est 0.45465574 se 0.16545095
dice conger_kappa est 0.45899650
dice gwet_ac est 0.47709240
dice brennan_prediger est 0.46024241
nominal krippendorff_alpha est 0.35266821 se 0.15401236
nominal fleiss_kappa est 0.35434783 se 0.15628466
nominal conger_kappa est 0.37242472
nominal gwet_ac est 0.39804076
nominal brennan_prediger est 0.39393939
hamming krippendorff_alpha est .4763513514
masi_nltk krippendorff_alpha est .4029037031
masi_dkpro krippendorff_alpha est 0.45851909
passonneau_2004 krippendorff_alpha est 0.42651593
dice mv_alpha est .4674643522 Do .3648809524 De .6851765771
jaccard mv_alpha est 0.44616327
masi mv_alpha est 0.41869925
nominal mv_alpha est 0.35822387
""",
    "T2": """
masi krippendorff_alpha est 0.54035568 Do 0.32323232 De 0.70322270 se 0.16852427
masi krippendorff_alpha low 0.16486021 high 0.91585114 p 0.00938925
masi fleiss_kappa est 0.51846785
masi scott_pi est 0.51846785
masi cohen_kappa est 0.53866317 se 0.14798124
masi conger_kappa est 0.53866317 se 0.14798124
masi gwet_ac est 0.57515410
masi brennan_prediger est 0.56004489
jaccard krippendorff_alpha est 0.60156250
jaccard cohen_kappa est 0.59784946
dice krippendorff_alpha est 0.66120753
nominal krippendorff_alpha est 0.43850267
nominal cohen_kappa est 0.43877551
hamming krippendorff_alpha est 0.64204545
overlap krippendorff_alpha est 0.80995475
ochiai krippendorff_alpha est 0.67457526
dice mv_alpha est .6808153567
""",
    "T3": """
jaccard krippendorff_alpha Do 25/54 De 23/34 est 196/621
masi krippendorff_alpha Do 44/81 De 343/459 est 281/1029 se 0.20380577
dice krippendorff_alpha est 0.36021505
nominal krippendorff_alpha est 0.23880597
""",
}
TEXT = {"T1": T1, "T2": T2, "T3": T3}

FIGURE = {
    "est": lambda result: result.estimate,
    "se": lambda result: result.standard_error,
    "p": lambda result: result.p_value,
    "low": lambda result: result.interval(level=0.95)[0],
    "high": lambda result: result.interval(level=0.95)[1],
    "pa": lambda result: result.observed_agreement,
    "pe": lambda result: result.expected_agreement,
    "Do": lambda result: result.observed_disagreement,
    "De": lambda result: result.expected_disagreement,
}


def _figures():
    return [
        (name, distance, coefficient, figure, text)
        for name, table in FIGURES.items()
        for distance, coefficient, *pairs in map(str.split, table.strip().splitlines())
        for figure, text in zip(pairs[::2], pairs[1::2], strict=True)
    ]


@cache
def study(text: str) -> sa.Annotations:
    return sa.Annotations.from_wide(words(text))


@cache
def result(text: str, distance: str, coefficient: str) -> sa.Agreement:
    """Compute one coefficient of one study, once."""
    table = sa.agreement(study(text), coefficient=coefficient, distance=distance, interval="t")
    return table[0]


@pytest.mark.parametrize(("name", "distance", "coefficient", "figure", "text"), _figures())
def test_figure_of_the_walkthrough(name, distance, coefficient, figure, text):
    actual = FIGURE[figure](result(TEXT[name], distance, coefficient))
    assert is_printed(actual, text), (actual, text)


def test_defaults_are_the_distances_the_papers_use():
    assert is_printed(sa.krippendorff_alpha(study(T1)).estimate, "27678/68753")
    assert is_printed(sa.mv_alpha(study(T1)).estimate, ".4674643522")


def test_multi_label_fleiss_kappa_without_a_hierarchy():
    """Hamming with Fleiss' kappa is what Moons and Vandervieren (2025) compute without a hierarchy.

    On the ten complete units of T1, as their formula gives it by hand: 31/76.
    """
    units = [unit for unit in T1.split("/") if "." not in unit.split()]
    found = sa.fleiss_kappa(study("/".join(units)), distance="hamming")
    assert found.n_units == 10
    assert is_printed(found.estimate, ".4078947368")


def test_counts_of_t1():
    """T1 has 11 units, 3 raters, 32 ratings (one is missing), 10 distinct label sets."""
    alpha = result(T1, "masi", "krippendorff_alpha")
    assert (alpha.n_units, alpha.n_pairable_units, alpha.n_raters) == (11, 11, 3)
    assert (alpha.n_ratings, alpha.n_values) == (32, 10)


# label, alpha, observed and expected disagreement of present against absent in T1. Printed as
# 0.3125 0.25 0.0625 0.125 0.125 0.0625: with 32 ratings a multiple of 1/32, hence the fractions; a
# label used once has observed = expected (2 x 31 / (32 x 31)), hence the 0.
T1_LABELS = """
a  0.37246964   5/16  0.49798387
b  0.48333333   1/4   0.48387097
c  0.82285714   1/16  0.35282258
d  0.54074074   1/8   0.27217742
e  -.03333333  1/8   0.12096774
i  0           1/16  1/16
"""


@pytest.mark.parametrize("line", T1_LABELS.strip().splitlines(), ids=lambda line: line.split()[0])
def test_binary_alpha_of_each_label_of_t1(line):
    label, alpha, observed, expected = line.split()
    binary = sa.krippendorff_alpha(presence(words(T1), label), distance="nominal")
    assert is_printed(binary.observed_disagreement, observed)
    assert is_printed(binary.expected_disagreement, expected)
    assert is_printed(binary.estimate, alpha)


def test_hamming_alpha_is_the_sum_over_the_labels():
    rows = [line.split() for line in T1_LABELS.strip().splitlines()]
    observed = sum(printed(row[2])[0] for row in rows)  # 15/16, exact
    hamming = result(T1, "hamming", "krippendorff_alpha")
    assert hamming.observed_disagreement == pytest.approx(observed, abs=1e-12)
    # six figures of eight digits each, so three units of the eighth digit
    expected = sum(printed(row[3])[0] for row in rows)
    assert hamming.expected_disagreement == pytest.approx(expected, abs=3e-8)
    assert is_printed(hamming.estimate, ".4763513514")


@pytest.mark.parametrize(
    ("rater", "alpha"),
    [("rater 1", ".30082147"), ("rater 2", ".39107211"), ("rater 3", ".43624161")],
)
def test_alpha_of_t1_without_one_rater(rater, alpha):
    rest = sa.Annotations.from_wide(words(T1).drop(columns=rater))
    assert is_printed(sa.krippendorff_alpha(rest, distance="masi").estimate, alpha)


T1_UNIT_DISTANCES = ".777778 0 0 0 0.444444 0 1 0.777778 0.574074 0.666667 0.666667"


def test_mean_distance_inside_each_unit_of_t1():
    agreement = sa.percent_agreement(study(T1), distance="masi")
    distances = 1 - agreement.influence.loc[words(T1).index]
    for distance, text in zip(distances, T1_UNIT_DISTANCES.split(), strict=True):
        assert is_printed(distance, text), (distance, text)
    assert agreement.estimate == pytest.approx(1 - distances.mean(), abs=1e-12)


# Krippendorff & Craggs (2016); Do of the first by hand: pairable units 1 to 3 have 8 sets and
# dice sums 2/3, 31/30 and 2, so Do = (2/3 + 31/30 + 2) / 8 = 37/80.
MULTI_VALUED = {
    "bd d . / abd b bd / {} a a / a . .": "est 0.2865907 Do 37/80 De .6482954545",
    "a a a / abd abd abde / d d d": "est 0.9474618",
    "a a a / ab ab abd / d d d": "est 0.9233141",
    "a a a / b b bd / d d d": "est 0.8947345",
    "a a a / ab ad db / d d d": "est 0.7156712",
    "a a a / ab ed f / d d d": "est 0.5539087",
    "a b ab / ab ed f / bd d be": "est -.0020510",
}


@pytest.mark.parametrize(("text", "figures"), MULTI_VALUED.items(), ids=list(MULTI_VALUED))
def test_multi_valued_alpha_of_the_published_tables(text, figures):
    pairs = figures.split()
    for figure, printed_text in zip(pairs[::2], pairs[1::2], strict=True):
        actual = FIGURE[figure](result(text, "dice", "mv_alpha"))
        assert is_printed(actual, printed_text), (figure, actual, printed_text)


# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: 4 observers in
# rows, 12 units in columns. Figures: krippendorff 0.9.0, equal to the exact fractions.
_ = None
KRIPPENDORFF_4_X_12 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]
SCALES = {
    "nominal": ".743421052632",
    "ordinal": ".815387503755",
    "interval": ".849107142857",
    "ratio": ".797402774712",
    "bipolar": ".834990520024",
}


@pytest.mark.parametrize(("distance", "alpha"), SCALES.items(), ids=list(SCALES))
def test_alpha_on_scales(distance, alpha):
    """Alpha of Krippendorff's 4 x 12 reliability data on each of his scales."""
    units = [list(unit) for unit in zip(*KRIPPENDORFF_4_X_12, strict=True)]
    assert is_printed(sa.krippendorff_alpha(scores(units), distance=distance).estimate, alpha)


def test_multi_valued_alpha_of_singletons_is_nominal_alpha():
    units = zip(*KRIPPENDORFF_4_X_12, strict=True)
    text = " / ".join(" ".join("." if v is None else "_abcde"[v] for v in unit) for unit in units)
    assert is_printed(result(text, "dice", "mv_alpha").estimate, SCALES["nominal"])


DISTANCES = """
A    B    nominal jaccard  dice     masi     masi_nltk masi_dkpro passonneau_2004 overlap  ochiai   hamming
ab   a    1       0.500000 0.333333 0.666667 0.665000  0.166667   0.333333        0        0.292893 1
ab   bc   1       0.666667 0.500000 0.888889 0.890000  0.444444   0.666667        0.500000 0.500000 2
ab   abc  1       0.333333 0.200000 0.555556 0.553333  0.111111   0.333333        0        0.183503 1
abc  abd  1       0.500000 0.333333 0.833333 0.835000  0.333333   0.666667        0.333333 0.333333 2
{}   a    1       1        1        1        1         0.333333   0.333333        1        1        1
{}   {}   0       0        0        0        0         0          0               0        0        0
"""  # noqa: E501


def _distances():
    header, *rows = map(str.split, DISTANCES.strip().splitlines())
    return [
        (name, first, second, text)
        for first, second, *figures in rows
        for name, text in zip(header[2:], figures, strict=True)
    ]


@pytest.mark.parametrize(("name", "first", "second", "text"), _distances())
def test_distance_between_two_sets(name, first, second, text):
    distance, a, b = getattr(sa.distances, name), label_set(first), label_set(second)
    assert is_printed(distance(a, b), text)
    assert distance(b, a) == distance(a, b)


@pytest.mark.parametrize(
    ("first", "second", "kulczynski", "augmented"),
    [
        ("126", "2345", 0.291667, 0.083333),
        ("1", "12", 0.75, 0.5),
        ("123", "1234", 0.875, 0.25),
    ],
)
def test_credit_of_two_sets(first, second, kulczynski, augmented):
    for name, credit in {"kulczynski": kulczynski, "augmented": augmented}.items():
        distance = getattr(sa.distances, name)
        assert 1 - distance(frozenset(first), frozenset(second)) == pytest.approx(credit, abs=5e-7)


@pytest.mark.parametrize("name", ["any_overlap", "nominal", "hamming"])
def test_distance_of_disjoint_sets(name):
    expected = 3 if name == "hamming" else 1
    assert getattr(sa.distances, name)(frozenset("ab"), frozenset("c")) == expected

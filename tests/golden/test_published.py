"""Every figure of golden/published_examples.json: papers, textbooks and the tests of peers.

Each example of the file carries its source and citation. Tolerances: where the source claims a
precision (`tolerance`), that one; else as printed, which is

- irrCAC : estimate, se, pa and pe to 12 significant digits (1e-11), ci95 to 3 decimals, p to 8
  digits; R computes p as 2 (1 - F), so below 1e-15 it is rounding;
- statsmodels, R irr, SAS : half a unit of the last printed digit;
- the fixtures of dkpro : estimates rounded to 5 decimals, pa and pe to 15 digits (1e-12).

A figure is checked, or it stands in `CONVENTIONS` (ours differs on purpose, and ours is
asserted), or in `NOT_OURS` (setagree has no such quantity); `test_no_figure_is_dropped` sees to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from golden_support import (
    golden,
    presence,
    printed,
    scores,
)
from scipy import stats

import setagree as sa

EXAMPLES = {example["id"]: example for example in golden("published_examples.json")["examples"]}


@dataclass(frozen=True)
class Figure:
    example: str
    place: int
    quantity: str

    @property
    def entry(self) -> dict[str, Any]:
        """The line of the file the number stands in."""
        return EXAMPLES[self.example]["expected"][self.place]

    @property
    def family(self) -> str:
        """Where the example comes from: dkpro, nltk, irrCAC, ..."""
        return self.example.partition("/")[0]

    def __str__(self) -> str:
        return f"{self.example}-{self.place}-{self.quantity}"


NUMBERS = ("expected", "pa", "pe", "se", "ase", "ase_h0", "ci95", "z", "p", "p_two_sided")


def _figures() -> list[Figure]:
    return [
        Figure(identity, place, entry.get("quantity", key) if key == "expected" else key)
        for identity, example in EXAMPLES.items()
        for place, entry in enumerate(example["expected"])
        for key in NUMBERS
        if key in entry
    ]


FIGURES = _figures()

# What setagree has no function for, by (family, quantity); of irrCAC by (coefficient, quantity).
NOT_OURS = {
    ("dkpro", "MaximumAgreement"): "the largest kappa the marginals allow; a bound, not agreement",
    ("dkpro", "MaximumObservedAgreement"): "the largest pa the marginals allow; a bound again",
    ("statsmodels", "ase_h0"): "SAS: standard error under independence; ours is the sampling one",
    ("statsmodels", "z"): "estimate over its standard error under independence (SAS, R irr)",
    ("statsmodels", "p"): "R irr: normal p of that z; ours is that of estimate / SE",
    ("statsmodels", "p_two_sided"): "SAS: normal p of that z; ours is that of estimate / SE",
    ("krippen.alpha.dist", "se"): "the count form; ours is that of `krippen.alpha.raw`",
    ("krippen.alpha.dist", "ci95"): "rests on the standard error of the count form",
    ("krippen.alpha.dist", "p"): "rests on the standard error of the count form",
}

ONE_VALUE = "dkpro/FullAgreementTest.testFullAgreementSingleUsedCategory#inline"
SETS = "dkpro/SetAnnotationsTest.createExample"

# Where ours differs on purpose, by (example, place): why. Each has its own test below.
CONVENTIONS = {
    (ONE_VALUE, 0): "full agreement on one value",
    (ONE_VALUE, 1): "full agreement on one value",
    (ONE_VALUE, 2): "dkpro says 1; 0/0 is undefined, so ours is nan with a reason",
    (SETS, 7): "dkpro counts two empty sets as sharing nothing; ours is distance 0",
    (SETS, 8): "dkpro gives two empty sets Dice similarity 0; ours is distance 0",
    ("nltk/set_distances", 3): "NLTK divides by zero on two empty sets; ours is distance 0",
}


def _is_ours(figure: Figure) -> bool:
    names = (figure.family, figure.entry.get("coefficient"))
    return not any((name, figure.quantity) in NOT_OURS for name in names)


CHECKED = [
    figure
    for figure in FIGURES
    if _is_ours(figure) and (figure.example, figure.place) not in CONVENTIONS
]

# ---------------------------------------------------------------------------------------------
# The data.


def _value(rating: Any) -> Any:
    return frozenset(rating["set"]) if isinstance(rating, dict) else rating


@cache
def ratings(identity: str) -> pd.DataFrame:
    """List the ratings of a dkpro example, units x raters, each row as often as it counts."""
    rows = [
        [_value(rating) for rating in row["ratings"]]
        for row in EXAMPLES[identity]["data"]["rows"]
        for _ in range(row["count"])
    ]
    if identity == "dkpro/WeightedAgreementTest.createExample":  # "AB" is {A, B}, "" is {}
        rows = [[frozenset(rating) for rating in row] for row in rows]
    names = [f"rater {number}" for number in range(1, len(rows[0]) + 1)]
    return pd.DataFrame(rows, columns=names, dtype=object)


def _table(rows: list[list[Any]], categories: list[Any]) -> sa.Annotations:
    frame = pd.DataFrame(rows, index=categories, columns=categories)
    return sa.Annotations.from_contingency(frame, kind="value")


def _counts(rows: list[list[float]]) -> sa.Tally:
    frame = pd.DataFrame(rows, columns=range(1, len(rows[0]) + 1))
    return sa.Tally.from_counts(frame, kind="value")


def _by_unit(raters: list[list[Any]]) -> list[list[Any]]:
    return [list(unit) for unit in zip(*raters, strict=True)]


def _ranks(rows: list[list[Any]]) -> list[list[int]]:
    """Levels as 1, 2, 3, ... for R irr, which drops the level that nobody used."""
    levels = sorted({value for row in rows for value in row})
    return [[levels.index(value) + 1 for value in row] for row in rows]


@cache
def study(identity: str) -> sa.Annotations | sa.Tally:
    """Code an example: ratings where raters are known, counts where they are not."""
    data = EXAMPLES[identity]["data"]
    match data["form"].partition(" (")[0]:
        case "rows of":
            frame = ratings(identity)
            sets = isinstance(frame.iloc[0, 0], frozenset)
            return sa.Annotations.from_wide(frame, kind="labels" if sets else "value")
        case "contingency table, rows rater 1, columns rater 2":
            return _table(data["table"], data["categories"])
        case "contingency table":
            rows = data.get("table", data.get("rows"))
            return _table(rows, list(range(1, len(rows) + 1)))
        case "counts unit x category":
            header = data.get("header", [])
            skip = header.index("a") if header else 0  # the column Group is not a count
            return _counts([row[skip:] for row in data.get("table", data.get("rows"))])
        case "triples rater, unit, category":
            return sa.Annotations.from_triples(data["triples"], kind="value")
        case "units x raters, null missing":
            return scores(data["rows"])
        case "units x raters" if identity == "statsmodels/irr_anxiety_raters2_3":
            return scores(_ranks([row[1:] for row in data["ratings"]]))
        case "units x raters":
            return scores(data["ratings"])
        case "raters x units, null missing":
            return scores(_by_unit(data["ratings"]))
        case "rater -> values over units 1..15, null missing":
            return scores(_by_unit(list(data["ratings"].values())))
    raise LookupError(f"{identity}: no reader for {data['form']!r}")


# ---------------------------------------------------------------------------------------------
# The names.

COEFFICIENTS = {
    "PercentageAgreement": "percent_agreement",
    "BennettSAgreement": "brennan_prediger",  # Bennett's S: chance is 1/K, as Brennan-Prediger
    "RandolphKappaAgreement": "brennan_prediger",  # the same for many raters
    "ScottPiAgreement": "scott_pi",
    "CohenKappaAgreement": "cohen_kappa",
    "WeightedKappaAgreement": "cohen_kappa",
    "FleissKappaAgreement": "fleiss_kappa",
    "HubertKappaAgreement": "conger_kappa",  # Hubert's pairwise form is Conger's
    "GwetAC1Agreement": "gwet_ac",
    "KrippendorffAlphaAgreement": "krippendorff_alpha",
    "AC1": "gwet_ac",
    "AC2": "gwet_ac",
    "average observed agreement": "percent_agreement",
    "Scott's pi": "scott_pi",
    "Bennett's S": "brennan_prediger",
    "Krippendorff's alpha": "krippendorff_alpha",
    "Fleiss' kappa": "fleiss_kappa",
    "Randolph free-marginal kappa": "brennan_prediger",
    "Cohen's kappa": "cohen_kappa",
    "Cohen's weighted kappa (linear)": "cohen_kappa",
    # R irrCAC, before the dot; .raw takes ratings, .dist counts, .table a two-rater table.
    "pa": "percent_agreement",
    "pa2": "percent_agreement",
    "gwet": "gwet_ac",
    "fleiss": "fleiss_kappa",
    "scott2": "scott_pi",
    "krippen": "krippendorff_alpha",
    "krippen2": "krippendorff_alpha",
    "conger": "conger_kappa",
    "kappa2": "cohen_kappa",
    "bp": "brennan_prediger",
    "bp2": "brennan_prediger",
}

DISTANCES = {
    "NominalDistanceFunction": "nominal",
    "OrdinalDistanceFunction": "ordinal",
    "IntervalDistanceFunction": "interval",
    "RatioDistanceFunction": "ratio",
    "SetAnnotationDistanceFunction": "passonneau_2004",
    "MASISetAnnotationDistanceFunction": "masi_dkpro",
    "unweighted": "nominal",
    "linear (equal)": "linear",
    "quadratic (squared)": "quadratic",
    "dkpro MASI": "masi_dkpro",
    "Passonneau set": "passonneau_2004",
}

# Categories the raters had and did not use, which Bennett's S and Randolph's kappa count.
CODEBOOKS = {
    "dkpro/TwoRaterAgreementTest.testMissingCategories#inline": ["A", "B"],
    "statsmodels/randolph_4": [1, 2, 3],
    "statsmodels/randolph_5": [1, 2],
}

# Artstein & Poesio (2008), p. 568: a check is half as far from a statement or a request.
WAVES = pd.DataFrame(
    [[0, 1, 0.5], [1, 0, 0.5], [0.5, 0.5, 0]],
    index=["STAT", "IReq", "Chck"],
    columns=["STAT", "IReq", "Chck"],
)
# WeightedAgreementTest.java: the order of its rows, and its two tables in units of 1/3 and 1/18.
_ORDER = [frozenset(word) for word in ("", "A", "B", "AB", "AC", "ABC", "C")]
_THIRDS = [
    [0, 1, 1, 1, 1, 1, 1],
    [1, 0, 3, 1, 1, 1, 3],
    [1, 3, 0, 1, 3, 1, 3],
    [1, 1, 1, 0, 2, 1, 3],
    [1, 1, 3, 2, 0, 1, 1],
    [1, 1, 1, 1, 1, 0, 1],
    [1, 3, 3, 3, 1, 1, 0],
]
_EIGHTEENTHS = [
    [0, 6, 6, 6, 6, 6, 6],
    [6, 0, 18, 3, 3, 4, 18],
    [6, 18, 0, 3, 18, 4, 18],
    [6, 3, 3, 0, 8, 2, 18],
    [6, 3, 18, 8, 0, 2, 3],
    [6, 4, 4, 2, 2, 0, 4],
    [6, 18, 18, 18, 3, 4, 0],
]
SUBSETS = pd.DataFrame(np.array(_THIRDS) / 3, index=_ORDER, columns=_ORDER)
SUBSETS_AND_JACCARD = pd.DataFrame(np.array(_EIGHTEENTHS) / 18, index=_ORDER, columns=_ORDER)
# R irr, kappa2(weight = c(0, 0, 1, 1, 2)): the distance of levels 0, 1, 2, 3, 4 apart.
TOEPLITZ = pd.DataFrame(
    [[(0, 0, 1, 1, 2)[abs(k - m)] for m in range(5)] for k in range(5)],
    index=range(1, 6),
    columns=range(1, 6),
)


def distance(figure: Figure) -> str | pd.DataFrame:
    """Find the distance a line of the file means, a name or a labelled matrix."""
    entry = figure.entry
    name = entry.get("distance") or entry.get("weights") or "unweighted"
    if name == "weightedDistanceFunction":
        if figure.example.startswith("dkpro/Artstein"):
            return WAVES
        return SUBSETS if figure.place < 3 else SUBSETS_AND_JACCARD
    if name == "toeplitz 0,0,1,1,2":
        return TOEPLITZ
    if entry["coefficient"] == "Cohen's weighted kappa (linear)":
        return "linear"
    if figure.family == "irrCAC" and name == "ordinal":
        return "ordinal_gwet"
    return DISTANCES.get(name, name)


def coefficient(figure: Figure) -> str:
    name = figure.entry["coefficient"]
    return COEFFICIENTS[name.partition(".")[0] if figure.family == "irrCAC" else name]


@cache
def result(example: str, place: int) -> sa.Agreement:
    """Compute the coefficient one line of the file is about, once."""
    figure = Figure(example, place, "expected")
    options = {}
    if example in CODEBOOKS and coefficient(figure) == "brennan_prediger":
        options["categories"] = CODEBOOKS[example]
    if example == "dkpro/Warrens2012Test.createExample1" and coefficient(figure) == "cohen_kappa":
        rated = sa.Annotations.from_wide(ratings(example).iloc[:, :2], kind="value")
    else:
        rated = study(example)
    return getattr(sa, coefficient(figure))(rated, distance=distance(figure), **options)


# ---------------------------------------------------------------------------------------------
# The quantities.


def _of_category(figure: Figure) -> float:
    """Measure a category by the agreement of present against absent.

    dkpro's category agreement of Cohen's kappa pools the raters' marginals (it says so, after
    Agresti 1992), which makes it Scott's pi of present against absent and not Cohen's kappa.
    """
    name = coefficient(figure)
    binary = presence(ratings(figure.example), figure.entry["category"])
    return getattr(sa, "scott_pi" if name == "cohen_kappa" else name)(binary).estimate


def _of_sets(figure: Figure) -> float:
    function = getattr(sa.distances, distance_name(figure))
    return function(frozenset(figure.entry["a"]), frozenset(figure.entry["b"]))


def distance_name(figure: Figure) -> str:
    """Translate the name of a distance between two sets."""
    name = figure.entry["distance"]
    return DISTANCES.get(name, name)


def _disagreement(figure: Figure, kind: str) -> float:
    """Take alpha's disagreement in units of the distance, dkpro's of kappa as 1 - agreement."""
    agreement = result(figure.example, figure.place)
    if coefficient(figure) == "krippendorff_alpha":
        return getattr(agreement, f"{kind}_disagreement")
    return 1 - getattr(agreement, f"{kind}_agreement")


def _standard_error(figure: Figure) -> float:
    """Translate ours into the formula of the source where that is another one.

    Two-rater tables (irrCAC `.table`, SAS): the large-sample formula of Fleiss, Cohen & Everitt
    (1969) divides by n where the general one divides by n - 1; the linearised values are the
    same, so the two differ by sqrt((n - 1) / n) exactly. irrCAC ignores epsilon in the table
    form of alpha, and on complete data so does ours.
    """
    agreement = result(figure.example, figure.place)
    name = figure.entry["coefficient"]
    if name.endswith(".table") or figure.quantity == "ase" or figure.family == "statsmodels":
        return agreement.standard_error * math.sqrt(1 - 1 / agreement.n_units)
    return agreement.standard_error


def _has_our_standard_error(figure: Figure) -> bool:
    ours = result(figure.example, figure.place).standard_error
    return _standard_error(figure) == ours


def _interval(figure: Figure) -> tuple[float, float]:
    agreement = result(figure.example, figure.place)
    if _has_our_standard_error(figure):
        return agreement.interval(level=0.95, method="t")
    if figure.family == "statsmodels":  # SAS takes the normal quantile
        reach = stats.norm.ppf(0.975) * _standard_error(figure)
    else:
        reach = stats.t.ppf(0.975, agreement.n_units - 1) * _standard_error(figure)
    return agreement.estimate - reach, min(1.0, agreement.estimate + reach)


def _p(figure: Figure) -> float:
    agreement = result(figure.example, figure.place)
    if _has_our_standard_error(figure):
        return _t_test(agreement)
    t = agreement.estimate / _standard_error(figure)
    return float(2 * stats.t.sf(abs(t), agreement.n_units - 1))


def _t_test(agreement: sa.Agreement) -> float:
    """Return the p of the t test; percent agreement has none here, as chance gives more than 0."""
    if agreement.coefficient != "percent_agreement":
        return replace(agreement, requested_method="t").p_value
    t = agreement.estimate / agreement.standard_error
    return float(2 * stats.t.sf(t, agreement.degrees_of_freedom))


MEASURES = {
    "Agreement": lambda figure: result(figure.example, figure.place).estimate,
    "ObservedAgreement": lambda figure: result(figure.example, figure.place).observed_agreement,
    "ExpectedAgreement": lambda figure: result(figure.example, figure.place).expected_agreement,
    "pa": lambda figure: result(figure.example, figure.place).observed_agreement,
    "pe": lambda figure: result(figure.example, figure.place).expected_agreement,
    "ObservedDisagreement": lambda figure: _disagreement(figure, "observed"),
    "ExpectedDisagreement": lambda figure: _disagreement(figure, "expected"),
    "CategoryAgreement": _of_category,
    "se": _standard_error,
    "ase": _standard_error,
    "p": _p,
}


def measure(figure: Figure) -> float:
    if "a" in figure.entry:
        return _of_sets(figure)
    quantity = "Agreement" if figure.quantity == "expected" else figure.quantity
    return MEASURES[quantity](figure)


def tolerance(figure: Figure) -> float:
    """Say how close a figure has to be: what its source claims, else what it prints."""
    entry = figure.entry
    expected = entry[figure.quantity if figure.quantity in entry else "expected"]
    if figure.quantity == "p":  # 8 digits, and the rounding of 1 - F in R
        return 5e-8 * max(expected, 1e-99) + 4.5e-16
    if figure.quantity == "ase":
        return 5e-5
    if "tolerance" in entry:
        return entry["tolerance"]
    if figure.family == "irrCAC":
        return 1e-11
    if "a" in entry or entry["coefficient"] == "average observed agreement":
        return 1e-12  # exact: fractions of small integers
    if figure.family == "dkpro":
        return 1e-12 if figure.quantity in {"pa", "pe"} else 5e-6
    return printed(repr(expected))[1]


# ---------------------------------------------------------------------------------------------
# The tests.

SCALARS = [figure for figure in CHECKED if figure.quantity != "ci95"]
INTERVALS = [figure for figure in CHECKED if figure.quantity == "ci95"]


@pytest.mark.parametrize("example", dict.fromkeys(figure.example for figure in SCALARS))
def test_published_figures(example):
    """Our value of each quantity equals the published one, to the precision of its source."""
    for figure in SCALARS:
        if figure.example == example:
            key = figure.quantity if figure.quantity in figure.entry else "expected"
            expected = pytest.approx(figure.entry[key], rel=0, abs=tolerance(figure))
            assert measure(figure) == expected, figure


@pytest.mark.parametrize("figure", INTERVALS, ids=str)
def test_published_interval(figure):
    """Our interval (t with n - 1 degrees of freedom, cut at 1) equals the published one."""
    bounds = figure.entry["ci95"]
    digits = 4 if isinstance(bounds, list) else 3
    if isinstance(bounds, str):
        bounds = [float(bound) for bound in bounds.strip("()").split(",")]
    assert _interval(figure) == pytest.approx(bounds, rel=0, abs=0.5 * 10**-digits + 1e-9)


def test_no_figure_is_dropped():
    described = {"coefficient", "distance", "weights", "quantity", "category", "a", "b"}
    described |= {"tolerance", "note", "printed_in_vignette"}
    numbers = [
        key
        for example in EXAMPLES.values()
        for entry in example["expected"]
        for key in entry
        if key not in described
    ]
    assert len(numbers) == len(FIGURES) == len(set(FIGURES))
    assert {figure.quantity for figure in CHECKED} <= {*MEASURES, "expected", "ci95"}
    names = {(figure.family, figure.quantity) for figure in FIGURES}
    names |= {(figure.entry.get("coefficient"), figure.quantity) for figure in FIGURES}
    assert set(NOT_OURS) <= names
    elsewhere = {(figure.example, figure.place) for figure in FIGURES} & set(CONVENTIONS)
    assert elsewhere == set(CONVENTIONS)
    assert all(NOT_OURS.values())
    assert all(CONVENTIONS.values())


def test_full_agreement_on_one_value_is_undefined():
    """All raters say A: no disagreement, none expected, so alpha is 0/0 and not dkpro's 1."""
    rated = sa.Annotations.from_wide(ratings(ONE_VALUE), kind="value")
    with pytest.warns(sa.UndefinedAgreementWarning):
        alpha = sa.krippendorff_alpha(rated, distance="nominal")
    assert alpha.observed_disagreement == 0
    assert alpha.expected_disagreement == 0
    assert math.isnan(alpha.estimate)
    assert "one value" in alpha.reason
    assert sa.percent_agreement(rated, distance="nominal").estimate == 1


@pytest.mark.parametrize(("place", "name"), [(7, "any_overlap"), (8, "dice")])
def test_two_empty_sets_agree(place, name):
    """Percent agreement is dkpro's plus 1/9: in one of nine units both raters say {}.

    dkpro's "maximum percentage agreement" asks for a shared label, its Dice agreement is the
    mean Dice similarity, and both call {} against {} no agreement; ours is distance 0.
    """
    published = EXAMPLES[SETS]["expected"][place]
    ours = sa.percent_agreement(study(SETS), distance=name).estimate
    assert ours - 1 / 9 == pytest.approx(published["expected"], abs=published["tolerance"])


def test_masi_of_two_empty_sets_is_zero():
    assert EXAMPLES["nltk/set_distances"]["expected"][3]["expected"] is None
    assert sa.distances.masi(frozenset(), frozenset()) == 0


COMPLETE = "irrCAC/cac.dist4cat[,2:4]"
FLEISS = [
    Figure(COMPLETE, place, "se")
    for place, entry in enumerate(EXAMPLES[COMPLETE]["expected"])
    if entry["coefficient"] == "fleiss.kappa.dist"
]


@pytest.mark.parametrize("figure", FLEISS, ids=lambda figure: figure.entry["weights"])
def test_standard_error_of_alpha_on_complete_data(figure):
    """On complete data the standard error of alpha is that of Fleiss' kappa, as in irrCAC's raw.

    (On these counts irrCAC's `krippen.alpha.dist` prints another one, which is not ours.)
    """
    alpha = sa.krippendorff_alpha(study(COMPLETE), distance=distance(figure))
    assert alpha.standard_error == pytest.approx(figure.entry["se"], abs=1e-11)


def test_counts_and_ratings_give_the_same_coefficients():
    raw, counted = EXAMPLES["irrCAC/data/cac.raw.g1g2"], EXAMPLES["irrCAC/data/cac.dist.g1g2"]
    rated = scores([row[2:] for row in raw["data"]["rows"]])
    frame = pd.DataFrame(
        [row[2:] for row in counted["data"]["rows"]], columns=counted["data"]["header"][2:]
    )
    tally = sa.Tally.from_counts(frame, kind="value")
    for name in ("krippendorff_alpha", "fleiss_kappa", "gwet_ac", "brennan_prediger"):
        by_rater = getattr(sa, name)(rated, distance="nominal")
        by_count = getattr(sa, name)(tally, distance="nominal")
        assert by_count.estimate == pytest.approx(by_rater.estimate, abs=1e-12)
        assert by_count.standard_error == pytest.approx(by_rater.standard_error, abs=1e-12)
        assert by_count.n_pairable_units == by_rater.n_pairable_units == 13


# R irrCAC with MASI weights on the data of Cross Validated 407453; estimate and standard error
# are printed to 5 decimals, the interval to 3, the rest to 12 digits (`output_of_peer`).
PRINTED = """
krippendorff_alpha 0.554307725694 0.253982204861 0.40257 0.15186 0.064 0.741 0.0242749826555
fleiss_kappa       0.553872053872 0.247189062341 0.40738 0.15383 0.065 0.750 0.0243839374205
conger_kappa       0.553872053872 0.231178451178 0.41972 0.14387 0.099 0.740 0.015371278339
gwet_ac            0.553872053872 0.198895804283 0.44311 0.14389 0.123 0.764 0.0116497956661
brennan_prediger   0.553872053872 0.211888888889 0.43393 0.14500 0.111 0.757 0.0135141579353
percent_agreement  0.553872053872 0 0.553872053872 0.11428 0.299 0.808 0.000674663772117
"""


@pytest.mark.parametrize("line", PRINTED.strip().splitlines(), ids=lambda line: line.split()[0])
def test_masi_print_out_of_irrcac(line):
    rows = EXAMPLES["stackexchange/407453_three_coders"]["data"]["ratings"]
    rated = sa.Annotations.from_wide(pd.DataFrame(rows, columns=["A", "B", "C"], dtype=object))
    name, *figures = line.split()
    agreement = sa.agreement(rated, coefficient=name, distance="masi", interval="t")[0]
    ours = [
        agreement.observed_agreement,
        agreement.expected_agreement,
        agreement.estimate,
        agreement.standard_error,
        *agreement.interval(level=0.95),
        agreement.p_value if name != "percent_agreement" else _t_test(agreement),
    ]
    for value, text in zip(ours, figures, strict=True):
        expected, half_a_unit = printed(text)
        assert value == pytest.approx(expected, rel=0, abs=half_a_unit)

"""Four real multi-label data sets, read from the folder SETAGREE_DATA: golden/datasets.json.

Birth certificate (the file's `meta` has it in full): alpha from NLTK 3.10.4 and, where it fits
into memory, krippendorff 0.9.0; the other coefficients, pa, pe and the standard errors from R
irrCAC 1.0 sources with rounding removed, on the matrix of units x distinct label sets; binary
alphas from krippendorff 0.9.0. Tolerance 1e-9: the peers differ by up to 2.5e-13 among
themselves on sums over 50,000 ratings, and print 15 digits.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from golden_support import golden

import setagree as sa

pytestmark = [
    pytest.mark.skipif(
        "SETAGREE_DATA" not in os.environ,
        reason="the real annotations are not in the project: set SETAGREE_DATA to their folder",
    ),
    # Two of the datasets have a label NONE, which is counted as it was exported.
    pytest.mark.filterwarnings(
        "ignore:.* read as a label like any other:setagree.errors.MissingMarkerWarning"
    ),
]

GOLDEN = golden("datasets.json")
DATASETS = GOLDEN["datasets"]
CASES = [
    (dataset, distance, coefficient)
    for dataset, entry in DATASETS.items()
    for distance, coefficients in entry["coefficients"].items()
    for coefficient in coefficients
]
PAIRS = [
    (dataset, distance) for dataset, entry in DATASETS.items() for distance in entry["coefficients"]
]
LABELS = [
    (dataset, label)
    for dataset, entry in DATASETS.items()
    for label in entry["per_label_binary_alpha"]
]
CLOSE = 1e-9


@cache
def exported(file: str) -> pd.DataFrame:
    """Read the CSV as text, with nothing turned into missing (one label is called None)."""
    folder = Path(os.environ["SETAGREE_DATA"])
    return pd.read_csv(folder / file, dtype=str, keep_default_na=False)


@cache
def ratings(dataset: str) -> pd.DataFrame:
    """Choose the rows the figures were made from: unit, rater, answer ("" the empty set)."""
    entry = DATASETS[dataset]
    frame = exported(entry["file"]).drop_duplicates(["unit", "rater"])  # the first rating counts
    if dataset.endswith("abusive_only"):
        frame = frame[frame["severity"].astype(int) < 0]
    answer = frame[entry["label_column"]]
    if dataset.endswith("none_as_empty"):
        answer = answer.mask(answer.isin(["NONE", "None"]), "")
    return frame[["unit", "rater"]].assign(answer=answer).reset_index(drop=True)


@cache
def study(dataset: str) -> sa.Annotations:
    """Code the data set, once."""
    return sa.Annotations.from_long(ratings(dataset), labels="answer", blank="empty")


@cache
def result(dataset: str, distance: str, coefficient: str) -> sa.Agreement:
    """Compute one coefficient of one data set under one distance, once."""
    return getattr(sa, coefficient)(study(dataset), distance=distance)


@cache
def answers(dataset: str) -> pd.Series:
    """Parse the label sets here and not by setagree."""
    text = ratings(dataset)["answer"]
    return text.map(lambda cell: frozenset(cell.split(", ")) if cell else frozenset())


def pairable(dataset: str) -> int:
    """Count the ratings in units with two ratings or more, from the file."""
    sizes = {int(size): units for size, units in DATASETS[dataset]["ratings_per_unit"].items()}
    return sum(size * units for size, units in sizes.items() if size >= 2)


@pytest.mark.parametrize("dataset", DATASETS)
def test_counts_of_a_dataset(dataset):
    entry, coded = DATASETS[dataset], study(dataset)
    assert coded.n_units == entry["n_units"]
    assert coded.n_raters == entry["n_raters"]
    assert coded.n_ratings == entry["n_ratings"]
    assert coded.n_values == entry["n_distinct_sets"]
    assert len(coded.labels) == entry["n_labels"]
    alpha = result(dataset, "nominal", "krippendorff_alpha")
    assert alpha.n_units == entry["n_units"]
    assert alpha.n_pairable_units == entry["n_units_2plus"]
    sizes = coded.to_long()["unit"].value_counts().value_counts()
    assert {str(size): units for size, units in sizes.items()} == entry["ratings_per_unit"]


@pytest.mark.parametrize("dataset", DATASETS)
def test_sets_of_a_dataset(dataset):
    entry = DATASETS[dataset]
    sizes = study(dataset).to_long()["labels"].map(len)
    assert (sizes == 0).mean() == pytest.approx(entry["share_empty"], abs=1e-12)
    assert sizes.mean() == pytest.approx(entry["mean_set_size"], abs=1e-12)
    assert (sizes > 1).mean() == pytest.approx(entry["share_multi"], abs=1e-12)


@pytest.mark.parametrize(("dataset", "distance", "coefficient"), CASES)
def test_coefficient_of_a_dataset(dataset, distance, coefficient):
    figures = DATASETS[dataset]["coefficients"][distance][coefficient]
    agreement = result(dataset, distance, coefficient)
    for peer in [name for name in figures if name.startswith("value")]:
        if figures[peer] is not None:  # krippendorff 0.9.0 could not hold the largest sets
            assert agreement.estimate == pytest.approx(figures[peer], abs=CLOSE), peer
    assert agreement.observed_agreement == pytest.approx(figures["pa"], abs=CLOSE)
    assert agreement.expected_agreement == pytest.approx(figures["pe"], abs=CLOSE)


@pytest.mark.parametrize(("dataset", "distance", "coefficient"), CASES)
def test_standard_error_of_a_dataset(dataset, distance, coefficient):
    """The standard error of every coefficient is that of irrCAC without rounding.

    For alpha that is `krippen.alpha.raw`, the form for ratings; `se_count_form` in the file is the
    other form of the package, for counts, which `krippen.alpha.dist` prints.
    """
    figures = DATASETS[dataset]["coefficients"][distance][coefficient]
    agreement = result(dataset, distance, coefficient)
    assert agreement.standard_error == pytest.approx(figures["se"], abs=CLOSE)


@pytest.mark.parametrize("distance", ["nominal", "jaccard", "masi"])
def test_standard_error_of_alpha_on_complete_data(distance):
    figures = DATASETS["hs_brexit"]["coefficients"][distance]["fleiss_kappa"]
    alpha = result("hs_brexit", distance, "krippendorff_alpha")
    assert alpha.standard_error == pytest.approx(figures["se"], abs=CLOSE)


@pytest.mark.parametrize("distance", ["nominal", "jaccard", "masi"])
def test_standard_error_of_alpha_is_near_the_jackknife(distance):
    """Leaving each of the 50 units out in turn gives our standard error within 3 percent.

    The jackknife needs no formula, so it is the judge between the two forms of irrCAC.
    """
    frame = ratings("person_video/as_exported")
    rest = [frame[frame["unit"] != unit] for unit in frame["unit"].unique()]
    alphas = [
        sa.krippendorff_alpha(sa.Annotations.from_long(part, labels="answer"), distance=distance)
        for part in rest
    ]
    estimates = np.array([alpha.estimate for alpha in alphas])
    n = len(estimates)
    jackknife = np.sqrt((n - 1) / n * ((estimates - estimates.mean()) ** 2).sum())
    alpha = result("person_video/as_exported", distance, "krippendorff_alpha")
    assert alpha.standard_error == pytest.approx(jackknife, rel=0.03)


@pytest.mark.parametrize(("dataset", "distance"), PAIRS)
def test_disagreements_of_alpha(dataset, distance):
    """Do and De follow from the peers' pa and pe: pa = 1 - Do (1 - 1/N), pe = 1 - De (N - 1)/N."""
    figures = DATASETS[dataset]["coefficients"][distance]["krippendorff_alpha"]
    shrink = 1 - 1 / pairable(dataset)
    alpha = result(dataset, distance, "krippendorff_alpha")
    assert alpha.observed_disagreement == pytest.approx((1 - figures["pa"]) / shrink, abs=CLOSE)
    assert alpha.expected_disagreement == pytest.approx((1 - figures["pe"]) / shrink, abs=CLOSE)


# Many labels are rare; their alpha is what counts here, not its interval.
@pytest.mark.parametrize(("dataset", "label"), LABELS)
def test_binary_alpha_of_a_label(dataset, label):
    figures = DATASETS[dataset]["per_label_binary_alpha"][label]
    present = answers(dataset).map(lambda value: int(label in value))
    assert present.sum() == figures["count"]
    frame = ratings(dataset).assign(present=present)
    binary = sa.krippendorff_alpha(sa.Annotations.from_long(frame, value="present"))
    assert binary.estimate == pytest.approx(figures["alpha"], abs=CLOSE)


@pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval"])
def test_alpha_of_the_severity_in_convabuse(distance):
    frame = exported("convabuse.csv").drop_duplicates(["unit", "rater"])
    frame = frame.assign(severity=frame["severity"].astype(int))
    severity = sa.Annotations.from_long(frame, value="severity")
    expected = GOLDEN["meta"]["convabuse_severity_alpha"][distance]
    assert sa.krippendorff_alpha(severity, distance=distance).estimate == pytest.approx(
        expected, abs=CLOSE
    )


def test_alpha_of_abusive_in_convabuse():
    frame = exported("convabuse.csv").drop_duplicates(["unit", "rater"])
    frame = frame.assign(abusive=(frame["severity"].astype(int) < 0).astype(int))
    abusive = sa.krippendorff_alpha(sa.Annotations.from_long(frame, value="abusive"))
    expected = GOLDEN["meta"]["convabuse_severity_alpha"]["binary abusive (severity<0)"]
    assert abusive.estimate == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize("dataset", ["convabuse/types_all", "medrel/as_exported"])
def test_first_of_repeated_ratings(dataset):
    """`duplicates="first"` on the exported file keeps the ratings the figures were made from."""
    entry = DATASETS[dataset]
    everything = sa.Annotations.from_long(
        exported(entry["file"]), labels="labels", blank="empty", duplicates="first"
    )
    assert everything.n_ratings == entry["n_ratings"]
    alpha = sa.krippendorff_alpha(everything, distance="masi").estimate
    expected = entry["coefficients"]["masi"]["krippendorff_alpha"]["value"]
    assert alpha == pytest.approx(expected, abs=CLOSE)


def test_repeated_ratings_are_refused():
    with pytest.raises(sa.SetagreeError, match="345 pairs"):
        sa.Annotations.from_long(exported("convabuse.csv"), labels="labels", blank="empty")

"""Alpha on numeric scales: golden/scales.json and two calculations by hand.

Birth certificate: Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", for the data
of `krippendorff_4x12`; the other studies are hand-sized. Rows are observers, columns are units,
null is missing; `observed` and `expected` are Do and De. Every figure of the file equals the exact
fraction of the paper's formulas, and the nominal, ordinal, interval and ratio alphas those of the
package krippendorff 0.9.0. Tolerance: 1e-12, relative for the ordinal disagreements, which are
squared counts up to 256; that is a few roundings of a double and nothing else.
"""

from __future__ import annotations

import pytest
from golden_support import golden, scores

import setagree as sa

STUDIES = golden("scales.json")
CASES = [
    (study, distance)
    for study, entry in STUDIES.items()
    for distance in entry
    if distance != "rows"
]


def by_unit(rows):
    """Code rows of observers as units x raters."""
    return scores([list(unit) for unit in zip(*rows, strict=True)])


@pytest.mark.parametrize(("study", "distance"), CASES)
def test_alpha_on_a_scale(study, distance):
    figures = STUDIES[study][distance]
    alpha = sa.krippendorff_alpha(by_unit(STUDIES[study]["rows"]), distance=distance)
    close = {"rel": 1e-12, "abs": 1e-12}
    assert alpha.observed_disagreement == pytest.approx(figures["observed"], **close)
    assert alpha.expected_disagreement == pytest.approx(figures["expected"], **close)
    assert alpha.estimate == pytest.approx(figures["alpha"], **close)


@pytest.mark.parametrize(
    ("distance", "rows", "alpha"),
    [
        # Hand calculations stated in the tests of krippendorff (fast-krippendorff),
        # test_circular_bipolar.py: "exact hand calculation", 0.5625 and 18/23.
        ("circular", [[0, 1, 2, 3], [0, 2, 2, 0]], 9 / 16),
        ("bipolar", [[-1, 0, 1], [-1, 1, 1]], 18 / 23),
    ],
)
def test_alpha_by_hand_on_circular_and_bipolar_scales(distance, rows, alpha):
    assert sa.krippendorff_alpha(by_unit(rows), distance=distance).estimate == pytest.approx(
        alpha, abs=1e-12
    )


def test_an_alias_names_the_same_scale():
    study = by_unit(STUDIES["krippendorff_4x12"]["rows"])
    quadratic = sa.krippendorff_alpha(study, distance="quadratic").estimate
    assert quadratic == sa.krippendorff_alpha(study, distance="interval").estimate

"""The raters that intervals are about: these, a pool of them if they are a crowd, or like them."""

from __future__ import annotations

import pytest
from results_support import flat

import setagree as sa

POOL = "this pool of 40 raters"
STUDY = sa.simulate(60, 40, missing=0.9, rng=1)
ALPHA = sa.krippendorff_alpha(STUDY)
PANEL = sa.krippendorff_alpha(sa.simulate(60, 3, rng=1))

SENTENCES = {
    "plan": lambda: flat(sa.plan(ALPHA)) + repr(sa.plan(ALPHA)),
    "compare": lambda: flat(sa.compare(ALPHA, sa.fleiss_kappa(STUDY))),
    "difference": lambda: flat(
        sa.plan(sa.compare(ALPHA, sa.krippendorff_alpha(STUDY, distance="nominal")))
    ),
    "monitor": lambda: (
        sa.monitor(
            STUDY, batch={unit: k // 20 for k, unit in enumerate(STUDY.units)}, threshold=0.2
        ).method
    ),
    "bootstrap": lambda: flat(sa.bootstrap(ALPHA, n_resamples=50, rng=1)),
    "jackknife": lambda: repr(sa.jackknife(ALPHA)),
    "at_least": lambda: sa.at_least(ALPHA, 0.9).verdict,
    "benchmark": lambda: flat(sa.benchmark(ALPHA)),
    "methods": lambda: sa.methods_text(ALPHA),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_crowd_is_a_pool(name):
    found = SENTENCES[name]()
    assert POOL in found
    assert "these raters" not in found


def test_columns_keep_two_values():
    assert '"about": "these raters"' in sa.plan(ALPHA).to_json()
    assert '"about": "these raters"' in sa.plan(PANEL).to_json()


def test_a_sample_of_raters():
    assert "raters like these" in flat(sa.bootstrap(ALPHA, over="both", n_resamples=50, rng=1))


def test_tallies():
    """A tally shows a crowd if it keeps raters."""
    kept = sa.Tally.from_annotations(STUDY, keep_raters=True)
    assert POOL in flat(sa.plan(sa.krippendorff_alpha(kept)))
    bare = sa.Tally.from_annotations(STUDY)
    assert "these raters" in flat(sa.plan(sa.krippendorff_alpha(bare)))


def test_several_studies():
    other = sa.krippendorff_alpha(sa.simulate(60, 50, missing=0.9, rng=2))
    apart = {"design": "independent"}
    assert "About these pools of raters." in flat(sa.compare(ALPHA, other, **apart))
    assert "About these raters." in flat(sa.compare(ALPHA, PANEL, **apart))

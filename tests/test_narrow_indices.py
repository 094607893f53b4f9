"""Everything works where indices have 32 bits, as they have in a browser."""

import inspect

import every_function
import numpy as np
import pytest
from narrow_indices import NUMPY, replacements

import setagree as sa

# What the questions of `every_function` do not ask: they are no functions of a study.
NOT_ASKED = {
    *("Agreement", "AgreementTable", "Annotations", "CallableDistance", "Coefficient", "Distance"),
    *("LabelSet", "OverlapDistance", "Reading", "SetagreeError", "SetagreeWarning", "Tally"),
    *("UndefinedAgreementWarning", "Weights", "distances", "plots", "formats", "coefficient"),
    *("PlanCosts", "PlanGoals", "acceptance_plan", "acceptance_test"),
    *("by_question", "distance_matrix", "format_labels", "parse_labels", "panel_scorer"),
    "simulate",
}


@pytest.fixture
def narrow(monkeypatch, few_draws):
    """Let setagree see a numpy whose indices have 32 bits."""
    for place, name, other in replacements():
        monkeypatch.setattr(place, name, other)


def test_the_numpy_refuses_what_that_of_a_browser_does():
    wide = np.arange(3).astype(NUMPY.int64)
    for refuse in (
        lambda: NUMPY.bincount(wide),
        lambda: NUMPY.repeat(wide, wide),
        lambda: NUMPY.repeat(wide, repeats=wide),
        lambda: NUMPY.add.reduceat(np.ones(3), wide),
        lambda: NUMPY.take(np.ones(3), wide),
        lambda: NUMPY.bincount(NUMPY.random.default_rng(0).integers(3, size=3)),
        lambda: NUMPY.bincount(wide * np.arange(3)),
        lambda: NUMPY.bincount(NUMPY.divmod(wide, 2)[0]),
    ):
        with pytest.raises(TypeError, match="int64"):
            refuse()
    assert NUMPY.bincount(wide.astype(np.intp)).tolist() == [1, 1, 1]
    assert NUMPY.add.reduceat(np.ones(3), [0, 1]).tolist() == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sets", "crowd", "vocabulary", "large", "numbers", "categories"])
def test_everything_works_with_indices_of_32_bits(narrow, kind):
    n_asked, errors = every_function.errors_of(kind)
    assert n_asked > 50
    assert errors == {}


def test_every_function_is_asked():
    text = inspect.getsource(every_function)
    missing = {name for name in sa.__all__ if f"sa.{name}(" not in text and f'"{name}"' not in text}
    assert missing - NOT_ASKED == set()

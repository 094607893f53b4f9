"""What one call may cost, and how more is refused."""

import pytest

import setagree as sa
from setagree.checks import MOST_BYTES, MOST_STEPS, check_cost
from setagree.errors import CostError


def test_what_fits_passes():
    """Costs up to the limits are no error."""
    check_cost("A table", n_bytes=MOST_BYTES, n_steps=MOST_STEPS, instead="-")


def test_memory_is_named():
    """The sentence has the reckoned memory, the limit and the smaller request."""
    with pytest.raises(CostError, match=r"^A table would take about 3\.1 GB .* Ask for less\.$"):
        check_cost("A table", n_bytes=3.1e9, instead="Ask for less.")


def test_steps_are_named():
    """The same for the steps; it can be caught as every other error of setagree."""
    with pytest.raises(sa.SetagreeError, match=r"about 20,000,000,000 steps; the limit is"):
        check_cost("A test", n_steps=2e10, instead="Ask for less.")

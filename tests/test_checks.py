"""What one call may cost, and how more is refused."""

import numpy as np
import pytest
from inference_support import HARD, score

import setagree as sa
from setagree.checks import MOST_BYTES, MOST_STEPS, check_cost
from setagree.errors import CostError, OptionError


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


class TestLevels:
    """A confidence level is a number, and what is none is refused in a sentence."""

    @pytest.mark.parametrize("level", ["0.95", None, 95, 1, np.array([0.9]), [0.9], float("nan")])
    def test_refused(self, level):
        """Text, nothing, a list, or a number outside of (0, 1), wherever a level is asked for."""
        alpha = score(HARD, "krippendorff_alpha")
        other = score(HARD, "fleiss_kappa")
        ask = [
            alpha.interval,
            lambda level: alpha.to_frame(level=level),
            sa.bootstrap(alpha, n_resamples=10, rng=1).interval,
            lambda level: sa.compare(alpha, other, level=level),
        ]
        for one in ask:
            with pytest.raises(OptionError, match=r"level=.* must lie between 0 and 1, such as"):
                one(level)

    @pytest.mark.parametrize("level", [0.9, np.float64(0.9)])
    def test_taken(self, level):
        """Floats of Python and of numpy are levels."""
        alpha = score(HARD, "krippendorff_alpha")
        assert alpha.interval(level) == alpha.interval(0.9)

"""Numbers, shares, levels and p-values: each is spelled in one way wherever it is read."""

import numpy as np
import pandas as pd
import pytest

from setagree.errors import OptionError
from setagree.wording.number_format import (
    DASH,
    MINUS,
    count,
    four,
    four_interval,
    interval,
    level_text,
    number,
    p_four,
    p_phrase,
    p_value,
    rough,
    share,
    two_digits,
)

NOTHING = (None, np.nan, np.float32("nan"), pd.NA)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (number(0.12345), "0.123"),
        (number(-0.5), f"{MINUS}0.500"),
        (number(-0.0001), "0.000"),
        (number(0.0001, signed=True), "0.000"),
        (number(0.25, digits=1, signed=True), "+0.2"),
        (number(np.inf), "∞"),
        (number(-np.inf), f"{MINUS}∞"),
        (four(-0.5), "-0.5000"),
        (four(-0.00001), "0.0000"),
        (four_interval(-0.5, 1), "-0.5000, 1.0000"),
        (interval(-0.5, 1.0), f"{MINUS}0.500 to 1.000"),
        (share(0.5), "50%"),
        (share(0.05), "5.0%"),
        (share(0.0123), "1.2%"),
        (share(0.0), "0%"),
        (share(0.0001), "<0.1%"),
        (share(0.0005), "0.1%"),
        (share(0.0999), "10%"),
        (share(0.9949), "99%"),
        (share(0.996), "99.6%"),
        (share(2999 / 3000), ">99.9%"),
        (share(1.0), "100%"),
        (level_text(0.95), "95%"),
        (level_text(0.999), "99.9%"),
        (level_text(0.9999999), "99.99999%"),
        (level_text(0.975), "97.5%"),
        (count(3), "3"),
        (count(0.5), "0.50"),
        (count(2.5), "2.50"),
        (count(1234.0), "1,234"),
        (count(1234.5), "1,234"),
        (two_digits(0.015), "0.015"),
        (two_digits(1.54), "1.5"),
        (two_digits(23.4), "23"),
        (rough([0.2, np.nan]), ""),
    ],
)
def test_numbers_as_text(made, text):
    assert made == text


@pytest.mark.parametrize("nothing", NOTHING)
def test_nothing_is_a_dash(nothing):
    assert [f(nothing) for f in (number, share, count, p_value)] == [DASH] * 4
    assert [f(nothing) for f in (four, p_four)] == ["-"] * 2
    assert [interval(nothing, 1.0), four_interval(nothing, 1.0)] == [DASH, "-"]
    assert p_phrase(nothing) == "p undefined"


@pytest.mark.parametrize(
    ("p", "three", "four_digits"),
    [
        (1.0, "1.000", "1.0000"),
        (0.0312, "0.031", "0.0312"),
        (0.001, "0.001", "0.0010"),
        (0.0009, "<0.001", "0.0009"),
        (0.0001, "<0.001", "0.0001"),
        (0.00009, "<0.001", "<0.0001"),
        (0.0, "<0.001", "<0.0001"),
    ],
)
def test_p_values(p, three, four_digits):
    """A p below the last digit is said to be smaller than it, never rounded up to it."""
    assert (p_value(p), p_four(p)) == (three, four_digits)
    sign = "p < " if three.startswith("<") else "p = "
    assert p_phrase(p) == sign + three.removeprefix("<")


def test_levels_are_checked():
    with pytest.raises(OptionError, match="level"):
        level_text(95)

from math import inf, isnan, nan

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from setagree.coefficients.tails import (
    log_t_density,
    normal_quantile,
    normal_tail,
    t_quantile,
    t_tail,
)

DFS = [1, 1.5, 2, 2.3, 4, 7.7, 10, 30, 59.9, 60.1, 299, 1000, 1e5, 1e7]


@pytest.mark.parametrize("df", DFS)
def test_t_is_that_of_scipy(df):
    for t in [0, 0.01, 0.3, 0.99, 1, 1.7, 1.74, 2, 3, 8, 30]:
        assert t_tail(df, t) == pytest.approx(stdtr(df, -t), rel=1e-13, abs=1e-290)
        assert t_tail(df, -t) == pytest.approx(stdtr(df, t), rel=1e-13)
        assert log_t_density(df, t) == pytest.approx(stats.t.logpdf(t, df), rel=1e-12)
    for p in [0.45, 0.3, 0.1, 0.05, 0.025, 0.005, 1e-6, 1e-10]:
        assert t_quantile(df, p) == pytest.approx(-stdtrit(df, p), rel=1e-13)
        assert t_quantile(df, 1 - p) == pytest.approx(-stdtrit(df, 1 - p), rel=1e-13)


@pytest.mark.parametrize("df", [0.4, *DFS])
def test_quantiles_far_out_have_their_tail(df):
    # scipy's own stdtr(2.3, stdtrit(2.3, 1e-150)) is 8.5 times 1e-150
    for p in [0.499, 1e-20, 1e-150, 1e-300]:
        assert t_tail(df, t_quantile(df, p)) == pytest.approx(p, rel=1e-12)


def test_the_normal_distribution_is_that_of_scipy():
    for z in np.linspace(-8, 30, 200):
        assert normal_tail(z) == pytest.approx(ndtr(-z), rel=1e-13)
    for p in [0.999, 0.5, 0.3, 0.025, 1e-6, 1e-300]:
        assert normal_quantile(p) == pytest.approx(-ndtri(p), rel=1e-13)


def test_limits():
    assert t_tail(3, inf) == 0
    assert t_tail(inf, 2) == normal_tail(2)
    assert t_quantile(inf, 0.025) == normal_quantile(0.025)
    assert t_quantile(3, 0.5) == 0
    assert isnan(t_tail(3, nan))
    assert isnan(t_tail(0, 1))
    assert isnan(t_quantile(nan, 0.5))
    assert isnan(t_quantile(nan, 0.025))

"""Columns of objects, and everything that is no answer."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd

from setagree.study import codes as coding

MISSING_CELLS = (
    None,
    float("nan"),
    np.float32("nan"),
    pd.NA,
    pd.NaT,
    np.datetime64("NaT"),
    np.timedelta64("NaT"),
    decimal.Decimal("NaN"),
)


def objects(*cells):
    return pd.Series(coding.as_objects(cells), name="labels")

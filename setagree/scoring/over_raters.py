"""The coefficient without each rater, and how sure it is of raters like these."""

from __future__ import annotations

import numpy as np

from setagree.checks import check_cost
from setagree.coefficients.chance import ROUNDING, Floats
from setagree.coefficients.leave_rater_out import Absence, without_raters
from setagree.coefficients.spread import Spread
from setagree.errors import counted
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score_part
from setagree.study.annotations import Annotations

_STEPS_A_RATING = 20
_FEWEST = 3
"""Raters that must be there to say how far other raters would agree."""


def without_each_rater(agreement: Agreement, study: Annotations) -> Floats:
    """Return the estimate without each rater; nan where nothing is left to compute.

    In closed form, but for what has lost its digits there, and for units with sampling weights.
    """
    if agreement.case.is_weighted and (sample := agreement.case.sample) is not None:
        check_cost(
            f"Leaving out each rater of a study with {sample.said}",
            n_steps=_STEPS_A_RATING * float(study.n_raters * study.n_ratings),
            instead="Take part of the raters: without_raters.",
        )
        values, anew = np.full(study.n_raters, np.nan), np.ones(study.n_raters, dtype=bool)
    else:
        absence = Absence(agreement.case, study)
        values, anew = without_raters(absence, agreement.definition.model)
    if agreement.reason is not None:
        values[:] = np.nan
    for g in np.flatnonzero(anew & np.isfinite(agreement.estimate)).tolist():
        values[g] = score_part(agreement, study.take(study.rater_codes != g)).estimate
    return values


def two_way_spread(agreement: Agreement) -> Spread:
    """Return the standard error of units and raters that are both a sample, by the jackknife.

    SE² = SE_units² + SE_raters², SE_raters² = (R - 1) / R sum_g (value without g - mean)², and t
    with R - 1 degrees of freedom (fewer where clusters leave fewer). The sum counts some of the
    spread twice, and so errs on the side of width where a crowd gave few ratings each.
    """
    study, R = agreement.study, agreement.n_raters or 0
    why = None
    if study is None:
        why = "to leave out raters it must be known who gave what, and a tally does not know"
    elif R < _FEWEST:
        why = f"{counted(R, 'rater')} cannot show how other raters would agree; three could"
    elif not agreement.standard_error > 0:
        why = agreement.interval_reason
    if why is not None or study is None:
        return Spread(float("nan"), R - 1.0, why)
    values = without_each_rater(agreement, study)
    if not np.isfinite(values).all():
        n = int((~np.isfinite(values)).sum())
        why = f"the coefficient is undefined without {counted(n, 'rater')} of {R:,}"
        return Spread(float("nan"), R - 1.0, why)
    of_raters = float(np.sqrt((R - 1) / R * ((values - values.mean()) ** 2).sum()))
    error = float(np.hypot(agreement.standard_error, of_raters if of_raters > ROUNDING else 0.0))
    df = R - 1.0 if agreement.case.sample is None else min(R - 1.0, agreement.degrees_of_freedom)
    return Spread(error, df)

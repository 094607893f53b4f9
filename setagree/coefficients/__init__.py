"""Coefficients from a tally and weights: arrays only, without text or warnings.

Alpha, Fleiss' kappa and their standard errors, in the order of computation:

    ==============  ==================================================================
    c_ik            `study.tally.Tally.of`: how often unit i has the answer k; equal units are one
                    pattern with a multiplicity. A missing answer has no code, and a unit
                    without answers is not in the tally (`study.reading.Reading` states what
                    a blank cell is).
    r_i             `Tally.pattern_ratings`: the number of answers to unit i, at least 1
    D, d_max        `credit.base.Weights`: the distances, and 1 if they are bounded by 1, else the
                    largest. All disagreements are divided by d_max, which cancels in the
                    coefficient and in its error.
    x_i             `case.Case.mean_disagreement`: the mean distance of two answers to unit i
    n_i ... own_i   `sums.features`: what a unit adds to the five sums, for alpha and for the kappas
    n, M, O, P      `sums.UnitSums.totals`
    X, F X          `UnitSums.urn` and `to_values`; c_i' F X is `to_urn`, and X' F X is `form`
    y, y_i          `UnitSums.y`, `y_i`: the disagreement expected by chance, and the mean distance
                    from the answers of unit i to the urn
    1 - x / y       `UnitSums.estimate`: the coefficient
    z_i             `UnitSums.linearised`, with the coefficients of `slopes`
    standard error  `sums.standard_error` of z_i
    ==============  ==================================================================

All else in `sums` is for sampling weights, strata, resamples and leaving out units; without them
the masses of all units are `Tally.multiplicity`. `scoring.results.sums_of` makes the sums of a
study, and `Agreement.standard_error` there computes the error on request. The other modules are:

- `conger`: 1 - pe of Conger's and Cohen's kappa, with an urn for each rater; `multivalued`: of
  alpha for multi-valued data.
- `measured`: `SizedAlpha`, alpha of units with sizes (spans), which leaves out pairs of one rater.
- `uncertain`: standard errors if units were drawn in clusters, with weights or from strata, and
  differences and means of estimates; `score_interval`: the interval that needs no standard error.
- `tails`: tail probabilities and quantiles of the normal and the t distribution.
- `parts`: the coefficient of each group of units, and of the study without each rater.
"""

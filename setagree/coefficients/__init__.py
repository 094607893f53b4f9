"""Coefficients from a tally and weights: arrays only, without text or warnings.

Read in this order:

- `sums`: Krippendorff's alpha, Fleiss' kappa and the other coefficients with one urn, as a function
  of five sums over units. `estimate` returns the coefficient, pa and pe; `features` and
  `UnitSums.sums` are the sums, `UnitSums.chance` is 1 - pe, `UnitSums.linearised` the linearised
  values with the coefficients of `slopes`, and `standard_error` the standard error of them. What
  follows `linearised` is for sampling weights, spans, resamples and leaving out units.
- `chance_models`: the form of each chance model (`Urn`); `conger`: 1 - pe of Conger's and Cohen's
  kappa, with an urn for each rater; `multivalued`: of alpha for multi-valued data.
- `case`: the study under one distance that all of these take (`Case`), and q_i, the disagreement
  within units.
- `measured`: alpha of units with sizes (spans), which leaves out pairs of one rater.
- `estimated`: standard errors if units were drawn in clusters, with weights or from strata, and
  differences and means of estimates; `score_interval`: the interval that needs no standard error.
- `tails`: tail probabilities and quantiles of the normal and the t distribution.
- `parts`: the coefficient of each group of units, and of the study without each rater.
"""

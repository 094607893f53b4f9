"""Coefficients from a tally and weights: arrays only, without text or warnings.

Read in this order:

- `sums`: alpha, Fleiss and the other coefficients with one urn, as a function of five sums over
  units (`estimate`), and their linearised values (`slopes`), of which `standard_error` is made.
- `chance_models`: 1 - pe of each coefficient; `conger`: of Conger's and Cohen's kappa, with an urn
  for each rater; `multivalued`: of alpha for multi-valued data.
- `chance`: the study under one distance that all of these take (`Case`), and q_i, the disagreement
  within units.
- `estimated`: standard errors if units were drawn in clusters, with weights or from strata, and
  differences and means of estimates; `score_interval`: the interval that needs no standard error.
- `parts`: the coefficient of each group of units, and of the study without each group or rater.
- `shuffler`: the coefficient of studies whose answers are permuted.
"""

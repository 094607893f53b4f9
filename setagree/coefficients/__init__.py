"""Coefficients from a tally and weights: arrays only, without text or warnings.

Alpha, Fleiss' kappa and their standard errors, in the order of computation:

1. `study.tally.Tally.of` counts c_ik, the answers k to unit i, from the integer codes of a study;
   equal rows are one pattern. `credit.base.Weights` has the distances D and the largest, d_max.
2. `Case.mean_disagreement` in `case` is x_i, the mean distance between two answers to a unit.
3. `estimate` in `sums` returns the coefficient as a function of five sums over units, which
   `features` defines for alpha and for the kappas. `UnitSums.chance` is 1 - pe; `Urn` in
   `chance_models` has its form F.
4. `UnitSums.linearised` and `slopes` are the linearised values of the units, and `standard_error`
   is the standard error of units drawn one by one. `scoring.scorer.make_agreement` takes these.

All else in `sums` is for clusters, sampling weights, spans, resamples and leaving out units. The
other modules are:

- `conger`: 1 - pe of Conger's and Cohen's kappa, with an urn for each rater; `multivalued`: of
  alpha for multi-valued data.
- `measured`: alpha of units with sizes (spans), which leaves out pairs of one rater.
- `estimated`: standard errors if units were drawn in clusters, with weights or from strata, and
  differences and means of estimates; `score_interval`: the interval that needs no standard error.
- `tails`: tail probabilities and quantiles of the normal and the t distribution.
- `parts`: the coefficient of each group of units, and of the study without each rater.
"""

"""Coefficients from a tally and weights: arrays only, without text or warnings.

Alpha, Fleiss' kappa and their standard errors are computed in `sums`, the chance models in
`chance_models`, and Conger's and Cohen's kappa in `conger`. `chance` defines the case that they
are computed for, and `shuffler` the permutations.
"""

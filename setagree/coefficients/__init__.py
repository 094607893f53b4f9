"""Tally and weights in, coefficient out: pure arrays, no text, no warnings.

Alpha, Fleiss' kappa and their standard errors are computed in `sums`, the chance models in
`chance_models`, and Conger's and Cohen's kappa in `conger`. `chance` has the case that they are
computed for, and `shuffler` the permutations.
"""

"""Tally and weights in, coefficient out: pure arrays, no text, no warnings."""

from setagree.coefficients.alpha import krippendorff_alpha
from setagree.coefficients.chance import Case, Estimate
from setagree.coefficients.kappas import (
    brennan_prediger,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
    percent_agreement,
)
from setagree.coefficients.multivalued import mv_alpha

__all__ = [
    "Case",
    "Estimate",
    "brennan_prediger",
    "conger_kappa",
    "fleiss_kappa",
    "gwet_ac",
    "krippendorff_alpha",
    "mv_alpha",
    "percent_agreement",
]

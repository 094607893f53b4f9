"""Credit between the observed values, as an operator."""

from setagree.credit.base import Weights
from setagree.credit.build import WeightBuilder

__all__ = ["WeightBuilder", "Weights"]

"""Credit between the observed values, as an operator."""

from setagree.weights.base import Weights
from setagree.weights.build import WeightBuilder

__all__ = ["WeightBuilder", "Weights"]

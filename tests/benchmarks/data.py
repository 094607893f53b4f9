"""Synthetic multi-label ratings, of any size in seconds.

The library's own ``simulate`` has independent labels and sets of any size, so the number of
distinct sets keeps growing with the study. Here topics and short answers let it level off: about
4,000 sets at 1e4 units x 3 raters and 44,000 at 1e6 x 5. No set is empty, because not every peer
has a distance for empty sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

Order: TypeAlias = Literal["sorted", "shuffled"]
Masks: TypeAlias = npt.NDArray[np.uint64]
Codes: TypeAlias = npt.NDArray[np.intp]

LABELS = (
    *("admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion"),
    *("curiosity", "desire", "disappointment", "disapproval", "disgust", "embarrassment"),
    *("excitement", "fear", "gratitude", "grief", "joy", "love", "nervousness", "optimism"),
    *("pride", "realization", "relief", "remorse", "sadness", "surprise", "boredom"),
    *("contempt", "hope"),
)
BLOCK = 100_000


@dataclass(frozen=True)
class Recipe:
    """How synthetic ratings come about.

    A unit has a topic; each label is true with a probability that falls with its rank (Zipf) but is
    higher for the topic's own labels. A rater misses true labels, adds false ones in proportion to
    how common they are, names ``max_size`` labels at most but always one.

    - n_topics: Number of topics; topic t owns the labels t, t + n_topics, ...
    - zipf: Exponent of the decline of prevalence with rank.
    - labels_per_unit: Expected number of true labels, before probabilities are cut at .9.
    - topic_boost: How much more probable a topic's own labels are.
    - miss, add: Probability to miss a true label; expected number of false labels.
    - max_size: Largest set a rater gives.
    - missing: Share of (unit, rater) pairs without a rating.
    """

    n_topics: int = 6
    zipf: float = 1.3
    labels_per_unit: float = 3.4
    topic_boost: float = 6.0
    miss: float = 0.15
    add: float = 0.3
    max_size: int = 5
    missing: float = 0.1


@dataclass(frozen=True)
class Ratings:
    """Coded ratings, a row each.

    - units, raters, values, shape (n_ratings,): Codes; ``values`` points into ``masks``.
    - masks, shape (n_values,): Distinct sets, bit k for label k.
    """

    units: Codes
    raters: Codes
    values: Codes
    masks: Masks

    @cached_property
    def sets(self) -> list[frozenset[str]]:
        """The distinct sets, aligned with ``masks``."""
        return as_sets(self.masks)

    def columns(self) -> dict[str, tuple[list[str], Codes]]:
        units = [f"doc-{unit:07d}" for unit in range(int(self.units.max()) + 1)]
        raters = [f"rater {rater}" for rater in range(int(self.raters.max()) + 1)]
        tags = [", ".join(label for label in LABELS if label in answer) for answer in self.sets]
        return {
            "doc": (units, self.units),
            "who": (raters, self.raters),
            "tags": (tags, self.values),
        }

    def frame(self) -> pd.DataFrame:
        """Return the ratings as a frame of text columns ``doc``, ``who`` and ``tags``."""
        columns = {
            name: pd.array(texts, dtype="str").take(codes)
            for name, (texts, codes) in self.columns().items()
        }
        return pd.DataFrame(columns)

    def triples(self) -> list[tuple[str, str, frozenset[str]]]:
        """Return the ratings in NLTK's order: rater, unit, labels."""
        rows = np.column_stack([self.raters, self.units, self.values]).tolist()
        return [(f"r{rater}", f"d{unit}", self.sets[value]) for rater, unit, value in rows]

    def write_csv(self, path: Path, *, order: Order) -> None:
        """Write the ratings as a comma-separated file."""
        rows = np.arange(len(self.units))
        if order == "shuffled":
            np.random.default_rng(3).shuffle(rows)
        (doc, units), (who, raters), (tags, values) = self.columns().values()
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write("doc,who,tags\n")
            for part in np.array_split(rows, 1 + len(rows) // BLOCK):
                codes = np.column_stack([units[part], raters[part], values[part]]).tolist()
                file.writelines(f'{doc[u]},{who[r]},"{tags[v]}"\n' for u, r, v in codes)


def as_sets(masks: Masks) -> list[frozenset[str]]:
    """Return bit masks as frozensets of label names."""
    names = [*LABELS, *(f"label {bit}" for bit in range(len(LABELS), 64))]
    return [
        frozenset(names[bit] for bit in range(mask.bit_length()) if mask >> bit & 1)
        for mask in masks.tolist()
    ]


def simulate(
    n_units: int, n_raters: int, *, recipe: Recipe | None = None, seed: int = 0
) -> Ratings:
    """Draw synthetic ratings with 30 labels."""
    recipe = recipe or Recipe()
    rng = np.random.default_rng(seed)
    sizes = [min(BLOCK, n_units - start) for start in range(0, n_units, BLOCK)]
    answers = np.concatenate([_answers(size, n_raters, recipe, rng) for size in sizes])
    units, raters = np.nonzero(rng.random(answers.shape) >= recipe.missing)
    masks, values = np.unique(answers[units, raters], return_inverse=True)
    return Ratings(units, raters, values, masks)


def _answers(n_units: int, n_raters: int, recipe: Recipe, rng: np.random.Generator) -> Masks:
    """Return masks of shape (n_units, n_raters) without missing ratings."""
    common = 1 / np.arange(1.0, len(LABELS) + 1) ** recipe.zipf
    topics = rng.integers(recipe.n_topics, size=n_units)
    truth = (
        rng.random((n_units, len(LABELS)), dtype=np.float32) < _prevalence(common, recipe)[topics]
    )
    truth[np.arange(n_units), topics] |= ~truth.any(axis=1)
    false = (common / common.sum() * recipe.add).astype(np.float32)
    chance = rng.random((n_units, n_raters, len(LABELS)), dtype=np.float32)
    answers = np.where(truth[:, None], chance >= recipe.miss, chance < false)
    unit, rater = np.nonzero(~answers.any(axis=2))
    answers[unit, rater, truth.argmax(axis=1)[unit]] = True
    return _pack(_shorten(answers, recipe.max_size))


def _prevalence(common: npt.NDArray[np.float64], recipe: Recipe) -> npt.NDArray[np.float32]:
    """Return the probability of each label, shape (n_topics, n_labels)."""
    topic = np.arange(len(common)) % recipe.n_topics
    odds = common * np.where(topic == np.arange(recipe.n_topics)[:, None], recipe.topic_boost, 1.0)
    odds *= recipe.labels_per_unit / odds.sum(axis=1, keepdims=True)
    return np.minimum(odds, 0.9).astype(np.float32)


def _shorten(answers: npt.NDArray[np.bool_], max_size: int) -> npt.NDArray[np.bool_]:
    """Keep the first ``max_size`` labels of answers that have more, in place."""
    unit, rater = np.nonzero(np.count_nonzero(answers, axis=2) > max_size)
    long = answers[unit, rater]
    answers[unit, rater] = long & (long.cumsum(axis=1) <= max_size)
    return answers


def _pack(flags: npt.NDArray[np.bool_]) -> Masks:
    """Return flags of shape (..., n_labels) as bit masks."""
    bits = np.uint64(1) << np.arange(flags.shape[-1], dtype=np.uint64)
    return np.asarray(flags @ bits, dtype=np.uint64)


def distinct_masks(counts: Mapping[int, int], *, n_labels: int, seed: int = 0) -> Masks:
    rng = np.random.default_rng(seed)
    return rng.permutation(
        np.concatenate([_of_size(size, count, n_labels, rng) for size, count in counts.items()])
    )


def _of_size(size: int, count: int, n_labels: int, rng: np.random.Generator) -> Masks:
    masks = np.empty(0, dtype=np.uint64)
    while len(masks) < count:
        order = rng.random((2 * count, n_labels), dtype=np.float32).argsort(axis=1)
        masks = np.union1d(masks, _pack(order < size))
    return rng.choice(masks, count, replace=False)

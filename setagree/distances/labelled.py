"""Distances that use weights of the labels, or a hierarchy of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from setagree.checks import Floats, check_cost
from setagree.distances.base import Distance, as_label_set
from setagree.distances.hierarchy import Hierarchy, Parents, read_hierarchy
from setagree.distances.matrix import check_amount
from setagree.errors import (
    DistanceError,
    OptionError,
    check_choice,
    check_mapping,
    check_type,
    counted,
    listing,
    option,
    shorten,
)
from setagree.wording.label_sets import Label, sorted_labels

PREVALENCE: Literal["-log prevalence"] = "-log prevalence"
"""Weights from a study: the weight of a label is -log of the share of ratings with it."""

LabelWeights: TypeAlias = Mapping[Any, float] | Literal["-log prevalence"]
Credit: TypeAlias = Literal["ancestors", "wu_palmer", "lin"]
CREDITS = ("ancestors", "wu_palmer", "lin")

_OF_THE_STUDY = ", a label weighing −log of the share of the pairable ratings that hold it"
_OR_BELOW = f"{_OF_THE_STUDY} or one below it"
_ASSUMED = float("1")
"""The default weight: a separate object, to distinguish it from an explicit 1."""


@dataclass(frozen=True, repr=False)
class WeightedJaccardDistance(Distance):
    """1 - weight(A ∩ B) / weight(A ∪ B), the weight of a set being the sum over its labels."""

    label_weights: LabelWeights
    default: float | None = None
    is_assumed: bool = field(default=False, kw_only=True, repr=False, compare=False)
    """Whether the weight of labels that are not listed is the default."""
    formula: str | None = field(
        default="1 − weight(A∩B) / weight(A∪B)", kw_only=True, compare=False
    )

    def __call__(self, A: Iterable[Any], B: Iterable[Any]) -> float:
        """Return the distance between two label sets."""
        A, B = as_label_set(A), as_label_set(B)
        total = sum(self.weights_of(A | B))
        return 1 - sum(self.weights_of(A & B)) / total if total else 0.0

    def weights_of(self, labels: Iterable[Label]) -> list[float]:
        """Return the weights of labels; raise `DistanceError` if one has none."""
        stated = known_weights(self.label_weights, self.name)
        weights = [stated.get(label, self.default) for label in labels]
        missing = [label for label, weight in zip(labels, weights, strict=True) if weight is None]
        if missing:
            raise DistanceError(
                f"no weight is given for the labels {listing(sorted_labels(missing))}."
            )
        return [float(weight) for weight in weights if weight is not None]


@dataclass(frozen=True, repr=False)
class ClosureDistance(Distance):
    """Jaccard, plain or weighted, between sets that include the ancestors of their labels."""

    hierarchy: Hierarchy
    label_weights: LabelWeights | None = None
    formula: str | None = field(
        default="1 − |A∩B| / |A∪B| of the sets with the ancestors of their labels",
        kw_only=True,
        compare=False,
    )

    @property
    def weighted(self) -> WeightedJaccardDistance:
        """The distance between the sets with ancestors."""
        plain = self.label_weights is None
        weights = {} if self.label_weights is None else self.label_weights
        return WeightedJaccardDistance(self.name, weights, 1.0 if plain else None)

    def __call__(self, A: Iterable[Any], B: Iterable[Any]) -> float:
        """Return the distance between two label sets."""
        A, B = (self.hierarchy.close(as_label_set(each)) for each in (A, B))
        return self.weighted(A, B)


@dataclass(frozen=True, repr=False)
class BestMatchDistance(Distance):
    """1 - the mean similarity of each label to the nearest one of the other set, both ways.

    The similarity is Lin's, with the information of labels, or Wu and Palmer's without.
    """

    hierarchy: Hierarchy
    information: LabelWeights | None = None

    def __call__(self, A: Iterable[Any], B: Iterable[Any]) -> float:
        """Return the distance between two label sets."""
        A, B = as_label_set(A), as_label_set(B)
        if not A or not B:
            return float(A != B)
        labels = sorted_labels(A | B)
        near = self.similarities(labels)
        rows, columns = ([labels.index(label) for label in each] for each in (A, B))
        part = near[np.ix_(rows, columns)]
        return 1 - float(part.max(axis=1).mean() + part.max(axis=0).mean()) / 2

    def similarities(
        self, labels: Sequence[Label], information: Mapping[Any, float] | None = None
    ) -> Floats:
        """Return the similarities of labels, of shape (L, L), from 0 to 1.

        `information` is that of the study, for a distance that has none of its own.
        """
        n = len(labels)
        check_cost(
            f"The similarities of {counted(n, 'label')}",
            n_bytes=24 * n * n,
            instead=f"{option('credit', 'ancestors')} needs no such table.",
        )
        below: dict[Label, list[tuple[int, int]]] = {}
        for k, label in enumerate(labels):
            for one, up in self.hierarchy.steps_up(label).items():
                below.setdefault(one, []).append((k, up))
        if self.information is not None:
            stated = information
            if stated is None:
                stated = known_weights(self.information, self.name)
            if missing := [label for label in below if label not in stated]:
                raise DistanceError(
                    f"no information is given for the labels {listing(sorted_labels(missing))}."
                )
            known = {label: float(stated[label]) for label in below}
            return _lin(below, known, labels, self.hierarchy)
        near = np.zeros((n, n))
        for one, entries in below.items():
            k, up = np.array(entries).T
            # Wu & Palmer 1994: 2 N3 / (N1 + N2 + 2 N3).
            twice = 2 * self.hierarchy.depth(one)
            grid = np.ix_(k, k)
            near[grid] = np.maximum(near[grid], twice / (up[:, None] + up + twice))
        return near


def _lin(
    below: Mapping[Label, Sequence[tuple[int, int]]],
    information: Mapping[Label, float],
    labels: Sequence[Label],
    hierarchy: Hierarchy,
) -> Floats:
    """Return 2 IC(c) / (IC(a) + IC(b)), c the most informative label above both (Lin 1998)."""
    own = np.array([information[hierarchy.node(label)] for label in labels], dtype=np.float64)
    near = np.zeros((len(own), len(own)))
    for one, entries in below.items():
        k = np.array(entries)[:, 0]
        grid = np.ix_(k, k)
        near[grid] = np.maximum(near[grid], 2 * information[one])
    both = own[:, None] + own
    np.divide(near, both, out=near, where=both > 0)
    np.fill_diagonal(near, 1.0)
    return near


def known_weights(weights: LabelWeights, name: str) -> Mapping[Any, float]:
    """Return stated weights; raise `DistanceError` if they depend on a study."""
    if isinstance(weights, str):
        raise DistanceError(
            f"{name!r} takes the weights of labels from a study; two answers alone have none."
        )
    return weights


def information(counts: Floats) -> Floats:
    """Return -log of the share of ratings that hold each label, as "-log prevalence" has it.

    `counts` are how many hold each, of shape (L,), and in the end how many ratings there are. A
    label that none of them holds counts as the rarest that one holds: it has no finite logarithm.
    """
    held, total = counts[:-1], counts[-1]
    least = float(held.min(initial=np.inf, where=held > 0))
    if not np.isfinite(least):
        return np.zeros(len(held))
    return np.asarray(np.maximum(-np.log(np.maximum(held, least) / total), 0.0))


def weighted_jaccard(
    label_weights: LabelWeights,
    *,
    default: float | None = _ASSUMED,
    name: str = "weighted_jaccard",
) -> WeightedJaccardDistance:
    """Return 1 - weight(A ∩ B) / weight(A ∪ B); two sets without weight do not differ.

    Parameters
    ----------
    label_weights : mapping or "-log prevalence"
        The weight of a label, 0 or more. A weight for a label that no rater uses raises a
        warning when a study is scored. With "-log prevalence" a label weighs -log of the
        share of the pairable ratings that hold it, so that a label in every rating weighs nothing,
        and a rare one much. One that no pairable rating holds weighs as much as the rarest.
    default : float or None
        The weight of the labels that are not listed; None makes such a label an error. Where it is
        left out they weigh 1, and a warning counts those that a study uses.

    Raises
    ------
    DistanceError
        A weight is negative, not finite or no number.

    Examples
    --------
    >>> d = weighted_jaccard({"rare": 3.0, "common": 1.0})
    >>> d({"rare"}, {"rare", "common"}), d({"common"}, {"rare", "common"}), d(set(), set())
    (0.25, 0.75, 0.0)
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "a, b"), ("ann", 2, "c"),
    ...                                      ("bob", 2, "a"), ("ann", 3, ""), ("bob", 3, "a")],
    ...                                     blank="empty")
    >>> credit = sa.weights(study, weighted_jaccard("-log prevalence")).to_frame()
    >>> round(float(credit.loc["a", "a, b"]), 4)
    0.1845
    """
    check_type("name", name, str, "text")
    if isinstance(label_weights, str):
        check_choice("label_weights", label_weights, (PREVALENCE,))
        if default is not _ASSUMED:
            raise OptionError(
                f"default={default!r} is for weights that are listed; with "
                f"{PREVALENCE!r} the study gives every label its own."
            )
        formula = f"1 − weight(A∩B) / weight(A∪B){_OF_THE_STUDY}"
        return WeightedJaccardDistance(name, PREVALENCE, formula=formula)
    check_mapping("label_weights", label_weights, "the weight of each label")
    _check_weights(label_weights)
    if default is not None:
        check_amount("a label that is not listed", "weight", default)
    assumed = default is _ASSUMED
    return WeightedJaccardDistance(name, dict(label_weights), default, is_assumed=assumed)


def _check_weights(label_weights: Mapping[Any, float]) -> None:
    for label, weight in label_weights.items():
        check_amount(f"label {shorten(label)}", "weight", weight)


def taxonomy(
    parents: Parents,
    *,
    credit: Credit = "ancestors",
    label_weights: LabelWeights | None = None,
    name: str = "taxonomy",
) -> ClosureDistance | BestMatchDistance:
    r"""Return a distance between sets whose labels form a hierarchy.

    Parameters
    ----------
    parents : mapping, DataFrame or path
        The hierarchy: a dict with the parent of a label, or several (a label
        without an entry or with a missing one is a root); a dict of dicts, in which the children of
        a label are nested in it; a table with the columns child and parent, a row for each parent,
        and perhaps a column weight or information; or a file with such a table, or an OBO file
        (``is_a`` counts; labels are ids or names of terms, those that are obsolete are left out).
        If labels are paths, the text between their steps, such as "/" in ``emotion/joy``, which is
        below ``emotion``.
    credit : {"ancestors", "wu_palmer", "lin"}
        What two sets share: the ancestors of their labels (Jaccard of the sets with all ancestors),
        or labels that are similar, each matched with the nearest of the other set (below).
    label_weights : mapping or "-log prevalence", optional
        For "ancestors" the weight of each label and ancestor, if they are not equal; for "lin"
        its information content, by default "-log prevalence": -log of the share of the pairable
        ratings that hold the label or one below it. A column weight or information of a table
        states the same. "wu_palmer" uses no weights.

    Raises
    ------
    DistanceError
        A label is its own ancestor, or holds less information than one above it.

    Notes
    -----
    For "wu_palmer" and "lin" the distance is ``1 - (mean of max_b s(a, b) over a in A + mean of
    max_a s(a, b) over b in B) / 2``, the best match average; 0 between two empty sets and 1 between
    an empty set and another. Wu and Palmer (1994): ``s(a, b) = 2 N3 / (N1 + N2 + 2 N3)`` with N1
    and N2 the steps from a and b up to a label above both, and N3 how many labels the way from the
    root to it holds; of several such labels the one that makes s largest counts, of several ways
    the shortest. Lin (1998): ``s(a, b) = 2 IC(c) / (IC(a) + IC(b))``, c the most informative label
    above both (a and b count as above themselves). Labels of separate trees have s = 0. "ancestors"
    with "-log prevalence" is simGIC (Pesquita et al. 2008).

    Examples
    --------
    >>> d = taxonomy({"cat": "mammal", "dog": "mammal", "mammal": "animal"})
    >>> d({"cat"}, {"dog"}), d({"cat"}, {"mammal"}), d(set(), set())
    (0.5, 0.33333333333333337, 0.0)
    >>> taxonomy({"animal": {"mammal": ["cat", "dog"], "fish": None}})({"cat"}, {"fish"})
    0.75
    >>> round(taxonomy("/")("emotion/joy", "emotion/fear"), 6)
    0.666667
    >>> d = taxonomy({"cat": "mammal", "dog": "mammal", "mammal": "animal"}, credit="wu_palmer")
    >>> round(d({"cat"}, {"dog"}), 6), round(d({"cat", "dog"}, {"mammal"}), 6)
    (0.333333, 0.2)
    """
    check_type("name", name, str, "text")
    check_choice("credit", credit, CREDITS)
    hierarchy = read_hierarchy(parents)
    weights = hierarchy.weights if label_weights is None else label_weights
    if isinstance(weights, str):
        check_choice("label_weights", weights, (PREVALENCE,))
    elif weights is not None:
        check_mapping("label_weights", weights, "the weight of each label")
        _check_weights(weights)
        weights = {hierarchy.node(label): weight for label, weight in weights.items()}
    return _by_credit(name, hierarchy, credit, weights, asked=label_weights is not None)


def _by_credit(
    name: str,
    hierarchy: Hierarchy,
    credit: Credit,
    weights: LabelWeights | None,
    *,
    asked: bool,
) -> ClosureDistance | BestMatchDistance:
    """Return the distance of a method of credit, with its formula."""
    if credit == "ancestors":
        if weights is None:
            return ClosureDistance(name, hierarchy)
        formula = "1 − weight(A∩B) / weight(A∪B) of the sets with the ancestors of their labels"
        rest, source = (_OR_BELOW, "Pesquita et al. 2008") if weights == PREVALENCE else ("", None)
        return ClosureDistance(name, hierarchy, weights, formula=formula + rest, source=source)
    matched = "1 − the mean similarity of each label to the nearest one of the other set, both ways"
    if credit == "wu_palmer":
        if asked:
            raise OptionError(
                f"{option('credit', credit)} counts steps and uses no {option('label_weights')}; "
                f"{option('credit', 'lin')} does."
            )
        formula = f"{matched} (Wu and Palmer's, from the steps to a label above both)"
        return BestMatchDistance(name, hierarchy, formula=formula, source="Wu & Palmer 1994")
    weights = PREVALENCE if weights is None else weights
    if not isinstance(weights, str):
        _check_information(hierarchy, weights)
    formula = f"{matched} (Lin's, from the information content of labels)"
    if weights == PREVALENCE:
        formula += _OR_BELOW.replace("weighing", "holding")
    return BestMatchDistance(name, hierarchy, weights, formula=formula, source="Lin 1998")


def _check_information(hierarchy: Hierarchy, weights: Mapping[Any, float]) -> None:
    """Raise an error if a label has less information than one above it."""
    for label, own in weights.items():
        for above in hierarchy.steps_up(label):
            if weights.get(above, 0.0) > own:
                raise DistanceError(
                    f"label {shorten(label)} holds less information ({own:g}) than "
                    f"{shorten(above)} above it ({weights[above]:g}); a label implies all "
                    "those above it, so that it holds no less."
                )

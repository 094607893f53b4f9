"""Scorer of agreement with a panel, for scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from setagree.checks import public
from setagree.credit import WeightBuilder
from setagree.distances import Distance, get_distance
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    UndefinedAgreementWarning,
    a_type,
    check_list,
    counted,
    listing,
    option,
    warn,
)
from setagree.inference.panel_members import unweighted_units
from setagree.large.opening import Data
from setagree.scoring.scorer import default_distances
from setagree.study.annotations import Annotations
from setagree.study.labels import is_missing
from setagree.wording.label_sets import Label

UnitsOf: TypeAlias = Callable[[Any], Sequence[Any]]


@dataclass(frozen=True, repr=False)
class PanelScorer:
    """A scikit-learn scorer of the agreement of a model with a panel of raters.

    Created by `panel_scorer`. Called with a fitted model and its input, it returns the agreement;
    larger is better.
    """

    study: Annotations = field(repr=False)
    distance: Distance
    units: UnitsOf | None
    labels: tuple[Label, ...]

    def __repr__(self) -> str:
        return f"<PanelScorer: {self.distance.name}, {self.study!r}>"

    def __call__(self, model: Any, X: Any, y: object = None) -> float:  # noqa: ARG002
        """Return the agreement of a model's predictions with the panel.

        Parameters
        ----------
        model : estimator
            An estimator whose `predict` returns one answer per row of `X`.
        X : frame or other
            Rows that represent units.
        y : object
            Ignored: the study has the answers of the panel.
        """
        if self.units is not None:
            return self.score([*self.units(X)], model.predict(X))
        if isinstance(X, pd.DataFrame | pd.Series):
            return self.score([*X.index], model.predict(X))
        raise DataError(
            f"{a_type(X)} has no index of units; use {option('units')}, a function from X to the "
            "unit of each row."
        )

    def score(self, units: Sequence[Any], predictions: Any) -> float:
        """Return the agreement of answers to units with the panel."""
        model = self._coded(units, predictions)
        places = pd.Index(self.study.units, tupleize_cols=False).get_indexer(
            pd.Index(model.units, tupleize_cols=False)
        )
        if (places < 0).all():
            raise DataError(
                f"none of the {counted(len(places), 'predicted unit')} (first: "
                f"{listing(model.units[:3].tolist())}) is among those of the panel."
            )
        # The answers of the model and of the raters to the units of both, as codes of all values.
        study = self.study
        values = {v: k for k, v in enumerate(dict.fromkeys([*study.values, *model.values]))}
        merged = np.array([values[value] for value in model.values])
        answers, known = np.full(study.n_units, -1, dtype=np.intp), places[model.unit_codes] >= 0
        answers[places[model.unit_codes[known]]] = merged[model.value_codes[known]]
        rated = np.flatnonzero(answers[study.unit_codes] >= 0)
        unit, human = study.unit_codes[rated], study.value_codes[rated]
        n_human = np.bincount(unit, minlength=study.n_units)
        used = n_human > 0
        of_human = np.bincount(human, minlength=len(values)).astype(float)
        of_model = np.bincount(answers[used], minlength=len(values)).astype(float)
        builder = WeightBuilder(tuple(values), study.kind, of_human + of_model, order=study.order)
        weights = builder.build(self.distance)
        # kappa_x = 1 - d_o / d_e (Wong et al. 2021), of a panel and one more rater
        share = (n_human[unit] + 1) / n_human[unit]
        d = weights.distance_at(human, answers[unit])
        observed = float((share * d).sum()) / float((n_human[used] + 1).sum())
        chance = float(of_human @ weights.distance_dot(of_model))
        expected = chance / (of_human.sum() * of_model.sum())
        if not expected:
            warn(
                "the score is undefined (nan), because model and panel used one value only.",
                UndefinedAgreementWarning,
            )
            return float("nan")
        return float(1 - observed / expected)

    def _coded(self, units: Sequence[Any], predictions: Any) -> Annotations:
        if len(units) != len(set(units)):
            raise DataError("a unit occurs in two rows of X; each must be predicted once.")
        shape = predictions.shape if hasattr(predictions, "shape") else (len(predictions),)
        if len(units) != shape[0]:
            raise DataError(f"{shape[0]:,} predictions do not fit {len(units):,} units.")
        if self.study.kind == "labels" and len(shape) == 2:
            flags = predictions.toarray() if hasattr(predictions, "toarray") else predictions
            cube = np.asarray(flags)[None]
            return Annotations.from_indicators(cube, labels=self.labels, units=units)
        pairs = zip(units, predictions, strict=True)
        rows = [("model", unit, answer) for unit, answer in pairs if not is_missing(answer)]
        return Annotations.from_triples(
            rows, kind=self.study.kind, blank="empty" if self.study.kind == "labels" else None
        )


@public
def panel_scorer(
    study: Data,
    *,
    distance: DistanceLike | None = None,
    units: UnitsOf | None = None,
    labels: Sequence[Label] | None = None,
) -> PanelScorer:
    """Return a scikit-learn scorer that measures a model against the panel of a study.

    The score is kappa_x = 1 - d_o / d_e, where d_o is the mean distance between the model's answer
    and those of the raters of the same unit, and d_e that between all its answers and all theirs.
    It is 1 if the model's answers equal those of every rater, and 0 if they agree as expected by
    chance.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        The answers of the panel. Units that are not in a fold are left out.
    distance : name, callable, Distance or labelled matrix, optional
        Distance of two answers. Default: ``"masi"`` for label sets, ``"nominal"`` for scalars.
    units : callable, optional
        Function from the `X` of a fold to the unit of each row. Default: the index of `X`.
    labels : sequence, optional
        Labels of the columns of predicted flags. Default: the sorted labels of the study, as in
        ``MultiLabelBinarizer``.

    Returns
    -------
    PanelScorer
        For ``scoring=`` of ``cross_val_score``, ``GridSearchCV`` and similar functions. Predictions
        may be flags (units x labels, also sparse), label sets, label text (blank for the empty
        set), or single values; None is not an answer.

    Raises
    ------
    DataError
        No predicted unit is one of the panel, a unit is predicted twice, or `X` has no index.

    Warns
    -----
    UndefinedAgreementWarning
        Model and panel have only one value: the score is NaN.

    References
    ----------
    Wong, Paritosh & Aroyo (2021), "Cross-replication reliability", ACL.

    Examples
    --------
    >>> study = Annotations.from_triples([
    ...     ("ann", "u1", "joy"), ("bob", "u1", "joy, fear"), ("ann", "u2", []), ("bob", "u2", []),
    ... ])
    >>> scorer = panel_scorer(study)
    >>> round(scorer.score(["u1", "u2"], ["joy", ""]), 4)
    0.7143
    """
    study = unweighted_units(study, "panel_scorer")
    found = get_distance(default_distances(study)[0] if distance is None else distance)
    check_list("labels", () if labels is None else labels, "labels")
    names = study.labels if labels is None else tuple(labels)
    return PanelScorer(study, found, units, names)

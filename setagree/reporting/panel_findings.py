"""What a report says of raters against raters: models, panels, the map; numbers only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from setagree.checks import Rng
from setagree.distances import Distance
from setagree.errors import DataError, OptionError, counted
from setagree.panels.against_consensus import ConsensusScores, score_against_consensus
from setagree.panels.alt_results import AltTest
from setagree.panels.alt_test import alt_test
from setagree.panels.cross_replication import CrossReplication, cross_replication
from setagree.panels.rater_map import RaterMap, rater_map
from setagree.panels.raters import rater_codes
from setagree.study.annotations import Annotations

Models: TypeAlias = "Any | list[Any] | None"
"""A rater that is a model, or a list of them."""

Panels: TypeAlias = "Mapping[Any, Sequence[object]] | None"
"""Two names with their raters, or one name against everybody else."""

_MAP_WORK = 1_000_000_000
"""Steps of the map's reshuffles, some 5 ns each."""

_RESHUFFLES = (199, 99, 49, 19)
"""How often answers are dealt out anew for the map; 19 are the least that can give p = .05."""

_SCORED = 2_000_000
"""Ratings that are gone through to score the humans beside the models."""

_REDRAWN = 100_000_000
"""Units that are redrawn in all for the interval of the panels."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Who is compared with whom, and how."""

    models: Models
    panels: Panels
    distance: Distance
    n_resamples: int
    rng: Rng


@dataclass(frozen=True, eq=False)
class PanelFindings:
    """What was found about raters against raters.

    Attributes
    ----------
    tests : tuple of AltTest
        The alt-test of each model, the one with the largest advantage first.
    scores : ConsensusScores or None
        The models, and where that is no long work the humans, against the humans' consensus.
    models : list
        Who is a model, in the order of the tests.
    replication : CrossReplication or None
        One panel against the other.
    map : RaterMap or None
        Who answers like whom.
    absent : dict
        Why one of them is not there: tests, map.
    """

    tests: tuple[AltTest, ...] = ()
    scores: ConsensusScores | None = None
    models: list[Any] = field(default_factory=list)
    replication: CrossReplication | None = None
    map: RaterMap | None = None
    absent: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def score_table(self) -> pd.DataFrame:
        """The scores with a column `rater`, and whether each is a model; the models first."""
        if self.scores is None:
            return pd.DataFrame()
        frame = self.scores.table
        n = len(self.models)
        who = ["model"] * n + ["human"] * (len(frame) - n)
        return frame.reset_index().assign(who=who)


def panel_findings(study: Annotations, asked: Asked, *, mapped: bool) -> PanelFindings:
    """Return what is found about raters against raters, with the map where it is wanted.

    Raises
    ------
    DataError
        A model or a member of a panel is unknown, or no unit was rated by both panels.
    OptionError
        A model is named twice, or the panels are not two.
    """
    absent: dict[str, str] = {}
    tests, models = _tests(study, asked, absent)
    return PanelFindings(
        tests,
        _scores(study, models),
        models,
        _replication(study, asked),
        _map(study, asked, absent) if mapped else None,
        absent,
    )


def _tests(
    study: Annotations, asked: Asked, absent: dict[str, str]
) -> tuple[tuple[AltTest, ...], list[Any]]:
    """Return the test of each model, and the models in that order."""
    if asked.models is None:
        return (), []
    named = asked.models if isinstance(asked.models, list) else [asked.models]
    models = study.raters[rater_codes(study, named, "model")].tolist()
    n_humans = study.n_raters - len(models)
    if not n_humans:
        raise OptionError("every rater is a model, so that nobody is left to compare with.")
    if n_humans < 3:
        verb = "is" if n_humans == 1 else "are"
        n = f"{verb} only {counted(n_humans, 'human')}"
        absent["tests"] = f"The alt-test needs three humans or more; beside the models there {n}."
        return (), models
    tests = alt_test(study, model=models, distance=asked.distance).rows
    return tests, [test.model for test in tests]


def _scores(study: Annotations, models: list[Any]) -> ConsensusScores | None:
    """Return the models against the humans' consensus, and the humans against one another."""
    if not models:
        return None
    humans = [rater for rater in study.raters.tolist() if rater not in models]
    few = len(humans) > 1 and len(humans) * study.n_ratings <= _SCORED
    scored = [*models, *humans] if few else models
    return score_against_consensus(study, raters=scored, panel=humans)


def _replication(study: Annotations, asked: Asked) -> CrossReplication | None:
    if asked.panels is None:
        return None
    n = min(asked.n_resamples, max(99, _REDRAWN // study.n_units))
    return cross_replication(
        study, panels=asked.panels, distance=asked.distance, n_resamples=n, rng=asked.rng
    )


def _map(study: Annotations, asked: Asked, absent: dict[str, str]) -> RaterMap | None:
    """Return the map of the raters, where there are four and it takes no long time."""
    if study.n_raters < 4:
        return None
    n = next((n for n in _RESHUFFLES if n * _map_work(study) <= _MAP_WORK), 0)
    if not n:
        absent["map"] = (
            f"{counted(study.n_raters, 'rater')} with {counted(study.n_ratings, 'rating')} are "
            "not mapped here, because that takes long; sa.rater_map does it."
        )
        return None
    try:
        return rater_map(
            study,
            distance=asked.distance,
            n_resamples=min(n, max(asked.n_resamples, _RESHUFFLES[-1])),
            rng=asked.rng,
        )
    except DataError as error:
        absent["map"] = str(error)
        return None


def _map_work(study: Annotations) -> int:
    """Return how many steps a reshuffle of the map takes, in the unit of `_MAP_WORK`."""
    ratings = np.bincount(study.unit_codes).astype(np.int64)
    pairs = int((ratings * (ratings - 1) // 2).sum())
    return study.n_raters**3 + 20 * study.n_ratings + 10 * pairs

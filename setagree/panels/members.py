"""Answers of raters, models and humans, as the comparisons with a panel take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from setagree.checks import Codes, Flags
from setagree.errors import DataError, listing
from setagree.inference.panel_members import (
    answers_of,
    flags,
    part_of,
    people_of,
    rater_codes,
    unweighted_units,
)
from setagree.large.joining import with_models
from setagree.large.opening import Data
from setagree.study.annotations import Annotations

NO_HUMAN = "no human shares enough units with the model"


def shared_with_others(
    study: Annotations, rater: int, members: Sequence[int]
) -> tuple[Codes, Flags]:
    """Return `answers_of`, and flags of the ratings of these units by other members of a panel."""
    answers, others = answers_of(study, rater), flags(study.n_raters, members)
    others[rater] = False
    return answers, others[study.rater_codes] & (answers[study.unit_codes] >= 0)


def rater_index(
    study: Annotations, codes: Sequence[int] | Codes, name: str = "rater"
) -> pd.Index[Any]:
    """Return the names of some raters as the index of a table."""
    return pd.Index(study.raters[codes], name=name, dtype=object, tupleize_cols=False)


def scored_and_members(
    study: Annotations,
    raters: Sequence[object] | None,
    panel: Sequence[object] | None,
    reference: str,
) -> tuple[list[int], list[int]]:
    """Return the raters to score and the members of the panel; default: all raters.

    Raise DataError if a rater is unknown, or the panel is one rater who is scored.
    """
    everybody = list(range(study.n_raters))
    scored = everybody if raters is None else rater_codes(study, raters)
    members = (
        everybody if panel is None else rater_codes(study, panel, "rater of the panel", "panel")
    )
    if any(set(members) == {g} for g in scored):
        raise DataError(
            f"the panel is {listing(study.raters[members].tolist())} alone, who is compared with "
            f"the {reference} of others; name more raters."
        )
    return scored, members


def models_and_humans(
    study: Data, what: str, model: object, humans: Sequence[object] | None
) -> tuple[Annotations, list[int], Flags]:
    """Return the study of the models and the humans only, the models, and flags of the humans.

    Raters who are neither have no effect on the distance.
    """
    opened, names = with_models(unweighted_units(study, what), model)
    models = rater_codes(opened, names, "model", "model")
    people = people_of(opened, humans, models)
    rows = (people | flags(opened.n_raters, models))[opened.rater_codes]
    part = part_of(opened, rows)
    return part, rater_codes(part, names, "model"), people[np.unique(opened.rater_codes[rows])]

"""How many units have each label, if a model answered units that people have not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np

from setagree.errors import SetagreeWarning, counted
from setagree.inference.prevalence import PrevalenceTable, prevalence
from setagree.plots.base import rows_height
from setagree.plots.panels import prevalence as draw
from setagree.reporting.sections.base import (
    MOST_DRAWN,
    Findings,
    Method,
    Picture,
    Section,
    Topic,
    table_of,
)
from setagree.wording.sentences import Name


def compute(f: Findings) -> PrevalenceTable | None:
    """Return the prevalence by the first model that answered units that people have not."""
    study, checked = f.everyone, f.study.units
    for model in f.models if study.kind != "number" else []:
        units = study.unit_codes[study.rater_codes == study.raters.tolist().index(model)]
        if not np.isin(study.units[units], checked).all():
            with warnings.catch_warnings():  # the section has them
                warnings.simplefilter("ignore", SetagreeWarning)
                return prevalence(study, model=model, level=f.level)
    return None


def sections(_: Findings, found: PrevalenceTable) -> Iterator[Section]:
    """Yield the table and the picture of the prevalence of labels."""
    frame = found.frame.round({"count": 0, "worth": 0})
    frame = frame.sort_values("count", ascending=False, kind="stable")
    caption = "People alone, the model alone, and both together, the most frequent label first"
    table = table_of(frame, found.columns, caption, limit=40, function="prevalence")
    picture = Picture(partial(draw, found, limit=MOST_DRAWN), rows_height(len(table.rows)))
    lead = (*found.main_words, " Model: ", Name.of(found.model), ".")
    note = f"This holds if the checked units are a random sample of all. {found.caution}".strip()
    yield Section(table, picture, note, lead)


def method(_: Findings, found: PrevalenceTable) -> Method:
    """Return a sentence on the estimate and its intervals, with the sources."""
    n, N = counted(found.checked.n, "unit"), f"{found.checked.n_units:,}"
    sentence = (
        f"How many of {N} units have each label was estimated from human answers to {n} and the "
        "model's answers to all (post-stratification, as prediction-powered inference with its "
        "optimal weight; Angelopoulos et al., 2023); the intervals join Wilson's of the strata "
        "(Zou & Donner, 2008)."
    )
    return sentence, ("Angelopoulos et al. 2023", "Zou & Donner 2008")


TOPIC = Topic(
    "prevalence",
    "How many units have each label?",
    sections,
    compute,
    about="Prevalence",
    summary=lambda _, found: found.main_words,
    method=method,
    optional=True,
    without_estimate=True,
)

"""Two panels, and how far they replicate each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from setagree.errors import counted
from setagree.inference.cross_replication import CrossReplication, cross_replication
from setagree.reporting.sections.base import Column, Findings, Method, Section, Table, Topic
from setagree.scoring.coefficients import distance_name
from setagree.study.annotations import Annotations
from setagree.wording.number_format import interval, level_text, number, rough
from setagree.wording.sentences import Name, Sentence


def compute(f: Findings) -> CrossReplication | None:
    """Return the replication between two panels, if panels are given."""
    if f.asked.panels is None:
        return None
    return cross_replication(
        _with_named_models(f),
        panels=f.asked.panels,
        distance=f.distance,
        n_resamples=f.n_redraws,
        rng=f.asked.rng,
    )


def _with_named_models(f: Findings) -> Annotations:
    """Return the answers of the humans, and of the models in a panel."""
    panels = f.asked.panels.values() if isinstance(f.asked.panels, Mapping) else ()
    members = [rater for panel in panels if isinstance(panel, Collection) for rater in panel]
    gone = [model for model in f.models if model not in members]
    return f.everyone.without_raters(gone) if gone else f.everyone


def summary(f: Findings) -> Sentence:
    """Return a sentence on the agreement between two panels."""
    found: CrossReplication | None = f.results["replication"]
    if found is None:
        return ()
    first, second = map(Name.of, found.panels)
    if found.reason is not None:
        return ("Agreement between ", first, " and ", second, f" is undefined: {found.reason}.")
    low, high = found.interval(f.level)
    sure = f" ({level_text(f.level)} interval {interval(low, high)})" if np.isfinite(low) else ""
    said = f" agree with each other at kappa_x {number(found.estimate)}{sure}"
    if found.normalised_reason is not None:
        return (first, " and ", second, f"{said}.")
    as_good = f"; {number(found.normalised)} if each panel agreed with itself fully."
    return (first, " and ", second, said, as_good)


def sections(f: Findings) -> list[Section]:
    """Return the table of the replication between two panels."""
    found: CrossReplication | None = f.results["replication"]
    if found is None:
        return []
    first, second = map(Name.of, found.panels)
    none = (float("nan"), float("nan"))
    rows = (
        (("Between ", first, " and ", second), (found.estimate, *found.interval(f.level))),
        (
            ("Normalised by the agreement inside each",),
            (found.normalised, *found.normalised_interval(f.level)),
        ),
        (("Alpha inside ", first), (found.alphas[0], *none)),
        (("Alpha inside ", second), (found.alphas[1], *none)),
    )
    counts = (None, None, *found.n_ratings)
    table = Table(
        f"Agreement between two panels and inside each, with {level_text(f.level)} intervals",
        (Column("What", "text"), Column("Estimate", "estimate"), Column("Ratings", "count")),
        tuple((*row, n) for row, n in zip(rows, counts, strict=True)),
        is_ranking=False,
    )
    note = (
        f"kappa_x is 1 if every answer of one panel equals that of the other, and 0 if they "
        f"agree as expected by chance ({distance_name(found.distance)}; "
        f"{counted(found.n_units, 'unit')} with both panels). Divided by the root of both alphas "
        "it is the agreement of the panels if each agreed fully with itself. Intervals: "
        f"{len(found.distribution):,} resamples of the units."
    )
    why = found.normalised_reason
    if why is not None and found.reason is None:
        note = f"{note} The normalised value is undefined if a panel has no alpha above 0."
    lows = (found.interval(f.level)[0], found.normalised_interval(f.level)[0])
    note = f"{note} {rough(lows)}".strip()
    title = "Agreement between the panels"
    return [Section("replication", title, summary(f), table, None, note)]


def method(f: Findings) -> Method | None:
    """Return a sentence on the comparison of two panels, with the source."""
    found: CrossReplication | None = f.results["replication"]
    if found is None or found.reason is not None:
        return None
    low, high = found.interval(f.level)
    ends = ""
    if np.isfinite(low):
        n = f"{len(found.distribution):,} resamples of the units"
        ends = f", {level_text(f.level)} percentile interval of {n} {interval(low, high)}"
    normal = "" if np.isnan(found.normalised) else f"; normalised {number(found.normalised)}"
    said = (
        "Two panels were compared by cross-replication reliability (Wong et al., 2021) on "
        f"{counted(found.n_units, 'unit')} that both rated: kappa_x = "
        f"{number(found.estimate)}{ends}{normal}."
    )
    return said, ("Wong et al. 2021",)


TOPIC = Topic(
    "replication",
    sections,
    compute,
    about="Panels",
    summary=summary,
    method=method,
    without_estimate=True,
    unweighted="Both panels",
)

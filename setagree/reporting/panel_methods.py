"""What the methods paragraph of a report says of models, panels and the map."""

from __future__ import annotations

import numpy as np

from setagree.errors import counted
from setagree.reporting.findings import Findings
from setagree.reporting.methods import version
from setagree.scoring.names import distance_name
from setagree.scoring.references import cited
from setagree.wording.words import interval, number, p_phrase, percent


def with_panels(text: str, f: Findings) -> str:
    """Return the methods paragraph and its references with what was done with raters and panels."""
    parts = [part for part in (_tested(f), _replicated(f), _mapped(f)) if part is not None]
    end = f"Computations were made with setagree {version()}."
    paragraph, _, references = text.partition("\n\n")
    paragraph = " ".join([paragraph.removesuffix(end).rstrip(), *(said for said, _ in parts), end])
    keys = [key for _, sources in parts for key in sources]
    return "\n\n".join([paragraph, "\n".join(sorted({*references.splitlines(), *cited(keys)}))])


_Part = tuple[str, tuple[str, ...]]


def _tested(f: Findings) -> _Part | None:
    """Return how models were tested against humans, with the sources."""
    tests = [test for test in f.panels.tests if test.reason is None]
    if not tests:
        return None
    one = tests[0]
    who = "The model" if len(tests) == 1 else "The models, by their advantage,"
    rates = "; ".join(
        f"won over {int(test.humans['rejected'].sum()):,} of {counted(len(test.humans), 'human')} "
        f"(winning rate {number(test.winning_rate)}, average advantage probability "
        f"{number(test.average_advantage_probability)})"
        for test in tests
    )
    said = (
        "Whether a model may replace a human was decided by the alternative annotator test "
        f"(Calderon et al., 2025) with the {distance_name(one.distance)} distance, epsilon "
        f"{one.epsilon:g} and a false discovery rate of {one.q:g} (Benjamini & Yekutieli, 2001). "
        f"{who} {rates}."
    )
    return said, ("Calderon et al. 2025", "Benjamini & Yekutieli 2001")


def _replicated(f: Findings) -> _Part | None:
    """Return how two panels were compared, with the source."""
    found = f.panels.replication
    if found is None or found.reason is not None:
        return None
    low, high = found.interval(f.level)
    ends = ""
    if np.isfinite(low):
        n = f"{len(found.distribution):,} resamples of the units"
        ends = f", {percent(f.level)} percentile interval of {n} {interval(low, high)}"
    normal = "" if np.isnan(found.normalised) else f"; normalised {number(found.normalised)}"
    said = (
        "Two panels were compared by cross-replication reliability (Wong et al., 2021) on "
        f"{counted(found.n_units, 'unit')} that both rated: kappa_x = "
        f"{number(found.estimate)}{ends}{normal}."
    )
    return said, ("Wong et al. 2021",)


def _mapped(f: Findings) -> _Part | None:
    """Return how raters were mapped, with the sources."""
    found = f.panels.map
    if found is None or np.isnan(found.p_value):
        return None
    said = (
        "Raters were mapped by classical scaling of their mean distances (Torgerson, 1952) and "
        "clustered by average linkage, cut where the mean silhouette (Rousseeuw, 1987) is largest; "
        f"the silhouette of {number(found.silhouette)} was compared with "
        f"{len(found.null):,} reshuffles of the answers inside units ({p_phrase(found.p_value)})."
    )
    return said, ("Torgerson 1952", "Rousseeuw 1987")

"""Labels: which of them cost the agreement."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.coefficients.chance import Floats
from setagree.diagnosis.by_label import by_label, rare_labels, rare_labels_clause
from setagree.diagnosis.common import score_whole
from setagree.plots import diagnosis
from setagree.reporting.sections.base import Column, Findings, Listing, Section, Topic, list_picture
from setagree.reporting.sections.patterns import has_pattern
from setagree.study.codes import have_degrees
from setagree.wording.number_format import interval, number, share
from setagree.wording.sentences import Name, Sentence, enumeration, named

_KNOWN = 0.4
"""The width of the interval beyond which a label's alpha is not known well enough to compare."""

_APART = 0.05
"""By how much less alpha of the worst label must be than that of the next one."""

_ENOUGH_UNITS = 10
"""Units that must hold a label for it to be named as the worst."""

_MOST_NAMED = 3
"""Labels that are named as holding most of the disagreement."""

_EVEN = 1.3
"""Times its fair part that labels must hold of the disagreement, or it is spread evenly."""


_RARE = 0.1
"""Share of the mean number of ratings of a label below which a label is rare."""


def compute(f: Findings) -> pd.DataFrame | None:
    """Return the agreement about each label; numbers have none."""
    return None if f.study.kind == "number" else by_label(f.study, level=f.level)


def summary(f: Findings) -> Sentence:
    """Return sentences on the worst label and on the labels behind half of the disagreement."""
    labels = f.frame("labels")
    if labels is None or len(labels) < 3 or not labels["share_of_disagreement"].iloc[0] > 0:
        return ()
    if has_pattern(f, "empty", "rater"):  # shares of labels follow from that pattern
        return _worst(labels)
    worst, held = _worst(labels), _shares(labels, f.study.kind)
    if have_degrees(f.study.values):
        held = (*held, " That is about which labels were given, whatever their degrees.")
    return (*worst, " ", *held) if worst else held


def _worst(labels: pd.DataFrame) -> Sentence:
    """Return a sentence on the label that clearly agrees worst, if any."""
    found = worst_label(labels)
    if found is None:
        return ()
    worst, others = found
    ends = interval(worst["low"], worst["high"])
    low, high = number(others["alpha"].min()), number(others["alpha"].max())
    rest = low if low == high else f"{low} to {high}"
    which = (
        "the other labels" if len(others) + 1 == len(labels) else "those with intervals as narrow"
    )
    said = f" agrees worst: alpha {number(worst['alpha'])} ({ends}), {which} {rest}."
    return (Name.of(worst["label"]), said)


def worst_label(labels: pd.DataFrame) -> tuple[pd.Series[Any], pd.DataFrame] | None:
    """Return the label with the lowest alpha and the others, if it is clearly the lowest.

    It is where its interval ends below the alpha of every other label. Left out, as their alpha
    is uninformative, are labels whose interval is wide or missing, and those below it that few
    units hold. However wide their interval, labels whose units are all alike stay, and the lowest
    does if its interval ends below those of all others.
    """
    narrow = labels["high"] - labels["low"] <= _KNOWN
    lowest = labels["alpha"] == labels["alpha"].min()
    apart = lowest & (labels["high"] < labels.loc[~lowest, "low"].min())
    known = labels[narrow | apart | (labels["standard_error"] == 0)]
    known = known.sort_values("alpha", kind="stable")
    known = known[(known["n_units"] >= _ENOUGH_UNITS).cummax()]
    if len(known) < 2 or not known["high"].iloc[0] < known["alpha"].iloc[1]:
        return None
    if not known["alpha"].iloc[1] - known["alpha"].iloc[0] >= _APART:
        return None
    return known.iloc[0], known.iloc[1:]


def _shares(labels: pd.DataFrame, kind: str) -> Sentence:
    """Return a sentence on the at most three labels behind half of the disagreement, if any.

    Labels with equal shares are counted together, so that none is left out for its place.
    """
    shares = labels["share_of_disagreement"].to_numpy(dtype=float)
    n = _untied(shares, min(int(np.searchsorted(np.cumsum(shares), 0.5 - 1e-12)) + 1, _MOST_NAMED))
    all_of_them = f"{len(labels):,} {'labels' if kind == 'labels' else 'categories'}"
    if evenly_spread(labels, n):
        held = shares[_common(labels) & (shares > 0)]
        ends = " to ".join(dict.fromkeys([share(held.min()), share(held.max())]))
        part = "all" if len(held) == len(labels) else f"{len(held):,} of"
        return (f"The disagreement is spread over {part} {all_of_them}, {ends} each.",)
    said = f"{share(shares[:n].sum())} of the disagreement is about {n:,} of {all_of_them}"
    names = [Name.of(label) for label in labels["label"].iloc[: min(n, _MOST_NAMED)]]
    if n == 1:
        return (f"{said}: ", *names, ".")
    if n > _MOST_NAMED:
        among = f"{said}, {share(shares[0])} each, among them "
        return (among, *enumeration([(name,) for name in names]), ".")
    parts = [(name, f" ({share(part)})") for name, part in zip(names, shares, strict=False)]
    return (f"{said}: ", *enumeration(parts), ".")


def _untied(shares: Floats, n: int) -> int:
    """Return the number of labels to count if the last of ``n`` may tie with those after it.

    Shares tie if they are printed alike. All that tie are counted; or only those before the tie if
    there are any and all would be too many to name.
    """
    tied = np.flatnonzero([share(one) == share(shares[n - 1]) for one in shares])
    before, to = int(tied[0]), int(tied[-1]) + 1
    return before if to > _MOST_NAMED and before else to


def evenly_spread(labels: pd.DataFrame, n: int) -> bool:
    """Return whether the first ``n`` labels hold hardly more of the disagreement than their part.

    Their part is that of the labels that are not rare: a misspelt one does not make it smaller.
    """
    held = float(labels["share_of_disagreement"].iloc[:n].sum())
    common = _common(labels)
    some = int((common & (labels["share_of_disagreement"] > 0).to_numpy()).sum()) > 1
    return bool(some and held < _EVEN * n / max(int(common.sum()), n))


def _common(labels: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return the labels that are not rare."""
    n = labels["n_ratings"]
    return (n >= _RARE * n.mean()).to_numpy(dtype=bool)


def sections(f: Findings) -> list[Section]:
    """Return the labels, the costliest first."""
    columns = [
        Column("Label", "name", "label"),
        Column("Share of disagreement", "share", "share_of_disagreement", is_part=True),
        Column("Alpha", "estimate", ("alpha", "low", "high")),
        Column("Ratings with it", "count", "n_ratings"),
        Column("Prevalence", "share", "prevalence"),
        Column("AC1", "number", "ac1"),
        Column("Agree on yes", "share", "positive_agreement"),
        Column("Agree on no", "share", "negative_agreement"),
    ]
    # Another coefficient may count units, and so clusters, that alpha does not.
    alpha = score_whole(f.study, "alpha", None, f.level) if f.main.drawn else None
    over, kind = (f" ({alpha.drawn})", alpha.best_method) if alpha else ("", "score")
    narrow = ", which is too narrow for rare labels" if kind == "t" else ""
    of_degrees = "Any degree above 0 is a yes. " if have_degrees(f.study.values) else ""
    note = (
        f"Each label is a question of its own: was it given, yes or no? {of_degrees}Agree on "
        "yes: how often another rater gives the label, too, where one did. A rare label can have a "
        "low alpha with almost perfect agreement on no; AC1 distinguishes the two. The interval of "
        f"alpha is the {kind} interval{over}{narrow}; there is none (too few to say) if fewer than "
        "3 units hold the label, or fewer than 3 have a rating without it."
    )
    frame = f.frame("labels")
    picture = None if frame is None else list_picture(f, diagnosis.labels, frame)
    lead = summary(f)
    if frame is not None and (rare := rare_labels(f.main.tally, frame)):
        lead = (*lead, *([" "] if lead else []), *named(rare), f" {rare_labels_clause(rare)}")
    listing = Listing("labels", "Labels", "Labels, the costliest first", "by_label", 40, note)
    return listing.section(f, frame, columns, lead=lead, picture=picture)


TOPIC = Topic("labels", sections, compute, about="Labels", summary=summary, optional=True)

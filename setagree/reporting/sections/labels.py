"""Labels: agreement on each label, confusions, presence, and depths of a hierarchy."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.diagnosis.by_label import COLUMNS, by_depth, by_label, by_presence
from setagree.diagnosis.by_label import PRESENCE_COLUMNS as PARTS
from setagree.diagnosis.common import REASONS, score_whole
from setagree.diagnosis.confusions import COLUMNS as CONFUSED
from setagree.diagnosis.confusions import ENOUGH_PAIRS, confusions
from setagree.errors import counted
from setagree.plots import diagnosis
from setagree.reporting.sections.base import (
    Findings,
    Picture,
    Section,
    Topic,
    estimate_column,
    holds,
    least_p,
    list_picture,
    resampled,
    table_of,
    unsized,
    with_sentences,
)
from setagree.reporting.sections.patterns import has_pattern
from setagree.scoring.intervals import FEWEST_RARER
from setagree.study.codes import have_degrees
from setagree.wording.number_format import interval, number, p_phrase, share
from setagree.wording.sentences import Name, Sentence, enumeration
from setagree.wording.tables import Column

_ENOUGH_UNITS = 10
"""Units with a label from which it can be named as the worst."""

_MOST_NAMED = 3
"""Largest number of labels that are named for their share of the disagreement."""

_EVEN = 1.3
"""Ratio of the share of labels to their number among all, below which shares count as even."""

_LIKE = 2
"""Ratio of the largest to the smallest share up to which disagreement is spread evenly."""

_RARE = 0.1
"""Share of the mean number of ratings of a label below which a label is rare."""

_MOST_CONFUSIONS = 15
"""Rows of the table of confusions."""

_RESHUFFLED = 50_000_000
"""Ratings that are reshuffled in all to test the confusions."""


def compute(f: Findings) -> pd.DataFrame | None:
    """Return the agreement on each label, or None for numbers."""
    return None if f.study.kind == "number" else by_label(f.study, level=f.level)


def summary(f: Findings, labels: pd.DataFrame) -> Sentence:
    """Return sentences on the worst label and on the labels behind half of the disagreement."""
    if len(labels) < 3 or not labels["share_of_disagreement"].iloc[0] > 0:
        return ()
    if has_pattern(f, "empty", "rater"):  # shares of labels follow from that pattern
        return _worst(labels)
    worst, shares = _worst(labels), _shares(labels, f.study.kind)
    if have_degrees(f.study.values):
        shares = (*shares, " Degrees do not count for these shares.")
    return (*worst, " ", *shares) if worst else shares


def _worst(labels: pd.DataFrame) -> Sentence:
    """Return a sentence on the label with the lowest alpha, if its interval ends below the others.

    Labels of few units are left out, and labels without an interval although their units differ.
    """
    candidates = labels[labels["low"].notna() | (labels["standard_error"] == 0)]
    candidates = candidates[candidates["n_units"] >= _ENOUGH_UNITS].sort_values(
        "estimate", kind="stable"
    )
    if len(candidates) < 2 or not candidates["high"].iloc[0] < candidates["estimate"].iloc[1]:
        return ()
    worst, others = candidates.iloc[0], candidates["estimate"].iloc[1:]
    # A label that is left out may be lower in the table.
    is_lowest = not (labels["estimate"] < worst["estimate"]).any()
    first = "Alpha is lowest for "
    if not is_lowest:
        some = f"Of the labels with an interval and at least {_ENOUGH_UNITS} units"
        first = f"{some}, alpha is lowest for "
    rest = " to ".join(dict.fromkeys([number(others.min()), number(others.max())]))
    which = "the other labels" if len(candidates) == len(labels) else counted(len(others), "other")
    ends = interval(worst["low"], worst["high"])
    lowest = f": {number(worst['estimate'])} ({ends}); {which} {rest}."
    return (first, Name.of(worst["label"]), lowest)


def _shares(labels: pd.DataFrame, kind: str) -> Sentence:
    """Return a sentence on the labels with half of the disagreement, or on even shares."""
    shares = labels["share_of_disagreement"].to_numpy(dtype=float)
    n = int(np.searchsorted(np.cumsum(shares), 0.5 - 1e-12)) + 1
    # A label that is printed with the same share as the last one counts, too.
    n = sum(names in {share(x) for x in shares[:n]} for names in map(share, shares))
    all_of_them = f"{len(labels):,} {'labels' if kind == 'labels' else 'categories'}"
    common_shares, many = shares[_common(labels) & (shares > 0)], n > _MOST_NAMED
    is_even = len(common_shares) > 0 and common_shares.max() <= _LIKE * common_shares.min()
    if is_even and (many or evenly_spread(labels, n)):
        ends = " to ".join(dict.fromkeys([share(common_shares.min()), share(common_shares.max())]))
        part = "all" if len(common_shares) == len(labels) else f"{len(common_shares):,} of"
        return (f"The disagreement is spread over {part} {all_of_them}, {ends} each.",)
    if many:
        most, second = share(shares[0]), share(shares[1])
        if most == second:
            return (f"Each of {all_of_them} has at most {most} of the disagreement.",)
        rest = f"; the other {len(labels) - 1:,} have at most {second}."
        first = Name.of(labels["label"].iloc[0])
        return (f"{most} of the disagreement is about ", first, rest)
    part = f"{share(shares[:n].sum())} of the disagreement is about {n:,} of {all_of_them}: "
    pairs = zip(labels["label"], shares[:n], strict=False)
    names: list[Sentence] = [(Name.of(label), f" ({share(x)})" * (n > 1)) for label, x in pairs]
    return (part, *enumeration(names), ".")


def evenly_spread(labels: pd.DataFrame, n: int) -> bool:
    """Return whether the share of the first ``n`` labels is below 1.3 times their part of all.

    All are the labels that are not rare, so that a misspelt label does not make the part smaller.
    """
    of_first = float(labels["share_of_disagreement"].iloc[:n].sum())
    common = _common(labels)
    some = int((common & (labels["share_of_disagreement"] > 0).to_numpy()).sum()) > 1
    return bool(some and of_first < _EVEN * n / max(int(common.sum()), n))


def _common(labels: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return whether each label is not rare."""
    n = labels["n_ratings"]
    return (n >= _RARE * n.mean()).to_numpy(dtype=bool)


def sections(f: Findings, frame: pd.DataFrame) -> list[Section]:
    """Return the table of labels, the largest share of the disagreement first."""
    # The coefficient of the report may count units, and therefore clusters, that alpha does not.
    over = f" ({score_whole(f.study, 'alpha', None, f.level).drawn})" if f.main.drawn else ""
    kinds = sorted(frame["interval_method"].dropna().unique()) or ["score"]
    named = " or ".join("Fieller's" if kind == "fieller" else f"the {kind}" for kind in kinds)
    narrow, is_mixed = "", len(kinds) > 1
    if "t" in kinds:
        which = ", as its row states; t" if is_mixed else ", which"
        narrow = f"{which} is too narrow for rare labels"
    none = f"; there is none if the rarer of yes and no weighs less than {FEWEST_RARER} units"
    of_degrees = "Any degree above 0 is a yes. " if have_degrees(f.study.values) else ""
    note = (
        f"Each label is a separate question: was it given, yes or no? {of_degrees}Agree on yes: "
        "the probability that another rater of the unit gives the label if one rater does. If a "
        "label is rare, alpha can be low although raters almost always agree on no; AC1 is then "
        f"high. The interval of alpha is {named} interval{over}{narrow}"
        f"{none * (not f.main.case.is_sized)}."
    )
    lead = summary(f, frame)
    caption = "Labels, the largest share of the disagreement first"
    columns = [
        replace(one, head="Alpha") if one.source == "estimate" else one
        for one in COLUMNS
        if one.source != "interval_method" or is_mixed
    ]
    table = table_of(frame, unsized(f, columns), caption, limit=40, function="by_label")
    return [Section(table, list_picture(f, diagnosis.labels, frame), note, lead)]


_DEPTHS_NOTE = (
    "At each depth, deeper labels are replaced by their ancestors at that depth; a root has depth "
    "1. Inside a branch: the share of the nominal disagreement that this removes. A higher "
    "coefficient at a smaller depth does not mean a better codebook: its labels distinguish less."
)


def compute_depths(f: Findings) -> pd.DataFrame | None:
    """Return the agreement at each depth if the distance has a hierarchy of at least two."""
    tree: Any = getattr(f.distance, "hierarchy", None)
    if tree is None:
        return None
    frame = by_depth(f.study, parents=tree, **f.measure, level=f.level)
    return frame if len(frame) > 1 else None


def depths_summary(_: Findings, frame: pd.DataFrame) -> Sentence:
    """Return a sentence on the share of disagreement inside the smallest branches."""
    inside, depth = frame["inside"].iloc[-2], frame["depth"].iloc[-2]
    if not inside > 0:
        return ()
    change = f"replacing labels by their ancestors at depth {depth} removes it"
    return (f"{share(inside)} of the nominal disagreement is inside branches: {change}.",)


def depths_sections(f: Findings, frame: pd.DataFrame) -> list[Section]:
    """Return the table of depths, the roots first."""
    columns = [
        Column("depth", "count", "Depth"),
        Column("n_labels", "count", "Labels"),
        Column("inside", "share", "Inside a branch"),
        estimate_column(f),
        *REASONS,
    ]
    caption = "Depths of the hierarchy, the roots first"
    table = table_of(frame, columns, caption, limit=15, function="by_depth")
    return [Section(table, note=_DEPTHS_NOTE)]


def compute_confusions(f: Findings) -> pd.DataFrame | None:
    """Return the confusions of labels with p, or None for numbers."""
    if f.study.kind == "number":
        return None

    if f.main.case.is_sized:  # no test, because pieces of one document are alike
        return confusions(f.study)

    def tested(n: int) -> pd.DataFrame:
        return confusions(f.study, n_resamples=n, rng=f.options.rng)

    return resampled(f, tested, lambda frame: frame["p_value"], _most_reshuffles(f))


def _most_reshuffles(f: Findings) -> float:
    """Return the largest number of reshuffles of the confusions."""
    return _RESHUFFLED / f.study.n_ratings


def _testable(f: Findings, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the confusions that have a test, and do not follow from a pattern."""
    testable = frame[frame["p_value"].notna()]
    if has_pattern(f, "empty", "rater"):  # what is left out follows from that pattern
        testable = testable[testable["kind"] != "left out"]
    return testable


def confusions_summary(f: Findings, frame: pd.DataFrame) -> Sentence:
    """Return a sentence on the confusions that are most clearly above chance, if any is."""
    clear = clear_confusions(f, frame)
    if clear.empty:
        return ()
    listed: list[Sentence] = []
    for row in clear.head(_MOST_NAMED).to_dict("records"):
        times = f"{row['lift']:.1f} times the expected number, {p_phrase(row['p_value'])}"
        part = f" ({share(row['share'])} of the pairs that differ, {times})"
        listed.append((*_confused(row["kind"], row["label"], row["other"]), part))
    if (more := len(clear) - _MOST_NAMED) > 0:
        listed.append((f"{more:,} more",))
    return ("More frequent than expected by chance: ", *enumeration(listed), ".")


def clear_confusions(f: Findings, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the confusions that are above chance with corrected p, the clearest first."""
    if not holds(f.corrected["confusions"]).all():
        return frame.head(0)
    clear: pd.DataFrame = _corrected(f, frame)
    clear = clear[holds(clear["p_value"])]
    excess = (clear["n_pairs"] - clear["expected_pairs"]).to_numpy(dtype=float)
    clearest: pd.DataFrame = clear.iloc[np.lexsort((-excess, clear["p_value"]))]
    return clearest


def _corrected(f: Findings, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the confusions with p corrected over all claims.

    Each p accounts for the number of confusions, so that it takes the factor of the least p.
    """
    (p,), testable = f.corrected["confusions"], _testable(f, frame)["p_value"]
    return frame.assign(p_value=np.minimum(testable * (p / testable.min()), 1))


def _confused(kind: str, label: object, other: object) -> Sentence:
    """Return a confusion as text."""
    return (Name.of(label), *((" left out",) if kind == "left out" else (" ↔ ", Name.of(other))))


def confusions_sections(f: Findings, frame: pd.DataFrame) -> list[Section]:
    """Return the table of confused labels, the most frequent first."""
    lead, picture = confusions_summary(f, frame), None
    if not lead and len(_testable(f, frame)):
        lead = ("No confusion of labels is distinguishable from chance.",)
    frame = _corrected(f, frame)
    if f.main.reason is None:
        n = min(len({*frame["label"], *frame["other"]} - {None}), 20)
        height = 1.8 + n * min(0.36, 7 / n)
        picture = Picture(partial(diagnosis.confusions, frame), height, columns=n + 1)
    top = frame.head(_MOST_CONFUSIONS)
    cells = zip(top["kind"], top["label"], top["other"], strict=True)
    sentences = [_confused(*cell) for cell in cells]
    frame = with_sentences(frame, sentences)
    numbers = [replace(x, head="p, Holm") if x.kind == "p" else x for x in CONFUSED[3:]]
    columns = [Column("sentence", "text", "Confusion"), *numbers]
    note = (
        "↔: of the two labels, one rater gives only the first and the other only the second. Left "
        "out: one rater gives the label; the other does not, and gives none that the first lacks. "
    )
    if f.main.case.is_sized:
        note += "Pairs count by length. There is no test, because pieces of a document are alike."
    else:
        note += (
            f"A confusion is tested if at least {ENOUGH_PAIRS} pairs are observed and expected, by "
            "reshuffles of the labels in which the answers of a unit differ"
            f"{least_p(f, frame['p_value'], _most_reshuffles(f))}."
        )
    if have_degrees(f.study.values):
        note += (
            " Degrees do not count: a pair of answers with the same labels and different degrees "
            "is in no row."
        )
    caption = "Confused labels, the most frequent first"
    table = table_of(frame, columns, caption, limit=_MOST_CONFUSIONS, function="confusions")
    return [Section(table, picture, note, lead)]


_MANY_EMPTY = 0.05
"""Share of empty answers from which agreement is given in two parts."""


def compute_presence(f: Findings) -> pd.DataFrame | None:
    """Return the agreement in two parts if at least 5% of the answers are empty."""
    if f.study.kind != "labels" or f.main.reason is not None:
        return None
    empty = f.study.summary()["share_empty"]
    return by_presence(f.study, **f.measure, level=f.level) if _MANY_EMPTY <= empty < 1 else None


def presence_summary(f: Findings, frame: pd.DataFrame) -> Sentence:
    """Return a sentence on the agreement on whether a label applies, and on which."""
    word = f.main.definition.short
    any_label, which = (
        "undefined" if pd.isna(row["estimate"]) else number(row["estimate"])
        for row in frame.to_dict("records")
    )
    empty = f"{share(float(f.study.summary()['share_empty']))} of the answers are empty."
    first = f"On whether any label applies, {word} is {any_label}"
    return (f"{empty} {first}; on which, among the answers with labels, {which}.",)


def presence_sections(_: Findings, frame: pd.DataFrame) -> list[Section]:
    """Return the table of the two parts."""
    note = "The first part compares all answers as empty or not, with the nominal distance."
    caption = "Agreement on whether any label applies, and on which"
    return [Section(table_of(frame, PARTS, caption, limit=2, function="by_presence"), note=note)]


TOPIC = Topic("labels", "Labels", sections, compute, about="Labels", summary=summary, optional=True)
PRESENCE = Topic(
    "presence",
    "Whether any label applies, and which",
    presence_sections,
    compute_presence,
    about="Empty",
    summary=presence_summary,
    optional=True,
)
DEPTHS = Topic(
    "depths",
    "Depths of the hierarchy",
    depths_sections,
    compute_depths,
    about="Depth",
    summary=depths_summary,
    optional=True,
)
CONFUSIONS = Topic(
    "confusions",
    "Confusions",
    confusions_sections,
    compute_confusions,
    about="Confusion",
    summary=confusions_summary,
    p_values=lambda f, frame: [_testable(f, frame)["p_value"].min()],
    optional=True,
    unweighted="Pairs",
    one_by_one="The pairs",
)

"""What a change of labels or raters would bring."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from setagree.coefficients.chance import ROUNDING
from setagree.diagnosis.common import corrected
from setagree.diagnosis.confusions import has_enough_pairs
from setagree.diagnosis.what_if import what_if
from setagree.errors import SetagreeError, counted
from setagree.inference.comparison import holm
from setagree.reporting.sections.base import (
    SURE,
    Column,
    Findings,
    Listing,
    Section,
    Topic,
    estimate_column,
    with_sentences,
)
from setagree.reporting.sections.patterns import has_pattern
from setagree.reporting.sections.raters import holm_scope, raised_without
from setagree.study.codes import have_degrees
from setagree.wording.number_format import number, p_phrase
from setagree.wording.sentences import Name, Sentence, capitalised

MOST_TRIED = 3
"""Mergers, labels and raters of which each change is tried."""

_MANY = 0.8
"""Share of the pairable units below which a finding states how many a change leaves."""

_NAMING = ("coefficient", "distance")
_CHANGES = {"merge": "merge", "drop_labels": "drop label", "drop_raters": "drop rater"}
"""What `what_if` calls them."""

_VERBS = {
    "as it is": "as it is",
    "merge": "merge ",
    "drop label": "drop the label ",
    "drop rater": "leave out the rater ",
    "to parents": "replace labels by their parents",
    "to depth": "replace labels by their ancestors at one depth",
}


def compute(f: Findings) -> pd.DataFrame:
    """Return the effects of the changes that the other findings suggest."""
    # Those without whom the coefficient rises most, if a test shows that it does.
    costly = raised_without(f)
    chosen = [] if f.study.n_raters < 3 or costly.empty else [*costly["rater"].iloc[:MOST_TRIED]]
    # Raters with identical answers agree fully once the others are left out.
    chosen = [] if has_pattern(f, "copies") else chosen
    wanted: dict[str, Any] = {"drop_raters": chosen}
    if f.study.kind != "number":
        if not have_degrees(f.study.values):  # merged labels have no degree
            wanted["merge"] = _mergers(f.results.get("confusions"))
        # Without one label, more answers are empty or the one answer: they agree by that alone.
        if not has_pattern(f, "empty", "answer", "rater"):
            wanted["drop_labels"] = _costly_labels(f.results.get("labels"))
    try:
        return what_if(f.study, **wanted, **f.measure, level=f.level)
    except SetagreeError:
        return _one_by_one(f, wanted)


def _one_by_one(f: Findings, wanted: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row with the reason for a change that cannot be made, and the other rows."""
    asked = {**f.measure, "level": f.level}
    rows = what_if(f.study, drop_raters=[], **asked).to_dict("records")
    for kind, each in ((kind, each) for kind, chosen in wanted.items() for each in chosen):
        one: dict[str, Any] = {kind: [each], **asked}
        try:
            rows += what_if(f.study, **one).iloc[1:].to_dict("records")
        except SetagreeError as error:
            what = " + ".join(map(str, each)) if kind == "merge" else str(each)
            gone: dict[Hashable, Any] = {"action": _CHANGES[kind], "target": what}
            gone |= {"difference": np.nan, "reason": str(error.__cause__ or error)}
            rows.append(gone)
    frame = pd.DataFrame(rows).assign(**{name: rows[0][name] for name in _NAMING})
    frame = frame.assign(**corrected(frame["p_value"]))
    order = np.argsort(-frame["difference"].iloc[1:].to_numpy(dtype=float), kind="stable")
    return frame.iloc[[0, *(order + 1)]].reset_index(drop=True)


def _mergers(confusions: pd.DataFrame | None) -> list[tuple[Hashable, Hashable]]:
    """Return the pairs of labels that are often confused, and more often than other labels."""
    if confusions is None:
        return []
    instead = confusions[confusions["kind"] == "instead"]
    usual = instead["n_pairs"].sum() / max(float(instead["expected_pairs"].sum()), 1e-300)
    chosen = instead[(instead["lift"] > usual) & has_enough_pairs(instead)].iloc[:MOST_TRIED]
    return list(zip(chosen["label"], chosen["other"], strict=True))


def _costly_labels(labels: pd.DataFrame | None) -> list[Hashable]:
    """Return the labels with the largest shares of the disagreement."""
    if labels is None or len(labels) < 3:
        return []
    costly = labels[labels["share_of_disagreement"] > 0]
    return list(costly["label"].iloc[:MOST_TRIED])


def summary(f: Findings) -> Sentence:
    """Return the change that gains most, and that of labels which gains most.

    A gain that a test shows is called the largest of all only if no other gain is larger.
    """
    changes = with_holm(f)
    tried = changes[(changes["action"] != "as it is") & changes["estimate"].notna()]
    tried = tried.sort_values("difference", ascending=False, kind="stable")
    sure = tried[(tried["difference"] > 0) & (tried["p_holm"] < SURE)]
    unsure = tried[tried["p_holm"].isna()]
    largest = float(tried["difference"].max()) if len(tried) else 0.0
    n = len(tried)
    best_of = f"Of the {n:,} changes tried, " if n > 1 else "Only one change was tried: "
    largest_if = "the gain is largest" if n > 1 else "there is a gain"
    if len(unsure) and unsure["difference"].iloc[0] == largest > 0:
        said = f"{largest_if} (no test is possible) if you "
        return (*_gain(f, unsure.iloc[0], f"{best_of}{said}"), ".")
    if len(unsure) == len(tried) > 0:
        return ()
    of_labels = tried["action"] != "drop rater"
    if not len(sure):
        tested = int((of_labels & tried["p_holm"].notna()).sum())
        return _no_gain(tested, f.main.definition.short)
    first = f"{best_of}{largest_if} if you "
    if sure["difference"].iloc[0] != largest:
        n_sure = f"{len(sure):,} gains hold after correction; the largest of these is reached"
        some = n_sure if len(sure) > 1 else "only one gain holds after correction,"
        first = f"{best_of}{some} if you "
    if sure["action"].iloc[0] != "drop rater":
        return (*_gain(f, sure.iloc[0], first), ".")
    second: Sentence = ()
    if len(rest := sure[sure["action"] != "drop rater"]):
        is_first = rest["difference"].iloc[0] == tried.loc[of_labels, "difference"].max()
        some = "" if is_first else " that hold after correction"
        those = f". Among the changes of labels{some}, the gain is largest if you "
        second = _gain(f, rest.iloc[0], those)
    return (*_gain(f, sure.iloc[0], first), *second, ".")


def with_holm(f: Findings) -> pd.DataFrame:
    """Return the changes with p corrected by Holm, and over how many, `n_tests`, it is.

    Over the changes of labels; of a rater over all raters, as the test of all of them chose whose
    removal is tried.
    """
    changes: pd.DataFrame = f.results["changes"]
    of_rater = (changes["action"] == _CHANGES["drop_raters"]).to_numpy()
    p = holm(np.where(of_rater, np.nan, changes["p_value"].to_numpy(dtype=float)))
    n_tests = np.full(len(p), int((~np.isnan(p)).sum()))
    raters = f.frame("raters")
    if raters is not None:
        known = dict(zip(map(str, raters["rater"]), raters["p_holm"], strict=True))
        p[of_rater] = [known.get(str(who), np.nan) for who in changes["target"][of_rater]]
        n_tests[of_rater] = int(raters["n_tests"].iloc[0])
    return changes.assign(p_holm=p, n_tests=n_tests)


def _gain(f: Findings, change: pd.Series[Any], said: str) -> Sentence:
    """Return the effect of a change, after its description."""
    word, now = f.main.definition.short, number(f.main.estimate)
    gain = f": {word} {number(change['estimate'])} instead of {now}"
    over = counted(change["n_tests"], "rater")
    if change["action"] != _CHANGES["drop_raters"]:
        over = f"{counted(change['n_tests'], 'change')} of labels"
    p = change["p_holm"]
    test = "" if np.isnan(p) else f"; {p_phrase(p)}, Holm over {over}"
    end = f"{gain} ({number(change['difference'], signed=True)}{test})"
    return (said, *change_words(change["action"], change["target"]), end, _fewer(f, change))


def _fewer(f: Findings, change: pd.Series[Any]) -> str:
    """Return the number of units that keep two ratings, if clearly fewer do."""
    n, before = int(change["n_pairable_units"]), f.main.n_pairable_units
    return "" if n > _MANY * before else f", with {n:,} pairable units instead of {before:,}"


def _no_gain(n: int, word: str) -> Sentence:
    """Return that no change of labels helps, where any was tried."""
    if n > 1:
        test = "significantly (Holm over all of them)"
        return (f"None of {n:,} changes of labels that were tried raises {word} {test}.",)
    one = f"The one change of labels that was tried does not raise {word} significantly."
    return (one,) if n else ()


def change_words(change: str, what: object) -> Sentence:
    """Return a change as what to do."""
    verb = _VERBS[change]
    return (verb, Name.of(what)) if verb.endswith(" ") else (verb,)


def sections(f: Findings) -> list[Section]:
    """Return the effect of each change."""
    if len(f.results["changes"]) < 2:
        return []
    frame = with_holm(f)
    does = [change_words(*row) for row in zip(frame["action"], frame["target"], strict=True)]
    frame = with_sentences(frame, [(capitalised(verb), *rest) for verb, *rest in does])
    columns = [
        Column("Change", "text", "said"),
        estimate_column(f),
        Column("Difference", "signed", "difference"),
        Column("p, Holm", "p", "p_holm"),
        Column("Pairable units", "count", "n_pairable_units"),
        Column("Ratings", "count", "n_ratings"),
        Column("Distinct answers", "count", "n_values"),
        Column("Reason", "name", "reason"),
    ]
    note = (
        "These changes were chosen after looking at the data, so that their gain is somewhat "
        "overstated; and a label system that is easier to agree on is not always the one you need. "
        f"p is corrected{_families(frame, f)}. Pairable units have two ratings or more."
    )
    if _scored_anew(frame, f.frame("raters")):
        note += (
            " Where a rater is left out, the list of values and whatever the distance takes from "
            "the data are computed again here; the table of raters keeps those of the whole study."
        )
    caption = "The coefficient after each change"
    listing = Listing("changes", "Effects of possible changes", caption, "what_if", 20, note)
    return listing.section(f, frame, columns, lead=summary(f))


def _families(changes: pd.DataFrame, f: Findings) -> str:
    """Return the family in which each p of the table is corrected: raters or labels."""
    of_rater, said = changes["action"] == _CHANGES["drop_raters"], []
    if n := int(changes["n_tests"][~of_rater].max()):
        said.append(f"for a change of labels, Holm over the {n:,} of this table")
    if of_rater.any():
        over = holm_scope(f.frame("raters"))
        said.append(f"for a rater, {over}, which is the p of the table of raters")
    return f": {'; '.join(said)}" if said else ""


def _scored_anew(changes: pd.DataFrame, raters: pd.DataFrame | None) -> bool:
    """Return whether a rater's leaving gives another number here than in the table of raters."""
    dropped = changes[changes["action"] == "drop rater"].set_index("target")["estimate"]
    if raters is None or not len(dropped):
        return False
    there = pd.Series(raters["estimate_without"].to_numpy(), [str(g) for g in raters["rater"]])
    there = there[~there.index.duplicated()].reindex(dropped.index)
    return bool(((dropped - there).abs() > ROUNDING).any())


TOPIC = Topic("changes", sections, compute, about="Change", summary=summary)

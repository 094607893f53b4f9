"""Effects of changes of labels or raters."""

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
    Findings,
    Section,
    Topic,
    estimate_column,
    table_of,
    with_sentences,
)
from setagree.reporting.sections.patterns import has_pattern
from setagree.reporting.sections.raters import holm_scope, raised_without
from setagree.study.codes import have_degrees
from setagree.wording.number_format import number, p_phrase
from setagree.wording.sentences import Name, Sentence, capitalised
from setagree.wording.tables import Column

MOST_TRIED = 3
"""Mergers, labels and raters of which each change is tried."""

_MANY = 0.8
"""Share of the pairable units below which a finding states how many a change leaves."""

_NAMING = ("coefficient", "distance")
_CHANGES = {"merge": "merge", "drop_labels": "drop label", "drop_raters": "drop rater"}
"""Actions in the results of `what_if`, by its options."""

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
        if not have_degrees(f.study.values):  # a merged label has no degree
            wanted["merge"] = _mergers(f.results.get("confusions"))
        # Without one label, more answers are empty or the one answer: they agree by that alone.
        if not has_pattern(f, "empty", "answer", "rater"):
            wanted["drop_labels"] = _costly_labels(f.results.get("labels"))
    try:
        return what_if(f.study, **wanted, **f.measure, level=f.level)
    except SetagreeError:
        return _one_by_one(f, wanted)


def _one_by_one(f: Findings, wanted: Mapping[str, Any]) -> pd.DataFrame:
    """Return the effects of changes of which one cannot be made: its row has the reason."""
    measure = {**f.measure, "level": f.level}
    rows = what_if(f.study, drop_raters=[], **measure).to_dict("records")
    for kind, each in ((kind, each) for kind, chosen in wanted.items() for each in chosen):
        one: dict[str, Any] = {kind: [each], **measure}
        try:
            rows += what_if(f.study, **one).iloc[1:].to_dict("records")
        except SetagreeError as error:
            target = " + ".join(map(str, each)) if kind == "merge" else str(each)
            row: dict[Hashable, Any] = {"action": _CHANGES[kind], "target": target}
            rows.append(row | {"difference": np.nan, "reason": str(error.__cause__ or error)})
    frame = pd.DataFrame(rows).assign(**{name: rows[0][name] for name in _NAMING})
    frame = frame.assign(**corrected(frame["p_value"]))
    order = np.argsort(-frame["difference"].iloc[1:].to_numpy(dtype=float), kind="stable")
    return frame.iloc[[0, *(order + 1)]].reset_index(drop=True)


def _mergers(confusions: pd.DataFrame | None) -> list[tuple[Hashable, Hashable]]:
    """Return the pairs of labels that replace one another often, and more so than others do."""
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


def summary(f: Findings, _: pd.DataFrame) -> Sentence:
    """Return sentences on the largest gain by the changes tried, and by those of labels.

    A significant gain is called the largest of all only if no other gain is larger.
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
        untested = f"{best_of}{largest_if} (no test is possible) if you "
        return (*_gain(f, unsure.iloc[0], untested), ".")
    if len(unsure) == len(tried) > 0:
        return ()
    of_labels = tried["action"] != "drop rater"
    if not len(sure):
        n, word = int((of_labels & tried["p_holm"].notna()).sum()), f.main.definition.short
        one = f"The one change of labels that was tried does not raise {word} significantly."
        test = "significantly (Holm over all of them)"
        many = f"None of {n:,} changes of labels that were tried raises {word} {test}."
        return (many if n > 1 else one,) if n else ()
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
    """Return the changes with p corrected by Holm, and the number of its tests.

    The tests are those of changes of labels; for a rater those of all raters, because these tests
    chose whose removal is tried.
    """
    changes: pd.DataFrame = f.results["changes"]
    of_rater = (changes["action"] == _CHANGES["drop_raters"]).to_numpy()
    p = holm(np.where(of_rater, np.nan, changes["p_value"].to_numpy(dtype=float)))
    n_tests = np.full(len(p), int((~np.isnan(p)).sum()))
    raters = f.result("raters")
    if raters is not None:
        known = dict(zip(map(str, raters["rater"]), raters["p_holm"], strict=True))
        p[of_rater] = [known.get(str(who), np.nan) for who in changes["target"][of_rater]]
        n_tests[of_rater] = int(raters["n_tests"].iloc[0])
    return changes.assign(p_holm=p, n_tests=n_tests)


def _gain(f: Findings, change: pd.Series[Any], start: str) -> Sentence:
    """Return the gain by a change as the rest of a sentence, after its start."""
    word, now = f.main.definition.short, number(f.main.estimate)
    gain = f": {word} {number(change['estimate'])} instead of {now}"
    over = counted(change["n_tests"], "rater")
    if change["action"] != _CHANGES["drop_raters"]:
        over = f"{counted(change['n_tests'], 'change')} of labels"
    p = change["p_holm"]
    test = "" if np.isnan(p) else f"; {p_phrase(p)}, Holm over {over}"
    end = f"{gain} ({number(change['difference'], signed=True)}{test})"
    n, before = int(change["n_pairable_units"]), f.main.n_pairable_units
    fewer = "" if n > _MANY * before else f", with {n:,} pairable units instead of {before:,}"
    return (start, *change_words(change["action"], change["target"]), end, fewer)


def change_words(action: str, target: object) -> Sentence:
    """Return a change as an imperative."""
    verb = _VERBS[action]
    return (verb, Name.of(target)) if verb.endswith(" ") else (verb,)


def sections(f: Findings, changes: pd.DataFrame) -> list[Section]:
    """Return the table of changes with their effects."""
    if len(changes) < 2:
        return []
    frame, raters = with_holm(f), f.result("raters")
    does = [change_words(*row) for row in zip(frame["action"], frame["target"], strict=True)]
    frame = with_sentences(frame, [(capitalised(verb), *rest) for verb, *rest in does])
    columns = [
        Column("sentence", "text", "Change"),
        estimate_column(f),
        Column("difference", "signed", "Difference"),
        Column("p_holm", "p", "p, Holm"),
        Column("n_pairable_units", "count", "Pairable units"),
        Column("n_ratings", "count", "Ratings"),
        Column("n_values", "count", "Distinct answers"),
        Column("reason", "name", "Reason"),
    ]
    note = (
        "These changes were chosen after looking at the data, so that their gain is somewhat "
        "overstated; and a label system that is easier to agree on is not always the one you need. "
        f"p is corrected{_families(frame, raters)}. Pairable units have two ratings or more."
    )
    if _differs_from_raters(frame, raters):
        note += (
            " Where a rater is left out, the list of values and whatever the distance takes from "
            "the data are computed again here; the table of raters keeps those of the whole study."
        )
    caption = "The coefficient after each change"
    table = table_of(frame, columns, caption, limit=20, function="what_if")
    return [Section(table, note=note)]


def _families(changes: pd.DataFrame, raters: pd.DataFrame | None) -> str:
    """Return the families of tests over which p is corrected: of changes of labels, of raters."""
    of_rater, parts = changes["action"] == _CHANGES["drop_raters"], []
    if n := int(changes["n_tests"][~of_rater].max()):
        parts.append(f"for a change of labels, Holm over the {n:,} of this table")
    if of_rater.any():
        over = holm_scope(raters)
        parts.append(f"for a rater, {over}, which is the p of the table of raters")
    return f": {'; '.join(parts)}" if parts else ""


def _differs_from_raters(changes: pd.DataFrame, raters: pd.DataFrame | None) -> bool:
    """Return whether the estimate without a rater differs from that in the table of raters."""
    dropped = changes[changes["action"] == "drop rater"].set_index("target")["estimate"]
    if raters is None or not len(dropped):
        return False
    there = pd.Series(raters["estimate_without"].to_numpy(), [str(g) for g in raters["rater"]])
    there = there[~there.index.duplicated()].reindex(dropped.index)
    return bool(((dropped - there).abs() > ROUNDING).any())


TOPIC = Topic(
    "changes", "Effects of possible changes", sections, compute, about="Change", summary=summary
)

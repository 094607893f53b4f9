"""Effects of changes of labels or raters."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from setagree.coefficients.case import ROUNDING
from setagree.diagnosis.common import SURE
from setagree.diagnosis.what_if import COLUMNS, DROP_RATER, P_OF_RATERS, compare_changes
from setagree.errors import counted
from setagree.reporting.sections.base import (
    MOST_TRIED,
    Findings,
    Section,
    Topic,
    estimate_column,
    holds,
    table_of,
    with_sentences,
)
from setagree.reporting.sections.patterns import has_pattern
from setagree.study.codes import have_degrees
from setagree.wording.number_format import number, p_phrase
from setagree.wording.sentences import Name, Sentence, capitalised
from setagree.wording.tables import Column

_MANY = 0.8
"""Share of the pairable units after a change, up to which a finding states their number."""

_VERBS = {
    "as it is": "as it is",
    "merge": "merge ",
    "drop label": "drop the label ",
    DROP_RATER: "leave out the rater ",
    "to parents": "replace labels by their parents",
    "to depth": "replace labels by their ancestors at one depth",
}


def compute(f: Findings) -> pd.DataFrame:
    """Return the effects of changes that follow from the other findings."""
    # The raters without whom the coefficient rises most, if their test shows it.
    raters = f.result("raters")
    chosen = []
    if raters is not None and f.study.n_raters > 2:
        costly = raters[(raters["difference"] > 0) & (raters["p_holm"] <= SURE)]
        chosen = [*costly["rater"].iloc[:MOST_TRIED]]
    # Raters with identical answers would agree fully without the others.
    chosen = [] if has_pattern(f, "copies") else chosen
    wanted: dict[str, Any] = {"exclude_raters": chosen}
    if f.study.kind == "labels":
        if not have_degrees(f.study.values):  # a merged label has no degree
            wanted["merge"] = _mergers(f.results.get("confusions"))
        # Without a label more answers would be empty, or equal to the dominant one.
        if not has_pattern(f, "empty", "answer", "rater"):
            wanted["exclude_labels"] = _costly_labels(f.results.get("labels"))
    return compare_changes(f.main, f.level, **wanted, is_requested=False)


def _mergers(confusions: pd.DataFrame | None) -> list[tuple[Hashable, Hashable]]:
    """Return the pairs of labels that replace one another more often than by chance."""
    if confusions is None:
        return []
    chosen = confusions[(confusions["kind"] == "instead") & (confusions["p_value"] <= SURE)]
    chosen = chosen.iloc[:MOST_TRIED]
    return list(zip(chosen["label"], chosen["other"], strict=True))


def _costly_labels(labels: pd.DataFrame | None) -> list[Hashable]:
    """Return the labels with the largest shares of the disagreement."""
    if labels is None or len(labels) < 3:
        return []
    costly = labels[labels["share_of_disagreement"] > 0]
    return list(costly["label"].iloc[:MOST_TRIED])


def with_p(f: Findings) -> pd.DataFrame:
    """Return the changes with p corrected over all claims; without a rater that of `by_rater`."""
    changes = f.tested("changes")
    raters = f.tested("raters") if f.result("raters") is not None else pd.DataFrame()
    p_of_rater = dict(zip(map(str, raters.get("rater", ())), raters.get("p_holm", ()), strict=True))
    p = [
        p_of_rater.get(str(target), np.nan) if action == DROP_RATER else own
        for action, target, own in changes[["action", "target", "p_holm"]].itertuples(index=False)
    ]
    reason = changes["reason"].where(changes["reason"] != P_OF_RATERS)
    return changes.assign(p_holm=p, reason=reason)


def summary(f: Findings, _: pd.DataFrame) -> Sentence:
    """Return sentences on the largest significant gain, and on the largest one by labels."""
    changes = with_p(f)
    tried = changes[(changes["action"] != "as it is") & changes["estimate"].notna()]
    tried = tried.sort_values("difference", ascending=False, kind="stable")
    gains = tried[(tried["difference"] > 0) & holds(tried["p_holm"])]
    of_labels = tried["action"] != DROP_RATER
    largest = tried["difference"].max()
    word = f.main.definition.short
    rises = f"Of {len(tried):,} changes tried, {word} rises most"
    if len(tried) == 1:
        rises = f"{word[0].upper()}{word[1:]} rises"
    untested = tried[tried["p_holm"].isna() & (tried["difference"] > 0)]
    if len(untested) and untested["difference"].iloc[0] == largest:
        return (*_gain(f, untested.iloc[0], f"{rises} (no test is possible) if you "), ".")
    if gains.empty:
        n = int((of_labels & tried["p_holm"].notna()).sum())
        if n == 1:
            return (f"The only change of labels tried does not raise {word} significantly.",)
        return (f"None of {n:,} changes of labels tried raises {word} significantly.",) if n else ()
    first = gains.iloc[0]
    if first["difference"] < largest:
        rises = f"Of {counted(len(tried), 'change')} tried, {word} has its largest significant rise"
    sentence = _gain(f, first, f"{rises} if you ")
    others = gains[of_labels.loc[gains.index]]
    if first["action"] == DROP_RATER and len(others):
        start = ". Of the changes of labels, it rises most if you "
        sentence += _gain(f, others.iloc[0], start)
    return (*sentence, ".")


def _gain(f: Findings, change: pd.Series[Any], start: str) -> Sentence:
    """Return the gain by a change as the rest of a sentence, after its start."""
    gain = f": {number(change['estimate'])} instead of {number(f.main.estimate)}"
    test = "" if np.isnan(change["p_holm"]) else f"; {p_phrase(change['p_holm'])}"
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
    frame, raters = with_p(f), f.result("raters")
    does = [change_words(*row) for row in zip(frame["action"], frame["target"], strict=True)]
    frame = with_sentences(frame, [(capitalised(verb), *rest) for verb, *rest in does])
    columns = [
        Column("sentence", "text", "Change"),
        estimate_column(f),
        *(one for one in COLUMNS if one.first in {"difference", "p_holm"} or one.kind == "count"),
        Column("reason", "name", "Reason"),
    ]
    note = (
        "These changes were chosen after looking at the data, so that their gains are somewhat "
        "too large. A codebook with higher agreement is not always the one you need. Pairable "
        "units have at least two ratings. p of a change of labels is from a paired t test; p "
        "without a rater is that of the table of raters."
    )
    if _differs_from_raters(frame, raters):
        note += (
            " Without a rater, the list of values and the quantities that the distance takes from "
            "the data are computed again here; the table of raters keeps those of the whole study."
        )
    caption = "The coefficient after each change"
    table = table_of(frame, columns, caption, limit=20, function="what_if")
    return [Section(table, note=note)]


def _differs_from_raters(changes: pd.DataFrame, raters: pd.DataFrame | None) -> bool:
    """Return whether the estimate without a rater differs from that in the table of raters."""
    dropped = changes[changes["action"] == DROP_RATER].set_index("target")["estimate"]
    if raters is None or not len(dropped):
        return False
    there = pd.Series(raters["estimate_without"].to_numpy(), [str(g) for g in raters["rater"]])
    there = there[~there.index.duplicated()].reindex(dropped.index)
    return bool(((dropped - there).abs() > ROUNDING).any())


TOPIC = Topic(
    "changes",
    "Effects of possible changes",
    sections,
    compute,
    about="Change",
    summary=summary,
    p_values=lambda _, changes: [*changes["p_value"]],
)

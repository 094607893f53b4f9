"""The main findings in plain sentences: what costs the agreement, and what a change would bring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from setagree.distances import distance_names
from setagree.errors import counted
from setagree.reporting.findings import Findings, by_share, running_share
from setagree.reporting.panel_words import camps_finding, models_finding, replication_finding
from setagree.reporting.rater_words import rater_finding
from setagree.reporting.standouts import (
    evenly_spread,
    groups_apart,
    worst_label,
)
from setagree.scoring.names import coefficient_name, distance_name, own_name
from setagree.scoring.references import is_ours
from setagree.scoring.results import Agreement
from setagree.wording.words import (
    Name,
    Sentence,
    count,
    enumeration,
    interval,
    number,
    p_phrase,
    share,
    signed,
)

_ENOUGH_UNITS = 10
"""Units that a group must have to be named as the highest or lowest."""

_NAMED_UNITS = 5
"""Units that are named as the first to adjudicate."""

_NAMED_GROUPS = 3
"""Groups that are named as standing out."""

_SURE = 0.05
"""The p-value below which a difference is called one."""

_VERDICTS = {
    "discard": "Too low to rely on",
    "tentative": "Good for tentative conclusions",
    "reliable": "Reliable",
}

_VERBS = {
    "as it is": "as it is",
    "merge": "merge ",
    "drop label": "drop the label ",
    "drop rater": "leave out the rater ",
    "to parents": "replace labels by their parents",
}


_Maker: TypeAlias = tuple[str, str, Callable[[Findings], Sentence]]
"""What a finding is about, the section with its details, and what says it."""


@dataclass(frozen=True)
class Finding:
    """A sentence that matters, and the section that has its details."""

    about: str
    section: str
    sentence: Sentence


def main_findings(f: Findings) -> list[Finding]:
    """Return what a person should know first, the costs before the choices."""
    asked = [
        ("Models", "models", models_finding),
        ("Panels", "replication", replication_finding),
    ]
    if f.main.reason is not None:
        return [Finding("No estimate", "data", headline(f)), *_made(f, asked)]
    makers = [
        *asked,
        ("Labels", "labels", label_finding),
        ("Confusion", "confusions", confusion_finding),
        ("Raters", "raters", rater_finding),
        ("Camps", "map", camps_finding),
        ("Units", "units", unit_finding),
        ("Groups", "groups", group_finding),
        ("Change", "changes", change_finding),
        ("Choice", "choices", choice_finding),
        ("Chance", "chance", chance_finding),
        ("Left out", "data", lone_finding),
    ]
    return _made(f, makers)


def _made(f: Findings, makers: Sequence[_Maker]) -> list[Finding]:
    """Return the findings that have something to say."""
    found = [Finding(about, section, make(f)) for about, section, make in makers]
    return [finding for finding in found if finding.sentence]


def headline(f: Findings) -> Sentence:
    """Return the estimate with its interval, in one sentence."""
    row = f.main
    name = f"{coefficient_name(row.definition, [row.distance])} with {distance_phrase(row)}"
    if row.reason is not None:
        return (f"{name} is undefined, because {row.reason}.",)
    low, high = row.interval(f.level)
    sure = "" if np.isnan(low) else f" ({100 * f.level:g} % interval {interval(low, high)})"
    return (f"{name} is {number(row.estimate)}{sure}.",)


def distance_phrase(row: Agreement) -> str:
    """Return ``the MASI distance``; a user's own that borrows a name keeps its own spelling."""
    if row.distance in distance_names() and not is_ours(row):
        return f"a distance of your own, “{own_name(row.distance)}”"
    return f"the {distance_name(row.distance)} distance"


def verdict_sentence(f: Findings) -> str:
    """Return what the benchmark scale says, and by which limits."""
    if f.main.standard_error == 0:
        return f"No verdict. {f.main.interval_reason}."
    if f.main.coefficient == "percent_agreement":
        return "No verdict: the usual limits are for agreement beyond chance."
    word = _VERDICTS.get(f.verdict.verdict)
    if word is None:
        return "No verdict: there is no standard error to judge by."
    limits = "reliable from .800, tentative conclusions from .667"
    return f"{word}, by Krippendorff's limits ({limits}) and with the uncertainty taken in."


def label_finding(f: Findings) -> Sentence:
    """Say which label agrees clearly worst, and which hold half of the disagreement."""
    labels = f.frame("labels")
    if labels is None or len(labels) < 3 or not labels["share_of_disagreement"].iloc[0] > 0:
        return ()
    worst, held = _worst(labels), _shares(labels, f.study.kind)
    return (*worst, " ", *held) if worst else held


def _worst(labels: pd.DataFrame) -> Sentence:
    """Return which label agrees worst, where one clearly does."""
    found = worst_label(labels)
    if found is None:
        return ()
    worst, others = found
    ends = interval(worst["low"], worst["high"])
    low, high = number(others["alpha"].min()), number(others["alpha"].max())
    rest = low if low == high else f"{low} to {high}"
    said = f" agrees worst: alpha {number(worst['alpha'])} ({ends}), the other labels {rest}."
    return (Name.of(worst["label"]), said)


def _shares(labels: pd.DataFrame, kind: str) -> Sentence:
    """Return which labels hold half of the disagreement, three at most, or that none stands out."""
    shares = labels["share_of_disagreement"].to_numpy(dtype=float)
    n = min(int(np.searchsorted(np.cumsum(shares), 0.5)) + 1, 3)
    noun = "labels" if kind == "labels" else "categories"
    if evenly_spread(labels, n):
        ends = f"{share(shares.min())} to {share(shares.max())} each"
        return (f"The disagreement is spread over all {len(labels):,} {noun}, {ends}.",)
    few = ("one", "two", "three")[n - 1]
    said = f"{share(shares[:n].sum())} of the disagreement is about {few} of {len(labels):,} {noun}"
    names = [Name.of(label) for label in labels["label"].iloc[:n]]
    if n == 1:
        return (f"{said}: ", *names, ".")
    parts = [(name, f" ({share(part)})") for name, part in zip(names, shares, strict=False)]
    return (f"{said}: ", *enumeration(parts), ".")


def confusion_finding(f: Findings) -> Sentence:
    """Say which two labels stand for one another most often, and which is left out most often."""
    confusions = f.frame("confusions")
    if confusions is None:
        return ()
    instead = _first_instead(confusions[confusions["kind"] == "instead"])
    known = confusions["pairs"].notna()
    gone = _first_left_out(confusions[known & (confusions["kind"] == "left out")])
    return (*instead, " ", *gone) if instead and gone else instead or gone


def _first_instead(confusions: pd.DataFrame) -> Sentence:
    if not len(confusions):
        return ()
    top = confusions.iloc[0]
    lift = f", {top['lift']:.1f} times what chance gives" if top["lift"] >= 1.05 else ""
    often = f" instead ({share(top['share'])} of the pairs that differ{lift})."
    one, other = Name.of(top["label"]), Name.of(top["other"])
    return ("Where one rater says ", one, ", another most often says ", other, often)


def _first_left_out(confusions: pd.DataFrame) -> Sentence:
    if not len(confusions):
        return ()
    top = confusions.iloc[0]
    return ("Most often left out: ", Name.of(top["label"]), f" ({share(top['share'])}).")


def unit_finding(f: Findings) -> Sentence:
    """Say in how few units half of the disagreement lies, and which hold most of it."""
    units = f.frame("units")
    if units is None:
        return ()
    if not units["disagreement"].iloc[0] > 0:
        return (f"In all of {counted(len(units), 'unit')} the raters agree fully.",)
    n = int(np.searchsorted(running_share(units), 0.5 - 1e-12)) + 1
    agreed = int((units["disagreement"] == 0).sum())
    perfect = f"; in {counted(agreed, 'unit')} all agree fully" if agreed else ""
    part = f"{count(n)} of {counted(len(units), 'unit')} ({share(n / len(units))})"
    said = f"Half of the disagreement lies in {part}{perfect}. To adjudicate first: "
    wrong = by_share(units[units["disagreement"] > 0])["unit"].iloc[:_NAMED_UNITS]
    return (said, *enumeration([(Name.of(unit),) for unit in wrong]), ".")


def group_finding(f: Findings) -> Sentence:
    """Say whether the groups differ, and which stand out or are the ends."""
    groups = f.frame("groups")
    if groups is None:
        return ()
    known = groups[groups["estimate"].notna()].sort_values("estimate", kind="stable")
    if len(known) < 2:
        return ("Fewer than two groups can be scored.",)
    p = float(known["homogeneity_p_value"].iloc[0])
    if np.isnan(p):
        why = "one of them has no standard error above 0"
        return (f"Whether the {len(known):,} groups differ cannot be tested: {why}.",)
    if not p < _SURE:
        how = "do not differ surely"
        return (f"The {len(known):,} groups {how} ({p_phrase(p)}).",)
    large = known[known["n_pairable_units"] >= _ENOUGH_UNITS]
    ends = large if len(large) > 1 else known
    apart = groups_apart(known)
    apart = apart[apart["group"].isin(ends["group"])]
    if 0 < len(apart) <= min(_NAMED_GROUPS, len(ends) - 2):
        return _groups_apart(apart, ends[~ends["group"].isin(apart["group"])])
    low, high = ends.iloc[0], ends.iloc[-1]
    first = f"The {len(known):,} groups differ ({p_phrase(p)}): from {number(low['estimate'])} in "
    between = f" to {number(high['estimate'])} in "
    return (first, Name.of(low["group"]), between, Name.of(high["group"]), ".")


def _groups_apart(apart: pd.DataFrame, others: pd.DataFrame) -> Sentence:
    """Return which groups stand out from the rest, and where the others lie."""
    parts = []
    for row in apart.to_dict("records"):
        off = f"{signed(row['difference'])} against the rest, {p_phrase(row['p_holm'])} by Holm"
        parts.append((Name.of(row["group"]), f" ({number(row['estimate'])}, {off})"))
    low, high = number(others["estimate"].min()), number(others["estimate"].max())
    verb = "stands" if len(parts) == 1 else "stand"
    rest = f"; the other {len(others):,} lie between {low} and {high}."
    return (*enumeration(parts), f" {verb} out{rest}")


def change_finding(f: Findings) -> Sentence:
    """Say which of the changes that were tried brings most, and which of those of labels."""
    changes = f.frames["changes"]
    tried = changes[(changes["change"] != "as it is") & changes["estimate"].notna()]
    surely = tried[(tried["difference"] > 0) & (tried["p_value"] < _SURE)]
    surely = surely.sort_values("difference", ascending=False, kind="stable")
    of_labels = tried[tried["change"] != "drop rater"]
    unsure = tried[tried["p_value"].isna()]
    if len(unsure) and unsure["difference"].max() > max([0.0, *surely["difference"]]):
        return _unsure_gain(f, unsure)
    if len(unsure) == len(tried) > 0:
        return ()
    known = surely[surely["change"] != "drop rater"]
    if len(surely) and surely["change"].iloc[0] == "drop rater":
        second = (
            (*_gain(f, known.iloc[0], "; of the labels, if you "), ".") if len(known) else (".",)
        )
        return (*_gain(f, surely.iloc[0], "Most is gained if you "), *second)
    if len(known):
        said = "Of the changes that were tried, most is gained if you "
        return (*_gain(f, known.iloc[0], said), ".")
    return _no_gain(len(of_labels), f.main.definition.short)


def _unsure_gain(f: Findings, tried: pd.DataFrame) -> Sentence:
    """Return the change that brings most where there is no standard error to judge it by."""
    top = tried.sort_values("difference", ascending=False, kind="stable").iloc[0]
    said = "Of the changes that were tried, most is gained, though how surely is not known, if you "
    return (*_gain(f, top, said), ".")


def _gain(f: Findings, change: pd.Series[Any], said: str) -> Sentence:
    """Return what a change brings, after how it is said to."""
    word, now = f.main.definition.short, number(f.main.estimate)
    gain = f": {word} {number(change['estimate'])} instead of {now}"
    end = f"{gain} ({signed(change['difference'])})"
    return (said, *change_words(change["change"], change["what"]), end)


def _no_gain(n: int, word: str) -> Sentence:
    """Return that no change of labels helps, where any was tried."""
    if n < 2:
        one = f"The one change of labels that was tried does not surely raise {word}."
        return (one,) if n else ()
    few = counted(n, "change")
    return (f"None of {few} of labels that were tried surely raises {word}.",)


def change_words(change: str, what: object) -> Sentence:
    """Return a change as what to do."""
    verb = _VERBS[change]
    return (verb, Name.of(what)) if verb.endswith(" ") else (verb,)


def choice_finding(f: Findings) -> Sentence:
    """Say how far the number depends on the distance."""
    same = [row for row in f.table if row.coefficient == f.main.coefficient and row.reason is None]
    if len(same) < 2:
        return ()
    ends = [min(same, key=float), max(same, key=float)]
    low, high = (f"{number(row.estimate)} with {distance_name(row.distance)}" for row in ends)
    word = f.main.definition.short
    if number(ends[0].estimate) == number(ends[1].estimate):
        return (f"The distance makes no difference: {word} is {number(f.main.estimate)} with all.",)
    return (f"The distance is a choice: {word} is {low} and {high}{_nested(same)}.",)


def _nested(same: Sequence[Agreement]) -> str:
    """Return that raters differ in how many labels they give, where much of it is that."""
    by_name = {row.distance: row.estimate for row in same}
    gain = by_name.get("overlap", np.nan) - by_name.get("jaccard", np.nan)
    if not gain > 0.1:
        return ""
    return "; much of the disagreement is one set inside the other (labels left out or added)"


def chance_finding(f: Findings) -> Sentence:
    """Say whether chance gives as much, as the reshuffles have it."""
    p = f.null.p_value
    if np.isnan(p):
        return ()
    known = f.null.defined
    often = counted(len(known), "reshuffled study", "reshuffled studies")
    # The least of them that 95 % do not exceed: few arrangements leave no room between.
    most = float(np.quantile(known, 0.95, method="inverted_cdf"))
    stay = f"95 % of {often} give {number(most)} at most ({p_phrase(p)})"
    if f.null.beside_chance == "below chance":
        lower = p_phrase(f.null.tail("less"))
        return (f"It is below chance: of {often}, hardly any come out as low ({lower}).",)
    surely = f.null.beside_chance == "more than chance"
    said = "It is more than chance" if surely else "Chance alone may give as much"
    return (f"{said}: {stay}.",)


def lone_finding(f: Findings) -> Sentence:
    """Say how many units have nobody to agree with."""
    lone = f.main.n_units - f.main.n_pairable_units
    if not lone:
        return ()
    part = share(lone / f.main.n_units)
    have = "has" if lone == 1 else "have"
    said = f"{counted(lone, 'unit')} ({part}) {have} a single rating and can show no agreement."
    return (said,)

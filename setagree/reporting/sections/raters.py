"""Raters: agreement without each rater, agreement of pairs, and clusters of raters."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from setagree.diagnosis.by_pair import COLUMNS as OF_PAIRS
from setagree.diagnosis.by_pair import by_pair
from setagree.diagnosis.by_rater import COLUMNS, by_rater
from setagree.diagnosis.common import NOT_REQUESTED, SURE
from setagree.errors import DataError, counted
from setagree.panels.rater_map import RaterMap, rater_map
from setagree.plots import diagnosis
from setagree.plots import panels as pictures
from setagree.plots.base import cells_height
from setagree.reporting.sections.base import (
    Findings,
    Method,
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
)
from setagree.reporting.sections.patterns import are_copies_few, has_pattern
from setagree.wording.number_format import count, interval, level_text, number, p_phrase, two_digits
from setagree.wording.sentences import Name, Sentence
from setagree.wording.tables import Column

_OFTEN = 0.05
"""Difference of rates from which the table names a label that a rater overuses or underuses."""

_MUCH = 0.1
"""Smallest rise of the coefficient by a removal that counts as a possible cause."""

ENOUGH_SHARED = 10
"""Shared units from which a pair of raters is listed, if any pair has as many."""

_MANY_PAIRS = 10
"""Pairs of raters from which their middle 80% is given; for fewer pairs, the full range."""

_PAIRED = 400_000
"""Largest number of pairs of raters that are compared."""

_MAP_WORK = 1_000_000_000
"""Steps of the map's reshuffles, some 5 ns each."""

_RESHUFFLED = 5_000_000
"""Ratings of all reshuffles of the answers to units, about 2 seconds."""

_FEWEST = 19
"""Least number of reshuffles, which can give p = 0.05."""

_ROUGH = Column("interval", "text")
"""Marks the rough intervals of a table."""


def compute(f: Findings) -> pd.DataFrame:
    """Return the change of the coefficient without each rater, and the rater's habits."""

    def tested(n: int) -> pd.DataFrame:
        wanted: dict[str, Any] = {"n_resamples": n, "rng": f.options.rng} if n else {}
        return by_rater(f.study, **f.measure, level=f.level, **wanted)

    return resampled(f, tested, lambda frame: frame["p_value"], _most_reshuffles(f))


def _most_reshuffles(f: Findings) -> int:
    """Return the largest number of reshuffles, or 0 if these are too few for any p of 0.05."""
    n = _RESHUFFLED // f.study.n_ratings
    return n if n >= _FEWEST else 0


def summary(f: Findings, raters: pd.DataFrame) -> Sentence:
    """Return sentences on the rater whose removal raises the coefficient most."""
    if len(raters) < 3 or not _has_changes(f, raters):
        return ()
    word, more, costly = f.main.definition.short, "", costly_raters(f)
    if costly.empty:
        return _no_gain(f, word)
    top = costly.iloc[0]
    # The claim depends on p. An interval that is rough, or contains 0, is only in the table.
    is_shown = top["difference_low"] > 0 and pd.isna(top["remark"])
    ends = interval(top["difference_low"], top["difference_high"])
    test = f"{ends}; " * bool(is_shown) + p_phrase(top["p_holm"])
    if len(costly) > 1:
        more = f" There are {count(len(costly))} raters whose removal raises {word}."
    if has_pattern(f, "copies"):
        more += (
            " Raters with identical answers are treated here as if they had rated independently."
        )
    gain = f"{number(top['difference'], signed=True)}, {test}"
    change = f", {word} would be {number(top['estimate_without'])} ({gain})."
    facts = (*_with_others(f, top["rater"]), *_habit(top))
    return ("Without ", Name.of(top["rater"]), change, *facts, more)


def costly_raters(f: Findings) -> pd.DataFrame:
    """Return the raters without whom the coefficient is higher, with corrected p."""
    raters = f.tested("raters")
    costly: pd.DataFrame = raters[(raters["difference"] > 0) & holds(raters["p_holm"])]
    return costly


def _has_changes(f: Findings, raters: pd.DataFrame) -> bool:
    """Return whether raters disagree, and the coefficient without one of them is defined."""
    return bool(f.main.observed_disagreement > 0 and raters["difference"].notna().any())


def _no_gain(f: Findings, word: str) -> Sentence:
    """Return a sentence on the largest change by the removal of a rater, if none is a gain."""
    raters = f.tested("raters")
    n, change = int(raters["difference"].notna().sum()), raters["difference"].abs().max()
    whom = f"any one of the {len(raters):,} raters"
    if n < len(raters):
        one = "the only one" if n == 1 else f"any one of {n:,}"
        whom = f"{one} of the {len(raters):,} raters without whom {word} is defined"
    least = "at most " if n > 1 else ""
    changes = f"Leaving out {whom} changes {word} by {least}{number(change)}; "
    if (raters["no_test"] == NOT_REQUESTED).any():
        return (f"{changes}a test takes long in a study of this size; use sa.by_rater.",)
    if raters["p_holm"].isna().all():
        return (f"{changes}no test is possible.",)
    return (f"{changes}no removal raises it significantly{_but(f, raters)}.",)


def _but(f: Findings, raters: pd.DataFrame) -> str:
    """Return why a rater may lower agreement although no test shows it, or a blank."""
    n_made, may_gain = _most_reshuffles(f), raters["difference"] > 0
    least = f.n_claims / (1 + n_made)
    if least > SURE and (may_gain & (raters["p_value"] <= SURE)).any():
        floor = f"with {n_made:,} reshuffles, the most in a report, corrected p is at least"
        return f", but {floor} {number(min(least, 1))}; use sa.by_rater for more"
    # Rough intervals are too narrow: accurate ones would reach at least as far.
    reach = raters["difference_high"].max()
    which = "rough" if raters["remark"][raters["difference_high"] == reach].notna().any() else "the"
    return f", but {which} intervals reach {number(reach, signed=True)}" if reach >= _MUCH else ""


def _with_others(f: Findings, rater: object) -> Sentence:
    """Return a sentence on the pairs of a rater with the others who share enough units."""
    pairs = f.result("pairs")
    if pairs is None:
        return ()
    mine = (pairs["rater_a"] == rater) | (pairs["rater_b"] == rater)
    own = pairs.loc[mine & (pairs["n_shared_units"] >= ENOUGH_SHARED), "estimate"].dropna()
    if len(own) < 2:
        return ()
    word = f.main.definition.short.capitalize()
    ends = " to ".join(dict.fromkeys([number(own.min()), number(own.max())]))
    return (f" {word} of ", Name.of(rater), f" with each of {len(own):,} other raters is {ends}.")


def _habit(rater: pd.Series[Any]) -> Sentence:
    """Return a sentence on the largest deviation of a rater: of the set size, or of a label."""
    who = Name.of(rater["rater"])
    size, bias = rater["mean_set_size"], rater["set_size_bias"]
    if pd.notna(bias) and abs(bias) >= 0.5:
        others = "more" if bias > 0 else "fewer"
        many = f" gives {two_digits(size)} labels per unit, {two_digits(abs(bias))} {others}"
        return (" ", who, f"{many} than the others.")
    over, under = np.nan_to_num([rater["overuse"], -rater["underuse"]])
    which, others = ("overused", "more") if over >= under else ("underused", "fewer")
    if max(over, under) < 0.1:
        return ()
    often = f" in {100 * max(over, under):.0f} {others} of 100 units than the others."
    return (" ", who, " uses ", Name.of(rater[f"{which}_label"]), often)


def sections(f: Findings, raters: pd.DataFrame) -> list[Section]:
    """Return the table of raters, the largest rise of the coefficient on removal first."""
    word, has_changes = f.main.definition.short, _has_changes(f, raters)
    raters = f.tested("raters")
    alone = f"a {level_text(f.level)} interval{f.main.drawn and f' ({f.main.drawn})'}"
    change = f"of {word} if the rater is left out, with {alone} for each rater alone"
    often = f"the label given in at least {100 * _OFTEN:.0f} of 100 units"
    meanings = {
        "difference": change if has_changes else "",
        "mean_distance": "to the answers of the others",
        "mean_set_size": "per unit",
        "set_size_bias": "labels per unit beyond those of others",
        "overused_label": f"{often} more often than the others",
        "underused_label": f"{often} less often than the others",
    }
    below = {"reason", "remark"}
    columns = [
        replace(one, meaning=meanings.get(one.first, ""))
        for one in COLUMNS
        if one.first not in below
        # A category or a number is one answer, so that all raters give one per unit.
        and (f.study.kind == "labels" or one.first not in {"mean_set_size", "set_size_bias"})
    ]
    columns.insert([one.first for one in columns].index("p_holm"), _ROUGH)
    note = "A rater who disagrees with the others is not necessarily wrong."
    if raters["p_holm"].notna().any():
        test = "p is from reshuffles of the answers of each unit among its raters"
        note = f"{test}{least_p(f, raters['p_holm'], _most_reshuffles(f))}. {note}"
    # The longest remark contains the reasons that concern all raters and those of some.
    note = f"{note} {max(raters['remark'].dropna(), key=len, default='')}".rstrip()
    is_rough = raters["remark"].notna()
    raters = raters.assign(
        interval=np.where(is_rough, "rough", "") if is_rough.any() else None,
        overused_label=raters["overused_label"].where(raters["overuse"] >= _OFTEN),
        underused_label=raters["underused_label"].where(raters["underuse"] <= -_OFTEN),
    )
    rise = f", the largest rise of {word} without the rater first" if has_changes else ""
    caption = f"Raters{rise}"
    picture = list_picture(f, diagnosis.raters, raters) if f.main.reason is None else None
    return [
        Section(
            table_of(raters, unsized(f, columns), caption, limit=20, function="by_rater"),
            picture,
            note,
        )
    ]


def compute_pairs(f: Findings) -> pd.DataFrame | None:
    """Return the pairs of at least three raters, unless there are too many to compare."""
    n = f.study.n_raters
    if n < 3:
        return None
    n_pairs = n * (n - 1) // 2
    if n_pairs > _PAIRED:
        raise DataError(
            f"{n:,} raters make {n_pairs:,} pairs, too many for a report; use sa.by_pair."
        )
    return by_pair(f.study, **f.measure, level=f.level)


def pairs_sections(f: Findings, pairs: pd.DataFrame) -> list[Section]:
    """Return the table of pairs of raters, the lowest agreement first."""
    n, frame = f.study.n_raters, pairs[pairs["estimate"].notna()]
    if not len(frame):
        return []
    picture, note = None, ""
    if f.main.reason is None:
        picture = Picture(partial(diagnosis.pairs, pairs), cells_height(n), columns=n)
    order = {"estimate": True, "n_shared_units": False}
    frame = frame.sort_values([*order], ascending=[*order.values()], kind="stable")
    enough = frame[frame["n_shared_units"] >= ENOUGH_SHARED]
    if 0 < len(enough) < len(frame):
        note = f"Only pairs that share at least {ENOUGH_SHARED} units are listed."
        frame = enough
    head = estimate_column(f).head
    columns = [replace(x, head=head) if x.source == "estimate" else x for x in OF_PAIRS]
    caption = "Pairs of raters, the lowest agreement first"
    table = table_of(frame, unsized(f, columns), caption, limit=15, function="by_pair")
    return [Section(table, picture, note, _pairs_lead(frame, len(pairs)))]


def _pairs_lead(pairs: pd.DataFrame, n_pairs: int) -> Sentence:
    """Return a sentence on the agreement of the pairs of raters that are listed."""
    if not (pairs["n_shared_units"] >= ENOUGH_SHARED).any():
        return (f"No two raters share at least {ENOUGH_SHARED} units: each pair shows little.",)
    estimates, n = pairs["estimate"], len(pairs)
    part = f" (of {n_pairs:,} that share units)" if n < n_pairs else ""
    if n == 1:
        one = "The agreement of the only pair of raters with an estimate"
        return (f"{one}{part} is {number(estimates.iloc[0])}.",)
    median = f"The median agreement of {n:,} pairs of raters{part} is {number(estimates.median())}"
    if n < _MANY_PAIRS:
        return (f"{median}, from {number(estimates.min())} to {number(estimates.max())}.",)
    tenth, last = estimates.quantile(0.1), estimates.quantile(0.9)
    inside = f"{int(estimates.between(tenth, last).sum()):,} of them"
    return (f"{median}; {inside} lie between {number(tenth)} and {number(last)}.",)


def compute_map(f: Findings) -> RaterMap | None:
    """Return the map of at least four raters if the coefficient is defined."""
    study = f.study
    if study.n_raters < 4 or f.main.reason is not None:
        return None
    ratings = np.bincount(study.unit_codes).astype(np.int64)
    pairs = int((ratings * (ratings - 1) // 2).sum())
    chance = 600 * study.n_raters * study.n_values
    work = study.n_raters**3 + 20 * study.n_ratings + 10 * pairs + chance
    most = _MAP_WORK // work
    if most < _FEWEST:
        raise DataError(
            f"A map of {counted(study.n_raters, 'rater')} with "
            f"{counted(study.n_ratings, 'rating')} takes too long for a report; use sa.rater_map."
        )

    def mapped(n: int) -> RaterMap:
        return rater_map(study, distance=f.distance, n_resamples=n, rng=f.options.rng)

    return resampled(f, mapped, lambda placed: placed.p_value, most)


def map_summary(f: Findings, placed: RaterMap) -> Sentence:
    """Return a sentence on significant clusters of raters, or on raters who differ."""
    return () if not holds(f.corrected["map"]).all() or are_copies_few(f) else _map_lead(f, placed)


def _map_lead(f: Findings, placed: RaterMap) -> Sentence:
    """Return whether the raters form clusters, with the mean agreement of pairs within and between.

    Rater clusters are reported only if pairs agree more within them than between them.
    """
    (p,), pairs = f.corrected["map"], f.result("pairs")
    words = placed.words_at(p)
    if pairs is None or not holds(p) or len(placed.rater_clusters) < 2:
        return words
    cluster = placed.table["cluster"]
    defined = pairs[pairs["estimate"].notna()]
    one, two = (cluster.loc[defined[name]].to_numpy() for name in ("rater_a", "rater_b"))
    both, same = (one > 0) & (two > 0), one == two
    estimates = defined["estimate"].to_numpy(dtype=float)
    within, between = estimates[both & same], estimates[both & ~same]
    if not (len(within) and len(between)):
        return words
    word = f.main.definition.short
    inside, across = number(within.mean()), number(between.mean())
    if within.mean() <= between.mean():
        means = f"the mean {word} of two raters is {inside} within and {across} between clusters"
        return (f"No clusters: {means}.",)
    other = f"two raters of different clusters {across}"
    return (*words, f" Two raters of the same cluster have {word} {inside} on average, {other}.")


def map_sections(f: Findings, placed: RaterMap) -> list[Section]:
    """Return the map of the raters."""
    frame: pd.DataFrame = placed.table.reset_index()
    frame = frame.sort_values(["cluster", "silhouette"], ascending=[True, False], kind="stable")
    caption = "Raters by cluster"
    table = table_of(frame, placed.columns, caption, limit=40, function="rater_map")
    note = (
        "The closer two raters are on the map, the more they agree beyond chance: their distance "
        "is the mean distance of their answers divided by the one expected by chance for the two."
    )
    if len(placed.null):
        note += (
            f" The clusters were tested with {len(placed.null):,} reshuffles of the answers within "
            "units. Raters who answer with unequal care can make p small without any clusters."
        )
    (p,) = f.corrected["map"]
    picture = Picture(partial(pictures.rater_map, placed, p_value=p), 4.0)
    return [Section(table, picture, note, _map_lead(f, placed))]


def map_method(f: Findings, placed: RaterMap) -> Method | None:
    """Return a sentence on the mapping of raters, with the sources."""
    if np.isnan(placed.p_value):
        return None
    (p,) = f.corrected["map"]
    sentence = (
        "Raters were mapped by classical scaling (Torgerson, 1952) of the ratio of their "
        "disagreement to that expected by chance, and clustered by average linkage, cut where the "
        "mean silhouette (Rousseeuw, 1987) is largest; "
        f"the silhouette of {number(placed.silhouette)} was compared with "
        f"{len(placed.null):,} reshuffles of the answers inside units ({p_phrase(p)}"
        f"{f.holm_clause})."
    )
    return sentence, ("Torgerson 1952", "Rousseeuw 1987")


TOPIC = Topic(
    "raters",
    "Raters",
    sections,
    compute,
    about="Raters",
    summary=summary,
    p_values=lambda _, raters: [*raters["p_value"]],
    optional=True,
    unweighted="Mean distances, labels and habits",
)
PAIRS = Topic("pairs", "Pairs of raters", pairs_sections, compute_pairs, optional=True)
MAP = Topic(
    "map",
    "Raters on a map",
    map_sections,
    compute_map,
    about="Rater clusters",
    summary=map_summary,
    p_values=lambda _, placed: [placed.p_value],
    method=map_method,
    optional=True,
    unweighted="Distances",
)

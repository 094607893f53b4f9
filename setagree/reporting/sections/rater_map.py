"""Raters on a map, and whether they form clusters."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from setagree.errors import DataError, counted
from setagree.panels.rater_map import RaterMap, rater_map
from setagree.plots import panels as pictures
from setagree.reporting.sections.base import (
    Column,
    Findings,
    Method,
    Picture,
    Section,
    Topic,
    table_of,
)
from setagree.reporting.sections.patterns import are_copies_few
from setagree.wording.number_format import number, p_phrase
from setagree.wording.sentences import Sentence

_MAP_WORK = 1_000_000_000
"""Steps of the map's reshuffles, some 5 ns each."""

_RESHUFFLES = (199, 99, 49, 19)
"""Numbers of reshuffles for the map; 19 are the least that can give p = 0.05."""


def compute(f: Findings) -> RaterMap | None:
    """Return the map of four raters or more, where the coefficient is defined."""
    study = f.study
    if study.n_raters < 4 or f.main.reason is not None:
        return None
    ratings = np.bincount(study.unit_codes).astype(np.int64)
    pairs = int((ratings * (ratings - 1) // 2).sum())
    chance = 600 * study.n_raters * study.n_values
    work = study.n_raters**3 + 20 * study.n_ratings + 10 * pairs + chance
    n = next((n for n in _RESHUFFLES if n * work <= _MAP_WORK), 0)
    if not n:
        raise DataError(
            f"{counted(study.n_raters, 'rater')} with {counted(study.n_ratings, 'rating')} are "
            "not mapped here, because that takes long; sa.rater_map does it."
        )
    n = min(n, max(f.asked.n_resamples, _RESHUFFLES[-1]))
    return rater_map(study, distance=f.distance, n_resamples=n, rng=f.asked.rng)


def summary(f: Findings) -> Sentence:
    """Return a sentence on significant clusters of raters, or on raters who differ."""
    found: RaterMap | None = f.results.get("map")
    if found is None or not found.p_value <= 0.05 or are_copies_few(f):
        return ()
    return map_words(f, found)


def map_words(f: Findings, found: RaterMap) -> Sentence:
    """Return whether the raters form clusters, with the mean agreement of pairs within and between.

    Rater clusters are reported only if pairs agree more within them than between them.
    """
    said, pairs = found.cluster_words, f.frame("pairs")
    is_clear = not np.isnan(found.p_value) and found.p_value <= 0.05
    if pairs is None or not is_clear or len(found.rater_clusters) < 2:
        return said
    cluster = found.table["cluster"]
    known = pairs[pairs["estimate"].notna()]
    one, two = (cluster.loc[known[name]].to_numpy() for name in ("rater_a", "rater_b"))
    placed, same = (one > 0) & (two > 0), one == two
    estimates = known["estimate"].to_numpy(dtype=float)
    within, between = estimates[placed & same], estimates[placed & ~same]
    if not (len(within) and len(between)):
        return said
    word = f.main.definition.short
    inside, across = number(within.mean()), number(between.mean())
    if within.mean() <= between.mean():
        means = f"the mean {word} of two raters is {inside} within and {across} between clusters"
        return (f"No clusters: {means}.",)
    other = f"two raters of different clusters {across}"
    return (*said, f" Two raters of the same cluster have {word} {inside} on average, {other}.")


def sections(f: Findings) -> list[Section]:
    """Return the map of the raters, or why there is none."""
    found: RaterMap | None = f.results.get("map")
    title = "Raters on a map"
    if found is None:
        why = f.absent.get("map")
        return [] if why is None else [Section("map", title, (why,))]
    frame: pd.DataFrame = found.table.reset_index()
    frame = frame.sort_values(["cluster", "silhouette"], ascending=[True, False], kind="stable")
    columns = [
        Column("Rater", "name", "rater"),
        Column("Cluster", "count", "cluster"),
        Column("Silhouette", "signed", "silhouette"),
        Column("Distance to others", "number", "mean_distance"),
        Column("Ratings", "count", "n_ratings"),
    ]
    table = table_of(frame, columns, "Raters by cluster", limit=40, function="rater_map")
    note = (
        "The closer two raters are, the more they agree beyond chance: how far apart they are is "
        "the mean distance of their answers divided by the one expected by chance for the two. "
        "Silhouette: how much closer a rater is to their own cluster than to the next one (at "
        "most 1)."
    )
    if len(found.null):
        note += (
            f" Whether clusters are more than noise was tested with {len(found.null):,} reshuffles "
            "of the answers inside units; raters of unequal care can make p small without any "
            "clusters."
        )
    picture = Picture(partial(pictures.rater_map, found), 5.6)
    return [Section("map", title, map_words(f, found), table, picture, note)]


def method(f: Findings) -> Method | None:
    """Return a sentence on the map of raters, with the sources."""
    found: RaterMap | None = f.results.get("map")
    if found is None or np.isnan(found.p_value):
        return None
    said = (
        "Raters were mapped by classical scaling (Torgerson, 1952) of their disagreement over what "
        "expected by chance, and clustered by average linkage, cut at the highest mean silhouette "
        "(Rousseeuw, 1987) is largest; "
        f"the silhouette of {number(found.silhouette)} was compared with "
        f"{len(found.null):,} reshuffles of the answers inside units ({p_phrase(found.p_value)})."
    )
    return said, ("Torgerson 1952", "Rousseeuw 1987")


TOPIC = Topic(
    "map",
    sections,
    compute,
    about="Rater clusters",
    summary=summary,
    method=method,
    optional=True,
    unweighted="Distances",
)

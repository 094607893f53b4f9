"""Rotations of the answers of raters along documents, for the test of units with sizes.

Neighbouring pieces of a document have similar answers, so that reshuffles of pieces are not a null
distribution. If a rater's answers are moved along the document by a random offset, and those beyond
its end to its beginning, all lengths stay, and so do the totals of values: of

    coefficient = 1 - (O / M) / y

only O changes, a sum over documents and pairs of raters of the distance of their answers at each
place, integrated over the places.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

from setagree.checks import Codes, Floats, check_cost
from setagree.errors import DataError, counted, option, shorten
from setagree.inference.panel_members import require_study
from setagree.limits import BLOCK_ENTRIES
from setagree.progress import track
from setagree.scoring.results import Agreement

_STEPS_PER_PIECE = 40
"""Elementary steps of a piece of two raters in one rotation."""


class _Track(NamedTuple):
    """The answers of a rater along a document: starts and values of pieces, and its length."""

    starts: Floats
    values: Codes
    length: float


def rotated_estimates(
    agreement: Agreement, n_resamples: int, generator: np.random.Generator
) -> Floats:
    """Return the estimates of studies whose raters are rotated along each document.

    Raise DataError if a rater annotated a part of a document, whose answers cannot be rotated.
    """
    model, case = agreement.definition.model, agreement.case
    documents = [tracks for tracks in _tracks(agreement) if len(tracks) > 1]
    # each track is in r - 1 pairs
    n_pieces = sum((len(tracks) - 1) * len(t.starts) for tracks in documents for t in tracks)
    check_cost(
        f"{n_resamples:,} rotations of {counted(len(documents), 'document')}",
        n_steps=_STEPS_PER_PIECE * n_resamples * n_pieces,
        instead=f"Use fewer ({option('n_resamples')}), or some of the documents.",
    )
    O = np.zeros(n_resamples)
    long = n_resamples * n_pieces > 100 * BLOCK_ENTRIES
    for tracks in track(documents, total=len(documents), what="documents", long=long):
        r, L = len(tracks), tracks[0].length
        offsets = generator.random((r, n_resamples)) * L
        if all((np.mod(t.starts, 1) == 0).all() for t in tracks) and L % 1 == 0:
            offsets = np.floor(offsets)
        apart = sum(
            _apart(tracks[g], tracks[h], offsets[h] - offsets[g], case.weights.distance_at)
            for g, h in combinations(range(r), 2)
        )
        # r (if ratings count) times the mean over the r (r - 1) / 2 pairs, as a share of d_max
        mean = apart / (r * (r - 1) / 2) / case.weights.max_distance
        O += (r if model.weigh == "ratings" else 1) * mean
    y = float(agreement.sums.chance[0])
    return np.asarray(1 - O / float(agreement.sums.sums.M) / y)


def _tracks(agreement: Agreement) -> list[list[_Track]]:
    """Return the answers of each rater along each document."""
    study, sample = require_study(agreement, "permutation_test"), agreement.case.sample
    assert sample is not None  # noqa: S101 - units have sizes
    assert sample.groups is not None  # noqa: S101
    size = agreement.case.pairable_weights
    order = np.lexsort((study.unit_codes, study.rater_codes, sample.groups[study.unit_codes]))
    units, raters = study.unit_codes[order], study.rater_codes[order]
    documents, values = sample.groups[units], study.value_codes[order]
    n_units, lengths = np.bincount(sample.groups), np.bincount(sample.groups, size)
    is_first = (np.diff(documents, prepend=-1) != 0) | (np.diff(raters, prepend=-1) != 0)
    bounds = [*np.flatnonzero(is_first).tolist(), len(units)]
    out: list[list[_Track]] = [[] for _ in n_units]
    for first, last in pairwise(bounds):
        d = int(documents[first])
        if last - first < n_units[d]:
            raise DataError(
                f"rater {shorten(study.raters[raters[first]])} annotated a part of "
                f"{shorten(sample.names[d])} ({sample.by}); only answers to whole ones are rotated."
            )
        ends = np.cumsum(size[units[first:last]])
        changes = np.diff(values[first:last], prepend=-1) != 0
        starts = np.concatenate([[0.0], ends[:-1]])[changes]
        out[d].append(_Track(starts, values[first:last][changes], float(lengths[d])))
    return out


def _apart(one: _Track, two: _Track, offsets: Floats, distance: Callable[..., Any]) -> Floats:
    """Return the distance of two raters, summed over a document, for offsets of the second."""
    n, m, L = len(one.starts), len(two.starts), one.length
    out = np.empty(len(offsets))
    at_once = max(1, BLOCK_ENTRIES // (n + m))
    for start in range(0, len(offsets), at_once):
        o = offsets[start : start + at_once, None]
        moved = (two.starts + o) % L
        places = np.concatenate([np.broadcast_to(one.starts, (len(o), n)), moved], axis=1)
        order = np.argsort(places, axis=1, kind="stable")
        places = np.take_along_axis(places, order, axis=1)
        lengths = np.diff(places, axis=1, append=L)
        # the piece of each rater at each place: the last one that began
        of_one = np.cumsum(order < n, axis=1) - 1
        latest = np.argsort(moved, axis=1, kind="stable")  # pieces of the second by their place
        of_two = np.take_along_axis(latest, (np.cumsum(order >= n, axis=1) - 1) % m, axis=1)
        k, l = one.values[of_one].ravel(), two.values[of_two].ravel()
        d = np.asarray(distance(k, l)).reshape(lengths.shape)
        out[start : start + at_once] = (d * lengths).sum(axis=1)
    return out

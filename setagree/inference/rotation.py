"""Rotations of the answers of raters along documents, for the test of units with sizes.

Neighbouring pieces of a document have similar answers, so that reshuffles of pieces are not a null
distribution. If a rater's answers are moved along the document by a random offset, and those beyond
its end to its beginning, all lengths stay, and so do the totals of values: of

    coefficient = 1 - (O / M) / y

only O changes, a sum over documents and pairs of raters of the distance of their answers at each
place, integrated over the places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from setagree.checks import Codes, Floats, check_cost
from setagree.errors import DataError, counted, option, shorten
from setagree.inference.panel_members import require_study
from setagree.limits import BLOCK_ENTRIES
from setagree.progress import track
from setagree.scoring.results import Agreement

_STEPS_PER_PIECE = 40
"""Elementary steps of a piece of two raters in one rotation."""

_Track: TypeAlias = tuple[Floats, Codes]
"""The answers of a rater along a document: starts and values of pieces."""


def rotated_estimates(
    agreement: Agreement, n_resamples: int, generator: np.random.Generator
) -> Floats:
    """Return the estimates of studies whose raters are rotated along each document.

    Raise DataError if a rater annotated a part of a document, whose answers cannot be rotated.
    """
    model, case = agreement.definition.model, agreement.case
    documents = [one for one in _documents(agreement) if len(one[1]) > 1]
    # each track is in r - 1 pairs
    n_pieces = sum((len(tracks) - 1) * len(t[0]) for _, tracks in documents for t in tracks)
    check_cost(
        f"{n_resamples:,} rotations of {counted(len(documents), 'document')}",
        n_steps=_STEPS_PER_PIECE * n_resamples * n_pieces,
        instead=f"Use fewer ({option('n_resamples')}), or some of the documents.",
    )
    O = np.zeros(n_resamples)
    for L, tracks in track(documents, total=len(documents), what="documents"):
        r = len(tracks)
        offsets = generator.random((r, n_resamples)) * L
        if all((starts % 1 == 0).all() for starts, _ in tracks) and L % 1 == 0:
            offsets = np.floor(offsets)
        apart = sum(
            _apart(tracks[g], tracks[h], L, offsets[h] - offsets[g], case.weights.distance_at)
            for g, h in combinations(range(r), 2)
        )
        # r (if ratings count) times the mean over the r (r - 1) / 2 pairs, as a share of d_max
        mean = apart / (r * (r - 1) / 2) / case.weights.max_distance
        O += (r if model.weigh == "ratings" else 1) * mean
    y = agreement.sums.y
    return np.asarray(1 - O / float(agreement.sums.totals.M) / y)


def _documents(agreement: Agreement) -> Iterator[tuple[float, list[_Track]]]:
    """Yield the length of each document, and the answers of each rater along it."""
    study = require_study(agreement, "permutation_test")
    document, names = agreement.case.clusters
    columns = {"rater": study.rater_codes, "unit": study.unit_codes, "value": study.value_codes}
    rows = pd.DataFrame(columns).sort_values(["rater", "unit"])
    rows["size"] = agreement.case.pairable_weights[rows["unit"]]
    rows["document"] = document[rows["unit"]]
    for _, each in rows.groupby("document"):
        n, n_units = each["rater"].value_counts(sort=False), each["unit"].nunique()
        if (n < n_units).any():
            rater, name = n.index[n < n_units][0], names[each["document"].iloc[0]]
            raise DataError(
                f"rater {shorten(study.raters[rater])} annotated a part of document "
                f"{shorten(name)}; only answers to whole ones are rotated."
            )
        size, values = (each[x].to_numpy().reshape(-1, n_units) for x in ("size", "value"))
        ends = np.cumsum(size[0])
        starts, changes = ends - size[0], np.diff(values, prepend=-1) != 0
        yield ends[-1], [(starts[new], row[new]) for row, new in zip(values, changes, strict=True)]


def _apart(
    one: _Track, two: _Track, L: float, offsets: Floats, distance: Callable[..., Any]
) -> Floats:
    """Return the distance of two raters, summed over a document, for offsets of the second."""
    out, at_once = np.empty(len(offsets)), max(1, BLOCK_ENTRIES // (len(one[0]) + len(two[0])))
    for first in range(0, len(offsets), at_once):
        o = offsets[first : first + at_once, None]
        cuts = np.concatenate([one[0] + 0 * o, (two[0] + o) % L], axis=1)
        cuts.sort(axis=1)
        lengths = np.diff(cuts, axis=1, append=L)
        middle = cuts + lengths / 2
        k, l = (
            values[np.searchsorted(starts, places % L, side="right") - 1].ravel()
            for (starts, values), places in ((one, middle), (two, middle - o))
        )
        d = np.asarray(distance(k, l)).reshape(lengths.shape)
        out[first : first + at_once] = (d * lengths).sum(axis=1)
    return out

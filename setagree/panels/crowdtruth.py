"""CrowdTruth: the quality of units, raters and labels, each weighted by that of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from setagree.checks import Rng, as_generator, check_drawing, check_level, public
from setagree.coefficients.chance import Floats
from setagree.credit.geometry import SetGeometry
from setagree.errors import ConvergenceWarning, check_choice, counted, warn
from setagree.inference.draws import draw_units, row_weights
from setagree.inference.known_raters import known_plain
from setagree.inference.raters import Codes, check_least, percentile_interval
from setagree.large.opening import Data
from setagree.panels.quality_sweeps import Answers
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.study.degrees import doubt_degrees
from setagree.wording.label_sets import display_labels, sorted_labels
from setagree.wording.numbers import number
from setagree.wording.results import Result

Empty: TypeAlias = Literal["label", "published"]

_SWEEPS = 4
"""Sweeps that most large studies take."""


@dataclass(frozen=True, eq=False, repr=False)
class CrowdTruth(Result):
    """The quality of units, raters and labels, from 0 to 1.

    Attributes
    ----------
    units, raters, labels : DataFrame
        A row for each, by name: `quality`, `quality_initial` (of the first sweep, where all others
        still count alike), `n_ratings` of all units, those with one rating too, and for raters and
        labels the ends `low` and `high` of the interval over redrawn units. Quality is nan of a
        unit with one rating, of a rater without a co-worker, of a label that nobody gave to a unit
        with two ratings.
    n_sweeps : int
        How often the qualities were computed.
    converged : bool
        Whether the last sweep moved none by .001 or more.
    empty : {"label", "published"}
        What the empty set counts as.
    level : float
        The level of the intervals.
    n_resamples : int
        How often the units were redrawn.
    """

    units: pd.DataFrame
    raters: pd.DataFrame
    labels: pd.DataFrame
    n_sweeps: int
    converged: bool
    empty: str
    level: float
    n_resamples: int

    def to_frame(self) -> pd.DataFrame:
        """Return all rows: `what` is unit, rater or label, and `name` which; units come first."""
        parts = []
        for frame in (self.units, self.raters, self.labels):
            part = frame.reset_index(names="name").astype({"name": object})
            part.insert(0, "what", str(frame.index.name))
            parts.append(part.reindex(columns=_COLUMNS))
        return pd.concat([part for part in parts if len(part)], ignore_index=True)

    @property
    def reasons(self) -> list[str | None]:
        """Why the quality or the interval of each row of `to_frame` is nan, or None."""
        frame = self.to_frame()
        no_interval = "units were redrawn too seldom, or all resamples came out alike"
        why = frame["what"].map(_WHY_NAN).where(frame["quality"].isna(), None)
        alone = frame["low"].isna() & frame["quality"].notna()
        why = why.mask(alone, no_interval).mask(alone & (frame["what"] == "unit"), _NO_UNIT)
        return [None if pd.isna(one) else one for one in why]

    def __repr__(self) -> str:
        parts = []
        for frame in (self.units, self.raters, self.labels):
            known = frame["quality"].dropna()
            ends = f" {number(known.min())} to {number(known.max())}" if len(known) else " nan"
            parts.append(f"{counted(len(frame), str(frame.index.name))}{ends}")
        stopped = "" if self.converged else ", not converged"
        return f"<CrowdTruth: {', '.join(parts)}, {counted(self.n_sweeps, 'sweep')}{stopped}>"


_COLUMNS = ["what", "name", "quality", "quality_initial", "low", "high", "n_ratings"]

_WHY_NAN = {
    "unit": "the unit has one rating",
    "rater": "nobody else rated the rater's units",
    "label": "nobody gave the label to a unit with two ratings",
}

_NO_UNIT = "intervals are over redrawn units, which say nothing of a single one"


@public
def crowdtruth(
    study: Data,
    *,
    empty: Empty = "label",
    level: float = 0.95,
    n_resamples: int = 499,
    rng: Rng = None,
) -> CrowdTruth:
    r"""Return CrowdTruth's quality scores of units, raters and labels.

    The three are defined by each other (Dumitrache et al. 2018): a unit is clear where good raters
    agree, a rater is good who agrees with good raters on clear units, a label is clear that good
    raters give together. With answers as vectors v of zeros and ones over the labels, cosines that
    weight each label by its quality, and i, j two raters of a unit u,

    .. math::

        UQS_u &= \textstyle\sum_{i<j} w_i w_j \cos(v_{iu}, v_{ju}) / \sum_{i<j} w_i w_j \\
        WQS_i &= WWA_i \cdot WSA_i \\
        WWA_i &= \textstyle\sum_{u, j} w_j UQS_u \cos(v_{iu}, v_{ju}) / \sum_{u, j} w_j UQS_u \\
        WSA_i &= \textstyle\sum_u UQS_u \cos(v_{iu}, V_u - w_i v_{iu}) / \sum_u UQS_u \\
        AQS_a &= \textstyle\sum_{i \ne j} w_i w_j P_{ij}(a) / \sum_{i \ne j} w_i w_j \\
        P_{ij}(a) &= \textstyle\sum_u UQS_u v_{iua} v_{jua} / \sum_u UQS_u v_{jua}

    where w is WQS, V_u the sum of w_i v_iu, and P_ij is over the units that both rated. All start
    at 1; each sweep computes all from those of the last one, until none moves by .001, and after
    100 sweeps at most. What only raters or units of quality 0 tell about has quality 0.

    The scores are not corrected for chance: they depend on how many labels there are and how
    frequent they are. Compare raters of one task by them, not tasks. Of 120 simulated studies of 80
    units and five raters the 95 % intervals held the scores of all 20,000 units in 91 to 96 %.

    The cost of a sweep is that of the pairs of ratings inside units, times the labels of each.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Who gave what. Of single values each value is a label.
    empty : {"label", "published"}
        The empty set is a label of its own, so that two raters who both say that no label applies
        agree; or as published, where it agrees with nothing, not even with itself.
    level : float
        The level of the intervals of raters and labels.
    n_resamples : int
        How often units with two ratings are redrawn for them, each time with all sweeps; 0 for no
        intervals, as of a million ratings, which take ten seconds without.
    rng : int or numpy Generator, optional
        The seed.

    Returns
    -------
    CrowdTruth

    Raises
    ------
    CostError
        There are too many pairs of ratings, or too many resamples for so many.
    DataError
        The study is a tally, which does not know the raters.

    Warns
    -----
    DegreesWarning
        Labels have degrees, which do not count here.
    ConvergenceWarning
        After 100 sweeps the scores still moved.

    References
    ----------
    Dumitrache et al. (2018).

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([
    ...     ("ann", 1, "a, b"), ("bob", 1, "a"), ("cem", 1, "a"), ("ann", 2, "c"), ("bob", 2, "c"),
    ...     ("cem", 2, set()), ("ann", 3, set()), ("bob", 3, set()), ("cem", 3, "b"),
    ... ])
    >>> found = crowdtruth(study, rng=1)
    >>> found.raters["quality"].round(3).to_dict()
    {'ann': 0.904, 'bob': 0.904, 'cem': 0.165}
    >>> found.labels.index.tolist()
    ['a', 'b', 'c', '{}']
    """
    study = known_plain(study, "crowdtruth")
    check_choice("empty", empty, ("label", "published"))
    check_level(level)
    check_least("n_resamples", n_resamples, 0)
    generator = as_generator(rng)
    doubt_degrees(study.values, "crowdtruth")
    names, flags = _labelled(study, empty)
    answers, rated = _answers(study, flags)
    check_drawing(n_resamples, _SWEEPS * answers.n_steps)  # before any work
    found = answers.swept(np.ones((answers.n_units, 1)))
    if not found.converged[0]:
        warn(
            f"crowdtruth: the scores still moved after {found.n_sweeps[0]} sweeps; they are not "
            "final.",
            ConvergenceWarning,
        )
    spread = _redrawn(answers, rated, n_resamples, generator)
    given = np.asarray(flags[study.value_codes].sum(axis=0)).ravel()
    n_ratings = [np.bincount(codes) for codes in (study.unit_codes, study.rater_codes)] + [given]
    units, raters, labels = (
        _frame(index, name, first[:, 0], last[:, 0], drawn, level, n)
        for index, name, first, last, drawn, n in zip(
            (study.units, study.raters, names),
            ("unit", "rater", "label"),
            found.first.parts,
            found.last.parts,
            (None, *spread),
            n_ratings,
            strict=True,
        )
    )
    sweeps, converged = int(found.n_sweeps[0]), bool(found.converged[0])
    return CrowdTruth(units, raters, labels, sweeps, converged, empty, level, n_resamples)


def _labelled(study: Annotations, empty: Empty) -> tuple[list[Any], Any]:
    """Return the labels, and which of them each value has, sparse, (K, L)."""
    from scipy import sparse

    if study.kind != "labels":
        return list(study.values), sparse.eye_array(study.n_values, format="csr")
    geometry = SetGeometry(study.values)
    names, flags = list(geometry.labels), geometry.flags
    codebook = None if study.reading is None else study.reading.syntax.codebook
    unused = sorted_labels({*(codebook or ())} - {*names})
    blank = sparse.csr_array((study.n_values, len(unused)), dtype=flags.dtype)
    parts = [flags, blank]
    if empty == "label" and (geometry.sizes == 0).any():
        parts.append(sparse.csr_array((geometry.sizes == 0).astype(flags.dtype)[:, None]))
        unused.append(display_labels(frozenset()))
    return names + unused, sparse.hstack(parts, format="csr")


def _answers(study: Annotations, flags: Any) -> tuple[Answers, Codes]:
    """Return the ratings of pairable units, by unit, and which units these are."""
    sizes = np.bincount(study.unit_codes, minlength=study.n_units)
    order = np.argsort(study.unit_codes, kind="stable")
    order = order[sizes[study.unit_codes[order]] >= 2]
    codes = (study.unit_codes, study.rater_codes, study.value_codes)
    units, raters, values = (each[order].astype(np.intp) for each in codes)
    shape = (study.n_units, study.n_raters)
    return Answers(units, raters, values, flags, shape), np.flatnonzero(sizes >= 2)


def _redrawn(
    answers: Answers, rated: Codes, n_resamples: int, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the qualities of raters and labels in redrawn units, a row for each resample."""
    raters, labels = [np.zeros((0, answers.n_raters))], [np.zeros((0, answers.n_labels))]
    if n_resamples and len(rated):
        width = answers.n_steps
        for draws in draw_units(len(rated), n_resamples, generator, width=width):
            times = np.zeros((answers.n_units, len(draws)))
            times[rated] = row_weights(draws, np.arange(len(rated)), len(rated)).T
            last = answers.swept(times).last
            raters.append(last.raters.T)
            labels.append(last.labels.T)
    return np.concatenate(raters), np.concatenate(labels)


def _frame(
    names: Sequence[Any],
    name: str,
    first: Floats,
    last: Floats,
    drawn: Floats | None,
    level: float,
    n_ratings: Codes,
) -> pd.DataFrame:
    """Return the qualities by name, with intervals where something was drawn."""
    index = pd.Index(as_objects([*names]), name=name, tupleize_cols=False)
    columns = {"quality": last, "quality_initial": first}
    if drawn is not None:
        ends = [
            percentile_interval(one, level, "nan" if np.isnan(quality) else None)
            for one, quality in zip(drawn.T, last, strict=True)
        ]
        columns["low"], columns["high"] = np.array(ends).reshape(-1, 2).T
    return pd.DataFrame({**columns, "n_ratings": n_ratings.astype(np.int64)}, index=index)

"""Effects of changes of the labels or of the raters on the coefficient."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import pandas as pd

from setagree.checks import MOST_STEPS, check_cost
from setagree.diagnosis.common import (
    NO_DEGREE,
    REASONS,
    Row,
    corrected,
    counts,
    named,
    score_whole,
    steps_to_score,
    uncertainty,
)
from setagree.diagnosis.confusions import confusions
from setagree.distances.hierarchy import Parents, read_hierarchy
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    DistanceError,
    OptionError,
    check_list,
    counted,
    did_you_mean,
    option,
    shorten,
)
from setagree.inference.comparison import distance_of, paired_difference
from setagree.inference.panel_members import rater_code, require_unsized
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.scoring.coefficients import CoefficientLike
from setagree.scoring.intervals import FEWEST_RARER
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import Scorer
from setagree.study.annotations import Annotations
from setagree.study.attributes import of_raters
from setagree.study.codes import Value, have_degrees
from setagree.study.identifiers import tidied
from setagree.wording.label_sets import Label, LabelSet, sorted_labels
from setagree.wording.result_frames import ResultFrame
from setagree.wording.tables import Column

COLUMNS = (
    Column("action", "text"),
    Column("target", "name"),
    Column("estimate"),
    Column(("low", "high"), "interval"),
    Column("difference", "signed"),
    Column("p_holm", "p", "p, Holm"),
    Column("n_pairable_units", "count", "pairable units"),
    Column("n_ratings", "count", "ratings", is_extra=True),
    Column("n_values", "count", "distinct answers", is_extra=True),
    *REASONS,
)
"""The main columns, which notebooks show."""

_MERGED, _TO_PARENTS, _TO_DEPTH, DROP_RATER = " + ", "to parents", "to depth", "drop rater"
P_OF_RATERS = "The p-value of a difference without a rater is that of by_rater (n_resamples)."
_PAIRS_TRIED = 10


@takes_data
def what_if(
    study: Data,
    *more: RaterAnswers,
    merge: Sequence[Iterable[Label]] | None = None,
    exclude_labels: Sequence[Label] | None = None,
    exclude_raters: Sequence[Hashable] | None = None,
    parents: Parents | None = None,
    depth: int | None = None,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Return the coefficient of a study, and the coefficient after each of several changes.

    The changes are tried one at a time. By default, the label pairs that are confused most often
    are merged, and every label and every rater is dropped in turn.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Label sets; of numbers and categories only raters can be dropped.
    merge : sequence of groups of labels
        Each group becomes its first label; a distance uses the weight and parents of that one.
    exclude_labels : sequence of labels
        Each is removed from all answers; an answer without other labels becomes the empty set,
        which is still an answer.
    exclude_raters : sequence of raters
        Each is left out, and the rest is scored as a study: quantities that a distance takes from
        the data (mid-ranks, the largest distance) and the list of values are recomputed. `by_rater`
        and `jackknife` keep those of the whole study, which differs only for such distances.
    parents : mapping, DataFrame, path or taxonomy, optional
        The label hierarchy, as `setagree.distances.taxonomy` takes it, or what that returned: every
        label except a root is replaced by its parents.
    depth : int, optional
        With parents: every label is instead replaced by its ancestors at that depth, where a root
        has depth 1; labels above it stay. `by_depth` shows all depths.
    coefficient, distance
        As in `setagree.agreement`.
    level : float
        The level of the intervals.

    Returns
    -------
    DataFrame
        First the unchanged study, then the changes, the largest gain first: action ("as it is",
        "merge", "drop label", "drop rater", "to parents", "to depth"), target, estimate,
        standard_error, low, high; difference (from the unchanged study) with
        difference_standard_error and p_value (paired by unit, linearised; NaN if all answers except
        the commonest weigh less than four units after the change, and where a rater is left out:
        `by_rater` has that p) and p_holm, the same corrected for the n_tests changes of this table
        that have a p (Holm 1979), because the best of many gains by chance. A change to values that
        the distance does not cover, such as a set that a matrix lacks, is an error if it was
        requested and a row with the reason otherwise; n_units, n_pairable_units, n_raters,
        n_ratings, n_values, reason (for no interval or no p), remark (on a rough interval),
        coefficient, distance.

    Raises
    ------
    DataError
        Labels of numbers or categories are to be changed, or a label or rater does not occur.
    CostError
        There are so many changes, such as raters, that scoring each would take many minutes.

    Notes
    -----
    A higher coefficient does not mean a better codebook: a single merged label gives perfect
    agreement without information. Consider what a change costs in meaning. Selection also inflates
    the best of several changes: with 6 equal raters, removing the best raises alpha by about 0.02.
    A t test of the difference without a rater who differs only by chance has p <= 0.05 in 9% to 20%
    of small studies, so that there is none; the reshuffles of `by_rater` keep their level.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(60, 3, labels=["joy", "anger", "fear", "calm", "pride"], rng=1)
    >>> tried = what_if(study, merge=[["anger", "fear"]], exclude_raters=["r1"])
    >>> tried[["action", "target", "estimate", "difference", "p_value"]].round(3)
           action        target  estimate  difference  p_value
    0    as it is                   0.321       0.000      NaN
    1  drop rater            r1     0.383       0.062      NaN
    2       merge  anger + fear     0.314      -0.006    0.634
    """
    study = require_unsized(study, "what_if")
    changes = [one for one in (merge, exclude_labels, parents) if one is not None]
    if study.kind != "labels" and changes:
        raise DataError("only label sets can be changed; these values are scalars.")
    if have_degrees(study.values) and not (merge is None and parents is None):
        raise DataError(NO_DEGREE)
    whole = score_whole(study, coefficient, distance, level)
    wanted = merge, exclude_labels, exclude_raters, parents
    if any(one is not None for one in wanted):
        return compare_changes(whole, level, *wanted, depth=depth)
    return compare_changes(whole, level, *_to_try(study), depth=depth, is_requested=False)


def compare_changes(
    whole: Agreement,
    level: float,
    merge: Sequence[Iterable[Label]] | None = None,
    exclude_labels: Sequence[Label] | None = None,
    exclude_raters: Sequence[Hashable] | None = None,
    parents: Parents | None = None,
    *,
    depth: int | None = None,
    is_requested: bool = True,
) -> pd.DataFrame:
    """Return the rows of `what_if` for the coefficient of a study.

    A change that cannot be made is an error if it was requested, otherwise a row with the reason.
    """
    study = whole.study
    assert study is not None  # noqa: S101 - the study has raters
    nothing = whole.estimate - whole.estimate, whole.standard_error - whole.standard_error
    rows = [_columns(whole, "as it is", "", (*nothing, float("nan")), level)]
    changes = [
        *_merged(study, () if merge is None else merge),
        *_without_labels(study, () if exclude_labels is None else exclude_labels),
        *_lifted(study, parents, depth),
        *_without_raters(study, () if exclude_raters is None else exclude_raters),
    ]
    each = steps_to_score(study)
    check_cost(
        f"what_if with {counted(len(changes), 'change')}",
        n_steps=len(changes) * each,
        instead=f"{counted(int(MOST_STEPS / each), 'change')} are possible: name them (merge, "
        "exclude_labels, exclude_raters), or use by_rater for the coefficient without each rater.",
    )
    for action, target, change in changes:
        try:
            rows.append(_row(action, target, *_changed(study, change), whole, level))
        except (DataError, DistanceError) as error:
            if is_requested and isinstance(error, DistanceError):
                raise DistanceError(f"{action} {target}: {error}") from error
            if is_requested:
                raise
            absent = {"action": action, "target": target, **named(whole), "reason": str(error)}
            rows.append(absent)
    frame = pd.DataFrame(rows)
    place = list(frame).index("p_value") + 1
    for name, column in corrected(frame["p_value"]).items():
        frame.insert(place, name, column)
        place += 1
    order = np.argsort(-frame["difference"].iloc[1:].to_numpy(dtype=float), kind="stable")
    return ResultFrame.of(frame.iloc[[0, *(order + 1)]].reset_index(drop=True), COLUMNS)


def _changed(study: Annotations, change: Callable[[Any], Value] | int) -> tuple[Annotations, Any]:
    """Return the study with changed values, or without a rater, and the places of its units."""
    if not isinstance(change, int):
        return study.with_answers(change), np.arange(study.n_units)
    kept = study.rater_codes != change
    return of_raters(study, kept).with_used_values(), np.unique(study.unit_codes[kept])


def _row(
    action: str, target: str, part: Annotations, places: Any, whole: Agreement, level: float
) -> Row:
    """Return the row of a changed study; `places` are the positions of its units in the study."""
    if not part.n_ratings:
        raise DataError(f"{action} {target}: no rating would remain.")
    # Parents can make sets larger than any that the distance was checked for.
    scorer = Scorer(part, checked=action not in {_TO_PARENTS, _TO_DEPTH})
    changed = scorer.score(whole.definition, distance_of(whole))
    both_places = (places, np.arange(whole.n_units))
    gap = paired_difference(changed, whole, both_places, whole.case.sample)
    no_test = P_OF_RATERS if action == DROP_RATER else None
    # A change of answers leaves no more rarer answers than there were.
    is_tested = no_test is None and changed.inference.n_rarer >= FEWEST_RARER
    numbers = gap.value, gap.standard_error, gap.p_value if is_tested else np.nan
    row = _columns(changed, action, target, numbers, level)
    return row | {"reason": row["reason"] or no_test}


def _columns(
    changed: Agreement, action: str, target: str, gap: tuple[float, float, float], level: float
) -> Row:
    changes = dict(zip(("difference", "difference_standard_error", "p_value"), gap, strict=True))
    head = {"action": action, "target": target, **uncertainty(changed, level)}
    return {**head, **changes, **counts(changed), **named(changed)}


def _to_try(study: Annotations) -> tuple[list[tuple[Label, Label]], list[Label], list[Hashable]]:
    """Return the default changes: label pairs to merge, and labels and raters to drop."""
    raters = list(study.raters) if study.n_raters > 2 else []
    if study.kind != "labels":
        return [], [], raters
    if have_degrees(study.values):
        return [], list(study.labels), raters
    confused = confusions(replace(study, sampling=None))  # confusions of the sample
    instead = confused[confused["kind"] == "instead"].head(_PAIRS_TRIED)
    merge = list(zip(instead["label"], instead["other"], strict=True))
    return merge, list(study.labels), raters


Change = tuple[str, str, Callable[[Any], Value] | int]
"""Action, target, and the new value of each value, or the code of a rater to drop."""


def _merged(study: Annotations, groups: Sequence[Iterable[Label]]) -> Iterator[Change]:
    check_list("merge", groups, "groups of labels")
    for group in groups:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise OptionError(f"merge={groups!r} must be a list of groups of labels: [[a, b]].")
        listed = list(map(tidied, group))
        if not listed:
            raise OptionError(f"merge={groups!r} has a group without labels.")
        _check_labels(study, listed)
        labels = frozenset(listed)
        name = _MERGED.join(_named(study, label) for label in sorted_labels(labels))
        # The first label represents all: a distance may have a weight or parents for it.
        kept = listed[0] if isinstance(group, list | tuple) else sorted_labels(labels)[0]
        yield "merge", name, _replacing(labels, frozenset([kept]))


def _replacing(labels: LabelSet, new: LabelSet) -> Callable[[Any], Value]:
    def rewritten(value: LabelSet) -> LabelSet:
        if labels.isdisjoint(value):
            return value
        return (value - labels) | new if new else value - labels  # which keeps degrees

    return rewritten


def _without_labels(study: Annotations, labels: Sequence[Label]) -> Iterator[Change]:
    check_list("exclude_labels", labels, "labels")
    labels = list(map(tidied, labels))
    _check_labels(study, labels)
    for label in labels:
        yield "drop label", _named(study, label), _replacing(frozenset([label]), frozenset())


def _lifted(study: Annotations, parents: Parents | None, depth: int | None) -> Iterator[Change]:
    if parents is None:
        if depth is not None:
            raise OptionError(f"depth={depth!r} needs {option('parents')}, those of the labels.")
        return
    tree = read_hierarchy(parents)
    if depth is not None:
        yield _TO_DEPTH, str(depth), tree.lifting(depth)
        return

    def lifted(value: LabelSet) -> LabelSet:
        return frozenset().union(*(tree.above(one) or frozenset([one]) for one in value))

    with_entry = [one for one in study.labels if one in tree.parents or tree.above(one)]
    yield _TO_PARENTS, f"{len(with_entry)} of {len(study.labels)} labels have an entry", lifted


def _without_raters(study: Annotations, raters: Sequence[Hashable]) -> Iterator[Change]:
    check_list("exclude_raters", raters, "raters")
    for rater in map(tidied, raters):
        yield DROP_RATER, str(rater), rater_code(study, rater)


def _check_labels(study: Annotations, labels: Iterable[Label]) -> None:
    labels_of_study = set(study.labels)
    for label in labels:
        if not isinstance(label, Hashable) or label not in labels_of_study:
            hint = did_you_mean(label, study.labels)
            raise DataError(f"no rating has the label {shorten(label)}.{hint}")


def _named(study: Annotations, label: Label) -> str:
    """Return the text of a label; 1 and "1" are distinguished."""
    alike = [one for one in study.labels if str(one) == str(label)]
    return str(label) if len(alike) < 2 else repr(label)

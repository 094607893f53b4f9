"""Scores of one study under several coefficients and distances."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Unpack

import numpy as np

from setagree.coefficients.case import Case, Undefined, pairable_totals, summed_weights
from setagree.credit import WeightBuilder
from setagree.credit.base import display_value
from setagree.distances import Distance, NominalDistance, OverlapDistance, get_distance
from setagree.distances.degrees import DegreeDistance
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    DistanceError,
    OptionError,
    check_list,
    listing,
    option,
    shorten,
    warn_nan,
)
from setagree.large.opening import Data, ReadingOptions, open_study, takes_data
from setagree.scoring.definition import Coefficient
from setagree.scoring.results import Agreement, part_case, sums_of
from setagree.scoring.table_notes import SEVERAL, warn_clusters, warn_far_answers, warn_queue
from setagree.study.annotations import Annotations
from setagree.study.codes import Kind, have_degrees
from setagree.study.degrees import warn_degrees
from setagree.study.labels import LabelSyntax, is_missing, read_cell
from setagree.study.numbers import as_number
from setagree.study.reading import Plan
from setagree.study.sampling import sample_of
from setagree.study.tally import Tally

DEFAULT_DISTANCES: dict[Kind, tuple[str, ...]] = {
    "labels": ("masi",),
    "number": ("nominal", "ordinal", "interval"),
    "category": ("nominal",),
}

_REASONS: dict[Undefined, str] = {
    "no pairable unit": "no unit has two ratings",
    "no pairable unit in a stratum": "a stratum of known size has no unit with two ratings",
    "one unit": "only one unit has two ratings",
    "one value": "only one value was used",
    "no chance disagreement": "chance leaves no disagreement to correct for",
}


def default_distances(study: Annotations | Tally) -> tuple[str, ...]:
    """Return the names of the default distances of a table of a study, the coarsest first."""
    if have_degrees(study.values):
        return ("ruzicka",)
    return ("ordinal",) if study.order else DEFAULT_DISTANCES[study.kind]


def main_distance(
    study: Annotations | Tally,
    distance: DistanceLike | None = None,
    coefficient: Coefficient[...] | None = None,
) -> Distance:
    """Return a distance, by default that of every output with one estimate: interval for numbers.

    Only a coefficient that is called by itself differs; see `score`.
    """
    its_own = None if coefficient is None else coefficient.default_distance
    default = its_own or default_distances(study)[-1]
    return get_distance(default if distance is None else distance)


class Scorer:
    """Scorer of one study, with cached quantities common to coefficients and distances.

    `checked` means that its distances were checked on the study this one was derived from.
    """

    def __init__(
        self,
        study: Data,
        *,
        categories: Iterable[Any] | None = None,
        syntax: LabelSyntax | None = None,
        keep_raters: bool = False,
        checked: bool = False,
    ) -> None:
        self._checked = checked
        if not isinstance(study, Annotations | Tally):
            study = open_study(study, plan=Plan(keep_raters=keep_raters))
        self.annotations = study if isinstance(study, Annotations) else None
        self.tally = Tally.of(study) if isinstance(study, Annotations) else study
        # A case keeps a reference to its distance, so that the id is not reused.
        self._cases: dict[tuple[int, bool], Case] = {}
        self._builders: dict[bool, WeightBuilder] = {}
        self.listed = self.tally.with_values(read_categories(self.tally, categories, syntax))

    def score(self, coefficient: Coefficient[...], distance: Distance) -> Agreement:
        """Return one coefficient with one distance."""
        self._check(coefficient, distance)
        case = self.case(distance, listed=coefficient.model.lists_values)
        return make_agreement(coefficient, distance.name, case)

    def case(self, distance: Distance, *, listed: bool = False) -> Case:
        """Return the study under one distance, over the observed or the listed values."""
        listed = listed and self.listed.n_values > self.tally.n_values
        key = (id(distance), listed)
        if key not in self._cases:
            tally = self.listed if listed else self.tally
            if listed not in self._builders:
                study = self.annotations
                sample = None if study is None or study.sampling is None else sample_of(study)
                unit_weights = None if sample is None else sample.pairable_weights
                pairable = pairable_totals(tally, summed_weights(tally, unit_weights))
                self._builders[listed] = WeightBuilder(
                    tally.values, tally.kind, pairable, checked=self._checked, order=tally.order
                )
            weights = self._builders[listed].build(distance)
            self._cases[key] = Case(tally, weights, distance, self.annotations)
        return self._cases[key]

    def distances(
        self, coefficient: Coefficient[...], chosen: Sequence[Distance] | None
    ) -> Sequence[Distance]:
        """Return the distances of a coefficient: the chosen ones, or the default."""
        if chosen is not None:
            return chosen
        default = coefficient.default_distance
        names = default_distances(self.tally) if default is None else (default,)
        return [get_distance(name) for name in names]

    def _check(self, coefficient: Coefficient[...], distance: Distance) -> None:
        """Raise an error if the coefficient is not defined for the study and the distance."""
        name, other, tally = coefficient.name, coefficient.for_more, self.tally
        with_raters, n = self.annotations or tally.given, tally.n_raters
        if coefficient.needs_raters and with_raters is None:
            raise DataError(
                f"{name} requires the rater of each answer; this tally has counts alone. Pass the "
                "study itself, or a tally that keeps raters: tally(..., keep_raters=True)."
            )
        if coefficient.raters == "two":
            if n is None:
                raise DataError(
                    f"{name} requires the rater of each answer, or the number of raters; this "
                    f"tally has counts alone. For two raters, {other} is the same number."
                )
            if n > 2:
                names = "" if with_raters is None else f" ({listing(list(with_raters.raters))})"
                raise DataError(
                    f"{name} compares two raters; these are {n}{names}. Use {other} for more than "
                    "two."
                )
            if (most := float(tally.pattern_ratings.max(initial=0))) > 2:
                raise DataError(
                    f"{name} compares two raters, and a unit has {most:g} answers: one of them "
                    "gave several."
                )
        if not coefficient.model.redraws_labels:
            return
        sampling = None if self.annotations is None else self.annotations.sampling
        if sampling is not None and (sampling.is_weighted or sampling.size is not None):
            raise OptionError(
                f"{name} is not defined for {sampling.description}; krippendorff_alpha is."
            )
        if tally.kind != "labels":
            raise DataError(
                f"{name} redraws labels of sets; here each answer is one value (by label: yes or "
                "no). Use krippendorff_alpha."
            )
        of_plain = isinstance(distance, DegreeDistance) and not have_degrees(tally.values)
        if not (of_plain or isinstance(distance, NominalDistance | OverlapDistance)):
            raise DistanceError(
                f"{name} requires a distance of |A|, |B| and |A ∩ B| alone, such as 'dice'; "
                f"{distance.name!r} is not one. OverlapDistance makes one of a function of the "
                "three counts."
            )


@takes_data
def score(
    study: Data,
    coefficient: Coefficient[...],
    *,
    distance: DistanceLike | None = None,
    categories: Iterable[Any] | None = None,
    **options: Unpack[ReadingOptions],
) -> Agreement:
    """Return one coefficient of a study, with a warning if it is undefined.

    A coefficient of your own returns this; see `coefficient`. The default distance for numbers is
    nominal, as in the functions of scikit-learn, statsmodels and irrCAC, because the numbers in two
    sequences of answers are often codes of classes; other functions use `main_distance`.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "a"), ("ann", 2, "b")])
    >>> score(study, sa.percent_agreement).estimate
    1.0
    """
    if not isinstance(coefficient, Coefficient):
        raise OptionError(
            f"{option('coefficient', coefficient, limit=80)} is not a Coefficient; agreement takes "
            "names."
        )
    scorer = Scorer(study, categories=categories, keep_raters=coefficient.needs_raters)
    chosen = None if distance is None else [get_distance(distance)]
    agreement = scorer.score(coefficient, scorer.distances(coefficient, chosen)[0])
    warn_undefined([agreement])
    return agreement


def score_part(whole: Agreement, part: Annotations, *, is_domain: bool = True) -> Agreement:
    """Return the coefficient of a part of a study, over the values and distance of the whole.

    The part lists the same values (`Annotations.take`), so that the weights are made once;
    quantities of a distance from the data (mid-ranks, the largest distance) are those of the whole,
    as is the share of the population, or of a stratum, that was drawn, if the part is a domain:
    all ratings of some units. The ratings of some raters are those of `of_raters`.
    """
    case = part_case(whole, part, is_domain=is_domain)
    return make_agreement(whole.definition, whole.distance, case)


def reason_of(undefined: Undefined | None, n_raters: int | None) -> str | None:
    """Return the reason for an estimate of NaN as text, or None if it is defined."""
    if undefined == "no pairable unit" and n_raters == 1:
        return "there is only one rater"
    return None if undefined is None else _REASONS[undefined]


def make_agreement(definition: Coefficient[...], distance: str, case: Case) -> Agreement:
    """Return the result of a coefficient of a case."""
    sums = sums_of(case, definition.model)
    reason = reason_of(sums.undefined, case.tally.n_raters)
    return Agreement(definition, distance, sums.estimate, *sums.figures, reason, sums)


def warn_undefined(agreements: Sequence[Agreement]) -> None:
    """Warn if estimates are undefined, or if numbers or intervals are doubtful.

    That is: few clusters, ratings that a queue requested, one unit with too much of the
    disagreement, degrees that no distance uses.
    """
    of_sets = {one.distance: isinstance(one.case.distance, OverlapDistance) for one in agreements}
    if all(of_sets.values()) and agreements and have_degrees(agreements[0].tally.values):
        what = f"a comparison by {' and '.join(of_sets)}, unlike one by ruzicka,"
        warn_degrees(agreements[0].tally.values, what)
    if any(one.case.sample is not None for one in agreements):
        warn_clusters(agreements)
    if agreements and agreements[0].n_units >= 2 * SEVERAL:
        warn_queue(agreements[0].tally)
    far = [one for one in agreements if one.case.distance and not one.case.distance.bounded]
    if far:
        warn_far_answers(far)
    undefined = [one for one in agreements if one.reason is not None]
    if undefined:
        names = dict.fromkeys(f"{one.coefficient} [{one.distance}]" for one in undefined)
        reasons = dict.fromkeys(one.reason for one in undefined)
        warn_nan(", ".join(names), "; ".join(map(str, reasons)))


def read_categories(
    tally: Tally, categories: Iterable[Any] | None, syntax: LabelSyntax | None = None
) -> tuple[Any, ...]:
    """Return the listed categories as values, checked to contain every observed one."""
    if categories is None:
        return tally.values
    check_list("categories", categories, "values")
    syntax = syntax or LabelSyntax()
    cells = LabelSyntax(label_sep=syntax.label_sep, blank="empty", case=syntax.case)
    listed = tuple(dict.fromkeys(_category(one, tally.kind, cells) for one in categories))
    absent = [display_value(value) for value in tally.values if value not in listed]
    if absent:
        raise OptionError(f"categories= leaves out values that were given: {listing(absent)}.")
    return listed


def _category(one: object, kind: Kind, syntax: LabelSyntax) -> Any:
    """Return one listed category as a value of the study's kind."""
    if kind == "labels":
        value = read_cell(one, syntax)
        if value is None:
            raise OptionError("a category is missing; the empty set is written set() or ''.")
        return value
    if is_missing(one) or not isinstance(one, Hashable):
        raise OptionError(f"category {one!r} is not one value.")
    if isinstance(one, str):
        one = unicodedata.normalize("NFC", one.strip())
    if kind != "number":
        return one
    plain = one.item() if isinstance(one, np.generic) else one
    number = None if isinstance(one, str) else as_number(plain)
    if number is None or not math.isfinite(number):
        raise OptionError(
            f"category {shorten(one)} is not a finite number, and the values are numbers."
        )
    return number

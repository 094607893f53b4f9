"""From a study and a distance to a result: the catalogue of coefficients and their demands."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from setagree import coefficients
from setagree.annotations import Annotations
from setagree.coding import Kind
from setagree.coefficients import leave_one_out, leave_rater_out, replicates
from setagree.coefficients.chance import Case, Estimate, Floats, Undefined
from setagree.coefficients.leave_rater_out import Absence, Left
from setagree.coefficients.replicates import Replicates
from setagree.distances import Distance, NominalDistance, OverlapDistance, get_distance
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    DistanceError,
    OptionError,
    UndefinedAgreementWarning,
    a_type,
    did_you_mean,
    listing,
    shorten,
    warn,
)
from setagree.labels import LabelSyntax, is_missing, read_cell
from setagree.numbers import as_number
from setagree.results import Agreement, make_agreement
from setagree.tally import Tally
from setagree.weights import WeightBuilder
from setagree.weights.base import display_value

Study: TypeAlias = Annotations | Tally

DEFAULT_DISTANCES: dict[Kind, tuple[str, ...]] = {
    "labels": ("masi",),
    "number": ("nominal", "ordinal", "interval"),
    "category": ("nominal",),
}

_REASONS: dict[Undefined, str] = {
    "no pairable unit": "no unit has two ratings",
    "one unit": "there is only one unit",
    "one value": "only one value was used",
    "no chance disagreement": "chance leaves no disagreement to correct for",
}


@dataclass(frozen=True)
class Coefficient:
    """A coefficient and what it asks of a study.

    Attributes
    ----------
    compute : callable
        From a `Case` to an `Estimate`.
    replicates : callable
        From a `Case` to the estimates as a function of the weights of the rows.
    without : callable, optional
        From a `Case` to the estimates without one unit of each row; None where no closed form is
        known.
    without_raters : callable
        From an `Absence` to the estimates without each rater.
    by_unit : bool
        Whether it asks who gave what; its rows then are units where the study is in memory, else
        patterns that keep raters. Rows of the others are patterns.
    raters : {"any", "known", "two"}
        Whether raters must be known, and whether there must be two of them.
    lists_values : bool
        Whether it depends on which values are listed as categories.
    default_distance : str, optional
        Where it is not that of the study.
    """

    compute: Callable[[Case], Estimate]
    replicates: Callable[[Case], Replicates]
    without: Callable[[Case], Floats] | None
    without_raters: Callable[[Absence], Left]
    by_unit: bool = False
    raters: Literal["any", "known", "two"] = "any"
    lists_values: bool = False
    default_distance: str | None = None

    @property
    def asks_who(self) -> bool:
        """Whether it asks who gave what, not only how many did."""
        return self.by_unit


class Bench:
    """One study on the bench: what its coefficients and distances share is made once.

    `checked` says that its distances were checked on the study that this one was made from.
    """

    def __init__(
        self,
        study: Study,
        *,
        categories: Iterable[Any] | None = None,
        syntax: LabelSyntax | None = None,
        checked: bool = False,
    ) -> None:
        self._checked = checked
        if not isinstance(study, Annotations | Tally):
            raise DataError(
                f"{a_type(study)} is no study; build one with Annotations.from_long, "
                "from_wide, ... or call setagree.agreement on the table."
            )
        self.annotations = study if isinstance(study, Annotations) else None
        self.tally = Tally.from_annotations(study) if isinstance(study, Annotations) else study
        # A case keeps its distance, so that the id stays its own.
        self._cases: dict[tuple[int, bool], Case] = {}
        self.listed = self.tally.with_values(read_categories(self.tally, categories, syntax))

    def score(self, name: str, distance: Distance) -> Agreement:
        """Return one coefficient with one distance."""
        coefficient = get_coefficient(name)
        if coefficient.asks_who:
            self._check_known(name)
        if coefficient.raters == "two":
            self._check_two(name)
        if name == "mv_alpha":
            self._check_sizes(distance)
        case = self.case(distance, listed=coefficient.lists_values)
        return _computed(name, distance.name, case)

    def case(self, distance: Distance, *, listed: bool = False) -> Case:
        """Return the study under one distance, over the observed or the listed values."""
        listed = listed and self.listed.n_values > self.tally.n_values
        key = (id(distance), listed)
        if key not in self._cases:
            builder = self._listed_builder if listed else self._builder
            tally = self.listed if listed else self.tally
            weights = builder.build(distance)
            self._cases[key] = Case(tally, weights, distance, self.annotations)
        return self._cases[key]

    @cached_property
    def _builder(self) -> WeightBuilder:
        return _builder(self.tally, checked=self._checked)

    @cached_property
    def _listed_builder(self) -> WeightBuilder:
        return _builder(self.listed, checked=self._checked)

    def distances(self, name: str, asked: Sequence[Distance] | None) -> Sequence[Distance]:
        """Return the distances to score a coefficient with: those asked for, or the default."""
        if asked is not None:
            return asked
        own = get_coefficient(name).default_distance
        names = DEFAULT_DISTANCES[self.tally.kind] if own is None else (own,)
        return [get_distance(one) for one in names]

    def _check_sizes(self, distance: Distance) -> None:
        if self.tally.kind != "labels":
            raise DataError(
                "mv_alpha redraws labels; these values are scalars, use krippendorff_alpha."
            )
        if not isinstance(distance, NominalDistance | OverlapDistance):
            raise DistanceError(
                f"mv_alpha needs a distance of |A|, |B| and |A ∩ B| alone, such as 'dice'; "
                f"{distance.name!r} is none. OverlapDistance makes one of a function of the three "
                "counts."
            )

    def _check_known(self, name: str) -> None:
        if self.annotations is None and self.tally.given is None:
            raise DataError(
                f"{name} needs to know who gave which answer; a tally of counts does not. Pass the "
                "study itself, or a tally that keeps raters: reduce(..., keep_raters=True)."
            )

    def _check_two(self, name: str) -> None:
        n, who = self.tally.n_raters, self.annotations or self.tally.given
        other = "conger_kappa" if name == "cohen_kappa" else "fleiss_kappa"
        if n is None:
            raise DataError(
                f"{name} needs to know who gave which answer, or that there are two raters; a "
                f"tally of counts does not. For two, {other} is the same number."
            )
        if n > 2:
            said = "" if who is None else f" ({listing(list(who.raters))})"
            raise DataError(
                f"{name} compares two raters; these are {n}{said}. Use {other} for more than two."
            )
        if (most := float(self.tally.pattern_ratings.max(initial=0))) > 2:
            raise DataError(
                f"{name} compares two raters, and a unit has {most:g} answers: one of them gave "
                "several."
            )


def get_coefficient(name: str) -> Coefficient:
    """Return the coefficient of that name.

    Raises
    ------
    OptionError
        The name is unknown.
    """
    if not isinstance(name, str) or name not in COEFFICIENTS:
        hint = did_you_mean(name, COEFFICIENTS) or f" Known: {', '.join(COEFFICIENTS)}."
        raise OptionError(f"coefficient {shorten(name)} is unknown.{hint}")
    return COEFFICIENTS[name]


def score_one(
    study: Study,
    name: str,
    distance: DistanceLike | None,
    *,
    categories: Iterable[Any] | None = None,
) -> Agreement:
    """Return one coefficient of a study, with a warning where it is undefined."""
    bench = Bench(study, categories=categories)
    asked = None if distance is None else [get_distance(distance)]
    agreement = bench.score(name, bench.distances(name, asked)[0])
    warn_undefined([agreement])
    return agreement


def score_part(whole: Agreement, part: Annotations) -> Agreement:
    """Return the coefficient of a part of a study, over the values and distance of the whole.

    The part lists the same values (`substudies.of_ratings`), so that the weights are made once;
    what a distance takes from the data (mid-ranks, the largest distance) stays that of the whole.
    """
    tally = Tally.from_annotations(part)
    case = Case(tally, whole.weights, whole.case.distance, part)
    return _computed(whole.coefficient, whole.distance, case)


def _computed(name: str, distance: str, case: Case) -> Agreement:
    """Return the result of a coefficient, with the reason where it is undefined."""
    parts = COEFFICIENTS[name].compute(case)
    reason = None if parts.undefined is None else _REASONS[parts.undefined]
    if parts.undefined == "no pairable unit" and case.tally.n_raters == 1:
        reason = "there is only one rater"
    return make_agreement(name, distance, parts, case=case, reason=reason)


def warn_undefined(agreements: Sequence[Agreement]) -> None:
    """Give one warning that names the undefined estimates and says why."""
    undefined = [one for one in agreements if one.reason is not None]
    if undefined:
        names = dict.fromkeys(f"{one.coefficient} [{one.distance}]" for one in undefined)
        reasons = dict.fromkeys(one.reason for one in undefined)
        warn(
            f"{', '.join(names)}: undefined (nan), because {'; '.join(map(str, reasons))}.",
            UndefinedAgreementWarning,
        )


def read_categories(
    tally: Tally, categories: Iterable[Any] | None, syntax: LabelSyntax | None = None
) -> tuple[Any, ...]:
    """Return the listed categories as values, checked to hold every observed one."""
    if categories is None:
        return tally.values
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        raise OptionError(f"categories={categories!r} must be a list of values.")
    listed = tuple(
        dict.fromkeys(
            _category(one, tally.kind, syntax or LabelSyntax(blank="empty")) for one in categories
        )
    )
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
    if number is None or (isinstance(number, float) and math.isinf(number)):
        raise OptionError(
            f"category {shorten(one)} is no finite number, and the values are numbers."
        )
    return number


def _builder(tally: Tally, *, checked: bool) -> WeightBuilder:
    pairable = tally.value_totals(tally.multiplicity * tally.pairable)
    return WeightBuilder(tally.values, tally.kind, pairable, checked=checked)


COEFFICIENTS: dict[str, Coefficient] = {
    "krippendorff_alpha": Coefficient(
        coefficients.krippendorff_alpha,
        replicates.alpha_replicates,
        leave_one_out.alpha_without,
        leave_rater_out.alpha_without_raters,
    ),
    "fleiss_kappa": Coefficient(
        coefficients.fleiss_kappa,
        replicates.fleiss_replicates,
        leave_one_out.fleiss_without,
        leave_rater_out.fleiss_without_raters,
    ),
    "conger_kappa": Coefficient(
        coefficients.conger_kappa,
        replicates.conger_replicates,
        leave_one_out.conger_without,
        leave_rater_out.conger_without_raters,
        by_unit=True,
        raters="known",
    ),
    "cohen_kappa": Coefficient(
        coefficients.conger_kappa,
        replicates.conger_replicates,
        leave_one_out.conger_without,
        leave_rater_out.conger_without_raters,
        by_unit=True,
        raters="two",
    ),
    "scott_pi": Coefficient(
        coefficients.fleiss_kappa,
        replicates.fleiss_replicates,
        leave_one_out.fleiss_without,
        leave_rater_out.fleiss_without_raters,
        raters="two",
    ),
    "gwet_ac": Coefficient(
        coefficients.gwet_ac,
        replicates.ac_replicates,
        leave_one_out.ac_without,
        leave_rater_out.ac_without_raters,
        lists_values=True,
    ),
    "brennan_prediger": Coefficient(
        coefficients.brennan_prediger,
        replicates.brennan_prediger_replicates,
        leave_one_out.brennan_prediger_without,
        leave_rater_out.brennan_prediger_without_raters,
        lists_values=True,
    ),
    "percent_agreement": Coefficient(
        coefficients.percent_agreement,
        replicates.percent_replicates,
        leave_one_out.percent_without,
        leave_rater_out.percent_without_raters,
    ),
    "mv_alpha": Coefficient(
        coefficients.mv_alpha,
        replicates.mv_alpha_replicates,
        None,
        leave_rater_out.mv_alpha_without_raters,
        default_distance="dice",
    ),
}

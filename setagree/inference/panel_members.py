"""Members of panels, and the requirement that raters are identified."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from setagree.checks import Codes, Flags, Floats, check_level, is_number
from setagree.coefficients.case import ROUNDING, Case
from setagree.credit import Weights
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    OptionError,
    SetagreeWarning,
    check_list,
    did_you_mean,
    listing,
    option,
    python_or_command,
    shorten,
    warn,
)
from setagree.large.joining import with_models
from setagree.large.opening import Data, open_study
from setagree.lazy import pd
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import Scorer, main_distance
from setagree.study.annotations import Annotations
from setagree.study.attributes import likely_models, marked_models
from setagree.study.identifiers import tidied
from setagree.study.reading import Reading
from setagree.study.sampling import warn_ignored

NO_HUMAN = "no human shares enough units with the model"


@dataclass(frozen=True, eq=False)
class Compared:
    """A study under one distance."""

    name: str
    bounded: bool
    is_squared: bool
    weights: Weights
    case: Case


def case_of(study: Annotations, distance: DistanceLike | None) -> Compared:
    """Return the study under one distance; default: the default distance of its answers."""
    found = main_distance(study, distance)
    case = Scorer(study).case(found)
    return Compared(found.name, found.bounded, found.is_squared, case.weights, case)


def rater_code(study: Annotations, name: object, role: str = "rater") -> int:
    """Return the position of a rater, or raise DataError if the study has none of that name."""
    searched = tidied(_plain(name))
    for code, rater in enumerate(map(_plain, study.raters.tolist())):
        if type(rater) is type(searched) and rater == searched:
            return code
    similar = [rater for rater in study.raters.tolist() if str(rater) == str(name)]
    candidates = similar or study.raters.tolist()
    hint = did_you_mean(name, candidates) or f" The raters are {listing(candidates)}."
    raise DataError(f"{role} {shorten(name)} gave no answer in this study.{hint}")


def _plain(name: object) -> object:
    """Return a numpy number as a Python number."""
    return name.item() if isinstance(name, np.generic) else name


def rater_codes(
    study: Annotations, names: Iterable[object], role: str = "rater", called: str | None = None
) -> list[int]:
    """Return the positions of distinct raters, with messages that name the option of their role.

    Raise OptionError if the names are one string, there are none, or one is repeated.
    """
    called = f"{role}s" if called is None else called
    check_list(called, names, "raters")
    codes = [rater_code(study, name, role) for name in names]
    if not codes:
        more = "; list one or more."
        if role == "model":
            roles = python_or_command(option("rater_columns"), "--role")
            more = f": use {option('model')} with a rater, or with a table or file of its answers; "
            more += f"{roles} with a column that marks models, or {option('predictions')}."
        raise OptionError(f"no {role} is named{more}")
    twice = [study.raters[code] for code in dict.fromkeys(codes) if codes.count(code) > 1]
    if twice:
        raise OptionError(f"{option(called)} lists {listing(twice)} more than once.")
    return codes


def flags(n: int, codes: Iterable[int]) -> Flags:
    """Return n flags that are True at some positions."""
    out = np.zeros(n, dtype=bool)
    out[list(codes)] = True
    return out


def ratings_by_unit(study: Annotations) -> tuple[Codes, Codes, Codes]:
    """Return the unit, rater and value of each rating, unit by unit."""
    order = np.argsort(study.unit_codes, kind="stable")
    return study.unit_codes[order], study.rater_codes[order], study.value_codes[order]


def answers_of(study: Annotations, rater: int) -> Codes:
    """Return the value of a rater's answer to each unit, or -1."""
    own, answers = study.rater_codes == rater, np.full(study.n_units, -1)
    answers[study.unit_codes[own]] = study.value_codes[own]
    return answers


def people_of(study: Annotations, humans: Iterable[object] | None, models: Iterable[int]) -> Flags:
    """Return flags of the humans; default: all raters not named or marked as models."""
    models_too = flags(study.n_raters, models)
    if humans is None:
        others = [*marked_models(study), *unnamed_models(study, study.raters[models_too])]
        codes = [rater_code(study, one) for one in others]
        return np.asarray(~models_too & ~flags(study.n_raters, codes))
    people = flags(study.n_raters, rater_codes(study, humans, "human"))
    if (people & models_too).any():
        both = listing(study.raters[people & models_too].tolist())
        raise OptionError(f"{both} cannot be a model and a human at once.")
    return people


def unnamed_models(
    study: Annotations, named: Iterable[object], *, ways: tuple[str, str] | None = None
) -> list[Any]:
    """Return raters that are called like models, where others are named as models; warn of them.

    `ways` are the remedies if a rater counted among the people is a model, and if others are not.
    Default: to name the people.
    """
    maybe, likely = (
        [one for one in likely_models(study, maybe=maybe) if one not in {*named}]
        for maybe in (True, False)
    )
    likely = likely if len({*named, *likely}) < study.n_raters else []
    places = (
        (maybe, "Counted among the people", "If that is a model"),
        (likely, "Not counted among the people, because of names of models", "If they are people"),
    )
    ways = ways or (f"name all people with {option('humans')}",) * 2
    for (listed, place, doubt), way in zip(places, ways, strict=True):
        if listed:
            warn(f"{place}: {listing(listed)}. {doubt}, {way}.", SetagreeWarning)
    return likely


def part_of(study: Annotations, rows: Flags) -> Annotations:
    """Return the study of some annotations, with units and raters in the original order.

    All values of the study remain listed, so that the ends of a scale, the ranks of values and the
    largest distance are those of the study; mid-ranks are those of these annotations.
    """
    return replace(study.take(rows), n_missing=0)


def check_share(name: str, value: float) -> None:
    """Raise OptionError unless a number is at least 0 and below 1."""
    if not is_number(value) or not 0 <= value < 1:
        raise OptionError(f"{option(name, value)} must be 0 or more and below 1.")


def check_threshold(threshold: float, name: str = "threshold") -> None:
    """Raise OptionError unless a required value of a coefficient is a number below 1."""
    if not is_number(threshold) or not threshold < 1:
        value = option(name, threshold, limit=80)
        raise OptionError(f"{value} must be a number below 1, such as 0.667.")


def log_interval(estimate: Any, error: Any, df: Any, level: float) -> Floats:
    """Return the ends of the t intervals of the logarithm of 1 - estimate.

    A low end below -1 is cut there, or at the estimate if that is lower. NaN without an error.
    """
    from scipy.special import stdtrit

    apart = 1 - estimate
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # log(1 - estimate) ± t SE / (1 - estimate)
        factor = np.exp(stdtrit(df, (1 + level) / 2) * error / apart)
    return np.stack([np.maximum(1 - apart * factor, np.minimum(estimate, -1)), 1 - apart / factor])


def percentile_interval(
    distribution: Floats, level: float, reason: str | None
) -> tuple[float, float]:
    """Return the percentile interval, or NaN if there is a reason or all resamples are equal."""
    check_level(level)
    if reason is not None or no_interval_reason(distribution) is not None:
        return float("nan"), float("nan")
    defined = distribution[np.isfinite(distribution)]
    low, high = np.percentile(defined, [50 * (1 - level), 50 * (1 + level)])
    return float(low), float(high)


def no_interval_reason(distribution: Floats) -> str | None:
    """Return the reason for a missing percentile interval, or None."""
    defined = distribution[np.isfinite(distribution)]
    if len(defined) < 2:
        return "fewer than two resamples are defined"
    return "all resamples are equal" if np.ptp(defined) <= ROUNDING else None


def require_raters(study: Data, what: str, reading: Reading | None = None) -> Annotations:
    """Return the study, or raise DataError if it is a tally or cannot be opened as a study."""
    found = open_study(study, reading)
    return _known(found if isinstance(found, Annotations) else None, what, "tally of counts")


def require_study(agreement: Agreement, what: str) -> Annotations:
    """Return the study of an agreement, or raise DataError if it is a tally."""
    return _known(agreement.study, what, "tally")


def _known(study: Annotations | None, what: str, other: str) -> Annotations:
    if study is not None:
        return study
    raise DataError(
        f"{what} requires the rater and the unit of each answer, which a {other} lacks: build the "
        "study in memory with Annotations.from_long."
    )


def require_unsized(study: Data, what: str) -> Annotations:
    """Return the opened study; raise an error if it has no raters, or units with sizes."""
    opened = require_raters(study, what)
    if opened.sampling is not None and opened.sampling.size is not None:
        warn_ignored(opened.sampling, what)
    return opened


def unweighted_units(study: Data, what: str) -> Annotations:
    """Return the opened study without its sampling design; warn if it has one."""
    return plain_units(require_raters(study, what), what)


def plain_units(study: Annotations, what: str) -> Annotations:
    """Return a study without its sampling design; warn if it has one."""
    warn_ignored(study.sampling, what)
    return study if study.sampling is None else replace(study, sampling=None)


def rater_index(
    study: Annotations, codes: Sequence[int] | Codes, name: str = "rater"
) -> pd.Index[Any]:
    """Return the names of some raters as the index of a table."""
    return pd.Index(study.raters[codes], name=name, dtype=object, tupleize_cols=False)


def models_and_humans(
    study: Data, what: str, model: object, humans: Sequence[object] | None
) -> tuple[Annotations, list[int], Flags]:
    """Return the study of the models and the humans only, the models, and flags of the humans.

    Raters who are neither have no effect on the distance.
    """
    opened, names = with_models(unweighted_units(study, what), model)
    models = rater_codes(opened, names, "model", "model")
    people = people_of(opened, humans, models)
    rows = (people | flags(opened.n_raters, models))[opened.rater_codes]
    part = part_of(opened, rows)
    return part, rater_codes(part, names, "model"), people[np.unique(opened.rater_codes[rows])]

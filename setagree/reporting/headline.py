"""The headline of a report: the estimate, the verdict and the counts of the study."""

from __future__ import annotations

import numpy as np

from setagree.distances import distance_names
from setagree.errors import counted
from setagree.inference.benchmark import PARTIAL_CREDIT, PROPOSED_FOR, SCALES, AtLeast
from setagree.reporting.sections import spans
from setagree.reporting.sections.base import Findings
from setagree.scoring.coefficients import coefficient_name, distance_name, own_name
from setagree.scoring.references import is_ours
from setagree.scoring.results import Agreement, raters_in_words
from setagree.wording.number_format import interval, level_text, number, rough
from setagree.wording.sentences import Sentence

_VERDICTS = {
    "discard": "agree {less} than is needed to rely on single answers",
    "tentative": "agree enough for tentative conclusions, but not to rely on single answers",
    "reliable": "agree enough to rely on single answers",
}

_LIMITS = SCALES["krippendorff"]
_MEANT = {"nominal", "ordinal", "interval", "quadratic", "ratio", "bipolar", "circular"}
"""Krippendorff's distances, for which his limits are meant."""

_FAR = 0.5
"""The high end of the interval below which agreement is far from the limit of 0.667."""


def headline(f: Findings) -> Sentence:
    """Return the estimate with its interval, in one sentence."""
    row = f.main
    name = f"{coefficient_name(row.definition, [row.distance])} with {distance_phrase(row)}"
    if f.models:
        name = f"Among the {humans_only(f)}, {name}"
    if row.reason is not None:
        return (f"{name} is undefined, because {row.reason}.",)
    low, high = f.main.interval(f.level)
    over = interval_about(f)
    ends = "" if np.isnan(low) else f" ({interval_name(f)} {interval(low, high)}, {over})"
    return (f"{name} is {number(row.estimate)}{ends}.",)


def interval_name(f: Findings) -> str:
    """Return ``95% score interval``, or without the method if it is t."""
    method = {"score": "score ", "fieller": "Fieller's "}.get(f.main.interval_method or "", "")
    return f"{level_text(f.level)} {method}interval"


def interval_about(f: Findings) -> str:
    """Return the population of the headline's interval and the sampling of the units."""
    return f"for {raters_in_words([f.main])}{f.main.drawn and f'; {f.main.drawn}'}"


def distance_phrase(row: Agreement) -> str:
    """Return ``the MASI distance``, or a phrase that marks a user's distance of the same name."""
    if row.distance in distance_names() and not is_ours(row):
        return f"a distance of your own, “{own_name(row.distance)}”"
    return f"the {distance_name(row.distance)} distance"


def plain_verdict(f: Findings) -> str:
    """Return the verdict in words without statistical terms, or the reason for none."""
    if _is_judged(f):
        return f"{_plain(f)}."
    return " ".join([*_threshold_verdict(f), _no_verdict(f)])


def limits_sentence(f: Findings) -> str:
    """Return the limits of the plain verdict, and notes on the interval."""
    text = " ".join([*([_limits(f, brief=False)] if _is_judged(f) else []), *_notes(f)])
    return text[:1].upper() + text[1:]


def verdict_sentence(f: Findings, *, brief: bool = False) -> str:
    """Return the verdict, its limits, and notes on the interval, and if not brief on the limits."""
    verdict = plain_verdict(f)
    if _is_judged(f):
        verdict = f"{_plain(f)}, {_limits(f, brief=brief)}"
    return " ".join([verdict, *_notes(f)])


def _notes(f: Findings) -> list[str]:
    """Return the notes on the interval of the headline."""
    return [*filter(None, (rough([f.main.interval(f.level)[0]]), f.main.remark))]


def caution(f: Findings) -> str:
    """Return the caution on the limits that the verdict does not state already."""
    proposed = f"{PROPOSED_FOR['krippendorff']}. " * _is_meant(f)
    return f"{proposed}{PARTIAL_CREDIT}" if _is_judged(f) else ""


def _is_meant(f: Findings) -> bool:
    """Return whether the limits are meant for the distance."""
    return f.main.distance in _MEANT and is_ours(f.main)


def _threshold_verdict(f: Findings) -> list[str]:
    """Return the verdict on the threshold of the report if the interval decides it."""
    tests = [one.result for one in f.result("decisions") or []]
    return [
        test.verdict
        for test in tests
        if isinstance(test, AtLeast) and (test.passes or test.high < test.threshold)
    ]


def _no_verdict(f: Findings) -> str:
    """Return the reason for a missing verdict by the limits of the scale."""
    if (reason := f.verdict.reason) is None:
        return "No verdict by the usual limits, which are for agreement beyond chance."
    if f.main.standard_error != 0 or np.isnan(f.main.interval(f.level)[0]):
        return f"No verdict. {reason[0].upper()}{reason[1:]}."
    return (
        f"No verdict by the usual limits, which need a standard error above 0: {reason[0].lower()}"
        f"{reason[1:]}. at_least and setagree check compare the interval with a threshold."
    )


def _is_judged(f: Findings) -> bool:
    """Return whether the scale has a level for the coefficient."""
    return f.main.coefficient != "percent_agreement" and f.verdict.verdict in _VERDICTS


def is_unclear(f: Findings) -> bool:
    """Return whether the coefficient may be below or above the limit for tentative conclusions."""
    is_low = _is_judged(f) and f.verdict.verdict == "discard"
    return is_low and f.main.interval(f.level)[1] >= _LIMITS["tentative"]


def _plain(f: Findings) -> str:
    """Return the clause of the plain verdict.

    The level of the scale follows from the low end of an interval. The high end of the interval in
    the headline shows whether a study of more units could reach a better level.
    """
    high, word = f.main.interval(f.level)[1], f.verdict.verdict
    who = "the people" if f.models else "the raters"
    if is_unclear(f):
        return f"It is not clear whether {who} agree enough to rely on single answers"
    if word == "tentative" and high >= _LIMITS["reliable"]:
        return f"{who.capitalize()} agree at least enough for tentative conclusions"
    verdict = _VERDICTS[word].format(less="far less" if high < _FAR else "less")
    return f"{who.capitalize()} {verdict}"


def _limits(f: Findings, *, brief: bool) -> str:
    """Return the limits of the verdict, and its confidence by the headline's interval."""
    (low, high), word = f.main.interval(f.level), f.verdict.verdict
    limits = "by Krippendorff's limits (reliable from 0.800, tentative conclusions from 0.667)"
    if not is_unclear(f):
        allowed = high < _LIMITS["tentative"] if word == "discard" else low >= _LIMITS[word]
        limits += ", even allowing for sampling error" if allowed else ", with 95% confidence"
    if brief or _is_meant(f):
        return f"{limits}."
    return f"{limits}. {PROPOSED_FOR['krippendorff']}, not with {distance_phrase(f.main)}."


def humans_only(f: Findings) -> str:
    """Return the numbers of humans and of models that are left out."""
    verb = "is" if len(f.models) == 1 else "are"
    n_models = counted(len(f.models), "model")
    return f"{counted(f.study.n_raters, 'human')} ({n_models} {verb} left out)"


def counts_line(f: Findings) -> str:
    """Return the counts of the study in a line."""
    study = f.study
    noun = "distinct set" if study.kind == "labels" else "distinct value"
    sample, drawn = f.main.case.sample, f.main.drawn
    if sample is not None and sample.is_clustered:  # all of them, as all units are counted
        drawn = counted(len(sample.names), "cluster")
    if f.main.case.is_sized:
        return " · ".join([*spans.counts(f), counted(study.n_raters, "rater")])
    parts = [
        counted(study.n_units, "unit"),
        humans_only(f) if f.models else counted(study.n_raters, "rater"),
        counted(study.n_ratings, "rating"),
        counted(study.n_values, noun),
        *([drawn] if drawn else []),
    ]
    return " · ".join(parts)

"""Text of the methods section."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, Unpack

import numpy as np

from setagree.checks import check_level
from setagree.coefficients.measured import SizedAlpha
from setagree.distances import get_distance
from setagree.errors import DataError, a_type, check_flag, counted, listing, option
from setagree.inference.bootstrap import Bootstrap
from setagree.inference.permutation import PermutationTest
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, open_study, takes_data
from setagree.reporting.sections.base import Method
from setagree.scoring.coefficients import (
    coefficient_name,
    distance_name,
    krippendorff_alpha,
    own_name,
)
from setagree.scoring.references import citation, cited, is_ours
from setagree.scoring.results import Agreement, AgreementTable, raters_in_words
from setagree.scoring.scorer import main_distance
from setagree.scoring.table_notes import drawn_of
from setagree.study.codes import have_degrees
from setagree.study.sampling import OF_SIZES
from setagree.study.tally import Tally
from setagree.wording.number_format import interval, level_text, number, p_phrase, rough, share
from setagree.wording.references import Reference, bibliography
from setagree.wording.sentences import Name, enumeration, plain, visible

Cite: TypeAlias = Callable[[str | None], str]
"""A function from the key of a source to its citation in brackets."""

_SIDES = {"greater": "one-sided", "less": "one-sided, for less", "two-sided": "two-sided"}
_SCHEMES = {
    "pooled": "over all raters and units",
    "within_rater": "within each rater",
    "table": "over all cells of the table of units by raters",
    "within_cluster": "within each cluster",
    "rotation": "along the documents",
}


def check_reported(rows: Sequence[Agreement], made: object, name: str) -> None:
    """Raise `DataError` unless a resampling result is of one of the reported agreements."""
    if not isinstance(made, Bootstrap | PermutationTest):
        raise DataError(f"{option(name)} is {a_type(made)}; pass the result of one coefficient.")
    one = made.agreement
    if not any(_is_same(row, one) for row in rows):
        raise DataError(f"{option(name)} is of {one!r}, but reported is {listing(list(rows))}.")


def _is_same(one: Agreement, two: Agreement) -> bool:
    """Return whether two agreements have equal names, counts and estimates."""
    names = [(row.coefficient, row.distance, row.n_units, row.n_ratings) for row in (one, two)]
    close = np.isclose(one.estimate, two.estimate, rtol=1e-9, atol=1e-12, equal_nan=True)
    return names[0] == names[1] and bool(close)


def bootstrapped(
    bootstrap: Bootstrap, rows: Sequence[Agreement], *, level: float, seed: int | None, cite: Cite
) -> str:
    """Return a sentence on the interval of a bootstrap, or a blank if it is undefined."""
    method = bootstrap.default_method
    low, high = bootstrap.interval(level, method=method)
    if np.isnan(low) and method == "BCa":
        method = "percentile"
        low, high = bootstrap.interval(level, method=method)
    if np.isnan(low):
        return ""
    source = cite("Efron 1987" if method == "BCa" else "Efron & Tibshirani 1993")
    n, missed = counted(len(bootstrap.distribution), "bootstrap resample"), bootstrap.n_undefined
    lost = f", {missed:,} of them undefined and left out," if missed else ""
    return (
        f"The {level_text(level)} {method} interval{_which(bootstrap.agreement, rows)} of "
        f"{n} of the {bootstrap.drawn}{lost} is {interval(low, high)}{source}{_seeded(seed)}; "
        f"it is about {raters_in_words([bootstrap.agreement], bootstrap.over)}."
    )


def permutation_sentence(
    test: PermutationTest,
    rows: Sequence[Agreement],
    *,
    p: float,
    corrected: str,
    seed: int | None,
    cite: Cite,
) -> str:
    """Return a sentence on a permutation test with its p, or a blank if p is undefined."""
    if np.isnan(p):
        return ""
    often = f"all {len(test.distribution):,} arrangements of the answers"
    if not test.exact:
        often = f"{len(test.distribution):,} random reshuffles of the answers"
    source = "" if test.exact else cite("Phipson & Smyth 2010")
    larger = ""
    if test.other is not None:
        larger = f", the larger p of this test and of reshuffles {_SCHEMES[test.other.scheme]}"
    if test.ignoring:
        others = f", of those {_SCHEMES[test.other.scheme]}" if test.other is not None else ""
        larger = f", the largest p of the reshuffles{others} and of the estimate over clusters"
    return (
        f"A permutation test against chance compared the estimate{_which(test.agreement, rows)} "
        f"with {often} {_SCHEMES[test.scheme]}{test.ignoring}: {p_phrase(p)}, "
        f"{_SIDES[test.alternative]}{larger}{corrected}{source}"
        f"{'' if test.exact else _seeded(seed)}."
    )


def _which(one: Agreement, rows: Sequence[Agreement]) -> str:
    """Return the name of an agreement if there are several."""
    if len(rows) == 1:
        return ""
    name = coefficient_name(one.definition, [one.distance])
    return f" of {name} with {distance_name(one.distance)}"


def _seeded(seed: int | None) -> str:
    return "" if seed is None else f", seed {seed}"


Measured: TypeAlias = "Data | Agreement | AgreementTable"

_BLANKS = {
    "missing": "blank cells were taken as missing",
    "empty": "blank cells were taken as the empty set",
    "error": "blank cells were not allowed",
}
_CASES = {
    "keep": "labels were taken as written",
    "lower": "labels were compared in lower case",
}
_DUPLICATES = {
    "first": "the first was kept",
    "last": "the last was kept",
    "repeats": "the first answer counts",
    "union": "they were merged into the union of their labels",
}
_NO_REPEAT = "no rater rated a unit twice"
_NUMBERS = ("One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


@dataclass(frozen=True)
class Methods:
    """A methods paragraph: all its sentences but the last, and the sorted references."""

    sentences: tuple[str, ...]
    references: tuple[Reference, ...]

    @property
    def paragraph(self) -> str:
        """The paragraph, which ends with the version of setagree."""
        return " ".join([*self.sentences, f"Computations were made with setagree {version()}."])

    @property
    def text(self) -> str:
        """The paragraph, and the references below it."""
        return "\n\n".join([self.paragraph, "\n".join(one.text for one in self.references)])

    @property
    def bibtex(self) -> str:
        """The references as BibTeX, after the entry of setagree itself."""
        return bibliography(self.references, version())


class _Sources(set[str]):
    """The keys of the cited sources."""

    def cite(self, key: str | None) -> str:
        """Return a source in brackets and add it, or a blank if the key is None."""
        self.update(() if key is None else (key,))
        return citation(key)


@takes_data
def methods_text(
    result: Measured,
    *more: RaterAnswers,
    level: float | None = None,
    bootstrap: Bootstrap | None = None,
    test: PermutationTest | None = None,
    seed: int | None = None,
    references: bool = True,
    **options: Unpack[ReadingOptions],
) -> str:
    """Return a methods paragraph to paste into a paper.

    It states the design, the counts, the treatment of missing and empty answers, the distance, the
    coefficient with its estimate, the interval method, the version, and the references.

    Parameters
    ----------
    result : Annotations, Tally, Agreement or AgreementTable
        The result to describe; for a study, alpha with the default distance.
    level : float, optional
        The confidence level. Default: that of the table, else 0.95.
    bootstrap : Bootstrap, optional
        The result of `bootstrap`, whose default interval is also reported.
    test : PermutationTest, optional
        The result of `permutation_test`, whose p-value is also reported.
    seed : int, optional
        The seed of both.
    references : bool
        Whether the list of references follows the paragraph.

    Returns
    -------
    str
        One paragraph; the references, if any, follow after a blank line, one per line.

    Raises
    ------
    DataError
        The argument is of another type, or `bootstrap` or `test` has another coefficient.
    OptionError
        A policy is unknown, or the level is not between 0 and 1.

    Examples
    --------
    >>> import setagree as sa
    >>> alpha = sa.krippendorff_alpha(sa.simulate(50, 3, rng=1))
    >>> print(methods_text(alpha, references=False)[:63])
    Three raters annotated 50 units, each answer being a set of lab
    """
    check_flag("references", references)
    found = methods_of_result(result, level=level, bootstrap=bootstrap, test=test, seed=seed)
    return found.text if references else found.paragraph


def methods_of_result(
    result: Measured,
    *,
    level: float | None,
    bootstrap: Bootstrap | None,
    test: PermutationTest | None,
    seed: int | None,
    more: Sequence[Method] = (),
    corrected: tuple[float, str] | None = None,
) -> Methods:
    """Return the methods of a result, with the further sentences `more` and their sources.

    `corrected` is p of the test, corrected for further tests, and a clause on the correction.
    """
    rows, level = _rows(result, level)
    one, sources = rows[0], _Sources()
    estimates = "; ".join(_estimate(row, level, alone=len(rows) == 1) for row in rows)
    sentences = [
        _design(one),
        _policies(one),
        _measures(rows, sources.cite),
        f"Result: {estimates}.",
    ]
    sentences.append(_uncertainty(rows, level, sources.cite))
    if bootstrap is not None:
        check_reported(rows, bootstrap, "bootstrap")
        sentences.append(bootstrapped(bootstrap, rows, level=level, seed=seed, cite=sources.cite))
    if test is not None:
        check_reported(rows, test, "test")
        p, clause = corrected or (test.claim_p(test.p_value, test.alternative), "")
        sentences.append(
            permutation_sentence(test, rows, p=p, corrected=clause, seed=seed, cite=sources.cite)
        )
    sentences += [sentence for sentence, _ in more]
    sources.update(key for _, keys in more for key in keys)
    return Methods(tuple(filter(None, sentences)), tuple(cited(sources)))


def _rows(result: Measured, level: float | None) -> tuple[Sequence[Agreement], float]:
    """Return the agreements to report, and the level of their intervals."""
    if isinstance(result, AgreementTable):
        rows, level = result.rows, result.level if level is None else level
    elif isinstance(result, Agreement):
        rows = (result,)
    else:
        study = open_study(result)
        rows = (krippendorff_alpha(study, distance=main_distance(study)),)
    level = 0.95 if level is None else level
    check_level(level)
    return rows, level


def _design(one: Agreement) -> str:
    """Return the counts of raters and units, and the kind of answers."""
    who = _spelled(one.n_raters, "rater") if one.n_raters is not None else "Several raters"
    if one.case.is_sized:
        return _sized_design(one, who)
    return f"{who} annotated {counted(one.n_units, 'unit')}, {_answers(one)}. {_layout(one.tally)}"


def _sized_design(one: Agreement, who: str) -> str:
    """Return the counts of raters, documents and pieces, and how pieces count."""
    sample, study = one.case.sample, one.study
    assert sample is not None  # noqa: S101 - units have sizes
    n_units, n_documents = counted(one.n_units, "piece"), counted(len(sample.names), "document")
    is_spans = study is not None and study.reading is not None and bool(study.reading.spans)
    size = f"{visible(sample.design.size or '')} {one.case.unit_weights.sum():,.10g} in all"
    cut = ", cut at every boundary of a span" if is_spans else ""
    full = one.n_ratings == one.n_units * (one.n_raters or 0)
    missing = "" if full else " Not every rater annotated every document."
    return (
        f"{who} annotated {n_documents} ({size}){cut} into {n_units}, which count by their "
        f"length, {_answers(one)}.{missing}"
    )


def _answers(one: Agreement) -> str:
    """Return the kind of answers."""
    n = one.tally.n_values
    if one.tally.kind == "labels":
        labels = set().union(*one.tally.values)
        used = f"{counted(len(labels), 'label')}, {counted(n, 'distinct set')} in use"
        degrees = ", each with its degree" if have_degrees(one.tally.values) else ""
        return f"each answer being a set of labels{degrees} ({used})"
    what = "number" if one.tally.kind == "number" else "category"
    return f"each answer being one {what} ({counted(n, 'distinct value')} in use)"


def _layout(tally: Tally) -> str:
    """Return the spread of the ratings over the units."""
    per_unit, times = tally.pattern_ratings, tally.multiplicity
    fewest, most = int(per_unit.min()), int(per_unit.max())
    total = counted(tally.n_ratings, "rating")
    if fewest == most == tally.n_raters:
        return f"The design is complete: every rater rated every unit ({total})."
    spread = "" if fewest == most else f"{fewest:,} to "
    mean = float(per_unit @ times / times.sum())
    average = "" if fewest == most else f", {mean:.1f} on average"
    lone = tally.n_units - tally.n_pairable_units
    alone = f"; {counted(lone, 'unit')} with a single rating" if lone else ""
    return (
        "Not every rater rated every unit: the units have "
        f"{spread}{counted(most, 'rating')} each{average}, {total} in all{alone}."
    )


def _policies(one: Agreement) -> str:
    """Return the treatment of missing, empty and repeated answers, and of labels."""
    n_missing = 0 if one.study is None else one.study.n_missing
    cells = f" ({counted(n_missing, 'cell')})" if n_missing else ""
    reading = None if one.study is None else one.study.reading
    parts = [f"missing ratings{cells} were left out and never counted as an answer"]
    if reading is not None and reading.where is not None:
        parts.append(f"only rows of the table with {reading.where} were read")
    if reading is not None and reading.blank is not None:
        parts.append(_BLANKS[reading.blank])
    markers = (
        [] if reading is None else [(reading.na_values, "missing"), (reading.empty, "no label")]
    )
    used = [one for one in markers if one[0] is not None and len(one[0])]
    parts += [_markers(given, meaning) for given, meaning in used if given is not None]
    if one.tally.kind == "labels":
        parts.append(_empty_sets(one))
        parts.extend([] if reading is None else [_CASES[reading.case]])
    if reading is not None:
        n = one.study.n_repeated if one.study is not None else 0
        again = f"where a rater had rated a unit again ({counted(n, 'time')} in the data)"
        kept = n and _DUPLICATES.get(reading.duplicates)
        parts.append(f"{again}, {kept}" if kept else _NO_REPEAT)
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _markers(given: Collection[str | float], meaning: str) -> str:
    """Return the answers that count as missing or empty, also if the data do not have them."""
    quoted = plain(enumeration([(Name.of(text),) for text in given]))
    answers = "the answer" if len(given) == 1 else "the answers"
    return f"{answers} {quoted} {'counts' if len(given) == 1 else 'count'} as {meaning}"


def _empty_sets(one: Agreement) -> str:
    """Return the number of ratings that are the empty set, which is an answer."""
    tally = one.tally
    if frozenset() not in tally.values:
        return "no rating is the empty set"
    totals = tally.value_totals(one.case.mass if one.case.is_sized else tally.multiplicity)
    n = float(totals[tally.values.index(frozenset())])
    part = share(n / totals.sum())
    often = f"{part} of the length" if one.case.is_sized else f"{counted(int(n), 'rating')}, {part}"
    return f"the empty set ({often}) was an answer like any other"


def _measures(rows: Sequence[Agreement], cite: Cite) -> str:
    """Return the names of the coefficients and distances."""
    names = dict.fromkeys(
        coefficient_name(row.definition, [row.distance], in_sentence=True)
        + cite(row.definition.source)
        for row in rows
    )
    distances = dict.fromkeys(_distance(row, cite) for row in rows)
    noun = "distances" if len(distances) > 1 else "distance"
    weighted = any(
        row.definition.model.weigh == "units" and row.distance != "nominal" for row in rows
    )
    credit = ""
    if weighted:
        credit = (
            " A pair of answers earns the credit 1 − d / d_max, where d_max is 1 or, for a "
            f"distance without an upper limit, the largest one observed{cite('Gwet 2014')}."
        )
    measure = f"{_listed(names)} with the {noun} {_listed(distances)}"
    return f"Agreement was measured by {measure}.{credit}"


def _distance(row: Agreement, cite: Cite) -> str:
    """Return the name of a distance, its formula, and its source."""
    if not is_ours(row):
        own = row.case.distance
        formula = f" [{own.formula}]" if own is not None and own.formula else ""
        origin = cite(own.source) if own is not None and own.source else " (defined by the authors)"
        return f"“{own_name(row.distance)}”{visible(formula)}{origin}"
    distance = get_distance(row.distance)
    return f"{distance_name(row.distance)} [{distance.formula}]{cite(distance.source)}"


def _estimate(row: Agreement, level: float, *, alone: bool) -> str:
    """Return an estimate with its interval, and alone with observed and expected disagreement."""
    name = coefficient_name(row.definition, [row.distance])
    named = name if alone else f"{name} with {distance_name(row.distance)}"
    if row.reason is not None:
        return f"{named} is undefined, because {row.reason}"
    low, high = row.interval(level)
    ends = "" if np.isnan(low) else f", {level_text(level)} interval {interval(low, high)}"
    if np.isnan(low) and (row.standard_error >= 0 or row.spread.reason is not None):
        causes = filter(None, (row.standard_error_reason, row.inference.rarity))
        reason = ", and ".join(causes) or str(row.interval_reason)
        ends = f", without an interval: {reason[0].lower()}{reason[1:]}"
    do, de = row.observed_disagreement, row.expected_disagreement
    parts = f" (observed disagreement {number(do)}, expected {number(de)})" if alone else ""
    return f"{named} = {number(row.estimate)}{ends}{parts}"


def _uncertainty(rows: Sequence[Agreement], level: float, cite: Cite) -> str:
    """Return the derivation of the intervals."""
    defined = [row for row in rows if row.interval_method is not None]
    if not defined:
        return ""
    sampling, _ = _drawn(defined, cite)
    kinds = []
    if scored := [row for row in defined if row.interval_method == "score"]:
        kinds.append(
            "score intervals, which contain the values that a test with the variance under each "
            "value does not reject"
        )
    if by_t := [row for row in defined if row.interval_method == "t"]:
        names = [coefficient_name(x.definition, [x.distance], in_sentence=True) for x in by_t]
        which = f" for {_listed(names)}"
        freedom = _listed(_drawn(by_t, cite)[1])
        kinds.append(f"t intervals{which * bool(scored)} with {freedom} degrees of freedom")
    if any(row.interval_method == "fieller" for row in defined):
        kinds.append(f"Fieller's over documents{cite('Fieller 1954')}")
    same = " Expected disagreement leaves out pairs of answers of one rater in one document."
    same *= any(isinstance(x.sums, SizedAlpha) and x.sums.without_same_rater for x in defined)
    return (
        f"Standard errors are analytic, by linearisation over units{cite('Gwet 2014')}{sampling}; "
        f"the {level_text(level)} intervals are {' and '.join(kinds)}. They treat the units as a "
        f"sample and the raters as fixed, and therefore hold for {raters_in_words(defined)}.{same} "
        f"{rough(row.interval(level)[0] for row in defined)}"
    ).strip()


def _drawn(rows: Sequence[Agreement], cite: Cite) -> tuple[str, list[str]]:
    """Return the sampling that standard errors take into account, and the degrees of freedom."""
    row, df = rows[0], sorted({row.degrees_of_freedom for row in rows})
    sample, clusters = row.case.sample, row.spread.clusters
    if sample is None:
        return "", [f"{n:,}" for n in sorted({round(n) for n in df})]
    freedom = [*dict.fromkeys(f"{n:.1f}" for n in df)]
    if clusters is not None:
        names = [coefficient_name(one.definition, [one.distance]) for one in rows]
        clause = (
            f", clustered by {visible(sample.by)} ({drawn_of(rows, names)}, the largest "
            f"with {100 * clusters.largest_share:.0f}% of the "
            f"{'length' if sample.is_sized else 'units'}; CR2)"
            f"{cite('Bell & McCaffrey 2002')}"
        )
        strata = row.rests_on.get("strata")
        clause += f" and stratified by {visible(strata)}" if strata else ""
        weighted = f" and with the sampling weights {visible(sample.weighted_by)}"
        return clause + weighted * bool(sample.weighted_by), freedom
    weights = f", with the sampling weights {visible(sample.weighted_by)}"
    if sample.weighted_by == OF_SIZES:
        weights = ", each stratum weighted by its size in the population"
    known = sample.sizes[np.isfinite(sample.sizes)]
    corrected = f" and corrected for a finite population of {counted(int(known.sum()), 'unit')}"
    n_strata = counted(row.rests_on.get("n_strata", 0), "stratum", "strata")
    strata = f", stratified by {visible(sample.by)} ({n_strata})"
    clause = f"{weights * bool(sample.weighted_by)}{strata * bool(sample.by)}"
    return f"{clause}{corrected * bool(len(known))}", freedom


def _listed(names: Iterable[str]) -> str:
    return plain(enumeration([(name,) for name in names]))


def _spelled(n: int, noun: str) -> str:
    """Return a number as a sentence begins with it."""
    if n > len(_NUMBERS):
        return counted(n, noun)
    return f"{_NUMBERS[n - 1]} {noun}{'s' if n > 1 else ''}"


def version() -> str:
    """Return the version. An import of the package itself would be circular."""
    return str(vars(sys.modules["setagree"])["__version__"])

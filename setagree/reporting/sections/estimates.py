"""Other coefficients and distances, and the estimates of reshuffled answers."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from setagree.coefficients.case import ROUNDING
from setagree.coefficients.tails import t_tail
from setagree.distances import get_distance
from setagree.errors import counted
from setagree.inference.permutation import PermutationTest, permutation_test
from setagree.plots.base import rows_height
from setagree.plots.inference import forest, null
from setagree.reporting.sections.base import Findings, Method, Picture, Section, Table, Topic, holds
from setagree.scoring.coefficients import CoefficientLike, coefficient_name, distance_name
from setagree.scoring.references import citation
from setagree.scoring.results import AgreementTable
from setagree.scoring.table import agreement
from setagree.scoring.table_notes import drawn_of
from setagree.study.codes import have_degrees
from setagree.wording.number_format import level_text, number, p_phrase
from setagree.wording.sentences import Sentence, enumeration, plain
from setagree.wording.tables import Column

PANEL_COEFFICIENTS = (
    "krippendorff_alpha",
    "fleiss_kappa",
    "conger_kappa",
    "gwet_ac",
    "percent_agreement",
)
_OF_TWO = {"fleiss_kappa": "scott_pi", "conger_kappa": "cohen_kappa"}
PANEL_DISTANCES = {
    "labels": ("nominal", "masi", "jaccard", "overlap", "hamming"),
    "degrees": ("nominal", "ruzicka", "manhattan", "jaccard"),
    "number": ("nominal", "ordinal", "interval"),
    "category": ("nominal",),
}
"""Distances that the headline is compared with."""

_RESHUFFLED = 10_000_000
"""Number of ratings in all reshuffles, which take a few seconds."""

_ALIKE = 0.05
"""Range of the estimates by distance below which they hardly depend on it."""

_FEWEST = 39
"""Number of reshuffles of a large study, whose p is computed from their mean and spread."""


def compute_choices(f: Findings) -> AgreementTable:
    """Return the estimates by several coefficients and distances, the headline among them."""
    two = f.study.n_raters == 2
    names: list[CoefficientLike] = [
        _OF_TWO.get(name, name) if two else name for name in PANEL_COEFFICIENTS
    ]
    if f.main.coefficient != "mv_alpha" and f.main.coefficient not in names:
        names.append(f.main.definition)
    kind = "degrees" if have_degrees(f.study.values) else f.study.kind
    others = [name for name in PANEL_DISTANCES[kind] if name != f.distance.name]
    return agreement(f.study, coefficient=names, distance=[f.distance, *others], level=f.level)


def choices_summary(f: Findings, table: AgreementTable) -> Sentence:
    """Return a sentence on the dependence of the estimate on the distance."""
    coefficient = f.main.coefficient
    same = [row for row in table if row.coefficient == coefficient and row.reason is None]
    if len(same) < 2:
        return ()
    ends = [min(same, key=float), max(same, key=float)]
    low, high = (f"{number(row.estimate)} with {distance_name(row.distance)}" for row in ends)
    word = f.main.definition.short
    if number(ends[0].estimate) == number(ends[1].estimate):
        same_with_all = f"{word} is {number(f.main.estimate)} with each of them"
        return (f"The estimate does not depend on the distance: {same_with_all}.",)
    by_name = {row.distance: row.estimate for row in same}
    is_nested = by_name.get("overlap", np.nan) - by_name.get("jaccard", np.nan) > 0.1
    nested = "; in many pairs one answer contains the other" * is_nested
    depends = "hardly depends" if float(ends[1]) - float(ends[0]) < _ALIKE else "depends"
    return (f"The estimate {depends} on the distance: {word} is {low} and {high}{nested}.",)


def choices_sections(f: Findings, table: AgreementTable) -> list[Section]:
    """Return the coefficients under several distances."""
    coefficients = {row.coefficient: row.definition for row in table}
    distances = list(dict.fromkeys(row.distance for row in table))
    heads = [Column(coefficient_name(c, distances), "estimate") for c in coefficients.values()]
    rows = []
    for distance in distances:
        same = [table[name, distance] for name in coefficients]
        cells = [(row.estimate, *row.interval(f.level)) for row in same]
        rows.append((distance_name(distance), *cells))
    caption = f"Coefficients by distance, with {level_text(f.level)} intervals"
    shown = Table(caption, [Column("Distance", "text"), *heads], rows)
    names = [coefficient_name(row.definition, distances) for row in table]
    over = f.main.drawn and f" Sampling of the units: {drawn_of(table.rows, names)}."
    note = (
        "The distance defines the credit for two answers that differ; the coefficient defines the "
        "agreement expected by chance. Percent agreement is not corrected for chance and is shown "
        f"for comparison.{over}"
    )
    # The picture has the rows that differ from the headline only in distance or coefficient.
    remarks = pd.Series([row.remark for row in table], dtype=object)
    frame: pd.DataFrame = table.to_frame().assign(remark=remarks)
    is_same = frame["coefficient"] == f.main.coefficient
    others = (frame["distance"] == f.main.distance) & (frame["coefficient"] != "percent_agreement")
    nearest = frame[is_same | others]
    picture = Picture(partial(forest, nearest, level=f.level), rows_height(len(nearest)))
    return [Section(shown, picture, note)]


def choices_method(f: Findings, table: AgreementTable) -> Method:
    """Return a sentence on the other coefficients and distances, with their sources."""
    sources: list[str] = []

    def named(name: str, source: str | None) -> Sentence:
        sources.extend([source] if source else [])
        return (f"{name}{citation(source)}",)

    every = {row.coefficient: row.definition for row in table}
    others_coefficients = [one for one in every.values() if one != f.main.definition]
    names = [coefficient_name(x, [f.distance.name], in_sentence=True) for x in others_coefficients]
    pairs = zip(names, others_coefficients, strict=True)
    listed = enumeration([named(name, one.source) for name, one in pairs])
    words = (f"In addition to {f.main.definition.short}, the report gives ", *listed)
    others = dict.fromkeys(row.distance for row in table if row.distance != f.main.distance)
    if others:
        names_of_distances = [named(distance_name(one), get_distance(one).source) for one in others]
        words = (*words, "; the other distances are ", *enumeration(names_of_distances))
    return plain((*words, ".")), tuple(sources)


def compute_chance(f: Findings) -> PermutationTest:
    """Return the two-sided test against chance, with fewer reshuffles of a large study."""
    wanted = max(f.n_reshuffles, f.options.n_resamples)
    n = min(wanted, max(_FEWEST, _RESHUFFLED // f.study.n_ratings))
    return permutation_test(f.main, n_resamples=n, alternative="two-sided", rng=f.options.rng)


def chance_p_values(f: Findings, test: PermutationTest) -> list[float]:
    """Return p of the claim on chance; for a large study, from the spread of the reshuffles."""
    p = test.p_value
    if not test.exact and len(test.distribution) < f.n_reshuffles:
        p = max(_normal_p(each) for each in (test, test.other) if each is not None)
    return [test.claim_p(p, "two-sided")]


def _normal_p(test: PermutationTest) -> float:
    """Return p from the mean and spread of B reshuffles, as those of a large study are normal.

    A further reshuffle is within mean ± t s sqrt(1 + 1 / B), with B - 1 degrees of freedom.
    """
    B = len(test.defined)
    if B < 2:
        return float("nan")
    spread = max(float(test.defined.std(ddof=1)), ROUNDING) * np.sqrt(1 + 1 / B)
    return 2 * t_tail(B - 1, abs(test.agreement.estimate - test.defined.mean()) / spread)


def chance_summary(f: Findings, test: PermutationTest) -> Sentence:
    """Return whether agreement is above chance, from the reshuffles."""
    (p,) = f.corrected["chance"]
    if np.isnan(p):
        return ()
    often = counted(len(test.defined), "reshuffled study", "reshuffled studies")
    if not test.exact and len(test.distribution) < f.options.n_resamples:
        often += f" (not {f.options.n_resamples:,}, because the study is large)"
    limit, side, bound = test.quantile(0.95), "above", "at most"
    if f.main.estimate < test.defined.mean() and holds(p):
        limit = -float(np.quantile(-test.defined, 0.95, method="inverted_cdf"))
        side, bound = "below", "at least"
    verdict = f"Agreement is {side if holds(p) else 'not distinguishable from'} chance"
    limits, basis = f"{bound} {number(limit)}", ""
    if test.ignoring:
        limits += f", and the estimate is tested against 0 with {test.ignored}"
        basis = ", the larger of the two p-values"
    elif f.main.estimate > limit and not holds(p):
        basis = f", two-sided{f.holm_clause}"
    word = f.main.definition.short
    return (f"{verdict}: {word} of 95% of {often} is {limits} ({p_phrase(p)}{basis}).",)


def chance_sections(f: Findings, test: PermutationTest) -> list[Section]:
    """Return the picture of the estimates of reshuffled answers."""
    (p,) = f.corrected["chance"]
    if np.isnan(p):
        return []
    seed = "" if f.seed is None else f" (seed {f.seed})"
    moved = "over all raters and units" if test.scheme == "pooled" else "within each rater"
    note = f"All answers were reshuffled {moved}{seed}."
    if test.scheme == "rotation":
        moved = "were moved along each document by a random offset, those beyond its end to its"
        note = f"The answers of each rater {moved} beginning{seed}."
    if test.exact:
        note = f"These are all arrangements of the answers {moved}."
    note = " ".join(filter(None, [note, test.scheme_reason]))
    return [Section(None, Picture(partial(null, test, p_value=p), 2.8), note)]


CHOICES = Topic(
    "choices",
    "Other coefficients and distances",
    choices_sections,
    compute_choices,
    about="Choice",
    summary=choices_summary,
    method=choices_method,
    rank=1,
)
CHANCE = Topic(
    "chance",
    "Agreement expected by chance",
    chance_sections,
    compute_chance,
    about="Chance",
    summary=chance_summary,
    p_values=chance_p_values,
    rank=1,
    one_by_one="The reshuffles",
)

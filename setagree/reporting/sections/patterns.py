"""Patterns that dominate a study, such as empty sets, one answer or identical raters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np

from setagree.checks import Codes, Floats
from setagree.errors import counted
from setagree.inference.panel_members import answers_of
from setagree.reporting.sections.base import Findings, Section, Table, Topic
from setagree.study.annotations import Annotations
from setagree.wording.number_format import share
from setagree.wording.sentences import Name, Sentence, Words
from setagree.wording.tables import Column

# Studies without such a pattern are far from these limits, so that no test is needed: if 10
# differences are expected, the probability of none is 1 in 22,000.
_HALF = 0.5
"""Share of the differing pairs with one empty set from which they are a pattern."""
_MOST = 0.9
"""Share of the ratings with one answer, or one label, from which these are a pattern."""
_ALWAYS = 0.95
"""Share of the ratings of one rater with one answer from which these are a pattern."""
_ENOUGH = 20
"""Ratings of a rater, units shared by two, or differing pairs below which nothing is a pattern."""
_EXPECTED = 10
"""Number of differences expected at the rate of the others; a pattern has at most a tenth."""
_NAMED = 3
"""Largest number of raters, and of pairs of raters, that are named."""


@dataclass(frozen=True)
class Pattern:
    """A pattern as text, with its count `n` of `total`, and a clause on the rate of the others."""

    kind: Literal["empty", "answer", "rater", "copies"]
    words: Sentence
    n: int
    total: int
    noun: str
    compared: str = ""
    raters: tuple[Any, ...] = ()

    @property
    def sentence(self) -> Sentence:
        """The pattern as a sentence, with its counts."""
        part = f" in {self.n:,} of {counted(self.total, self.noun)} ({share(self.n / self.total)})"
        return (*self.words, f"{part}{self.compared}.")


@dataclass(frozen=True, eq=False)
class Counts:
    """Numbers of ratings by unit and answer, and of the pairs of ratings within units."""

    unit: Codes
    value: Codes
    n: Floats
    pairs: int
    same: int

    @classmethod
    def of(cls, study: Annotations) -> Counts:
        """Return the counts of a study."""
        cells = study.unit_codes.astype(np.int64) * study.n_values + study.value_codes
        cells, n = np.unique(cells, return_counts=True)
        ratings = np.bincount(study.unit_codes, minlength=study.n_units).astype(np.int64)
        pairs, same = (int((x * (x - 1) // 2).sum()) for x in (ratings, n.astype(np.int64)))
        unit, value = (one.astype(np.intp) for one in np.divmod(cells, study.n_values))
        return cls(unit, value, n, pairs, same)


def compute(f: Findings) -> list[Pattern]:
    """Return the patterns, in the order in which they are reported."""
    counts = Counts.of(f.study)
    return [
        *_empty(f.study, counts),
        *_one_answer(f.study),
        *islice(_constant_raters(f.study), _NAMED),
        *islice(_identical_raters(f, counts), _NAMED),
    ]


def has_pattern(f: Findings, *kinds: str) -> bool:
    """Return whether there is a pattern of one of these kinds."""
    return any(one.kind in kinds for one in f.result("patterns") or ())


def are_copies_few(f: Findings) -> bool:
    """Return whether some raters, at most half of them, gave identical answers."""
    pairs = [one for one in f.result("patterns") or () if one.kind == "copies"]
    raters = {rater for one in pairs for rater in one.raters}
    return 0 < len(pairs) < _NAMED and 2 * len(raters) <= f.study.n_raters


def _empty(study: Annotations, counts: Counts) -> Iterator[Pattern]:
    """Yield the pattern of pairs that differ by an empty set."""
    if study.kind != "labels":
        return
    is_empty = np.array([not one for one in study.values])[counts.value]
    empty = np.bincount(counts.unit, counts.n * is_empty)
    other = np.bincount(counts.unit, counts.n * ~is_empty)
    n, differ = round(float(empty @ other)), counts.pairs - counts.same
    if differ >= _ENOUGH and n >= _HALF * differ:
        yield Pattern(
            "empty", ("One of two raters gave the empty set",), n, differ, "differing pair"
        )


def _one_answer(study: Annotations) -> Iterator[Pattern]:
    """Yield the pattern of an answer, or otherwise of a label, that most ratings have."""
    N, n_of_value = study.n_ratings, np.bincount(study.value_codes, minlength=study.n_values)
    if N < _ENOUGH:
        return
    top = int(n_of_value.argmax())
    if n_of_value[top] >= _MOST * N:
        words: Sentence = ("The answer is ", _answer(study.values[top]))
        yield Pattern("answer", words, int(n_of_value[top]), N, "rating")
    elif study.kind == "labels":
        n_of_label = Counter[Any]()
        for value, n in zip(study.values, n_of_value.tolist(), strict=True):
            n_of_label.update(dict.fromkeys(value, n))
        (label, n_given), *_ = n_of_label.most_common(1)
        if n_given >= _MOST * N:
            words = ("The label ", Name.of(label), " was given")
            yield Pattern("answer", words, n_given, N, "rating")


def _answer(value: object) -> Words:
    """Return an answer for a sentence."""
    return "the empty set" if value == frozenset() else Name.of(value)


def _constant_raters(study: Annotations) -> Iterator[Pattern]:
    """Yield the raters who gave (almost) only one answer, if the others did not."""
    K, ratings = study.n_values, np.bincount(study.rater_codes, minlength=study.n_raters)
    n_of_value = np.bincount(study.value_codes, minlength=K)
    cells, n = np.unique(
        study.rater_codes.astype(np.int64) * K + study.value_codes, return_counts=True
    )
    rater, value = (one.astype(np.intp) for one in np.divmod(cells, K))
    total = ratings[rater]
    others = (n_of_value[value] - n) / np.maximum(study.n_ratings - total, 1)
    expected = total * (1 - others)
    is_constant = (total >= _ENOUGH) & (n >= _ALWAYS * total) & (total < study.n_ratings)
    is_constant &= (expected >= _EXPECTED) & (_EXPECTED * (total - n) <= expected)
    for k in sorted(np.flatnonzero(is_constant).tolist(), key=lambda k: -int(total[k])):
        who = Name.of(study.raters[rater[k]])
        words = (who, " gave ", _answer(study.values[value[k]]))
        clause = f"; the other raters gave it in {share(others[k])} of theirs"
        yield Pattern("rater", words, int(n[k]), int(total[k]), "rating", clause)


def _identical_raters(f: Findings, counts: Counts) -> Iterator[Pattern]:
    """Yield the pairs of raters who gave identical answers, if other pairs did not."""
    pairs, study = f.result("pairs"), f.study
    if pairs is None:
        return
    alike = pairs[(pairs["mean_distance"] < 1e-12) & (pairs["n_shared_units"] >= _ENOUGH)]
    place = {rater: code for code, rater in enumerate(study.raters.tolist())}
    for a, b, n in alike[["rater_a", "rater_b", "n_shared_units"]].itertuples(index=False):
        n_other_pairs = counts.pairs - n
        same = (counts.same - n) / max(n_other_pairs, 1)
        if n_other_pairs <= 0 or n * (1 - same) < _EXPECTED:
            continue
        # Some distances are 0 between different answers.
        mine, theirs = (answers_of(study, place[rater]) for rater in (a, b))
        if (mine != theirs)[(mine >= 0) & (theirs >= 0)].any():
            continue
        words = (Name.of(a), " and ", Name.of(b), " gave identical answers")
        compared = f"; other pairs of ratings are identical in {share(same)}"
        yield Pattern("copies", words, int(n), int(n), "shared unit", compared, (a, b))


def summary(_: Findings, patterns: list[Pattern]) -> Sentence:
    """Return the patterns as sentences."""
    pieces = [piece for one in patterns for piece in (" ", *one.sentence)]
    return tuple(pieces[1:])


def sections(_: Findings, patterns: list[Pattern]) -> list[Section]:
    """Return the table of patterns with their counts."""
    columns = [
        Column("Pattern", "text"),
        Column("Number", "count"),
        Column("Of", "count"),
        Column("Counted", "text"),
        Column("Share", "share", is_part=True),
    ]
    rows = [(one.words, one.n, one.total, f"{one.noun}s", one.n / one.total) for one in patterns]
    caption = "Patterns that dominate the answers"
    table = Table(caption, columns, rows, sortable=False)
    return [Section(table, lead=())]


TOPIC = Topic(
    "patterns",
    "Patterns of answers",
    sections,
    compute,
    about="Pattern",
    summary=summary,
    rank=-1,
    unweighted="Patterns",
)

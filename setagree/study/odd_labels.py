"""Labels that may be a slip: joined by a sign, numbers among words, rare misspellings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from setagree.errors import (
    MixedScaleWarning,
    SeparatorWarning,
    SimilarLabelsWarning,
    counted,
    listing,
    option,
    python_or_command,
    shorten,
    warn,
)
from setagree.study.doubts import Codes
from setagree.wording.label_sets import LabelSet

_JOINED, _JOINED_OR_COMMA = re.compile(r"[/+&]"), re.compile(r"[/+&,]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_ENOUGH = 100
"""Ratings from which numbers among words and misspellings are looked for."""
_RARE = 0.01
"""Share of the ratings below which a label may be a misspelling."""
_TIMES = 10
"""How much more frequent the label must be that a misspelling resembles."""
_LENGTHS = range(5, 81)
"""Characters of labels that may be misspellings of one another; longer ones are sentences."""
_MOST = 2_000
"""Distinct labels up to which these are looked at: more are not a codebook."""


def warn_of_odd_labels(
    values: Sequence[LabelSet], codes: Codes, label_sep: str, times: Codes | None
) -> None:
    """Warn of joined labels, numbers among words and rare misspellings, with their counts.

    Look at the distinct labels, and count ratings only if one of them is odd.
    """
    texts = {str(label): label for label in sorted(frozenset().union(*values), key=str)}
    if len(texts) > _MOST:
        return
    signs = _JOINED if "," in label_sep else _JOINED_OR_COMMA
    joined = [x for x in texts if signs.search(x) and _parts(x, signs) <= texts.keys()]
    numbers = [text for text in texts if _NUMBER.fullmatch(text)]
    numbers = numbers if 2 * len(numbers) < len(texts) else []
    alike = list(_alike(texts))
    if not (joined or numbers or alike):
        return

    rows = codes >= 0
    given = np.bincount(codes[rows], None if times is None else times[rows], len(values))
    n_ratings = dict.fromkeys(texts, 0)
    for value, n in zip(values, given.tolist(), strict=True):
        for label in value:
            n_ratings[str(label)] += round(n)
    is_used = max(map(len, values)) > 1
    # Of labels that differ only in the order of their parts, the separator has been warned of.
    if joined and (is_used or len({frozenset(_parts(x, signs)) for x in joined}) == len(joined)):
        _warn_joined(joined, n_ratings, label_sep, signs, is_used=is_used)
    is_large = (total := round(given.sum())) >= _ENOUGH
    if numbers and is_large:
        warn(
            f"{_counts(numbers, n_ratings)}: a number among words, read as a label. If it is a "
            f"slip, correct these cells; {option('codebook')} with the permitted labels refuses it "
            "and names its place.",
            MixedScaleWarning,
        )
    if alike and is_large:
        _warn_misspelt(alike, n_ratings, total)


def _warn_joined(
    joined: Sequence[str],
    n_ratings: Mapping[str, int],
    label_sep: str,
    signs: re.Pattern[str],
    *,
    is_used: bool,
) -> None:
    """Warn of labels whose parts are labels as well."""
    found = signs.search(joined[0])
    assert found is not None  # noqa: S101 - it is joined by one of these signs
    sign, parts = found[0], sorted(set().union(*(_parts(x, signs) for x in joined)))
    remedy = f"use {option('label_sep', sign)}"
    if is_used:
        replaced = f"df[column].str.replace({sign!r}, {label_sep!r}, regex=False)"
        everywhere = f"put {label_sep!r} between all labels in the file"
        remedy = python_or_command(
            f"use {option('label_sep', label_sep)} everywhere: {replaced}", everywhere
        )
    warn(
        f"{_counts(joined, n_ratings)}: read as one label, although the parts {listing(parts)} "
        f"are labels as well. If {sign!r} separates labels, {remedy}.",
        SeparatorWarning,
    )


def _warn_misspelt(
    alike: Sequence[tuple[str, str]], n_ratings: Mapping[str, int], total: int
) -> None:
    """Warn of rare labels that are one slip from a frequent one, as `_alike` defines it."""
    found = []
    for one, other in alike:
        (n, rare), (n_more, usual) = sorted([(n_ratings[one], one), (n_ratings[other], other)])
        if n < _RARE * total and n_more >= _TIMES * n:
            found.append(f"{shorten(rare)} ({n:,} of {counted(total, 'rating')}) and "
                         f"{shorten(usual)} ({n_more:,})")  # fmt: skip
    if found:
        rest = f" and {len(found) - 5:,} more" if len(found) > 5 else ""
        warn(
            "labels that differ in one character, or in the order of two, are kept apart: "
            f"{'; '.join(found[:5])}{rest}. If the rare one is a misspelling, correct these cells; "
            f"{option('codebook')} with the permitted labels refuses it and names its place.",
            SimilarLabelsWarning,
        )


def _parts(text: str, signs: re.Pattern[str]) -> set[str]:
    """Return the texts between the signs that may join labels; the text itself if one is blank."""
    parts = {part.strip() for part in signs.split(text)}
    return {text, ""} if "" in parts else parts


def _alike(words: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of words that differ in one letter more, in another one, or in two exchanged.

    Words without one of their letters are looked up, so that not all pairs are compared. Numbered
    labels, such as class1 and class2, are not misspellings of one another.
    """
    shorter: dict[tuple[int, str], str] = {}
    whole, seen = {*words}, set()
    for word in sorted(words):
        for k in range(len(word) if len(word) in _LENGTHS else 0):
            rest = word[:k] + word[k + 1 :]
            exchanged = word[:k] + word[k + 1 : k + 2] + word[k] + word[k + 2 :]
            others = [shorter.setdefault((k, rest), word), rest, exchanged]
            for other in others:
                pair = (min(word, other), max(word, other))
                if other != word and other in whole and pair not in seen and _letters(*pair):
                    seen.add(pair)
                    yield pair


def _letters(one: str, other: str) -> bool:
    """Return whether two words differ in a letter, not in case or in a digit, sign or space."""
    plain = [re.sub(r"[\W\d_]", "", word).casefold() for word in (one, other)]
    return plain[0] != plain[1]


def _counts(texts: Sequence[str], n_ratings: Mapping[str, int]) -> str:
    """Return labels with the numbers of their ratings."""
    shown = [f"{shorten(text)} ({counted(n_ratings[text], 'rating')})" for text in texts[:5]]
    rest = f" and {len(texts) - 5:,} more" if len(texts) > 5 else ""
    return f"label{'s' if len(texts) > 1 else ''} {', '.join(shown)}{rest}"

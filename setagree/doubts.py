"""What looks odd in a column of answers: said in a warning, never changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.errors import (
    BlankLabelsWarning,
    MissingMarkerWarning,
    MixedScaleWarning,
    SeparatorWarning,
    SetagreeWarning,
    SimilarLabelsWarning,
    counted,
    listing,
    shorten,
    warn,
)
from setagree.labels import LabelSet, sorted_labels

Codes: TypeAlias = npt.NDArray[np.integer[Any]]

_SEPARATORS = (";", "|", "\n", "\t", ",")
_MARKERS = {"na", "n/a", "#n/a", "nan", "null", "<na>", "-", "--", "?", "."}
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_ENOUGH = 3
_MOST = 20
_MANY = 100_000


def doubt_blanks(n_blank: int) -> None:
    """Say that blank cells were taken as missing by default, and how many."""
    if n_blank:
        warn(
            f"{counted(n_blank, 'blank cell')} taken as missing; say blank='empty' if blank means "
            "'no label applies', or blank='missing' to accept this.",
            BlankLabelsWarning,
        )


def doubt_nulls(n_null: int, values: Sequence[LabelSet], policy: str) -> None:
    """Say that a blank policy met no blank text, but missing cells, which it does not concern."""
    if policy != "missing" and n_null and frozenset() not in values:
        warn(
            f"{counted(n_null, 'cell')} missing (NaN or None) and none blank, so that "
            f"blank={policy!r} changes nothing. If pandas made blanks NaN, read the file with "
            "keep_default_na=False, or pass its path.",
            BlankLabelsWarning,
        )


def doubt_similar(what: str, names: Iterable[Any]) -> None:
    """Say which names differ only in case, or only in being text or a number."""
    groups: dict[str, list[Any]] = {}
    for name in sorted_labels(names):
        groups.setdefault(str(name).casefold(), []).append(name)
    pairs = [tuple(labels) for labels in groups.values() if len(labels) > 1]
    if pairs:
        warn(
            f"{what} kept apart that look alike: {listing(pairs)}; case='lower' or cleaning the "
            "types makes them one.",
            SimilarLabelsWarning,
        )


def doubt_merged_names(role: str, merged: Sequence[tuple[object, object]]) -> None:
    """Say which names of units or raters became one when the space around them was taken off."""
    if merged:
        warn(
            f"{counted(len(merged), role)} spelled in two ways and taken as one: "
            f"{listing(merged)}.",
            SimilarLabelsWarning,
        )


def doubt_separator(cells: Sequence[object], sep: str) -> None:
    """Say that another separator seems to stand between labels, in all cells or in some."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    used = any(sep in text for text in texts)
    together = "".join(texts)
    for other in _SEPARATORS:
        if other not in together:
            continue
        found = [text for text in texts if other in text and other in text.strip()]
        if other == sep or not found or len(found) * (10 if used else 4) < len(texts):
            continue
        seen = f"{counted(len(found), 'distinct cell')} of {len(texts):,} with {other!r}, such as"
        if not used:
            hint = f"did you mean sep={other!r}?"
            warn(
                f"No cell contains {sep!r}, but {seen} {shorten(found[0])}; {hint}",
                SeparatorWarning,
            )
            return
        # Commas may well be part of a label where something else separates labels.
        if other != "," and other not in sep and len(found) >= _ENOUGH:
            hint = "it is part of the labels now, so clean the cells if it separates labels too."
            warn(f"Besides {sep!r}, {seen} {shorten(found[0])}; {hint}", SeparatorWarning)
            return


def how_many(rows: npt.NDArray[Any], times: Codes | None) -> int:
    """Return how many cells the marked rows stand for: one each, or as many as `times` says."""
    return int(np.count_nonzero(rows) if times is None else times[rows].sum())


def doubt_markers(codes: Codes, cells: Sequence[object], *, times: Codes | None = None) -> None:
    """Say that cells such as ``n/a`` were taken as labels."""
    lines = "\n".join(cell for cell in cells if isinstance(cell, str)).lower().split("\n")
    if _MARKERS.isdisjoint(map(str.strip, lines)):  # a marker has no line break inside
        return
    odd = [k for k, c in enumerate(cells) if isinstance(c, str) and c.strip().lower() in _MARKERS]
    spelled = list(dict.fromkeys(str(cells[k]).strip() for k in odd))
    if odd:
        n = how_many(np.isin(codes, odd), times)
        warn(
            f"{counted(n, 'cell')} that may mean 'missing' taken as labels: "
            f"{listing(spelled, limit=_MOST)}; if they do, say missing={spelled[:_MOST]!r}.",
            MissingMarkerWarning,
        )


def doubt_absent(markers: Sequence[object]) -> None:
    """Say which of the answers that are to mean no annotation nobody gave."""
    if markers:
        warn(f"No answer is {listing(markers)}, which missing= names.", MissingMarkerWarning)


def doubt_alike(what: str, names: npt.NDArray[np.object_]) -> None:
    """Say which units or raters differ only in case, or in type, as 1 and "1".

    More than 100,000 are not looked at.
    """
    seen = [*names] if len(names) <= _MANY else []
    has_text = any(isinstance(name, str) for name in seen)
    texts = [str(name) for name in seen] if has_text else []
    # Most identifiers have letters of one case only, or stay distinct: both are seen at once.
    together = "\n".join(texts)
    one_case = together == together.casefold() and len(set(texts)) == len(texts)
    if one_case or len(set(map(str.casefold, texts))) == len(texts):
        return
    groups: dict[str, list[object]] = {}
    for name, text in zip(seen, texts, strict=True):
        groups.setdefault(text.casefold(), []).append(name)
    several = [tuple(sorted(group, key=repr)) for group in groups.values() if len(group) > 1]
    alike = sorted(several, key=repr)
    warn(
        f"{what} kept apart that look alike: {listing(alike)}; if they are one, spell them in one "
        "way.",
        SimilarLabelsWarning,
    )


def doubt_repeats(policy: str, n_left_out: int, n_kept: int, names: tuple[object, object]) -> None:
    """Say that most annotations were taken for repeats, which is seldom what is meant."""
    if n_left_out <= n_kept:
        return
    unit, rater = ("its column" if name is None else f"column {shorten(name)}" for name in names)
    done = "united with others" if policy == "union" else "dropped"
    warn(
        f"duplicates={policy!r}: {n_left_out:,} of {counted(n_left_out + n_kept, 'rating')} "
        f"{done}, as their rater had annotated the same unit, and only {n_kept:,} are left. Is the "
        f"unit ({unit}) what was rated, and the rater ({rater}) who rated it?",
        SetagreeWarning,
    )


def doubt_numeric_labels(values: Sequence[LabelSet]) -> None:
    """Say that every answer is one number, which a scale would fit better."""
    alone = [next(iter(value)) for value in values if len(value) == 1]
    if len(alone) < len([v for v in values if v]) or len(alone) < _ENOUGH:
        return
    if all(isinstance(label, str) and _NUMBER.fullmatch(label) for label in alone):
        warn(
            f"every answer is one number, such as {listing(alone[:3])}, and is taken as a label; "
            "say kind='value' (or value=) if they are numbers on a scale.",
            MixedScaleWarning,
        )


def doubt_mixed_scale(
    is_number: Sequence[bool],
    cleaned: Sequence[object],
    codes: Codes,
    place: Callable[[int], str],
    *,
    times: Codes | None = None,
) -> None:
    """Say that half of the answers or more are numbers, so that the rest may be a mistake."""
    numbers = np.array(is_number, dtype=bool)
    other = np.array([v is not None for v in cleaned], dtype=bool) & ~numbers
    odd = (codes >= 0) & other[codes]
    n_odd = how_many(odd, times)
    if how_many((codes >= 0) & numbers[codes], times) >= n_odd:
        first = int(np.flatnonzero(odd)[0])
        warn(
            f"{counted(n_odd, 'answer')} among numbers cannot be read as one ({place(first)}: "
            f"{shorten(cleaned[codes[first]])}), so that all answers are taken as categories; "
            "make them numbers, or make them missing.",
            MixedScaleWarning,
        )

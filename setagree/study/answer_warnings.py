"""Warnings on answers: labels that look alike, markers of missing answers, scales."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes
from setagree.errors import (
    BlankLabelsWarning,
    MissingMarkerWarning,
    MixedScaleWarning,
    SeparatorWarning,
    SetagreeWarning,
    SimilarLabelsWarning,
    counted,
    listing,
    option,
    python_or_command,
    shorten,
    warn,
)
from setagree.study.labels import is_blank, splitter
from setagree.study.numbers import are_decimals, usual_spelling
from setagree.wording.label_sets import (
    Label,
    LabelSep,
    LabelSet,
    read_sep,
    sep_pattern,
    separators,
    sorted_labels,
)

_SEPARATORS = (";", "|", "\n", "\t", "\uff0c", "\u3001", "\uff1b", "\u060c", ",")
_OFTEN_INSIDE = ("/", "+", "&", "#", " ")
MARKERS = {"na", "n/a", "#n/a", "nan", "null", "<na>", "-", "--", "?", ".", "k.a.", "k. a.", "n/d"}
"""Usual spellings of a missing answer."""

NO_LABEL = {
    *("none", "no label", "no labels", "none of the above", "none of these", "no category"),
    *("(none)", "keine", "keines", "keine davon", "keines davon"),
    *("aucun", "aucune", "ninguno", "ninguna"),
}
_NO_ANSWER = {"not applicable", "n.a.", "no answer", "unlabeled", "unlabelled", "-", "--"}
NO_LABEL |= _NO_ANSWER
"""Usual spellings of the empty set or of a missing answer."""

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
# Numbers that Python does not parse: 1,5 and 1 500 and 50% and 4/5.
_SPELLED = re.compile(
    r"[+\-\u2212~<>$\u20ac\u00a3]?\s*(\d+([,'\u2019\s]\d+)*([.,]\d+)?|\d{1,3}(\.\d{3})+,\d+)"
    r"\s*(/\s*\d+)?\s*[%$\u20ac\u00a3]?"
)
_WORDS = re.compile(r"\w+")
_WORDS_OF_NAME = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+")  # those of FinalLabel are Final, Label
_PADDED = re.compile(r"0*(\d+)(?:\.0+)?")
_EMOJI_STYLE = "\ufe0f"
TOTALS = {"total", "totals", "sum", "sums", "mean", "average", "grand total"}
TOTALS |= {"summe", "gesamt", "gesamtsumme", "gesamtergebnis", "mittelwert", "eindtotaal"}
TOTALS |= {"somme", "moyenne", "total général", "total general", "totale", "totale complessivo"}
"""Usual names of totals, in English and as European versions of Excel write them."""
_STATISTICS = {"agreement", "kappa", "alpha", "median", "std", "sd", "count", "n coded", "n rated"}
_AGREED = {
    *("gold", "goldstandard", "goldlabel", "groundtruth", "truth", "reference", "musterlösung"),
    *("consensus", "konsens", "majority", "mehrheit", "agreed", "adjudicated", "adjudication"),
    *("aggregated", "aggregate", "final", "finallabel", "result", "ergebnis", "decision"),
    *("resolved", "mode", "median", *TOTALS),
}
_PRINTED = re.compile(r"[\[({]|(frozen)?set\(")
_ENOUGH = 3
N_LAST = 50
_MAX_MARKERS = 20
_SHOWN = 5


def warn_similar(what: str, names: Iterable[Any], *, have_case: bool = True) -> None:
    """Warn if names differ only in case, in type, or in characters that are hard to see.

    The case of names that `have_case` is that of the option `case`.
    """
    if not (groups := _alike(sorted_labels(names))):
        return
    folded = ({x.casefold() if isinstance(x, str) else x for x in group} for group in groups)
    is_case = have_case and all(len(names) == 1 for names in folded)
    way = f"use {option('case', 'lower')} if only the case differs, otherwise " * have_case
    warn(
        f"{what} that look alike are kept apart: {_groups(groups)}. If they are one, {way}spell "
        "them in one way.",
        SimilarLabelsWarning,
        **({"case": "lower"} if is_case else {}),
    )


def _alike(names: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return the groups of names that look alike, each in the order of the names."""
    groups: dict[str, list[Any]] = {}
    for name in names:
        groups.setdefault(_appearance(str(name)), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _groups(groups: Sequence[Sequence[object]]) -> str:
    """Return the first groups of names as text: ``'Ann' and 'ann', 1 and '1'``."""
    shown = [" and ".join(map(shorten, group)) for group in groups[:_SHOWN]]
    more = [f"{len(groups) - _SHOWN:,} more"] if len(groups) > _SHOWN else []
    return ", ".join([*shown, *more])


def _appearance(name: str) -> str:
    """Return a name without case, odd spaces and invisible characters; 01 and 1.0 become 1."""
    if not name.isascii():
        plain = unicodedata.normalize("NFKC", name).replace(_EMOJI_STYLE, "")
        name = "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")
    name = " ".join(name.casefold().split())
    padded = _PADDED.fullmatch(name) if name[:1].isdigit() else None
    return padded[1] if padded else name


def warn_merged_names(role: str, keyed: Iterable[tuple[object, object]]) -> None:
    """Warn if names that are read as one, because they have one key, are spelled in two ways."""
    first: dict[object, object] = {}
    pairs = [(first.setdefault(key, name), name) for key, name in keyed]
    if merged := [pair for pair in pairs if pair[0] != pair[1]]:
        are = "are" if len(merged) > 1 else "is"
        warn(
            f"{counted(len(merged), role)} {are} spelled in two ways and read as one: "
            f"{_groups(merged)}.",
            SimilarLabelsWarning,
        )


def warn_spellings(cells: Sequence[object], codes: Codes) -> None:
    """Warn if identifiers are spellings of one number, such as the codes 007 and 7.

    Spellings with one `usual_spelling`, such as 1 and 1.0, do not count. `codes` are the codes of
    the numbers.
    """
    times = np.bincount(codes[codes >= 0], minlength=1)
    spelled: dict[int, dict[str, object]] = {}
    for k in np.flatnonzero((codes >= 0) & (times[codes] > 1)).tolist():
        spelled.setdefault(int(codes[k]), {}).setdefault(usual_spelling(cells[k]), cells[k])
    groups = [tuple(sorted(w.values(), key=repr)) for w in spelled.values() if len(w) > 1]
    if groups:
        are = "are" if len(groups) > 1 else "is"
        warn(
            f"{counted(len(groups), 'number')} {are} spelled in several ways and read as one: "
            f"{_groups(sorted(groups, key=repr))}. If these are codes and not numbers, read them "
            f"as labels ({option('labels')} or {option('kind', 'labels')}), which keep their text.",
            SimilarLabelsWarning,
        )


def warn_separator(cells: Sequence[object], label_sep: LabelSep) -> LabelSep:
    """Warn if all or some cells that are no lists seem to use another separator of labels.

    Return the separator that the warning proposes if no cell has `label_sep`, otherwise that.
    """
    texts = [cell for cell in cells if isinstance(cell, str) and cell.lstrip()[:1] != "["]
    listed, together = separators(label_sep), "".join(texts)
    used = any(one in text for text in texts for one in listed)
    others = [other for other in _SEPARATORS if other not in listed and other in together]
    cells_with = {o: [text for text in texts if o in text and o in text.strip()] for o in others}
    core = listed[0].strip()
    if len(listed) == 1 and core != label_sep and core in {";", "|"}:
        close = [text for text in texts if core in text.replace(listed[0], "")]
        if close:
            warn(
                f"{counted(len(close), 'distinct cell')} with {core!r} that is not {label_sep!r}, "
                f"such as {shorten(close[0])}, read as one label; use "
                f"{option('label_sep', core)}: the spaces around a label do not count.",
                SeparatorWarning,
                label_sep=core,
            )
    mixed = _between_labels(texts, label_sep)
    cells_with |= mixed
    often = {o: x for o, x in cells_with.items() if x and (len(x) * 4 >= len(texts) or o in mixed)}
    if used:
        _warn_others(cells_with, len(texts), label_sep, mixed)
    elif often:
        other, some = next(iter(often.items()))
        proposed = read_sep([other, *(o for o in often if o in mixed)])
        remedy = f"did you mean {option('label_sep', proposed)}?"
        if len(listed) == 1 and len(label_sep) > 1 and {*label_sep} <= {*_SEPARATORS}:
            proposed = read_sep([*label_sep])
            each = f"{label_sep!r} is one separator; if each of its characters is one"
            remedy = f"{each}, use {option('label_sep', proposed)}."
        warn(
            f"No cell contains {_either(label_sep)}, but {_occurrence(some, len(texts), [other])}; "
            f"{remedy}",
            SeparatorWarning,
            label_sep=proposed,
        )
        return proposed
    else:
        return _warn_order(texts, label_sep)
    return label_sep


def _between_labels(texts: Sequence[str], label_sep: LabelSep) -> dict[str, list[str]]:
    """Return the cells in which another usual separator joins labels of other cells."""
    split = splitter(label_sep)
    labels = {part.strip() for text in texts for part in split(text)}
    mixed: dict[str, list[str]] = {}
    for other in (o for o in (";", "|") if not any(o in one for one in separators(label_sep))):
        parts = {x: {part.strip() for part in x.split(other)} for x in labels if other in x}
        joined = {x for x, of_x in parts.items() if of_x <= labels}
        if some := [t for t in texts if joined.intersection(map(str.strip, split(t)))]:
            mixed[other] = some
    return mixed


def _warn_others(
    cells_with: Mapping[str, list[str]], n_texts: int, label_sep: LabelSep, mixed: Collection[str]
) -> None:
    # A comma may be part of a label if another character separates labels.
    known = {",", *"".join(separators(label_sep))}
    odd = [
        o
        for o, some in cells_with.items()
        if o in mixed or (o not in known and len(some) >= _ENOUGH and len(some) * 10 >= n_texts)
    ]
    if odd:
        some = [*dict.fromkeys(text for o in odd for text in cells_with[o])]
        proposed = _with_signs(label_sep, odd)
        warn(
            f"In addition to {_either(label_sep)}, {_occurrence(some, n_texts, odd)}, read as part "
            f"of the labels. If it separates labels too, use {option('label_sep', proposed)}.",
            SeparatorWarning,
            label_sep=proposed,
        )


def _either(label_sep: LabelSep) -> str:
    return " or ".join(map(repr, separators(label_sep)))


def _occurrence(some: Sequence[str], n_texts: int, others: Sequence[str]) -> str:
    cells = f"{counted(len(some), 'distinct cell')} of {n_texts:,}, such as {shorten(some[0])}"
    return f"there is {_either(others)} in {cells}"


def _warn_order(texts: Sequence[str], label_sep: LabelSep) -> LabelSep:
    """Warn if cells differ only in the order of the parts around a usual separator; return it."""
    for other in _OFTEN_INSIDE:
        first: dict[frozenset[str], tuple[str, ...]] = {}
        for text in texts if other not in separators(label_sep) else ():
            parts = tuple(part for part in map(str.strip, text.split(other)) if part)
            if len(parts) > 1 and first.setdefault(frozenset(parts), parts) != parts:
                before = other.join(first[frozenset(parts)])
                remedy = option("label_sep", other)
                warn(
                    f"No cell contains {_either(label_sep)}, but {shorten(before)} and "
                    f"{shorten(text)} differ only in order; did you mean {remedy}?",
                    SeparatorWarning,
                    label_sep=other,
                )
                return other
    return label_sep


def n_cells(rows: npt.NDArray[Any], times: Codes | None) -> int:
    """Return the number of cells that the marked rows represent: one each, or `times`."""
    return int(np.count_nonzero(rows) if times is None else times[rows].sum())


def warn_markers(
    codes: Codes, cells: Sequence[object], *, what: str = "labels", times: Codes | None = None
) -> None:
    """Warn if cells such as ``n/a`` were read as labels or other answers."""
    lines = "\n".join(cell for cell in cells if isinstance(cell, str)).lower().split("\n")
    seen = {*map(str.strip, lines)}
    # None of these words has a line break inside.
    if what == "labels" and not NO_LABEL.isdisjoint(seen):
        n, spelled = _count_words(NO_LABEL, codes, cells, times)
        if n:
            warn(
                f"{counted(n, 'cell')} with {listing(spelled)} read as a label like any other. If "
                f"it means 'no label applies', use {option('empty', spelled)}; if it means 'no "
                f"annotation', use {option('na_values', spelled)}.",
                MissingMarkerWarning,
                **({"empty": spelled} if _NO_ANSWER.isdisjoint(seen) else {}),
            )
    markers = MARKERS - NO_LABEL if what == "labels" else MARKERS
    if markers.isdisjoint(seen):
        return
    n, spelled = _count_words(markers, codes, cells, times)
    if n:
        warn(
            f"{counted(n, 'cell')} that may mean 'missing' read as {what}: "
            f"{listing(spelled, limit=_MAX_MARKERS)}; if they do, use "
            f"{option('na_values', spelled[:_MAX_MARKERS])}.",
            MissingMarkerWarning,
            na_values=spelled[:_MAX_MARKERS],
        )


def _count_words(
    words: set[str], codes: Codes, cells: Sequence[object], times: Codes | None
) -> tuple[int, list[str]]:
    """Return the number of cells that are one of the words, and their spellings."""
    odd = [k for k, c in enumerate(cells) if isinstance(c, str) and c.strip().lower() in words]
    spelled = list(dict.fromkeys(str(cells[k]).strip() for k in odd))
    return n_cells(np.isin(codes, odd), times), spelled


def warn_blanks_as_empty(n: int) -> None:
    """Warn if blanks were read as empty sets although other cells are ``[]``."""
    if n:
        warn(
            f"{counted(n, 'blank cell')} read as the empty set ({option('blank', 'empty')}), "
            "although other cells spell out the empty set, such as []. If a blank means that there "
            f"is no answer, remove these rows or use {option('blank', 'missing')}.",
            BlankLabelsWarning,
        )


def warn_absent(markers: Sequence[object], cells: Sequence[object], name: str) -> None:
    """Warn of markers of option `name` that do not occur, and of cells that have their parts."""
    if not markers:
        return
    message = f"No answer is {listing(markers)}, which {option(name)} lists."
    parts = {tuple(_WORDS.findall(x)): x for x in markers if isinstance(x, str)}
    for cell in cells:
        words = tuple(_WORDS.findall(cell) if isinstance(cell, str) else ())
        if len(words) > 1 and words in parts:
            message += (
                f" The cell {shorten(cell)} has the parts of {parts[words]!r}: if it means "
                f"that, write {parts[words]!r} in it."
            )
            break
    folded = {x.casefold() for x in markers if isinstance(x, str)}
    if cases := [x for x in cells if isinstance(x, str) and x.casefold() in folded]:
        message += f" Capital letters count: there is {shorten(cases[0])}."
    warn(message, MissingMarkerWarning)


def warn_numeric_labels(
    texts: Sequence[str], values: Sequence[LabelSet], scalars: Callable[[], str]
) -> None:
    """Warn if every answer is one number, of which some may have been split at a decimal comma.

    `scalars` returns the option that reads numbers, and `texts` are the cells that are text.
    """
    answers: list[Any] = [text for text in texts if text.strip()]
    if are_split := max(map(len, values), default=0) > 1 and are_decimals(answers):
        answers.sort(key=lambda text: "," not in text)
    else:
        answers = [next(iter(value)) for value in values if len(value) == 1]
        if len(answers) < sum(map(bool, values)) or not all(
            isinstance(label, str) and _NUMBER.fullmatch(label) for label in answers
        ):
            return
    if len(answers) >= _ENOUGH:
        hint = f"; use {way} if they are numbers on a scale" if (way := scalars()) else ""
        read = "one with a comma is read as two labels" if are_split else "is read as a label"
        warn(
            f"every answer is one number, such as {listing(answers[:3])}, and {read}{hint}.",
            MixedScaleWarning,
            **({"kind": "value"} if way == option("kind", "value") else {}),
        )


def warn_mixed_scale(
    is_number: Sequence[bool],
    cleaned: Sequence[object],
    codes: Codes,
    place: Callable[[int], str],
    *,
    times: Codes | None = None,
) -> None:
    """Warn if half of the answers are numbers, or if all look like numbers.

    Otherwise, warn of answers that may mean 'missing'.
    """
    numbers = np.array(is_number, dtype=bool)
    other = np.array([v is not None for v in cleaned], dtype=bool) & ~numbers
    odd = (codes >= 0) & other[codes]
    n_odd = n_cells(odd, times)
    if n_cells((codes >= 0) & numbers[codes], times) >= n_odd:
        first = int(np.flatnonzero(odd)[0])
        warn(
            f"{counted(n_odd, 'answer')} among numbers cannot be read as one ({place(first)}: "
            f"{shorten(cleaned[codes[first]])}), so that all answers are read as categories; "
            f"make them numbers, or make them missing with {option('na_values')}.",
            MixedScaleWarning,
        )
        return
    texts = [value for value, is_other in zip(cleaned, other, strict=True) if is_other]
    if all(isinstance(text, str) and _SPELLED.fullmatch(text) for text in texts):
        warn(
            f"answers such as {listing(texts[:3])} are not numbers as they are spelled, so that "
            "all answers are read as categories; write 1.5, not 1,5, without units and thousands "
            "separators, if they are numbers.",
            MixedScaleWarning,
        )
    warn_markers(codes, cleaned, what="categories", times=times)


def warn_brackets(cells: Sequence[object], label_sep: LabelSep) -> None:
    """Warn if cells are split at a separator in brackets."""
    listed = [one for one in separators(label_sep) if one != "\n"]
    separator = f"({sep_pattern(listed).pattern})"
    within = re.compile(rf"(?<![:;=\-])[(\[][^()\[\]]*{separator}[^()\[\]]*[)\]]")
    texts = [cell for cell in cells if isinstance(cell, str) and ("(" in cell or "[" in cell)]
    # Printed lists and sets, such as set(...) and frozenset(...), are not labels with brackets.
    plain = [text for text in texts if '"' not in text and not _PRINTED.match(text.strip())]
    split = [text for text in plain if within.search(text)] if listed else []
    if split:
        warn(
            f"{counted(len(split), 'distinct cell')} with {' or '.join(map(repr, listed))} in "
            f"brackets, such as {shorten(split[0])}, split there like everywhere; if it is part of "
            "a label, put the label in double quotes, or use another separator.",
            SeparatorWarning,
        )


def is_agreed(rater: object) -> bool:
    """Return whether the name of a column suggests an aggregate of the raters' answers."""
    return any(word.casefold() in _AGREED for word in _WORDS_OF_NAME.findall(str(rater)))


def warn_agreed(raters: Sequence[object]) -> None:
    """Warn if a column of a rater has a name such as "consensus"."""
    agreed = [rater for rater in raters if is_agreed(rater)]
    if agreed and len(raters) - len(agreed) > 1:
        rest = [rater for rater in raters if rater not in agreed]
        warn(
            f"column {shorten(agreed[0])} is read as a rater; if it was derived from the others' "
            f"answers, which raises the agreement, list the raters: {option('raters', rest)}.",
            SetagreeWarning,
            wide=True,
            raters=rest,
        )


def warn_agreed_rows(raters: Iterable[object]) -> None:
    """Warn if rows of raters have names of totals or of aggregates such as "gold"."""
    names = [*dict.fromkeys(raters)]
    agreed = [name for name in names if is_agreed(name) or is_total(name)]
    if agreed and len(names) - len(agreed) > 1:
        called = option("exclude_raters", agreed)
        way = python_or_command(f"study.exclude_raters({agreed!r})", called)
        read = "rows {} are read as raters" if len(agreed) > 1 else "row {} is read as a rater"
        warn(
            f"{read.format(listing(agreed))}; if derived from the others' answers, use {way}.",
            SetagreeWarning,
            **({"exclude_raters": agreed} if way == called else {}),  # not an option of reading
        )


def is_total(unit: object) -> bool:
    """Return whether the name of a unit is one of totals, such as ``Total:``."""
    return str(unit).strip(" :.").casefold() in TOTALS | _STATISTICS


def warn_totals(units: Sequence[object], column: object) -> None:
    """Warn if the last row, or the last one above a blank row, seems to contain totals.

    `column` is the name of the units.
    """
    tail = [*units[-N_LAST:], None]  # notes may follow below a blank row
    rows = zip(tail, tail[1:], tail[2:], strict=False)
    for unit in (x for above, x, below in rows if is_blank(below) and not is_blank(above)):
        if not is_total(unit):
            continue
        which = f"unit {shorten(unit)} is at the end of the table"
        remedy: dict[str, Any] = {}
        if column is not None:  # named, because a column in a condition is not guessed
            remedy = {"unit": column, "where": f'`{column}` != "{unit}"'}
        way = " with " * bool(remedy) + " and ".join(option(*each) for each in remedy.items())
        warn(f"{which}; if it sums up the others, omit it{way}.", SetagreeWarning, **remedy)


_JOINED = re.compile(r"[/+&]")
_ENOUGH_ANSWERS = 100
"""Least number of ratings for warnings of numbers among words and of misspellings."""
_RARE = 0.01
"""Share of the ratings below which a label may be a misspelling."""
_TIMES = 10
"""Least ratio of the frequencies of a label and of its misspelling."""
_LENGTHS = range(5, 81)
"""Lengths of labels that are compared for misspellings; longer ones are sentences."""
_MAX_LABELS = 2_000
"""Largest number of distinct labels that are checked; more are not a codebook."""


def warn_of_odd_labels(values: Sequence[LabelSet], codes: Codes, times: Codes | None) -> None:
    """Warn of numbers among words and of rare misspellings, with their counts.

    Ratings are counted only if a distinct label is odd.
    """
    texts = _label_texts(values)
    numbers = [text for text in texts if _NUMBER.fullmatch(text)]
    numbers = numbers if 2 * len(numbers) < len(texts) else []
    alike = list(_slips(texts))
    rows = codes >= 0
    total = int(np.count_nonzero(rows) if times is None else times[rows].sum())
    if not (numbers or alike) or total < _ENOUGH_ANSWERS:
        return

    n_ratings = _count_labels(values, codes, times)
    if numbers:
        warn(
            f"{_counts(numbers, n_ratings)}: a number among words, read as a label. If it is a "
            f"slip, correct these cells. With {option('codebook')}, labels that are not permitted "
            "raise an error with their place.",
            MixedScaleWarning,
        )
    if alike:
        _warn_misspelt(alike, n_ratings, total)


def _label_texts(values: Iterable[LabelSet]) -> list[str]:
    """Return the labels as text, sorted; none if there are too many to be a codebook."""
    texts = sorted({str(label) for label in frozenset().union(*values)})
    return texts if len(texts) <= _MAX_LABELS else []


def _count_labels(
    values: Sequence[LabelSet], codes: Codes, times: Codes | None
) -> Mapping[str, int]:
    """Return the number of ratings with each label."""
    rows, n_ratings = codes >= 0, Counter[str]()
    counts = np.bincount(codes[rows], None if times is None else times[rows], len(values))
    for value, n in zip(values, counts.tolist(), strict=True):
        n_ratings.update(dict.fromkeys(map(str, value), round(n)))
    return n_ratings


def warn_joined(
    values: Sequence[LabelSet],
    codes: Codes,
    label_sep: LabelSep,
    times: Codes | None = None,
    split_at: Callable[[LabelSep], Collection[Label]] | None = None,
) -> None:
    """Warn of labels whose parts are labels as well, with their counts.

    `split_at` returns the labels that further separators split, as they do not split labels in
    quotes or in lists; by default they split all.
    """
    texts = _label_texts(values)
    signs = _JOINED if label_sep == "," else _other_signs(label_sep)
    joined = [x for x in texts if signs.search(x) and _parts(x, signs) <= {*texts}]
    if joined and split_at is not None:
        divided = split_at(_with_signs(label_sep, signs.findall("".join(joined))))
        joined = [x for x in joined if x in divided]
    is_used = max(map(len, values), default=0) > 1
    # For labels that differ only in the order of their parts, warn_separator has warned.
    is_told = not is_used and len({frozenset(_parts(x, signs)) for x in joined}) < len(joined)
    if not joined or is_told:
        return

    joining = [*dict.fromkeys(sign for text in joined for sign in signs.findall(text))]
    parts = sorted(set().union(*(_parts(x, signs) for x in joined)))
    proposed = _with_signs(label_sep if is_used else [], joining)
    n_ratings = _count_labels(values, codes, times)
    warn(
        f"{_counts(joined, n_ratings)}: read as one label, although the parts {listing(parts)} "
        f"are labels as well. If {_either(joining)} separates labels, use "
        f"{option('label_sep', proposed)}.",
        SeparatorWarning,
        label_sep=proposed,
    )


def _other_signs(label_sep: LabelSep) -> re.Pattern[str]:
    """Return the pattern of signs that may join labels although they are not separators."""
    listed = separators(label_sep)
    signs = [x for x in "/+&" if x not in listed] + [","] * ("," not in "".join(listed))
    return re.compile("|".join(map(re.escape, signs)) or "(?!)")


def _with_signs(label_sep: LabelSep, signs: Sequence[str]) -> LabelSep:
    """Return the separators without those that contain one of the signs, and the signs."""
    others = [x for x in separators(label_sep) if not any(sign in x for sign in signs)]
    return read_sep([*others, *signs])


def _warn_misspelt(
    alike: Sequence[tuple[str, str]], n_ratings: Mapping[str, int], total: int
) -> None:
    """Warn of rare labels that are one slip from a frequent one, as `_slips` defines it."""
    pairs = []
    for pair in alike:
        (n, rare), (n_more, usual) = sorted((n_ratings[label], label) for label in pair)
        if n < _RARE * total and n_more >= _TIMES * n:
            pairs.append(f"{shorten(rare)} ({n:,} of {counted(total, 'rating')}) and "
                         f"{shorten(usual)} ({n_more:,})")  # fmt: skip
    if pairs:
        warn(
            "labels that differ in one character, or in the order of two, are kept apart: "
            f"{_few(pairs, '; ')}. If the rare one is a misspelling, correct these cells. "
            f"With {option('codebook')}, labels that are not permitted raise an error with their "
            "place.",
            SimilarLabelsWarning,
        )


def _parts(text: str, signs: re.Pattern[str]) -> set[str]:
    """Return the texts between the signs that may join labels; the text itself if one is blank."""
    parts = {part.strip() for part in signs.split(text)}
    return {text, ""} if "" in parts else parts


def _slips(words: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of words that differ by one insertion, substitution or transposition.

    Words with one letter deleted are looked up, so that not all pairs are compared. Numbered
    labels, such as class1 and class2, are not misspellings of one another.
    """
    shorter: dict[tuple[int, str], str] = {}
    distinct, seen = {*words}, set()
    for word in sorted(words):
        for k in range(len(word) if len(word) in _LENGTHS else 0):
            rest = word[:k] + word[k + 1 :]
            exchanged = word[:k] + word[k + 1 : k + 2] + word[k] + word[k + 2 :]
            others = [shorter.setdefault((k, rest), word), rest, exchanged]
            for other in others:
                pair = (min(word, other), max(word, other))
                if other != word and other in distinct and pair not in seen and _letters(*pair):
                    seen.add(pair)
                    yield pair


def _letters(one: str, other: str) -> bool:
    """Return whether two words differ in a letter, apart from case, digits, signs and spaces."""
    plain = [re.sub(r"[\W\d_]", "", word).casefold() for word in (one, other)]
    return plain[0] != plain[1]


def _counts(texts: Sequence[str], n_ratings: Mapping[str, int]) -> str:
    """Return labels with the numbers of their ratings."""
    shown = [f"{shorten(text)} ({counted(n_ratings[text], 'rating')})" for text in texts]
    return f"label{'s' if len(texts) > 1 else ''} {_few(shown, ', ')}"


def _few(texts: Sequence[str], sep: str) -> str:
    """Return the first texts, and the number of the others."""
    rest = f" and {len(texts) - _SHOWN:,} more" if len(texts) > _SHOWN else ""
    return f"{sep.join(texts[:_SHOWN])}{rest}"


_PIECE = re.compile(r"(?s:(.*)):(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")


def warn_pieces(units: npt.NDArray[Any]) -> None:
    """Warn if units are pieces of documents, such as ``doc1:0-40``, which count once each.

    Each piece must start at 0 or where another one ends, as in a study of spans.
    """
    if _PIECE.fullmatch(str(units[0])) is None:
        return
    pieces = [match.groups() for unit in units if (match := _PIECE.fullmatch(str(unit)))]
    ends = {(document, float(end)) for document, _, end in pieces}
    if len(units) == len(pieces) > 1 and all(
        (document, float(start)) in ends or float(start) == 0 for document, start, _ in pieces
    ):
        warn(
            f"units such as {shorten(units[0])} appear to be pieces of documents in a study of "
            f"labelled spans, and count once each; to count them by length, read the spans "
            f"themselves with {as_spans()}.",
            SetagreeWarning,
        )


def as_spans() -> str:
    """Return the option of `read` or of the command that reads labelled spans."""
    return python_or_command(option("spans", value=True), "--spans auto")

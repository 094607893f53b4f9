"""Roles of the columns of a table, guessed from names and contents."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import compress, islice, pairwise, repeat
from typing import Any, Literal, TypeAlias

import numpy as np

from setagree.errors import (
    DataError,
    OptionError,
    did_you_mean,
    enumerated,
    listing,
    option,
    python_or_command,
)
from setagree.lazy import pd
from setagree.study.answer_warnings import is_agreed, is_total, warn_agreed
from setagree.study.codes import distinct_cells
from setagree.study.frames import columns_listed
from setagree.study.labels import is_blank, is_missing
from setagree.study.numbers import are_decimals, as_number
from setagree.study.reading import QUEUED, Reading
from setagree.wording.label_sets import LabelSep, sep_pattern

Role: TypeAlias = Literal["unit", "rater", "labels", "value"]

# Usual names by role, the surest first: a line counts only if no earlier line has a match.
# Names are compared without case, accents, spaces and punctuation.
_USUAL: dict[Role, str] = {
    "unit": """
        unit units
        item doc document task example subject sample case image question instance record post
          tweet sentence utterance message paragraph passage video clip audio abstract
          article patient segment span snippet hit file filename stimulus trial entry photo picture
          page pair review dialogue conversation turn frame scene excerpt ticket essay
          einheit dokument fall satz beitrag aufgabe phrase exemple unite unidad documento frase
        id uid key index nr
        text texte texto content quotation""",
    "rater": """
        rater raters
        annotator coder worker user judge labeler labeller reviewer assessor evaluator expert
          annotatedby labeledby labelledby codedby ratedby createdby completedby reviewedby
          participant turker crowdworker grader scorer observer examiner reader respondent
          radiologist physician clinician linguist who by person username useremail emailaddress
          email emailadresse adresseemail kodierer kodiererin codierer codiererin bewerter
          codeur codeuse annotateur annotatrice codificador codificadora anotador anotadora""",
    "labels": """
        labels
        label labelset tag tags category categories code codes annotation annotations answer
          answers class classes emotion emotions choice choices response responses topic topics
          theme themes intent intents sentiment judgment judgement diagnosis diagnoses kategorie
          kategorien emotionen thema themen kodierung codierung antwort antworten categorie
          etiquette etiquettes reponse reponses etiqueta etiquetas categoria categorias emocion
          emociones tema temas respuesta respuestas""",
    "value": """
        value values
        score scores rating ratings grade severity rank level stars wert bewertung valor""",
}
_ANSWERS: tuple[Role, ...] = ("labels", "value")
_LINES = re.compile(r"\n {8}(?! )")
# Endings of identifiers of units and raters, as in "doc_id"; an annotation_id is not an annotation.
_SUFFIX = re.compile(r"(?<=.)(?:uid|id|name|key|number|no|nr|nummer|ref|emailaddress|email|mail)$")
# Usual columns of surveys that are not answers.
_NOT_ANSWERS = {
    *("timestamp", "date", "time", "starttime", "endtime", "startdate", "enddate", "duration"),
    *("completiontime", "submittedat", "submitdate", "createdat", "updatedat", "score", "status"),
    *("comment", "comments", "note", "notes", "remark", "remarks", "progress", "language"),
    *("id", "responseid", "token", "ipaddress", "zeitstempel", "horodateur", "marcatemporal"),
}
QUESTIONS = {"question", "aspect", "criterion", "dimension", "attribute", "control"}
"""Usual names of a column with the question that a row answers."""

_FLAGS = {"0", "1", "0.0", "1.0", ""}
MARKS = {"x", "X", "\u2713", ""}
"""Marks of chosen labels, and the blank of the others."""
TRUTH_VALUES = {"true": True, "false": False}
"""Texts of flags in the files of R and of spreadsheets, in lower case."""

_UNNAMED = "column1"
_MAX_NAMES = 1000
"""Largest number of columns that are searched for a misspelt name."""


@dataclass(frozen=True)
class Columns:
    """Columns of a long table by role; one of `labels` and `value` is None."""

    unit: str
    rater: str
    labels: str | None = None
    value: str | None = None


def guess_columns(
    names: Iterable[str],
    *,
    unit: str | None = None,
    rater: str | None = None,
    labels: str | None = None,
    value: str | None = None,
) -> Columns:
    """Return the columns of a long table: those that are passed, and the others by usual names.

    Labels take precedence over single values.
    """
    roles: dict[Role, str | None] = {"unit": unit, "rater": rater, "labels": labels, "value": value}
    listed = list(names)
    passed = {role: name for role, name in roles.items() if name is not None}
    _check_named(listed, passed)
    free = [name for name in listed if name not in passed.values()]
    missing: list[Role] = [role for role in ("unit", "rater") if role not in passed]
    if "labels" not in passed and "value" not in passed:
        is_value = has_answers(free) and not any(_candidates("labels", free))
        missing.append("value" if is_value else "labels")
    return Columns(**(passed | _guesses(missing, free, listed)))


def has_answers(names: Sequence[str]) -> bool:
    """Return whether a column has a usual name for answers."""
    return any(any(_candidates(role, names)) for role in _ANSWERS)


def with_columns(reading: Reading, names: Iterable[str]) -> Reading:
    """Return the reading of a long table with all its columns, guessed by `guess_columns`."""
    columns, flags, listed = reading.columns, reading.labels, list(names)
    further = [name for name in reading.further_columns if name not in columns.values()]
    names = [name for name in listed if name not in further]
    is_usual = len(names) == 3 and {*names} == {"unit", "rater", "labels"}
    if is_usual and all(name is None for name in columns.values()):
        return replace(reading, unit="unit", rater="rater", labels="labels")  # skip the guessing
    if isinstance(flags, list):
        # The first flag column represents the answers; the others are not candidates.
        names = [name for name in names if name not in flags[1:]]
        columns["labels"] = next(iter(flags), None)
    try:
        guess = guess_columns(names, **columns)
    except DataError as error:
        with suppress(DataError):
            both = vars(guess_columns(listed, **columns)).items()
            used = [(role, name) for role, name in both if name in further]
            hints = (
                f" Column {name!r} is that of {reading.option_of(name)}; if it is the {role}, too, "
                f"use {option(role, name)}."
                for role, name in used
            )
            error = DataError(f"{error}{''.join(hints)}")
        raise error from None
    labels = flags if isinstance(flags, list) else guess.labels
    value = None if isinstance(flags, list) else guess.value
    return replace(reading, unit=guess.unit, rater=guess.rater, labels=labels, value=value)


def check_role(reading: Reading, names: Iterable[str], column: str, spelled: str) -> None:
    """Raise `OptionError` if the column of an option already has a role.

    `spelled` is the option with its value, for the message.
    """
    try:
        used = with_columns(reading, names).columns
    except DataError:  # reading the study raises it again
        used = reading.columns
    for role, name in used.items():
        if column == name or (isinstance(name, list) and column in name):
            raise OptionError(
                f"{spelled}: this column is already used as the {role}; name another."
            )


def usual_roles(names: Iterable[str]) -> dict[Role, str]:
    """Return the columns whose usual names are unambiguous, by role.

    Answers are included only together with a unit and a rater: labels, otherwise single values.
    """
    listed, columns = list(names), dict[Role, str]()
    for role in ("unit", "rater"):
        with suppress(DataError):
            columns |= _guesses([role], listed, listed)
    if len(columns) == 2:
        with suppress(DataError):
            guess = guess_columns(listed, unit=columns["unit"], rater=columns["rater"])
            answer: Role = "value" if guess.labels is None else "labels"
            columns[answer] = str(getattr(guess, answer))
    return columns


def guess_wide_unit(frame: pd.DataFrame) -> str | None:
    """Return the column of a wide table that identifies the unit, or None.

    This is the first column with a usual name. Without one, it is the first column whose cells are
    distinct and occur in no other column, if the other columns have cells in common.
    """
    tiers = _candidates("unit", list(frame.columns))
    if usual := next((tier for tier in tiers if tier), None):
        return usual[0]
    first = frame.columns[0] if len(frame.columns) else None
    if (
        first is not None
        and plain_name(first) == _UNNAMED
        and len(_distinct(frame[first])) == len(frame)
    ):
        return str(first)
    return _identifying(frame)


def flag_columns(frame: pd.DataFrame, reading: Reading) -> list[str]:
    """Return the columns of 0, 1 and blanks of a table with a unit, a rater and nothing else."""
    roles = usual_roles(map(str, frame)) | {r: n for r, n in reading.columns.items() if n}
    names = [*frame, *roles.values()]
    is_table = roles.keys() == {"unit", "rater"} and reading.kind is None
    if not (is_table and all(isinstance(name, str) for name in names)):
        return []
    used = _used(roles.values(), reading)
    flags = _flags(frame, used)
    return flags if used.issuperset({*frame} - {*flags}) else []


def check_flags(frame: pd.DataFrame, reading: Reading) -> None:
    """Raise `DataError` for columns of flags beside a unit, a rater and other columns.

    If several columns have a usual name of raters, that which differs within each unit is meant.
    """
    if reading.kind is not None or not all(isinstance(name, str) for name in frame):
        return
    names = [*map(str, frame)]
    roles = usual_roles(names) | {r: n for r, n in reading.columns.items() if n}
    if "unit" in roles and "rater" not in roles:
        usual = [name for tier in _candidates("rater", names) for name in tier]
        text = frame.astype(str)  # cells may be lists
        usual = [name for name in usual if not text.duplicated([roles["unit"], name]).any()]
        if len(usual) == 1:
            roles["rater"] = usual[0]
    if roles.keys() != {"unit", "rater"} or not {*roles.values()} <= {*names}:
        return
    if len(_distinct(frame[roles["unit"]])) == len(frame):  # rather a wide table
        return
    flags = _flags(frame, _used(roles.values(), reading))
    if len(flags) > 1:
        remedy: dict[str, Any] = {**roles, "labels": flags}
        options = [option(*each) for each in remedy.items()]
        raise DataError(
            f"Columns {listing(flags)} have only 0 and 1, TRUE and FALSE, or x and blanks. If "
            f"they are flags of labels, use {enumerated(options)}."
        ).having(remedy=remedy)


def _used(columns: Iterable[str], reading: Reading) -> set[str | None]:
    """Return columns with a role together with those of options, which are no flags."""
    tested = reading.condition.columns if reading.condition else ()
    return {*columns, *reading.further_columns, *tested, reading.filename_column, QUEUED}


def _flags(frame: pd.DataFrame, used: Collection[str | None]) -> list[str]:
    """Return the columns of flags, or of x and blanks, that have no other use."""
    names = [str(name) for name in frame if name not in used]
    cells = ((name, distinct_texts(frame[name]) - {""}) for name in names)
    return [n for n, x in cells if x and (x <= _FLAGS or x <= MARKS or are_truth_values(x))]


def are_truth_values(texts: Iterable[str]) -> bool:
    """Return whether all texts are TRUE or FALSE, in any case."""
    return {text.lower() for text in texts} <= TRUTH_VALUES.keys()


def distinct_texts(column: pd.Series[Any]) -> set[str]:
    """Return the distinct cells as text, without space around them."""
    return {str(cell).strip() for cell in _distinct(column)}


def free_columns(frame: pd.DataFrame, reading: Reading) -> tuple[list[Any], list[Any]]:
    """Return the columns that may have units: those with a usual name, surest first, and others."""
    used = _used(reading.columns.values(), reading)
    free: list[Any] = [n for n in frame if not (n in used or is_missing(n))]
    usual = [name for tier in _candidates("unit", free) for name in tier]
    return usual, [n for n in free if n not in usual and plain_name(n) not in _NOT_ANSWERS]


def guess_people(
    names: Iterable[str], *, rater: str | None = None, units: str | None = None
) -> tuple[str, list[str]]:
    """Return the column of the raters and those of the units of a table with one row per rater.

    `units` is a pattern of the columns of answers, such as ``"Text *"``. Default: all columns that
    do not have a usual name of a time, a comment or a rater.
    """
    listed = list(names)
    if rater is None:
        rater = _guesses(["rater"], listed, listed)["rater"]
    _check_named(listed, {"rater": rater})
    rest = [name for name in listed if name != rater]
    if units is not None:
        chosen = [name for name in rest if name == units or fnmatchcase(name, units)]
    else:
        raters = {name for tier in _candidates("rater", rest) for name in tier}
        chosen = [n for n in rest if n not in raters and plain_name(n) not in _NOT_ANSWERS]
    if not chosen:
        match = "has the name of a unit" if units is None else f"matches {option('unit', units)}"
        raise DataError(f"No column {match}; the columns are {listing(listed, limit=12)}.")
    return rater, chosen


_NO_NAME = re.compile(r"\s*|column \d+|Unnamed: \d+")


def check_one_header(frame: pd.DataFrame) -> None:
    """Raise an error if a row of names of questions has one of their options below it.

    Such a table has a column per option, of which only the first has a name, and each cell is blank
    or that option.
    """
    names = [str(name) for name in frame]
    is_unnamed = [bool(_NO_NAME.fullmatch(name)) for name in names]
    firsts = [k for k, pair in enumerate(pairwise(is_unnamed)) if pair == (False, True)]
    columns = (frame.iloc[:, place].dropna() for k in firsts for place in (k, k + 1))
    texts = [distinct_texts(column) - {""} for column in columns]
    pairs = [*zip(texts[::2], texts[1::2], strict=True)]
    # The last column of a table may be followed by empty ones.
    if max(map(len, texts), default=0) == 1 and any(a and b and a != b for a, b in pairs):
        raise DataError(
            f"column {names[firsts[0]]!r} is followed by columns without names, and each has at "
            "most one text, like the options of a question in a second row of names. Join the "
            "columns of each question into one by hand, with its chosen options in one cell "
            "(joy, fear), and keep one row of names."
        )


def check_one_row_per_unit(frame: pd.DataFrame, unit: str) -> None:
    """Raise an error if a table that is read as wide has the names and the units of a long one."""
    usual = usual_roles(str(name) for name in frame)
    answer = usual.get("labels", usual.get("value"))
    if answer is not None and len(_distinct(frame[unit])) < len(frame):
        names = [usual["rater"], answer]
        raise DataError(
            f"column {unit!r} has units in several rows, and {listing(names)} are usual names of "
            f"the rater and the answer in a table with one row per rating: omit "
            f"{option('wide', value=True)}. If they are two raters, use {option('raters', names)}."
        )


def with_missing_ids(frame: pd.DataFrame, names: Iterable[str | None]) -> pd.DataFrame:
    """Return a table in which identifiers of blank text are missing."""
    for name in {*names} & {*frame}:
        cells = _distinct(frame[name])
        if blank := [cell for cell in cells if isinstance(cell, str) and not cell.strip()]:
            frame = frame.assign(**{str(name): frame[name].mask(frame[name].isin(blank))})
    return frame


def _guesses(roles: Sequence[Role], free: Sequence[str], names: Sequence[str]) -> dict[Role, str]:
    """Return the column of each role, or raise one error for all roles without a single match."""
    # The columns with the surest usual name of each role.
    matches = {
        role: _with_identifier(next((tier for tier in _candidates(role, free) if tier), []))
        for role in roles
    }
    if "rater" in matches.get("rater", ()):  # beside "raters", such as those whom a queue asks
        matches["rater"] = ["rater"]
    if all(len(columns) == 1 for columns in matches.values()):
        return {role: columns[0] for role, columns in matches.items()}
    sentences = [
        f"Columns {listing(columns)} could each be the {role}; name one with "
        f"{option(role, '...')}." + (questions_hint(columns) if role == "unit" else "")
        for role, columns in matches.items()
        if len(columns) > 1
    ]
    if absent := [role for role, columns in matches.items() if not columns]:
        which = [f"the {role}" for role in absent]
        options = enumerated([option(role, "...") for role in absent])
        options += f" ({option('value', '...')} for numbers)" * ("labels" in absent)
        wide = (
            ""
            if not names or len(free) < len(names) or any(_candidates("rater", free))
            else f" If each rater has a column, use {option('wide', value=True)}."
        )
        sentences.append(
            f"No column has a usual name for {enumerated(which, 'or')}; name the column with "
            f"{options}. The {columns_listed(names)}."
            f"{''.join(_nearly(role, free) for role in absent)}{wide}"
        )
    raise DataError(" ".join(sentences))


def questions_hint(names: Iterable[object]) -> str:
    """Return a sentence on how to read a column of questions, or "" if no name suggests one."""
    name = next((str(name) for name in names if plain_name(name) in QUESTIONS), None)
    if name is None:
        return ""
    way = python_or_command(f"by_question(data, {name!r})", f"setagree score --questions {name}")
    return f" If {name!r} has the question that a row answers, use {way}."


def _nearly(role: Role, free: Sequence[str]) -> str:
    words, free = _USUAL[role].split(), free[:_MAX_NAMES]
    # A usual name of another role is not a misspelt name of this one.
    others = {
        name
        for other in _USUAL
        if other != role
        for tier in _candidates(other, free)
        for name in tier
    }
    near = [
        name
        for name in free
        if name not in others and get_close_matches(plain_name(name), words, cutoff=0.8)
    ]
    # Several near names, such as coder1 and coder2, are columns of another layout.
    return f" Did you mean {near[0]!r} for the {role}?" if len(near) == 1 else ""


def _check_named(names: Sequence[Any], named: Mapping[Role, Any]) -> None:
    """Raise an error if named columns are absent, or if one has two roles."""
    present = {*names}
    absent = {
        role: name
        for role, name in named.items()
        if not isinstance(name, Hashable) or name not in present
    }
    if absent:
        which = enumerated([f"{name!r} for the {role}" for role, name in absent.items()], "or")
        listed = [part.strip() for part in str(absent.get("labels", "")).split(",")]
        if len(listed) > 1 and present.issuperset(listed):
            hints = f" For columns of flags, use {option('labels', listed)}."
        else:
            hints = "".join(did_you_mean(name, names) for name in absent.values())
        raise DataError(f"There is no column {which}; the {columns_listed(names)}.{hints}")
    check_roles([*named.items()])


def check_roles(named: Sequence[tuple[Role, Any]]) -> None:
    """Raise an error for a column that has two roles."""
    hashable = [(role, name) for role, name in named if isinstance(name, Hashable)]
    roles: dict[Any, set[Role]] = {}
    for role, name in hashable:
        roles.setdefault(name, set()).add(role)
    if clashing := [option(role, name) for role, name in hashable if len(roles[name]) > 1]:
        raise DataError(f"One column cannot have two roles: {', '.join(clashing)}.")


def _candidates(role: Role, names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the columns with a usual name of a role, the surest names first."""
    spelled, usual = _stem if role in {"unit", "rater"} else plain_name, set(_USUAL[role].split())
    spellings = ((name, {plain_name(name), spelled(name)}) for name in names)
    matches = [(name, words) for name, words in spellings if not usual.isdisjoint(words)]
    for line in _LINES.split(_USUAL[role])[1:]:
        yield [name for name, words in matches if not words.isdisjoint(line.split())]


def _with_identifier(names: Sequence[str]) -> list[str]:
    """Return the columns that end in ``id`` if all names differ only in such an ending."""
    if len({_stem(name) for name in names}) != 1:
        return list(names)
    return [name for name in names if plain_name(name).endswith("id")] or list(names)


@lru_cache(maxsize=2**17)  # called with each name for each role
def plain_name(name: object) -> str:
    """Return a name without case, accents, spaces and punctuation."""
    text = unicodedata.normalize("NFKD", str(name)).casefold()
    return "".join(letter for letter in text if letter.isalnum())


def _stem(name: object) -> str:
    return _SUFFIX.sub("", plain_name(name))


def has_rater_ids(name: object) -> bool:
    """Return whether a column has a usual name of identifiers of raters, such as annotator_id."""
    return plain_name(name) != _stem(name) and _stem(name) in _USUAL["rater"].split()


def _identifying(frame: pd.DataFrame) -> str | None:
    """Return the first column whose cells are distinct and occur in no other column, or None.

    Two neighbouring columns, without the returned one, must have a cell in common.
    """
    names = list(frame)
    cells = [_distinct(frame[name]) for name in names]
    if all("" in column for column in cells):
        rows = zip(*(frame[name] for name in names), strict=True)
        filled_rows = [row for row in rows if not all(map(is_blank, row))]
        if len(filled_rows) < len(frame):
            return _identifying(pd.DataFrame(filled_rows, columns=names))
    times = Counter(cell for column in cells for cell in column)
    filled = [column - {""} for column in cells]
    alike = any(not a.isdisjoint(b) for a, b in pairwise(filled))
    for k, name in enumerate(names):
        column = cells[k]
        if len(column) < len(frame) or "" in column or any(times[cell] > 1 for cell in column):
            continue
        around = filled[max(k - 1, 0) : k + 2 : 2] if k else []  # neighbours without column k
        if alike or (len(around) == 2 and not around[0].isdisjoint(around[1])):
            return str(name)
    return None


def _distinct(column: pd.Series[Any]) -> set[Hashable]:
    """Return the distinct cells, with lists as text."""
    return {c if isinstance(c, Hashable) else repr(c) for c in distinct_cells(column)[1]}


def note_guessed(reading: Reading, complete: Reading, note: Callable[[str], None]) -> None:
    """Report the columns of a long table that were guessed."""
    named = reading.columns
    guessed = [
        f"{role} = {name}"
        for role, name in complete.columns.items()
        if name is not None and named[role] is None
    ]
    if guessed:
        note(f"Columns guessed: {', '.join(guessed)}")


_MAX_ROWS = 1000
_NO_WORDS = re.compile(r"[\s\[\](){}'\"]+")


def detect_wide_layout(
    frame: pd.DataFrame, reading: Reading
) -> tuple[str | None, list[str]] | None:
    """Return the unit and the raters of a table whose contents are wide, otherwise None.

    In a wide table no column has a usual name of a rater or of answers, and each column except that
    of the unit has labels in common with another. The unit is None if each row is a unit. If
    some columns have no labels in common, such as one of e-mail addresses, an error names them.
    """
    named = [name for role, name in reading.columns.items() if role != "unit" and name is not None]
    usual = usual_roles(str(name) for name in frame)
    rater = usual.get("rater")
    is_long = bool(named) or reading.kind is not None or bool({*_ANSWERS} & {*usual})
    is_long |= rater is None and any(map(has_rater_ids, frame))
    if is_long or not all(isinstance(name, str) for name in frame):
        return None
    unit = reading.unit or guess_wide_unit(frame)
    raters = [str(name) for name in frame if name != unit]
    if (unit is not None and unit not in frame) or len(raters) < 2:
        return None
    # A column of e-mail addresses in a table with one row per unit may be that of a contact.
    is_contact = "mail" in plain_name(rater) and "unit" in usual
    if rater and not (is_contact and len(_distinct(frame[unit])) == len(frame)):
        return None
    label_sep = reading.syntax.label_sep
    units = repeat(None) if unit is None else frame[unit]
    kept = [not is_total(name) for name in islice(units, _MAX_ROWS)]  # totals are not answers
    words = {x: answer_parts(compress(frame[x], kept), label_sep) for x in raters}
    times = Counter(word for column in words.values() for word in column)
    alike = [x for x in raters if x != rater and any(times[word] > 1 for word in words[x])]
    if len(alike) < 2:
        return None
    others = [name for name in raters if name not in alike]
    if unit is None and (others or usual):
        return None
    n_people = len(_distinct(frame[rater])) if rater else 0
    if n_people == len(frame):
        raise DataError(
            f"column {rater!r} seems to have another rater in each row. If each row is a rater "
            f"and each other column a unit, use {option('raters_in_rows', value=True)}; if each "
            f"rater has a column, use {option('wide', value=True)} and {option('raters', '...')}."
        ).having(remedy={"raters_in_rows": True})
    if others:
        have = "has" if len(others) == 1 else "have"
        # A consensus is no rater.
        people = [name for name in alike if not is_agreed(name)] or alike
        families = answer_families([words[name] for name in people])
        groups = [[people[k] for k in family] for family in families]
        lists = " or ".join(option("raters", group) for group in groups)
        remedy: dict[str, Any] = {"wide": True, "raters": groups[0]}
        remedy |= {} if reading.unit else {"unit": unit}
        raise DataError(
            f"Columns {listing(alike)} have answers in common, as raters have, and "
            f"{listing(others)} {have} none. If each rater has a column, use "
            f"{option('wide', value=True)} and {lists}; if each row is one annotation, use "
            f"{option('unit', '...')}, {option('rater', '...')} and {option('labels', '...')}."
        ).having(remedy={} if 2 * n_people > len(frame) else remedy)
    are_flags = {*times} <= {"0", "1", "0.0", "1.0"}  # rather of labels than of raters
    if all(as_number(word) is not None for word in times) and (are_flags or unit is not None):
        cells = (x for name in alike for x in distinct_cells(frame[name])[1] if not is_blank(x))
        kind = {"kind": "value"} if are_decimals([*map(str, cells)]) else {}
        raise DataError(
            f"Columns {listing(alike)} have only numbers, so that each may be a rater or a label. "
            f"If each rater has a column, use {option('wide', value=True)}, with "
            f"{option('kind', 'value')} for values on a scale; if each label has one, name the "
            "columns of the unit, the rater and the labels."
        ).having(remedy={} if are_flags else {"wide": True} | kind)
    warn_agreed(raters)
    return unit, raters


def answer_families(parts: Sequence[set[str]]) -> list[list[int]]:
    """Return groups of column positions; columns of different groups have no common answer."""
    families: list[tuple[set[str], list[int]]] = []
    for k, of_column in enumerate(parts):
        joined = [family for family in families if not family[0].isdisjoint(of_column)]
        answers = of_column.union(*(family[0] for family in joined))
        places = [place for family in joined for place in family[1]]
        families = [family for family in families if family not in joined]
        families += [(answers, [*places, k])] if of_column else []
    return sorted(sorted(places) for _, places in families)


def answer_parts(cells: Iterable[Any], label_sep: LabelSep = ",") -> set[str]:
    """Return approximate labels of cells: their parts between usual separators, numbers as one."""
    lists = (list, tuple, set, frozenset, np.ndarray)
    present = (cell for cell in cells if not (is_missing(cell) or isinstance(cell, dict)))
    texts = (",".join(map(str, x)) if isinstance(x, lists) else str(x) for x in present)
    separators = re.compile(rf"[,;|\n]|{sep_pattern(label_sep).pattern}")
    pieces = {piece for text in texts for piece in separators.split(text)}
    parts = {_NO_WORDS.sub(" ", piece).strip().casefold() for piece in pieces} - {""}
    return {x if (number := as_number(x)) is None else str(number) for x in parts}

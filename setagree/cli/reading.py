"""Studies from the files and options of the command."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

import pandas as pd

import setagree as sa
from setagree.checks import expanded
from setagree.cli.inputs import two_columns
from setagree.cli.options import Reading
from setagree.cli.show import say
from setagree.errors import (
    DataError,
    FileError,
    OptionError,
    SetagreeError,
    SetagreeWarning,
    counted,
    did_you_mean,
    listing,
    shorten,
)
from setagree.files.streams import Source, readable
from setagree.files.tables import read_table
from setagree.large.joining import model_files, with_models
from setagree.large.opening import Study, open_study, open_table
from setagree.progress import stages
from setagree.study.assembly import code_ids
from setagree.study.attributes import marked_models, models_sentences, set_apart
from setagree.study.columns import check_role, with_columns
from setagree.study.identifiers import find_names, tidied
from setagree.study.labels import listed_labels
from setagree.study.reading import Plan
from setagree.study.reading import Reading as HowRead
from setagree.study.row_filter import counting_rows
from setagree.wording.label_sets import Label

_HINT = (
    "write a=90,b=40 for strata, 5000 for a whole population, or name a file with the columns "
    "stratum and size"
)
_COLUMNS = "stratum", "size"


def with_population(study: sa.Annotations, reading: Reading) -> sa.Annotations:
    """Return the study with the sizes of --population-size, if any are given.

    A number is the whole population; ``a=90,b=40`` gives each stratum; so does a file with the
    columns stratum and size, which may hold a comma in a name.
    """
    given = reading.population_size
    if not given:
        return study
    listed = [part.strip() for text in given for part in text.split(",") if part.strip()]
    if len(listed) == 1 and _number(listed[0]) is not None:
        return study.sampled(population_size=_number(listed[0]))
    pairs = _of_file(given[0], reading) if len(given) == 1 and _is_file(given[0]) else None
    pairs = _of_text(listed) if pairs is None else pairs
    if reading.strata is None:
        raise OptionError(
            "--population-size by stratum needs --strata, the column that names them."
        )
    known = {str(one): one for one in study.units_frame[reading.strata]}
    sizes: dict[Any, float] = {}
    for name, size in pairs:
        if name not in known:
            hint = did_you_mean(name, known) or f" The strata are {listing(list(known))}."
            raise DataError(
                f"--population-size names the stratum {shorten(name)}, of which no unit "
                f"was drawn.{hint}"
            )
        if known[name] in sizes:
            raise DataError(f"--population-size gives stratum {shorten(name)} twice.")
        sizes[known[name]] = size
    return study.sampled(population_size=sizes)


def _is_file(text: str) -> bool:
    return expanded(text).is_file() or (bool(Path(text).suffix) and "=" not in text)


def _of_text(listed: Sequence[str]) -> list[tuple[str, float]]:
    pairs = []
    for part in listed:
        name, sign, text = part.rpartition("=")
        size = _number(text)
        if not sign or size is None:
            raise OptionError(f"--population-size {part!r} is no size: {_HINT}.")
        pairs.append((tidied(name), size))
    return pairs


def _of_file(path: str, reading: Reading) -> list[tuple[str, float]]:
    try:
        frame = read_table(path, encoding=reading.encoding)
        pairs = []
        for name, size in two_columns(frame, *_COLUMNS, lambda cell: tidied(str(cell))):
            number = _number(size)
            if number is None:
                raise DataError(
                    f"stratum {shorten(name)} has size {shorten(size)}; write a number."
                )
            pairs.append((name, number))
    except SetagreeError as error:
        raise type(error)(f"--population-size {path}: {error}") from error
    return pairs


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None


Note: TypeAlias = Callable[[str], None]

_OPTIONS = {each.name for each in fields(HowRead)}


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table that has been read, how it is read, and how errors count the rows."""

    table: pd.DataFrame
    how: HowRead
    counted: str


def read_study(
    files: Sequence[str],
    reading: Reading,
    *,
    of_units: Sequence[str] = (),
    of_raters: Sequence[str] = (),
    models: Sequence[str] | None = None,
) -> sa.Annotations:
    """Return the study of files; print which columns were guessed, or which format was seen.

    `of_units` are columns with one value per unit, `of_raters` with one per rater. `models` are the
    models of an export whose answers are read. If it is None, models count as raters, and a line
    names them.
    """
    plan = Plan(in_memory=True)
    beside: dict[str, Any] = {"of_units": of_units, "of_raters": of_raters, "models": models}
    study = cast("sa.Annotations", read_or_reduce(files, reading, plan, note=say, **beside))
    if models is None:
        for sentence in models_sentences(study):
            say(sentence)
    return study


def read_or_reduce(
    files: Sequence[str],
    reading: Reading,
    plan: Plan,
    *,
    note: Note,
    of_units: Sequence[str] = (),
    of_raters: Sequence[str] = (),
    models: Sequence[str] | None = None,
    rows: Rows | None = None,
) -> Study:
    """Return the study of files, or of rows read from them; a tally if the plan reduces files."""
    which = ", ".join(Path(file).name for file in files)
    with stages(f"reading {which}"):
        if rows is None:
            how = replace(how_read(reading), unit_columns=[*of_units] or None)
            how = replace(how, rater_columns=[*of_raters] or None)
            asked = [*(models or ())]
            how = replace(how, predictions=how.predictions or asked or False)
            study = open_study(files, how, plan, note=note)
        else:
            with counting_rows(rows.counted):
                study = open_study(rows.table, rows.how, note=note)
    if isinstance(study, sa.Tally):
        if reading.population_size:
            raise OptionError("--population-size is for files that are read into memory.")
        return study
    _say_repeats(study.n_repeated, reading, note)
    if apart := getattr(reading, "model", None):
        study = set_apart(study, rater_names(study, apart))
    if reading.exclude_raters is None:
        return with_population(study, reading)
    rest = study.exclude_raters(rater_names(study, reading.exclude_raters))
    n_units = study.n_units - rest.n_units
    units = f" and {counted(n_units, 'unit')} that nobody else rated" if n_units else ""
    ratings = counted(study.n_ratings - rest.n_ratings, "rating")
    note(f"Left out: {ratings}{units} (--exclude-raters).")
    return with_population(rest, reading)


def _say_repeats(n: int, reading: Reading, note: Note, whose: str = "") -> None:
    """Print the number of settled repeated ratings, if any."""
    if n:
        known = {"union": "united with others", "repeats": "kept apart"}
        done = known.get(reading.duplicates, "dropped")
        repeats = counted(n, "repeated rating")
        note(f"{whose}{repeats} {done} (--duplicates {reading.duplicates}).")


def read_with_models(
    files: Sequence[str],
    reading: Reading,
    models: Sequence[str] | None,
    *,
    facets: Sequence[str] = (),
    all_units: bool = False,
) -> tuple[sa.Annotations, list[Any]]:
    """Return the study of files with the answers of models, and what these are called in it.

    A model is a rater of the study, or failing that a file with its answers. Default: those that
    the study marks as models. `facets` are columns of raters: of the models' files where there are
    some, else of the study's. `all_units` keeps the units of models that nobody in the study rated.
    """
    in_files = model_files(models)
    inside = [one for one in models or () if one not in in_files]
    study = read_study(files, reading, of_raters=() if in_files else facets, models=inside)
    if models is None:
        models = marked_models(study)
        for sentence in [] if models else models_sentences(study):
            say(sentence)
    asked, columns = rater_names(study, models), [*facets] or None
    joined, called = with_models(study, asked, note=say, rater_columns=columns, all_units=all_units)
    _say_repeats(joined.n_repeated - study.n_repeated, reading, say, "Models: ")
    return joined, called


def rater_names(study: sa.Annotations, given: Sequence[str] | None) -> list[Any]:
    """Return the raters that are named, one a time or with commas between them."""
    known = dict.fromkeys([*study.raters.tolist(), *study.missing_by_rater])
    return find_names(given or (), known)


def how_read(reading: Reading) -> HowRead:
    """Return how a file is read, in the words of the library."""
    if reading.kind and not (reading.wide or reading.raters_in_rows):
        raise OptionError("--kind makes sense only with --wide.")
    na_values = None if reading.na_values is None else names(reading.na_values)
    if na_values == []:
        raise OptionError("--na-values must list answers; for blank cells, use --blank.")
    if reading.config and reading.codebook and reading.value is not None:
        say(f"{reading.config}: not used: codebook, as single values have none.")
        reading = replace(reading, codebook=None)
    label_sep = reading.label_sep and unescaped(reading.label_sep)
    given = {name: value for name, value in vars(reading).items() if name in _OPTIONS}
    return HowRead(
        **{
            **given,
            "model": None,  # which is set apart once the study is read
            "label_sep": label_sep,
            "na_values": na_values,
            "empty": None if reading.empty is None else names(reading.empty),
            "codebook": read_codebook(reading.codebook, label_sep or ",", reading.encoding),
            "delimiter": reading.delimiter and unescaped(reading.delimiter),
            "tool": reading.tool or "auto",
            "spans": True if given.get("spans") == "auto" else given.get("spans"),
        }
    )


def long_table(
    files: Sequence[str],
    reading: Reading,
    *,
    besides: str,
    option: str,
    is_first: bool = False,
) -> tuple[pd.DataFrame, HowRead, list[Any]]:
    """Return a long table that has a column besides, how it is read, and who does not count.

    `option` is the option that names the column. Warnings are ignored unless `is_first`, because
    the files have been read before.
    """
    if reading.wide or reading.raters_in_rows:
        layout = "--wide" if reading.wide else "--raters-in-rows"
        raise OptionError(f"{option} makes sense only without {layout}.")
    if not is_first and list(files) == ["-"]:
        raise OptionError(f"{option} reads the data twice, and standard input once; save a file.")
    with warnings.catch_warnings():
        if not is_first:
            warnings.simplefilter("ignore", SetagreeWarning)
        how = how_read(reading)
        frame = open_table(files[0] if len(files) == 1 else files, how)
    if how.tool != "table":  # an export has become a table
        how = replace(how, tool="auto", question=None, roster=None)
    listed = [str(name) for name in frame]
    check_role(how, listed, besides, f"{option} {besides!r}")
    how = with_columns(how, [name for name in listed if name != besides])
    if reading.exclude_raters is None:
        return frame, how, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)  # all said when the study was read
        known = code_ids(frame[how.rater], "rater")[1]
    return frame, how, find_names(reading.exclude_raters, known)


def names(given: Sequence[str] | None) -> list[str]:
    """Return the names of a repeated option, each of which may hold several."""
    return [name.strip() for names in given or () for name in names.split(",") if name.strip()]


def read_codebook(
    text: str | None, label_sep: str, encoding: str
) -> list[Label] | dict[Label, Label] | None:
    """Return the labels of a file, or of the text itself: split at commas or `label_sep`.

    ``joyful=joy`` is another spelling of ``joy``, if that is listed.
    """
    if text is None:
        return None
    looks_like_a_file = Path(text).suffix or os.sep in text
    is_list = "," in text or label_sep in text
    # Path's is_file raises where the text is long.
    if looks_like_a_file and (not is_list or os.path.isfile(expanded(text))):  # noqa: PTH113
        lines = _lines(expanded(text), encoding)
    else:
        lines = [text]
        commas = "," in text and (label_sep not in text or not label_sep.strip())
        label_sep = "," if commas else label_sep
    # In the order in which they stand: rows of flags are about the first label, the second, ...
    listed = dict.fromkeys(label for line in lines for label in listed_labels(line, label_sep))
    labels: dict[Label, Label] = {}
    for one in listed:
        spelling, _, label = one.rpartition("=")
        is_alias = bool(spelling.strip()) and label.strip() in listed
        labels |= {spelling.strip(): label.strip()} if is_alias else {one: one}
    return labels if any(one != label for one, label in labels.items()) else [*labels]


def _lines(path: Path, encoding: str) -> list[str]:
    try:
        with readable(Source(path)):
            text = path.read_bytes()
    except FileError as error:
        raise FileError(f"--codebook: {error}") from error
    try:
        return text.decode(encoding).lstrip("\ufeff").splitlines()
    except (ValueError, LookupError) as error:
        raise FileError(f"The codebook {str(path)!r} cannot be read: {error}.") from error


def unescaped(text: str) -> str:
    """Return the tab or the newline that an option spells with a backslash."""
    return {r"\t": "\t", r"\n": "\n"}.get(text, text)

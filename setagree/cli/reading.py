"""Studies from the files and options of the command."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import setagree as sa
from setagree.checks import expanded
from setagree.cli.inputs import numbers_by_name
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
    spelling,
)
from setagree.files.streams import Source, readable
from setagree.large.joining import model_files, with_models
from setagree.large.opening import Study, open_study, open_table
from setagree.lazy import pd
from setagree.progress import stages
from setagree.study.assembly import code_ids
from setagree.study.attributes import marked_models, models_sentences, set_apart
from setagree.study.columns import check_role, with_columns
from setagree.study.identifiers import find_names, tidied
from setagree.study.labels import listed_labels
from setagree.study.reading import Plan
from setagree.study.reading import Reading as LibraryReading
from setagree.wording.label_sets import Label

# ---- The sizes of the population ----------------------------------------------------------------

_SIZES = (
    "use a=90,b=40 for strata, 5000 for a whole population, or a file with the columns stratum and "
    "size"
)


def with_population(study: sa.Annotations, reading: Reading) -> sa.Annotations:
    """Return the study with the sizes of --population-size, if any are passed.

    A number is the size of the whole population; ``a=90,b=40`` are those of the strata, as are the
    rows of a file with the columns stratum and size, in which a name may have a comma.
    """
    texts = reading.population_size
    if not texts:
        return study
    listed = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if len(listed) == 1 and (size := _number(listed[0])) is not None:
        return study.sampled(population_size=size)
    is_file = len(texts) == 1 and (
        expanded(texts[0]).is_file() or (bool(Path(texts[0]).suffix) and "=" not in texts[0])
    )
    pairs = _sizes_of_file(texts[0], reading) if is_file else [*map(_size_of_text, listed)]
    if reading.strata is None:
        raise OptionError("--population-size of strata requires --strata, the column of strata.")
    strata = {str(one): one for one in study.units_frame[reading.strata]}
    sizes: dict[Any, float] = {}
    for name, size in pairs:
        if name not in strata:
            hint = did_you_mean(name, strata) or f" The strata are {listing(list(strata))}."
            raise DataError(
                f"--population-size has the stratum {shorten(name)}, of which the study has no "
                f"unit.{hint}"
            )
        if strata[name] in sizes:
            raise DataError(f"--population-size has stratum {shorten(name)} twice; remove one.")
        sizes[strata[name]] = size
    return study.sampled(population_size=sizes)


def _size_of_text(part: str) -> tuple[str, float]:
    name, sign, text = part.rpartition("=")
    size = _number(text)
    if not sign or size is None:
        raise OptionError(f"--population-size {part!r} is not a size: {_SIZES}.")
    return tidied(name), size


def _sizes_of_file(path: str, reading: Reading) -> list[tuple[str, float]]:
    columns = (path, reading.encoding, "stratum", "size")
    try:
        return [*numbers_by_name(*columns, lambda cell: tidied(str(cell))).items()]
    except SetagreeError as error:
        raise error.worded(f"--population-size {path}: {error}") from None


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None


# ---- Studies ------------------------------------------------------------------------------------

Note: TypeAlias = Callable[[str], None]

_OPTIONS = {each.name for each in fields(LibraryReading)}


Rows: TypeAlias = tuple[pd.DataFrame, LibraryReading]
"""Rows of a table that has been read, and how they are read."""


def read_study(
    files: Sequence[str],
    reading: Reading,
    *,
    of_units: Sequence[str] = (),
    of_raters: Sequence[str] = (),
    models: Sequence[str] | None = None,
) -> sa.Annotations:
    """Return the study of files; print the detected columns or format.

    `of_units` are columns with one value per unit, `of_raters` with one per rater. `models` are the
    models of an export whose answers are read. If it is None, models count as raters, and a line
    names them.
    """
    columns: dict[str, Any] = {"of_units": of_units, "of_raters": of_raters, "models": models}
    study = read_or_reduce(files, reading, Plan(in_memory=True), note=say, **columns)
    assert isinstance(study, sa.Annotations)  # noqa: S101 - the plan reads into memory
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
    called = {"rater_columns": "--facets" if of_raters else "--role"}
    with spelling(called), stages(f"reading {', '.join(Path(file).name for file in files)}"):
        if rows is None:
            how = how_read(reading)
            how = replace(
                how,
                unit_columns=[*of_units] or None,
                rater_columns=[*dict.fromkeys([*of_raters, *(how.rater_columns or ())])] or None,
                predictions=how.predictions or [*(models or ())] or False,
            )
            study = open_study(files, how, plan, note=note)
        else:
            study = open_study(*rows, note=note)
    if isinstance(study, sa.Tally):
        if reading.population_size:
            raise OptionError("--population-size is for files that are read into memory.")
        return study
    _print_repeats(study.n_repeated, reading, note)
    if apart := getattr(reading, "model", None):
        study = set_apart(study, rater_names(study, apart))
    if reading.exclude_raters is None:
        return with_population(study, reading)
    rest = study.exclude_raters(rater_names(study, reading.exclude_raters))
    n_units = study.n_units - rest.n_units
    units = f" and {counted(n_units, 'unit')} that no other rater rated" if n_units else ""
    ratings = counted(study.n_ratings - rest.n_ratings, "rating")
    note(f"Left out: {ratings}{units} (--exclude-raters).")
    return with_population(rest, reading)


def _print_repeats(n: int, reading: Reading, note: Note, whose: str = "") -> None:
    """Print the number of repeated ratings and what was done with them, if there are any."""
    if n:
        done = {"union": "united with others", "repeats": "kept apart"}
        repeats = f"{counted(n, 'repeated rating')} {done.get(reading.duplicates, 'dropped')}"
        note(f"{whose}{repeats} (--duplicates {reading.duplicates}).")


def read_with_models(
    files: Sequence[str],
    reading: Reading,
    models: Sequence[str] | None,
    *,
    facets: Sequence[str] = (),
    all_units: bool = False,
) -> tuple[sa.Annotations, list[Any]]:
    """Return the study of files with the answers of models, and the names of these in it.

    A model is a rater of the study, or failing that a file with its answers. Default: those that
    the study marks as models. `facets` are columns of raters, of the models' files if there are
    any, else of the study. With `all_units`, units that only a model rated are kept.
    """
    in_files = model_files(models)
    inside = [one for one in models or () if one not in in_files]
    study = read_study(files, reading, of_raters=() if in_files else facets, models=inside)
    if models is None and not marked_models(study):
        for sentence in models_sentences(study):
            say(sentence)
    joined, model_names = with_models(
        study,
        None if models is None else rater_names(study, models),
        note=say,
        rater_columns=[*facets] or None,
        all_units=all_units,
    )
    _print_repeats(joined.n_repeated - study.n_repeated, reading, say, "Models: ")
    return joined, model_names


def rater_names(study: sa.Annotations, texts: Sequence[str] | None) -> list[Any]:
    """Return the named raters of a study; a text may name several, separated by commas."""
    raters = dict.fromkeys([*study.raters.tolist(), *study.missing_by_rater])
    return find_names(texts or (), raters)


def how_read(reading: Reading) -> LibraryReading:
    """Return the command's reading options as those of the library."""
    if reading.kind and not (reading.wide or reading.raters_in_rows):
        raise OptionError("--kind makes sense only with --wide or --raters-in-rows.")
    na_values = None if reading.na_values is None else names(reading.na_values)
    if na_values == []:
        raise OptionError("--na-values must list answers; for blank cells, use --blank.")
    codebook = reading.codebook
    if reading.config and codebook and reading.value is not None:
        say(f"{reading.config}: codebook ignored, because single values have none.")
        codebook = None
    label_sep = reading.label_sep and written_seps(reading)
    labels: Sequence[str | None] = reading.labels or [None]
    values = {name: value for name, value in vars(reading).items() if name in _OPTIONS}
    return LibraryReading(
        **{
            **values,
            "model": None,  # set apart by the caller
            "rater_columns": reading.role and [reading.role],
            "labels": [*labels] if len(labels) > 1 else labels[0],
            "label_sep": label_sep,
            "na_values": na_values,
            "empty": None if reading.empty is None else names(reading.empty),
            "codebook": read_codebook(codebook, written_seps(reading)[0], reading.encoding),
            "delimiter": reading.delimiter and _unescaped(reading.delimiter),
            "tool": reading.tool or "auto",
            "spans": True if values.get("spans") == "auto" else values.get("spans"),
        }
    )


@contextmanager
def quiet(*kept: tuple[str, type[SetagreeWarning]]) -> Iterator[None]:
    """Ignore warnings, except those `kept`: reading the study has issued them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetagreeWarning)
        for message, category in kept:
            warnings.filterwarnings("always", message, category)
        yield


def long_table(
    files: Sequence[str], reading: Reading, *, besides: str, option: str, is_first: bool = False
) -> tuple[pd.DataFrame, LibraryReading, list[Any]]:
    """Return a long table with a further column, how it is read, and the raters to leave out.

    `option` names the column `besides`. Warnings are ignored unless `is_first`, because the files
    have been read before.
    """
    if reading.wide or reading.raters_in_rows:
        layout = "--wide" if reading.wide else "--raters-in-rows"
        raise OptionError(f"{option} makes sense only without {layout}.")
    if not is_first and list(files) == ["-"]:
        raise OptionError(
            f"{option} reads the data twice, which standard input does not allow; save a file."
        )
    with warnings.catch_warnings() if is_first else quiet():
        table, how = open_table(files[0] if len(files) == 1 else files, how_read(reading))
    if how.tool != "table":  # the table of an export
        how = replace(how, tool="auto", question=None, roster=None)
    columns = [str(name) for name in table]
    check_role(how, columns, besides, f"{option} {besides!r}")
    how = with_columns(how, [name for name in columns if name != besides])
    if reading.exclude_raters is None:
        return table, how, []
    with quiet():
        raters = code_ids(table[how.rater], "rater")[1]
    return table, how, find_names(reading.exclude_raters, raters)


def names(texts: Iterable[str] | None) -> list[str]:
    """Return the names in a repeated option, whose values may list several."""
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


def read_codebook(
    text: str | None, label_sep: str, encoding: str
) -> list[Label] | dict[Label, Label] | None:
    """Return the labels in a file, or in the text itself, split at commas or `label_sep`.

    ``joyful=joy`` is another spelling of ``joy``, if that is listed.
    """
    if text is None:
        return None
    looks_like_a_file = Path(text).suffix or os.sep in text
    is_list = "," in text or label_sep in text
    # Path.is_file raises if the text is long.
    if looks_like_a_file and (not is_list or os.path.isfile(expanded(text))):  # noqa: PTH113
        lines = _lines(expanded(text), encoding)
    else:
        lines = [text]
        commas = "," in text and (label_sep not in text or not label_sep.strip())
        label_sep = "," if commas else label_sep
    # The order matters: rows of flags are about the first label, the second, ...
    rows = [row for line in lines if (row := listed_labels(line, label_sep))]
    if len(rows) > 1 and min(map(len, rows)) > 1:  # a table of codes and labels, or of spellings
        raise FileError(
            f"The codebook {text!r} has several labels in each line: write one label per line, and "
            "another spelling of it as joyful=joy."
        )
    listed = dict.fromkeys(chain(*rows))
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


def written_seps(reading: Reading) -> list[str]:
    """Return the separators of labels in a table that is written, which has the first of them."""
    return [*map(_unescaped, reading.label_sep or [","])]


def _unescaped(text: str) -> str:
    """Return the tab or the newline that an option spells with a backslash."""
    return {r"\t": "\t", r"\n": "\n"}.get(text, text)

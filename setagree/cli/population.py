"""How large the population is, or each of its strata, as the command line says it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import setagree as sa
from setagree.checks import expanded
from setagree.cli.inputs import two_columns
from setagree.cli.options import Reading
from setagree.errors import DataError, OptionError, SetagreeError, did_you_mean, listing, shorten
from setagree.files.tables import read_table
from setagree.study.identifiers import tidied

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

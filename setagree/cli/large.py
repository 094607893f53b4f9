"""From a file to its coefficients: read into memory, or reduced in DuckDB where it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import setagree as sa
from setagree.cli.label_files import wished
from setagree.cli.options import Asked, Large, Reading
from setagree.cli.reading import Note, Rows, read_or_reduce
from setagree.cli.show import say
from setagree.errors import OptionError
from setagree.scoring.coefficients import get_coefficient
from setagree.scoring.scorer import main_distance
from setagree.study.reading import Plan


def scored(
    files: Sequence[str],
    reading: Reading,
    *,
    large: Large,
    asked: Asked,
    note: Note = say,
    rows: Rows | None = None,
    **default: Any,
) -> sa.AgreementTable:
    """Return the results of a file, which is reduced in DuckDB if asked for or very large.

    If some of its rows have been read, they are scored in its place. A command with a default
    coefficient is about one estimate, with its main distance.
    """
    wanted = default | wished(asked, reading)
    in_memory = reading.exclude_raters is not None
    if large.asked and in_memory:
        raise OptionError(
            f"--exclude-raters is for files that are read into memory; drop it, or {large.asked}."
        )
    named = wanted.get("coefficient", [])
    several = [named] if isinstance(named, str) else named
    keep_raters = any(get_coefficient(one).needs_raters for one in several)
    if large.asked and large.memory_limit is None:
        note(f"The file is reduced in DuckDB, because of {large.asked}.")
    plan = Plan(
        **vars(large), keep_raters=keep_raters, in_memory=in_memory or reading.duplicates != "error"
    )
    study = read_or_reduce(files, reading, plan, note=note, rows=rows)
    if default.get("coefficient") and study.kind == "number":
        wanted = {"distance": main_distance(study)} | wanted
    return sa.agreement(study, **wanted)


def check_where_large(large: Large, given: Mapping[str, bool]) -> None:
    """Raise an error for options that need to know who gave what to which unit."""
    for option, is_given in given.items():
        if large.asked and is_given:
            raise OptionError(
                f"{option} needs the file in memory, as a reduced one does not tell units and "
                f"raters apart; drop it, or {large.asked}."
            )

"""From a file to its coefficients: read into memory, or reduced in DuckDB where it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import setagree as sa
from setagree.cli.options import Asked, Large, Reading
from setagree.cli.output import say
from setagree.cli.reading import Note, cell_options, export_seen, names, read_study
from setagree.errors import OptionError
from setagree.files.columns import guess_columns


def table_of(study: sa.Annotations, asked: Asked, **default: Any) -> sa.AgreementTable:
    """Return the coefficients and distances that are asked for; where none is, the default."""
    return sa.agreement(study, **_wished(asked, default))


def scored(
    file: str, reading: Reading, *, large: Large, asked: Asked, note: Note = say, **default: Any
) -> sa.AgreementTable:
    """Return the table of a file, which is reduced in DuckDB where asked for or very large."""
    if not large.asked and not _is_large(file, reading):
        return table_of(read_study(file, reading, note=note), asked, **default)
    wished = _wished(asked, default)
    if large.asked:
        _check_reading(file, reading, large)
    else:
        note(f"{file!r} is over 1 GiB and is reduced in DuckDB.")
    columns = _columns(file, reading, note)
    cells = cell_options(reading)
    return sa.agreement(
        file, **columns, **cells, encoding=reading.encoding, **wished, **vars(large)
    )


def refuse_where_large(large: Large, given: Mapping[str, bool]) -> None:
    """Refuse options that need to know who gave what to which unit."""
    for option, is_given in given.items():
        if large.asked and is_given:
            raise OptionError(
                f"{option} needs the file in memory, as a reduced one does not tell units and "
                f"raters apart; drop it, or {large.asked}."
            )


def _wished(asked: Asked, default: Mapping[str, Any]) -> dict[str, Any]:
    given = {"coefficient": names(asked.coefficient), "distance": names(asked.distance)}
    return {**default, **{name: named for name, named in given.items() if named}}


_LONG_ONLY = (
    *("wide", "raters", "kind", "people_in_rows", "question", "roster", "without", "delimiter"),
)


def _in_memory_only(reading: Reading) -> list[str]:
    """Return the options that only the readers of tables in memory have."""
    given = [reading.option(name) for name in _LONG_ONLY if getattr(reading, name)]
    given += [f"--from {reading.source}"] * (reading.source not in {None, "table"})
    return given + [f"--duplicates {reading.duplicates}"] * (reading.duplicates != "error")


def _check_reading(file: str, reading: Reading, large: Large) -> None:
    """Refuse what is not done in an engine: all but long tables as they are."""
    if given := _in_memory_only(reading):
        raise OptionError(
            f"{given[0]} is for files that are read into memory; drop it, or {large.asked}."
        )
    if (found := export_seen(file, reading)) is not None:
        raise OptionError(
            f"{file!r} is read as {found.title}, into memory; drop {large.asked}, or say --from "
            "table if it is none."
        )


def _is_large(file: str, reading: Reading) -> bool:
    """Say whether a file is reduced unasked: a long table of over a GiB, as in the library."""
    if _in_memory_only(reading) or find_spec("duckdb") is None:
        return False
    from setagree.large import files

    if files.n_bytes(file, encoding=reading.encoding) <= files.LARGE:
        return False
    return export_seen(file, reading) is None and (
        files.find_files(file, encoding=reading.encoding) is not None
    )


def _columns(file: str, reading: Reading, note: Note) -> dict[str, Any]:
    """Return the columns by role; note which were guessed."""
    from setagree.large.files import find_files  # the engine's readers

    roles = {role: getattr(reading, role) for role in ("unit", "rater", "labels", "value")}
    found = find_files(file, encoding=reading.encoding)
    if found is None:
        return roles
    columns = guess_columns(found.names, **roles)
    if columns.guessed:
        note(f"Columns guessed: {columns}")
    return {role: getattr(columns, role) for role in roles}

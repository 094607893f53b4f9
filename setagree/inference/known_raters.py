"""What needs to know who gave what: a study in memory, not a tally of counts."""

from __future__ import annotations

from dataclasses import replace

from setagree.errors import DataError
from setagree.large.opening import Data, open_study
from setagree.scoring.results import Agreement
from setagree.study.annotations import Annotations
from setagree.study.reading import Reading
from setagree.study.sampling import warn_ignored


def known_raters(study: Data, what: str, reading: Reading | None = None) -> Annotations:
    """Return the study, of which it must be known who gave what.

    Raises
    ------
    DataError
        It is a tally, or nothing that can be opened as a study.
    """
    found = open_study(study, reading)
    return _known(
        found if isinstance(found, Annotations) else None,
        f"{what} needs to know",
        "tally of counts",
    )


def known_study(agreement: Agreement, what_must_know: str) -> Annotations:
    """Return the study that an agreement is of; the same is an error where it is a tally."""
    return _known(agreement.study, what_must_know, "tally")


def _known(study: Annotations | None, what_must_know: str, other: str) -> Annotations:
    if study is not None:
        return study
    raise DataError(
        f"{what_must_know} who gave what to which unit; a {other} does not: build "
        "the study in memory with Annotations.from_long."
    )


def known_plain(study: Data, what: str) -> Annotations:
    """Return the same as units that were drawn one by one, with a warning if they were not."""
    return plain_units(known_raters(study, what), what)


def plain_units(study: Annotations, what: str) -> Annotations:
    """Return a study as units that were drawn one by one; warn if they were drawn otherwise."""
    warn_ignored(study.sampling, what)
    return study if study.sampling is None else replace(study, sampling=None)

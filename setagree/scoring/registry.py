"""Names of coefficients, and whatever a user may pass as one."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TypeAlias

from setagree.errors import OptionError, did_you_mean, listing, option
from setagree.scoring.coefficients import COEFFICIENTS
from setagree.scoring.definition import Coefficient

_SHORT = {short: one for one in COEFFICIENTS.values() for short in one.short_names}

_GROUP = "setagree.coefficients"  # of entry points
CoefficientLike: TypeAlias = "str | Coefficient[...]"


def get_coefficient(asked: CoefficientLike) -> Coefficient[...]:
    """Return the coefficient of that name, or the coefficient that was passed.

    A name may be short (``"alpha"``, ``"fleiss"``, ``"ac1"``), or one that an installed package
    offers through the entry-point group ``setagree.coefficients``.

    Raises
    ------
    OptionError
        The name is unknown.
    """
    if isinstance(asked, Coefficient):
        return asked
    if not isinstance(asked, str):
        raise OptionError(
            f"{option('coefficient', asked, limit=80)} is neither the name of a coefficient nor "
            "one made by the decorator setagree.coefficient."
        )
    found = COEFFICIENTS.get(asked) or _SHORT.get(asked.lower())
    return found or _from_entry_points(asked)


def coefficient_names() -> list[str]:
    """Return the names and short names of the coefficients; those of packages are not loaded."""
    return [*COEFFICIENTS, *_SHORT, *sorted(entry.name for entry in entry_points(group=_GROUP))]


def known_coefficients() -> dict[str, Coefficient[...]]:
    """Return the coefficients by name: those of this package, then those of installed ones."""
    theirs = sorted({entry.name for entry in entry_points(group=_GROUP)} - COEFFICIENTS.keys())
    return COEFFICIENTS | {name: _from_entry_points(name) for name in theirs}


def _from_entry_points(name: str) -> Coefficient[...]:
    """Return the coefficient that another package offers under a name."""
    for entry in entry_points(group=_GROUP, name=name):
        found = entry.load()
        if isinstance(found, Coefficient):
            return found
        raise OptionError(f"the entry point {entry.value!r} of {name!r} is not a coefficient.")
    several = [one for one in COEFFICIENTS if name.lower() in one.split("_")]
    if len(several) > 1:
        raise OptionError(f"coefficient {name!r} may be {listing(several)}; name one of them.")
    hint = did_you_mean(name, COEFFICIENTS) or f" Known: {', '.join(COEFFICIENTS)}."
    raise OptionError(f"coefficient {name!r} is unknown.{hint}")

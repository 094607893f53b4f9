"""What people call a coefficient and a distance."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from setagree.distances import distance_names, get_distance
from setagree.scoring.coefficients import COEFFICIENTS
from setagree.scoring.definition import Coefficient
from setagree.wording.escaping import visible
from setagree.wording.text import cut, short_text
from setagree.wording.words import LONGEST_NAME


def coefficient_name(coefficient: Coefficient[...], distances: Sequence[str]) -> str:
    """Return what papers call a coefficient: Gwet's AC of equal or not is AC1, else it is AC2."""
    nominal = coefficient.nominal_title
    return nominal if nominal and set(distances) == {"nominal"} else coefficient.title


def distance_name(distance: str) -> str:
    """Return what papers call a distance."""
    ours = get_distance(distance).title if distance in distance_names() else None
    return own_name(ours or distance)


def own_name(distance: str) -> str:
    """Return what a user calls a distance."""
    return visible(cut(distance, LONGEST_NAME))


def measure_name(coefficient: object, distance: object) -> str:
    """Return ``Krippendorff's alpha, the MASI distance`` as the text of a picture.

    What is no name of ours stays as it is.
    """
    named = picture_name(coefficient, distance)
    return f"{named}, the {short_text(distance_name(str(distance)))} distance"


def picture_name(coefficient: object, distance: object) -> str:
    """Return what papers call a coefficient, given by name, as the text of a picture."""
    known = COEFFICIENTS.get(str(coefficient))
    name = coefficient if known is None else coefficient_name(known, [str(distance)])
    return short_text(name)


def measured(frame: pd.DataFrame) -> str:
    """Return what a frame says was computed, else nothing."""
    if not len(frame) or not {"coefficient", "distance"} <= set(frame.columns):
        return ""
    return measure_name(frame["coefficient"].iloc[0], frame["distance"].iloc[0])

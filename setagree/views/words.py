"""How results are worded: names, numbers, and text that a user wrote."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd

from setagree.escaping import JOINERS, visible
from setagree.labels import display_labels
from setagree.views import style

LONGEST_NAME = 60
"""Characters after which a label, unit or rater is cut where it is shown."""

LONGEST_TITLE = 400
"""Characters after which it is cut even where there is room for all of it."""

COEFFICIENT_NAMES = {
    "krippendorff_alpha": "Krippendorff's alpha",
    "fleiss_kappa": "Fleiss' kappa",
    "conger_kappa": "Conger's kappa",
    "cohen_kappa": "Cohen's kappa",
    "scott_pi": "Scott's pi",
    "gwet_ac": "Gwet's AC",
    "brennan_prediger": "Brennan-Prediger",
    "percent_agreement": "Percent agreement",
    "mv_alpha": "mv-alpha",
}

_SHORT_NAMES = {
    "krippendorff_alpha": "alpha",
    "fleiss_kappa": "kappa",
    "conger_kappa": "kappa",
    "cohen_kappa": "kappa",
    "scott_pi": "pi",
    "gwet_ac": "AC",
    "brennan_prediger": "the coefficient",
    "percent_agreement": "agreement",
    "mv_alpha": "mv-alpha",
}

DISTANCE_NAMES = {
    "masi": "MASI",
    "masi_nltk": "MASI as in NLTK before 3.10",
    "masi_dkpro": "MASI as in DKPro",
    "passonneau_2004": "Passonneau's distance of 2004",
    "jaccard": "Jaccard",
    "dice": "Dice",
    "ochiai": "Ochiai",
    "hamming": "Hamming",
}


@dataclass(frozen=True)
class Name:
    """Text that a user wrote: a label, a set of labels, a unit, a rater, a group.

    It may hold anything, so that who shows it must cut and escape it.
    """

    text: str

    @classmethod
    def of(cls, thing: object) -> Name:
        """Return the name of a label, unit, rater or group, or of a set of labels."""
        if isinstance(thing, frozenset):
            return cls(visible(display_labels(thing)))
        return cls(visible(str(thing)))

    @property
    def short(self) -> str:
        """The text, cut to what fits a table."""
        return cut(self.text, LONGEST_NAME)

    @property
    def title(self) -> str:
        """The text, cut to what a person may want to read."""
        return cut(self.text, LONGEST_TITLE)


Words: TypeAlias = "str | Name"
Sentence: TypeAlias = tuple[Words, ...]
"""Pieces that follow one another; what a user wrote is marked as a `Name`."""


def capitalised(piece: Words) -> Words:
    """Return the beginning of a sentence with a capital letter, if it is ours."""
    return piece[:1].upper() + piece[1:] if isinstance(piece, str) else piece


def cut(text: str, longest: int) -> str:
    """Return the beginning of a text, with an ellipsis where something is left out."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip(JOINERS)}…"


def coefficient_name(coefficient: str, distances: Sequence[str]) -> str:
    """Return what papers call a coefficient: Gwet's AC of equal or not is AC1, else it is AC2."""
    if coefficient == "gwet_ac":
        return "Gwet's AC1" if set(distances) == {"nominal"} else "Gwet's AC2"
    return COEFFICIENT_NAMES[coefficient]


def short_name(coefficient: str) -> str:
    """Return the word that stands for a coefficient once it is introduced."""
    return _SHORT_NAMES[coefficient]


def distance_name(distance: str) -> str:
    """Return what papers call a distance."""
    return own_name(DISTANCE_NAMES.get(distance, distance))


def own_name(distance: str) -> str:
    """Return what a user calls a distance."""
    return visible(cut(distance, LONGEST_NAME))


def measure_name(coefficient: object, distance: object) -> str:
    """Return ``Krippendorff's alpha, the MASI distance`` as the text of a picture.

    What is no name of ours stays as it is.
    """
    named = picture_name(coefficient, distance)
    return f"{named}, the {style.short_text(distance_name(str(distance)))} distance"


def picture_name(coefficient: object, distance: object) -> str:
    """Return what papers call a coefficient, as the text of a picture."""
    known = str(coefficient) in COEFFICIENT_NAMES
    name = coefficient_name(str(coefficient), [str(distance)]) if known else coefficient
    return style.short_text(name)


def measured(frame: pd.DataFrame) -> str:
    """Return what a frame says was computed, else nothing."""
    if not len(frame) or not {"coefficient", "distance"} <= set(frame.columns):
        return ""
    return measure_name(frame["coefficient"].iloc[0], frame["distance"].iloc[0])


def number(x: Any) -> str:
    """Return three decimals, a dash for nan; what rounds to zero has no sign."""
    return "–" if is_nothing(x) else style.number(float(x))


def signed(x: Any) -> str:
    """Return three decimals with a sign, as changes have it."""
    return "–" if is_nothing(x) else style.number(float(x), signed=True)


def share(x: Any) -> str:
    """Return a percentage, with a decimal where it is small."""
    if is_nothing(x):
        return "–"
    text = "<0.1 %" if 0 < float(x) < 0.0005 else style.percent(float(x))
    return text.replace(" ", "\u00a0")


def percent(level: float) -> str:
    """Return a confidence level as it stands before the word interval: 95%, 97.5%, 99.99%."""
    return f"{100 * level:.12g}%"


def count(x: Any) -> str:
    """Return a whole number with its thousands apart; a small mean of counts has two decimals."""
    if is_nothing(x):
        return "–"
    return style.whole(round(float(x)) if x >= 100 else float(x))


def p_text(p: Any) -> str:
    """Return a p-value; one that rounds to zero is said to be small."""
    if is_nothing(p):
        return "–"
    return "<.001" if p < 0.0005 else f"{p:.3f}".removeprefix("0")


def p_phrase(p: float) -> str:
    """Return a p-value as it stands in a sentence."""
    text = p_text(p)
    if is_nothing(p):
        return "p undefined"
    return f"p {text[0]} {text[1:]}" if text.startswith("<") else f"p = {text}"


def interval(low: Any, high: Any) -> str:
    """Return the ends of an interval."""
    return "–" if is_nothing(low) or is_nothing(high) else f"{number(low)} to {number(high)}"


def is_nothing(x: Any) -> bool:
    """Say whether there is no number to show."""
    return x is None or x is pd.NA or (isinstance(x, float) and math.isnan(x))


def enumeration(parts: Sequence[Sentence]) -> Sentence:
    """Return ``a, b and c`` of pieces of a sentence."""
    joined: list[Words] = []
    for position, part in enumerate(parts):
        if position:
            joined.append(" and " if position == len(parts) - 1 else ", ")
        joined.extend(part)
    return tuple(joined)


def plain(sentence: Iterable[Words], *, longest: int = LONGEST_NAME) -> str:
    """Return a sentence as text, names in quotes."""
    return "".join(
        f"“{cut(piece.text, longest)}”" if isinstance(piece, Name) else piece for piece in sentence
    )

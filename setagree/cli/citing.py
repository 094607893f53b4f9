"""The command that says what to cite."""

from __future__ import annotations

import sys
from typing import Annotated

import setagree as sa
from setagree.cli.options import RESULTS, Texts, option
from setagree.cli.output import printing, sentences
from setagree.cli.reading import names
from setagree.distances.registry import all_distance_names, get_distance
from setagree.scoring.coefficients import coefficient_names, get_coefficient
from setagree.scoring.references import cited
from setagree.wording.references import bibliography

CITE_HELP = """[bold]setagree cite -c krippendorff_alpha -d masi[/bold]

[not dim]BibTeX for setagree, and for the papers behind coefficients and distances.[/]
"""

_USUAL = ("krippendorff_alpha", "fleiss_kappa")
"""What the table of a file has."""

Coefficients = Annotated[
    Texts,
    option(
        RESULTS, "NAME", "Default: alpha, kappa.", "--coefficient", "-c", known=coefficient_names
    ),
]
Distances = Annotated[
    Texts, option(RESULTS, "NAME", "Default: masi.", "--distance", "-d", known=all_distance_names)
]


@sentences()
def cite(*, coefficient: Coefficients = None, distance: Distances = None) -> None:
    """Print BibTeX for setagree, coefficients and distances."""
    used = [get_coefficient(name) for name in names(coefficient) or _USUAL]
    asked = names(distance) or [one.default_distance or "masi" for one in used]
    sources = [*(one.source for one in used), *(get_distance(name).source for name in asked)]
    with printing():
        sys.stdout.write(bibliography(cited(filter(None, sources)), sa.__version__) + "\n")

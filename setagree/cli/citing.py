"""The command that says what to cite."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import setagree as sa
from setagree.cli.grouping import grouped
from setagree.cli.options import RESULTS, SpanReading, Texts, option
from setagree.cli.output import printing, sentences
from setagree.cli.reading import names, read_study
from setagree.distances.registry import all_distance_names, get_distance
from setagree.scoring.coefficients import coefficient_names, get_coefficient
from setagree.scoring.references import cited
from setagree.wording.references import bibliography

CITE_HELP = """[bold]setagree cite -c krippendorff_alpha -d masi[/bold]

[not dim]BibTeX for setagree, and for the papers behind coefficients and distances. Also:[/]

setagree cite --methods study.csv -c krippendorff_alpha
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


Methods = Annotated[
    Texts, option(RESULTS, "FILE", "Instead: the methods paragraph on a file.", "--methods")
]


@grouped
@sentences()
def cite(
    *,
    methods: Methods = None,
    reading: SpanReading,
    coefficient: Coefficients = None,
    distance: Distances = None,
) -> None:
    """Print BibTeX for setagree, coefficients and distances, or a methods paragraph."""
    if methods is not None:
        given: dict[str, Any] = {"coefficient": names(coefficient), "distance": names(distance)}
        wanted = {name: listed for name, listed in given.items() if listed}
        table = sa.agreement(read_study(methods, reading), **wanted)
        with printing():
            sys.stdout.write(sa.methods_text(table) + "\n")
        return
    print_bibtex(coefficient, distance)


def print_bibtex(coefficient: Texts = None, distance: Texts = None) -> None:
    """Print BibTeX for setagree, coefficients and distances; default: those of a table."""
    used = [get_coefficient(name) for name in names(coefficient) or _USUAL]
    asked = names(distance) or [one.default_distance or "masi" for one in used]
    sources = [*(one.source for one in used), *(get_distance(name).source for name in asked)]
    with printing():
        sys.stdout.write(bibliography(cited(filter(None, sources)), sa.__version__) + "\n")

"""Commands about coefficients and distances: score, cite, and their lists."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Annotated, Any

import pandas as pd

import setagree as sa
from setagree.cli import options as options
from setagree.cli.inference import other_interval, scored
from setagree.cli.label_files import wished
from setagree.cli.options import (
    RESULTS,
    Asked,
    Delivery,
    Large,
    QuestionReading,
    Reading,
    Resampling,
    SpanReading,
    Texts,
    grouped,
    option,
)
from setagree.cli.output import Deliverer, printing, sentences
from setagree.cli.reading import how_read, names, read_study
from setagree.cli.show import print_list, say
from setagree.diagnosis.by_question import QuestionTable, by_question
from setagree.distances.registry import all_distance_names, available_distances, get_distance
from setagree.errors import OptionError
from setagree.scoring.coefficients import available_coefficients, coefficient_names, get_coefficient
from setagree.scoring.references import cited
from setagree.scoring.results import ABOUT
from setagree.wording.references import bibliography
from setagree.wording.result_base import described

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


SCORE_HELP = """[bold]setagree score study.csv[/bold]

[not dim]Alpha and Fleiss' kappa (MASI): a row for each unit and rater. Also:[/]

setagree score study.csv --unit doc --rater who --labels tags --blank empty
setagree score wide.csv --wide -d masi,jaccard --interval bootstrap --seed 1
setagree score 'round-*.parquet' --value stars -d linear --memory-limit 2GB
"""


@grouped
@sentences()
def score(
    files: options.Files,
    *,
    reading: QuestionReading,
    large: Large,
    asked: Asked,
    level: options.Level = 0.95,
    interval: options.IntervalKind = None,
    interval_method: options.IntervalMethod = None,
    over: options.Over = None,
    resampling: Resampling,
    delivery: Delivery,
) -> None:
    """Estimate the agreement of the raters of a file."""
    deliver = Deliverer(delivery, [*files, *asked.paths], reading)
    if reading.questions is not None:
        found = by_questions(files, reading, asked, level, names(reading.model))
        frame = pd.concat([one.to_frame() for one in found], ignore_index=True)
        deliver(frame, "\n\n".join(map(str, found)), result=replace(found[0], frame=frame))
        return
    with_intervals = other_interval(interval, interval_method, over, resampling)
    kind = interval if interval in {"score", "t"} else None
    table = scored(files, reading, large=large, asked=asked, level=level, interval=kind)
    table = with_intervals(table)
    deliver(
        described(table.to_frame(), table),
        str(table),
        reasons=table.reasons,
        remarks=table.remarks,
        about=ABOUT[over or "units"],
        result=table,
    )


def by_questions(
    files: Sequence[str], reading: Reading, asked: Asked, level: float, models: Sequence[str]
) -> list[QuestionTable]:
    """Return the agreement on each of several questions, by each coefficient and distance."""
    if reading.exclude_raters is not None:
        raise OptionError("--exclude-raters is for one question; drop it with --questions.")
    wanted = wished(asked, reading)
    named = names([getattr(reading, "questions", None) or ""])
    return [
        by_question(
            files,
            named[0] if len(named) == 1 else named,
            reading=how_read(reading),
            model=[*models] or None,
            level=level,
            **dict(zip(wanted, measure, strict=True)),
        )
        for measure in product(*wanted.values())
    ]


def list_distances() -> None:
    """List the distances by name."""
    _print_list({name: inspect.getdoc(one) for name, one in available_distances().items()})


def list_coefficients() -> None:
    """List the coefficients by name."""
    _print_list({name: inspect.getdoc(one) for name, one in available_coefficients().items()})


def _print_list(docs: Mapping[str, str | None]) -> None:
    """Print names with the first line of what is written about them, if Python kept it."""
    stripped = sys.flags.optimize > 1
    texts = dict.fromkeys(docs) if stripped else docs
    firsts = {name: (doc or "").partition("\n")[0] for name, doc in texts.items()}
    # Marks of reStructuredText: code in backticks, and escaped bars.
    print_list(
        [
            (n, re.sub(r"`+|\\(?=\|)", "", text.removeprefix("Return ")))
            for n, text in firsts.items()
        ]
    )
    if stripped:
        say("Python runs with -OO, which drops the descriptions; run it without to see them.")

"""Commands about coefficients and distances: score, cite, and their lists."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import setagree as sa
from setagree.cli import options as options
from setagree.cli.inference import Intervals, interval_function, scored
from setagree.cli.label_files import chosen_measures
from setagree.cli.options import (
    MEASURES,
    Delivery,
    Group,
    Large,
    Measures,
    QuestionReading,
    SpanReading,
    Texts,
    member,
)
from setagree.cli.output import Deliverer, command, printing
from setagree.cli.reading import how_read, names, read_study
from setagree.cli.show import print_list, say
from setagree.diagnosis.by_question import by_question
from setagree.distances.registry import available_distances, get_distance
from setagree.errors import OptionError
from setagree.lazy import pd
from setagree.scoring.coefficients import available_coefficients, get_coefficient
from setagree.scoring.references import cited
from setagree.scoring.results import ABOUT
from setagree.wording.references import bibliography
from setagree.wording.result_base import described

SCORE_HELP = """[bold]setagree score study.csv[/bold]

[not dim]Krippendorff's alpha and Fleiss' kappa with the MASI distance. The file has
a row per unit and rater, or, with --wide, a column per rater. Also:[/]

setagree score study.csv --unit doc --rater who --labels tags --blank empty
setagree score wide.csv --wide -d masi,jaccard --interval bootstrap --seed 1
setagree score 'round-*.parquet' --value stars -d linear --memory-limit 2GB
"""


@command
def score(
    files: options.Files,
    *,
    reading: QuestionReading,
    large: Large,
    measures: Measures,
    intervals: Intervals,
    delivery: Delivery,
) -> None:
    """Estimate the agreement of the raters of a file."""
    deliver = Deliverer(delivery, [*files, *measures.paths], reading)
    if reading.questions is not None:
        asked: dict[str, Any] = {"questions": chosen_questions(reading), "level": intervals.level}
        asked |= {"reading": how_read(reading), "model": names(reading.model) or None}
        chosen = chosen_measures(measures, reading)
        found = [
            by_question(files, **asked, **dict(zip(chosen, measure, strict=True)))
            for measure in product(*chosen.values())
        ]
        frame = pd.concat([one.to_frame() for one in found], ignore_index=True)
        deliver(frame, "\n\n".join(map(str, found)), result=replace(found[0], frame=frame))
        return
    with_intervals = interval_function(intervals)
    kind = intervals.interval if intervals.interval in {"score", "t"} else None
    table = with_intervals(
        scored(files, reading, large=large, measures=measures, level=intervals.level, interval=kind)
    )
    deliver(
        lambda: described(table.to_frame(), table),
        str(table),
        reasons=table.reasons,
        remarks=table.remarks,
        about=ABOUT[intervals.over or "units"],
        result=table,
    )


def chosen_questions(reading: options.QuestionsReading) -> str | list[str]:
    """Return the requested questions; a single one may be all of them, or a column of questions."""
    if reading.exclude_raters is not None:
        raise OptionError("--exclude-raters does not apply to --questions; omit one of them.")
    questions = names(reading.questions)
    return questions[0] if len(questions) == 1 else questions


CITE_HELP = """[bold]setagree cite -c krippendorff_alpha -d masi[/bold]

[not dim]BibTeX of setagree and of the sources of coefficients and distances. Also:[/]

setagree cite --methods study.csv -c krippendorff_alpha
"""


class Cited(Group, panel=MEASURES):
    """What is cited."""

    methods: Texts = member("FILE", "Print a methods paragraph on this file.")
    coefficient: options.Coefficients = None
    distance: options.Distances = None


@command
def cite(*, what: Cited, reading: SpanReading) -> None:
    """Print BibTeX for setagree, coefficients and distances, or a methods paragraph."""
    if what.methods is None:
        print_bibtex(what.coefficient, what.distance)
        return
    measures = {"coefficient": names(what.coefficient), "distance": names(what.distance)}
    chosen: dict[str, Any] = {name: listed for name, listed in measures.items() if listed}
    table = sa.agreement(read_study(what.methods, reading), **chosen)
    with printing():
        sys.stdout.write(sa.methods_text(table) + "\n")


def print_bibtex(coefficient: Texts = None, distance: Texts = None) -> None:
    """Print BibTeX for setagree, coefficients and distances; default: those of `score`."""
    default = ["krippendorff_alpha", "fleiss_kappa"]
    used = [get_coefficient(name) for name in names(coefficient) or default]
    distances = names(distance) or [one.default_distance or "masi" for one in used]
    sources = [*(one.source for one in used), *(get_distance(name).source for name in distances)]
    with printing():
        sys.stdout.write(bibliography(cited(filter(None, sources)), sa.__version__) + "\n")


def list_distances() -> None:
    """List the distances by name."""
    _print_first_lines(available_distances())


def list_coefficients() -> None:
    """List the coefficients by name."""
    _print_first_lines(available_coefficients())


def _print_first_lines(documented: Mapping[str, object]) -> None:
    """Print names with the first line of their docstrings."""
    has_docs = sys.flags.optimize < 2
    rows = []
    for name, each in documented.items():
        line = ((inspect.getdoc(each) or "") if has_docs else "").partition("\n")[0]
        # reStructuredText writes code in backticks, and escapes bars.
        rows.append((name, re.sub(r"`+|\\(?=\|)", "", line.removeprefix("Return "))))
    print_list(rows)
    if not has_docs:
        say("Python runs with -OO, which drops the descriptions; run it without to see them.")

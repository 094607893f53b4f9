"""The command for continuous integration: check, whose exit code is the decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd
import typer

import setagree as sa
from setagree.cli import options as options
from setagree.cli.grouping import grouped
from setagree.cli.inference import rounds
from setagree.cli.large import check_where_large, scored
from setagree.cli.options import RESULTS, ApartSpanReading, Asked, Delivery, Large, Text, member
from setagree.cli.output import Deliverer, about, sentences
from setagree.cli.reading import Rows
from setagree.inference.panel_members import check_threshold
from setagree.scoring.table_notes import left_out
from setagree.wording.gates import GATE_FORMS, Decision, exit_code
from setagree.wording.number_format import four, level_text

CHECK_HELP = """[bold]setagree check study.csv --at-least 0.667[/bold]

[not dim]Exit code 0 if alpha is at least that with 95% confidence, 1 if that is not shown,
2 if there is no verdict. Also:[/]

setagree check study.csv --at-least 0.8 -c fleiss_kappa -d jaccard --by batch
setagree check study.csv --at-least 0.667 -o agreement.xml --format junit
setagree check study.csv --at-least 0.667 --format github
"""

DECISION_FORMS = ["line", "json", *list(GATE_FORMS)[1:]]
"""The formats of decisions, the default first."""


@dataclass(frozen=True, kw_only=True)
class DecisionDelivery(Delivery):
    """In what form decisions come, and where they go."""

    form: Text = member(RESULTS, "AS", "line, json, junit or github.", "--format", "-f")


@grouped
@sentences()
def check(
    files: options.Files,
    *,
    reading: ApartSpanReading,
    large: Large,
    asked: Asked,
    at_least: options.Required,
    by: options.CheckedGroups = None,
    level: options.OneSided = 0.95,
    delivery: DecisionDelivery,
) -> None:
    """Test an agreement against a required value."""
    deliver = Deliverer(delivery, [*files, *asked.paths], reading, forms=DECISION_FORMS)
    check_where_large(large, {"--by": by is not None})
    check_threshold(at_least, "at_least")
    whole: list[tuple[str | None, Rows | None]] = [(None, None)]
    parts = whole if by is None else rounds(files, reading, by, least=1)
    wanted: dict[str, Any] = {"asked": asked, "coefficient": "krippendorff_alpha"}
    decisions, frames = [], []
    named = ", ".join(Path(file).name for file in files)
    for group, rows in parts:
        with about(group) as note:
            table = scored(files, reading, large=large, note=note, rows=rows, **wanted)
            tests = [sa.at_least(row, at_least, level=level) for row in table]
            for sentence in left_out(table[0]):
                note(sentence)
        for test in tests:
            what = f"{test.agreement.coefficient} [{test.agreement.distance}]"
            name = f"{named if group is None else group}: {what} at least {at_least:g}"
            if test.reason is not None:
                decisions.append(Decision(name, None, test.verdict))
                continue
            basis = test.verdict
            if not test.passes and test.high >= at_least:
                estimate = four(test.agreement.estimate)
                sure = level_text(level)
                basis = f"The estimate of {estimate} does not show it with {sure} confidence."
            basis = f"Low end {four(test.low)}. {basis}"
            decisions.append(Decision(name, test.passes, basis))
        found = pd.concat([test.to_frame() for test in tests], ignore_index=True)
        frames.append(found if by is None else found.assign(group=group))
    decide(deliver, pd.concat(frames, ignore_index=True).drop(columns="passes"), decisions)


def decide(deliver: Deliverer, frame: pd.DataFrame, decisions: Sequence[Decision]) -> NoReturn:
    """Deliver decisions, and end with their exit code. JSON has a row of the frame for each."""
    parts = [(each.name, each.holds, each.line) for each in decisions]
    decided = pd.DataFrame(parts, columns=["requirement", "holds", "line"], dtype=object)
    write = GATE_FORMS.get(deliver.form, GATE_FORMS["line"])
    deliver(pd.concat([decided, frame], axis=1), write(decisions))
    raise typer.Exit(exit_code(decisions))

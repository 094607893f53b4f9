"""JSON schemas of the results that the commands print with --format json, from their columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from setagree.diagnosis.by_question import QuestionTable
from setagree.diagnosis.intra_rater import IntraRater
from setagree.diagnosis.next_ratings import Queue
from setagree.inference.acceptance import AcceptancePlan
from setagree.inference.benchmark import AtLeast
from setagree.inference.comparison import Comparison
from setagree.inference.monitor import Monitor
from setagree.inference.permutation import PermutationTest
from setagree.inference.planning import Plan
from setagree.inference.prevalence import PrevalenceTable
from setagree.inference.variance_components import VarianceComponents
from setagree.panels.alt_test import AltTest
from setagree.panels.consensus import Consensus
from setagree.scoring.results import AgreementTable
from setagree.wording.result_base import Result
from setagree.wording.tables import Column

RESULTS: dict[str, type[Result]] = {
    "score": AgreementTable,
    "score --questions": QuestionTable,
    "test": PermutationTest,
    "compare": Comparison,
    "check": AtLeast,
    "plan": Plan,
    "panel": AltTest,
    "prevalence": PrevalenceTable,
    "consensus": Consensus,
    "next": Queue,
    "monitor": Monitor,
    "components": VarianceComponents,
    "repeats": IntraRater,
    "accept": AcceptancePlan,
}

_NUMBER, _TEXT, _FLAG = ["number", "null"], ["string", "null"], ["boolean", "null"]
_TYPES = {"name": None, "text": _TEXT, "yes": _FLAG}
"""JSON types of columns that are not numbers; None: any, as units may be numbers or lists."""

_MEANINGS: dict[str, tuple[list[str], str]] = {
    "coefficient": (_TEXT, "Name of the coefficient, as setagree coefficients lists it."),
    "distance": (_TEXT, "Name of the distance, as setagree distances lists it."),
    "estimate": (_NUMBER, "The estimate; null if it is undefined."),
    "standard_error": (_NUMBER, "Standard error of the estimate."),
    "low": (_NUMBER, "Lower end of the interval, at the requested level (default 0.95)."),
    "high": (_NUMBER, "Upper end of the interval."),
    "p_value": (_NUMBER, "p-value, two-sided unless `alternative` is given."),
    "p_holm": (_NUMBER, "p-value with Holm's correction."),
    "observed_agreement": (_NUMBER, "Observed agreement."),
    "expected_agreement": (_NUMBER, "Agreement expected by chance."),
    "observed_disagreement": (_NUMBER, "Observed disagreement."),
    "expected_disagreement": (_NUMBER, "Disagreement expected by chance."),
    "n_units": (_NUMBER, "Number of units."),
    "n_pairable_units": (_NUMBER, "Number of units with at least two ratings."),
    "n_raters": (_NUMBER, "Number of raters; null if they are unknown."),
    "n_ratings": (_NUMBER, "Number of ratings."),
    "n_values": (_NUMBER, "Number of distinct answers."),
    "interval_method": (_TEXT, "Method of the interval."),
    "full_agreement": (_NUMBER, "Share of the units in which all ratings are equal."),
    "degrees_of_freedom": (_NUMBER, "Degrees of freedom of a t interval."),
    "level": (_NUMBER, "Confidence level."),
    "requirement": (_TEXT, "What is required, and of which file or group."),
    "holds": (_FLAG, "Whether the requirement holds; null if there is no verdict."),
    "line": (_TEXT, "The decision in a sentence."),
    "reason": (_TEXT, "Reason for a missing number."),
    "remark": (_TEXT, "Caution on the interval."),
    "about": (_TEXT, "What the interval is about: these raters, or raters like these."),
}
"""JSON types and meanings of columns that several results have."""


def json_schema(title: str, columns: Iterable[Column]) -> dict[str, Any]:
    """Return the JSON schema of a result: a list of objects with the declared columns.

    Columns that several results have are described in each schema, and required if declared.

    Examples
    --------
    >>> schema = json_schema("labels", [Column("label", "name"), Column("n_ratings", "count")])
    >>> schema["items"]["required"], schema["items"]["properties"]["n_ratings"]["type"]
    (['label', 'n_ratings'], ['number', 'null'])
    """
    properties: dict[str, dict[str, Any]] = {}
    required: list[str] = []
    for column in columns:
        types = _TYPES.get(column.kind, _NUMBER)
        sources = [column.source] if isinstance(column.source, str) else column.source
        for name in sources:
            _, meaning = _MEANINGS.get(name, (types, ""))
            meaning = column.meaning or meaning or column.heading()
            typed = {} if types is None else {"type": types}
            properties[name] = typed | {"description": meaning}
        required += [] if column.is_optional else sources
    others = {
        name: {"type": types, "description": meaning}
        for name, (types, meaning) in _MEANINGS.items()
        if name not in properties
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "array",
        "items": {"type": "object", "required": required, "properties": properties | others},
    }


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON schema of each command by the name of its file."""
    return {
        f"{command.replace(' --', '-')}.schema.json": json_schema(
            f"setagree {command} --format json", result.columns
        )
        for command, result in RESULTS.items()
    }

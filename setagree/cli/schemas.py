"""JSON schemas of the results that the commands print with --format json."""

from __future__ import annotations

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
from setagree.wording.schemas import json_schema

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


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON schema of each command by the name of its file."""
    return {
        f"{command.replace(' --', '-')}.schema.json": json_schema(
            f"setagree {command} --format json", result.columns
        )
        for command, result in RESULTS.items()
    }

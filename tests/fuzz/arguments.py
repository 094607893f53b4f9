"""Random arguments to every public function, on degenerate studies."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.util import find_spec
from random import Random
from typing import Any

import setagree as sa
from setagree import plots

from .pools import argument, study
from .programs import Program

TOUCH = '''
def touch(result, chosen):
    """Look at every public part of a result: print it, read it, call its methods."""
    str(result), repr(result)
    if not type(result).__module__.startswith("setagree"):
        return
    for name in dir(result):
        if name.startswith("_") and name != "_repr_html_":
            continue
        part = getattr(result, name)
        if inspect.ismethod(part) and part.__self__ is result:
            wanted = inspect.signature(part).parameters
            required = [one for one in wanted.values() if one.default is one.empty]
            if not required:
                part(**{each: chosen[each] for each in wanted if each in chosen})


    if isinstance(result, sa.Agreement) and not result.standard_error > 1e-12:
        shown = [*result.interval(), result.p_value]
        assert all(map(math.isnan, shown)), f"certain of {shown}, with a standard error of 0"


def table_of(study):
    """Give a study as a table; what is none as it is."""
    return study.to_long() if isinstance(study, sa.Annotations) else study


def ends_well(call, chosen):
    """Call it: a result that can be looked at, or a sentence."""
    try:
        touch(call(), chosen)
    except sa.SetagreeError as error:
        assert str(error).strip(), "an error without a sentence"


with open("study.csv", "w") as file:
    file.write("unit,rater,labels\\n1,a,x\\n1,b,x;y\\n2,a,\\n2,b,y\\n")
with open("study.json", "w") as file:
    file.write("[1, {")
with open("bad.csv", "wb") as file:
    file.write(b"unit,rater\\xff\\n1,a,b\\n")
'''

# What a first argument that is no study is made of.
MADE = {
    "agreement": ["sa.{c}(study, distance={d})", "sa.{c}(study)"],
    "agreements": ["sa.{c}(study, distance={d}), sa.{c2}(study)", "sa.{c}(study), sa.{c}(other)"],
    "pilot": ["sa.{c}(study, distance={d})", "study"],
    "pairs": ["sa.by_pair(study)"],
    "result": [
        "sa.agreement(study)",
        "sa.{c}(study)",
        "sa.bootstrap(sa.{c}(study), n_resamples=9)",
    ],
    "test": ["sa.permutation_test(sa.{c}(study), n_resamples=9)", "None"],
    "bootstrap": ["sa.bootstrap(sa.{c}(study), n_resamples=9)", "None"],
    "alt_test": ["sa.alt_test(study, model='a', min_units=1)"],
    "rater_map": ["sa.rater_map(study, n_resamples=9)"],
    "credit": ["sa.weights(study, {d})"],
    "study": ["study", "study", "study", "sa.Tally.from_annotations(study)"],
    "data": ["study", "table_of(study)", "'study.csv'", "sa.Tally.from_annotations(study)"],
    "other": ["sa.Tally.from_annotations(other)"],
}
PICTURED = {
    "forest": "sa.by_group(study, lambda unit: str(unit)[:1])",
    "groups": "sa.by_group(study, lambda unit: str(unit)[:1])",
    "labels": "sa.by_label(study)",
    "pairs": "sa.by_pair(study)",
    "raters": "sa.by_rater(study)",
    "units": "sa.by_unit(study)",
    "confusions": "sa.confusions(study)",
    "over_time": "sa.over_time(study, lambda unit: float(len(str(unit))), window=2)",
}
NO_CALLS = {"LabelSet", "SetagreeError", "SetagreeWarning", "UndefinedAgreementWarning"}
BUILT_BY_OTHERS = {"Agreement", "AgreementTable", "Annotations", "Tally", "Weights", "Distance"}


def targets() -> dict[str, Callable[..., Any]]:
    """Return every public function, by the text that names it."""
    found: dict[str, Callable[..., Any]] = {}
    for name in sa.__all__:
        if name not in NO_CALLS | BUILT_BY_OTHERS | {"plots", "distances"}:
            found[f"sa.{name}"] = getattr(sa, name)
    for name in ("from_long", "from_wide", "from_triples", "from_indicators", "from_contingency"):
        found[f"sa.Annotations.{name}"] = getattr(sa.Annotations, name)
    for name in ("from_counts", "from_annotations"):
        found[f"sa.Tally.{name}"] = getattr(sa.Tally, name)
    found["sa.simulate(5, rng=1).exclude_raters"] = sa.simulate(5, rng=1).exclude_raters
    found["sa.Tally.from_annotations(study).merge"] = sa.Tally.merge
    shown = ("distance_names", "get_distance", "taxonomy", "transport", "weighted_jaccard", "masi")
    for name in (
        *shown,
        "jaccard",
        "hamming",
        "ordinal",
        "interval",
        "circular",
        "ratio",
        "bipolar",
    ):
        found[f"sa.distances.{name}"] = getattr(sa.distances, name)
    if find_spec("matplotlib"):
        for name in plots.__all__:
            found[f"plots.{name}"] = getattr(plots, name)
    return found


TARGETS = targets()


def argument_programs(rng: Random, name: str | None = None) -> list[Program]:
    name = name or rng.choice([*TARGETS])
    parameters = [*inspect.signature(TARGETS[name]).parameters.values()]
    given = [_given(rng, name, one) for one in parameters if one.name not in {"self", "ax"}]
    call = f"{name}({', '.join(one for one in given if one)})"
    chosen = {one: argument(rng, one, 0.2) for one in ("level", "method", "distance", "limit")}
    kept = ", ".join(f"{one!r}: {text}" for one, text in chosen.items() if rng.random() < 0.5)
    pictured = name.startswith("plots.")
    body = [
        "import inspect, pathlib",
        'import matplotlib\n\nmatplotlib.use("Agg")\nfrom setagree import plots'
        if pictured
        else "",
        "os.chdir(tempfile.mkdtemp(dir='.'))",
        TOUCH,
        f"study = {study(rng)}",
        f"other = {study(rng)}",
        f"ends_well(lambda: {call}, {{{kept}}})",
        'import matplotlib.pyplot as plt\n\nplt.close("all")' if pictured else "",
    ]
    return [Program("arguments", name, "\n".join(body) + "\n")]


def _given(rng: Random, function: str, one: inspect.Parameter) -> str:
    """Return the text of one argument, or nothing where its default is taken."""
    required = one.default is one.empty
    if not required and rng.random() < 0.6:
        return ""
    text = _first(rng, function, one) if required else argument(rng, one.name)
    if one.kind is one.VAR_POSITIONAL or one.kind is one.POSITIONAL_ONLY:
        return text
    return text if one.kind is one.POSITIONAL_OR_KEYWORD and required else f"{one.name}={text}"


def _first(rng: Random, function: str, one: inspect.Parameter) -> str:
    if rng.random() < 0.05:
        return argument(rng, one.name, 1.0)
    if function.startswith("plots.") and one.name in {"frame", "pairs", "result"}:
        made = PICTURED.get(function.removeprefix("plots."))
        if made:
            return made
    if one.name == "data" and "from_" in function:
        return argument(rng, "frame")
    if one.name in MADE:
        c, c2 = (argument(rng, "coefficient", 0.0).strip("'") for _ in range(2))
        c, c2 = (name if hasattr(sa, name) else "krippendorff_alpha" for name in (c, c2))
        text = rng.choice(MADE[one.name])
        return text.format(c=c, c2=c2, d=argument(rng, "distance", 0.1))
    return argument(rng, one.name)

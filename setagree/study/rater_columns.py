"""What is known of each rater beside the answers: of a model, say, its prompt and its run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from setagree.errors import DataError, check_list, listing, option
from setagree.study.beside import attribute_values, with_columns
from setagree.study.codes import as_objects
from setagree.study.columns import with_columns as with_roles
from setagree.study.frames import Frame, as_pandas, column_names
from setagree.study.labels import is_missing
from setagree.study.names import find_names
from setagree.study.reading import Reading

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations


IS_MODEL = "is_model"
"""The column that marks the raters that are models."""


_MODELS, _PEOPLE = {"model", "llm", "ai", "machine"}, {"human", "person", "expert", "annotator"}
"""The roles of raters in a column of roles, casefolded."""

_MODEL_NAME = re.compile(
    r"(?:[\w.-]+/)?(?:(?:chat-?)?gpt|claude|llama|gemini|gemma|mistral|mixtral|qwen|deepseek|grok|"
    r"palm|phi|command-r)(?=.*\d)|o[134]-",
    re.IGNORECASE,
)


def marked_models(study: Annotations) -> list[Any]:
    """Return the raters that are marked as models: by `IS_MODEL`, or by a column of roles.

    A column of roles has "human" and "model", or synonyms, for all raters.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(4, 2, rng=1).with_raters({"role": {"r1": "human", "r2": "model"}})
    >>> marked_models(study)
    ['r2']
    """
    known, models = study.raters_frame, dict[Any, None]()
    for name in known:
        roles = {rater: str(cell).casefold().strip() for rater, cell in known[name].items()}
        is_role = _MODELS & {*roles.values()} and {*roles.values()} <= _MODELS | _PEOPLE
        if name == IS_MODEL or is_role:
            models |= dict.fromkeys(r for r, role in roles.items() if role in {"true", *_MODELS})
    return [*models]


def likely_models(study: Annotations) -> list[Any]:
    """Return the raters that nothing marks, but that are called like a model, such as gpt-4o.

    Examples
    --------
    >>> from setagree import Annotations
    >>> likely_models(Annotations.from_triples([("llama-3-70b", 1, "a"), ("Claude", 1, "a")]))
    ['llama-3-70b']
    """
    marked = marked_models(study)
    return [x for x in study.raters.tolist() if x not in marked and _MODEL_NAME.match(str(x))]


def models_sentences(study: Annotations) -> list[str]:
    """Return sentences on models: those that were set apart, and those among the raters."""
    marked, likely = marked_models(study), likely_models(study)
    sets = f"{option('model')} sets models apart"
    parts = [f"Set apart, as models: {listing(study.models_apart)}."] if study.models_apart else []
    if marked and len(marked) < study.n_raters:
        count = "Models count as raters" if len(marked) > 1 else "A model counts as a rater"
        parts.append(f"{count}: {listing(marked)}. {sets}.")
    if likely and len(likely) < study.n_raters:
        which = "Models, by their names, are" if len(likely) > 1 else "A model, by its name, is"
        parts.append(f"{which} among the raters: {listing(likely)}. {sets}.")
    return parts


def set_apart(study: Annotations, models: str | Sequence[str]) -> Annotations:
    """Return the study of the other raters, which names the models that were set apart.

    Examples
    --------
    >>> import setagree as sa
    >>> set_apart(sa.simulate(4, 3, rng=1), "r3").models_apart
    ('r3',)
    """
    listed = [models] if isinstance(models, str) else models
    check_list("model", listed, "raters")
    names = find_names([str(one) for one in listed], study.raters.tolist())
    return replace(study.exclude_raters(names), models_apart=(*study.models_apart, *names))


def raters_frame(study: Annotations) -> pd.DataFrame:
    """Return what is known of each rater beside the answers: a row a rater, a column each thing.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(4, 2, rng=1).with_raters({"model": {"r1": "gpt", "r2": "claude"}})
    >>> study.raters_frame.T
    rater   r1      r2
    model  gpt  claude
    """
    index = pd.Index(study.raters, dtype=object, name="rater", tupleize_cols=False)
    return (
        pd.DataFrame(index=index) if study.rater_table is None else study.rater_table.reindex(index)
    )


def with_raters(
    study: Annotations, columns: pd.DataFrame | Mapping[str, Mapping[Any, Any] | pd.Series[Any]]
) -> Annotations:
    """Return the study with further things known of its raters.

    Parameters
    ----------
    columns : DataFrame or mapping
        A table whose index names the raters; or for each column a mapping, or Series, from rater.
        It may say more than is asked, of raters that the study does not have.

    Raises
    ------
    DataError
        A rater has several entries.

    Examples
    --------
    >>> from setagree import Annotations
    >>> study = Annotations.from_triples([("gpt-1", 1, "a"), ("gpt-2", 1, "b"), ("ann", 1, "b")])
    >>> study.with_raters({"run": {"gpt-1": 1, "gpt-2": 2}}).raters_frame["run"].tolist()
    [1, 2, None]
    """
    return replace(study, rater_table=with_columns(study.raters_frame, columns, "rater"))


def read_raters(study: Annotations, data: Frame, reading: Reading) -> Annotations:
    """Return the study with the columns of its table that say one thing of each rater.

    Raises
    ------
    DataError
        A column is absent, or says several things of one rater.
    """
    names = reading.rater_columns or []
    check_list("rater_columns", names, "columns")
    if not names:
        return study
    said = attribute_values(study.raters, data, reading.rater, names, "rater")
    by_rater = {name: dict(zip(study.raters, said[name], strict=True)) for name in said}
    return study.with_raters(by_rater)


def named_raters(data: Frame, reading: Reading) -> tuple[Frame, Reading]:
    """Return a table with a column of raters: where it has none, their other columns name them.

    Examples
    --------
    >>> runs = pd.DataFrame({"unit": [1], "model": ["gpt"], "run": [2], "labels": ["a"]})
    >>> table, how = named_raters(runs, Reading(rater_columns=["model", "run"]))
    >>> table["rater"].tolist()
    ['gpt / 2']
    """
    names = reading.rater_columns or []
    check_list("rater_columns", names, "columns")
    if not names or reading.rater is not None:
        return data, reading
    listed = [*map(str, data if isinstance(data, pd.DataFrame) else column_names(data))]
    if not {*names} <= {*listed} or "rater" in listed:
        return data, reading
    try:
        with_roles(reading, listed)
    except DataError:
        table = as_pandas(data)
        said = [["" if is_missing(x) else text_of_cell(x) for x in table[name]] for name in names]
        parts = ([one for one in row if one] for row in zip(*said, strict=True))
        raters = as_objects(" / ".join(row) or None for row in parts)
        return table.assign(rater=raters), replace(reading, rater="rater")
    return data, reading


def text_of_cell(cell: Any) -> str:
    """Return the text of a cell; a run that is a number stays whole where others have none."""
    return f"{cell:g}" if isinstance(cell, float) else str(cell).strip()

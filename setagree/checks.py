"""Checks of options that many functions share, limits of costs, and the writing of files."""

from __future__ import annotations

import gc
import inspect
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from setagree.errors import (
    CostError,
    FileError,
    MissingOptionError,
    OptionError,
    UnknownOptionError,
    check_path,
    counted,
    near_names,
    option,
)

F = TypeVar("F", bound=Callable[..., Any])

Rng: TypeAlias = int | np.random.Generator | None

MOST_BYTES = 2_000_000_000
"""Memory that one step may ask for."""

MOST_STEPS = 10_000_000_000
"""Elementary steps (additions, comparisons) that one call may take; some minutes."""


def check_cost(what: str, *, n_bytes: float = 0, n_steps: float = 0, instead: str) -> None:
    """Raise `CostError` where the reckoned memory or the reckoned steps exceed the limits.

    Parameters
    ----------
    what : str
        What would be computed, as the subject of a sentence.
    n_bytes, n_steps : float
        What it would cost.
    instead : str
        A sentence with the smaller request that passes.

    Examples
    --------
    >>> check_cost("The table of all pairs", n_bytes=5e9, instead="Leave out rare values.")
    Traceback (most recent call last):
    setagree.errors.CostError: The table of all pairs would take about 5.0 GB of memory; the limit \
is 2.0 GB. Leave out rare values.
    """
    if n_bytes > MOST_BYTES:
        raise CostError(
            f"{what} would take about {n_bytes / 1e9:,.1f} GB of memory; the limit is "
            f"{MOST_BYTES / 1e9:.1f} GB. {instead}"
        )
    if n_steps > MOST_STEPS:
        raise CostError(
            f"{what} would take about {counted(round(n_steps), 'step')}; the limit is "
            f"{MOST_STEPS:,}. {instead}"
        )


def check_resamples(n_resamples: int) -> None:
    """Raise `OptionError` unless the number of resamples is a whole number of 1 or more."""
    whole = isinstance(n_resamples, int | np.integer) and not isinstance(n_resamples, bool)
    if not whole or n_resamples < 1:
        raise OptionError(
            f"{option('n_resamples', n_resamples)} must be a whole number of 1 or more."
        )


def check_level(level: object) -> None:
    """Raise `OptionError` unless the level is a number that lies strictly between 0 and 1."""
    if not isinstance(level, float | np.floating) or not 0 < level < 1:
        raise OptionError(f"{option('level', level)} must lie between 0 and 1, such as 0.95.")


def as_generator(rng: Rng) -> np.random.Generator:
    """Return the Generator of a seed, and a Generator as it is.

    Raises
    ------
    OptionError
        It is neither.
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"{option('rng', rng)} is neither a seed of 0 or more nor a Generator."
        ) from error


def check_drawing(n_resamples: int, n_entries: int, *, name: str = "n_resamples") -> None:
    """Raise `CostError` where so many resamples of so many entries exceed the limits.

    Examples
    --------
    >>> check_drawing(999_999_999_999, 60)
    Traceback (most recent call last):
    setagree.errors.CostError: 999,999,999,999 resamples would take about 32,000.0 GB of memory; \
the limit is 2.0 GB. Ask for n_resamples=62500000 or fewer.
    """
    n, each = min(int(n_resamples), 10**18), max(n_entries, 1)
    most = min(MOST_BYTES // _KEPT, MOST_STEPS // each)
    instead = f"Ask for {option(name, most)} or fewer." if most else "Keep a part of the units."
    what = counted(n, name.removeprefix("n_").removesuffix("s"))
    check_cost(what, n_bytes=_KEPT * n, n_steps=n * each, instead=instead)


_KEPT = 32
"""Bytes that an estimate takes while the distribution is put together and read off."""

LOOPED = 3_000
"""Entries that a resample is worth at least where each is a round of its own; 0.1 ms."""


# Path makes one slash of two; a drive of Windows has one letter.
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.IGNORECASE | re.DOTALL)


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return a path in which ~ stands for the home of the user; refuse an address of the web."""
    check_path(path)
    return Path(on_this_computer(path))


def on_this_computer(path: str | os.PathLike[str]) -> str:
    """Return the name of a file, with the home of the user for ~."""
    name = os.path.expanduser(os.fspath(path))  # noqa: PTH111 - Path's raises for unknown users
    address = _ADDRESS.match(name)
    if address is None or os.path.lexists(name):
        return name
    raise FileError(
        f"'{address[1]}://{address[2]}' is an address, and only files on this computer are read; "
        "download it first, or in Python pass a DataFrame (pandas with fsspec reads https://, "
        "s3:// and gs://, datasets reads hf://, gspread reads Google Sheets)."
    )


_ALSO = {
    "distance": "distances metric metrics distance_metric dissimilarity weights weighting",
    "coefficient": "coefficients coef statistic measure",
    "level": "confidence confidence_level conf conf_level ci ci_level alpha",
    "rng": "seed random_state random_seed generator",
    "n_resamples": "n n_boot n_bootstrap n_bootstraps n_permutations n_perm n_iter n_iterations "
    "iterations reps n_reps n_samples resamples b times",
    "n_splits": "n n_iter n_iterations iterations n_resamples",
    "over": "resample by",
    "cluster": "clusters cluster_col cluster_column psu block",
    "sampling_weight": "sampling_weights sample_weight sample_weights pweight pweights",
    "strata": "stratum strata_col stratify",
    "population_size": "fpc population_sizes",
    "half_width": "width halfwidth margin precision moe",
    "at_least": "threshold null",
    "per_unit": "cost_unit unit_cost cost_per_unit",
    "per_rating": "cost_rating rating_cost cost_per_rating",
    "model": "llm candidate",
    "humans": "annotators raters",
    "limit": "n top max_rows k n_rows",
    "k": "n_raters",
    "label_sep": "sep separator label_separator",
    "acceptable_rate": "good aql",
    "rejectable_rate": "bad rql ltpd",
    "pool": "raters annotators",
    "exclude_raters": "without drop_raters without_raters",
    "exclude_labels": "drop_labels",
    "batch": "at time batches",
    "time": "at over_time date timestamp when",
    "by": "group groups group_by",
    "ties": "equal",
    "temp_directory": "spill tmpdir temp_dir",
    "raters_in_rows": "people_in_rows",
    "na_values": "missing na null_values",
    "tool": "format from",
    "filename_column": "source",
    "where": "filter query",
    "codebook": "vocabulary label_set allowed",
    "categories": "values",
    "n_clusters": "k clusters",
    "n_units": "units items n_items n",
    "n_raters": "raters annotators n_annotators n_coders k",
    "path": "output out file filename to output_path filepath",
    "ax": "axes axis",
    "data": "study df frame table dataframe annotations tally path file",
    "study": "data df frame table dataframe annotations tally path file reliability_data ratings",
    "agreement": "alpha kappa result estimate data study df frame",
    "pilot": "study agreement data df frame alpha",
    "result": "study agreement data df frame table",
    # The columns of a table come last: raters= of a function that has pool= is pool=.
    "unit": "item units items task document doc subject example item_col unit_col unit_column",
    "rater": "annotator annotators raters coder coders judge worker rater_col annotator_col user",
    "labels": "label label_col labels_col answer answers annotation annotations tags categories",
    "value": "values score scores rating ratings value_col",
}
"""What an option is called elsewhere, by what it is called here."""

_NOTES = {
    ("alpha", "level"): " (level=0.95 is alpha=0.05)",
    ("sep", "label_sep"): " (between labels; delimiter separates columns)",
}
"""What an answer to a wrong name adds, by that name and the right one."""

_OF_READ = (
    "unit rater labels value wide where filename_column sheet header_row sql tool question blank "
    "roster label_sep case codebook empty na_values duplicates order_by encoding status degree "
    "model raters_in_rows unit_columns rater_columns predictions delimiter"
)
"""Options that say how a table is read. Whoever takes a study takes what `sa.read` returns."""

_OF_SAMPLED = "cluster sampling_weight strata population_size size chance"
"""Options that say how units were drawn, which a study remembers."""

_TAKES_SIZES = {
    *("agreement", "at_least", "benchmark", "bootstrap", "by_group", "by_label", "by_pair"),
    *("by_rater", "by_unit", "compare", "confusions", "exclude_raters", "forest", "jackknife"),
    *("methods_text", "permutation_test", "plan", "read", "report", "sampled", "score", "weights"),
}
"""Functions that count units with sizes, such as labelled pieces of text, by their sizes."""

_NO_SIZES = {
    "consensus": "its votes and Dawid and Skene's model take units for independent tasks",
    "crowdtruth": "its quality scores take units for independent tasks",
    "monitor": "units are drawn one by one there, and pieces of one document are not",
    "next_ratings": "raters answer whole documents, not pieces of them",
    **dict.fromkeys(
        ("from_annotations", "tally"),
        "a tally has no documents, which are the independent evidence",
    ),
}
"""Reasons why other functions refuse such units."""

_OF_VALUES = {
    "goals": ("PlanGoals", "half_width n_units power at_least assurance level"),
    "costs": ("PlanCosts", "per_rating per_unit budget"),
}
"""Options that belong to the value of another option, with its class."""


@contextmanager
def no_collection() -> Iterator[None]:
    """Pause the search for reference cycles: JSON and label sets have none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def public(function: F, *, takes_sizes: bool = False) -> F:
    """Return a public function that answers the wrong name of an option with the right one.

    It keeps its signature, for people and for tools. It raises an error for units with sizes unless
    `takes_sizes` or its name is among those that count them.

    Examples
    --------
    >>> @public
    ... def draw(*, n_resamples=10, rng=None):
    ...     return n_resamples
    >>> draw(seed=1)
    Traceback (most recent call last):
    setagree.errors.UnknownOptionError: seed= is called rng=.
    >>> draw(n_resample=1)
    Traceback (most recent call last):
    setagree.errors.UnknownOptionError: draw() has no n_resample=. Did you mean n_resamples=?
    """
    known = inspect.signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        return function
    called = function.__name__
    if called == "__init__":
        called = function.__qualname__.split(".")[-2]
    takes_sizes = takes_sizes or called in _TAKES_SIZES
    needed = {
        name
        for name, one in known.items()
        if name in _NEEDED and one.default is one.empty and one.kind is one.KEYWORD_ONLY
    }

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if not known.keys() >= kwargs.keys():
            raise _unknown_option(called, kwargs, known)
        if not takes_sizes and any(map(_is_sized, (*args, *kwargs.values()))):
            why = _NO_SIZES.get(called, "it counts every unit once")
            raise OptionError(
                f"{called} is not defined for units with sizes, such as pieces of text: {why}. "
                f"These functions take them: {', '.join(_FOR_SIZES)}."
            )
        if needed and (missing := needed - kwargs.keys()):
            said = " and ".join(f"{name}=, {_NEEDED[name]}" for name in sorted(missing))
            raise MissingOptionError(f"{called}() needs {said}.")
        return function(*args, **kwargs)

    return cast("F", checked)


def _is_sized(value: Any) -> bool:
    """Return whether a study, a result of one, or a list or dict of these has units with sizes."""
    if value is None or isinstance(value, str | int | float):
        return False
    if isinstance(value, list | tuple | dict):
        each = [*value.values()] if isinstance(value, dict) else value
        return len(each) <= _MAX_STUDIES and any(map(_is_sized, each))
    if isinstance(value, type) or not type(value).__module__.startswith("setagree."):
        return False
    case, within = getattr(value, "case", None), getattr(value, "rows", getattr(value, "data", ()))
    study = value if case is None else getattr(case, "study", None)
    has_size = getattr(getattr(study, "sampling", None), "size", None) is not None
    has_spans = bool(getattr(getattr(value, "reading", value), "spans", None))
    return has_size or has_spans or _is_sized(within)


_MAX_STUDIES = 100
"""Largest number of entries of a list that is searched for studies."""

_FOR_SIZES = (
    *("agreement", "the coefficients", "by_label", "by_pair", "by_rater", "by_unit", "by_group"),
    *("confusions", "compare", "at_least", "bootstrap", "permutation_test", "plan", "report"),
)
"""What a person calls of those that take sizes, in order."""

_NEEDED = {
    "k": "the number of raters behind each agreed answer, as in k=3",
    "model": "the rater that is the model, or a table or file of its answers, as in model='gpt'",
    "parents": "which label stands above which, as a dict, a table or the path of a table; or '/' "
    "where labels are paths such as 'emotion/joy'",
    "per_rating": "the cost of a rating, such as 2",
    "panels": "a name for each panel and its raters, as in panels={'experts': ['ann', 'bob'], "
    "'crowd': ['w1', 'w2']}",
    "threshold": "how high alpha has to be, such as 0.667",
    "window": "the time that a window spans, as in window='7D'",
}
"""What an option without a default is, with an example."""


def called_elsewhere(wrong: str, known: Collection[str]) -> tuple[str, str] | None:
    """Return the known option that has another name elsewhere, and a note on the difference.

    Examples
    --------
    >>> called_elsewhere("confidence", ["level", "rng"])
    ('level', '')
    """
    found = [n for n, others in _ALSO.items() if n in known and wrong.lower() in others.split()]
    return (found[0], _NOTES.get((wrong, found[0]), "")) if found else None


def _unknown_option(
    function: str, given: Iterable[str], known: Collection[str]
) -> UnknownOptionError:
    """Return the error that answers the first of the options that are not known."""
    wrong = next(name for name in given if name not in known)
    said = f"{function}() has no {wrong}="
    if called := called_elsewhere(wrong, known):
        name, note = called
        return UnknownOptionError(f"{wrong}= is called {name}={note}.")
    if wrong in _OF_SAMPLED.split():
        table = f", or of the table: sa.read(table, {wrong}=...)"
        return UnknownOptionError(
            f"{said}; say it of the study first: study.sampled({wrong}=...)"
            f"{table if wrong in {'cluster', 'sampling_weight', 'strata'} else ''}."
        )
    if wrong in ("exclude_raters", "without", "drop_raters"):
        return UnknownOptionError(
            f"{said}; leave the raters out of the study first: study.exclude_raters([...])."
        )
    for value, (kind, names) in _OF_VALUES.items():
        if value in known and wrong in names.split():
            return UnknownOptionError(f"{said}; use {value}=sa.{kind}({wrong}=...).")
    if wrong in _OF_READ.split():
        if "reading" in known:
            return UnknownOptionError(f"{said}; say reading=sa.Reading({wrong}=...).")
        if "agreements" in known:
            return UnknownOptionError(f"{said}; read the data first: sa.read(data, {wrong}=...).")
    if near := near_names(wrong, known):
        return UnknownOptionError(f"{said}. Did you mean {' or '.join(f'{n}=' for n in near)}?")
    options = ", ".join(f"{name}=" for name in known)
    return UnknownOptionError(f"{said}; its options are {options}." if known else f"{said}.")


def constructor(kind: type, name: str) -> str | None:
    """Return what a constructor of a class is called here, by what it is called elsewhere."""
    called = (ours for ours, others in _CONSTRUCTORS.items() if name in others.split())
    return next((ours for ours in called if ours in dir(kind)), None)


_CONSTRUCTORS = {
    "from_long": "from_df from_dataframe from_pandas from_polars from_frame from_table",
    "from_indicators": "from_onehot from_one_hot from_numpy from_array from_binary from_multihot "
    "from_multilabel from_flags from_cube from_dummies",
    "from_triples": "from_tuples from_nltk from_list from_annotation_task",
    "from_contingency": "from_confusion from_confusion_matrix from_crosstab from_matrix",
}
"""What a constructor is called elsewhere, by what it is called here."""


def check_target(target: Path) -> None:
    """Raise `FileError`, before any work, if a file cannot be written to a path."""
    if not target.parent.is_dir():
        raise FileError(f"There is no folder {str(target.parent)!r} to write {target.name!r} into.")
    if target.exists() and not target.is_file():
        raise FileError(f"{str(target)!r} is not a file that could be replaced.")


def replace_file(target: Path, content: str | bytes) -> None:
    """Write a file and replace the old one, if there is one; a link to it stays a link.

    Raises
    ------
    FileError
        The file cannot be written. The old file is then unchanged.
    """
    if isinstance(content, str):
        # A label may contain a lone surrogate, which UTF-8 cannot encode.
        content = content.encode("utf-8", "backslashreplace")
    path = target.resolve()
    try:
        replace_files({path: content})
    except OSError as error:
        raise FileError(f"{str(target)!r} cannot be written: {error.strerror or error}.") from error


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Write all files under temporary names, then rename each; a link is replaced, not followed."""
    with ExitStack() as stack:
        temporary: list[tuple[Path, Path]] = []
        for path, content in contents.items():
            beside = path.with_name(f".{path.name[:40]}.{os.getpid()}.tmp")
            with beside.open("xb") as file:
                stack.callback(beside.unlink, missing_ok=True)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                shutil.copymode(path, beside)
            temporary.append((beside, path))
        for beside, path in temporary:
            beside.replace(path)

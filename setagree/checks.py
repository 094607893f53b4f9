"""Checks of options, limits of costs, the writing of files, types, and cached properties."""

from __future__ import annotations

import functools
import gc
import inspect
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

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

Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.integer[Any]]
Flags: TypeAlias = npt.NDArray[np.bool_]
Ints: TypeAlias = npt.NDArray[np.int64]

MOST_BYTES = 2_000_000_000
"""Largest memory of one step, in bytes."""

MOST_STEPS = 10_000_000_000
"""Largest number of elementary steps (additions, comparisons) of one call; some minutes."""


def check_cost(what: str, *, n_bytes: float = 0, n_steps: float = 0, instead: str) -> None:
    """Raise `CostError` if the estimated memory or number of steps exceeds its limit.

    `what` is the subject of the message, and `instead` its last sentence, on a smaller request.
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


def is_number(value: object) -> bool:
    """Return whether a value is a Python or numpy number."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def check_least(name: str, value: int, least: int) -> None:
    """Raise `OptionError` unless a number is an integer of at least a minimum."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise OptionError(f"{option(name, value)} must be a whole number of {least} or more.")


def check_level(level: object) -> None:
    """Raise `OptionError` unless the level is a float strictly between 0 and 1."""
    if not isinstance(level, float | np.floating) or not 0 < level < 1:
        raise OptionError(f"{option('level', level)} must lie between 0 and 1, such as 0.95.")


def as_generator(rng: Rng) -> np.random.Generator:
    """Return a new Generator for a seed; return a Generator unchanged."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"{option('rng', rng)} is neither a seed of 0 or more nor a Generator."
        ) from error


def check_drawing(n_resamples: int, n_entries: int, *, name: str = "n_resamples") -> None:
    """Raise `CostError` if `n_resamples` resamples of `n_entries` entries exceed the limits."""
    n, n_entries = min(int(n_resamples), 10**18), max(n_entries, 1)
    limit = min(MOST_BYTES // _BYTES_PER_ESTIMATE, MOST_STEPS // n_entries)
    instead = f"Use at most {option(name, limit)}." if limit else "Use fewer units."
    what = counted(n, name.removeprefix("n_").removesuffix("s"))
    check_cost(what, n_bytes=_BYTES_PER_ESTIMATE * n, n_steps=n * n_entries, instead=instead)


_BYTES_PER_ESTIMATE = 32
"""Memory per estimate while a distribution is collected and summarised."""

LOOPED = 3_000
"""Least cost, in entries, of a resample that is computed in a Python loop (0.1 ms)."""


# Path merges two slashes into one. A Windows drive has one letter, so a scheme has at least two.
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.IGNORECASE | re.DOTALL)


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return a path with ~ replaced by the user's home folder. A web address is an error."""
    check_path(path)
    return Path(on_this_computer(path))


def on_this_computer(path: str | os.PathLike[str]) -> str:
    """Return a file name with ~ replaced by the home folder; raise `FileError` for an address."""
    name = os.path.expanduser(os.fspath(path))  # noqa: PTH111 - Path's raises for unknown users
    address = _ADDRESS.match(name)
    if address is None or os.path.lexists(name):
        return name
    raise FileError(
        f"'{address[1]}://{address[2]}' is an address, and only files on this computer are read. "
        "Download it first, or in Python pass a DataFrame (pandas with fsspec reads https://, "
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
"""Names of an option in other packages and in earlier versions, by its name here."""

_NOTES = {
    ("alpha", "level"): " (level=0.95 is alpha=0.05)",
    ("sep", "label_sep"): " (between labels; delimiter separates columns)",
}
"""Notes that a message adds for a pair of a wrong and a right name."""

_OF_READ = (
    "unit rater labels value wide where filename_column sheet header_row sql tool question blank "
    "roster label_sep case codebook empty na_values duplicates order_by encoding status degree "
    "model raters_in_rows unit_columns rater_columns predictions delimiter"
)
"""Options of `sa.read`, which `sa.Reading` holds for every function that takes a study."""

_OF_SAMPLED = "cluster sampling_weight strata population_size size chance"
"""Options of `Annotations.sampled`: the study stores how its units were sampled."""

_OF_VALUES = {
    "goals": ("PlanGoals", "half_width n_units power at_least assurance level"),
    "costs": ("PlanCosts", "per_rating per_unit budget"),
}
"""Options that are attributes of another option's value, with the class of that value."""


if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - the name of the original
        """`functools.cached_property` without its lock, as in Python 3.12.

        Each first access takes half the time; the coefficients of a small study need about thirty.
        """

        def __get__(self, instance: object, owner: type | None = None) -> Any:
            """Compute and keep the value; later accesses find it in the instance."""
            if instance is None:
                return self
            value = vars(instance)[self.attrname] = self.func(instance)
            return value


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


def public(function: F) -> F:
    """Wrap a public function so that the error for an unknown option names the right one.

    The signature is unchanged.
    """
    options = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in options.values()):
        return function
    function_name = function.__name__
    if function_name == "__init__":
        function_name = function.__qualname__.split(".")[-2]
    required = {
        name
        for name, p in options.items()
        if name in _REQUIRED and p.default is p.empty and p.kind is p.KEYWORD_ONLY
    }

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if not options.keys() >= kwargs.keys():
            raise _unknown_option(function_name, kwargs, options)
        if required and (missing := required - kwargs.keys()):
            listed = " and ".join(f"{name}=, {_REQUIRED[name]}" for name in sorted(missing))
            raise MissingOptionError(f"{function_name}() needs {listed}.")
        return function(*args, **kwargs)

    return cast("F", checked)


_REQUIRED = {
    "k": "the number of raters behind each agreed answer, as in k=3",
    "parents": "the parent of each label, as a dict, a table or the path of a table; or '/' "
    "if labels are paths such as 'emotion/joy'",
    "per_rating": "the cost of a rating, such as 2",
    "panels": "a name for each panel and its raters, as in panels={'experts': ['ann', 'bob'], "
    "'crowd': ['w1', 'w2']}",
    "threshold": "the alpha to reach, such as 0.667",
    "window": "the length of a time window, as in window='7D'",
}
"""Meaning of the options without a default, with an example, for messages."""


def called_elsewhere(wrong: str, options: Collection[str]) -> tuple[str, str] | None:
    """Return the option that `wrong` names in other packages, and a note on the difference.

    Return None if there is no such option.
    """
    names = (n for n, others in _ALSO.items() if n in options and wrong.lower() in others.split())
    name = next(names, None)
    return None if name is None else (name, _NOTES.get((wrong, name), ""))


def _unknown_option(
    function: str, names: Iterable[str], options: Collection[str]
) -> UnknownOptionError:
    """Return the error for the first of the names that is not an option."""
    wrong = next(name for name in names if name not in options)
    start = f"{function}() has no {wrong}="
    if match := called_elsewhere(wrong, options):
        name, note = match
        return UnknownOptionError(f"{wrong}= is called {name}={note}.")
    if wrong in _OF_SAMPLED.split():
        table = f", or of the table: sa.read(table, {wrong}=...)"
        return UnknownOptionError(
            f"{start}; set it on the study first: study.sampled({wrong}=...)"
            f"{table if wrong in {'cluster', 'sampling_weight', 'strata'} else ''}."
        )
    if wrong in ("exclude_raters", "without", "drop_raters"):
        return UnknownOptionError(
            f"{start}; exclude the raters first: study.exclude_raters([...])."
        )
    for value, (kind, names) in _OF_VALUES.items():
        if value in options and wrong in names.split():
            return UnknownOptionError(f"{start}; use {value}=sa.{kind}({wrong}=...).")
    if wrong in _OF_READ.split():
        if "reading" in options:
            return UnknownOptionError(f"{start}; use reading=sa.Reading({wrong}=...).")
        if "agreements" in options:
            return UnknownOptionError(f"{start}; read the data first: sa.read(data, {wrong}=...).")
    if wrong == "questions":
        return UnknownOptionError(f"{start}; use setagree.by_question(data, {wrong}=...).")
    if near := near_names(wrong, options):
        return UnknownOptionError(f"{start}. Did you mean {' or '.join(f'{n}=' for n in near)}?")
    listed = ", ".join(f"{name}=" for name in options)
    return UnknownOptionError(f"{start}; its options are {listed}." if options else f"{start}.")


def constructor(kind: type, name: str) -> str | None:
    """Return the constructor of a class that has another name in other packages, or None."""
    names = (ours for ours, others in _CONSTRUCTORS.items() if name in others.split())
    return next((ours for ours in names if ours in dir(kind)), None)


_CONSTRUCTORS = {
    "from_long": "from_df from_dataframe from_pandas from_polars from_frame from_table",
    "from_indicators": "from_onehot from_one_hot from_numpy from_array from_binary from_multihot "
    "from_multilabel from_flags from_cube from_dummies",
    "from_triples": "from_tuples from_nltk from_list from_annotation_task",
    "from_contingency": "from_confusion from_confusion_matrix from_crosstab from_matrix",
}
"""Names of a constructor in other packages, by its name here."""


def check_target(target: Path) -> None:
    """Raise `FileError`, before any work, if a file cannot be written to a path."""
    if not target.parent.is_dir():
        raise FileError(f"There is no folder {str(target.parent)!r} to write {target.name!r} into.")
    if target.exists() and not target.is_file():
        raise FileError(f"{str(target)!r} is not a file that could be replaced.")


def replace_file(target: Path, content: str | bytes) -> None:
    """Write a file and then replace the old one, if any. A link to the file stays a link."""
    if isinstance(content, str):
        # A label may contain a lone surrogate, which UTF-8 cannot encode.
        content = content.encode("utf-8", "backslashreplace")
    path = target.resolve()
    try:
        replace_files({path: content})
    except OSError as error:
        raise FileError(f"{str(target)!r} cannot be written: {error.strerror or error}.") from error


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Write all files under temporary names, then rename each. Links are replaced."""
    with ExitStack() as stack:
        temporary: list[tuple[Path, Path]] = []
        for path, content in contents.items():
            temporary_path = path.with_name(f".{path.name[:40]}.{os.getpid()}.tmp")
            with temporary_path.open("xb") as file:
                stack.callback(temporary_path.unlink, missing_ok=True)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                shutil.copymode(path, temporary_path)
            temporary.append((temporary_path, path))
        for temporary_path, path in temporary:
            temporary_path.replace(path)

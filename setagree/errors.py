"""Exceptions, warnings, and helpers for their messages."""

from __future__ import annotations

import difflib
import inspect
import re
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from os import PathLike, fsencode
from types import MappingProxyType
from typing import Any, Self

import numpy as np

_LONGEST_ITEM = 200

_CALLED: ContextVar[Mapping[str, str]] = ContextVar("_CALLED", default=MappingProxyType({}))
"""Spelling of each option on the command line; empty for calls from Python."""


class SetagreeError(ValueError):
    """Base class of all errors of setagree.

    `remedy` are options with which the call may succeed, if the error names them.
    """

    remedy: Mapping[str, Any] = MappingProxyType({})

    def worded(self, message: str) -> Self:
        """Return the error with another message."""
        self.args = (message,)
        return self

    def having(self, **facts: object) -> Self:
        """Return the error with facts as attributes."""
        vars(self).update(facts)
        return self


class LabelError(SetagreeError):
    """A cell cannot be read as a label set."""


class UnknownLabelsError(LabelError):
    """A cell has `labels` that are not in the codebook."""

    labels: Sequence[Any] = ()


class DataError(SetagreeError):
    """A table cannot be read as annotations."""


class NoTableError(DataError):
    """The argument is not a table."""


class UnnamedError(DataError):
    """Rows have no unit or no rater."""


class RepeatsError(DataError):
    """A rater annotated a unit more than once.

    `rows` are the numbers of the rows with the first such pair, from 1; empty if they are unknown.
    `pairs` is the message without a remedy.
    """

    rows: Sequence[int] = ()
    pairs: str = ""


class DistanceError(SetagreeError):
    """A distance breaks its contract, or does not fit the values."""


class OptionError(SetagreeError):
    """An option has an unknown or invalid value."""


class SeveralQuestionsError(OptionError):
    """An export has answers to several questions, listed in `names`."""

    names: Sequence[str] = ()


class UnknownOptionError(OptionError, TypeError):
    """A function has no option of that name."""


class MissingOptionError(OptionError, TypeError):
    """A function was not given an option that it needs."""


class FileError(SetagreeError):
    """A file cannot be read as a table."""


class CostError(SetagreeError):
    """A call would need more memory or time than is allowed."""


class MissingDependencyError(SetagreeError, ImportError):
    """An optional package is needed and not installed."""


class SetagreeWarning(UserWarning):
    """Base class of all warnings of setagree.

    `remedy` are options that the warning proposes.
    """

    remedy: Mapping[str, Any] = MappingProxyType({})


class UndefinedAgreementWarning(SetagreeWarning):
    """An estimate is NaN; the warning gives the reason."""


class BlankLabelsWarning(SetagreeWarning):
    """Blank or null cells were read as missing or as the empty set; the message names the rule."""


class SimilarLabelsWarning(SetagreeWarning):
    """Two labels differ only in case, or only in being text or a number."""


class MissingMarkerWarning(SetagreeWarning):
    """Cells that often mean "missing" were read as labels."""


class SeparatorWarning(SetagreeWarning):
    """Labels appear to be separated by another separator."""


class DegreesWarning(SetagreeWarning):
    """A result ignores degrees, or raters appear to have used several scales for them."""


class MixedScaleWarning(SetagreeWarning):
    """Most answers are numbers and some are not; all were read as categories."""


class ResamplingWarning(SetagreeWarning):
    """The intervals of a resampling method are too narrow."""


class SparseRatersWarning(SetagreeWarning):
    """Raters who rated few units were left out of a plan."""


class FewClustersWarning(SetagreeWarning):
    """Clusters are too few, or of too unequal size, for an interval that keeps its level."""


class AdaptiveRatingsWarning(SetagreeWarning):
    """Ratings seem to have been requested because of earlier answers."""


class FarAnswersWarning(SetagreeWarning):
    """One unit has so much of the disagreement that no available interval keeps its level."""


class ConvergenceWarning(SetagreeWarning):
    """An iteration stopped before it converged."""


class SwappedColumnsWarning(SetagreeWarning):
    """Units and raters appear to be exchanged."""


class DroppedRowsWarning(SetagreeWarning):
    """A condition dropped rows; the warning counts them."""


def warn(message: str, category: type[SetagreeWarning], **remedy: Any) -> None:
    """Issue a warning that points at the line that called setagree, with its `remedy`."""
    warning = category(message)
    warning.remedy = remedy
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).split(".")[0] == "setagree":
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def warn_nan(names: str, reason: str) -> None:
    """Warn that the estimates of these names are undefined, with the reason."""
    warn(f"{names}: undefined (nan), because {reason}.", UndefinedAgreementWarning)


def missing_package(what: str, package: str, extra: str) -> MissingDependencyError:
    """Return the error for a missing package, with the install command.

    If the package is installed and does not load, the error gives the reason instead.
    """
    error = sys.exception()
    if isinstance(error, ImportError) and not isinstance(error, ModuleNotFoundError):
        return MissingDependencyError(f"{what} needs {package}, which does not load: {error}.")
    return MissingDependencyError(
        f'{what} needs {package}, which is not installed: pip install "setagree[{extra}]"'
    )


@contextmanager
def needing(package: str, what: str) -> Iterator[None]:
    """Import a package of the extra ``files``; an error names it and `what`, which needs it."""
    try:
        yield
    except ImportError:
        raise missing_package(what, package, "files") from None


@contextmanager
def spelling(called: Mapping[str, str]) -> Iterator[None]:
    """Spell options in messages as on the command line."""
    token = _CALLED.set({**_CALLED.get(), **called})
    try:
        yield
    finally:
        _CALLED.reset(token)


def option(name: str, value: object = ..., *, limit: int = sys.maxsize) -> str:
    """Return an option as the caller spells it, with its value if one is passed.

    An option that the command line lacks is spelled as in Python.
    """
    called = _CALLED.get().get(name)
    if called is None:
        return f"{name}=" if value is ... else f"{name}={shorten(value, limit=limit)}"
    if value is ... or value is True:
        return called
    if isinstance(value, list | tuple):
        if name in {"labels", "label_sep"}:  # texts that may have commas
            return " ".join(option(name, each, limit=limit) for each in value)
        value = ",".join(map(str, value))
    text = _quoted(value) if isinstance(value, str) else shorten(value)
    return f"{called} {_cut(text, limit)}"


def _quoted(text: str) -> str:
    """Return text quoted for a shell, with unprintable characters escaped."""
    printed = text if text.isprintable() else repr(text)[1:-1]
    return shlex.quote(printed) if "'" in printed else f"'{printed}'"


def python_or_command(python: str, command: str) -> str:
    """Return `command` for a call from the command line, otherwise `python`."""
    return command if _CALLED.get() else python


def near_names(name: object, options: Iterable[object], *, limit: int = 3) -> list[object]:
    """Return the options whose spelling is nearest to ``name``, best first."""
    by_folded = {str(x).casefold(): x for x in options}
    target = str(name).casefold()
    # difflib ranks krippendorff_alpha far from "alpha", because their lengths differ.
    parts = [folded for folded in by_folded if target in re.split(r"[^a-z0-9]+", folded)]
    close = difflib.get_close_matches(target, list(by_folded), n=limit, cutoff=0.6)
    nearest = dict.fromkeys([*parts, *close])
    return [by_folded[folded] for folded in nearest][:limit]


def did_you_mean(name: object, options: Iterable[object]) -> str:
    """Return `` Did you mean 'x'?``, or an empty string if no option is near."""
    close = near_names(name, options)
    return f" Did you mean {' or '.join(shorten(c) for c in close)}?" if close else ""


def listing(items: Sequence[object], *, limit: int = 5) -> str:
    """Return the first ``limit`` items as text, and the number of further items."""
    shown = ", ".join(shorten(item, limit=_LONGEST_ITEM) for item in items[:limit])
    rest = len(items) - limit
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def enumerated(words: Sequence[str], last: str = "and") -> str:
    """Return ``a, b and c``; `last` is the word before the last one."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def shorten(value: object, *, limit: int = 80) -> str:
    """Return ``repr(value)``, cut to `limit` characters."""
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # Python does not convert integers of more than 4,300 digits to text
        text = f"{a_type(value)} of thousands of digits"
    return _cut(text, limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return ``1 unit`` or ``1,234 units``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def a_type(value: object) -> str:
    """Return the type of a value with its article, such as ``a DataFrame``."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def check_choice(name: str, value: object, options: Sequence[str]) -> None:
    """Raise `OptionError` unless ``value`` is one of ``options``."""
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(map(repr, options))
        raise OptionError(
            f"{option(name, value, limit=80)} is unknown; use {listed}."
            f"{did_you_mean(value, options)}"
        )


def check_type(name: str, value: object, wanted: Any, what: str) -> None:
    """Raise `OptionError` unless the value is an instance of a type or union of types."""
    if not isinstance(value, wanted):
        raise OptionError(f"{option(name, value, limit=80)} must be {what}.")


def check_flag(name: str, value: object) -> None:
    """Raise `OptionError` unless the value is True or False."""
    check_type(name, value, bool | np.bool_, "True or False")


def check_list(name: str, value: object, items: str) -> None:
    """Raise `OptionError` unless the value is an iterable other than text."""
    if isinstance(value, str):
        end = ", not one text."
    else:
        end = "."
        with suppress(TypeError):  # a zero-dimensional array has __iter__, which raises
            iter(value)  # type: ignore[call-overload]
            return
    raise OptionError(f"{option(name, value, limit=80)} must be a list of {items}{end}")


def check_mapping(name: str, value: object, what: str) -> None:
    """Raise `OptionError` unless the value is a mapping."""
    if not isinstance(value, Mapping):
        raise OptionError(f"{option(name, value, limit=80)} must be a dict: {what}.")


def check_path(path: object) -> None:
    """Raise `OptionError` unless the value is a path that the file system can encode."""
    if not isinstance(path, str | PathLike):
        raise OptionError(f"path={shorten(path)} is {a_type(path)}; name a file by its path.")
    try:
        fsencode(path)
    except UnicodeEncodeError:
        raise OptionError(
            f"path={shorten(path)} has half a character (a lone surrogate), which a file name "
            "cannot contain."
        ) from None

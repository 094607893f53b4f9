"""Synthetic multi-label annotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from setagree.checks import as_generator, check_least, public
from setagree.errors import OptionError, check_list, counted, option
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.study.labels import parse_labels
from setagree.wording.label_sets import LabelSet


@public
def simulate(
    n_units: int = 100,
    n_raters: int = 3,
    *,
    n_labels: int = 5,
    prevalence: float | Sequence[float] = 0.3,
    skill: float | Sequence[float] = 0.7,
    size_bias: float | Sequence[float] = 1.0,
    missing: float = 0.0,
    labels: Sequence[str] | None = None,
    rng: int | np.random.Generator | None = None,
) -> Annotations:
    r"""Return simulated annotations by raters who make errors about true label sets.

    Label l belongs to a unit with probability p_l. For each label of each unit, rater g reports the
    truth with probability s_g and otherwise guesses: yes with probability q_gl, where
    q_gl / (1 - q_gl) = b_g p_l / (1 - p_l). An annotation is missing with probability `missing`,
    independently of everything else; a unit or rater left without annotations is not in the result.

    Parameters
    ----------
    n_units, n_raters, n_labels : int
        The size of the study.
    prevalence : float or sequence of shape (n_labels,)
        p_l, strictly between 0 and 1.
    skill : float or sequence of shape (n_raters,)
        s_g in [0, 1]; 0 is random, 1 is perfect.
    size_bias : float or sequence of shape (n_raters,)
        b_g > 0, the factor of a rater on the odds of a label in guesses.
    missing : float
        Share of annotations that are missing, in [0, 1).
    labels : sequence of str, optional
        Names of the labels. Default: ``l1, l2, ...``.
    rng : int or numpy Generator, optional
        The seed. The same seed gives the same study.

    Returns
    -------
    Annotations
        Units ``u1, u2, ...`` in order, raters ``r1, r2, ...``; rows sorted by unit.

    Raises
    ------
    OptionError
        A parameter is outside its range, or has another length than the labels or raters.

    Examples
    --------
    >>> simulate(50, 3, prevalence=0.2, missing=0.1, rng=1)
    <Annotations: 139 ratings, 50 units, 3 raters, 20 distinct label sets>
    """
    rng = as_generator(rng)
    for name, number in (("n_units", n_units), ("n_raters", n_raters), ("n_labels", n_labels)):
        check_least(name, number, 1)
    p = _vector("prevalence", prevalence, n_labels, "above 0 and below 1", lambda x: _inside(x, 1))
    s = _vector("skill", skill, n_raters, "0 to 1", lambda x: (x >= 0) & (x <= 1))
    b = _vector(
        "size_bias", size_bias, n_raters, "above 0 and finite", lambda x: _inside(x, np.inf)
    )
    _vector("missing", missing, 1, "0 or more and below 1", lambda x: (x >= 0) & (x < 1))
    names = _names(n_labels, labels)
    truth = rng.random((n_units, n_labels)) < p
    keys = np.stack([_answer(truth, p, s[g], b[g], rng) for g in range(n_raters)], axis=1)
    present = rng.random((n_units, n_raters)) >= missing
    if not present.any():
        raise OptionError(f"missing={missing} left no annotation of {counted(n_units, 'unit')}.")
    return _study(keys, present, names)


def _names(n_labels: int, labels: Sequence[str] | None) -> Sequence[str]:
    """Return the names of the labels, checked for their number and for repeated labels."""
    if labels is None:
        return [f"l{k + 1}" for k in range(n_labels)]
    check_list("labels", labels, f"n_labels={n_labels} names")
    labels = list(labels)
    if len(labels) != n_labels:
        raise OptionError(
            f"{option('labels', labels)} must be a list of n_labels={n_labels} names."
        )
    if parse_labels(labels) != frozenset(labels) or len(set(labels)) < n_labels:
        raise OptionError(
            f"{option('labels', labels)} must be different labels without space around."
        )
    return labels


def _inside(x: npt.NDArray[np.float64], high: float) -> npt.NDArray[np.bool_]:
    return (x > 0) & (x < high)


def _vector(
    name: str,
    value: float | Sequence[float],
    n: int,
    requirement: str,
    fits: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.bool_]],
) -> npt.NDArray[np.float64]:
    """Return n numbers that are checked by `fits`; `requirement` describes it for messages."""
    try:
        out = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise OptionError(f"{option(name, value)} must be numbers {requirement}.") from error
    if out.ndim and out.shape != (n,):
        raise OptionError(f"{name} has shape {out.shape}; one number or {n} are needed.")
    if not fits(out).all():
        raise OptionError(f"{option(name, value)} must be {requirement}.")
    return np.broadcast_to(out, n)


def _answer(
    truth: npt.NDArray[np.bool_],
    p: npt.NDArray[np.float64],
    skill: float,
    bias: float,
    rng: np.random.Generator,
) -> npt.NDArray[np.void]:
    """Return one rater's answers, each packed into one key."""
    guess = rng.random(truth.shape) < bias * p / (bias * p + 1 - p)
    flags = np.where(rng.random(truth.shape) < skill, truth, guess)
    packed = np.packbits(flags, axis=1)
    return np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()


def _study(
    keys: npt.NDArray[np.void], present: npt.NDArray[np.bool_], names: Sequence[str]
) -> Annotations:
    distinct, codes = np.unique(keys[present], return_inverse=True)
    units, raters = np.nonzero(present)
    used_units, unit_codes = np.unique(units, return_inverse=True)
    used_raters, rater_codes = np.unique(raters, return_inverse=True)
    return Annotations(
        "labels",
        as_objects(f"u{k + 1}" for k in used_units),
        as_objects(f"r{k + 1}" for k in used_raters),
        tuple(_label_set(key, names) for key in distinct),
        unit_codes.astype(np.int32),
        rater_codes.astype(np.int32),
        codes.astype(np.int32),
        int((~present).sum()),
    )


def _label_set(key: np.void, names: Sequence[str]) -> LabelSet:
    flags = np.unpackbits(np.frombuffer(key.tobytes(), dtype=np.uint8), count=len(names))
    return frozenset(name for name, flag in zip(names, flags, strict=True) if flag)

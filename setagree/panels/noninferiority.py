"""Tests of how far agreement changes where a model answers in the place of a human."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from setagree.checks import public
from setagree.coefficients.chance import ROUNDING
from setagree.coefficients.spread import unit_values
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    OptionError,
    SetagreeWarning,
    check_choice,
    counted,
    listing,
    option,
    warn,
)
from setagree.inference.known_raters import known_plain
from setagree.inference.raters import Codes, Flags, check_share, flags, people_of, rater_codes
from setagree.large.joining import with_models
from setagree.large.opening import Data
from setagree.panels.replacement import (
    FEW_LOST,
    FEW_UNITS,
    Against,
    Change,
    Replacement,
    ReplacementTable,
)
from setagree.scoring.coefficients import krippendorff_alpha
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score, score_part
from setagree.study.annotations import Annotations


@public
def noninferiority_test(
    study: Data,
    *,
    model: object,
    humans: Sequence[object] | None = None,
    margin: float = 0.1,
    against: Against = "mean",
    distance: DistanceLike | None = None,
) -> ReplacementTable:
    """Test whether people agree with a model almost as well as they agree with one another.

    For human h, the units count in which both h and the model answered, and the answers of the
    other humans to all units. Two panels are made of them: the humans, and the humans with the
    answers of h replaced by those of the model. With N ratings in pairable units of such a panel,
    and N_h of h among them::

        Delta_h = N / (2 N_h) [alpha(h replaced by the model) - alpha(humans)]

    is the model's chance-corrected agreement with the other humans, less that of h. A model that
    answers at random has -alpha, whatever the number of humans. The standard error comes from the
    linearised values of both panels, unit by unit. Tested is Delta <= -margin, one-sided at .05:

    - ``against="mean"``: of the mean over the humans, the place of a human drawn at random from
      this panel, by t with Hall's (1992) correction for skewness;
    - ``against="all"``: of every human, by t, or with Hall's correction where that has the larger
      p; all must be rejected (intersection-union), which needs no correction for their number.

    In simulated studies a model that loses exactly the margin passed in 6 % of them at most where
    the margin is worth three units or more: units in which the model is as far from everybody as
    answers can be, margin x shared units x expected disagreement / largest distance. With less it
    passed in up to 14 %, with fewer than 30 shared units in up to 27 %, and one of three such
    models in up to 37 %. ``against="all"`` needs a margin of four units.

    The test asks by how much agreement falls; the alternative annotator test (`alt_test`) asks how
    often the model is the nearer of the two. They can disagree.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        The answers of the humans, and of the models that are raters in it.
    model : rater, DataFrame or path, or list of these
        As in `alt_test`. The p-values of several models are corrected by Holm.
    humans : sequence of raters, optional
        Two or more. Default: everybody who is not a model.
    margin : float
        The loss of agreement that you would accept; decide before you look. It must be below the
        alpha of the humans, and half of that is already much.
    against : {"mean", "all"}
        What is tested; both are reported.
    distance : name, callable, Distance or labelled matrix, optional
        Default: MASI for label sets, nominal for scalars.

    Returns
    -------
    ReplacementTable
        The test of each model, the largest mean change first: ``table["gpt"]``.

    Raises
    ------
    DataError
        There are fewer than two humans, a rater is unknown, or the humans do not agree beyond
        chance.
    OptionError
        The margin is not below the alpha of the humans.

    Warns
    -----
    SetagreeWarning
        The margin is half the alpha of the humans or more; a human shares fewer than 30 units with
        the model, or the margin is worth fewer than three units (``against="all"``: four), where
        the test does not hold.

    References
    ----------
    Hall (1992), "On the removal of skewness by transformation", JRSS B 54.
    Berger (1982), "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(200, 5, skill=[0.7, 0.7, 0.7, 0.7, 0.9], rng=1)
    >>> test = noninferiority_test(study, model="r5", margin=0.1)["r5"]
    >>> round(test.change, 3), test.passes
    (0.182, True)
    """
    check_choice("against", against, ("mean", "all"))
    return _tested(study, model, humans, margin, against, distance, equivalence=False)


@public
def equivalence_test(
    study: Data,
    *,
    model: object,
    humans: Sequence[object] | None = None,
    margin: float = 0.1,
    distance: DistanceLike | None = None,
) -> ReplacementTable:
    """Test whether a model is like the mean human of a panel, neither worse nor better by a margin.

    The change is that of `noninferiority_test`. It is tested from both sides at .05, so that the
    90 % interval of the mean lies inside the margins where both are rejected (Schuirmann 1987). A
    model that is better than the humans by the margin fails.

    Parameters
    ----------
    study, model, humans, margin, distance
        As in `noninferiority_test`.

    Returns
    -------
    ReplacementTable

    Raises
    ------
    DataError, OptionError
        As in `noninferiority_test`.

    References
    ----------
    Schuirmann (1987), "A comparison of the two one-sided tests procedure and the power approach",
    Journal of Pharmacokinetics and Biopharmaceutics 15.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(200, 5, skill=[0.7, 0.7, 0.7, 0.7, 0.9], rng=1)
    >>> equivalence_test(study, model="r5", margin=0.1)["r5"].passes
    False
    """
    return _tested(study, model, humans, margin, "mean", distance, equivalence=True)


def _tested(
    study: Data,
    model: object,
    humans: Sequence[object] | None,
    margin: float,
    against: Against,
    distance: DistanceLike | None,
    *,
    equivalence: bool,
) -> ReplacementTable:
    study = known_plain(study, "equivalence_test" if equivalence else "noninferiority_test")
    check_share("margin", margin)
    study, names = with_models(study, model)
    models = rater_codes(study, names, "model", "model")
    people = people_of(study, humans, models)
    if people.sum() < 2:
        raise DataError(
            "agreement with the other humans needs two humans or more; here is "
            f"{counted(int(people.sum()), 'human')} beside the model."
        )
    rows = (people | flags(study.n_raters, models))[study.rater_codes]
    study, people = study.take(rows).with_used_values(), people[np.unique(study.rater_codes[rows])]
    whole = score(study, krippendorff_alpha, distance=distance)
    human_alpha = score_part(whole, study.take(people[study.rater_codes])).estimate
    _check_margin(margin, human_alpha, study.raters[people].tolist())
    tests = []
    for code in rater_codes(study, names, "model"):
        changes = _changes(whole, study, people, code)
        name = study.raters[code]
        tests.append(
            Replacement(name, whole.distance, margin, against, changes, human_alpha, equivalence)
        )
    _warn_few(tests)
    return ReplacementTable.ranked(tests)


def _check_margin(margin: float, alpha: float, people: list[object]) -> None:
    """Refuse a margin that leaves nothing of the humans' agreement; warn where it leaves half."""
    if not alpha > 0:
        raise DataError(
            f"the humans ({listing(people)}) do not agree beyond chance (alpha {alpha:.4f}), so "
            "that there is no agreement which a model could keep."
        )
    if margin >= alpha:
        raise OptionError(
            f"{option('margin', margin)} is not below the alpha of the humans ({listing(people)}), "
            f"{alpha:.4f}: a model that answers at random would pass. Take a fraction of that "
            "alpha."
        )
    if margin >= alpha / 2:
        warn(
            f"The margin of {margin:g} is {100 * margin / alpha:.0f} % of the alpha of the humans "
            f"({alpha:.4f}): a model may lose that share of their agreement and still pass.",
            SetagreeWarning,
        )


def _changes(whole: Agreement, study: Annotations, people: Flags, model: int) -> tuple[Change, ...]:
    """Return what changes where the model answers in the place of each human."""
    answers = np.full(study.n_units, -1, dtype=np.int64)
    own = study.rater_codes == model
    answers[study.unit_codes[own]] = study.value_codes[own]
    found = []
    for human in np.flatnonzero(people).tolist():
        of_human = study.rater_codes == human
        both = of_human & (answers[study.unit_codes] >= 0)
        kept = (people[study.rater_codes] & ~of_human) | both
        replaced = np.where(both, answers[study.unit_codes], study.value_codes)
        panel = study.take(kept)
        with_model = replace(panel, value_codes=replaced[kept].astype(panel.value_codes.dtype))
        place = np.flatnonzero(np.bincount(study.unit_codes[kept], minlength=study.n_units))
        found.append(
            _change(
                study.raters[human],
                [score_part(whole, one) for one in (panel, with_model)],
                place,
                both[kept],
            )
        )
    return tuple(found)


def _change(human: object, panels: list[Agreement], place: Codes, of_human: Flags) -> Change:
    """Return Delta_h with its parts; nan where a panel has no alpha.

    `place` says which unit of the whole study each of the panels' is, `of_human` which of their
    ratings are of the human, or of the model in that place.
    """
    before, after = panels
    (units, x), (_, y) = (unit_values(one.case, one.parts) for one in panels)
    study = before.study
    assert study is not None  # noqa: S101 - a part of one in memory
    pairable = np.bincount(study.unit_codes, minlength=study.n_units) >= 2
    counts = pairable[study.unit_codes]
    N, N_h, n = int(counts.sum()), int((counts & of_human).sum()), len(units)
    if not N_h or n < 2 or not np.isfinite(before.estimate - after.estimate):
        why = "shares no unit with the model" if not of_human.any() else "alpha is undefined there"
        return Change(human, N_h, before.estimate, after.estimate, np.zeros(0, int), why=why)
    scale = N / (2 * N_h)
    d = scale * (y - x)
    psi = (d - d.mean()) / np.sqrt(n * (n - 1))
    psi[np.abs(psi) * n <= ROUNDING] = 0.0
    one_unit = before.weights.max_distance / (before.expected_disagreement * N_h)
    return Change(human, N_h, before.estimate, after.estimate, place[units], scale, psi, one_unit)


def _warn_few(tests: Sequence[Replacement]) -> None:
    """Say where the test was not seen to hold its size: few shared units, or a margin of few."""
    every = [
        (f"{one.human} with {test.model}", test, one) for test in tests for one in test.defined
    ]
    few = [f"{pair}: {one.n_ratings}" for pair, _, one in every if one.n_ratings < FEW_UNITS]
    if few:
        warn(
            f"Some humans answered fewer than {FEW_UNITS} units together with the model "
            f"({listing(few)}); the test was not seen to hold its size there.",
            SetagreeWarning,
        )
        return
    worth = [(pair, test.margin / one.one_unit) for pair, test, one in every]
    least = FEW_LOST[tests[0].against]
    little = [f"{pair}: {units:.1f}" for pair, units in worth if units < least]
    if little:
        warn(
            f"The margin of {tests[0].margin:g} is worth fewer than {least:g} units in which "
            f"the model alone is wrong ({listing(little)}): a model that loses the margin passes "
            "too often. More units help, or a larger margin.",
            SetagreeWarning,
        )

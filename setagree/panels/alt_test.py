"""May a model replace a human? The alternative annotator test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import public
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    UndefinedAgreementWarning,
    check_choice,
    counted,
    listing,
    option,
    python_or_command,
    warn,
)
from setagree.inference.known_raters import known_plain
from setagree.inference.raters import (
    Codes,
    Flags,
    case_of,
    check_least,
    check_share,
    flags,
    part_of,
    people_of,
    rater_codes,
)
from setagree.large.joining import with_models
from setagree.large.opening import Data
from setagree.panels.alt_power import products_of
from setagree.panels.alt_results import AltTest, AltTestTable, decide
from setagree.panels.wins import ROUNDING, Contest
from setagree.study.annotations import Annotations

Equal: TypeAlias = Literal["published", "exact"]


@public
def alt_test(
    study: Data,
    *,
    model: object,
    humans: Sequence[object] | None = None,
    distance: DistanceLike | None = None,
    epsilon: float = 0.1,
    q: float = 0.05,
    min_units: int = 30,
    min_humans: int = 2,
    equal: Equal = "published",
) -> AltTestTable:
    """Test whether a model may replace a human, by leaving out one human after the other.

    For human j and unit i, S(x) is the mean similarity of answer x to those of the other humans.
    The model wins if S(model) >= S(j), the human if S(j) >= S(model); a tie is a win for both. With
    W the share of wins, W_j - W_model >= epsilon is tested against less by a one-sample t-test, and
    the p-values of all humans are corrected by Benjamini and Yekutieli. The model passes where half
    of the tests or more are rejected. It assumes that units are drawn independently, and that what
    the humans have in common is what is wanted.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        The answers of the humans, and of the models that are raters in it.
    model : rater, DataFrame or path, or list of these
        A rater of the study; or where its answers to the same units stand, a table with the unit
        and the labels, which is read as the study was, with its ``where=`` and ``duplicates=``. It
        is called what its column of raters says, else as the file. None of the models is then a
        human.
    humans : sequence of raters, optional
        Default: everybody who is not a model.
    distance : name, callable, Distance or labelled matrix, optional
        Similarity is 1 - d. Default: MASI for label sets, nominal for scalars.
    epsilon : float
        The advantage that a human must have to be worth the price. The authors advise 0.2 for
        experts, 0.15 for skilled annotators, 0.1 for a crowd, and less where humans agree little.
    q : float
        The false discovery rate.
    min_units : int
        Units that a human must share with the model and other humans; below 30 the t-test is
        doubtful.
    min_humans : int
        Humans that a unit must have, 2 at least.
    equal : {"published", "exact"}
        Which means of similarities count as equal, so that both win. ``"published"`` compares
        doubles as the authors' program does: rounding breaks some ties, differently for another
        order of the raters. ``"exact"`` counts these as ties. In a study of 1,120 units it changed
        8 of 5,600 comparisons at most. Of a distance that 1 does not bound mean distances are
        compared, and what rounding breaks is a tie in either case.

    Returns
    -------
    AltTestTable
        The test of each model, ranked by their average advantage probability: ``table["gpt"]``.

    Raises
    ------
    DataError
        There are fewer than three humans, or a rater is unknown.
    OptionError
        An option is out of its range.

    Warns
    -----
    UndefinedAgreementWarning
        No human shares enough units: the winning rate is nan.

    References
    ----------
    Calderon, Reichart and Dror (2025), "The alternative annotator test for LLM-as-a-judge".

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(200, 5, skill=[0.7, 0.7, 0.7, 0.7, 0.9], rng=1)
    >>> result = alt_test(study, model="r5", epsilon=0.1)["r5"]
    >>> result.winning_rate
    1.0
    >>> result.verdict
    'r5 may replace a human: it wins over 4 of 4 humans (winning rate 1.00, epsilon 0.1).'
    >>> alt_test(study, model=["r4", "r5"])
    <AltTestTable of 2 models, the best 'r5' (0.9117)>

    The answers of a model in a table of its own:

    >>> gpt = study.to_long().query("rater == 'r5'")[["unit", "labels"]]
    >>> alt_test(study.without_raters(["r5"]), model=gpt)["model"].winning_rate
    1.0
    """
    study = known_plain(study, "alt_test")
    check_share("epsilon", epsilon)
    check_share("q", q)
    check_least("min_units", min_units, 2)
    check_least("min_humans", min_humans, 2)
    study, names = with_models(study, model)
    models = rater_codes(study, names, "model", "model")
    check_choice("equal", equal, ("published", "exact"))
    people = _humans(study, humans, models)
    # Who is neither has no say in what a distance takes from the data.
    kept = people | flags(study.n_raters, models)
    study, people = part_of(study, kept[study.rater_codes]), people[kept]
    compared = case_of(study, distance)
    tolerance = ROUNDING if equal == "exact" else 0.0
    contest = Contest(study, compared.weights, people, min_humans, tolerance, compared.bounded)
    tests = [
        _tested(contest, code, compared.name, float(epsilon), float(q), min_units)
        for code in rater_codes(study, names, "model")
    ]
    _warn_undefined(tests)
    return AltTestTable(tuple(sorted(tests, key=_rank)))


def _tested(
    contest: Contest, model: int, distance: str, epsilon: float, q: float, min_units: int
) -> AltTest:
    study = contest.study
    units, humans, model_wins, human_wins = contest.wins(model)
    shared = np.bincount(humans, minlength=study.n_raters)
    tested = np.flatnonzero(contest.people & (shared >= min_units))
    few = np.flatnonzero(contest.people & (shared < min_units))
    n = shared[tested]
    lost = human_wins.astype(np.float64) - model_wins
    sums = [
        np.bincount(humans, x, study.n_raters)[tested] for x in (model_wins, human_wins, lost**2)
    ]
    difference = (sums[1] - sums[0]) / n
    frame = pd.DataFrame(
        {
            "n_units": n,
            "advantage": sums[0] / n,
            "human_advantage": sums[1] / n,
            "difference": difference,
            # Integers until the last step: all differences alike give exactly 0.
            "standard_error": np.sqrt((n * sums[2] - (sums[1] - sums[0]) ** 2) / (n - 1)) / n,
        },
        index=_named(study, tested),
    )
    frame["low"], frame["high"] = _wilson(sums[0], n)
    frame["p_value"], frame["p_adjusted"], frame["rejected"] = decide(frame, epsilon, q)
    skipped = pd.Series(shared[few], index=_named(study, few), name="n_units")
    frame["agreement"] = contest.agreements[tested]
    n_units = len(np.unique(units))
    name = study.raters[model]
    pairs = products_of(units, humans, lost, tested)
    return AltTest(name, distance, epsilon, q, frame, skipped, n_units, contest.alpha, pairs)


def _named(study: Annotations, codes: Codes) -> pd.Index[Any]:
    return pd.Index(study.raters[codes], name="human", dtype=object, tupleize_cols=False)


def _wilson(wins: npt.NDArray[Any], n: npt.NDArray[Any]) -> tuple[list[float], list[float]]:
    """Return the Wilson 95% interval of each share of wins."""
    from scipy import stats

    tests = [stats.binomtest(int(k), int(m)) for k, m in zip(wins, n, strict=True)]
    ends = [test.proportion_ci(0.95, method="wilson") for test in tests]
    return [end.low for end in ends], [end.high for end in ends]


def _humans(study: Annotations, humans: Sequence[object] | None, models: list[int]) -> Flags:
    """Return who is a human, checked to be three or more and none a model."""
    people = people_of(study, humans, models)
    if people.sum() < 3:
        other = python_or_command("noninferiority_test", "--margin")
        also = f" {other} needs no more than two." if people.sum() == 2 else ""
        raise DataError(
            f"the alt-test needs three humans or more; here {counted(int(people.sum()), 'human')} "
            f"beside the model: {listing(study.raters[people].tolist()) or 'nobody'}. With two, "
            f"nothing is left to call the humans' common view.{also}"
        )
    return people


def _rank(test: AltTest) -> tuple[bool, float]:
    rho = test.average_advantage_probability
    return bool(np.isnan(rho)), -rho if rho == rho else 0.0


def _warn_undefined(tests: Sequence[AltTest]) -> None:
    undefined = [test for test in tests if test.reason is not None]
    if undefined:
        names = listing([test.model for test in undefined])
        warn(
            f"alt-test of {names}: undefined (nan), because {undefined[0].reason}; "
            f"{option('min_units')} lowers what is enough.",
            UndefinedAgreementWarning,
        )

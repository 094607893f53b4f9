"""The coefficients as functions, and their registry; for formulas see `setagree.coefficients`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, Unpack

from setagree.coefficients.chance_models import GwetUrn, NoChance, Redrawn, Uniform, Urn
from setagree.coefficients.conger import UrnOfEachRater
from setagree.distances import distance_names, get_distance
from setagree.distances.registry import DistanceLike, offered, offered_names
from setagree.errors import OptionError, did_you_mean, listing, option
from setagree.large.opening import Data, RaterAnswers, ReadingOptions
from setagree.lazy import pd
from setagree.scoring.definition import Coefficient, coefficient
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score
from setagree.study.annotations import Annotations  # noqa: F401 - the examples build studies
from setagree.wording.sentences import LONGEST_NAME, cut, short_text, visible


@coefficient(
    model=Urn("ratings"),
    title="Krippendorff's alpha",
    symbol="α",
    short="alpha",
    source="Krippendorff 2011",
    short_names=("alpha",),
)
def krippendorff_alpha(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    **options: Unpack[ReadingOptions],
) -> Agreement:
    """Return Krippendorff's alpha = 1 - Do / De.

    Do is the mean distance between the answers to the same unit, in which a unit counts by its
    number of ratings; De is that between all answers of the study: De = n' D n / (N (N - 1)), n_k
    how often value k was given and N the number of ratings. Units with one rating drop out. The
    standard error is that of Gwet (2014), by linearisation.

    Parameters
    ----------
    study : Annotations, Tally, table, path, or answers
        The ratings, in any form that `agreement` takes.
    *more, **options
        The answers of further raters, and options of `Reading`; see `agreement`.
    distance : name, callable, Distance or labelled matrix, optional
        Default: ``"masi"`` for label sets, ``"ruzicka"`` if they have degrees, ``"ordinal"`` for
        ordered categories, ``"nominal"`` for other scalars; numbers that are measured, not codes,
        need ``"interval"``.

    Returns
    -------
    Agreement

    Raises
    ------
    DistanceError
        The distance does not fit the values, or breaks its contract.

    Warns
    -----
    UndefinedAgreementWarning
        There is only one value, or no pairable unit: the estimate is NaN.

    See Also
    --------
    mv_alpha : alpha with a chance model that redraws labels instead of whole sets.

    References
    ----------
    Krippendorff (2011), "Computing Krippendorff's alpha-reliability"; Gwet (2014), ch. 2.

    Examples
    --------
    >>> study = Annotations.from_triples([
    ...     ("ann", 1, "a, b"), ("bob", 1, "a"), ("ann", 2, "c"), ("bob", 2, "c"),
    ...     ("ann", 3, set()), ("bob", 3, set()),
    ... ])
    >>> round(krippendorff_alpha(study).estimate, 4)
    0.7368
    """
    return score(study, krippendorff_alpha, distance=distance)


@coefficient(
    model=Urn("units"),
    title="Fleiss' kappa",
    symbol="κ",
    short="kappa",
    source="Fleiss 1971",
    short_names=("fleiss",),
)
def fleiss_kappa(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    **options: Unpack[ReadingOptions],
) -> Agreement:
    """Return Fleiss' kappa (pa - pe) / (1 - pe), generalised to any distance and missing ratings.

    pa is the mean credit between two ratings of a unit, over the units that have two; pe = pi' W
    pi, with pi_k the mean share of value k in a unit, over all rated units. With two raters it is
    Scott's pi. On complete data with r raters and U units, alpha = kappa + (1 - kappa) / (U r). The
    standard error is that of Gwet (2014), by linearisation.

    Parameters
    ----------
    study, more, distance, options
        As in `krippendorff_alpha`.

    Returns
    -------
    Agreement

    Raises
    ------
    DistanceError
        The distance does not fit the values, or breaks its contract.

    References
    ----------
    Fleiss (1971), Psychological Bulletin 76; Gwet (2014), ch. 3.

    Examples
    --------
    >>> study = Annotations.from_triples([
    ...     ("ann", 1, "a, b"), ("bob", 1, "a"), ("ann", 2, "c"), ("bob", 2, "c"),
    ... ])
    >>> round(fleiss_kappa(study, distance="jaccard").estimate, 4)
    0.5556
    """
    return score(study, fleiss_kappa, distance=distance)


@coefficient(
    model=UrnOfEachRater(),
    title="Conger's kappa",
    symbol="κ",
    short="kappa",
    source="Conger 1980",
    raters="known",
    short_names=("conger",),
)
def conger_kappa(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    **options: Unpack[ReadingOptions],
) -> Agreement:
    """Return Conger's kappa, the many-rater kappa with one distribution of answers per rater.

    pe = sum_kl w_kl (pbar_k pbar_l - s2_kl / r): the mean of p_g' W p_h over pairs of different
    raters, p_g the shares of rater g. With two raters it is Cohen's kappa.

    Parameters
    ----------
    study, more, distance, options
        As in `krippendorff_alpha`.

    Returns
    -------
    Agreement

    Raises
    ------
    DistanceError
        The distance does not fit the values, or breaks its contract.
    DataError
        The study is a tally that keeps no raters.

    References
    ----------
    Conger (1980), Psychological Bulletin 88; Gwet (2014), ch. 5.

    Examples
    --------
    >>> study = Annotations.from_triples([
    ...     ("ann", 1, "a"), ("bob", 1, "a"), ("eva", 1, "a, b"),
    ...     ("ann", 2, "b"), ("bob", 2, "b"), ("eva", 2, "b"),
    ... ])
    >>> round(conger_kappa(study).estimate, 4)
    0.6
    """
    return score(study, conger_kappa, distance=distance)


@coefficient(
    model=UrnOfEachRater(),
    title="Cohen's kappa",
    symbol="κ",
    short="kappa",
    source="Cohen 1968",
    raters="two",
    for_more="conger_kappa",
    short_names=("cohen",),
)
def cohen_kappa(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    **options: Unpack[ReadingOptions],
) -> Agreement:
    """Return Cohen's kappa of two raters; ``"linear"`` and ``"quadratic"`` distances weight it.

    pe = p_1' W p_2, each rater's shares taken over all of that rater's ratings.

    Parameters
    ----------
    study, more, distance, options
        As in `krippendorff_alpha`.

    Returns
    -------
    Agreement

    Raises
    ------
    DistanceError
        The distance does not fit the values, or breaks its contract.
    DataError
        There are more than two raters, or a tally without enough information on them.

    References
    ----------
    Cohen (1960, 1968); the standard error is Gwet's (2014, ch. 5).

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame([[20, 5], [10, 15]], index=["yes", "no"], columns=["yes", "no"])
    >>> round(cohen_kappa(Annotations.from_contingency(table)).estimate, 4)
    0.4
    """
    return score(study, cohen_kappa, distance=distance)


@coefficient(
    model=Urn("units"),
    title="Scott's pi",
    symbol="π",
    short="pi",
    source="Scott 1955",
    raters="two",
    for_more="fleiss_kappa",
    short_names=("scott", "pi"),
)
def scott_pi(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    **options: Unpack[ReadingOptions],
) -> Agreement:
    """Return Scott's pi of two raters: Fleiss' kappa for two.

    pe = pi' W pi with shares pooled over the two raters.

    Parameters
    ----------
    study, more, distance, options
        As in `krippendorff_alpha`.

    Returns
    -------
    Agreement

    Raises
    ------
    DistanceError
        The distance does not fit the values, or breaks its contract.
    DataError
        There are more than two raters, or a tally without enough information on them.

    References
    ----------
    Scott (1955), Public Opinion Quarterly 19.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame([[20, 5], [10, 15]], index=["yes", "no"], columns=["yes", "no"])
    >>> round(scott_pi(Annotations.from_contingency(table)).estimate, 4)
    0.3939
    """
    return score(study, scott_pi, distance=distance)


@coefficient(
    model=GwetUrn(),
    title="Gwet's AC2",
    nominal_title="Gwet's AC1",
    symbol="AC",
    short="AC",
    source="Gwet 2008",
    short_names=("gwet", "ac", "ac1", "ac2"),
)
def gwet_ac(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    categories: Iterable[Any] | None = None,
    **options: Unpack[ReadingOptions],
) -> Agreement:
    """Return Gwet's AC1 (nominal) or AC2 (any other distance).

    pe = T_w / (K (K - 1)) sum_k pi_k (1 - pi_k), T_w the sum of all K x K credits. It depends on K:
    with label sets there are up to 2^L values, of which the study shows some. By default K counts
    the distinct observed values; `categories` lists those that could have been given.

    Parameters
    ----------
    study, more, distance, options
        As in `krippendorff_alpha`.
    categories : iterable of values, optional
        All values that could have been given, the observed ones among them.

    Returns
    -------
    Agreement

    Raises
    ------
    DistanceError
        The distance does not fit the values, or breaks its contract.
    OptionError
        An observed value is not among the categories.

    References
    ----------
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61; Gwet (2014), ch. 4.

    Examples
    --------
    >>> study = Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "a"), ("ann", 2, "a"),
    ...                                   ("bob", 2, "b"), ("ann", 3, set()), ("bob", 3, set())])
    >>> round(gwet_ac(study, distance="nominal").estimate, 4)
    0.52
    """
    return score(study, gwet_ac, distance=distance, categories=categories)


@coefficient(
    model=Uniform(),
    title="Brennan-Prediger",
    symbol="BP",
    short="the coefficient",
    source="Brennan & Prediger 1981",
    short_names=("bp",),
)
def brennan_prediger(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    categories: Iterable[Any] | None = None,
    **options: Unpack[ReadingOptions],
) -> Agreement:
    """Return the Brennan-Prediger coefficient; also Bennett's S and Randolph's free-marginal kappa.

    pe = T_w / K², T_w the sum of all K x K credits: chance picks every value equally often. It
    depends on K as `gwet_ac` does.

    Parameters
    ----------
    study, more, distance, options
        As in `krippendorff_alpha`.
    categories : iterable of values, optional
        All values that could have been given, the observed ones among them.

    Returns
    -------
    Agreement

    Raises
    ------
    DistanceError
        The distance does not fit the values, or breaks its contract.
    OptionError
        An observed value is not among the categories.

    References
    ----------
    Brennan & Prediger (1981), Educational and Psychological Measurement 41; Gwet (2014), ch. 4.

    Examples
    --------
    >>> study = Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "a")])
    >>> brennan_prediger(study, categories=["a", "b"]).estimate
    1.0
    """
    return score(study, brennan_prediger, distance=distance, categories=categories)


@coefficient(
    model=NoChance(),
    title="Percent agreement",
    symbol="pa",
    short="agreement",
    short_names=("percent",),
)
def percent_agreement(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    **options: Unpack[ReadingOptions],
) -> Agreement:
    """Return the observed agreement pa, not corrected for chance.

    The mean over pairable units of the credit w = 1 - d / d_max between two of its ratings; with
    the nominal distance the share of equal pairs.

    Parameters
    ----------
    study, more, distance, options
        As in `krippendorff_alpha`.

    Returns
    -------
    Agreement

    Raises
    ------
    DistanceError
        The distance does not fit the values, or breaks its contract.

    References
    ----------
    Gwet (2014), ch. 2.

    Examples
    --------
    >>> study = Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "a, b")])
    >>> percent_agreement(study, distance="jaccard").estimate
    0.5
    """
    return score(study, percent_agreement, distance=distance)


@coefficient(
    model=Redrawn(),
    title="mv-alpha",
    symbol="α",
    short="mv-alpha",
    source="Krippendorff & Craggs 2016",
    default_distance="dice",
    short_names=("mv",),
)
def mv_alpha(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    **options: Unpack[ReadingOptions],
) -> Agreement:
    r"""Return alpha for multi-valued data, where chance redraws labels and keeps set sizes.

    De = sum_st P_s P_t E_st: the mean distance of an s-set and a t-set of labels drawn without
    replacement in proportion to their use, over the sizes that occur. Plain alpha redraws whole
    sets. With one label in every set it is nominal alpha. The standard error has no closed form.

    Parameters
    ----------
    study : Annotations, Tally, table, path, or answers
        The ratings, in any form that `agreement` takes.
    distance : name or OverlapDistance, optional
        A distance of \|A\|, \|B\| and \|A ∩ B\| alone. Default: ``"dice"``.

    Returns
    -------
    Agreement

    Raises
    ------
    DistanceError
        The distance does not fit the values, or breaks its contract.
    CostError
        Sets of hundreds of labels, of thousands in all.

    References
    ----------
    Krippendorff & Craggs (2016), Communication Methods and Measures 10, eq. for mv-alpha.

    Examples
    --------
    >>> study = Annotations.from_triples([
    ...     ("ann", 1, "b, d"), ("bob", 1, "d"), ("ann", 2, "a, b, d"), ("bob", 2, "b"),
    ...     ("eva", 2, "b, d"), ("ann", 3, set()), ("bob", 3, "a"), ("eva", 3, "a"),
    ...     ("ann", 4, "a"),
    ... ])
    >>> round(mv_alpha(study).estimate, 7)
    0.2865907
    """
    return score(study, mv_alpha, distance=distance)


COEFFICIENTS: dict[str, Coefficient[...]] = {
    one.name: one
    for one in (
        krippendorff_alpha,
        fleiss_kappa,
        conger_kappa,
        cohen_kappa,
        scott_pi,
        gwet_ac,
        brennan_prediger,
        percent_agreement,
        mv_alpha,
    )
}
"""The coefficients of this package; `get_coefficient` finds them by name."""

_SHORT = {short: one for one in COEFFICIENTS.values() for short in one.short_names}

_GROUP = "setagree.coefficients"  # of entry points
CoefficientLike: TypeAlias = "str | Coefficient[...]"


def get_coefficient(coefficient: CoefficientLike) -> Coefficient[...]:
    """Return the coefficient of that name, or the coefficient that was passed.

    A name may be short (``"alpha"``, ``"fleiss"``, ``"ac1"``), or one that an installed package
    offers through the entry-point group ``setagree.coefficients``.
    """
    if isinstance(coefficient, Coefficient):
        return coefficient
    if not isinstance(coefficient, str):
        raise OptionError(
            f"{option('coefficient', coefficient, limit=80)} is neither the name of a coefficient "
            "nor one made by the decorator setagree.coefficient."
        )
    name = coefficient
    found = COEFFICIENTS.get(name) or _SHORT.get(name.lower())
    found = found or offered(_GROUP, name, Coefficient, "coefficient")
    if found is not None:
        return found
    several = [one for one in COEFFICIENTS if name.lower() in one.split("_")]
    if len(several) > 1:
        raise OptionError(f"coefficient {name!r} may be {listing(several)}; name one of them.")
    hint = did_you_mean(name, COEFFICIENTS) or f" Known: {', '.join(COEFFICIENTS)}."
    raise OptionError(f"coefficient {name!r} is unknown.{hint}")


def coefficient_names() -> list[str]:
    """Return the names and short names of the coefficients; those of packages are not loaded."""
    return [*COEFFICIENTS, *_SHORT, *offered_names(_GROUP)]


def available_coefficients() -> dict[str, Coefficient[...]]:
    """Return the coefficients by name: those of this package, then those of installed ones."""
    return {name: get_coefficient(name) for name in [*COEFFICIENTS, *offered_names(_GROUP)]}


def coefficient_name(
    coefficient: Coefficient[...], distances: Sequence[str], *, in_sentence: bool = False
) -> str:
    """Return the published name of a coefficient: Gwet's AC is AC1 if nominal, otherwise AC2."""
    if in_sentence and coefficient == percent_agreement:
        return "percent agreement"
    nominal = coefficient.nominal_title
    return nominal if nominal and set(distances) == {"nominal"} else coefficient.title


def distance_name(distance: str) -> str:
    """Return the published name of a distance."""
    ours = get_distance(distance).title if distance in distance_names() else None
    return own_name(ours or distance)


def own_name(distance: str) -> str:
    """Return the name of a distance for users."""
    return visible(cut(distance, LONGEST_NAME))


def measure_name(coefficient: object, distance: object) -> str:
    """Return ``Krippendorff's alpha, the MASI distance`` as the text of a picture.

    Other names are returned unchanged.
    """
    named = picture_name(coefficient, distance)
    return f"{named}, the {short_text(distance_name(str(distance)))} distance"


def picture_name(coefficient: object, distance: object) -> str:
    """Return the published name of a coefficient, given by name, as the text of a picture."""
    found = COEFFICIENTS.get(str(coefficient))
    name = coefficient if found is None else coefficient_name(found, [str(distance)])
    return short_text(name)


def measured(frame: pd.DataFrame) -> str:
    """Return the coefficient and distance of a frame, or an empty text."""
    if not len(frame) or not {"coefficient", "distance"} <= set(frame.columns):
        return ""
    return measure_name(frame["coefficient"].iloc[0], frame["distance"].iloc[0])

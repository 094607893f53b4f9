"""Definition of a coefficient: chance model, names and required data."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec

from setagree.checks import public
from setagree.coefficients.chance_models import Model
from setagree.errors import check_choice, check_type
from setagree.large.opening import takes_data

if TYPE_CHECKING:
    from setagree.scoring.results import Agreement

P = ParamSpec("P")


@dataclass(frozen=True, eq=False, repr=False)
class Coefficient(Generic[P]):
    """A function of a study with its definition; made by the decorator `coefficient`.

    Call it as a function, or pass it as an option `coefficient`.

    Attributes
    ----------
    function : callable
        From a study to an `Agreement`.
    model : Model
        The chance model, which defines estimates, replicates, reshuffles and closed forms.
    title : str
        Its published name.
    symbol, short : str
        Its symbol in formulas; its short name after the first mention.
    source : str, optional
        Its reference: a key of the list of references, or a full reference.
    nominal_title : str, optional
        Its published name with the nominal distance.
    raters : {"any", "known", "two"}
        Whether raters must be known, and whether there must be two of them.
    for_more : str, optional
        The coefficient for more raters, if there must be two.
    default_distance : str, optional
        The default distance, if it is not that of the study.
    short_names : tuple of str
        Other names by which it is found.
    name : str
        The name of the function.
    needs_raters : bool
        Whether it needs the rater of each answer, not only counts.

    Examples
    --------
    >>> import setagree as sa
    >>> sa.krippendorff_alpha
    <coefficient krippendorff_alpha: Krippendorff's alpha>
    >>> sa.krippendorff_alpha.title, sa.krippendorff_alpha.symbol
    ("Krippendorff's alpha", 'α')
    """

    function: Callable[P, Agreement]
    model: Model
    title: str
    symbol: str
    short: str
    source: str | None = None
    nominal_title: str | None = None
    raters: Literal["any", "known", "two"] = "any"
    for_more: str | None = None
    default_distance: str | None = None
    short_names: tuple[str, ...] = ()
    name: str = field(init=False)
    needs_raters: bool = field(init=False)

    def __post_init__(self) -> None:
        check_type("function", self.function, types.FunctionType, "a function that has a name")
        check_type("model", self.model, Model, "a model of chance, such as Uniform()")
        for name in ("title", "symbol", "short"):
            check_type(name, getattr(self, name), str, "text")
        for name in ("source", "nominal_title", "for_more", "default_distance"):
            check_type(name, getattr(self, name), str | None, "text or None")
        check_choice("raters", self.raters, ("any", "known", "two"))
        check_type("short_names", self.short_names, tuple, "a tuple of names")
        object.__setattr__(self, "function", takes_data(self.function))
        object.__setattr__(self, "name", self.function.__name__)
        object.__setattr__(self, "needs_raters", self.model.needs_raters)
        # As functools.update_wrapper: help(), inspect.signature and doctest see the function.
        for name in functools.WRAPPER_ASSIGNMENTS:
            object.__setattr__(self, name, getattr(self.function, name))
        object.__setattr__(self, "__wrapped__", self.function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Agreement:
        """Return the agreement of a study."""
        return self.function(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Bind as a function, so that `inspect` and `pydoc` treat it as one."""
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<coefficient {self.name}: {self.title}>"

    def __reduce__(self) -> str:
        """Pickle by name, as functions are."""
        return self.name


@public
def coefficient(
    *,
    model: Model,
    title: str,
    symbol: str,
    short: str,
    source: str | None = None,
    nominal_title: str | None = None,
    raters: Literal["any", "known", "two"] = "any",
    for_more: str | None = None,
    default_distance: str | None = None,
    short_names: tuple[str, ...] = (),
) -> Callable[[Callable[P, Agreement]], Coefficient[P]]:
    """Return a decorator that makes a `Coefficient` from a function.

    Examples
    --------
    A kappa with an expected agreement of one half for all answers:

    >>> from dataclasses import dataclass
    >>> import setagree as sa
    >>> from setagree.coefficients.chance_models import Fixed
    >>> @dataclass(frozen=True)
    ... class Coin(Fixed):
    ...     def level(self, case):
    ...         return 0.5
    >>> @sa.coefficient(model=Coin(), title="Coin kappa", symbol="κ", short="kappa")
    ... def coin_kappa(study, *, distance=None):
    ...     return sa.score(study, coin_kappa, distance=distance)
    >>> study = sa.Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "a"), ("eva", 1, "b")])
    >>> round(coin_kappa(study).estimate, 4)
    -0.3333
    >>> table = sa.agreement(study, coefficient=coin_kappa)
    >>> round(table["coin_kappa", "masi"].estimate, 4)
    -0.3333
    """
    options = locals()

    def made(function: Callable[P, Agreement]) -> Coefficient[P]:
        return Coefficient(function, **options)

    return made

"""Commands whose parameters are groups of options, as the command line takes them: one by one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters that are groups of options are spread into options."""
    hints = get_type_hints(command, include_extras=True)
    groups = {n: kind for n, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}

    @wraps(command)
    def spread(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        command(**given)

    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        own = [parameter.replace(kind=_KEYWORD, annotation=hints[name])]
        parameters += _parameters(groups[name]) if name in groups else own
    vars(spread)["__signature__"] = inspect.Signature(parameters)
    spread.__annotations__ = {one.name: one.annotation for one in parameters}
    return spread


def _parameters(group: type[Any]) -> Iterator[inspect.Parameter]:
    """Yield the members of a group as the parameters that typer makes options of."""
    hints = get_type_hints(group, include_extras=True)
    for each in fields(group):
        look = each.metadata.get("option")
        hint = hints[each.name] if look is None else Annotated[hints[each.name], look]
        yield inspect.Parameter(each.name, _KEYWORD, default=each.default, annotation=hint)

"""pandas, imported when it is first needed: reading and scoring a small file takes less time."""

from __future__ import annotations

import sys
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["pd"]


class _Class(type):
    """A class of pandas before pandas is imported, when it has no instances."""

    def __instancecheck__(cls, item: object) -> bool:
        return "pandas" in sys.modules and isinstance(item, getattr(pd, cls.__name__))

    def __call__(cls, *args: Any, **options: Any) -> Any:
        """Import pandas, and call the class."""
        return getattr(_imported(), cls.__name__)(*args, **options)

    def __getattr__(cls, name: str) -> Any:
        return getattr(getattr(_imported(), cls.__name__), name)


_class = cache(lambda name: _Class(name, (), {}))


def _imported() -> ModuleType:
    import pandas  # noqa: ICN001 - its usual name is that of the object below

    vars(pd).update(vars(pandas))
    return pandas


class _Pandas(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name[0].isupper() and "pandas" not in sys.modules:
            return _class(name)
        return getattr(_imported(), name)


if TYPE_CHECKING:
    import pandas as pd
else:
    pd = _Pandas("pandas")

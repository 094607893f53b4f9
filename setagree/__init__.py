"""Inter-rater agreement for set-valued (multi-label) annotations."""

from __future__ import annotations

import importlib
import pkgutil
import re

__version__ = "0.1.0"

_STUB = pkgutil.get_data(__name__, "__init__.pyi") or b""
_MODULES = {
    name: module
    for module, names in re.findall(r"from (\S+) import ([^()\n]+|\([^)]+\))", _STUB.decode())
    for name in re.findall(r"as (\w+)", names)
}
"""The module of each public name, which is imported when the name is first used."""

__all__ = sorted(_MODULES)  # noqa: PLE0605 - the stub lists the names


# Other names under which users look for a public name.
_ALSO = {
    "Annotations": "Study Dataset Data AnnotationTask",
    "read": "load open load_csv read_csv from_csv load_file read_file read_json read_excel",
    "parse_labels": "parse parse_label",
    "agreement": "iaa irr agree coefficients scores compute",
    "gwet_ac": "gwet_ac1 gwet_ac2",
    "tally": "reduce",
    "report": "html_report write_report to_html",
    "rater_map": "map",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(_unknown(name))
    module = importlib.import_module(_MODULES[name])
    if module.__name__ == __name__:  # its packages `distances` and `plots`
        return importlib.import_module(f"{__name__}.{name}")
    value = getattr(module, name)
    globals()[name] = value  # found without this function next time
    return value


def _unknown(name: str) -> str:
    """Return a sentence on an unknown name, with the public name that may be meant."""
    from setagree.errors import did_you_mean
    from setagree.study.annotations import Annotations

    sentence = f"module {__name__!r} has no attribute {name!r}"
    if name.startswith("_"):
        return sentence
    if called := _called(name):
        return f"setagree.{name} is called setagree.{called}."
    hint = did_you_mean(name, __all__)
    if name.startswith("from_"):
        made = [f"Annotations.{n}" for n in dir(Annotations) if n.startswith("from_")]
        hint = f" There are {', '.join(made)}; setagree.read reads files."
    return f"{sentence}.{hint}" if hint else sentence


def _called(name: str) -> str | None:
    """Return the public name for another name, or None."""
    from setagree import distances
    from setagree.checks import constructor
    from setagree.scoring.coefficients import COEFFICIENTS
    from setagree.study.annotations import Annotations
    from setagree.study.tally import Tally

    if ours := next((ours for ours, others in _ALSO.items() if name in others.split()), None):
        return ours
    for one in COEFFICIENTS.values():
        if name in one.short_names:
            return one.name
    if (made := constructor(Annotations, name)) is not None:
        return f"Annotations.{made}"
    owners = {"Annotations": Annotations, "Tally": Tally, "distances": distances}
    return next((f"{n}.{name}" for n, owner in owners.items() if hasattr(owner, name)), None)


def __dir__() -> list[str]:
    return [*__all__]

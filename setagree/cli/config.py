"""Options from a TOML file: what the command line does not say, the file does."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from setagree.checks import expanded
from setagree.cli.show import say
from setagree.errors import FileError, OptionError, SetagreeError, did_you_mean, shorten
from setagree.files.streams import Source, readable
from setagree.wording.label_sets import format_labels

_USELESS = {"repeats": {"duplicates"}}
"""Options that a command has for the sake of a sentence alone, so that a file may name them."""


def load_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take the options of a file as the defaults of the command that is about to run.

    Keys outside a table are for every command that has such an option, those in ``[score]`` for
    that command. A key that no command knows is refused, and so is ``output``: a config that comes
    with a data set must not choose the file that is replaced. General ones that this command does
    not use are printed.
    """
    if path is not None and not context.resilient_parsing:
        try:
            context.default_map = _defaults(context, _parsed(expanded(path)), path)
        except SetagreeError as error:
            raise typer.BadParameter(str(error)) from error
    return path


def _parsed(path: Path) -> dict[str, Any]:
    with readable(Source(path)):
        text = path.read_bytes()
    try:
        return tomllib.loads(text.decode("utf-8-sig"))
    except ValueError as error:
        raise FileError(f"{str(path)!r} is not TOML: {error}.") from error
    except RecursionError as error:
        raise FileError(f"{str(path)!r} is not TOML of options: it nests too deep.") from error


def _defaults(context: typer.Context, settings: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return values by parameter: the general ones, and over them those of this command."""
    group: Any = context.find_root().command
    mine = str(context.info_name)
    options = {name: _options(group.imported(name)) for name in group.commands}
    every = {key for known in options.values() for key in known}
    found: dict[str, Any] = {}
    unused: list[str] = []
    for key, value in settings.items():
        if isinstance(value, dict):
            _check_known(key, options, f"{path}: no command")
            for name in value:
                _check_known(_key(name), options[key], f"{path}, [{key}]: no option")
        else:
            _check_known(_key(key), every, f"{path}: no command has an option")
            if _key(key) in options[mine] and _key(key) not in _USELESS.get(mine, ()):
                found[_key(key)] = value
            else:
                unused.append(key)
    if unused:
        say(f"{path}: not used by {mine}: {', '.join(unused)}.")
    found |= {_key(name): value for name, value in settings.get(mine, {}).items()}
    return {
        str(options[mine][key].name): _fitting(options[mine][key], value, f"{path}, {key}")
        for key, value in found.items()
    }


def _options(command: Any) -> dict[str, Any]:
    """Return the options of a command by their long names, written with underscores."""
    return {
        _key(name.removeprefix("--")): option
        for option in command.params
        for name in option.opts
        if name.startswith("--") and name not in {"--config", "--help"}
    }


def _key(name: str) -> str:
    return name.replace("-", "_")


def _check_known(name: str, known: Any, where: str) -> None:
    if name == "output":
        raise OptionError(
            f"{where.rpartition(': ')[0]}: a config cannot name the output; remove it, and pass "
            "-o FILE on the command line."
        )
    if name not in known:
        raise OptionError(f"{where} {name!r}.{did_you_mean(name, known)}")


def _fitting(option: Any, value: Any, where: str) -> Any:
    """Return a value as the command line would hand it over."""
    if getattr(option, "is_flag", False):
        if isinstance(value, bool):
            return value
        raise OptionError(f"{where} must be true or false, not {shorten(value)}.")
    several = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in several):
        raise OptionError(f"{where} must be text or a number, not {shorten(value)}.")
    if option.multiple:
        return [str(one) for one in several]
    if not isinstance(value, list):
        return str(value)
    if option.name == "codebook":
        return ", ".join(format_labels([str(one)]) for one in several)
    raise OptionError(f"{where} must be one value, not {shorten(value)}.")

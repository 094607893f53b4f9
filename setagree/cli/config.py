"""Options from a TOML file, which those of the command line override."""

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

_IGNORED = {"repeats": {"duplicates"}}
"""Options that a command refuses, and ignores in a file of options for several commands."""


def load_config(context: typer.Context, path: Path | None) -> Path | None:
    """Use the options of a file as the defaults of the command.

    Keys outside a table are for every command with such an option, those in ``[score]`` for that
    command. Unknown keys are refused, and so is ``output``: a file that comes with a data set must
    not choose the file that is replaced. A line lists general keys that the command ignores.
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
        raise FileError(
            f"{str(path)!r} is not TOML of options: its nesting is too deep."
        ) from error


def _defaults(context: typer.Context, settings: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return values by parameter: those of this command, or else the general ones."""
    group: Any = context.find_root().command
    name = str(context.info_name)
    options = {name: _options(group.imported(name)) for name in group.commands}
    all_keys = {key for keys in options.values() for key in keys}
    values: dict[str, Any] = {}
    ignored: list[str] = []
    for key, value in settings.items():
        if isinstance(value, dict):
            _check_known(key, options, str(path), "no command")
            for each in value:
                _check_known(_key(each), options[key], f"{path}, [{key}]", "no option")
        else:
            _check_known(_key(key), all_keys, str(path), "no command has an option")
            if _key(key) in options[name] and _key(key) not in _IGNORED.get(name, ()):
                values[_key(key)] = value
            else:
                ignored.append(key)
    if ignored:
        say(f"{path}: not used by {name}: {', '.join(ignored)}.")
    values |= {_key(each): value for each, value in settings.get(name, {}).items()}
    return {
        str(options[name][key].name): _converted(options[name][key], value, f"{path}, {key}")
        for key, value in values.items()
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


def _check_known(name: str, names: Any, where: str, what: str) -> None:
    if name == "output":
        raise OptionError(
            f"{where}: a file of options cannot name the output; remove it, "
            "and use -o FILE on the command line."
        )
    if name not in names:
        raise OptionError(f"{where}: {what} {name!r}.{did_you_mean(name, names)}")


def _converted(option: Any, value: Any, where: str) -> Any:
    """Return a value as the command line would pass it."""
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

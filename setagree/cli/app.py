"""The command ``setagree``: options in, text out, no arithmetic."""

from __future__ import annotations

import importlib
import io
import sys
from functools import cache
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

import setagree as sa
from setagree.cli.show import ending_in_order, hang_up, has_rich, marked

_MARKUP: Literal["rich"] | None = "rich" if has_rich() else None

HELP = """[bold]setagree score study.csv[/bold]

[not dim]How far do raters agree when each answer is a set of labels?[/]"""

# Each command with its module, its function, and the line that the list of commands has.
COMMANDS = {
    "score": ("scores", "score", "Estimate the agreement of the raters of a file."),
    "test": ("inference", "permute", "Test an agreement against chance by reshuffling."),
    "compare": ("inference", "compare", "Compare files, coefficients or distances."),
    "check": (
        "inference",
        "check",
        "Test an agreement against a required value (exit code 0, 1, 2).",
    ),
    "plan": ("inference", "plan", "Plan the number of units for a wanted interval."),
    "diagnose": ("views", "diagnose", "List the causes of low agreement, with remedies."),
    "report": ("views", "report", "Write a one-page report on a file."),
    "panel": ("panels", "panel", "Test whether a model may replace a human."),
    "prevalence": ("panels", "share", "Estimate how many units of a corpus have each label."),
    "consensus": ("panels", "agree", "Estimate the agreed answer of each unit."),
    "next": ("decisions", "queue", "List the units to rate next."),
    "monitor": ("decisions", "watch", "Test whether enough is rated."),
    "components": ("decisions", "divide", "Estimate the sources of disagreement."),
    "repeats": ("decisions", "rated_again", "Estimate the agreement of raters with themselves."),
    "accept": ("decisions", "accept", "Plan and judge the check of a delivery."),
    "convert": ("sources", "convert", "Convert an export or a table to a long CSV."),
    "page": ("page", "page", "Write a page that computes in the browser."),
    "formats": ("sources", "list_formats", "List the exports of tools that are read."),
    "cite": ("scores", "cite", "Write BibTeX, or the methods paragraph of a file."),
    "distances": ("scores", "list_distances", "List the distances by name."),
    "coefficients": ("scores", "list_coefficients", "List the coefficients by name."),
}


class Commands(TyperGroup):
    """The commands: they are listed by their lines, and the one that is run is imported."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Import the module of the command that is asked for."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, found if name is None else self.imported(name), rest

    def imported(self, name: str) -> Any:
        """Return a command with its options, of which the list of commands has only the line."""
        return imported(name)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options; a flag takes no value, so no name of a type is shown."""
        found = super().get_params(ctx)
        for option in found:
            vars(option)["metavar"] = ""
        return found


class Command(TyperCommand):
    """A command whose --help stands among the options for results, not in a box of its own."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option --help with the panel it is shown in."""
        from setagree.cli.options import RESULTS

        option = super().get_help_option(ctx)
        if option is not None:
            # No other flag shows the name of a type.
            vars(option).update(rich_help_panel=RESULTS, metavar="")
        return option


@cache
def imported(name: str) -> Any:
    """Return a command with its options, its module loaded."""
    place, function, line = COMMANDS[name]
    module = importlib.import_module(f"setagree.cli.{place}")
    alone = typer.Typer(add_completion=False, rich_markup_mode=_MARKUP)
    text = marked(getattr(module, f"{name.upper()}_HELP", line))
    alone.command(name, cls=Command, help=text, short_help=line)(getattr(module, function))
    return typer.main.get_command(alone)


app = typer.Typer(
    cls=Commands,
    pretty_exceptions_enable=False,
    rich_markup_mode=_MARKUP,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(help=marked(HELP), invoke_without_command=True)
def start(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    cite: Annotated[
        bool, typer.Option("--cite", help="Print BibTeX for setagree, alpha, kappa and MASI.")
    ] = False,
) -> None:
    """Measure how far raters agree."""
    if version:
        sys.stdout.write(f"setagree {sa.__version__}\n")
    elif cite:
        from setagree.cli.scores import print_bibtex

        print_bibtex()
    elif context.invoked_subcommand is None:
        sys.stdout.write(context.get_help())


def _listed() -> None:
    """Stand in the list of commands."""


for _name, (_, _, _line) in COMMANDS.items():
    app.command(_name, help=_line)(_listed)


def run() -> int:
    """Run the command and return its exit code; a wrong option is one sentence, too."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may not know the sign for "squared"
    try:
        with ending_in_order():
            code = app(prog_name="setagree", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return hang_up()
    except OSError as error:  # what is not printed by a command that words it: help, version
        hang_up()
        _say(f"Error: the results cannot be written: {error.strerror or error}.")
        return 2
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        sentence = _renamed(error) or " ".join(
            each.format_message() for each in _all_missing(error)
        ).rstrip(".")
        where = "setagree" if context is None else context.command_path
        _say(f"Error: {sentence}{'' if sentence.endswith('?') else '.'} See '{where} --help'.")
        return 2
    return code or 0


def _renamed(error: Any) -> str:
    """Return a sentence on an unknown option that has another name here, or "" if none has."""
    if type(error).__name__ != "NoSuchOption" or error.ctx is None:
        return ""
    from setagree.checks import called_elsewhere
    from setagree.cli.options import CALLED

    spelled = {name for one in error.ctx.command.get_params(error.ctx) for name in one.opts}
    known = {name: each for name, each in CALLED.items() if each in spelled}
    found = called_elsewhere(error.option_name.lstrip("-").replace("-", "_"), known)
    return f"{error.option_name} is called {known[found[0]]}{found[1]}" if found else ""


def _all_missing(error: Any) -> list[Any]:
    """Return the error of each parameter that is missing, or the error alone if none is."""
    if type(error).__name__ != "MissingParameter" or error.param is None:
        return [error]
    known, context = error.ctx.command.get_params(error.ctx), error.ctx
    missing = [one for one in known if one.required and one.name not in context.params]
    missing = [one for one in missing if context.lookup_default(one.name) is None]
    return [type(error)(ctx=context, param=one) for one in missing]


def _say(sentence: str) -> None:
    from setagree.cli.show import say

    say(sentence)

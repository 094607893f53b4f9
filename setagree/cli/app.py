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
from setagree.cli.show import discard_stdout, has_rich, marked, orderly_termination, say

_MARKUP: Literal["rich"] | None = "rich" if has_rich() else None

HELP = """[bold]setagree score study.csv[/bold]

[not dim]Estimate how far raters agree, whose answers may be sets of labels.[/]"""

# The module, the function and the line in the list of commands, by command.
COMMANDS = {
    "score": ("scores", "score", "Estimate the agreement of the raters of a file."),
    "test": ("inference", "permute", "Test an agreement against chance by reshuffling."),
    "compare": ("inference", "compare", "Compare files, coefficients or distances."),
    "check": ("inference", "check", "Test whether an agreement is at least a required value."),
    "plan": ("inference", "plan", "Plan the number of units of a study."),
    "diagnose": ("views", "diagnose", "List the causes of low agreement, with remedies."),
    "report": ("views", "report", "Write a report on a file as one page."),
    "panel": ("panels", "panel", "Test whether a model may replace a human."),
    "prevalence": ("panels", "share", "Estimate how many units of a corpus have each label."),
    "consensus": ("panels", "agree", "Estimate the consensus answer of each unit."),
    "next": ("decisions", "queue", "List the units to rate next."),
    "monitor": ("decisions", "watch", "Test after each batch whether alpha is high enough."),
    "components": ("decisions", "divide", "Estimate the sources of disagreement."),
    "repeats": ("decisions", "rated_again", "Estimate the agreement of raters with themselves."),
    "accept": ("decisions", "accept", "Plan the check of a delivery, and test its result."),
    "convert": ("sources", "convert", "Convert an export or a table to a long CSV."),
    "page": ("page", "page", "Write a page that computes agreement in the browser."),
    "formats": ("sources", "list_formats", "List the exports of tools that are read."),
    "cite": ("scores", "cite", "Print BibTeX, or a methods paragraph."),
    "distances": ("scores", "list_distances", "List the distances by name."),
    "coefficients": ("scores", "list_coefficients", "List the coefficients by name."),
}


class Commands(TyperGroup):
    """The commands. Only the one that runs is imported; the others are listed by their lines."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Import the module of the requested command."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else self.imported(name), rest

    def imported(self, name: str) -> Any:
        """Return a command with its options."""
        return imported(name)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, which are all flags, without the names of types."""
        params = super().get_params(ctx)
        for each in params:
            vars(each)["metavar"] = ""
        return params


class Command(TyperCommand):
    """A command that refuses repeated options, except lists and flags.

    Its help lists --help among the options for output, and no types.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Raise an error if an option with one value is passed twice; the last would replace it."""
        parser = self.make_parser(ctx)
        passed: list[Any] = [] if ctx.resilient_parsing else parser.parse_args([*args])[2]
        for each in passed:
            is_single = each.param_type_name == "option" and not (each.multiple or each.is_flag)
            if is_single and passed.count(each) > 1:
                ctx.fail(f"{max(each.opts, key=len)} takes one value; pass it once")
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, the argument without the name of its type."""
        params = super().get_params(ctx)
        for each in params:
            if each.param_type_name == "argument":
                vars(each)["display_type_rich"] = lambda **_: None
        return params

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option --help with its panel."""
        from setagree.cli.options import OUTPUT

        option = super().get_help_option(ctx)
        if option is not None:
            vars(option).update(rich_help_panel=OUTPUT, metavar="")
        return option


@cache
def imported(name: str) -> Any:
    """Import the module of a command, and return the command with its options."""
    module_name, function, line = COMMANDS[name]
    module = importlib.import_module(f"setagree.cli.{module_name}")
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
    """Estimate how far raters agree."""
    if version:
        sys.stdout.write(f"setagree {sa.__version__}\n")
    elif cite:
        from setagree.cli.scores import print_bibtex

        print_bibtex()
    elif context.invoked_subcommand is None:
        sys.stdout.write(context.get_help())


def _not_imported() -> None:
    """Stand for a command in the list of commands."""


for _name, (_, _, _line) in COMMANDS.items():
    app.command(_name, help=_line)(_not_imported)


def run() -> int:
    """Run the command and return its exit code. A wrong option is reported in one line."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an ASCII terminal lacks ²
    try:
        with orderly_termination():
            code = app(prog_name="setagree", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return discard_stdout()
    except OSError as error:  # while the help or the version is printed
        discard_stdout()
        say(f"Error: the results cannot be written: {error.strerror or error}.")
        return 2
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        sentence = _renamed(error) or " ".join(
            each.format_message() for each in _all_missing(error)
        ).rstrip(".")
        where = "setagree" if context is None else context.command_path
        say(f"Error: {sentence}{'' if sentence.endswith('?') else '.'} See '{where} --help'.")
        return 2
    return code or 0


def _renamed(error: Any) -> str:
    """Return a sentence on an unknown option with another name here, or "" if there is none."""
    if type(error).__name__ != "NoSuchOption" or error.ctx is None:
        return ""
    from setagree.checks import called_elsewhere
    from setagree.cli.options import CALLED

    accepted = {name for each in error.ctx.command.get_params(error.ctx) for name in each.opts}
    spellings = {name: each for name, each in CALLED.items() if each in accepted}
    found = called_elsewhere(error.option_name.lstrip("-").replace("-", "_"), spellings)
    return f"{error.option_name} is called {spellings[found[0]]}{found[1]}" if found else ""


def _all_missing(error: Any) -> list[Any]:
    """Return the error of each parameter that is missing, or the error alone if none is."""
    if type(error).__name__ != "MissingParameter" or error.param is None:
        return [error]
    context = error.ctx
    missing = [
        each
        for each in context.command.get_params(context)
        if each.required
        and each.name not in context.params
        and context.lookup_default(each.name) is None
    ]
    return [type(error)(ctx=context, param=each) for each in missing]

"""The command ``setagree``: options in, text out, no arithmetic."""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Mapping
from typing import Annotated

import typer

import setagree as sa
from setagree.cli import inference as cli_inference
from setagree.cli import options as options
from setagree.cli import panels as cli_panels
from setagree.cli import sources as cli_sources
from setagree.cli import views as cli_views
from setagree.cli.inference import other_interval
from setagree.cli.large import scored
from setagree.cli.options import Asked, Delivery, Large, Reading, Resampling
from setagree.cli.output import Deliverer, ending_in_order, hang_up, say, sentences
from setagree.cli.show import has_rich, marked, print_list
from setagree.cli.tables import reason_of
from setagree.distances.registry import known_distances
from setagree.scoring.registry import known_coefficients

app = typer.Typer(
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if has_rich() else None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

HELP = """[bold]setagree score study.csv[/bold]

[not dim]How far do raters agree when each answer is a set of labels?[/]"""

SCORE_HELP = """[bold]setagree score study.csv[/bold]

[not dim]Alpha and Fleiss' kappa (MASI): a row for each unit and rater. Also:[/]

setagree score study.csv --unit doc --rater who --labels tags --blank empty
setagree score wide.csv --wide -d masi,jaccard --interval bootstrap --seed 1
setagree score 'round-*.parquet' --value stars -d linear --memory-limit 2GB
"""


@app.callback(help=marked(HELP), invoke_without_command=True)
def start(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Measure how far raters agree."""
    if version:
        sys.stdout.write(f"setagree {sa.__version__}\n")
    elif context.invoked_subcommand is None:
        sys.stdout.write(context.get_help())


@app.command(help=marked(SCORE_HELP), short_help="Score how far the raters of a file agree.")
@options.grouped
@sentences()
def score(
    files: options.Files,
    *,
    reading: Reading,
    large: Large,
    asked: Asked,
    level: options.Level = 0.95,
    interval: options.IntervalKind = "analytic",
    interval_method: options.IntervalMethod = None,
    over: options.Over = None,
    resampling: Resampling,
    delivery: Delivery,
) -> None:
    """Score how far the raters of a file agree."""
    deliver = Deliverer(delivery, [*files, *asked.given.values()], reading)
    other = other_interval(interval, interval_method, over, resampling)
    table = scored(files, reading, large=large, asked=asked, level=level)
    if other is None:
        deliver(table.to_frame(), str(table), reasons=map(reason_of, table))
    else:
        deliver(*other.fill(table), reasons=map(reason_of, table))


app.command("test", help=marked(cli_inference.TEST_HELP), short_help=cli_inference.TEST_LINE)(
    cli_inference.permute
)
app.command(
    "compare", help=marked(cli_inference.COMPARE_HELP), short_help=cli_inference.COMPARE_LINE
)(cli_inference.compare)
app.command("plan", help=marked(cli_inference.PLAN_HELP), short_help=cli_inference.PLAN_LINE)(
    cli_inference.plan
)
app.command("diagnose", help=marked(cli_views.DIAGNOSE_HELP), short_help=cli_views.DIAGNOSE_LINE)(
    cli_views.diagnose
)
app.command("report", help=marked(cli_views.REPORT_HELP), short_help=cli_views.REPORT_LINE)(
    cli_views.report
)
app.command("panel", help=marked(cli_panels.PANEL_HELP), short_help=cli_panels.PANEL_LINE)(
    cli_panels.panel
)
app.command(
    "consensus", help=marked(cli_panels.CONSENSUS_HELP), short_help=cli_panels.CONSENSUS_LINE
)(cli_panels.agree)
app.command("convert", help=marked(cli_sources.CONVERT_HELP), short_help=cli_sources.CONVERT_LINE)(
    cli_sources.convert
)
app.command("formats", help=cli_sources.FORMATS_LINE)(cli_sources.list_formats)


@app.command("distances", help="List the distances by name.")
def list_distances() -> None:
    """List the distances by name."""
    _print_list({name: inspect.getdoc(one) for name, one in known_distances().items()})


@app.command("coefficients", help="List the coefficients by name.")
def list_coefficients() -> None:
    """List the coefficients by name."""
    _print_list({name: inspect.getdoc(one) for name, one in known_coefficients().items()})


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
        say(f"Error: the results cannot be written: {error.strerror or error}.")
        return 2
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        sentence = error.format_message().rstrip(".")
        context = getattr(error, "ctx", None)
        where = "setagree" if context is None else context.command_path
        say(f"Error: {sentence}{'' if sentence.endswith('?') else '.'} See '{where} --help'.")
        return 2
    return code or 0


def _print_list(docs: Mapping[str, str | None]) -> None:
    """Print names with the first line of what is written about them, if Python kept it."""
    stripped = sys.flags.optimize > 1
    texts = dict.fromkeys(docs) if stripped else docs
    firsts = {name: (doc or "").partition("\n")[0] for name, doc in texts.items()}
    print_list(
        [(n, text.removeprefix("Return ").replace("\\|", "|")) for n, text in firsts.items()]
    )
    if stripped:
        say("Python runs with -OO, which drops the descriptions; run it without to see them.")

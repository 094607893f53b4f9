"""The command that writes a page which computes agreement in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setagree.checks import expanded
from setagree.cli.browser.serving import server_of
from setagree.cli.browser.writing import INDEX, PYODIDE, write_page
from setagree.cli.options import option
from setagree.cli.output import sentences
from setagree.cli.show import say

PAGE_HELP = f"""[bold]setagree page FOLDER[/bold]

[not dim]Write a page that computes agreement in the browser: the data do not leave
the computer. Also:[/]

setagree page FOLDER --serve
setagree page FOLDER --runtime pyodide/

[not dim]The page loads the Python runtime Pyodide from the address of --runtime,
by default {PYODIDE}
A folder on this computer is copied into FOLDER.[/]
"""

_PANEL = "The page"
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False)]
Runtime = Annotated[
    str | None, option(_PANEL, "ADDRESS|FOLDER", "Address or folder of Pyodide.", "--runtime")
]
Serve = Annotated[bool, option(_PANEL, "", "Serve the page on this computer.", "--serve")]


@sentences()
def page(folder: Folder, *, runtime: Runtime = None, serve: Serve = False) -> None:
    """Write a page that computes agreement in the browser."""
    target = expanded(folder)
    done = "Replaced" if (target / INDEX).exists() else "Written"
    files = write_page(target, runtime=runtime)
    size = sum(file.stat().st_size for file in files)
    say(f"{done}: {target} ({len(files)} files, {size / 1e6:.1f} MB).")
    if not serve:
        say("To open the page, use --serve, or any web server; browsers cannot run it as a file.")
        return
    with server_of(target) as server:
        say(f"Open http://127.0.0.1:{server.server_port}/ in a browser; Ctrl-C stops the server.")
        server.serve_forever()

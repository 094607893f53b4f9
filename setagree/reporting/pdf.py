"""The page as PDF, printed by a Chromium that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from setagree.errors import FileError, MissingDependencyError, shorten

_COMMANDS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("msedge", "microsoft-edge", "microsoft-edge-stable"),
)
_ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
"""Where macOS and Windows keep it."""

_OPTIONS = (
    *("--headless", "--disable-gpu", "--disable-extensions", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--no-pdf-header-footer",
)
_SECONDS = 120


def browser() -> str:
    """Return the Chromium, Chrome or Edge that prints."""
    installed = filter(None, map(shutil.which, _COMMANDS))
    found = next(installed, None) or next(filter(os.path.isfile, _ELSEWHERE), None)
    if found is None:
        raise MissingDependencyError(
            "a PDF is printed by Chromium, Chrome or Edge, and none of them is found; install one "
            "(on Debian: apt install chromium), or let the path end in .html and print that page "
            "from any browser."
        )
    return found


def printed(page: str) -> bytes:
    """Return an HTML page as PDF.

    Raises
    ------
    MissingDependencyError
        There is no browser that prints.
    FileError
        The browser fails, or takes more than two minutes.
    """
    command = [browser(), *_OPTIONS]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--no-sandbox")  # without which it refuses to work for root
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        # What a reader would open with a click stands open on paper.
        opened = page.replace("<details>", "<details open>")
        source.write_bytes(opened.encode("utf-8", "backslashreplace"))
        command += [f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}"]
        try:
            done = subprocess.run(  # noqa: S603 - a browser that we found, and our own page
                [*command, source.as_uri()], capture_output=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise FileError(f"{command[0]} could not print the report: {error}.") from error
        if not target.is_file():
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            why = shorten(said[-1]) if said else f"exit status {done.returncode}"
            raise FileError(f"{command[0]} printed no PDF: {why}.")
        return target.read_bytes()

"""The browser in which the tests open pages."""

import shutil
from contextlib import contextmanager

BROWSER = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome", "chrome")
        if (found := shutil.which(name)) is not None
    ),
    None,
)
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = [(1280, 900), (390, 844)]


@contextmanager
def started_browser():
    from playwright import sync_api

    # The driver warns of its own loop when it ends; that is no concern of the page.
    with sync_api.sync_playwright() as player:
        started = player.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield started
        started.close()


def finds(page):
    """Return what axe finds to be wrong with a page for people who cannot see or use a mouse."""
    import pytest

    axe = pytest.importorskip("axe_playwright_python.base", reason="axe is not installed")
    page.evaluate(axe.AXE_FILE_PATH.read_text(encoding="utf-8"))
    # It would fetch the styles once more, which no page may.
    asked = "axe.run(document, {resultTypes: ['violations'], preload: false})"
    found = page.evaluate(asked)["violations"]
    return [(one["id"], one["impact"], one["nodes"][0]["html"][:200]) for one in found]

"""Write examples/report.png: the top of the report on examples/study.csv, as a browser shows it.

Needs the extra ``report``, playwright and a Chromium on the path:
``python examples/make_report_picture.py [PICTURE]``.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import pandas as pd
from playwright.sync_api import sync_playwright

import setagree as sa

HERE = Path(__file__).parent


def write_report(folder: Path) -> Path:
    """Write the report of the example study."""
    texts = pd.read_csv(HERE / "study.csv", dtype=str, keep_default_na=False)
    study = sa.Annotations.from_long(texts, blank="empty")
    return sa.report(study, folder / "report.html", title="300 texts, 4 annotators", rng=1)


def take_picture(page_file: Path, picture: Path) -> None:
    """Open the page in Chromium and write what a laptop shows of it."""
    browsers = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in browsers if (path := shutil.which(name))), None)
    if found is None:
        sys.exit(f"No browser on the path; looked for {', '.join(browsers)}.")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=quiet)
        page = browser.new_page(viewport={"width": 1040, "height": 912}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "report.png"
    with tempfile.TemporaryDirectory() as folder:
        take_picture(write_report(Path(folder)), target)
    print(f"{target.name} written")

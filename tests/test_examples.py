"""Every script in examples/ runs as it stands, and its data are what it says they are."""

from __future__ import annotations

import filecmp
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import setagree as sa

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py"))


def run(script: str, *arguments: str) -> str:
    """Run one example in a process of its own, warnings as errors."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", [name for name in SCRIPTS if not name.startswith("make_")])
def test_script_runs(script: str) -> None:
    assert "krippendorff_alpha" in run(script)


def test_study_is_what_its_script_writes(tmp_path: Path) -> None:
    written = tmp_path / "study.csv"
    assert "300 units" in run("make_study.py", str(written))
    assert filecmp.cmp(written, EXAMPLES / "study.csv", shallow=False)


def test_picture_of_the_report(tmp_path: Path) -> None:
    pytest.importorskip("playwright", reason="playwright drives the browser")
    if not any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        pytest.skip("no Chromium on the path to take a picture with")
    written = tmp_path / "report.png"
    run("make_report_picture.py", str(written))
    assert written.read_bytes().startswith(b"\x89PNG")


def test_walkthrough_gives_the_published_figures() -> None:
    wide = pd.read_csv(EXAMPLES / "walkthrough.csv", index_col="unit", dtype=str)
    table = sa.agreement(sa.Annotations.from_wide(wide))
    # 27678/68753 and 0.40738381 with two independent programs.
    assert table["krippendorff_alpha", "masi"].estimate == pytest.approx(27678 / 68753, abs=1e-14)
    assert table["fleiss_kappa", "masi"].estimate == pytest.approx(0.40738381, abs=5e-9)


def test_scales_give_krippendorffs_figures() -> None:
    ratings = pd.read_csv(EXAMPLES / "scales.csv", index_col="unit")
    study = sa.Annotations.from_wide(ratings, kind="value")
    published = {"nominal": 0.743421052632, "ordinal": 0.815387503755, "ratio": 0.797402774712}
    for distance, alpha in published.items():
        estimate = sa.krippendorff_alpha(study, distance=distance).estimate
        assert estimate == pytest.approx(alpha, abs=5e-13)

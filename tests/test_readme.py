"""The README and the guide are true: every block runs, and prints what it says it prints."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import setagree as sa

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(match.group(1), match.group(2)) for match in BLOCK.finditer(README)]
PAGES = ["README.md", *(f"examples/guide/{p.name}" for p in (ROOT / "examples/guide").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#]*)#?([^)]*)\)")


OTHER_PROGRAMS = {"irrCAC", "crowdkit"}
"""Programs of which a page has blocks, and which are not among the development tools."""


def python_blocks(page: str) -> list[tuple[str, str | None]]:
    """Return each Python block of a page with the output block that follows it, if one does."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [(match.group(1), match.group(2)) for match in BLOCK.finditer(text)]
    out = []
    for (language, code), (after, shown) in zip(blocks, [*blocks[1:], ("", "")], strict=False):
        if language == "python":
            out.append((code, shown if after == "text" else None))
    return out


def commands() -> list[str]:
    """Return every command line of the pages that runs the installed command."""
    text = "".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    code = "".join(match[2] for match in BLOCK.finditer(text) if match[1] == "bash")
    return sorted({line for line in code.splitlines() if line.startswith("setagree ")})


def run(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command line as a person would, from the folder of the README."""
    words = shlex.split(command, comments=True)
    assert words[0] == "setagree"
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


@pytest.mark.filterwarnings("ignore:where=")  # which counts the rows that a condition drops
@pytest.mark.filterwarnings("ignore:Starting with pandas version 4")  # raised by simpledorff
@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page)])
def test_python_blocks_print_what_follows_them(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = python_blocks(page)
    names: dict[str, object] = {}
    absent = set()
    for code, expected in blocks:
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(code, page, "exec"), names)  # noqa: S102 - it is our own page
        except ModuleNotFoundError as error:
            if error.name not in OTHER_PROGRAMS:
                raise
            absent.add(error.name)
            continue
        if expected is not None:
            shown = [line.rstrip() for line in printed.getvalue().rstrip().splitlines()]
            assert shown == expected.rstrip().splitlines()
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
    if absent:
        pytest.skip(f"blocks of programs that are not installed: {sorted(absent)}; all others ran")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target, anchor in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        linked = (ROOT / page).parent / target if target else ROOT / page
        assert linked.exists(), target
        headings = (
            re.findall(r"^#+ (.*)$", linked.read_text("utf-8"), re.MULTILINE) if anchor else []
        )
        assert not anchor or anchor in {h.lower().replace(" ", "-") for h in headings}, anchor


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_read_in_five_minutes(page: str) -> None:
    text = BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("|"))
    assert len(LINK.sub("]", prose).split()) <= 1200


@pytest.mark.parametrize("page", PAGES)
def test_tables_and_blocks_are_whole(page: str) -> None:
    text = BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))
    assert not re.search(r"^``[^`]", text, re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        assert re.match(r".*\n\|[-:| ]+\|$", table, re.MULTILINE), table


def test_readme_is_short() -> None:
    """The README has 200 lines at most; what is longer stands in the guide."""
    assert len(README.splitlines()) <= 200


@pytest.mark.parametrize("command", commands())
def test_command_lines_run(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    invoke = pytest.importorskip("cli_support", reason="the command needs the cli extra").invoke
    monkeypatch.chdir(ROOT)
    done = invoke(*shlex.split(command, comments=True)[1:])
    assert done.exit_code == 0, done.stderr
    shown = {
        "score": "krippendorff_alpha",
        "formats": "label_studio_json",
        "convert": "unit,rater",
        "cite": "@software{setagree,",
        "panel": "in the place of a human",
        "check": "Low end 0.3622.",
    }
    assert shown[command.split()[1]] in done.stdout


def test_first_picture_is_real_output() -> None:
    shown = next(text for language, text in BLOCKS if language == "text")
    command, _, expected = shown.partition("\n")
    done = run(command.removeprefix("$ "))
    assert done.returncode == 0
    assert (done.stderr + done.stdout).rstrip() == expected.rstrip()
    assert "0.4026" in expected
    assert "0.4074" in expected


def test_set_up_commands_are_single_lines() -> None:
    lines = [line for language, code in BLOCKS if language == "bash" for line in code.splitlines()]
    set_up = [line for line in lines if "pip install" in line]
    assert len(set_up) == 2
    assert "setagree score examples/walkthrough.csv" in set_up[0]
    assert set_up[1].endswith("python -m pytest -n auto")


def test_the_tools_that_are_counted() -> None:
    tools = {name.split("_")[0] for name in sa.formats()["name"]} - {"plain", "nvivo"}
    guide = (ROOT / "examples/guide/exports.md").read_text(encoding="utf-8")
    assert f"the exports of {len(tools)} annotation tools" in README
    assert f"{len(tools)} tools" in guide


def test_the_workflow_for_continuous_integration_runs(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with the docs extra")
    text = (ROOT / "examples/guide/continuous-integration.md").read_text(encoding="utf-8")
    (block,) = [match[2] for match in BLOCK.finditer(text) if match[1] == "yaml"]
    workflow = yaml.safe_load(block)
    (job,) = workflow["jobs"].values()
    steps = [step["run"] for step in job["steps"] if "run" in step]
    assert steps[0].startswith("pip install")
    shutil.copy(ROOT / "examples/study.csv", tmp_path / "ratings.csv")
    for step in steps[1:]:
        words = shlex.split(step)
        assert words[0] == "setagree"
        done = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, timeout=120)
        assert done.returncode == 0
    assert 'tests="1" failures="0"' in (tmp_path / "agreement.xml").read_text("utf-8")


def test_r_reads_the_json(monkeypatch: pytest.MonkeyPatch) -> None:
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("R is not installed")
    text = (ROOT / "examples/guide/from-r.md").read_text(encoding="utf-8")
    (block,) = [match[2] for match in BLOCK.finditer(text) if match[1] == "r"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [rscript, "-e", block], cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    if "there is no package called" in done.stderr:
        pytest.skip("jsonlite is not installed")
    assert done.returncode == 0, done.stderr


def test_the_text_for_language_models_names_what_exists() -> None:
    text = (ROOT / "examples/guide/llms.txt").read_text(encoding="utf-8")
    calls = re.findall(r"^- `sa\.(\w+)\(", text, re.MULTILINE)
    assert len(calls) == 12
    assert set(re.findall(r"sa\.(\w+)", text)) <= set(sa.__all__)
    pages = re.findall(r"\]\(([\w-]+)\.html\)", text)
    assert all((ROOT / f"examples/guide/{page}.md").exists() for page in pages)

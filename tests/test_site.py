"""The site: one command builds it without a warning, and it works in a browser without a network.

Skipped with a reason where Sphinx, or for some tests a browser, is absent.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from browsing import BROWSER, SIZES, finds, started_browser

import setagree as sa

for needed in ("sphinx", "myst_parser", "numpydoc", "pydata_sphinx_theme", "latex2mathml"):
    pytest.importorskip(needed, reason="the site needs the docs extra")

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "examples" / "guide"
MODULES = ("distances", "plots")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site with the command of the guide, into a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    command = next(
        line
        for line in (GUIDE / "README.md").read_text("utf-8").splitlines()
        if line.startswith("python -m sphinx")
    )
    words = [str(folder) if word == "build" else word for word in command.split()[1:]]
    # Whatever asked for the network would find a proxy that is not there, and fail.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env={**os.environ, **nowhere}, capture_output=True,
        text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "html"


class Page(HTMLParser):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag loads or links to, and by what it can be linked to."""
        told = dict(attrs)
        self.ids |= {name for name in (told.get("id"), told.get("name")) if name}
        if tag == "a" and told.get("href"):
            self.links.append(str(told["href"]))
        if told.get("src"):
            self.loads.append(str(told["src"]))
        if tag == "link" and told.get("rel") in {"stylesheet", "preload"}:
            self.loads.append(str(told["href"]))


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}


def test_every_page_of_the_guide_is_there(site: Path, pages: dict[Path, Page]) -> None:
    front = {urldefrag(link)[0] for link in pages[site / "index.html"].links}
    for page in GUIDE.glob("*.md"):
        if page.stem not in {"README", "index"}:
            assert f"{page.stem}.html" in front


def test_every_public_name_is_in_the_reference(pages: dict[Path, Page]) -> None:
    known = set().union(*(page.ids for page in pages.values()))
    names = [name for name in sa.__all__ if name not in MODULES]
    names += [f"{room}.{name}" for room in MODULES for name in getattr(sa, room).__all__]
    # What stands in both is told once.
    told = {name for name in names if f"setagree.{name}" in known}
    missing = {name for name in names if name.rpartition(".")[2] not in {
        one.rpartition(".")[2] for one in told}}  # fmt: skip
    assert missing == set()
    assert len(told) > 90


def test_every_command_is_in_the_reference(site: Path) -> None:
    app = pytest.importorskip("setagree.cli.app", reason="the command needs the cli extra")
    html = (site / "reference" / "commands.html").read_text("utf-8")
    text = re.sub("['\u2019]", "", " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split()))
    for name, (_, _, line) in app.COMMANDS.items():
        assert f'id="setagree-{name}"' in html
        assert f"setagree {name} " in text or line in text
        for one in app.imported(name).params:
            if one.param_type_name == "option" and not one.hidden:
                assert one.help.replace("'", "") in text
                assert one.opts[0] in text


def test_links_lead_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for link in page.links:
            target, anchor = urldefrag(unquote(link))
            if ":" in target:
                continue
            linked = (path.parent / target).resolve() if target else path
            assert linked.exists(), (path.name, link)
            if anchor and linked in pages:
                assert anchor in pages[linked].ids, (path.name, link)


def test_nothing_is_fetched(pages: dict[Path, Page]) -> None:
    loads = {load for page in pages.values() for load in page.loads}
    assert not {load for load in loads if re.match(r"(https?:)?//", load)}


def test_pictures_are_made_by_the_code_beside_them(site: Path) -> None:
    for name, least in (("gallery", 14), ("kappa-and-alpha", 2), ("story-round", 2)):
        drawn = re.findall(r"^ax = ", (GUIDE / f"{name}.md").read_text("utf-8"), re.MULTILINE)
        html = (site / f"{name}.html").read_text("utf-8")
        said = re.findall(r'<figure class="picture".*?><svg .*?aria-label="([^"]+)"', html)
        assert len(said) >= max(least, len(drawn))


def test_formulas_are_drawn_without_a_script(site: Path) -> None:
    html = (site / "methods.html").read_text("utf-8")
    assert html.count("<math ") > 30
    assert "mathjax.js" not in html.lower()


@needs_browser
def test_cheat_sheet_fits_one_page(site: Path) -> None:
    assert (site / "cheat-sheet.pdf").read_bytes().count(b"/Type /Page\n") == 1
    assert "cheat-sheet.pdf" in (site / "cheat-sheet.html").read_text("utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with started_browser() as started:
        yield started


@pytest.fixture
def visit(browser, site):
    """Return what opens a page, and checks at the end that nothing went wrong or was fetched."""
    opened, said = [], []

    def open_page(name, *, size=SIZES[0], scheme="light"):
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
        )
        opened.append(context)
        page = context.new_page()
        page.on("console", lambda one: one.type in {"error", "warning"} and said.append(one.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("requestfailed", lambda request: said.append(request.url))
        page.on("request", lambda request: request.url.startswith(("file:", "data:"))
                or said.append(request.url))  # fmt: skip
        page.goto((site / f"{name}.html").as_uri())
        return page

    yield open_page
    for context in opened:
        context.close()
    assert said == []


LOOKED_AT = ("index", "start-here", "kappa-and-alpha", "gallery", "methods", "exports",
             "cheat-sheet", "reference/coefficients")  # fmt: skip


@needs_browser
@pytest.mark.parametrize(("place", "name"), [*enumerate(LOOKED_AT)])
def test_everybody_can_read_it(visit, place, name):
    """Every page is neither too wide nor faulty; in turn on a phone and in the dark, or neither."""
    is_small = place % 2 == 0
    page = visit(name, size=SIZES[is_small], scheme="dark" if is_small else "light")
    assert page.locator("h1").count() == 1
    assert finds(page) == []
    for width, height in (SIZES[is_small], SIZES[not is_small]):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@needs_browser
def test_search_answers(visit):
    page = visit("search")
    for asked, found in (("krippendorff_alpha", "coefficients.html"), ("reshuffles", "kappa")):
        page.goto(page.url.partition("?")[0] + f"?q={asked}")
        first = page.locator("#search-results li a").filter(visible=True)
        first.first.wait_for(timeout=10_000)
        assert any(found in str(one.get_attribute("href")) for one in first.all())


@needs_browser
def test_dark_follows_the_system_and_the_button(visit):
    page = visit("start-here", scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(20, 23, 26)"
    page.locator(".theme-switch-button").first.click()
    page.get_by_text("Light", exact=True).first.click()
    assert page.evaluate(ground) == "rgb(251, 251, 250)"

"""The page in a real browser: no error, tables sort, hostile text stays text, nothing overflows.

Skipped with a reason where playwright or a browser is absent.
"""

import itertools
import os
from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="the page needs the report extra")
pytest.importorskip("matplotlib", reason="the page needs the report extra")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from browsing import BROWSER, SIZES, finds, started_browser
from hostile_pages import HOSTILE, hostile_study

import setagree as sa
from setagree.reporting.report import report

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
    pytest.mark.usefixtures("few_draws"),
]


@pytest.fixture(scope="module")
def browser():
    with started_browser() as started:
        yield started


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    study = sa.simulate(60, 4, skill=[0.9, 0.8, 0.7, 0.3], size_bias=[1, 1, 1, 2], rng=1)
    groups = {unit: f"batch {k % 3}" for k, unit in enumerate(study.units)}
    asked = {"model": "r4", "panels": {"one": ["r1"], "two": ["r2", "r3"]}}
    report(study, folder / "plain.html", groups=groups, **asked, n_resamples=99, rng=1)
    hostile = hostile_study()
    groups = {unit: f"<b onclick=alert(4)>{k % 3}</b>" for k, unit in enumerate(hostile.units)}
    path = folder / "hostile.html"
    asked = {"model": list(hostile.raters[:1]), "panels": {HOSTILE[4]: list(hostile.raters[:2])}}
    report(hostile, path, groups=groups, **asked, title=HOSTILE[0], n_resamples=19, rng=1)
    rare = []  # "some" allows a rough interval, "rare" none
    for k, rater in itertools.product(range(60), range(5)):
        is_given = {
            "much": (k % 2 == 0) != ((k + rater) % 5 == 0),
            "some": k < 10 and (k + rater) % 5 < 3,
            "rare": k < 2 and rater < 2,
        }
        rare.append((rater, k, {label for label, is_in in is_given.items() if is_in}))
    report(sa.Annotations.from_triples(rare), folder / "rare.html", n_resamples=19, rng=1)
    return {name: (folder / f"{name}.html").as_uri() for name in ("plain", "hostile", "rare")}


@pytest.fixture
def visit(browser, addresses):
    """Return what opens a page, and checks at the end that it gave no error or dialog."""
    opened, said = [], []

    def open_page(name, *, size=SIZES[0], scripts=True, scheme="light", opened_tables=True):
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            java_script_enabled=scripts,
            color_scheme=scheme,
        )
        opened.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(("file:", "data:"))
                or said.append(request.url))  # fmt: skip
        page.goto(addresses[name])
        if opened_tables:  # as a reader does who clicks at each
            page.locator("details:not(details details)").evaluate_all(
                "all => { for (const one of all) one.open = true }"
            )
        return page

    yield open_page
    for context in opened:
        context.close()
    assert said == []


def column(page, table, number):
    cells = page.locator(f"#{table} tbody tr > :nth-child({number})")
    return [text.split("\n")[0].strip() for text in cells.all_inner_texts()]


def numbers(texts):
    """Return numbers as the page writes them as floats."""
    return [float(text.split()[0].replace("−", "-").replace(",", "")) for text in texts]


@pytest.mark.parametrize("size", SIZES, ids=["laptop", "phone"])
def test_pictures_fit(visit, size):
    page = visit("plain", size=size)
    figures = page.locator("figure").evaluate_all(
        """all => all.map(figure => {
            const shown = [...figure.querySelectorAll("svg")].filter(one => one.checkVisibility());
            const letter = [...shown[0].querySelectorAll("text")].at(-1);
            const sizes = [shown[0], letter].map(one => one.getBoundingClientRect());
            return [shown.length, sizes[0].width, sizes[1].height];
        })"""
    )
    assert len(figures) > 5
    for n_shown, width, letter in figures:
        assert n_shown == 1
        assert width <= size[0]
        assert letter >= 9


@pytest.mark.parametrize(("size", "height"), [((1366, 768), 6500), ((390, 844), 9500)])
def test_tables_are_behind_a_click(visit, size, height):
    page = visit("plain", size=size, opened_tables=False)
    assert page.evaluate("document.documentElement.scrollHeight") <= height
    assert not any(one.is_visible() for one in page.locator("table").all())
    page.locator("#labels summary").click()
    assert page.locator("#labels table").is_visible()
    # A reader without statistics has the answer on the first screen of a laptop.
    if size[0] > 1000:
        assert page.locator("#next").bounding_box()["y"] < size[1]


@pytest.mark.skipif("SETAGREE_DATA" not in os.environ, reason="SETAGREE_DATA names no folder")
def test_the_page_of_a_real_study_is_short(browser, tmp_path):
    study = sa.read(Path(os.environ["SETAGREE_DATA"], "hs_brexit.csv"), blank="empty")
    report(study, tmp_path / "page.html", rng=1)
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("document.documentElement.scrollHeight") <= 6000
    assert page.locator("#next").bounding_box()["y"] < 768
    page.close()


def test_the_first_screen(visit):
    page = visit("plain", opened_tables=False)
    verdict = page.locator(".verdict").inner_text()
    assert verdict.startswith(("The people agree", "It is not clear whether the people agree"))
    shown = [one.inner_text() for one in page.locator("#found dt").all() if one.is_visible()]
    assert shown[0] == "Models"
    assert len(shown) == 4
    assert 1 <= page.locator("#next li").count() <= 3


def test_what_is_closed_is_printed(visit):
    page = visit("plain", opened_tables=False)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


def test_paper_is_white_with_heads_that_repeat(visit):
    """Paper takes the colours of the light page, and Chromium repeats no head with a button."""
    page = visit("plain", scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    paper = page.evaluate("getComputedStyle(document.body).getPropertyValue('--m0')")
    assert paper == visit("plain").evaluate(
        "getComputedStyle(document.body).getPropertyValue('--m0')"
    )
    head = page.locator("#labels th button").first
    assert head.evaluate("one => getComputedStyle(one).display") == "contents"
    assert not page.locator(".cite").is_visible()


def test_digits_stand_above_bars(visit):
    page = visit("plain", size=SIZES[1])
    cell = page.locator("#labels td.n:has(.bar)").last
    bar = cell.locator(".bar").bounding_box()
    digits = cell.evaluate(
        "c => { const r = document.createRange(); r.selectNodeContents(c.lastChild);"
        " return r.getBoundingClientRect().bottom + scrollY }"
    )
    assert bar["y"] >= digits - 4
    assert bar["height"] < 6


@pytest.mark.parametrize("name", ["plain", "hostile"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows(visit, name, scheme):
    page = visit(name, scheme=scheme)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").count() == 1


def test_tables_sort_by_click(visit):
    page = visit("plain")
    head = page.locator("#raters thead th").nth(4)
    assert head.get_attribute("aria-sort") is None
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    found = numbers(column(page, "raters", 5))
    assert found == sorted(found, reverse=True)
    assert len(set(found)) > 1
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert numbers(column(page, "raters", 5)) == found[::-1]


def test_tables_sort_by_keyboard(visit):
    page = visit("plain")
    button = page.locator("#labels thead th").first.get_by_role("button")
    button.focus()
    page.keyboard.press("Enter")
    assert column(page, "labels", 1) == ["l1", "l2", "l3", "l4", "l5"]
    page.keyboard.press("Space")
    assert column(page, "labels", 1) == ["l5", "l4", "l3", "l2", "l1"]
    page.locator("#labels thead th").nth(2).get_by_role("button").press("Enter")
    assert page.locator("#labels thead th[aria-sort]").count() == 1
    found = numbers(column(page, "labels", 3))
    assert found == sorted(found, reverse=True)


def test_focus_is_seen(visit):
    page = visit("plain")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "found"


def test_hostile_text_stays_text(visit):
    page = visit("hostile")
    assert page.locator("h1").inner_text() == HOSTILE[0]
    labels = column(page, "labels", 1)
    for label in (HOSTILE[0], HOSTILE[2], HOSTILE[3], HOSTILE[4], HOSTILE[6], HOSTILE[7]):
        assert label in labels
    assert "x" * 59 + "…" in labels
    long = page.locator("#labels bdi[title]").first
    assert len(long.get_attribute("title")) == 400
    assert page.locator("img, u, [onclick], [onerror]").count() == 0
    assert page.locator("script").count() == 1


def test_without_scripts_everything_is_there(visit):
    page = visit("plain", scripts=False)
    assert page.locator("button").count() == 0
    assert page.locator("#labels tbody tr").count() == 5
    assert page.locator("figure svg").count() >= 7
    assert "Krippendorff" in page.locator("#methods-text").inner_text()
    assert page.locator("#labels thead th").first.inner_text() == "Label"


def test_dark_is_dark(visit):
    for scheme, dark in (("light", False), ("dark", True)):
        page = visit("plain", scheme=scheme)
        ground, ink = page.evaluate(
            "['background-color', 'color'].map(n => getComputedStyle(document.body)"
            ".getPropertyValue(n).match(/\\d+/g).slice(0, 3).map(Number))"
        )
        assert (sum(ground) < 150) is dark
        assert abs(sum(ground) - sum(ink)) > 450


@pytest.mark.parametrize(("size", "scheme"), [(SIZES[0], "light"), (SIZES[1], "dark")])
def test_everybody_can_use_it(visit, size, scheme):
    page = visit("plain", size=size, scheme=scheme)
    assert finds(page) == []


def test_it_prints(visit):
    """On paper nothing is cut off: tables are no wider than the page, buttons are gone."""
    page = visit("plain", size=(720, 1000))
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
    assert not page.locator(".copy").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_reasons_have_room_on_paper(visit):
    """A table has the columns Reason and Remark: more texts are reasons."""
    page = visit("rare", size=(680, 1000))
    page.emulate_media(media="print")
    heads = page.locator("#labels thead th")
    assert heads.all_inner_texts()[-2:] == ["Reason", "Remark"]
    widths = heads.evaluate_all("all => all.map(one => one.getBoundingClientRect().width)")
    assert widths[-2] > 1.5 * widths[-1]


@pytest.mark.skipif(os.name == "nt", reason="the clipboard is asked for permission there")
def test_the_paragraph_can_be_copied(visit):
    page = visit("plain")
    page.get_by_role("button", name="Copy the paragraph").click()
    button = page.locator(".copy")
    button.filter(has_text="Cop").or_(button.filter(has_text="Selected")).wait_for()
    assert button.inner_text() in {"Copied", "Selected: copy it with the keyboard"}


def test_printed_as_pdf(tmp_path):
    study = sa.simulate(40, 3, rng=1)
    path = sa.report(study, tmp_path / "x.pdf", n_resamples=19, rng=1)
    assert path.read_bytes().startswith(b"%PDF-")
    assert path.read_bytes().count(b"/Type /Page\n") > 2
    assert [one.name for one in tmp_path.iterdir()] == ["x.pdf"]

"""The page in a real browser, on the real runtime: from a file to the report, without a request.

Skipped with a reason where playwright, a browser or the runtime is absent.
"""

import csv
import io
import json
import math
import re
import threading
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("jinja2", reason="the report needs the report extra")
pytest.importorskip("matplotlib", reason="the report needs the report extra")

from browser_runtime import runtime_folder
from browsing import ARGUMENTS, BROWSER, finds, started_browser
from playwright import sync_api

import setagree as sa
from setagree.cli.browser.serving import Handler
from setagree.cli.browser.session import SEED, Session
from setagree.cli.browser.writing import write_page

STUDY = Path(__file__).parents[2] / "examples" / "study.csv"
PATIENCE = 120_000
SENDING = """new Promise((refused) => {
    addEventListener("securitypolicyviolation", (event) => refused(event.effectiveDirective));
    fetch("https://example.org/", { method: "POST", body: "data" }).catch(() => {});
})"""
LAPTOP = {"width": 1280, "height": 900}
LOOKS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def browser():
    with started_browser() as started:
        yield started


@pytest.fixture
def context(browser):
    started = browser.new_context(viewport=LAPTOP)
    yield started
    started.close()


@pytest.fixture
def lasting(browser, tmp_path_factory):
    """Return a context with a profile of its own, which keeps what it loads."""
    profile = tmp_path_factory.mktemp("profile")
    started = browser.browser_type.launch_persistent_context(
        profile, executable_path=BROWSER, args=ARGUMENTS, viewport=LAPTOP
    )
    yield started
    started.close()


@contextmanager
def served(folder):
    """Serve a folder; give its address, and how often each of its files was asked for."""
    asked = Counter()

    class Counting(Handler):
        def send_head(self):
            """Count, and answer as ever."""
            asked[self.path] += 1
            return super().send_head()

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Counting, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", asked
        server.shutdown()


def opened(context, address):
    """Return a page, where it sends requests, and what its console says."""
    page, requests, said = context.new_page(), [], []
    page.on("console", lambda one: said.append(one.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    context.on("request", lambda request: requests.append((request.method, request.url)))
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    return page, requests, said


def ready(page):
    """Wait until the runtime is there; return the seconds that the page says it took."""
    told = page.locator("#state").filter(has_text="Ready, after")
    told.wait_for()
    return float(re.search(r"after ([\d.]+) seconds", told.inner_text())[1])


def drop(page, path):
    moved = page.evaluate_handle(
        """([name, text]) => {
            const moved = new DataTransfer();
            moved.items.add(new File([text], name));
            return moved;
        }""",
        [path.name, path.read_text(encoding="utf-8")],
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": moved})
    page.locator("#counts").filter(has_text=path.name).wait_for()
    settled(page)


def settled(page):
    """Wait until the table answers what is chosen."""
    page.locator("#state").filter(has_text=re.compile(r"^Read\.$")).wait_for()
    page.locator("#result:not([aria-busy])").wait_for()


def results(page):
    """Return the numbers of the table with all their digits, row by row."""
    cells = page.locator("#table tbody data")
    found = cells.evaluate_all("all => all.map(one => [one.dataset.name, one.value])")
    rows, width = [], 6
    for start in range(0, len(found), width):
        row = {
            name: [float(x) for x in text.split()] for name, text in found[start : start + width]
        }
        row["low"], row["high"] = row.pop("interval") or (math.nan, math.nan)
        rows.append(row)
    return rows


def close(rows, table):
    """Check the numbers of the page against those of CPython, to twelve digits."""
    frame = table.to_frame()
    assert len(rows) == len(frame)
    for row, wanted in zip(rows, frame.to_dict("records"), strict=True):
        for name, value in row.items():
            np.testing.assert_allclose(value, wanted[name], rtol=1e-12, atol=1e-12, err_msg=name)


def kept(page, name):
    """Press a button that saves a file, and return its bytes."""
    try:
        with page.expect_download(timeout=PATIENCE) as waiting:
            page.get_by_role("button", name=name).click()
    except sync_api.TimeoutError as late:
        raise AssertionError(f"{name}: {page.locator('#kept').inner_text()}") from late
    page.locator("#kept").filter(has_text="Saved").wait_for()
    return Path(waiting.value.path()).read_bytes()


class Texts(HTMLParser):
    def __init__(self):
        super().__init__()
        self.hidden, self.texts = 0, []

    def handle_starttag(self, tag, attrs):
        """Note where what is no text begins."""
        self.hidden += tag in {"svg", "style", "script"}

    def handle_endtag(self, tag):
        self.hidden -= tag in {"svg", "style", "script"}

    def handle_data(self, data):
        if not self.hidden:
            self.texts.append(data)

    @classmethod
    def of(cls, document):
        reader = cls()
        reader.feed(document)
        return " ".join(reader.texts).split()


def test_from_a_file_to_the_report(lasting, tmp_path):
    """A file gives CPython's numbers, which follow what is chosen; the report is the library's.

    Nothing is asked for but the page's own files, nothing at all once a file is there but the
    drawing parts for the report, and a second visit takes the runtime from the browser's cache.
    """
    write_page(tmp_path, runtime=str(runtime_folder()))
    with served(tmp_path) as (address, asked):
        page, requests, said = opened(lasting, address)
        page.locator("progress").wait_for()
        took = {"ready": ready(page)}
        painted = "performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"
        assert page.evaluate(painted) < took["ready"] / 2  # long before the runtime is there
        before = len(requests)

        # A thousand units.
        large = sa.simulate(1000, 3, rng=1)
        large.to_long().assign(labels=lambda t: t["labels"].map(sa.format_labels)).to_csv(
            tmp_path / "large.csv", index=False
        )
        began = time.perf_counter()
        page.locator("#file").set_input_files(tmp_path / "large.csv")
        page.locator("#counts").filter(has_text="large.csv").wait_for()
        settled(page)
        took["1,000 units"] = time.perf_counter() - began
        assert took["1,000 units"] < 10  # a tenth of that where nothing else runs

        # A file, and what it is taken for.
        drop(page, STUDY)
        close(results(page), sa.agreement(sa.read(STUDY, blank="missing")))
        assert "307 blank cells" in page.locator("#notes").inner_text()
        page.locator("[name=blank]").select_option("empty")
        settled(page)
        study = sa.read(STUDY, blank="empty")
        close(results(page), sa.agreement(study))

        # The number follows what is chosen.
        page.locator("#distance").select_option("jaccard")
        settled(page)
        close(results(page), sa.agreement(study, distance="jaccard"))
        page.get_by_role("checkbox", name="ben").uncheck()
        settled(page)
        close(results(page), sa.agreement(study.exclude_raters(["ben"]), distance="jaccard"))
        assert "the changes move it by" in page.locator("#moved").inner_text()
        page.get_by_role("checkbox", name="ben").press("Space")
        page.locator("#from").select_option(label="fear")
        page.locator("#to").select_option(label="anger")
        page.get_by_role("button", name="Merge the labels").press("Enter")
        settled(page)
        tried = sa.what_if(study, merge=[["fear", "anger"]], distance="jaccard")
        (merged,) = tried.loc[tried["action"] == "merge", "estimate"]
        assert results(page)[0]["estimate"] == pytest.approx([merged], abs=1e-12)
        page.get_by_role("button", name="Take back").click()
        settled(page)
        close(results(page), sa.agreement(study, distance="jaccard"))

        # What is kept. Nothing was asked for so far.
        queue = list(csv.DictReader(io.StringIO(kept(page, "Adjudication queue").decode())))
        wanted = sa.by_unit(study, distance="jaccard")
        assert [row["unit"] for row in queue] == wanted["unit"].tolist()
        (tmp_path / "tidy.csv").write_bytes(kept(page, "Tidy table"))
        back = sa.krippendorff_alpha(sa.read(tmp_path / "tidy.csv"))
        assert back.estimate == sa.krippendorff_alpha(study).estimate
        assert requests[before:] == []

        # The report: the same words and numbers, resampled ones with the same seed among them.
        got = kept(page, "Report").decode()
        same = sa.report(
            study, tmp_path / "x.html", distance="jaccard", title="study", rng=SEED
        ).read_text(encoding="utf-8")
        assert Texts.of(got) == Texts.of(same)
        assert got.count("<svg") == same.count("<svg")
        assert all(url.startswith(address) for _, url in requests if not url.startswith("blob:"))
        assert {method for method, _ in requests} == {"GET"}
        assert [one for one in said if "Matplotlib is building the font cache" not in one] == []

        # It opens, and fits, on a phone and in the dark.
        (tmp_path / "got.html").write_text(got, encoding="utf-8")
        other = lasting.new_page()
        other.goto((tmp_path / "got.html").as_uri())
        assert other.locator("h1").inner_text() == "study"
        assert other.locator("figure svg").count() >= 7
        for width, scheme in LOOKS:
            page.set_viewport_size({"width": width, "height": 850})
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width

        # A second visit, with a table that is pasted before the runtime is there.
        asked.clear()
        again, *_ = opened(lasting, address)
        again.get_by_text("Paste a table").click()
        again.locator("#text").fill("id\tann\tben\n1\ta\ta\n2\tb\ta, b\n3\tb\tb\n")
        again.get_by_role("button", name="Read the table").click()
        settled(again)
        answers = [("ann", 1, "a"), ("ben", 1, "a"), ("ann", 2, "b"), ("ben", 2, "a, b")]
        answers += [("ann", 3, "b"), ("ben", 3, "b")]
        alpha = sa.krippendorff_alpha(sa.Annotations.from_triples(answers))
        assert results(again)[0]["estimate"] == pytest.approx([alpha.estimate], abs=1e-12)
        again.get_by_role("button", name="Try a small example").click()
        again.locator("#counts").filter(has_text="6 units · 3 raters").wait_for()
        assert not [path for path in asked if "/runtime-" in path or ".whl" in path], asked

        # Whatever ran there, the browser would send nothing elsewhere: not from the worker either.
        (worker,) = again.workers
        assert [one.evaluate(SENDING) for one in (again, worker)] == ["connect-src"] * 2
    print(took)  # noqa: T201 - what was measured, for who asks with -s


@pytest.fixture
def filled(context, tmp_path):
    """Return the page as it shows a study; its answers come from here, without the runtime."""
    session = Session()
    asked = [{"what": "read", "path": str(STUDY), "how": {}}]
    asked.append({"what": "table", "without": [1], "merged": [[0, 1]]})
    answers = {one["what"]: json.loads(session.answer(json.dumps(one))) for one in asked}
    with served(tmp_path) as (address, _):
        write_page(tmp_path, runtime=f"{address}none/")
        page, *_ = opened(context, address)
        page.locator("#state").filter(has_text="could not be loaded").wait_for()
        page.evaluate("answers => { ask = async (_, { what }) => answers[what]; }", answers)
        page.evaluate("for (const id of ['file', 'paste', 'example']) $(id).disabled = false")
        page.evaluate("file.path = '/data/study.csv'; read().then(merge)")
        page.locator("#merged button").wait_for()
        yield page


def test_screen_readers(filled):
    for width, scheme in (LOOKS[0], LOOKS[-1]):
        filled.set_viewport_size({"width": width, "height": 850})
        filled.emulate_media(color_scheme=scheme)
        faults = finds(filled)
        assert [one for one in faults if one[1] in {"serious", "critical"}] == []


def test_what_is_chosen(filled):
    for name, value in [("case", "lower"), ("rater", "unit"), ("blank", "empty")]:
        filled.locator(f"[name={name}]").select_option(value)
    wanted = {"case": "lower", "rater": "unit", "blank": "empty", "labels": "labels"}
    assert wanted.items() <= filled.evaluate("file.how").items()


def test_keyboard(filled):
    """The keyboard reaches everything, the link that skips the introduction first, and it shows."""
    filled.evaluate("document.activeElement.blur()")
    reached, outlined = [], []
    for _ in range(60):
        filled.keyboard.press("Tab")
        reached.append(filled.evaluate("document.activeElement.outerHTML.slice(0, 80)"))
        outlined.append(filled.evaluate("getComputedStyle(document.activeElement).outlineStyle"))
        if 'data-what="results"' in reached[-1]:
            break
    assert 'class="skip"' in reached[0]
    assert {*outlined} <= {"solid", "auto"}
    wanted = ["file", "example", "blank", "coefficient", "distance", "checkbox", "from", "merge"]
    for name in [*wanted, "Take back", "report", "queue", "tidy", "results"]:
        assert any(name in one for one in reached), name


def test_opened_as_a_file(context, tmp_path):
    write_page(tmp_path)
    page, requests, _ = opened(context, (tmp_path / "index.html").as_uri())
    page.wait_for_load_state("load")
    assert "setagree page FOLDER --serve" in page.locator("#state").inner_text()
    assert page.locator("#file").is_disabled()
    assert all(url.startswith("file:") for _, url in requests)


def test_a_runtime_that_cannot_be_had(context, tmp_path):
    with served(tmp_path) as (address, _):
        write_page(tmp_path, runtime=f"{address}none/")
        page, *_ = opened(context, address)
        told = page.locator("#state").filter(has_text="could not be loaded from")
        told.wait_for()
        assert f"{address}none/" in told.inner_text()
        assert "--runtime" in told.inner_text()
        assert page.locator("progress").is_hidden()


def test_long_names_stay_on_a_phone(context, tmp_path):
    write_page(tmp_path, runtime="http://127.0.0.1:9/")
    with served(tmp_path) as (address, _):
        page, _, _ = opened(context, address)
        page.set_viewport_size({"width": 390, "height": 844})
        page.locator("#again").wait_for()
        assert page.locator("#example").is_disabled()
        assert "problem" in page.locator("#state").get_attribute("class")
        page.evaluate(
            """() => {
              const long = "w".repeat(90);
              const found = { columns: [long, "rater"], rows: [[long, "<b>x"]], counts: [long] };
              recognised({ ...found, notes: [long] });
              for (const one of document.querySelectorAll("[hidden]")) one.hidden = false;
              ticks($("raters"), [long]);
              for (const id of ["coefficient", "from"]) fill($(id), [["0", long]], "0");
              answered({ error: long, notes: [long] });
            }"""
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator("#preview b").count() == 0
        assert "problem" in page.locator("#moved").get_attribute("class")

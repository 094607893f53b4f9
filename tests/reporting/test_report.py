"""The report: what it says is what the library computes, and it is one file that needs nothing."""

import base64
import hashlib
import os
import pickle
import re
import stat
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hostile_pages import HOSTILE, hostile_study
from inference_support import T1
from reporting_support import by_id, gathered, told
from scipy import stats
from small_studies import annotations, numbers, text

import setagree as sa
from setagree.errors import (
    DataError,
    FileError,
    MissingDependencyError,
    OptionError,
    SetagreeError,
    UndefinedAgreementWarning,
)
from setagree.reporting import page as page_module
from setagree.reporting import report as report_module
from setagree.reporting.findings import gather, main_findings, sections
from setagree.reporting.headline import (
    counts_line,
    headline,
    limits_sentence,
    plain_verdict,
    verdict_sentence,
)
from setagree.reporting.report import methods_of, rendered, report
from setagree.reporting.sections import estimates, models, raters
from setagree.reporting.sections.base import table_of
from setagree.reporting.sections.data import contents
from setagree.reporting.sections.units import answers
from setagree.wording.number_format import interval, p_phrase
from setagree.wording.sentences import Name, as_markdown, plain
from setagree.wording.tables import Column

pytestmark = pytest.mark.usefixtures("few_draws")

UNCLEAR = "It is not clear whether the raters agree enough to rely on single answers"
DATA = os.environ.get("SETAGREE_DATA")
VOID = {"meta", "link", "br", "wbr", "img", "hr", "input"}


class Page(HTMLParser):
    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.ids, self.texts, self.tables = [], [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        """Note a tag; a table, row or cell begins."""
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        """Check that the innermost open tag is the one that ends."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Collect text, and that of cells."""
        self.texts.append(data)
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data

    @property
    def text(self):
        """All text of the page, spaces made one."""
        return " ".join("".join(self.texts).split())

    def table(self, head):
        """Return the body rows of the table whose first head this is."""
        found = [rows for rows in self.tables if rows[0][0] == head]
        assert len(found) == 1
        return [[" ".join(cell.split()) for cell in row] for row in found[0][1:]]


@pytest.fixture(scope="module")
def study():
    """Return a study of forty units, three raters and some missing ratings."""
    return sa.simulate(40, 3, missing=0.1, rng=1)


@pytest.fixture(scope="module")
def found(study):
    groups = {unit: f"batch {k % 3}" for k, unit in enumerate(study.units)}
    return gather(study, groups=groups, n_resamples=99, rng=1)


def page_of(path):
    return Page(path.read_text(encoding="utf-8"))


def needs_page():
    """Skip where the page cannot be made."""
    pytest.importorskip("jinja2", reason="the page needs the report extra")
    pytest.importorskip("matplotlib", reason="the page needs the report extra")


class TestNumbers:
    def test_headline_of_the_walkthrough(self):
        """T1: masi alpha 0.40257152 (= 27678/68753), score interval 0.0642031 to .7191400.

        The interval crosses 0.667, so that the units do not show that alpha is too low.
        """
        f = gather(annotations(T1), n_resamples=99, rng=1)
        said = plain(headline(f))
        assert "Krippendorff's alpha with the MASI distance is 0.403" in said
        assert "score interval 0.064 to 0.719, for these raters)" in said
        assert verdict_sentence(f).startswith(UNCLEAR)
        assert "even allowing" not in verdict_sentence(f)
        paragraph = report_module.methods_of(f).text
        assert "95% interval 0.064 to 0.719" in paragraph
        assert "raters as fixed, and therefore hold for these raters." in paragraph
        drawn = annotations(T1).sampled(strata={f"u{k}": k < 5 for k in range(11)})
        assert "score interval" not in report_module.methods_of(gather(drawn, n_resamples=19)).text

    def test_too_uncertain(self):
        """Where only the low end of the score interval is below the limits, it is not too low.

        One disagreement in 11 units: alpha 0.863, at least 0.455 with 95% confidence.
        """
        rows = text("a a / b b / c c / a a / a a / a a / b b / b b / b b / c c / a b")
        f = gather(annotations(rows), n_resamples=99, rng=1)
        assert verdict_sentence(f).startswith(f"{UNCLEAR}, by Krippendorff's limits")

    @pytest.mark.parametrize(
        ("word", "ends", "said"),
        [
            ("discard", (0.30, 0.66), "The raters agree less {low}, {by}{allowing}."),
            ("discard", (0.30, 0.49), "The raters agree far less {low}, {by}{allowing}."),
            ("discard", (-0.471, 0.991), "{unclear}, {by}."),
            ("discard", (0.60, 0.67), "{unclear}, {by}."),
            ("tentative", (0.67, 0.75), "The raters agree {middle}, {by}{allowing}."),
            (
                "tentative",
                (0.65, 0.75),
                "The raters agree {middle}, {by}, with 95% confidence.",
            ),
            ("tentative", (0.67, 0.85), "The raters agree {least}, {by}{allowing}."),
            ("reliable", (0.81, 0.95), "The raters agree {high}, {by}{allowing}."),
            ("reliable", (0.79, 0.95), "The raters agree {high}, {by}, with 95% confidence."),
        ],
    )
    def test_the_verdict_fits_both_ends_of_the_interval(self, word, ends, said):
        main = SimpleNamespace(
            remark=None,
            standard_error=0.1,
            coefficient="krippendorff_alpha",
            distance="nominal",
            reason=None,
            interval_reason=None,
            interval_method=None,
            interval=lambda level: ends,
            case=SimpleNamespace(distance=None),
        )
        by = "by Krippendorff's limits (reliable from 0.800, tentative conclusions from 0.667)"
        f = SimpleNamespace(main=main, level=0.95, verdict=SimpleNamespace(verdict=word), models=[])
        allowing = ", even allowing for sampling error"
        words = {
            "low": "than is needed to rely on single answers",
            "middle": "enough for tentative conclusions, but not to rely on single answers",
            "least": "at least enough for tentative conclusions",
            "high": "enough to rely on single answers",
            "unclear": UNCLEAR,
        }
        assert verdict_sentence(f) == said.format(by=by, allowing=allowing, **words)
        assert f"{plain_verdict(f)[:-1]}, by" in verdict_sentence(f)
        assert limits_sentence(f).startswith("By Krippendorff's limits (reliable from 0.800")

    def test_the_verdict_of_built_studies(self):
        low = gathered(sa.simulate(300, 3, rng=1))
        assert low.main.interval(method="score")[1] < 0.667
        assert verdict_sentence(low).startswith(
            "The raters agree far less than is needed to rely on "
        )
        assert "even allowing for sampling error" in verdict_sentence(low)
        rows = text("a a / b b / a b / b b / a a / a a / b b / a b / b b / a a")
        few = gathered(annotations(rows))
        assert few.main.estimate < 0.667 < few.main.interval(method="score")[1]
        assert verdict_sentence(few).startswith(f"{UNCLEAR}, by Krippendorff's")
        assert "even allowing" not in verdict_sentence(few)
        rows = annotations(text("a b / a . / b . / b ."))
        one = gathered(rows, coefficient="fleiss_kappa")
        assert one.main.standard_error > 0
        assert verdict_sentence(one).startswith("No verdict. Too few rarer answers for an interval")

    def test_frames_are_those_of_the_library(self, study, found):
        pd.testing.assert_frame_equal(found.results["labels"], sa.by_label(study))
        # The first reshuffles show that no confusion is above chance, and that no rater differs.
        confused = sa.confusions(study, n_resamples=99, rng=1)
        pd.testing.assert_frame_equal(found.results["confusions"], confused)
        raters = sa.by_rater(study, n_resamples=99, rng=1)
        pd.testing.assert_frame_equal(found.results["raters"], raters)
        pd.testing.assert_frame_equal(found.results["pairs"], sa.by_pair(study))
        units = found.results["units"].reset_index(drop=True)
        pd.testing.assert_frame_equal(units, pd.DataFrame(sa.by_unit(study))[[*units]])
        n = found.n_reshuffles
        test = sa.permutation_test(sa.krippendorff_alpha(study), n_resamples=n, rng=1)
        assert np.array_equal(found.results["chance"].distribution, test.distribution)

    def test_options_reach_every_part(self, study):
        f = gathered(study, coefficient="fleiss_kappa", distance="jaccard", level=0.9)
        assert (f.main.coefficient, f.main.distance) == ("fleiss_kappa", "jaccard")
        measure = {"coefficient": "fleiss_kappa", "distance": "jaccard", "level": 0.9}
        expected = sa.by_rater(study, **measure, n_resamples=99, rng=1)
        pd.testing.assert_frame_equal(f.results["raters"], expected)
        assert f.results["choices"]["fleiss_kappa", "jaccard"].estimate == f.main.estimate
        low, high = f.main.interval(0.9, method="score")
        assert f"90% score interval {interval(low, high)}" in plain(headline(f))

    def test_panel_has_the_headline_first(self, study):
        found = gathered(study, distance="dice").results["choices"]
        names = [(row.coefficient, row.distance) for row in found]
        assert names[0] == ("krippendorff_alpha", "dice")
        assert len(set(names)) == len(names)
        two = gathered(sa.simulate(30, 2, rng=1))
        assert {"scott_pi", "cohen_kappa"} <= {row.coefficient for row in two.results["choices"]}

    def test_a_coefficient_of_its_own_is_in_the_panel(self, study):
        f = gathered(study, coefficient="brennan_prediger")
        assert ("brennan_prediger", "masi") in f.results["choices"].by_name
        f = gathered(study, coefficient="mv_alpha")
        assert "mv_alpha" not in {row.coefficient for row in f.results["choices"]}
        assert "No verdict" in verdict_sentence(f)

    @pytest.mark.slow
    def test_reshuffles_are_fewer_where_the_study_is_large(self, monkeypatch):
        assert estimates._RESHUFFLED == 10_000_000
        monkeypatch.setattr(estimates, "_RESHUFFLED", 130_000)
        f = gather(sa.simulate(300, 4, rng=1), n_resamples=999, rng=1)
        assert len(f.results["chance"].distribution) == 108  # 1.3 * 10^5 / 1,200 = 108.3
        said = {section.id: plain(section.lead) for section in sections(f)}
        few = "108 reshuffled studies (not 999, because the study is large)"
        assert few in said["chance"]

    def test_what_is_tried(self, found):
        changes = found.results["changes"]
        assert changes["action"].value_counts().drop("as it is").max() <= 3
        dropped = set(changes.loc[changes["action"] == "drop label", "target"])
        assert dropped == set(found.results["labels"]["label"].head(3))
        raters = found.results["raters"]
        t = raters["difference"] / raters["difference_standard_error"]
        p = 2 * stats.t.sf(t.abs(), found.main.n_pairable_units - 1)
        order, highest, costly = np.argsort(p), 0.0, []
        for place, k in enumerate(order.tolist()):
            highest = max(highest, p[k] * (len(p) - place))
            costly += [k] if highest < 0.05 and t[k] > 0 else []
        tried = raters["rater"].iloc[sorted(costly)[:3]]
        assert set(changes.loc[changes["action"] == "drop rater", "target"]) == set(tried)

    def test_groups_may_come_ready(self, study, found):
        ready = gathered(study, groups=found.results["groups"])
        assert ready.results["groups"] is found.results["groups"]
        with pytest.raises(DataError, match="without the columns of by_group"):
            gather(study, groups=pd.DataFrame({"a": [1]}), n_resamples=19)
        with pytest.raises(SetagreeError, match="have none in 'group'"):
            gather(study, groups={"u1": "a"}, n_resamples=19)


class TestTables:
    def test_cells(self):
        """Every kind is shown, sorted and, where it has one, given its interval."""
        cell = (0.25, 0.125, 0.375)
        assert Column("x", "estimate").sentence(cell) == ("0.250",)
        assert Column("x", "change").sentence(cell) == ("+0.250",)
        assert Column("x", "change").interval(cell) == "0.125 to 0.375"
        assert Column("x", "estimate").interval((0.25, np.nan, np.nan)) == ""
        kinds = {"estimate": cell, "name": "a", "p": None}
        keys = [Column("x", kind).sort_key(value) for kind, value in kinds.items()]
        assert keys == ["0.25", "", ""]
        assert Column("x", "name").sentence(None) == ("–",)
        assert Column("x", "name").sentence("<b>") == (Name("<b>"),)
        assert Column("x", "text").sentence("ours") == ("ours",)

    def test_silent_columns_are_left_out(self):
        frame = pd.DataFrame({"a": [1, 2], "b": [np.nan, np.nan], "c_rate": [0.0, 0.0]})
        columns = [Column(name) for name in ("a", "b", "c_rate", "d")]
        table = table_of(frame, columns, "caption", limit=1, function="by_rater")
        assert [column.heading() for column in table.columns] == ["a"]
        assert table.rows == [(1,)]
        assert table.more == "The first 1 of 2; sa.by_rater returns all."

    def test_answers_side_by_side(self):
        few = annotations(text("a ab a / {} b b"))
        said = [plain(sentence) for sentence in answers(few, ["u1", "u0"])]
        assert said == ["“b” (“r1” and “r2”); “{}” (“r0”)", "“a” (“r0” and “r2”); “a, b” (“r1”)"]
        many = annotations([[frozenset([f"l{k % 10}"]) for k in range(12)]] * 9)
        (sentence,) = answers(many, ["u0"])
        assert plain(sentence).startswith("“l0”\u00a0×2; “l1”\u00a0×2; “l2”\u00a0×1;")
        assert plain(sentence).endswith("; and 2 other answers")

    def test_contents(self):
        study = sa.Annotations.from_triples(
            [("ann", 1, "a"), ("ben", 1, set()), ("ann", 2, "a, b"), ("ben", 2, None),
             ("ann", 3, set()), ("ben", 3, "a")],
        )  # fmt: skip
        counts = {what: n for what, n, _ in contents(study, sa.krippendorff_alpha(study))}
        assert counts == {
            "Units": 3, "Units with a single rating": 1, "Raters": 2, "Ratings": 5,
            "Missing ratings": 1, "Empty sets": 2, "Labels": 2, "Distinct label sets": 3,
        }  # fmt: skip
        found = gathered(study)
        assert counts_line(found) == "3 units · 2 raters · 5 ratings · 3 distinct sets"

    def test_units_that_nobody_answered(self):
        study = sa.Annotations.from_triples(
            [(who, unit, "ab"[unit - 1]) for who in ("ann", "ben") for unit in (1, 2)]
            + [("gpt", 1, "a"), ("gpt", 3, "a"), ("ann", 4, None), ("gpt", 4, None)]
        )
        shown = by_id(gathered(study, model="gpt"))["data"].table
        rows = {what: (n, fate) for what, n, fate in shown.rows}
        assert rows["Units without any rating"] == (1, "left out, also of the grid below: 4")
        assert rows["Units that only models rated"] == (1, "left out with them")

    def test_raters_without_any_rating(self):
        study = sa.Annotations.from_triples(
            [(who, unit, "ab"[unit - 1]) for who in ("ann", "ben") for unit in (1, 2)]
            + [("cem", 1, None), ("cem", 2, None), ("ann", 3, "a"), ("ben", 3, None)]
        )
        rows = {what: (n, fate) for what, n, fate in contents(study, sa.krippendorff_alpha(study))}
        words = "left out, also of the grid below: 'cem'"
        assert rows["Raters without any rating"] == (1, words)
        assert rows["Ratings"] == (5, "83% of the unit × rater grid is filled")
        n, fate = rows["Missing ratings"]
        assert (n, "2 of them of raters without any rating" in fate) == (3, True)

    def test_fate_of_singles(self):
        study = annotations(text("a a / b b / a ."))
        for make, word in ((sa.krippendorff_alpha, "left out"), (sa.fleiss_kappa, "used for")):
            said = {what: fate for what, _, fate in contents(study, make(study))}
            assert said["Units with a single rating"].startswith(word)


@pytest.fixture(scope="module")
def path(study, tmp_path_factory):
    needs_page()
    groups = pd.Series({unit: f"batch {k % 3}" for k, unit in enumerate(study.units)})
    path = tmp_path_factory.mktemp("page") / "study.html"
    assert report(study, path, groups=groups, title="Round 2", n_resamples=99, rng=1) == path
    return path


def test_the_path_in_a_notebook(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "a & <b> 1.md"
    relative = report(study, name, n_resamples=19, rng=1)
    absolute = report(study, tmp_path / name, n_resamples=19, rng=1)
    assert repr([relative, absolute]) == f"[{name}, {tmp_path / name}]"
    shown = "a &amp; &lt;b&gt; 1.md</a>"
    assert relative._repr_html_() == f'<a href="a%20%26%20%3Cb%3E%201.md">{shown}'
    assert absolute._repr_html_().startswith('<a href="file:///')
    assert absolute._repr_html_().endswith(f'/a%20%26%20%3Cb%3E%201.md">{tmp_path}/{shown}')
    for path in (relative, absolute, pickle.loads(pickle.dumps(absolute))):  # noqa: S301 - ours
        assert isinstance(path, Path)
        assert path in {Path(name), tmp_path / name}
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - any function takes the path
            assert file.read() == path.read_text("utf-8")
        assert os.fspath(path / "x") == str(Path(path, "x"))


class TestPage:
    @pytest.mark.slow
    def test_it_says_what_was_found(self, path, found):
        page = page_of(path)
        assert "Round 2" in page.text
        assert "(for these raters)" in page.text
        for one in main_findings(found):
            said = "".join(x.short if isinstance(x, Name) else x for x in one.sentence)
            assert " ".join(said.split()) in page.text
        for section in sections(found):
            assert section.id in page.ids
            assert section.title in page.text
        for line in methods_of(found).text.splitlines():
            assert " ".join(line.split()) in page.text

    def test_tables_hold_the_numbers(self, path, study):
        rows = page_of(path).table("Label")
        frame = sa.by_label(study)
        assert [row[0] for row in rows] == list(frame["label"])
        for row, alpha in zip(rows, frame["estimate"], strict=True):
            assert row[2].split()[0].replace("−", "-") == f"{alpha:.3f}"

    def test_it_needs_nothing(self, path):
        html = path.read_text(encoding="utf-8")
        page = Page(html)
        for tag, attributes in page.tags:
            assert not any(name.startswith("on") for name in attributes)
            address = attributes.get("href") or attributes.get("src") or "#"
            assert address.startswith(("#", "data:image/png;base64,")), (tag, address)
        assert [tag for tag, _ in page.tags].count("script") == 1
        script = re.search(r"<script>(.*?)</script>", html, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy = next(a["content"] for t, a in page.tags if "http-equiv" in a)
        assert f"script-src 'sha256-{digest}'" in policy
        assert policy.startswith("default-src 'none'")

    def test_it_is_sane_for_a_screen_reader(self, path):
        page = page_of(path)
        tags = [tag for tag, _ in page.tags]
        assert tags.count("h1") == 1
        assert tags.count("caption") == tags.count("table") > 5
        assert all("scope" in attributes for tag, attributes in page.tags if tag == "th")
        pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
        assert len(pictures) > 5
        assert all(each["role"] == "img" and each["aria-label"] for each in pictures)
        assert len(set(page.ids)) == len(page.ids)
        targets = [a["href"][1:] for t, a in page.tags if t == "a"]
        assert set(targets) <= set(page.ids)

    @pytest.mark.slow
    def test_pictures_of_many_raters_are_as_high_as_those_of_twenty(self, tmp_path):
        html = report(sa.simulate(30, 40, rng=1), tmp_path / "x.html", n_resamples=19, rng=1)
        boxes = [a["viewbox"].split() for tag, a in page_of(html).tags if tag == "svg"]
        assert len(boxes) > 5
        # at most 4.4 inches, and the lines of a heading
        assert all(float(height) <= 4.4 * 72 + 40 for *_, height in boxes)

    @pytest.mark.slow
    def test_the_same_seed_gives_the_same_file(self, path, study, tmp_path):
        groups = {unit: f"batch {k % 3}" for k, unit in enumerate(study.units)}
        again = report(
            study, tmp_path / "x.html", groups=groups, title="Round 2", n_resamples=99, rng=1
        )
        assert again.read_bytes() == path.read_bytes()

    @pytest.mark.slow
    def test_hostile_text_stays_text(self, tmp_path):
        needs_page()
        study = hostile_study()
        groups = {unit: f"<b>{k % 3}</b>" for k, unit in enumerate(study.units)}
        path = report(
            study, tmp_path / "x.html", groups=groups, title=HOSTILE[0], n_resamples=19, rng=1
        )
        page = page_of(path)
        tags = {tag for tag, _ in page.tags}
        assert not tags & {"img", "u", "b0"}
        assert [tag for tag, _ in page.tags].count("script") == 1
        assert HOSTILE[0] in page.text
        assert HOSTILE[4] in page.text
        assert "{{ 7*7 }}" in page.text
        assert "x" * 400 not in page.text
        assert path.stat().st_size < 600_000

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "rows",
        [text("a a / a a"), text("a b"), text("a . / b ."), numbers("1 2 3 / 2 2 2 / 3 3 1")],
    )
    @pytest.mark.filterwarnings("ignore::setagree.UndefinedAgreementWarning")
    def test_small_and_odd_studies(self, rows, tmp_path):
        needs_page()
        path = report(annotations(rows), tmp_path / "x.html", n_resamples=19, rng=1)
        assert "Main findings" in page_of(path).text

    @pytest.mark.slow
    def test_negative_estimates_stand_on_the_ruler(self, tmp_path):
        needs_page()
        path = report(annotations(text("a b / b a / a b / b a / a a")), tmp_path / "x.html", rng=1)
        places = [
            float(x) for x in re.findall(r"left:([-\d.]+)%", path.read_text(encoding="utf-8"))
        ]
        assert min(places) >= 0
        assert max(places) <= 100

    @pytest.mark.slow
    @pytest.mark.skipif(not DATA, reason="SETAGREE_DATA names no folder with real data")
    @pytest.mark.filterwarnings("ignore:.*'NONE' read as a label like any other")
    def test_fifty_thousand_ratings(self, tmp_path):
        """The page of 50,000 ratings takes under 20 s of two cores, and under 3 MB."""
        needs_page()
        frame = pd.read_csv(f"{DATA}/crowdtruth_medrel.csv", dtype=str, keep_default_na=False)
        study = sa.Annotations.from_long(frame, duplicates="first", blank="empty")
        how = {"reading": sa.Reading(duplicates="first", blank="empty"), "n_resamples": 99}
        groups = sa.by_group(frame, "batch", **how)
        start = time.process_time()
        path = report(study, tmp_path / "x.html", groups=groups, rng=1)
        assert time.process_time() - start < 40  # CPU seconds of two cores
        assert path.stat().st_size < 3_000_000
        said = (
            "A map of 468 raters with 50,226 ratings takes too long for a report; use sa.rater_map."
        )
        assert said in page_of(path).text


class TestQuestions:
    TABLE = pd.DataFrame(
        {
            "unit": [unit for unit in range(30) for _ in range(3)],
            "rater": ["ann", "bob", "cem"] * 30,
            "emotion": [*"aabbbacca", *"ccacbbaab"] * 5,
            "stars": [1, 2, 1, 4, 4, 5, 3, 3, 2, 5, 5, 4, 2, 2, 2, 1, 1, 2] * 5,
        }
    )

    def test_a_page_per_question(self, tmp_path):
        needs_page()
        asked = {"n_resamples": 19, "rng": 1}
        table = sa.by_question(self.TABLE, ["emotion", "stars"])
        path = report(self.TABLE, tmp_path / "x.html", questions=["emotion", "stars"], **asked)
        page = page_of(path)
        rows = page.table("Question")
        assert [row[0] for row in rows] == ["emotion", "stars", "Mean"]
        estimates = [f"{x:.3f}" for x in table.frame["estimate"]]
        assert [row[1].split()[0].replace("\u2212", "-") for row in rows] == estimates
        assert [row[3] for row in rows] == ["MASI", "interval", ""]
        assert len(set(page.ids)) == len(page.ids)
        links = [a["href"][1:] for tag, a in page.tags if tag == "a"]
        assert set(links) <= set(page.ids)
        assert {"q1", "q2", "q1-labels", "q2-raters", "q2-methods"} <= set(links)

    def test_markdown_has_deeper_headings(self, tmp_path):
        asked = {"questions": ["emotion", "stars"], "distance": {"stars": "ordinal"}}
        path = report(self.TABLE, tmp_path / "x.md", n_resamples=19, rng=1, **asked)
        text = path.read_text("utf-8")
        heads = [line for line in text.splitlines() if line.startswith(("# ", "## "))]
        assert heads == ["# x", "## emotion", "## stars"]
        assert "### Main findings" in text
        assert "with the ordinal distance" in text


def test_the_headline_of_numbers_is_of_their_distances():
    """Distances of numbers are differences, whatever the order of the table of distances."""
    study = numbers("1 2 1 / 4 4 5 / 3 3 2 / 5 5 4 / 2 2 2")
    for one in (gather(study, n_resamples=19).main, gather(study, distance="ordinal").main):
        assert one.estimate == sa.krippendorff_alpha(study, distance=one.distance).estimate
    assert gather(study, n_resamples=19).main.distance == "interval"
    assert sa.by_rater(study)["estimate_without"].equals(
        sa.by_rater(study, distance="interval")["estimate_without"]
    )


class TestMarkdown:
    def test_same_findings(self, found):
        markdown = rendered(found, Name("Study"), "markdown")
        assert markdown.startswith(f"# Study\n\n{counts_line(found)}\n")
        for section in sections(found):
            assert f"## {section.title}\n" in markdown
            if section.table is not None:
                head = " | ".join(column.heading() for column in section.table.columns)
                assert f"| {head} |" in markdown
        for one in main_findings(found):
            assert f"- **{one.about}.** " in markdown

    def test_tables_are_rectangular(self, found):
        markdown = rendered(found, Name("Study"), "markdown")
        blocks = re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE)
        assert len(blocks) > 5
        for block in blocks:
            cells = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(cells) == 1

    def test_hostile_text_stays_text(self, tmp_path):
        path = report(hostile_study(), tmp_path / "x.md", n_resamples=19, rng=1)
        markdown = path.read_text(encoding="utf-8")
        assert "<script" not in markdown
        assert "<img" not in markdown
        assert "](javascript" not in markdown
        assert as_markdown("a|b_*<i>&") == r"a\|b\_\*&lt;i&gt;&amp;"

    def test_chosen_by_ending_or_by_name(self, study, tmp_path):
        for name, form in (("a.md", None), ("b.markdown", None), ("c.txt", "markdown")):
            path = report(study, tmp_path / name, format=form, n_resamples=19, rng=1)
            assert path.read_text(encoding="utf-8").startswith(f"# {path.stem}\n")


class TestWriting:
    def test_failure_leaves_the_old_file(self, study, tmp_path, monkeypatch):
        path = tmp_path / "report.md"
        path.write_text("old", encoding="utf-8")

        def full(*_, **__):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("setagree.checks.os.fsync", full)
        with pytest.raises(FileError, match="No space left on device"):
            report(study, path, n_resamples=19, rng=1)
        assert path.read_text(encoding="utf-8") == "old"
        assert list(tmp_path.iterdir()) == [path]

    def test_interrupt_leaves_the_old_file(self, study, tmp_path, monkeypatch):
        path = tmp_path / "report.md"
        path.write_text("old", encoding="utf-8")

        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(report_module, "rendered", interrupted)
        with pytest.raises(KeyboardInterrupt):
            report(study, path, n_resamples=19, rng=1)
        assert [each.read_text(encoding="utf-8") for each in tmp_path.iterdir()] == ["old"]

    def test_the_old_mode_is_kept(self, study, tmp_path):
        path = tmp_path / "report.md"
        path.write_text("old", encoding="utf-8")
        path.chmod(0o640)
        report(study, path, n_resamples=19, rng=1)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def test_impossible_targets_are_refused_before_any_work(self, study, tmp_path, monkeypatch):
        monkeypatch.setattr(report_module, "gather", None)
        with pytest.raises(FileError, match="There is no folder"):
            report(study, tmp_path / "absent" / "x.md")
        with pytest.raises(FileError, match="is not a file that could be replaced"):
            report(study, tmp_path, format="markdown")
        with pytest.raises(OptionError, match="format='docx' is unknown"):
            report(study, tmp_path / "x.docx", format="docx")

    def test_no_browser_is_a_sentence(self, study, tmp_path, monkeypatch):
        needs_page()
        monkeypatch.setattr(report_module, "gather", None)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(page_module, "_ELSEWHERE", ())
        with pytest.raises(MissingDependencyError, match=r"apt install chromium.*end in \.html"):
            report(study, tmp_path / "x.pdf")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.slow
    @pytest.mark.skipif(os.name == "nt", reason="the stand-in for a browser is a shell script")
    def test_a_browser_that_fails(self, study, tmp_path, monkeypatch):
        needs_page()
        stand_in = tmp_path / "chromium"
        stand_in.write_text("#!/bin/sh\necho out of paper >&2\nexit 3\n")
        stand_in.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(FileError, match="printed no PDF: 'out of paper'"):
            report(study, tmp_path / "x.pdf", n_resamples=19, rng=1)
        assert list(tmp_path.iterdir()) == [stand_in]

    @pytest.mark.skipif(os.name == "nt", reason="the stand-in for a browser is a shell script")
    @pytest.mark.parametrize(("user", "said"), [(0, "open"), (1000, "closed")])
    def test_chromium_of_root_has_no_sandbox(self, tmp_path, monkeypatch, user, said):
        stand_in = tmp_path / "chromium"
        case = 'case "$*" in *--no-sandbox*) echo open >&2;; *) echo closed >&2;; esac'
        stand_in.write_text(f"#!/bin/sh\n{case}\nexit 3\n")
        stand_in.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(os, "geteuid", lambda: user)
        with pytest.raises(FileError, match=f"printed no PDF: '{said}'"):
            page_module.printed("<p>page</p>")

    @pytest.mark.parametrize("absent", ["jinja2", "matplotlib"])
    def test_a_missing_extra_is_a_sentence(self, study, tmp_path, monkeypatch, absent):
        monkeypatch.setitem(sys.modules, absent, None)
        with pytest.raises(MissingDependencyError, match=re.escape('"setagree[report]"')):
            report(study, tmp_path / "x.html")
        assert list(tmp_path.iterdir()) == []
        report(study, tmp_path / "x.md", n_resamples=19, rng=1)

    def test_what_is_no_study(self, study, tmp_path):
        tally = sa.Tally.from_annotations(study)
        frame = study.to_long().rename(columns={"rater": "by whom"})
        for thing, words in (
            (tally, "a tally of counts lacks"),
            (frame, "No column has a usual name for the rater"),
            (
                sa.krippendorff_alpha(study),
                "Expected annotations, got an Agreement; pass the study",
            ),
        ):
            with pytest.raises(DataError, match=words):
                report(thing, tmp_path / "x.md")
        with pytest.raises(OptionError, match="level=2 must lie between"):
            report(study, tmp_path / "x.md", level=2)
        with pytest.raises(OptionError, match="n_resamples=0"):
            report(study, tmp_path / "x.md", n_resamples=0)

    def test_half_a_character_is_spelled_out(self, tmp_path):
        path = report(sa.simulate(20, 3, rng=1), tmp_path / "x.md", title="a\ud800", rng=1)
        assert path.read_text(encoding="utf-8").startswith("# a\\\\ud800")

    def test_generators_have_no_seed_to_print(self, study, tmp_path):
        f = gather(study, n_resamples=19, rng=np.random.default_rng(1))
        assert f.seed is None
        assert "seed" not in methods_of(f).text
        assert repr(f).startswith("<Findings about <krippendorff_alpha [masi]")
        drawn = gather(study, n_resamples=19)
        assert isinstance(drawn.seed, int)
        assert f"seed {drawn.seed}" in methods_of(drawn).text


@pytest.fixture(scope="module")
def five():
    """Return a study of five raters, the last of them the best."""
    return sa.simulate(120, 5, skill=[0.7, 0.7, 0.7, 0.6, 0.9], rng=1)


@pytest.fixture(scope="module")
def compared(five):
    """Return what is found where a model and two panels are named."""
    panels = {"one": ["r1", "r2"], "two": ["r3", "r4"]}
    return gather(five, model="r5", panels=panels, n_resamples=99, rng=1)


@pytest.mark.slow
class TestPanels:
    def test_what_stands_beside_the_headline_is_cited(self, found):
        said, _, references = methods_of(found).text.partition("\n\n")
        assert "Gwet's AC2 (Gwet, 2008) and percent agreement; the other distances are " in said
        assert "Jaccard (Jaccard, 1912)" in said
        assert "Computing inter-rater reliability and its variance" in references

    def test_numbers_are_those_of_the_library(self, five, compared):
        (test,) = compared.results["models"].tests
        pd.testing.assert_frame_equal(test.humans, sa.alt_test(five, model="r5")["r5"].humans)
        humans = ["r1", "r2", "r3", "r4"]
        scores = sa.score_against_consensus(five, raters=["r5", *humans], panel=humans)
        pd.testing.assert_frame_equal(compared.results["models"].scores.table, scores.table)
        panels = {"one": ["r1", "r2"], "two": ["r3", "r4"]}
        kappa_x = sa.cross_replication(five, panels=panels, n_resamples=99, rng=1)
        assert np.array_equal(compared.results["replication"].distribution, kappa_x.distribution)
        mapped = sa.rater_map(five.exclude_raters(["r5"]), n_resamples=99, rng=1)
        assert np.array_equal(compared.results["map"].null, mapped.null)
        pd.testing.assert_frame_equal(compared.results["map"].table, mapped.table)

    def test_the_distance_reaches_them(self, five):
        f = gathered(five, model="r5", panels={"a": ["r1"]}, distance="dice")
        parts = (f.results["models"].tests[0], f.results["replication"], f.results["map"])
        assert {part.distance for part in parts} == {"dice"}
        f = gathered(five, model="r5", coefficient="mv_alpha")
        assert f.results["models"].tests[0].distance == f.main.distance == "dice"

    def test_findings(self, compared):
        """The verdicts are among the main findings, and lead their sections."""
        said = told(compared)
        (test,) = compared.results["models"].tests
        won = int(test.humans["rejected"].sum())
        assert said["Models"].startswith(
            f"“r5” may replace a human: it wins over {won} of 4 humans (winning rate "
            f"{test.winning_rate:.2f}, epsilon 0.1)."
        )
        assert f"Average advantage {test.average_advantage_probability:.3f}." in (
            by_id(compared)["models"].note
        )
        found = compared.results["replication"]
        assert said["Panels"] == (
            f"“one” and “two” agree with each other at kappa_x {found.estimate:.3f} (95% interval "
            f"{interval(*found.interval())}); {found.normalised:.3f} if divided by the root of "
            "both alphas."
        )
        people = "Treated as people: “r1”, “r2”, “r3” and “r4” (all raters without the mark or"
        people = f"{people} the name of a model)."
        assert plain(by_id(compared)["models"].lead) == f"{said['Models']} {people}"

    def test_tables(self, compared):
        """Humans, scores, panels and map are rows of tables; the pictures are named."""
        found = by_id(compared)
        assert (found["models"].picture.draw.args, found["map"].picture.draw.args) == (
            (compared.results["models"].tests[0],),
            (compared.results["map"],),
        )
        note = found["models"].note
        assert note.endswith("The headline and all other sections describe only the humans.")
        assert {row[0] for row in found["models"].table.rows} == {"r1", "r2", "r3", "r4"}
        differences = [row[3] - row[2][0] for row in found["models"].table.rows]
        assert differences == sorted(differences, reverse=True)
        exact = compared.results["models"].scores.table["exact"]
        assert [(*row[:2], row[3]) for row in found["consensus"].table.rows] == [
            (rater, "model" if rater == "r5" else "human", exact[rater])
            for rater in ("r5", "r1", "r2", "r3", "r4")
        ]
        (row,) = found["replication"].table.rows
        assert row[3][0] == compared.results["replication"].estimate
        assert plain(found["replication"].lead).count("(240 ratings)") == 2
        assert len(found["map"].table.rows) == 4

    def test_methods(self, compared, study):
        """The methods paragraph says what was done, with its references; else it is silent."""
        text = methods_of(compared).text
        for word in ("(Calderon et al., 2025)", "(Wong et al., 2021)", "(Torgerson, 1952)"):
            assert text.count(word) == 1
        assert "kappa_x = " in text
        listed = text.partition("\n\n")[2].splitlines()
        assert listed == sorted(set(listed))
        for name in ("Benjamini", "Calderon", "Wong", "Torgerson", "Rousseeuw", "Krippendorff"):
            assert sum(line.startswith(name) for line in listed) == 1
        silent = methods_of(gathered(study)).text
        assert "Calderon" not in silent
        assert "Torgerson" not in silent

    def test_references_as_bibtex(self, study, tmp_path):
        references = methods_of(gathered(study)).text.partition("\n\n")[2]
        years = sorted(re.findall(r"\((\d{4})\)", references))
        for ending in ("md", "html"):
            if ending == "html":
                needs_page()
            path = report(study, tmp_path / f"x.{ending}", n_resamples=19, rng=1)
            text = path.read_text(encoding="utf-8")
            block = re.search(
                r"<details[^>]*><summary>The references as BibTeX.*?</details>", text, re.DOTALL
            )
            assert block[0].count("@software{setagree,") == 1
            assert sorted(re.findall(r"year = \{(\d{4})\}", block[0])) == years
            assert text.count("@software{") == 1

    def test_several_models(self, five):
        f = gathered(five, model=["r4", "r5"])
        assert [test.model for test in f.results["models"].tests] == ["r5", "r4"]
        found = by_id(f)
        assert [row[0] for row in found["models"].table.rows] == ["r5", "r4"]
        assert [found[f"model-{k}"].picture.draw.args[0].model for k in (1, 2)] == ["r5", "r4"]
        said = plain(found["models"].lead)
        passing = [test.model for test in f.results["models"].tests if test.passes]
        assert said.startswith(f"{len(passing)} of 2 models may replace a human: “r5”")
        assert ". The best, “r5”, wins over " in said
        assert "“r4”" in said.partition(". The best")[0]
        assert said.endswith(
            "people: “r1”, “r2” and “r3” (all raters without the mark or the name of a model)."
        )
        assert "winning rate" in methods_of(f).text

    def test_no_model_passes(self):
        study = sa.simulate(100, 5, skill=[0.9, 0.9, 0.9, 0, 0], rng=1)
        f = gathered(study, model=["r4", "r5"])
        assert plain(by_id(f)["models"].lead).startswith(
            "None of the 2 models may replace a human: “r5” and “r4”. The best, “r5”, wins over "
        )

    def test_too_few_humans(self, five):
        two = sa.simulate(50, 3, rng=1)
        f = gathered(two, model="r3")
        said = told(f)
        assert said["Models"].endswith("needs at least three humans; the study has 2 humans.")
        assert by_id(f)["models"].table is None
        assert len(by_id(f)["consensus"].table.rows) == 3
        with pytest.warns(UndefinedAgreementWarning, match="there is only one rater"):
            f = gathered(two, model=["r3", "r2"])
        assert "the study has 1 human." in plain(by_id(f)["models"].lead)
        assert len(by_id(f)["consensus"].table.rows) == 2
        with pytest.raises(OptionError, match="every rater is a model; name fewer"):
            gather(two, model=["r1", "r2", "r3"], n_resamples=19)

    def test_too_few_units(self):
        f = gathered(sa.simulate(20, 5, rng=1), model=["r5", "r4"])
        found = by_id(f)
        assert plain(found["model-1"].lead) == (
            "No verdict on “r5”: no human shares enough units with the model."
        )
        assert found["model-1"].note == "3 humans with fewer than 30 shared units left out."
        assert "Calderon" not in methods_of(f).text

    def test_nothing_to_compare(self):
        rows = [(r, u, "ab"[u % 2]) for r in "wxyz" for u in range(8)]
        rows += [("m", u, "a") for u in range(8, 12)]
        f = gathered(rows, model="m")
        assert plain(by_id(f)["consensus"].lead).startswith("No unit has both an answer of the")
        rows = [(r, u, "ab"[u % 2]) for r in "wxm" for u in range(40)]
        rows += [("y", u, "a") for u in range(10)]
        f = gathered(rows, model="m")
        assert "Fewer than three humans could be tested" in plain(by_id(f)["models"].lead)

    @pytest.mark.parametrize(
        ("given", "error", "sentence"),
        [
            ({"model": "r55"}, DataError, "model 'r55' gave no answer in this study"),
            ({"model": ["r1", "r1"]}, OptionError, "more than once"),
            ({"model": []}, OptionError, "no model is named"),
            ({"panels": ["r1"]}, OptionError, "panels= maps two names"),
            ({"panels": {"a": ["r1"], "b": ["r1"]}}, OptionError, "cannot be in both panels"),
            ({"panels": {"a": ["rx"]}}, DataError, "rater of a 'rx' gave no answer"),
        ],
    )
    def test_refusals(self, five, given, error, sentence, tmp_path):
        with pytest.raises(error, match=sentence):
            report(five, tmp_path / "x.md", **given, n_resamples=19)
        assert list(tmp_path.iterdir()) == []

    def test_long_work_is_left_out(self, five, monkeypatch):
        monkeypatch.setattr(raters, "_MAP_WORK", 10)
        monkeypatch.setattr(models, "_SCORED", 10)
        f = gathered(five, model="r5")
        section = by_id(f)["map"]
        assert plain(section.lead) == (
            "A map of 4 raters with 480 ratings takes too long for a report; use sa.rater_map."
        )
        assert section.table is None
        assert len(by_id(f)["consensus"].table.rows) == 1
        agreed = sa.consensus(five.exclude_raters(["r5"])).answers.notna().sum()
        assert plain(by_id(f)["consensus"].lead).endswith(f" of {agreed} units.")

    def test_reshuffles_of_the_map(self, five, monkeypatch):
        """99 reshuffles if these show no clusters; else 40 for each claim, but fewer if long.

        There are at most 14 claims on five raters: of each rater, of six changes of labels, of
        confusions, clusters and chance.
        """
        alike = gathered(sa.simulate(60, 5, rng=3))
        assert len(alike.results["map"].null) == 99
        assert len(gather(five, n_resamples=999, rng=1).results["map"].null) == 40 * 14 - 1
        # A reshuffle takes 5^3 + 20 * 600 + 10 * 1200 + 600 * 5 * K steps.
        monkeypatch.setattr(raters, "_MAP_WORK", 50 * (24_125 + 3_000 * five.n_values))
        assert len(gather(five, n_resamples=999, rng=1).results["map"].null) == 50

    def test_no_map(self):
        """Three raters have no map; raters without shared units have one that says why not."""
        assert "map" not in by_id(gathered(sa.simulate(30, 3, rng=1)))
        lone = annotations(text("a . . . / . b . . / . . a . / . . . b"))
        f = gathered(sa.simulate(30, 4, rng=1))
        with pytest.raises(DataError, match="no two raters share a unit"):
            raters.compute_map(replace(f, study=lone))

    def test_camps_never_contradict_the_pairs(self, five):
        f = gathered(five)
        cluster = {"r1": 1, "r2": 1, "r3": 2, "r4": 2, "r5": 2}
        table = f.results["map"].table.assign(cluster=pd.Series(cluster))
        f.results["map"] = replace(f.results["map"], table=table, silhouette=9.0)
        none = (
            "No clusters: the mean alpha of two raters is 0.100 within and 0.200 between clusters."
        )
        for within, sentence in ((0.1, none), (0.4, "The raters form 2 clusters, of 3")):
            pairs = f.results["pairs"]
            same = pairs["rater_a"].map(cluster) == pairs["rater_b"].map(cluster)
            f.results["pairs"] = pairs.assign(estimate=np.where(same, within, 0.2))
            assert plain(by_id(f)["map"].lead).startswith(sentence)

    def test_camps(self):
        """Two clusters, one who stands apart, and noise, in words.

        In the first study three raters give one answer and three another in 8 of 12 units, and all
        give c in the others: across, Do is 2/3 and De 1 - 3 * 8 * 7 / (24 * 23), alpha 0.042.
        """
        rows = [(r, u, "ab"[(u + (r > "c")) % 2] if u < 8 else "c")
                for r in "abcdef" for u in range(12)]  # fmt: skip
        f = gather(sa.Annotations.from_triples(rows), n_resamples=199, rng=1)
        said = told(f)
        assert said["Rater clusters"] == (
            "The raters form 2 clusters, of 3 (“a”, “b” and “c”) and 3 (“d”, “e” and “f”) "
            f"({p_phrase(f.corrected['map'][0])}). Two raters of the same cluster have alpha 1.000 "
            "on average, two raters of different clusters 0.042."
        )
        rng = np.random.default_rng(1)
        rows = [(r, u, "abcd"[u % 4] if r != "z" else "abcd"[rng.integers(4)])
                for r in "vwxyz" for u in range(40)]  # fmt: skip
        f = gather(sa.Annotations.from_triples(rows), n_resamples=199, rng=1)
        said = plain(by_id(f)["map"].lead)
        p = p_phrase(f.corrected["map"][0])
        assert said == f"No clusters, but “z” differs from the others ({p})."
        f = gather(sa.simulate(60, 5, rng=3), n_resamples=99, rng=1)
        assert "Rater clusters" not in {one.about for one in main_findings(f)}
        assert plain(by_id(f)["map"].lead).startswith("No clusters: the raters form no clearer")

    def test_map_of_few(self):
        rows = [(r, u, "ab"[(u + (r == "x")) % 2]) for r in "wxy" for u in range(8)]
        f = gathered([*rows, ("z", 9, "a")])
        said = "No verdict: fewer than four raters can form no clusters."
        assert plain(by_id(f)["map"].lead).startswith(said)
        assert "Torgerson" not in methods_of(f).text
        assert "reshuffles" not in by_id(f)["map"].note

    def test_no_resample_is_defined(self, compared):
        nothing = replace(compared.results["replication"], distribution=np.full(9, np.nan))
        f = replace(compared, results={**compared.results, "replication": nothing})
        assert "%" not in plain(by_id(f)["replication"].lead)
        assert "percentile" not in methods_of(f).text

    def test_many_names_are_cut(self):
        rows = [(r, u, "ab"[(u + (r > 4)) % 2]) for r in range(10) for u in range(12)]
        f = gather(sa.Annotations.from_triples(rows), n_resamples=99, rng=1)
        assert "5 (“0”, “1”, “2” and 2 more)" in plain(by_id(f)["map"].lead)

    def test_undefined_panels(self):
        rows = [(r, u, "ab"[u % 2]) for r in "wx" for u in range(6)]
        rows += [("y", u, "a") for u in range(6)]
        f = gathered(rows, panels={"one": ["y"]})
        said = plain(by_id(f)["replication"].lead)
        assert said.startswith("“one” and “others” agree with each other at kappa_x 0.000")
        assert "The normalised value is undefined if" in by_id(f)["replication"].note
        rows = [("w", 0, "a"), ("x", 0, "b"), *((r, u, "a") for r in "yz" for u in (1, 2))]
        panels = {"one": ["w"], "two": ["x"]}
        f = gathered(rows, panels=panels)
        said = told(f)
        assert said["Panels"] == (
            "Agreement between “one” and “two” is undefined: there is only one unit with both "
            "panels."
        )
        assert "Wong" not in methods_of(f).text

    @pytest.mark.filterwarnings("ignore::setagree.UndefinedAgreementWarning")
    def test_undefined_headline(self):
        """An undefined headline does not hide what was asked; there is no map."""
        rows = [(r, u, "a") for r in "wxyz" for u in range(40)]
        f = gathered(rows, model="z")
        assert [one.about for one in main_findings(f)] == ["No estimate", "Models"]
        assert "map" not in by_id(f)

    def test_scalars(self):
        """Numbers and categories have a consensus, too: the answer nearest to all."""
        rng = np.random.default_rng(1)
        rows = numbers(" / ".join(" ".join(map(str, rng.integers(1, 4, 4))) for _ in range(40)))
        f = gathered(annotations(rows), model="r3")
        heads = [column.heading() for column in by_id(f)["consensus"].table.columns]
        assert "Micro F1" not in heads
        assert "nearest to all of them" in by_id(f)["consensus"].note

    def test_page(self, five, compared, tmp_path):
        """The page has a picture each of model and map, and the rows of the tables."""
        needs_page()
        panels = {"one": ["r1", "r2"], "two": ["r3", "r4"]}
        path = report(five, tmp_path / "x.html", model="r5", panels=panels, n_resamples=99, rng=1)
        page = page_of(path)
        assert {"models", "consensus", "replication", "map"} <= set(page.ids)
        spoken = [a["aria-label"] for tag, a in page.tags if tag == "svg"]
        assert sum(each.startswith("May a model replace a human?") for each in spoken) == 1
        assert sum(each.startswith("Raters on a map") for each in spoken) == 1
        assert [row[0] for row in page.table("Human")] == [
            row[0] for row in by_id(compared)["models"].table.rows
        ]
        twin = report(
            five, tmp_path / "x.md", model="r5", panels=panels, n_resamples=99, rng=1
        ).read_text(encoding="utf-8")
        for section in sections(compared):
            assert f"## {section.title}\n" in twin

    @pytest.mark.parametrize(("n", "is_broad"), [(11, False), (12, True)])
    def test_wide_matrices_take_the_whole_page(self, tmp_path, n, is_broad):
        """The confusions of n labels have n + 1 columns: the first is of labels left out."""
        needs_page()
        study = sa.simulate(60, 2, n_labels=n, prevalence=0.5, skill=0.2, rng=1)
        assert len(frozenset().union(*study.values)) == n
        page = page_of(report(study, tmp_path / "x.html", n_resamples=19, rng=1))
        figures = [a for tag, a in page.tags if tag == "figure"]
        found = [a for a in figures if a["aria-label"] == "Confusions, picture"]
        assert [a.get("class") for a in found] == ["broad" if is_broad else None]

    def test_hostile_models_and_panels(self, tmp_path):
        needs_page()
        study = hostile_study()
        raters = study.raters.tolist()
        asked = {"model": raters[3:], "panels": {HOSTILE[0]: raters[:1], HOSTILE[7]: raters[1:3]}}
        html = page_of(report(study, tmp_path / "x.html", **asked, n_resamples=19, rng=1))
        assert [tag for tag, _ in html.tags].count("script") == 1
        assert "i" not in {tag for tag, a in html.tags if not a}
        path = report(study, tmp_path / "x.md", **asked, n_resamples=19, rng=1)
        markdown = path.read_text(encoding="utf-8")
        assert "<script" not in markdown
        assert "](javascript" not in markdown


@pytest.fixture(scope="module")
def unfollowed():
    """Return findings under a matrix of four sets, one of which is {a, b}.

    Without c an answer {c} would be empty, which the matrix lacks; so it is with a and b.
    """
    sets = [frozenset("a"), frozenset("b"), frozenset("ab"), frozenset("c")]
    matrix = pd.DataFrame(
        [[0, 1, 0.5, 1], [1, 0, 0.5, 1], [0.5, 0.5, 0, 1], [1, 1, 1, 0]], sets, sets
    )
    rng = np.random.default_rng(1)
    rows = [
        (rater, u, sets[u % 4 if rng.random() < 0.6 else rng.integers(4)])
        for u in range(40)
        for rater in "wxyz"
    ]
    study = sa.Annotations.from_triples(rows)
    return gathered(study, distance=matrix)


class TestChangesThatCannotBe:
    def test_the_others_stand(self, unfollowed):
        frame = unfollowed.results["changes"]
        assert frame["action"].iloc[0] == "as it is"
        gone = frame[frame["action"] == "drop label"]
        assert gone["estimate"].isna().all()
        assert set(gone["target"]) == {"a", "b", "c"}
        assert gone["reason"].str.contains("has no row for").all()
        assert frame["estimate"].iloc[: -len(gone)].notna().all()
        assert set(frame["distance"]) == {unfollowed.main.distance}

    def test_they_are_said(self, unfollowed):
        table = by_id(unfollowed)["changes"].table
        assert table.columns[-1].heading() == "Reason"
        rows = [[plain(c.sentence(x)) for x, c in zip(row, table.columns, strict=True)]
                for row in table.rows]  # fmt: skip
        assert rows[-1][1] == "–"
        assert "has no row for" in rows[-1][-1]
        assert rows[0][-1] == "–"
        assert "Change" not in {one.about for one in main_findings(unfollowed)}

    def test_groups_that_cannot_be_tested(self):
        """A group in which all agree fully has a score test; a group of one unit no estimate.

        The table says why there is no estimate.
        """
        rows = [(r, u, "ab"[u % 2]) for r in "wx" for u in range(20)]
        rows += [(r, u, "ab"[(u + (u % 3 == 0) * (r == "x")) % 2]) for r in "wx"
                 for u in range(20, 41)]  # fmt: skip
        groups = {u: "same" if u < 20 else "other" if u < 40 else "one" for u in range(41)}
        f = gathered(rows, groups=groups)
        said = told(f)
        assert said["Groups"].startswith("The 2 groups differ (test of one common value: p = ")
        assert f.results["groups"]["no_test"].str.endswith(": 'one'").all()
        table = by_id(f)["groups"].table
        assert table.columns[-1].heading() == "Reason"
        assert [row[0] for row in table.rows] == ["other", "same", "one"]
        assert table.rows[-1][-1] == f.results["groups"].set_index("group")["reason"]["one"]
        note = "p: score test that the group has the common value of all others."
        assert by_id(f)["groups"].note.endswith(note)


def test_too_many_pairs_are_left_out(monkeypatch, tmp_path):
    monkeypatch.setattr("setagree.reporting.sections.raters._PAIRED", 5)
    f = gathered(sa.simulate(20, 4, rng=1))
    assert "pairs" not in f.results
    section = by_id(f)["pairs"]
    assert section.lead == ("4 raters make 6 pairs, too many for a report; use sa.by_pair.",)
    assert section.table is None


def test_a_part_that_fails_says_why(study, monkeypatch):
    def refused(*_, **__):
        raise DataError("too large.")

    monkeypatch.setattr("setagree.reporting.sections.labels.confusions", refused)
    f = gathered(study)
    section = by_id(f)["confusions"]
    assert (section.lead, section.table) == (("too large.",), None)
    assert "merge" not in set(f.results["changes"]["action"])
    assert "Confusion" not in {one.about for one in main_findings(f)}


def test_the_template_is_part_of_the_package():
    folder = Path(sa.__file__).parent / "reporting" / "templates"
    assert {each.name for each in folder.iterdir()} == {"report.html.j2", "report.css", "report.js"}

"""The table of formats: its readers are there, load when needed, and other packages add theirs."""

import importlib.metadata
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_support import ok, refusal
from exports import json_writers as toy

import setagree as sa
from setagree.cli import options as cli_options
from setagree.errors import DataError, OptionError, SetagreeError, SetagreeWarning
from setagree.exports import FORMATS, Answers, Format, Peek, Request, Signature
from setagree.exports.detection import other_formats
from setagree.large.recognition import find_export

NOTHING = Peek(Path("nothing"), is_folder=False, head="", header=(), record=None, names=())
PLAIN = "unit,rater,labels\nu1,ana,joy\nu1,ben,joy\nu2,ana,fear\nu2,ben,joy\n"


# ---- The table ----------------------------------------------------------------------------------


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)
def test_what_the_table_names_is_there(each, tmp_path):
    with pytest.raises(SetagreeError):
        each.read(tmp_path / "gone.csv", Request())
    for signature in each.signatures:
        assert signature.also is None or signature.also(NOTHING) in {True, False}


def test_every_file_of_a_tool_is_in_the_table():
    here = Path(sa.__file__).parent / "exports"
    table = (here / "registry.py").read_text(encoding="utf-8")
    files = {path.stem for path in (here / "tools").glob("*.py")} - {"__init__"}
    assert {name for name in files if f'of_tool("{name}", "read' not in table} == set()
    assert len(files) > 15


@pytest.mark.parametrize(
    ("signature", "fits"),
    [
        (Signature("table", {"a", "b"}), True),
        (Signature("table", {"a", "c"}), False),
        (Signature("table", some=["b.*", "b1?"]), True),
        (Signature("table", some=["b.*", "b1"]), False),
        (Signature("table", none="b+"), False),
        (Signature("table", none="x?"), True),
        (Signature("table", first="[ab]"), True),
        (Signature("table", first="b"), False),
        (Signature("table", {"a"}, also=lambda peek: "b" in peek.header), True),
        (Signature("table", {"a"}, also=lambda peek: "c" in peek.header), False),
        (Signature("records", {"a"}), False),
        (Signature("folder"), False),
        (Signature("text", some=["a.*2"]), True),
    ],
)
def test_signatures(signature, fits):
    """All that a signature says must hold of the names it looks at, of which there must be one."""
    peek = Peek(Path("a.csv"), False, "a,b\n1,2", ("a", "b"), None, ())
    assert signature.fits(peek) is fits


@pytest.mark.parametrize(
    ("header", "fits"),
    [("doc,who,tags", True), ("doc,who,stars", False), ("doc,who", False), ("item,tags,a", False)],
)
def test_signatures_by_usual_names(header, fits):
    row = ",".join("1" for _ in header.split(","))
    peek = Peek(Path("a.csv"), False, f"{header}\n{row}\n", tuple(header.split(",")), None, ())
    assert Signature("table", roles=["unit", "rater", "labels"]).fits(peek) is fits
    assert Signature("table", roles=["unit"], no_roles=["labels"]).fits(peek) is not fits
    assert not Signature("table", roles=["unit"]).fits(replace(peek, head=header))  # no rows


def loaded(monkeypatch, work):
    """Return the tools whose code is loaded by some work, in a house where none was."""
    start = "setagree.exports.tools."
    for name in [each for each in sys.modules if each.startswith(start)]:
        monkeypatch.delitem(sys.modules, name)
    work()
    found = {name.removeprefix(start) for name in sys.modules if name.startswith(start)}
    for name in found:
        monkeypatch.delitem(sys.modules, start + name)
    return found


def test_the_code_of_a_tool_is_loaded_for_its_exports_alone(tmp_path, monkeypatch):
    table = tmp_path / "table.csv"
    table.write_text(PLAIN, encoding="utf-8")
    assert loaded(monkeypatch, lambda: sa.agreement(table)) == set()
    assert loaded(monkeypatch, lambda: sa.read(table)) == set()
    columns = {"unit": "unit", "rater": "rater", "labels": "labels"}
    assert loaded(monkeypatch, lambda: sa.agreement(table, **columns)) == set()
    export = toy.write(tmp_path, "prodigy")
    assert loaded(monkeypatch, lambda: sa.read(export)) == {"prodigy"}
    assert loaded(monkeypatch, sa.formats) == set()


# ---- Formats of other packages ------------------------------------------------------------------


def read_diary(path, request):
    """Read lines of who, what and tags with a plus between."""
    answers = Answers()
    lines = path.read_text(encoding=request.encoding).splitlines()
    for n, line in enumerate(lines[1:], start=2):
        rater, unit, tags = line.split(" ")
        answers.add(unit, rater, frozenset(tags.split("+")), f"line {n}")
    return answers


DIARY = Format(
    "diary",
    "Diary, text",
    (Signature("text", some=["DIARY .*"]),),
    read_diary,
    "Nothing.",
)


@pytest.fixture
def offered(monkeypatch):
    """Return a function that lets packages offer what these functions load as formats."""
    asked = []

    def offer(*loads):
        def entry_points(*, group, **_):
            asked.append(group)
            if group != "setagree.formats":
                return ()
            return [SimpleNamespace(value=f"toy:{k}", load=one) for k, one in enumerate(loads)]

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
        other_formats.cache_clear()
        return asked

    yield offer
    other_formats.cache_clear()


@pytest.fixture
def diary(tmp_path):
    """Write a file in the format of another package."""
    path = tmp_path / "notes.diary"
    path.write_text("DIARY 1\nana u1 joy+awe\nben u1 joy\nana u2 awe\nben u2 awe\n", "utf-8")
    return path


TRUTH = {
    ("u1", "ana"): {"joy", "awe"},
    ("u1", "ben"): {"joy"},
    ("u2", "ana"): {"awe"},
    ("u2", "ben"): {"awe"},
}


def test_a_format_of_another_package(offered, diary):
    offered(lambda: DIARY)
    assert toy.found(sa.read(diary)) == toy.found(sa.read(diary, tool="diary")) == TRUTH
    assert find_export(diary, sa.Reading())[0].name == "diary"
    assert sa.formats().iloc[-1].tolist()[:2] == ["diary", "Diary, text"]
    assert sa.agreement(diary).to_frame().equals(sa.agreement(sa.read(diary)).to_frame())


def test_a_format_of_another_package_in_the_command(offered, diary):
    offered(lambda: DIARY)
    assert "Diary, text" in ok("formats")
    assert cli_options._format_names()[-1] == "diary"
    seen, named = (ok("score", diary, *words, "-f", "json") for words in ([], ["--tool", "diary"]))
    assert json.loads(seen) == json.loads(named)
    other_formats.cache_clear()
    offered()
    assert "--tool 'diary' is unknown" in refusal("score", diary, "--tool", "diary")


def test_other_packages_are_not_asked_where_a_format_fits(offered, tmp_path):
    asked = offered(lambda: DIARY)
    sa.read(toy.write(tmp_path, "prodigy"))
    sa.read(toy.write(tmp_path, "lighttag"), tool="lighttag")
    table = tmp_path / "table.csv"
    table.write_text(PLAIN, encoding="utf-8")
    sa.agreement(table)
    assert asked == []
    with pytest.raises(OptionError, match=r"tool='dairy' is unknown; .* Did you mean 'diary'"):
        sa.read(table, tool="dairy")
    assert asked == ["setagree.formats"]


def test_json_that_only_looks_like_ours_may_be_of_another_package(offered, tmp_path):
    rows = [{"doc_id": "u1", "tagged": [{"rater": "ana", "tags": ["joy"]}], "inkwell": 2}]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    ink = Format("ink", "Ink", (Signature("records", {"inkwell"}),), read_diary)
    offered(lambda: ink)
    with pytest.raises(OptionError, match="could be 'hf_nested', 'ink'"):
        sa.read(path)
    other_formats.cache_clear()
    offered(lambda: DIARY)
    assert toy.found(sa.read(path)) == {("u1", "ana"): {"joy"}}


def broken():
    """Stand for a package that cannot be imported."""
    raise ImportError("no module named 'ink'")


@pytest.mark.parametrize(
    ("load", "reason"),
    [
        (lambda: read_diary, "it is function, not setagree.exports.Format"),
        (lambda: DIARY, "there is another format 'diary'"),
        (lambda: FORMATS[0], "there is another format 'label_studio_json'"),
        (broken, "no module named 'ink'"),
    ],
)
def test_what_is_no_format_of_its_own_is_left_out(offered, diary, tmp_path, load, reason):
    offered(lambda: DIARY, load)
    with pytest.warns(SetagreeWarning, match=f"The entry point 'toy:1' is ignored: {reason}"):
        assert toy.found(sa.read(diary)) == TRUTH
    table = tmp_path / "scores.csv"
    table.write_text("unit,rater,score\nu1,ana,1\nu1,ben,2\nu2,ana,3\nu2,ben,3\n", "utf-8")
    assert sa.agreement(table).to_frame()["n_units"].tolist()[0] == 2


def test_without_the_package_the_file_is_unknown(offered, diary):
    offered()
    with pytest.raises(DataError, match="No column has a usual name"):
        sa.read(diary)

"""Labelled spans in the exports of tools and in tables: one small project, written by each tool.

Two raters mark two documents. The second has an emoji, which counts as two UTF-16 units, before its
marks. Layouts are those of the tools' documents and of the exports that their readers of label sets
are tested with.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from cli_support import ok, refusal

import setagree as sa
from setagree.errors import DataError, FileError, OptionError, SetagreeError, SetagreeWarning

TEXTS = {"d1": "Ann met Bob in Rome.", "d2": "\N{GRINNING FACE} Rome is old."}
MARKS = {
    ("d1", "ana"): [(0, 3, "PER"), (8, 11, "PER"), (8, 19, "EVENT")],
    ("d1", "ben"): [(0, 3, "PER"), (15, 19, "LOC")],
    ("d2", "ana"): [(2, 6, "LOC")],
    ("d2", "ben"): [],
}
"""Marks in code points."""

EXPECTED = {
    "d1:0-3": ({"PER"}, {"PER"}),
    "d1:3-8": (set(), set()),
    "d1:8-11": ({"PER", "EVENT"}, set()),
    "d1:11-15": ({"EVENT"}, set()),
    "d1:15-19": ({"EVENT"}, {"LOC"}),
    "d1:19-20": (set(), set()),
    "d2:0-2": (set(), set()),
    "d2:2-6": ({"LOC"}, set()),
    "d2:6-14": (set(), set()),
}


def utf16(document, offset):
    return len(TEXTS[document][:offset].encode("utf-16-le")) // 2


def table(folder):
    rows = [(*pair, *mark) for pair, marks in MARKS.items() for mark in marks or [(None,) * 3]]
    frame = pd.DataFrame(rows, columns=["document", "rater", "start", "end", "label"])
    path = folder / "spans.csv"
    frame.assign(text=frame["document"].map(TEXTS)).to_csv(path, index=False)
    return path


def label_studio(folder):
    tasks = [
        {
            "id": document,
            "data": {"text": text, "source": 7},
            "annotations": [
                {
                    "completed_by": {"id": 1, "email": rater},
                    "was_cancelled": False,
                    "result": [
                        {
                            "from_name": "label",
                            "to_name": "text",
                            "type": "labels",
                            "value": {
                                "start": utf16(document, start),
                                "end": utf16(document, end),
                                "text": text[start:end],
                                "labels": [label],
                            },
                        }
                        for start, end, label in MARKS[document, rater]
                    ],
                }
                for rater in ("ana", "ben")
            ],
        }
        for document, text in TEXTS.items()
    ]
    path = folder / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def lines(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def prodigy(folder):
    rows = [
        {
            "text": TEXTS[document],
            "_input_hash": document,
            "_task_hash": 1,
            "answer": "accept",
            "_annotator_id": rater,
            "spans": [dict(zip(("start", "end", "label"), mark, strict=True)) for mark in marks],
        }
        for (document, rater), marks in MARKS.items()
    ]
    rows.append({**rows[0], "_annotator_id": "eva", "answer": "ignore"})
    return lines(folder / "export.jsonl", rows)


def doccano(folder):
    project = folder / "project"
    project.mkdir()
    for rater in ("ana", "ben"):
        rows = [
            {"id": document, "text": text, "label": MARKS[document, rater], "Comments": []}
            for document, text in TEXTS.items()
        ]
        lines(project / f"{rater}.jsonl", rows)
    return project


def brat(folder):
    project = folder / "project"
    for (document, rater), marks in MARKS.items():
        (project / rater).mkdir(parents=True, exist_ok=True)
        text = TEXTS[document]
        (project / rater / f"{document}.txt").write_text(text, encoding="utf-8")
        found = [
            f"T{k}\t{label} {start} {end}\t{text[start:end]}\n"
            for k, (start, end, label) in enumerate(marks, start=1)
        ]
        found += ["R1\tin Arg1:T1 Arg2:T2\n"] * (len(marks) > 2)
        (project / rater / f"{document}.ann").write_text("".join(found), encoding="utf-8")
    return project


def inception(folder):
    """Return the project as dkpro-cassis 0.12.0 wrote it, in the folder beside this file."""
    written = Path(__file__).parent / "inception_spans_xmi"
    return shutil.copytree(written, folder, dirs_exist_ok=True)


def inception_tsv(folder):
    """Return a project in WebAnno TSV: tokens, and the label of each mark that covers them."""
    for (document, rater), marks in MARKS.items():
        text = TEXTS[document]
        lines = ["#FORMAT=WebAnno TSV 3.3", "#T_SP=webanno.custom.Name|value", "", ""]
        lines.append(f"#Text={text}")
        for k, match in enumerate(re.finditer(r"\w+|[^\w\s]", text), start=1):
            begin, end = utf16(document, match.start()), utf16(document, match.end())
            cell = [
                f"{label}[{n}]"
                for n, (first, last, label) in enumerate(marks, start=1)
                if first < match.end() and match.start() < last
            ]
            lines.append(f"1-{k}\t{begin}-{end}\t{match[0]}\t{'|'.join(cell) or '_'}\t")
        path = folder / "annotation" / document / f"{rater}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return folder


def spacy_docs(folder):
    """Return a folder with the DocBin of each rater, as spaCy writes it."""
    spacy = pytest.importorskip("spacy", reason="spaCy, which writes these files, is not installed")
    nlp, files = spacy.blank("en"), {}
    for (document, rater), marks in MARKS.items():
        doc = nlp(TEXTS[document])
        spans = [doc.char_span(*mark, alignment_mode="expand") for mark in marks]
        doc.spans["sc"] = spans
        files.setdefault(rater, spacy.tokens.DocBin()).add(doc)
    project = folder / "project"
    project.mkdir()
    for rater, docs in files.items():
        docs.to_disk(project / f"{rater}.spacy")
    return project


def spacy_json(folder):
    """Return a folder with the JSON of spaCy of each rater, one document per line."""
    project = folder / "project"
    project.mkdir()
    for rater in ("ana", "ben"):
        rows = [
            {
                "text": text,
                "ents": [
                    dict(zip(("start", "end", "label"), mark, strict=True))
                    for mark in MARKS[document, rater]
                ],
                "tokens": [],
            }
            for document, text in TEXTS.items()
        ]
        lines(project / f"{rater}.jsonl", rows)
    return project


TOOLS = [table, label_studio, prodigy, doccano, brat, inception, inception_tsv]
TOOLS += [spacy_docs, spacy_json]
ASKED = {"doccano", "brat", "inception", "inception_tsv", "spacy_docs", "spacy_json"}
"""Tools that do not tell whether a document without marks was annotated."""


def answers(study):
    wide = study.to_wide()[["ana", "ben"]]
    return {unit: tuple(map(set, row)) for unit, row in zip(wide.index, wide.values, strict=True)}


@pytest.mark.filterwarnings("ignore:ignored annotations:setagree.errors.SetagreeWarning")
@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_gives_the_same_study(tool, tmp_path):
    path, name = tool(tmp_path), tool.__name__
    if name in ASKED:
        with pytest.raises(DataError, match=r"1 pair of document and rater.*blank='empty'"):
            sa.read(path, spans=True)
        missing = sa.read(path, spans=True, blank="missing")
        assert missing.n_ratings == 6 * 2 + 3
    study = sa.read(path, spans=True, blank="empty" if name in ASKED else None)
    numbered = {"1": "d1", "2": "d2"} if name.startswith("spacy") else {}  # without names
    found = {
        ":".join([numbered.get(x, x), y]): labels
        for (x, y), labels in ((unit.split(":"), one) for unit, one in answers(study).items())
    }
    assert found == EXPECTED
    frame = study.units_frame
    assert frame["length"].tolist() == [3, 5, 3, 4, 4, 1, 2, 4, 8]
    assert frame["text"].tolist()[-2] == "Rome"
    assert study.reading.spans is True


@pytest.mark.filterwarnings("ignore:ignored annotations:setagree.errors.SetagreeWarning")
@pytest.mark.parametrize("tool", [table, doccano, brat])
def test_a_roster_lists_who_annotated_what(tool, tmp_path):
    pairs = [pair for pair in MARKS if pair != ("d2", "ben")]
    roster, path = pd.DataFrame(pairs, columns=["unit", "rater"]), tool(tmp_path)
    assert sa.read(path, spans=True, roster=roster).n_ratings == 6 * 2 + 3
    with pytest.raises(
        DataError, match="rater 'ana' has a span in document 'd1', which is not listed in roster="
    ):
        sa.read(path, spans=True, roster=roster[1:])


def test_other_annotations_are_counted(tmp_path):
    with pytest.warns(SetagreeWarning, match="not labelled spans: 1 relation"):
        sa.read(brat(tmp_path), spans=True, blank="empty")


def test_relations_of_doccano_are_counted(tmp_path):
    folder = doccano(tmp_path)
    edited(folder / "ana.jsonl", '"Comments"', '"relations": [{"id": 1}], "Comments"')
    with pytest.warns(SetagreeWarning, match="not labelled spans: 2 relations"):
        sa.read(folder, spans=True, blank="empty")


def test_line_breaks_of_windows_are_two_characters_in_brat(tmp_path):
    for rater in ("ana", "ben"):
        (tmp_path / rater).mkdir()
        (tmp_path / rater / "d.txt").write_bytes(b"Ann\r\nmet Bob")
        (tmp_path / rater / "d.ann").write_bytes(b"T1\tPER 9 12\tBob\r\n")
    study = sa.read(tmp_path, spans=True)
    assert study.units.tolist() == ["d:0-9", "d:9-12"]


def test_tokens_of_the_tool_and_words(tmp_path):
    """d1 has the tokens Ann met Bob in Rome., d2 the emoji, Rome is old.; words split the stops."""
    study = sa.read(inception(tmp_path), spans=True, blank="empty", tokens="tool")
    assert study.units_frame["length"].groupby(study.units_frame["document"]).sum().tolist() == [
        5,
        4,
    ]
    study = sa.read(table(tmp_path), spans=True, tokens="words")
    assert study.units_frame["length"].groupby(study.units_frame["document"]).sum().tolist() == [
        6,
        5,
    ]


@pytest.mark.filterwarnings("ignore:ignored annotations:setagree.errors.SetagreeWarning")
@pytest.mark.parametrize(
    ("tool", "pattern"),
    [
        (doccano, "project/*.jsonl"),
        (spacy_json, "project/*.jsonl"),
        (inception, "annotation/*/*.xmi"),
        (brat, "project/*"),
    ],
)
def test_several_files_are_read_together(tool, pattern, tmp_path):
    together = sa.read(tool(tmp_path), spans=True, blank="empty")
    files = sorted(tmp_path.glob(pattern))
    assert len(files) > 1
    assert answers(sa.read(files, spans=True, blank="empty")) == answers(together)


def test_exports_of_each_rater_are_read_together(tmp_path):
    tasks = json.loads(label_studio(tmp_path).read_text(encoding="utf-8"))
    files = [tmp_path / "ana.json", tmp_path / "ben.json"]
    for k, file in enumerate(files):
        own = [{**task, "annotations": task["annotations"][k : k + 1]} for task in tasks]
        file.write_text(json.dumps(own), encoding="utf-8")
    assert answers(sa.read(files, spans=True)) == EXPECTED
    edited(files[1], '"end": 19', '"end": 29')
    message = r"ben.json', tasks\[0\].annotations\[0\].result\[1\]: span 15-29"
    edited(files[1], '"text": "Rome"', '"text": null')
    with pytest.raises(DataError, match=message):
        sa.read(files, spans=True)
    with pytest.raises(DataError, match=r"annotated document 'd1' twice, first in .*ana.json'"):
        sa.read([files[0], tmp_path / "export.json"], spans=True)


@pytest.mark.filterwarnings("ignore::setagree.errors.SetagreeWarning")
def test_pieces_that_were_written_are_told_when_they_are_read(tmp_path):
    study = sa.read(table(tmp_path), spans=True)
    for read in (sa.read, sa.Annotations.from_long):
        with pytest.warns(SetagreeWarning, match="'d1:0-3' appear to be pieces of documents"):
            read(study.to_long())
    with pytest.raises(DataError, match="no column 'start' of spans"):
        sa.read(study.to_long(), spans=True)
    again, frame = sa.read(study.to_long()), study.units_frame
    again = again.sampled(cluster=frame["document"].to_dict(), size=frame["length"].to_dict())
    both = [sa.krippendorff_alpha(x, distance="jaccard").estimate for x in (study, again)]
    assert both[0] == pytest.approx(both[1], abs=1e-12)


def edited(path, old, new):
    text = Path(path).read_text(encoding="utf-8")
    assert old in text
    Path(path).write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.filterwarnings("ignore::setagree.errors.SetagreeWarning")
def test_tables_of_each_rater_are_read_together(tmp_path):
    frame = pd.read_csv(table(tmp_path)).drop(columns="rater")
    for rater, rows in (("ana", [0, 1, 2, 5]), ("ben", [3, 4, 6])):
        frame.iloc[rows].to_csv(tmp_path / f"{rater}.csv", index=False)
    files = [tmp_path / "ana.csv", tmp_path / "ben.csv"]
    study = sa.read(files, spans=True, filename_column="rater")
    assert study.to_wide()["ana.csv"].map(set).to_dict() == {k: x for k, (x, _) in EXPECTED.items()}


def test_odd_spans_are_refused_with_their_place(tmp_path):
    path = prodigy(tmp_path)
    edited(path, '"end": 19', '"end": 21')
    with pytest.raises(DataError, match=r"export.jsonl.*line 1, spans\[2\]: span 8-21 .* 0 to 20"):
        sa.read(path, spans=True)
    path = table(tmp_path)
    edited(path, "8.0,19.0", "8.0,21.0")
    with pytest.raises(DataError, match=r"spans.csv': row 3: span 8-21 of document 'd1'"):
        sa.read(path, spans=True)
    path = prodigy(tmp_path)
    edited(path, '"end": 19', '"end": 8')
    with pytest.raises(DataError, match=r"span 8-8 .* must end after its start"):
        sa.read(path, spans=True)


def test_texts_that_differ_between_raters_are_refused(tmp_path):
    folder = brat(tmp_path)
    edited(folder / "ben" / "d1.txt", "Rome.", "Roma.")
    message = r"ben/d1.ann': the text of document 'd1' differs from that in .*ana/d1.ann"
    with pytest.raises(DataError, match=message):
        sa.read(folder, spans=True, blank="empty")


@pytest.mark.filterwarnings("ignore:ignored annotations:setagree.errors.SetagreeWarning")
def test_texts_that_are_not_those_of_the_spans_are_refused(tmp_path):
    folder = brat(tmp_path)
    edited(folder / "ana" / "d1.ann", "0 3\tAnn", "0 3\tAn")
    with pytest.raises(
        DataError, match=r"d1.ann', line 1: span 0-3 .* must have its text 'An', and has 'Ann'"
    ):
        sa.read(folder, spans=True, blank="empty")


def test_layers_are_chosen(tmp_path):
    path = label_studio(tmp_path)
    edited(
        path,
        '"from_name": "label", "to_name": "text", "type": "labels", "value": {"start": 0',
        '"from_name": "other", "to_name": "text", "type": "labels", "value": {"start": 0',
    )
    with pytest.raises(OptionError, match=r"spans in 2 layers, .*; choose one with spans='other'"):
        sa.read(path, spans=True)
    assert sa.read(path, spans="other").labels == ("PER",)
    edited(path, '"type": "labels"', '"type": "hypertextlabels"')
    with pytest.raises(FileError, match="spans in HTML"):
        sa.read(path, spans=True)


@pytest.mark.parametrize("tool", [prodigy, brat])
def test_layers_are_refused_without_any(tool, tmp_path):
    with pytest.raises(OptionError, match=r"spans=.PER. is not in .*; it has no layers"):
        sa.read(tool(tmp_path), spans="PER")


def test_labels_are_read_in_lower_case_and_similar_ones_told(tmp_path):
    frame = pd.read_csv(table(tmp_path)).replace({"label": {"EVENT": "per"}})
    with pytest.warns(SetagreeWarning, match="labels that look alike are kept apart: 'PER' and"):
        assert sa.read(frame, spans=True).labels == ("LOC", "PER", "per")
    assert sa.read(frame, spans=True, case="lower").labels == ("loc", "per")


REFUSED = [
    ({"spans": True, "codebook": ["PER"]}, OptionError, "codebook= makes sense only without"),
    ({"spans": "layer"}, OptionError, "spans=.layer. is not in the table; it has no layers"),
    ({"spans": True, "tokens": "tool"}, DataError, "requires the offsets of its tokens"),
    ({"tokens": "words"}, OptionError, "makes sense only with spans="),
    ({"spans": True, "tokens": "letters"}, OptionError, "is unknown"),
    ({"spans": 3}, OptionError, "spans=3"),
]


@pytest.mark.parametrize(("options", "error", "message"), REFUSED)
def test_odd_options_are_refused(options, error, message, tmp_path):
    with pytest.raises(error, match=message):
        sa.read(table(tmp_path), **options)


@pytest.mark.parametrize("tool", [label_studio, prodigy, doccano, brat, inception, spacy_json])
def test_errors_of_exports_without_label_sets_name_the_option(tool, tmp_path):
    path = tool(tmp_path)
    with pytest.raises(SetagreeError, match=r"It has labelled spans; read them with spans=True\."):
        sa.read(path)


def test_errors_of_exports_without_spans_do_not_name_the_option(tmp_path):
    path = lines(tmp_path / "a.jsonl", [{"text": "a", "ents": [], "meta": {"rater": "ann"}}])
    with pytest.raises(SetagreeError) as caught:
        sa.read(path)
    assert "spans=" not in str(caught.value)


def test_formats_without_spans_are_refused(tmp_path):
    path = lines(tmp_path / "a.jsonl", [{"text": "a", "cats": {"x": 1.0}, "meta": {}}])
    with pytest.raises(OptionError, match="spaCy, JSONL with cats is not read as spans"):
        sa.read(path, spans=True)


def test_a_table_needs_lengths(tmp_path):
    frame = pd.read_csv(table(tmp_path)).drop(columns="text")
    with pytest.raises(DataError, match="no column 'text' or 'length'"):
        sa.read(frame, spans=True)
    study = sa.read(frame.assign(length=30), spans=True)
    assert study.units_frame["length"].sum() == 60
    frame.assign(length=30).to_csv(tmp_path / "lengths.csv", index=False)
    assert sa.read(tmp_path / "lengths.csv", spans=True).units_frame["length"].sum() == 60


def test_functions_refuse_data_that_are_read_as_spans(tmp_path):
    with pytest.raises(OptionError, match="consensus is not defined for units with sizes"):
        sa.consensus(table(tmp_path), reading=sa.Reading(spans=True))


@pytest.mark.slow
def test_the_command_reads_spans(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "setagree", "score", str(table(tmp_path)), "--spans", "auto"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "9 units, 2 raters, 18 ratings" in done.stdout
    assert "Units count by length." in done.stdout


def test_marks_of_recordings_are_in_seconds(tmp_path):
    def result(start, end):
        value = {"start": start, "end": end, "channel": 0, "labels": ["speech"]}
        more = {"from_name": "l", "to_name": "audio", "type": "labels", "original_length": 9.5}
        return {"value": value, **more}

    def annotation(rater, *results):
        return {"completed_by": {"id": 1, "email": rater}, "result": [*results]}

    task = {"id": 1, "data": {"audio": "/data/a.wav"}}
    task["annotations"] = [annotation("ana", result(0.5, 2.25)), annotation("ben")]
    path = tmp_path / "audio.json"
    path.write_text(json.dumps([task]), encoding="utf-8")
    study = sa.read(path, spans=True)
    assert study.units.tolist() == ["1:0.0-0.5", "1:0.5-2.25", "1:2.25-9.5"]
    assert study.units_frame["length"].tolist() == [0.5, 1.75, 7.25]


def test_recordings_without_marks_have_no_length(tmp_path):
    """Only a mark tells the length of a recording; the text of the task is its address."""
    value = {"start": 0.5, "end": 2, "labels": ["speech"]}
    mark = {"value": value, "from_name": "l", "type": "labels", "original_length": 9.5}
    tasks = [
        {"id": k, "data": {"audio": "/a.wav"}, "annotations": [{"completed_by": 1, "result": one}]}
        for k, one in enumerate(([mark], []))
    ]
    path = tmp_path / "audio.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    with pytest.raises(DataError, match="document 1 has no text and no length"):
        sa.read(path, spans=True)


def test_texts_and_recordings_are_not_one_study(tmp_path):
    value = {"start": 0, "end": 2, "labels": ["x"]}
    marks = [{"value": value, "from_name": "l", "type": "labels", **more}
             for more in ({"original_length": 9.5}, {})]  # fmt: skip
    tasks = [
        {"id": k, "data": {"d": "abc"}, "annotations": [{"completed_by": 1, "result": [mark]}]}
        for k, mark in enumerate(marks)
    ]
    path = tmp_path / "both.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    with pytest.raises(FileError, match=r"tasks\[1\].*spans of texts and of recordings"):
        sa.read(path, spans=True)


def test_errors_on_several_tables_of_spans_name_the_file(tmp_path):
    rows = "document,rater,start,end,label,length\nd1,ann,0,4,x,9\nd1,bob,0,{},x,9\n"
    for name, end in (("a.csv", 4), ("b.csv", 40)):
        (tmp_path / name).write_text(rows.replace("d1", name[0]).format(end), encoding="utf-8")
    with pytest.raises(DataError, match=r"a\.csv' and 1 more: b\.csv, row 2: span 0-40 of"):
        sa.read(tmp_path / "*.csv", spans=True)
    (tmp_path / "b.csv").write_text(rows.replace("d1", "b").format(4), encoding="utf-8")
    for options in ({}, {"filename_column": "source"}):
        assert sa.read(tmp_path / "*.csv", spans=True, **options).units[0] == "a:0-4"


def test_tables_of_spans_are_recognised_without_the_option(tmp_path):
    frame = pd.read_csv(table(tmp_path)).dropna()
    with pytest.raises(DataError, match=r"annotated more than once.*labelled spans.*spans=True"):
        sa.read(frame)
    once = frame.drop_duplicates(["document", "rater"])
    pl = pytest.importorskip("polars", reason="Polars is not installed")
    for data in (once, pl.from_pandas(once)):
        with pytest.warns(SetagreeWarning, match="'start' and 'end' may be of labelled spans"):
            sa.read(data)
    sa.read(once.assign(start="9:00", end="9:05"))  # times
    assert "read them with --spans auto." in refusal("score", tmp_path / "spans.csv")


TAKES = ["score", "check", "test", "compare", "plan", "report", "diagnose", "cite", "convert"]


@pytest.mark.parametrize("command", [*TAKES, "consensus", "next", "panel", "prevalence"])
def test_commands_list_spans_only_where_they_take_them(command):
    assert ("--spans " in ok(command, "--help")) == (command in TAKES)


@pytest.mark.filterwarnings("ignore::setagree.errors.SetagreeWarning")
def test_commands_explain_and_check_spans(tmp_path):
    path = table(tmp_path)
    assert "Places: Raters differ on" in ok("diagnose", path, "--spans", "auto", "--seed", 1)
    ok("report", path, "--spans", "auto", "--seed", 1, "-o", tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "2 documents · 34 characters · 6 spans · 2 raters" in page
    line = r"\[Ann\]<sup>PER</sup> met \[Bob\]<sup>EVENT, PER</sup>\[ in Rome\]<sup>EVENT</sup>"
    assert f"- **ana**: {line}" in page

"""Files as people have them: at most two tries to a number, the second as the error says."""

import io
import json
import shlex
import sys
import warnings
from pathlib import Path

import pandas as pd
import pytest
from cli_support import invoke, ok, refusal

import setagree as sa
from setagree.errors import DataError, FileError, MissingMarkerWarning

pytest.importorskip("typer", reason="the command needs the cli extra")

LONG = """Rated at Münster;;;
Exported 12.03.2024;;;

Text;Annotator;Score;Comment
T1;Anna;3,5;
T1;Ben;4,0;ok
T2;Anna;2,5;
T2;Ben;2,5;
;;;
T3;Anna;1,0;
T3;Ben;3,0;
T3;Ben;3,0;
T4;Anna;4,5;
T4;Ben;4,5;
Total;;28,5;
"""
ADDRESSES = """task_id,annotator_email,choice,created_at
1,anna@lab.org,positive,2024-01-01
1,ben@lab.org,negative,2024-01-01
2,anna@lab.org,positive,2024-01-01
2,ben@lab.org,positive,2024-01-02
"""
NOTED = """No.,Comment ID,Coder 1,Coder 2,Coder 3,Notes,
1,c001,"Hate, Insult",Hate,Hate,,
2,c002,Other,Other,,unclear,
3,c003,Insult,"Insult, Threat",Insult,,
4,c004,Other,Hate,Other,,
,,,,,,
,Agreement,80%,75%,,,
"""
SCALE = """sep=;
Ratings of essays
;;;
Essay;Rater A;Rater B;Rater C
E1;3.1;3,0;3,5
E2;4,5;4,5;4,0
E3;2,0;2,5;2,0
;;;
Mean;3,20;3,33;3,17
"""
LOG = """assignment,item_id,worker_name,tags,submitted_at
1,i1,w1,cat|dog,t1
2,i1,w2,dog,t2
3,i2,w1,none,t3
4,i2,w2,dog,t4
5,i2,w2,cat|dog,t5
6,i2,,dog,t6
7,i1,w3,cat|dog,t7
8,i2,w3,cat,t8
"""
GERMAN = """Text-Nr.;Kodiererin;Emotionen;Bemerkung
1;Jördis;Angst / Wut;
1;Uwe;Wut;unklar; bitte prüfen
2;Jördis;keine;
2;Uwe;k.A.;
3;Jördis;Angst;
3;Uwe;Angst;
""".replace("unklar; bitte prüfen", '"unklar; bitte prüfen"')
COPIES = """Évaluation des copies;;;
;;;
Copie;Codeur;Note;Commentaire
C1;Anaïs;12,5;
C1;Bruno;11,0;bien
C2;Anaïs;4,5;
C2;Bruno;6,0;
Moyenne;;8,5;
"""
TITLED = """Auswertung Runde 2;;;;;;
;;;;;;
Nr.;Text;Länge (s);Anna;Björn;E-Mail;Bemerkung
1;Das ist, kurz, eins;1,5;"Wut, Angst";Wut/Angst;a@uni.de;unklar
2;Das ist zwei;12,7;Wut;;a@uni.de;
3;Das ist drei;3,0;"Angst, Wut";Angst;a@uni.de;
4;Das ist vier;4,9;Freude;Angst/Freude;a@uni.de;
Gesamt;;22,1;4;3;;
"""
CLEAN_TITLED = [({"Wut", "Angst"}, {"Wut", "Angst"}), ({"Wut"}, None)]
CLEAN_TITLED += [({"Wut", "Angst"}, {"Angst"}), ({"Freude"}, {"Freude", "Angst"})]
CLEAN_LOG = [({"cat", "dog"}, {"dog"}, {"cat", "dog"}), (set(), {"cat", "dog"}, {"cat"})]
CLEAN_GERMAN = [({"Angst", "Wut"}, {"Wut"}), (set(), None), ({"Angst"}, {"Angst"})]
CLEAN_LONG = [(3.5, 4.0), (2.5, 2.5), (1.0, 3.0), (4.5, 4.5)]
CLEAN_NOTED = [("Hate, Insult", "Hate", "Hate"), ("Other", "Other", None)]
CLEAN_NOTED += [("Insult", "Insult, Threat", "Insult"), ("Other", "Hate", "Other")]
CLEAN_SCALE = [(3.1, 3.0, 3.5), (4.5, 4.5, 4.0), (2.0, 2.5, 2.0)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def tried(monkeypatch, *arguments):
    """Return the output of the command, or of the line that its error or warnings say to run."""
    monkeypatch.setattr(sys, "argv", ["setagree", *arguments])
    result = invoke(*arguments)
    assert result.exit_code in {0, 2}
    last = result.stderr.splitlines()[-1]
    if last.startswith("setagree "):
        result = invoke(*shlex.split(last.removeprefix("setagree ")))
    assert result.exit_code == 0, result.stderr
    return result


@pytest.mark.parametrize(
    ("text", "encoding", "answers", "kind"),
    [
        (LONG, "cp1252", CLEAN_LONG, "value"),
        (ADDRESSES, "utf-8", [("positive", "negative"), ("positive", "positive")], "labels"),
        (NOTED, "utf-8", CLEAN_NOTED, "labels"),
        (SCALE, "utf-8", CLEAN_SCALE, "value"),
        (LOG, "utf-8", CLEAN_LOG, "labels"),
        (GERMAN, "utf-16", CLEAN_GERMAN, "labels"),
        (TITLED, "utf-16", CLEAN_TITLED, "labels"),
    ],
)
def test_at_most_two_tries(monkeypatch, text, encoding, answers, kind):
    Path("a.csv").write_text(text, encoding=encoding)
    shown = tried(monkeypatch, "score", "a.csv", "--format", "json", "--distance", "nominal").stdout
    study = sa.read([list(column) for column in zip(*answers, strict=True)], kind=kind)
    expected = sa.krippendorff_alpha(study, distance="nominal").estimate
    assert json.loads(shown)[0]["estimate"] == pytest.approx(expected, rel=1e-12)


def test_names_of_columns_that_are_not_usual_are_the_only_ones_to_pass():
    Path("a.csv").write_text(COPIES)
    assert (
        "with --unit '...' and --labels '...' (--value '...' for numbers)"
        in invoke("score", "a.csv").stderr
    )
    shown = invoke("score", "a.csv", "--unit", "Copie", "--value", "Note")
    assert "2 units, 2 raters, 4 ratings" in shown.stdout


def test_a_workbook(monkeypatch):
    openpyxl = pytest.importorskip("openpyxl", reason="the extra 'files' is not installed")
    book = openpyxl.Workbook()
    rows = [["Coding results"], [], ["Document", "Coder", "Code"], ["d1", "Ann", "A"]]
    rows += [["d1", "Bob", "A"], [], ["d2", "Ann", "B"], ["d2", "Bob", "A"], ["Total:", None, 4]]
    for row in rows:
        book.active.append(row)
    book.create_sheet("Notes", 0).append(["Please read"])
    book.save("a.xlsx")
    result = tried(monkeypatch, "score", "a.xlsx")
    assert "2 units, 2 raters, 4 ratings" in result.stdout
    assert "'Notes' ignored" in result.stderr
    assert "Rows left out as totals: 'Total:'" in result.stderr


def test_all_remedies_are_in_one_line(monkeypatch):
    Path("a.csv").write_text(LONG, encoding="cp1252")
    monkeypatch.setattr(sys, "argv", ["setagree", "score", "a.csv"])
    lines = invoke("score", "a.csv").stderr.splitlines()
    assert "is not UTF-8" in lines[-3]
    assert "Then: 1 pair of unit and rater annotated more than once" in lines[-3]
    assert lines[-2] == "With all these options (omit any that does not apply):"
    assert lines[-1] == "setagree score a.csv --encoding 'cp1252' --duplicates 'last'"
    with pytest.warns(sa.SetagreeWarning), pytest.raises(FileError) as caught:
        sa.agreement("a.csv")
    assert caught.value.remedy == {"encoding": "cp1252", "duplicates": "last"}


VOTES = """id,ann,bob,cem,consensus,note
u1,joy;fear,Joy; fear,joy,joy,x
u2,n/a,anger,anger,anger,y
u3,none,none,fear;joy,joy,z
u4,joy,joy,fear,joy,w
"""


def test_the_options_of_all_warnings_are_in_one_line(monkeypatch):
    Path("a.csv").write_text(VOTES)
    monkeypatch.setattr(sys, "argv", ["setagree", "score", "a.csv", "--wide"])
    shown = invoke(*sys.argv[1:]).stderr.splitlines()
    assert shown[-1] == (
        "setagree score a.csv --wide --raters 'ann,bob,cem' --label-sep ';' "
        "--empty 'none' --na-values 'n/a' --case 'lower'"
    )
    assert shown[-3].startswith("Error: column 'note' seems not to be a rater;")
    assert "Then: Labels that look alike are kept apart: 'Joy' and 'joy'. If" in shown[-3]
    result = tried(monkeypatch, *sys.argv[1:])
    assert "4 units, 3 raters, 11 ratings (1 missing)" in result.stdout
    assert "Warning" not in result.stderr
    # A second condition would replace the first one, and one option needs no further line.
    monkeypatch.setattr(sys, "argv", ["setagree", "--where", "id != u1"])
    Path("b.csv").write_text("id,A,B\nu1,x,x\nu2,x,y\nTotal,x,x\n")
    shown = invoke("score", "b.csv", "--wide", "--where", "id != u1").stderr
    assert "--where '`id` != \"Total\"'" in shown
    assert "With all these options" not in shown


def test_the_meaning_of_blank_cells_is_asked_and_never_proposed(monkeypatch):
    Path("a.csv").write_text("id;ann;bob;n\nu1;joy/fear;;7\nu2;fear;no answer;8\nu3;joy;fear;9\n")
    monkeypatch.setattr(sys, "argv", ["setagree", "score", "a.csv"])
    *_, error, _, line = invoke("score", "a.csv").stderr.splitlines()
    assert "Then: 1 blank cell read as missing; use --blank 'empty' if" in error
    assert line == "setagree score a.csv --wide --raters 'ann,bob' --unit 'id' --label-sep '/'"
    # Whether "no answer" is the empty set or a missing answer is not proposed, either.
    shown = invoke(*shlex.split(line)[1:]).stderr
    assert "1 cell with 'no answer' read as a label like any other" in shown
    assert "With all these options" not in shown


@pytest.mark.parametrize(
    ("columns", "unit"),
    [
        ({"Nr": "123456", "Text": "eeddff", "Kodierer": "ababab"}, "Text"),
        ({"id": "123456", "Kodierer": "ababab", "Absatz": "eeddff"}, "Absatz"),
        ({"id": "123456", "Text": "eedddd", "Kodierer": "ababab"}, "Text"),
        ({"id": "123456", "Kodierer": "ababab", "round": "112222"}, None),
        ({"id": "123456", "Kodierer": "aaabbb", "Text": "ghijkl"}, None),
        ({"id": "113344", "Kodierer": "ababab", "Text": "eeddff"}, None),
    ],
)
def test_units_that_number_the_rows(columns, unit):
    table = pd.DataFrame({name: [*cells] for name, cells in columns.items()})
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        sa.read(table.assign(labels=[*"xxyyzz"]))
    remedies = [dict(one.message.remedy) for one in issued if one.message.remedy]
    assert remedies == ([] if unit is None else [{"unit": unit}])


MERGED = "text,coder,labels\n1,a,x\n,b,x\n,c,y\n2,a,x\n,b,y\n,c,y\n3,a,x\n,b,x\n,c,y\n"
TWICE = "text,coder,labels,sent at\n1,a,x,2026-01-02\n1,a,y,2026-01-01\n"


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (MERGED, "(in pandas: df['text'].ffill())."),
        (MERGED.replace(",b", "1,b"), '`text` != "-"\' does, because blank cells never match.'),
        (TWICE, "use duplicates='last' and order_by='sent at'."),
        (TWICE.replace("sent at", "sent"), "its column with degree=."),
    ],
)
def test_errors_of_duckdb_have_the_remedies_of_memory(text, end):
    pytest.importorskip("duckdb", reason="the engine is an extra")
    Path("a.csv").write_text(text)
    with pytest.raises(DataError) as caught:
        sa.tally("a.csv")
    assert str(caught.value).endswith(end)


def test_a_dash_may_be_the_empty_set_or_a_missing_answer():
    rows = {"id": [1, 2, 3], "A": ["joy", "fear", "-"], "B": ["-", "fear", "joy"]}
    with pytest.warns(MissingMarkerWarning) as issued:
        sa.agreement(pd.DataFrame(rows), wide=True)
    (message,) = (warning.message for warning in issued)
    assert "use empty=['-']; if it means 'no annotation', use na_values=['-']." in str(message)
    assert not message.remedy
    with pytest.warns(MissingMarkerWarning, match="'missing' read as categories: '-'; if they"):
        sa.agreement(pd.DataFrame(rows), wide=True, kind="value")


def test_warnings_have_their_options_in_python():
    table = pd.read_csv(io.StringIO(VOTES), keep_default_na=False).drop(columns="note")
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        sa.agreement(table, wide=True)
    assert [warning.message.remedy for warning in issued] == [
        {"wide": True, "raters": ["ann", "bob", "cem"]},
        {"label_sep": ";"},
        {"empty": ["none"]},
        {"na_values": ["n/a"]},
        {"case": "lower"},
    ]


@pytest.mark.parametrize("last", ["1,5;2,5", "4;2,5"])
def test_decimal_commas_are_not_read_as_labels_in_silence(monkeypatch, last):
    Path("a.csv").write_text(f"id;A;B\n1;3,0;2,5\n2;3,5;3,5\n3;4,0;4,0\n4;{last}\n")
    result = invoke("score", "a.csv", "--wide")
    assert "one with a comma is read as two labels; use --kind 'value' if they" in result.stderr
    monkeypatch.setattr(sys, "argv", ["setagree", "score", "a.csv"])
    line = invoke("score", "a.csv").stderr.splitlines()[-1]
    assert line == "setagree score a.csv --wide --kind 'value'"


@pytest.mark.parametrize("blank", ["empty", "missing"])
def test_a_blank_row_is_a_unit_if_rows_are_units(blank):
    Path("a.csv").write_text("ann,bob\nx,x\n,\ny,x\n")
    shown = invoke("score", "a.csv", "--wide", "--blank", blank).stdout
    assert ("3 units, 2 raters, 6 ratings" in shown) == (blank == "empty")


@pytest.mark.parametrize("last", ["Total;;x", "Total;ann;x"])
def test_totals_have_no_rater(last):
    Path("a.csv").write_text(f"unit;rater;labels\nu1;ann;x\nu1;bob;y\n{last}\n")
    shown = invoke("score", "a.csv").stdout
    assert ("2 units" in shown) == ("ann" in last)


def test_rows_with_an_answer_are_never_dropped():
    for row in ("u2;;x", ";ann;", ";;x"):
        Path("a.csv").write_text(f"unit;rater;labels\nu1;ann;x\n{row}\nu1;bob;y\n;;\n")
        assert "1 row without a" in invoke("score", "a.csv").stderr


PIVOT = """Nr.;Text;Rater 1;Rater 2;Gesamt
1;"one; two";hate;hate;2
2;three;hate;insult;2
3;four;insult;insult;2
Gesamt;;3;3;6
;;;;
* coded by students;;;;
"""


def test_a_pivot_with_row_numbers_and_totals(monkeypatch):
    Path("a.csv").write_text(PIVOT)
    monkeypatch.setattr(sys, "argv", ["setagree", "score", "a.csv"])
    assert invoke("score", "a.csv").stderr.splitlines()[-1] == (
        "setagree score a.csv --wide --raters 'Rater 1,Rater 2' --unit 'Nr.' "
        "--where '`Nr.` != \"Gesamt\"'"
    )
    monkeypatch.setattr(sys, "argv", ["setagree", "score", "a.csv", "--unit", "Nr."])
    assert invoke("score", "a.csv", "--unit", "Nr.").stderr.splitlines()[-1].count("--unit") == 1
    assert "3 units, 2 raters, 6 ratings" in tried(monkeypatch, "score", "a.csv").stdout


@pytest.mark.parametrize("name", ["Total", "Gesamt", "Total général"])
def test_a_column_of_totals_is_no_rater(name):
    Path("a.csv").write_text(f"id,A,B,{name}\n1,3,2,5\n2,2,2,4\n3,2,3,5\n4,3,3,6\n")
    shown = invoke("score", "a.csv", "--wide").stderr
    assert f"column {name!r} seems not to be a rater" in shown
    assert "list the raters: --raters 'A,B'." in shown


def test_questions_about_the_rater_are_named_beside_those_about_units():
    form = "Timestamp,Email,Do you agree?,Text 1,Text 2,Text 3,Any comments?\n"
    rows = "t,a@x.org,Yes,joy,fear,joy,odd\nt,b@x.org,Yes,joy,fear,fear,\n"
    Path("a.csv").write_text(form + rows)
    called = ("score", "a.csv", "--tool", "table", "--raters-in-rows")
    assert (
        "columns read as units that have no answer in common with the others: 'Do you agree?', "
        "'Any comments?'. If they are not units, name the columns of the units by a pattern: "
        "--unit 'Text *'."
    ) in invoke(*called).stderr
    result = invoke(*called, "--unit", "Text *")
    assert "no answer in common" not in result.stderr
    assert "3 units, 2 raters" in result.stdout


OPTIONS = """Respondent ID,Which emotions? 1,,Which emotions? 2,,
,Joy,Fear,Joy,Fear,Other
11,Joy,,,Fear,
12,,Fear,,Fear,odd
13,Joy,Fear,,Fear,sad
"""


@pytest.mark.parametrize("rows", [OPTIONS, OPTIONS.replace(",Joy,Fear,Joy,Fear,Other\n", "")])
@pytest.mark.parametrize("layout", [(), ("--raters-in-rows",)])
def test_a_column_per_option_below_a_row_of_questions_is_refused(rows, layout):
    Path("a.csv").write_text(rows)
    shown = refusal("score", "a.csv", "--header-row", "1", *layout)
    assert "'Which emotions? 1' is followed by columns without names" in shown
    assert "Join the columns of each question into one by hand" in shown
    assert "--raters-in-rows" not in shown
    joined = 'who,Text 1,Text 2\n11,Joy,Fear\n12,Fear,Fear\n13,"Joy,Fear",Fear\n'
    Path("a.csv").write_text(joined)
    assert "2 units, 3 raters, 6 ratings" in invoke("score", "a.csv", "--raters-in-rows").stdout


def test_a_unit_without_a_name_is_no_option():
    Path("a.csv").write_text("who,Text 1,,note\n11,joy,joy,\n12,fear,joy,\n")
    assert "2 units, 2 raters" in invoke("score", "a.csv", "--raters-in-rows").stdout


# One of three units differs: 1/3 observed, and 1 - (3 * 2 + 3 * 2) / (6 * 5) = 0.6 expected.
ALPHA = 4 / 9


def nominal_alpha(*arguments):
    shown = invoke("score", "a.csv", "-d", "nominal", "-f", "json", *arguments).stdout
    return json.loads(shown)[0]["estimate"]


@pytest.mark.parametrize("name", ["Total", "Mean", "n coded", "Gold", "Majority"])
def test_a_row_of_totals_is_no_rater(name):
    Path("a.csv").write_text(f"who,t1,t2,t3\nann,x,y,x\nben,x,y,y\n{name},x,y,x\n")
    shown = invoke("score", "a.csv", "--raters-in-rows").stderr
    way = f"--exclude-raters '{name}'"
    assert f"row {name!r} is read as a rater; if derived from the others' answers, use {way}" in (
        shown
    )
    rest = nominal_alpha("--raters-in-rows", "--exclude-raters", name)
    assert rest == pytest.approx(ALPHA, rel=1e-12)
    with pytest.warns(sa.SetagreeWarning, match="others' answers, use study.exclude_raters"):
        assert sa.read("a.csv", raters_in_rows=True).n_raters == 3


@pytest.mark.parametrize("blank", ["", "\n", ",,\n"])
def test_totals_of_raters_are_no_unit(monkeypatch, blank):
    rows = "1,ann,x\n1,ben,x\n2,ann,y\n2,ben,y\n3,ann,x\n3,ben,y\n"
    Path("a.csv").write_text(f"unit,rater,labels\n{rows}{blank}Total,ann,3\nTotal,ben,3\n")
    shown = tried(monkeypatch, "score", "a.csv", "-d", "nominal", "-f", "json").stdout
    assert json.loads(shown)[0]["estimate"] == pytest.approx(ALPHA, rel=1e-12)


def test_a_long_table_is_not_read_as_wide():
    Path("a.csv").write_text("unit,rater,labels\n1,ann,x\n1,ben,x\n2,ann,y\n2,ben,x\n")
    for further in ((), ("--duplicates", "last")):
        shown = refusal("score", "a.csv", "--wide", *further)
        assert "with one row per rating: omit --wide." in shown
        assert "--duplicates" not in shown
    assert "no column 'doc'" in refusal("score", "a.csv", "--wide", "--unit", "doc")


def test_a_column_of_questions_is_named_for_repeats():
    rows = "unit,rater,question,answer\n1,ann,mood,x\n1,ann,side,y\n1,ben,mood,x\n1,ben,side,x\n"
    Path("a.csv").write_text(rows)
    shown = refusal("score", "a.csv")
    assert "2 pairs of unit and rater annotated more than once" in shown
    assert "use setagree score --questions question." in shown
    assert "--duplicates" not in shown
    Path("a.csv").write_text(rows.replace("side", "mood"))
    assert "--questions" not in refusal("score", "a.csv")


@pytest.mark.parametrize("title", ["", "Pilot,,,,\n"])
def test_names_in_two_rows_are_not_read_as_raters(title):
    header = ",Ann,,Ben,\nText,joy,fear,joy,fear\n"
    Path("a.csv").write_text(f"{title}{header}t1,x,,x,\nt2,,x,x,\nt3,x,x,,x\n")
    shown = invoke("score", "a.csv")
    assert shown.exit_code == 2
    assert f"lines 1 to {2 + bool(title)} seem to have the names; write" in shown.stderr
    assert "or use --header-row 1." in shown.stderr


def test_a_form_with_a_column_per_text(monkeypatch):
    form = "Timestamp,Email Address,Text 1,Text 2,Text 3\n"
    time = "2024/03/01 10:01:00 AM GMT+1"
    rows = f"{time},a@x.org,joy,fear,joy\n{time},b@x.org,joy,fear,fear\n"
    Path("a.csv").write_text(f"{form}{rows}{time},b@x.org,joy,joy,joy\n")
    result = tried(monkeypatch, "score", "a.csv")
    assert "3 units, 2 raters, 6 ratings" in result.stdout


FORM = """ID,Start time,Email,Name,Comment 1: what?,Comment 2: what?,Comment 3: what?
1,2026-03-01 10:00,a@x.org,Ann,Hate;,Hate;Threat;,Other;
2,2026-03-01 11:00,b@x.org,Ben,Hate;Threat;,Threat;,Other;
3,2026-03-01 12:00,c@x.org,Cy,Hate;,Hate;,Threat;
"""
FRENCH = """Texte;Annotateur;Étiquettes;Horodatage
T1;Anaïs;joie, peur;2026-02-03
T1;Bruno;joie / peur;2026-02-01
T2;Anaïs;peur;2026-02-02
T2;Bruno;joie;2026-02-05
T1;Anaïs;joie;2026-02-01
"""
SHARED = "".join(
    json.dumps({"image_id": k, "annotations": [{"worker": r, "tags": t} for r, t in of.items()]})
    + "\n"
    for k, of in enumerate([{"a": ["x"], "b": ["x", "y"]}, {"a": [], "b": ["y"]}])
)


@pytest.mark.parametrize(
    ("name", "text", "encoding", "rows"),
    [
        (
            "a.csv",
            FORM,
            "utf-8",
            ["Hate,Hate/Threat,Hate", "Hate/Threat,Threat,Hate", "O,O,Threat"],
        ),
        ("a.csv", FRENCH, "cp1252", ["joie/peur,joie/peur", "peur,joie"]),
        ("a.jsonl", SHARED, "utf-8", ["x,x/y", ",y"]),
    ],
)
def test_more_files_in_at_most_two_tries(monkeypatch, name, text, encoding, rows):
    Path(name).write_text(text, encoding=encoding)
    shown = tried(monkeypatch, "score", name, "--format", "json", "-d", "masi").stdout
    answers = [[{*filter(None, cell.split("/"))} for cell in row.split(",")] for row in rows]
    expected = sa.krippendorff_alpha(*map(list, zip(*answers, strict=True))).estimate
    assert json.loads(shown)[0]["estimate"] == pytest.approx(expected, rel=1e-12)


MARKED = "Item,Rater,joy,fear,comment\ni1,a,x,,sure\ni1,b,X,x,\ni2,a,,,\ni2,b,,x,\n"


@pytest.mark.parametrize(("blank", "n_ratings", "n_missing"), [("empty", 4, 0), ("missing", 3, 1)])
def test_marks_are_flags_and_a_row_without_any_is_blank(monkeypatch, blank, n_ratings, n_missing):
    Path("a.csv").write_text(MARKED)
    monkeypatch.setattr(sys, "argv", ["setagree", "score", "a.csv"])
    line = invoke("score", "a.csv").stderr.splitlines()[-1]
    assert (
        line == "setagree score a.csv --unit 'Item' --rater 'Rater' --labels 'joy' --labels 'fear'"
    )
    assert "1 blank cell read as missing" in invoke(*shlex.split(line)[1:]).stderr
    for columns in ({}, {"labels": ["joy", "fear"]}):
        table = pd.read_csv("a.csv", keep_default_na=bool(columns))
        table = table if columns else table.drop(columns="comment")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # flags are recognised with a warning
            study = sa.read(table, blank=blank, **columns)
        assert (study.n_ratings, study.n_missing) == (n_ratings, n_missing)
        assert {frozenset({"joy"}), frozenset({"joy", "fear"})} < {*study.values}


def test_a_majority_is_named_if_a_wide_table_is_recognised(monkeypatch):
    header = "Comment,ann@x.org,ben@x.org,Majority\n"
    Path("a.csv").write_text(f'{header}c1,"x\ny",x,y\nc2,X,y,x\nc3,y,y,y\nc4,x,y,x\n')
    result = tried(monkeypatch, "score", "a.csv")
    assert "4 units, 2 raters, 8 ratings" in result.stdout


@pytest.mark.parametrize(
    "name",
    [
        *("final", "Consensus", "FINAL", "FinalLabel", "gold_label", "Konsens 2", "Musterlösung"),
        *("Ergebnis", "agreed label", "Final answer", "Mittelwert", "Gesamt", "median"),
    ],
)
def test_an_aggregate_is_named_if_a_wide_table_is_recognised(name):
    columns = {"id": [1, 2, 3], "A": ["x", "y", "x"], "B": ["x", "x", "y"], name: ["x", "y", "y"]}
    remedies = []
    for third in (name, "Finale Golda"):
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always")
            sa.agreement(pd.DataFrame(columns).rename(columns={name: third}))
        found = [
            x.message for x in issued if f"column {third!r} is read as a rater" in str(x.message)
        ]
        remedies.append([message.remedy for message in found])
    assert remedies == [[{"wide": True, "raters": ["A", "B"]}], []]


def test_a_column_of_addresses_does_not_hide_a_wide_table():
    header, rows = "Nr;Anna;Ben;E-Mail", "1;joy;joy;a@x.de\n2;fear;joy;b@x.de\n{};joy;fear;a@x.de\n"
    Path("a.csv").write_text(f"{header}\n{rows.format(3)}")
    shown = invoke("score", "a.csv").stderr
    assert "Columns 'Anna', 'Ben' have answers in common, as raters have, and 'E-Mail'" in shown
    assert "If each rater has a column, use --wide and --raters 'Anna,Ben'; if each row" in shown
    # Two rows for one unit may be annotations, with an answer to each of two questions.
    Path("a.csv").write_text(f"{header}\n{rows.format(2)}")
    assert "No column has a usual name for the labels" in invoke("score", "a.csv").stderr


def test_a_majority_is_not_suggested_as_a_rater(monkeypatch):
    header = "id,A,B,C,Majority label,Total coded\n"
    rows = "e1,joy,joy,fear,joy,3\ne2,fear,fear,fear,fear,3\ne3,joy,joy,joy,joy,3\n"
    Path("a.csv").write_text(header + rows)
    assert "3 units, 3 raters, 9 ratings" in tried(monkeypatch, "score", "a.csv").stdout


def test_bytes_that_are_not_text_end_in_one_error():
    """The remedy of the error leads to an error with the same remedy: 0x8d is not cp1252."""
    Path("a.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x8d")
    shown = invoke("score", "a.png")
    assert shown.exit_code == 2
    assert "is not UTF-8: byte 0x89 at offset 0" in shown.stderr


class TestFlagsBesideText:
    """Flags of labels beside a unit, a rater and a text, as in ConvAbuse."""

    FORM = (
        "example_id,annotator_id,user,abuse,insult\n0,1,hello,{0},{1}\n0,2,hello,{1},{1}\n"
        "1,1,bye,{0},{0}\n1,2,bye,{0},{1}\n2,1,hello,{1},{0}\n2,2,hello,{0},{0}\n"
    )
    CELLS = FORM.format(0, 1)
    NAMED = ("--unit", "example_id", "--rater", "annotator_id")

    @pytest.mark.parametrize("flags", [(0, 1), ("FALSE", "TRUE"), ("False", "true")])
    @pytest.mark.parametrize("text", ["user", "text"])
    def test_labels_are_proposed(self, text, flags):
        Path("flags.csv").write_text(self.FORM.format(*flags).replace("user", text))
        said = refusal("score", "flags.csv")
        ways = "--unit 'example_id', --rater 'annotator_id' and --labels 'abuse' --labels 'insult'."
        assert said.endswith(
            f"Columns 'abuse', 'insult' have only 0 and 1, TRUE and FALSE, or x and blanks. If "
            f"they are flags of labels, use {ways}"
        )
        with pytest.raises(DataError) as caught:
            sa.read("flags.csv")
        study = sa.read("flags.csv", **caught.value.remedy)
        assert study.n_raters == 2
        assert {*study.values} == {
            frozenset(x) for x in [(), ("abuse",), ("insult",), ("abuse", "insult")]
        }

    def test_labels_are_repeated(self):
        """Each column counts, where the last alone would give other values."""
        Path("flags.csv").write_text(self.CELLS)
        flags = ("--labels", "abuse", "--labels", "insult")
        assert "3 units, 2 raters, 6 ratings, 4 distinct sets" in ok(
            "score", "flags.csv", *self.NAMED, *flags
        )
        said = refusal("score", "flags.csv", *self.NAMED, "--labels", "abuse,insult")
        assert said.endswith("For columns of flags, use --labels 'abuse' --labels 'insult'.")

    def test_identifiers_of_raters_are_no_rater(self):
        Path("scores.csv").write_text(self.CELLS.replace(",1\n", ",3\n"))
        said = refusal("score", "scores.csv")
        assert "Columns 'annotator_id', 'user' could each be the rater; name one with" in said
        assert "--wide" not in said
        said = refusal("score", "scores.csv", "--wide")
        assert "column 'annotator_id' seems not to be a rater" in said
        assert "--raters 'abuse,insult'" in said

"""What tables and exports hide: rows and columns that are no answers, two questions as one."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import (
    DataError,
    FileError,
    LabelError,
    MissingMarkerWarning,
    MixedScaleWarning,
    OptionError,
    SeparatorWarning,
    SetagreeWarning,
    SimilarLabelsWarning,
)


def write(folder, name, content):
    """Write text, or objects one a line, and return the path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, str):
        content = "".join(json.dumps(each) + "\n" for each in content)
    path.write_text(content, encoding="utf-8")
    return path


def found(study):
    """Return the answers by unit and rater."""
    return {(str(unit), str(rater)): {*answer} for rater, unit, answer in study.to_triples()}


def long_study(labels, **options):
    """Return the study of two raters on as many units as there are pairs of answers."""
    n = len(labels)
    table = pd.DataFrame({"unit": [k // 2 for k in range(n)], "rater": ["a", "b"] * (n // 2)})
    return sa.Annotations.from_long(table.assign(labels=labels), **options)


def values(*answers):
    """Return the study of single values by two raters."""
    rows = [("ab"[k % 2], k // 2, answer) for k, answer in enumerate(answers)]
    return sa.Annotations.from_triples(rows, kind="value")


@pytest.fixture
def silent():
    """Make every warning of the test an error, also where it is caught by a filter elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


class TestLabelText:
    """Cells that look like label text and hide another notation."""

    @pytest.mark.parametrize("cell", ["{joy,fear}", "(joy, fear)", "{joy, fear}"])
    def test_lists_of_other_languages(self, cell):
        """An array of PostgreSQL, or a bare tuple, would give the labels '{joy' and 'fear}'."""
        with pytest.raises(LabelError, match="looks like a list; drop the brackets"):
            sa.parse_labels(cell)

    @pytest.mark.parametrize("cell", ["(1), (2)", "(joy) fear", "{joy}", "joy (much), fear"])
    def test_brackets_inside_labels(self, cell, silent):
        """Brackets that do not hold the whole cell, or hold one label, are part of labels."""
        labels = sa.parse_labels(cell)
        assert labels == {part.strip() for part in cell.split(",")}
        assert long_study([cell, "x"]).n_ratings == 2

    def test_separator_in_brackets(self):
        """A label such as 'anger (mild, short)' is split, and a warning says so."""
        with pytest.warns(SeparatorWarning, match=r"2 distinct cells with ',' in brackets, such"):
            study = long_study(["anger (mild, short), joy", "anger (mild, short)", "joy", "joy"])
        assert frozenset({"anger (mild", "short)"}) in study.values

    @pytest.mark.parametrize(
        "cell",
        [
            *('"anger (mild, short)", joy', ":(, joy, :)", "a (b), c (d)"),
            *("frozenset({'a', 'b'})", "set(['a', 'b'])", "['a', 'b']", "{'a', 'b'}"),
        ],
    )
    def test_brackets_that_are_no_doubt(self, cell, silent):
        """Quoted labels, faces, brackets that close before the separator and printed sets."""
        assert long_study([cell, "joy"]).n_ratings == 2

    def test_separator_in_brackets_of_an_export(self, tmp_path):
        """The cells of an export are looked at in the same way."""
        text = "HITId,WorkerId,Input.unit,Answer.q\nh,1,u,a (b|c)\nh,2,u,a|d\n"
        with pytest.warns(SeparatorWarning, match=r"1 distinct cell with '\|' in brackets"):
            sa.read(write(tmp_path, "mturk.csv", text))

    @pytest.mark.parametrize(
        "pair",
        [
            ("1", "1.0"),
            ("01", "1"),
            ("joy", "joy\u200b"),
            ("very sad", "very  sad"),
            ("very sad", "very\xa0sad"),
            ("\u2764", "\u2764\ufe0f"),
            ("joy", "\uff4a\uff4f\uff59"),
        ],
    )
    def test_labels_that_look_alike(self, pair):
        """Two spellings that people take for one label are kept apart and named."""
        with pytest.warns(SimilarLabelsWarning, match="Labels kept apart that look alike"):
            study = long_study([*pair, "x", "x"])
        assert study.n_values == 3

    @pytest.mark.parametrize("pair", [("1", "1.0"), ("a", "a\ufeff"), ("07", "7")])
    def test_units_that_look_alike(self, pair):
        """The same holds for units, which would not meet."""
        rows = [("a", pair[0], "x"), ("b", pair[1], "x"), ("a", "u", "y"), ("b", "u", "y")]
        with pytest.warns(SimilarLabelsWarning, match="Units kept apart that look alike"):
            assert sa.Annotations.from_triples(rows).n_units == 3

    def test_names_that_do_not_look_alike(self, silent):
        """Padded numbers, decimals and accents that are all different give no warning."""
        rows = [(who, unit, "x") for who in "ab" for unit in ("01", "02", "1.5", "é", "e", "1.0.0")]
        assert sa.Annotations.from_triples(rows).n_units == 6

    @pytest.mark.parametrize("mark", ["/", "+", "&", " ", "#"])
    def test_signs_that_may_separate(self, mark):
        """Two answers that differ only in order around a sign were meant as sets."""
        cells = [f"joy{mark}fear", f"fear{mark}joy", "joy", "fear"]
        with pytest.warns(SeparatorWarning, match="differ only in order; did you mean sep='"):
            assert long_study(cells).n_values == 4
        assert long_study(cells, sep=mark).n_values == 3

    def test_signs_inside_labels(self, silent):
        """Repeats, other words and cells that have the separator are no reason to ask."""
        for cells in (["and/or", "x/y"], ["a a", "a"], ["a b", "b a, c"], ["R&D", "D"]):
            assert long_study(cells).n_ratings == 2

    @pytest.mark.parametrize("mark", ["\uff0c", "\u3001", "\u060c"])
    def test_commas_of_other_scripts(self, mark):
        """A comma of another script may stand between labels."""
        with pytest.warns(SeparatorWarning, match="did you mean sep="):
            long_study([f"a{mark}b", "a"])


class TestCells:
    """Cells that are no labels at all, and identifiers that lost digits."""

    @pytest.mark.parametrize("cell", [pd.Series(["x"]), pd.Index(["x"]), {"x": 1}.keys()])
    def test_cells_that_cannot_be_hashed(self, cell):
        """They are refused with their type and place."""
        with pytest.raises(
            LabelError, match=f"(?s)Unit 0, rater 'a': .* {type(cell).__name__}, not"
        ):
            long_study([cell, cell])

    def test_rounded_identifiers(self):
        """2**53 and 2**53 + 1 are one float: such identifiers may have met already."""
        table = pd.DataFrame(
            {"unit": [2.0**53, 2.0**53], "rater": ["a", "b"], "labels": ["x", "y"]}
        )
        with pytest.raises(DataError, match=r"units are floats of 2\*\*53 and more"):
            sa.Annotations.from_long(table)
        with pytest.raises(DataError, match="raters are floats"):
            sa.Annotations.from_long(table, unit="rater", rater="unit")
        whole = sa.Annotations.from_long(table.astype({"unit": np.int64}))
        assert whole.units.tolist() == [2**53]


class TestSingleValues:
    """Numbers that are not read as numbers, and markers among categories."""

    @pytest.mark.parametrize("odd", ["1,5", "1,500", "1 500", "50%", "4/5", "$5", "1.500,5", "−1"])
    def test_numbers_in_another_spelling(self, odd):
        """Where every answer is one, all are categories, and a warning says so."""
        with pytest.warns(MixedScaleWarning, match="are no numbers as they are spelled"):
            assert values(odd, odd).kind == "category"

    @pytest.mark.parametrize("name", ["1.2.3", "2026-01-02", "12:30", "a1", "1st", ""])
    def test_categories_that_are_no_numbers(self, name, silent):
        """Codes, dates and times are categories without a word."""
        assert values(name, "x").kind == "category"

    def test_markers_among_categories(self):
        """'NA' among categories is one, with the warning that it is among labels."""
        with pytest.warns(MissingMarkerWarning, match=r"2 cells .* taken as categories: 'NA'"):
            study = values("a", "NA", "NA", "b")
        assert "NA" in study.values
        rows = [("a", 1, "a"), ("b", 1, "NA"), ("a", 2, "b"), ("b", 2, "b")]
        assert sa.Annotations.from_triples(rows, kind="value", missing=["NA"]).n_missing == 1


class TestWideTables:
    """Columns that are no raters and rows that are no units."""

    TABLE = pd.DataFrame(
        {"unit": list("abcd"), "ann": ["x", "y", "x", "y"], "bob": ["x", "x", "x", "y"]}
    )

    def test_column_beside_the_raters(self):
        """A column without an answer in common with another is named, and kept."""
        table = self.TABLE.assign(source=["web", "print", "web", "web"])
        with pytest.warns(SetagreeWarning, match=r"'source' is read .* raters=\['ann', 'bob'\]"):
            assert sa.Annotations.from_wide(table, unit="unit").n_raters == 3
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            named = sa.Annotations.from_wide(table, unit="unit", raters=["ann", "bob"])
        assert named.n_raters == 2

    def test_raters_without_an_answer_in_common(self, silent):
        """Where no rater agrees with another, nobody stands apart; few cells tell nothing."""
        apart = self.TABLE.assign(bob=["p", "q", "p", "q"])
        assert sa.Annotations.from_wide(apart, unit="unit").n_raters == 2
        few = self.TABLE.assign(cy=["z", None, None, None])
        assert sa.Annotations.from_wide(few, unit="unit").n_raters == 3

    def test_numbers_and_text_are_one_answer(self, silent):
        """2, 2.0 and '2' are the same to single values, and so to this doubt."""
        table = pd.DataFrame({"ann": [1, 2, 1, 2], "bob": [1.0, 2, 2, 2], "cy": list("1212")})
        assert sa.Annotations.from_wide(table, kind="value").n_values == 2

    @pytest.mark.parametrize("name", ["gold", "Majority vote", "ground_truth", "consensus"])
    def test_column_made_of_the_others(self, name):
        """An agreed answer beside two raters is named, beside one it is what is compared."""
        table = self.TABLE.assign(**{name: self.TABLE["ann"]})
        with pytest.warns(SetagreeWarning, match=r"made of the others' .* raters=\['ann', 'bob'\]"):
            assert sa.Annotations.from_wide(table, unit="unit").n_raters == 3
        pair = table.drop(columns="bob")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert sa.Annotations.from_wide(pair, unit="unit").n_raters == 2

    def test_row_of_totals(self):
        """A last row called Total is named, and kept."""
        rows = pd.DataFrame({"unit": ["u1", "u2", "Total"], "ann": [3, 4, 7], "bob": [3, 5, 8]})
        with pytest.warns(SetagreeWarning, match="the last unit is called 'Total'"):
            assert sa.Annotations.from_wide(rows, unit="unit", kind="value").n_units == 3


class TestAppendedFiles:
    """Two files in one."""

    def test_second_header_with_a_byte_order_mark(self, tmp_path):
        """It is a header, and no rater called 'rater'."""
        one = "unit,rater,labels\nu1,ann,joy\nu1,bob,joy\n"
        path = write(tmp_path, "both.csv", f"\ufeff{one}\ufeff{one.replace('u1', 'u2')}")
        with pytest.raises(FileError, match="repeats its header in row 3"):
            sa.read(path)


class TestHuggingFace:
    """Rows of lists that are flags."""

    def test_flags_in_rows(self, tmp_path):
        """[1, 0] and [0, 1] would both be the set of 0 and 1."""
        rows = [
            {"id": unit, "annotator": who, "labels": flags}
            for unit, who, flags in [("u1", "a", [1, 0, 0]), ("u1", "b", [0, 0, 1])]
        ]
        with pytest.raises(
            FileError, match=r"line 1, labels: .* 3 zeros and ones; write the names"
        ):
            sa.read(write(tmp_path, "rows.jsonl", rows))

    def test_flags_of_nested_raters(self, tmp_path):
        """The same where a row holds all raters."""
        rows = [{"id": "u1", "given": {"annotator": ["a", "b"], "labels": [[1, 0], [0, 1]]}}]
        with pytest.raises(FileError, match=r"given.labels\[0\]: .* 2 zeros and ones"):
            sa.read(write(tmp_path, "rows.jsonl", rows))

    @pytest.mark.parametrize("labels", [[[0], [1]], [[0, 1], [0]], [[0, 2], [0, 1]], [[], []]])
    def test_numbers_of_classes(self, tmp_path, labels):
        """Lists of one class, of several lengths or with another number are numbers of classes."""
        rows = [{"id": "u", "annotator": who, "labels": labels[k]} for k, who in enumerate("ab")]
        study = sa.read(write(tmp_path, "rows.jsonl", rows))
        assert found(study) == {("u", "a"): {*labels[0]}, ("u", "b"): {*labels[1]}}


def task(value, **more):
    """Return a task of Label Studio that two people annotated, the first with `value`."""
    result = {"from_name": "emotions", "to_name": "text", "type": "choices", "value": value}
    other = {**result, "value": {"choices": ["joy"]}}
    return {
        "id": 1,
        "data": {},
        "annotations": [
            {"completed_by": 1, "result": [result], **more},
            {"completed_by": 2, "result": [other]},
        ],
    }


class TestLabelStudio:
    """Answers for regions, and states that are no states."""

    @pytest.mark.parametrize(
        "where", [{"start": 0, "end": 3}, {"x": 1.0, "y": 2.0}, {"points": []}]
    )
    def test_choices_for_one_region(self, tmp_path, where):
        """One region with choices is no answer for the task."""
        file = tmp_path / "export.json"
        file.write_text(json.dumps([task({**where, "choices": ["joy"]})]))
        with pytest.raises(FileError, match=r"result\[0\].value: the choices belong to a region"):
            sa.read(file)

    def test_cancelled_is_true_or_false(self, tmp_path):
        """The text 'false' is not true, and nobody guesses; null is false."""
        file = tmp_path / "export.json"
        file.write_text(json.dumps([task({"choices": ["joy"]}, was_cancelled="false")]))
        with pytest.raises(FileError, match="was_cancelled: 'false' where true or false is due"):
            sa.read(file)
        file.write_text(json.dumps([task({"choices": ["joy"]}, was_cancelled=None)]))
        assert sa.read(file).n_ratings == 2


def prodigy(*hashes):
    """Return one example that two people answered under these hashes of the task."""
    example = {"_input_hash": 1, "options": [], "answer": "accept", "accept": ["joy"]}
    return [
        {**example, "_task_hash": asked, "_session_id": who}
        for asked, who in zip(hashes, "ab", strict=True)
    ]


class TestProdigy:
    """Several questions about one example."""

    def test_several_questions(self, tmp_path):
        """They are counted; one question is silent."""
        with pytest.warns(SetagreeWarning, match="1 example with several '_task_hash'"):
            assert sa.read(write(tmp_path, "two.jsonl", prodigy(1, 2))).n_units == 1
        assert sa.read(write(tmp_path, "one.jsonl", prodigy(1, 1))).n_units == 1


class TestArgilla:
    """Responses in a state that is unknown."""

    @pytest.mark.parametrize("status", ["Submitted", "done", None])
    def test_unknown_status(self, tmp_path, status):
        """It is refused, not taken for a draft."""
        record = {"id": "u", "q.responses": [["a"], ["a"]], "q.responses.users": ["x", "y"]}
        records = [{**record, "q.responses.status": ["submitted", status]}]
        with pytest.raises(FileError, match=r"status\[1\]: "):
            sa.read(write(tmp_path, "records.jsonl", records))


def labelbox(projects):
    """Return a data row with the labels of these projects: who gave which."""
    return {
        "data_row": {"id": "d"},
        "projects": {
            name: {
                "name": name.upper(),
                "labels": [
                    {
                        "label_details": {"created_by": who},
                        "performance_details": {"skipped": False},
                        "annotations": {
                            "classifications": [{"name": "q", "radio_answer": {"name": label}}]
                        },
                    }
                    for who, label in given.items()
                ],
            }
            for name, given in projects.items()
        },
    }


class TestLabelbox:
    """Several projects in one file."""

    def test_several_projects(self, tmp_path):
        """They are named; a project without labels does not count."""
        row = labelbox({"p": {"ann": "joy"}, "r": {"bob": "fear"}})
        with pytest.warns(SetagreeWarning, match="labels of 2 projects, 'P', 'R', which are taken"):
            study = sa.read(write(tmp_path, "two.ndjson", [row]))
        assert found(study) == {("d", "ann"): {"joy"}, ("d", "bob"): {"fear"}}
        row = labelbox({"p": {"ann": "joy", "bob": "fear"}, "r": {}})
        assert sa.read(write(tmp_path, "one.ndjson", [row])).n_ratings == 2

    def test_skipped_is_true_or_false(self, tmp_path):
        """A text is neither."""
        row = labelbox({"p": {"ann": "joy", "bob": "fear"}})
        row["projects"]["p"]["labels"][0]["performance_details"]["skipped"] = "no"
        with pytest.raises(FileError, match="skipped: 'no' where true or false is due"):
            sa.read(write(tmp_path, "rows.ndjson", [row]))


class TestSageMaker:
    """Several jobs in one folder."""

    @staticmethod
    def answers(*workers):
        """Return the file of one unit."""
        content = {"q": {"labels": ["joy"]}}
        return json.dumps({"answers": [{"workerId": w, "answerContent": content} for w in workers]})

    def test_several_jobs(self, tmp_path):
        """Unit 0 of one job is not unit 0 of another; iterations of one job are one study."""
        write(tmp_path, "one/worker-response/iteration-1/0/x.json", self.answers("ann", "bob"))
        write(tmp_path, "one/worker-response/iteration-2/1/x.json", self.answers("ann", "bob"))
        write(tmp_path, "two/worker-response/iteration-1/0/x.json", self.answers("cy", "di"))
        assert sa.read(tmp_path / "one").n_units == 2
        assert sa.read(tmp_path / "one" / "worker-response").n_units == 2
        with pytest.raises(DataError, match="answers of 2 jobs, in 'one/worker-response/', 'two/"):
            sa.read(tmp_path)


class TestZooniverse:
    """Several workflows in one file, and values that are no labels."""

    @staticmethod
    def csv(folder, rows):
        """Write classifications: who, workflow, value."""
        table = pd.DataFrame(
            [
                (k, who, workflow, json.dumps([{"task": "T0", "value": value}]), "s1")
                for k, (who, workflow, value) in enumerate(rows)
            ],
            columns=["classification_id", "user_name", "workflow_id", "annotations", "subject_ids"],
        )
        table.to_csv(folder / "classifications.csv", index=False)
        return folder / "classifications.csv"

    def test_several_workflows(self, tmp_path):
        """T0 of one workflow is not T0 of another."""
        path = self.csv(tmp_path, [("ann", 12, ["joy"]), ("bob", 13, ["joy"])])
        with pytest.raises(DataError, match=r"2 workflows, '12', '13' .* export one workflow"):
            sa.read(path)
        assert sa.read(self.csv(tmp_path, [("ann", 12, []), ("bob", 12, ["joy"])])).n_ratings == 2

    @pytest.mark.parametrize("value", [0, False, {}])
    def test_values_that_are_no_labels(self, tmp_path, value):
        """0 and false are not the empty set."""
        with pytest.raises(FileError, match="is no list of labels"):
            sa.read(self.csv(tmp_path, [("ann", 12, value), ("bob", 12, ["joy"])]))


class TestMechanicalTurk:
    """Several questions of boxes, and text beside boxes."""

    @staticmethod
    def boxes(folder, names):
        """Write two assignments with these boxes, all ticked by the first worker."""
        heads = ["HITId", "WorkerId", "Input.unit", *(f"Answer.{name}.on" for name in names)]
        rows = [["h", who, "u", *[ticked] * len(names)] for who, ticked in [(1, True), (2, False)]]
        pd.DataFrame(rows, columns=heads).to_csv(folder / "batch.csv", index=False)
        return folder / "batch.csv"

    def test_boxes_of_two_questions(self, tmp_path):
        """Their labels are not put into one set; a single dotted label is a label."""
        path = self.boxes(tmp_path, ["q1.joy", "q1.fear", "q2.red", "q2.blue"])
        with pytest.raises(OptionError, match="2 questions, 'q1', 'q2'; say which"):
            sa.read(path)
        assert found(sa.read(path, question="q2"))["u", "1"] == {"red", "blue"}
        one = sa.read(self.boxes(tmp_path, ["q.joy", "q.fear", "sad", "v1.0"]))
        assert found(one)["u", "1"] == {"q.joy", "q.fear", "sad", "v1.0"}

    @staticmethod
    def answers(folder, *records):
        """Write one assignment for each record."""
        rows = [("h", k, "u", json.dumps([record])) for k, record in enumerate(records)]
        heads = ["HITId", "WorkerId", "Input.unit", "Answer.taskAnswers"]
        pd.DataFrame(rows, columns=heads).to_csv(folder / "batch.csv", index=False)
        return folder / "batch.csv"

    def test_text_beside_boxes(self, tmp_path):
        """The ticked boxes are the answer, and no label is called 'on'."""
        boxes = {"joy": {"on": True}, "fear": {"on": False}}
        path = self.answers(tmp_path, {**boxes, "comment": "hm"}, {**boxes, "comment": ""})
        assert found(sa.read(path)) == {("u", "0"): {"joy"}, ("u", "1"): {"joy"}}
        with pytest.raises(OptionError, match="question='joy' is not in batch"):
            sa.read(path, question="joy")

    def test_another_question_beside_boxes(self, tmp_path):
        """Where several questions have labels, one is to be named."""
        record = {"joy": {"on": True}, "topic": {"red": True}, "place": {"labels": ["in"]}}
        path = self.answers(tmp_path, record, record)
        with pytest.raises(OptionError, match="2 questions, 'topic', 'place'"):
            sa.read(path)
        assert found(sa.read(path, question="topic"))["u", "0"] == {"red"}


class TestGoEmotions:
    """Columns in another order, and flags that are none."""

    HEAD = "text,id,rater_id,example_very_unclear"

    def test_labels_to_the_left(self, tmp_path):
        """A label that stands left of the flag of unclear examples is not left out in silence."""
        text = "text,id,rater_id,joy,example_very_unclear,fear\nt,u,1,1,False,0\nt,u,2,0,False,1\n"
        with pytest.raises(DataError, match="column 'joy' holds 0 and 1 and stands to the left"):
            sa.read(write(tmp_path, "flags.csv", text))

    @pytest.mark.parametrize("word", ["yes", "maybe", "2"])
    def test_unclear_is_true_or_false(self, tmp_path, word):
        """Any other word is refused, not taken for clear."""
        text = f"{self.HEAD},joy\nt,u,1,{word},1\nt,u,2,FALSE,1\n"
        with pytest.raises(FileError, match=f"column 'example_very_unclear': '{word}' is neither"):
            sa.read(write(tmp_path, "flags.csv", text))

    def test_unclear_examples(self, tmp_path):
        """True leaves out, False and blank do not."""
        text = f"{self.HEAD},joy\nt,u,1,TRUE,1\nt,u,2,,1\nt,u,3,false,0\n"
        assert found(sa.read(write(tmp_path, "flags.csv", text))) == {
            ("u", "2"): {"joy"},
            ("u", "3"): set(),
        }


class TestRedcap:
    """Records of several events."""

    def test_several_events(self, tmp_path):
        """Two visits of a patient are one unit only with a word about it."""
        text = (
            "record_id,redcap_event_name,unit,rater,f___1,f___2,f_complete\n"
            "1,one,p1,ann,1,0,2\n2,two,p1,bob,0,1,2\n3,one,p2,ann,1,0,2\n4,one,p2,bob,1,0,2\n"
        )
        with pytest.warns(SetagreeWarning, match="1 unit with rows of several 'redcap_event_name'"):
            assert sa.read(write(tmp_path, "events.csv", text)).n_units == 2
        one = text.replace(",two,", ",one,")
        assert sa.read(write(tmp_path, "event.csv", one)).n_units == 2


class TestCvat:
    """Tags that no person set."""

    def test_tags_of_a_model(self, tmp_path):
        """Tags with source="auto" are counted."""
        job = (
            "<annotations><meta><job><assignee><username>{}</username></assignee></job></meta>"
            '<image name="u1"><tag label="joy" source="{}"/></image></annotations>'
        )
        write(tmp_path, "1/annotations.xml", job.format("ann", "auto"))
        write(tmp_path, "2/annotations.xml", job.format("bob", "manual"))
        with pytest.warns(SetagreeWarning, match="1/annotations.xml: 1 tag set by a model, not by"):
            assert sa.read(tmp_path).n_ratings == 2

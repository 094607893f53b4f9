"""Which column is which: usual names are found, doubt is an error that lists the columns."""

import dataclasses
import warnings

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError
from setagree.large.opening import open_study
from setagree.study.columns import (
    Columns,
    flag_columns,
    guess_columns,
    guess_people,
    guess_wide_unit,
    with_missing_ids,
)
from setagree.study.preparation import row_number_remedy
from setagree.study.reading import Reading


def refusal(names, **named):
    with pytest.raises(DataError) as caught:
        guess_columns(names, **named)
    return str(caught.value)


class TestUsualNames:
    @pytest.mark.parametrize(
        "name",
        [
            "unit",
            "item",
            "id",
            "doc",
            "document",
            "text",
            "task",
            "example",
            "subject",
            "sample",
            "case",
            "image",
            "question",
            "Unit-ID",
            "doc_id",
            "documentId",
            "tweet_id",
            "task.number",
            "file_name",
            "_unit_id",
            "item_no",
        ],
    )
    def test_unit(self, name):
        assert guess_columns([name, "rater", "labels"]).unit == name

    @pytest.mark.parametrize(
        "name",
        [
            "rater",
            "annotator",
            "coder",
            "worker",
            "user",
            "judge",
            "labeler",
            "labeller",
            "reviewer",
            "WorkerId",
            "annotator_name",
            "RATER",
            "who",
            "created_by",
            "user_email",
        ],
    )
    def test_rater(self, name):
        assert guess_columns(["unit", name, "labels"]).rater == name

    @pytest.mark.parametrize(
        "name",
        [
            "labels",
            "label",
            "tags",
            "tag",
            "categories",
            "category",
            "codes",
            "annotation",
            "annotations",
            "answer",
            "classes",
            "emotions",
            "Emotions",
            "LABELS",
        ],
    )
    def test_labels(self, name):
        found = guess_columns(["unit", "rater", name])
        assert (found.labels, found.value) == (name, None)

    @pytest.mark.parametrize("name", ["value", "score", "rating", "grade", "severity", "Stars"])
    def test_value(self, name):
        found = guess_columns(["unit", "rater", name])
        assert (found.labels, found.value) == (None, name)

    def test_labels_before_values(self):
        assert guess_columns(["unit", "rater", "score", "tags"]).labels == "tags"

    @pytest.mark.parametrize("name", ["Doc ID", " doc  id", "DOC_ID", "doc.id", "Döc-Id"])
    def test_spelling_does_not_matter(self, name):
        assert guess_columns([name, "rater", "labels"]).unit == name

    @pytest.mark.parametrize(
        "names",
        [
            ["Text-ID", "Kodierer/in", "Emotionen", "Sicherheit"],
            ["Fallnummer", "Codierer", "Kategorie", "Zeitstempel"],
            ["Unité", "Codeur", "Étiquettes", "note"],
            ["Texto", "Codificadora", "Categorías", "fecha"],
            ["Documento", "Anotador", "Emociones", "hora"],
            ["Nr.", "Bewerter", "Antworten", "Bemerkung"],
        ],
    )
    def test_german_french_and_spanish_names(self, names):
        assert guess_columns(names) == Columns(*names[:3])

    def test_surer_names_first(self):
        names = ["text", "id", "item", "unit", "user", "rater", "label", "labels"]
        found = guess_columns(names)
        assert (found.unit, found.rater, found.labels) == ("unit", "rater", "labels")
        assert guess_columns(["text", "id", "rater_id", "tags"]).unit == "id"

    def test_identifier_before_its_thing(self):
        names = ["tweet", "tweet_id", "annotator", "annotator_name", "annotator_id", "label"]
        found = guess_columns(names)
        assert (found.unit, found.rater) == ("tweet_id", "annotator_id")

    @pytest.mark.parametrize("name", ["annotation_id", "label_id", "answer_id"])
    def test_an_id_of_an_answer_is_no_answer(self, name):
        assert guess_columns(["unit", "rater", name, "tags"]).labels == "tags"
        assert "usual name for the labels" in refusal(["unit", "rater", name])


class TestNamed:
    def test_they_are_taken(self):
        found = guess_columns(["rater", "unit", "x"], unit="rater", rater="unit", labels="x")
        assert found == Columns("rater", "unit", "x", None)

    def test_the_others_are_guessed(self):
        found = guess_columns(["doc", "who", "tags", "item"], unit="item", value="doc")
        assert found == Columns("item", "who", None, "doc")

    def test_guesses_read_well(self):
        told = []
        frame = pd.DataFrame({"doc": [1, 1], "who": ["ann", "bob"], "tags": ["a", "b"]})
        open_study(frame, note=told.append)
        open_study(frame, Reading(unit="doc", labels="tags"), note=told.append)
        assert told == [
            "Columns guessed: unit = doc, rater = who, labels = tags",
            "Columns guessed: rater = who",
        ]

    @pytest.mark.parametrize("role", ["unit", "rater", "labels", "value"])
    def test_absent(self, role):
        sentence = refusal(["doc", "who", "tags"], **{role: "tagz"})
        assert f"no column 'tagz' for the {role}" in sentence
        assert "'doc', 'who', 'tags'" in sentence
        assert "Did you mean 'tags'?" in sentence

    def test_one_column_twice(self):
        assert "unit='doc', rater='doc'" in refusal(["doc", "tags"], unit="doc", rater="doc")

    def test_frozen(self):
        with pytest.raises(dataclasses.FrozenInstanceError):
            guess_columns(["unit", "rater", "labels"]).unit = "x"


class TestDoubt:
    @pytest.mark.parametrize(
        ("names", "role", "rivals"),
        [
            (["doc", "item", "rater", "labels"], "unit", "'doc', 'item'"),
            (["unit", "worker", "reviewer", "labels"], "rater", "'worker', 'reviewer'"),
            (["unit", "worker_id", "annotator", "tags"], "rater", "'worker_id', 'annotator'"),
            (["unit", "rater", "tags", "emotions"], "labels", "'tags', 'emotions'"),
            (["unit", "rater", "score", "grade"], "value", "'score', 'grade'"),
            (["Unit", "unit", "rater", "tags"], "unit", "'Unit', 'unit'"),
        ],
    )
    def test_ambiguous(self, names, role, rivals):
        sentence = refusal(names)
        assert rivals in sentence
        assert f"{role}='...'" in sentence

    @pytest.mark.parametrize("role", ["unit", "rater", "labels"])
    def test_nothing(self, role):
        names = {"unit": "unit", "rater": "rater", "labels": "labels", role: "xyzzy"}
        sentence = refusal(names.values())
        assert f"No column has a usual name for the {role}" in sentence
        assert f"{role}='...'" in sentence
        assert "'xyzzy'" in sentence

    def test_misspelt(self):
        assert "Did you mean 'anotator' for the rater?" in refusal(["doc", "anotator", "tags"])
        assert "Did you mean" not in refusal(["doc", "date", "tags"])
        assert "Did you mean" not in refusal(["doc", "coder1", "coder2"])

    def test_the_column_of_another_role_is_not_offered(self):
        for rater in ("annotator", "annotator_id", "rater"):
            assert "Did you mean" not in refusal(["doc", rater, "x"])
            assert "Did you mean 'lable_set' for the labels?" in refusal(
                ["doc", rater, "lable_set"]
            )

    def test_wide_table(self):
        assert "wide=True" in refusal(["unit", "ann", "bob"])
        assert "wide=True" in refusal(["ann", "bob", "cy"])
        assert "wide=True" not in refusal(["unit", "rater", "joy", "fear"])

    def test_many_columns(self):
        sentence = refusal([f"x{k}" for k in range(1000)])
        assert "and 988 more" in sentence

    def test_no_columns(self):
        assert "usual name for the unit" in refusal([])


class TestWideUnit:
    def frame(self, **columns):
        return pd.DataFrame(columns, dtype=str)

    @pytest.mark.parametrize("name", ["unit", "Doc ID", "image", "id"])
    def test_by_name(self, name):
        frame = self.frame(ann=["a", "b"], **{name: ["1", "1"]}, bob=["a", "a"])
        assert guess_wide_unit(frame) == name

    def test_surest_name(self):
        frame = self.frame(text=["x", "y"], id=["1", "2"], ann=["a", "b"])
        assert guess_wide_unit(frame) == "id"

    def test_by_cells(self):
        frame = self.frame(ann=["a", "b"], q=["x", "y"], bob=["b", ""])
        assert guess_wide_unit(frame) == "q"

    def test_index_of_pandas(self):
        frame = self.frame(**{"column 1": ["0", "1"], "ann": ["1", "0"], "bob": ["0", "0"]})
        assert guess_wide_unit(frame) == "column 1"

    @pytest.mark.parametrize(
        "columns",
        [
            {"ann": ["a", "b"], "bob": ["a", "a"]},
            {"ann": ["a", "b"], "bob": ["c", "d"]},
            {"ann": ["a", "b"], "bob": ["c", "d"], "cy": ["e", "f"]},
            {"ann": ["a", ""], "bob": ["c", "d"], "cy": ["c", "d"]},
            {"ann": ["a", "b"]},
            {"ann": []},
            {},
        ],
    )
    def test_none(self, columns):
        assert guess_wide_unit(self.frame(**columns)) is None


def test_blank_identifiers_are_missing():
    frame = pd.DataFrame({"unit": ["u1", "", " "], "labels": ["a", "", " "]}, dtype=str)
    found = with_missing_ids(frame, ["unit", None, "gone"])
    assert found["unit"].isna().tolist() == [False, True, True]
    assert found["labels"].tolist() == ["a", "", " "]
    assert frame["unit"].tolist() == ["u1", "", " "]


def test_a_comment_is_no_unit():
    names = ["Ticket Ref", "Annotated by", "labels", "batch", "created", "comment"]
    assert guess_columns(names).unit == "Ticket Ref"
    assert "No column has a usual name for the unit" in refusal(["comment", "rater", "labels"])


class TestPeople:
    FORM = ("Timestamp", "Email Address", "Text 1: which?", "Text 2: which?", "Comments")

    def test_guessed(self):
        assert guess_people([*self.FORM, "username2"], rater="Email Address") == (
            "Email Address",
            ["Text 1: which?", "Text 2: which?", "username2"],
        )
        assert guess_people(["who", "email", "q1"], rater="who") == ("who", ["q1"])
        assert guess_people(self.FORM)[0] == "Email Address"

    def test_named(self):
        assert guess_people(self.FORM, units="Text*")[1] == ["Text 1: which?", "Text 2: which?"]
        assert guess_people(["who", "[a]", "b"], units="[a]")[1] == ["[a]"]

    @pytest.mark.parametrize(
        ("names", "given", "part"),
        [
            (["q1", "q2"], {}, "No column has a usual name for the rater"),
            (["q1", "q2"], {"rater": "q"}, "There is no column 'q' for the rater"),
            (["who", "comment"], {}, "No column has the name of a unit; the columns are 'who'"),
            (["who", "q1"], {"units": "Text*"}, "No column matches unit='Text*'"),
        ],
    )
    def test_refused(self, names, given, part):
        with pytest.raises(DataError) as caught:
            guess_people(names, **given)
        assert part in str(caught.value)


NAMED = pd.DataFrame({"doc": [1, 1], "who": ["a", "b"], "cat": ["x", "y"]})
ABSENT = "'d' for the unit, 'w' for the rater or 'c' for the labels; the columns are 'doc', 'who',"


class TestNamedColumns:
    def test_all_that_are_absent(self):
        named = {"unit": "d", "rater": "w", "labels": "c"}
        for call in (sa.agreement, sa.read):
            with pytest.raises(DataError, match=f"no column {ABSENT}"):
                call(NAMED, **named)
        for table in (NAMED, NAMED.assign(more=1)):
            with pytest.raises(DataError, match="there are no columns 'd', 'w', 'c'; the columns"):
                sa.Annotations.from_long(table, **named)

    @pytest.mark.parametrize(
        ("columns", "way"),
        [
            (["doc", "who", "tags"], "unit='doc', rater='who', labels='tags'"),
            (["unit", "who", "score"], "unit='unit', rater='who', value='score'"),
            (["a", "b", "c"], "unit=..., rater=..., labels=..."),
        ],
    )
    def test_from_long_says_how_to_name_them(self, columns, way):
        table = pd.DataFrame([["u", "x", "1"]], columns=columns)
        with pytest.raises(DataError) as caught:
            sa.Annotations.from_long(table)
        assert str(caught.value).endswith(f" Name the columns: from_long(table, {way}).")
        assert f"the columns are {', '.join(map(repr, columns))}" in str(caught.value)

    def test_all_that_are_absent_in_a_wide_table(self):
        with pytest.raises(DataError, match="there are no columns 'd', 'e', 'f'; the columns are"):
            sa.Annotations.from_wide(NAMED, unit="d", raters=["e", "f"])

    def test_two_roles(self):
        for call in (sa.agreement, sa.read, sa.Annotations.from_long):
            with pytest.raises(DataError, match="cannot have two roles: unit='doc', rater='doc'"):
                call(NAMED, unit="doc", rater="doc", labels="cat")
        with pytest.raises(DataError, match="two roles: rater='who', labels='who'"):
            sa.Annotations.from_long(NAMED, unit="doc", rater="who", labels=["who", "cat"])
        with pytest.raises(DataError, match="two roles: unit='doc', rater='doc'"):
            sa.Annotations.from_wide(NAMED, unit="doc", raters=["doc", "who"])

    def test_no_columns(self):
        for call in (sa.agreement, sa.read, sa.tally):
            with pytest.raises(DataError, match="The table has no columns"):
                call(pd.DataFrame())

    def test_unit_and_rater_beside_flags(self):
        table = pd.DataFrame({"unit": [1, 1], "rater": [*"ab"], "x": [0, 1], "y": [1, 1]})
        assert sa.read(table, labels=["x", "y"]).values == (frozenset("y"), frozenset("xy"))


@pytest.mark.parametrize(
    ("columns", "options", "found"),
    [
        (["doc", "who", "a", "b"], {}, ["a", "b"]),
        (["doc", "who", "a", "b"], {"filename_column": "b"}, ["a"]),
        (["doc", "who", "a", "b"], {"where": "b == 1"}, ["a"]),
        (["doc", "who", "a", "queued"], {}, ["a"]),
        (["x", "y", "a", "b"], {"unit": "x", "rater": "y"}, ["a", "b"]),
        (["x", "y", "a", "b"], {}, []),
        (["doc", "who", "a", "tags"], {}, []),
        (["doc", "who", "a", 4], {}, []),
        (["doc", "who", "a", "b"], {"labels": ["a"]}, []),
        (["doc", "who", "a", "b"], {"kind": "number"}, []),
    ],
)
def test_flag_columns(columns, options, found):
    table = pd.DataFrame([["u1", "ann", "1", " "], ["u1", "bob", 0, 1.0]], columns=columns)
    assert flag_columns(table, Reading(**options)) == found
    assert flag_columns(table.replace({0: 2}), Reading(**options)) == []


@pytest.mark.parametrize(
    ("name", "cells", "raters", "remedy"),
    [
        ("doc", "xxyy", "abab", "doc"),
        ("doc", "xxyz", "abab", None),  # 3 units would need 6 ratings
        ("doc", "xxyy", "abcd", "doc"),
        ("doc", "xxxx", "abcd", None),
        ("lang", "xxyyzz", "ababab", "lang"),
        ("lang", "xxyyzz", "abcdef", None),  # raters of one unit each
        ("lang", "xxyyyy", "ababcd", None),  # 2 units
        ("lang", "xxxyyyzzz", "abbabcabc", None),  # b rates x twice
        ("lang", ["x", "x", "y", "y", None, None], "ababab", None),
        ("lang", [*"xxyy", ["z"], ["z"]], "ababab", None),
        ("time", "112233", "ababab", None),
        ("doc", ["2026-01-01"] * 2 + ["2026-01-02"] * 2, "abab", None),
        (5, [1, 1, 2, 2, 3, 3], "ababab", 5),
        (None, "xxyyzz", "ababab", None),
        (("a", 1), "xxyyzz", "ababab", ("a", 1)),
        (True, "xxyyzz", "ababab", True),
    ],
)
def test_a_column_that_may_have_the_units(name, cells, raters, remedy):
    table = pd.DataFrame({"Nr": range(len(raters)), "who": [*raters], "tags": "u", name: [*cells]})
    reading = Reading(unit="Nr", rater="who", labels="tags")
    assert row_number_remedy(table, reading) == remedy
    assert row_number_remedy(table.iloc[:, [0, 1, 2, 3, 3]], reading) is None  # two of one name


@pytest.mark.parametrize("where", [None, "Nr < 6"])
def test_a_warning_of_row_numbers_repeats_no_other(where):
    """Rows 0 to 5 have two raters for each of three texts; two more rows do not match."""
    table = pd.DataFrame({"Nr": range(8), "who": [*"abababab"], 5: [1, 1, 2, 2, 3, 3, 4, 4]})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sa.read(table.assign(tags=[*"uvuvuvuv"]), where=where)
    dropped = [] if where is None else ["where='Nr < 6' drops 2 of 8 rows."]
    units = "column 'Nr' has another unit in each row; if 5 has the units, use unit=5."
    assert [str(one.message) for one in caught] == [*dropped, units]

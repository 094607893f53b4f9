"""Label Studio: questions, regions and states, in JSON, JSON-MIN and CSV."""

import json

import pytest
from exports.csv_writers import read, table
from exports.json_writers import (
    TRUTH,
    answered,
    choices,
    found,
    label_studio,
    label_studio_min,
    write,
)

import setagree as sa
from setagree.errors import DataError, FileError, OptionError

STUDIO = "annotation_id,annotator,lead_time,id,g,title\n"


def test_label_studio_question_is_where_several_were_chosen(save):
    path = save(STUDIO + "1,kim,1,5,a,Up\n2,lee,1,5,b,Up\n")
    with pytest.raises(DataError, match=r"name one of 'g', 'title' with question="):
        read(path)
    assert read(path, question="g") == {("5", "kim"): {"a"}, ("5", "lee"): {"b"}}


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ('{"choices":["a"', "is not JSON"),
        ('{"choices":[1]}', "not a list of labels"),
        ('[{"choices":["a"],"start":1}]', "export JSON if the choices belong to regions"),
    ],
)
def test_damaged_choices(cell, sentence, save):
    text = STUDIO + table([[1, "kim", 1, 5, cell, "Up"]])
    with pytest.raises(FileError, match=f"export.csv, line 2, column 'g': .*{sentence}"):
        read(save(text), question="g")


def test_labels_that_look_like_code_are_labels(save):
    text = STUDIO + table([[1, "kim", 1, 5, "[x", "Up"], [2, "lee", 1, 5, "{x}", "Up"]])
    assert list(read(save(text), question="g").values()) == [{"[x"}, {"{x}"}]


def test_an_annotation_without_an_annotator_is_kept_for_the_error(save):
    assert (None in {r for _, r in read(save(STUDIO + "1,,1,5,a,Up\n"), question="g")}) is True


def rated(answers, file, *, extra=None):
    """Write tasks with choices and ratings: {unit: {rater: (choices, rating)}}."""
    tasks = []
    for unit, by_rater in answers.items():
        annotations = [
            {"id": f"{unit}{rater}", "completed_by": rater, "result": results(*of_rater)}
            for rater, of_rater in by_rater.items()
        ]
        tasks.append({"id": unit, "data": {"text": f"t{unit}"}, "annotations": annotations})
    tasks[0]["predictions"] = extra or []
    file.write_text(json.dumps(tasks))
    return file


def results(labels, rating):
    """Return the results of an annotation with choices and a rating, if there are any."""
    about = {"to_name": "text"}
    chosen = {"from_name": "emo", "type": "choices", "value": {"choices": labels}} | about
    stars = {"from_name": "stars", "type": "rating", "value": {"rating": rating}} | about
    return [chosen] * bool(labels) + [stars] * (rating is not None)


RATED = {
    1: {"kim": (["a"], 4), "lee": (["a", "b"], 5)},
    2: {"kim": (["b"], 1), "lee": ([], 1)},
    3: {"kim": (["a"], 3), "lee": (["a"], None)},
    4: {"kim": (["b"], 2), "lee": (["b"], 4)},
}


def test_choices_and_ratings_are_two_questions(tmp_path):
    file = rated(RATED, tmp_path / "tasks.json")
    with pytest.raises(OptionError, match=r"answers to 2 questions, 'emo', 'stars'"):
        sa.read(file)
    with pytest.raises(DataError, match=r"tasks\[1\]\.annotations\[1\]: no answer to 'emo'"):
        sa.by_question(file, "all")
    # D_o = 2/9; D_e = 2 (3 * 2/3 + 2 * 2/3 + 6) / 30 = 28/45 of three a, one a b and two b.
    missing = sa.by_question(file, "all", blank="missing")["emo"]
    assert (missing.n_ratings, missing.estimate) == (7, pytest.approx(9 / 14, abs=1e-14))
    found = sa.by_question(file, "all", blank="empty")
    assert found.to_frame()[["question", "kind", "distance"]].values.tolist()[:2] == [
        ["emo", "labels", "masi"],
        ["stars", "number", "ordinal"],
    ]
    stars = sa.read(file, question="stars")
    assert (stars.n_ratings, stars.n_missing, {*stars.values}) == (7, 1, {1, 2, 3, 4, 5})
    numbers = sa.krippendorff_alpha([4, 1, 3, 2], [5, 1, None, 4], distance="ordinal", kind="value")
    assert found["stars"].estimate == pytest.approx(numbers.estimate, rel=1e-12)
    emo = sa.krippendorff_alpha([["a"], ["b"], ["a"], ["b"]], [["a", "b"], [], ["a"], ["b"]])
    assert found["emo"].estimate == pytest.approx(emo.estimate, rel=1e-12)
    assert (
        sa.by_question(file, "all", distance={"stars": "interval"}, blank="empty")["stars"].distance
        == "interval"
    )
    rated(RATED, file, extra=[{"model_version": "m", "result": results(["a"], 2)}])
    assert sa.read(file, question="stars", predictions=True).to_wide().loc[1, "m"] == 2
    rated({**RATED, 5: {"kim": (["a"], "many")}}, file)
    with pytest.raises(FileError, match="expected a number; got text"):
        sa.read(file, question="stars")


def test_label_studio_raters_by_number(tmp_path):
    records = label_studio(TRUTH)
    for task in records:
        for each in task["annotations"]:
            each["completed_by"] = each["completed_by"]["id"]
    assert sa.read(write(tmp_path, "label_studio_json", records)).raters.tolist() == [0, 1, 2]
    records[0]["annotations"][0]["completed_by"] = {"id": 0, "email": ""}
    assert sa.read(write(tmp_path, "label_studio_json", records)).raters.tolist() == [0, 1, 2]


def test_label_studio_with_two_questions(tmp_path):
    records = label_studio(TRUTH)
    for task in records:
        for each in task["annotations"]:
            if not each["was_cancelled"]:
                each["result"].append(choices({"yes"}, name="sharp"))
    path = write(tmp_path, "label_studio_json", records)
    with pytest.raises(
        OptionError, match=r"2 questions, 'birds', 'sharp'; choose one .* by_question\("
    ):
        sa.read(path)
    with pytest.raises(
        OptionError, match=r"question='bird' is not in .*; it has .* Did you mean 'birds'"
    ):
        sa.read(path, question="bird")
    for blank in (None, "error"):
        with pytest.raises(DataError, match=r"tasks\[2\]\.annotations\[0\]: no answer to 'birds'"):
            sa.read(path, question="birds", blank=blank)
    assert found(sa.read(path, question="birds", blank="empty")) == answered(TRUTH)
    theirs = {pair: labels for pair, labels in TRUTH.items() if labels}
    assert found(sa.read(path, question="birds", blank="missing")) == theirs


@pytest.mark.parametrize(
    ("tool", "writer"),
    [("label_studio_json", label_studio), ("label_studio_json_min", label_studio_min)],
)
def test_blank_defines_an_unanswered_only_question(tmp_path, tool, writer):
    path = write(tmp_path, tool, writer(TRUTH))
    theirs = {pair: labels for pair, labels in TRUTH.items() if labels}
    assert found(sa.read(path, question="birds", blank="missing")) == theirs


@pytest.mark.parametrize(
    ("tool", "writer", "words"),
    [
        ("label_studio_json", label_studio, "other data for [0-9]+ units .* start anew"),
        ("label_studio_json_min", label_studio_min, "If ids start anew in each file"),
    ],
)
def test_ids_that_start_anew_in_each_file(tmp_path, tool, writer, words):
    """Two batches with one id for two images are units by image, and no unit by its id."""
    for batch in ("a", "b"):
        records = writer(TRUTH)
        for number, task in enumerate(records):
            data = task.get("data", task)
            data["image"] = f"{batch}-{data['image']}"
            task["id"] = number if "data" in task else task["id"]
        write(tmp_path, tool, records).rename(tmp_path / f"{batch}.json")
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    with pytest.raises(DataError, match=rf"{words}.* tool='{tool}' and unit="):
        sa.read(files)
    study = sa.read(files, tool=tool, unit="image", question="birds")
    alone = sa.read(files[0], question="birds")
    assert study.n_units == 2 * alone.n_units
    assert study.n_ratings == 2 * alone.n_ratings


def test_label_studio_other_results(tmp_path):
    records = label_studio(TRUTH)
    records[0]["annotations"][0]["result"].append({"type": "labels", "value": {"labels": ["x"]}})
    assert found(sa.read(write(tmp_path, "label_studio_json", records))) == answered(TRUTH)
    records[0]["annotations"][1]["result"] *= 2
    with pytest.raises(FileError, match=r"annotations\[1\]: 2 answers to 'birds', which belong to"):
        sa.read(write(tmp_path, "label_studio_json", records))
    for task in records:
        for each in task["annotations"]:
            each["result"] = [{"type": "labels"}]
    with pytest.raises(DataError, match="results of type 'labels' and no choices"):
        sa.read(write(tmp_path, "label_studio_json", records))
    for task in records:
        for each in task["annotations"]:
            each["result"] = []
    assert set(
        map(frozenset, found(sa.read(write(tmp_path, "label_studio_json", records))).values())
    ) == {frozenset()}


def test_label_studio_min_question(tmp_path):
    records = label_studio_min(TRUTH)
    bare = {"image": "p9.jpg", "id": "p9", "annotator": None, "annotation_id": None}
    records.insert(0, bare | {"lead_time": None})
    assert found(sa.read(write(tmp_path, "label_studio_json_min", records))) == answered(TRUTH)
    single = {pair: {min(labels)} if labels else set() for pair, labels in answered(TRUTH).items()}
    path = write(tmp_path, "label_studio_json_min", label_studio_min(single))
    with pytest.raises(DataError, match=r"name one of 'image', 'birds' with question="):
        sa.read(path)
    assert found(sa.read(path, question="birds")) == single
    with pytest.raises(OptionError, match="question='birdz' is not in"):
        sa.read(path, question="birdz")


def region_task(value, **more):
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
    @pytest.mark.parametrize(
        "where", [{"start": 0, "end": 3}, {"x": 1.0, "y": 2.0}, {"points": []}]
    )
    def test_choices_for_one_region(self, tmp_path, where):
        file = tmp_path / "export.json"
        file.write_text(json.dumps([region_task({**where, "choices": ["joy"]})]))
        with pytest.raises(FileError, match=r"result\[0\].value: the choices belong to a region"):
            sa.read(file)

    def test_cancelled_is_true_or_false(self, tmp_path):
        file = tmp_path / "export.json"
        file.write_text(json.dumps([region_task({"choices": ["joy"]}, was_cancelled="false")]))
        with pytest.raises(FileError, match="was_cancelled: expected true or false; got text"):
            sa.read(file)
        file.write_text(json.dumps([region_task({"choices": ["joy"]}, was_cancelled=None)]))
        assert sa.read(file).n_ratings == 2

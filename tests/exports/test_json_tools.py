"""Readers of JSON exports: the truth comes back, and what cannot tell it says so."""

import copy
import json
import re

import pandas as pd
import pytest
from exports.json_writers import (
    LABELS,
    OPTIONS,
    SAMPLES,
    TRUTH,
    WRITERS,
    answered,
    as_json,
    as_lines,
    doccano,
    found,
    hf_sequence,
    label_studio,
    needs_samples,
    prodigy,
    sagemaker,
    write,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import setagree as sa
from setagree.errors import DataError, FileError, OptionError


@pytest.mark.parametrize("name", WRITERS)
def test_the_truth_comes_back(tmp_path, name):
    study = sa.read(write(tmp_path, name), **OPTIONS.get(name, {}))
    assert found(study) == answered(TRUTH)


@pytest.mark.parametrize("name", ["label_studio_json", "prodigy", "argilla_flat", "labelbox"])
def test_what_is_skipped_is_counted_as_missing(tmp_path, name):
    assert sa.read(write(tmp_path, name)).n_missing == 1


@pytest.mark.parametrize("name", WRITERS)
def test_named_formats_and_other_containers(tmp_path, name):
    make, _ = WRITERS[name]
    records = make(TRUTH)
    texts = [as_json(records), "\ufeff" + as_json(records)]
    texts += [as_lines(records) + "\n"] if isinstance(records, list) else []
    for text in texts:
        path = tmp_path / "export"
        path.write_text(text, encoding="utf-8")
        study = sa.read(path, tool=name, **OPTIONS.get(name, {}))
        assert found(study) == answered(TRUTH)


label_texts = st.text(min_size=1, max_size=12).map(lambda text: f"x{text}y")
truths = st.dictionaries(
    st.tuples(st.sampled_from(["p1", "p2", "p3"]), st.sampled_from(["mia", "noa", "ola"])),
    st.sets(label_texts, max_size=3),
    min_size=1,
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::setagree.errors.SimilarLabelsWarning")
@pytest.mark.parametrize("name", [name for name in WRITERS if name not in OPTIONS])
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(truth=truths)
def test_hostile_labels_come_back(tmp_path, name, truth):
    make, spell = WRITERS[name]
    path = tmp_path / "export.json"
    path.write_text(spell(make(truth)), encoding="utf-8")
    options = {"question": "birds"} if name == "label_studio_json_min" else {}
    if not any(truth.values()) and name == "label_studio_json_min":
        return  # no key, no question
    expected = sa.Annotations.from_triples((r, u, labels) for (u, r), labels in truth.items())
    study = sa.read(path, tool=name, **options)
    assert found(study) == found(expected)


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_is_cut_off_is_said_to_be(tmp_path, name):
    path = write(tmp_path, name)
    text = path.read_text(encoding="utf-8").rstrip()
    for share in (0.3, 0.6, 0.9, 0.97):
        cut = text[: int(len(text) * share)].rstrip("}\n ")
        path.write_text(cut, encoding="utf-8")
        with pytest.raises(FileError, match=rf"'.*{name}\.json', line \d+.*: "):
            sa.read(path, **OPTIONS.get(name, {}))


NEEDED = {
    "label_studio_json": [
        ("[1].id", "tasks[1]: no key 'id'"),
        ("[1].annotations", "tasks[1]: no key 'annotations'"),
        ("[1].annotations[0].completed_by", "tasks[1].annotations[0]: no key 'completed_by'"),
        ("[1].annotations[0].completed_by.email+id", "tasks[1].annotations[0].completed_by: no"),
        ("[1].annotations[0].result", "tasks[1].annotations[0]: no key 'result'"),
        ("[1].annotations[0].result[0].from_name", "annotations[0].result[0]: no key 'from_name'"),
        ("[1].annotations[0].result[0].value", "annotations[0].result[0]: no key 'value'"),
        ("[1].annotations[0].result[0].value.choices", "result[0].value: no key 'choices'"),
    ],
    "label_studio_json_min": [
        ("[2].annotator", "rows[2]: no key 'annotator'"),
        ("[2].id", "rows[2]"),
    ],
    "prodigy": [
        ("[2].answer", "line 3: no key 'answer'"),
        ("[2]._input_hash", "line 3: no key '_input_hash'"),
        ("[2]._annotator_id+_session_id", "line 3: no key '_annotator_id' and no '_session_id'"),
        ("[2].accept+options", "line 3: no key 'accept' and no 'options'"),
    ],
    "argilla_flat": [
        ("[1].id", "records[1]: no key 'id'"),
        ("[1].birds.responses.status", "records[1]: no key 'birds.responses.status'"),
    ],
    "argilla_nested": [
        ("[1].id", "records[1]: no key 'id'"),
        ("[1].responses.birds[0].user_id", "records[1].responses.birds[0]: no key 'user_id'"),
        ("[1].responses.birds[0].value", "records[1].responses.birds[0]: no key 'value'"),
    ],
    "lighttag": [
        ("examples[1].example_id", "examples[1]: no key 'example_id'"),
        ("examples[1].seen_by", "examples[1]: no key 'seen_by'"),
        ("examples[1].classifications[0].classname", "classifications[0]: no key 'classname'"),
        ("examples[1].classifications[0].annotated_by[0].annotator", "annotated_by[0]: no"),
    ],
    "labelbox": [
        ("[1].data_row", "line 2: no key 'data_row'"),
        ("[1].data_row.id+global_key", "line 2, data_row: no key 'id'"),
        ("[1].projects.project.labels", "line 2, projects.project: no key 'labels'"),
        ("[1].projects.project.labels[0].label_details.created_by", "no key 'created_by'"),
        ("[1].projects.project.labels[0].annotations.classifications", "no key 'classifications'"),
        ("[1].projects.project.labels[0].performance_details", "no key 'performance_details'"),
    ],
    "spacy_cats": [
        ("[1].cats", "line 2: no key 'cats'"),
        ("[1].cats.crow", "line 2, cats: no 'crow', so that it is unknown, not 0"),
        ("[1].meta", "line 2: no key 'meta'"),
        ("[1].meta.annotator", "line 2, meta: no key 'annotator'"),
    ],
    "hf_nested": [
        ("[1].id", "line 2: no key 'id'"),
        ("[1].annotators", "line 2: no key 'annotators'"),
        ("[1].annotators.labels", "line 2, annotators: no key 'labels'"),
    ],
}


def without(records, path):
    """Return the records without a key, or without several with + between them."""
    changed = copy.deepcopy(records)
    names = re.findall(r"\[(\d+)\]|([^.\[]+)", path)
    if "responses." in path and path.endswith(("status", "users")):
        names = [names[0], ("", "birds.responses." + path.rpartition(".")[2])]
    inside = changed
    for number, name in names[:-1]:
        inside = inside[int(number)] if number else inside[name]
    for name in names[-1][1].split("+"):
        del inside[name]
    return changed


@pytest.mark.parametrize(
    ("name", "path", "sentence"),
    [(name, path, sentence) for name, cases in NEEDED.items() for path, sentence in cases],
)
def test_a_missing_key_is_named_where_it_is_missing(tmp_path, name, path, sentence):
    make, _ = WRITERS[name]
    file = write(tmp_path, name, without(make(TRUTH), path))
    with pytest.raises(FileError, match=re.escape(sentence)) as caught:
        sa.read(file, tool=name, **OPTIONS.get(name, {}))
    assert str(caught.value).startswith(repr(str(file)))


WRONG = [None, True, 3.5, "", [], {}, [None], [3.5], [[]], [""], {"x": 1}]


def places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield from places(value[key], (*path, key))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*ignored .* rows? of the roster")
@pytest.mark.filterwarnings("ignore:.*with several ._task_hash.")
@pytest.mark.parametrize("name", WRITERS)
def test_wrong_types_never_end_in_a_traceback(tmp_path, name):
    make, _ = WRITERS[name]
    small = {pair: TRUTH[pair] for pair in list(TRUTH)[:5]}
    records = make(small)
    n_refused = 0
    for place, path in enumerate(places(records)):
        # Elsewhere every third one, in turn: like cells of other records get the rest.
        for wrong in WRONG[place % 3 :: 3] if path else WRONG[:3]:
            changed = wrong if not path else copy.deepcopy(records)
            if path:
                inside = changed
                for key in path[:-1]:
                    inside = inside[key]
                inside[path[-1]] = wrong
            file = tmp_path / "export.json"
            file.write_text(json.dumps(changed), encoding="utf-8")
            try:
                sa.read(file, tool=name, **OPTIONS.get(name, {}))
            except sa.SetagreeError:
                n_refused += 1
    assert n_refused > 20


def test_values_that_are_no_labels_are_named(tmp_path):
    for wrong, seen in [
        ([0, 5, "B"], "a list"),
        ("", "text ('')"),
        (None, "null"),
        (1.5, "a number"),
    ]:
        records = prodigy(TRUTH)
        records[2] |= {"answer": "accept", "accept": ["crow", wrong]}
        with pytest.raises(
            FileError, match=r"accept\[1\]: expected a label; got " + re.escape(seen)
        ):
            sa.read(write(tmp_path, "prodigy", records))


def test_rows_that_are_no_objects(tmp_path):
    path = tmp_path / "export.jsonl"
    path.write_text(as_lines(hf_sequence(TRUTH)) + "3\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"line 11 is 3; each must be an object"):
        sa.read(path)
    path.write_text('[{"id": 1}, 3]', encoding="utf-8")
    with pytest.raises(FileError, match=r"tasks\[1\]: expected an object; got a number \(3\)"):
        sa.read(path, tool="label_studio_json")
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(FileError, match="is an empty list"):
        sa.read(path)
    path.write_text('"text"', encoding="utf-8")
    with pytest.raises(FileError, match=r"expected a list; got text \('text'\)"):
        sa.read(path, tool="prodigy")
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(FileError, match="the JSON cannot be read"):
        sa.read(path)
    path.write_text('{"a": 1}\n' + '{"a":' * 100_000, encoding="utf-8")
    with pytest.raises(FileError, match="line 2: the JSON cannot be read"):
        sa.read(path, tool="prodigy")


def test_the_same_file_twice(tmp_path):
    """Lines appended to themselves are repeats, with their places, unless duplicates= settles."""
    path = tmp_path / "twice.jsonl"
    path.write_text(as_lines(prodigy(TRUTH)) * 2, encoding="utf-8")
    with pytest.raises(DataError, match=r"Every pair occurs twice.*are in line 1 and line 12\."):
        sa.read(path)
    assert found(sa.read(path, duplicates="first")) == answered(TRUTH)
    path.write_text(as_json(label_studio(TRUTH)) * 2, encoding="utf-8")
    with pytest.raises(FileError, match=r"line \d+, column 2: this is not JSON \(Extra data\)"):
        sa.read(path)


def test_options_of_labels(tmp_path):
    """case= and codebook= are those of the other doors; errors name the file."""
    path = write(tmp_path, "prodigy")
    assert sa.read(path, codebook=LABELS).labels == tuple(sorted(LABELS))
    with pytest.raises(sa.SetagreeError, match=r"prodigy\.json': 1 label .*codebook: 'gull'"):
        sa.read(path, codebook=["crow", "heron, grey", "wren|owl#"])
    records = prodigy({("p1", "mia"): {"Crow"}, ("p1", "noa"): {"crow"}})
    assert sa.read(write(tmp_path, "prodigy", records), case="lower").n_values == 1
    path = write(tmp_path, "prodigy")
    with pytest.raises(OptionError, match="blank='emtpy' is unknown"):
        sa.read(path, blank="emtpy")


def test_agreement_takes_the_path_of_an_export(tmp_path):
    path = write(tmp_path, "prodigy")
    expected = sa.agreement(sa.read(path)).to_frame()
    pd.testing.assert_frame_equal(sa.agreement(path).to_frame(), expected, check_exact=True)
    table = sa.agreement(path, unit="_input_hash", rater="_annotator_id", labels="answer")
    assert table["krippendorff_alpha", "masi"].n_ratings == len(TRUTH)
    (tmp_path / "csv").mkdir()
    truth = {("1", "mia"): {"a;b"}, ("1", "noa"): {"a"}, ("2", "mia"): {"a"}, ("2", "noa"): {"a"}}
    folder = doccano(tmp_path / "csv", truth, kind="csv")
    assert sa.agreement(folder, label_sep=";")["krippendorff_alpha", "masi"].n_values == 2
    with pytest.raises(DataError, match="drops their status"):
        sa.agreement(write(tmp_path, "argilla_nested"))


def test_lists_by_column_are_no_rows(tmp_path):
    path = tmp_path / "columns.json"
    columns = {"unit": [1, 1, 2, 2], "rater": ["mia", "noa"] * 2, "labels": ["a", "b", "a", "a"]}
    path.write_text(json.dumps(columns), encoding="utf-8")
    assert sa.agreement(path)["krippendorff_alpha", "masi"].n_ratings == 4


@pytest.mark.parametrize("name", WRITERS)
def test_options_without_use_are_refused(tmp_path, name):
    path = write(tmp_path, name)
    if name not in OPTIONS:
        with pytest.raises(OptionError, match=r"lists the raters of each unit; omit roster=\."):
            sa.read(path, roster="roster.csv")
    with pytest.raises(
        OptionError, match=r"has only one question; omit q|question='colour' is not in"
    ):
        sa.read(path, question="colour", **OPTIONS.get(name, {}))


def test_options_without_use_are_refused_for_folders(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(OptionError, match="has only one question"):
        sa.read(doccano(tmp_path / "a", TRUTH), question="colour")
    with pytest.raises(OptionError, match="lists the raters of each unit"):
        sa.read(sagemaker(tmp_path / "b", TRUTH), roster="roster.csv")


def test_nothing_to_score(tmp_path):
    path = write(tmp_path, "label_studio_json", [{"id": 1, "data": {}, "annotations": []}])
    with pytest.raises(DataError, match="has no annotations"):
        sa.read(path)
    path = write(tmp_path, "prodigy", prodigy({("p1", "mia"): None}))
    with pytest.raises(DataError, match="all 1 cell are missing"):
        sa.read(path)


CARRIES = [
    *("label_studio.json", "label_studio_min.json", "prodigy.jsonl", "doccano_approved_only"),
    *("doccano_csv_approved_only", "argilla_flat.json", "lighttag.json", "sagemaker"),
    *("labelbox.ndjson", "spacy_cats.jsonl", "hf_classlabel_sequence.jsonl"),
]
TOLD = ["doccano", "argilla_nested.json"]
WITHOUT_NAMES = "hf_nested_annotators.jsonl"
NAMES = ["anger", "fear", "joy", "sadness", "surprise"]


def expected():
    frame = pd.read_csv(SAMPLES / "expected.csv", dtype=str, keep_default_na=False)
    rated = frame[frame["state"].isin(["rated", "empty"])]
    rows = zip(rated["unit"], rated["rater"], rated["labels"], strict=True)
    return {(unit, rater): set(filter(None, labels.split(", "))) for unit, rater, labels in rows}


def by_order(study, truth):
    """Return a study's ratings with its units and raters called as in the truth.

    The tools have their own identifiers, which all sort as the truth's names do, or come in their
    order; only the right order can give the truth.
    """
    units = sorted({unit for unit, _ in truth})
    raters = {"ana": "ana", "ben": "ben", "eva": "eva"}
    raters |= {"1": "ana", "2": "ben", "3": "eva", "649307c1": "ana", "628a2cfa": "ben"}
    raters["0cdb5811"] = "eva"

    def who(name):
        text = re.sub(r"^(emotions-|private\.us-east-1\.)|@.*$", "", str(name))
        return raters[text.split("-")[0]]

    place = {unit: units[k] for k, unit in enumerate(dict.fromkeys(study.units.tolist()))}
    return {(place[unit], who(rater)): labels for (unit, rater), labels in found(study).items()}


@needs_samples
@pytest.mark.parametrize("name", CARRIES)
def test_samples_that_carry_the_truth(name):
    truth = expected()
    assert len(truth) == 13
    assert by_order(sa.read(SAMPLES / name), truth) == truth


@needs_samples
@pytest.mark.parametrize("name", TOLD)
def test_samples_that_need_a_roster(name):
    truth = expected()
    with pytest.raises(DataError, match="roster="):
        sa.read(SAMPLES / name)
    users = {"ana": "649307c1-54d3-5acf-bc75-7b0e039d2021"}
    users |= {"ben": "628a2cfa-a40c-5509-9aff-8fced0174f42"}
    users |= {"eva": "0cdb5811-659a-5c14-8453-64a575500046"}
    pairs = [
        (unit, users[rater]) if name != "doccano" else (unit[1:], rater) for unit, rater in truth
    ]
    roster = pd.DataFrame(pairs, columns=["unit", "rater"])
    assert by_order(sa.read(SAMPLES / name, roster=roster), truth) == truth


@needs_samples
def test_sample_of_numbers():
    truth = {pair: {NAMES.index(x) for x in labels} for pair, labels in expected().items()}
    assert by_order(sa.read(SAMPLES / WITHOUT_NAMES), truth) == truth


@needs_samples
def test_sample_of_consolidated_answers():
    with pytest.raises(DataError, match="without workers"):
        sa.read(SAMPLES / "sagemaker/manifests/output/output.manifest")

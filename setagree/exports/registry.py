"""The table of formats, with the signatures and the reader of each.

A new format is a module in `tools` with a function that reads it, and one entry here.
"""

from __future__ import annotations

from setagree.exports.format import Format, Signature, of_tool

_BLANK = "A blank answer needs $blank or $roster."
_EMPTY = "A blank answer is the empty set unless $blank_missing is used."
_REJECTED = f"{_EMPTY} Rejected assignments are left out."
_UNTICKED = "a record without a tick needs $blank or $roster."
_NO_RATERS = "Refused: it has no raters."
_CLASSES = "<name>.features.json or dataset_info.json next to the file names the integers."
_QUESTIONS = "With several questions: $question selects one, $blank defines an unanswered one."
_DOCCANO = {"id", "label", "Comments"}
_MTURK = {"HITId", "WorkerId"}
LIST_KEYS = (
    "(?i:annotators|raters|coders|annotator_ids|rater_ids|worker_ids)",
    "(?i:annotations|labels|answers|ratings|annotator_labels|responses)",
)
"""Keys of parallel lists of raters and of answers, as regular expressions."""
_KEYS = "id|text|data|labels?|annotat.*|_.*|examples|projects|results|samples|eval|info|testCases"
"""Keys of a record; an object keyed by units has none of them."""
_FORM_TIME = "Timestamp|Zeitstempel|Horodateur|Marca temporal"
_BOX = r"Answer\.[^\n]+\.on"


def _judges(name: str, title: str, *signatures: Signature, notes: str = "") -> Format:
    return Format(name, title, signatures, of_tool("judges", "read", name), notes)


FORMATS: tuple[Format, ...] = (
    Format(
        "label_studio_json",
        "Label Studio, JSON",
        (Signature("records", {"id", "annotations", "data"}),),
        of_tool("label_studio", "read_tasks"),
        _QUESTIONS,
        of_tool("label_studio", "read_spans"),
        has_unit=True,
    ),
    Format(
        "label_studio_json_min",
        "Label Studio, JSON-MIN",
        (Signature("records", {"id", "annotation_id", "lead_time"}, none="annotations"),),
        of_tool("label_studio", "read_min"),
        "Questions look like data if no answer has two choices: $question. With several "
        "questions, $blank defines an unanswered one.",
        basis="tool",
        has_unit=True,
    ),
    Format(
        "prodigy",
        "Prodigy, JSONL (choice, spans)",
        (Signature("records", {"_input_hash", "_task_hash", "answer"}),),
        of_tool("prodigy", "read"),
        "A rejected example may have no label or no answer: $blank.",
        of_tool("prodigy", "read_spans"),
    ),
    Format(
        "argilla_flat",
        "Argilla, flat records",
        (Signature("records", some=[r".*\.responses", r".*\.responses\.users"]),),
        of_tool("argilla", "read_flat"),
        "With several questions: $question selects one.",
        basis="tool",
    ),
    Format(
        "argilla_nested",
        "Argilla, nested records",
        (Signature("records", {"id", "fields", "suggestions", "responses"}),),
        of_tool("argilla", "read_nested"),
        "Discarded responses look like submitted ones: $roster, or export the flat layout.",
        basis="tool",
    ),
    Format(
        "lighttag",
        "LightTag, JSON",
        (Signature("records", {"examples", "annotations_and_examples"}),),
        of_tool("lighttag", "read"),
    ),
    Format(
        "labelbox",
        "Labelbox, NDJSON",
        (Signature("records", {"data_row", "projects"}),),
        of_tool("labelbox", "read"),
        _QUESTIONS,
    ),
    Format(
        "spacy_cats",
        "spaCy, JSONL with cats",
        (Signature("records", {"text", "cats"}, none="_input_hash"),),
        of_tool("spacy", "read"),
        "Unit and rater must be in each record's meta.",
    ),
    Format(
        "spacy_docs",
        "spaCy, folder of .spacy or .jsonl files, one per rater",
        (
            Signature("folder", some=[r"[^/]+\.spacy"]),
            Signature("folder", some=[r"[^/]+\.jsonl"], also=of_tool("spacy", "holds")),
            Signature("records", {"text", "ents"}, none="_input_hash|cats"),
        ),
        of_tool("spacy", "read_docs"),
        "A document without spans needs $blank or $roster.",
        of_tool("spacy", "read_spans"),
        basis="tool",
    ),
    Format(
        "doccano_jsonl",
        "doccano, folder of JSONL",
        (
            Signature(
                "folder", some=[r"(?!\.).*\.jsonl"], also=of_tool("doccano", "holds", ".jsonl")
            ),
            Signature("records", _DOCCANO),
        ),
        of_tool("doccano", "read", ".jsonl"),
        "Untouched examples look empty unless only approved ones are exported: $roster or $blank.",
        of_tool("doccano", "read_spans"),
        basis="source",
    ),
    Format(
        "doccano_csv",
        "doccano, folder of CSV",
        (
            Signature("folder", some=[r"(?!\.).*\.csv"], also=of_tool("doccano", "holds", ".csv")),
            Signature("table", _DOCCANO),
        ),
        of_tool("doccano", "read", ".csv"),
        "As in JSONL; and a label with # in it is split: $label_sep, or export JSONL.",
        basis="source",
    ),
    Format(
        "sagemaker",
        "SageMaker Ground Truth, folder worker-response",
        (
            Signature("folder", some=[r".*\d/[^/]+\.json"], also=of_tool("sagemaker", "is_job")),
            Signature("records", some=[".*-metadata"], also=of_tool("sagemaker", "is_manifest")),
        ),
        of_tool("sagemaker", "read"),
        "The output manifest is consolidated and refused: it has no workers.",
    ),
    Format(
        "cvat",
        "CVAT, one job per rater",
        (
            Signature("folder", some=[r"(.*/)?annotations\.xml"]),
            Signature("text", some=[".*<annotations>.*", ".*<meta>.*"]),
        ),
        of_tool("cvat", "read"),
        "An image without tags needs $blank or $roster.",
    ),
    Format(
        "brat",
        "brat, one folder per rater",
        (Signature("folder", some=[r".*\.ann"]),),
        of_tool("brat", "read"),
        "A document without attributes needs $blank or $roster.",
        of_tool("brat", "read_spans"),
    ),
    Format(
        "inception",
        "INCEpTION, folder of XMI or WebAnno TSV",
        (
            Signature("folder", also=of_tool("inception", "holds")),
            Signature("folder", some=[r"[^/]+/[^/]+\.xmi"]),
            Signature("text", some=[r"(#FORMAT=WebAnno TSV 3|.*<xmi:XMI ).*"]),
        ),
        of_tool("inception", "read"),
        "With several features: $question selects one (Layer.feature). A document without "
        "annotations needs $blank or $roster.",
        of_tool("inception", "read_spans"),
    ),
    Format(
        "mturk_pipe",
        "Mechanical Turk, labels separated by |",
        (Signature("table", _MTURK, [r"Answer\..*"], rf"{_BOX}|Answer\.taskAnswers"),),
        of_tool("mturk", "read", "pipe"),
        _REJECTED,
        basis="source",
    ),
    Format(
        "mturk_checkboxes",
        "Mechanical Turk, one column per checkbox",
        (Signature("table", _MTURK, [_BOX], r"Answer\.taskAnswers"),),
        of_tool("mturk", "read", "boxes"),
        _REJECTED,
    ),
    Format(
        "mturk_task_answers",
        "Mechanical Turk, taskAnswers in JSON",
        (Signature("table", {*_MTURK, "Answer.taskAnswers"}),),
        of_tool("mturk", "read", "task answers"),
        _REJECTED,
    ),
    Format(
        "appen",
        "Appen (CrowdFlower, Figure Eight), full report",
        (Signature("table", {"_unit_id", "_worker_id"}),),
        of_tool("coded_tables", "read_appen"),
        f"{_EMPTY} Tainted judgments and test questions are left out.",
        basis="source",
    ),
    Format(
        "toloka",
        "Toloka, assignments",
        (Signature("table", {"ASSIGNMENT:worker_id", "ASSIGNMENT:assignment_id"}),),
        of_tool("coded_tables", "read_toloka"),
        "A blank answer that was handed in needs $blank. Rejected answers and control tasks are "
        "left out.",
    ),
    Format(
        "zooniverse",
        "Zooniverse, classifications",
        (Signature("table", {"classification_id", "annotations", "subject_ids", "user_name"}),),
        of_tool("coded_tables", "read_zooniverse"),
    ),
    Format(
        "label_studio_csv",
        "Label Studio, CSV",
        (Signature("table", {"annotation_id", "annotator", "lead_time", "id"}),),
        of_tool("label_studio", "read_csv"),
        "A blank answer is the empty set unless $blank_missing is used; with several questions, "
        "$blank is required.",
        basis="tool",
        has_unit=True,
    ),
    Format(
        "atlasti",
        "ATLAS.ti, quotations",
        (Signature("table", {"Document", "Codes", "Created by"}),),
        of_tool("coded_tables", "read_atlasti"),
        "A quotation without codes is the empty set unless $blank_missing is used.",
    ),
    Format(
        "dedoose",
        "Dedoose, excerpts",
        (Signature("table", {"Media Title", "Excerpt Creator"}),),
        of_tool("coded_tables", "read_dedoose"),
        "Excerpts without codes are not exported: $roster lists who annotated what, or "
        "$blank_missing.",
    ),
    Format(
        "nvivo_matrix",
        "NVivo, matrix coding query",
        (Signature("table", some=["[A-Z]+ : [^\n]+"], first=r"\s*"),),
        of_tool("coded_tables", "read_nvivo", "a matrix of counts over all users"),
        _NO_RATERS,
    ),
    Format(
        "nvivo_comparison",
        "NVivo, coding comparison",
        (Signature("table", {"Code", "File", "Kappa"}),),
        of_tool("coded_tables", "read_nvivo", "a comparison of two users or groups, code by code"),
        _NO_RATERS,
    ),
    Format(
        "hf_onehot",
        "Flags in the layout of GoEmotions",
        (Signature("table", {"id", "rater_id", "example_very_unclear"}),),
        of_tool("hugging_face", "read_onehot"),
    ),
    Format(
        "google_forms_csv",
        "Google Forms, downloaded CSV",
        (Signature("table", first=_FORM_TIME, also=of_tool("google_forms", "is_download")),),
        of_tool("google_forms", "read", ";"),
        _BLANK,
    ),
    Format(
        "google_forms_sheet",
        "Google Forms, linked sheet",
        (Signature("table", first=_FORM_TIME, also=of_tool("google_forms", "is_sheet")),),
        of_tool("google_forms", "read", ", "),
        f"{_BLANK} A label that contains ', ' is read as two, which $codebook detects.",
    ),
    Format(
        "redcap_raw",
        "REDCap, raw",
        (
            Signature(
                "table",
                some=[r"(?!redcap_)(.*_complete|record_id)", r"(?!redcap_)[a-z0-9_]+?___\w+"],
            ),
        ),
        of_tool("redcap", "read", "raw"),
        f"Without the column '<form>_complete', {_UNTICKED}",
    ),
    Format(
        "redcap_labels",
        "REDCap, labels",
        (Signature("table", some=[r".+ \(choice=.+\)"]),),
        of_tool("redcap", "read", "labels"),
        f"Without the column 'Complete?', {_UNTICKED}",
    ),
    Format(
        "qualtrics_values",
        "Qualtrics, values",
        (Signature("table", {"ResponseId"}, also=of_tool("qualtrics", "has_layout", "values")),),
        of_tool("qualtrics", "read_unsplit", "values"),
        _BLANK,
    ),
    Format(
        "qualtrics_labels",
        "Qualtrics, choice text",
        (Signature("table", {"ResponseId"}, also=of_tool("qualtrics", "has_layout", "labels")),),
        of_tool("qualtrics", "read_unsplit", "labels"),
        f"{_BLANK} A label that contains a comma is refused if it is detected.",
    ),
    Format(
        "qualtrics_split",
        "Qualtrics, one column per choice",
        (Signature("table", {"ResponseId"}, also=of_tool("qualtrics", "has_layout", "split")),),
        of_tool("qualtrics", "read_split"),
        "Without -99 for shown choices that were not taken, a blank answer needs $blank or "
        "$roster.",
    ),
    Format(
        "sosci",
        "SoSci Survey, CSV",
        (Signature("table", {"CASE", "QUESTNNR"}),),
        of_tool("coded_tables", "read_sosci"),
        "A question without a choice needs $blank or $roster.",
    ),
    Format(
        "plain_row_per_label",
        "One row per label",
        (Signature("table", none=".*"),),  # never recognised: rows may be several answers
        of_tool("plain", "read_rows"),
        "It cannot express the empty set: $roster lists who annotated what, or $blank_missing.",
        basis="plain",
    ),
    Format(
        "hf_nested",
        "Hugging Face rows, JSONL: all raters of a unit",
        (
            Signature(
                "records",
                none="responses|projects|examples|answers|_input_hash",
                also=of_tool("hugging_face", "is_nested"),
            ),
        ),
        of_tool("hugging_face", "read_nested"),
        _CLASSES,
    ),
    Format(
        "lewidi",
        "LeWiDi, JSON keyed by unit",
        (Signature("records", none=_KEYS, also=of_tool("published", "is_lewidi")),),
        of_tool("published", "read_lewidi"),
        "A blank answer needs $blank.",
    ),
    Format(
        "parallel_lists",
        "Lists of annotators and answers, JSON lines or cells",
        (
            Signature("records", some=LIST_KEYS, also=of_tool("published", "is_parallel")),
            Signature("table", some=LIST_KEYS, also=of_tool("published", "is_parallel")),
        ),
        of_tool("published", "read_parallel"),
        "A blank answer needs $blank.",
    ),
    Format(
        "brighter_individuals",
        "BRIGHTER, a row per text and emotion",
        (
            Signature(
                "table",
                some=["emotion|label|Emotion|Label"],
                roles=["unit"],
                no_roles=["rater"],
                also=of_tool("published", "is_individuals"),
            ),
        ),
        of_tool("published", "read_individuals"),
        "A blank cell is no annotation.",
    ),
    Format(
        "potato",
        "Potato, user_state.json",
        (
            Signature("records", {"instance_id_to_label_to_value"}),
            Signature("folder", some=[r"(.*/)?user_state\.json"]),
        ),
        of_tool("published", "read_potato"),
        "With several questions: $question selects one.",
        basis="source",
    ),
    Format(
        "refi_qda",
        "REFI-QDA project (ATLAS.ti, MAXQDA, NVivo, QualCoder)",
        (Signature("folder", {"project.qde"}),),
        of_tool("refi_qda", "read"),
        "Users without a code on a document are not in it: $roster, or $blank_missing.",
        of_tool("refi_qda", "read_spans"),
    ),
    _judges(
        "inspect",
        "Inspect, log in JSON or binary (.eval)",
        Signature("records", {"eval", "samples"}),
        Signature("folder", {"header.json"}, some=[r"samples/.*\.json"]),
    ),
    _judges("promptfoo", "promptfoo, results in JSON", Signature("records", {"evalId", "results"})),
    _judges(
        "deepeval",
        "DeepEval, test run",
        *(Signature("records", {key}) for key in ("testCases", "testRunData")),
    ),
    _judges(
        "langfuse",
        "Langfuse, scores",
        *(
            Signature("records", keys, also=of_tool("judges", "is_langfuse"))
            for keys in ({"name", "source"}, {"data", "meta"})
        ),
        notes="With several scores: $question selects one.",
    ),
    _judges(
        "mlflow",
        "MLflow, traces with assessments",
        Signature("records", {"info"}, also=of_tool("judges", "is_mlflow")),
        *(Signature(shape, {"trace_id", "assessments"}) for shape in ("records", "table")),
        notes="With several assessments: $question selects one.",
    ),
)
"""All formats of this package."""

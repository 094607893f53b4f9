"""Report on agreement, its causes and next steps, in one file."""

from __future__ import annotations

import html
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, get_args
from urllib.parse import quote

from setagree.checks import Rng, check_target, expanded, replace_file
from setagree.diagnosis.by_question import question_studies, question_table
from setagree.distances.registry import DistanceLike
from setagree.errors import FileError, MissingDependencyError, check_choice, option
from setagree.large.opening import Data, ModelReadingOptions, takes_data, with_reading
from setagree.progress import stages
from setagree.reporting.findings import gather, methods
from setagree.reporting.headline import plain_verdict
from setagree.reporting.methods import Methods, methods_of_result
from setagree.reporting.page import Page, browser, html_report, markdown_report, printed
from setagree.reporting.sections.base import Findings, Groups, Models, Panels, Table, table_of
from setagree.scoring.coefficients import CoefficientLike, distance_name
from setagree.study.codes import as_objects
from setagree.wording.number_format import level_text
from setagree.wording.sentences import Name
from setagree.wording.tables import Column

Format: TypeAlias = Literal["html", "markdown", "pdf"]

_FORMS = {".md": "markdown", ".markdown": "markdown", ".pdf": "pdf"}
"""The formats by the suffix of the file; any other suffix is that of an HTML page."""

if TYPE_CHECKING:
    _Path = Path
else:  # Path itself cannot be subclassed before Python 3.12
    _Path = type(Path())


class ReportPath(_Path):
    """A path that is printed as text, and shown in a notebook as a link."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        link = self.as_uri() if self.is_absolute() else quote(os.fsencode(self.as_posix()))
        return f'<a href="{html.escape(link)}">{html.escape(str(self))}</a>'


@takes_data
def report(
    study: Data,
    path: str | os.PathLike[str],
    *,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | Mapping[str, DistanceLike] | None = None,
    level: float = 0.95,
    groups: Groups | None = None,
    model: Models = None,
    panels: Panels = None,
    margin: float | None = None,
    threshold: float | None = None,
    facets: list[str] | None = None,
    title: str | None = None,
    format: Format | None = None,  # noqa: A002 - what the command calls it, too
    questions: str | Sequence[str] | None = None,
    n_resamples: int = 999,
    rng: Rng = None,
    **options: Unpack[ModelReadingOptions],
) -> Path:
    """Write a report about a study into one file, and return its path.

    The report has the coefficient with its interval and a verdict, the omitted data with reasons,
    other coefficients and distances, labels, confusions, raters, pairs of raters, units to
    adjudicate, groups, the effects of changes, a test against chance, and a methods paragraph; with
    at least four raters a map, unless it takes long; comparisons of named models and panels with
    the humans; and the requested decisions. The page needs no network and no JavaScript; a PDF is
    printed by Chromium, Chrome or Edge, one of which must be installed.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        The study; with `questions`, a table or path.
    path : str or path
        The file; it is replaced only when the whole report is ready. If its ending is not that of a
        page, Markdown or PDF, an existing file is replaced only if `format` is given.
    coefficient, distance
        As in `agreement`, or in `by_question`. Default: alpha with MASI for label sets, interval
        for numbers, nominal for categories.
    level : float
        The level of the intervals.
    groups : Series, mapping or DataFrame, optional
        The group of each unit (batches, sources, guideline versions); or the result of `by_group`,
        in which a unit can be in several groups. If models are named, pass the result for the
        humans only.
    model : rater, DataFrame or path, or list of these, optional
        Models: raters of the study, or tables of their answers to the same units. The report tests
        whether they may replace a human, and compares them with the humans' consensus. Raters that
        are marked as models, or called like one (gpt-4o), are then models too. All others are
        humans, and all other sections describe only the humans.
    panels : mapping from two names to lists of raters, optional
        Cross-replication of two panels: ``{"experts": ["ann"], "crowd": ["bob", "cem"]}``. A single
        panel is compared with all other raters.
    margin : float, optional
        With models: the margin of the test that alpha falls by less if a model replaces a human;
        see `noninferiority_test`.
    threshold : float, optional
        Threshold for the coefficient; see `at_least`.
    facets : list of str, optional
        Rater attributes that distinguish models, prompts and runs, for the agreement of models
        with themselves; see `facet_agreement`.
    title : str, optional
        The title. Default: the name of the file.
    format : {"html", "markdown", "pdf"}, optional
        Default: Markdown if the path ends in ``.md`` or ``.markdown``, PDF if it ends in
        ``.pdf``, else HTML.
    questions : list of str, or str, optional
        The questions of a table or an export, as in `by_question`: the report then has an overview
        with a row per question and their mean, and a page per question.
    n_resamples : int
        Smallest number of reshuffles of the test against chance. Each test uses 40 per claim of
        the report; those of large studies use fewer, and the report states this.
    rng : int or numpy Generator, optional
        The seed; the same seed gives the same file, except for the date in a PDF.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    DataError
        It is not a study, or its raters are unknown; the groups do not fit its units; a model
        or a member of a panel gave no answer.
    OptionError
        An option is unknown.
    FileError
        The file cannot be written.
    MissingDependencyError
        The page needs matplotlib and jinja2, and as PDF a browser.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import setagree as sa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = report(sa.simulate(40, 3, rng=1), f"{folder}/study.md", n_resamples=99, rng=1)
    ...     print(path.read_text(encoding="utf-8").splitlines()[0])
    # study
    """
    target = expanded(path)
    form = _format(format, target)
    check_target(target)
    heading = Name.of(target.stem if title is None else title)
    wanted: dict[str, Any] = {
        "coefficient": coefficient,
        "distance": distance,
        "level": level,
        "groups": groups,
        "model": model,
        "panels": panels,
        "margin": margin,
        "threshold": threshold,
        "facets": facets,
        "n_resamples": n_resamples,
        "rng": secrets.randbits(32) if rng is None else rng,
    }
    findings: Findings | dict[str, Findings]
    if questions is None:
        findings = gather(study, **wanted)
    else:
        studies = question_studies(*with_reading(study), questions, distance)
        findings = {
            name: gather(part, **wanted | {"distance": each})
            for name, (part, each) in studies.items()
        }
    replace_file(target, rendered(findings, heading, form))
    return ReportPath(target)


def rendered(findings: Findings | Mapping[str, Findings], title: Name, form: str) -> str | bytes:
    """Return the report as the text of a page, as Markdown or as PDF.

    A mapping has the findings of each question by its name.
    """
    write = markdown_report if form == "markdown" else html_report
    if isinstance(findings, Findings):
        text = write([Page(title, findings, methods_of(findings))], title, None)
    else:
        pages = [Page(Name.of(name), f, methods_of(f)) for name, f in findings.items()]
        text = write(pages, title, _overview(findings))
    if form != "pdf":
        return text
    with stages("printing the PDF"):
        return printed(text)


def _overview(findings: Mapping[str, Findings]) -> Table:
    """Return a row per question with its estimate and verdict, and the mean of the estimates."""
    main, level = next((f.main, f.level) for f in findings.values())
    frame = question_table({name: f.main for name, f in findings.items()}, level).to_frame()
    frame["sentence"] = as_objects([*((Name.of(name),) for name in findings), ("Mean",)])
    frame["verdict"] = [*(f.main.reason or plain_verdict(f) for f in findings.values()), ""]
    frame["distance"] = [*map(distance_name, frame["distance"][:-1]), ""]
    columns = [
        Column("sentence", "text", "Question"),
        Column(("estimate", "low", "high"), "estimate", main.definition.short),
        Column("verdict", "text", "Verdict"),
        Column("distance", "text", "Distance"),
        Column("n_units", "count", "Units"),
        Column("n_raters", "count", "Raters"),
    ]
    caption = f"Questions, with {level_text(level)} intervals"
    more = " ".join(dict.fromkeys(f"{reason}." for reason in frame["reason"][-1:].dropna()))
    shown = table_of(frame, columns, caption, limit=len(frame), function="by_question")
    return replace(shown, more=more)


def methods_of(f: Findings) -> Methods:
    """Return the methods paragraph of the findings, with its references."""
    test = None if f.main.reason is not None else f.results["chance"]
    return methods_of_result(
        f.main,
        level=f.level,
        bootstrap=None,
        test=test,
        seed=f.seed,
        more=methods(f),
        corrected=(f.corrected["chance"][0], f.holm_clause),
    )


def _format(form: str | None, target: Path) -> str:
    if form is None:
        # A page must not replace a file of another kind, such as the table of the study.
        suffixes = {".html", ".htm", "", *_FORMS}
        if target.exists() and target.suffix.lower() not in suffixes:
            raise FileError(
                f"{str(target)!r} exists, and its name is not that of a report; let the path end "
                f"in .html, .md or .pdf, or use {option('format')} to replace it."
            )
        form = _FORMS.get(target.suffix.lower(), "html")
    check_choice("format", form, get_args(Format))
    if form == "markdown":
        return form
    # A missing requirement raises an error before any work.
    try:
        import jinja2  # noqa: F401 - only tests that it is installed
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            "a report needs matplotlib and jinja2; install them with "
            f'pip install "setagree[report]", or use {option("format", "markdown")}, which '
            "needs neither."
        ) from error
    if form == "pdf":
        browser()
    return form

"""The report as Markdown: the same findings, sections and tables, without pictures."""

from __future__ import annotations

from collections.abc import Iterator

from setagree.reporting.headline import caution, headline, verdict_sentence
from setagree.reporting.methods import bibtex_of
from setagree.reporting.sections.base import Findings, Section
from setagree.reporting.sections.registry import main_findings, sections
from setagree.reporting.tables import Table, cell_text
from setagree.wording.escaping import as_markdown
from setagree.wording.tables import markdown_table
from setagree.wording.words import Name, Sentence


def markdown_report(f: Findings, title: Name, methods: str, counts: str) -> str:
    """Return the report as Markdown."""
    return "\n".join(_lines(f, title, methods, counts)).rstrip() + "\n"


def _lines(f: Findings, title: Name, methods: str, counts: str) -> Iterator[str]:
    yield from (f"# {as_markdown(title.short)}", "", counts, "")
    verdict = "" if f.main.reason is not None else verdict_sentence(f)
    yield from (f"**{said(headline(f))}** {verdict}", "", f"*{caution(f)}*", "")
    yield from ("## Main findings", "")
    for finding in main_findings(f):
        yield f"- **{finding.about}.** {said(finding.sentence)}"
    for section in sections(f):
        yield from _section(section)
    yield from ("", "## Methods paragraph", "")
    paragraph, _, references = methods.partition("\n\n")
    yield from (plain_text(paragraph), "", *(f"- {plain_text(x)}" for x in references.splitlines()))
    yield from ("", "<details><summary>The references as BibTeX</summary>", "")
    yield from ("```bibtex", bibtex_of(methods), "```", "", "</details>")


def _section(section: Section) -> Iterator[str]:
    yield from ("", f"## {section.title}", "")
    if section.lead:
        yield from (said(section.lead), "")
    if section.table is not None:
        yield from table_lines(section.table)
    if section.note:
        yield from (f"*{plain_text(section.note)}*", "")


def table_lines(table: Table) -> Iterator[str]:
    """Return the lines of a table, with its caption before and what is left out after."""
    yield from (f"*{table.caption}*", "")
    heads = [column.head for column in table.columns]
    rows = (
        [cell_text(value, one.kind, said) for value, one in zip(row, table.columns, strict=True)]
        for row in table.rows
    )
    left = [not column.is_number for column in table.columns]
    yield from (*markdown_table(heads, rows, left=left), "")
    if table.more:
        yield from (f"*{plain_text(table.more)}*", "")


def said(sentence: Sentence) -> str:
    """Return a sentence as Markdown, in which what a user wrote is text and nothing else."""
    return "".join(
        as_markdown(piece.short) if isinstance(piece, Name) else plain_text(piece)
        for piece in sentence
    )


def plain_text(text: str) -> str:
    """Return words of ours, in which only what could open a tag or a cell is taken care of."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", r"\|").replace("*", r"\*")

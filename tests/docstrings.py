"""Write the parameters that several functions share into their docstrings.

``python -m tests.docstrings`` copies the text of each option of `Reading` into the functions that
have the option, and that of the parameters of `krippendorff_alpha` into the other coefficients. A
test fails where a copy differs.
"""

import ast
import inspect
import re
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1] / "setagree"


class Copies(NamedTuple):
    """Functions that share parameters with an object, and parameters with texts of their own."""

    source: tuple[str, str]
    path: str
    own: dict[str, set[str]]


READING = ("study/reading.py", "Reading")
ALPHA = ("scoring/coefficients.py", "krippendorff_alpha")

COPIES = [
    Copies(READING, "large/opening.py", {"read": {"blank"}}),
    Copies(READING, "scoring/table.py", {"agreement": {"cluster", "sampling_weight", "strata"}}),
    Copies(
        ALPHA,
        "scoring/coefficients.py",
        {
            "fleiss_kappa": set(),
            "conger_kappa": set(),
            "cohen_kappa": set(),
            "scott_pi": set(),
            "gwet_ac": set(),
            "brennan_prediger": set(),
            "percent_agreement": set(),
            "mv_alpha": {"distance"},
        },
    ),
]


def split_sections(doc: str) -> list[str]:
    r"""Return the text of a docstring, then its sections, each with its heading.

    Examples
    --------
    >>> split_sections("Do it.\n\n    Returns\n    -------\n    int\n    ")
    ['Do it.', 'Returns\n-------\nint']
    """
    return re.split(r"\n\n(?=[A-Z][A-Za-z ]+\n-+\n)", inspect.cleandoc(doc))


def parameter_texts(section: str) -> dict[str, str]:
    r"""Return the text of a docstring section for each parameter name.

    Examples
    --------
    >>> parameter_texts("Parameters\n----------\na, b : float\n    Ends.\nn : int\n    N.")["b"]
    'a, b : float\n    Ends.'
    """
    entries = re.findall(r"^(\w+(?:, \w+)*)(.*(?:\n    .*)+)", section, re.MULTILINE)
    return {name: names + text for names, text in entries for name in names.split(", ")}


def definition(text: str, name: str) -> ast.FunctionDef | ast.ClassDef:
    """Return the first class or function of a name in the text of a module."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))
    return next(node for node in nodes if node.name == name)


def wrapped(entry: str, width: int) -> str:
    """Return the entry of a parameter with lines of a width."""
    head, _, text = entry.partition("\n")
    options = {"break_long_words": False, "break_on_hyphens": False}
    words = " ".join(text.split())
    return f"{head}\n" + textwrap.indent(textwrap.fill(words, width - 4, **options), "    ")


def rewritten(text: str, name: str, shared: dict[str, str], own: set[str]) -> str:
    """Return the text of a module after the shared parameters of a function were written."""
    node = definition(text, name)
    assert isinstance(node, ast.FunctionDef)
    arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
    names = [argument.arg for argument in arguments if argument.arg != "cls"]
    summary, parameters, *sections = split_sections(ast.get_docstring(node) or "")
    texts = parameter_texts(parameters)
    width = 100 - node.body[0].col_offset
    texts |= {key: wrapped(value, width) for key, value in shared.items() if key not in own}
    parameters = "\n".join(["Parameters\n----------", *dict.fromkeys(texts[key] for key in names)])
    doc = "\n\n".join([summary, parameters, *sections])
    indent = " " * node.body[0].col_offset
    lines = text.splitlines()
    prefix = lines[node.body[0].lineno - 1].strip()[: 4 if "\\" in doc else 3].rstrip('"') + '"""'
    body = textwrap.indent(f'{prefix}{doc}\n"""', indent)
    lines[node.body[0].lineno - 1 : node.body[0].end_lineno] = body.splitlines()
    return "\n".join(lines) + "\n"


def stale() -> dict[Path, str]:
    """Return the modules whose shared docstrings differ, with the text they should have."""
    found = {}
    for (path, name), target, functions in COPIES:
        text = (ROOT / path).read_text(encoding="utf-8")
        doc = ast.get_docstring(definition(text, name)) or ""
        shared = parameter_texts(split_sections(doc)[1])
        target_path = ROOT / target
        before = after = target_path.read_text(encoding="utf-8")
        for function, own in functions.items():
            after = rewritten(after, function, shared, own)
        if after != before:
            found[target_path] = after
    return found


if __name__ == "__main__":
    for path, text in stale().items():
        path.write_text(text, encoding="utf-8")

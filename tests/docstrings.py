"""Write the parameters that several functions share into their docstrings.

``python -m tests.docstrings`` copies the parameters of `krippendorff_alpha` into the other
coefficients. A test fails where a copy differs.
"""

import ast
import inspect
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1] / "setagree"


COEFFICIENTS = ROOT / "scoring" / "coefficients.py"
SOURCE = "krippendorff_alpha"
COPIES = [
    *("fleiss_kappa", "conger_kappa", "cohen_kappa", "scott_pi"),
    *("gwet_ac", "brennan_prediger", "percent_agreement", "mv_alpha"),
]
OWN = {"mv_alpha": {"distance"}}
"""Parameters of a copy with texts of their own."""


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


def definition(text: str, name: str) -> ast.FunctionDef:
    """Return the first function of a name in the text of a module."""
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
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


def updated(text: str) -> str:
    """Return the text of the module of coefficients with the shared parameters in each copy."""
    doc = ast.get_docstring(definition(text, SOURCE)) or ""
    shared = parameter_texts(split_sections(doc)[1])
    for name in COPIES:
        text = rewritten(text, name, shared, OWN.get(name, set()))
    return text


if __name__ == "__main__":
    COEFFICIENTS.write_text(updated(COEFFICIENTS.read_text("utf-8")), encoding="utf-8")

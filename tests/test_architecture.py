"""The house: who imports whom, what an import costs, how large things get, what is documented."""

import ast
import doctest
import functools
import importlib
import inspect
import io
import json
import pkgutil
import re
import subprocess
import sys
import tokenize
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import setagree as sa
from setagree.errors import option, spelling

ROOT = Path(sa.__file__).parent
PROJECT = Path(__file__).parents[1]
FILES = sorted(ROOT.rglob("*.py"))

# From the ground up. Imports go down only: never up, never sideways between rooms of one floor.
# Modules inside one room (a package) may import one another.
FLOORS = [
    {"errors", "lazy", "limits"},
    {"progress", "checks"},
    {"wording"},
    {"study"},
    {"files"},
    {"distances"},
    {"credit", "exports"},
    {"coefficients", "large"},
    {"scoring"},
    {"inference"},
    {"diagnosis", "panels"},
    {"plots"},
    {"reporting"},
    {"setagree"},  # the names of the package itself
    {"cli"},
    {"__main__"},
]
FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}
GROUND = {"errors", "lazy", "limits", "progress", "checks"}


@functools.cache
def nodes_of(source):
    """Return the nodes of the syntax tree of a source text, which many tests look through."""
    return [*ast.walk(ast.parse(source))]


def room_of(path):
    """Return the room a file belongs to: its package or module below `setagree`."""
    return named_room(path.relative_to(ROOT).parts[0].removesuffix(".py"))


def named_room(name):
    """Return the room of a module's first name."""
    return "setagree" if name == "__init__" else name


ROOMS = {room_of(path) for path in FILES}


def imported_rooms(source):
    """Yield every room that a source text imports, at its head or inside a function."""
    for node in nodes_of(source):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            if package == "setagree":
                room = named_room(rest.partition(".")[0])
                # `from setagree import masi` asks the package itself, `import labels` a room
                yield room if room in ROOMS else "setagree"


def test_every_room_has_a_floor():
    assert set(FLOOR) == ROOMS
    assert len(ROOMS) <= 22
    assert len(FILES) > 30


@pytest.mark.slow
def test_few_rooms_know_each_other():
    pairs = {
        (room_of(path), room)
        for path in FILES
        for room in imported_rooms(path.read_text(encoding="utf-8"))
        if room not in {room_of(path), "cli", "lazy", "limits"} and room_of(path) != "cli"
    }
    assert 40 < len(pairs) <= 110


def imports_of(module, modules):
    """Return the modules that a module imports, in functions too, except for type checks."""
    nodes, out = nodes_of(modules[module].read_text(encoding="utf-8")), set()
    for_types = {
        id(each)
        for branch in nodes
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for statement in branch.body
        for each in ast.walk(statement)
    }
    for each in nodes:
        if isinstance(each, ast.ImportFrom) and each.module and id(each) not in for_types:
            names = {f"{each.module}.{name.name}" for name in each.names}
            out |= names & modules.keys() or {each.module}
    return (out & modules.keys()) - {module}


def test_no_modules_import_each_other():
    modules = {
        ".".join(["setagree", *path.relative_to(ROOT).with_suffix("").parts]): path
        for path in FILES
        if path.name != "__init__.py"
    }
    imports = {module: imports_of(module, modules) for module in modules}
    assert sum(map(len, imports.values())) > 500
    while free := {module for module, needed in imports.items() if not needed}:
        imports = {m: needed - free for m, needed in imports.items() if m not in free}
    assert imports == {}


def test_wording_stands_on_the_ground():
    for path in (ROOT / "wording").rglob("*.py"):
        assert {*imported_rooms(path.read_text(encoding="utf-8"))} <= {*GROUND, "wording"}


def test_no_tool_imports_another():
    for path in (ROOT / "exports" / "tools").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "setagree.exports.tools" not in text, path.name


def test_each_room_says_what_it_is_for():
    for path in ROOT.glob("*/__init__.py"):
        doc = ast.get_docstring(nodes_of(path.read_text(encoding="utf-8"))[0])
        assert doc, path
        assert doc.split("\n\n")[0].endswith("."), path


def test_imports_go_down():
    up = [
        (str(path.relative_to(ROOT)), room)
        for path in FILES
        for room in imported_rooms(path.read_text(encoding="utf-8"))
        if room != room_of(path) and FLOOR[room] >= FLOOR[room_of(path)]
    ]
    assert up == []


@pytest.mark.parametrize(
    ("source", "rooms"),
    [
        ("from setagree.study.labels import parse_labels", ["study"]),
        ("import setagree.credit.base", ["credit"]),
        ("import setagree as sa", ["setagree"]),
        ("from setagree import coefficients, masi", ["coefficients", "setagree"]),
        ("def f():\n    from setagree.cli import run", ["cli"]),
        ("import numpy as np\nfrom pathlib import Path", []),
    ],
)
def test_the_layer_test_sees_every_form(source, rooms):
    assert list(imported_rooms(source)) == rooms


def test_only_the_package_imports_by_name():
    """No module but three imports through a string: the package itself, for its lazy names.

    And the list of commands and the table of formats, so that the code of a command or of a tool is
    loaded for it alone.
    """
    callers = [
        path.relative_to(ROOT).as_posix()
        for path in FILES
        if re.search(r"import_module\(|__import__\(", path.read_text(encoding="utf-8"))
    ]
    assert callers == ["__init__.py", "cli/app.py", "exports/format.py"]


@pytest.mark.slow
def test_no_function_shadows_a_module():
    code = (
        "import importlib, pkgutil, types, setagree as sa\n"
        "for m in pkgutil.walk_packages(sa.__path__, 'setagree.'):\n"
        "    if not m.name.endswith('__main__'):\n"
        "        importlib.import_module(m.name)\n"
        "modules = {n for n in sa.__all__ if isinstance(getattr(sa, n), types.ModuleType)}\n"
        "assert modules == {'distances', 'plots'}, modules\n"
        "assert all(callable(getattr(sa, n)) for n in set(sa.__all__) - modules - {'LabelSet'})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- How sentences name options -----------------------------------------------------------------

# Texts that only Python sees, and calls of Python beside what the command has instead.
PYTHON_ALONE = (
    *("as in window='7D'", " (level=0.95 is alpha=0.05)"),
    *("(study), over='raters') gives", "bootstrap(...).interval(method=)"),
    *(
        "Reading(unit='doc')",
        "from_long(value=...)",
        "setagree.read(files, filename_column='rater')",
        "window=...)",
    ),
    *("consensus(method='dawid_skene')", "setagree.read(file, tool='plain_row_per_label')"),
)


def texts_of(source):
    docs = {id(node.value) for node in nodes_of(source) if isinstance(node, ast.Expr)}
    for node in nodes_of(source):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def spelled_as_in_python(source):
    """Yield the texts that name an option of the command by Python's keyword."""
    options = pytest.importorskip("setagree.cli.options", reason="the command needs the cli extra")
    keyword = re.compile(rf"(?<![\w@])(?:{'|'.join(options.CALLED)})=(?!=)")
    for text in texts_of(source):
        if keyword.search(text) and not any(known in text for known in PYTHON_ALONE):
            yield text


def test_a_sentence_names_an_option_by_option():
    texts = {
        str(path.relative_to(ROOT)): [*spelled_as_in_python(path.read_text(encoding="utf-8"))]
        for path in FILES
    }
    assert {path: found for path, found in texts.items() if found} == {}


@pytest.mark.slow
def test_texts_for_python_alone_exist():
    texts = [text for path in FILES for text in texts_of(path.read_text(encoding="utf-8"))]
    assert [known for known in PYTHON_ALONE if not any(known in text for text in texts)] == []


def test_the_spelling_test_sees_every_form():
    source = "A = 'say blank=.'\ndef f(x):\n    'Say label_sep=.'\n    return f'where={x} holds'"
    assert list(spelled_as_in_python(source)) == ["say blank=.", "where="]


def test_options_are_spelled_as_the_command_has_them():
    pytest.importorskip("typer")
    from setagree.cli import options
    from setagree.cli.app import COMMANDS, app, typer

    group = typer.main.get_command(app)
    known = {o for name in COMMANDS for one in group.imported(name).params for o in one.opts}
    with spelling(options.CALLED):
        assert {option(name) for name in options.CALLED} <= known
    sources = [p.read_text(encoding="utf-8") for p in FILES if room_of(p) != "cli"]
    calls = [x for source in sources for x in nodes_of(source) if isinstance(x, ast.Call)]
    named = {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Name)
        and call.func.id == "option"
        and isinstance(call.args[0], ast.Constant)
    }
    assert len(named) > 30
    assert named <= {*options.CALLED}


# ---- What an import costs -----------------------------------------------------------------------

HEAVY = (
    "scipy.stats matplotlib typer rich narwhals duckdb sklearn tqdm dask pyspark ibis jinja2 "
    "openpyxl nltk hypothesis setagree.cli setagree.inference setagree.diagnosis setagree.plots "
    "setagree.reporting setagree.exports setagree.files.tables"
)


def modules_after(statement):
    """Return the names of all modules that a fresh interpreter holds after a statement."""
    code = f"import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT.parent
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.slow
def test_import_is_light():
    loaded = modules_after("import setagree")
    assert loaded.isdisjoint(["numpy", "pandas", "scipy", *HEAVY.split(" ")])
    loaded = modules_after("import setagree; setagree.agreement")
    assert {"setagree.scoring", "numpy", "setagree.lazy"} <= loaded
    assert loaded.isdisjoint(["pandas", *HEAVY.split(" ")])


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--version", "--help"])
def test_what_needs_no_data_is_quick(option):
    pytest.importorskip("typer")
    called = f"sys.argv = ['setagree', '{option}']; from setagree.__main__ import main; main()"
    loaded = modules_after(called)
    assert loaded.isdisjoint(["numpy", "pandas", "scipy", "setagree.errors"])


@pytest.mark.slow
@pytest.mark.parametrize("words", ["walkthrough.csv --wide", "study.csv", "study.csv --format csv"])
def test_small_files_are_scored_without_pandas(words):
    pytest.importorskip("typer")
    called = f"sys.argv = 'setagree score examples/{words}'.split(); "
    loaded = modules_after(called + "from setagree.__main__ import main; main()")
    assert "setagree.scoring.results" in loaded
    assert "scipy" not in loaded
    assert ("pandas" in loaded) == ("csv" in words.split())


@pytest.mark.slow
def test_the_import_test_sees_what_is_loaded():
    pytest.importorskip("typer")
    assert {"typer", "setagree.cli.app"} <= modules_after("import setagree.cli.app")
    assert "setagree.inference" in modules_after("import setagree; setagree.bootstrap")


# ---- How large things get -----------------------------------------------------------------------


def body_lines(node, code_lines):
    """Count the lines of a function body that hold code: no docstring, comment or blank line."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    if not body:
        return 0
    return len(code_lines & {*range(body[0].lineno, node.end_lineno + 1)})


def lines_of_code(source):
    """Return the numbers of the lines that hold a token other than a comment."""
    skipped = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def function_sizes(source):
    """Return the size of every function and method in a source text, by name."""
    code = lines_of_code(source)
    return [
        (node.name, body_lines(node, code))
        for node in nodes_of(source)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


BUDGET = {
    "cli": 4_100,
    "coefficients": 2_750,
    "credit": 2_450,
    "diagnosis": 4_850,
    "distances": 2_400,
    "exports": 4_950,
    "files": 2_070,
    "inference": 7_550,
    "large": 4_600,
    "panels": 5_000,
    "plots": 2_600,
    "reporting": 4_700,
    "scoring": 3_000,
    "study": 9_350,
    "wording": 1_400,
}
"""Lines of each room, in fifties. A change may lower them; one that raises them states why."""


@pytest.mark.parametrize("room", BUDGET)
def test_rooms_keep_to_their_lines(room):
    paths = (ROOT / room).rglob("*.py")
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
    assert BUDGET[room] - 100 < lines <= BUDGET[room]


def test_every_package_has_a_budget():
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == set(BUDGET)


@pytest.mark.slow
def test_functions_are_small():
    """No body of a function has more than 60 lines."""
    named = [
        (size, f"{path.relative_to(ROOT)}: {name}")
        for path in FILES
        for name, size in function_sizes(path.read_text(encoding="utf-8"))
    ]
    assert len(named) > 200
    assert max(named)[0] <= 60, max(named)


def test_modules_are_small():
    """No module has more than 800 lines."""
    lengths = {str(p.relative_to(ROOT)): len(p.read_text("utf-8").splitlines()) for p in FILES}
    assert {name: n for name, n in lengths.items() if n > 800} == {}


def test_the_size_test_counts_what_it_says():
    source = '''
def f(x):
    """Return x.

    Long.
    """
    # why

    y = [
        x,
    ]
    return """a
b"""


class C:
    def g(self): ...
'''
    assert function_sizes(source) == [("f", 5), ("g", 1)]


# ---- What is documented -------------------------------------------------------------------------

NO_EXAMPLE = {
    "Annotations": "its constructors have one each",
    "LabelSet": "a name for a type",
    "SetagreeError": "raised, not called",
    "SetagreeWarning": "given, not called",
    "UndefinedAgreementWarning": "given, not called",
    "distances": "a module",
    "plots": "a module",
}


@pytest.mark.parametrize("name", sorted(set(sa.__all__) - set(NO_EXAMPLE)))
def test_public_names_have_an_example(name):
    doc = inspect.getdoc(getattr(sa, name))
    assert doc is not None
    assert re.search(r"^Examples\n-+\n(.|\n)*>>> ", doc, re.MULTILINE)


def test_exceptions_are_needed():
    assert set(NO_EXAMPLE) <= set(sa.__all__)
    for name in NO_EXAMPLE:
        assert "\nExamples\n" not in (inspect.getdoc(getattr(sa, name)) or "")


def test_constructors_of_annotations_have_examples():
    methods = [
        getattr(kind, name)
        for kind in (sa.Annotations, sa.Tally)
        for name in vars(kind)
        if name.startswith("from_") and name != "from_annotations"
    ]
    assert len(methods) >= 6
    for method in [*methods, sa.Tally.merge]:
        assert ">>> " in inspect.getdoc(method)


# Distances that need a whole study cannot be shown on two values.
WHOLE_SCALE = {"ordinal", "ordinal_gwet", "bipolar", "circular"}


@pytest.mark.parametrize("name", sorted(set(sa.distances.distance_names()) - WHOLE_SCALE))
def test_distances_have_an_example(name):
    doc = inspect.getdoc(getattr(sa.distances, name))
    kind = inspect.getdoc(type(getattr(sa.distances, name)))
    assert f">>> {name}(" in doc or f"distances.{name}(" in kind


def test_all_is_sorted_and_complete():
    assert sa.__all__ == sorted(sa.__all__)
    assert len(set(sa.__all__)) == len(sa.__all__)
    assert all(hasattr(sa, name) for name in sa.__all__)
    assert dir(sa) == sa.__all__
    with pytest.raises(AttributeError, match="has no attribute 'krippendorf'"):
        _ = sa.krippendorf


MODULES = ["setagree", *(m.name for m in pkgutil.walk_packages(sa.__path__, "setagree."))]


@pytest.mark.slow
@pytest.mark.parametrize("name", [m for m in MODULES if m != "setagree.__main__"])
def test_doctests(name):
    if name.startswith("setagree.cli"):
        pytest.importorskip("typer")
    said = io.StringIO()
    with redirect_stdout(said):
        result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0, said.getvalue()


def test_there_are_doctests():
    found = doctest.DocTestFinder(exclude_empty=True)
    named = {
        test.name.rpartition(".")[2]
        for module in (
            "setagree.study.labels",
            "setagree.scoring.results",
            "setagree.distances.sets",
            "setagree.scoring.table",
            "setagree.study.annotations",
        )
        for test in found.find(importlib.import_module(module))
        if test.examples
    }
    assert {"parse_labels", "Agreement", "masi", "agreement", "from_long"} <= named


# ---- The version --------------------------------------------------------------------------------


def test_the_version_stands_in_one_place():
    build = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in build["project"]
    assert build["project"]["dynamic"] == ["version"]
    assert build["tool"]["hatch"]["version"]["path"] == "setagree/__init__.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.?(a|b|rc|dev|post)\d+)?", sa.__version__)
    quoted = f'"{sa.__version__}"'
    holders = [path for path in FILES if quoted in path.read_text(encoding="utf-8")]
    assert holders == [ROOT / "__init__.py"]
    assert holders[0].read_text(encoding="utf-8").count(sa.__version__) == 1

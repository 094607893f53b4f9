from pathlib import Path

from tests.mutants import ROOT, files_of, lines_of, mutants, uses

MODULE = Path("setagree/coefficients/sums.py")


def test_each_changes_one_place_outside_of_docstrings_and_comments():
    source = (ROOT / MODULE).read_text(encoding="utf-8")
    found = list(mutants(MODULE))
    assert {"-", "*", "<="} & {mutant.old for mutant in found}
    for mutant in found:
        assert source[mutant.start : mutant.end] == mutant.old
        compile(mutant.applied(source), MODULE, "exec")


def test_the_matching_file_comes_first():
    assert files_of("large", Path("setagree/large/filtering.py"), ROOT)[0].name == "test_where.py"


def test_a_statement_is_reached_by_any_of_its_lines():
    source = "if (\n    a\n    < b\n):\n    c = [\n        a + 1\n    ]\nd = 2\n"
    lines = [lines_of(source, line) for line in range(1, 9)]
    assert lines == [range(1, 5)] * 4 + [range(5, 8)] * 3 + [range(8, 9)]


def test_a_constant_is_reached_where_it_is_used():
    module = Path("setagree/coefficients/parts.py")
    source = (ROOT / module).read_text(encoding="utf-8").splitlines()
    line = next(k for k, text in enumerate(source, 1) if text.startswith("_SQUARES_TOL = "))
    found = [source[k - 1].strip() for path, k in uses(module, line, ROOT) if path == module]
    assert len(found) > 2
    assert all("_SQUARES_TOL" in text for text in found)

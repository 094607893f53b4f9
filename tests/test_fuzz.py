"""A short run of the fuzzer; and that it sees what is planted."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from fuzz.session import FAMILIES, Session
from fuzz.tables import table_programs

import setagree as sa
from setagree.cli import output as cli_output
from setagree.cli import sources as cli_sources
from setagree.study import assembly, labels

pytestmark = pytest.mark.slow

pytest.importorskip("typer", reason="the extra 'cli' is not installed")


@pytest.mark.parametrize(("family", "cases"), [("tables", 60), ("arguments", 80), ("commands", 15)])
def test_short_run(family, cases):
    """Random cases of a fixed seed end as they must."""
    session = Session(1, [family])
    failures = list(session.run(60, most=3, cases=cases))
    assert not failures, "\n".join(failures)
    assert session.n_failures == 0


def test_objects_that_are_all_text():
    programs = table_programs(Random("tables 771204 643"), n_roads=99)
    failures = [f"{program.part}: {program.run()}" for program in programs]
    assert failures == [f"{program.part}: None" for program in programs]


@pytest.mark.parametrize("family", FAMILIES)
def test_one_seed_one_case(family):
    texts = [[p.text for p in FAMILIES[family](Random(seed))] for seed in ("1", "1", "2")]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


# ---- What is planted is seen --------------------------------------------------------------------


def found(family, n_cases, **options):
    """Give what fails among the programs of some cases."""
    for k in range(n_cases):
        for program in FAMILIES[family](Random(f"{k}"), **options):
            failure = program.run()
            if failure is not None:
                yield failure


def test_a_wrong_distance_is_seen(monkeypatch):
    """Credit of 1/2 for nested sets, in the place of 2/3, is not what exact fractions give."""
    right = sa.distances.masi.function
    wrong = lambda a, b, i: 1 - 0.75 * (1 - right(a, b, i)) - 0.25 * (a + b == 2 * i)  # noqa: E731
    monkeypatch.setitem(vars(sa.distances.masi), "function", wrong)
    assert any("(masi) is" in failure for failure in found("tables", 25))


def test_a_wrong_policy_is_seen(monkeypatch):
    right = labels._checked
    wrong = lambda found, syntax, cell: right(found, replace(syntax, blank="missing"), cell)  # noqa: E731
    monkeypatch.setattr(labels, "_checked", wrong)
    assert any("AssertionError" in failure for failure in found("tables", 60))


def test_a_lost_repeat_is_seen(monkeypatch):
    right = assembly._settle_duplicates
    wrong = lambda coded, policy: right(coded, "first" if policy == "last" else policy)  # noqa: E731
    monkeypatch.setattr(assembly, "_settle_duplicates", wrong)
    assert any("AssertionError" in failure for failure in found("tables", 200))


@pytest.mark.parametrize("error", [TypeError, MemoryError, NotImplementedError, RecursionError])
def test_a_raw_error_is_seen(monkeypatch, error):
    def broken(*given, **options):
        raise error("planted")

    monkeypatch.setattr(sa, "krippendorff_alpha", broken)
    failures = [*found("arguments", 2, name="sa.krippendorff_alpha")]
    assert failures
    assert all(error.__name__ in failure for failure in failures)


def test_a_raw_warning_is_seen(monkeypatch):
    def careless(*given, **options):
        return np.zeros(1) / np.zeros(1)

    monkeypatch.setattr(sa, "krippendorff_alpha", careless)
    assert any(
        "RuntimeWarning" in each for each in found("arguments", 2, name="sa.krippendorff_alpha")
    )


def test_a_traceback_is_seen(monkeypatch):
    def broken(*given, **options):
        raise KeyError("planted")

    monkeypatch.setattr(cli_sources, "read_study", broken)
    assert any("KeyError" in failure for failure in found("commands", 60))


def test_json_that_is_none_is_seen(monkeypatch):
    monkeypatch.setitem(cli_output.WRITERS, "json", lambda frame: '[{"a": NaN}]')
    assert any("ZeroDivisionError" in failure for failure in found("commands", 100))

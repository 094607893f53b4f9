"""Clusters, and raters as a sample, on the command line."""

import json

import numpy as np
import pytest

pytest.importorskip("typer")

from cli_support import invoke, ok, refusal, rows

import setagree as sa


@pytest.fixture(name="study", scope="module")
def clustered_study():
    """Return 48 units in 12 documents, rated by four raters."""
    study = sa.simulate(48, 4, missing=0.15, rng=4)
    return study.sampled(cluster={unit: f"d{k // 4}" for k, unit in enumerate(study.units)})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, study):
    """Work in a fresh folder with the study as a table that has its documents."""
    monkeypatch.chdir(tmp_path)
    frame = study.to_long()
    frame["document"] = study.units_frame["cluster"].loc[frame["unit"]].to_numpy()
    frame["half"] = [int(str(unit)[1:]) % 2 for unit in frame["unit"]]
    frame["labels"] = [json.dumps(sorted(labels)) for labels in frame["labels"]]
    frame.to_csv("study.csv", index=False)
    return tmp_path


CLUSTERED = ("study.csv", "--cluster", "document")


def test_score(study):
    """The table is that of the library, and says over how many clusters."""
    row, expected = rows("score", *CLUSTERED)[0], sa.krippendorff_alpha(study)
    assert row["standard_error"] == pytest.approx(expected.standard_error, rel=1e-12)
    assert [row["low"], row["high"]] == pytest.approx(expected.interval(), rel=1e-12)
    assert "are clustered by document: 12 clusters, " in ok("score", *CLUSTERED)
    row = rows("score", *CLUSTERED, "--interval", "score")[0]
    assert [row["low"], row["high"]] == pytest.approx(expected.interval(method="score"), rel=1e-12)


def test_few_clusters_are_doubted():
    """Two clusters give a warning, and the command goes on."""
    result = invoke("score", "study.csv", "--cluster", "half")
    assert result.exit_code == 0
    assert "Warning: intervals clustered by half are rough" in result.stderr


def test_bootstrap():
    """Clusters are redrawn, and the note says so."""
    words = ("score", *CLUSTERED, "--interval", "bootstrap", "--resamples", "200", "--seed", "1")
    assert "200 resamples of the 12 clusters" in " ".join(ok(*words).split())


def test_compare_and_test():
    """Comparisons and reshuffles say over what."""
    words = ok("compare", *CLUSTERED, "-d", "masi,nominal")
    assert "linearisation, 12 clusters" in " ".join(words.split())
    words = ("test", *CLUSTERED, "--resamples", "99", "--seed", "1")
    assert "over 12 clusters" in " ".join(ok(*words).split())
    inside = " ".join(ok(*words, "--scheme", "within_cluster").split())
    assert "the answers of each cluster over its own units and raters." in inside


def test_plan():
    """Units are planned in clusters of so many."""
    frame = rows("plan", *CLUSTERED, "--half-width", "0.05", "--units-per-cluster", "2,8")
    assert [row["units_per_cluster"] for row in frame] == [2, 8]
    assert all(row["clusters"] == -(-row["units"] // row["units_per_cluster"]) for row in frame)
    assert "units per cluster" in ok("plan", *CLUSTERED, "--units", "60")
    assert "whole numbers of 1 or more" in refusal("plan", *CLUSTERED, "--units-per-cluster", "0")


@pytest.mark.parametrize("command", ["diagnose", "report"])
def test_pages(command, folder):
    """Diagnoses and reports are clustered, groups among them."""
    name = "out.md" if command == "report" else "out.txt"
    words = (command, *CLUSTERED, "--group", "half", "--output", name, "--seed", "1")
    ok(*words)
    written = " ".join((folder / name).read_text(encoding="utf-8").split())
    assert ", 12 clusters)" in written


def test_what_is_reduced():
    """A file that is reduced does not tell its units apart."""
    said = refusal("score", *CLUSTERED, "--memory-limit", "1GB")
    assert "--cluster is for files that are read into memory" in said


def test_raters_like_these(study):
    """--over both gives the interval about raters like these, and says so."""
    row = rows("score", "study.csv", "--over", "both")[0]
    plain = sa.Annotations.from_triples(study.to_triples())
    expected = sa.krippendorff_alpha(plain).interval(over="both")
    assert [row["low"], row["high"]] == pytest.approx(expected, rel=1e-12)
    assert "raters like these" in ok("score", "study.csv", "--over", "both")
    few = ok("score", "study.csv", "--over", "both", "--interval", "bootstrap", "--seed", "1")
    assert "held the truth in 80-91 % of studies" in " ".join(few.split())
    said = refusal("score", "study.csv", "--over", "both", "--seed", "1")
    assert "--seed makes sense only with --interval bootstrap" in said
    only = rows("score", "study.csv", "--over", "both", "-c", "mv_alpha")[0]
    assert only["low"] is None or np.isnan(only["low"])

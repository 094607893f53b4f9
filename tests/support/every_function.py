"""What setagree answers to everything it can be asked, on studies of several kinds."""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import setagree as sa

FEW = {"n_resamples": 19, "rng": 1}


def studies():
    """Return studies that between them take every road through the library."""
    rng = np.random.default_rng(5)
    numbers = pd.DataFrame(
        {
            "unit": np.arange(160) // 4,
            "rater": np.arange(160) % 4,
            "value": rng.random(160).round(1),
        }
    )
    return {
        "sets": sa.simulate(60, 4, missing=0.2, rng=1),
        "crowd": sa.simulate(150, 12, n_labels=12, prevalence=0.2, missing=0.6, rng=2),
        "vocabulary": sa.simulate(300, 3, n_labels=90, prevalence=0.05, rng=3),
        "large": sa.simulate(1000, 3, n_labels=14, prevalence=0.3, missing=0.1, rng=4),
        "numbers": sa.Annotations.from_long(numbers, value="value"),
        "categories": sa.Annotations.from_long(
            numbers.assign(value=np.array(list("abcd"))[(4 * numbers.value).astype(int) % 4]),
            value="value",
        ),
    }  # fmt: skip


def questions(study, kind):
    raters = list(study.raters)
    panels = {"one": raters[:2], "two": raters[2:]}
    groups = {unit: str(k % 3) for k, unit in enumerate(study.units)}
    own = {"numbers": "interval", "categories": "nominal"}.get(kind, "masi")
    one = sa.krippendorff_alpha(study, distance=own)
    other = sa.fleiss_kappa(study, distance=own)
    of_raters = sa.conger_kappa(study, distance=own)
    yield "score", lambda: sa.agreement(study).to_frame()
    for name in (
        *("krippendorff_alpha", "fleiss_kappa", "conger_kappa"),
        *("gwet_ac", "brennan_prediger", "percent_agreement"),
    ):
        yield name, lambda name=name: sa.agreement(study, coefficient=name).to_frame()
    if kind not in {"numbers", "categories"}:
        every = ["jaccard", "dice", "hamming", "nominal"]
        yield "distances", lambda: sa.agreement(study, distance=every).to_frame()
        yield "callable", lambda: sa.krippendorff_alpha(study, distance=lambda a, b: float(a != b))
        yield "mv_alpha", lambda: sa.mv_alpha(study)
        yield "by_label", lambda: sa.by_label(study)
        yield "by_presence", lambda: sa.by_presence(study)
        yield "confusions", lambda: sa.confusions(study)
        yield "confusions tested", lambda: sa.confusions(study, n_resamples=9, rng=1)
        tree = {label: f"branch {k % 3}" for k, label in enumerate(study.labels)}
        yield "by_depth", lambda: sa.by_depth(study, parents=tree)
        for credit in ("ancestors", "wu_palmer", "lin"):
            d = sa.distances.taxonomy(tree, credit=credit)
            yield f"taxonomy {credit}", lambda d=d: sa.krippendorff_alpha(study, distance=d)
        points = {label: [1, k, k * k % 7] for k, label in enumerate(study.labels)}
        # Transports are solved pair by pair: only few sets are quick.
        for match in ("centroid", "transport") if kind == "sets" else ("centroid",):
            d = sa.distances.embedding(points, match=match)
            yield f"embedding {match}", lambda d=d: sa.krippendorff_alpha(study, distance=d)
        wide = study.to_wide().reset_index()
        yield "wide", lambda: sa.agreement(sa.read(wide, wide=True, unit="unit")).to_frame()
        yield "what_if", lambda: sa.what_if(study)
    two = study.exclude_raters(raters[2:])
    yield "cohen_kappa", lambda: sa.cohen_kappa(two, distance=own)
    yield "scott_pi", lambda: sa.scott_pi(two, distance=own)
    yield "weights", lambda: sa.weights(study, own).to_frame()
    for over in ("units", "raters", "both"):
        yield f"bootstrap {over}", lambda over=over: sa.bootstrap(one, over=over, **FEW)
    yield "bootstrap clusters", lambda: sa.bootstrap(one, cluster=groups, **FEW)
    yield "bootstrap conger", lambda: sa.bootstrap(of_raters, **FEW)
    for scheme in ("pooled", "within_rater", "table"):
        yield f"shuffles {scheme}", lambda s=scheme: sa.permutation_test(one, scheme=s, **FEW)
    yield "shuffles conger", lambda: sa.permutation_test(of_raters, scheme="within_rater", **FEW)
    yield "jackknife", lambda: sa.jackknife(one)
    yield "jackknife raters", lambda: sa.jackknife(one, over="raters")
    yield "compare", lambda: sa.compare(one, other)
    yield "compare resampled", lambda: sa.compare(one, other, method="bootstrap", **FEW)
    yield "plan", lambda: sa.plan(one, sa.PlanGoals(n_units=[50, 100]), n_raters=[2, 3], **FEW)
    yield "benchmark", lambda: sa.benchmark(one)
    yield "score interval", lambda: one.interval(method="score")
    yield "by_rater", lambda: sa.by_rater(study)
    yield "by_pair", lambda: sa.by_pair(study)
    yield "pair_matrix", lambda: sa.pair_matrix(sa.by_pair(study))
    yield "by_unit", lambda: sa.by_unit(study)
    yield "by_group", lambda: sa.by_group(study, groups, **FEW)
    times = {unit: k for k, unit in enumerate(study.units)}
    yield "over_time", lambda: sa.over_time(study, times, window=20)
    if len(raters) > 3:
        yield "alt_test", lambda: sa.alt_test(study, model=raters[0], min_units=2)
    yield "consensus", lambda: sa.consensus(study)
    yield "consensus dawid_skene", lambda: sa.consensus(study, method="dawid_skene")
    yield "consensus medoid", lambda: sa.consensus(study, method="medoid")
    yield "against consensus", lambda: sa.score_against_consensus(study)
    yield "ks", lambda: sa.ks_statistic(study, distance=own, **FEW)
    yield "crowdtruth", lambda: sa.crowdtruth(study)
    yield "against panel", lambda: sa.score_against_panel(study, raters=raters[:1], distance=own)
    yield "completion", lambda: sa.completion_bounds(study, distance=own)
    yield "map", lambda: sa.rater_map(study, **FEW)
    yield "two panels", lambda: sa.cross_replication(study, panels=panels, **FEW)
    yield "k_rater", lambda: sa.k_rater_reliability(study, k=1, n_splits=5, rng=1)
    yield "at_least", lambda: sa.at_least(one, 0.2)
    yield "monitor", lambda: sa.monitor(study, batch=groups, threshold=0.2, distance=own)
    yield "components", lambda: sa.variance_components(study, distance=own)
    if kind != "numbers":
        yield "next", lambda: sa.next_ratings(study, budget=9)
        people = study.take(study.rater_codes == 0)
        table = people.to_long().drop(columns="rater")
        yield "soft", lambda: sa.soft_scores(study, model=raters[0], n_splits=2, rng=1)
        yield "prevalence", lambda: sa.prevalence(people, model=table)
    if len(raters) > 2:
        given = {"model": raters[0], "margin": 0.001, "distance": own}
        yield "noninferior", lambda: sa.noninferiority_test(study, **given)
        yield "equivalent", lambda: sa.noninferiority_test(study, equivalence=True, **given)
    runs = study.with_raters({"model": dict.fromkeys(raters[: max(1, len(raters) // 2)], "m")})
    yield "facets", lambda: sa.facet_agreement(runs, facets=["model"], distance=own)
    again = pd.concat([study.to_long(), study.to_long().head(20)])
    answer = "labels" if study.kind == "labels" else "value"
    columns = {answer: answer, "duplicates": "repeats"}
    twice = sa.Annotations.from_long(again, **columns)
    yield "repeats", lambda: sa.intra_rater_agreement(twice, distance=own)
    yield "methods", lambda: sa.methods_text(study)
    yield "tally", lambda: sa.agreement(sa.Tally.from_annotations(study)).to_frame()
    yield "kept", lambda: sa.conger_kappa(sa.Tally.from_annotations(study, keep_raters=True))
    if kind != "large":  # the others reach all that a report adds
        yield "markdown", lambda: _report(study)


def _report(study):
    with tempfile.TemporaryDirectory() as folder:
        path = sa.report(study, Path(folder) / "x.md", **FEW)
        return path.read_text(encoding="utf-8")


def errors_of(kind):
    """Return the number of questions about the study of a kind, and the errors of those that fail.

    Results are asked for their tables, too, some of which are computed there.
    """
    n_asked, errors = 0, {}
    for name, ask in questions(studies()[kind], kind):
        n_asked += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                answer = ask()
                if hasattr(answer, "to_frame"):
                    answer.to_frame()
            except Exception as error:  # noqa: BLE001 - it is the answer
                errors[name] = error
    return n_asked, errors

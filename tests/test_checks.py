"""What one call may cost, and how more is refused."""

import inspect
import pickle
import pydoc
import re

import numpy as np
import pytest
from inference_support import HARD, score

import setagree as sa
from setagree.checks import MOST_BYTES, MOST_STEPS, check_cost, public
from setagree.errors import CostError, OptionError


def test_what_fits_passes():
    check_cost("A table", n_bytes=MOST_BYTES, n_steps=MOST_STEPS, instead="-")


def test_memory_is_named():
    with pytest.raises(CostError, match=r"^A table would take about 3\.1 GB .* Ask for less\.$"):
        check_cost("A table", n_bytes=3.1e9, instead="Ask for less.")


def test_steps_are_named():
    with pytest.raises(sa.SetagreeError, match=r"about 20,000,000,000 steps; the limit is"):
        check_cost("A test", n_steps=2e10, instead="Ask for less.")


class TestLevels:
    @pytest.mark.parametrize("level", ["0.95", None, 95, 1, np.array([0.9]), [0.9], float("nan")])
    def test_refused(self, level):
        """Text, nothing, a list, or a number outside of (0, 1), wherever a level is asked for."""
        alpha = score(HARD, "krippendorff_alpha")
        other = score(HARD, "fleiss_kappa")
        ask = [
            alpha.interval,
            lambda level: alpha.to_frame(level=level),
            sa.bootstrap(alpha, n_resamples=10, rng=1).interval,
            lambda level: sa.compare(alpha, other, level=level),
        ]
        for one in ask:
            with pytest.raises(OptionError, match=r"level=.* must lie between 0 and 1, such as"):
                one(level)

    @pytest.mark.parametrize("level", [0.9, np.float64(0.9)])
    def test_taken(self, level):
        alpha = score(HARD, "krippendorff_alpha")
        assert alpha.interval(level) == alpha.interval(0.9)


STUDY = sa.simulate(12, 3, rng=1)
ALPHA = sa.krippendorff_alpha(STUDY)


class TestNames:
    @pytest.mark.parametrize(
        ("call", "said"),
        [
            (lambda: sa.agreement(STUDY, distances="masi"), "distances= is called distance="),
            (
                lambda: sa.agreement(STUDY, questions=["a", "b"]),
                ("agreement() has no questions=; use setagree.by_question(data, questions=...)."),
            ),
            (
                lambda: sa.Reading(without=["ann"]),
                (
                    "Reading() has no without=; exclude the raters first: "
                    "study.exclude_raters([...])."
                ),
            ),
            (
                lambda: sa.Reading(population_size=90),
                (
                    "Reading() has no population_size=; set it on the study first: "
                    "study.sampled(population_size=...)."
                ),
            ),
            (lambda: sa.Reading(item="doc"), "item= is called unit="),
            (lambda: sa.agreement(STUDY, metric="masi"), "metric= is called distance="),
            (lambda: sa.agreement(STUDY, item="doc"), "item= is called unit="),
            (lambda: sa.agreement(STUDY, annotator="who"), "annotator= is called rater="),
            (lambda: sa.agreement(df=STUDY), "df= is called data="),
            (lambda: sa.fleiss_kappa(STUDY, metric="masi"), "metric= is called distance="),
            (
                lambda: sa.krippendorff_alpha(reliability_data=[[1, 2]]),
                "reliability_data= is called study=",
            ),
            (lambda: sa.bootstrap(ALPHA, seed=1), "seed= is called rng="),
            (lambda: sa.bootstrap(ALPHA, n=100), "n= is called n_resamples="),
            (lambda: sa.bootstrap(ALPHA, resample="units"), "resample= is called over="),
            (lambda: sa.k_rater_reliability(STUDY, k=1, n=9), "n= is called n_splits="),
            (lambda: sa.PlanGoals(halfwidth=0.1), "halfwidth= is called half_width="),
            (lambda: sa.plan(ALPHA, raters=[3]), "raters= is called n_raters="),
            (lambda: sa.next_ratings(STUDY, raters=["ann"], budget=1), "raters= is called pool="),
            (lambda: sa.monitor(STUDY, at="week", threshold=0.6), "at= is called batch="),
            (lambda: sa.over_time(STUDY, at="day", window=1), "at= is called time="),
            (lambda: sa.read("a.csv", missing=["NA"]), "missing= is called na_values="),
            (
                lambda: sa.PlanCosts(per_unit=1),
                "PlanCosts() needs per_rating=, the cost of a rating, such as 2",
            ),
            (
                lambda: sa.plan(STUDY, half_width=0.1),
                "plan() has no half_width=; use goals=sa.PlanGoals(half_width=...)",
            ),
            (
                lambda: sa.plan(STUDY, budget=9),
                "plan() has no budget=; use costs=sa.PlanCosts(budget=...)",
            ),
            (lambda: sa.report(STUDY, output="a.html"), "output= is called path="),
            (lambda: sa.read("a.csv", filter="x == 1"), "filter= is called where="),
            (
                lambda: sa.by_label(STUDY, alpha=0.05),
                "alpha= is called level= (level=0.95 is alpha=0.05)",
            ),
            (
                lambda: sa.Annotations.from_long(STUDY.to_long(), annotator="who"),
                "annotator= is called rater=",
            ),
            (
                lambda: sa.bootstrap(ALPHA, n_resample=9),
                "bootstrap() has no n_resample=. Did you mean n_resamples=?",
            ),
            (
                lambda: sa.pair_matrix(STUDY, xyz=1),
                "pair_matrix() has no xyz=; its options are pairs=, column=.",
            ),
            (
                lambda: sa.compare(ALPHA, ALPHA, where="x == 1"),
                "compare() has no where=; read the data first: sa.read(data, where=...).",
            ),
            (
                lambda: sa.by_label(STUDY, empty=["none"]),
                "by_label() has no empty=; use reading=sa.Reading(empty=...).",
            ),
            (
                lambda: sa.agreement("book.xlsx", sheet="one"),
                "agreement() has no sheet=; use reading=sa.Reading(sheet=...).",
            ),
            (
                lambda: sa.by_group(STUDY, by="x", na_values="NA"),
                "by_group() has no na_values=; use reading=sa.Reading(na_values=...).",
            ),
            (
                lambda: sa.k_rater_reliability(STUDY),
                (
                    "k_rater_reliability() needs k=, the number of raters behind each agreed "
                    "answer, as in k=3."
                ),
            ),
            (
                lambda: sa.cross_replication(STUDY),
                (
                    "cross_replication() needs panels=, a name for each panel and its raters, as "
                    "in panels={'experts': ['ann', 'bob'], 'crowd': ['w1', 'w2']}."
                ),
            ),
            (
                lambda: sa.over_time(STUDY, time="day"),
                "over_time() needs window=, the length of a time window, as in window='7D'.",
            ),
        ],
    )
    def test_options(self, call, said):
        """Of an option: what it is called here, who takes it, what is spelled alike, or all.

        Of one that is needed and was not given: what it is.

        It is an error of setagree, and a TypeError, as wrong options are everywhere.
        """
        with pytest.raises(OptionError, match=rf"^{re.escape(said)}\.?$") as refused:
            call()
        assert isinstance(refused.value, TypeError)

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("from_onehot", "setagree.from_onehot is called setagree.Annotations.from_indicators."),
            ("from_long", "setagree.from_long is called setagree.Annotations.from_long."),
            ("from_counts", "setagree.from_counts is called setagree.Tally.from_counts."),
            ("from_csv", "setagree.from_csv is called setagree.read."),
            ("read_csv", "setagree.read_csv is called setagree.read."),
            ("fleiss", "setagree.fleiss is called setagree.fleiss_kappa."),
            ("alpha", "setagree.alpha is called setagree.krippendorff_alpha."),
            ("masi", "setagree.masi is called setagree.distances.masi."),
            ("kappa", "Did you mean 'cohen_kappa' or 'conger_kappa' or 'fleiss_kappa'?"),
            ("bootstarp", "Did you mean 'bootstrap'?"),
            ("from_excel_sheet", "There are Annotations.from_contingency, "),
            ("__wrapped__", "module 'setagree' has no attribute '__wrapped__'"),
        ],
    )
    def test_of_the_package(self, name, said):
        with pytest.raises(AttributeError) as refused:
            getattr(sa, name)
        assert said in str(refused.value)
        found = str(refused.value).startswith(
            (f"module 'setagree' has no attribute {name!r}", said)
        )
        assert found

    def test_every_public_function_answers(self):
        made = [getattr(sa.Annotations, n) for n in dir(sa.Annotations) if n.startswith("from_")]
        named = [getattr(sa, n) for n in sa.__all__]
        calls = [one for one in named if inspect.isroutine(one) or isinstance(one, sa.Coefficient)]
        plots = pytest.importorskip("setagree.plots")
        calls += [getattr(plots, n) for n in plots.__all__]
        assert len(calls) > 50
        for call in [*calls, *made, sa.Tally.from_counts]:
            with pytest.raises(OptionError, match=r"has no no_such_option="):
                call(no_such_option=1)

    def test_signatures_stay(self):
        assert str(inspect.signature(sa.by_label)).startswith("(study: 'Data', *more: ")
        assert sa.by_label.__module__ == "setagree.diagnosis.by_label"
        assert pickle.loads(pickle.dumps(sa.by_label)) is sa.by_label  # noqa: S301
        assert "jackknife(agreement" in pydoc.plain(pydoc.render_doc(sa.jackknife))
        assert "@takes_data\ndef jackknife" in inspect.getsource(sa.jackknife)

    def test_what_takes_any_option(self):
        def draw(**options):
            return options

        assert public(draw) is draw


def test_help_shows_the_public_names():
    assert dir(sa) == sa.__all__
    text = pydoc.plain(pydoc.render_doc(sa))
    functions = text.partition("\nFUNCTIONS\n")[2].partition("\nDATA\n")[0]
    assert {*re.findall(r"^    (\w+)\(", functions, re.MULTILINE)} <= {*sa.__all__}
    classes = text.partition("\nCLASSES\n")[2].partition("\nFUNCTIONS\n")[0]
    assert {*re.findall(r"^    class (\w+)\(", classes, re.MULTILINE)} <= {*sa.__all__}
    data = text.partition("\nDATA\n")[2].partition("\nVERSION\n")[0]
    assert {*re.findall(r"^    (\w+) = ", data, re.MULTILINE)} <= {*sa.__all__, "__all__"}

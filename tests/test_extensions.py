"""A coefficient and a distance of somebody else are known everywhere, whichever way they come."""

import inspect
import pickle
import pydoc
import sys
from dataclasses import dataclass

import pytest
from cli_support import invoke, ok, refusal, rows, script

import setagree as sa
from setagree.coefficients.chance_models import Fixed, Model

STUDY = sa.simulate(40, 3, n_labels=4, rng=1)

# A package as pip would leave it: a module beside what says which entry points it has.
MODULE = '''
from dataclasses import dataclass

import numpy as np

import setagree as sa
from setagree.coefficients.chance_models import Fixed


@dataclass(frozen=True)
class Die(Fixed):
    def level(self, case):
        return 5 / 6  # what chance disagrees in


@sa.coefficient(model=Die(), title="Die kappa", symbol="κ", short="kappa", source="A dice player")
def die_kappa(study, *, distance=None):
    """Return kappa where chance agrees once in six."""
    return sa.score(study, die_kappa, distance=distance)


def apart(a, b, i):
    return ((a != i) | (b != i)) * (1 - i / np.maximum(a + b, 1))


thirds = sa.OverlapDistance(apart, name="thirds")
odd = "neither"
'''
POINTS = """[setagree.coefficients]
die_kappa = toy_agreement:die_kappa
odd_kappa = toy_agreement:odd

[setagree.distances]
thirds = toy_agreement:thirds
odd_distance = toy_agreement:odd
"""


@dataclass(frozen=True)
class Coin(Fixed):
    def level(self, case):
        return 0.5


@sa.coefficient(model=Coin(), title="Coin kappa", symbol="κ", short="kappa")
def coin_kappa(study, *, distance=None):
    """Return kappa where chance agrees every other time."""
    return sa.score(study, coin_kappa, distance=distance)


def half(a, b, i):
    """Return the distance 1 between sets that differ, a half where one holds the other."""
    return ((a != i) | (b != i)) * (1 - 0.5 * ((i == a) | (i == b)))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Install the package of somebody else; its odd entry points are left out where not asked."""
    (tmp_path / "toy_agreement.py").write_text(MODULE)
    info = tmp_path / "toy_agreement-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-agreement\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "\n".join(line for line in POINTS.splitlines() if "odd" not in line)
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    long = STUDY.to_long()
    long["labels"] = [sa.format_labels(one) or "[]" for one in long["labels"]]
    long.to_csv("study.csv", index=False)
    return info


# The estimate is (pa - chance) / (1 - chance), and pa is what percent agreement is.
CHANCE = {"coin_kappa": 1 / 2, "die_kappa": 1 / 6}


def by_hand(study, name, distance="masi"):
    seen = sa.percent_agreement(study, distance=distance).estimate
    return pytest.approx((seen - CHANCE[name]) / (1 - CHANCE[name]), abs=1e-12)


@pytest.mark.parametrize("asked", [coin_kappa, "die_kappa"])
class TestCoefficient:
    @pytest.fixture(autouse=True)
    def one(self, package, asked):
        self.name = asked if isinstance(asked, str) else asked.name
        self.table = sa.agreement(STUDY, coefficient=asked)
        self.score = self.table[self.name, "masi"]

    def test_agreement(self, asked):
        """It stands in the table beside ours, with any distance and a standard error."""
        table = sa.agreement(STUDY, coefficient=["alpha", asked], distance=["masi", "jaccard"])
        for distance in ("masi", "jaccard"):
            one = table[self.name, distance]
            assert one.estimate == by_hand(STUDY, self.name, distance)
            assert one.standard_error > 0

    def test_units_redrawn(self, asked):
        boot = sa.bootstrap(self.score, n_resamples=400, rng=1)
        assert boot.distribution.mean() == pytest.approx(self.score.estimate, abs=0.03)
        assert boot.standard_error == pytest.approx(self.score.standard_error, rel=0.2)

    def test_reshuffles(self, asked):
        """Each reshuffle is scored with its chance: the mean is that of pa, moved."""
        test = sa.permutation_test(self.score, n_resamples=99, rng=1)
        seen = sa.percent_agreement(STUDY)
        same = sa.permutation_test(seen, n_resamples=99, rng=1).distribution
        chance = CHANCE[self.name]
        assert test.distribution.tolist() == pytest.approx(
            ((same - chance) / (1 - chance)).tolist(), abs=1e-12
        )

    def test_one_left_out(self, asked):
        triples = STUDY.to_triples()
        for over, place, names in (("units", 1, STUDY.units), ("raters", 0, STUDY.raters)):
            values = sa.jackknife(self.score, over=over).values
            for name in names[:3]:
                rest = sa.Annotations.from_triples([row for row in triples if row[place] != name])
                assert values[name] == by_hand(rest, self.name)

    def test_reduced(self, asked):
        table = sa.agreement("study.csv", coefficient=asked, memory_limit="500MB")
        assert table[self.name, "masi"].estimate == pytest.approx(self.score.estimate, abs=1e-12)

    def test_compared_and_planned(self, asked):
        found = sa.compare(self.score, sa.krippendorff_alpha(STUDY))
        assert self.name in str(found)
        assert len(sa.plan(self.score, sa.PlanGoals(half_width=0.05)).frame) > 0

    def test_report(self, asked):
        path = sa.report(STUDY, "page.md", coefficient=asked, n_resamples=19, rng=1)
        title = self.name.replace("_", " ").capitalize()
        shown = f"{self.score.estimate:.3f}".replace("-", "−")
        assert f"{title} with the MASI distance is {shown}" in path.read_text()
        source = " (A dice player)" if asked == "die_kappa" else ""  # without a year to set off
        assert f"{title}{source} with the distance" in sa.methods_text(self.score)


def test_command_scores_it(package):
    (row,) = rows("score", "study.csv", "-c", "die_kappa")
    study = sa.read("study.csv")
    assert row["estimate"] == by_hand(study, "die_kappa")
    for command in (["test", "--resamples", 19], ["plan", "--half-width", 0.1]):
        assert "die_kappa" in ok(command[0], "study.csv", "-c", "die_kappa", *command[1:])
    (compared,) = rows("compare", "study.csv", "-c", "die_kappa,alpha")
    assert compared["first_estimate"] == row["estimate"]
    (redrawn,) = rows("score", "study.csv", "-c", "die_kappa", "--interval", "bootstrap")
    assert (redrawn["estimate"], redrawn["interval_method"]) == (row["estimate"], "bootstrap BCa")
    assert "Die kappa" in ok("diagnose", "study.csv", "-c", "die_kappa", "--resamples", 19)
    ok("report", "study.csv", "-c", "die_kappa", "--resamples", 19, "-o", "page.md")
    assert "Die kappa with the MASI distance" in (package.parent / "page.md").read_text()
    assert "die_kappa" in ok("coefficients")
    assert "kappa where chance agrees once in six" in ok("coefficients")


class TestDistance:
    @pytest.mark.parametrize("asked", [sa.OverlapDistance(half, name="half"), "thirds"])
    def test_everywhere(self, package, asked):
        """All coefficients take it, and what follows of them."""
        table = sa.agreement(STUDY, coefficient=["alpha", "fleiss", "mv", "ac2"], distance=asked)
        by_pairs = {
            "half": lambda A, B: (A != B) * (0.5 if A <= B or B <= A else 1.0),
            "thirds": lambda A, B: (A != B) * (1 - len(A & B) / (len(A) + len(B) or 1)),
        }
        (name,) = {one.distance for one in table}
        same = sa.CallableDistance(by_pairs[name], name=name, bounded=True)
        for one in table:
            if one.coefficient != "mv_alpha":
                slow = sa.agreement(STUDY, coefficient=one.coefficient, distance=same)
                assert one.estimate == pytest.approx(slow[one.coefficient, name].estimate)
        alpha = table["krippendorff_alpha", name]
        assert sa.bootstrap(alpha, n_resamples=50, rng=1).standard_error > 0
        assert sa.permutation_test(alpha, n_resamples=19, rng=1).p_value == 0.05
        assert len(sa.jackknife(alpha, over="raters").values) == 3
        assert len(sa.plan(alpha, sa.PlanGoals(half_width=0.05)).frame) > 0
        assert name in str(sa.compare(alpha, sa.krippendorff_alpha(STUDY)))
        assert len(sa.by_rater(STUDY, distance=asked)) == 3
        path = sa.report(STUDY, "page.md", distance=asked, n_resamples=19, rng=1)
        assert name in path.read_text()

    def test_command(self, package):
        (row,) = rows("score", "study.csv", "-c", "alpha", "-d", "thirds")
        study = sa.read("study.csv")
        assert row["estimate"] == sa.krippendorff_alpha(study, distance="thirds").estimate
        assert "thirds" in ok("distances")


class TestWhatIsNone:
    def test_odd_entry_points(self, package):
        (package / "entry_points.txt").write_text(POINTS)
        with pytest.raises(sa.SetagreeError, match="'odd_kappa' is not a coefficient"):
            sa.agreement(STUDY, coefficient="odd_kappa")
        with pytest.raises(sa.SetagreeError, match="'odd_distance' is not a distance"):
            sa.krippendorff_alpha(STUDY, distance="odd_distance")

    def test_unknown(self, package):
        """A name that is offered by no package is unknown, with the near ones."""
        assert "did you mean" in refusal("score", "study.csv", "-c", "krippendorf_alpha").lower()
        assert invoke("score", "study.csv", "-d", "fourths").exit_code == 2


def test_help_shows_signature_and_formula():
    shown = pydoc.plain(pydoc.render_doc(sa.krippendorff_alpha))
    assert "krippendorff_alpha(study" in shown
    assert "distance" in shown.partition("\n\n")[2].splitlines()[0]
    assert "De = n' D n / (N (N - 1))" in shown
    named = list(inspect.signature(sa.krippendorff_alpha).parameters)
    assert named[:4] == ["study", "more", "distance", "unit"]
    assert "every other time" in pydoc.plain(pydoc.render_doc(coin_kappa))


def test_pickled_by_name():
    assert pickle.loads(pickle.dumps(sa.krippendorff_alpha)) is sa.krippendorff_alpha  # noqa: S301


def test_a_method_of_a_class():
    class Holder:
        alpha = sa.krippendorff_alpha

    assert Holder.alpha is sa.krippendorff_alpha
    assert inspect.ismethod(Holder().alpha)


@dataclass(frozen=True)
class Strange(Model):
    def of_rows(self, case):
        """Return 1 - pe."""
        return 0.5, None


def test_a_model_of_no_known_kind():
    @sa.coefficient(model=Strange(), title="Strange kappa", symbol="κ", short="kappa")
    def strange_kappa(study, *, distance=None):
        return sa.score(study, strange_kappa, distance=distance)

    one = strange_kappa(STUDY)
    assert one.estimate == by_hand_at_half(STUDY)
    with pytest.raises(TypeError, match="whose answers can be resampled"):
        sa.bootstrap(one, n_resamples=9, rng=1)
    with pytest.raises(TypeError, match="whose answers can be resampled"):
        sa.jackknife(one, over="raters")


def by_hand_at_half(study):
    """Return the estimate where chance agrees every other time."""
    return pytest.approx(2 * sa.percent_agreement(study).estimate - 1, abs=1e-12)


def test_a_name_of_before():
    with pytest.raises(AttributeError, match=r"setagree\.reduce is called setagree\.tally"):
        _ = sa.reduce


@pytest.mark.usefixtures("package")
def test_the_shell_completes_their_names(monkeypatch):
    monkeypatch.delitem(sys.modules, "toy_agreement", raising=False)
    for words, found in (("score -c die", "die_kappa"), ("score -d masi,thi", "masi,thirds")):
        env = {"_SETAGREE_COMPLETE": "complete_bash", "COMP_WORDS": f"setagree {words}"}
        assert found in script(env=env | {"COMP_CWORD": "3"}).stdout.split()
    assert "toy_agreement" not in sys.modules

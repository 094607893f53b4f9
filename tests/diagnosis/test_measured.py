"""Diagnosis of labelled spans: pieces of documents count by their sizes."""

import numpy as np
import pandas as pd
import pytest
import spans_support as spans

import setagree as sa
from setagree.errors import OptionError

pytestmark = pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")


def v2(chance="documents"):
    return sa.Annotations.from_spans(
        spans.rows(spans.V2), length=spans.V2["lengths"], done=spans.done(spans.V2), chance=chance
    )


def many(n_documents=12, seed=1):
    """Return three raters' random spans in documents of 40 characters."""
    rng = np.random.default_rng(seed)
    rows = []
    for d in range(n_documents):
        for rater in "abc":
            for _ in range(2):
                start = int(rng.integers(0, 30))
                label = "PQ"[int(rng.integers(2))]
                rows.append((f"d{d}", rater, start, start + int(rng.integers(3, 10)), label))
    frame = pd.DataFrame(rows, columns=["document", "rater", "start", "end", "label"])
    return sa.Annotations.from_spans(frame, length={f"d{d}": 40 for d in range(n_documents)})


def one_each(study):
    size = study.units_frame["length"].astype(int)
    copies = [
        (rater, f"{unit}/{k}", labels)
        for rater, unit, labels in study.to_triples()
        for k in range(size[unit])
    ]
    plain = sa.Annotations.from_triples(copies)
    return plain.sampled(cluster={unit: unit.partition(":")[0] for unit in plain.units})


def test_pairs_are_studies_of_two_raters():
    study = many()
    for row in sa.by_pair(study).itertuples():
        (other,) = {*"abc"} - {row.rater_a, row.rater_b}
        alpha = sa.krippendorff_alpha(study.exclude_raters([other]))
        assert row.estimate == pytest.approx(alpha.estimate, abs=1e-12)
        assert (row.low, row.high) == pytest.approx(alpha.interval(), abs=1e-12)
        assert row.interval_method == "fieller"


@pytest.mark.parametrize("study", [v2("characters"), many()], ids=["V2", "many"])
def test_raters_by_characters(study):
    found, plain = (
        sa.by_rater(x).set_index("rater").loc[[*"abc"]] for x in (study, one_each(study))
    )
    columns = ["mean_distance", "mean_set_size", "set_size_bias", "empty_rate", "empty_bias"]
    columns += ["overuse", "underuse"]
    for column in columns:
        assert found[column].tolist() == pytest.approx(
            plain[column].tolist(), abs=1e-12, nan_ok=True
        )
    for rater, without in found["estimate_without"].items():
        alpha = sa.krippendorff_alpha(study.exclude_raters([rater]))
        assert without == pytest.approx(alpha.estimate, abs=1e-12)
    if study.sampling.chance == "characters":
        for column in ("difference", "difference_standard_error", "difference_low"):
            expected = pytest.approx(plain[column].tolist(), abs=1e-12, nan_ok=True)
            assert found[column].tolist() == expected
    tested = sa.by_rater(study, n_resamples=20, rng=1)
    assert tested["p_value"].isna().all()
    assert tested["no_test"].iloc[0].startswith("pieces of one document are alike")


@pytest.mark.parametrize("chance", ["documents", "characters"])
@pytest.mark.parametrize("coefficient", ["krippendorff_alpha", "conger_kappa", "gwet_ac"])
def test_places_are_left_out_exactly(chance, coefficient):
    study = v2(chance)
    found = sa.by_unit(study, coefficient=coefficient).set_index("unit")
    for unit, without in found["estimate_without"].items():
        rest = study.take(study.units[study.unit_codes] != unit)
        assert without == pytest.approx(getattr(sa, coefficient)(rest).estimate, abs=1e-12)
    length = study.units_frame["length"][found.index]
    if coefficient != "krippendorff_alpha":  # whose influence has a mean without this correction
        mean = np.average(found["influence"], weights=length)
        estimate = getattr(sa, coefficient)(study).estimate
        assert mean == pytest.approx(estimate, abs=1e-12)
    cost = found["disagreement"] * found["n_ratings"] * length
    assert found["share_of_disagreement"].tolist() == pytest.approx((cost / cost.sum()).tolist())


def test_confusions_count_characters():
    study = many()
    found = sa.confusions(study)
    with pytest.warns(sa.SetagreeWarning):
        plain = sa.confusions(one_each(study))
    pd.testing.assert_frame_equal(found, plain)
    with pytest.raises(OptionError, match="pieces of one document are alike"):
        sa.confusions(study, n_resamples=20)


def test_rows_of_a_table_are_compared_over_documents():
    study = many()
    characters = study.sampled(chance="characters")
    table, plain = (
        sa.agreement(x, coefficient="fleiss_kappa", distance=["masi", "nominal"], interval="t")
        for x in (characters, one_each(study))
    )
    one, other = (sa.compare(x) for x in (table, plain))
    assert one.difference == pytest.approx(other.difference, abs=1e-12)
    assert one.p_value == pytest.approx(other.p_value, abs=1e-9)
    a, b = sa.krippendorff_alpha(study), sa.krippendorff_alpha(study, distance="nominal")
    assert sa.compare(a, b).p_value == sa.compare(b, a).p_value


def test_independent_studies_are_compared_by_their_intervals():
    """MOVER (Zou 2008) with Fieller's ends."""
    one, two = (sa.krippendorff_alpha(many(seed=seed)) for seed in (1, 2))
    found = sa.compare(one, two, design="independent").to_frame().iloc[0]
    (l1, u1), (l2, u2) = one.interval(), two.interval()
    a1, a2 = one.estimate, two.estimate
    low, high = np.hypot(a1 - l1, u2 - a2), np.hypot(u1 - a1, a2 - l2)
    assert (found["low"], found["high"]) == pytest.approx((a1 - a2 - low, a1 - a2 + high))


def test_groups_of_documents():
    study = many(30)
    genre = study.units_frame["document"].map(lambda name: "odd" if int(name[1:]) % 2 else "even")
    frame = sa.by_group(study, genre).set_index("group")
    for name in ("odd", "even"):
        kept = (genre == name).to_numpy()[study.unit_codes]
        alpha = sa.krippendorff_alpha(study.take(kept))
        assert frame.loc[name, "estimate"] == pytest.approx(alpha.estimate, abs=1e-12)
        assert frame.loc[name, "low"] == pytest.approx(alpha.interval()[0], abs=1e-12)
    assert 0 <= frame["homogeneity_p_value"].iloc[0] <= 1
    with pytest.raises(OptionError, match="is not defined for units with sizes"):
        sa.by_group(study, {"a": "one", "b": "one", "c": "two"})

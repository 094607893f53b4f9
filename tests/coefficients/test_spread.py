"""Standard errors of units that were drawn in clusters, with weights, or from strata."""

import pytest
from inference_support import T1
from small_studies import annotations

import setagree as sa
from setagree.coefficients.score_interval import score_ends
from setagree.errors import FewClustersWarning

CLUSTERS = {f"u{k}": name for k, name in enumerate("AAABBCCCCDD")}
WEIGHTS = {f"u{k}": w for k, w in enumerate([1, 2, 1, 1, 3, 1, 1, 2, 1, 1, 1])}


class TestVectors:
    """Figures of independent programs, on the published walk-through with MASI."""

    def test_clusters(self):
        """CR2 with the degrees of freedom of Bell and McCaffrey; the estimate stays."""
        with pytest.warns(FewClustersWarning, match="there are 4 clusters, they leave 2.7 degrees"):
            alpha = sa.krippendorff_alpha(annotations(T1).sampled(cluster=CLUSTERS))
        assert alpha.estimate == pytest.approx(27678 / 68753, abs=1e-14)
        assert alpha.standard_error == pytest.approx(0.1147739923, abs=6e-11)
        assert alpha.degrees_of_freedom == pytest.approx(2.7129186603, abs=6e-11)
        assert alpha.interval() == pytest.approx((0.01443907, 0.79070398), abs=6e-9)

    def test_clustered_score_interval(self):
        """Its own low end, and the one that is no higher than that of t."""
        with pytest.warns(FewClustersWarning, match="there are 4 clusters, they leave 2.7 degrees"):
            alpha = sa.krippendorff_alpha(annotations(T1).sampled(cluster=CLUSTERS))
        own = score_ends(alpha.case, alpha.definition.model, 0.95)
        assert own == pytest.approx((0.2464032585, 0.8764230478), abs=6e-11)
        found = alpha.interval(method="score")
        assert found == pytest.approx((0.0144390692, 0.8764230478), abs=6e-11)

    def test_weights(self):
        """Alpha with sampling weights, in all its parts."""
        alpha = sa.krippendorff_alpha(annotations(T1).sampled(sampling_weight=WEIGHTS))
        assert alpha.observed_disagreement == pytest.approx(0.448232323232, abs=6e-13)
        assert alpha.expected_disagreement == pytest.approx(0.763056450650, abs=6e-13)
        assert alpha.estimate == pytest.approx(0.412583010274, abs=6e-13)
        assert alpha.standard_error == pytest.approx(0.139892587481, abs=6e-13)
        assert alpha.degrees_of_freedom == pytest.approx(8)

    def test_weighted_kappa(self):
        """Fleiss' kappa with the same weights."""
        kappa = sa.fleiss_kappa(annotations(T1).sampled(sampling_weight=WEIGHTS))
        assert kappa.estimate == pytest.approx(0.4059704157, abs=6e-11)
        assert kappa.standard_error == pytest.approx(0.1406603400, abs=6e-11)

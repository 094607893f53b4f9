"""Names and references of coefficients and distances."""

from __future__ import annotations

from collections.abc import Iterable

from setagree.distances import distance_names, get_distance
from setagree.scoring.results import Agreement

REFERENCES = {
    "Bell & McCaffrey 2002": "Bell, R. M., & McCaffrey, D. F. (2002). Bias reduction in standard "
    "errors for linear regression with multi-stage samples. Survey Methodology, 28(2), 169–181.",
    "Benjamini & Yekutieli 2001": "Benjamini, Y., & Yekutieli, D. (2001). The control of the false "
    "discovery rate in multiple testing under dependency. The Annals of Statistics, 29(4), "
    "1165–1188.",
    "Braylan et al. 2022": "Braylan, A., Alonso, O., & Lease, M. (2022). Measuring annotator "
    "agreement generally across complex structured, multi-object, and free-text annotation tasks. "
    "In Proceedings of the ACM Web Conference 2022 (pp. 1720–1730).",
    "Brennan & Prediger 1981": "Brennan, R. L., & Prediger, D. J. (1981). Coefficient kappa: Some "
    "uses, misuses, and alternatives. Educational and Psychological Measurement, 41(3), 687–699.",
    "Calderon et al. 2025": "Calderon, N., Reichart, R., & Dror, R. (2025). The alternative "
    "annotator test for LLM-as-a-judge: How to statistically justify replacing human annotators "
    "with LLMs. In Proceedings of ACL 2025.",
    "Cicchetti & Allison 1971": "Cicchetti, D. V., & Allison, T. (1971). A new procedure for "
    "assessing reliability of scoring EEG sleep recordings. American Journal of EEG Technology, "
    "11(3), 101–110.",
    "Cohen 1968": "Cohen, J. (1968). Weighted kappa: Nominal scale agreement with provision for "
    "scaled disagreement or partial credit. Psychological Bulletin, 70(4), 213–220.",
    "Conger 1980": "Conger, A. J. (1980). Integration and generalization of kappas for multiple "
    "raters. Psychological Bulletin, 88(2), 322–328.",
    "Dice 1945": "Dice, L. R. (1945). Measures of the amount of ecologic association between "
    "species. Ecology, 26(3), 297–302.",
    "Dumitrache et al. 2018": "Dumitrache, A., Inel, O., Aroyo, L., Timmermans, B., & Welty, C. "
    "(2018). CrowdTruth 2.0: Quality metrics for crowdsourcing with disagreement. In Proceedings "
    "of the 1st Workshop on Subjectivity, Ambiguity and Disagreement in Crowdsourcing.",
    "Efron 1987": "Efron, B. (1987). Better bootstrap confidence intervals. Journal of the "
    "American Statistical Association, 82(397), 171–185.",
    "Efron & Tibshirani 1993": "Efron, B., & Tibshirani, R. J. (1993). An Introduction to the "
    "Bootstrap. Chapman & Hall.",
    "Fleiss 1971": "Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. "
    "Psychological Bulletin, 76(5), 378–382.",
    "Fleiss & Cohen 1973": "Fleiss, J. L., & Cohen, J. (1973). The equivalence of weighted kappa "
    "and the intraclass correlation coefficient as measures of reliability. Educational and "
    "Psychological Measurement, 33(3), 613–619.",
    "Gwet 2008": "Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the "
    "presence of high agreement. British Journal of Mathematical and Statistical Psychology, "
    "61(1), 29–48.",
    "Gwet 2014": "Gwet, K. L. (2014). Handbook of Inter-Rater Reliability (4th ed.). Advanced "
    "Analytics.",
    "Hall 1992": "Hall, P. (1992). On the removal of skewness by transformation. Journal of the "
    "Royal Statistical Society: Series B, 54(1), 221–228.",
    "Jaccard 1912": "Jaccard, P. (1912). The distribution of the flora in the alpine zone. New "
    "Phytologist, 11(2), 37–50.",
    "Krippendorff 2011": "Krippendorff, K. (2011). Computing Krippendorff's Alpha-Reliability. "
    "University of Pennsylvania, Annenberg School for Communication.",
    "Krippendorff & Craggs 2016": "Krippendorff, K., & Craggs, R. (2016). The reliability of "
    "multi-valued coding of data. Communication Methods and Measures, 10(4), 181–198.",
    "Lin 1998": "Lin, D. (1998). An information-theoretic definition of similarity. In "
    "Proceedings of ICML 1998.",
    "Passonneau 2004": "Passonneau, R. J. (2004). Computing reliability for coreference "
    "annotation. In Proceedings of LREC 2004.",
    "Passonneau 2006": "Passonneau, R. (2006). Measuring agreement on set-valued items (MASI) for "
    "semantic and pragmatic annotation. In Proceedings of LREC 2006.",
    "Pesquita et al. 2008": "Pesquita, C., Faria, D., Bastos, H., Ferreira, A. E. N., Falcão, "
    "A. O., & Couto, F. M. (2008). Metrics for GO based protein semantic similarity: A systematic "
    "evaluation. BMC Bioinformatics, 9(Suppl 5), S4.",
    "Phipson & Smyth 2010": "Phipson, B., & Smyth, G. K. (2010). Permutation p-values should never "
    "be zero: Calculating exact p-values when permutations are randomly drawn. Statistical "
    "Applications in Genetics and Molecular Biology, 9(1), Article 39.",
    "Rosenberg & Binkowski 2004": "Rosenberg, A., & Binkowski, E. (2004). Augmenting the kappa "
    "statistic to determine interannotator reliability for multiply labeled data points. In "
    "Proceedings of HLT-NAACL 2004: Short Papers.",
    "Rousseeuw 1987": "Rousseeuw, P. J. (1987). Silhouettes: A graphical aid to the interpretation "
    "and validation of cluster analysis. Journal of Computational and Applied Mathematics, 20, "
    "53–65.",
    "Ružička 1958": "Ružička, M. (1958). Anwendung mathematisch-statistischer Methoden in der "
    "Geobotanik (Synthetische Bearbeitung von Aufnahmen). Biológia (Bratislava), 13, 647–661.",
    "Scott 1955": "Scott, W. A. (1955). Reliability of content analysis: The case of nominal scale "
    "coding. Public Opinion Quarterly, 19(3), 321–325.",
    "Torgerson 1952": "Torgerson, W. S. (1952). Multidimensional scaling: I. Theory and method. "
    "Psychometrika, 17(4), 401–419.",
    "Wong et al. 2021": "Wong, K., Paritosh, P., & Aroyo, L. (2021). Cross-replication "
    "reliability: An empirical approach to interpreting inter-rater reliability. In Proceedings of "
    "ACL-IJCNLP 2021.",
    "Wu & Palmer 1994": "Wu, Z., & Palmer, M. (1994). Verb semantics and lexical selection. In "
    "Proceedings of ACL 1994.",
}


def cited(keys: Iterable[str]) -> list[str]:
    """Return the full references, in order, each once; other text is a full reference."""
    return sorted({REFERENCES.get(key, key) for key in keys})


def is_ours(row: Agreement) -> bool:
    """Return whether a distance is the built-in one of its name; users may reuse names."""
    if row.distance not in distance_names():
        return False
    return row.case.distance is None or row.case.distance == get_distance(row.distance)

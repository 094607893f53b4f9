"""What the tests of the report share: findings of few resamples, their sentences and sections."""

import setagree as sa
from setagree.reporting.findings import gather, main_findings, sections
from setagree.wording.sentences import plain


def gathered(data, **options):
    """Return the findings about a study, or about triples, of 19 resamples and seed 1."""
    study = data if isinstance(data, sa.Annotations) else sa.Annotations.from_triples(data)
    return gather(study, **{"n_resamples": 19, "rng": 1, **options})


def told(found):
    """Return the main findings as plain text, by what they are about."""
    return {one.about: plain(one.sentence) for one in main_findings(found)}


def by_id(found):
    return {section.id: section for section in sections(found)}

"""LightTag: who saw an example and gave no class."""

from exports.json_writers import TRUTH, answered, found, lighttag, write

import setagree as sa


def test_lighttag_who_is_not_in_seen_by(tmp_path):
    root = lighttag(TRUTH)
    root["examples"][0]["seen_by"] = []
    assert found(sa.read(write(tmp_path, "lighttag", root))) == answered(TRUTH)

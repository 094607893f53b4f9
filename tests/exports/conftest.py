"""What the tests of exports share."""

import pytest


@pytest.fixture
def save(tmp_path):
    """Return a function that writes a text to a file."""

    def write(text, name="export.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write

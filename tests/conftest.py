"""Fixtures that several files share."""

import signal

import pytest


@pytest.fixture
def ctrl_c_is_heard():
    """Let SIGINT be heard here and by children, also where whoever started the tests ignores it.

    Background jobs inherit that they ignore it, and pass it on.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

"""Fixtures that several files share, and the order of the tests."""

import gc
import os
import signal
import sys

import pytest
from hypothesis import settings

# Matrices are small, and pytest-xdist gives each processor a worker: threads would only wait for
# each other. It is read when numpy or Polars is imported, and by the processes that tests start.
os.environ |= dict.fromkeys(
    ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"], "1"
)

# How long a case takes is a matter of the machine. Every run draws other cases.
settings.register_profile("setagree", deadline=None, max_examples=30)
settings.load_profile("setagree")


# Modules that build the site or start a browser once, and use it in each of their tests.
STARTED_ONCE = {"test_browser.py", "test_page_in_browser.py", "test_site.py"}


def pytest_collection_modifyitems(items):
    """Run the tests of the modules that start something once before all others."""
    # What starts a process for a whole module comes first, where one worker gets all of its tests.
    items.sort(key=lambda item: item.path.name not in STARTED_ONCE)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker neighbours, which share what a module sets up; the idle one steals."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_collection():
    """Let the garbage collector rest while tests and modules are made, which stay to the end."""
    gc.disable()


def pytest_collection_finish():
    """Spare the collector all of them from here on, and let it look more seldom."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 50)


def pytest_unconfigure():
    """Let the collector end what it was spared; some packages count what is left."""
    gc.unfreeze()


def pytest_runtest_teardown():
    """Close the pictures that a test, or an example of a docstring, leaves open."""
    if (pyplot := sys.modules.get("matplotlib.pyplot")) and pyplot.get_fignums():
        pyplot.close("all")


@pytest.fixture(scope="module")
def few_draws():
    """Draw few studies for the power of an alt-test, where its digits are not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("setagree.panels.alt_test._DRAWS", 200)
        yield


@pytest.fixture
def ctrl_c_is_heard():
    """Let SIGINT be heard here and by children, also where whoever started the tests ignores it.

    Background jobs inherit that they ignore it, and pass it on.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

"""What holds for all tests."""

import gc
import os
import shutil
import signal
import sys
import tempfile
from itertools import groupby
from pathlib import Path

import hypothesis
import pytest

from presage.execution import nearest
from presage.search import run_findings

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
STATE = "XDG_STATE_HOME"  # where presage keeps the key that signs traces
COLLECT_EVERY = 10_000  # new objects; Python's own 700 cost a twentieth of the time
WORKERS_PER_CORE = 2  # half of the time tests wait: for commands, browsers, limits of time

# Several workers load all tests, and these start hundreds of commands: they compile them and
# presage once, even where that is forbidden.
if os.environ.pop(NO_BYTECODE, ""):
    bytecode = Path(__file__).resolve().parents[1] / ".pytest_cache" / "bytecode"
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(bytecode)
    os.environ["PYTHONPYCACHEPREFIX"] = str(bytecode)


def pytest_xdist_auto_num_workers() -> int:
    """How many workers `-n auto` means."""
    return WORKERS_PER_CORE * len(os.sched_getaffinity(0))


def pytest_configure(config: pytest.Config) -> None:
    # Whoever is started in the background may ignore Ctrl-C, and whatever it starts does so, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # No test touches the user's own folders. Workers of pytest-xdist share what their parent made.
    if not hasattr(config, "workerinput"):
        folder = os.environ[STATE] = tempfile.mkdtemp(prefix="presage-state-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    # Nothing depends on how fast a machine is.
    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each worker begins with its share of the slow tests, or one would end alone with a long one.

    pytest-xdist gives each worker as many tests, in their order, and later takes some from its end.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers == 1:
        return
    slow: list[list[pytest.Item]] = [[] for _ in range(workers)]
    quick = [each for each in items if not each.get_closest_marker("slow")]
    files = groupby((each for each in items if each.get_closest_marker("slow")), lambda it: it.path)
    for file in sorted((list(file) for _, file in files), key=len):  # a test of few takes long
        min(slow, key=len).extend(file)
    share, begin = -(-len(items) // workers), 0
    items.clear()
    for own in slow:
        end = begin + max(share - len(own), 0)
        items += own + quick[begin:end]
        begin = end
    items += quick[begin:]


def pytest_collection_finish() -> None:
    gc.set_threshold(COLLECT_EVERY, *gc.get_threshold()[1:])
    _freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path != item.path:
        _freeze()


def _freeze() -> None:
    # A worker holds all test modules and what they loaded, and presage collects garbage often.
    gc.collect()
    gc.freeze()


@pytest.fixture
def no_good_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """No nearest good run is looked for: that costs more than the search of a small system."""
    monkeypatch.setattr(nearest, "nearest", lambda *_: None)  # imported where it is called
    monkeypatch.setattr(run_findings, "nearest_run", lambda *_: None)


@pytest.fixture
def verdicts_only(monkeypatch: pytest.MonkeyPatch, no_good_runs: None) -> None:
    """Violations of programs are reported as they are found: not made shorter, either."""
    monkeypatch.setattr(run_findings, "_shorter", lambda program, steps, known, *_: (*known, []))

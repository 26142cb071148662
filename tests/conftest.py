"""What holds for all tests."""

import os
import shutil
import signal
import tempfile

import hypothesis
import pytest

from presage.search import findings, run_findings

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
STATE = "XDG_STATE_HOME"  # where presage keeps the key that signs traces


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
    # Hundreds of commands are started: they compile presage once, even where that is forbidden.
    if os.environ.pop(NO_BYTECODE, ""):
        os.environ["PYTHONPYCACHEPREFIX"] = str(config.rootpath / ".pytest_cache" / "bytecode")


@pytest.fixture
def no_good_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """No nearest good run is looked for: that costs more than the search of a small system."""
    monkeypatch.setattr(findings, "nearest", lambda *_: None)
    monkeypatch.setattr(run_findings, "nearest_run", lambda *_: None)


@pytest.fixture
def verdicts_only(monkeypatch: pytest.MonkeyPatch, no_good_runs: None) -> None:
    """Violations of programs are reported as they are found: not made shorter, either."""
    monkeypatch.setattr(run_findings, "_shorter", lambda program, steps, known, *_: (*known, []))

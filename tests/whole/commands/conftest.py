"""Every test of this folder runs in a folder of its own, with a plain environment."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "COLUMNS", "PRESAGE_TRACEBACK", "PYTHONHASHSEED"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path

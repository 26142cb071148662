"""Comparison of rendered text with the files that hold it.

`PRESAGE_SNAPSHOTS=write pytest tests/simulate` writes the files anew; the eye reviews the diff.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture
def snapshot() -> Callable[[str, str], None]:
    def compare(name: str, text: str) -> None:
        path = SNAPSHOTS / f"{name}.txt"
        shown = text.replace("\x1b", "\\e") + "\n"
        if os.environ.get("PRESAGE_SNAPSHOTS") == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(shown, encoding="utf-8")
        assert shown == path.read_text(encoding="utf-8")

    return compare

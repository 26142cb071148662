"""Temporary folders that fixtures made, as the node that is the test has them.

The node has a disk of its own. There a folder has a name that is the same in each run of pytest,
so that traces replay. What fixtures put into it is there; what the test writes is nowhere else.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

FOLDER = "/srv"  # of the simulated host


class Disk:
    """The files that the node begins with."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def there(self, name: str, value: Any) -> Any:
        """What the test gets for the value of a fixture."""
        if not isinstance(value, Path) or not value.is_dir():
            return value
        if not value.resolve().is_relative_to(Path(tempfile.gettempdir()).resolve()):
            return value
        place = Path(FOLDER, name)
        self.files[f"{place}/"] = b""
        for each in sorted(value.rglob("*")):
            found = place / each.relative_to(value)
            if each.is_dir():
                self.files[f"{found}/"] = b""
            elif each.is_file():
                self.files[str(found)] = each.read_bytes()
        return place

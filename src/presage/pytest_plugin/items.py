"""Systems as items of pytest: a global `test_paxos = System(...)` of a test module is checked."""

from __future__ import annotations

from typing import Any

import pytest

from presage.errors import PresageError
from presage.model.world.system import System
from presage.process.program import Program
from presage.pytest_plugin import outcome
from presage.pytest_plugin.options import options_of


class SystemItem(pytest.Item):
    """A system that a test module holds; `pytestmark` of the module says how it is searched."""

    def __init__(self, *, system: System | Program, **more: Any) -> None:
        super().__init__(**more)
        self.system = system

    def runtest(self) -> None:
        try:
            outcome.judge(self, self.system, options_of(self))
        except PresageError as error:
            pytest.fail(f"presage: {error}", pytrace=False)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, None, f"system {self.name}"


def item_of(collector: Any, name: str, obj: object) -> SystemItem | None:
    """The item of a global that is a system."""
    if not isinstance(obj, System | Program):
        return None
    made: SystemItem = SystemItem.from_parent(collector, name=name, system=obj)
    return made

"""What crosses the border between Python and the native core has names and types."""

import json
from dataclasses import fields

from presage import _core
from presage._core import FAULTS, OPCODES, STATUSES, StopReason
from presage.model.event import FAULT_OF
from presage.model.faults import Faults
from presage.process import ops


def test_faults_are_numbered_by_the_core_and_named_as_users_name_them():
    assert set(FAULTS) < {field.name for field in fields(Faults)}
    assert sorted(FAULT_OF.values()) == list(range(len(FAULTS)))
    assert (FAULTS[_core.SILENT], FAULTS[_core.SLOWED]) == ("silent_reset", "slow")


def test_statuses_and_operations_are_numbered_by_the_core():
    assert [getattr(_core, name.upper()) for name in STATUSES] == [0, 1, 2, 3]
    assert [name for name in OPCODES if not hasattr(ops, name)] == [OPCODES[_core.FAIL]]
    assert (OPCODES[_core.EXIT], OPCODES[_core.PUBLISH]) == (OPCODES[0], OPCODES[-1])


def test_a_stop_reason_is_written_as_the_text_it_was():
    assert json.dumps([StopReason.RUNS]) == '["runs"]'
    assert f"{StopReason.MEMORY}" == "memory" == StopReason.MEMORY

"""What crosses the border between Python and the native core has names and types."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest
from unit.process import scripts

from presage import _core
from presage._core import FAULTS, OPCODES, STATUSES, StopReason
from presage.execution.sandbox import Sandbox
from presage.limits import Limits
from presage.model.world.event import FAULT_OF
from presage.model.world.faults import Faults
from presage.process import ops
from presage.search.check import build
from presage.search.kernel.bridge import Bridge
from presage.systems import counter


def test_faults_are_numbered_by_the_core_and_named_as_users_name_them():
    assert set(FAULTS) < {field.name for field in fields(Faults)}
    assert sorted(FAULT_OF.values()) == list(range(len(FAULTS)))
    assert (FAULTS[_core.SILENT], FAULTS[_core.SLOWED]) == ("silent_reset", "slow")


def test_statuses_and_operations_are_numbered_by_the_core():
    assert [getattr(_core, name.upper()) for name in STATUSES] == [0, 1, 2, 3]
    assert [name for name in OPCODES if not hasattr(ops, name)] == [OPCODES[_core.FAIL]]
    assert (OPCODES[_core.EXIT], OPCODES[_core.PUBLISH]) == ("Exit", "Publish")


def test_a_program_and_a_system_tell_of_themselves_in_the_same_classes():
    told = []
    bridge = scripts.Bridge(dict(enumerate(scripts.gather(8))))
    begun = [(bridge.local(at), False) for at in range(8)]
    process = _core.ProcessKernel(bridge, begun).explore("none", Limits(seconds=0.6), told.append)
    with Sandbox() as sandbox:
        system = counter.system(threads=2)
        service = build(system, Bridge(system, sandbox)).search("bfs", Limits(keep_going=True))
    assert type(process) is type(service) is _core.Outcome
    assert {type(now) for now in told} == {_core.Progress}
    assert process.stopped_by is StopReason.SECONDS and service.stopped_by is None
    assert [type(each) for each in service.found] == [_core.Finding]
    with pytest.raises(AttributeError):
        service.unique = 0


def test_a_stop_reason_is_written_as_the_text_it_was():
    assert json.dumps([StopReason.RUNS]) == '["runs"]'
    assert f"{StopReason.MEMORY}" == "memory" == StopReason.MEMORY


def test_no_dictionary_of_anything_crosses_the_border():
    stubs = [Path(_core.__file__).with_name(name) for name in ("_core.pyi", "_results.pyi")]
    for stub in stubs:
        assert not re.findall(r"(?:dict|Mapping)\[str, Any\]", stub.read_text())

"""Each form of a trace is what the tool it is for reads."""

import json
import re

import pytest
from unit.execution.test_frames import hunted_violation
from unit.ui.samples import join, step, trace

from presage.execution.frames import frames
from presage.systems import mace_transport, randtree
from presage.trace.causes import Causes
from presage.trace.export.itf import expression, itf
from presage.trace.export.mermaid import mermaid
from presage.trace.export.perfetto import perfetto
from presage.trace.export.regression import regression
from presage.trace.export.shiviz import shiviz
from presage.trace.plain import plain
from presage.trace.trace import Sent

FOUND = {"MT-3": mace_transport, "RT-init": randtree}


@pytest.fixture(scope="module", params=FOUND)
def found(request):
    system, violation = hunted_violation(FOUND[request.param], request.param)
    return system, violation.trace


@pytest.fixture(scope="module")
def causes(found):
    system, told = found
    return Causes(told, frames(system, told)[0].sends)


def test_shiviz_finds_every_event_with_a_consistent_clock(causes):
    expression, delimiter, log = shiviz(causes).split("\n", 2)
    assert delimiter == ""
    found = re.findall(expression.replace("(?<", "(?P<"), log)
    assert len(found) == len(causes.trace.steps)
    counts = {}
    seen = []
    for (event, host, text), told in zip(found, causes.trace.steps, strict=True):
        clock = json.loads(text)
        assert event.startswith(f"{told.index} ")
        counts[host] = counts.get(host, 0) + 1
        assert clock[host] == counts[host]  # its own steps are counted one by one
        assert all(count <= counts.get(each, 0) for each, count in clock.items())
        for cause in causes.direct[told.index]:
            assert all(count <= clock.get(each, 0) for each, count in seen[cause - 1].items())
        seen.append(clock)


def test_shiviz_hosts_have_no_spaces():
    told = trace([step(1, "my node", "timer", "two\nlines")], nodes=("my node",))
    assert shiviz(Causes(told)).splitlines()[2:] == ["1 timer two lines", 'my_node {"my_node":1}']


def test_perfetto_has_a_slice_per_step_and_flows_that_begin_and_end_in_slices(causes):
    events = json.loads(perfetto(causes))["traceEvents"]
    slices = [each for each in events if each["ph"] == "X"]
    assert [each["args"]["step"] for each in slices] == list(causes.direct)
    threads = {each["tid"] for each in events if each["name"] == "thread_name"}
    assert {each["tid"] for each in slices} <= threads
    assert sum(each["name"].startswith("critical: ") for each in slices) == 1
    starts = {each["id"]: each for each in events if each["ph"] == "s"}
    ends = {each["id"]: each for each in events if each["ph"] == "f"}
    assert starts and starts.keys() == ends.keys()
    for number, start in starts.items():
        assert start["ts"] < ends[number]["ts"]
        for each in (start, ends[number]):
            [around] = [s for s in slices if s["ts"] <= each["ts"] <= s["ts"] + s["dur"]]
            assert around["tid"] == each["tid"]


def test_mermaid_draws_every_step_around_the_one_that_matters(causes):
    told = causes.trace
    lines = mermaid(causes, told.critical).splitlines()
    assert lines[0] == "sequenceDiagram"
    names = {line.split()[1] for line in lines if " participant " in line}
    shape = r"    (    )?(p\d+(->>|--x|-->>)p\d+: .+|Note over p\d+(,p\d+)?: .+|rect .+|end)"
    drawn = [line for line in lines[1:] if " participant " not in line]
    assert [line for line in drawn if not re.fullmatch(shape, line)] == []
    assert set(re.findall(r"\bp\d+\b", "\n".join(drawn))) <= names
    numbers = [int(n) for n in re.findall(r"(?:>|x|over )p\d+: (\d+) (?!steps)", "\n".join(drawn))]
    first, last = max(1, told.critical - 80), min(len(told.steps), told.critical + 20)
    assert numbers == list(range(first, last + 1))
    assert f"{len(told.steps) - last} steps after" in drawn[-1]


def test_mermaid_text_cannot_be_taken_for_mermaid():
    steps = [
        step(
            1, "n0", "timer", 'end; loop #x <b> "q"\nNote over p9', sends=(Sent("n0", "n1", "m"),)
        ),
        join(2, "n1", "n0", failure="ValueError: end"),
    ]
    drawn = mermaid(Causes(trace(steps)), 2)
    assert drawn.count("\n") == 7
    assert not re.search(r"\bend\b|<|;(?<!\d;)|\"", drawn)
    assert "p1->>p0: 2 Join" in drawn


def test_itf_has_every_state_and_only_values_that_it_knows(found):
    system, told = found
    states = [scene.state for scene in frames(system, told)]
    read = json.loads(itf(told, states))
    assert read["#meta"]["format"] == "ITF"
    assert read["vars"] == [*told.nodes, "network", "action"]
    assert len(read["states"]) == len(told.steps) + 1
    for index, state in enumerate(read["states"]):
        assert state["#meta"] == {"index": index}
        assert set(state) == {"#meta", *read["vars"]}
        check_expression(state["network"])
        for node in told.nodes:
            check_expression(state[node])
    assert "loop" not in read


def check_expression(value):
    """Raises unless `value` is an expression of the format."""
    if isinstance(value, list):
        for each in value:
            check_expression(each)
    elif isinstance(value, dict):
        special = [name for name in value if name.startswith("#")]
        if not special:
            for each in value.values():
                check_expression(each)
            return
        [name], [inner] = value.keys(), value.values()
        assert name in ("#bigint", "#set", "#map", "#unserializable")
        if name == "#bigint":
            int(inner)
        elif name in ("#set", "#map"):
            check_expression(inner)
    else:
        assert isinstance(value, bool | str)


def test_itf_values_and_loops():
    assert expression(plain({1, 2})) == {"#set": [{"#bigint": "1"}, {"#bigint": "2"}]}
    assert expression(plain({"a": None})) == {"#map": [["'a'", {"#unserializable": "None"}]]}
    assert expression(plain(0.5)) == {"#unserializable": "0.5"}
    told = trace([join(1, "n0", "n1"), join(2, "n0", "n1")], loop=2)
    assert json.loads(itf(told, [{"n0": {}}] * 3))["loop"] == 1


def test_the_pytest_file_is_python_whatever_the_property_is_called():
    for prop in ("one_root", 'a "b" \\ c\nd', "", "ü"):
        text = regression(trace([], prop=prop), "it's.trace", ("", ""))
        compile(text, "test.py", "exec")
        assert re.search(r"^def test_\w+_is_not_broken\(\):$", text, re.M)

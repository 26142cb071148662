"""The numbers of a node, as Prometheus reads them."""

from __future__ import annotations

import re
from dataclasses import fields

from msgspec import structs
from unit.runtime.sockets import run, town

from presage.runtime.aids import SteerCounts
from presage.runtime.metrics import GAUGES, HELP, STEERING, Measures, exposition, measure

LINE = re.compile(r'presage_(\w+)\{node="([^"\\]|\\.)*"\} \d+')


def test_every_number_is_described_and_counted() -> None:
    names = {each.name for each in structs.fields(Measures)}
    assert names == set(HELP) and names >= GAUGES

    async def test() -> None:
        async with town("a", "b") as there:
            await there.call("a", "say", "b", "one")
            await there.until("b", "got", ["a: one"])
            measures = measure(there.drivers["b"])
            assert measures.up and measures.steps == 2 and measures.connections == 1
            assert measures.bytes_read > 100 and measures.bytes_written > 50
            facts = structs.asdict(measures)
            lines = exposition({'odd "name"\n': facts, "b": facts}).splitlines()
            assert len(lines) == 4 * len(names)
            assert all(LINE.fullmatch(line) for at in (2, 3) for line in lines[at::4]), lines
            assert lines[1] == "# TYPE presage_up gauge"
            assert "# TYPE presage_steps_total counter" in lines

    run(test)


def test_each_metric_of_many_nodes_is_described_once() -> None:
    steering = {name: at for at, name in enumerate(STEERING)}
    text = exposition({"a": {"steps": 1}, "b": {"steps": 2, "steering": steering}})
    kinds = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(kinds) == len(set(kinds)) == 1 + len(STEERING)
    samples = [line for line in text.splitlines() if line.startswith("presage_steps")]
    assert samples == ['presage_steps_total{node="a"} 1', 'presage_steps_total{node="b"} 2']
    assert 'presage_steering_predicted_total{node="b"} 3' in text.splitlines()


def test_all_that_is_counted_of_steering_is_described() -> None:
    counted = {each.name for each in fields(SteerCounts)}
    assert counted < STEERING.keys()

"""The numbers of a node, as Prometheus reads them."""

from __future__ import annotations

import re

from msgspec import structs
from unit.runtime.sockets import run, town

from presage.runtime.metrics import GAUGES, HELP, Measures, exposition, measure

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
            lines = exposition('odd "name"\n', measures).splitlines()
            assert len(lines) == 3 * len(names)
            assert all(LINE.fullmatch(line) for line in lines[2::3]), lines
            assert lines[1] == "# TYPE presage_up gauge"
            assert "# TYPE presage_steps_total counter" in lines

    run(test)

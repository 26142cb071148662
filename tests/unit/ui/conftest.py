"""Hand-made reports and traces, and the comparison of rendered text with the files that hold it.

`PRESAGE_SNAPSHOTS=write pytest tests/unit/ui` writes the files anew; the eye reviews the diff.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from unit.ui.samples import join, step, trace

from presage.search.report import Report
from presage.trace.trace import Sent, Trace

SNAPSHOTS = Path(__file__).parent / "snapshots"

Compare = Callable[[str, str], None]


@pytest.fixture
def snapshot() -> Compare:
    def compare(name: str, text: str) -> None:
        path = SNAPSHOTS / f"{name}.txt"
        shown = text.replace("\x1b", "\\e") + "\n"
        if os.environ.get("PRESAGE_SNAPSHOTS") == "write":
            path.write_text(shown, encoding="utf-8")
        assert shown == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def short_trace() -> Trace:
    """Five steps of every shape, the last one bad."""
    joined = {"n0": {"children": ("set()", "{'n1'}"), "root": ("None", "'n0'")}}
    return trace(
        [
            step(1, "n1", "call", "join('n0')", detail="join('n0')", choices=((1, 3),)),
            step(2, "n2", "crash", "crash"),
            step(3, "n2", "restart", "restart", logs=("up again",)),
            step(4, "n2", "timer", "retry", sends=(Sent("n2", "n0", "Join(ttl=3)"),)),
            join(5, "n2", "n0", changes=joined, records=("Return(value=None)",)),
        ]
    )


@pytest.fixture
def long_trace() -> Trace:
    """200 steps, the last of which changes many fields, long ones among them."""
    table = ", ".join(f"'n{i}': {i}" for i in range(40))
    fields = {f"field{i}": (f"{i}", f"{i + 1}") for i in range(9)}
    fields["table"] = (f"{{{table}, 'x': 1}}", f"{{{table}, 'x': 2}}")
    changes = {"n1": dict(reversed(fields.items()))}
    steps = [join(i, "n0", f"n{i % 3}") for i in range(1, 200)]
    why = "the tables differ: " + ", ".join(f"n{i} has {i} entries" for i in range(60))
    return trace([*steps, join(200, "n0", "n1", changes=changes)], message=why)


@pytest.fixture
def report() -> Report:
    """An exhaustive search in which everything held."""
    return Report(
        presage="0.1.0",
        target="paxos",
        parameters={"clients": 2},
        exhausted=True,
        unique=16_668,
        generated=32_971,
        depth=21,
        handler_runs=1_204,
        seconds=0.21,
        properties={"no_exception": "held", "linearizable": "held", "value_chosen": "reached"},
        nodes=5,
        system="paxos",
    )

"""A program that writes files, crashed at every step: what it finds when it is started again."""

import json
import os
import pathlib
import time

import pytest

from presage import Faults, always, check, sometimes
from presage.real import Node, RealSystem, here

ROUNDS = 3


def keep(how: str) -> None:
    """Count to `ROUNDS`, a step for each number, and remember it in a file."""
    store = pathlib.Path("/var/count.json")
    state = {"count": 0, "error": None}
    here.expose(state=state)
    try:
        state["count"] = json.loads(store.read_text())["count"] if store.exists() else 0
    except ValueError as error:
        state["error"] = type(error).__name__
        return
    while state["count"] < ROUNDS:
        time.sleep(1)
        WRITERS[how](store, json.dumps({"count": state["count"] + 1}))
        state["count"] += 1


def write_in_place(store: pathlib.Path, text: str) -> None:
    store.write_text(text)


def write_aside(store: pathlib.Path, text: str) -> None:
    store.with_suffix(".new").write_text(text)
    os.replace(store.with_suffix(".new"), store)


def write_and_sync(store: pathlib.Path, text: str) -> None:
    with store.with_suffix(".new").open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(store.with_suffix(".new"), store)


WRITERS = {"in place": write_in_place, "aside": write_aside, "synced": write_and_sync}


def view(node) -> dict:
    return dict(node.get("state") or {"count": None, "error": None})


def searched(how: str, **disk):
    @always
    def readable(world) -> bool:
        return world["n"].error is None

    @sometimes
    def finished(world) -> bool:
        return world["n"].count == ROUNDS

    system = RealSystem(
        {"n": Node(keep, how, view=view, **disk)},
        faults=Faults(crash=2, restart=2),
        properties=[readable, finished],
    )
    return check(system, traces=None)


@pytest.mark.parametrize("how", WRITERS)
def test_a_crash_of_the_process_loses_nothing_that_was_written(how) -> None:
    report = searched(how)
    assert report.exhausted
    assert report.properties == {"readable": "held", "finished": "reached"}


@pytest.mark.parametrize("how", ["in place", "aside"])
@pytest.mark.parametrize("torn", [False, True])
def test_a_crash_of_the_machine_empties_what_was_not_synced(how, torn) -> None:
    report = searched(how, disk="fsync", torn=torn)
    (found,) = report.violations
    assert found.prop == "readable"
    assert [each.kind for each in found.trace.steps][-2:] == ["crash", "restart"]


@pytest.mark.parametrize("torn", [False, True])
def test_what_was_synced_survives_a_crash_of_the_machine(torn) -> None:
    report = searched("synced", disk="fsync", torn=torn)
    assert report.exhausted
    assert not report.violations

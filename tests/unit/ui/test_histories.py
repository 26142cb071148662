"""Histories as intervals: when a client asked, when it was answered, and what."""

from presage import check
from presage.execution.frames import Frame, frames
from presage.systems import single_copy
from presage.ui.page.histories import histories


def operation(op, result="absent"):
    done = {"": "Done", "op": op, "result": result, "seen": ()}
    return done if result != "absent" else {"": "Pending", "op": op, "seen": ()}


def scene(index, *clients):
    told = tuple(
        {"": "Client", "name": name, "done": tuple(done), "pending": pending}
        for name, done, pending in clients
    )
    observers = {"history": {"": "History", "clients": told}, "count": 3}
    return Frame(index, None, {"network": {"observers": observers}}, {})


def test_an_operation_lasts_from_its_call_to_its_answer():
    write, read = {"": "Write", "value": "A"}, {"": "Read()"}
    scenes = [
        scene(0),
        scene(1, ("c0", [], operation(write))),
        scene(2, ("c0", [], operation(write)), ("c1", [], operation(read))),
        scene(3, ("c0", [operation(write, None)], operation(read)), ("c1", [], operation(read))),
        scene(4, ("c0", [operation(write, None), operation(read, "B")], None),
              ("c1", [], operation(read))),
    ]  # fmt: skip
    [found] = histories(scenes, "network")
    assert found["name"] == "history"
    first, second = found["clients"]
    assert first == {
        "name": "c0",
        "ops": [
            {"op": "Write(value='A')", "result": "None", "from": 1, "to": 3},
            {"op": "Read()", "result": "'B'", "from": 3, "to": 4},
        ],
    }
    assert second["ops"] == [{"op": "Read()", "result": None, "from": 2, "to": None}]


def test_a_violation_of_linearizability_has_the_history_of_its_clients():
    system = single_copy.system(servers=2)
    [violation] = check(system, traces=None).violations
    scenes = frames(system, violation.trace)
    [found] = histories(scenes, "network")
    told = {client["name"]: client["ops"] for client in found["clients"]}
    assert [op["op"] for op in told["c0"]] == ["Write(value='A')", "Read()"]
    assert told["c0"][0]["from"] == 0 and told["c0"][1]["to"] == violation.step
    assert told["c0"][1]["result"] == "None"


def test_systems_without_such_an_observer_have_none():
    assert histories([Frame(0, None, {"network": {"messages": {}}}, {})], "network") == []
    assert histories([Frame(0, None, {"network": None}, {})], "network") == []

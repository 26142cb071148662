"""What other programs rely on: the keys and types of `--json`, exit statuses, plain output."""

import re
from typing import Any

import pytest
from whole.commands.harness import run, told, write

import presage

NUMBER = (int, float)
KEYS: dict[str, Any] = {
    "presage": str,
    "target": str,
    "search": str,
    "seed": int,
    "calm": bool,
    "parameters": dict,
    "exhausted": bool,
    "stopped_by": (str, type(None)),
    "states": dict,
    "executions": int,
    "traces": int,
    "handler_runs": int,
    "property_runs": int,
    "faults": dict,
    "seconds": NUMBER,
    "peak_mib": NUMBER,
    "collision_probability": NUMBER,
    "properties": dict,
    "violations": list,
}
ADDED = {"errors": list, "notes": list, "liveness": dict}
ADDED |= {"resumed_from": (int, type(None)), "checkpoints": int}
ADDED |= {"coverage": dict, "order_dependence": list, "second_process": (dict, type(None))}
ADDED |= {"reduction": str, "symmetry": bool, "hunt": (dict, type(None))}
ADDED |= {"delay": (dict, type(None)), "assumes": list, "cycles": (dict, type(None))}
ADDED |= {"skip": (dict, type(None)), "known": list, "leaves_out": list}
VIOLATION: dict[str, Any] = {
    "property": str,
    "kind": str,
    "cause": str,
    "message": str,
    "step": int,
    "steps": int,
    "critical": (int, type(None)),
    "loop": (int, type(None)),
    "fairness": (str, type(None)),
    "dead": (bool, type(None)),
    "evidence": str,
    "walked": (int, type(None)),
    "recovery": list,
    "trace": (str, type(None)),
    "live": (str, type(None)),
    "differs_at": (int, type(None)),
    "found": (int, type(None)),
    "delays": (int, type(None)),
}


def assert_shape(value: dict[str, Any], shape: dict[str, Any]) -> None:
    assert set(value) == set(shape)
    for key, kind in shape.items():
        assert isinstance(value[key], kind), key
        if kind is int or kind is NUMBER:
            assert not isinstance(value[key], bool), key


def assert_contract(report: dict[str, Any]) -> None:
    assert_shape(report, KEYS | ADDED)
    assert_shape(report["states"], {"unique": int, "generated": int, "depth": int})
    assert all(isinstance(times, int) for times in report["faults"].values())
    assert 0 <= report["collision_probability"] < 1
    known = {"held", "violated", "reached", "unreached", "error"}
    assert set(report["properties"].values()) <= known
    for violation in report["violations"]:
        assert_shape(violation, VIOLATION)


def test_a_search_that_held_is_told_with_exactly_the_promised_keys() -> None:
    arguments = ["check", "paxos", "--set", "clients=2", "--set", "crashes=0", "--seed", "5"]
    report = told(run(*arguments, "--json"), 0)
    assert_contract(report)
    assert (report["presage"], report["target"]) == (presage.__version__, "paxos")
    assert (report["search"], report["seed"]) == ("bfs", 5)
    assert report["parameters"] == {"clients": 2, "crashes": 0}
    assert report["states"] == {"unique": 16_668, "generated": 32_971, "depth": 21}
    assert (report["exhausted"], report["stopped_by"]) == (True, None)
    assert (report["executions"], report["traces"], report["faults"]) == (0, 0, {})
    assert report["properties"] == {
        "one_value": "held",
        "linearizable": "held",
        "value_chosen": "reached",
    }


def test_a_violation_is_told_with_exactly_the_promised_keys() -> None:
    report = told(run("check", "paxos", "--set", "bug=no_disk", "--json"), 1)
    assert_contract(report)
    assert (report["exhausted"], report["stopped_by"]) == (False, "violation")
    assert set(report["faults"]) == {"crash", "restart"}
    assert min(report["faults"].values()) > 0
    [violation] = report["violations"]
    assert (violation["property"], violation["kind"]) == ("one_value", "safety")
    assert violation["step"] == violation["steps"] == 12
    assert re.fullmatch(r"\.presage/traces/one_value-[0-9a-f]{8}\.trace", violation["trace"])


def test_walks_are_told_with_exactly_the_promised_keys() -> None:
    report = told(run("check", "paxos", "--search", "walk", "--walks", "20", "--json"), 0)
    assert_contract(report)
    assert (report["search"], report["executions"], report["exhausted"]) == ("walk", 20, False)


def test_a_configured_fault_that_never_happened_is_said() -> None:
    write(
        """
        class Node(Service):
            def start(self) -> None:
                pass

        def system() -> System:
            return System(nodes={"n0": Node()}, faults=Faults(drop=2))
        """
    )
    assert told(run("check", "bad.py", "--json"), 0)["faults"] == {"drop": 0}
    assert "warning: no drop ever happened" in run("check", "bad.py").stdout


def test_every_command_with_json_prints_one_object_and_nothing_else() -> None:
    report = told(run("check", "counter", "--json"), 1)
    replayed = told(run("replay", report["violations"][0]["trace"], "--json"), 1)
    assert replayed.keys() == {"trace", "property", "reproduced", "message", "steps", "rounds"}
    examined = told(run("doctor", "counter", "--json"), 0)
    assert examined.keys() >= {"presage", "target", "steps", "findings", "hash_seeds"}


@pytest.mark.parametrize("arguments", [["check", "counter"], ["systems"]], ids=" ".join)
def test_what_is_piped_has_no_colour(arguments: list[str]) -> None:
    result = run(*arguments, TERM="xterm-256color", COLORTERM="truecolor")
    assert result.stdout and "\x1b" not in result.stdout + result.stderr


def states(*arguments: str) -> dict[str, Any]:
    report = told(run("check", *arguments, "--json"), 0)
    assert report["exhausted"]
    return {key: report[key] for key in ("states", "properties", "faults")}


@pytest.mark.parametrize(
    "system",
    [["paxos", "--set", "clients=2"], ["two_phase_commit", "--set", "rms=5"]],
    ids=lambda system: system[0],
)
def test_threads_do_not_change_what_is_counted(system: list[str]) -> None:
    expected = states(*system)
    for threads in ("2", "4"):
        assert states(*system, "--threads", threads) == expected
    deep = {threads: states(*system, "--search", "dfs", "--threads", threads) for threads in "24"}
    for found in deep.values():
        assert found["properties"] == expected["properties"]
        for count in ("unique", "generated"):
            assert found["states"][count] == expected["states"][count]


def test_walks_depend_on_their_seed_and_on_nothing_else() -> None:
    walk = ["check", "paxos", "--search", "walk", "--walks", "200", "--json"]
    found = {
        (seed, threads): told(run(*walk, "--seed", seed, "--threads", threads), 0)
        for seed, threads in (("1", "1"), ("1", "2"), ("2", "1"), ("2", "4"))
    }
    for report in found.values():
        for measured in ("seconds", "peak_mib", "handler_runs", "property_runs", "seed"):
            del report[measured]
    assert found["1", "1"] == found["1", "2"]
    assert found["2", "1"] == found["2", "4"]
    assert found["1", "1"]["states"] != found["2", "1"]["states"]

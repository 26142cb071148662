"""Published state counts, exact: a state lost or found twice anywhere fails here.

The numbers were asserted by, or obtained from, Stateright's examples and TLC, and enumerated again
by an independent program; `unique`, `generated` and `depth` count the initial state.
"""

import importlib
from typing import Any

import pytest

import presage
from presage.systems import SHIPPED


def checked(name: str, parameters: dict[str, Any], **options: Any) -> presage.Report:
    system = importlib.import_module(SHIPPED[name]).system(**parameters)
    return presage.check(system, traces=None, **options)


def counts(report: presage.Report) -> tuple[int, int, int]:
    return report.unique, report.generated, report.depth


EXACT: list[tuple[str, dict[str, Any], tuple[int, int, int]]] = [
    ("two_phase_commit", {"rms": 1}, (12, 20, 5)),
    ("two_phase_commit", {"rms": 2}, (56, 154, 8)),
    ("two_phase_commit", {"rms": 3}, (288, 1_146, 11)),
    ("two_phase_commit", {"rms": 4}, (1_568, 8_258, 14)),
    ("two_phase_commit", {"rms": 5}, (8_832, 58_146, 17)),
    ("two_phase_commit", {"rms": 6}, (50_816, 402_306, 20)),
    ("two_phase_commit", {"rms": 7}, (296_448, 2_744_706, 23)),
    ("paxos", {"clients": 1}, (265, 482, 14)),
    ("paxos", {"clients": 2}, (16_668, 32_971, 21)),
    ("abd", {"servers": 2, "clients": 2}, (544, 875, 25)),
    ("abd", {"servers": 3, "clients": 2, "network": "ordered"}, (1_212_979, 4_730_934, 41)),
    ("single_copy", {"servers": 1, "clients": 2}, (93, 121, 9)),
]


@pytest.mark.parametrize(("name", "parameters", "expected"), EXACT)
def test_a_shipped_system_has_its_published_counts_and_holds(
    name: str, parameters: dict[str, Any], expected: tuple[int, int, int]
) -> None:
    report = checked(name, parameters)
    assert counts(report) == expected
    assert report.exhausted
    assert report.exit_status == 0
    assert set(report.properties.values()) <= {"held", "reached"}


@pytest.mark.parametrize(
    ("parameters", "unique"),
    [
        ({"max": 1, "network": "lossy_duplicating"}, 14),
        ({"max": 5, "network": "lossy_duplicating"}, 4_094),
        ({"max": 5, "network": "lossless"}, 11),
    ],
)
def test_ping_pong_has_its_published_number_of_states(
    parameters: dict[str, Any], unique: int
) -> None:
    report = checked("ping_pong", parameters)
    assert (report.unique, report.exhausted, report.violations) == (unique, True, ())
    assert (report.faults.get("drop", 0) > 0) == (parameters["network"] == "lossy_duplicating")


def test_the_racy_counter_has_its_published_counts() -> None:
    report = checked("counter", {"threads": 2}, keep_going=True)
    assert counts(report) == (13, 15, 5)
    assert report.exhausted


def test_the_locked_counter_allows_one_thread_at_a_time() -> None:
    # Two orders of eight steps that share only the beginning.
    assert counts(checked("counter", {"threads": 2, "locked": True})) == (17, 17, 9)


def test_paxos_that_writes_to_disk_survives_a_crash() -> None:
    report = checked("paxos", {"clients": 2, "crashes": 1})
    assert counts(report) == (427_836, 1_199_825, 25)
    assert report.violations == ()
    assert report.faults["crash"] > 0
    assert report.faults["restart"] > 0


def test_paxos_with_three_clients_has_its_published_counts_from_few_handler_runs() -> None:
    report = checked("paxos", {"clients": 3})
    assert counts(report) == (1_194_428, 2_420_477, 28)
    assert report.exhausted
    assert report.violations == ()
    # Once per distinct local step, not once per transition.
    assert 10_000 < report.handler_runs < 20_000


@pytest.mark.parametrize("search", ["bfs", "dfs"])
@pytest.mark.parametrize(
    ("rms", "orbits"), [(2, 34), (3, 80), (4, 166), (5, 314), (6, 553), (7, 920)]
)
def test_two_phase_commit_has_its_number_of_orbits(rms: int, orbits: int, search: str) -> None:
    report = checked("two_phase_commit", {"rms": rms}, symmetry=True, search=search)
    assert (report.unique, report.exhausted, report.exit_status) == (orbits, True, 0)


@pytest.mark.parametrize("search", ["bfs", "dfs"])
def test_sleep_sets_save_most_transitions_of_two_phase_commit(search: str) -> None:
    report = checked("two_phase_commit", {"rms": 7}, reduction="sleep", search=search)
    assert report.unique == 296_448
    assert report.generated * 5 < 2_744_706
    assert set(report.properties.values()) <= {"held", "reached"}


def test_every_shipped_name_has_a_factory_that_tells_its_parameters() -> None:
    for name, path in SHIPPED.items():
        module = importlib.import_module(path)
        assert path == f"presage.systems.{name}"
        factory = module.system if hasattr(module, "system") else module.program
        defaults = factory.__kwdefaults__ or {}
        assert set(defaults) == set(factory.__annotations__) - {"return"}
        for parameter in defaults:
            assert f"\n    {parameter}: " in factory.__doc__, (name, parameter)
        assert isinstance(factory(), presage.System | presage.Program)

"""What each part of a service means live: each row of the reference has tests, named here.

The rows are those of the first table of `docs/reference/live.md`. Two of them need whole commands,
and are tested in this file.
"""

import json
import re
from pathlib import Path

from whole.commands.harness import run, write
from whole.commands.living import all_run, stopped, until, up

ROOT = Path(__file__).resolve().parents[3]
NODE, OWN = "unit/runtime/test_node.py", "unit/runtime/test_own_steps.py"
WIRE, STORE = "unit/runtime/test_wire.py", "unit/runtime/test_store.py"
UP, HERE = "whole/commands/test_up.py", "whole/commands/test_live_rows.py"

ROWS = {
    "self.send": [
        (WIRE, "test_messages_arrive_in_order_on_streams_and_by_datagrams"),
        (WIRE, "test_a_datagram_that_is_too_large_is_an_error_of_its_handler"),
    ],
    "self.stream.send": [
        (WIRE, "test_closing_is_told_to_the_peer_and_loses_what_is_under_way"),
        (WIRE, "test_a_stream_message_that_no_peer_would_take_is_an_error_of_its_handler"),
    ],
    "Streams(queue_size=n)": [
        (WIRE, "test_a_bounded_queue_is_full_until_the_peer_has_handled"),
    ],
    "@broken": [
        (WIRE, "test_a_refused_connection_is_broken"),
        (WIRE, "test_a_process_that_ends_breaks_its_connections_and_may_come_back"),
        (WIRE, "test_a_peer_that_gives_no_sign_of_life_is_gone"),
        (WIRE, "test_signs_of_life_keep_a_quiet_connection"),
    ],
    "when=": [
        (NODE, "test_of_too_many_that_wait_the_oldest_is_lost_and_counted"),
        (WIRE, "test_the_head_of_a_stream_waits_for_its_guard_and_reading_pauses"),
    ],
    "@timer": [
        (OWN, "test_a_timer_fires_after_the_delay_it_was_armed_with_or_configured_or_declared"),
        (OWN, "test_a_late_timer_is_counted_and_fires_all_the_same"),
        ("unit/runtime/test_virtual.py", "test_a_timer_armed_again_has_one_deadline"),
    ],
    "@timer(periodic=True)": [
        (OWN, "test_a_late_timer_is_counted_and_fires_all_the_same"),
    ],
    "@action": [
        (OWN, "test_actions_take_turns_one_a_turn_and_rest_where_they_do_nothing"),
    ],
    "System(calls=...)": [
        (NODE, "test_the_workload_makes_no_calls_by_itself"),
        (HERE, "test_declared_calls_are_made_where_a_workload_is_asked_for"),
        (UP, "test_methods_are_called_and_what_is_durable_survives"),
    ],
    "choose": [
        (NODE, "test_choices_are_drawn_by_weight_and_noted"),
        (OWN, "test_what_is_drawn_follows_from_the_seed_and_the_life"),
        ("reference/test_live_runs.py", "test_a_log_replays_alone"),
    ],
    "now": [
        (NODE, "test_choices_are_drawn_by_weight_and_noted"),
    ],
    "record": [
        (HERE, "test_records_reach_observers_where_logs_are_judged"),
    ],
    "durable(...)": [
        (STORE, "test_a_kill_at_every_point_leaves_a_state_before_or_after_a_step"),
        (STORE, "test_a_real_kill_leaves_a_state_before_or_after_a_step"),
        (STORE, "test_on_a_full_disk_nothing_leaves_and_the_node_has_failed"),
        (STORE, "test_all_steps_of_a_turn_share_one_sync"),
    ],
    "ghost(...)": [
        (NODE, "test_ghosts_are_kept_while_the_process_lives"),
    ],
    "disk()": [
        (NODE, "test_a_write_is_stored_and_told_in_one_step"),
    ],
    "an exception": [
        (NODE, "test_a_step_that_raises_did_not_happen_and_the_node_has_failed"),
        (WIRE, "test_a_handler_that_fails_ends_its_node"),
        (UP, "test_a_node_that_fails_stays_down_and_the_status_tells"),
    ],
    "a handler without end": [
        (NODE, "test_a_handler_without_end_is_ended_as_if_it_had_raised"),
        (UP, "test_an_endless_handler_ends_its_node"),
    ],
}


def rows():
    text = (ROOT / "docs/reference/live.md").read_text(encoding="utf-8")
    table = text.partition("|---|---|\n")[2].partition("\n\n")[0]
    first = (line.split("|")[1].strip() for line in table.splitlines())
    return [found[1] if (found := re.match(r"`([^`]*)`", each)) else each for each in first]


def test_every_row_of_the_reference_has_tests_that_exist():
    assert sorted(ROWS) == sorted(rows())
    for file, name in (each for tests in ROWS.values() for each in tests):
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", text, re.MULTILINE), f"{file} has no {name}"


COUNTED = """
    class Total:
        def initial(self):
            return 0

        def observe(self, state, node, record):
            return state + record

    class Node(Service):
        count: int = durable(0)

        def add(self, number: int) -> None:
            self.count += number
            self.record(number)

    @always
    def small(world):
        return world.observer("total") < 3

    def system() -> System:
        calls = {"n0": [Call("add", 1), Call("add", 2)]}
        observers = {"total": Total()}
        return System({"n0": Node()}, calls=calls, observers=observers, properties=[small])
"""


def calls():
    return run("logs").stdout.count(" call\n")


def test_declared_calls_are_made_where_a_workload_is_asked_for():
    write(COUNTED, "counted.py")
    with up("counted.py") as process:
        until(lambda: all_run(1), "the node")
        assert stopped(process).returncode == 0
    assert calls() == 0
    with up("counted.py", "--workload", "20") as process:
        until(lambda: calls() == 2, "two calls")
        assert stopped(process).returncode == 0
    assert calls() == 2


def test_records_reach_observers_where_logs_are_judged():
    write(COUNTED, "counted.py")
    with up("counted.py", "--workload", "20") as process:
        until(lambda: calls() == 2, "two calls")
        assert stopped(process).returncode == 0
    judged = run("logs", "--judge", "--json")
    assert judged.returncode == 1, judged.stderr
    assert list(json.loads(judged.stdout)["broken"]) == ["small"]

"""Sleep sets: orders that matter are followed, and what was asked for is said in the report."""

from typing import Any

import pytest

from presage import Faults, Service, Streams, System, action, check, on, sometimes, state, step
from presage.errors import BadSystem


class Relay(Service):
    """Passes on what it hears, and does not change."""

    to: str

    @on(str)
    def heard(self, word: str) -> None:
        self.send(self.to, word)


class Listener(Service):
    heard: list[str] = state(list)

    @on(str)
    def hear(self, word: str) -> None:
        self.heard.append(word)


class Speaker(Service):
    to: str
    word: str

    def start(self) -> None:
        self.send(self.to, self.word)


def hearing(*words: str) -> Any:
    return sometimes(lambda world: world["z"].heard == list(words), name="_".join(words))


@pytest.mark.parametrize("network", ["unordered", "duplicating", "ordered"])
def test_the_order_in_which_one_node_sends_to_another_matters_on_a_channel(network: str) -> None:
    nodes = {
        "a": Speaker(to="r", word="x"),
        "b": Speaker(to="r", word="y"),
        "r": Relay(to="z"),
        "z": Listener(),
    }
    properties = [hearing("x", "y"), hearing("y", "x")]
    system = System(nodes, network=network, properties=properties)
    report = check(system, reduction="sleep", depth=8, traces=None)
    assert set(report.properties.values()) == {"reached"}
    assert report.unique == check(system, depth=8, traces=None).unique


def test_a_step_that_is_asleep_is_judged_all_the_same() -> None:
    class Counter(Service):
        total: int = 0

        @on(int)
        def add(self, n: int) -> None:
            self.total += n

    # 1 and 2 swap places without any effect; only one order of them breaks the claim.
    late = step(lambda before, after: (before.total, after.total) != (2, 3), name="late")
    early = step(lambda before, after: (before.total, after.total) != (1, 3), name="early")

    class Pair(Service):
        def start(self) -> None:
            self.send("c", 1)
            self.send("c", 2)

    system = System({"p": Pair(), "c": Counter()}, properties=[late, early])
    report = check(system, reduction="sleep", keep_going=True, traces=None)
    assert report.generated < check(system, keep_going=True, traces=None).generated
    assert {found.prop for found in report.violations} == {"late", "early"}


def test_the_report_says_which_reduction_was_used() -> None:
    system = System({"z": Listener()}, faults=Faults(crash=1))
    report = check(system, reduction="sleep", traces=None)
    assert (report.reduction, report.to_json()["reduction"]) == ("sleep", "sleep")
    assert check(system, traces=None).to_json()["reduction"] == "none"


def test_what_cannot_be_reduced_is_refused() -> None:
    system = System({"z": Listener()})
    with pytest.raises(BadSystem, match="there is no reduction `ample`"):
        check(system, reduction="ample")
    with pytest.raises(BadSystem, match="the reduction `sleep` is given for the search `walk`"):
        check(system, reduction="sleep", search="walk")


def test_steps_that_touch_no_stream_are_independent_where_there_are_streams() -> None:
    class Worker(Service):
        done: bool = False

        @action(when=lambda self: not self.done)
        def work(self) -> None:
            self.done = True

    system = System({name: Worker() for name in "abc"}, streams=Streams(), faults=Faults(crash=1))
    plain = check(system, traces=None)
    report = check(system, reduction="sleep", traces=None)
    assert report.unique == plain.unique
    assert report.generated < plain.generated


def test_steps_of_one_node_of_which_one_uses_a_stream_after_the_other_are_dependent() -> None:
    class Caller(Service):
        ready: bool = False
        called: bool = False

        @action(when=lambda self: not self.ready)
        def prepare(self) -> None:
            self.ready = True

        @action(when=lambda self: not self.called)
        def call(self) -> None:
            self.called = True
            if self.ready:
                self.stream.send("b", "hello")

    class Quiet(Service):
        @on(str)
        def heard(self, word: str) -> None:
            pass

    system = System({"a": Caller(), "b": Quiet()}, streams=Streams())
    plain = check(system, traces=None)
    assert check(system, reduction="sleep", traces=None).unique == plain.unique

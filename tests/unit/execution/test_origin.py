"""Traces that begin in a saved state: the same state again, and only if somebody vouches for it."""

import msgspec
import pytest
from reference.origins import some_filters, walked
from reference.random_systems import random_system

from presage import Service, System, always, on, replay, timer
from presage.errors import BadTrace, Diverged, Untrusted
from presage.execution.begin import system_of
from presage.execution.confirm import Confirmed
from presage.execution.origin import saved_origin
from presage.execution.sandbox import Sandbox
from presage.model.world.origin import begun_in
from presage.model.world.world import World
from presage.search.predict import predict, traced
from presage.shrink.services import shrink
from presage.trace import codec, seal
from presage.trace.origin import SavedOrigin, vouch
from presage.trace.trace import Trace


class Ticker(Service):
    """Sends itself what it counts."""

    count: int = 0
    wild: int = 0

    def start(self) -> None:
        self.arm("tick")

    @timer(periodic=True)
    def tick(self) -> None:
        if self.count < 4:
            self.send(self.name, self.count)

    @on(int)
    def take(self, value: int) -> None:
        self.count = max(self.count, value + 1)


def ticking() -> System:
    small = always(lambda world: world["a"].count < 3, name="small")
    return System({"a": Ticker()}, properties=[small])


@pytest.fixture
def predicted() -> Trace:
    system = ticking()
    world = World.initial(system)
    world.apply(world.enabled()[0])
    found = predict(system, world.save(), seconds=20, threads=1)
    violation = traced(found)
    assert violation is not None and violation.trace is not None
    return violation.trace


def origin_of(trace: Trace) -> SavedOrigin:
    assert isinstance(trace.origin, SavedOrigin)
    return trace.origin


def from_elsewhere(trace: Trace, **changes: object) -> Trace:
    """The trace with another origin, which nobody has signed."""
    origin = msgspec.structs.replace(origin_of(trace), signature=None, **changes)
    return msgspec.structs.replace(trace, origin=origin)


@pytest.mark.parametrize("wired", [False, True])
def test_a_saved_state_is_the_same_in_another_system_of_the_same_code(wired: bool) -> None:
    for seed in range(20):
        system = random_system(seed, wired=wired)
        filters = some_filters(system, seed)
        outside = system.names[:1] if seed % 3 == 0 else ()
        begun = begun_in(system, walked(system, seed), filters=filters, outside=outside)
        saved = msgspec.json.decode(msgspec.json.encode(saved_origin(begun)), type=SavedOrigin)
        trace = Trace(
            target=None, system="", prop="", kind="", message="", step=0, initial=0, origin=saved
        )
        opened = system_of(random_system(seed, wired=wired), trace)
        one, other = World.initial(begun), World.initial(opened)
        assert other.fingerprint == one.fingerprint, seed
        assert list(map(str, other.enabled())) == list(map(str, one.enabled())), seed
        assert (opened.outside, opened.origin.filters) == (begun.outside, begun.origin.filters)
        assert opened.faults.budgets == begun.faults.budgets
        assert [*(opened.faults.nodes or ())] == [*(begun.faults.nodes or ())]


def test_a_predicted_trace_replays_from_its_file(predicted: Trace, tmp_path) -> None:
    path = codec.write(predicted, tmp_path / "ahead.trace")
    read = codec.read(path)
    assert read == predicted
    again = replay(ticking(), read)
    assert again.message == predicted.message
    assert len(again.steps) == len(predicted.steps)


def test_a_trace_that_begins_by_starts_has_no_origin_in_its_file(predicted: Trace) -> None:
    plain = msgspec.structs.replace(predicted, origin=msgspec.UNSET)
    assert b'"locals"' in codec.encode(predicted)
    assert b'"locals"' not in codec.encode(plain)
    assert b"null" not in codec.encode(plain).partition(b'"steps"')[0].partition(b'"choices"')[2]


def test_a_state_from_elsewhere_is_opened_only_if_somebody_vouches_for_it(predicted: Trace) -> None:
    foreign = from_elsewhere(predicted, exposed=("a",))
    with pytest.raises(Untrusted, match="saved state"):
        replay(ticking(), foreign)
    vouch(origin_of(foreign))
    assert replay(ticking(), foreign).message == predicted.message


def test_what_a_forged_state_names_is_never_run(predicted: Trace, tmp_path) -> None:
    system = ticking()
    marker = tmp_path / "marker"
    forged = from_elsewhere(predicted, references=("os:mkdir",), observers=(b"\0\x13",))
    with pytest.raises(Untrusted):
        system_of(system, forged)
    assert system.codec.names()[1] == []
    assert not marker.exists()


def test_a_changed_state_is_noticed_even_if_it_is_trusted(predicted: Trace) -> None:
    origin = origin_of(predicted)
    system = ticking()
    (control, _, wild), *_ = origin.locals
    count = system.codec.encode(2)
    changed = from_elsewhere(predicted, locals=((control, count, wild),))
    vouch(origin_of(changed))
    with pytest.raises(Diverged, match="initial state"):
        replay(ticking(), changed)


@pytest.mark.parametrize(
    "changes",
    [
        {"locals": ()},
        {"budgets": ()},
        {"observers": (b"\1\0",)},
        {"mail": ((b"\1\x09",),)},
        {"links": ((0, 0, (), (), 0),)},
        {"partition": 3},
        {"outside": ("nobody",)},
    ],
)
def test_a_state_of_another_system_is_refused_with_the_reason(
    predicted: Trace, changes: dict
) -> None:
    other = from_elsewhere(predicted, **changes)
    vouch(origin_of(other))
    with pytest.raises(BadTrace, match="none of this system"):
        replay(ticking(), other)


def test_a_signature_covers_all_of_a_state(predicted: Trace) -> None:
    origin = origin_of(predicted)
    assert seal.why_unsigned() is None
    assert origin.is_signed()
    assert not msgspec.structs.replace(origin, partition=1).is_signed()
    assert not msgspec.structs.replace(origin, references=("os:mkdir",)).is_signed()


def test_a_path_from_a_saved_state_is_made_shorter_there(predicted: Trace) -> None:
    begun = system_of(ticking(), predicted)
    with Sandbox() as sandbox:
        world = World.initial(begun)
        steps = []
        while not steps or world.view()["a"].count < 3:
            events = [event for event in world.enabled() if event.kind == "deliver"]
            steps.append(world.apply((events or world.enabled())[0]))
            if len(steps) % 2 and steps[-1].event.kind == "timer":
                steps.append(world.apply(world.enabled()[-1]))
        long = Confirmed(begun.properties[0], "", (), predicted.initial, tuple(steps))
        short, _ = shrink(begun, sandbox, long)
    assert len(short.steps) <= len(long.steps)
    assert len(short.steps) >= len(predicted.steps)

"""What is claimed to be exact, on random systems in which everything happens that may go wrong.

Each family has crashes, restarts, resets, slow nodes, handlers that fail and guards; one besides
has notices of crashes, one streams that break, and one handlers whose fields are known. Reductions
of executions are compared with every execution: verdicts, states at rest, classes. Sleep sets, and
deliveries that do nothing, are compared with the plain search of all states.
"""

from collections import Counter
from copy import copy
from itertools import count

import pytest
from reference.batches import batches, portion
from reference.random_events import struck_system
from reference.random_fields import struck_fielded_system
from reference.random_notices import noticed_struck_system
from reference.test_event_reductions import compare_many, kernel_of
from reference.test_notices_on_streams import noticed_streamed_system

from presage._core import FAULTS
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.limits import Limits
from presage.props.property import always, eventually

FAMILIES = {
    "faults": struck_system,
    "notices": noticed_struck_system,
    "streams": noticed_streamed_system,
    "fields": struck_fielded_system,
}
EXECUTIONS, ASLEEP, IDLE = 8, 40, 40  # systems of each batch; of the first one a quarter
STATES_MAX = 2_000
SHOWN_MAX = 300  # states of systems in which deliveries do nothing
ALL = Limits(states=STATES_MAX, keep_going=True)


def happened(system, raw):
    """What went wrong in a search of all states, and what was there to make it matter."""
    named = {fault for fault, times in zip(FAULTS, raw.faults, strict=True) if times}
    named |= {"fails"} if any(finding.at == 0 for finding in raw.found) else set()
    named |= {"streams"} if system.streams else set()
    named |= {"notices"} if system.faults.notices and "crash" in named else set()
    return named | ({"guards"} if any(map(has_guards, system.nodes.values())) else set())


def has_guards(node):
    """Whether a node keeps out some message, or bars something of its own."""
    program = getattr(node, "program", None)
    if program is not None:
        return bool(program.guards)
    return any(handler.guard for handler in type(node)._presage_shape.handlers.values())


def search(kernel, name, *, asleep=False):
    raw = kernel.search(name, ALL, None, None, asleep)
    return raw, {finding.at: len(finding.events) for finding in raw.found}


@pytest.mark.parametrize("name", FAMILIES)
def test_all_that_may_go_wrong_does(name):
    seen = Counter()
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        for seed in range(40):
            system = FAMILIES[name](seed)
            raw = kernel_of(system, sandbox).search("bfs", Limits(states=300, keep_going=True))
            seen.update(happened(system, raw))
    wanted = {"crash", "restart", "reset", "slow", "fails", "guards"}
    wanted |= {"notices": {"notices"}, "streams": {"notices", "streams", "cut"}}.get(name, set())
    assert {each for each in wanted if seen[each] < 2} == set()


@pytest.mark.parametrize("batch", batches(1, 3))
@pytest.mark.parametrize("name", FAMILIES)
def test_reductions_lose_no_verdict_no_state_at_rest_and_no_class(name, batch):
    compare_many(800_000 + batch * 10_000, portion(batch, EXECUTIONS), FAMILIES[name])


def sleeps_like(kernel):
    """Compare with sleep sets: whether the system was small enough, and whether they saved any."""
    plain, shortest = search(kernel, "bfs")
    if plain.stopped_by is not None:
        return False, False
    asleep, found = search(kernel, "bfs", asleep=True)
    assert (asleep.unique, asleep.depth, found) == (plain.unique, plain.depth, shortest)
    assert asleep.generated <= plain.generated
    deep, found = search(kernel, "dfs", asleep=True)
    assert (deep.unique, set(found)) == (plain.unique, set(shortest))
    return True, asleep.generated < plain.generated


@pytest.mark.parametrize("batch", batches(1, 3))
@pytest.mark.parametrize("name", FAMILIES)
def test_sleep_sets_lose_no_state_and_no_verdict(name, batch):
    wanted, compared, saved = portion(batch, ASLEEP), 0, 0
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        for seed in count(800_000 + batch * 10_000):
            try:
                small, saves = sleeps_like(kernel_of(FAMILIES[name](seed), sandbox))
            except AssertionError as error:
                raise AssertionError(f"{name}({seed}): {error}") from error
            compared += small
            saved += saves
            if compared == wanted:
                break
    assert saved > wanted // 4


# -- deliveries that do nothing -----------------------------------------------------------------


def shown(system, sandbox, *, skips):
    """What nodes, observers and connections are in all states, and at rest; and what breaks.

    None if there are too many states. What is in flight differs: a message stays there.
    """
    states, rests = set(), set()

    def into(found):
        def note(world):
            reader = world._reader
            parts = [reader.observer(at) for at in range(len(system.observers))]
            for node in system.automata:
                parts.append(reader.control(node.index)[:3])
                parts += [reader.value(node.index, at) for at in range(1, len(node.fields) + 1)]
            found.add(system.codec.encode(parts))
            return True

        return note

    watched = copy(system)
    watched.skip_noops = skips
    steps = tuple(each for each in system.properties if each.kind == "step")
    watched.properties = (*steps, always(into(states)), eventually(into(rests)))
    raw = kernel_of(watched, sandbox).search("bfs", Limits(states=SHOWN_MAX, keep_going=True))
    if raw.stopped_by is not None:
        return None
    return states, rests, {finding.at for finding in raw.found}


def idle_alike(system, sandbox):
    """Compare with deliveries that do nothing: whether it was small enough; what is lost at rest.

    What can only be lost is a state at rest: a message that does nothing now stays in flight, and
    is taken later where it then does something.
    """
    taken = shown(system, sandbox, skips=False)
    skipped = taken and shown(system, sandbox, skips=True)
    if not skipped:
        return False, set()
    assert skipped[0] == taken[0]
    assert skipped[1] <= taken[1]
    assert skipped[2] == taken[2]
    return True, taken[1] - skipped[1]


@pytest.mark.parametrize("batch", batches(1, 3))
@pytest.mark.parametrize("name", FAMILIES)
def test_deliveries_that_do_nothing_hide_nothing_but_states_at_rest(name, batch):
    wanted, compared = portion(batch, IDLE), 0
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        for seed in count(900_000 + batch * 10_000):
            system = FAMILIES[name](seed)
            if system.network == "ordered":
                continue
            try:
                compared += idle_alike(system, sandbox)[0]
            except AssertionError as error:
                raise AssertionError(f"{name}({seed}): {error}") from error
            if compared == wanted:
                break

"""Notices outlive a search: in traces that are replayed, and in the digest of a checkpoint."""

from presage import Down, Faults, Service, System, always, check, on, replay
from presage.search.checkpoint.code_digest import Definition


class Watcher(Service):
    down: frozenset[str] = frozenset()

    @on(Down)
    def peer_down(self, notice: Down) -> None:
        self.down |= {notice.node}


@always
def trusted(world) -> bool:
    return not any(world[name].up for each in world.up() for name in each.down)


def watched(**faults) -> System:
    nodes = {"a": Watcher(), "b": Watcher()}
    return System(nodes, faults=Faults(crash=1, restart=1, **faults), properties=[trusted])


def test_a_trace_with_a_notice_is_shrunk_and_replayed():
    [found] = check(watched(notices=True), search="walk", traces=None).violations
    steps = found.trace.steps
    assert sorted(step.kind for step in steps) == ["crash", "deliver", "restart"]
    assert [sent.message for sent in steps[0].sends] == [f"Down(node={steps[0].node!r})"]
    replay(watched(notices=True), found.trace)


def test_a_checkpoint_of_a_system_without_notices_is_another_systems():
    one, other = Definition(watched(notices=True)), Definition(watched())
    assert one.digest != other.digest


def test_a_search_with_notices_goes_on_from_its_checkpoint(tmp_path):
    whole = check(watched(notices=True), traces=None, keep_going=True)
    how = {"traces": None, "keep_going": True, "checkpoint": tmp_path}
    check(watched(notices=True), states=5, **how)
    resumed = check(watched(notices=True), resume=True, **how)
    assert (resumed.unique, resumed.properties) == (whole.unique, whole.properties)

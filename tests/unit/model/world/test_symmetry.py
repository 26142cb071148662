"""Interchangeable nodes: what is refused before anything is searched."""

import pytest

from presage import Call, Disk, Faults, Service, System, disk
from presage.errors import NotSymmetric, UnknownNode


class Peer(Service):
    peers: tuple[str, ...] = ()
    leader: str = ""
    rank: int = 0

    def put(self, value: str) -> None:
        self.leader = value


class Other(Peer):
    pass


def ring(*names: str) -> dict[str, Peer]:
    following = [*names[1:], names[0]]
    return {name: Peer(peers=(after,)) for name, after in zip(names, following, strict=True)}


def everyone(*names: str) -> dict[str, Peer]:
    return {name: Peer(peers=tuple(n for n in names if n != name)) for name in names}


def test_nodes_that_list_each_other_in_an_order_are_interchangeable() -> None:
    system = System(everyone("a", "b", "c"), symmetric=[["a", "b", "c"]])
    assert system.symmetric.groups == ((0, 1, 2),)
    peers = system.automata[0].positions["peers"]
    assert system.symmetric.settled == (frozenset({peers}),) * 3


def test_a_group_of_one_is_no_group() -> None:
    assert System(everyone("a", "b"), symmetric=[["a"]]).symmetric.groups == ()


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ({"a": Peer(), "b": Other()}, "`a` is a `Peer`, `b` a `Other`"),
        ({"a": Peer(rank=1), "b": Peer(rank=2)}, "`a.rank` is 1 and `b.rank` is 2"),
        (ring("a", "b", "c"), "`a.peers` is ('b',) and `b.peers` is ('c',)"),
        (
            {"a": Peer(), "b": Peer(), "c": Peer(leader="a")},
            "`c.leader` is 'a', which is not the same with their names exchanged",
        ),
    ],
)
def test_nodes_that_are_set_up_differently_are_refused(nodes: dict[str, Peer], reason: str) -> None:
    with pytest.raises(NotSymmetric) as refused:
        System(nodes, symmetric=[["a", "b"]])
    assert reason in str(refused.value)


def test_names_may_stand_in_the_settings_if_they_are_exchanged_with_the_nodes() -> None:
    System({"a": Peer(leader="a"), "b": Peer(leader="b")}, symmetric=[["a", "b"]])


def test_different_calls_or_exposure_to_crashes_are_refused() -> None:
    nodes = everyone("a", "b")
    calls = {"a": [Call("put", "a")], "b": [Call("put", "b")]}
    System(nodes, calls=calls, symmetric=[["a", "b"]])
    with pytest.raises(NotSymmetric, match="the calls of `a` are not those of `b`"):
        System(nodes, calls={"a": [Call("put", "x")]}, symmetric=[["a", "b"]])
    with pytest.raises(NotSymmetric, match="only one of them may crash"):
        System(nodes, faults=Faults(crash=1, nodes=["a"]), symmetric=[["a", "b"]])


def test_an_observer_that_begins_with_a_name_is_refused() -> None:
    class Favours:
        def initial(self) -> str:
            return "a"

        def observe(self, state: str, node: str, record: object) -> str:
            return state

    with pytest.raises(NotSymmetric, match="observer `history` tells them apart"):
        System(everyone("a", "b"), observers={"history": Favours()}, symmetric=[["a", "b"]])


def test_a_node_called_like_a_timer_is_refused() -> None:
    from presage import timer

    class Ticking(Service):
        @timer
        def tick(self) -> None: ...

    with pytest.raises(NotSymmetric, match="`tick` is both a node and a timer, action or disk"):
        System({"tick": Ticking(), "tock": Ticking()}, symmetric=[["tick", "tock"]])


def test_misspelt_groups_are_refused() -> None:
    nodes = everyone("a", "b", "c")
    with pytest.raises(NotSymmetric, match="is not a list of groups"):
        System(nodes, symmetric=["a", "b"])
    with pytest.raises(NotSymmetric, match="names node `b` twice"):
        System(nodes, symmetric=[["a", "b"], ["b", "c"]])
    with pytest.raises(UnknownNode):
        System(nodes, symmetric=[["a", "d"]])


def test_a_node_called_like_a_disk_is_refused() -> None:
    class Storing(Service):
        store: Disk = disk()

    with pytest.raises(NotSymmetric, match="`store` is both a node and a timer, action or disk"):
        System({"store": Storing(), "b": Storing()}, symmetric=[["store", "b"]])

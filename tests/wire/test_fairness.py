"""What is owed to the two ends of a stream on an endless execution."""

from presage import Faults, Service, System, broken, check, durable, eventually, on, state, timer


class Friend(Service):
    """Speaks to the other once, then works on for ever; forgets a friend whose stream is gone."""

    other: str
    friends: set[str] = state(set)
    even: bool = False
    lives: int = durable(0)

    def start(self) -> None:
        self.arm("work")
        self.lives += 1
        if self.name == "a" and self.lives == 1:
            self.stream.send(self.other, "hello")

    @on(str)
    def hear(self, word: str, source: str) -> None:
        self.friends.add(source)

    @broken
    def forget(self, peer: str) -> None:
        self.friends.discard(peer)

    @timer(periodic=True)
    def work(self) -> None:
        self.even = not self.even


def friends(claim, faults, fairness):
    nodes = {"a": Friend(other="b"), "b": Friend(other="a")}
    properties = [eventually(claim, name="claim", fairness=fairness)]
    return check(System(nodes, streams=True, faults=faults, properties=properties), traces=None)


def heard(world):
    return not world["b"].up or "a" in world["b"].friends


def remembered_only_if_there(world):
    return world["a"].up or "a" not in world["b"].friends


def test_a_message_on_a_stream_arrives_in_the_end():
    assert friends(heard, Faults(), "none").properties["claim"] == "violated"
    report = friends(heard, Faults(), "weak")
    assert report.properties["claim"] == "held" and report.exhausted


def test_a_broken_connection_is_heard_of_in_the_end():
    faults = Faults(crash=1, nodes=["a"])
    assert friends(remembered_only_if_there, faults, "none").properties["claim"] == "violated"
    assert friends(remembered_only_if_there, faults, "weak").properties["claim"] == "held"


def forgotten_after_a_new_life(world):
    return world["a"].lives == 1 or not world["b"].friends


def test_a_half_open_connection_is_noticed_in_the_end():
    faults = Faults(silent_reset=1, nodes=["a"])
    assert friends(forgotten_after_a_new_life, faults, "none").properties["claim"] == "violated"
    assert friends(forgotten_after_a_new_life, faults, "weak").properties["claim"] == "held"

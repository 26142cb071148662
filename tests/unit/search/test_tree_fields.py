"""`check --search tree`: deliveries at one node that share no field have no order."""

from dataclasses import dataclass

import pytest

from presage import Service, System, check, eventually, on, step


@dataclass(frozen=True)
class Left:
    n: int


@dataclass(frozen=True)
class Right:
    n: int


class Sender(Service):
    def start(self):
        self.send("node", Left(1))
        self.send("node", Right(2))


class Apart(Service):
    x: int = 0
    y: int = 0

    @on(Left)
    def left(self, message):
        self.x = message.n

    @on(Right)
    def right(self, message):
        self.y = message.n


class Both(Apart):
    @on(Right)
    def right(self, message):
        self.x = message.n


class SameAsBefore(Both):
    """`left` changes nothing where it comes first, and something where it comes last."""

    x: int = 1


class Reading(Apart):
    @on(Right)
    def right(self, message):
        self.y = self.x


class Unknown(Apart):
    @on(Right)
    def right(self, message):
        self.y = vars(self)["y"] + 1


class Guarded(Apart):
    """One closes what the other opens: whether `right` happens depends on `left`."""

    @on(Right, when=lambda self, message: self.x == 0)
    def right(self, message):
        self.y = message.n


class Answering(Apart):
    """Both send the same."""

    @on(Left)
    def left(self, message):
        self.send("sender", Left(0))

    @on(Right)
    def right(self, message):
        self.send("sender", Left(0))


def executions(service, **more):
    nodes = {"sender": Sender(), "node": service()}
    more = {"skip_noops": False, **more}
    return check(System(nodes=nodes, **more), search="tree", traces=None, keep_going=True)


@pytest.mark.parametrize(
    ("service", "count"),
    [(Apart, 1), (Both, 2), (SameAsBefore, 2), (Reading, 2), (Unknown, 2), (Guarded, 2)],
)
def test_deliveries_have_an_order_where_they_share_a_field(service, count):
    assert executions(service).traces == count


def test_deliveries_that_send_the_same_have_an_order():
    assert executions(Answering).traces == 2


def test_deliveries_have_an_order_where_a_property_looks_at_steps():
    grows = step(lambda before, after: after.x >= before.x, name="grows")
    assert executions(Apart, properties=[grows]).traces == 2


def test_a_value_set_to_what_it_was_is_found_in_the_other_order():
    claims = [
        eventually(lambda world, end=end: world["node"].x != end, name=str(end)) for end in (1, 2)
    ]
    report = executions(SameAsBefore, properties=claims)
    assert report.properties == {"1": "violated", "2": "violated"}

"""What may go wrong with real nodes: crashes, broken connections, files, signals, exceptions."""

import pytest
from real import programs

from presage import Call, Faults, Service, always, check, on, sometimes
from presage.errors import BadCall, BadSystem
from presage.real import Datagram, Node, RealSystem


def reachable(name, predicate):
    return sometimes(predicate, name=name)


def test_a_count_in_memory_is_lost_in_a_crash_and_one_in_a_file_is_not():
    @always
    def nothing_lost(world):
        server, client = world["server"], world["alice"]
        return server.count is None or server.count >= (client.done or 0)

    def system(file):
        return RealSystem(
            {
                "server": Node(programs.serve, True, file, view=programs.counted),
                "alice": Node(programs.count, view=programs.acknowledged),
            },
            faults=Faults(crash=1, restart=1, nodes=["server"]),
            properties=[nothing_lost],
        )

    assert [each.prop for each in check(system(None), traces=None).violations] == ["nothing_lost"]
    kept = check(system("/var/count"), traces=None)
    assert kept.exhausted and not kept.violations


def test_the_number_of_lives_is_a_bound_that_is_told():
    nodes = {"server": Node(programs.serve, view=programs.counted, lives=1)}
    system = RealSystem(nodes, faults=Faults(crash=1, restart=1))
    report = check(system, traces=None)
    assert "bounded: `lives=1` kept more from happening at server" in report.notes


def conversation(*lines, faults=None, properties=(), attempts=1, **server):
    return RealSystem(
        {
            "server": Node(programs.echo, view=programs.heard, **server),
            "client": Node(programs.tell, *lines, view=programs.spoken),
        },
        faults=faults,
        properties=properties,
    )


@always
def said_what_was_heard(world):
    said = [line for line in world["client"].said or () if line != "failed"]
    return world["server"].told is None or world["server"].told[: len(said)] == said


ALL_SAID = reachable("all_said", lambda world: world["client"].said == ["a", "b"])
FAILED = reachable("failed", lambda world: world["client"].said[-1:] == ["failed"])


def test_lines_on_a_connection_keep_their_order():
    report = check(conversation("a", "b", properties=[said_what_was_heard, ALL_SAID]), traces=None)
    assert report.exhausted and not report.violations
    assert report.properties["all_said"] == "reached"


def test_a_connection_is_refused_reset_or_broken():
    properties = [said_what_was_heard, ALL_SAID, FAILED]
    for fault in ("cut", "refuse", "crash"):
        faults = Faults(**{fault: 1}, nodes=["server"])
        system = conversation("a", "b", faults=faults, properties=properties)
        report = check(system, traces=None)
        assert report.exhausted, fault
        assert report.properties["failed"] == "reached", fault
        assert report.properties["said_what_was_heard"] == "held", fault


def test_nothing_of_a_stream_is_lost_while_datagrams_may_be():
    faults = Faults(drop=1)
    report = check(conversation("a", faults=faults, properties=[said_what_was_heard]), traces=None)
    assert report.exhausted and report.faults == {"drop": 0}


def test_segments_arrive_in_pieces_if_that_is_asked_for():
    plain = check(conversation("a", properties=[said_what_was_heard]), traces=None)
    split = check(conversation("a", properties=[said_what_was_heard], split=2), traces=None)
    assert split.exhausted and split.unique > plain.unique


def writer(**options):
    properties = [
        reachable(text or "nothing", lambda world, text=text: world["writer"].found == text)
        for text in ("", "o", "one\n", "one\ntwo\n", "two\n")
    ]
    return RealSystem(
        {
            "writer": Node(programs.write_twice, view=programs.found, **options),
            "poker": Node(programs.poke),
        },
        faults=Faults(crash=1, restart=1, nodes=["writer"]),
        properties=properties,
    )


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, {"nothing", "one\n", "one\ntwo\n"}),
        ({"disk": "fsync"}, {"nothing", "one\n", "one\ntwo\n"}),
        ({"disk": "fsync", "torn": True}, {"nothing", "o", "one\n", "one\ntwo\n"}),
    ],
)
def test_a_crash_leaves_what_the_disk_may_hold(options, found):
    report = check(writer(**options), traces=None)
    assert {name for name, said in report.properties.items() if said == "reached"} == found


def test_a_program_that_is_told_to_end_shuts_down():
    ended = reachable("ended", lambda world: world["a"].ended == ["well"])
    nodes = {"a": Node(programs.end_well, view=programs.how_it_ended)}
    report = check(RealSystem(nodes, faults=Faults(terminate=1), properties=[ended]), traces=None)
    assert report.properties["ended"] == "reached"


def test_an_exception_that_leaves_the_program_or_a_callback_is_a_violation():
    for program, steps in ((programs.fail, 0), (programs.fail_in_a_callback, 1)):
        report = check(RealSystem({"a": Node(program)}), traces=None)
        (violation,) = report.violations
        assert (violation.prop, violation.steps) == ("no_exception", steps)
        assert "RuntimeError: it fails" in violation.message
    report = check(RealSystem({"a": Node(programs.fail_in_a_callback, exceptions="log")}))
    assert report.exhausted and not report.violations


def test_services_and_real_nodes_stand_side_by_side():
    class Client(Service):
        answered: int = 0

        def start(self):
            self.send("server", Datagram(7, programs.PORT, b"me.0"))

        @on(Datagram)
        def answer(self, packet):
            self.answered += packet.data == b"ok me.0"

    nodes = {"server": Node(programs.serve, view=programs.counted), "client": Client()}
    answered = reachable("answered", lambda world: world["client"].answered == 1)
    report = check(RealSystem(nodes, properties=[answered]), traces=None)
    assert report.exhausted and report.properties["answered"] == "reached"


def test_a_service_that_sends_no_packet_is_told_what_to_send():
    class Rude(Service):
        def start(self):
            self.send("server", "hello")

    nodes = {"server": Node(programs.serve), "rude": Rude()}
    with pytest.raises(BadCall, match="no packet"):
        check(RealSystem(nodes), traces=None)


async def ask(node, number):
    client = node.get("client")
    client.done += number


def test_calls_of_the_workload_run_in_the_program():
    nodes = {"server": Node(programs.serve), "a": Node(programs.count, view=programs.acknowledged)}
    done = reachable("done", lambda world: (world["a"].done or 0) >= 5)
    system = RealSystem(nodes, calls={"a": [Call(ask, 5)]}, properties=[done])
    assert check(system, traces=None).properties["done"] == "reached"


def test_what_makes_no_sense_is_refused():
    with pytest.raises(BadSystem, match="is not a program"):
        Node(programs.serve())
    with pytest.raises(BadSystem, match="merge"):
        Node(programs.serve, merge="veiw")
    with pytest.raises(BadSystem, match="no view"):
        Node(programs.serve, merge="view")
    with pytest.raises(BadSystem, match="not a number of times"):
        Node(programs.serve, timers=-1)
    with pytest.raises(BadSystem, match="no script"):
        Node.program("nowhere.py")

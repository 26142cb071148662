"""The whole state in the debugger: all fields, any expression over the world, what is in flight."""

from dataclasses import dataclass

from unit.debug import programs
from unit.debug.samples import drive, found, ordered

from presage import Call, Faults, Service, Streams, System, always, check, ghost, on, state, timer
from presage.ui.debug.console import Console
from presage.ui.theme import Theme


@dataclass(frozen=True)
class Entry:
    term: int
    text: str

    @property
    def lane(self) -> int | None:
        return self.term or None


class Replica(Service):
    name: str
    log: list[Entry] = state(list)
    table: dict[str, tuple[int, ...]] = state(dict)
    hops: int = ghost(7)

    def start(self) -> None:
        self.arm("retry", 1)

    @timer
    def retry(self, n: int) -> None:
        pass

    def put(self, text: str) -> None:
        self.log.append(Entry(2, text))
        self.table["k"] = (1,)
        self.hops += 1
        for peer in ("a", "b c"):
            if peer != self.presage.name:
                self.send(peer, Entry(1, f"first {text}"))
                self.send(peer, Entry(0, f"then {text}"))
                self.presage.stream.send(peer, Entry(9, "streamed"))

    @on(Entry)
    def entry(self, entry: Entry) -> None:
        self.log.append(entry)


@always
def short(world) -> bool:
    return len(world["a"].log) < 1


def replicas(network: str = "ordered") -> System:
    return System(
        {"a": Replica(name="Anna"), "b c": Replica(name="Bert")},
        network=network,
        calls={"a": [Call("put", "x")]},
        faults=Faults(crash=1),
        streams=Streams(),
        properties=[short],
    )


def lines(text: str, command: str) -> list[str]:
    """What was said to `command`, without the last prompt."""
    said = text.split(f") {command}\n")[1].split("\n(")[0]
    return [line.rstrip() for line in said.splitlines()]


def debug(*commands: str, network: str = "ordered", at: int = 1) -> str:
    return drive(replicas(network), found(replicas(network), "short"), *commands, at=at)


def test_state_shows_every_field_of_every_node_in_pythons_own_spelling() -> None:
    assert lines(debug("state"), "state") == [
        "a",
        "  name          'Anna'",
        "  log           [Entry(term=2, text='x')]",
        "  table         {'k': (1,)}",
        "  hops          8",
        "  timers        retry(1)",
        "  up            True",
        "  (calls made)  1",
        "b c",
        "  name    'Bert'",
        "  log     []",
        "  table   {}",
        "  hops    7",
        "  timers  retry(1)",
        "  up      True",
        "  streams      none",
        "  faults left  crash: 1",
        "3 messages under way; `messages` lists them",
    ]


def test_state_of_one_node_shows_that_node_alone() -> None:
    said = lines(debug("state b c"), "state b c")
    assert said[0] == "b c"
    assert "  name    'Bert'" in said
    assert not any("Anna" in line for line in said)


def test_state_of_no_node_names_the_nodes() -> None:
    text = drive(ordered(), found(ordered(), "in_order"), "state sever", "messages sever")
    wanted = "there is no node `sever`; the nodes are client, server; did you mean `server`?"
    assert text.count(wanted) == 2


def test_print_evaluates_any_expression_over_the_world() -> None:
    commands = (
        "print a.log[-1].term",
        "print world['b c'].presage.timers",
        "print [n.name for n in world.nodes]",
        "print a",
        "print a.presage.name",
        "print step",
    )
    text = debug(*commands)
    assert lines(text, commands[0]) == ["2"]
    assert lines(text, commands[1]) == ["{('retry', 1)}"]
    assert lines(text, commands[2]) == ["['Anna', 'Bert']"]
    assert lines(text, commands[3])[:2] == ["a", "  name          'Anna'"]
    assert lines(text, commands[4]) == ["'a'"]
    assert lines(text, commands[5]) == ["1"]


def test_an_expression_that_fails_is_told_in_one_line_and_the_session_goes_on() -> None:
    failing = {
        "print a.log[7].term": "`a.log[7].term`: IndexError: list index out of range",
        "print a.lgo": "`a.lgo`: AttributeError: node `a` has no field or method `lgo`;"
        " it is a `Replica`; did you mean `log`?",
        "print aa.log": "`aa.log`: there is no `aa` here; the nodes are a, b c; did you mean `a`?",
        "print world.a": "`world.a`: AttributeError: a world has no attribute `a`;"
        " the node is `world['a']`",
        "print world['d']": "`world['d']`: `world['d']`: there is no node 'd';"
        " the nodes are a, b c",
        "print a.log[": "`a.log[` is not a Python expression: '[' was never closed",
        "print x = 1": "`x = 1` is not a Python expression: invalid syntax",
        "print a.hops": "`a.hops`: it reads a ghost, which `state` shows and no expression sees",
        "print a.presage.send('b c', 1)": "`a.presage.send('b c', 1)`: a property changes the"
        " world: `send`",
        "print": "there is no expression; for example `print world['a']`",
    }
    text = drive(
        replicas(),
        found(replicas(), "short"),
        *failing,
        "print 40 + 2",
        at=1,
        theme=Theme(width=200),
    )
    for command, said in failing.items():
        assert lines(text, command) == [f"error: {said}"]
    assert lines(text, "print 40 + 2") == ["42"]


def test_an_expression_that_reads_a_clock_is_refused_once_and_the_session_goes_on() -> None:
    text = debug("print __import__('time').time()", "print 1", "next")
    (said,) = lines(text, "print __import__('time').time()")[:1]
    assert said.startswith("error: `__import__('time').time()`: ")
    assert lines(text, "print 1") == ["1"]


def test_messages_are_listed_by_channel_with_their_arguments_in_their_order() -> None:
    assert lines(debug("messages"), "messages") == [
        "a -> b c  in this order",
        "  Entry(term=1, text='first x')",
        "  Entry(term=0, text='then x')",
        "a -> b c  on a stream, in this order",
        "  Entry(term=9, text='streamed')",
    ]
    loose = lines(debug("messages", network="unordered"), "messages")
    assert loose[0] == "a -> b c  in any order"
    assert sorted(loose[1:3]) == [
        "  Entry(term=0, text='then x')",
        "  Entry(term=1, text='first x')",
    ]
    assert lines(debug("messages", network="lanes"), "messages")[:4] == [
        "a -> b c  in any order",
        "  Entry(term=0, text='then x')",
        "a -> b c  in a lane, in this order",
        "  Entry(term=1, text='first x')",
    ]
    assert lines(debug("messages", at=0), "messages") == ["nothing is in flight"]
    assert lines(debug("messages b c"), "messages b c")[0] == "a -> b c  in this order"


def test_programs_have_a_state_and_messages_too() -> None:
    program = programs.claimed()
    trace = found(program, "in_order")
    text = drive(program, trace, "state", "state server", "print server.seen", "messages", at=2)
    assert "server\n" in text and "(at)" in text
    assert "error" not in text


def test_what_a_trace_holds_is_never_evaluated() -> None:
    hostile = "__import__('os').abort()"
    nodes = {hostile: Replica(name="x"), "a": Replica(name="y"), "b c": Replica(name="z")}
    system = System(nodes, calls={"a": [Call("put", "x")]}, streams=True, properties=[short])
    (violation,) = check(system, traces=None).violations
    text = drive(system, violation.trace, "state", f"state {hostile}", "messages", "print step")
    assert hostile in text
    assert "error" not in text


def test_nodes_and_fields_can_be_completed() -> None:
    from unit.debug.samples import session

    with session(replicas(), found(replicas(), "short")) as opened:
        console = Console(opened, Theme(width=80))
        assert console.completenames("sta") == ["state "]
        assert console.completenames("mes") == ["messages "]
        assert console.completenames("pri") == ["print "]
        assert "a.log" in console.completedefault("a.l", "print a.l", 6, 9)

"""Mistakes of beginners: each is refused where it is made, with its cause and the way out."""

import asyncio
import contextlib
import subprocess
import sys
from textwrap import dedent

import pytest

import presage
from presage.errors import PresageError

PREFIX = """\
import dataclasses
from dataclasses import dataclass
from typing import Generic, TypeVar

from presage import *


@dataclass(frozen=True)
class Ping:
    n: int = 0


@dataclass(frozen=True)
class Pong:
    n: int = 0


class Plain(Service):
    x: int = 0

    def go(self, *args):
        pass


class World_:
    pass


"""

HANDLERS = {
    "a bare @on": ("@on\ndef f(self, m): pass", "`@on` above `f` names no message|`@on(Vote)`"),
    "@on without a message": ("@on()\ndef f(self, m): pass", "`@on()` names no message"),
    "@on with two messages": (
        "@on(Ping, Pong)\ndef f(self, m): pass",
        "one line each: `@on(Ping)` `@on(Pong)`",
    ),
    "@on with a text": ('@on("Ping")\ndef f(self, m): pass', "'Ping', which is not a class"),
    "@on with an instance": ("@on(Ping(1))\ndef f(self, m): pass", "which is not a class"),
    "@timer with a time": ("@timer(5)\ndef f(self): pass", "was given 5|`self.arm("),
    "@timer with a name": ('@timer("beat")\ndef f(self): pass', "was given 'beat'"),
    "@action with a guard": (
        "@action(lambda self: True)\ndef f(self): pass",
        "was given a lambda|`@action(when=lambda self: ..., over=...)`",
    ),
    "@broken with an argument": ('@broken("b")\ndef f(self, p): pass', "`@broken(...)` was given"),
    "@written with an argument": ("@written(1)\ndef f(self, k): pass", "`@written(...)` was given"),
    "a handler without a message": ("@on(Ping)\ndef f(self): pass", "def f(self, message)"),
    "a handler without self": ("@on(Ping)\ndef f(): pass", "takes no `self`"),
    "a handler with too much": (
        "@on(Ping)\ndef f(self, a, b, c): pass",
        "def f(self, message, source)",
    ),
    "a generator": ("@on(Ping)\ndef f(self, m): yield 1", "coroutine or generator"),
    "a coroutine": ("@on(Ping)\nasync def f(self, m): pass", "`async def` or `yield`"),
    "two handlers of one message": (
        "@on(Ping)\ndef f(self, m): pass\n@on(Ping)\ndef g(self, m): pass",
        "and so does `f`",
    ),
    "two methods of one name": (
        "@on(Ping)\ndef f(self, m): pass\n@on(Pong)\ndef f(self, m): pass",
        "`N.f` is defined again|would never run|a name of its own",
    ),
    "a static method": (
        "@staticmethod\n@on(Ping)\ndef f(m): pass",
        "would never run|`@staticmethod`",
    ),
    "a guard that is a value": ("@on(Ping, when=True)\ndef f(self, m): pass", "guard (`when`)"),
    "a list as default": ("x: list = []", "`x: ... = state(list)`"),
    "a dict as durable default": ("x: dict = durable({})", "durable(factory=dict)"),
    "a field of a dataclass": (
        "x: list = dataclasses.field(default_factory=list)",
        "`dataclasses.field`|state(list)",
    ),
    "a constructor": ("def __init__(self): self.x = 1", "give values to the constructor"),
    "a mutable constant": ("votes = set()", "a field whose annotation was left out"),
    "a mutable message": ("@on(list)\ndef f(self, m): pass", "send a tuple or a frozen dataclass"),
    "over a number": ("@action(over=3)\ndef f(self, v): pass", "`over=range(3)`"),
}

SYSTEMS = {
    "a misspelt fault": ("Faults(crashes=1)", "no argument `crashes`; did you mean `crash`?"),
    "a misspelt weight": ("Weights(timers=1)", "did you mean `timer`?"),
    "a misspelt size": ("Streams(queuesize=1)", "did you mean `queue_size`?"),
    "a misspelt drift": ("Timed(drif=1)", "did you mean `drift`?"),
    "a misspelt argument": (
        'System({"a": Plain()}, property=[])',
        "no argument `property`; did you mean `properties`?",
    ),
    "nodes as arguments": ("System(a=Plain())", "`System` has no argument `a`|it has `nodes`"),
    "a list of nodes": (
        "System([Plain(), Plain()])",
        'a `list`, not a mapping|`System({"n0": Plain(), "n1": Plain()})`',
    ),
    "one node": ("System(Plain())", 'a `Plain`, not a mapping|`System({"n0": Plain()})`'),
    "no nodes": ("System({})", "the system has no nodes"),
    "a class as a node": ('System({"a": Plain})', "the class `Plain`, not an instance of it"),
    "no service": ('System({"a": World_()})', "a `World_`, not a `Service`"),
    "numbers as names": ("System({0: Plain()})", 'such as "n0"'),
    "another network": ('System({"a": Plain()}, network="Ordered")', "did you mean `ordered`?"),
    "faults as a dict": ('System({"a": Plain()}, faults={"crash": 1})', "faults=Faults(crash=1"),
    "a misspelt node": (
        'System({"node": Plain()}, faults=Faults(crash=1, nodes=["nod"]))',
        "did you mean `node`?",
    ),
    "a predicate without decorator": (
        'System({"a": Plain()}, properties=[lambda world: True])',
        "the function `<lambda>` of|`@always`",
    ),
    "one such predicate": (
        'System({"a": Plain()}, properties=lambda world: True)',
        "which is not a property",
    ),
    "a property by name": (
        'System({"a": Plain()}, properties="p")',
        "'p', which is not a property",
    ),
    "a property without a world": ("always(lambda: True)", "the parameters (world)"),
    "a property with too much": ("always(lambda world, x: True)", "the parameters (world)"),
    "one property twice": (
        'System({"a": Plain()}, properties=[always(lambda w: True, name="p")] * 2)',
        "two properties are called `p`",
    ),
    "calls by name": ('System({"a": Plain()}, calls={"a": ["go"]})', '[Call("go")]'),
    "calls by method": (
        'System({"a": Plain()}, calls={"a": [Plain.go]})',
        'the function `go`|[Call("go")]',
    ),
    "a call with keywords": ('Call("go", x=1)', "`Call('go', x=...)`|`Call('go', 1)`"),
    "a misspelt call": (
        'System({"a": Plain()}, calls={"a": [Call("og")]})',
        "did you mean `go`?",
    ),
    "a list of observers": (
        'System({"a": Plain()}, observers=[1])',
        "`observers` is a `list`, not a mapping",
    ),
    "an observer with other parameters": (
        'System({"a": Plain()}, observers={"o": type("O", (), {"initial": lambda self: 0,'
        ' "observe": lambda self, record: 0})()})',
        "`def observe(self, state, node, record)`",
    ),
    "a field by position": ("Plain(3)", "`Plain(3)` does not say which|`Plain(x=3)`"),
    "a misspelt field": ("Plain(xx=3)", "has no field `xx`|did you mean `x`?"),
    "symmetric nodes as one list": (
        'System({"a": Plain(), "b": Plain()}, symmetric=["a", "b"])',
        'symmetric=[["a", "b"]]',
    ),
    "a process that was called": ("Process((lambda: None)())", "`Process(body, 1, 2)`"),
    "a process without arguments": ("Process(lambda n: None)", "missing a required argument: 'n'"),
    "a list of processes": ("Program([])", "`Program` was given a `list`|name them"),
    "nodes to check": ('check({"a": Plain()})', "`check` was given a `dict`"),
    "a system's function to check": ("check(lambda: 1)", "check(system())"),
}

STEPS = {
    "a misspelt receiver": ('self.send("bb", Ping())', "no node 'bb'|did you mean `b`?"),
    "a node as receiver": ("self.send(self, Ping())", "a node object where its name is meant"),
    "a misspelt timer": ('self.arm("bea")', "did you mean `beat`?"),
    "a value that contains itself": (
        "self.x = []; self.x.append(self.x)",
        "it contains itself|a link back to what holds it|the name, index or key",
    ),
    "a number of choices": ("self.choose(3)", "`self.choose(range(3))`"),
    "no choices": ("self.choose([])", "no options"),
    "a set of choices": ("self.choose({1, 2})", "sorted(...)"),
    "too many choices": ("self.choose(range(1001))", "1,001 options; the limit is 1,000"),
    "a field on the fly": ("self.y = 1", "does not declare as a field"),
    "a function in a field": ("self.x = lambda: 1", "cannot be state"),
}

PROPERTIES = {
    "a world's attribute": ("world.b.x == 0", "the node is `world['b']`"),
    "a node by number": ("world[0].x == 0", "`world.nodes[0]`"),
    "a world that is iterated": ("all(n.x == 0 for n in world)", "its nodes are `world.nodes`"),
    "a misspelt method": ("world.mesages() == ()", "did you mean `messages`?"),
    "a misspelt field": ('world["b"].xx == 0', "did you mean `x`?"),
    "a number": ('world["b"].x', "returned a `int`|`return x == 0`"),
    "nothing": ("None", "a branch without `return`"),
}


def refused(code, words):
    names = {"__name__": "__mistake__"}
    with pytest.raises(PresageError) as error:
        exec(compile(PREFIX + code, "mistake.py", "exec"), names)
    for each in words.split("|"):
        assert each in str(error.value)
    assert "0x" not in str(error.value)


@pytest.mark.parametrize("mistake", HANDLERS)
def test_a_mistake_in_a_class_is_refused_when_it_is_defined(mistake, tmp_path):
    body, words = HANDLERS[mistake]
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    source = tmp_path / "mistake.py"  # a real file: decorators are recognised by their lines
    source.write_text(f"{PREFIX}class N(Service):\n{lines}\n")
    with pytest.raises(PresageError) as error:
        exec(compile(source.read_text(), str(source), "exec"), {"__name__": "__mistake__"})
    for each in words.split("|"):
        assert each in str(error.value)
    assert "mistake.py:" in str(error.value)


@pytest.mark.parametrize("mistake", SYSTEMS)
def test_a_mistake_in_a_system_is_refused_when_it_is_made(mistake):
    refused(*SYSTEMS[mistake])


@pytest.mark.parametrize("mistake", STEPS)
def test_a_mistake_in_a_handler_ends_the_check(mistake):
    step, words = STEPS[mistake]
    code = f"""
class N(Service):
    x: object = None
    @timer
    def beat(self): pass
    def do(self): {step}
check(System({{"a": N(), "b": N()}}, calls={{"a": [Call("do")]}}), traces=None)
"""
    refused(code, words)


@pytest.mark.parametrize("mistake", PROPERTIES)
def test_a_mistake_in_a_property_is_told_with_the_way_out(mistake):
    expression, words = PROPERTIES[mistake]
    names = {"__name__": "__mistake__"}
    code = 'report = check(System({"b": Plain()}, properties=[always(lambda world:'
    code += f' {expression}, name="p")]), traces=None)'
    exec(compile(PREFIX + code, "mistake.py", "exec"), names)
    (error,) = names["report"].errors
    for each in words.split("|"):
        assert each in error


def test_a_generic_service_may_be_given_its_types():
    names = {"__name__": "__main__"}
    code = """
T = TypeVar("T")
class Store(Service, Generic[T]):
    held: list[T] = state(list)
    def put(self, value: T): self.held.append(value)
report = check(System({"a": Store[int](held=[1])}, calls={"a": [Call("put", 2)]}))
"""
    exec(compile(PREFIX + code, "generic.py", "exec"), names)
    assert names["report"].unique == 2


def test_a_property_may_answer_with_a_truth_value_of_numpy():
    numpy = pytest.importorskip("numpy")

    class Node(presage.Service):
        x: int = 0

        def go(self):
            self.x = 1

    def zero(world):
        return numpy.int64(world["a"].x) == 0

    calls = {"a": [presage.Call("go")]}
    small = presage.always(zero, name="zero")
    every = presage.always(
        lambda world: presage.forall(world.nodes, lambda node: numpy.bool_(node.x < 2)), name="few"
    )
    system = presage.System({"a": Node()}, calls=calls, properties=[small, every])
    report = presage.check(system, traces=None)
    assert report.properties == {"zero": "violated", "few": "held"}
    array = presage.always(lambda world: numpy.array([True]), name="array")
    report = presage.check(presage.System({"a": Node()}, properties=[array]), traces=None)
    assert "returned a `ndarray`" in report.errors[0] and "`all(...)`" in report.errors[0]


def test_broken_and_written_may_have_brackets():
    class Node(presage.Service):
        @presage.broken()
        def gone(self, peer):
            pass

        @presage.written()
        def stored(self, key):
            pass

    assert Node._presage_shape.broken[0] == "gone"
    assert Node._presage_shape.written is not None


def test_a_message_that_is_a_class_is_told_from_an_instance():
    class Node(presage.Service):
        def start(self):
            self.send("a", int)

    (found,) = presage.check(presage.System({"a": Node()}), traces=None).violations
    assert "it is the class itself, not an instance: `int(...)`" in found.message


def test_a_dataclass_whose_attribute_has_no_annotation_is_refused():
    code = """
@dataclass(frozen=True)
class Vote:
    term = 0
class N(Service):
    @on(Vote)
    def vote(self, vote): pass
"""
    refused(code, "`Vote`, a dataclass without fields: `term` has no annotation|`term: int = ...`")


def test_asyncio_in_a_process_is_refused_with_what_to_await_instead():
    code = """
import asyncio
async def body(): await asyncio.sleep(1)
check(Program({"a": Process(body)}), traces=None)
"""
    refused(code, "calls `asyncio.sleep`|no event loop|`await this_actor.sleep_for(1)`")


def test_the_event_loop_of_the_caller_is_not_that_of_a_process():
    async def body():
        await asyncio.sleep(1)

    async def notebook():
        with pytest.raises(PresageError, match=r"calls `asyncio.sleep`"):
            presage.check(presage.Program({"a": presage.Process(body)}), traces=None)
        assert asyncio.get_running_loop() is loop

    loop = asyncio.new_event_loop()
    with contextlib.closing(loop):
        loop.run_until_complete(notebook())


def test_a_handler_called_with_too_few_arguments_names_the_method_of_the_service():
    class Node(presage.Service):
        def start(self):
            self.send("a")

    (found,) = presage.check(presage.System({"a": Node()}), traces=None).violations
    assert "Service.send() missing 1 required positional argument: 'message'" in found.message


def test_a_decorator_between_mark_and_method_may_keep_the_mark():
    code = dedent(
        """
        import functools
        from presage import Service, System, check, on
        def noted(function):
            @functools.wraps(function)
            def inner(self, message):
                return function(self, message)
            return inner
        class N(Service):
            n: int = 0
            def start(self):
                self.send("a", 1)
            @noted
            @on(int)
            def got(self, message):
                self.n += 1
        assert check(System({"a": N()}), traces=None).unique == 2
        """
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

"""Which systems are worth a second process."""

import importlib.util

import pytest

from presage.search.twin.suspects import suspicious

HEAD = """
import datetime
import math
import operator
import msgspec
from dataclasses import dataclass
from presage import *

NAMES = frozenset({"a", "b"})

@dataclass(frozen=True)
class Vote:
    by: frozenset[str]

def pair(one, other):
    return one - other
"""

SUSPICIOUS = {
    "a derived set": "next(iter(self.peers - {self.name}))",
    "a display": "list({'x', 'y'})",
    "a comprehension": "[x for x in {y for y in self.peers}]",
    "a loop": "[self.send(x, 1) for x in self.peers | {'n1'}]",
    "a set that grew": "self.seen.add('x') or next(iter(self.seen))",
    "a set in a dict": "self.votes[1].add('x') or list(self.votes[1])",
    "what pop takes": "set(self.peers).pop()",
    "ties": "min(self.peers | {'n1'}, key=len)",
    "views": "list({'a': 1}.keys() | {'b'})",
    "a constant": "next(iter(NAMES))",
    "a function's result": "list(self.others())",
    "a set given away": "print(self.peers & {'a'})",
    "unknown operands": "list(pair(self.peers, self.seen))",
    "unpacking": "(lambda *all: all)(*{'a', 'b'})",
    "a text": "f\"{self.peers - {'a'}}\"",
    "an operator's function": "list(operator.sub(self.seen, self.peers))",
    "a decoded set": "list(msgspec.json.decode(b'[1]', type=set[int]))",
    "identity": "id(self)",
    "an object": "str(object())",
    "hash": "hash(self.peers)",
    "a clock": "datetime.datetime.now()",
}
CLEAN = {
    "nothing": "None",
    "numbers": "math.floor(self.count - 1) | 2 & 4",
    "a length": "len(self.peers - {'a'})",
    "members": "'a' in self.peers | {'b'}",
    "sorted": "sorted(self.peers - {'a'})",
    "the least": "min(self.peers | {'a'})",
    "a comparison": "self.seen >= {'a', 'b'}",
    "a set that is kept": "self.seen.add('x')",
    "votes that are counted": "len(self.votes.setdefault(1, set())) > 1",
    "a field as it came": "[self.send(peer, 1) for peer in self.peers]",
    "any of them": "any(x == 'a' for x in self.peers - {'b'})",
    "a set of a set": "self.seen.update({x.upper() for x in self.peers - {'a'}})",
}


def made(expression, tmp_path):
    path = tmp_path / "made.py"
    path.write_text(
        HEAD
        + f"""
class Node(Service):
    peers: frozenset[str] = frozenset({{"n0", "n1"}})
    seen: set[str] = state(set)
    votes: dict[int, set[str]] = state(dict)
    count: int = 0

    def others(self):
        return self.peers - {{self.name}}

    @action
    def act(self) -> None:
        {expression}

system = System({{"n0": Node()}})
"""
    )
    spec = importlib.util.spec_from_file_location("made", path)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["made"] = module
    try:
        spec.loader.exec_module(module)
        return suspicious(module.system)
    finally:
        del sys.modules["made"]


@pytest.mark.parametrize("name", SUSPICIOUS)
def test_an_order_that_may_show_is_suspicious(name, tmp_path):
    assert made(SUSPICIOUS[name], tmp_path)


@pytest.mark.parametrize("name", CLEAN)
def test_an_order_that_cannot_show_is_not(name, tmp_path):
    assert not made(CLEAN[name], tmp_path)


@pytest.mark.parametrize("name", ["paxos", "ping_pong", "two_phase_commit", "single_copy"])
def test_plain_shipped_systems_are_not_worth_a_process(name):
    module = importlib.import_module(f"presage.systems.{name}")
    assert not suspicious(module.system())

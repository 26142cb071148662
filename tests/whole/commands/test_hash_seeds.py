"""The hash seed changes nothing: not the verdict, not the trace, not a fingerprint."""

import json
import os
import subprocess
import sys

import pytest

SYSTEM = """
from dataclasses import dataclass
from presage import Service, System, action, always, on, state

@dataclass(frozen=True)
class Token:
    hops: int

class Node(Service):
    peers: set[str] = state(set)
    seen: frozenset[str] = frozenset()

    @action(when=lambda self: self.name == "ann" and not self.seen)
    def begin(self) -> None:
        self.seen = self.seen | {"begin"}
        self.send(next(iter(self.peers)), Token(0))

    @on(Token)
    def token(self, token: Token, source: str) -> None:
        self.seen = self.seen | {source}
        if token.hops < 3:
            self.send(next(iter(self.peers)), Token(token.hops + 1))

@always
def nobody_is_met(world):
    return not any(node.seen for node in world.nodes if node.name != "ann")

def system() -> System:
    names = ("ann", "bob", "cyd", "dan", "eve")
    nodes = {name: Node(peers=set(names) - {name}) for name in names}
    return System(nodes, properties=[nobody_is_met])
"""


def run(folder, seed, *arguments):
    """What a command says under a hash seed."""
    environ = os.environ | {"PYTHONHASHSEED": str(seed), "NO_COLOR": "1"}
    command = [sys.executable, "-P", "-m", "presage", *arguments]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True)


def everything(folder, seed):
    """All that a check says and writes, but for times."""
    done = run(folder, seed, "check", "order.py:system", "--json", "--keep-going")
    told = json.loads(done.stdout)
    for name in ("seconds", "peak_mib"):
        del told[name]
    traces = {path.name: path.read_bytes() for path in (folder / ".presage/traces").iterdir()}
    replayed = [run(folder, seed, "replay", f".presage/traces/{name}") for name in traces]
    return done.returncode, told, traces, [(each.returncode, each.stdout) for each in replayed]


def same_under(tmp_path, seeds):
    (tmp_path / "order.py").write_text(SYSTEM)
    first, *others = (everything(tmp_path, seed) for seed in seeds)
    assert all(other == first for other in others)
    return first


def test_a_set_of_names_gives_one_verdict_and_one_trace_under_any_seed(tmp_path):
    status, told, traces, replayed = same_under(tmp_path, (1, 7, 11))
    assert status == 3
    assert len(traces) == len(replayed) == 1
    assert {each["code"] for each in told["order_dependence"]} == {"Node.begin", "Node.token"}
    assert {part for each in told["order_dependence"] for part in each["parts"]} == {"self.peers"}


@pytest.mark.slow
def test_twenty_seeds_give_one_verdict_and_one_trace(tmp_path):
    same_under(tmp_path, range(20))

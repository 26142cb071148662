"""The digest of a system: the same in every process, another after every edit that matters."""

import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from presage import Call, Faults, Service, System, always, check, on
from presage.search.checkpoint.code_digest import Definition

SHIPPED = """
import sys
sys.path[:0] = {path!r}
from presage import System
from presage.cli.target.load import load, shipped
from presage.search.checkpoint.code_digest import Definition
from reference.random_systems import random_system
for name in [system.name for system in shipped()]:
    system = load(name).system
    if isinstance(system, System):
        print(name, Definition(system).digest)
for seed in range(20):
    print(seed, Definition(random_system(seed)).digest)
"""


def in_a_process(**environ):
    program = SHIPPED.format(path=[path for path in sys.path if path])
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_process_finds_the_same_digest(tmp_path):
    first = in_a_process(PYTHONHASHSEED="1")
    assert in_a_process(PYTHONHASHSEED="2") == first
    # Compiled anew, and not read from the files that Python keeps.
    assert in_a_process(PYTHONHASHSEED="3", PYTHONPYCACHEPREFIX=str(tmp_path)) == first
    digests = [line.split()[1] for line in first.splitlines()]
    assert len(set(digests)) == len(digests)


@dataclass
class Setting:
    limit: int
    names: set = field(default_factory=set)


SETTING = Setting(3)


def helper(n):
    return n + SETTING.limit


class Node(Service):
    n: int = 0

    @on(int)
    def hear(self, n):
        self.n = helper(n)

    def call(self, n):
        self.send(self.name, n)


def system(claim=None, **options):
    properties = [claim] if claim else []
    calls = {"a": [Call("call", 1)]}
    return System({"a": Node()}, calls=calls, properties=properties, **options)


def digest(*arguments, **options):
    return Definition(system(*arguments, **options)).digest


def test_two_systems_made_alike_have_one_digest():
    assert digest() == digest()


def below(limit):
    return always(lambda world: world["a"].n < limit, name="below")


def test_what_a_closure_holds_counts():
    assert digest(below(3)) == digest(below(3))
    assert digest(below(3)) != digest(below(4))


@pytest.mark.parametrize("options", [{"network": "ordered"}, {"faults": Faults(drop=1)}])
def test_options_count(options):
    assert digest() != digest(**options)


def test_a_global_that_a_helper_reads_counts(monkeypatch):
    before = digest()
    monkeypatch.setattr(SETTING, "limit", 4)
    assert digest() != before
    monkeypatch.setattr(SETTING, "limit", 3)
    assert digest() == before
    monkeypatch.setattr(SETTING, "names", {"x", "y", "z"})
    with_names = digest()
    assert with_names != before
    monkeypatch.setattr(SETTING, "names", {"z", "y", "x"})
    assert digest() == with_names


def test_code_that_a_handler_calls_counts(monkeypatch):
    before = digest()
    monkeypatch.setitem(globals(), "helper", lambda n: n + 1)
    assert digest() != before


def local_system():
    @dataclass(frozen=True)
    class Word:
        text: str

    class Speaker(Service):
        heard: tuple = ()

        def start(self):
            self.send("b", Word("x"))

        @on(Word)
        def hear(self, word):
            if len(self.heard) < 3:
                self.heard += (word,)
                self.send("a" if self.name == "b" else "b", Word(word.text + "y"))

    return System({"a": Speaker(), "b": Speaker()})


def test_values_of_classes_made_inside_a_function_are_taken_up(tmp_path):
    plain = check(local_system(), traces=None)
    first = check(local_system(), traces=None, checkpoint=tmp_path, depth=4)
    assert first.stopped_by == "depth"
    last = check(local_system(), traces=None, checkpoint=tmp_path, resume=True)
    assert (last.unique, last.generated) == (plain.unique, plain.generated)

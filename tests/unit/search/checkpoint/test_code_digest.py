"""The digest of a system: the same in every process, another after every edit that matters."""

import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from presage import Call, Faults, Process, Program, Service, System, always, check, on
from presage.cli.target.load import load
from presage.search.checkpoint.code_digest import Definition

SHIPPED = """
import sys
sys.path[:0] = {path!r}
from presage.cli.target.load import load, shipped
from presage.search.checkpoint.code_digest import Definition
from reference.random_systems import random_system
for name in [system.name for system in shipped()]:
    print(name, Definition(load(name).system).digest)
print("script", Definition(load({script!r}).system).digest)
for seed in range(20):
    print(seed, Definition(random_system(seed)).digest)
"""


SCRIPT = """
from mpi4py import MPI
import beside

beside.greet(MPI.COMM_WORLD)
"""


def script(folder, beside="def greet(comm): comm.barrier()"):
    (folder / "hello.py").write_text(SCRIPT)
    (folder / "beside.py").write_text(beside)
    return f"{folder}/hello.py --mpi 2 --buffering zero"


def in_a_process(folder, **environ):
    path = [path for path in sys.path if path]
    program = SHIPPED.format(path=path, script=script(folder))
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_process_finds_the_same_digest(tmp_path):
    first = in_a_process(tmp_path, PYTHONHASHSEED="1")
    assert in_a_process(tmp_path, PYTHONHASHSEED="2", ELSEWHERE="1") == first
    # Compiled anew, and not read from the files that Python keeps.
    cache = str(tmp_path / "cache")
    assert in_a_process(tmp_path, PYTHONHASHSEED="3", PYTHONPYCACHEPREFIX=cache) == first
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


def test_a_program_of_processes_is_its_bodies_and_their_arguments():
    def body(number):
        helper(number)

    def other(number):
        helper(number + 1)

    def of(body, *args, **options):
        return Definition(Program({"a": Process(body, *args)}, **options)).digest

    assert of(body, 1) == of(body, 1)
    assert len({of(body, 1), of(body, 2), of(other, 1), of(body, 1, leftovers=True)}) == 4


def test_a_script_is_itself_and_the_modules_beside_it(tmp_path):
    target = script(tmp_path)
    first = Definition(load(target).system).digest
    assert Definition(load(target).system).digest == first
    script(tmp_path, beside="def greet(comm): comm.Barrier()")
    assert Definition(load(target).system).digest != first

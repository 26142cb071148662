"""What a search has learned of orders and constants is kept over a stop."""

from pathlib import Path

import pytest
from whole.commands.forging import FILE, content, sealed
from whole.commands.harness import refused, run, told, write

CHECK = ("check", "kept.py", "--checkpoint", "kept", "--keep-going", "--json")

EARLY = """
    class Node(Service):
        names: set[str] = state(lambda: {"x", "y", "z"})
        first: str = ""
        n: int = 0

        @action(when=lambda self: not self.first)
        def sort(self) -> None:
            self.first = min(self.names)

        @action(when=lambda self: not self.first)  # HERE
        def pick(self) -> None:
            self.first = next(iter(self.names))

        @action(when=lambda self: self.first and self.n < 40)
        def count(self) -> None:
            self.n += 1

    def system() -> System:
        return System(nodes={"a": Node(), "b": Node()})
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_search_that_goes_on_still_names_what_depends_on_an_order(threads: str) -> None:
    place = write(EARLY, "kept.py")
    first = told(run(*CHECK, "--states", "60"), 3)
    assert first["stopped_by"] == "states"
    (named,) = first["order_dependence"]
    assert named["code"] == "Node.pick" and place in named["place"]
    last = told(run(*CHECK, "--resume", "--threads", threads), 3)
    assert last["resumed_from"] == first["states"]["unique"]
    assert last["stopped_by"] is None and not last["exhausted"]
    assert last["order_dependence"] == [named]
    again = told(run(*CHECK, "--resume"), 3)  # of a search that is over
    assert again["order_dependence"] == [named]


def test_what_is_said_in_words_names_it_as_well() -> None:
    place = write(EARLY, "kept.py")
    plain = CHECK[:-1]
    assert run(*plain, "--states", "60").returncode == 3
    resumed = run(*plain, "--resume")
    assert resumed.returncode == 3
    assert (
        f"{place}: `Node.pick` depends on the order of `self.names`"
        in resumed.stdout + resumed.stderr
    )


CONSTANTS = """
    import helper
    import lazy

    class Missing:
        pass

    MISSING = Missing()

    class Holder:
        INSIDE = Missing()

        @staticmethod
        def double(n):
            return 2 * n

    class Node(Service):
        value: object = MISSING
        how: object = None
        n: int = 0

        @action(when=lambda self: self.n < 30)
        def count(self) -> None:
            self.n += 1
            if self.value is MISSING:
                self.value = helper.OTHER
            elif self.value is helper.OTHER:
                self.value, self.how = Holder.INSIDE, Holder.double
            else:
                assert self.value is Holder.INSIDE and self.how is Holder.double
                self.value, self.how = MISSING, None

    @always
    def one_of_three(world):
        return all(
            node.value is (MISSING, helper.OTHER, Holder.INSIDE)[node.n % 3] for node in world.nodes
        )

    def system() -> System:
        return System(nodes={"a": Node(), "b": Node()}, properties=[one_of_three])
"""
HELPER = "class Other: pass\nOTHER = Other()\n"
CANARY = "open('ran', 'w').close()\n"
LAZY = "def __getattr__(name):\n    open(f'asked for {name}', 'w').close()\n"


@pytest.fixture
def stopped() -> None:
    """A search of a system with constants, stopped in the middle."""
    write(CONSTANTS, "kept.py")
    for name, text in {"helper": HELPER, "canary": CANARY, "lazy": LAZY}.items():
        Path(f"{name}.py").write_text(text, encoding="utf-8")
    assert told(run(*CHECK, "--states", "300"), 0)["stopped_by"] == "states"


@pytest.mark.usefixtures("stopped")
@pytest.mark.parametrize("unsigned", [False, True])
def test_constants_are_themselves_after_a_stop(unsigned: bool) -> None:
    if unsigned:
        FILE.write_bytes(sealed(content()))
    report = told(run(*CHECK, "--resume", *(["--trust"] if unsigned else [])), 0)
    assert report["resumed_from"] == 300 and report["exhausted"]
    assert report["states"]["unique"] == 31 * 31


@pytest.mark.usefixtures("stopped")
@pytest.mark.parametrize(
    ("module", "name"), [("canary", "N"), ("lazy", "N"), ("lazy", "N."), ("sys", "N")]
)
def test_a_forged_name_of_a_constant_imports_and_calls_nothing(module: str, name: str) -> None:
    whole = content()
    before, other = b"presage_target_kept:MISSING", f"{module}:".encode()
    assert whole.count(before) == 1
    other += (name * len(before)).encode()[: len(before) - len(other) - 1] + b"N"
    FILE.write_bytes(sealed(whole.replace(before, other)))
    refused(run(*CHECK, "--resume"), 2, "nothing proves that you made it")
    refused(run(*CHECK, "--resume", "--trust"), 2, f"`{other.decode()}`", "cannot be found here")
    assert not Path("ran").exists()
    assert not list(Path().glob("asked for N*"))

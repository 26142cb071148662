"""What is refused before anything is searched: targets, their files, their parameters."""

import pytest
from whole.commands.harness import refused, run, write

FACTORY = """
    class Node(Service):
        x: int = 0

    def system(*, nodes: int = 1, mode: str = "slow") -> System:
        return System(nodes={f"n{i}": Node() for i in range(nodes)})
"""


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("paxoss", "there is no system `paxoss`; did you mean `paxos`?"),
        ("none.py", "`none.py` is not a file"),
        ("no_such_package.module:system", "there is no module `no_such_package`"),
    ],
)
def test_an_unknown_target_is_refused_with_what_may_have_been_meant(target: str, said: str) -> None:
    refused(run("check", target, "--json"), 2, said)


def test_a_syntax_error_is_told_with_its_line() -> None:
    place = write("def system( -> System:  # HERE\n    return 1\n")
    refused(run("check", "bad.py", "--json"), 2, f"{place}: ", "invalid syntax")


def test_a_file_without_a_system_is_refused() -> None:
    write("x = 1\n")
    refused(run("check", "bad.py", "--json"), 2, "`bad.py` has no system", "`bad.py:name`")


def test_a_factory_that_raises_is_told_with_its_line() -> None:
    place = write(
        """
        def system() -> System:
            raise ValueError("three is the least")  # HERE
        """
    )
    said = f"{place}: ValueError: three is the least, while `bad.py` was built"
    refused(run("check", "bad.py", "--json"), 2, said)


def test_a_file_that_raises_on_import_is_told_with_its_line() -> None:
    place = write("SIZES = {}\nSIZE = SIZES['small']  # HERE\n")
    said = f"{place}: KeyError: 'small', while `bad.py` was imported"
    refused(run("check", "bad.py", "--json"), 2, said)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("node=2", "`bad.py` has no parameter `node`; did you mean `nodes`?"),
        ("nodes=many", "nodes is a whole number, not 'many'"),
        ("nodes=2.5", "nodes is a whole number, not '2.5'"),
        ("nodes=0", "the system has no nodes"),
    ],
)
def test_a_parameter_that_does_not_fit_is_named(setting: str, said: str) -> None:
    write(FACTORY)
    refused(run("check", "bad.py", "--set", setting, "--json"), 2, said)


def test_a_handler_with_a_wrong_signature_is_refused_where_it_is_defined() -> None:
    place = write(
        """
        class Node(Service):
            @on(str)  # HERE
            def hear(self, message, source, more) -> None:
                pass
        """
    )
    said = f"{place}: `Node.hear` has the wrong parameters for a handler of `str`"
    refused(run("check", "bad.py", "--json"), 2, said)

"""The listing of shipped systems: names, parameters, values, bug switches."""

from collections.abc import Callable
from typing import Literal

import pytest

from presage.cli.target.load import Shipped
from presage.cli.target.parameters import parameters_of
from presage.ui.systems import render
from presage.ui.theme import Theme

Compare = Callable[[str, str], None]


def paxos(
    *,
    clients: int,
    bug: Literal["none", "last_promise"] = "none",
    a_parameter_with_a_long_name: bool = False,
) -> None:
    """Servers and clients.

    clients: how many; each writes its own value once and then reads once, and so on and so forth
        until it is done.
    bug: which historic bug to switch on.
    """


@pytest.mark.parametrize("width", [80, 120])
def test_systems_are_listed_with_all_one_needs_to_check_them(snapshot: Compare, width: int) -> None:
    systems = [
        Shipped("counter", "Threads that increment a counter.", []),
        Shipped("paxos", "Single-decree Paxos.", list(parameters_of(paxos).values())),
    ]
    snapshot(f"systems-{width}", render(systems, Theme(width=width)))

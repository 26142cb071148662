"""Whole programs on simulated sockets give what they give on real ones."""

from collections.abc import Callable
from typing import Any

import pytest
from unit.frontends.real.machine.aio_programs import AIO_PROGRAMS
from unit.frontends.real.machine.eager import Eager
from unit.frontends.real.machine.programs import PROGRAMS
from unit.frontends.real.machine.tls_programs import TLS_PROGRAMS


@pytest.mark.parametrize(
    "program", PROGRAMS + AIO_PROGRAMS + TLS_PROGRAMS, ids=lambda each: each.__name__
)
def test_a_program_gives_what_it_gives_on_real_sockets(program: Callable[[], Any]) -> None:
    seen = []
    Eager({"n": lambda: seen.append(program())}).run().close()
    assert seen == [program()]

"""redis-py, unmodified, and a server: a command that is cancelled leaves its reply behind.

The reply stays in the connection, and the next caller gets it: broken in 4.5.1, mended in part in
4.5.3, and in whole in 4.5.5.
"""

from collections.abc import Callable
from functools import partial

import pytest
from real.redis_app import app, view

from presage import always, check
from presage.frontends.real.services import Redis
from presage.real import Node, RealSystem

SERVER = "10.0.0.1"


@always
def replies_belong_to_requests(world) -> bool:
    return all(text == reply for text, reply in world["app"].answers)


def system(folder: str, **options: bool) -> RealSystem:
    return RealSystem(
        {"redis": Redis(), "app": Node(partial(app, SERVER, **options), view=view, path=[folder])},
        properties=[replies_belong_to_requests],
    )


def found(folder: str, **options: bool) -> int:
    """How many steps lead to a reply that belongs to another request."""
    report = check(system(folder, **options))
    (violation,) = report.violations
    assert "'two', 'one'" in violation.message
    return len(violation.trace.steps)


def test_a_cancelled_command_of_4_5_1_leaves_its_reply_to_the_next(
    library: Callable[..., str],
) -> None:
    assert found(library("redis==4.5.1", "async-timeout==4.0.3")) == 5


@pytest.mark.slow
@pytest.mark.parametrize("version", ["4.5.1", "4.5.3"])
@pytest.mark.parametrize("options", [{}, {"single_connection_client": True}], ids=str)
def test_so_it_does_in_versions_that_were_mended_in_part(
    version: str, options: dict[str, bool], library: Callable[..., str]
) -> None:
    folder = library(f"redis=={version}", "async-timeout==4.0.3")
    assert found(folder, **options) == 5


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"single_connection_client": True}], ids=str)
def test_in_4_5_5_every_reply_belongs_to_its_request(
    options: dict[str, bool], library: Callable[..., str]
) -> None:
    report = check(system(library("redis==4.5.5", "async-timeout==4.0.3"), **options))
    assert report.exhausted
    assert not report.violations

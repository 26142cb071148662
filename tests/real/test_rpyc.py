"""rpyc: two threads share a connection. In 5.3.1 one may sleep until its time is out.

The reply of a thread may be dispatched by another one, right before the first goes to wait for it.
So nothing but a timer wakes it; with `timers=0` that is a state in which nothing happens any more.
"""

import pytest
from real.rpyc_node import call, serve, view

from presage import check, no_deadlock
from presage.real import Node, RealSystem

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
OTHERS = ("plumbum==1.9.0",)


def are_both_answered(world) -> bool:
    return world["client"].done == [0, 1]


def calls(library, version: str, preemptions: int) -> RealSystem:
    path = (library(f"rpyc=={version}", *OTHERS),)
    return RealSystem(
        {
            "server": Node(serve, path=path, timers=0, preemptions=0),
            "client": Node(call, view=view, path=path, timers=0, preemptions=preemptions),
        },
        properties=[no_deadlock(unless=are_both_answered)],
    )


def test_a_thread_of_the_broken_version_waits_for_a_timer(library) -> None:
    (found,) = check(calls(library, "5.3.1", 1), traces=None).violations
    assert found.prop == "no_deadlock"
    assert found.steps == 16


@pytest.mark.parametrize("preemptions", [0, 1])
def test_the_fixed_version_needs_no_timer(library, preemptions) -> None:
    report = check(calls(library, "6.0.1", preemptions), traces=None)
    assert not report.violations
    assert report.exhausted

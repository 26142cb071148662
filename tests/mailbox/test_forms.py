"""Both families of calls are made from one generator, and look like calls of their own."""

import inspect

import pytest

from presage import mailbox
from presage.mailbox import aio

CLASSES = ("Actor", "ActivitySet", "Barrier", "Comm", "ConditionVariable", "Mutex", "Semaphore")
CALLS = [
    (name, call)
    for name in CLASSES
    for call in sorted(vars(getattr(mailbox, name)))
    if not call.startswith("_")
]


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_both_families_have_the_same_parameters_and_docstring(name, call):
    one, two = getattr(getattr(mailbox, name), call), getattr(getattr(aio, name), call)
    assert one.__doc__ == two.__doc__ and one.__doc__
    assert list(inspect.signature(one).parameters) == list(inspect.signature(two).parameters)
    assert inspect.iscoroutinefunction(two) and not inspect.iscoroutinefunction(one)


def test_help_shows_the_result_and_not_the_generator():
    assert str(inspect.signature(mailbox.Comm.test)) == "(comm: 'Activity') -> 'bool'"
    assert mailbox.ActivitySet.wait_any.__name__ == "wait_any"

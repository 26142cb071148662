"""Numbers of checkpoints: which one is given, which are gone, and what a restart may not reuse."""

from presage.runtime.checkpoint import RESERVED, Checkpoint, Checkpoints, Gone, kept_ends
from presage.runtime.datagrams import Datagrams
from presage.runtime.link import Link


def made(number: int) -> Checkpoint:
    return Checkpoint("a", number, 1, (b"control",), {}, Datagrams().held(0.0))


def test_a_larger_number_is_heeded_before_anything_else_and_a_smaller_one_is_not() -> None:
    checkpoints = Checkpoints(made)
    checkpoints.seen(5)
    checkpoints.seen(3)
    assert (checkpoints.number, checkpoints.forced, len(checkpoints)) == (5, 1, 1)


def test_the_earliest_numbered_at_least_n_is_given_and_one_is_taken_if_there_is_none() -> None:
    checkpoints = Checkpoints(made)
    for number in (2, 5, 9):
        checkpoints.seen(number)
    assert [_number(checkpoints, at) for at in (1, 2, 3, 6, 9)] == [2, 2, 5, 9, 9]
    assert _number(checkpoints, 12) == 12
    assert checkpoints.number == 12


def test_what_is_not_kept_any_more_is_gone() -> None:
    checkpoints = Checkpoints(made, kept_max=2)
    for _ in range(4):
        checkpoints.advance()
    assert checkpoints.at_least(2) == Gone(4)
    assert _number(checkpoints, 3) == 3


def test_large_checkpoints_are_kept_for_a_shorter_time_but_the_last_always() -> None:
    checkpoints = Checkpoints(made, bytes_max=1)
    checkpoints.advance()
    checkpoints.advance()
    assert len(checkpoints) == 1
    assert _number(checkpoints, 2) == 2


def test_a_process_begins_with_a_number_that_no_earlier_one_has_used() -> None:
    reserved: list[int] = []
    first = Checkpoints(made, reserve=reserved.append)
    first.resume(0)
    first.seen(40)
    first.seen(3 * RESERVED)
    second = Checkpoints(made, reserve=reserved.append)
    second.resume(reserved[-1])
    assert second.number > first.number
    assert isinstance(second.at_least(first.number), Gone)
    assert _number(second, second.number + 1) > first.number
    assert reserved == sorted(reserved)


def test_an_end_that_was_never_used_is_left_out() -> None:
    used, fresh = Link("a", "b", 1), Link("a", "c", 1)
    used.send(b"x")
    assert list(kept_ends({"b": used.end(), "c": fresh.end()}, 1)) == ["b"]
    used.close()
    assert list(kept_ends({"b": used.end()}, 1)) == ["b"]  # its life tells the peer


def _number(checkpoints: Checkpoints, number: int) -> int:
    found = checkpoints.at_least(number)
    assert isinstance(found, Checkpoint)
    return found.number

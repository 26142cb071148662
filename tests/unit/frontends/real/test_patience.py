"""A program that never waits is ended while its system is made."""

from time import sleep  # as programs may have it: taken before there were leaves

import pytest

from presage.errors import HandlerStuck
from presage.frontends.real.patience import with_patience

SLEEP = (sleep,)  # where no fence finds it


def test_code_that_never_ends_is_ended_with_its_line():
    def endless():
        while True:
            pass

    with pytest.raises(HandlerStuck, match="test_patience.py:"):
        with_patience(endless, seconds=0.1)


def test_code_that_catches_everything_is_asked_again():
    caught = []

    def stubborn():
        while len(caught) < 2:
            try:
                while True:
                    pass
            except BaseException as error:
                caught.append(error)

    with pytest.raises(HandlerStuck):
        with_patience(stubborn, seconds=0.1)


def test_code_that_waits_in_c_is_ended_when_it_comes_back():
    sleeps = []

    def asleep():
        while True:
            SLEEP[0](0.5)
            sleeps.append(1)

    with pytest.raises(HandlerStuck, match="test_patience.py:"):
        with_patience(asleep, seconds=0.2)


def test_what_ends_in_time_gives_its_result_and_its_error():
    assert with_patience(divmod, 7, 2, seconds=5) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        with_patience(divmod, 7, 0, seconds=5)

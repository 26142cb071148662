"""A program that never waits is ended while its system is made."""

import pytest

from presage.errors import HandlerStuck
from presage.frontends.real.patience import Patience


def test_code_that_never_ends_is_ended_with_its_line():
    with pytest.raises(HandlerStuck, match="test_patience.py:"), Patience(0.1):
        while True:
            pass


def test_code_that_catches_everything_is_asked_again():
    caught = []
    with pytest.raises(HandlerStuck), Patience(0.1):
        while len(caught) < 2:
            try:
                while True:
                    pass
            except BaseException as error:
                caught.append(error)


def test_code_that_ends_in_time_is_let_alone():
    with Patience(5):
        pass

"""Who may ask the page of a running system, for what, and how many may listen."""

import http.client
import time
from urllib.parse import urlsplit

import pytest
from whole.browser.live_samples import Shown, served

from presage.ui.live.server import LISTENERS_MAX, act


@pytest.fixture
def operator():
    return Shown()


def asked(server, path, body=None):
    place = urlsplit(server.address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    connection.request("GET" if body is None else "POST", place.path + path, body)
    return connection.getresponse()


@pytest.mark.parametrize(
    ("what", "given"),
    [
        ("kill", {}),
        ("kill", {"node": "nobody"}),
        ("cut", {"node": "n01", "peer": "nobody"}),
        ("call", {"node": "n01"}),
        ("erase", {"node": "n01"}),
    ],
)
def test_a_button_that_is_not_there_does_nothing(operator, what, given):
    assert act(operator, what, given) is None
    assert operator.asked == []


def test_who_does_not_know_the_address_is_refused(operator):
    with served(operator) as server:
        place = urlsplit(server.address)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
        connection.request("POST", "/guess/kill", "node=n01")
        assert connection.getresponse().status == 403
        assert asked(server, "kill", "node=n01").status == 200
        assert asked(server, "kill", "node=n99").status == 400
        assert asked(server, "kill", "n" * 5_000).status == 400
        assert asked(server, "prediction-8").status == 404
        assert asked(server, "prediction-x").status == 404
        assert asked(server, "other").status == 404
    assert operator.asked == [("kill", "n01")]


def test_only_so_many_listen_and_who_leaves_makes_room(operator):
    with served(operator) as server:
        listening = [asked(server, "events") for _ in range(LISTENERS_MAX)]
        assert all(answer.readline().startswith(b"data: {") for answer in listening)
        assert asked(server, "events").status == 503
        for answer in listening:
            answer.close()
        until = time.monotonic() + 20
        while asked(server, "events").status == 503:
            assert time.monotonic() < until
            time.sleep(0.1)


def test_a_board_is_made_a_few_times_a_second_however_many_listen(operator):
    with served(operator) as server:
        listening = [asked(server, "events") for _ in range(LISTENERS_MAX)]
        for answer in listening:
            answer.readline()
        first = operator.steps
        assert server.newest() and operator.steps <= first + 1

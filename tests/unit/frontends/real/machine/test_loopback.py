"""Simulated sockets against the real loopback: the same results, errno for errno."""

import socket
from collections import Counter

import pytest
from unit.frontends.real.machine.loopback import (
    DATAGRAM_CALLS,
    STREAM_CALLS,
    difference,
    random_script,
    transcript,
)

CALLS = {socket.SOCK_STREAM: STREAM_CALLS, socket.SOCK_DGRAM: DATAGRAM_CALLS}
# Streams between two hosts and within one; datagrams within one, where their errors are told.
CASES = [(socket.SOCK_STREAM, 2), (socket.SOCK_STREAM, 1), (socket.SOCK_DGRAM, 1)]


@pytest.mark.parametrize(("kind", "hosts"), CASES)
def test_random_scripts_show_what_they_show_on_a_real_loopback(kind: int, hosts: int) -> None:
    for seed in range(150):
        script = random_script(seed, 40, CALLS[kind])
        assert not (found := difference(kind, script, hosts)), f"seed {seed}\n{found}"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "hosts"), CASES)
def test_thousands_of_random_scripts_do(kind: int, hosts: int) -> None:
    for seed in range(10_000, 13_000):
        script = random_script(seed, 80, CALLS[kind])
        assert not (found := difference(kind, script, hosts)), f"seed {seed}\n{found}"


def test_the_scripts_get_far_enough_to_mean_something() -> None:
    seen = Counter()
    for seed in range(150):
        for what, result in transcript(1, random_script(seed, 40, STREAM_CALLS), 2):
            seen[what, result if isinstance(result, str) else type(result).__name__] += 1
    for what, result in (
        ("recv", "bytes"),
        ("recv", "ECONNRESET"),
        ("send", "int"),
        ("send", "EPIPE"),
        ("accept", "int"),
        ("connect", "EISCONN"),
        ("shutdown", "NoneType"),
        ("listen", "EADDRINUSE"),
    ):
        assert seen[what, result] >= 3, (what, result)

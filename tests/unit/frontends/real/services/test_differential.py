"""The Redis service against Debian's: random commands, and scripts; replies must be equal."""

import random
from collections.abc import Iterator

import pytest
from unit.frontends.real.services.random_commands import SCRIPTS, command, plain
from unit.frontends.real.services.resp_client import Client
from unit.frontends.real.services.serving import ours, theirs

ROUNDS = 300
COMMANDS = 150
TRIES = 3  # a key may expire between the answers of the two
QUEUED = ("+", "QUEUED")


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    with ours() as own, theirs(tmp_path_factory.mktemp("redis")) as other:
        if other is None:
            pytest.skip("no `redis-server`, and Debian's packages cannot be fetched")
        yield own, other


def differing(pair: tuple[Client, Client], chance: random.Random) -> str | None:
    """The first request that is answered differently, if there is one."""
    queue: list[list[bytes]] = []
    for client in pair:
        client.ask("FLUSHALL")
    for _ in range(COMMANDS):
        request = command(chance)
        mine, other = (client.ask(*request) for client in pair)
        requests, replies = [request], ([mine], [other])
        if request[0] == b"EXEC" and isinstance(mine, list) and isinstance(other, list):
            requests, replies = queue, (mine, other)
        if [plain(*each) for each in zip(requests, replies[0], strict=True)] != [
            plain(*each) for each in zip(requests, replies[1], strict=True)
        ]:
            return f"{request}: {mine} instead of {other}"
        if other == QUEUED:
            queue.append(request)
        elif request[0] in {b"EXEC", b"DISCARD"}:
            queue = []
    return None


@pytest.mark.slow
def test_random_commands_are_answered_as_by_redis(ports) -> None:
    for seed in range(ROUNDS):
        for _ in range(TRIES):
            pair = Client(ports[0]), Client(ports[1])
            difference = differing(pair, random.Random(seed))
            for client in pair:
                client.close()
            if difference is None:
                break
        assert difference is None, f"seed {seed}: {difference}"


@pytest.mark.slow
def test_scripts_are_answered_as_by_redis(ports) -> None:
    pair = Client(ports[0]), Client(ports[1])
    for client in pair:
        client.ask("FLUSHALL")
        client.ask("HSET", "h", "f", "v", "g", "w")
        client.ask("ZADD", "z", "1.5", "a", "2", "b")
        client.ask("SET", "k", "v1")
    for script in SCRIPTS:
        mine, other = (client.ask("EVAL", script, "1", "k", "v1", "v2") for client in pair)
        assert mine == other, script
    for request in (
        ("EVAL", "return 1", "x"), ("EVAL", "return 1", "-1"), ("EVAL", "return 1", "2", "a"),
        ("EVALSHA", "ff", "0"), ("SCRIPT", "EXISTS", "ff"), ("SCRIPT", "LOAD", "return 2"),
        ("SCRIPT", "LOAD", "retur 2"), ("SCRIPT", "NOSUCH"), ("SCRIPT", "FLUSH", "x"),
        ("SCRIPT", "KILL"), ("EVALSHA", "7f923f79fe76194c868d7e1d0820de36700eb649", "0"),
    ):  # fmt: skip
        mine, other = (client.ask(*request) for client in pair)
        assert mine == other, request

"""The Redis service on real sockets: what random commands with one client do not reach."""

import socket
import time
from collections.abc import Iterator

import pytest
from unit.frontends.real.services.resp_client import Client, Gone
from unit.frontends.real.services.serving import ours

from presage.frontends.real.services.redis.globs import matches
from presage.frontends.real.services.redis.resp import (
    MAX_LINE,
    MISSING,
    Map,
    Members,
    Requests,
    Scored,
    Text,
    encode,
)
from presage.frontends.real.services.redis.server import Server
from presage.frontends.real.services.redis.view import view


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ours() as number:
        yield number


@pytest.fixture
def clients(port: int) -> Iterator[tuple[Client, Client]]:
    first, second = Client(port), Client(port)
    first.ask("FLUSHALL")
    yield first, second
    first.close()
    second.close()


OK = ("+", "OK")
NONE = ("none", "")


def test_a_watched_key_that_another_client_changes_ends_the_transaction(clients) -> None:
    first, second = clients
    first.ask("SET", "a", "1")
    assert first.ask("WATCH", "a") == OK
    second.ask("SET", "a", "2")
    first.ask("MULTI")
    assert first.ask("INCR", "a") == ("+", "QUEUED")
    assert first.ask("EXEC") == NONE
    assert first.ask("GET", "a") == b"2"


def test_a_watched_key_that_nobody_changes_does_not(clients) -> None:
    first, second = clients
    first.ask("WATCH", "a")
    second.ask("SET", "b", "2")
    first.ask("MULTI")
    first.ask("INCR", "a")
    assert first.ask("EXEC") == [1]


def test_a_watched_key_that_expires_ends_the_transaction(clients) -> None:
    first, _second = clients
    first.ask("SET", "a", "1", "PX", "20")
    first.ask("WATCH", "a")
    time.sleep(0.05)
    first.ask("MULTI")
    assert first.ask("EXEC") == NONE


def test_who_waits_longest_is_served_first(clients, port) -> None:
    first, second = clients
    third = Client(port)
    first.send("BLPOP", "queue", "other", "0")
    assert third.ask("PING") == ("+", "PONG")
    second.send("BRPOP", "queue", "0")
    assert third.ask("PING") == ("+", "PONG")
    assert third.ask("RPUSH", "queue", "one", "two", "three") == 3
    assert first.reply() == [b"queue", b"one"]
    assert second.reply() == [b"queue", b"three"]
    assert third.ask("LRANGE", "queue", "0", "-1") == [b"two"]


def test_what_is_asked_while_waiting_is_answered_afterwards(clients) -> None:
    first, second = clients
    first.send("BLPOP", "queue", "0")
    first.send("ECHO", "later")
    second.ask("RPUSH", "queue", "one")
    assert first.reply() == [b"queue", b"one"]
    assert first.reply() == b"later"


def test_a_wait_ends_at_its_time(clients) -> None:
    first, _second = clients
    assert first.ask("BLPOP", "nothing", "0.02") == NONE
    assert first.ask("BLMOVE", "nothing", "other", "LEFT", "LEFT", "0.02") == NONE


def test_a_transaction_serves_who_waits_after_its_end(clients) -> None:
    first, second = clients
    first.send("BLPOP", "queue", "0")
    second.ask("MULTI")
    second.ask("RPUSH", "queue", "one")
    second.ask("LPOP", "queue")
    assert second.ask("EXEC") == [1, b"one"]
    second.ask("RPUSH", "queue", "two")
    assert first.reply() == [b"queue", b"two"]


def test_a_key_is_gone_after_its_time_and_not_before(clients) -> None:
    first, _second = clients
    first.ask("SET", "a", "1", "PX", "40")
    first.ask("SET", "b", "1", "EX", "1000")
    assert first.ask("EXISTS", "a", "b") == 2
    assert 0 < first.ask("PTTL", "a") <= 40
    time.sleep(0.08)
    assert first.ask("EXISTS", "a", "b") == 1
    assert first.ask("DBSIZE") == 1
    assert first.ask("TTL", "b") == 1000


def test_messages_reach_channels_and_patterns(clients) -> None:
    first, second = clients
    assert first.ask("SUBSCRIBE", "news") == [b"subscribe", b"news", 1]
    assert first.ask("PSUBSCRIBE", "n*") == [b"psubscribe", b"n*", 2]
    assert second.ask("PUBLISH", "news", "hello") == 2
    assert first.reply() == [b"message", b"news", b"hello"]
    assert first.reply() == [b"pmessage", b"n*", b"news", b"hello"]
    refused = first.ask("GET", "a")
    assert refused[0] == "-" and refused[1].startswith("ERR Can't execute 'get': only")
    assert first.ask("PING") == [b"pong", b""]
    assert second.ask("PUBSUB", "NUMSUB", "news") == [b"news", 1]
    assert first.ask("UNSUBSCRIBE") == [b"unsubscribe", b"news", 1]
    assert first.ask("PUNSUBSCRIBE") == [b"punsubscribe", b"n*", 0]
    assert first.ask("GET", "a") is None


def test_hello_changes_the_protocol(clients) -> None:
    first, _second = clients
    kind, facts = first.ask("HELLO", "3", "SETNAME", "me")
    assert kind == "%" and facts[:2] == [b"server", b"redis"]
    first.ask("HSET", "h", "f", "v")
    assert first.ask("HGETALL", "h") == ("%", [b"f", b"v"])
    first.ask("ZADD", "z", "1.5", "m")
    assert first.ask("ZSCORE", "z", "m") == (",", "1.5")
    assert first.ask("ZRANGE", "z", "0", "-1", "WITHSCORES") == [[b"m", (",", "1.5")]]
    assert first.ask("GET", "missing") == ("_", "")
    assert first.ask("SUBSCRIBE", "news") == (">", [b"subscribe", b"news", 1])
    assert first.ask("CLIENT", "GETNAME") == b"me"


def test_a_client_can_be_unblocked_and_ended(clients) -> None:
    first, second = clients
    number = first.ask("CLIENT", "ID")
    first.send("BLPOP", "nothing", "0")
    assert second.ask("CLIENT", "UNBLOCK", number, "ERROR") == 1
    assert first.reply()[1].startswith("UNBLOCKED")
    assert second.ask("CLIENT", "KILL", "ID", number) == 1
    with pytest.raises((Gone, ConnectionError)):
        first.ask("PING")


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"*1\r\n+3\r\n", "expected '$', got '+'"),
        (b"*x\r\n", "invalid multibulk length"),
        (b"*1048577\r\n", "invalid multibulk length"),
        (b"*1\r\n$-1\r\n", "invalid bulk length"),
        (b"*1\r\n$999999999999\r\n", "invalid bulk length"),
        (b"x" * (MAX_LINE + 2), "too big inline request"),
        (b"*" + b"1" * (MAX_LINE + 2), "too big mbulk count string"),
        (b'set "a\r\n', "unbalanced quotes in request"),
    ],
)
def test_what_is_no_request_ends_the_connection(port, data, complaint) -> None:
    client = Client(port)
    client.raw(data)
    assert client.reply() == ("-", f"ERR Protocol error: {complaint}")
    with pytest.raises((Gone, ConnectionError)):
        client.reply()
    client.close()


def test_requests_come_in_any_pieces() -> None:
    data = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n\r\nPING\r\n*0\r\n*1\r\n$4\r\nQUIT\r\n"
    requests, found = Requests(), []
    for place in range(len(data)):
        requests.feed(data[place : place + 1])
        while request := requests.next():
            found.append(request)
    assert found == [[b"GET", b"a"], [b"PING"], [b"QUIT"]]


def test_replies_in_both_protocols() -> None:
    assert encode(None, 2) == b"$-1\r\n" and encode(None, 3) == b"_\r\n"
    assert encode(MISSING, 2) == b"*-1\r\n" and encode(MISSING, 3) == b"_\r\n"
    assert encode(0.1, 2) == b"$19\r\n0.10000000000000001\r\n" and encode(1.0, 3) == b",1\r\n"
    assert encode(Map([(b"a", 1)]), 2) == b"*2\r\n$1\r\na\r\n:1\r\n"
    assert encode(Map([(b"a", 1)]), 3) == b"%1\r\n$1\r\na\r\n:1\r\n"
    assert encode(Members([1]), 3) == b"~1\r\n:1\r\n"
    assert encode(Scored([(b"a", 1.0)]), 3) == b"*1\r\n*2\r\n$1\r\na\r\n,1\r\n"
    assert encode(Text("x"), 3) == b"=5\r\ntxt:x\r\n"


def test_patterns() -> None:
    for pattern, text, expected in [
        (b"h?llo", b"hello", True), (b"h[^e]llo", b"hello", False), (b"*", b"", True),
        (b"h[a-f]llo", b"hello", True), (b"\\*", b"*", True), (b"\\*", b"a", False),
        (b"a.c", b"abc", False), (b"a\nb*", b"a\nb\nc", True), (b"[", b"[", False),
    ]:  # fmt: skip
        assert matches(pattern, text) is expected, (pattern, text)


def test_a_script_that_does_not_end_is_ended(clients) -> None:
    first, _second = clients
    assert first.ask("EVAL", "while true do end", "0")[1].startswith("ERR Script killed")
    assert first.ask("EVAL", "return string.match('a','a')", "0")[1].startswith(
        "ERR user_script:1: 'string.match' is not part of this Redis service"
    )


def test_compare_and_delete(clients) -> None:
    first, _second = clients
    script = "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) end"
    name = first.ask("SCRIPT", "LOAD", script)
    first.ask("SET", "lock", "mine")
    assert first.ask("EVALSHA", name, "1", "lock", "yours") is None
    assert first.ask("EVALSHA", name, "1", "lock", "mine") == 1
    assert first.ask("EXISTS", "lock") == 0


def test_a_scan_returns_what_stays_whatever_comes_and_goes(clients) -> None:
    first, second = clients
    stay = {b"stay%d" % n for n in range(60)}
    for key in sorted(stay):
        first.ask("SET", key, "x")
    found, cursor, turn = set(), b"0", 0
    while True:
        cursor, keys = first.ask("SCAN", cursor, "COUNT", "7")
        found.update(keys)
        second.ask("SET", f"come{turn}", "x")
        second.ask("DEL", f"come{turn - 3}")
        turn += 1
        if cursor == b"0":
            break
    assert stay <= found


def test_a_client_that_leaves_is_forgotten(port) -> None:
    other = Client(port)
    client = Client(port)
    client.send("BLPOP", "queue", "0")
    other.ask("PING")
    client.socket.shutdown(socket.SHUT_RDWR)
    client.close()
    for _ in range(100):
        lines = other.ask("CLIENT", "LIST").splitlines()
        if not any(b"cmd=blpop" in line for line in lines):
            break
        time.sleep(0.01)
    else:
        raise AssertionError("the client is still there")
    assert other.ask("RPUSH", "queue", "one") == 1


def test_states_that_can_answer_differently_have_different_views() -> None:
    def state(*requests: list[bytes]) -> dict:
        server = Server(lambda: None)
        session = server.open("1.2.3.4:5", "1.2.3.4:6")
        for request in requests:
            session.send(server.request(session, request))
        shown = view(server)
        for client in shown["clients"]:
            for name in ("born", "last_command"):
                del client[name]
        return {**shown, "clock": 0, "memory": shown["memory"][1:]}

    shown = [
        state(),
        state([b"SET", b"a", b"1"]),
        state([b"RPUSH", b"a", b"1"]),
        state([b"SADD", b"a", b"1"]),
        state([b"HSET", b"a", b"1", b"1"]),
        state([b"ZADD", b"a", b"1", b"1"]),
        state([b"MULTI"]),
        state([b"WATCH", b"a"]),
        state([b"SELECT", b"1"]),
        state([b"SELECT", b"1"], [b"SET", b"a", b"1"], [b"SELECT", b"0"]),
        state([b"SUBSCRIBE", b"a"]),
        state([b"CLIENT", b"SETNAME", b"a"]),
        state([b"SCRIPT", b"LOAD", b"return 1"]),
        state([b"BLPOP", b"a", b"0"]),
        state([b"BRPOP", b"a", b"0"]),
        state([b"HELLO", b"3"]),
    ]
    assert all(left != right for n, left in enumerate(shown) for right in shown[:n])
    assert state([b"SADD", b"s", b"x", b"y"]) == state([b"SADD", b"s", b"y", b"x"])
    assert state([b"SET", b"a", b"1"], [b"DEL", b"a"]) == state()

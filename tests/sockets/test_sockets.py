"""Streams of bytes between processes."""

import pytest
from process.explore import explore
from process.running import first_failure, program, returned

from presage import check
from presage import sockets as plain
from presage.sockets import aio, connect, listen, select


def serve_one():
    """Echo one connection until it is closed."""
    connection = listen("echo").accept()
    while data := connection.recv(100):
        connection.send(data)
    connection.close()


def say(*parts):
    socket = connect("echo")
    for part in parts:
        socket.send(part)
    got = b""
    while len(got) < len(b"".join(parts)):
        got += socket.recv(100)
    socket.close()
    return got


def test_an_echo_comes_back_in_order():
    found = explore(program({"server": serve_one, "client": (say, b"ab", b"c")}), reduced=True)
    assert found.ok and found.results == {(None, b"abc")}


def test_one_send_is_one_segment():
    def receives():
        connection = listen("x").accept()
        return connection.recv(2), connection.recv(2), connection.recv(9), connection.recv(9)

    def sends():
        socket = connect("x")
        socket.send(b"abc")
        socket.send(b"d")
        socket.close()

    assert returned(a=receives, b=sends) == {((b"ab", b"c", b"d", b""), None)}


def test_the_end_stays_the_end():
    def receives():
        connection = listen("x").accept()
        return [connection.recv(1) for _ in range(3)] == [b""] * 3

    assert returned(a=receives, b=lambda: connect("x").close()) == {(True, None)}


def test_nothing_is_sent_for_no_bytes():
    def sends():
        socket = connect("x")
        return socket.send(b""), socket.send(b"z")

    def receives():
        return listen("x").accept().recv(9)

    assert returned(a=sends, b=receives) == {((0, 1), b"z")}


def test_a_connection_waits_for_who_accepts():
    assert explore(program({"a": lambda: connect("nowhere")})).deadlocks == {("a",)}


def test_timeouts():
    def gives_up():
        try:
            connect("nowhere", timeout=1)
        except TimeoutError as error:
            return str(error)

    def hears_nothing():
        connection = listen("x").accept()
        try:
            return connection.recv(1, timeout=1)
        except TimeoutError:
            return connection.recv(1)

    assert returned(a=gives_up) == {("nobody accepts at nowhere",)}
    assert {
        result[0] for result in returned(a=hears_nothing, b=lambda: connect("x").send(b"q"))
    } == {b"q"}


def serve_many(clients):
    """One loop for all connections."""
    listener = listen("echo")
    open_ones, served = [listener], 0
    while served < clients:
        ready, _ = select(open_ones)
        for source in ready:
            if source is listener:
                open_ones.append(listener.accept())
            elif data := source.recv(10):
                source.send(data.upper())
            else:
                source.close()
                open_ones.remove(source)
                served += 1
    listener.close()


def test_select_serves_several_clients():
    processes = {"server": (serve_many, 2), "one": (say_upper, b"a"), "two": (say_upper, b"b")}
    report = check(program(processes))
    assert report.exhausted and not report.violations and report.traces > 2


def say_upper(data):
    socket = connect("echo")
    socket.send(data)
    assert socket.recv(10) == data.upper()
    socket.close()


def test_select_tells_all_that_are_ready():
    def looks():
        listener = listen("x")
        one, two = listener.accept(), listener.accept()
        ready, _ = select([one, two])
        return len(ready)

    def sends():
        connect("x").send(b"1")

    results = explore(program({"a": looks, "b": sends, "c": sends}), reduced=True).results
    assert {result[0] for result in results} == {1, 2}


def test_select_with_writers_does_not_wait():
    def looks():
        connection = listen("x").accept()
        ready, writers = select([connection], [connection])
        return len(ready), len(writers)

    def sends():
        connect("x").send(b"1")

    assert {result[0] for result in returned(a=looks, b=sends)} == {(0, 1), (1, 1)}


def test_select_gives_up():
    def looks():
        ready, writers = select([listen("x")], timeout=1)
        return len(ready), len(writers)

    assert returned(a=looks) == {((0, 0),)}


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("uses a socket that it has closed", lambda s: (s.close(), s.close(), s.send(b"x"))),
        ("uses a socket that it has closed", lambda s: (s.close(), select([s]))),
        ("sends a `str` through a socket", lambda s: s.send("text")),
        ("selects among no sockets", lambda s: select([])),
    ],
)
def test_misuse_is_told(text, wrong):
    def body():
        wrong(connect("x"))

    assert text in first_failure(a=body, b=lambda: listen("x").accept() and None)


def test_coroutines_have_the_same():
    async def server():
        listener = aio.listen("echo")
        connection = await listener.accept()
        ready, _ = await aio.select([connection])
        data = await ready[0].recv(10)
        await connection.send(data)
        await connection.close()
        await listener.close()

    async def client():
        socket = await aio.connect("echo")
        await socket.send(b"hi")
        return await socket.recv(10), await socket.recv(10)

    assert plain.__all__ == aio.__all__
    assert returned(a=server, b=client) == {(None, (b"hi", b""))}

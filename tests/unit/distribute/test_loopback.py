"""A network with nothing but this machine in it."""

import socket

from presage.distribute.loopback import only_loopback


def interfaces():
    return {name for _, name in socket.if_nameindex()}


def test_inside_there_is_only_loopback_and_outside_all_is_as_before():
    before = interfaces()
    with only_loopback() as alone:
        inside = interfaces()
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=5).close()
    assert inside == ({"lo"} if alone else before)
    assert interfaces() == before

"""Names of AF_UNIX sockets are files: the same scripts on the real kernel and on ours."""

import errno
import os
import socket
import stat

import pytest

from presage import Faults, always, check
from presage.frontends.real.machine.effects import Options
from presage.frontends.real.machine.names import Host
from presage.frontends.real.machine.process import Process
from presage.process.leaves import TABLE
from presage.real import Node, RealSystem, here


def named(kind=socket.SOCK_STREAM):
    made = socket.socket(socket.AF_UNIX, kind)
    made.bind("s")
    return made


def error_of(function, *args):
    try:
        function(*args)
    except OSError as error:
        return errno.errorcode[error.errno]
    return None


def a_name_is_a_file():
    listener = named()
    mode, names = stat.S_IFMT(os.stat("s").st_mode), os.listdir(".")
    listener.close()
    return mode, names, os.path.exists("s"), os.path.isfile("s"), error_of(open, "s")


def a_name_is_taken_until_it_is_removed():
    named().close()
    taken = error_of(named)
    os.remove("s")
    return taken, named().getsockname()


def a_name_is_looked_up():
    client = socket.socket(socket.AF_UNIX)
    found = [error_of(client.connect, "s"), error_of(client.connect, "no/s")]
    listener = named()
    found.append(error_of(client.connect, "s"))
    listener.listen()
    os.mkdir("d")
    os.rename("s", "d/t")
    os.symlink("d/t", "u")
    found += [error_of(client.connect, "s"), error_of(client.connect, "u")]
    accepted, _ = listener.accept()
    accepted.sendall(b"x")
    found += [client.recv(1), client.getpeername(), listener.getsockname()]
    listener.close()
    return [*found, error_of(socket.socket(socket.AF_UNIX).connect, "u")]


def files_and_folders_are_no_sockets():
    with open("f", "wb"):
        os.mkdir("d")
    end = socket.socket(socket.AF_UNIX)
    found = [error_of(end.connect, each) for each in ("f", "d", "f/s")]
    return found + [error_of(end.bind, each) for each in ("f", "d", "x/s")]


def datagrams_find_their_way():
    server, client = named(socket.SOCK_DGRAM), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    client.sendto(b"x", "s")
    found = server.recvfrom(9)
    server.close()
    return found, error_of(client.sendto, b"x", "s"), error_of(client.sendto, b"x", "\0none")


def the_abstract_space_has_no_files():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("")
    taken = error_of(socket.socket(socket.AF_UNIX).bind, listener.getsockname())
    name = listener.getsockname()
    listener.close()
    return taken, os.listdir("."), error_of(socket.socket(socket.AF_UNIX).connect, name)


SCRIPTS = [
    a_name_is_a_file,
    a_name_is_taken_until_it_is_removed,
    a_name_is_looked_up,
    files_and_folders_are_no_sockets,
    datagrams_find_their_way,
    the_abstract_space_has_no_files,
]


def simulated(script):
    found = []

    def main():
        os.mkdir("/var/own")
        os.chdir("/var/own")
        found.append(script())

    TABLE.up()
    try:
        process = Process(Host("a", ("a",)), main, options=Options())
        process.begin()
        failures = process.collect().failures
        process.dispose()
    finally:
        TABLE.down()
    assert not failures, failures
    return found[0]


@pytest.mark.parametrize("script", SCRIPTS)
def test_errno_for_errno(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert simulated(script) == script()


def serve():
    listener = socket.socket(socket.AF_UNIX)
    error = error_of(listener.bind, "/run/own")
    here.expose(error=error)
    if error is None:
        listener.listen()
        listener.accept()


@always
def binds(world):
    return world["a"].error != "EADDRINUSE"


def test_a_restarted_program_finds_the_name_of_its_earlier_life_taken():
    node = Node(serve, view=lambda node: {"error": node.get("error")})
    system = RealSystem({"a": node}, properties=[binds], faults=Faults(crash=1, restart=1))
    (violation,) = check(system, traces=None).violations
    assert violation.prop == "binds" and violation.steps == 2

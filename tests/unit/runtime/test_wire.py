"""Nodes on real sockets: what each part of a service means live, and how connections end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec import structs
from unit.runtime.sockets import Fake, Note, Town, dial, run, talkers, town, udp, until

from presage.errors import CannotListen
from presage.runtime.cluster import Cluster, Emulated, Live, Tls
from presage.runtime.frame import Frame, Hello, Kind, encode, hello_frame, pack, short_digest
from presage.runtime.listening import Sockets
from presage.runtime.up import local_cluster

HERE = Path(__file__).parent / "certificates"


def test_messages_arrive_in_order_on_streams_and_by_datagrams() -> None:
    async def test() -> None:
        async with town("a", "b") as there:
            for at in range(50):
                await there.call("a", "say", "b", str(at))
            await there.until("b", "got", [f"a: {at}" for at in range(50)])
            await there.call("b", "throw", "a", "by datagram")
            await there.until("a", "got", ["b: by datagram"])
            await there.call("a", "throw", "a", "to itself")
            await there.call("a", "say", "a", "on a stream")
            own = ["a: to itself", "a: on a stream"]
            await until(lambda: sorted(there.field("a", "got")[1:]) == sorted(own))
            assert there.field("b", "lost") == there.said == []

    run(test)


def test_who_opens_a_connection_at_once_ends_up_with_one() -> None:
    async def test() -> None:
        for _ in range(6):
            async with town("a", "b") as there:
                calls = [there.call(one, "say", other, "x") for one, other in ("ab", "ba")]
                await asyncio.gather(*calls)
                await there.until("a", "got", ["b: x"])
                await there.until("b", "got", ["a: x"])
                await until(lambda: all(d.wire.connected == 1 for d in there.drivers.values()))
                assert there.field("a", "lost") == there.field("b", "lost") == []

    run(test)


def test_a_refused_connection_is_broken() -> None:
    async def test() -> None:
        async with town("a", "b", absent=("b",)) as there:
            await there.call("a", "say", "b", "anybody?")
            await there.until("a", "lost", ["b"])
            await there.start("b")
            await there.call("a", "say", "b", "now?")
            await there.until("b", "got", ["a: now?"])

    run(test)


def test_a_process_that_ends_breaks_its_connections_and_may_come_back() -> None:
    async def test() -> None:
        async with town("a", "b") as there:
            await there.call("a", "say", "b", "one")
            await there.until("b", "got", ["a: one"])
            there.stop("b")
            await there.until("a", "lost", ["b"])
            await there.start("b")
            assert there.drivers["b"].node.life == 2
            await there.call("a", "say", "b", "two")
            await there.until("b", "got", ["a: two"])

    run(test)


def test_closing_is_told_to_the_peer_and_loses_what_is_under_way() -> None:
    async def test() -> None:
        async with town("a", "b") as there:
            await there.call("a", "say", "b", "one")
            await there.until("b", "got", ["a: one"])
            await there.call("a", "hold", "b", "never let in")
            await there.call("a", "leave", "b")
            await there.until("b", "lost", ["a"])
            await there.call("b", "let_in")
            await there.call("a", "say", "b", "two")
            await there.until("b", "got", ["a: one", "a: two"])
            assert there.field("a", "lost") == []

    run(test)


def test_the_head_of_a_stream_waits_for_its_guard_and_reading_pauses() -> None:
    async def test() -> None:
        async with town("a", "b") as there:
            await there.call("a", "hold", "b", "first")
            for at in range(200):
                await there.call("a", "say", "b", f"{at:01000}")
            await until(lambda: there.drivers["b"].host.waits("a"))
            await asyncio.sleep(0.05)
            assert there.field("b", "got") == []
            assert len(there.drivers["b"].host.links["a"].inbox) < 200
            await there.call("b", "let_in")
            await there.until("b", "got", ["a: first", *(f"a: {at:01000}" for at in range(200))])

    run(test)


def test_a_bounded_queue_is_full_until_the_peer_has_handled() -> None:
    async def test() -> None:
        async with town("a", "b", queue_size=2) as there:
            answers = [await there.call("a", "hold", "b", str(at)) for at in range(3)]
            assert answers == [True, True, False]
            await there.call("b", "let_in")
            await there.until("b", "got", ["a: 0", "a: 1"])
            await until(lambda: there.drivers["a"].host.held("b") == 0)
            assert await there.call("a", "hold", "b", "again")

    run(test)


def test_a_datagram_that_is_too_large_is_an_error_of_its_handler() -> None:
    async def test() -> None:
        async with town("a", "b") as there:
            told = await there.call("a", "throw", "b", "x" * 1300)
            assert "bytes was sent to `b` as a datagram" in told
            assert await there.drivers["a"].ended.wait()
            assert not there.drivers["a"].node.up

    run(test)


def test_a_stream_message_that_no_peer_would_take_is_an_error_of_its_handler() -> None:
    async def test() -> None:
        async with town("a", "b") as there:
            await there.call("a", "say", "b", "x" * 1_000_000)
            await until(lambda: len(there.field("b", "got")) == 1)
            answer = await there.call("a", "say", "b", "x" * 1_100_000)
            assert "bytes was sent to `b` on a stream; its frame may have 1,048,548" in answer
            assert len(there.field("b", "got")) == 1

    run(test)


def test_a_handler_that_fails_ends_its_node() -> None:
    async def test() -> None:
        async with town("a", "b") as there:
            await there.call("a", "say", "b", "one")
            await there.until("b", "got", ["a: one"])
            assert "on purpose" in await there.call("b", "fail")
            await there.drivers["b"].ended.wait()
            assert "on purpose" in str(there.drivers["b"].failure)
            there.stop("b")
            await there.until("a", "lost", ["b"])

    run(test)


async def silent(there: Town) -> Fake:
    """A peer `b` that says hello and nothing more."""
    fake = await dial(there, "a", there.hello("b"))
    first = await fake.frame()
    assert first is not None and first.kind is Kind.HELLO
    return fake


def test_a_peer_that_gives_no_sign_of_life_is_gone() -> None:
    async def test() -> None:
        async with town("a", "b", absent=("b",), keep_alive=0.05) as there:
            fake = await silent(there)
            await there.call("a", "say", "b", "hello?")
            assert await fake.ended()
            assert there.drivers["a"].wire.connected == 0

    run(test)


def test_signs_of_life_keep_a_quiet_connection() -> None:
    async def test() -> None:
        async with town("a", "b", keep_alive=0.05) as there:
            await there.call("a", "say", "b", "one")
            await there.until("b", "got", ["a: one"])
            await asyncio.sleep(0.5)
            assert there.drivers["a"].wire.connected == 1
            assert there.field("a", "lost") == there.field("b", "lost") == []

    run(test)


@pytest.mark.parametrize(
    "changes, told",
    [
        ({"definition": "0" * 64}, "another definition of the system: '0000000000000000' there"),
        ({"version": "0.0.0"}, "presage '0.0.0' there"),
        ({"name": "z"}, "no other node of this cluster has that name"),
        ({"name": "a"}, "no other node of this cluster has that name"),
    ],
)
def test_a_peer_that_runs_something_else_is_refused_with_the_reason(
    changes: dict[str, str], told: str
) -> None:
    async def test() -> None:
        async with town("a", "b", absent=("b",)) as there:
            fake = await dial(there, "a", structs.replace(there.hello("b"), **changes))
            bye = await fake.frame()
            assert bye is not None and bye.kind is Kind.BYE
            assert told in bye.body.decode()
            assert await fake.ended()
            assert there.drivers["a"].wire.dismissed == 1
            assert told in there.said[0]

    run(test)


def test_an_earlier_process_is_refused_and_a_later_one_replaces() -> None:
    async def test() -> None:
        async with town("a", "b", absent=("b",)) as there:
            second = await dial(there, "a", there.hello("b", life=2))
            assert await second.frame() is not None
            first = await dial(there, "a", there.hello("b", life=1))
            bye = await first.frame()
            assert bye is not None and b"a later process" in bye.body
            third = await dial(there, "a", there.hello("b", life=3))
            greeting = await third.frame()
            assert greeting is not None and greeting.kind is Kind.HELLO
            assert await second.ended()
            assert there.drivers["a"].wire.connected == 1

    run(test)


def test_datagrams_of_strangers_and_of_other_definitions_mean_nothing() -> None:
    async def test() -> None:
        async with town("a", "b", absent=("b",)) as there:
            wire, codec = there.drivers["a"].wire, there.drivers["a"].node.automaton.codec
            to = there.cluster.nodes["a"]
            digest = short_digest(there.definition.digest)
            good = codec.encode(Note("hi"))
            with udp() as stranger, udp() as known:
                known.bind(("127.0.0.1", there.cluster.nodes["b"].port))
                stranger.sendto(pack(Kind.MESSAGE, 0, 1, 1, good, digest), (to.host, to.port))
                for bad in (
                    b"",
                    b"junk",
                    pack(Kind.MESSAGE, 0, 1, 1, good, digest ^ 1),
                    pack(Kind.MESSAGE, 0, 1, 1, b"\x01\xff", digest),
                    pack(Kind.BYE, 0, 1, 1, b"", digest),
                ):
                    known.sendto(bad, (to.host, to.port))
                await until(lambda: wire.bad >= 5)
                known.sendto(pack(Kind.MESSAGE, 0, 1, 1, good, digest), (to.host, to.port))
                await there.until("a", "got", ["b: hi"])
            assert len(there.said) == 2  # once for each peer

    run(test)


def test_an_address_in_use_is_told() -> None:
    cluster = local_cluster(["a"], "unused")
    sockets = Sockets("a", cluster.nodes["a"])
    with pytest.raises(CannotListen, match="`a` cannot listen on 127.0.0.1"):
        Sockets("a", cluster.nodes["a"])
    sockets.close()
    Sockets("a", cluster.nodes["a"]).close()


def with_tls(cluster: Cluster, cert: str = "{node}") -> Cluster:
    files = Tls(ca="ca.pem", cert=f"{cert}.pem", key=f"{cert}.key")
    return structs.replace(cluster, tls=files, folder=str(HERE), live=Live())


def test_with_certificates_streams_and_datagrams_travel_by_tls() -> None:
    async def test() -> None:
        system = talkers("a", "b")
        there = Town(system, with_tls(local_cluster(["a", "b"], "unused")))
        await there.start("a", "b")
        await there.call("a", "say", "b", "one")
        await there.until("b", "got", ["a: one"])
        await there.call("b", "throw", "a", "two")
        await there.until("a", "got", ["b: two"])
        plain = await dial(there, "a", there.hello("b"))
        assert await plain.frame() is None
        for name in ("a", "b"):
            there.stop(name)

    run(test)


@pytest.mark.parametrize(
    "cert, told", [("stranger", "certificate is not that of `b`"), ("forged", "")]
)
def test_a_certificate_must_be_of_the_authority_and_carry_the_name(cert: str, told: str) -> None:
    async def test() -> None:
        system = talkers("a", "b")
        cluster = local_cluster(["a", "b"], "unused")
        honest, liar = Town(system, with_tls(cluster)), Town(system, with_tls(cluster, cert))
        await honest.start("a")
        await liar.start("b")
        await liar.call("b", "say", "a", "let me in")
        await liar.until("b", "lost", ["a"])
        assert honest.field("a", "got") == []
        assert told in "".join(honest.said)
        honest.stop("a")
        liar.stop("b")

    run(test)


def test_an_emulated_network_delays_and_loses_and_streams_stay_whole() -> None:
    async def test() -> None:
        system = talkers("a", "b")
        cluster = local_cluster(["a", "b"], "unused")
        shape = Emulated(rtt_ms=20, jitter_ms=10, loss=0.3, seed=1)
        there = Town(system, structs.replace(cluster, shape=shape))
        await there.start("a", "b")
        loop = asyncio.get_running_loop()
        began = loop.time()
        for at in range(30):
            await there.call("a", "say", "b", str(at))
            await there.call("b", "throw", "a", str(at))
        await there.until("b", "got", [f"a: {at}" for at in range(30)])
        assert loop.time() - began >= 0.03  # a round trip to connect, and half a one
        await asyncio.sleep(0.05)
        assert 0 < len(there.field("a", "got")) < 30
        for name in ("a", "b"):
            there.stop(name)

    run(test)


def test_hello_frames_are_small() -> None:
    said = Hello("n" * 255, "f" * 64, "0.1.0", 2**32 - 1)
    assert len(encode(hello_frame(said))) < 1000
    assert Frame(Kind.ALIVE) == Frame(Kind.ALIVE, 0, 0, 0, b"", 0)

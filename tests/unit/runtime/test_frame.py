"""Frames: what is written is read; whatever else comes in is refused, and memory stays bounded."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from presage.runtime.frame import (
    DATAGRAM_MAX,
    FRAME_MAX,
    HEADER,
    HELLO_MAX,
    KINDS,
    BadFrame,
    Decoder,
    Frame,
    Hello,
    Kind,
    Messages,
    encode,
    hello_frame,
    read_datagram,
    read_hello,
    refusal,
    short_digest,
)

SAID = Hello("a", "ab12" * 16, "0.1.0", 7)


def some_frame(dice: random.Random) -> Frame:
    kind = dice.choice(list(Kind))
    body = dice.randbytes(dice.choice([0, 1, 20, 300]))
    return Frame(
        kind,
        dice.getrandbits(64),
        dice.getrandbits(32),
        dice.getrandbits(64),
        body,
        dice.getrandbits(16),
    )


def frames_of(decoder: Decoder) -> Iterator[Frame]:
    while (frame := decoder.pull()) is not None:
        yield frame


def one_by_one(found: Frame | Messages) -> list[tuple[int, int, int, bytes]]:
    """What a receiver makes of frames; of a row it only heeds the largest count."""
    bodies = found.bodies if isinstance(found, Messages) else [found.body]
    return [(found.kind, found.number, found.life, body) for body in bodies]


def in_rows(decoder: Decoder, most: int) -> Iterator[Frame | Messages]:
    while found := decoder.messages(most) or decoder.pull():
        yield found


def row_frames(dice: random.Random) -> list[Frame]:
    """Frames of few kinds, numbers and lives, so that there are rows of messages."""
    kinds = (Kind.MESSAGE, Kind.MESSAGE, Kind.MESSAGE, Kind.ALIVE)
    return [
        Frame(
            dice.choice(kinds),
            dice.choice((7, 7, 8)),
            dice.choice((5, 5, 6)),
            at,
            bytes([at % 256]),
        )
        for at in range(dice.randrange(60))
    ]


@pytest.mark.parametrize("seed", range(50))
def test_messages_in_a_row_are_those_that_are_read_one_by_one(seed: int) -> None:
    dice = random.Random(seed)
    frames = row_frames(dice)
    data = b"".join(map(encode, frames))
    size, most = dice.choice((1, 13, 100, 10_000)), dice.choice((1, 3, 1000))
    decoder, found = Decoder(), []
    for at in range(0, len(data), size):
        decoder.feed(data[at : at + size])
        found += in_rows(decoder, most)
    assert [one for each in found for one in one_by_one(each)] == [
        one for each in frames for one in one_by_one(each)
    ]
    last = 0
    for each in found:
        last += len(one_by_one(each))
        assert each.handled == frames[last - 1].handled  # it only grows
    assert b"".join(map(encode, frames_again(found))) == data


def frames_again(found: list[Frame | Messages]) -> Iterator[Frame | Messages]:
    """What was read, to be written again: rows as rows, with the counts of their frames."""
    for each in found:
        if isinstance(each, Messages):
            first = each.handled - len(each.bodies) + 1
            for at, body in enumerate(each.bodies):
                yield Messages(each.number, each.life, first + at, [body])
        else:
            yield each


@pytest.mark.parametrize("most", [1, 1000])
def test_a_row_ends_before_what_is_no_message(most: int) -> None:
    whole = encode(Messages(1, 2, 3, [b"a", b"b"]))
    for bad in (b"\0" * 28, whole[:4] + b"\x02" + whole[5:], b"\xff" * 28, whole[:28]):
        decoder = Decoder(HELLO_MAX)
        decoder.feed(whole + bad)
        found = []
        while row := decoder.messages(most):
            found += row.bodies
        assert found == [b"a", b"b"] and decoder.size == len(bad)


def test_what_is_written_is_read_however_the_bytes_are_cut() -> None:
    dice = random.Random(1)
    frames = [some_frame(dice) for _ in range(200)]
    data = b"".join(map(encode, frames))
    for size in (1, 3, 27, 28, 29, 1000, len(data)):
        decoder, found = Decoder(), []
        for at in range(0, len(data), size):
            decoder.feed(data[at : at + size])
            found += frames_of(decoder)
        assert found == frames
        assert decoder.size == 0


def test_a_frame_cut_at_any_byte_is_awaited_not_invented() -> None:
    data = encode(Frame(Kind.MESSAGE, 1, 2, 3, b"body of it"))
    for end in range(len(data)):
        decoder = Decoder()
        decoder.feed(data[:end])
        assert decoder.pull() is None
        decoder.feed(data[end:])
        assert decoder.pull() == Frame(Kind.MESSAGE, 1, 2, 3, b"body of it")


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        b"\0\0\0\0",
        (FRAME_MAX - 3).to_bytes(4, "big"),
        (23).to_bytes(4, "big"),
        HEADER.pack(24, 2, 2, 0, 0, 0, 0),
        HEADER.pack(24, 1, 0, 0, 0, 0, 0),
        HEADER.pack(24, 1, 255, 0, 0, 0, 0),
    ],
)
def test_a_bad_header_is_refused_before_its_body_is_awaited(data: bytes) -> None:
    decoder = Decoder()
    decoder.feed(data)
    with pytest.raises(BadFrame):
        decoder.pull()


def test_a_frame_of_the_largest_size_is_read_and_no_larger_one() -> None:
    largest = encode(Frame(Kind.MESSAGE, body=bytes(HELLO_MAX - HEADER.size)))
    decoder = Decoder(HELLO_MAX)
    decoder.feed(largest)
    assert decoder.pull() is not None
    decoder.feed(encode(Frame(Kind.MESSAGE, body=bytes(HELLO_MAX - HEADER.size + 1)))[:4])
    with pytest.raises(BadFrame, match="4,097 bytes"):
        decoder.pull()


def test_a_hello_says_who_and_what() -> None:
    assert read_hello(hello_frame(SAID)) == SAID
    assert refusal(SAID, SAID) is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"name": "a"}',
        b"\xff",
        b"[" * 4000,
        b'{"name":"","definition":"","version":"","life":0}',
        b'{"name":"a","definition":"","version":"","life":-1}',
    ],
)
def test_a_hello_that_is_none_is_refused(body: bytes) -> None:
    with pytest.raises(BadFrame):
        read_hello(Frame(Kind.HELLO, body=body))
    with pytest.raises(BadFrame, match="not `hello`"):
        read_hello(Frame(Kind.MESSAGE, body=body))


def test_another_version_or_definition_is_refused_with_both() -> None:
    older = Hello("b", SAID.definition, "0.0.9", 1)
    edited = Hello("b", "cd34" * 16, SAID.version, 1)
    assert refusal(SAID, older) == "presage '0.0.9' there, '0.1.0' here"
    told = refusal(SAID, edited)
    assert told is not None
    assert "cd34cd34" in told and "ab12ab12" in told


def test_a_datagram_is_exactly_one_frame() -> None:
    frame = Frame(Kind.MESSAGE, 1, 2, 3, b"hi", short_digest(SAID.definition))
    data = encode(frame)
    assert read_datagram(data) == frame
    for end in range(len(data)):
        with pytest.raises(BadFrame):
            read_datagram(data[:end])
    for bad in (data + b"x", encode(hello_frame(SAID)), bytes(DATAGRAM_MAX + 1), data * 2):
        with pytest.raises(BadFrame):
            read_datagram(bad)


def mutated(dice: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        what, at = dice.randrange(4), dice.randrange(len(changed) or 1)
        if what == 0 and changed:
            changed[at] = dice.randrange(256)
        elif what == 1:
            changed[at:at] = dice.randbytes(dice.randint(1, 8))
        elif what == 2:
            del changed[at : at + dice.randint(1, 8)]
        else:
            changed[at:at] = changed[at : at + dice.randint(1, 40)]
    return bytes(changed)


def fuzz(count: int, seed: int) -> tuple[int, int]:
    """Feed random and mutated frames; how many were read, and how many refused."""
    dice = random.Random(seed)
    good = [encode(some_frame(dice)) for _ in range(64)]
    good.append(encode(hello_frame(SAID)))
    read = refused = 0
    limit = 2048
    decoder = Decoder(limit)
    for turn in range(count):
        data = dice.randbytes(dice.randint(0, 64)) if turn % 3 == 0 else dice.choice(good)
        if turn % 3 == 1:
            data = mutated(dice, data)
        decoder.feed(data)
        try:
            for frame in frames_of(decoder):
                read += 1
                assert KINDS[frame.kind] is frame.kind
                if frame.kind is Kind.HELLO:
                    try:
                        read_hello(frame)
                    except BadFrame:
                        refused += 1
        except BadFrame:
            refused += 1
            decoder = Decoder(limit)  # the connection is reset
        assert decoder.size <= limit
        try:
            read_datagram(data)
        except BadFrame:
            pass
    return read, refused


def test_random_and_mutated_frames_are_read_or_refused() -> None:
    read, refused = fuzz(20_000, 1)
    assert read > 1000 and refused > 1000


@pytest.mark.slow
def test_a_million_random_and_mutated_frames_are_read_or_refused() -> None:
    read, refused = fuzz(1_000_000, 2)
    assert read > 50_000 and refused > 50_000

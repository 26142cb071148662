"""Checkpoints on the wire: as small as what the receiver has already allows.

A checkpoint is written as parts: the fields of the local state, the ends of connections, the
datagrams. The receiver says which checkpoint of the sender it has; against that one, the smallest
of these is sent: "the same", the parts that changed, everything, or everything compressed with the
earlier one as dictionary. Below 128 bytes nothing is compressed. A digest of the parts goes along,
so a receiver that lacks the earlier one, or has another, finds out and asks for everything.

Invariant: what is read equals what was written, or `BadCheckpoint` is raised.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from presage.runtime.checkpoint import Checkpoint
from presage.runtime.datagrams import Got, Held, Sent, Waiting
from presage.runtime.link import End

COMPRESSED_FROM = 128  # bytes
SIZE_MAX = 1 << 24  # of a checkpoint that is unpacked
DIGEST = 6  # bytes

Parts = dict[int, bytes]  # 0, 1, ...: fields; -1: datagrams; -2 - i: the end to node i


class BadCheckpoint(Exception):
    """Bytes that are no checkpoint, or a difference to one that is not at hand."""


class _Written(Struct, frozen=True, array_like=True, omit_defaults=True):
    """What is sent. `base` and `changed` without `parts`: all else is as in `base`."""

    number: int
    process: int
    digest: bytes
    base: int = 0  # the number of the checkpoint that this one differs from
    gone: tuple[int, ...] = ()  # parts of `base` that are there no more
    parts: Parts = {}


_DECODER = msgspec.msgpack.Decoder(_Written)
_PARTS = msgspec.msgpack.Decoder(Parts)
_ENCODER = msgspec.msgpack.Encoder()
_END = msgspec.msgpack.Decoder(tuple[int, int, int, int, int, tuple[bytes, ...], int, int, int])
PLAIN, PACKED = b"\x00", b"\x01"


def parts_of(checkpoint: Checkpoint, index: Callable[[str], int]) -> Parts:
    """A checkpoint cut into pieces that change apart from each other."""
    parts: Parts = {at: value for at, value in enumerate(checkpoint.local) if value}
    parts[-1] = _ENCODER.encode(_held(checkpoint.datagrams, index, len(checkpoint.local)))
    for peer, end in checkpoint.ends.items():
        flags = end.half + 2 * end.error
        plain = (*end[:5], end.log, flags, end.was, end.was_handled)
        parts[-2 - index(peer)] = _ENCODER.encode(plain)
    return dict(sorted(parts.items()))


def _held(held: Held, index: Callable[[str], int], fields: int) -> Any:
    sent = {
        index(to): [(each.number, round(each.time * 1000), each.message) for each in every]
        for to, every in held.sent.items()
    }
    numbers = {index(to): number for to, number in held.numbers.items()}
    got = {index(source): tuple(each) for source, each in held.got.items()}
    waiting = [(index(each.source), each.message) for each in held.waiting]
    return (fields, sent, numbers, got, waiting)


def write(checkpoint: Checkpoint, base: Checkpoint | None, index: Callable[[str], int]) -> bytes:
    """The bytes of a checkpoint for somebody who has `base`, or nothing."""
    parts = parts_of(checkpoint, index)
    head = (checkpoint.number, checkpoint.process, _digest(parts))
    whole = _ENCODER.encode(_Written(*head, 0, (), parts))
    candidates = [PLAIN + whole]
    if base is not None and base.process == checkpoint.process:
        before = parts_of(base, index)
        changed = {at: part for at, part in parts.items() if before.get(at) != part}
        gone = tuple(at for at in before if at not in parts)
        difference = _Written(*head, base.number, gone, changed)
        candidates.append(PLAIN + _ENCODER.encode(difference))
        if len(whole) >= COMPRESSED_FROM:
            packed = _pack(_ENCODER.encode(parts), _ENCODER.encode(before))
            candidates.append(PACKED + _ENCODER.encode((*head, base.number, packed)))
    elif len(whole) >= COMPRESSED_FROM:
        candidates.append(PACKED + _ENCODER.encode((*head, 0, _pack(_ENCODER.encode(parts), b""))))
    return min(candidates, key=len)


def read(data: bytes, node: str, bases: Iterable[Checkpoint], names: tuple[str, ...]) -> Checkpoint:
    """The checkpoint of `node`; `bases` are those of it that are at hand."""
    try:
        if data[:1] == PACKED:
            number, process, digest, base_number, packed = msgspec.msgpack.decode(
                data[1:], type=tuple[int, int, bytes, int, bytes]
            )
            dictionary = b""
            if base_number:
                dictionary = _ENCODER.encode(_base(bases, base_number, process, names))
            parts = _PARTS.decode(_unpack(packed, dictionary))
        else:
            written = _DECODER.decode(data[1:])
            number, process, digest = written.number, written.process, written.digest
            parts = dict(written.parts)
            if written.base:
                before = _base(bases, written.base, process, names)
                left = {at: part for at, part in before.items() if at not in written.gone}
                parts = dict(sorted((left | parts).items()))
        if _digest(parts) != digest:
            raise BadCheckpoint("its parts have another digest")
        return _checkpoint(node, number, process, parts, names)
    except (msgspec.DecodeError, zlib.error, IndexError, KeyError, UnicodeDecodeError) as error:
        raise BadCheckpoint(f"it cannot be read: {error}") from None


def _base(bases: Iterable[Checkpoint], number: int, process: int, names: tuple[str, ...]) -> Parts:
    for base in bases:
        if (base.number, base.process) == (number, process):
            return parts_of(base, names.index)
    raise BadCheckpoint(f"it is a difference to {number}, which is not at hand")


def _checkpoint(
    node: str, number: int, process: int, parts: Mapping[int, bytes], names: tuple[str, ...]
) -> Checkpoint:
    kind = tuple[
        int,
        dict[int, list[tuple[int, int, bytes]]],
        dict[int, int],
        dict[int, tuple[int, int, tuple[int, ...]]],
        list[tuple[int, bytes]],
    ]
    fields, sent, numbers, got, waiting = msgspec.msgpack.decode(parts[-1], type=kind)
    peers = {*sent, *numbers, *got, *(source for source, _ in waiting)}
    if any(not 0 <= peer < len(names) for peer in peers):
        raise BadCheckpoint("it names nodes that are not there")
    if not 0 < fields <= SIZE_MAX // 256 or any(at >= fields for at in parts):
        raise BadCheckpoint("it has fields that no node has")
    held = Held(
        {
            names[to]: tuple(Sent(at, age / 1000, body) for at, age, body in every)
            for to, every in sent.items()
        },
        {names[to]: count for to, count in numbers.items()},
        {names[source]: Got(*each) for source, each in got.items()},
        tuple(Waiting(names[source], body) for source, body in waiting),
    )
    ends = {names[-2 - at]: _end(part) for at, part in parts.items() if at < -1}
    local = tuple(parts.get(at, b"") for at in range(fields))
    return Checkpoint(node, number, process, local, ends, held)


def _end(part: bytes) -> End:
    life, known, met, sent, handled, log, flags, was, was_handled = _END.decode(part)
    return End(
        life, known, met, sent, handled, log, bool(flags & 1), bool(flags & 2), was, was_handled
    )


def _digest(parts: Parts) -> bytes:
    return hashlib.blake2b(_ENCODER.encode(parts), digest_size=DIGEST).digest()


def _pack(data: bytes, dictionary: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=dictionary[-32768:])
    return packer.compress(data) + packer.flush()


def _unpack(data: bytes, dictionary: bytes) -> bytes:
    unpacker = zlib.decompressobj(-15, zdict=dictionary[-32768:])
    plain = unpacker.decompress(data, SIZE_MAX)
    if unpacker.unconsumed_tail:
        raise BadCheckpoint(f"it is larger than {SIZE_MAX:,} bytes")
    return plain

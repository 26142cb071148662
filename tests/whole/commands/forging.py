"""Checkpoints as somebody else could make them: whole, and not signed."""

from pathlib import Path

from presage._core import Codec

FILE = Path("kept/search.checkpoint")
SIGNATURE, DIGEST = 32, 8  # bytes, at the end of the file


def sealed(content: bytes) -> bytes:
    """A checkpoint of `content` that is not damaged, as anybody can make one."""
    unsigned = content + bytes(SIGNATURE)
    return unsigned + Codec().digest(unsigned).to_bytes(DIGEST, "little")


def content() -> bytes:
    """What the checkpoint says, without what proves it."""
    return FILE.read_bytes()[: -SIGNATURE - DIGEST]

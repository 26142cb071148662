"""A checkpoint is read back: a signal ends that as soon as it ends a search."""

import os
from pathlib import Path

import pytest

from presage import _core

MAGIC = b"presage-checkpoint\n"
PIECE = 1 << 20  # bytes that are read before it is asked again whether to stop


@pytest.fixture
def stop_requested():
    _core.request_stop()
    yield
    _core.forget_stop()


def test_a_stop_ends_the_reading_of_a_large_file(tmp_path: Path, stop_requested: None) -> None:
    large = tmp_path / "large"
    large.write_bytes(MAGIC)
    os.truncate(large, 3 * PIECE)
    with pytest.raises(KeyboardInterrupt):
        _core.inspect(large, None)


def test_a_small_file_is_read_whole(tmp_path: Path, stop_requested: None) -> None:
    small = tmp_path / "small"
    small.write_bytes(MAGIC + bytes(100))
    with pytest.raises(ValueError) as caught:
        _core.inspect(small, None)
    assert caught.value.args[0] == "damaged"

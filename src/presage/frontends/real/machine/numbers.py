"""The functions of `os` and `fcntl` that take descriptors, as a simulated process is answered.

Files, sockets, pipes and pollers share one table of descriptors, so each of these functions is
written once for all of them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Sequence
from typing import Any

from presage.frontends.real.machine.clock import here
from presage.frontends.real.machine.descriptors import Description, failure
from presage.frontends.real.machine.opened import (
    OpenFile,
    OpenFolder,
    Standard,
    description_of,
    wait_and_read,
    wait_and_write,
)
from presage.frontends.real.machine.pairs import PipeEnd, pipe
from presage.frontends.real.machine.paths import stat_of
from presage.frontends.real.machine.polling import descriptor_of

STANDARD = (0, 1, 2)


def _get(number: int) -> Description:
    return description_of(here(), number)


def _file(number: int, otherwise: int = errno.ESPIPE) -> OpenFile:
    description = _get(number)
    if not isinstance(description, OpenFile):
        raise failure(errno.EISDIR if isinstance(description, OpenFolder) else otherwise)
    return description


def read(number: int, size: int) -> bytes:
    if size < 0:
        raise failure(errno.EINVAL)
    return wait_and_read(here(), _get(number), size)


def write(number: int, data: Any) -> int:
    return wait_and_write(here(), _get(number), bytes(data))


def readv(number: int, buffers: Sequence[Any]) -> int:
    views = [memoryview(each).cast("B") for each in buffers]
    data = read(number, sum(map(len, views)))
    at = 0
    for view in views:
        piece = data[at : at + len(view)]
        view[: len(piece)] = piece
        at += len(piece)
    return len(data)


def writev(number: int, buffers: Sequence[Any]) -> int:
    return write(number, b"".join(bytes(each) for each in buffers))


def pread(number: int, size: int, offset: int) -> bytes:
    if offset < 0:
        raise failure(errno.EINVAL)
    return _file(number).read_at(offset, size)


def pwrite(number: int, data: Any, offset: int) -> int:
    if offset < 0:
        raise failure(errno.EINVAL)
    description = _get(number)
    if isinstance(description, OpenFolder):
        raise failure(errno.EBADF)
    file = _file(number)
    at = file.file.size() if file.flags & os.O_APPEND else offset
    return file.write_at(at, bytes(data))


def lseek(number: int, offset: int, whence: int) -> int:
    description = _get(number)
    if isinstance(description, OpenFolder):
        return description.seek(offset, whence)
    return _file(number).seek(offset, whence)


def close(number: int) -> None:
    if number not in STANDARD or number in here().stack.descriptors.open:
        here().stack.descriptors.close(number)


def closerange(low: int, high: int) -> None:
    descriptors = here().stack.descriptors
    for number in [each for each in descriptors.open if low <= each < high]:
        descriptors.close(number)


def dup(number: int) -> int:
    return int(here().stack.descriptors.add(_get(number)))


def dup2(number: int, other: int, inheritable: bool = True) -> int:
    descriptors = here().stack.descriptors
    description = descriptors.get(number)
    if number != other:
        if other in descriptors.open:
            descriptors.open[other].forget()
        descriptors.open[other] = description
        description.refs += 1
    return other


def fsync(fd: Any) -> None:
    number = descriptor_of(fd)
    description = _get(number)
    if isinstance(description, OpenFile):
        description.sync()
    elif not isinstance(description, OpenFolder):
        raise failure(errno.EINVAL)


def ftruncate(number: int, size: int) -> None:
    if size < 0:
        raise failure(errno.EINVAL)
    description = _get(number)
    if not isinstance(description, OpenFile):
        raise failure(errno.EINVAL)
    description.truncate(size)


def fallocate(number: int, offset: int, size: int) -> None:
    file = _file(number)
    if offset < 0 or size <= 0:
        raise failure(errno.EINVAL)
    if offset + size > file.file.size():
        file.truncate(offset + size)


def fstat(number: int) -> os.stat_result:
    description = _get(number)
    if isinstance(description, Standard):
        return os.stat_result((stat.S_IFCHR | 0o620, number, 1, 1, 0, 0, 0, 0, 0, 0))
    if isinstance(description, OpenFile):
        return stat_of(description.file)
    if isinstance(description, OpenFolder):
        return stat_of(description.folder)
    kind = stat.S_IFIFO if isinstance(description, PipeEnd) else stat.S_IFSOCK
    return os.stat_result((kind | 0o600, number, 1, 1, 0, 0, 0, 0, 0, 0))


def isatty(number: int) -> bool:
    return False


def make_pipe(flags: int = 0) -> tuple[int, int]:
    descriptors = here().stack.descriptors
    ends = pipe()
    for end in ends:
        end.nonblocking = bool(flags & os.O_NONBLOCK)
    return descriptors.add(ends[0]), descriptors.add(ends[1])


def set_blocking(number: int, blocking: bool) -> None:
    _get(number).nonblocking = not blocking


def get_blocking(number: int) -> bool:
    return not _get(number).nonblocking


def set_inheritable(number: int, inheritable: bool) -> None:
    _get(number)


def get_inheritable(number: int) -> bool:
    _get(number)
    return False


def sendfile(out_fd: int, in_fd: int, offset: int | None, count: int, *_: Any, **__: Any) -> int:
    source = _file(in_fd, errno.EINVAL)
    data = source.read(count) if offset is None else source.read_at(offset, count)
    return write(out_fd, data)


def copy_file_range(
    src: int, dst: int, count: int, offset_src: int | None = None, offset_dst: int | None = None
) -> int:
    source, target = _file(src, errno.EINVAL), _file(dst, errno.EINVAL)
    data = source.read(count) if offset_src is None else source.read_at(offset_src, count)
    return target.write(data) if offset_dst is None else target.write_at(offset_dst, data)


def nothing(number: Any = None, *_: Any, **__: Any) -> None:
    """Advice, locks of a process and modes of an open file: accepted, without effect within it."""
    if isinstance(number, int):
        _get(number)
    elif number is not None:
        _get(number.fileno())


def control(fd: Any, cmd: int, arg: Any = 0) -> Any:
    """`fcntl.fcntl`."""
    number = fd if isinstance(fd, int) else fd.fileno()
    description = _get(number)
    if cmd == fcntl.F_GETFL:
        flags = description.flags if isinstance(description, OpenFile) else os.O_RDWR
        return flags & ~os.O_NONBLOCK | (os.O_NONBLOCK if description.nonblocking else 0)
    if cmd == fcntl.F_SETFL:
        description.nonblocking = bool(arg & os.O_NONBLOCK)
    elif cmd in (fcntl.F_DUPFD, getattr(fcntl, "F_DUPFD_CLOEXEC", -1)):
        return dup(number)
    elif cmd == fcntl.F_GETFD:
        return fcntl.FD_CLOEXEC
    return 0

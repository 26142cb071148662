"""Start `presage doctor` once more, in a process with a hash seed of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import IO


def start(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdin: int | IO[bytes],
    stdout: int,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """A process that runs code as this interpreter would; its complaints can be read."""
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return subprocess.Popen(
        # Without -P the current folder would come first, and could hide presage itself.
        [sys.executable, *flags, "-P", "-m", "presage", "doctor", *arguments],
        env=os.environ | dict(environment),  # where the seed is
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        pass_fds=pass_fds,
    )

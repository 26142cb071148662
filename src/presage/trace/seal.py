"""Who made a file: a keyed signature, as notebooks have it.

A file that presage writes for itself (a trace, a checkpoint) leads to code that runs: a trace names
its system, a checkpoint names classes. Such a file may come from anywhere. So each carries an
HMAC-SHA256 under a key that only this user has, and only what has the right one runs unasked.

Invariant: a key is used only if its file belongs to this user and nobody else may read it; a key
is never replaced. Where no key can be had, files are written unsigned, which is not an error.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from presage._core import hmac_sha256
from presage.errors import BadKey

STATE = "XDG_STATE_HOME"
FILE = "key"
BYTES = 32
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def state_folder() -> Path:
    """Where presage keeps what outlives a process; raises `BadKey` if the user has no home."""
    given = Path(os.environ.get(STATE, ""))
    if given.is_absolute():
        return given / "presage"
    try:
        return Path.home() / ".local" / "state" / "presage"
    except RuntimeError as error:
        raise _unusable("the home of this user", str(error)) from error


def sign(kind: str, content: bytes) -> str | None:
    """The signature of `content`, a file of `kind`; None if there is no key, and none can be made.

    `why_unsigned` then says why.
    """
    try:
        return _mac(key(), kind, content)
    except BadKey:
        return None


def key_for(kind: str) -> bytes | None:
    """The key that files of `kind` alone are signed with; None as for `sign`."""
    try:
        return hmac_sha256(key(), kind.encode())
    except BadKey:
        return None


def why_unsigned() -> str | None:
    """Why nothing can be signed; None if it can."""
    try:
        key()
    except BadKey as error:
        return str(error).partition("\n")[0]
    return None


def is_ours(kind: str, content: bytes, signature: str | None) -> bool:
    """Whether `signature` was made by this user, here. Raises `BadKey` if the key is not safe."""
    if signature is None or not (state_folder() / FILE).exists():
        return False
    from hmac import compare_digest

    known = _mac(key(), kind, content)
    return compare_digest(known.encode(), signature.encode("utf-8", "replace"))


def key() -> bytes:
    """The key of this user, made if there is none; raises `BadKey` if it cannot be used."""
    folder = state_folder()
    path = folder / FILE
    try:
        if not path.exists():
            _make(folder, path)
        return _read(folder, path)
    except OSError as error:
        raise _unusable(f"`{path}`", (error.strerror or "unknown reason").lower()) from error


def _mac(secret: bytes, kind: str, content: bytes) -> str:
    return hmac_sha256(secret, kind.encode() + b"\0" + content).hex()


def _make(folder: Path, path: Path) -> None:
    """Write a new key, whole or not at all; another process may be first, and then has made it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.stat(folder).st_uid == os.geteuid():
        folder.chmod(0o700)  # it may be older than the key, and there is none to lose yet
    unfinished = folder / f".{FILE}.{os.urandom(8).hex()}"
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(os.urandom(BYTES))
            file.flush()
            os.fsync(descriptor)
        try:
            os.link(unfinished, path)  # which never replaces a file
        except FileExistsError:
            pass
    finally:
        unfinished.unlink(missing_ok=True)


def _read(folder: Path, path: Path) -> bytes:
    if (at := os.stat(folder)).st_uid != os.geteuid() or at.st_mode & (OTHERS & 0o022):
        raise _shared(folder, "700")
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise _shared(path, "600")
        if found.st_mode & OTHERS:
            raise _shared(path, "600")
        secret = file.read(BYTES + 1)
    if len(secret) != BYTES:
        raise _unusable(f"`{path}`", f"it has not {BYTES} bytes")
    return secret


def _shared(path: Path, mode: str) -> BadKey:
    return BadKey(
        f"`{path}` is not this user's alone",
        "other users may read or replace the key that signs traces, so it proves nothing",
        f"remove it, and a new key is made; or, if nobody has used it, `chmod {mode} {path}`",
    )


def _unusable(what: str, why: str) -> BadKey:
    return BadKey(
        f"{what} cannot be used as the key that signs traces: {why}",
        "a folder that may not be written to, or a file that was damaged",
        f"remove it, or name another folder by `{STATE}` in the environment",
    )

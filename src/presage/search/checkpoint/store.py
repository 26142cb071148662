"""Long searches: where their progress is kept, and whether it may be gone on with.

The file itself is the kernel's (`rust/src/checkpoint`). Here its header is made and compared: a
checkpoint is only taken up by the same system, defined by the same code, under the same presage
and Python. Whatever else is found in its place is refused, never half understood.

A checkpoint names classes and functions, and its values are rebuilt by calls. So it is signed, as
traces are, and one that this user did not make is refused; whoever trusts it all the same lets it
name what is loaded here, and nothing that would have to be imported.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from presage import _core
from presage.errors import BadCheckpoint, BadSystem, PresageError, Untrusted
from presage.model.world.system import System
from presage.search.checkpoint.code_digest import Definition
from presage.search.checkpoint.learned import Learned
from presage.search.settings import Settings
from presage.trace import seal
from presage.trace.naming import named
from presage.trace.trace import plain_parameters
from presage.version import VERSION

FILE = "search.checkpoint"
KIND = "presage-checkpoint"
AGAIN = "search from the beginning, with a new folder for `--checkpoint`"


class Header(msgspec.Struct, kw_only=True):
    """What must be equal for a search to go on, and what helps to say why it is not."""

    presage: str
    python: str
    search: str
    system: str
    target: str | None
    parameters: dict[str, Any]
    definition: str  # digest of code and data


class Checkpoint:
    """The checkpoint of one search. The kernel calls `errors`, `restore`, `recall`, `refuse`."""

    def __init__(
        self, system: System, settings: Settings, folder: str | Path, learned: Learned
    ) -> None:
        self.path = Path(folder) / FILE
        self._key = seal.key_for(KIND)
        self._trust = settings.trust
        self._seconds = settings.checkpoint_seconds
        self._signed = False
        self._system = system
        self._learned = learned
        self._definition = Definition(system)
        self._header = Header(
            presage=VERSION,
            python=".".join(map(str, sys.version_info[:2])),
            search=settings.search,
            system=system.name,
            target=settings.target,
            parameters=plain_parameters(settings.named),
            definition=self._definition.digest,
        )
        self.resumes = self._may_resume(settings.resume)

    def open(self) -> _core.Checkpoint:
        """Make sure that checkpoints can be written, by this process alone."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            header = msgspec.json.encode(self._header)
            signing = (self._key, self._trust)
            return _core.Checkpoint(self.path, header, self._seconds, self.resumes, signing, self)
        except BlockingIOError as error:
            raise BadCheckpoint(
                f"another search writes its checkpoints to `{self.path.parent}`",
                "the same command runs twice",
                "wait for it to end, or give this search a folder of its own",
            ) from error
        except OSError as error:
            raise BadCheckpoint(
                f"no checkpoint can be written to `{self.path.parent}`: {_reason(error)}",
                "a folder that may not be written to, a file where a folder is meant, a full disk",
                "name another folder with `--checkpoint DIR`",
            ) from error

    def _may_resume(self, resume: bool) -> bool:
        """Whether there is something to go on with; raises if what is there must not be lost."""
        try:
            found = _core.inspect(self.path, self._key)
        except OSError:
            return False
        except ValueError as error:
            self.refuse(error)
        self._signed = found.signed
        if resume:
            self._compare(self._decoded(found.header))
            if not self._signed and not self._trust:
                self.refuse(ValueError("unsigned", ""))
        elif not found.over:
            raise BadCheckpoint(
                f"`{self.path}` holds an unfinished search of {found.states:,} states",
                "a search that was stopped, and is started again without `--resume`",
                "`--resume` goes on with it; remove the file to begin again",
            )
        return resume

    def _decoded(self, header: bytes) -> Header:
        try:
            return msgspec.json.decode(header, type=Header)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self.refuse(ValueError("damaged", f"its header is none: {error}"))

    def _compare(self, saved: Header) -> None:
        now = self._header
        told = [_told(saved), _told(now)]
        if told[0] != told[1]:
            fact = f"belongs to {told[0]}, and this is {told[1]}"
            cause = "another system, other parameters, or another search"
        elif (saved.presage, saved.python) != (now.presage, now.python):
            fact = (
                f"was written by presage {saved.presage} on Python {saved.python}, and this is"
                f" presage {now.presage} on Python {now.python}"
            )
            cause = "an update since the search was stopped"
        elif saved.definition != now.definition:
            fact = f"belongs to another version of {told[0]}"
            cause = "code or data of the system was edited since the search was stopped"
        else:
            return
        raise BadCheckpoint(f"the checkpoint `{self.path}` {fact}", cause, f"undo that, or {AGAIN}")

    def errors(self) -> bytes:
        """What was learned beside the states: why a property could not be judged, ..."""
        return self._learned.saved()

    def recall(self, errors: bytes) -> None:
        self._learned.recall(errors)

    def restore(self, classes: list[str], references: list[str]) -> None:
        """Make the codec know every class and function that encoded values name."""
        for name in references:
            self._system.codec.encode(self._find(name))
        for name in classes:
            self._system.codec.learn(self._find(name))

    def _find(self, name: str) -> Any:
        """What `module:qualname` means in this process; a file of ours may import it."""
        try:
            return named(name, self._definition.classes, imports=self._signed)
        except LookupError:
            pass
        raise BadCheckpoint(
            f"the checkpoint `{self.path}` has values of `{name}`, which cannot be found here",
            "a class that is made while the system runs, inside a function",
            "define it at the level of its module",
        )

    def refuse(self, error: Exception) -> NoReturn:
        """Say what is wrong with the file; the kernel knows it by a word."""
        if isinstance(error, PresageError):
            raise error
        kind, detail = error.args if len(error.args) == 2 else ("", "")
        if kind == "unreadable":
            fact, cause = f"cannot be read: {_reason(error)}", "no permission, or not a file"
        elif kind == "foreign":
            fact, cause = "is not a checkpoint of presage", "another file of that name"
        elif kind == "version":
            fact = f"is of version {detail}, which this presage {VERSION} does not read"
            cause = "another presage wrote it"
        elif kind == "unsigned":
            raise self._untrusted()
        elif kind == "depth":
            fact = f"has gone down to depth {detail}, beyond the limit given now"
            cause = "a smaller `--depth` than before"
        elif kind == "damaged":
            fact, cause = f"is damaged: {detail}", "it was edited, or copied only in part"
        else:  # whole, but its content does not fit
            fact = f"belongs to another system: {error}"
            cause = "code that the system uses was edited, or depends on the hash seed"
        raise BadCheckpoint(f"the checkpoint `{self.path}` {fact}", cause, AGAIN)

    def _untrusted(self) -> Untrusted:
        unsafe = seal.why_unsigned()
        return Untrusted(
            f"the checkpoint `{self.path}` is not used: nothing proves that you made it",
            unsafe or "it comes from another user or machine, or was edited",
            f"if you know who made it, `--resume --trust`; else {AGAIN}",
        )


def spill(folder: str | Path, memory_mib: int) -> _core.Spill:
    try:
        return _core.Spill(folder, memory_mib)
    except OSError as error:
        raise BadSystem(
            f"no file can be made in `{folder}`: {_reason(error)}",
            "a folder that may not be written to, a file where a folder is meant, a full disk",
            "name another folder with `--spill DIR`",
        ) from error


def _told(header: Header) -> str:
    given = "".join(f" {name}={value}" for name, value in sorted(header.parameters.items()))
    return f"`{header.system}{given}`, {header.search}"


def _reason(error: Exception) -> str:
    return re.sub(r" \(os error \d+\)$", "", str(error.args[-1])).lower()

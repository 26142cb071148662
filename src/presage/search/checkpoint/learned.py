"""What a search learns beside its states, and where it keeps all that: nowhere, for most."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from presage.limits import Storage
from presage.model.world.system import System
from presage.search.coverage.vacuity import Vacuity
from presage.search.kernel.order import Orders
from presage.search.settings import Settings
from presage.trace import seal


class Learned(Struct, frozen=True):
    """What a search learns beside its states, and would not learn again after a stop."""

    errors: dict[int, str]  # why properties could not be judged
    vacuity: Vacuity
    orders: Orders
    system: System

    def saved(self) -> bytes:
        parts = {"vacuity": self.vacuity.saved(), "orders": self.orders.saved()}
        histories = self.system.saved_histories()
        return msgspec.json.encode({"errors": self.errors, "histories": histories, **parts})

    def recall(self, saved: bytes) -> None:
        from binascii import a2b_base64

        parts = msgspec.json.decode(saved)
        for at, text in parts["errors"].items():
            self.errors.setdefault(int(at), text)
        self.vacuity.recall(parts["vacuity"])
        self.orders.recall(parts["orders"])
        self.system.load_histories(a2b_base64(parts["histories"]))


def prepare(system: System, settings: Settings, learned: Learned) -> Storage:
    """Where the kernel keeps its progress, and goes on in files."""
    if settings.checkpoint is None and settings.spill is None:
        return Storage(None)
    from presage.search.checkpoint.store import Checkpoint, spill  # which most searches do not need

    opened = None
    if settings.checkpoint is not None:
        opened = Checkpoint(system, settings, settings.checkpoint, learned).open()
    if settings.spill is None or settings.memory_mib is None:
        return Storage(opened)
    return Storage(opened, spill(settings.spill, settings.memory_mib))


def checkpoint_notes(settings: Settings, resumed_from: int | None) -> list[str]:
    """What to note about a search that had nothing to go on from, or leaves nothing signed."""
    notes = []
    if settings.resume and resumed_from is None:
        notes.append(f"`{settings.checkpoint}` held no checkpoint: the search began afresh")
    if settings.checkpoint is not None and (why := seal.why_unsigned()) is not None:
        notes.append(f"the checkpoint is unsigned, so `--resume` asks for `--trust`: {why}")
    return notes

"""Let a codec read what other processes, or earlier ones, have written.

Canonical bytes name classes by digests. A codec reads those it has written itself, and those it was
taught: here, every class that the code of a system reaches.
"""

from __future__ import annotations

from presage._core import Codec
from presage.errors import PresageError
from presage.model.service.disk import Disk
from presage.model.service.down import Down
from presage.model.service.live import PredictedViolation
from presage.model.service.moment import Counter, Moment
from presage.model.service.stream import Connect, Lost
from presage.model.world.system import System
from presage.search.checkpoint.code_digest import Definition

TIMES: tuple[type, ...] = (Moment, type(Moment() - Moment()))
OWN = (*TIMES, Connect, Counter, Disk, Down, Lost, PredictedViolation)


def teach(system: System, *codecs: Codec, definition: Definition | None = None) -> None:
    """Let `codecs` decode instances of all classes of `system`; `definition` is that of it."""
    known = definition or Definition(system)
    for classes in (OWN, *known.classes.values()):
        for cls in classes:
            for codec in codecs:
                try:
                    codec.learn(cls)
                except PresageError:
                    pass  # no value of this class can be in a state

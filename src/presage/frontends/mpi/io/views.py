"""The view of a file: which of its bytes a rank sees, one after another. Pure."""

from __future__ import annotations

from typing import NamedTuple

from presage.frontends.mpi.data.datatype import BYTE, Datatype
from presage.frontends.mpi.rma.access import Runs, joined


class View(NamedTuple):
    """From byte `disp` on, the pattern of `filetype`, again and again."""

    disp: int = 0
    etype: Datatype = BYTE
    filetype: Datatype = BYTE

    @property
    def unit(self) -> int:
        """Bytes of what positions are counted in."""
        return self.etype.Get_size()

    def runs(self, start: int, size: int) -> Runs:
        """Where `size` bytes of data lie that begin at byte `start` of the data."""
        width, offsets = self.filetype.basic.width, self.filetype.offsets
        extent = self.filetype.span * width
        runs: list[tuple[int, int]] = []
        while size > 0:
            element, inner = divmod(start, width)
            tile, index = divmod(element, len(offsets))
            part = min(width - inner, size)
            runs.append((self.disp + tile * extent + offsets[index] * width + inner, part))
            start, size = start + part, size - part
        return joined(runs)

    def data_within(self, size: int) -> int:
        """Bytes of data in a file of `size` bytes."""
        width, offsets = self.filetype.basic.width, self.filetype.offsets
        extent = self.filetype.span * width
        tiles, rest = divmod(max(0, size - self.disp), extent)
        in_last = sum(min(width, max(0, rest - offset * width)) for offset in offsets)
        return tiles * len(offsets) * width + in_last

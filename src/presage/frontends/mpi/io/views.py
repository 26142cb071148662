"""The view of a file: which of its bytes a rank sees, one after another. Pure."""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.data.layout import Runs, joined
from presage.frontends.mpi.data.predefined import BYTE
from presage.records import NamedTuple


class View(NamedTuple):
    """From byte `disp` on, the pattern of `filetype`, again and again."""

    disp: int = 0
    etype: Any = BYTE
    filetype: Any = BYTE

    @property
    def unit(self) -> int:
        """Bytes of what positions are counted in."""
        return int(self.etype.Get_size())

    def runs(self, start: int, size: int) -> Runs:
        """Where `size` bytes of data lie that begin at byte `start` of the data."""
        layout = self.filetype.layout
        tile, inner = divmod(start, layout.size)
        runs: list[tuple[int, int]] = []
        while size > 0:
            for at, length in layout.at(1, self.disp + tile * layout.extent):
                skipped = min(inner, length)
                part = min(length - skipped, size)
                runs.append((at + skipped, part))
                inner, size = inner - skipped, size - part
            tile += 1
        return joined(runs)

    def data_within(self, size: int) -> int:
        """Bytes of data in a file of `size` bytes."""
        layout = self.filetype.layout
        tiles, rest = divmod(max(0, size - self.disp), layout.extent)
        in_last = sum(min(length, max(0, rest - at)) for at, length in layout.runs)
        return int(tiles * layout.size + in_last)

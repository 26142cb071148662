"""Long output a screenful at a time, and the memory of what was typed: terminals only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from presage.records import record

MORE = "-- {} more lines; Enter goes on, q stops -- "
HISTORY_MAX = 1_000


@record(frozen=True)
class Pager:
    """Stops after every `rows` lines and asks whether to go on."""

    rows: int

    def turn(self, lines: list[str], out: IO[str], source: IO[str]) -> list[str]:
        """Write all but the last screenful of `lines`; gives what is left to be written."""
        while len(lines) > self.rows:
            out.write("\n".join(lines[: self.rows]) + "\n")
            lines = lines[self.rows :]
            out.write(MORE.format(len(lines)))
            out.flush()
            if source.readline().strip().lower().startswith("q"):
                return []
        return lines


def remember(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Let the line editor know what was typed in earlier sessions; where that is kept."""
    try:
        import readline
    except ImportError:  # a Python without a line editor: typing works all the same
        return None
    base = environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    path = Path(base) / "presage" / "debug_history"
    readline.set_completer_delims(" ")
    with suppress(OSError):
        readline.read_history_file(path)
    return path


def keep(path: Path | None) -> None:
    if path is None:
        return
    import readline

    with suppress(OSError):  # no place to write to is no reason to complain at the end
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        readline.set_history_length(HISTORY_MAX)
        readline.write_history_file(path)

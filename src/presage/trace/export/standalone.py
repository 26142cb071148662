"""A pytest file with its trace inside: one file to keep, wherever it is put.

It names the system as the command that made it did, so it runs where that command would run.
"""

from __future__ import annotations

import msgspec

from presage.trace import codec
from presage.trace.export.regression import TEMPLATE, claim, named_by, quoted
from presage.trace.trace import Trace

COLUMNS = 88  # characters of the trace in one line

FIRST = """    path = tmp_path / "path.trace"
    path.write_text(TRACE, encoding="utf-8")
    trace = codec.read(path)"""


def standalone(trace: Trace) -> str:
    """The text of a test that holds `trace` and replays it."""
    # Without what `codec.encode` adds: who made it, and in which folder, is nobody's business here.
    content = {"format": codec.FORMAT, "version": codec.VERSION, "trace": trace}
    text = msgspec.json.encode(content).decode()
    lines = [text[at : at + COLUMNS] for at in range(0, len(text), COLUMNS)]
    prop, target = quoted(trace.prop), quoted(trace.target or "the system")
    verb = "holds" if trace.kind == "live" else "is not broken"
    told = "\n".join(f"    {line!r}" for line in lines)
    return TEMPLATE.format(
        title=f"{prop} {verb} on one path of {quoted(trace.system)}.",
        about=f"Made by `presage explore`. Run it where `{target}` is found.",
        imports="import warnings",
        constants=f"TARGET = {trace.target!r}\nTRACE = (\n{told}\n)",
        name=f"{named_by(trace.prop)}_{verb.replace(' ', '_')}_on_this_path",
        fixture="tmp_path",
        first=FIRST,
        claim=claim(trace),
    )

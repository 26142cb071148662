"""A pytest file with its trace inside: one file to keep, wherever it is put.

It names the system as the command that made it did, so it runs where that command would run.
"""

from __future__ import annotations

import re

import msgspec

from presage.trace import codec
from presage.trace.trace import Trace

COLUMNS = 88  # characters of the trace in one line

TEMPLATE = '''"""{title}

Made by `presage explore`. Run it where `{target}` is found.
"""

import warnings

import presage
from presage.errors import BadTrace
from presage.load import load_traced
from presage.trace import codec

TARGET = {named}
TRACE = (
{trace}
)


def test_{name}(tmp_path):
    path = tmp_path / "path.trace"
    path.write_text(TRACE, encoding="utf-8")
    trace = codec.read(path)
    system = load_traced(trace, path, TARGET).system
    try:
        replayed = presage.replay(system, trace)
    except BadTrace as error:
        warnings.warn(f"the trace no longer fits: {{error}}", stacklevel=1)
        return
    assert {claim}
'''


def standalone(trace: Trace) -> str:
    """The text of a test that holds `trace` and replays it."""
    # Without what `codec.encode` adds: who made it, and in which folder, is nobody's business here.
    content = {"format": codec.FORMAT, "version": codec.VERSION, "trace": trace}
    text = msgspec.json.encode(content).decode()
    lines = [text[at : at + COLUMNS] for at in range(0, len(text), COLUMNS)]
    holds = trace.kind == "live"
    prop, target = (_quoted(text) for text in (trace.prop, trace.target or "the system"))
    name = re.sub(r"\W+", "_", trace.prop, flags=re.ASCII).strip("_").lower() or "it"
    claim = "is not None" if holds else "is None, replayed.message"
    verb = "holds" if holds else "is not broken"
    return TEMPLATE.format(
        title=f"{prop} {verb} on one path of {_quoted(trace.system)}.",
        target=target,
        named=repr(trace.target),
        trace="\n".join(f"    {line!r}" for line in lines),
        name=f"{name}_{verb.replace(' ', '_')}_on_this_path",
        claim=f"replayed.message {claim}",
    )


def _quoted(text: str) -> str:
    """`text` as a docstring can hold it."""
    return re.sub(r"\s+", " ", text).replace("\\", "/").replace('"', "'")

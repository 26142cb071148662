"""A pytest file that replays a trace: it fails as long as the violation can be had that way.

Once the code takes other steps, the trace no longer fits; that is what a fix does, so the test
passes then, with a warning that it has nothing left to compare. The test itself names the system,
so that it runs on every machine: what a trace from elsewhere names would be refused.
"""

from __future__ import annotations

import re

from presage.trace.trace import Trace

TEMPLATE = '''"""{title}

Made by `presage report --pytest` from {name_of_trace}.
"""

import warnings
from pathlib import Path

import presage
from presage.errors import BadTrace
from presage.load import load_traced
from presage.trace import codec

HERE = Path(__file__).parent
TRACE = HERE / {trace}
TARGET = {target}


def test_{name}():
    trace = codec.read(TRACE)
    system = load_traced(trace, TRACE, TARGET).system
    try:
        replayed = presage.replay(system, trace)
    except BadTrace as error:
        warnings.warn(f"the trace no longer fits: {{error}}", stacklevel=1)
        return
    assert {claim}
'''


def regression(trace: Trace, beside: str, target: tuple[str, str]) -> str:
    """The text of a test of `trace`, whose file is `beside`, a path relative to the test's.

    `target` is a path relative to the test's, or empty, and what follows it in the target.
    """
    path, rest = target
    name = re.sub(r"\W+", "_", trace.prop, flags=re.ASCII).strip("_").lower() or "trace"
    if trace.kind == "live":
        title, verb, claim = "comes right", "comes_right", "replayed.message is not None"
    else:
        title, verb = "is not broken by the steps of a trace", "is_not_broken"
        claim = "replayed.message is None, replayed.message"
    named = f"str(HERE / {path!r}) + {rest!r}" if path else repr(rest or None)
    return TEMPLATE.format(
        title=f"{_quoted(trace.prop)} {title}.",
        name=f"{name}_{verb}",
        name_of_trace=_quoted(beside),
        trace=repr(beside),
        target=named,
        claim=claim,
    )


def _quoted(text: str) -> str:
    """`text` as it may stand in a docstring: names come from files, and files from anywhere."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return printable.replace("\\", "/").replace('"', "'")

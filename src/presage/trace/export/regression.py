"""A pytest file that replays a trace: it fails as long as the violation can be had that way.

Once the code takes other steps, the trace no longer fits; that is what a fix does, so the test
passes then, with a warning that it has nothing left to compare. The test itself names the system,
so that it runs on every machine: what a trace from elsewhere names would be refused.
"""

from __future__ import annotations

import re

from presage.trace.trace import Trace

TEMPLATE = '''"""{title}

{about}
"""

{imports}

import presage
from presage.errors import BadTrace
from presage.load import load_traced
from presage.trace import codec

{constants}


def test_{name}({fixture}):
{first}
    system = load_traced(trace, path, TARGET).system
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
    title, verb = "is not broken by the steps of a trace", "is_not_broken"
    if trace.kind == "live":
        title, verb = "comes right", "comes_right"
    named = f"str(HERE / {path!r}) + {rest!r}" if path else repr(rest or None)
    return TEMPLATE.format(
        title=f"{quoted(trace.prop)} {title}.",
        about=f"Made by `presage report --pytest` from {quoted(beside)}.",
        imports="import warnings\nfrom pathlib import Path",
        constants=f"HERE = Path(__file__).parent\nTRACE = HERE / {beside!r}\nTARGET = {named}",
        name=f"{named_by(trace.prop)}_{verb}",
        fixture="",
        first="    path, trace = TRACE, codec.read(TRACE)",
        claim=claim(trace),
    )


def claim(trace: Trace) -> str:
    """What is asserted of a replay."""
    holds = trace.kind == "live"
    return f"replayed.message {'is not None' if holds else 'is None, replayed.message'}"


def named_by(prop: str) -> str:
    """The name of a property as a part of a function's."""
    return re.sub(r"\W+", "_", prop, flags=re.ASCII).strip("_").lower() or "trace"


def quoted(text: str) -> str:
    """`text` as it may stand in a docstring: names come from files, and files from anywhere."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return printable.replace("\\", "/").replace('"', "'")

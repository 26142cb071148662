"""A pytest file that replays a trace: it fails as long as the violation can be had that way.

Once the code takes other steps, the trace no longer fits; that is what a fix does, so the test
passes then, with a warning that it has nothing left to compare.
"""

from __future__ import annotations

import re

from presage.trace.trace import Trace

TEMPLATE = '''"""{title}

Made by `presage report --pytest` from {trace}.
"""

import warnings
from pathlib import Path

import presage
from presage.errors import BadTrace
from presage.load import load_traced
from presage.trace import codec

TRACE = Path(__file__).parent / {trace}


def test_{name}():
    trace = codec.read(TRACE)
    system = load_traced(trace, TRACE, {target}).system
    try:
        replayed = presage.replay(system, trace)
    except BadTrace as error:
        warnings.warn(f"the trace no longer fits: {{error}}", stacklevel=1)
        return
    assert {claim}
'''


def regression(trace: Trace, beside: str, target: str | None) -> str:
    """The text of a test of `trace`, whose file is `beside`, a path relative to the test's."""
    name = re.sub(r"\W+", "_", trace.prop).strip("_").lower() or "trace"
    if trace.kind == "live":
        title, verb, claim = "comes right", "comes_right", "replayed.message is not None"
    else:
        title, verb = "is not broken by the steps of a trace", "is_not_broken"
        claim = "replayed.message is None, replayed.message"
    prop = re.sub(r"\s+", " ", trace.prop).replace("\\", "/").replace('"', "'")
    return TEMPLATE.format(
        title=f"{prop} {title}.",
        name=f"{name}_{verb}",
        trace=repr(beside),
        target=repr(target),
        claim=claim,
    )

"""Numbers of the simulated kernel that compiled code took to the real one, which has none of them.

A process and a descriptor have numbers that no real kernel gives. Compiled code that asks by one of
them hears that there is no such process, or no such file: its program would fail, or take another
way, where in reality it does not. So such an answer is an escape, and no behaviour of the program.

How to tell: the exception came out of a call that has no frame. What the simulated kernel itself
raises has frames of the kernel, and what a program raises comes from its `raise`.
"""

from __future__ import annotations

import errno
from dis import opname
from types import TracebackType

from presage.frontends.real.machine.effects import Bypassed
from presage.model.source import OURS, UNKNOWN, is_user_file, place

ANSWERS = {errno.ESRCH: "process", errno.EBADF: "descriptor"}
CALLS = "CALL", "PRECALL"
DEPTH_MAX = 16  # of exceptions that were raised while others were handled
REMEDY = "give the node a version of that package in Python, by `Node(path=[...])`, or do without"


def _place_of_call(traceback: TracebackType | None) -> str | None:
    """Where the program is, if a call of something without a frame raised; else None."""
    where, code, at = UNKNOWN, None, 0
    while traceback is not None:
        code, at = traceback.tb_frame.f_code, traceback.tb_lasti
        if is_user_file(code.co_filename):
            where = place(code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    if code is None or code.co_filename.startswith(OURS):
        return None
    name = opname[code.co_code[at]]
    return where if name.startswith(CALLS) and "INTRINSIC" not in name else None


def strange(node: str, error: BaseException | None) -> Bypassed | None:
    """What to say if this exception, or one that led to it, is an answer of the real kernel."""
    for _ in range(DEPTH_MAX):
        if error is None:
            return None
        what = ANSWERS.get(error.errno or 0) if isinstance(error, OSError) else None
        where = _place_of_call(error.__traceback__) if what else None
        if where is not None:
            doing = f"asks the real kernel about a {what} of the simulated one, in compiled code"
            return Bypassed(node, doing, where, REMEDY)
        error = error.__cause__ or error.__context__
    return None

"""Hooks of asynchronous generators: each simulated thread has its own.

Python keeps them per thread of the operating system; setting them takes time, for who audits is
told. So one pair stands there while processes run, and asks who runs. Outside of a process it is
what stood there before.

A generator keeps the finalizer that it met at its first step. Python knows ours alone, so the real
one is found by the generator's identity, which no other can have before it is finalized.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import local
from typing import Any, NamedTuple

from presage.process.context import MACHINE, running
from presage.process.leaves import extend, machine_leaf

Hook = Callable[[Any], Any]
FINALIZERS = "finalizers"  # a note of a process: by the identity of a generator
_get, _set = sys.get_asyncgen_hooks, sys.set_asyncgen_hooks


class Hooks(NamedTuple):
    """As `sys.get_asyncgen_hooks` gives them."""

    firstiter: Hook | None = None
    finalizer: Hook | None = None


NONE = Hooks()
FIELDS = "firstiter", "finalizer"


class _Outside(local):
    """What stood on this thread of the operating system before, and its own generators."""

    def __init__(self) -> None:
        self.hooks = NONE
        self.finalizers: dict[int, Hook] = {}


_outside = _Outside()


def place(wanted: Hooks) -> None:
    """Let our pair stand on this thread, where a simulated one with these hooks is to run."""
    hooks = _get()
    if hooks[0] is not _begin and (hooks != (None, None) or wanted is not NONE):
        _outside.hooks = Hooks(*hooks)
        _set(_begin, _finalize)


def _process() -> Any:
    stack: list[Any] = running.stack
    return stack[-1] if stack and stack[-1].answerer == MACHINE else None


def _finalizers(process: Any) -> dict[int, Hook]:
    """Those of generators that have begun."""
    if process is None:
        return _outside.finalizers
    return process.notes.setdefault(FINALIZERS, {})  # type: ignore[no-any-return]


def _hooks(process: Any) -> Hooks:
    """Those that count now."""
    if process is None:
        return _outside.hooks
    return NONE if process.thread is None else process.thread.hooks


def _begin(generator: Any) -> None:
    """A generator takes its first step."""
    process = _process()
    hooks, finalizers = _hooks(process), _finalizers(process)
    if hooks.finalizer is None:
        finalizers.pop(id(generator), None)  # of one with this identity, which came to its end
    else:
        finalizers[id(generator)] = hooks.finalizer
    if hooks.firstiter is not None:
        hooks.firstiter(generator)


def _finalize(generator: Any) -> None:
    """Nobody has a generator any more that is not at its end."""
    process = _process()
    if process is not None and process.dead:
        return
    finalizer = _finalizers(process).pop(id(generator), None)
    if finalizer is not None:
        finalizer(generator)
        return
    try:  # what Python does where there are no hooks
        generator.aclose().send(None)
    except (StopIteration, StopAsyncIteration, GeneratorExit):
        return
    raise RuntimeError("async generator ignored GeneratorExit")


def _set_hooks(*args: Any, **named: Any) -> None:
    thread = _process().thread
    given = dict(zip(FIELDS, args, strict=False)) | named
    if len(args) > len(FIELDS) or not given.keys() <= set(FIELDS):
        raise TypeError("set_asyncgen_hooks() takes `firstiter` and `finalizer`")
    for name, hook in given.items():
        if hook is not None and not callable(hook):
            raise TypeError(f"callable {name} expected, got {type(hook).__name__}")
    if thread is not None:
        thread.hooks = Hooks(**dict(zip(FIELDS, thread.hooks, strict=True)) | given)
        place(thread.hooks)


ANSWERS: dict[tuple[Any, str], Callable[..., Any]] = {
    (sys, "get_asyncgen_hooks"): lambda: _hooks(_process()),
    (sys, "set_asyncgen_hooks"): _set_hooks,
}
extend((machine_leaf(*key) for key in ANSWERS), ANSWERS)

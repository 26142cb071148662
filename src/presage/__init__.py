"""presage: run real distributed code under every order of events that matters.

Layout, from the bottom up; each layer imports only what stands above it in this list:

    errors      every exception, each with cause and remedy
    _core       Rust: canonical values, fingerprints, the kernel and its searches
    model       what a user writes (Service, System) and what a state is (World)
    props       claims about worlds, and histories of operations
    process     sequential code that blocks (Program, Process), and the operations it asks for
    mailbox     mailboxes, actors and locks for such code
    sockets     streams of bytes for such code
    simulate    one run of processes on a platform, in virtual time
    trace       what happened, as plain data and as a file
    search      check, replay, doctor
    ui          terminal texts
    cli         the command line
    systems     ready-made systems; they use the public names below and nothing else

The names are loaded when one of them is first asked for: `presage` as a command begins in a
process that needs none of them (`supervise`).
"""

import sys

TYPE_CHECKING = False  # `typing` itself takes longer to load than all that is here
if TYPE_CHECKING:
    from presage.public import *  # noqa: F403
    from presage.version import VERSION as __version__

__all__ = [
    "__version__",
    "Call",
    "Connect",
    "Connection",
    "Counter",
    "Delay",
    "Disk",
    "Down",
    "Envelope",
    "Faults",
    "HOLDS",
    "Hunt",
    "Invoke",
    "Lapse",
    "Linearizable",
    "Moment",
    "NodeView",
    "Observer",
    "Partition",
    "PredictedViolation",
    "PresageError",
    "Process",
    "Program",
    "Property",
    "Ran",
    "Read",
    "Register",
    "Report",
    "Return",
    "Rules",
    "Scheduler",
    "Seal",
    "SequentiallyConsistent",
    "Service",
    "Streams",
    "System",
    "Task",
    "Timed",
    "Trace",
    "UNLIMITED",
    "Verdict",
    "Violation",
    "Weights",
    "World",
    "WorldView",
    "Write",
    "action",
    "always",
    "at_least",
    "at_most",
    "broken",
    "check",
    "counter",
    "disk",
    "durable",
    "eventually",
    "exactly",
    "exists",
    "forall",
    "ghost",
    "implies",
    "linearizable",
    "no_deadlock",
    "on",
    "on_prediction",
    "page",
    "progress",
    "reach",
    "replay",
    "sequentially_consistent",
    "simulate",
    "sometimes",
    "state",
    "step",
    "timer",
    "written",
]

if not TYPE_CHECKING:

    class _Package(type(sys)):
        """Keeps a public name from being hidden by the submodule of the same name."""

        def __setattr__(self, name: str, value: object) -> None:
            if name in __all__ and isinstance(value, type(sys)):
                return  # `presage.simulate` is the function, whoever imported its package
            super().__setattr__(name, value)

    sys.modules[__name__].__class__ = _Package

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from presage import public

        globals().update({each: value for each, value in vars(public).items() if each in __all__})
        return globals().setdefault(name, getattr(public, name))

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})

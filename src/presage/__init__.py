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
"""

from presage.errors import PresageError as PresageError
from presage.model.declare import action as action
from presage.model.declare import broken as broken
from presage.model.declare import counter as counter
from presage.model.declare import disk as disk
from presage.model.declare import durable as durable
from presage.model.declare import ghost as ghost
from presage.model.declare import on as on
from presage.model.declare import state as state
from presage.model.declare import timer as timer
from presage.model.declare import written as written
from presage.model.disk import Disk as Disk
from presage.model.event import Envelope as Envelope
from presage.model.faults import Partition as Partition
from presage.model.moment import Counter as Counter
from presage.model.moment import Lapse as Lapse
from presage.model.moment import Moment as Moment
from presage.model.service import Service as Service
from presage.model.stream import Connect as Connect
from presage.model.stream import Streams as Streams
from presage.model.system import UNLIMITED as UNLIMITED
from presage.model.system import Call as Call
from presage.model.system import Faults as Faults
from presage.model.system import Observer as Observer
from presage.model.system import System as System
from presage.model.timed import Timed as Timed
from presage.model.view import Connection as Connection
from presage.model.view import NodeView as NodeView
from presage.model.view import WorldView as WorldView
from presage.model.weights import Weights as Weights
from presage.model.world import World as World
from presage.process.program import Process as Process
from presage.process.program import Program as Program
from presage.props.history import Invoke as Invoke
from presage.props.history import Linearizable as Linearizable
from presage.props.history import Read as Read
from presage.props.history import Register as Register
from presage.props.history import Return as Return
from presage.props.history import SequentiallyConsistent as SequentiallyConsistent
from presage.props.history import Write as Write
from presage.props.history import linearizable as linearizable
from presage.props.history import sequentially_consistent as sequentially_consistent
from presage.props.nodes import at_least as at_least
from presage.props.nodes import at_most as at_most
from presage.props.nodes import exactly as exactly
from presage.props.nodes import exists as exists
from presage.props.nodes import forall as forall
from presage.props.nodes import reach as reach
from presage.props.property import HOLDS as HOLDS
from presage.props.property import Property as Property
from presage.props.property import Verdict as Verdict
from presage.props.property import always as always
from presage.props.property import eventually as eventually
from presage.props.property import no_deadlock as no_deadlock
from presage.props.property import sometimes as sometimes
from presage.props.property import step as step
from presage.search.check import check as check
from presage.search.hunt import Hunt as Hunt
from presage.search.replay import replay as replay
from presage.search.report import Report as Report
from presage.search.report import Violation as Violation
from presage.simulate.run import simulate as simulate
from presage.trace.trace import Trace as Trace
from presage.version import VERSION as __version__

__all__ = [
    "__version__",
    "Call",
    "Connect",
    "Connection",
    "Counter",
    "Disk",
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
    "PresageError",
    "Process",
    "Program",
    "Property",
    "Read",
    "Register",
    "Report",
    "Return",
    "SequentiallyConsistent",
    "Service",
    "Streams",
    "System",
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
    "linearizable",
    "no_deadlock",
    "on",
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

"""Every public name of presage, where it is defined; `presage` gives them out on demand.

Names that no check needs are looked up when they are asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from presage.errors import PresageError as PresageError
from presage.model.service.clocks import Timed as Timed
from presage.model.service.declare import action as action
from presage.model.service.declare import broken as broken
from presage.model.service.declare import counter as counter
from presage.model.service.declare import disk as disk
from presage.model.service.declare import durable as durable
from presage.model.service.declare import ghost as ghost
from presage.model.service.declare import on as on
from presage.model.service.declare import on_prediction as on_prediction
from presage.model.service.declare import state as state
from presage.model.service.declare import timer as timer
from presage.model.service.declare import written as written
from presage.model.service.disk import Disk as Disk
from presage.model.service.down import Down as Down
from presage.model.service.live import PredictedViolation as PredictedViolation
from presage.model.service.moment import Counter as Counter
from presage.model.service.moment import Lapse as Lapse
from presage.model.service.moment import Moment as Moment
from presage.model.service.service import Service as Service
from presage.model.service.stream import Connect as Connect
from presage.model.service.stream import Streams as Streams
from presage.model.weights import Weights as Weights
from presage.model.world.event import Envelope as Envelope
from presage.model.world.faults import Partition as Partition
from presage.model.world.rules import Rules as Rules
from presage.model.world.system import UNLIMITED as UNLIMITED
from presage.model.world.system import Call as Call
from presage.model.world.system import Faults as Faults
from presage.model.world.system import Observer as Observer
from presage.model.world.system import System as System
from presage.model.world.view import Connection as Connection
from presage.model.world.view import NodeView as NodeView
from presage.model.world.view import WorldView as WorldView
from presage.model.world.world import World as World
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
from presage.props.implication import implies as implies
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
from presage.props.seal import Seal as Seal
from presage.search.check import check as check
from presage.search.delay.scheduler import Ran as Ran
from presage.search.delay.scheduler import Scheduler as Scheduler
from presage.search.delay.scheduler import Task as Task
from presage.search.delay.settings import Delay as Delay
from presage.search.hunt.settings import Hunt as Hunt
from presage.search.report import Report as Report
from presage.search.report import Violation as Violation
from presage.trace.trace import Trace as Trace
from presage.version import VERSION as __version__  # noqa: F401

if TYPE_CHECKING:
    from presage.execution.replay import replay as replay
    from presage.search.predict import Predictor as Predictor
    from presage.search.predict import predict as predict
    from presage.search.prediction import Prediction as Prediction
    from presage.simulate.run import simulate as simulate
    from presage.ui.notebook import page as page
    from presage.ui.notebook import progress as progress
else:
    LATER = {
        "Prediction": "presage.search.prediction",
        "Predictor": "presage.search.predict",
        "page": "presage.ui.notebook",
        "predict": "presage.search.predict",
        "progress": "presage.ui.notebook",
        "replay": "presage.execution.replay",
        "simulate": "presage.simulate.run",
    }

    def __getattr__(name: str) -> object:
        if name not in LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(LATER[name]), name)

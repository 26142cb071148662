"""`presage predict`: look ahead from a state of a saved trace."""

from __future__ import annotations

import argparse
import contextlib
import sys
from dataclasses import replace

import msgspec

from presage.cli.common import EXIT_HELD, EXIT_VIOLATION, give_up
from presage.cli.target.load import Loaded
from presage.cli.target.traced import load_traced
from presage.errors import BadTarget, BadTrace
from presage.execution.begin import begun
from presage.execution.budget import Budget
from presage.execution.replay import retrace
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.system import System
from presage.search.predict import Predictor, traced
from presage.search.prediction import Prediction
from presage.search.report import Violation
from presage.trace import codec
from presage.trace.trace import Trace
from presage.ui import prediction as texts
from presage.ui.output import write, write_json
from presage.ui.theme import Theme


def run(args: argparse.Namespace, theme: Theme) -> int:
    """Look ahead, tell, and save what is asked for."""
    trace = codec.read(args.trace)
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        loaded = load_traced(trace, args.trace, args.target, "predict", trust=args.trust)
        predicted = _predicted(args, loaded, trace)
    found = _violation(loaded, predicted)
    saved = None
    if found is not None and found.trace is not None and args.save is not None:
        saved = str(codec.write(found.trace, args.save))
    step = len(trace.steps) if args.at is None else args.at
    if args.json:
        write_json(texts.to_json(predicted, found, args.trace, step, saved))
    else:
        write(texts.render(predicted, found, step, saved, theme))
    return EXIT_VIOLATION if found is not None or predicted.broken else EXIT_HELD


def _predicted(args: argparse.Namespace, loaded: Loaded, trace: Trace) -> Prediction:
    system = loaded.system
    if not isinstance(system, System):
        raise BadTarget(
            f"`{loaded.target}` is a program of processes, and `predict` is for services",
            "the state of a process is its history, and no snapshot holds one",
            "`presage check` searches programs",
        )
    if args.at is not None and args.at > len(trace.steps):
        raise BadTrace(
            f"there is no step {args.at} in `{args.trace}`: it has {len(trace.steps)}",
            "a step of another trace",
            "leave `--at` out to begin at its end",
        )
    with Sandbox(give_up=give_up) as sandbox, Budget().watching():
        with begun(system, trace, sandbox) as execution:
            retrace(execution, trace if args.at is None else trace.prefix(args.at))
            assert isinstance(execution, ServiceExecution), "programs were refused"
            snapshot = execution.world.save()
        with Predictor(system, sandbox) as predictor:
            return predictor.predict(
                snapshot,
                outside=system.outside,
                observed=system.observed_known,
                seconds=args.seconds,
                memory=args.memory,
                threads=args.threads,
            )


def _violation(loaded: Loaded, predicted: Prediction) -> Violation | None:
    found = traced(predicted, loaded.target, loaded.parameters)
    if found is None or found.trace is None:
        return None
    remark = ("predicted", texts.searched(predicted))
    trace = msgspec.structs.replace(found.trace, remarks=(*found.trace.remarks, remark))
    return replace(found, trace=trace)

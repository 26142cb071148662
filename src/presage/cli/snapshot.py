"""`presage snapshot`: a state that running nodes were in, as a trace without steps."""

from __future__ import annotations

import argparse
import base64
import sys
from pathlib import Path

from presage.cli.common import EXIT_HELD
from presage.cli.nodes import control_of, data_folder
from presage.errors import BadOutput
from presage.ui.output import say


def run_snapshot(args: argparse.Namespace) -> int:
    """Write the snapshot to a file, or to standard output."""
    from presage.runtime.control import Request, ask

    answer = ask(control_of(data_folder(args), args.node), Request("snapshot"))
    content = base64.b64decode(answer["trace"])
    try:
        if args.out:
            Path(args.out).write_bytes(content)
        else:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
    except OSError as error:
        raise BadOutput(
            f"the snapshot cannot be written: {error.strerror or error}",
            "a full disk, or a folder that is not there",
            "`--out` names another file",
        ) from error
    outside = ", ".join(answer["outside"])
    say(f"{args.node} and its neighbours" + (f"; outside: {outside}" if outside else ""))
    return EXIT_HELD

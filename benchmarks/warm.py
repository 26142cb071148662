"""The speed of the search loop once every step is known: search twice on one kernel, time one.

Prints transitions per second of the second search, which runs no handler and no predicate.
"""

from __future__ import annotations

import sys

from presage.cli.target.load import load
from presage.execution.sandbox import Sandbox
from presage.limits import Limits
from presage.search.check import build
from presage.search.kernel.bridge import Bridge


def main() -> int:
    target, *settings = sys.argv[1:]
    system = load(target, dict(setting.split("=", 1) for setting in settings)).system
    with Sandbox() as sandbox:
        kernel = build(system, Bridge(system, sandbox))
        kernel.search("bfs", Limits())
        again = kernel.search("bfs", Limits())
    print(again.generated / again.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A signal while a native module loads: answered when the module is whole."""

import os
import signal
import subprocess
import sys

# `msgspec` asks for `datetime` while it starts, and takes no exception for an answer.
INTERRUPTED = """
import os, signal, sys
from presage.supervise.child import _listen

class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == "datetime":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.Signals[sys.argv[1]])

sys.modules.pop("datetime", None)
sys.meta_path.insert(0, Interrupts())
_listen()
try:
    import msgspec
except KeyboardInterrupt as caught:
    print(type(caught).__name__)
import msgspec
print(msgspec.to_builtins(msgspec.defstruct("Whole", ["field"])(1)))
"""


def ended(number: signal.Signals) -> tuple[int, str]:
    program = [sys.executable, "-P", "-c", INTERRUPTED, number.name]
    result = subprocess.run(program, env=os.environ, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def test_an_interrupt_while_a_native_module_loads_comes_when_it_is_whole() -> None:
    assert ended(signal.SIGINT) == (0, "KeyboardInterrupt\n{'field': 1}\n")
    assert ended(signal.SIGTERM) == (0, "Terminated\n{'field': 1}\n")

"""The tests of redis-py, run against the Redis service.

They come with its source distribution, which is fetched from PyPI by name into a folder of the
user's cache. `NOT_COVERED` lists what may fail and why: a test that is not in it must pass.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from unit.fetching import folder, packages
from unit.frontends.real.services.serving import ours

VERSION = "5.2.1"
FILES = (
    "tests/test_asyncio/test_commands.py",
    "tests/test_asyncio/test_pipeline.py",
    "tests/test_asyncio/test_pubsub.py",
    "tests/test_asyncio/test_lock.py",
    "tests/test_asyncio/test_encoding.py",
    "tests/test_pipeline.py",
    "tests/test_lock.py",
    "tests/test_scripting.py",
    "tests/test_encoding.py",
)
NOT_COVERED = {
    r"test_acl_|test_auth": "ACL: there is one user",
    r"test_client_pause": "CLIENT PAUSE",
    r"test_config_resetstat|test_lastsave|test_object|test_memory|test_module|test_slowlog": (
        "facts about the server that nothing here has"
    ),
    r"test_bit|test_get_set_bit|test_pipeline_with_bitfield": "bits of strings",
    r"test_dump": "DUMP and RESTORE",
    r"test_pf": "HyperLogLog",
    r"test_sort_(?!groups_(string|just|no))": "SORT",
    r"test_geo(?!add_inv|dist_inv|.*old)": "positions",
    r"test_x": "streams",
    r"test_watch_(exec_no|reset)_unwatch": "MONITOR",
    r"test_eval_ro|test_evalsha_ro|test_eval_msgpack|test_eval_crossslot": (
        "read-only scripts, cmsgpack, clusters"
    ),
}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("protocol", ["2", "3"])
def test_the_tests_of_redis_py_pass(protocol: str) -> None:
    source, needed = folder(f"redis-{VERSION}"), packages()
    if source is None or needed is None:
        pytest.skip("redis-py cannot be fetched from PyPI")
    with ours() as port:
        passed, failed = outcome(source, needed, port, protocol, "not pool")
        excused = re.compile("|".join(NOT_COVERED))
        unexpected = [name for name in failed if not excused.match(name)]
        if unexpected:  # some of them wait for fractions of a second
            again = " or ".join(f"({name} and not pool)" for name in unexpected)
            unexpected = outcome(source, needed, port, protocol, again)[1]
    assert len(passed) > 300
    assert unexpected == []


def outcome(
    source: Path, needed: Path, port: int, protocol: str, which: str
) -> tuple[list[str], list[str]]:
    """The names of the tests that passed, and of those that did not."""
    switches = "-q -rfEp --tb=no -W ignore -p no:cacheprovider -p no:xdist -p no:presage"
    result = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", *switches.split(), "-k", which),
            *("--asyncio-mode=auto", "--timeout=60", f"--protocol={protocol}"),
            *(f"--redis-url=redis://127.0.0.1:{port}/9", *FILES),
        ],
        cwd=source,
        env={"PYTHONPATH": f"{needed}:.", "PATH": ""},
        capture_output=True,
        text=True,
    )
    lines = re.findall(r"^(PASSED|FAILED|ERROR) \S*::(\w+)", result.stdout, re.MULTILINE)
    assert lines, result.stdout + result.stderr
    passed = sorted({name for status, name in lines if status == "PASSED"})
    return passed, sorted({name for status, name in lines if status != "PASSED"})

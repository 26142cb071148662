"""Marked tests: what is found, what is said of it, what is left alone."""

import re

import pytest
from unit.pytest_plugin.running import BANK, run

TRANSFERS = (
    BANK
    + """
@pytest.mark.presage(preemptions=0)
async def test_transfer(nodes):
    bank = nodes.start("bank", bank_main, view=view)
    assert await transfer("bank", 100) == 100
    assert nodes.view("bank") == {"total": 100} == bank.view

@pytest.mark.presage(preemptions=0)
async def test_two_transfers(nodes):
    bank = nodes.start("bank", bank_main)
    first, second = await asyncio.gather(transfer(bank.host, 1), transfer("bank", 10))
    assert first == 1
"""
)


@pytest.mark.slow
def test_a_test_is_run_in_every_order(tmp_path) -> None:
    found = run(tmp_path, TRANSFERS)
    assert found.status == 1
    assert (found.count("passed"), found.count("failed")) == (1, 1), found.text
    assert found.covered("test_transfer").startswith("held, exhaustively")
    assert "assert 11 == 1" in found.text
    assert re.search(r"bank +deliver +tcp \d+>9000 data '10\\n' test -> bank", found.text)
    page = re.search(r"= page: (\S+)", found.text)
    assert page is not None and (tmp_path / page[1]).read_text().startswith("<!doctype html>")
    replay = re.search(r"= replay: pytest (\S+) --presage-trace (\S+)", found.text)
    assert replay is not None
    again = run(tmp_path, TRANSFERS, replay[1], "--presage-trace", replay[2])
    assert again.status == 1 and "assert 11 == 1" in again.text
    mended = TRANSFERS.replace("assert first == 1", "assert first in (1, 11)")
    fixed = run(tmp_path, mended, replay[1], "--presage-trace", replay[2])
    assert "assert 11 == 1" not in fixed.text


@pytest.mark.slow
def test_without_it_the_same_test_runs_once_on_real_sockets(tmp_path) -> None:
    found = run(tmp_path, TRANSFERS, "--presage-off", "-k", "test_transfer")
    assert (found.status, found.count("passed")) == (0, 1), found.text


@pytest.mark.slow
def test_a_crash_is_a_fault_of_the_other_nodes(tmp_path) -> None:
    text = (
        BANK
        + """
@pytest.mark.presage(crash=1, preemptions=0)
async def test_crash(nodes):
    nodes.start("bank", bank_main)
    await transfer("bank", 100)

@pytest.mark.presage(crash=1, preemptions=0)
async def test_crash_is_handled(nodes):
    nodes.start("bank", bank_main)
    try:
        await transfer("bank", 100)
    except (OSError, ValueError):
        pass
"""
    )
    found = run(tmp_path, text)
    assert (found.count("passed"), found.count("failed")) == (1, 1), found.text
    assert re.search(r"1 +bank +crash", found.text)
    assert found.covered("test_crash_is_handled").startswith("held, exhaustively")


@pytest.mark.slow
def test_a_test_without_nodes_is_run_in_all_orders_of_its_threads(tmp_path) -> None:
    text = """
import threading
import pytest

def increment(box, lock):
    with lock:
        old = box[0]
    with lock:
        box[0] = old + 1

@pytest.mark.presage
def test_lost_update():
    box, lock = [0], threading.Lock()
    threads = [threading.Thread(target=increment, args=(box, lock)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert box == [2]
"""
    found = run(tmp_path, text)
    assert found.status == 1 and "assert [1] == [2]" in found.text, found.text
    assert run(tmp_path, text, "--presage-off").status == 0


METHODS = """
import asyncio
import pytest

@pytest.fixture
def folder(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "given").write_text("x")
    return tmp_path

class TestOfAClass:
    def setup_method(self):
        self.given = 7

    def doubled(self):
        return 2 * self.given

    @pytest.mark.presage
    async def test_method(self, folder):
        await asyncio.sleep(1)
        (folder / "own").write_text((folder / "inner" / "given").read_text())
        assert self.doubled() == 14 and (folder / "own").exists()
        assert type(self) is TestOfAClass

    @pytest.mark.presage
    async def test_skipped(self):
        await asyncio.sleep(1)
        pytest.skip("not here")
"""


@pytest.mark.slow
def test_methods_folders_of_fixtures_and_skips_are_as_in_other_tests(tmp_path) -> None:
    for options in ((), ("--presage-off",)):
        found = run(tmp_path, METHODS, *options)
        assert (found.status, found.count("passed"), found.count("skipped")) == (0, 1, 1), (
            found.text
        )


@pytest.mark.slow
def test_a_test_that_waits_for_ever_fails(tmp_path) -> None:
    text = """
import asyncio
import pytest

@pytest.mark.presage
async def test_waits():
    await asyncio.Event().wait()
"""
    found = run(tmp_path, text)
    assert found.status == 1 and "nothing can happen" in found.text


@pytest.mark.slow
def test_nodes_may_be_named_late(tmp_path) -> None:
    text = (
        BANK
        + """
@pytest.mark.presage(preemptions=0)
async def test_late(nodes):
    await asyncio.sleep(1)
    nodes.start("bank", bank_main)
    assert await transfer("bank", 1) == 1
"""
    )
    found = run(tmp_path, text)
    assert found.status == 0 and found.covered("test_late").startswith("held, exhaustively"), (
        found.text
    )


@pytest.mark.slow
def test_a_search_that_was_cut_off_says_so(tmp_path) -> None:
    text = """
import asyncio
import pytest

@pytest.mark.presage(states=20)
async def test_long():
    for _ in range(50):
        await asyncio.sleep(1)

@pytest.mark.presage(states=20, exhaustive=True)
async def test_must_be_whole():
    for _ in range(50):
        await asyncio.sleep(1)
"""
    found = run(tmp_path, text)
    assert (found.count("passed"), found.count("failed")) == (1, 1), found.text
    assert "not covered" in found.covered("test_long")


def test_systems_are_items(tmp_path) -> None:
    text = """
import pytest
from presage import Service, System, always, on, action, state

class Light(Service):
    on: int = state(0)
    @action
    def switch(self):
        self.on = (self.on + 1) % 3

@always
def never_two(world):
    return world["light"].on != 2

def lights(*properties):
    return System({"light": Light()}, properties=properties)

test_light = lights()
test_dark = lights(never_two)

@pytest.mark.presage(seconds=10)
def test_made() -> System:
    return lights(never_two)

@pytest.mark.presage(seconds=10)
def test_made_well() -> System:
    return lights()
"""
    found = run(tmp_path, text)
    assert (found.count("passed"), found.count("failed")) == (2, 2), found.text
    assert "violation[safety] never_two fails at step 2" in found.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mark", "complaint"),
    [
        ("(crahs=1)", "did you mean `crash`?"),
        ("(3)", "has values without names"),
        ("(crash=-1)", "crash"),
        ("(seconds=0)", "seconds"),
    ],
)
def test_a_wrong_mark_is_named(tmp_path, mark, complaint) -> None:
    text = f"import pytest\n@pytest.mark.presage{mark}\ndef test_it(nodes): pass\n"
    found = run(tmp_path, text)
    assert found.status == 1 and complaint in found.text, found.text


def test_other_tests_are_left_alone(tmp_path) -> None:
    text = """
import sys
import threading

def test_plain():
    assert "presage.search.check" not in sys.modules
    assert threading.Lock().acquire()

async def test_async_without_a_plugin():
    pass
"""
    found = run(tmp_path, text)
    assert found.count("passed") == 1 and "async def functions are not natively" in found.text

"""The plugin beside pytest-asyncio and pytest-xdist, both installed and both at work."""

import pytest
from unit.fetching import packages
from unit.pytest_plugin.running import BANK, run

MIXED = (
    BANK
    + """
@pytest.mark.presage(preemptions=0)
async def test_checked(nodes):
    nodes.start("bank", bank_main)
    assert await transfer("bank", 1) == 1

@pytest.mark.asyncio
@pytest.mark.presage
async def test_both_marks():
    await asyncio.sleep(1000)

@pytest.mark.asyncio
async def test_asyncio(fixed):
    loop = asyncio.get_running_loop()
    await asyncio.sleep(0)
    assert fixed is loop

@pytest.mark.presage
async def test_wrong():
    await asyncio.sleep(1000)
    assert 1 == 2

def test_plain():
    pass
"""
)
FIXTURE = """
import asyncio
import pytest_asyncio

@pytest_asyncio.fixture
async def fixed():
    return asyncio.get_running_loop()
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["strict", "auto"])
@pytest.mark.parametrize("workers", [0, 2])
def test_each_plugin_has_its_own_tests(tmp_path, mode, workers) -> None:
    path = packages()
    if path is None:
        pytest.skip("pytest-asyncio cannot be fetched from PyPI")
    (tmp_path / "conftest.py").write_text(FIXTURE)
    plugins = ("pytest_asyncio.plugin", "xdist.plugin")
    options = (f"--asyncio-mode={mode}", f"-n{workers}")
    found = run(tmp_path, MIXED, *options, plugins=plugins, path=str(path))
    assert (found.count("passed"), found.count("failed")) == (4, 1), found.text
    assert found.covered("test_checked").startswith("held, exhaustively"), found.text
    assert found.covered("test_both_marks").startswith("held, exhaustively"), found.text
    assert "assert 1 == 2" in found.text

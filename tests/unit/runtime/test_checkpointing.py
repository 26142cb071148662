"""Checkpoints of nodes on real sockets: they travel as bytes, fit together, and never fall back."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.runtime.sockets import run, town, until

from presage.errors import StoreError
from presage.model.world.world import World
from presage.runtime import checkpointing
from presage.runtime.checkpoint import RESERVED, Checkpoint
from presage.runtime.checkpointing import Bound, checkpoints_of
from presage.runtime.snapshot import assemble


def test_checkpoints_of_one_number_make_a_state_with_what_is_under_way(tmp_path: Path) -> None:
    async def test() -> None:
        async with town("a", "b") as there:
            kept = {}
            for name, driver in there.drivers.items():
                (tmp_path / name).mkdir()
                kept[name] = checkpoints_of(driver.host, tmp_path / name)
            await there.call("a", "say", "b", "handled")
            await there.until("b", "got", ["a: handled"])
            await there.call("a", "hold", "b", "under way")
            await until(lambda: there.drivers["b"].host.waits("a"))
            first = kept["a"].advance()
            await there.call("a", "throw", "b", "after the cut")
            await until(lambda: kept["b"].number == first.number)  # its frame has brought it
            second = kept["b"].at_least(first.number)
            assert isinstance(second, Checkpoint)
            read = [checkpointing.read(checkpointing.write(each)) for each in (first, second)]
            assert read == [first, second]
            codec = there.drivers["a"].node.automaton.codec
            found = assemble(there.system, {each.node: each for each in read}, codec=codec)
            world = World(there.system)
            world.restore(found.snapshot)
            assert found.outside == ()
            assert [str(event) for event in world.enabled()] == []  # its guard does not hold
            assert world.view()["b"].got == ["a: handled"]
            assert "under way" in str(world.view().connection("a", "b"))
            assert "after the cut" not in str(world.view().connection("a", "b"))

    run(test)


def test_numbers_go_on_after_a_restart(tmp_path: Path) -> None:
    async def test() -> None:
        async with town("a") as there:
            kept = checkpoints_of(there.drivers["a"].host, tmp_path)
            assert kept.advance().number == 1
            there.stop("a")
            await there.start("a")
            again = checkpoints_of(there.drivers["a"].host, tmp_path)
            assert again.number == 1 + RESERVED
            assert again.advance().number == 2 + RESERVED

    run(test)


def test_a_damaged_bound_is_refused(tmp_path: Path) -> None:
    assert Bound(tmp_path).read() == 0
    Bound(tmp_path).write(12)
    assert Bound(tmp_path).read() == 12
    (tmp_path / "numbers").write_text("junk")
    with pytest.raises(StoreError, match="numbers` cannot be used"):
        Bound(tmp_path).read()
    with pytest.raises(StoreError, match="cannot be used"):
        Bound(tmp_path / "none").write(1)

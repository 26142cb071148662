"""Who made a file: the key of this user, and nobody else's."""

import hashlib
import hmac
import multiprocessing
import os
import random
import stat
from pathlib import Path

import pytest

from presage import _core as core
from presage.errors import BadKey
from presage.trace import seal


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(seal.STATE, str(tmp_path / "state"))
    return tmp_path / "state" / "presage"


def test_a_signature_is_of_one_content_one_kind_and_one_key(folder: Path) -> None:
    signed = seal.sign("trace", b"content")
    assert signed is not None and seal.is_ours("trace", b"content", signed)
    assert not seal.is_ours("trace", b"contents", signed)
    assert not seal.is_ours("checkpoint", b"content", signed)
    assert not seal.is_ours("trace", b"content", None)
    assert not seal.is_ours("trace", b"content", "é" * 64)
    (folder / seal.FILE).unlink()
    assert not seal.is_ours("trace", b"content", signed)
    assert seal.sign("trace", b"content") != signed


def test_digests_and_signatures_are_those_of_python() -> None:
    dice = random.Random(0)
    for size in (*range(140), 1_000, 70_000):
        key, content = dice.randbytes(dice.choice((0, 1, 32, 64, 65, 200))), dice.randbytes(size)
        assert core.sha256(content) == hashlib.sha256(content).digest()
        assert core.hmac_sha256(key, content) == hmac.digest(key, content, "sha256")


def test_the_key_and_its_folder_are_the_users_alone(folder: Path) -> None:
    seal.key()
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(folder / seal.FILE).st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == [seal.FILE]


def test_processes_that_start_together_make_one_key() -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        signed = set(pool.starmap(seal.sign, [("trace", b"x")] * 16))
    assert len(signed) == 1 and None not in signed


def test_a_key_that_others_may_read_or_replace_is_refused(folder: Path) -> None:
    signed = seal.sign("trace", b"x")
    for path, mode in ((folder / seal.FILE, 0o640), (folder, 0o777)):
        usual = stat.S_IMODE(os.stat(path).st_mode)
        path.chmod(mode)
        with pytest.raises(BadKey, match="is not this user's alone\n.*\n.*chmod"):
            seal.is_ours("trace", b"x", signed)
        assert seal.sign("trace", b"x") is None
        assert "is not this user's alone" in (seal.why_unsigned() or "")
        path.chmod(usual)
    assert seal.is_ours("trace", b"x", signed)


def test_a_key_that_is_a_link_or_cut_short_is_refused(folder: Path) -> None:
    seal.key()
    (folder / seal.FILE).rename(folder / "other")
    (folder / seal.FILE).symlink_to("other")
    with pytest.raises(BadKey, match="cannot be used"):
        seal.key()
    (folder / seal.FILE).unlink()
    (folder / seal.FILE).touch(mode=0o600)
    with pytest.raises(BadKey, match="it has not 32 bytes"):
        seal.key()


def test_a_key_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    seal.key()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(BadKey, match="is not this user's alone"):
        seal.key()


def test_where_no_key_can_be_made_nothing_is_signed(folder: Path) -> None:
    folder.parent.write_text("a file, not a folder")
    assert seal.sign("trace", b"x") is None
    assert not seal.is_ours("trace", b"x", "0" * 64)
    assert "cannot be used as the key" in (seal.why_unsigned() or "")


def test_a_relative_folder_in_the_environment_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(seal.STATE, "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert seal.state_folder() == tmp_path / ".local" / "state" / "presage"

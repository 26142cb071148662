"""A checkpoint names code: one that this user did not make is not gone on from."""

from pathlib import Path

import pytest
from whole.commands.forging import FILE, content, sealed
from whole.commands.harness import Ended, refused, run, told, write
from whole.commands.relay import RELAY

CHECK = ("check", "relay.py", "--checkpoint", "kept", "--keep-going", "--json")


@pytest.fixture(autouse=True)
def stopped() -> None:
    write(RELAY, "relay.py")
    told(run(*CHECK, "--states", "2000"), 1)


def resume(*options: str, **environ: str) -> Ended:
    return run(*CHECK, "--resume", *options, **environ)


def test_an_unsigned_checkpoint_is_refused_unless_it_is_trusted() -> None:
    FILE.write_bytes(sealed(content()))
    refused(resume(), 2, "nothing proves that you made it", "`--resume --trust`")
    assert told(resume("--trust"), 1)["exhausted"]
    assert told(resume(), 1)["exhausted"]  # what was gone on with is signed again


def test_a_checkpoint_of_another_user_is_refused_unless_it_is_trusted() -> None:
    other = {"XDG_STATE_HOME": str(Path("other").resolve())}
    refused(resume(**other), 2, "it comes from another user or machine, or was edited")
    assert told(resume("--trust", **other), 1)["exhausted"]


def forge(module: str) -> None:
    """Let the checkpoint name a class of `module`, of the name's own length."""
    whole = content()
    name = b"presage_target_relay:Note"
    assert whole.count(name) == 1
    other = f"{module}:".encode()
    FILE.write_bytes(sealed(whole.replace(name, other + b"N" * (len(name) - len(other)))))


def test_a_forged_checkpoint_imports_nothing_even_if_it_is_trusted() -> None:
    Path("canary.py").write_text("open('ran', 'w').close()\n", encoding="utf-8")
    forge("canary")
    refused(resume(), 2, "nothing proves that you made it")
    refused(resume("--trust"), 2, "`canary:NNNNNNNNNNNNNNNNNN`, which cannot be found here")
    assert not Path("ran").exists()


def test_without_a_place_for_the_key_a_checkpoint_is_unsigned_and_it_is_noted() -> None:
    Path("file").touch()
    nowhere = {"XDG_STATE_HOME": str(Path("file").resolve())}
    FILE.unlink()
    report = told(run(*CHECK, "--states", "2000", **nowhere), 1)
    assert any("the checkpoint is unsigned" in note for note in report["notes"])
    refused(resume(**nowhere), 2, "cannot be used as the key")
    assert told(resume("--trust", **nowhere), 1)["exhausted"]

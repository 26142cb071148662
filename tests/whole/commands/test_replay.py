"""Traces as files: they replay in any process, and what is no longer true of them is said."""

import json
from pathlib import Path

import pytest
from whole.commands.harness import refused, run, told, write

from presage.trace import codec

VOTING = """
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Vote:
        seen: frozenset[str]

    class Voter(Service):
        peers: tuple[str, ...]
        votes: set[str] = state(set)

        def start(self) -> None:
            self.votes.add(self.choose(["red", "green", "blue"]))

        @action(when=lambda self: len(self.votes) == 1)
        def ask(self) -> None:
            for peer in self.peers:
                self.send(peer, Vote(frozenset(self.votes)))
            self.votes.add("asked")

        @on(Vote)
        def vote(self, vote: Vote) -> None:
            self.votes |= vote.seen

    @always
    def few(world):
        votes = [sorted(node.votes) for node in world.nodes]
        return Verdict(all(len(each) < 4 for each in votes), f"{votes}")

    def system(*, nodes: int = 3) -> System:
        names = tuple(f"n{i}" for i in range(nodes))
        peers = {name: tuple(p for p in names if p != name) for name in names}
        return System(nodes={name: Voter(peers=peers[name]) for name in names}, properties=[few])
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trace of a violation, saved once for all tests, which take copies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("saved"))
        write(VOTING)
        report = told(run("check", "bad.py", "--set", "nodes=3", "--json"), 1)
        return Path(report["violations"][0]["trace"]).resolve()


@pytest.fixture
def trace(saved: Path) -> Path:
    write(VOTING)
    return codec.write(codec.read(saved), "few.trace")  # of the code in this folder


def test_a_violation_replays_to_the_same_states_under_any_hash_seed(trace: Path) -> None:
    known = codec.read(trace)
    for seed in ("1", "77"):
        again = run("replay", str(trace), "--json", PYTHONHASHSEED=seed)
        assert told(again, 1) == {
            "trace": str(trace),
            "property": "few",
            "reproduced": True,
            "message": known.message,
            "steps": len(known.steps),
            "rounds": 0,
        }


def test_the_same_search_saves_the_same_trace_under_any_hash_seed() -> None:
    write(VOTING)
    for seed in ("1", "2"):
        told(run("check", "bad.py", "--json", "--traces", seed, PYTHONHASHSEED=seed), 1)
    one, other = ({path.name: path.read_bytes() for path in Path(s).iterdir()} for s in "12")
    assert one == other and len(one) == 2  # the violation, and the nearest good run


def test_a_walk_and_a_deep_search_save_traces_that_replay() -> None:
    write(VOTING)
    for search in ("dfs", "walk"):
        report = told(run("check", "bad.py", "--json", "--search", search), 1)
        [violation] = report["violations"]
        replayed = told(run("replay", violation["trace"], "--json"), 1)
        assert replayed["message"] == violation["message"]
        assert replayed["steps"] == violation["steps"]


def damage(trace: Path, **changes: object) -> None:
    content = json.loads(trace.read_bytes())
    for path, value in changes.items():
        *parts, last = path.split("__")
        inner = content
        for part in parts:
            inner = inner[int(part[1:])] if part[1:].isdigit() else inner[part]
        inner[last] = value
    trace.write_text(json.dumps(content), encoding="utf-8")


def test_a_damaged_trace_is_refused_with_what_is_wrong_with_it(trace: Path) -> None:
    whole = trace.read_bytes()
    for content, said in (
        (whole[: len(whole) // 2], f"the trace `{trace}` is damaged: "),
        (b"", f"`{trace}` is not a presage trace"),
        (b'{"format": "presage-trace", "version": 2}', f"the trace `{trace}` is damaged: "),
        (b'{"name": "presage", "version": "1.0.0"}', f"`{trace}` is not a presage trace"),
    ):
        trace.write_bytes(content)
        refused(run("replay", str(trace), "--json"), 2, said)


def test_a_trace_of_a_newer_version_is_refused(trace: Path) -> None:
    damage(trace, version=7)
    refused(
        run("replay", str(trace), "--json"),
        2,
        f"the trace `{trace}` is of version 7, and this presage reads version 2",
        "a newer presage made it",
    )


def test_a_trace_edited_by_hand_does_not_replay(trace: Path) -> None:
    damage(trace, trace__steps__i1__fingerprint=12345)
    refused(run("replay", str(trace), "--json"), 2, "was edited since", "--trust")
    said = "step 2 (`", "leads to another state than recorded: 0000000000003039 != "
    refused(run("replay", str(trace), "--json", "--trust"), 2, *said)


CHANGED = {
    "a step does something else": (
        'self.votes.add("asked")',
        'self.votes.add("has asked")',
        "step 1 (`ask` at n0) leads to another state",
    ),
    "a step is gone": (
        "when=lambda self: len(self.votes) == 1",
        "when=lambda self: False",
        "not possible",
    ),
    "the nodes begin otherwise": ('["red", ', '["black", ', "the initial state leads to another"),
    "the property is gone": ("@always", '@always(name="scarce")', "no property `few`"),
    "there are no more choices": ('self.choose(["red", "green", "blue"])', '"red"', "the path"),
    "the parameter is gone": ("nodes: int = 3", "count: int = 3", "no parameter"),
}


@pytest.mark.parametrize(("before", "after", "said"), CHANGED.values(), ids=CHANGED.keys())
def test_a_replay_after_the_code_was_changed_says_where_it_departs(
    before: str, after: str, said: str, trace: Path
) -> None:
    assert before in VOTING
    write(VOTING.replace(before, after))
    refused(run("replay", str(trace), "--json"), 2, said)


def test_a_replay_after_a_correction_ends_with_status_0(trace: Path) -> None:
    write(VOTING.replace("len(each) < 4", "len(each) < 9"))
    assert told(run("replay", str(trace), "--json"), 0)["reproduced"] is False
    shown = run("replay", str(trace))
    assert shown.returncode == 0
    assert "not reproduced: few is not violated" in shown.stdout


def test_a_trace_that_cannot_be_written_does_not_hide_the_violation() -> None:
    Path("kept").write_text("a file, not a folder", encoding="utf-8")
    report = told(run("check", "counter", "--traces", "kept", "--json"), 1)
    assert (report["traces"], report["violations"][0]["trace"]) == (0, None)
    [note] = report["notes"]
    assert "cannot be written to `kept" in note and "`--traces DIR`" in note

"""Cluster files: what they say, and what is said of a mistake in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from presage.errors import BadCluster
from presage.runtime.cluster import Address, Cluster, check, line_of, read

GOOD = """target = "randtree"
parameters = { nodes = 2, degree = 5 }

[nodes]
n0 = "127.0.0.1:7100"
n1 = "[::1]:7101"

[timers]
join = 5

[live]
data = "there"
frame_max = 65536
inbox = 16
failure = "restart"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "cluster.toml"
    path.write_text(text)
    return path


def test_a_file_says_where_nodes_listen_and_how_they_run(tmp_path: Path) -> None:
    cluster = read(written(tmp_path, GOOD))
    assert cluster.target == "randtree"
    assert cluster.parameters == {"nodes": 2, "degree": 5}
    assert cluster.nodes == {"n0": Address("127.0.0.1", 7100), "n1": Address("::1", 7101)}
    assert str(cluster.nodes["n1"]) == "[::1]:7101"
    assert cluster.timers == {"join": 5.0}
    assert cluster.data == tmp_path / "there"
    assert (cluster.live.frame_max, cluster.live.inbox) == (65536, 16)
    assert cluster.live.failure == "restart"
    assert cluster.tls is None


def test_certificates_are_named_by_node(tmp_path: Path) -> None:
    tls = '[tls]\nca = "ca.pem"\ncert = "{node}.pem"\nkey = "{node}.key"\n'
    cluster = read(written(tmp_path, GOOD.replace("127.0.0.1", "10.0.0.1") + tls))
    assert cluster.tls is not None
    assert cluster.tls.of("n0", tmp_path) == (
        tmp_path / "ca.pem",
        tmp_path / "n0.pem",
        tmp_path / "n0.key",
    )


MISTAKES = [
    ('target = "randtree"', "target = randtree", "this is not TOML"),
    ('target = "randtree"\n', "", "`target` is missing"),
    ("[nodes]", "[nodse]", "cluster.toml:4: there is no `nodse`; did you mean `nodes`?"),
    ("inbox", "imbox", "cluster.toml:14: there is no `imbox`; did you mean `inbox`?"),
    ("inbox = 16", 'inbox = "many"', "cluster.toml:14: `live.inbox`: Expected `int`, got `str`"),
    ("inbox = 16", "inbox = 0", "cluster.toml:14: `live.inbox`: Expected `int` >= 1"),
    ("= 65536", "= 12", "cluster.toml:13: `live.frame_max`: Expected `int` >= 4096"),
    ('"restart"', '"retry"', "cluster.toml:15: `live.failure`: Invalid enum value 'retry'"),
    ("join = 5", "join = -1", "cluster.toml:8: `timers`: Expected `float` > 0.0"),
    ("127.0.0.1:7100", "example.org:7100", "cluster.toml:5: 'example.org:7100' is not an address"),
    ("127.0.0.1:7100", "127.0.0.1", "cluster.toml:5: '127.0.0.1' is not an address"),
    ("127.0.0.1:7100", "127.0.0.1:70000", "is not an address"),
    ("127.0.0.1:7100", "10.0.0.1:7100", "cluster.toml:5: `n0` would listen on 10.0.0.1:7100"),
    ("[::1]:7101", "127.0.0.1:7100", "cluster.toml:6: `n1` has the address 127.0.0.1:7100"),
    ('n0 = "127.0.0.1:7100"', "n0 = 7100", "cluster.toml:4: `nodes`: Expected `str`, got `int`"),
]


@pytest.mark.parametrize("right, wrong, told", MISTAKES, ids=[told for *_, told in MISTAKES])
def test_a_mistake_is_told_by_file_line_and_field(
    tmp_path: Path, right: str, wrong: str, told: str
) -> None:
    assert right in GOOD
    with pytest.raises(BadCluster) as caught:
        read(written(tmp_path, GOOD.replace(right, wrong, 1)))
    assert told in str(caught.value)
    assert "usual cause: " in str(caught.value) and "way out: " in str(caught.value)


def test_other_addresses_need_certificates_or_consent(tmp_path: Path) -> None:
    text = GOOD.replace("127.0.0.1", "10.0.0.1") + "insecure = true\n"
    assert not read(written(tmp_path, text)).nodes["n0"].is_loopback


def test_a_worse_network_is_described_in_milliseconds(tmp_path: Path) -> None:
    text = GOOD + "[shape]\nrtt_ms = 130\njitter_ms = 20\nloss = 0.003\nseed = 1\n"
    shape = read(written(tmp_path, text)).shape
    assert shape is not None
    assert (shape.shape().delay, shape.shape().jitter, shape.seed) == (0.065, 0.02, 1)
    with pytest.raises(BadCluster, match="cluster.toml:19: `shape.loss`: Expected `float` < 1"):
        read(written(tmp_path, text.replace("0.003", "3")))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadCluster, match="No such file"):
        read(tmp_path / "none.toml")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(BadCluster, match="not text"):
        read(tmp_path / "binary")


def test_the_nodes_are_those_of_the_system() -> None:
    nodes = {"n0": Address("127.0.0.1", 1), "n1": Address("127.0.0.1", 2)}
    check(Cluster(nodes, timers={"join": 1.0}), ["n0", "n1"], ["join"], "c.toml")
    with pytest.raises(BadCluster, match="no node `n1`; did you mean `n0`"):
        check(Cluster(nodes), ["n0"], [], "c.toml")
    with pytest.raises(BadCluster, match="node `n2` of the system has no address"):
        check(Cluster(nodes), ["n0", "n1", "n2"], [], "c.toml")
    with pytest.raises(BadCluster, match="no node has a timer `jion`; did you mean `join`"):
        check(Cluster(nodes, timers={"jion": 1.0}), ["n0", "n1"], ["join"], "c.toml")


def test_lines_are_found_in_their_tables() -> None:
    assert line_of(GOOD, "", "target") == 1
    assert line_of(GOOD, "nodes", "n1") == 6
    assert line_of(GOOD, "live", "absent") == 11
    assert line_of(GOOD, "tls", "ca") is None

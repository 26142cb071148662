"""Platform files: what they mean, and what is said of those that mean nothing."""

import pytest

from presage.simulate import units
from presage.simulate.platform import BadPlatform, Placement
from presage.simulate.read import build, read

CLUSTER = """
[hosts.front]
speed = "2Gf"
cores = 4

[hosts."node-{0..2}"]
speed = "500Mf"
uplink = "up-{}"

[links."up-{0..2}"]
bandwidth = "1Gbps"
latency = "50us"

[links.backbone]
bandwidth = "1.25GBps"
latency = "10us"
sharing = "fatpipe"

[links.direct]
bandwidth = 1e6

[[routes]]
from = "front"
to = "node-0"
links = ["direct", "backbone"]

[[routes]]
from = "node-1"
to = "front"
links = ["up-1"]
symmetrical = false

[default_route]
links = ["backbone"]

[placement]
master = "front"
"worker*" = ["node-0", "node-1"]
"""


@pytest.fixture
def cluster(tmp_path):
    path = tmp_path / "cluster.toml"
    path.write_text(CLUSTER)
    return read(path)


def test_hosts_and_links_with_units_and_ranges(cluster):
    assert list(cluster.hosts) == ["front", "node-0", "node-1", "node-2"]
    assert (cluster.hosts["front"].speed, cluster.hosts["front"].cores) == (2e9, 4)
    assert (cluster.hosts["node-2"].speed, cluster.hosts["node-2"].uplink) == (5e8, "up-2")
    assert (cluster.links["up-1"].bandwidth, cluster.links["up-1"].latency) == (1.25e8, 50e-6)
    assert cluster.links["backbone"].sharing == "fatpipe"


def test_routes_are_symmetrical_unless_they_say_otherwise(cluster):
    assert cluster.route("front", "node-0") == ("direct", "backbone")
    assert cluster.route("node-0", "front") == ("backbone", "direct")
    assert cluster.route("node-1", "front") == ("up-1",)
    assert cluster.route("front", "node-1") == ("backbone", "up-1")
    assert cluster.route("node-1", "node-2") == ("up-1", "backbone", "up-2")
    assert cluster.route("node-1", "node-1") == ()
    assert cluster.latency(("up-1", "backbone")) == pytest.approx(60e-6)


def test_who_runs_where(cluster):
    placement = Placement(cluster)
    assert placement.host_of("master", "node-2") == "front"
    assert [placement.host_of(f"worker{n}", None) for n in range(3)] == [
        *("node-0", "node-1"), "node-0",
    ]  # fmt: skip
    assert placement.host_of("other", "node-2") == "node-2"
    assert placement.host_of("child", None, creator="node-1") == "node-1"
    assert [placement.host_of(f"p{n}", None) for n in range(5)] == [
        *("front", "node-0", "node-1", "node-2"), "front",
    ]  # fmt: skip
    with pytest.raises(BadPlatform, match="process `other` asks for host `moon`"):
        placement.host_of("other", "moon")


def test_units():
    assert units.Speed.read("1Gf") == units.Speed.read("1Gflops") == units.Speed.read(1e9) == 1e9
    assert units.Bandwidth.read("1Gbps") == units.Bandwidth.read("125MBps") == 1.25e8
    assert units.Bandwidth.read("1MiBps") == 2**20
    assert units.Bandwidth.read("8kbps") == 1000
    assert units.Latency.read("50us") == 5e-5
    assert units.Latency.read("1 ms") == 1e-3
    assert units.Latency.read("0.1ns") == 1e-10
    assert units.Latency.read(0) == 0
    assert [units.seconds(t) for t in (0.0, 1.5, 2e-3, 3.25e-6, 5e-9, 1e-13)] == [
        *("0 s", "1.5 s", "2 ms", "3.25 us", "5 ns"), "1e-13 s",
    ]  # fmt: skip
    assert units.amount(1_001_000, "B") == "1.001 MB"


HOST = '[hosts.alpha]\nspeed = "1Gf"\n'
WIRE = '[links.wire]\nbandwidth = "1Gbps"\n'
BAD = {
    "[hosts.alpha\n": "this is not TOML: .*line 1",
    "[hosts.alpha]\nspeed = 1Gf\n": "this is not TOML: .*line 2",
    "": "there are no hosts",
    "[host.alpha]\nspeed = 1\n": "the file has a table `host`; did you mean `hosts`",
    "[hosts.alpha]\n": r"\[hosts.alpha\] lacks `speed`",
    '[hosts.alpha]\nspeed = "1Gx"\n': r"\[hosts.alpha\] speed = '1Gx': a speed such as",
    "[hosts.alpha]\nspeed = 0\n": "finite and more than 0",
    "[hosts.alpha]\nspeed = inf\n": "finite and more than 0",
    f"[hosts.alpha]\nspeed = 1{'0' * 400}\n": "finite and more than 0",
    f"[hosts.alpha]\nspeed = -1{'0' * 400}\n": "finite and more than 0",
    f"[hosts.alpha]\nspeed = 1{'0' * 5000}\n": "this is not TOML: .*5001 digits",
    f"[hosts.alpha]\nspeed = {'[' * 5000}\n": "this is not TOML: .*recursion",
    "[hosts.alpha]\nspeed = true\n": "a speed such as",
    "[hosts.alpha]\nspeeed = 1\n": "has a field `speeed`; did you mean `speed`",
    HOST + "cores = 0\n": "cores = 0: a whole number",
    HOST + "cores = true\n": "cores = True: a whole number",
    HOST + "uplink = 3\n": "uplink = 3: the name of a link is wanted",
    HOST + 'name = "beta"\n': r"\[hosts.alpha\] has a field `name`",
    HOST + 'uplink = "wire"\n': "uplink: there is no link 'wire'",
    "hosts = 3\n": "`hosts` is no table",
    "[hosts]\nalpha = 3\n": r"\[hosts.alpha\] is no table",
    '[hosts."n{3..1}"]\nspeed = 1\n': r"`\{3..1\}` is no range",
    f'[hosts."n{{{"1" * 5_000}..2}}"]\nspeed = 1\n': r"`\{1{79}` is no range",
    '[hosts."n{1..2}"]\nspeed = 1\n[hosts.n2]\nspeed = 1\n': "declares `n2` again",
    HOST + '[links.wire]\nbandwidth = "1Gf"\n': r"\[links.wire\] bandwidth = '1Gf'",
    HOST + WIRE + 'latency = "-1s"\n': "a time such as",
    HOST + WIRE + "latency = -1\n": "finite and 0 or more",
    HOST + WIRE + 'sharing = "duplex"\n': "one of shared, fatpipe is wanted",
    HOST + '[[routes]]\nfrom = "alpha"\nto = "beta"\nlinks = []\n': (
        r"\[\[routes\]\] number 1 to: there is no host 'beta'"
    ),
    HOST + '[[routes]]\nfrom = "alpha"\nto = "alpha"\nlinks = ["wier"]\n': (
        r"\[\[routes\]\] number 1 links: there is no link 'wier'"
    ),
    HOST + WIRE + '[[routes]]\nfrom = "alpha"\nto = "alpha"\nlinks = ["wire", "wire"]\n': (
        "each link can be there once"
    ),
    HOST + '[[routes]]\nfrom = "alpha"\nto = "alpha"\n': "a list of names is wanted",
    HOST + '[[routes]]\nfrom = "alpha"\nto = "alpha"\nlinks = []\n' * 2: "is a second route",
    HOST + '[[routes]]\nfrom = "alpha"\nto = "alpha"\nlinks = []\nsymmetrical = 1\n': (
        "true or false is wanted"
    ),
    HOST + '[[routes]]\nfrom = "alpha"\n': r"number 1 lacks `(to|links)`: ",
    HOST + '[[routes]]\nfrom = 3\nto = "alpha"\nlinks = []\n': "the name of a host is wanted",
    HOST + '[[routes]]\nfrom = "alpha"\nto = "alpha"\nlinks = [3]\n': "a list of names is wanted",
    "default_route = 3\n" + HOST: r"\[default_route\] is no table",
    HOST + "[placement]\nmaster = 3\n": "master = 3: a list of names is wanted",
    HOST + "[routes]\nx = 1\n": "`routes` is no list",
    "routes = [1]\n" + HOST: "number 1 is no table",
    HOST + '[default_route]\nlink = ["wire"]\n': "did you mean `links`",
    HOST + '[placement]\nmaster = "beta"\n': r"\[placement\] master: there is no host 'beta'",
    HOST + "[placement]\nmaster = []\n": "a list of names is wanted",
}


@pytest.mark.parametrize(("text", "told"), BAD.items())
def test_a_bad_file_is_told_by_file_table_and_field(text, told, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(BadPlatform, match=told) as caught:
        read(path)
    lines = str(caught.value).splitlines()
    assert "bad.toml" in lines[0]
    assert lines[-2].startswith("  usual cause: ") and lines[-1].startswith("  way out: ")


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(BadPlatform, match="cannot be read: No such file"):
        read(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadPlatform, match="not text in UTF-8"):
        read(tmp_path / "binary.toml")


def test_a_missing_route_is_told_when_it_is_needed():
    platform = build({"hosts": {"a": {"speed": 1}, "b": {"speed": 1}}}, "two.toml")
    with pytest.raises(BadPlatform, match="two.toml: there is no route from host `a` to host `b`"):
        platform.route("a", "b")

"""What `delaying` measures: the configurations, and what the paper reports of its own.

The paper is Desai, Qadeer, Rajamani, "Iterative Cycle Detection via Delaying Explorers", 2015. Its
models, and most of its bugs, are not public: ours are the reconstructions in
`presage.systems.reactive`, in sizes, and with bugs, that leave a search by depth some work. The
settings of the searches are the same in all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Paper = tuple[int, float] | None  # bound and states; None: not found


@dataclass(frozen=True)
class Overhead:
    """Of Table 1: a model with p nodes, and what the paper stores, states alone and with orders."""

    title: str
    model: str
    parameter: str
    parameters: dict[str, Any]
    most: int  # the largest p that plain Python counts
    paper: dict[int, tuple[float, float | None]]


TABLE_1 = (
    Overhead(
        "Tree identification",
        "tree_identification",
        "nodes",
        {},
        5,
        {2: (2.50e2, 7.45e2), 3: (3.35e3, 1.15e4), 4: (7.19e4, 3.01e5), 5: (4.96e5, 2.57e6)},
    ),
    Overhead(
        "Lann",
        "lann",
        "nodes",
        {},
        5,
        {2: (1.12e3, 1.89e3), 3: (2.45e5, 6.04e5), 4: (5.57e6, 2.08e7), 5: (9.05e7, 5.02e8)},
    ),
    Overhead(
        "ORSet",
        "orset",
        "replicas",
        {"ops": 1},
        3,
        {2: (2.31e4, 5.67e4), 3: (5.57e5, 1.23e6), 4: (4.45e7, 1.58e8), 5: (2.60e9, None)},
    ),
)


@dataclass(frozen=True)
class Hidden:
    """Of Table 2: a model with a bug, and how the paper found its own."""

    title: str
    model: str
    parameters: dict[str, Any]
    depth: Paper
    random: Paper
    rtc: Paper
    rr: Paper


TABLE_2 = (
    Hidden(
        "OSR",
        "osr",
        {"devices": 12, "bug": "nodefer"},
        (35, 806_585),
        (8, 15_896),
        (6, 7_885),
        (12, 71_957),
    ),
    Hidden(
        "USB",
        "usb",
        {"ports": 4, "bug": "suspend_race"},
        (40, 1_616_157),
        (2, 1_487),
        (2, 687),
        (2, 3_380),
    ),
    Hidden(
        "ORSet",
        "orset",
        {"replicas": 5, "bug": "nocausal"},
        None,
        (3, 8_578),
        (4, 179_930),
        (2, 2_231),
    ),
    Hidden(
        "CScale",
        "cscale",
        {"processes": 4, "bug": "nojoin"},
        None,
        (5, 45_021),
        (6, 894_355),
        (4, 15_634),
    ),
    Hidden(
        "Lann",
        "lann",
        {"nodes": 7, "losses": 1, "discard": False, "bug": "stubborn"},
        None,
        (15, 66_785),
        (2, 9_075),
        (8, 3_680_401),
    ),
    Hidden(
        "Tree identification",
        "tree_identification",
        {"nodes": 15, "shape": "binary", "bug": "earlyroot"},
        None,
        (26, 259_115),
        (6, 27_804),
        None,
    ),
    Hidden(
        "Elevator door",
        "elevator_door",
        {"elevators": 3, "bug": "stopreset"},
        (25, 13_808),
        (4, 1_771),
        (4, 2_277),
        (6, 13_848),
    ),
    Hidden(
        "Elevator planning",
        "elevator_planning",
        {"puzzle": 5, "bug": "capacity"},
        (35, 18_609_583),
        (9, 26_532),
        (5, 32_907),
        (16, 24_349_202),
    ),
    Hidden(
        "Truck lift",
        "truck_lift",
        {"stations": 4, "bug": "still"},
        (30, 950_005),
        (8, 1_656),
        (3, 64_249),
        (4, 13_180),
    ),
    Hidden(
        "German",
        "german",
        {"clients": 5, "requests": 5, "bug": "oneack"},
        (25, 595_723),
        (6, 3_011),
        (2, 3_613),
        None,
    ),
    Hidden(
        "MSMIE",
        "msmie",
        {"masters": 10, "bug": "first"},
        (35, 2_230_542),
        (8, 44_123),
        (6, 5_156),
        (9, 223_411),
    ),
    Hidden(
        "TSP (bug 1)",
        "tsp",
        {"scenario": "ring", "bug": "rogue"},
        None,
        (11, 9.4e4),
        (19, 1.6e7),
        None,
    ),
    Hidden(
        "TSP (bug 2)",
        "tsp",
        {"announcements": 4, "bug": "forget"},
        None,
        (22, 2.9e7),
        (16, 5.1e5),
        (31, 3.1e9),
    ),
)


@dataclass(frozen=True)
class Endless:
    """Of Table 3: a model with a cycle; states and seconds of the paper, by algorithm."""

    title: str
    model: str
    parameters: dict[str, Any]
    states: tuple[int | None, int, int]  # ndfs, indfs, map
    seconds: tuple[int | None, int, int, int]  # ndfs, indfs, map, map on four threads
    refining: float  # the share of refinement in the time of map


# Of the bugs of a model with a fair cycle, the one that `scc` needs most states for. Of the sizes,
# one more at a time, or eight where the first is four or eight, the last before `scc` needs more
# than 100,000 states in the median of three seeds, as it searched when they were chosen.
TABLE_3 = (
    Endless(
        "Elevator door",
        "elevator_door",
        {"elevators": 3, "bug": "published"},
        (188_067, 34_562, 38_675),
        (8_014, 5_063, 1_735, 725),
        0.65,
    ),
    Endless(
        "Lann",
        "lann",
        {"nodes": 5, "losses": 1, "bug": "reclaim"},
        (3_455_431, 443_421, 361_342),
        (100_916, 27_253, 17_002, 7_835),
        0.50,
    ),
    Endless(
        "Elevator planning",
        "elevator_planning",
        {"mode": "serve", "people": 20, "bug": "nearest"},
        (None, 1_083_223, 887_634),
        (None, 109_992, 32_661, 14_150),
        0.60,
    ),
    Endless(
        "Tree identification",
        "tree_identification",
        {"nodes": 40, "shape": "binary", "bug": "fixedcoin"},
        (None, 4_582_233, 3_876_253),
        (None, 221_014, 72_634, 23_024),
        0.55,
    ),
)

# The states that `rtc` needs for bugs of the catalogues; at most twice as many may be needed.
CATALOGUE = {
    "chord": {"CB-CH1": 22_493, "CB-CH2": 118, "CH-17": 26, "CH-18": 173},
    "randtree": {
        "RT-15": 15_948,
        "CB-RT1": 7_819,
        "CB-RT2": 3_969,
        "CB-RT4": 91,
        "CB-RT6": 727_920,
        "CB-RT7": 103,
    },
    "mace_transport": {"MT-4": 1_272, "MT-8": 967, "MT-10": 5_958, "MT-12": 5_101},
}

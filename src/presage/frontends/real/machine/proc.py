"""`/proc` of a simulated process: what Linux says of it and of its host, as files to be read.

Those who watch a program (`psutil`) read them. The numbers are those of a small host that never has
anything to do: they are the same at every moment, so that reading them makes no two states differ.
"""

from __future__ import annotations

from typing import Any

from presage.process.fence import EPOCH

PID_FIRST = 5_000_000  # of the first life; Linux gives none above 4,194,304
PAGES, PAGE_KB, MEMORY_KB = 16_384, 4, 8_388_608
TIMES = b" 0 0 0 0 0 0 0 0 0 0\n"
MEMORY = ("Total", "Free", "Available")
CARDS = ("lo", "eth0")


def pid(process: Any) -> int:
    """The number of a process; a restarted one has another."""
    return PID_FIRST + int(process.life)


def folder(process: Any) -> dict[str, Any]:
    """What is in `/proc`, by name: text of a file, or a folder."""
    own = _own(pid(process))
    memory = [f"Mem{name}: {MEMORY_KB} kB" for name in MEMORY]
    memory += [f"{name}: 0 kB" for name in ("Buffers", "Cached", "Active", "Inactive", "Shmem")]
    memory += ["SwapTotal: 0 kB", "SwapFree: 0 kB"]
    cards = [f"{name}: {' '.join('0' * 16)}" for name in CARDS]
    return {
        "self": own,
        str(pid(process)): own,
        "stat": b"cpu " + TIMES + b"cpu0" + TIMES + f"ctxt 0\nbtime {EPOCH:.0f}\n".encode(),
        "meminfo": _lines(*memory),
        "cpuinfo": b"processor\t: 0\nmodel name\t: simulated\n\n",
        "loadavg": f"0.00 0.00 0.00 1/1 {pid(process)}\n".encode(),
        "uptime": b"0.00 0.00\n",
        "vmstat": b"pswpin 0\npswpout 0\n",
        "diskstats": b"",
        "mounts": b"/ / rootfs rw 0 0\n",
        "net": {"dev": _lines("Inter-| Receive | Transmit", " face |bytes |bytes", *cards)},
    }


def _own(number: int) -> dict[str, Any]:
    sizes = f"{PAGES * PAGE_KB * 1024} {PAGES}"
    ids = "\t0" * 4
    status = [f"Name:\tpython\nState:\tR (running)\nTgid:\t{number}\nPid:\t{number}\nPPid:\t1"]
    status += [f"Uid:{ids}\nGid:{ids}\nVmRSS:\t{PAGES * PAGE_KB} kB\nVmSwap:\t0 kB\nThreads:\t1"]
    status += ["voluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0"]
    begin = f"{number} (python) R 1 {number} {number} 0 -1 0 {'0 ' * 8}20 0 1 0 0 {sizes}"
    return {
        "stat": f"{begin} {'0 ' * 28}".rstrip().encode() + b"\n",
        "statm": f"{PAGES} {PAGES} 0 0 0 {PAGES} 0\n".encode(),
        "status": _lines(*status),
        "cmdline": b"python\0",
        "comm": b"python\n",
        "io": _lines(
            *(f"{n}: 0" for n in "rchar wchar syscr syscw read_bytes write_bytes".split())
        ),
        "fd": {},
    }


def _lines(*texts: str) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()

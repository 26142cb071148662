"""The programs of mpi4py's demo folder, and how to start each; all of them, side by side.

    PYTHONPATH=tests python tests/mpi/demos.py [osu futures ...]

runs every one with MPICH and with presage, or those with such a name, and counts how many end
alike. It takes about ten minutes of the processor; what is quick is tested each time.
"""

import sys

from mpi.real_mpi import demos, on_mpich, on_presage, programs

FUTURES = ("python", "-m", "mpi4py.futures")

# Programs that print the same whenever they are run, and their ranks.
SAME = {
    "compute-pi/cpi-cco.py": 3,
    "compute-pi/cpi-dpm.py": 1,
    "compute-pi/cpi-rma.py": 3,
    "futures/run_cpi.py": 1,
    "futures/run_primes.py": 1,
    **{f"init-fini/test_{at}.py": 2 for at in (*range(7), "mpi40")},
    "libmpi-cffi/apigen.py": 2,
    **{f"mpi-ref-v1/ex-2.{at}.py": 3 for at in ("01", "08", "16", "29", "32", "34", "35")},
    **{f"mpi-ref-v1/ex-3.{at:02}.py": 3 for at in (*range(1, 10), 11, 12, 13)},
    "nxtval/nxtval-dynproc.py": 3,
    "nxtval/nxtval-mpi3.py": 3,
    "nxtval/nxtval-onesided.py": 3,
    "nxtval/nxtval-scalable.py": 3,
    "nxtval/nxtval-threads.py": 3,
    "profiling/cpi.py": 3,
    "profiling/ring.py": 3,
    "reductions/reductions.py": 3,
    "reductions/test_reductions.py": 3,
    "sequential/seq.py": 3,
    "threads/sendrecv.py": 1,
}
# These print times, or the name of the machine, or what came first.
MEASURES = {
    "futures/run_hello.py": 1,
    "helloworld.py": 3,
    "mandelbrot/mandelbrot.py": 3,
    "mandelbrot/mandelbrot-seq.py": 1,
    "osu_barrier.py": 3,
    "osu_bw.py": 2,
    "osu_bibw.py": 2,
    "osu_latency.py": 2,
    "sequential/test_seq.py": 3,
}
# The same, and each takes longer than a test may.
LONG = {
    "futures/run_julia.py": 5,
    "futures/run_mandelbrot.py": 5,
    "osu_allgather.py": 3,
    "osu_alltoall.py": 3,
    "osu_alltoallv.py": 3,
    "osu_bcast.py": 3,
    "osu_gather.py": 3,
    "osu_multi_lat.py": 4,
    "osu_scatter.py": 3,
}
# Programs that end well with MPICH and not here.
OTHER = {
    "futures/perf_crawl.py": 1,  # threads
    "futures/perf_primes.py": 1,  # threads
    "futures/test_futures.py": 1,  # asks a private module
    "profiling/threads.py": 3,  # threads
    "test-run/test_run.py": 1,  # starts `mpiexec`
}
# The rest wants compiled code, the network or a device, and ends badly with MPICH from PyPI, too.

# Those that the first rank can run, with the others as its workers.
SHARED = ("futures/run_cpi.py", "futures/run_hello.py", "futures/run_primes.py")
SHARED_RANKS = 5


def main(words):
    folder, binaries = demos(), programs()
    alike = 0
    every = {**SAME, **MEASURES, **LONG, **OTHER}
    chosen = {name: every[name] for name in every if not words or any(w in name for w in words)}
    for name, ranks in chosen.items():
        real = on_mpich(binaries, folder / name, ranks)
        ours = on_presage(folder / name, ranks)
        is_alike = (real[0], len(real[1])) == (ours[0], len(ours[1])) and real[0] == 0
        is_alike = is_alike and (name not in SAME or real == ours)
        alike += is_alike
        print(f"{name:<34}{real[0]!s:>8}{ours[0]!s:>8}  {'alike' if is_alike else ''}", flush=True)
    print(f"{alike} of {len(chosen)}")


if __name__ == "__main__":
    main(sys.argv[1:])

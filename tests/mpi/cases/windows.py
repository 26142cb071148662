"""Windows and files: accesses without epochs, in two epochs, out of range, at the same time."""

from mpi.cases.build import Case, by_all, by_rank

WIN = "win = MPI.Win.Allocate(8, 4, comm=comm)\nbox = array('i', [rank])"
FREE = "win.Free()"
CALLS = {
    "Put": "win.Put(box, {to})",
    "Get": "win.Get(box, {to})",
    "Accumulate": "win.Accumulate(box, {to})",
    "Fetch_and_op": "other = array('i', [0])\nwin.Fetch_and_op(box, other, {to})",
    "Compare_and_swap": (
        "a, b = array('i', [0]), array('i', [0])\nwin.Compare_and_swap(box, a, b, {to})"
    ),
}


def missing_epochs():
    for name, call in CALLS.items():
        access = call.format(to=1)
        full = [WIN, "win.Lock(1)", access, "win.Unlock(1)", FREE]
        yield Case(
            f"no-epoch-{name}",
            "missing-epoch",
            "missing-epoch",
            2,
            by_all(WIN, access, FREE),
            by_all(*full),
        )
    yield Case(
        "epoch-of-another-rank",
        "missing-epoch",
        "missing-epoch",
        2,
        by_all(WIN, "win.Lock(0)", "win.Put(box, 1)", "win.Unlock(0)", FREE),
        by_all(WIN, "win.Lock(1)", "win.Put(box, 1)", "win.Unlock(1)", FREE),
    )
    yield Case(
        "flush-without-lock",
        "missing-epoch",
        "missing-epoch",
        2,
        by_all(WIN, "win.Flush(0)", FREE),
        by_all(WIN, "win.Lock(0)", "win.Flush(0)", "win.Unlock(0)", FREE),
    )


def double_epochs():
    pairs = {
        "lock-lock": ["win.Lock(0)", "win.Lock(0)", "win.Unlock(0)"],
        "lock-all-lock": ["win.Lock_all()", "win.Lock(0)", "win.Unlock_all()"],
        "unlock": ["win.Unlock(0)"],
        "unlock-twice": ["win.Lock(0)", "win.Unlock(0)", "win.Unlock(0)"],
        "unlock-all": ["win.Unlock_all()"],
        "unlock-another": ["win.Lock(0)", "win.Unlock(1)", "win.Unlock(0)"],
        "fence-in-lock": ["win.Lock(1 - rank)", "win.Fence()", "win.Unlock(1 - rank)"],
        "lock-in-fence": ["win.Fence()", "win.Put(box, 0, rank)", "win.Lock(0)", "win.Unlock(0)"],
        "complete": ["win.Complete()"],
        "wait": ["win.Wait()"],
    }
    correct = by_all(WIN, "win.Lock(0)", "win.Unlock(0)", "win.Fence()", FREE)
    for name, body in pairs.items():
        faulty = by_all(WIN, *body, FREE)
        yield Case(f"double-{name}", "double-epoch", "double-epoch", 2, faulty, correct)


def open_epochs():
    pairs = {
        "lock": ["win.Lock(rank)"],
        "lock-all": ["win.Lock_all()"],
        "fence": ["win.Fence()", "win.Put(box, rank)"],
    }
    close = {"lock": "win.Unlock(rank)", "lock-all": "win.Unlock_all()", "fence": "win.Fence()"}
    for name, body in pairs.items():
        yield Case(
            f"open-{name}",
            "open-epoch",
            "open-epoch",
            2,
            by_all(WIN, *body, FREE),
            by_all(WIN, *body, close[name], FREE),
        )


def ranges():
    for name, target in {"after": "2", "long": "(1, 2)", "before": "-1"}.items():
        data = "box = array('i', [1, 2])" if name == "long" else ""
        good = "(0, 2)" if name == "long" else "1"
        body = [WIN, data, "win.Lock(rank)", f"win.Put(box, rank, {target})", "win.Unlock(rank)"]
        right = [each.replace(target, good) if "Put" in each else each for each in body]
        label = kind = "rma-range"
        yield Case(f"range-{name}", label, kind, 2, by_all(*body, FREE), by_all(*right, FREE))


def races():
    label = kind = "global-concurrency"
    get = "win.Get(box, 0)"
    for name, call in {
        "put": "win.Put(box, 0)",
        "get": get,
        "sum": "win.Accumulate(box, 0)",
    }.items():
        for way, (begin, end) in {
            "fence": ("win.Fence()", "win.Fence()"),
            "shared": ("win.Lock(0, MPI.LOCK_SHARED)", "win.Unlock(0)"),
            "all": ("win.Lock_all()", "win.Unlock_all()"),
        }.items():
            mine = [begin, call, end]
            apart = [begin, call.replace("0)", "0, 1)"), end]
            other = [begin, "win.Put(box, 0)", end]
            head, tail = [WIN], [FREE]
            yield Case(
                f"race-put-{name}-{way}",
                label,
                kind,
                2,
                by_rank([*head, *mine, *tail], [*head, *other, *tail]),
                by_rank([*head, *apart, *tail], [*head, *other, *tail]),
            )
    yield Case(
        "race-of-one-rank",
        label,
        kind,
        2,
        by_all(WIN, "win.Lock(rank)", "win.Put(box, rank)", "win.Get(array('i', [0]), rank)")
        + "win.Unlock(rank)\nwin.Free()\n",
        by_all(WIN, "win.Lock(rank)", "win.Put(box, rank)", "win.Flush(rank)")
        + "win.Get(array('i', [0]), rank)\nwin.Unlock(rank)\nwin.Free()\n",
    )
    yield Case(
        "race-with-a-store",
        label,
        kind,
        2,
        by_all(WIN, "win.Fence()", "win.Put(box, 1 - rank)", "win.memory[0] = 7", "win.Fence()")
        + FREE
        + "\n",
        by_all(WIN, "win.Fence()", "win.Put(box, 1 - rank)", "win.memory[4] = 7", "win.Fence()")
        + FREE
        + "\n",
    )


def buffers_in_use():
    label = kind = "local-concurrency"
    for name in ("Put", "Get"):
        call = CALLS[name].format(to=0)
        yield Case(
            f"changed-before-unlock-{name}",
            label,
            kind,
            2,
            by_all(WIN, "win.Lock(0)", call, "box[0] = 9", "win.Unlock(0)", FREE),
            by_all(WIN, "win.Lock(0)", call, "win.Unlock(0)", "box[0] = 9", FREE),
        )


def leaks():
    yield Case("leak-window", "leak", "leak", 2, by_all(WIN), by_all(WIN, FREE))
    make = "fh = MPI.File.Open(comm, 'none.data', MPI.MODE_RDWR | MPI.MODE_CREATE)"
    yield Case("leak-file", "leak", "leak", 2, by_all(make), by_all(make, "fh.Close()"))


def files():
    make = "fh = MPI.File.Open(comm, 'none.data', MPI.MODE_{})"
    create = make.format("RDWR | MPI.MODE_CREATE")
    faults = {
        "missing": ("file-error", [make.format("RDONLY"), "fh.Close()"]),
        "read-only": (
            "file-error",
            [
                create,
                "fh.Close()",
                make.format("RDONLY"),
                "fh.Write(array('i', [1]))",
                "fh.Close()",
            ],
        ),
        "no-mode": ("invalid-argument", [make.format("CREATE"), "fh.Close()"]),
        "closed": ("invalid-argument", [create, "fh.Close()", "fh.Get_size()"]),
        "other-calls": (
            "collective-mismatch",
            [create, "fh.Sync() if rank else fh.Set_size(0)", "fh.Close()"],
        ),
        "other-modes": (
            "collective-mismatch",
            [f"way = MPI.MODE_RDWR if rank else MPI.MODE_WRONLY\n{make.format('CREATE | way')}"]
            + ["fh.Close()"],
        ),
        "type": (
            "type-mismatch",
            [create, "fh.Set_view(0, MPI.INT)", "fh.Write(array('d', [1]))", "fh.Close()"],
        ),
    }
    correct = by_all(create, "fh.Write_at(4 * rank, array('i', [1]))", "fh.Sync()", "fh.Close()")
    for name, (kind, body) in faults.items():
        yield Case(f"file-{name}", "file-misuse", kind, 2, by_all(*body), correct)
    read = "box = array('i', [0])\nfh.Read_at(0, box)\nassert box[0] == 1"
    write = "fh.Write_at(0, array('i', [1]))"
    yield Case(
        "file-race",
        "file-race",
        "exception",
        2,
        by_rank([create, write, "fh.Close()"], [create, read, "fh.Close()"]),
        by_rank(
            [create, write, "fh.Sync()", "fh.Close()"], [create, "fh.Sync()", read, "fh.Close()"]
        ),
    )


def cases():
    for make in (
        missing_epochs,
        double_epochs,
        open_epochs,
        ranges,
        races,
        buffers_in_use,
        leaks,
        files,
    ):
        yield from make()

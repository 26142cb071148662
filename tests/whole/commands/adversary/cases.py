"""Misbehaving code: each case is a line, where it stands, and what a command must say of it.

A line stands in a handler unless its name says otherwise: `module: ...`, `property: ...`.
"""

from typing import NamedTuple

REFUSED = 3  # not checkable, or not deterministic
VIOLATION = 1
USAGE = 2


class Case(NamedTuple):
    """Code, the exit status, and a part of what is said."""

    code: str
    status: int
    needle: str


def refused(*pairs: tuple[str, str]) -> list[Case]:
    """Refused under its name; with none, under that of what it calls first."""
    return [Case(code, REFUSED, f"calls `{name}{'`' if name else ''}") for code, name in pairs]


CLOCK = refused(
    ("time.time()", "time.time"),
    ("time.monotonic_ns()", "time.monotonic_ns"),
    ("time.sleep(1)", "time.sleep"),
    ("time.localtime()", "time.localtime"),
    ("time.strftime('%H')", "time.strftime"),
    ("now()", "time.time"),
    ("uuid.uuid1()", "uuid.uuid1"),
)
CHANCE = refused(
    ("random.random()", "random.random"),
    ("random.shuffle([1, 2])", "random.shuffle"),
    ("random.seed(1)", "random.seed"),
    ("random.Random()", "random.Random"),
    ("random.SystemRandom().random()", "random.Random"),
    ("secrets.token_hex()", "random.urandom"),
    ("os.urandom(4)", "os.urandom"),
    ("uuid.uuid4()", "os.urandom"),
    ("import numpy; numpy.random.rand()", "numpy.random.rand"),
    ("from numpy.random import randint; randint(3)", "numpy.random.randint"),
    ("import numpy.random.mtrand as m; m.seed(3)", "numpy.random.seed"),
    ("import numpy; numpy.random.default_rng().random()", "random.urandom"),
)
FILES = refused(
    ("open('x')", "open"),
    ("open('x', 'w')", "open"),
    ("io.open('x', 'wb')", "open"),
    ("os.open('x', os.O_RDONLY)", "open"),
    ("pathlib.Path('x').read_text()", "open"),
    ("pathlib.Path('x').write_text('x')", "open"),
    ("pathlib.Path('x').exists()", "os.stat"),
    ("os.path.exists('x')", "os.stat"),
    ("os.listdir('.')", "os.listdir"),
    ("listdir('.')", "os.listdir"),
    ("os.scandir('.')", "os.scandir"),
    ("list(os.walk('.'))", "os.walk"),
    ("glob.glob('*')", "glob.glob"),
    ("os.remove('x')", "os.remove"),
    ("os.mkdir('x')", "os.mkdir"),
    ("os.rename('x', 'y')", "os.rename"),
    ("tempfile.mkstemp()", ""),
    ("shutil.rmtree('x')", "shutil.rmtree"),
    ("sqlite3.connect(':memory:')", "sqlite3.connect"),
    ("mmap.mmap(-1, 10)", "mmap.mmap"),
    ("os.pipe()", "os.pipe"),
)
ENVIRONMENT = refused(
    ("os.environ['HOME']", "os.environ"),
    ("os.environ.get('HOME')", "os.environ"),
    ("os.getenv('HOME')", "os.environ"),
    ("dict(os.environ)", "os.environ"),
    ("os.environ.update(A='b')", "os.putenv"),
    ("os.getpid()", "os.getpid"),
    ("os.getcwd()", "os.getcwd"),
    ("os.cpu_count()", "os.cpu_count"),
    ("input()", "input"),
)
OUTSIDE = refused(
    ("socket.socket()", "socket.socket"),
    ("socket.gethostname()", "socket.gethostname"),
    ("socket.getaddrinfo('localhost', 1)", "socket.getaddrinfo"),
    ("socket.create_connection(('127.0.0.1', 1))", "socket.getaddrinfo"),
    ("subprocess.run(['true'])", "subprocess.Popen"),
    ("os.system('true')", "os.system"),
    ("os.popen('true')", ""),
    ("os.fork()", "os.fork"),
    ("multiprocessing.Process(target=print).start()", ""),
    ("threading.Thread(target=print).start()", "threading.Thread.start"),
    ("_thread.start_new_thread(print, ())", "threading.Thread.start"),
    ("futures.ThreadPoolExecutor().submit(print)", ""),
    ("asyncio.run(asyncio.sleep(0))", ""),
)
PROCESS = refused(
    ("os._exit(0)", "os._exit"),
    ("os._exit(1)", "os._exit"),
    ("os.abort()", "os.abort"),
    ("os.execv('/bin/true', ['true'])", "os.execv"),
    ("os.kill(1, 0)", "os.kill"),
    ("os.chdir('/')", "os.chdir"),
    ("os.close(1)", "os.close"),
    ("os.close(2)", "os.close"),
    ("os.closerange(0, 500)", "os.closerange"),
    ("os.dup2(2, 1)", "os.dup2"),
    ("signal.signal(signal.SIGINT, signal.SIG_IGN)", "signal.signal"),
    ("signal.alarm(1)", "signal.alarm"),
    ("sys.setrecursionlimit(60)", "sys.setrecursionlimit"),
    ("sys.setswitchinterval(9)", "sys.setswitchinterval"),
    ("resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))", "resource.setrlimit"),
    ("ctypes.string_at(0)", "ctypes.string_at"),
    ("ctypes.CDLL(None)", "ctypes.dlopen"),
    ("hash('a')", "hash"),
    ("hash(('a', 1))", "hash"),
    ("hash(b'a')", "hash"),
)
HIDDEN = [
    Case("try: open('x')\n            except BaseException: pass", REFUSED, "calls `open`"),
    Case("try: os._exit(0)\n            except: pass", REFUSED, "calls `os._exit`"),
    Case("try: os.fork()\n            finally: return", REFUSED, "calls `os.fork`"),
]
CRASHES = [
    Case("LIBC._exit(0)", REFUSED, "ended the process, with exit status 0"),
    Case("LIBC.abort()", REFUSED, "abort (SIGABRT)"),
    Case("LIBC.strlen(8)", REFUSED, "segmentation fault (SIGSEGV)"),
    Case("faulthandler._sigsegv()", REFUSED, "segmentation fault (SIGSEGV)"),
    Case("signal.raise_signal(signal.SIGKILL)", 137, "was killed (SIGKILL)"),
]
CHANGING = [
    Case("self.x = str(datetime.datetime.now())", REFUSED, "run twice from the same state"),
    Case(
        "KEPT.append(object()); self.x = str(id(KEPT[-1]))",
        REFUSED,
        "run twice from the same state",
    ),
    Case("self.x = str(next(COUNT))", REFUSED, "run twice from the same state"),
]
RAISING = [
    Case("raise SystemExit(0)", VIOLATION, "SystemExit"),
    Case("sys.exit(0)", VIOLATION, "SystemExit"),
    Case("raise MemoryError", VIOLATION, "MemoryError"),
    Case("raise StopIteration", VIOLATION, "StopIteration"),
    Case("raise GeneratorExit", VIOLATION, "GeneratorExit"),
    Case("self.go()", VIOLATION, "RecursionError"),
    Case("raise type('Odd', (BaseException,), {})", VIOLATION, "Odd"),
    Case("del self.x", USAGE, "deletes the field"),
    Case("self.y = 1", USAGE, "does not declare"),
]
STUCK = [
    Case("re.match(r'(a+)+$', 'a' * 40 + 'b')", USAGE, "still running after 1 s"),
    Case("7**10**8", USAGE, "still running after 1 s"),
    Case("while True: pass", USAGE, "still running after 1 s"),
    Case("threading.Event().wait()", USAGE, "still running after 1 s"),
]
PROPERTY = [
    Case("open('x')", REFUSED, "a property calls `open`"),
    Case("os.listdir('.')", REFUSED, "a property calls `os.listdir`"),
    Case("hash('a')", REFUSED, "a property calls `hash`"),
    Case("sys.setrecursionlimit(60)", REFUSED, "a property calls `sys.setrecursionlimit`"),
    Case("os.environ['HOME']", REFUSED, "a property calls `os.environ`"),
    Case("socket.socket()", REFUSED, "a property calls `socket.socket`"),
    Case("threading.Thread(target=print).start()", REFUSED, "a property calls `threading"),
    Case("time.time()", REFUSED, "a property calls `time.time`"),
    Case("random.random()", REFUSED, "a property calls `random.random`"),
    Case("import numpy; numpy.random.rand()", REFUSED, "a property calls `numpy.random.rand`"),
    Case("os._exit(0)", REFUSED, "a property calls `os._exit`"),
    Case("LIBC.strlen(8)", REFUSED, "segmentation fault"),
    Case("return next(COUNT) % 2 == 0", REFUSED, "or gave another verdict"),
    Case("return next(COUNT) % 2 or world['n0'].n < 9", REFUSED, "read different things"),
]
GUARD = [
    Case("open('x')", REFUSED, "calls `open`"),
    Case("os._exit(0)", REFUSED, "calls `os._exit`"),
    Case("LIBC.strlen(8)", REFUSED, "segmentation fault"),
]
MODULE = [
    Case("os._exit(0)", REFUSED, "ended the process: `os._exit`"),
    Case("LIBC.strlen(8)", REFUSED, "segmentation fault"),
    Case("os.execv('/bin/true', ['true'])", REFUSED, "ended the process: `os.execv`"),
    Case("sys.exit(0)", USAGE, "SystemExit: 0"),
    Case("raise KeyboardInterrupt", 130, "interrupted"),
    Case("raise GeneratorExit", USAGE, "GeneratorExit"),
]

HANDLER = [
    *(*CLOCK, *CHANCE, *FILES, *ENVIRONMENT, *OUTSIDE, *PROCESS),
    *(*HIDDEN, *CRASHES, *CHANGING, *RAISING),
]
# Allowed: each of these is an ordinary handler, and the system holds.
HARMLESS = [
    "import colorsys, json; json.dumps({'a': 1})",
    "logging.getLogger('node').warning('at %s', self.x)",
    "print('hello')",
    "{Frozen('a'), Frozen('b')}; {('a', 1): 2}",
    "hash(1); hash((1, 2.5)); hash(frozenset({1}))",
    "random.Random(3).random()",
    "import numpy; numpy.random.default_rng(3).random()",
    "hashlib.sha256(b'x').hexdigest(); zlib.crc32(b'x')",
    "time.gmtime(0); time.strftime('%H', time.gmtime(0)); datetime.datetime(2020, 1, 1)",
    "warnings.warn('odd')",
    "traceback.format_stack()",
    "self.random.choice('ab'); self.choose([1, 2])",
    "copy.deepcopy([1, {2}]); re.compile('a').match('a'); decimal.Decimal('1.1')",
]

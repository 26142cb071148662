"""The style rules that a machine can check, as tests.

Each rule is a function over the files that git knows (or would know) and returns complaints as
`path:line: what`, so a failure reads like a compiler's output. What needs taste is in STYLE.md.
After TigerBeetle's `tidy.zig`.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "presage"
CODE_FOLDERS = ("src", "rust/src", "tests", "benchmarks", "tools")
PURE = ("model", "props", "trace", "execution", "shrink", "search")
PRINTING = ("ui", "cli", "supervise")

LINE_LENGTH_MAX = 100
FUNCTION_LINES_MAX = 50
FILE_LINES_MAX = 400

# Spelt in two parts, so that this file obeys its own rules.
LEFTOVERS = re.compile(r"\b(TO" + r"DO|FIX" + r"ME)\b")
ABSOLUTE = re.compile(r"(?<![\w.$})~/-])/" + r"(work|tmp|root|home)(?![\w-])")
RUST_PRINT = re.compile(r"\b(e?print(ln)?|dbg)!")
RUST_FUNCTION = re.compile(r"^( *)(pub(\([^)]*\))? )?((const|unsafe|async|extern \"C\") )*fn \w+")
FENCE = re.compile(r"^ {0,3}(```|~~~)")

# These give the same answer whatever order they are fed in.
ORDER_BLIND = {"all", "any", "frozenset", "len", "max", "min", "set", "sorted", "sum"}


@cache
def tracked() -> tuple[Path, ...]:
    """Every file git tracks or would track, in a stable order."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    paths = (ROOT / name for name in sorted(set(listed.stdout.split("\0")) - {""}))
    return tuple(path for path in paths if path.is_file())


@cache
def text_of(path: Path) -> str:
    """The text of `path`; empty for a file that is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path), filename=str(path))


def code(*suffixes: str) -> Iterator[Path]:
    """Source files with one of `suffixes` in the folders that the size rules cover."""
    for path in tracked():
        if path.suffix in suffixes and shown(path).startswith(tuple(f"{f}/" for f in CODE_FOLDERS)):
            yield path


def package(*parts: str) -> Iterator[Path]:
    """Python files of the package; with `parts`, only those of these subpackages or modules."""
    for path in code(".py"):
        if PACKAGE in path.parents:
            first = path.relative_to(PACKAGE).with_suffix("").parts[0]
            if not parts or first in parts:
                yield path


@cache
def public_names(path: Path = PACKAGE / "__init__.py") -> tuple[str, ...]:
    """`presage.__all__`, read and not imported: style can be judged before the core is built."""
    for node in tree_of(path).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return tuple(sorted(ast.literal_eval(node.value)))
    raise AssertionError(f"`{shown(path)}` has no `__all__`")


def doors() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The public modules for processes, and their public names."""
    for name, listed in (
        ("mailbox/__init__", "mailbox/__init__"),
        ("mailbox/aio/__init__", "mailbox/__init__"),  # the same names, to await
        ("sockets/__init__", "sockets/__init__"),
        ("sockets/aio", "sockets/aio"),
    ):
        yield module_name(PACKAGE / f"{name}.py"), public_names(PACKAGE / f"{listed}.py")


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def complaints(found: Iterator[str]) -> None:
    """Fail with everything that was found, one line each."""
    lines = list(found)
    assert not lines, "\n" + "\n".join(lines)


def test_no_line_is_longer_than_the_limit() -> None:
    complaints(
        f"{shown(path)}:{number}: {len(line)} characters, at most {LINE_LENGTH_MAX}"
        for path in code(".py", ".pyi", ".rs")
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if len(line) > LINE_LENGTH_MAX
    )


def test_no_file_is_longer_than_the_limit() -> None:
    complaints(
        f"{shown(path)}: {count} lines, at most {FILE_LINES_MAX}"
        for path in code(".py", ".pyi", ".rs")
        if (count := len(text_of(path).splitlines())) > FILE_LINES_MAX
    )


def python_functions(path: Path) -> Iterator[tuple[str, int, int]]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def rust_functions(path: Path) -> Iterator[tuple[str, int, int]]:
    """Functions of a file in rustfmt's layout: the closing brace is indented like the `fn`."""
    lines = text_of(path).splitlines()
    for start, line in enumerate(lines):
        if not (match := RUST_FUNCTION.match(line)):
            continue
        head = start
        while not lines[head].rstrip().endswith(("{", "}", ";")):
            head += 1
        end = head
        if lines[head].rstrip().endswith("{"):
            end = next(n for n in range(head + 1, len(lines)) if lines[n] == match[1] + "}")
        yield match[0].split()[-1], start + 1, end - start + 1


def test_no_function_is_longer_than_the_limit() -> None:
    readers = {".py": python_functions, ".rs": rust_functions}
    complaints(
        f"{shown(path)}:{number}: `{name}` has {count} lines, at most {FUNCTION_LINES_MAX}"
        for path in code(".py", ".rs")
        for name, number, count in readers[path.suffix](path)
        if count > FUNCTION_LINES_MAX
    )


def calls_of(path: Path, name: str) -> Iterator[int]:
    """Line numbers of the calls of the builtin `name`."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node.lineno


def test_only_the_user_interface_prints() -> None:
    complaints(
        f"{shown(path)}:{number}: `print` belongs in `ui`, `cli` or `supervise`"
        for path in sorted(set(package()) - set(package(*PRINTING)))
        for number in calls_of(path, "print")
    )
    complaints(
        f"{shown(path)}:{number}: the core does not print"
        for path in code(".rs")
        if shown(path).startswith("rust/")
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if RUST_PRINT.search(line)
    )


def test_nothing_is_left_for_later() -> None:
    complaints(
        f"{shown(path)}:{number}: finish it or file it"
        for path in tracked()
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if LEFTOVERS.search(line)
    )


def test_no_file_names_a_place_on_one_machine() -> None:
    complaints(
        f"{shown(path)}:{number}: absolute path `{match[0]}`"
        for path in tracked()
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if (match := ABSOLUTE.search(line))
    )


def test_pure_packages_do_not_hash() -> None:
    complaints(
        f"{shown(path)}:{number}: `hash` differs between processes; use a fingerprint"
        for path in package(*PURE)
        for number in calls_of(path, "hash")
    )


def is_bare_set(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in {"set", "frozenset"}
    return isinstance(node, ast.Set | ast.SetComp)


def loops_over_sets(tree: ast.Module) -> Iterator[int]:
    """Line numbers of the loops that see the order of a set."""
    blind = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in ORDER_BLIND
        for argument in node.args
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and is_bare_set(node.iter):
            yield node.lineno
        elif isinstance(node, ast.ListComp | ast.DictComp | ast.GeneratorExp):
            if id(node) not in blind and any(is_bare_set(g.iter) for g in node.generators):
                yield node.lineno


def test_pure_packages_do_not_loop_over_a_set() -> None:
    complaints(
        f"{shown(path)}:{number}: the order of a set differs between processes; sort it"
        for path in package(*PURE)
        for number in loops_over_sets(tree_of(path))
    )


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_by(path: Path) -> Iterator[str]:
    """Every dotted name that the imports of `path` could mean."""
    inside = PACKAGE in path.parents
    home = module_name(path).split(".") if inside else []
    if inside and path.stem != "__init__":
        home = home[:-1]
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = home[: len(home) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield stem
            yield from (f"{stem}.{alias.name}" for alias in node.names)


def entry_points() -> set[str]:
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    groups = [project.get("scripts", {}), *project.get("entry-points", {}).values()]
    return {target.split(":")[0] for group in groups for target in group.values()}


# Modules that only users import: their scripts, and the tests that `presage` writes for them.
FOR_USERS = {"presage.load", "presage.mpi"}


def test_every_python_module_is_imported_by_something() -> None:
    used = entry_points() | FOR_USERS
    for path in code(".py"):
        used.update(imported_by(path))
    # Shipped systems are loaded by name: the list of names is what keeps them alive.
    listed = {
        (folder.name, stem)
        for folder in (PACKAGE / "systems" / name for name in ("", "reactive", "samc", "simgrid"))
        for stem in re.findall(r"\w+", text_of(folder / "__init__.py"))
    }
    complaints(
        f"{shown(path)}: nothing imports this module"
        for path in package()
        if path.stem not in {"__init__", "__main__"}
        if module_name(path) not in used
        if (path.parent.name, path.stem) not in listed
    )


def test_shipped_systems_import_public_names_only() -> None:
    public = {"presage", *(f"presage.{name}" for name in public_names())}
    for door, names in doors():
        public |= {door, *(f"{door}.{name}" for name in names)}
    complaints(
        f"{shown(path)}: `{name}` is not public"
        for path in package("systems")
        for name in imported_by(path)
        if re.match(r"presage\b(?!\.systems\b)", name) and name not in public
    )


def test_every_rust_file_is_a_declared_module() -> None:
    files = list(code(".rs"))
    declared = {
        (next(p for p in path.parents if p.name == "src"), name)
        for path in files
        for name in re.findall(r"^ *(?:pub(?:\([^)]*\))? )?mod (\w+);", text_of(path), re.M)
    }
    for path in files:
        if path.stem not in {"lib", "main"}:
            name = path.parent.name if path.stem == "mod" else path.stem
            source = next(p for p in path.parents if p.name == "src")
            assert (source, name) in declared, f"{shown(path)}: no `mod {name};` declares it"


def titles(markdown: str) -> int:
    """How many first-level headings stand outside code blocks."""
    count, fence = 0, ""
    for line in markdown.splitlines():
        if match := FENCE.match(line):
            fence = "" if fence == match[1] else fence or match[1]
        elif not fence and line.startswith("# "):
            count += 1
    return count


def test_every_markdown_file_has_one_title() -> None:
    complaints(
        f"{shown(path)}: {count} titles (`# ...`), exactly one is wanted"
        for path in tracked()
        if path.suffix == ".md" and (count := titles(text_of(path))) != 1
    )


def test_every_public_name_is_in_the_reference() -> None:
    pages = [p for p in tracked() if shown(p).startswith("docs/reference/") and p.suffix == ".md"]
    reference = "\n".join(text_of(page) for page in pages)
    complaints(
        f"docs/reference: `{name}` of `{module}.__all__` is not described"
        for module, names in (("presage", public_names()), *doors())
        for name in names
        if not re.search(rf"\b{re.escape(name)}\b", reference)
    )

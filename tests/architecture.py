"""The rules of the house that a parser can see.

Each rule takes the parsed source of a module (one rule looks at its path,
one at all modules together) and returns its offences as sentences, so that a
test compares them with the empty list and shows them all.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import TypeAlias

PURE_PACKAGES = (
    *("core", "catalogue", "policies", "world_state", "compaction", "encoders", "importers"),
)
"""The folders of app/ whose code turns the same input into the same bytes."""

READS: Mapping[str, tuple[str, ...]] = {"importers": ("encoders",)}
"""The pure packages that another one may read beside the core: answers are decoded in one place."""

PURE_MODULES = frozenset(
    {
        "__future__",
        "abc",
        "base64",
        "binascii",
        "bisect",
        "collections",
        "dataclasses",
        "datetime",
        "decimal",
        "enum",
        "fractions",
        "functools",
        "hashlib",
        "heapq",
        "html",
        "itertools",
        "json",
        "math",
        "operator",
        "posixpath",
        "re",
        "string",
        "textwrap",
        "types",
        "typing",
        "unicodedata",
        "urllib.parse",
        "uuid",
    }
)
"""What pure code may import of the standard library: no clock, random, I/O, environment or log."""

IMPURE_BUILTINS = frozenset(
    {"__import__", "breakpoint", "eval", "exec", "hash", "id", "input", "open", "print"}
)
"""I/O, code from text, and `hash` and `id`, which differ from process to process."""

IMPURE_NAMES = frozenset(
    {
        "abspath",
        "exists",
        "expanduser",
        "expandvars",
        "getnode",
        "isdir",
        "isfile",
        "now",
        "realpath",
        "today",
        "utcnow",
        "uuid1",
        "uuid4",
    }
)
"""Clocks, random ids and looks at the disk that modules with a pure side offer too."""

RESTRICTED: Mapping[str, tuple[str, ...]] = {
    "json": ("core/canonical.py", "api/body.py"),
    "sqlalchemy": ("store/",),
    "aiosqlite": ("store/",),
    "asyncpg": ("store/",),
    "alembic": ("store/",),
    "app.store.tables": ("store/",),
    "app.store.event_tables": ("store/",),
    "app.store.database": ("store/", "main.py", "services/resources.py"),
    "fastapi": ("main.py", "api/"),
    "httpx": ("server.py", "summarizer/"),
    "starlette": ("main.py", "api/"),
    "pydantic": ("settings.py", "api/"),
}
"""The only places of app/ that may import a module or what is in it."""

VAGUE_WORDS = frozenset(
    {"base", "handler", "handlers", "helper", "helpers", "manager", "managers", "util", "utils"}
)
VAGUE_BUT_ALLOWED = ("policies/base.py",)
"""The protocol that every policy follows has no better name."""

APP_LINES = 350
TEST_LINES = 500
FUNCTION_LINES = 40

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_ASYNC = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)


def is_pure(path: str) -> bool:
    """Whether a path below app/ belongs to a pure package."""
    return path.split("/")[0] in PURE_PACKAGES


def impurities(path: str, tree: ast.Module) -> list[str]:
    """What a pure module at `path` must not do: import the world, await, or touch clock and I/O."""
    own = path.split("/")[0]
    return [
        *(
            f"line {line}: imports {name}"
            for line, name in imports(tree)
            if not _is_pure_import(name, own) or name.split(".")[-1] in IMPURE_NAMES
        ),
        *(f"line {node.lineno}: async" for node in ast.walk(tree) if isinstance(node, _ASYNC)),
        *_impure_uses(tree),
    ]


def _is_pure_import(name: str, own_package: str) -> bool:
    parts = name.split(".")
    if parts[0] == "app":
        return parts[1] in ("core", own_package, *READS.get(own_package, ()))
    return parts[0] in PURE_MODULES or ".".join(parts[:2]) in PURE_MODULES


def _impure_uses(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_BUILTINS:
                yield f"line {node.lineno}: calls {name}()"
            case ast.Call(func=ast.Attribute(attr=name)) if name in IMPURE_NAMES:
                yield f"line {node.lineno}: calls {name}()"
            case ast.Attribute(value=ast.Name(id="date" | "datetime" | "uuid"), attr=name) if (
                name in IMPURE_NAMES
            ):
                yield f"line {node.lineno}: uses {name}"


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything imported; `from a import b` imports `a.b`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                prefix = "." * level + (module or "")
                yield from ((node.lineno, f"{prefix}.{alias.name}") for alias in names)


def misplaced_imports(path: str, tree: ast.Module) -> list[str]:
    """Imports that belong to other places of app/ than `path`."""
    return [
        f"line {line}: imports {name}"
        for line, name in imports(tree)
        for restricted, places in RESTRICTED.items()
        if f"{name}.".startswith(f"{restricted}.") and not path.startswith(places)
    ]


def functions(tree: ast.Module) -> Iterator[Function]:
    """Every function and method, nested ones included."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def imports_inside_functions(tree: ast.Module) -> list[str]:
    """Imports that are not at the top of their module."""
    return sorted(
        {
            f"line {line}: {function.name} imports {name}"
            for function in functions(tree)
            for line, name in imports(function)
        }
    )


def long_functions(tree: ast.Module) -> list[str]:
    """Functions of more lines than `FUNCTION_LINES`, docstring included, decorators not."""
    lengths = (
        (node, (node.end_lineno or node.lineno) - node.lineno + 1) for node in functions(tree)
    )
    return [
        f"line {node.lineno}: {node.name} has {length} lines"
        for node, length in lengths
        if length > FUNCTION_LINES
    ]


def boolean_parameters(tree: ast.Module) -> list[str]:
    """Parameters that are a bool by annotation or default: a call with True says nothing."""
    return [
        f"line {function.lineno}: {function.name}({name})"
        for function in functions(tree)
        for name, annotation, default in _parameters(function.args)
        if _is_bool(annotation) or _is_true_or_false(default)
    ]


def _parameters(
    arguments: ast.arguments,
) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    without_default: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    for argument, default in [
        *zip(positional, [*without_default, *arguments.defaults], strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]:
        yield argument.arg, argument.annotation, default


def _is_bool(annotation: ast.expr | None) -> bool:
    match annotation:
        case ast.Name(id="bool"):
            return True
        case ast.Constant(value=str(text)):
            return _is_bool(ast.parse(text, mode="eval").body)
        case ast.BinOp(left=left, right=right):
            return _is_bool(left) or _is_bool(right)
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[first, *_])):
            return _is_bool(first)
        case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
            return _is_bool(inner)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            return any(_is_true_or_false(node) for node in ast.walk(inner))
        case _:
            return False


def _is_true_or_false(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def vague_names(path: str) -> list[str]:
    """Words in a module's path that would fit any module."""
    if path in VAGUE_BUT_ALLOWED:
        return []
    words = re.split(r"[/_]", str(PurePosixPath(path).with_suffix("")))
    return [f"{path}: {word}" for word in words if word in VAGUE_WORDS]


def more_than_a_docstring(tree: ast.Module) -> list[str]:
    """Statements of an `__init__.py` besides its docstring."""
    if ast.get_docstring(tree) is None:
        return ["line 1: no docstring"]
    return [f"line {node.lineno}: {ast.unparse(node)}" for node in tree.body[1:]]


def untidy_errors(trees: Iterable[ast.Module]) -> list[str]:
    """Errors of the whole app that are not direct, or whose code is absent, odd or taken."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    errors = {node.name: _code(node) for node in classes if "ContextError" in _bases(node)}
    taken = Counter(errors.values())
    return [
        *(
            f"{node.name} derives from {parent}"
            for node in classes
            for parent in _bases(node)
            if parent in errors
        ),
        *(
            f"{name} has the code {code!r}"
            for name, code in errors.items()
            if not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", code or "") or taken[code] > 1
        ),
    ]


def _bases(node: ast.ClassDef) -> list[str]:
    return [ast.unparse(base).split(".")[-1] for base in node.bases]


def _code(node: ast.ClassDef) -> str | None:
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="code")], value=ast.Constant(value=str(code))):
                return code
            case ast.AnnAssign(target=ast.Name(id="code"), value=ast.Constant(value=str(code))):
                return code
    return None

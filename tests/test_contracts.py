"""What signatures, docstrings and the list of dependencies promise, and whether it is so."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "kgqa"
MODULES = sorted(PACKAGE.rglob("*.py"))
Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Function(NamedTuple):
    """A function or method, where it stands, and the class that it belongs to."""

    node: Definition
    module: str
    owner: ast.ClassDef | None

    @property
    def is_public(self) -> bool:
        owner = self.owner.name if self.owner else ""
        special = self.node.name.startswith("__") and self.node.name.endswith("__")
        return not owner.startswith("_") and (special or not self.node.name.startswith("_"))

    @property
    def docstring(self) -> str:
        """Its own, and for what a class does by itself (to be made, to be called) the class's too."""
        said = ast.get_docstring(self.node) or ""
        if self.owner is not None and self.node.name.startswith("__"):
            said += ast.get_docstring(self.owner) or ""
        return said


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def house() -> tuple[dict[str, Function], dict[str, dict[str, str]]]:
    """Every function by its full name, and for each module what the names in it stand for."""
    functions: dict[str, Function] = {}
    names: dict[str, dict[str, str]] = {}
    for path in MODULES:
        module, tree = module_of(path), ast.parse(path.read_text(encoding="utf-8"))
        known = names.setdefault(module, {})
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kgqa"):
                known.update(
                    {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
                )
        for node in tree.body:
            if isinstance(node, ast.ClassDef | Definition):
                known[node.name] = f"{module}.{node.name}"
            if isinstance(node, Definition):
                functions[f"{module}.{node.name}"] = Function(node, module, None)
            elif isinstance(node, ast.ClassDef):
                for member in node.body:
                    if isinstance(member, Definition):
                        functions[f"{module}.{node.name}.{member.name}"] = Function(member, module, node)
    return functions, names


def resolved(name: str) -> str:
    """The function that a full name leads to, through what packages hand on; of a class the one that makes it."""
    functions, names = house()
    for _ in range(5):
        module, _, last = name.rpartition(".")
        if name in functions or f"{name}.__init__" in functions:
            break
        name = names.get(module, {}).get(last, name)
    return f"{name}.__init__" if f"{name}.__init__" in functions else name


def unguarded(nodes: list[ast.stmt]) -> Iterator[ast.Raise | ast.Call]:
    """What is raised and called in a body, but not where an InputError would be caught, nor in functions within."""
    waiting: list[ast.AST] = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Definition | ast.Lambda):
            continue
        if isinstance(node, ast.Try) and any(catches(handler) for handler in node.handlers):
            waiting += [*node.handlers, *node.orelse, *node.finalbody]
            continue
        if isinstance(node, ast.With) and "suppress(" in ast.unparse(node.items[0]):
            continue
        if isinstance(node, ast.Raise | ast.Call):
            yield node
        waiting += ast.iter_child_nodes(node)


def catches(handler: ast.ExceptHandler) -> bool:
    kinds = ast.unparse(handler.type) if handler.type else "Exception"
    passed_on = any(isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(handler))
    return bool(re.search(r"\b(InputError|ValueError|Exception)\b", kinds)) and not passed_on


def called(call: ast.Call, function: Function) -> str:
    _, names = house()
    known, target = names[function.module], call.func
    if isinstance(target, ast.Name):
        return resolved(known.get(target.id, ""))
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        if target.value.id in {"self", "cls"} and function.owner is not None:
            return f"{function.module}.{function.owner.name}.{target.attr}"
        return resolved(f"{known.get(target.value.id, '')}.{target.attr}")
    return ""


@cache
def raising() -> frozenset[str]:
    """Full names of the functions that raise InputError, by themselves or by what they call by name."""
    functions, _ = house()
    calls: dict[str, set[str]] = {}
    found: set[str] = set()
    for name, function in functions.items():
        calls[name] = set()
        for node in unguarded(function.node.body):
            if isinstance(node, ast.Call):
                calls[name].add(called(node, function))
            elif node.exc is not None and "InputError" in ast.unparse(node.exc):
                found.add(name)
    while more := {name for name, others in calls.items() if name not in found and others & found}:
        found |= more
    return frozenset(found)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_who_raises_input_error_says_so(path: Path) -> None:
    functions, _ = house()
    if (
        "cli" in path.relative_to(PACKAGE).parts
    ):  # a command's docstring is its help: the room says it for all
        assert "InputError" in (ast.get_docstring(ast.parse((PACKAGE / "cli/__init__.py").read_text())) or "")
        return
    for name in sorted(raising()):
        function = functions[name]
        if function.module == module_of(path) and function.is_public:
            assert "InputError" in function.docstring, (
                f"{name}, line {function.node.lineno}, raises InputError"
            )


def test_raising_is_found_through_what_is_called() -> None:
    assert "kgqa.graph.opening.open_graph" in raising() and "kgqa.models.reader.Reader.__init__" in raising()
    assert "kgqa.answering.answerer.Answerer.load" in raising() and "kgqa.types.printable" not in raising()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_modules_that_docstrings_name_exist(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        for quoted in re.findall(r"`([^`\n]+)`", str(node.value.value)):
            for place in re.findall(
                r"^[\w/]+\.(?:py|toml|ttl|md)$|^(?:kgqa|apps|tests|training)/[\w./]+$", quoted
            ):
                beside = any((folder / place).exists() for folder in (ROOT, PACKAGE, path.parent))
                assert beside or list(PACKAGE.rglob(place)), f"{path.name}, line {node.lineno}: {quoted}"
            if re.fullmatch(r"[A-Z][a-z]+[A-Z]\w+", quoted):  # a class
                assert re.search(rf"\b{quoted}\b", all_code()), f"{path.name}, line {node.lineno}: {quoted}"


@cache
def all_code() -> str:
    """The package without its docstrings' quotes."""
    return "\n".join(re.sub(r"`[^`\n]+`", "", path.read_text(encoding="utf-8")) for path in MODULES)


@pytest.mark.parametrize(
    "path",
    [p for p in MODULES if {"models", "objectives"} & set(p.parts)],
    ids=lambda p: p.relative_to(PACKAGE).as_posix(),
)
def test_forwards_take_one_tensor_by_position(path: Path) -> None:
    """Two tensors in the wrong order often fit each other: all but the first are named."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == "forward":
            kinds = [ast.unparse(argument.annotation) for argument in node.args.args if argument.annotation]
            tensors = [kind for kind in kinds if re.search(r"\bTensor\b", kind)]
            assert len(tensors) <= 1, f"{path.name}, line {node.lineno}: {kinds}"


def test_dependencies_are_imported() -> None:
    """Nothing is installed with kgqa that neither the package nor the app imports."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {
        name: rows
        for name, rows in project["optional-dependencies"].items()
        if name not in {"dev", "docs", "base"}
    }
    imported = {
        (node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name).partition(".")[0]
        for path in [*MODULES, *(ROOT / "apps").rglob("*.py")]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    for requirement in [*project["dependencies"], *(row for rows in extras.values() for row in rows)]:
        name = re.split(r"[\[>=<]", requirement)[0].removesuffix("-cpu").replace("-", "_")
        name = {"scikit_learn": "sklearn"}.get(name, name)
        assert name in imported, f"{requirement}: imported nowhere"

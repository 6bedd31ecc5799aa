"""What signatures, docstrings and the list of dependencies promise, and whether it is so."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "kgqa"
MODULES = sorted(PACKAGE.rglob("*.py"))


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

"""What signatures, docstrings and the list of dependencies promise, and whether it is so."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "kgqa"
MODULES = sorted(PACKAGE.rglob("*.py"))


def test_what_docstrings_name_exists() -> None:
    """Files and classes in backquotes: the pages of the reference are made of docstrings."""
    quoted = re.compile(r"`([^`\n]+)`")
    texts = {path: path.read_text(encoding="utf-8") for path in MODULES}
    words = {word for text in texts.values() for word in re.findall(r"\w+", quoted.sub("", text))}
    files = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*")}
    ends = {file.split("/", n)[-1] for file in files for n in range(file.count("/") + 1)}
    for path, text in texts.items():
        said = (node.value.value for node in ast.walk(ast.parse(text)) if is_text(node))
        for name in (name for text in said for name in quoted.findall(text)):
            if re.fullmatch(r"[\w/]+\.(?:py|toml|ttl|md)|(?:kgqa|apps|tests|training)/[\w./]+", name):
                assert name in ends or any((folder / name).exists() for folder in (ROOT, path.parent)), (
                    path,
                    name,
                )
            if re.fullmatch(r"[A-Z][a-z]+[A-Z]\w+", name):  # a class
                assert name in words, (path, name)


def is_text(node: ast.AST) -> TypeGuard[ast.Expr]:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def test_forwards_take_one_tensor_by_position() -> None:
    """Two tensors in the wrong order often fit each other: all but the first are named."""
    for path in (path for path in MODULES if {"models", "objectives"} & set(path.parts)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name == "forward":
                kinds = [
                    ast.unparse(argument.annotation) for argument in node.args.args if argument.annotation
                ]
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

"""The rules of the house: the direction of imports, the two doors, no drawers for the rest."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "kgqa"
FLOORS = {
    "types": 0,
    "batch": 1,
    "limits": 1,
    "assets": 1,
    "checking": 1,
    "progress": 1,
    "metrics": 2,
    "text": 2,
    "graph": 2,
    "korean": 3,
    "models": 3,
    "language": 3,
    "objectives": 4,
    "answering": 4,
    "trainer": 5,
    "evaluation": 7,
    "serving": 8,
    "cli": 9,
    "__init__": 10,
    "__main__": 10,
}
SUB_ROOMS = {
    "text": {"files": 0, "corpus": 1, "datasets": 1, "augment": 1, "synthesis": 2},
    "graph": {
        "linking": 0,
        "meanings": 1,
        "sources": 1,
        "storage": 2,
        "retrieval": 2,
        "authoring": 2,
        "samples": 3,
        "concepts": 3,
        "serving": 3,
        "querying": 3,
        "sparql": 3,
        "overlay": 3,
        "opening": 4,
    },
    "models": {
        "eight_bits": 0,
        "e5_file": 0,
        "devices": 1,
        "pretrained": 1,
        "segments": 0,
        "vectors": 0,
        "collation": 1,
        "encoders": 2,
        "association": 2,
        "heads": 3,
        "reasoners": 3,
        "language": 3,
        "classifiers": 3,
        "reader": 4,
        "fact_encoder": 5,
        "meaning": 6,
        "adapter": 5,
        "opening": 6,
    },
    "cli": {"options": 0, "graph": 1, "asking": 1, "training": 1, "evaluation": 2, "main": 3},
    "objectives": {"base": 0, "pretraining": 1, "finetuning": 1, "distillation": 2},
    "trainer": {
        "recipe": 0,
        "fingerprint": 0,
        "checkpoint": 0,
        "utilisation": 0,
        "optimizer": 1,
        "loop": 2,
        "data": 3,
        "pretraining": 4,
        "finetuning": 4,
    },
    "answering": {
        "draft": 0,
        "decision": 0,
        "deciding": 1,
        "evidence": 0,
        "logical_forms": 1,
        "presentation": 2,
        "retrieving": 2,
        "reading": 2,
        "gathering": 2,
        "computing": 3,
        "explaining": 3,
        "stages": 4,
        "answerer": 5,
    },
    "korean": {"words": 0, "saying": 0, "reading": 1, "english": 2, "answering": 3},
}
"""Floors within a room: here too an arrow points only to a lower one."""
SEPARATE = [("models.heads", "models.reasoners")]
"""Rooms of one floor that do not know each other; what both need lies in `types` or `batch`."""
SIDE_BY_SIDE = 16
"""Modules of a folder."""
LONGEST = 500
"""Lines of a module."""
MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def imports(path: Path) -> set[str]:
    """Every module that a file imports at run time, also inside functions (not under TYPE_CHECKING)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            skipped.update(child for statement in node.body for child in ast.walk(statement))
    found: set[str] = set()
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            if node.module.startswith("kgqa"):
                found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_down(path: Path) -> None:
    room = name_of(path).split("/")[0]
    for module in imports(path):
        if not module.startswith("kgqa.") or room_of(module) not in FLOORS:
            continue
        target = room_of(module)
        if target == room:
            continue
        assert FLOORS[target] < FLOORS[room], f"{name_of(path)} imports {module}, which is not below it"


@pytest.mark.parametrize("room", SUB_ROOMS)
def test_imports_within_a_room_point_down(room: str) -> None:
    floors = SUB_ROOMS[room]
    for path in sorted((PACKAGE / room).rglob("*.py")):
        if path.parent.name == room and path.stem == "__init__":
            continue
        home = name_of(path).split("/")[1]
        for module in imports(path):
            parts = module.split(".")
            if parts[:2] != ["kgqa", room] or len(parts) < 3 or parts[2] == home:
                continue
            below = floors[parts[2]] < floors[home]
            assert below, f"{name_of(path)} imports {module}, which is not below it"


@pytest.mark.parametrize(("one", "other"), [*SEPARATE, *((b, a) for a, b in SEPARATE)])
def test_some_rooms_do_not_know_each_other(one: str, other: str) -> None:
    for path in sorted((PACKAGE / one.replace(".", "/")).rglob("*.py")):
        known = [module for module in imports(path) if f"{module}.".startswith(f"kgqa.{other}.")]
        assert not known, f"{name_of(path)} imports {known}"


def test_no_module_waits_for_itself() -> None:
    names = {"kgqa." + name_of(path).replace("/", ".").removesuffix(".__init__"): path for path in MODULES}
    needed = {name: imports(path) & set(names) - {name} for name, path in names.items()}
    while needed:
        free = {name for name, others in needed.items() if not others & set(needed)}
        assert free, f"these import each other in a circle, or what does: {sorted(needed)}"
        needed = {name: others for name, others in needed.items() if name not in free}


def test_no_long_corridors() -> None:
    for folder in {path.parent for path in MODULES}:
        files = [path for path in folder.glob("*.py") if path.stem != "__init__"]
        assert len(files) <= SIDE_BY_SIDE, f"{folder}: {len(files)} files side by side"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_module_is_too_long(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST, f"{name_of(path)}: {lines} lines; it does more than one thing"


def test_one_module_knows_where_things_lie() -> None:
    for path in MODULES:
        if name_of(path) != "assets":
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"\.parents\[|os\.environ\W.*(KGQA|XDG)", text), (
                f"{name_of(path)}: ask assets.py"
            )


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_heavy_libraries_stay_in_their_rooms(path: Path) -> None:
    name = name_of(path)
    found = {module.split(".")[0] for module in imports(path)}
    if name != "batch" and FLOORS[name.split("/")[0]] <= 2 and not name.endswith("__init__"):
        assert "torch" not in found, f"{name} must work without torch"
    if not name.startswith("graph/"):
        assert not found & {"rdflib", "pyoxigraph"}, f"only graph/ speaks RDF, not {name}"
    assert "streamlit" not in found, "only apps/ imports streamlit"
    assert not found & {"pickle", "dill", "joblib"}, f"{name}: no input may run code"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_drawers_and_no_stars(path: Path) -> None:
    assert path.stem not in {"utils", "common", "helpers", "misc"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not any(alias.name == "*" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_has_its_test(path: Path) -> None:
    if path.stem in {"__init__", "__main__"} or name_of(path) in {"types", "batch"}:
        return
    relative = path.relative_to(PACKAGE)
    assert (ROOT / "tests" / relative.parent / f"test_{relative.name}").exists(), f"no test for {relative}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_public_names_are_documented(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{name_of(path)} has no module docstring"
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{name_of(path)}.{node.name} has no docstring"

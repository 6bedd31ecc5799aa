"""The package is imported, and a custom graph is read and asked, where POSIX's own modules are missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgqa.graph.load import open_graph
from kgqa.graph.sandboxed_sparql import SparqlSandbox
from kgqa.types import InputError

ROOT = Path(__file__).parent.parent
HIDDEN = """
import builtins, os, signal
given = builtins.__import__

def hidden(name, globals=None, *rest, **how):
    ours = (globals or {}).get("__name__", "").split(".")[0] in ("kgqa", "apps", "__main__")
    if ours and name in ("fcntl", "resource", "pwd", "grp", "termios"):
        raise ImportError(f"{name}: not on this system")
    return given(name, globals, *rest, **how)

builtins.__import__ = hidden
for module, names in ((signal, "SIGALRM SIGXCPU alarm setitimer"), (os, "fork")):
    for name in names.split():
        delattr(module, name)
"""
IMPORTS = """
import importlib, os, pkgutil, signal, torch, transformers
import accelerate, faiss, scipy, pyoxigraph
exec(os.environ["HIDDEN"])
import kgqa
for found in pkgutil.walk_packages(kgqa.__path__, "kgqa."):
    if "_shipped" not in found.name and not found.name.endswith("__main__"):
        try:
            importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            assert error.name in ("torch_geometric", "ray", "mcp", "fastapi", "kiwipiepy"), error
print("imported")
"""


def run(code: str, *words: str, **more: str) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*more.pop("PATHS", "").split(), str(ROOT)]),
        **more,
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=environment, capture_output=True, text=True, timeout=800
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_every_module_is_imported_without_posix() -> None:
    assert "imported" in run(IMPORTS, HIDDEN=HIDDEN)


def test_a_graph_of_ones_own_is_asked_without_posix(
    tools_file: Path, model_folder: Path, tmp_path: Path
) -> None:
    """Its children have no such modules either."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(HIDDEN)
    asked = (
        "ask",
        "What is used to plant flowers?",
        "--graph",
        str(tools_file),
        "--model",
        str(model_folder),
    )
    code = "from kgqa.cli.main import run; run()"
    reported = run(code, *asked, PATHS=str(tmp_path / "site"), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert reported.strip()
    assert [path for path in (tmp_path / "cache" / "kgqa" / "graphs").iterdir() if path.is_dir()]


def test_queries_say_where_they_are_answered(tools_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with pytest.raises(InputError, match="Linux or macOS"):
        SparqlSandbox(open_graph(tools_file)).select("SELECT * { ?s ?p ?o }")  # type: ignore[arg-type]

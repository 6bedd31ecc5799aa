from pathlib import Path

from graph_commands import refused, run

from kgqa.graph.meanings import is_kind
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import write_store
from kgqa.types import Triple


def test_what_is_set_is_kept_and_shown(tmp_path: Path) -> None:
    folder = str(tmp_path / "store")
    write_store([Triple("bee", "art", "insect"), Triple("bee", "mass", '"90 mg"')], folder)
    told = run("describe", folder, "--relation", "art", "--means", "kind, narrows", "--incomplete")
    assert "kind, narrows" in told and "may be so" in told and "in mg" in told
    graph = GraphStore.open(folder)
    assert not graph.is_complete and any(map(is_kind, graph.relations))
    assert "kind, narrows" in run("info", folder)
    assert "may be so" not in run("describe", folder, "--complete")
    run("describe", folder, "--relation", "ART", "--means", "")
    assert not any(map(is_kind, GraphStore.open(folder).relations))
    assert "no relation" in refused("describe", folder, "--relation", "size", "--means", "kind")
    assert "no meaning" in refused("describe", folder, "--relation", "art", "--means", "sort")

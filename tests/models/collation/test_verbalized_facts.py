from kgqa.models.collation.rows import PathTable, choice_nodes, paths_text
from kgqa.types import Subgraph


def test_the_best_path_to_a_node_is_told_first(digging: Subgraph) -> None:
    table = PathTable(digging)
    tool = digging.labels.index("trowel")
    paths = table.paths(tool, 2)
    assert paths and paths == sorted(paths, key=lambda reported: -reported.worth)
    assert "trowel" in paths_text(table, [tool], 2)


def test_nothing_is_told_of_a_graph_without_facts() -> None:
    assert paths_text(PathTable(Subgraph()), [], 2) == "" and choice_nodes(Subgraph()) == []

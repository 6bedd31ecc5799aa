"""Subgraphs whose concepts bear the labels of another language, so that a reader learns to choose among those too."""

from __future__ import annotations

from dataclasses import replace

from kgqa.graph.retrieval.languages import label_in
from kgqa.graph.storage.store import GraphStore
from kgqa.types import Example, InputError, KnowledgeGraph, Subgraph


class OtherLabels:
    """Gives concepts of a graph their labels of one language; those without one keep what they are called.

    Raises:
        InputError: the graph is no store on this machine, which alone tells the languages of its labels.
    """

    def __init__(self, graph: KnowledgeGraph, language: str) -> None:
        if not isinstance(graph, GraphStore):
            raise InputError(
                f"{graph.name}: labels in {language} are read of a compiled graph; import it first"
            )
        self.graph, self.language = graph, language
        self._known: dict[str, str] = {}

    def of_subgraph(self, subgraph: Subgraph) -> Subgraph:
        """The subgraph with those labels."""
        unknown = [name for name in subgraph.nodes if name not in self._known]
        for name, entity in zip(unknown, self.graph.ids(unknown).tolist(), strict=True):
            self._known[name] = self.of_entity(entity) if entity >= 0 else ""
        labels = zip(subgraph.nodes, subgraph.labels, strict=True)
        return replace(subgraph, labels=tuple(self._known[name] or label for name, label in labels))

    def of_example(self, example: Example) -> Example:
        """The example whose accepted concepts may also be said in that language."""
        if not example.concepts:
            return example
        found = self.graph.find(list(example.concepts))
        more = [self.of_entity(entity) for ids in found for entity in ids.tolist()]
        return replace(example, concepts=tuple(dict.fromkeys([*example.concepts, *filter(None, more)])))

    def of_entity(self, entity: int) -> str:
        """Its label in that language; "" where it has none."""
        return label_in(self.graph, entity, self.language)

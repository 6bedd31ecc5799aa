"""Export graphs: as Turtle, and in the formats of networkx, for which the graph must fit in memory."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from functools import partial
from typing import IO, TYPE_CHECKING
from urllib.parse import quote

import numpy as np

if TYPE_CHECKING:
    from networkx import MultiDiGraph

    from kgqa.graph.storage.store import GraphStore

_PART = 100_000
PREFIXES = """@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix kgqa: <https://kgqa.org/ontology#> .

"""
_PLAIN = r"[^\x00-\x20<>\"{}|^`\\#]*"
_IRI = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*:{_PLAIN}(?:#{_PLAIN})?")
_LITERAL = re.compile(rf'"(.*)"(|@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^<{_PLAIN}(?:#{_PLAIN})?>)', re.DOTALL)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def turtle(store: GraphStore) -> bytes:
    """A store as Turtle in UTF-8."""
    content = io.BytesIO()  # encoded, since a Python text may take four bytes per character
    write_turtle(store, content)
    return content.getvalue()


def _edges(store: GraphStore) -> Iterator[tuple[int, int, int, float]]:
    for start in range(0, store.edge_count, _PART):
        part = store.edges(start, min(start + _PART, store.edge_count))
        yield from zip(*(column.tolist() for column in part), strict=True)


def _nodes(store: GraphStore) -> Iterator[tuple[int, str, str]]:
    for start in range(0, store.entity_count, _PART):
        ids = np.arange(start, min(start + _PART, store.entity_count), dtype=np.int32)
        yield from zip(ids.tolist(), store.names(ids), store.labels(ids), strict=True)


def turtle_literal(text: str) -> str:
    """A text as a Turtle literal."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def turtle_term(name: str) -> str:
    """Turtle term: an IRI, blank node or literal unchanged; a plain name as a URN."""
    if literal := _LITERAL.fullmatch(name):
        return turtle_literal(literal[1]) + literal[2]
    if name.startswith("_:"):
        return name
    return f"<{name}>" if _IRI.fullmatch(name) else f"<urn:kgqa:{quote(name, safe='/')}>"


def write_turtle(store: GraphStore, file: IO[bytes]) -> None:
    """Write a graph as Turtle; weights other than 1 are written by reification."""
    file.writelines(map(str.encode, _turtle(store)))


def _turtle(store: GraphStore) -> Iterator[str]:
    yield PREFIXES
    for relation in store.relations:
        named = turtle_term(relation.name)
        yield f"{named} rdfs:label {turtle_literal(relation.label)} .\n"
        if relation.words:
            yield f"{named} kgqa:words {turtle_literal(relation.words)} .\n"
    names = []
    for entity, name, label in _nodes(store):
        names.append(turtle_term(name))
        labels = store.all_labels(entity)
        for row in labels:
            kind = "rdfs:label" if row.preferred else "skos:altLabel"
            language = f"@{row.language}" if row.language else ""
            yield f"{names[-1]} {kind} {turtle_literal(row.text)}{language} .\n"
        if not labels and label and names[-1].startswith("<urn:kgqa:"):
            yield f"{names[-1]} rdfs:label {turtle_literal(label)} .\n"
    for head, relation_id, tail, weight in _edges(store):
        parts = (names[head], turtle_term(store.relations[relation_id].name), names[tail])
        yield f"{' '.join(parts)} .\n"
        if weight != 1.0:
            yield (
                f"[] a rdf:Statement ; rdf:subject {parts[0]} ; rdf:predicate {parts[1]} ; "
                f"rdf:object {parts[2]} ; kgqa:weight {weight:.9g} .\n".replace("e+", "e")
            )


def to_networkx(store: GraphStore) -> MultiDiGraph:
    """A store as a `networkx.MultiDiGraph`: nodes by name with `label`, edges by relation with `label` and
    `weight`."""
    import networkx

    graph = networkx.MultiDiGraph(name=store.name, hash=store.hash)
    names = []
    for _, name, label in _nodes(store):
        names.append(name)
        graph.add_node(name, label=label)
    for head, relation, tail, weight in _edges(store):
        about = store.relations[relation]
        graph.add_edge(names[head], names[tail], about.name, label=about.label, weight=float(f"{weight:.7g}"))
    return graph


def write_graphml(store: GraphStore, file: IO[bytes]) -> None:
    """Write a graph as GraphML."""
    import networkx

    networkx.write_graphml(_numbered(to_networkx(store)), file, prettyprint=False)


def write_gexf(store: GraphStore, file: IO[bytes]) -> None:
    """Write a graph as GEXF."""
    import networkx

    networkx.write_gexf(_numbered(to_networkx(store)), file, prettyprint=False)


def write_gml(store: GraphStore, file: IO[bytes]) -> None:
    """Write a graph as GML, where `label` is a node's name and `title` its label."""
    import networkx

    graph = to_networkx(store)
    for _, about in graph.nodes(data=True):
        about["title"] = about.pop("label")
    networkx.write_gml(graph, file)


def write_cytoscape(store: GraphStore, file: IO[bytes]) -> None:
    """Write a graph as Cytoscape's JSON."""
    import networkx

    file.write(json.dumps(networkx.cytoscape_data(to_networkx(store)), ensure_ascii=False).encode())


def write_node_link(store: GraphStore, file: IO[bytes]) -> None:
    """Write a graph as node-link JSON, as `networkx.node_link_graph` reads it."""
    import networkx

    graph = to_networkx(store)
    file.write(json.dumps(networkx.node_link_data(graph, edges="edges"), ensure_ascii=False).encode())


def _numbered(graph: MultiDiGraph) -> MultiDiGraph:
    """The graph for XML: numbers as ids, names as attributes, without characters that XML forbids."""
    numbered, clean = type(graph)(), partial(_NOT_XML.sub, "")
    number = {name: n for n, name in enumerate(graph)}
    for name, about in graph.nodes(data=True):
        numbered.add_node(number[name], name=clean(name), label=clean(about["label"]))
    for edge, (head, tail, relation, about) in enumerate(graph.edges(keys=True, data=True)):
        words = {"relation": clean(relation), "label": clean(about["label"])}
        numbered.add_edge(number[head], number[tail], edge, **words, weight=about["weight"])
    return numbered

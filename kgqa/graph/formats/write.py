"""Export graphs: as Turtle and DOT, and in the formats of networkx, for which the graph must fit in memory."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from functools import partial
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from kgqa.notebook import laid_out
from kgqa.types import InputError

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
_LATEX = re.compile(r"[\\&%$#_{}~^]")
MOST_DRAWN = 500
"""Most concepts of a figure, whose layout takes time that grows with their square."""
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


def write_xml(form: str, store: GraphStore, file: IO[bytes]) -> None:
    """Write a graph as GraphML or GEXF."""
    import networkx

    getattr(networkx, f"write_{form}")(_numbered(to_networkx(store)), file, prettyprint=False)


def write_json(form: str, store: GraphStore, file: IO[bytes], **options: Any) -> None:
    """Write a graph as JSON by a function of networkx: node_link_data, adjacency_data or cytoscape_data."""
    import networkx

    data = getattr(networkx, form)(to_networkx(store), **options)
    file.write(json.dumps(data, ensure_ascii=False).encode())


def write_lines(form: str, store: GraphStore, file: IO[bytes], **options: Any) -> None:
    """Write a graph as lines of names separated by tabs: an edgelist, adjlist or multiline_adjlist of networkx."""
    import networkx

    graph = _respelt(to_networkx(store), {"\t": "\\t", "\n": "\\n", "\r": "\\r"})
    lines = getattr(networkx, f"generate_{form}")(graph, delimiter="\t", **options)
    file.writelines(f"{line}\n".encode() for line in lines)


def write_gml(store: GraphStore, file: IO[bytes]) -> None:
    """Write a graph as GML, where `label` is a node's name and `title` its label."""
    import networkx

    graph = to_networkx(store)
    for _, about in graph.nodes(data=True):
        about["title"] = about.pop("label")
    networkx.write_gml(graph, file)


def write_pajek(store: GraphStore, file: IO[bytes]) -> None:
    """Write a graph for Pajek, where straight quotes become typographic and other signs of its syntax blanks."""
    import networkx

    signs = {'"': "”", "'": "’"} | dict.fromkeys("\\\n\r", " ")
    networkx.write_pajek(_respelt(to_networkx(store), signs), file)


def write_latex(store: GraphStore, file: IO[bytes]) -> None:
    """Write a small graph as a figure for LaTeX (TikZ), by the spring layout."""
    import networkx

    if store.entity_count > MOST_DRAWN:
        raise InputError(f"{store.name}: a figure has at most {MOST_DRAWN} concepts; choose another format")
    graph = networkx.convert_node_labels_to_integers(to_networkx(store))
    labels: dict[tuple[int, int], str] = {}
    for about in (*graph.nodes.values(), *graph.edges.values()):
        about["label"] = _LATEX.sub(lambda found: rf"\char{ord(found[0])}{{}}", about["label"])
    for head, tail, label in graph.edges(data="label"):  # one arrow for all facts of two concepts
        labels[head, tail] = f"{labels[head, tail]}, {label}" if (head, tail) in labels else label
    places = {node: (5 * at["x"], 5 * at["y"]) for node, at in laid_out(graph, "spring").nodes(data=True)}
    figure = networkx.to_latex(networkx.DiGraph(graph), places, node_label="label", edge_label=labels)
    file.write(figure.encode())


def write_dot(store: GraphStore, file: IO[bytes]) -> None:
    """Write a graph as Graphviz's DOT, part by part."""

    def text(value: str) -> str:
        return '"' + value.replace("\\", r"\\").replace('"', r"\"") + '"'

    file.write(b"digraph {\n")
    for entity, name, label in _nodes(store):
        file.write(f"{entity} [label={text(label)}, name={text(name)}];\n".encode())
    for head, relation, tail, weight in _edges(store):
        label = store.relations[relation].label
        file.write(f"{head} -> {tail} [label={text(label)}, weight={weight:.7g}];\n".encode())
    file.write(b"}\n")


def _respelt(graph: MultiDiGraph, signs: dict[str, str]) -> MultiDiGraph:
    """The graph with other signs in its names and labels."""
    import networkx

    table = str.maketrans(signs)
    for about in (*graph.nodes.values(), *graph.edges.values()):
        about["label"] = about["label"].translate(table)
    return networkx.relabel_nodes(graph, {name: name.translate(table) for name in graph})


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

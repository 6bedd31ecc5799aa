"""Graphs as text for other programs: Turtle, GraphML, networkx node-link JSON."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote
from xml.sax.saxutils import escape

import numpy as np

if TYPE_CHECKING:
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


def turtle(store: GraphStore) -> bytes:
    """A store as Turtle in UTF-8."""
    content = io.BytesIO()  # encoded, since a Python text may take four bytes per character
    file = io.TextIOWrapper(content, encoding="utf-8", newline="")
    write_turtle(store, file)
    file.flush()
    return content.getvalue()


def _edges(store: GraphStore) -> Iterator[tuple[int, int, int, float]]:
    for start in range(0, store.edge_count, _PART):
        part = store.edges(start, min(start + _PART, store.edge_count))
        yield from zip(*(column.tolist() for column in part), strict=True)


def _nodes(store: GraphStore) -> Iterator[tuple[int, str, str]]:
    for start in range(0, store.entity_count, _PART):
        ids = np.arange(start, min(start + _PART, store.entity_count), dtype=np.int32)
        yield from zip(ids.tolist(), store.names(ids), store.labels(ids), strict=True)


def quoted(text: str) -> str:
    """A text as a Turtle literal."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def term(name: str) -> str:
    """Turtle term: an IRI, blank node or literal unchanged; a plain name as a URN."""
    if literal := _LITERAL.fullmatch(name):
        return quoted(literal[1]) + literal[2]
    if name.startswith("_:"):
        return name
    return f"<{name}>" if _IRI.fullmatch(name) else f"<urn:kgqa:{quote(name, safe='/')}>"


def write_turtle(store: GraphStore, file: IO[str]) -> None:
    """Write a graph as Turtle; weights other than 1 are those of reified statements."""
    file.write(PREFIXES)
    for relation in store.relations:
        named = term(relation.name)
        file.write(f"{named} rdfs:label {quoted(relation.label)} .\n")
        if relation.words:
            file.write(f"{named} kgqa:words {quoted(relation.words)} .\n")
    names = []
    for entity, name, label in _nodes(store):
        names.append(term(name))
        labels = store.all_labels(entity)
        for row in labels:
            kind = "rdfs:label" if row.preferred else "skos:altLabel"
            language = f"@{row.language}" if row.language else ""
            file.write(f"{names[-1]} {kind} {quoted(row.text)}{language} .\n")
        if not labels and label and names[-1].startswith("<urn:kgqa:"):
            file.write(f"{names[-1]} rdfs:label {quoted(label)} .\n")
    for head, relation_id, tail, weight in _edges(store):
        parts = (names[head], term(store.relations[relation_id].name), names[tail])
        file.write(f"{' '.join(parts)} .\n")
        if weight != 1.0:
            file.write(
                f"[] a rdf:Statement ; rdf:subject {parts[0]} ; rdf:predicate {parts[1]} ; "
                f"rdf:object {parts[2]} ; kgqa:weight {weight:.9g} .\n".replace("e+", "e")
            )


def write_graphml(store: GraphStore, file: IO[str]) -> None:
    """Write a graph as GraphML."""
    file.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    )
    for key_text in ("node name", "node label", "edge relation", "edge label", "edge weight"):
        owner, name = key_text.split()
        kind = "double" if name == "weight" else "string"
        file.write(f'<key id="{owner}_{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>\n')
    file.write('<graph edgedefault="directed">\n')
    for entity, name, label in _nodes(store):
        file.write(f'<node id="n{entity}"><data key="node_name">{_xml(name)}</data>')
        file.write(f'<data key="node_label">{_xml(label)}</data></node>\n')
    for number, (head, relation, tail, weight) in enumerate(_edges(store)):
        about = store.relations[relation]
        file.write(f'<edge id="e{number}" source="n{head}" target="n{tail}">')
        file.write(f'<data key="edge_relation">{_xml(about.name)}</data>')
        file.write(f'<data key="edge_label">{_xml(about.label)}</data>')
        file.write(f'<data key="edge_weight">{weight:.9g}</data></edge>\n')
    file.write("</graph>\n</graphml>\n")


def _xml(text: str) -> str:
    return escape("".join(c for c in text if c >= " " or c in "\t\n"))


def write_networkx(store: GraphStore, file: IO[str]) -> None:
    """Write a graph as node-link JSON, as `networkx.node_link_graph` reads it."""
    file.write('{"directed": true, "multigraph": true, "graph": ')
    file.write(json.dumps({"name": store.name, "hash": store.hash}) + ', "nodes": [\n')
    _join(file, ({"id": name, "label": label} for _, name, label in _nodes(store)))
    file.write('\n], "edges": [\n')
    names = [name for _, name, _ in _nodes(store)]
    kinds = [{"key": about.name, "label": about.label} for about in store.relations]
    facts = (
        {"source": names[head], "target": names[tail], **kinds[relation], "weight": round(weight, 6)}
        for head, relation, tail, weight in _edges(store)
    )
    _join(file, facts)
    file.write("\n]}\n")


def _join(file: IO[str], rows: Iterator[Any]) -> None:
    for number, row in enumerate(rows):
        file.write((",\n" if number else "") + json.dumps(row, ensure_ascii=False))

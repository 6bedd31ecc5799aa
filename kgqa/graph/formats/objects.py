"""Graphs in memory: rdflib and networkx graphs, pandas and Arrow tables, iterables of triples.

None of these libraries is imported here: a caller that has such an object has imported it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kgqa.graph.formats.rdf import read_rdf_text
from kgqa.graph.formats.source_files import UNSTATED, Batch, Tally, batches
from kgqa.graph.formats.tables import cell_name, kind_of_header, read_things
from kgqa.graph.formats.tsv import columns_named
from kgqa.graph.linking.label_keys import literal_name
from kgqa.types import InputError, Label, Triple

OWN_ATTRIBUTES = {"label", "role", "score"}
"""Attributes of the nodes that `Subgraph.to_networkx` writes."""
TAKEN = (
    "a shipped name, a file, a folder or a SPARQL URL, or an rdflib Graph, a directed networkx graph, "
    "a table of pandas or Arrow, or triples"
)


def read_object(graph: Any, tally: Tally) -> Iterator[Batch]:
    """Facts and labels of a graph in memory.

    A table with columns head, relation and tail (or subject, predicate and object), or with three or four unnamed
    columns, holds one fact per row. Any other table holds one entity per row; its class is named by the first column.
    """
    match _library(graph):
        case "rdflib" if hasattr(graph, "serialize"):
            form = "nquads" if hasattr(graph, "quads") else "nt"
            yield from read_rdf_text(graph.serialize(format=form, encoding="utf-8"), tally)
        case "networkx" if graph.is_directed():
            yield from batches(_network(graph))
        case "pandas" if hasattr(graph, "itertuples"):
            named = graph.reset_index() if any(name is not None for name in graph.index.names) else graph
            yield from batches(_table(list(named.columns), named.itertuples(index=False, name=None), tally))
        case "pyarrow" if hasattr(graph, "column_names"):
            rows = zip(*(column.to_pylist() for column in graph.columns), strict=True)
            yield from batches(_table(graph.column_names, rows, tally))
        case "networkx" | "rdflib" | "pandas" | "pyarrow":
            raise InputError(f"{type(graph).__name__}: neither a directed graph nor a table; pass {TAKEN}")
        case _ if isinstance(graph, Iterable) and not isinstance(graph, str | bytes | Mapping):
            yield from batches(_triples(graph))
        case _:
            raise InputError(f"the graph is of type {type(graph).__name__}; pass {TAKEN}")


def _library(graph: Any) -> str:
    known = {"rdflib", "networkx", "pandas", "pyarrow"}
    origins = (base.__module__.partition(".")[0] for base in type(graph).__mro__)
    return next((name for name in origins if name in known), "")


def _network(graph: Any) -> Iterator[Triple | Label]:
    """Facts of a networkx graph: edges, whose relation is the attribute `relation`, `label` or `type`, else the key,
    and the attributes of nodes; a node's `label` is its label."""
    for node, about in graph.nodes(data=True):
        if about.get("label"):
            yield Label(_name(node), str(about["label"]))
        for attribute, values in about.items() if about.keys() != OWN_ATTRIBUTES else ():
            for value in values if isinstance(values, list | tuple | set) else [values]:
                if attribute != "label" and (tail := _name(value)):
                    yield Triple(_name(node), str(attribute), tail, UNSTATED)
    edges = graph.edges(keys=True, data=True) if graph.is_multigraph() else graph.edges(data=True)
    for head, tail, *key, about in edges:
        own = key[0] if key and isinstance(key[0], str) else ""
        relation = about.get("relation") or about.get("label") or own or about.get("type")
        if not relation:
            raise InputError(
                f"edge {head!r} to {tail!r}: no relation; give it as the edge's attribute `relation` or as its key"
            )
        # as `Subgraph.to_networkx` writes it: the key is the name, the attribute the label
        if own and own != relation and "relation" not in about:
            yield Label(own, str(relation))
            relation = own
        yield Triple(_name(head), str(relation), _name(tail), float(about.get("weight", UNSTATED)))


def _table(columns: list[Any], rows: Iterable[tuple[Any, ...]], tally: Tally) -> Iterator[Triple | Label]:
    names = [str(column) for column in columns]
    places = columns_named(names)
    if places is None and (len(names) not in (3, 4) or any(isinstance(column, str) for column in columns)):
        yield from read_things("table", kind_of_header(names[0]), names, list(enumerate(rows, 1)), tally)
        return
    places = places or {"head": 0, "relation": 1, "tail": 2}
    weighed = places.get("weight", -1)
    for row in rows:
        head, relation, tail = (_name(row[places[name]]) for name in ("head", "relation", "tail"))
        if head and relation and tail:
            yield Triple(head, relation, tail, float(row[weighed]) if weighed >= 0 else UNSTATED)
        else:
            tally.skipped["row with an empty cell"] += 1


def _triples(graph: Iterable[Any]) -> Iterator[Triple]:
    for number, fact in enumerate(graph, 1):
        if isinstance(fact, Triple):
            yield fact
            continue
        fact = fact.tolist() if hasattr(fact, "tolist") else fact  # of numpy
        parts = fact if isinstance(fact, tuple | list) and len(fact) == 3 else ()
        names = [_name(part) for part in parts]
        if not names or not all(names):
            raise InputError(f"triple {number}: {fact!r:.60} is not a triple; write (head, relation, tail)")
        yield Triple(names[0], names[1], names[2], UNSTATED)


def _name(value: Any) -> str:
    """Name of a term: an rdflib term, a number, a date or a text."""
    if _library(value) != "rdflib":
        return cell_name(value)
    if hasattr(value, "datatype"):
        return literal_name(str(value), value.language or "", str(value.datatype or ""))
    return str(value.n3()) if value.n3().startswith("_:") else str(value)

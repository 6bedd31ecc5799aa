"""Stream RDF in any common syntax to facts and labels, with pyoxigraph.

An rdf:List becomes its members. Numbers, dates and short texts become entities named by the literal. Structures of
several statements, such as reification, are converted to facts (`structures`). Comments and schema statements are left
out and counted.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from kgqa.graph.formats.source_files import COMPRESSIONS, UNSTATED, Batch, Checked, ReadOptions, Tally
from kgqa.graph.formats.structures import GraphFact, Structures
from kgqa.graph.formats.vocabulary import (
    NIL,
    OWL,
    RDF,
    SHACL,
    PropertyRole,
    is_schema,
    names_a_thing,
    role_of,
)
from kgqa.graph.linking.label_keys import literal_name
from kgqa.types import InputError, Label

# JSON-LD with schema.org's context gets a built-in copy of it, since nothing is ever downloaded.

MAX_DEPTH = 200
"""Maximum nesting of objects and lists; the parser is recursive, and deeper nesting would overflow its stack."""
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NEITHER = bytes(set(range(256)) - set(b"{}[]"))
_ADDRESS = re.compile(r"https?://(www\.)?schema\.org(/docs/jsonldcontext\.(json|jsonld))?/?")
CONTEXT: dict[str, Any] = {
    "@vocab": "https://schema.org/",
    "schema": "https://schema.org/",
    "type": "@type",
    "id": "@id",
    **{
        name: {"@type": "@id"}
        for name in ("sameAs", "url", "image", "license", "additionalType", "mainEntityOfPage")
    },
}
"""A minimal schema.org context: terms are their own names, and the values of some are IRIs."""


def with_context(path: Path) -> bytes | None:
    """The file with schema.org's context inserted; None if it does not refer to it and can be parsed as it is.

    Raises InputError if the file is damaged or nested too deeply.
    """
    with io.BufferedReader(Checked(path), 1 << 20) as stream:
        content = stream.read()
    if depth(content) > MAX_DEPTH:
        raise InputError(f"{path}: objects and lists nested over {MAX_DEPTH} deep; flatten the file")
    if b"schema.org" not in content:
        return None
    try:
        document = json.loads(content)
        found = _written_out(document)
        return json.dumps(found, ensure_ascii=False).encode() if found != document else None
    except (ValueError, RecursionError):  # not JSON, or with a lone surrogate
        return None  # the RDF parser will report the position


def depth(content: bytes) -> int:
    """Nesting depth of objects and lists in a JSON text, which need not be well formed."""
    brackets = np.frombuffer(_TEXT.sub(b"", content).translate(None, _NEITHER), dtype=np.uint8)
    steps = np.where((brackets == ord("{")) | (brackets == ord("[")), 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def _written_out(value: Any, is_context: bool = False) -> Any:
    if isinstance(value, str) and is_context and _ADDRESS.fullmatch(value.strip()):
        return CONTEXT
    if isinstance(value, list):
        return [_written_out(item, is_context) for item in value]
    if isinstance(value, dict):
        return {key: _written_out(item, key == "@context") for key, item in value.items()}
    return value


# RDF/XML is checked before parsing: for entity expansion ("billion laughs") and excessive nesting.

MAX_ELEMENT_DEPTH = 1_000
MAX_ATTRIBUTES = 1_000
"""Maximum number of attributes of an element; parsers compare each with all others, in quadratic time."""
MAX_PARTS = 10
"""Maximum number of elements and attributes per compressed byte; each takes about a microsecond to parse."""
FREE_PARTS = 1_000_000
"""Number of elements and attributes that any archive may hold, whatever its ratio."""
MAX_ENTITY = 1_000
"""Maximum length of an entity in characters; the namespaces that RDF/XML uses them for are far shorter."""


def check_markup(path: Path) -> None:
    """Raise `InputError` for XML that is not well formed, or would exhaust the parser."""
    parser = expat.ParserCreate()
    parser.ordered_attributes = True
    depth = parts = 0
    compressed = path.suffix.lower() in COMPRESSIONS
    most = max(FREE_PARTS, MAX_PARTS * path.stat().st_size) if compressed else sys.maxsize

    def place() -> str:
        return f"{path}:{parser.CurrentLineNumber}:{parser.CurrentColumnNumber + 1}"

    def start(name: str, attributes: Any) -> None:
        nonlocal depth, parts
        depth += 1
        parts += 1 + len(attributes) // 2
        if parts > most:
            raise InputError(
                f"{place()}: over {MAX_PARTS} elements and attributes per compressed byte; decompress the file "
                "yourself if it is trusted"
            )
        if depth > MAX_ELEMENT_DEPTH:
            raise InputError(f"{place()}: elements nested over {MAX_ELEMENT_DEPTH} deep; flatten the file")
        if len(attributes) > 2 * MAX_ATTRIBUTES:
            raise InputError(
                f"{place()}: over {MAX_ATTRIBUTES} attributes in one element; write elements instead"
            )

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    def entity(name: str, is_parameter: bool, value: str | None, *rest: Any) -> None:
        if value is None or is_parameter:
            raise InputError(f"{place()}: entity {name!r} is external; replace it by its value")
        if "&" in value or len(value) > MAX_ENTITY:
            raise InputError(
                f"{place()}: entity {name!r} expands others or is very long; replace it by its value"
            )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = entity
    with Checked(path) as stream:
        try:
            while data := stream.read(1 << 20):
                parser.Parse(data, False)
            parser.Parse(b"", True)
        # ValueError: encodings that expat does not know, such as UTF-7
        except (expat.ExpatError, LookupError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            message = str(error).split(":")[0]
            raise InputError(
                f"{place()}: not RDF/XML here: {message}; correct the file, or its suffix if it has another format"
            ) from None


_STATED = frozenset(
    {
        PropertyRole.FACT,
        PropertyRole.TYPE,
        PropertyRole.LABEL,
        PropertyRole.ALTERNATE,
        PropertyRole.WORDS,
        PropertyRole.KIND,
        PropertyRole.ADDRESS,
        PropertyRole.DEFINITION,
        PropertyRole.DERIVED,
    }
)
"""Roles of properties whose statements are facts by themselves."""
BATCH = 250_000  # facts or labels; bounds the memory of an import
_AT_ONCE = 100
MAX_TEXT = 120
"""Maximum length of a literal, in characters; longer texts are not plausible answers."""
MAX_DEFINITION = 600
"""The same for properties that give definitions."""
_NOTES, _SCHEMA = "note or comment", "statement of the schema"
_LONG = f"text of over {MAX_TEXT} characters, of several lines, or empty"


def read_rdf(form: str, path: Path, tally: Tally, options: ReadOptions) -> Iterator[Batch]:
    """Facts and labels of an RDF file; `form` is the name of its syntax, such as N-Triples.

    Raises `InputError` with line and column of what cannot be read.
    """
    if form == "RDF/XML":
        check_markup(path)
    content = with_context(path) if form == "JSON-LD" else None
    yield from RdfReader(tally, options.prefix).quads(parse_rdf(path, form, content))


def parse_rdf(path: Path, form: str, content: bytes | None) -> Iterator[list[Any]]:
    """Lists of quads of a file, or of `content` if it is given. Raises `InputError` if they are invalid."""
    import pyoxigraph

    stream = Checked(path) if content is None else None
    try:
        quads = pyoxigraph.parse(
            content if stream is None else stream,  # type: ignore[arg-type]
            format=getattr(pyoxigraph.RdfFormat, re.sub(r"\W", "_", form).upper()),
            base_iri=path.absolute().as_uri(),
        )
        while some := list(islice(quads, _AT_ONCE)):
            yield some
    except (SyntaxError, ValueError, OSError, MemoryError) as error:
        if stream is not None and stream.fault:
            raise stream.fault from None
        if isinstance(error, InputError):
            raise
        if isinstance(error, MemoryError):  # raised by the parser for its own limit
            raise InputError(f"{path}: a value or line of over 16 MB; shorten it, or leave it out") from None
        raise InputError(_explain(path, form, error)) from None
    finally:
        if stream is not None:
            stream.close()


def _explain(path: Path, form: str, error: Exception) -> str:
    line, column = getattr(error, "lineno", None), getattr(error, "offset", None)
    place = f"{path}:{line}:{column}" if line else str(path)
    message = " ".join(str(error).split())
    if ": " in message and message.startswith("Parser error at"):
        message = message.split(": ", 1)[1]
    message = message.rsplit(" (line ", 1)[0][:200]
    if "LoadDocumentCallback" in message:
        return f"{place}: its @context is a URL, and nothing is downloaded; copy the context into the file"
    remedy = "correct the file" + (", or its suffix if it has another format" if line == 1 else "")
    return f"{place}: not {form} here: {message}; {remedy}"


class RdfReader:
    """State across batches: numbers of blank nodes, lists, reified statements."""

    def __init__(self, tally: Tally, prefix: str) -> None:
        self.tally = tally
        self.prefix = prefix
        self.batch = Batch()
        self.roles: dict[str, PropertyRole] = {}
        self.facts: dict[str, str] = {}  # relations whose statements are facts; each is mapped to itself
        self.blanks: dict[str, str] = {}
        self.structures = Structures(tally.skipped)

    def quads(self, parts: Iterable[list[Any]]) -> Iterator[Batch]:
        """Process all statements; yields a batch whenever enough facts or labels have been collected."""
        from pyoxigraph import DefaultGraph, NamedNode

        fact, reified = self.facts.get, self.structures.reified
        for quads in parts:
            heads, relations, tails = self.batch.heads, self.batch.relations, self.batch.tails
            for quad in quads:
                subject, predicate, value, graph = quad
                # share one string object per relation, which saves memory and time
                relation = fact(predicate.value)
                if (
                    relation
                    and type(subject) is NamedNode
                    and type(value) is NamedNode
                    and type(graph) is DefaultGraph
                    and value.value != NIL
                    and subject.value not in reified
                ):  # fast path without a call, for nine of ten statements
                    heads.append(subject.value)
                    relations.append(relation)
                    tails.append(value.value)
                else:
                    where = "" if type(graph) is DefaultGraph else self.name(graph)
                    self.odd(subject, predicate.value, value, where)
            if len(heads) >= BATCH or len(self.batch.labels) >= BATCH:
                yield self.flush()
        for found in self.structures.facts():  # which are only complete at the end
            self.fact(*found)
            if len(self.batch.heads) >= BATCH:
                yield self.flush()
        self.batch.labels.extend(self.structures.labels())
        for name, other in self.structures.inverses.items():
            self.tally.inverses[name] = other
            self.tally.inverses.setdefault(other, name)
        yield self.flush()

    def role(self, relation: str) -> PropertyRole:
        role = self.roles.get(relation)
        if role is None:
            role = role_of(relation)
            if role is PropertyRole.FACT and names_a_thing(relation):
                role = PropertyRole.ALTERNATE
            self.roles[relation] = role
            if role is PropertyRole.FACT:
                self.facts[relation] = relation
        return role

    def flush(self) -> Batch:
        batch, self.batch = self.batch, Batch()
        count = len(batch.heads)
        if batch.weights:
            batch.weights.extend([UNSTATED] * (count - len(batch.weights)))
        if batch.graphs:
            batch.graphs.extend([""] * (count - len(batch.graphs)))
        return batch

    def fact(self, head: str, relation: str, tail: str, weight: float, graph: str) -> None:
        """Add a fact to the batch; the columns of weights and graphs are only extended as far as needed."""
        batch = self.batch
        if tail == NIL:
            self.tally.skipped["empty list"] += 1
            return
        batch.heads.append(head)
        batch.relations.append(relation)
        batch.tails.append(tail)
        count = len(batch.heads)
        if weight == weight:
            batch.weights.extend([UNSTATED] * (count - 1 - len(batch.weights)))
            batch.weights.append(weight)
        if graph:
            batch.graphs.extend([""] * (count - 1 - len(batch.graphs)))
            batch.graphs.append(graph)

    def name(self, term: Any) -> str:
        """Name of an IRI or blank node."""
        import pyoxigraph as ox

        if type(term) is ox.BlankNode:
            number = len(self.blanks) + 1
            return self.blanks.setdefault(term.value, f"_:{self.prefix}b{number}")
        return str(term.value)

    def concept(self, term: Any, most: int = MAX_TEXT) -> str | None:
        """Name of a term as an entity; None for a text that is too long, and for a quoted triple."""
        import pyoxigraph as ox

        if type(term) is ox.Literal:
            text = term.value.strip()
            if most > MAX_TEXT:
                text = " ".join(text.split())
            if not text or len(text) > most or "\n" in text:
                self.tally.skipped[_LONG] += 1
                return None
            return literal_name(text, term.language or "", "" if term.language else term.datatype.value)
        if type(term) is ox.Triple:
            self.tally.skipped["statement about a statement"] += 1
            return None
        return self.name(term)

    def odd(self, subject: Any, relation: str, value: Any, graph: str) -> None:
        """Process a statement that is not a plain fact between two IRIs."""
        import pyoxigraph as ox

        if type(subject) is ox.Triple:
            self.tally.skipped["statement about a statement"] += 1
            return
        role = self.role(relation)
        if role is PropertyRole.ADDRESS and type(value) is ox.NamedNode:
            self.batch.labels.append(Label(value.value, value.value, preferred=False))
        head = self.name(subject)
        is_text = type(value) is ox.Literal
        gathered = self.structures
        if role in (PropertyRole.LABEL, PropertyRole.ALTERNATE) and is_text:
            text = " ".join(value.value.split())
            if text and len(text) <= 1000:
                label = Label(head, text, value.language or "", role is PropertyRole.LABEL)
                self.batch.labels.append(label)
                gathered.label(label)
            else:
                self.tally.skipped["label that is empty or over 1,000 characters"] += 1
        elif role is PropertyRole.WORDS and is_text:
            self.tally.words.setdefault(head, {})[value.language or ""] = value.value
        elif role is PropertyRole.KIND and is_text:
            self.tally.entity_types[head] = value.value
        elif role is PropertyRole.RELATION_TYPE and is_text:
            self.tally.relation_types.setdefault(head, []).append(value.value)
        elif role is PropertyRole.CLOSED_WORLD and is_text:
            self.tally.closed_world = value.value in ("true", "1")
        elif role is PropertyRole.WIDER and not is_text:
            self.tally.wider[head] = self.name(value)
        elif role is PropertyRole.LICENCE:
            if value.value not in self.tally.licences and len(self.tally.licences) < 20:
                self.tally.licences.append(value.value[:300])
        elif role is PropertyRole.REIFIES and type(value) is ox.Triple:
            parts = (value.subject, value.predicate, value.object)
            names = [self.concept(part) for part in parts]
            if None not in names:
                gathered.reified[head] = [str(name) for name in names] + [graph]
        elif role is PropertyRole.WEIGHT:
            self.weight(head, relation, value, graph)
        elif role is PropertyRole.SKIP or (
            role is PropertyRole.TYPE and (is_text or is_schema(str(value.value)))
        ):
            if role is PropertyRole.TYPE and (
                value.value.endswith("Property") or value.value.startswith(SHACL)
            ):
                self.tally.apart.add(head)
            if not (role is PropertyRole.TYPE and not is_text and value.value == RDF + "Statement"):
                self.tally.skipped[_NOTES if is_text and not relation.startswith(OWL) else _SCHEMA] += 1
        elif (
            tail := self.concept(value, MAX_DEFINITION if role is PropertyRole.DEFINITION else MAX_TEXT)
        ) is None:
            return
        elif role not in _STATED:
            gathered.note(role, head, relation, tail, graph)
        elif head in gathered.reified:
            gathered.annotations.setdefault(head, []).append((relation, tail))
        elif role is PropertyRole.DERIVED and "/reference/" in tail:
            self.tally.skipped["source of a statement"] += 1
        elif tail.startswith("_:") or head.startswith("_:"):
            gathered.loose.append(GraphFact(head, relation, tail, UNSTATED, graph))
        else:
            if role is PropertyRole.TYPE:
                gathered.instantiated.add(tail)
            self.fact(head, relation, tail, UNSTATED, graph)

    def weight(self, head: str, relation: str, value: Any, graph: str) -> None:
        """Keep the weight of a node that may be a statement about a fact; other weights are facts themselves."""
        tail = self.concept(value)
        if tail is None:
            return
        try:
            number = float(value.value)
        except ValueError:
            number = UNSTATED
        is_blank, is_reified = head.startswith("_:"), head in self.structures.reified
        if (is_blank or is_reified) and abs(number) < 1e30:  # false for NaN
            self.structures.weights[head] = (relation, tail, number, graph)
        elif is_reified:
            self.tally.skipped["weight that is not a number"] += 1
        elif is_blank:
            self.structures.loose.append(GraphFact(head, relation, tail, UNSTATED, graph))
        else:
            self.fact(head, relation, tail, UNSTATED, graph)

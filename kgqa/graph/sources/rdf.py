"""RDF of every common syntax to facts and labels, in a stream (pyoxigraph).

What is not a plain fact: rdf:List becomes its members; a number, a date or a short text becomes a concept that is
named as the literal is written; what several statements say together (`structures`) is read as facts; notes and
what of the schema says nothing about the world are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from kgqa.graph.linking.literals import literal_name
from kgqa.graph.sources.files import Checked
from kgqa.graph.sources.statements import UNSTATED, Batch, Tally
from kgqa.graph.sources.structures import Fact, Structures
from kgqa.graph.sources.syntax.json_ld import with_context
from kgqa.graph.sources.syntax.markup import check_markup
from kgqa.graph.sources.vocabulary import NIL, OWL, RDF, Role, is_schema, names_a_thing, role_of
from kgqa.types import InputError, Label

_SYNTAXES = {
    "N_TRIPLES": ("N-Triples", ".nt", ".ntriples"),
    "N_QUADS": ("N-Quads", ".nq", ".nquads"),
    "TURTLE": ("Turtle", ".ttl", ".turtle"),
    "N3": ("N3", ".n3"),
    "TRIG": ("TriG", ".trig"),
    "RDF_XML": ("RDF/XML", ".rdf", ".owl", ".xml"),
    "JSON_LD": ("JSON-LD", ".jsonld", ".json"),
}
FORMATS = {suffix: form for form, (_, *suffixes) in _SYNTAXES.items() for suffix in suffixes}
"""What pyoxigraph calls the syntax of a suffix."""
_STATED = frozenset({Role.FACT, Role.TYPE, Role.LABEL, Role.ALTERNATE, Role.WORDS, Role.KIND, Role.ADDRESS})
"""Roles of statements that are facts as they stand."""
BATCH = 250_000
_AT_ONCE = 100
MAX_TEXT = 120
"""Characters of a text that may still be an answer."""
_NOTES, _SCHEMA = "note or comment", "statement of the schema"
_LONG = f"text of over {MAX_TEXT} characters, of several lines, or empty"


def read_rdf(path: Path, tally: Tally, syntax: str, prefix: str) -> Iterator[Batch]:
    """Facts and labels of an RDF file.

    `syntax` is a suffix such as `.ttl`; `prefix` keeps the blank nodes of several files apart. Raises `InputError`
    with line and column of what cannot be read.
    """
    form = FORMATS[syntax]
    if form == "RDF_XML":
        check_markup(path)
    reader = RdfReader(tally, prefix)
    content = with_context(path) if form == "JSON_LD" else None
    yield from reader.quads(_parse(path, form, content))
    yield from reader.rest()


def _parse(path: Path, form: str, content: bytes | None) -> Iterator[list[Any]]:
    """Quads of a file, many at once, or of the `content` that stands for it."""
    import pyoxigraph

    stream = Checked(path) if content is None else None
    try:
        quads = pyoxigraph.parse(
            content if stream is None else stream,  # type: ignore[arg-type]
            format=getattr(pyoxigraph.RdfFormat, form),
            base_iri=path.absolute().as_uri(),
        )
        while some := list(islice(quads, _AT_ONCE)):
            yield some
    except (SyntaxError, ValueError, OSError, MemoryError) as error:
        if stream is not None and stream.fault:
            raise stream.fault from None
        if isinstance(error, InputError):
            raise
        if isinstance(error, MemoryError):  # the parser's own limit is raised as one
            raise InputError(f"{path}: a value or line of over 16 MB; shorten it, or leave it out") from None
        raise InputError(_explain(path, form, error)) from None
    finally:
        if stream is not None:
            stream.close()


def _explain(path: Path, form: str, error: Exception) -> str:
    line, column = getattr(error, "lineno", None), getattr(error, "offset", None)
    place = f"{path}:{line}:{column}" if line else str(path)
    said = " ".join(str(error).split())
    if ": " in said and said.startswith("Parser error at"):
        said = said.split(": ", 1)[1]
    said = said.rsplit(" (line ", 1)[0][:200]
    if "LoadDocumentCallback" in said:
        return (
            f"{place}: its @context is on the network, which is never asked; write the context into the file"
        )
    remedy = "correct the file" + (", or its ending if it is something else" if line == 1 else "")
    return f"{place}: not {_SYNTAXES[form][0]} here: {said}; {remedy}"


class RdfReader:
    """State that outlives a batch: numbers of blank nodes, lists, reified statements."""

    def __init__(self, tally: Tally, prefix: str) -> None:
        self.tally = tally
        self.prefix = prefix
        self.batch = Batch()
        self.roles: dict[str, Role] = {}
        self.facts: dict[str, str] = {}  # relations that are facts, by themselves
        self.blanks: dict[str, str] = {}
        self.structures = Structures(tally.skipped)

    def quads(self, parts: Iterable[list[Any]]) -> Iterator[Batch]:
        """Sort statements to where they belong; what has gathered is given whenever it is much."""
        from pyoxigraph import DefaultGraph, NamedNode

        fact, reified = self.facts.get, self.structures.reified
        for quads in parts:
            heads, relations, tails = self.batch.heads, self.batch.relations, self.batch.tails
            for quad in quads:
                subject, predicate, value, graph = quad
                # the one string of a relation stands for all of its facts, which saves memory, and so time
                relation = fact(predicate.value)
                if (
                    relation
                    and type(subject) is NamedNode
                    and type(value) is NamedNode
                    and type(graph) is DefaultGraph
                    and value.value != NIL
                    and subject.value not in reified
                ):  # nine of ten statements, without the cost of a call
                    heads.append(subject.value)
                    relations.append(relation)
                    tails.append(value.value)
                else:
                    where = "" if type(graph) is DefaultGraph else self.name(graph)
                    self.odd(subject, predicate.value, value, where)
            if len(heads) >= BATCH or len(self.batch.labels) >= BATCH:
                yield self.flush()

    def role(self, relation: str) -> Role:
        """What a relation means, worked out once."""
        role = self.roles.get(relation)
        if role is None:
            role = role_of(relation)
            if role is Role.FACT and names_a_thing(relation):
                role = Role.ALTERNATE
            self.roles[relation] = role
            if role is Role.FACT:
                self.facts[relation] = relation
        return role

    def flush(self) -> Batch:
        """What has gathered."""
        batch, self.batch = self.batch, Batch()
        count = len(batch.heads)
        if batch.weights:
            batch.weights.extend([UNSTATED] * (count - len(batch.weights)))
        if batch.graphs:
            batch.graphs.extend([""] * (count - len(batch.graphs)))
        return batch

    def fact(self, head: str, relation: str, tail: str, weight: float, graph: str) -> None:
        """One fact to the batch, whose columns of weights and graphs are as long as was needed until `flush`."""
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

    def concept(self, term: Any) -> str | None:
        """Name of a term as a concept, None for a literal that is none."""
        import pyoxigraph as ox

        if type(term) is ox.Literal:
            text = term.value.strip()
            if not text or len(text) > MAX_TEXT or "\n" in text:
                self.tally.skipped[_LONG] += 1
                return None
            return literal_name(text, term.language or "", "" if term.language else term.datatype.value)
        if type(term) is ox.Triple:
            self.tally.skipped["statement about a statement"] += 1
            return None
        return self.name(term)

    def odd(self, subject: Any, relation: str, value: Any, graph: str) -> None:
        """A statement that is no plain fact between two IRIs."""
        import pyoxigraph as ox

        if type(subject) is ox.Triple:
            self.tally.skipped["statement about a statement"] += 1
            return
        role = self.role(relation)
        if role is Role.ADDRESS and type(value) is ox.NamedNode:
            self.batch.labels.append(Label(value.value, value.value, preferred=False))
        head = self.name(subject)
        is_text = type(value) is ox.Literal
        gathered = self.structures
        if role in (Role.LABEL, Role.ALTERNATE) and is_text:
            text = " ".join(value.value.split())
            if text and len(text) <= 1000:
                label = Label(head, text, value.language or "", role is Role.LABEL)
                self.batch.labels.append(label)
                gathered.label(label)
            else:
                self.tally.skipped["label that is empty or over 1,000 characters"] += 1
        elif role is Role.WORDS and is_text:
            self.tally.words.setdefault(head, {})[value.language or ""] = value.value
        elif role is Role.KIND and is_text:
            self.tally.kinds[head] = value.value
        elif role is Role.MEANS and is_text:
            self.tally.means.setdefault(head, []).append(value.value)
        elif role is Role.COMPLETE and is_text:
            self.tally.complete = value.value in ("true", "1")
        elif role is Role.WIDER and not is_text:
            self.tally.wider[head] = self.name(value)
        elif role is Role.LICENCE:
            if value.value not in self.tally.licences and len(self.tally.licences) < 20:
                self.tally.licences.append(value.value[:300])
        elif role is Role.REIFIES and type(value) is ox.Triple:
            parts = (value.subject, value.predicate, value.object)
            names = [self.concept(part) for part in parts]
            if None not in names:
                gathered.reified[head] = [str(name) for name in names] + [graph]
        elif role is Role.WEIGHT:
            self.weight(head, relation, value, graph)
        elif role is Role.SKIP or (role is Role.TYPE and (is_text or is_schema(str(value.value)))):
            if not (role is Role.TYPE and not is_text and value.value == RDF + "Statement"):
                self.tally.skipped[_NOTES if is_text and not relation.startswith(OWL) else _SCHEMA] += 1
        elif (tail := self.concept(value)) is None:
            return
        elif role not in _STATED:
            gathered.note(role, head, relation, tail, graph)
        elif head in gathered.reified:
            gathered.annotations.setdefault(head, []).append((relation, tail))
        elif tail.startswith("_:") or head.startswith("_:"):
            gathered.loose.append(Fact(head, relation, tail, UNSTATED, graph))
        else:
            self.fact(head, relation, tail, UNSTATED, graph)

    def weight(self, head: str, relation: str, value: Any, graph: str) -> None:
        """Remember the weight of what may turn out to be a statement about a fact; any other is a fact itself."""
        tail = self.concept(value)
        if tail is None:
            return
        try:
            number = float(value.value)
        except ValueError:
            number = UNSTATED
        is_blank, is_reified = head.startswith("_:"), head in self.structures.reified
        if (is_blank or is_reified) and abs(number) < 1e30:  # which no NaN is
            self.structures.weights[head] = (relation, tail, number, graph)
        elif is_reified:
            self.tally.skipped["weight that is no number"] += 1
        elif is_blank:
            self.structures.loose.append(Fact(head, relation, tail, UNSTATED, graph))
        else:
            self.fact(head, relation, tail, UNSTATED, graph)

    def rest(self) -> Iterator[Batch]:
        """Facts that only the end of the file could complete."""
        for fact in self.structures.facts():
            self.fact(*fact)
            if len(self.batch.heads) >= BATCH:
                yield self.flush()
        self.batch.labels.extend(self.structures.labels())
        for relation, other in self.structures.inverses.items():
            self.tally.inverses[relation] = other
            self.tally.inverses.setdefault(other, relation)
        yield self.flush()

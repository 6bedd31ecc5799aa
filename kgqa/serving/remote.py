"""Answers of a service as those of a reader here, for whoever shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kgqa.answering.presentation.edits import Edit, edited_facts
from kgqa.answering.presentation.sentences import Influence
from kgqa.checking import check_question
from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.morphology import is_korean_question
from kgqa.graph.overlay import Fact
from kgqa.serving.client import Client
from kgqa.types import (
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    InputError,
    Item,
    KnowledgeGraph,
    NodeRole,
    Question,
    Reading,
    Relation,
    Source,
    Span,
    Subgraph,
)


class ServedAnswerer:
    """What `kgqa serve` answers at an address, over a graph that is open here too: to look facts up, to link edits.

    Raises:
        InputError: nothing answers there, or it serves no graph of that name.
    """

    def __init__(self, url: str, graph: KnowledgeGraph, key: str = "") -> None:
        client = Client(url, key)
        readers, graphs = client.get("/v1/readers")["readers"], client.get("/v1/graphs")["graphs"]
        names = [row["name"] for row in graphs]
        if graph.name not in names:
            raise InputError(
                f"{url}: does not serve the graph {graph.name}, but {', '.join(names)}; name one by --graph"
            )
        self.client = Client(url, key, graph=graph.name, full=True)
        self.name = readers[0]
        self.graph = graph

    @cached_property
    def linker(self) -> Linker:
        """Finds the concepts of the graph in texts."""
        return forgiving_linker(self.graph)

    def is_korean(self, question: Question) -> bool:
        """Whether a question is read and answered as Korean."""
        return is_korean_question(question.text)

    def shown(self, answer: Answer) -> Answer:
        """The answer itself: the service has said its evidence in the question's language already."""
        return answer

    def answer(self, question: Question) -> Answer:
        """The answer to one question, its evidence ordered by the reader's attention.

        Raises:
            InputError: the question is refused, or the service does not answer.
        """
        check_question(question)
        return self._read(question, self.client.answer(*_asked(question)))

    def answer_many(
        self, questions: Sequence[Question], watch: Callable[[str], object] | None = None
    ) -> list[Answer]:
        """The answers to several questions, in order; `watch` is told that they are read.

        Raises:
            InputError: one of them is refused.
        """
        for question in questions:
            check_question(question)
        rows = [
            {"question": q.text, "passage": q.passage_text or None, "choices": list(q.choices)}
            for q in questions
        ]
        if watch is not None:
            watch("read")
        found = self.client.answers(rows)
        for body in found:
            if "error" in body:
                raise InputError("; ".join(filter(None, (body["error"]["detail"], body["error"]["remedy"]))))
        return [self._read(question, body) for question, body in zip(questions, found, strict=True)]

    def explained(self, answer: Answer) -> Answer:
        """The answer with its evidence tested: first what decides it.

        Raises:
            InputError: the service does not answer.
        """
        return self._read(answer.question, self.client.explain(*_asked(answer.question)))

    def influences(self, answer: Answer) -> list[Influence]:
        """How much each fact near the answer carried it; strongest first.

        Raises:
            InputError: the service does not answer.
        """
        found = self.client.explain(*_asked(answer.question))
        triples = answer.evidence.subgraph.triples
        rows = {(t.head, t.relation, t.tail): edge for edge, t in enumerate(triples)}
        return [
            Influence(rows.get(tuple(row["iri"]), -1), row["sentence"], row["change"])
            for row in found["influences"]
        ]

    def ask_again(self, question: Question, edits: Sequence[Edit]) -> Answer:
        """The answer over the graph as it is after some edits; of two that concern one fact the later holds.

        Raises:
            InputError: an edit is refused, or the service does not answer.
        """

        def stated(fact: Fact) -> dict[str, str]:
            """A fact whose ends are names of the graph or, of concepts that only an edit knows, words."""
            triple, labels = fact
            known = self.graph.ids([triple.head, triple.tail]) >= 0
            head, tail = np.where(known, (triple.head, triple.tail), labels).tolist()
            return {"head": head, "relation": triple.relation, "tail": tail}

        added, struck = ([*map(stated, facts)] for facts in edited_facts(edits))
        found = self.client.what_if(*_asked(question), add=added, strike=struck)
        return self._read(question, found["after"])

    def _read(self, question: Question, body: Mapping[str, Any]) -> Answer:
        try:
            return answer_of(question, body, {r.name: r for r in self.graph.relations})
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(
                f"{self.client.url}: answers in another form ({error!r}); let it run the same kgqa"
            ) from None


def _asked(question: Question) -> tuple[str, str, Sequence[str]]:
    return question.text, question.passage_text, question.choices


def answer_of(question: Question, body: Mapping[str, Any], relations: Mapping[str, Relation]) -> Answer:
    """The answer that `answer_json` wrote; of its subgraph there is what it wrote in full, else the paths alone.

    Args:
        question: the one that was asked.
        body: what came back.
        relations: of the graph, by name, for the words in which they are said.

    Raises:
        LookupError, TypeError, ValueError: it is not of that form.
    """
    evidence = body["evidence"]
    graph, edges = _subgraph(body, relations)

    def path_of(path: Mapping[str, Any]) -> EvidencePath:
        steps = tuple(edges[tuple(triple["iri"])] for triple in path["triples"])
        return EvidencePath(steps, (True,) * len(steps), float(path["score"]))

    items = tuple(
        Item(row["text"], row["concept"], _span(row["span"]), path_of(row["path"]) if row["path"] else None)
        for row in body.get("items", ())
    )
    candidates = tuple(
        Candidate(row["text"], Source(row["source"]), float(row["score"]), _span(row["span"]), row["concept"])
        for row in body["candidates"]
    )
    paths, query = tuple(map(path_of, evidence["paths"])), evidence.get("query") or ""
    others = tuple(filter(None, map(_reading, evidence.get("other_readings") or ())))
    return Answer(
        question,
        body["answer"],
        Source(body["source"]),
        float(body["confidence"]),
        candidates,
        Evidence(
            _span(evidence["span"]),
            paths,
            graph,
            influence=evidence["influence"],
            query=query,
            reading=_reading(evidence.get("reading")),
            other_readings=others,
            near=_reading(evidence.get("near")),
        ),
        {name: float(ms) for name, ms in body["timing_ms"].items()},
        body["model"],
        body["graph"],
        items,
    )


def _span(ends: Sequence[int] | None) -> Span | None:
    return Span(*ends) if ends else None


def _subgraph(
    body: Mapping[str, Any], relations: Mapping[str, Relation]
) -> tuple[Subgraph, dict[tuple[str, ...], int]]:
    """The shown subgraph and the row of each of its facts, the facts of all paths among them."""
    shown = body["evidence"]["subgraph"]
    paths = [*body["evidence"]["paths"], *(row["path"] for row in body.get("items", ()) if row["path"])]
    labels = {row["iri"]: row["label"] for row in shown["nodes"]}
    roles = {row["iri"]: NodeRole[row["role"].upper()] for row in shown["nodes"]}
    scores = {row["iri"]: float(row["score"]) for row in shown["nodes"]}
    facts = {(row["head"], row["relation"], row["tail"]): 1.0 for row in shown["edges"]}
    said = dict(relations)
    for path in paths:
        for triple in path["triples"]:
            head, relation, tail = triple["iri"]
            facts[head, relation, tail] = float(triple["weight"])
            labels = {head: triple["head"], tail: triple["tail"], **labels}
            said.setdefault(relation, Relation(relation, triple["relation"], triple["relation"]))
    nodes = {name: number for number, name in enumerate(labels)}
    names = list(dict.fromkeys(relation for _, relation, _ in facts))
    rows = [(nodes[h], names.index(r), nodes[t]) for h, r, t in facts]
    subgraph = Subgraph(
        tuple(nodes),
        tuple(labels.values()),
        np.array([int(roles.get(name, NodeRole.OTHER)) for name in nodes], dtype=np.int32),
        np.array([scores.get(name, 0.0) for name in nodes], dtype=np.float32),
        np.array(rows, dtype=np.int32).reshape(-1, 3),
        np.array(list(facts.values()), dtype=np.float32),
        tuple(said.get(name) or Relation(name, name, name) for name in names),
    )
    return subgraph, {fact: row for row, fact in enumerate(facts)}


def _reading(row: Mapping[str, Any] | None) -> Reading | None:
    """A reading of the question as a service says it."""
    if row is None:
        return None
    return Reading(str(row["phrase"]), str(row["result"]), str(row["form"]), float(row["probability"]))

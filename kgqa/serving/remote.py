"""Client of the HTTP service, and an answerer that uses it instead of a local reader."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.linking.linker import Linker
from kgqa.graph.overlay import LabelledFact
from kgqa.language.detect import question_language
from kgqa.qa.render import Edit, FactAttribution, edited_facts
from kgqa.types import (
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    InputError,
    Interpretation,
    Item,
    KnowledgeGraph,
    NodeRole,
    Passage,
    Question,
    Relation,
    Source,
    Span,
    Subgraph,
)
from kgqa.validation import asked, check_question, with_stated_passage

# A thin client of the service that returns plain dictionaries; it needs only the standard library.


class Client:
    """Client of a service at `url`, such as `http://127.0.0.1:8600`.

    `model` and `graph` select among those served; default: the first. With `full`, answers include the subgraph. All
    methods raise `InputError` if the service cannot be reached or rejects the request, with its message.
    """

    def __init__(
        self,
        url: str,
        key: str = "",
        timeout_s: float = 60.0,
        model: str = "",
        graph: str = "",
        full: bool = False,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise InputError(f"{url}: not the address of a service; expected http(s)://host:port")
        self.url, self.key, self.timeout_s, self.full = url.rstrip("/"), key, timeout_s, full
        self.named = {name: value for name, value in (("model", model), ("graph", graph)) if value}

    def answer(self, question: str, passage: str = "", choices: Sequence[str] = ()) -> dict[str, Any]:
        """The answer to a question, as `kgqa ask --json` prints it."""
        return self.post("/v1/answer", self.asked(question, passage, choices))

    def answers(self, questions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The answers to several questions, in order, each a dictionary as in the input of `kgqa predict`."""
        found = self.post("/v1/answers", {"questions": [{**self.named, **asked} for asked in questions]})
        return list(found["answers"])

    def explain(self, question: str, passage: str = "", choices: Sequence[str] = ()) -> dict[str, Any]:
        """The answer, with the leave-one-out attribution of the facts near it (`attributions`)."""
        return self.post("/v1/explain", self.asked(question, passage, choices))

    def what_if(
        self,
        question: str,
        passage: str = "",
        choices: Sequence[str] = (),
        *,
        add: Sequence[dict[str, str]] = (),
        remove: Sequence[dict[str, str]] = (),
    ) -> dict[str, Any]:
        """The answers `before` and `after` adding or removing facts (head, relation, tail)."""
        asked = self.asked(question, passage, choices)
        return self.post("/v1/what-if", {**asked, "add": list(add), "remove": list(remove)})

    def asked(self, question: str, passage: str, choices: Sequence[str]) -> dict[str, Any]:
        """The body of a request."""
        return {**self.named, "question": question, "passage": passage or None, "choices": list(choices)}

    def get(self, path: str) -> dict[str, Any]:
        """The JSON response of a GET request, such as `/v1/graphs`."""
        return self._asking(path, None)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The JSON response of a POST request. Raises InputError if the service does not respond, rejects the body
        (with its message), or returns no JSON.
        """
        return self._asking(f"{path}?full=true" if self.full else path, json.dumps(body).encode())

    def _asking(self, path: str, body: bytes | None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.url + path, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_s) as response:
                return dict(json.load(response))
        except urllib.error.HTTPError as error:
            raise InputError(f"{self.url}: {_detail(error)}") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise InputError(f"{self.url}: no answer ({reason}); is `kgqa serve` running there?") from None


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])
    except (OSError, ValueError, LookupError, TypeError):
        return f"rejected with status {error.code}"


class ServedAnswerer:
    """An answerer that uses a service, over a graph that is also open locally: to show its facts, and to link edits.
    Raises InputError if the service does not respond, or does not serve a graph of that name.
    """

    def __init__(self, url: str, graph: KnowledgeGraph, key: str = "") -> None:
        client = Client(url, key)
        readers, graphs = client.get("/v1/readers")["readers"], client.get("/v1/graphs")["graphs"]
        names = [row["name"] for row in graphs]
        if graph.name not in names:
            raise InputError(
                f"{url}: does not serve the graph {graph.name}, but {', '.join(names)}; choose one by --graph"
            )
        self.client = Client(url, key, graph=graph.name, full=True)
        self.name = readers[0]
        self.graph = graph

    @cached_property
    def linker(self) -> Linker:
        return fuzzy_linker(self.graph)

    def language_of(self, question: Question) -> str:
        return question_language(question.text, question.passage_text)

    def shown(self, answer: Answer) -> Answer:
        """The answer itself: the service returns its evidence in the question's language."""
        return answer

    def answer(
        self, question: Question | str, *, passage: Passage | str | None = None, choices: Iterable[str] = ()
    ) -> Answer:
        """The answer to one question, with evidence ranked without leave-one-out attribution. Raises InputError if the
        question is rejected, or the service does not respond.
        """
        question = asked(question, passage, choices)
        check_question(question)
        return self._read(question, self.client.answer(*_asked(question)))

    def answer_many(
        self, questions: Sequence[Question], watch: Callable[[str], object] | None = None
    ) -> list[Answer]:
        """The answers to several questions, in order; `watch` is called with the step "read". Raises InputError if one
        of them is rejected.
        """
        for question in questions:
            check_question(question)
        if watch is not None:
            watch("read")
        found = self.client.answers([self.client.asked(*_asked(question)) for question in questions])
        for body in found:
            if "error" in body:
                raise InputError("; ".join(filter(None, (body["error"]["detail"], body["error"]["remedy"]))))
        return [self._read(question, body) for question, body in zip(questions, found, strict=True)]

    def explained(self, answer: Answer) -> Answer:
        """The answer with evidence ranked by attribution. Raises InputError if the service does not answer."""
        return self._read(answer.question, self.client.explain(*_asked(answer.question)))

    def attributions(self, answer: Answer) -> list[FactAttribution]:
        """Leave-one-out attribution of each fact near the answer, largest first. Raises InputError if the service does
        not answer.
        """
        found = self.client.explain(*_asked(answer.question))
        triples = answer.evidence.subgraph.triples
        rows = {(t.head, t.relation, t.tail): edge for edge, t in enumerate(triples)}
        return [
            FactAttribution(rows.get(tuple(row["iri"]), -1), row["sentence"], row["change"])
            for row in found["attributions"]
        ]

    def ask_again(self, question: Question, edits: Sequence[Edit]) -> Answer:
        """The answer over the edited graph; of two edits of the same fact, the later one counts. Raises InputError if
        an edit is rejected, or the service does not respond.
        """

        def stated(fact: LabelledFact) -> dict[str, str]:
            """A fact with the names of existing concepts, and the labels of new ones."""
            triple, labels = fact
            known = self.graph.ids([triple.head, triple.tail]) >= 0
            head, tail = np.where(known, (triple.head, triple.tail), labels).tolist()
            return {"head": head, "relation": triple.relation, "tail": tail}

        added, removed = ([*map(stated, facts)] for facts in edited_facts(edits))
        found = self.client.what_if(*_asked(question), add=added, remove=removed)
        return self._read(question, found["after"])

    def _read(self, question: Question, body: Mapping[str, Any]) -> Answer:
        try:
            return answer_of(question, body, {r.name: r for r in self.graph.relations})
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(
                f"{self.client.url}: unexpected response ({error!r}); use the same version of kgqa on both sides"
            ) from None


def _asked(question: Question) -> tuple[str, str, Sequence[str]]:
    return question.text, question.passage_text, question.choices


def answer_of(question: Question, body: Mapping[str, Any], relations: Mapping[str, Relation]) -> Answer:
    """Parse an answer written by `answer_json`; its subgraph has the nodes and edges in it, or only the paths.

    `relations` are those of the graph by name, for their words. Raises LookupError, TypeError or ValueError if the
    response has another format.
    """
    evidence = body["evidence"]
    graph, edges = _subgraph(body, relations)
    if evidence["span"]:  # of the passage, which may be part of the question's text
        question = with_stated_passage(question)

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
            attribution=evidence.get("attribution", evidence.get("influence")),  # as earlier versions call it
            query=query,
            interpretation=_reading(evidence.get("reading")),
            other_interpretations=others,
            near=_reading(evidence.get("near")),
        ),
        {name: float(ms) for name, ms in body["timing_ms"].items()},
        body["model"],
        body["graph"],
        items,
        harm=(body.get("care") or {}).get("harm", ""),
    )


def _span(ends: Sequence[int] | None) -> Span | None:
    return Span(*ends) if ends else None


def _subgraph(
    body: Mapping[str, Any], relations: Mapping[str, Relation]
) -> tuple[Subgraph, dict[tuple[str, ...], int]]:
    """The subgraph of a response, including the facts of all paths, and the row of each fact."""
    shown = body["evidence"]["subgraph"]
    paths = [*body["evidence"]["paths"], *(row["path"] for row in body.get("items", ()) if row["path"])]
    labels = {row["iri"]: row["label"] for row in shown["nodes"]}
    roles = {row["iri"]: NodeRole[row["role"].upper()] for row in shown["nodes"]}
    scores = {row["iri"]: float(row["score"]) for row in shown["nodes"]}
    facts = {(row["head"], row["relation"], row["tail"]): 1.0 for row in shown["edges"]}
    known = dict(relations)
    for path in paths:
        for triple in path["triples"]:
            head, relation, tail = triple["iri"]
            facts[head, relation, tail] = float(triple["weight"])
            labels = {head: triple["head"], tail: triple["tail"], **labels}
            known.setdefault(relation, Relation(relation, triple["relation"], triple["relation"]))
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
        tuple(known.get(name) or Relation(name, name, name) for name in names),
    )
    return subgraph, {fact: row for row, fact in enumerate(facts)}


def _reading(row: Mapping[str, Any] | None) -> Interpretation | None:
    if row is None:
        return None
    return Interpretation(str(row["phrase"]), str(row["result"]), str(row["form"]), float(row["probability"]))

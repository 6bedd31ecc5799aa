"""Answers as text, JSON and Turtle, and what-if edits of the graph."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

import numpy as np

from kgqa.graph.formats.write import PREFIXES, turtle_literal, turtle_term
from kgqa.graph.linking.linker import Linker
from kgqa.graph.overlay import LabelledFact
from kgqa.language.care import turn_to
from kgqa.language.detect import ENGLISH
from kgqa.language.values import with_unit
from kgqa.language.wording import answer_phrase
from kgqa.qa.evidence import MIN_ATTRIBUTION, answer_nodes, is_informative
from kgqa.qa.logical_forms.wording import fact_in_words
from kgqa.types import (
    CAUTION,
    NO,
    YES,
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    InputError,
    Interpretation,
    NodeRole,
    Relation,
    Source,
    Subgraph,
    Triple,
)
from kgqa.verbalize import korean
from kgqa.verbalize.fact_sentences import filled, is_worded
from kgqa.verbalize.shown_facts import noun_phrase, shown_fact

# Answers as text: their source, verbalized evidence and runners-up.

_DEED = "/ReceivesAction"
"""Suffix of ConceptNet's relation from an entity to what is done to it; no English verb joins the two in a sentence."""
MIN_SHOWN = 0.02
"""Minimum probability of a runner-up to be shown."""
MIN_BESIDE = 0.01
"""Minimum confidence of a runner-up (its share of what the answer leaves) to be shown."""
_PARTICLE = re.compile(r"^(?:에서|에게|에|의|을|를|이|가|은|는|으로|로|과|와) ")
"""A particle at the start of a Korean relation, which attaches to the noun before it; left out of the label
of an arrow, which has no noun before it."""
_LIGHT_VERBS = frozenset({"한다", "있다", "없다"})
"""Verbs that are meaningless without their particle: the relation's label is shown instead."""
_CLOSING = frozenset(",;:!?)]}")
"""Characters that belong to the text before them: a span that begins with one is cut badly."""
_COMMON = frozenset({"everyday", "conceptnet", "wordnet", ""})
"""Names of common-sense graphs; "" is that of an answer without one."""


@dataclass(frozen=True, slots=True)
class FactAttribution:
    """Leave-one-out attribution: a fact (row of the subgraph's edges) and how far the answer's probability drops
    without it."""

    edge: int
    sentence: str
    change: float


def is_common(graph: str) -> bool:
    """Whether a graph is, by its name, one of the common-sense graphs rather than a custom one."""
    return graph in _COMMON


def source_words(answer: Answer, language: str = ENGLISH) -> str:
    """Source of an answer as text; custom graphs are named."""
    # facts of a common-sense graph are shown as fitting the answer even if it does not depend on them
    fits = answer.evidence.paths and is_common(answer.graph)
    if answer.source is Source.KNOWLEDGE and not has_ground(answer) and not fits:
        return answer_phrase(language, "no_fact")
    if is_computed(answer):
        return answer_phrase(language, "computed")
    of_graph = answer.source is Source.KNOWLEDGE or is_none_of_them(answer)
    if of_graph and not is_common(answer.graph):
        return answer_phrase(language, "graph").replace("{name}", answer.graph)
    return answer_phrase(language, answer.source.value)


def is_computed(answer: Answer) -> bool:
    """Whether an answer is computed from the numbers of its passage; the expression is its interpretation."""
    return answer.source is Source.PASSAGE and answer.evidence.interpretation is not None


def is_none_of_them(answer: Answer) -> bool:
    """Whether the graph has no answer because nothing in it meets the conditions of the interpretation."""
    return answer.source is Source.NONE and answer.evidence.interpretation is not None


def sentence(subgraph: Subgraph, edge: int) -> str:
    """A verbalized fact: "to plant flowers, people use a trowel"."""
    head, number, tail = (int(v) for v in subgraph.edges[edge])
    labels, names = ((source[head], source[tail]) for source in (subgraph.labels, subgraph.nodes))
    senses = _sense(labels[0], names[0]), _sense(labels[1], names[1])
    return fact_sentence(labels[0], subgraph.relations[number], labels[1], senses)


def _sense(label: str, name: str) -> str:
    """What the end of a concept's name says of its sense: iron, .../iron_metal -> metal."""
    local, own = re.split(r"[/#:]", name)[-1], f"{label.replace(' ', '_')}_"
    return local.removeprefix(own) if local.startswith(own) else ""


def fact_sentence(head: str, relation: Relation, tail: str, senses: tuple[str, str] = ("", "")) -> str:
    """A verbalized fact, in the language of its relation's words; the senses are those of head and tail, if known."""
    if relation.sentence:
        return filled(relation.sentence, head, tail)
    words = relation.words or relation.label
    if korean.is_korean(words):
        return korean.verbalize_korean_triple(head, relation.name, words, tail)
    if relation.name.endswith(_DEED):
        return f"what people do with {noun_phrase(head)}: {tail}"
    if not is_worded(relation.name):
        return fact_in_words(head, words, tail)
    return shown_fact(head, relation.name, words, tail, senses)


def short_words(relation: Relation) -> str:
    """Short text of a relation, as the label of an arrow."""
    words = relation.words or relation.label
    if korean.is_korean(words):
        verb = _PARTICLE.sub("", words)
        return relation.label if verb in _LIGHT_VERBS and korean.is_korean(relation.label) else verb
    return words if relation.sentence or not relation.name.endswith(_DEED) else "people do this"


def path_sentences(evidence: Evidence, path: EvidencePath) -> list[str]:
    """The facts of a path, verbalized, in path order."""
    return [sentence(evidence.subgraph, edge) for edge in path.steps]


def is_guess(answer: Answer, caution: float = CAUTION) -> bool:
    """Whether an answer is below the confidence threshold and shown as a guess."""
    return answer.confidence < caution


def in_full(answer: Answer) -> str:
    """The answer text, with the unit of its fact if it is a plain number, or a sum, average, minimum, maximum
    or difference of such; empty for no answer."""
    best, evidence = answer.candidates[:1], answer.evidence
    if answer.text is None or answer.items or not best or not evidence.paths:
        return answer.text or ""
    read = evidence.interpretation
    computed = read is not None and read.form.startswith(("(SUM", "(AVG", "(MIN", "(MAX", "(DIFFERENCE"))
    name = best[0].concept or (f'"{answer.text}"' if computed else "")
    graph, last = evidence.subgraph, evidence.paths[0].steps[-1]
    return with_unit(answer.text, name, graph.relations[int(graph.edges[last, 1])])


def perhaps(answer: Answer) -> str:
    """The guess shown for an answer of low confidence; may be empty."""
    return in_full(answer) or next((c.text for c in likely_runners_up(answer)), "")


def is_decided_by_facts(answer: Answer) -> bool:
    """Whether there are evidence paths, the first with a sufficient attribution, if that was measured."""
    evidence = answer.evidence
    return bool(evidence.paths) and (evidence.attribution is None or evidence.attribution >= MIN_ATTRIBUTION)


def has_ground(answer: Answer) -> bool:
    """Whether an answer is supported by the passage or by facts of the graph, as far as that was measured."""
    evidence = answer.evidence
    stated = evidence.span is not None or bool(evidence.query) or bool(answer.items)
    unmeasured = evidence.attribution is None and answer.text not in (YES, NO)
    return stated or unmeasured or is_decided_by_facts(answer)


def beside(answer: Answer, caution: float = CAUTION) -> list[tuple[Candidate, float]]:
    """Runners-up to show, each with its share of the confidence that the answer leaves.

    Candidates have the heads' uncalibrated scores, while the answer's confidence is calibrated. So scores are
    scaled: the numbers shown must not exceed 1 in total, and no runner-up may seem more probable than the
    answer. If the answer is shown as a guess, that guess is not repeated.
    """
    guessed = perhaps(answer) if is_guess(answer, caution) else None
    found = [candidate for candidate in likely_runners_up(answer) if candidate.text != guessed]
    whole = sum(candidate.score for candidate in found)
    left = min(1.0, max(0.0, 1.0 - answer.confidence) / whole) if whole else 0.0
    shares = [(candidate, min(left * candidate.score, answer.confidence)) for candidate in found]
    return [(candidate, share) for candidate, share in shares if share >= MIN_BESIDE]


def likely_runners_up(answer: Answer) -> list[Candidate]:
    """Runners-up that a user may want to see: probable enough, made of whole words, and no span that overlaps
    the answer's."""
    passage, taken = answer.question.passage_text, answer.evidence.span if answer.text else None
    found = []
    for candidate in answer.runners_up:
        if candidate.score < MIN_SHOWN or _is_torn(candidate.text):
            continue
        if span := candidate.span:
            cut = any(passage[at - 1 : at + 1].isalnum() and 0 < at < len(passage) for at in span)
            same = taken is not None and span.start < taken.end and taken.start < span.end
            if candidate.text == passage[span.start : span.end] and (cut or same):
                continue
        found.append(candidate)
    return found


def _is_torn(text: str) -> bool:
    """Whether a text has no word in it, or begins with closing punctuation."""
    return text[:1] in _CLOSING or not any(letter.isalnum() for letter in text)


# What-if edits: add or remove facts of a graph.

ADDED = "urn:kgqa:added:"
"""Name prefix of concepts that only an edit introduces."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A fact added or removed by a user. `labels` are those of head and tail."""

    triple: Triple
    relation: Relation
    labels: tuple[str, str]
    added: bool = True

    @property
    def sentence(self) -> str:
        """The verbalized fact."""
        return fact_sentence(self.labels[0], self.relation, self.labels[1])


def remove(subgraph: Subgraph, edge: int) -> Edit:
    """The edit that removes a fact of a subgraph from the graph."""
    head, relation, tail = (int(v) for v in subgraph.edges[edge])
    labels = subgraph.labels[head], subgraph.labels[tail]
    return Edit(subgraph.triple(edge), subgraph.relations[relation], labels, added=False)


def add(linker: Linker, head: str, relation: Relation, tail: str) -> Edit:
    """The edit that adds a fact between two concepts given by label.

    A head or tail that is the name (IRI) of a concept of the graph, or its label in any inflection, is that concept;
    any other becomes a new concept. Raises `InputError` if one of them is empty.
    """
    if not head.strip() or not tail.strip():
        raise InputError("a fact needs a head and a tail; give both")
    (first, first_label), (last, last_label) = (_concept(linker, text) for text in (head, tail))
    return Edit(Triple(first, relation.name, last), relation, (first_label, last_label))


def _concept(linker: Linker, text: str) -> tuple[str, str]:
    """Name and label of the concept whose name or label is the whole text; of a new one if there is none."""
    words, graph = " ".join(text.split()), linker.graph
    if (entity := graph.ids([words]))[0] >= 0:
        return words, graph.labels(entity)[0]
    for mention in linker.link_many([words])[0]:
        if (mention.start, mention.end) == (0, len(words)) and mention.entities:
            entity = np.array(mention.entities[:1], dtype=np.int32)
            return graph.names(entity)[0], graph.labels(entity)[0]
    return ADDED + quote(words.casefold()), words


def edited_facts(edits: Sequence[Edit]) -> tuple[list[LabelledFact], list[LabelledFact]]:
    """The facts that edits add, and those that they remove; of two edits of the same fact the later one counts."""
    last = {(e.triple.head, e.triple.relation, e.triple.tail): e for e in edits}.values()
    added, removed = (
        [LabelledFact(e.triple, e.labels) for e in last if e.added is given] for given in (True, False)
    )
    return added, removed


def remove_answer(answer: Answer) -> list[Edit]:
    """The edits that remove all facts of the answer's concept."""
    graph, nodes = answer.evidence.subgraph, answer_nodes(answer)
    return [
        remove(graph, e) for e, (head, _, tail) in enumerate(graph.edges.tolist()) if {head, tail} & nodes
    ]


# Evidence and edits as Turtle.


def evidence_turtle(answer: Answer, edges: Sequence[int]) -> str:
    """Facts of an answer's evidence (rows of its edges) as Turtle, with the labels of their entities and relations."""
    graph = answer.evidence.subgraph
    rows = graph.edges[list(edges)].tolist()
    named = {graph.nodes[n]: graph.labels[n] for head, _, tail in rows for n in (head, tail)}
    named |= {
        graph.relations[r].name: graph.relations[r].words or graph.relations[r].label for _, r, _ in rows
    }
    labels = [_label(name, label) for name, label in sorted(named.items())]
    facts = [_fact(graph.nodes[h], graph.relations[r].name, graph.nodes[t]) for h, r, t in rows]
    return PREFIXES + "".join([*labels, "\n", *facts])


def edits_turtle(edits: Sequence[Edit]) -> str:
    """Edits as Turtle: added facts with labels, removed facts as reified statements of the class `kgqa:Removed`."""
    lines = [PREFIXES]
    for edit in edits:
        head, relation, tail = edit.triple.head, edit.triple.relation, edit.triple.tail
        if edit.added:
            lines += [_label(name, label) for name, label in zip((head, tail), edit.labels, strict=True)]
            lines.append(_fact(head, relation, tail))
        else:
            lines.append(
                f"[] a kgqa:Removed ; rdf:subject {turtle_term(head)} ; rdf:predicate {turtle_term(relation)} ; "
                f"rdf:object {turtle_term(tail)} .\n"
            )
    return "".join(lines)


def _label(name: str, label: str) -> str:
    return "" if name.startswith('"') else f"{turtle_term(name)} rdfs:label {turtle_literal(label)} .\n"


def _fact(head: str, relation: str, tail: str) -> str:
    return f"{turtle_term(head)} {turtle_term(relation)} {turtle_term(tail)} .\n"


# An answer as JSON, optionally with its subgraph.

MAX_NODES = 30
"""Maximum number of subgraph nodes in the output."""


def response_json(answer: Answer, full: bool) -> dict[str, Any]:
    """An answer as commands, HTTP API and agent tools return it: with `full`, all of `answer_json`; else the
    answer, its items, source and confidence, one reason, and the interpretations of a question over a
    closed-world graph."""
    if full:
        return answer_json(answer, True)
    found = answer_json(answer)
    brief = {name: value for name, value in found.items() if name not in ("candidates", "timing_ms")}
    evidence = {name: found["evidence"][name] for name in ("reading", "other_readings", "near", "query")}
    return brief | {"items": [{"text": item.text} for item in answer.items], "evidence": evidence}


def answer_json(answer: Answer, full: bool = False) -> dict[str, Any]:
    """An answer as plain data, in the stable form that `kgqa predict` writes.

    Args:
        answer: as returned by `Answerer.shown`.
        full: include the nodes and edges of `evidence.subgraph`, which make up most of the text; else only
            their numbers.
    """
    evidence, harm = answer.evidence, answer.harm
    reason = path_sentences(evidence, evidence.paths[0]) if is_decided_by_facts(answer) else []
    if evidence.interpretation is not None and is_computed(answer):
        reason = [evidence.interpretation.phrase]
    return {
        "id": answer.question.id,
        "question": answer.question.text,
        "answer": answer.text,
        "source": answer.source.value,
        "confidence": round(answer.confidence, 4),
        "reason": "; ".join(reason) or None,
        "care": {"harm": harm, "message": turn_to(answer.question, harm)} if harm else None,
        "candidates": [
            {
                "text": c.text,
                "source": c.source.value,
                "score": round(c.score, 4),
                "span": list(c.span) if c.span else None,
                "concept": c.concept,
            }
            for c in answer.candidates
        ],
        "items": [
            {
                "text": item.text,
                "concept": item.concept,
                "span": list(item.span) if item.span else None,
                "path": path_json(answer, item.path) if item.path else None,
            }
            for item in answer.items
        ],
        "evidence": {
            "span": list(evidence.span) if evidence.span else None,
            "attribution": None if evidence.attribution is None else round(evidence.attribution, 3),
            "paths": [path_json(answer, path) for path in evidence.paths],
            "query": evidence.query or None,
            "reading": interpretation_json(evidence.interpretation),
            "other_readings": [interpretation_json(reading) for reading in evidence.other_interpretations],
            "near": interpretation_json(evidence.near),
            "subgraph": _shown(answer, full),
        },
        "timing_ms": {name: round(value, 2) for name, value in answer.timing_ms.items()},
        "model": answer.model,
        "graph": answer.graph,
    }


def path_json(answer: Answer, path: EvidencePath) -> dict[str, Any]:
    """A path of an answer's facts as plain data."""
    graph = answer.evidence.subgraph
    triples = []
    for edge in path.steps:
        head, number, tail = graph.edges[edge].tolist()
        fact = graph.triple(edge)
        triples.append(
            {
                "head": graph.labels[head],
                "relation": graph.relations[number].label,
                "tail": graph.labels[tail],
                "weight": round(fact.weight, 3),
                "iri": [fact.head, fact.relation, fact.tail],
                "graph": answer.graph,
            }
        )
    return {
        "score": round(path.score, 4),
        "sentences": path_sentences(answer.evidence, path),
        "triples": triples,
    }


def attributions_json(answer: Answer, attributions: Iterable[FactAttribution]) -> list[dict[str, Any]]:
    """Leave-one-out attributions as plain data."""
    found = [(item, answer.evidence.subgraph.triple(item.edge)) for item in attributions]
    return [
        # + 0.0 turns -0.0 into 0.0
        {"sentence": i.sentence, "change": round(i.change, 4) + 0.0, "iri": [t.head, t.relation, t.tail]}
        for i, t in found
    ]


def json_lines(answers: Iterable[Answer]) -> list[str]:
    """Answers, each as a line of JSON."""
    return [json.dumps(answer_json(answer), ensure_ascii=False) + "\n" for answer in answers]


def _shown(answer: Answer, full: bool) -> dict[str, Any]:
    """The size of the subgraph and, with `full`, the part of it that is worth showing."""
    graph = answer.evidence.subgraph
    size = [len(graph.nodes), len(graph.edges)]
    if not full:
        return {"nodes": [], "edges": [], "size": size}
    edges = shown_edges(answer)
    nodes = sorted({int(graph.edges[e, side]) for e in edges for side in (0, 2)} | answer_nodes(answer))
    return {
        "nodes": [
            {
                "iri": graph.nodes[n],
                "label": graph.labels[n],
                "role": NodeRole(int(graph.roles[n])).name.lower(),
                "score": round(float(graph.scores[n]), 4),
            }
            for n in nodes
        ],
        "edges": [{"head": t.head, "relation": t.relation, "tail": t.tail} for t in map(graph.triple, edges)],
        "size": size,
    }


def shown_edges(answer: Answer, limit: int = MAX_NODES) -> list[int]:
    """Facts worth showing: those of all paths first, then facts between the best nodes until `limit` nodes are used."""
    graph = answer.evidence.subgraph
    paths = [*answer.evidence.paths, *(item.path for item in answer.items if item.path)]
    edges = list(dict.fromkeys(edge for path in paths for edge in path.steps))
    nodes = {int(graph.edges[e, side]) for e in edges for side in (0, 2)} | answer_nodes(answer)
    order = np.argsort(-(graph.scores[graph.edges[:, 0]] + graph.scores[graph.edges[:, 2]]), kind="stable")
    # "related to" facts would use up the nodes without showing anything
    seen = set(edges) | set(np.flatnonzero(~is_informative(graph)).tolist())
    for edge in order.tolist():
        ends = {int(graph.edges[edge, 0]), int(graph.edges[edge, 2])}
        if edge in seen or len(nodes | ends) > limit or not ends & nodes:
            continue
        seen.add(edge)
        nodes |= ends
        edges.append(edge)
    return edges


def interpretation_json(reading: Interpretation | None) -> dict[str, Any] | None:
    """An interpretation of the question as JSON."""
    return asdict(reading) | {"probability": round(reading.probability, 4)} if reading else None

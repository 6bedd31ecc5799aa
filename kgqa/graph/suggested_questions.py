"""Summary of a graph by example: its most frequent types, and suggested questions that it answers."""

from __future__ import annotations

import numpy as np

from kgqa.graph.linking.label_keys import DATES, NUMBERS, is_value, split_literal
from kgqa.graph.linking.normalize import people
from kgqa.graph.relation_types import is_subclass_relation, is_type_relation, is_vague
from kgqa.graph.storage.store import GraphStore
from kgqa.types import Ints, KnowledgeGraph
from kgqa.verbalize.questions import QuestionWording, relation_question

_LOOKED_AT = 200
_LONGEST = 40


def common_types(graph: KnowledgeGraph, count: int = 10) -> list[tuple[str, int]]:
    """Labels of the most frequent types with their numbers of instances; empty for an endpoint."""
    if not isinstance(graph, GraphStore):
        return []
    types, counts = np.unique(_type_facts(graph)[1], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:count]
    return list(zip(graph.labels(types[order]), counts[order].tolist(), strict=True))


def stated_types(graph: GraphStore, count: int) -> tuple[list[str], Ints]:
    """Labels of the most frequent types, and for each entity (V,) the index of its type among them, -1 for none."""
    entities, of = _type_facts(graph)
    types, which, counts = np.unique(of, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:count]
    rank = np.full(len(types), -1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    found = np.full(graph.entity_count, -1, dtype=np.int32)
    found[entities] = rank[which]
    return graph.labels(types[order]), found


def _type_facts(graph: GraphStore) -> tuple[Ints, Ints]:
    """Entities and their types, of all facts that state one."""
    stating = [
        n for n, r in enumerate(graph.relations) if is_type_relation(r) and not is_subclass_relation(r)
    ]
    edges = graph.edges()
    rows = np.isin(edges.relation, stating)
    return edges.head[rows], edges.tail[rows]


def suggested_questions(
    graph: KnowledgeGraph, count: int = 3, wording: QuestionWording | None = None
) -> list[tuple[str, str]]:
    """Suggested questions with their answers, one for each of the most frequent relations, then another for each until
    there are enough; empty for an endpoint.

    Questions are generated from the relation's label: "What is the capital of Norland?", "Where does Odin live?".
    `wording` generates them in another language.
    """
    if not isinstance(graph, GraphStore):
        return []
    known = [n for n, r in enumerate(graph.relations) if r.label and not (is_type_relation(r) or is_vague(r))]
    used = sorted(known, key=lambda row: -graph.manifest["relations"][row]["count"])
    questions: list[tuple[str, str]] = []
    asked: dict[int, set[int]] = {row: set() for row in used}
    while used and len(questions) < count:
        heads: set[int] = set()  # of this round, so that questions are about different things
        for row in list(used):
            if len(questions) == count:
                break
            found = _asked_about(graph, row, heads | asked[row])
            if not found:
                if not heads:  # no fact is left; otherwise, another round may ask about it
                    used.remove(row)
                continue
            heads.add(found[0])
            asked[row].add(found[0])
            relation, ids = graph.relations[row], np.array(found, dtype=np.int32)
            about, answer = graph.labels(ids)
            name = graph.names(ids)[1]
            if _datatype(name) == "boolean":  # its label may be a verb, an adjective or a noun
                used.remove(row)
                continue
            if wording is None and _datatype(name) in NUMBERS:
                asked_so = relation_question(relation, about, number=True)
            else:
                asked_so = (wording or relation_question)(
                    relation, about, is_date_literal(name), bool(people(answer))
                )
            if asked_so:
                questions.append((asked_so, answer))
            else:
                used.remove(row)
    return questions


def is_date_literal(name: str) -> bool:
    """Whether a name is a literal for a day, month or year."""
    return _datatype(name) in DATES


def _datatype(name: str) -> str:
    """Local name of a literal's datatype; "" for any other name."""
    return split_literal(name)[2].rpartition("#")[2] if is_value(name) else ""


def _asked_about(graph: GraphStore, relation: int, asked: set[int]) -> tuple[int, ...]:
    """Head and tail of a fact to ask about: the head has a single tail for the relation and many facts, and is not used
    yet."""
    edges = graph.edges()
    rows = np.flatnonzero(edges.relation == relation)
    heads, first, times = np.unique(edges.head[rows], return_index=True, return_counts=True)
    single = np.flatnonzero(times == 1)[:_LOOKED_AT]
    heads, rows = heads[single], rows[first[single]]
    labels, answers = graph.labels(heads), graph.labels(edges.tail[rows])
    named = zip(heads.tolist(), labels, answers, graph.names(heads), strict=True)
    # the head with most facts is likely the best known
    usable = [
        place
        for place, (head, label, answer, name) in enumerate(named)
        if 1 < len(label) <= _LONGEST and answer and not is_value(name) and head not in asked
    ]
    if not usable:
        return ()
    place = usable[int(graph.degrees(heads[usable]).argmax())]
    return int(heads[place]), int(edges.tail[rows[place]])

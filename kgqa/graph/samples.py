"""What a graph is about, shown by example: its commonest kinds of thing, and questions that it answers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kgqa.graph.linking.literals import is_value, split_literal
from kgqa.graph.linking.morphology import is_korean
from kgqa.graph.linking.normalising import lemma
from kgqa.graph.linking.person_names import people
from kgqa.graph.meanings import is_kind, narrows, says_little
from kgqa.graph.storage.store import GraphStore
from kgqa.types import KnowledgeGraph, Relation

_DATES = frozenset({"date", "dateTime", "gYear", "gYearMonth"})
_LOOKED_AT = 200
_LONGEST = 40
_PREPOSITIONS = frozenset("of in on at by to from with for into under as about after near through".split())  # noqa: SIM905
_PASTS = frozenset(
    "took went wrote came became gave began grew flew drew knew won sang founded invented".split()  # noqa: SIM905
)
_NO_VERBS = frozenset("has is was does this address class species status business".split())  # noqa: SIM905
_CASTS = frozenset("star stars starring actor cast features".split())  # noqa: SIM905

Wording = Callable[[Relation, str, bool, bool], str]
"""A question for the tail of a relation, of the thing so called: whether the tail is a day or year, or a person."""


def common_types(graph: KnowledgeGraph, count: int = 10) -> list[tuple[str, int]]:
    """Labels of the commonest types, each with how many things are of it, most first; none of an endpoint."""
    if not isinstance(graph, GraphStore):
        return []
    wanted = [row for row, about in enumerate(graph.relations) if is_kind(about) and not narrows(about)]
    edges = graph.edges()
    tails, counts = np.unique(edges.tail[np.isin(edges.relation, wanted)], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:count]
    return list(zip(graph.labels(tails[order]), counts[order].tolist(), strict=True))


def sample_questions(graph: KnowledgeGraph, count: int = 3, wording: Wording | None = None) -> list[str]:
    """Questions that facts of the graph answer, one for each of its commonest relations; none of an endpoint.

    They are worded plainly from the relation: "What is the capital of Norland?", "Where does Odin live?"; `wording`
    does so in another language.
    """
    if not isinstance(graph, GraphStore):
        return []
    used = sorted(range(len(graph.relations)), key=lambda row: -graph.manifest["relations"][row]["count"])
    questions: list[str] = []
    asked: set[int] = set()
    for row in used:
        relation = graph.relations[row]
        if is_kind(relation) or says_little(relation) or not relation.label:
            continue
        if found := _asked_about(graph, row, asked):
            asked.add(found[0])
            ids = np.array(found, dtype=np.int32)
            about, answer = graph.labels(ids)
            dated = is_date(graph.names(ids)[1])
            questions.append((wording or worded)(relation, about, dated, bool(people(answer))))
        if len(questions) == count:
            break
    return questions


def is_date(name: str) -> bool:
    """Whether a name is that of a day, month or year."""
    return is_value(name) and split_literal(name)[2].rpartition("#")[2] in _DATES


def _asked_about(graph: GraphStore, relation: int, asked: set[int]) -> tuple[int, ...]:
    """A thing of which the relation says one thing only, of many facts and not asked about yet, and what it says."""
    edges = graph.edges()
    rows = np.flatnonzero(edges.relation == relation)
    heads, first, times = np.unique(edges.head[rows], return_index=True, return_counts=True)
    single = np.flatnonzero(times == 1)[:_LOOKED_AT]
    heads, rows = heads[single], rows[first[single]]
    labels, answers = graph.labels(heads), graph.labels(edges.tail[rows])
    named = zip(heads.tolist(), labels, answers, graph.names(heads), strict=True)
    usable = [
        place
        for place, (head, label, answer, name) in enumerate(named)
        if 1 < len(label) <= _LONGEST and answer and not is_value(name) and head not in asked
    ]
    if not usable:
        return ()
    place = usable[int(graph.degrees(heads[usable]).argmax())]
    return int(heads[place]), int(edges.tail[rows[place]])


def worded(relation: Relation, about: str, dated: bool = False, person: bool = False) -> str:
    """A question for the tail of a relation, whose words decide the form; `dated` tells that the tail is a day or year,
    `person` that it is somebody.

    >>> worded(Relation("", "lives in"), "Odin"), worded(Relation("", "has capital"), "Norland")
    ('Where does Odin live?', 'What is the capital of Norland?')
    >>> worded(Relation("", "stars"), "Low Tide", person=True), worded(Relation("", "directed"), "Helena")
    ('Who stars in Low Tide?', 'What did Helena direct?')
    """
    said = (relation.label if " or " in relation.words else relation.words or relation.label).split()
    if is_korean(relation.label):
        return f"{about}의 {relation.label}은 무엇인가요?"
    first, last = said[0].lower(), said[-1].lower()
    who = "Who" if person else "What"
    if person and first in _CASTS and len(said) == 1:
        return f"Who stars in {about}?"
    if dated and last in {"on", "in"} and len(said) > 1:
        return f"When was {about} {' '.join(said[:-1])}?"
    if first in {"is", "are", "was", "were"} and len(said) > 1:
        return _asked(f"{first} {about}", said[1:], who)
    if first in {"has", "have"} and len(said) > 1:
        return f"{who} is the {' '.join(said[1:])} of {about}?"
    if first in _PASTS or (first.endswith("ed") and lemma(first) != first and last not in _PREPOSITIONS):
        return _asked(f"did {about} {lemma(first)}", said[1:], who)
    if first.endswith("s") and first not in _NO_VERBS and lemma(first) != first:
        return _asked(f"does {about} {lemma(first)}", said[1:], who)
    if last in _PREPOSITIONS and len(said) > 1:
        return _asked(f"is {about}", said, who)
    return f"{who} is the {' '.join(said)} of {about}?"


def _asked(begun: str, rest: list[str], who: str) -> str:
    """The question that begins so, for what would follow `rest`."""
    if rest and rest[-1] not in _PREPOSITIONS and begun.startswith("d"):
        return " ".join(["Which", rest[-1], begun, *rest[:-1]]) + "?"  # belongs to house: which house
    if rest[-1:] in (["in"], ["at"]):
        return " ".join(["Where", begun, *rest[:-1]]) + "?"
    who = "Who" if rest[-1:] == ["by"] or rest[:1] == ["married"] else who
    return " ".join([who, begun, *rest]) + "?"

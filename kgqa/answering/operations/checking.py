"""Yes or no: whether a fact joins what the question names, and is the one that is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgqa.answering.operations.choosing import MOST_READ, Option, Result, Task, Thing, choose, option, without
from kgqa.answering.operations.lookup import MOST_FACTS, Row, groups_of, ids, kinds_of, rows_of
from kgqa.answering.operations.query import ask_query, joined_query
from kgqa.graph.linking.literals import BOOLEAN
from kgqa.graph.meanings import is_kind
from kgqa.language.overlap import content
from kgqa.language.relations import is_mentioned, is_oblique
from kgqa.types import NO, YES, KnowledgeGraph

MOST_SAID = 12
"""Facts that are said of two things, about 150 tokens."""
_KINDS = frozenset({"kind", "kinds", "sort", "type", "example"})
_IS = re.compile(r"\s*(?:is|are|was|were)\b[^,]*\ban? ", re.IGNORECASE)
_DOES = re.compile(r"\W*(?:do|does|did) (?:the )?", re.IGNORECASE)
_VERB = re.compile(r"\s+\w+\s+(?:the |an? )?", re.IGNORECASE)
_DIRECTED = frozenset({"by", "of", "on", "in", "at", "for", "from", "after"})
_DENIES = re.compile(r"\b(?:not|never|no|different|distinct)\b|\bdisjoint|n['’]t\b", re.IGNORECASE)
_MUTUAL = frozenset(
    "sibling spouse husband wife partner friend cousin neighbour colleague twin ally enemy rival".split()  # noqa: SIM905
)


def checked(task: Task) -> Result | None:
    """Whether a fact joins what the question names, or a stored yes or no says it of the one thing it names."""
    graph, question, things = task.graph, task.question, task.things
    owner = {entity: number for number, thing in enumerate(things) for entity in thing.entities}
    rows = rows_of(graph, owner, MOST_FACTS)
    joined = [r for r in rows if r.head in owner and r.tail in owner and owner[r.head] != owner[r.tail]]
    if not joined:
        for kind, chains in kinds_of(graph, list(owner)).items():
            if kind in owner:
                joined += [row for chain in chains if owner[chain[0].head] != owner[kind] for row in chain][
                    :3
                ]
    if not joined:
        joined = _joined_by_instance(graph, owner)
    if joined and not _DENIES.search(question.text):
        stated = [row for row in joined if not _denies(graph, row)]
        if not stated:  # "a whale is not a fish"
            facts = [_named(graph, row) for row in joined[:1]]
            return Result(NO, tuple(joined[:1]), ask_query(facts), task.weights.stated)
        joined = stated
    if joined:
        wording = joined[:MOST_SAID]
        likely = _likely(task, owner, wording)
        facts = [_named(graph, row) for row in wording]
        return Result(YES if likely else NO, tuple(wording), ask_query(facts), task.weights.stated)
    stored = _stored(task)
    if stored is not None:
        return stored
    if not things or not graph.is_complete:
        return None
    names = [graph.names(ids(thing.entities)) for thing in things]
    query = joined_query(names[0], [name for other in names[1:] for name in other]) if names[1:] else ""
    return Result(NO, (), query, task.weights.unstated)


def _denies(graph: KnowledgeGraph, row: Row) -> bool:
    """Whether a fact says what is not so: "is not the same as", disjointWith."""
    relation = graph.relations[row.relation]
    return _DENIES.search(f"{relation.label} {relation.words or ''}") is not None


def _joined_by_instance(graph: KnowledgeGraph, owner: dict[int, int]) -> list[Row]:
    """Facts of the only thing of a kind that is named: "the chest", where there is one."""
    found = []
    for group in groups_of(graph, list(owner), MOST_FACTS):
        if not group.forward and is_kind(graph.relations[group.relation]) and len(group.ends) == 1:
            instance = group.ends[0]
            for row in rows_of(graph, [instance], MOST_FACTS):
                other = row.tail if row.head == instance else row.head
                if other in owner and owner[other] != owner[group.anchor] and owner.get(instance) is None:
                    found += [group.rows[0], row]
    return found


def _likely(task: Task, owner: dict[int, int], joined: Sequence[Row]) -> bool:
    """Whether facts that join what a question names are what it asks for, and not some other relation is.

    Of two things it is asked what the first has to do, by the question's words, with "what" in the other's place; the
    relation that joins them must then be among the likely ones of all that the first has.
    """
    graph, text, things = task.graph, task.question.text, task.things
    rest = without(text, things)
    if not content(rest) - _KINDS:
        return True  # "Is a muffle kiln a kind of kiln?"
    mine = {row.relation for row in joined}
    if _IS.match(text) and all(is_kind(graph.relations[relation]) for relation in mine):
        return True  # "Is Haneul a private university?", whatever the kind is called
    # "Does the dairy make Karvin?" is no question of what it is made from
    doing = (
        len(things) > 1
        and _DOES.match(text[: things[0].start])
        and _VERB.fullmatch(text[things[0].end : things[1].start])
    )
    others = [
        relation
        for relation in range(len(graph.relations))
        if relation not in mine and not (doing and is_oblique(graph.relations[relation]))
    ]
    if not any(is_mentioned(graph.relations[r], rest) for r in mine) and any(
        is_mentioned(graph.relations[r], rest) for r in others
    ):
        return False
    row = joined[0]
    if len(joined) == 1 and _is_turned(rest, graph, row, owner, things):
        return False
    first, second = sorted((row.head, row.tail), key=lambda e: owner.get(e, len(things)))
    if first not in owner or second not in owner or len(joined) > 1 and len(mine) == 1:
        return True
    other = things[owner[second]]
    opened = f"{text[: other.start]}what{text[other.end :]}" if other.start >= 0 else text
    groups = [
        group
        for group in groups_of(graph, [first], MOST_FACTS)
        if group.relation not in mine and not is_kind(graph.relations[group.relation])
    ]
    options = [Option(first, (row,), second), *(option(graph, group) for group in groups[: MOST_READ - 1])]
    weights = choose(graph, task.score, [opened], options, rest, weights=task.weights)
    return weights[0] >= task.weights.unlikely * max(weights)


def _is_turned(
    text: str, graph: KnowledgeGraph, row: Row, owner: dict[int, int], things: Sequence[Thing]
) -> bool:
    """Whether a fact says what is asked the other way round, told by its relation's last word and the question's voice.

    "Vaultkey depends on Ledgerline" is asked for by a question whose first thing is Vaultkey, "Greta coached by Sven"
    by one that begins with Sven, or with Greta where it has a "by" of its own.
    """
    relation = graph.relations[row.relation]
    wording = (relation.words or relation.label).lower()
    last = wording.split()[-1] if wording else ""
    if (
        last not in _DIRECTED
        or not is_mentioned(graph.relations[row.relation], text)
        or content(wording) & _MUTUAL
    ):
        return False
    if re.search(r"\b(?:wh\w+|have|has|had)\b", text, re.IGNORECASE):
        return False
    begins_with_head = owner[row.head] < owner[row.tail]
    by = re.search(r"\bby\b", text, re.IGNORECASE) is not None
    return begins_with_head != ((last == "by") == by)


def _stored(task: Task) -> Result | None:
    """A stored yes or no, where the relation that says it is likely to be asked for among all that the thing has; of
    two things that nothing joins it must be called by its words."""
    graph, text, things = task.graph, task.question.text, task.things
    rest = without(text, things)
    groups = groups_of(graph, [e for thing in things for e in thing.entities], MOST_FACTS)
    truths = [g for g in groups if graph.names(ids(g.ends[:1]))[0].endswith(f"^^<{BOOLEAN}>")]
    if len(things) > 1:
        truths = [group for group in truths if is_mentioned(graph.relations[group.relation], rest)]
    if not truths:
        return None
    options = [option(graph, group, by_relation=True) for group in groups]
    chosen = choose(graph, task.score, [text], options, rest, weights=task.weights)
    weights = dict(zip(groups, chosen, strict=True))
    best = max(truths, key=lambda group: weights[group])
    if weights[best] < task.weights.unlikely * max(weights.values()):
        return None
    (label,), (name,) = graph.labels(ids(best.ends[:1])), graph.names(ids([best.anchor]))
    query = ask_query([(name, graph.relations[best.relation].name, f'"true"^^<{BOOLEAN}>')])
    return Result(label, best.rows[:1], query, weights[best])


def _named(graph: KnowledgeGraph, row: Row) -> tuple[str, str, str]:
    head, tail = graph.names(ids([row.head, row.tail]))
    return head, graph.relations[row.relation].name, tail

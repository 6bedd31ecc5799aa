"""How many: the ends of one relation's facts, or the number that is stored as the end of one."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from kgqa.graph.linking.literals import BOOLEAN
from kgqa.operations.asking import Asked
from kgqa.operations.choosing import MOST_FACTS, Computed, Option, Reads, Thing, choose, option
from kgqa.operations.lookup import Group, Row, groups_of, ids, is_kind, rows_of
from kgqa.operations.query import count_query, value_query
from kgqa.operations.values import is_count, value_of
from kgqa.types import Answer, Candidate, KnowledgeGraph

SINGLE = 0.4
"""How much less likely a relation is to be counted that leads to one thing only."""


def counted(reader: Reads, answer: Answer, how: Asked, things: list[Thing]) -> Computed | None:
    """How many ends the facts of one relation have, or the number that is stored as the end of one."""
    graph, question, ranked = reader.graph, answer.question, answer.candidates
    inside = [t for t in things if how.noun[0] <= t.start < how.noun[1]]
    anchors = _without_kinds(graph, [e for t in things if t not in inside for e in t.entities])
    nouns = {e for t in inside for e in t.entities}
    groups = groups_of(graph, anchors, MOST_FACTS)
    if not groups:
        anchors, nouns = [e for t in inside for e in t.entities], set()
        groups = groups_of(graph, anchors, MOST_FACTS)
    numbers, others = _split(graph, groups)
    if question.passage_text:  # how many there were of what it tells is no count of facts
        others = []
    of_kind = _of_kind(graph, others, nouns)
    counts = list(of_kind) or [g for g in others if not (g.forward and is_kind(graph.relations[g.relation]))]
    if not numbers and not counts:
        return None
    candidates = [*numbers, *counts]
    which = re.sub(r"\bhow many\b", "which", question.text, flags=re.IGNORECASE)
    options = [option(graph, group) for group in candidates]
    prior = [_first_opinion(graph, group, ranked) for group in candidates]
    # how many is asked of what there can be several of
    prior = [
        p if len(g.ends) > 1 or g in numbers else p * SINGLE for p, g in zip(prior, candidates, strict=True)
    ]
    weights = choose(reader, [question.text, which], _with_kinds(graph, options), question.text, prior)
    best = max(range(len(candidates)), key=lambda at: weights[at])
    group = candidates[best]
    anchor, relation = graph.names(ids([group.anchor]))[0], graph.relations[group.relation].name
    if best < len(numbers):
        (label,) = graph.labels(ids(group.ends[:1]))
        return Computed(label, group.rows[:1], value_query(anchor, relation), weights[best])
    query = count_query(anchor, relation, group.forward, of_kind.get(group))
    return Computed(str(len(group.ends)), group.rows, query, weights[best])


def _first_opinion(graph: KnowledgeGraph, group: Group, ranked: Sequence[Candidate]) -> float:
    """What the ends of a group got where the reader was asked the question as it stands."""
    names = set(graph.names(ids(group.ends)))
    return math.sqrt(0.02 + sum(c.score for c in ranked if c.concept in names))


def _without_kinds(graph: KnowledgeGraph, entities: Sequence[int]) -> list[int]:
    """Entities that are not what another of them is: of "the Cardiology ward" Cardiology."""
    if len(entities) < 2:
        return list(entities)
    rows = rows_of(graph, entities, MOST_FACTS)
    kinds = {row.tail for row in rows if row.head in entities and is_kind(graph.relations[row.relation])}
    return [entity for entity in entities if entity not in kinds]


def _with_kinds(graph: KnowledgeGraph, options: Sequence[Option]) -> list[Option]:
    """Options told with what kind of thing their ends are."""
    ends = {option.end for option in options}
    kinds: dict[int, Row] = {}
    for row in rows_of(graph, ends, 100):
        if row.head in ends and is_kind(graph.relations[row.relation]):
            kinds.setdefault(row.head, row)
    kinds = {end: row for end, row in kinds.items() if all(row not in o.rows for o in options)}
    return [o._replace(rows=(*o.rows, kinds[o.end])) if o.end in kinds else o for o in options]


def _split(graph: KnowledgeGraph, groups: Sequence[Group]) -> tuple[list[Group], list[Group]]:
    """Groups that are one stored number, and groups whose ends can be counted."""
    numbers, others = [], []
    for group in groups:
        names = graph.names(ids(group.ends))
        if group.forward and all(map(is_count, names)):
            numbers += [group] if len(names) == 1 else []
        elif not any(name.endswith(f"^^<{BOOLEAN}>") or value_of(name) for name in names):
            others.append(group)
    return numbers, others


def _of_kind(
    graph: KnowledgeGraph, groups: Sequence[Group], nouns: set[int]
) -> dict[Group, tuple[str, list[str]]]:
    """What is left of each group with the ends alone that are of a kind that the question names, and that kind with the
    relations that lead to it."""
    if not nouns:
        return {}
    steps = {end: {end} for group in groups for end in group.ends}
    relations: dict[str, None] = {}
    layer = set(steps)
    above: dict[int, set[int]] = {}
    for _ in range(2):
        rows = [r for r in rows_of(graph, layer) if r.head in layer and is_kind(graph.relations[r.relation])]
        for row in rows:
            above.setdefault(row.head, set()).add(row.tail)
            relations[graph.relations[row.relation].name] = None
        layer = {row.tail for row in rows} - above.keys()
        if not layer:
            break
    name = graph.names(ids([min(nouns)]))[0]
    found = {}
    for group in groups:
        kept = []
        for row in group.rows:
            kinds = above.get(row.tail if group.forward else row.head, set())
            if nouns & kinds.union(*(above.get(kind, ()) for kind in kinds)):
                kept.append(row)
        if kept:
            found[replace(group, rows=tuple(kept))] = (name, list(relations))
    return found

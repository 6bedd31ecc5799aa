"""How many: the ends of one relation's facts, or the number that is stored as the end of one."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from kgqa.answering.operations.choosing import Option, Result, Task, Thing, choose, option, without
from kgqa.answering.operations.lookup import (
    MOST_FACTS,
    Group,
    Row,
    are_cut_off,
    groups_of,
    ids,
    kinds_called,
    kinds_of,
    members_of,
    most_counted,
    rows_of,
)
from kgqa.answering.operations.query import count_query, members_query, value_query
from kgqa.graph.linking.literals import BOOLEAN
from kgqa.graph.linking.person_names import people
from kgqa.graph.meanings import is_kind, is_measure
from kgqa.language.overlap import content
from kgqa.language.relations import is_mentioned
from kgqa.language.values import is_count, value_of
from kgqa.types import YES, Candidate, KnowledgeGraph

MOST_NAMES = 5
"""Ends of a relation whose names are looked at."""
_PEOPLE = re.compile(r"people|persons?", re.IGNORECASE)
_KINDS = frozenset({"kind", "type", "sort", "class", "category"})


def counted(task: Task) -> Result | None:
    """How many ends the facts of one relation have, or the number that is stored as the end of one."""
    graph, question, how, things = task.graph, task.question, task.operation, task.things
    inside = [t for t in things if how.noun[0] <= t.start < how.noun[1]]
    anchors = _without_kinds(graph, [e for t in things if t not in inside for e in t.entities])
    nouns = {e for t in inside for e in t.entities}
    limit = most_counted(graph)
    groups = groups_of(graph, anchors, limit)
    if not groups:
        anchors = [e for t in inside for e in t.entities]
        if not question.passage_text and (members := _members(task, inside)) is not None:
            return members
        nouns = set()
        groups = groups_of(graph, anchors, limit)
    if are_cut_off([row for group in groups for row in group.rows], anchors, limit):
        return None  # a number of some of them is none of all
    numbers, others = _split(graph, groups)
    if question.passage_text:  # how many there were of what it tells is no count of facts
        others = []
    of_kind = _of_kind(graph, others, nouns)
    if not of_kind and _PEOPLE.fullmatch(question.text[slice(*how.noun)].strip()):
        others = [g for g in others if any(map(people, graph.labels(ids(g.ends[:MOST_NAMES]))))] or others
    counts = list(of_kind) or [g for g in others if not (g.forward and is_kind(graph.relations[g.relation]))]
    if counts:  # a weight is no number of people
        numbers = [g for g in numbers if not is_measure(graph.relations[g.relation])]
    if not numbers and not counts:
        return None
    candidates = [*numbers, *counts]
    which = re.sub(r"\bhow many\b", "which", question.text, flags=re.IGNORECASE)
    options = [option(graph, group) for group in candidates]
    prior = [_first_opinion(graph, group, task.candidates) for group in candidates]
    # how many is asked of what there can be several of, and of no other number where there are such things
    named = any(is_mentioned(graph.relations[group.relation], question.text) for group in of_kind or counts)
    prior = [
        p * task.weights.unnamed
        if named and g in numbers and not is_mentioned(graph.relations[g.relation], question.text)
        else p
        for p, g in zip(prior, candidates, strict=True)
    ]
    prior = [
        p if len(g.ends) > 1 or g in numbers else p * task.weights.single
        for p, g in zip(prior, candidates, strict=True)
    ]
    weights = choose(
        graph,
        task.score,
        [question.text, which],
        _with_kinds(graph, options),
        question.text,
        prior,
        task.weights,
    )
    best = max(range(len(candidates)), key=lambda at: weights[at])
    group = candidates[best]
    anchor, relation = graph.names(ids([group.anchor]))[0], graph.relations[group.relation].name
    if best < len(numbers):
        (label,) = graph.labels(ids(group.ends[:1]))
        return Result(label, group.rows[:1], value_query(anchor, relation), weights[best])
    query = count_query(anchor, relation, group.forward, of_kind.get(group))
    return Result(str(len(group.ends)), group.rows, query, weights[best])


def _members(task: Task, named: Sequence[Thing]) -> Result | None:
    """How many things are of one of the kinds, narrower ones included; with a yes for a relation that the question
    names besides them ("how many bikes are electric"), those that have it."""
    graph, text = task.graph, task.question.text
    noun = text[slice(*task.operation.noun)]
    kinds = [e for thing in named for e in thing.entities] or kinds_called(graph, noun)
    rows = {row.head: row for row in members_of(graph, kinds)}
    if not rows or content(noun) & _KINDS:
        return None
    rest = without(text, named) if named else text.replace(noun, " ".join(noun.split()[:-1]))
    rest = rest.replace("many", " ")
    true = [
        group
        for group in groups_of(graph, list(rows), MOST_FACTS)
        if group.forward
        and graph.names(ids(group.ends[:1]))[0].endswith(f"^^<{BOOLEAN}>")
        and is_mentioned(graph.relations[group.relation], rest)
    ]
    asked = {group.relation for group in true}
    if content(rest) and len(asked) != 1:
        return None
    kept = [group.rows[0] for group in true if graph.labels(ids(group.ends[:1])) == [YES]]
    shown = kept if asked else list(rows.values())
    wider = {
        graph.relations[r.relation].name: None
        for chains in kinds_of(graph, [r.tail for r in rows.values()]).values()
        for chain in chains
        for r in chain
    }
    relations = dict.fromkeys(graph.relations[row.relation].name for row in rows.values())
    names = graph.names(ids(kinds))
    truth = graph.relations[min(asked)].name if asked else ""
    query = members_query(names, list(relations), list(wider), truth)
    return Result(str(len(shown)), tuple(shown), query, task.weights.stated)


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
    kinds = kinds_of(graph, [end for group in groups for end in group.ends])
    chains = [chain for noun in nouns for chain in kinds.get(noun, ())]
    members = {chain[0].head for chain in chains}
    relations = dict.fromkeys(graph.relations[row.relation].name for chain in chains for row in chain)
    name = graph.names(ids([min(nouns)]))[0]
    found = {}
    for group in groups:
        kept = [row for row in group.rows if (row.tail if group.forward else row.head) in members]
        if kept:
            found[replace(group, rows=tuple(kept))] = (name, list(relations))
    return found

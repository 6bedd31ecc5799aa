"""Questions over graphs as training data for reading which operation is asked for, and on what: the operands that the
graph offers are the choices, found as they are when questions are answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgqa.answering.operations.applying import Outcome, applied
from kgqa.answering.operations.operands import Facts, Operand
from kgqa.answering.operations.telling import UNTOLD, Told, tell
from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.graph.meanings import is_kind
from kgqa.graph.retrieval.retrieval import Relevance, retrieve
from kgqa.graph.storage.store import GraphStore
from kgqa.text.synthesis.operations import QUESTIONS, Meant, operation_worlds
from kgqa.text.synthesis.worlds import worlds
from kgqa.types import Example, Question, Subgraph


def operations_in_worlds(count: int, seed: int) -> Iterator[Example]:
    """About `count` questions over made-up worlds, each with its operands as choices; those are left out whose right
    operand is not among them.

    Raises:
        InputError: a world cannot be written, for want of room on the disk.
    """
    for world in operation_worlds(-(-count // QUESTIONS), seed):
        graph = GraphStore.from_triples(world.triples, name="world")
        facts, linker = Facts(graph), forgiving_linker(graph)
        for posed in world.posed:
            told = tell(facts, linker, posed.question)
            right = [n for n, o in enumerate(told.operands) if any(_is(facts, o, m) for m in posed.meant)]
            if posed.meant and not right:
                continue
            example = _example(facts, told, posed.question, posed.operation, right)
            if example is not None:
                yield example


def operation_questions(count: int, seed: int) -> Iterator[Example]:
    """About `count` questions over made-up worlds for their operation alone, with nothing to choose from: short rows,
    of which many are read at once. The operation does not hang on the operands, which a question does not see."""
    for world in operation_worlds(-(-count // QUESTIONS), seed):
        for posed in world.posed:
            asked = replace(posed.question, choices=(UNTOLD,))
            yield Example(asked, choice=0, kind=posed.operation, operation=posed.operation)


def _is(facts: Facts, operand: Operand, meant: Meant) -> bool:
    """Whether an operand is what a question means: its relations and its things; of what kind these are may be left
    unsaid."""
    relations = facts.graph.relations
    walked = tuple(relations[r].name for r in operand.relations)
    if operand.scale and operand.steps and is_kind(relations[operand.steps[0][0]]):
        walked = walked[1:]
    things = {facts.label(thing) for thing in operand.values or operand.ends}
    return walked == meant.relations and things == meant.things


def _example(
    facts: Facts, told: Told, question: Question, operation: str, right: Sequence[int]
) -> Example | None:
    """A question with its operands, of the right ones the first alone, and of others none that says the same; without
    a right one the last choice, that nothing is told, is right."""

    def outcome(number: int) -> Outcome | None:
        return applied(facts, operation, told.operands[number], told.things, question.text)

    gold, same = right[0] if right else -1, set(right)
    if right:
        if (best := outcome(gold)) is None:
            return None
        own = set(told.operands[gold].relations)
        same |= {
            number
            for number, operand in enumerate(told.operands)
            if own <= set(operand.relations) and (o := outcome(number)) is not None and o.texts == best.texts
        }
    kept = [n for n in range(len(told.operands)) if n == gold or n not in same]
    choices = (*(told.words[n] for n in kept), told.choices[-1])
    asked = Question(question.text, choices, question.passage, question.id)
    choice = kept.index(gold) if gold >= 0 else len(kept)
    return Example(asked, choice=choice, kind=operation, operation=operation)


QUESTIONS_OF_A_WORLD = 20


def asked_worlds(
    count: int, seed: int, max_nodes: int, relevance: Relevance | None = None
) -> Iterator[tuple[Example, list[Subgraph]]]:
    """About `count` questions over made-up worlds, each with the subgraph retrieved over its world's facts.

    Raises:
        InputError: `max_nodes` is below 1.
    """
    for world in worlds(-(-count // QUESTIONS_OF_A_WORLD), seed):
        graph = GraphStore.from_triples(world.triples, name="world")
        linker = forgiving_linker(graph)
        for example in world.examples:
            yield example, retrieve(example.question, graph, linker, max_nodes=max_nodes, relevance=relevance)

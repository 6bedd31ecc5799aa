"""Questions over many graphs, asked without retraining, and what-if edits of them: right or wrong, by kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgqa.data.datasets.json_lines import question_of
from kgqa.data.files import read_json_lines
from kgqa.graph.linking.normalize import split_local_name
from kgqa.graph.overlay import LabelledFact, OverlayGraph
from kgqa.metrics import answer_key, is_right
from kgqa.types import Answer, InputError, KnowledgeGraph, Question, Triple

KINDS = (
    "one-hop",
    "reverse",
    "two-hop",
    "several",
    "list",
    "literal",
    "yes-no",
    "how-many",
    "compare",
    "with-passage",
    "unanswerable",
)
ALSO_CALLED = {"none": "unanswerable"}
"""Kinds by other names."""
AT_ONCE = 16
"""Questions that a system is asked together."""
EDITS = "edits.jsonl"
EVERY = "*"
"""In a fact to remove: whatever stands there."""
_NUMBERED = re.compile(r"^p\d+i? ")

AnswerMany = Callable[[Sequence[Question]], Sequence[Answer]]
System = Callable[[KnowledgeGraph], AnswerMany]
"""Something that answers questions over whatever graph it is given."""


@dataclass(frozen=True)
class SuiteQuestion:
    """A question of the suite, over the graph in file `graph`; no `answers` means that it has none.

    Any of them is right, of a `list` all of them together.
    """

    graph: Path
    kind: str
    question: Question
    answers: tuple[str, ...]

    def is_met(self, answer: Answer) -> bool:
        """Whether an answer is right."""
        if self.kind != "list":
            return is_right(answer.best, self.answers)
        listed = [item.text for item in answer.items] or [answer.best or ""]
        return {answer_key(text) for text in listed} == {answer_key(text) for text in self.answers}


@dataclass(frozen=True)
class SuiteResult:
    """The answer of one system to one question. `problem` is why it could not be asked."""

    system: str
    graph: str
    kind: str
    id: str
    question: str
    predicted: str | None
    answers: tuple[str, ...]
    right: bool
    problem: str = ""


@dataclass(frozen=True)
class WhatIf:
    """An edit of a graph by words, the question asked before and after, and what is then accepted.

    `before` is None where it does not matter; an empty `after` means that no answer is left.
    """

    graph: str
    question: Question
    add: tuple[tuple[str, str, str], ...]
    remove: tuple[tuple[str, str, str], ...]
    before: tuple[str, ...] | None
    after: tuple[str, ...]


@dataclass(frozen=True)
class EditResult:
    """What a system said to the question before and after an edit; `right` where the edit moved the answer there."""

    graph: str
    question: str
    before: str | None
    after: str | None
    expected: tuple[str, ...]
    was_right: bool
    right: bool
    problem: str = ""


def load_suite(folder: Path) -> list[SuiteQuestion]:
    """All questions of a folder: `NAME.jsonl` beside the graph `NAME.*`."""
    found: list[SuiteQuestion] = []
    for path in sorted(folder.glob("*.jsonl")):
        if path.name == EDITS:
            continue
        graphs = [other for other in sorted(folder.glob(f"{path.stem}.*")) if other != path]
        if len(graphs) != 1:
            raise InputError(f"{path}: {len(graphs)} graphs of that name beside it; one is needed")
        for place, row in _rows(path, ("question", "kind", "answers")):
            kind = ALSO_CALLED.get(row["kind"], row["kind"])
            if kind not in KINDS:
                raise InputError(f"{place}: kind {kind!r}; known are {', '.join(KINDS)}")
            found.append(
                SuiteQuestion(graphs[0], kind, question_of(row, place, place), tuple(row["answers"]))
            )
    if not found:
        raise InputError(f"{folder}: no questions here (NAME.jsonl beside a graph NAME.ttl)")
    return found


def load_edits(folder: Path) -> list[WhatIf]:
    """The edits of a folder."""
    edits = []
    for place, row in _rows(folder / EDITS, ("graph", "question", "add", "remove", "before", "after")):
        add, remove = (tuple(tuple(fact) for fact in row[key]) for key in ("add", "remove"))
        if any(len(fact) != 3 for fact in (*add, *remove)):
            raise InputError(f"{place}: a fact is [head, relation, tail]")
        before = None if row["before"] is None else tuple(row["before"])
        edits.append(
            WhatIf(row["graph"], question_of(row, place, place), add, remove, before, tuple(row["after"]))
        )
    return edits


def ask_suite(
    suite: Sequence[SuiteQuestion], systems: dict[str, System], open_graph: Callable[[Path], KnowledgeGraph]
) -> list[SuiteResult]:
    """Put every question to every system; a graph that cannot be opened is wrong throughout, and says why."""
    results: list[SuiteResult] = []
    for path in dict.fromkeys(asked.graph for asked in suite):
        mine = [asked for asked in suite if asked.graph == path]
        for name, system in systems.items():
            predicted: list[tuple[str | None, bool]] = []
            problem = ""
            try:
                answer_many = system(open_graph(path))
                for start in range(0, len(mine), AT_ONCE):
                    chunk = mine[start : start + AT_ONCE]
                    answers = answer_many([asked.question for asked in chunk])
                    predicted += [
                        (answer.best, asked.is_met(answer))
                        for asked, answer in zip(chunk, answers, strict=True)
                    ]
            except InputError as error:
                predicted, problem = [(None, False)] * len(mine), str(error)
            for asked, (text, right) in zip(mine, predicted, strict=True):
                about = (path.name, asked.kind, asked.question.id, asked.question.text)
                results.append(SuiteResult(name, *about, text, asked.answers, right, problem))
    return results


def ask_edits(
    edits: Sequence[WhatIf], system: System, open_graph: Callable[[str], KnowledgeGraph]
) -> list[EditResult]:
    """Ask each question before and after its edit; an edit that cannot be made counts as one without effect."""
    changes = []
    opened: dict[str, KnowledgeGraph] = {}
    for edit in edits:
        before = after = None
        problem = ""
        try:
            if edit.graph not in opened:
                opened[edit.graph] = open_graph(edit.graph)
            graph = opened[edit.graph]
            before = system(graph)([edit.question])[0].best
            remove = [fact for pattern in edit.remove for fact in _spelt_out(graph, pattern)]
            over = OverlayGraph(graph, facts_between(graph, edit.add), facts_between(graph, remove))
            after = system(over)([edit.question])[0].best
        except InputError as error:
            problem = str(error)
        was_right = not problem and (edit.before is None or is_right(before, edit.before))
        right = not problem and is_right(after, edit.after) and not is_right(before, edit.after)
        changes.append(
            EditResult(edit.graph, edit.question.text, before, after, edit.after, was_right, right, problem)
        )
    return changes


def facts_between(graph: KnowledgeGraph, facts: Sequence[tuple[str, str, str]]) -> list[LabelledFact]:
    """Facts between all concepts of the graph that bear the words; words that none bears become a concept.

    A relation is known by its label, its words, or its name taken apart; one that the graph lacks keeps its words.
    """
    made = []
    for head, relation, tail in facts:
        name = _relation_name(graph, relation)
        made += [
            LabelledFact(Triple(first, name, last), (head, tail))
            for first in _names(graph, head)
            for last in _names(graph, tail)
        ]
    return made


def _spelt_out(graph: KnowledgeGraph, fact: tuple[str, str, str]) -> list[tuple[str, str, str]]:
    """The facts that a pattern stands for: `*` as head or tail is whatever stands there in the graph."""
    head, relation, tail = fact
    if EVERY not in (head, tail):
        return [fact]
    ends = graph.find([tail if head == EVERY else head])[0]
    facts = graph.neighbours(ends)
    here, there = (facts.tail, facts.head) if head == EVERY else (facts.head, facts.tail)
    name = _relation_name(graph, relation)
    kept = [
        other
        for end, number, other in zip(here.tolist(), facts.relation.tolist(), there.tolist(), strict=True)
        if end in ends and graph.relations[number].name == name
    ]
    labels = dict.fromkeys(graph.labels(np.array(kept, dtype=np.int32)))
    return [(label, relation, tail) if head == EVERY else (head, relation, label) for label in labels]


def _relation_name(graph: KnowledgeGraph, relation: str) -> str:
    wanted = relation.casefold()
    for known in graph.relations:
        forms = (known.label, known.words, split_local_name(known.name))
        if wanted in {_NUMBERED.sub("", form.casefold()) for form in forms} | {known.name.casefold()}:
            return known.name
    return relation


def _names(graph: KnowledgeGraph, label: str) -> list[str]:
    """Names of the concepts that have a label; the label itself where none has."""
    found = graph.find([label])[0]
    same = [
        e
        for e, text in zip(found.tolist(), graph.labels(found), strict=True)
        if answer_key(text) == answer_key(label)
    ]
    ids = np.array(same or found.tolist()[:1], dtype=np.int32)
    return graph.names(ids) if len(ids) else [label]


def figures(results: Sequence[SuiteResult], by: str) -> dict[str, dict[str, tuple[int, int]]]:
    """(right, asked) of each system for each value of `by` ("kind" or "graph"), and for "all"."""
    rows: dict[str, dict[str, tuple[int, int]]] = {}
    for result in results:
        row = rows.setdefault(result.system, {})
        for key in (getattr(result, by), "all"):
            right, asked = row.get(key, (0, 0))
            row[key] = (right + result.right, asked + 1)
    return rows


def _rows(path: Path, keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, row in read_json_lines(path):
        if not set(keys) <= row.keys():
            raise InputError(f"{path}:{number}: needs {', '.join(keys)}")
        yield f"{path}:{number}", row

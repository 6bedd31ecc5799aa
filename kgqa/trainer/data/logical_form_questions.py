"""Training data for ranking logical forms: questions with correct and incorrect forms.

They come from practice graphs, and from families of similar relations.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from kgqa.data.files import rows_of
from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.load import open_graph
from kgqa.qa.logical_forms.enumerate import Enumerator
from kgqa.qa.logical_forms.execute import execute
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.graph_index import GraphIndex, NameLookup
from kgqa.qa.logical_forms.language import Form, paths
from kgqa.qa.logical_forms.mentions import question_mentions
from kgqa.qa.logical_forms.rank import NO_FORM, shortlist
from kgqa.qa.logical_forms.verbalize import Verbalizer
from kgqa.settings import write_whole
from kgqa.types import Example, InputError, Question

PRACTICE, FAMILIES = Path("training/data/practice_graphs"), Path("training/data/relation_families")
NEGATIVES, ABSENT = 7, 0.3
"""Number of incorrect forms per question, and share of questions whose correct form is left out."""
MAX_WRONG = 16
"""Maximum number of incorrect forms stored per question."""


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A question with the verbalizations of its correct form (None if unanswerable) and of incorrect forms."""

    text: str
    right: str | None
    wrong: tuple[str, ...]
    group: str
    """Its graph or family; groups are held out as a whole."""

    def example(self, rng: random.Random, negatives: int, absent: float) -> Example:
        """As multiple choice in random order, with "no form fits" last; sometimes the correct form is left out."""
        wrong = list(self.wrong)
        rng.shuffle(wrong)
        chosen = wrong[:negatives]
        if self.right is None or rng.random() < absent:
            return Example(Question(self.text, (*chosen, NO_FORM)), choice=len(chosen))
        chosen.insert(rng.randint(0, len(chosen)), self.right)
        return Example(Question(self.text, (*chosen, NO_FORM)), choice=chosen.index(self.right))


def practice_questions(folder: Path) -> Iterator[FormQuestion]:
    """Questions with forms for a folder of Turtle graphs, each with questions in JSON lines of the same name."""
    for path in sorted(folder.glob("*.jsonl")):
        graph = open_graph(str(path.with_suffix(".ttl")))
        linker, index = fuzzy_linker(graph), GraphIndex(graph)
        names = NameLookup(GraphFacts(graph))
        for number, row in rows_of(path):
            try:
                text, form = str(row["question"]), row["form"]
                gold = None if form is None else names.parse(form)
            except (KeyError, InputError) as error:
                raise InputError(f"{path}:{number}: {error}; a row has question and form") from None
            facts = names.facts
            asked = question_mentions(facts, linker, index, Question(text))
            found = shortlist(facts, asked, Enumerator(facts, asked, index.classes).forms())
            if gold is None:
                wrong = [candidate.phrase for candidate in found]
                yield FormQuestion(text, None, tuple(wrong[:MAX_WRONG]), path.stem)
                continue
            result = execute(facts, gold)
            if result is None:
                continue
            own, same = (
                _relations(gold),
                {c.phrase: _relations(c.form) for c in found if c.result.key == result.key},
            )
            right = next((phrase for phrase, relations in same.items() if relations == own), None)
            right = right or Verbalizer(facts).with_result(gold, result)
            wrong = [c.phrase for c in found if c.phrase not in same and c.phrase != right]
            yield FormQuestion(text, right, tuple(wrong[:MAX_WRONG]), path.stem)


def _relations(form: Form) -> set[int]:
    return {step.relation for path in paths(form) for step in path}


def family_questions(path: Path) -> Iterator[FormQuestion]:
    """Questions of families of similar relations: the phrases of the other relations are incorrect."""
    for number, row in rows_of(path):
        try:
            phrases = [str(relation["phrase"]) for relation in row["relations"]]
            for n, relation in enumerate(row["relations"]):
                others = tuple(phrase for m, phrase in enumerate(phrases) if m != n)
                for text in relation["questions"]:
                    yield FormQuestion(str(text), phrases[n], others, f"{path.stem}:{number}")
        except (KeyError, TypeError):
            raise InputError(
                f"{path}:{number}: not a family of relations; a row needs thing and relations"
            ) from None


def form_examples(seed: int, folder: Path = PRACTICE, families: Path = FAMILIES) -> Iterator[Example]:
    """All practice questions as multiple choice over logical forms, a third of them without the correct one."""
    rng = random.Random(seed)
    for question in chain(
        practice_questions(folder), *map(family_questions, sorted(families.glob("*.jsonl")))
    ):
        yield question.example(rng, NEGATIVES, ABSENT)


def save_questions(questions: Iterator[FormQuestion], path: Path) -> None:
    """Write questions as JSON lines."""
    lines = [
        json.dumps({"text": q.text, "right": q.right, "wrong": q.wrong, "group": q.group}, ensure_ascii=False)
        for q in questions
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "\n".join(lines) + "\n")


def saved_questions(path: Path) -> list[FormQuestion]:
    """Load questions written by `save_questions`."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [FormQuestion(row["text"], row["right"], tuple(row["wrong"]), row["group"]) for row in rows]


def lower_case(question: FormQuestion) -> FormQuestion:
    """The question without capitals and question mark, as many people type."""
    return replace(question, text=question.text.lower().rstrip("?. "))

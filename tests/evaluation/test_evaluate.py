import os
import random
from collections.abc import Sequence
from itertools import islice

import pytest
from official_squad import official

from kgqa.data.datasets.load import load_dataset
from kgqa.evaluation import answer_all, evaluate
from kgqa.types import Answer, Candidate, Example, Question, Source


def reply(question: Question) -> Answer:
    best = Candidate("trowel", Source.KNOWLEDGE, 0.9)
    return Answer(question, "trowel", Source.KNOWLEDGE, 0.9, (best,))


def test_answers_keep_the_order_of_the_questions() -> None:
    examples = [Example(Question(str(i)), concepts=("trowels",)) for i in range(40)]
    answers = answer_all(lambda questions: [reply(q) for q in questions], examples, batch=7)
    assert [a.question.text for a in answers] == [str(i) for i in range(40)]
    assert evaluate(lambda questions: [reply(q) for q in questions], examples)["hits@1"] == 1.0


def test_both_sides_of_a_contrast_pair_count_together() -> None:
    rows = (("h1-a", "trowel"), ("h1-b", "trowel"), ("h2-a", "trowel"), ("h2-b", "spade"), ("alone", "spade"))
    examples = [Example(Question(name, id=name), concepts=(gold,)) for name, gold in rows]
    figures = evaluate(lambda questions: [reply(q) for q in questions], examples)
    assert figures["pair_exact_match"] == 0.5


def test_each_kind_of_question_has_a_figure_where_it_was_asked_often_enough() -> None:
    kinds = (("which tool", 5, "trowel"), ("why", 5, "spade"), ("who", 4, "trowel"))
    examples = [
        Example(Question("?"), concepts=(gold,), kind=kind) for kind, n, gold in kinds for _ in range(n)
    ]
    figures = evaluate(lambda questions: [reply(q) for q in questions], examples)
    kept = {name: value for name, value in figures.items() if name.startswith("exact_match_")}
    assert kept == {"exact_match_knowledge_which_tool": 1.0, "exact_match_knowledge_why": 0.0}
    alone = evaluate(lambda questions: [reply(q) for q in questions], examples[:5])
    assert not [name for name in alone if name.startswith("exact_match_")]


def test_the_best_threshold_for_none_brings_what_it_says() -> None:
    rows = ((0.1, "trowel"), (0.3, ""), (0.5, "trowel"), (0.7, ""), (0.9, "trowel"))
    examples = [Example(Question(str(none)), concepts=(gold,) if gold else ()) for none, gold in rows]

    def answers(threshold: float) -> list[Answer]:
        found = []
        for example in examples:
            none, best = float(example.question.text), Candidate("trowel", Source.KNOWLEDGE, 0.9)
            output = None if none > threshold else "trowel"
            source = Source.KNOWLEDGE if output else Source.NONE
            found.append(Answer(example.question, output, source, 0.9, (best,), none=none))
        return found

    first = evaluate(lambda _: answers(1.0), examples)
    assert first["exact_match"] == 0.6
    assert first["best_exact_match"] == first["best_f1"] == 0.6
    least = evaluate(lambda _: answers(0.2), examples)
    assert least["exact_match"] == least["best_exact_match"] == 0.6
    assert first["best_exact_match_threshold"] == least["best_exact_match_threshold"] == 0.1
    assert "best_f1" not in evaluate(lambda _: answers(1.0)[:1], examples[:1])


@pytest.mark.data
@pytest.mark.skipif("KGQA_DATA" not in os.environ, reason="KGQA_DATA names no folder of data sets")
@pytest.mark.parametrize("name", ["squad1-dev", "squad2-dev"])
def test_a_thousand_answers_to_squad_are_scored_as_by_its_script(name: str) -> None:
    examples = list(islice(load_dataset(name), 1_000))
    draw, output = random.Random(0), {}
    for example in examples:
        words = example.question.passage_text.split()
        at = draw.randrange(len(words))
        made = [
            "",
            " ".join(words[at : at + 4]),
            *example.golds,
            *(f"the {gold}, of" for gold in example.golds),
        ]
        output[example.question.id] = draw.choice(made)

    def answers(questions: Sequence[Question]) -> list[Answer]:
        return [
            Answer(q, output[q.id] or None, Source.PASSAGE if output[q.id] else Source.NONE, 0.5)
            for q in questions
        ]

    figures = evaluate(answers, examples)
    reported = [official(output[example.question.id], list(example.golds)) for example in examples]
    assert 0.2 < figures["exact_match"] < 0.9
    assert figures["exact_match"] == pytest.approx(sum(em for em, _ in reported) / len(reported))
    assert figures["f1"] == pytest.approx(sum(f1 for _, f1 in reported) / len(reported))

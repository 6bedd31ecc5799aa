import json
from pathlib import Path

import numpy as np

from kgqa.trainer.evaluation import answer_all, evaluate, fit_calibration, store_calibration
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


def test_confidence_is_fitted_to_how_often_it_is_right() -> None:
    draw = np.random.default_rng(0)
    examples, answers = [], []
    for i in range(600):
        score = float(draw.uniform(0.05, 0.95))
        right = draw.random() < score**2  # overconfident
        question = Question(str(i))
        examples.append(Example(question, concepts=("yes" if right else "no",)))
        best = Candidate("yes", Source.KNOWLEDGE, score)
        answers.append(Answer(question, "yes", Source.KNOWLEDGE, score, (best,)))
    a, b = fit_calibration(examples, answers)["knowledge"]
    fitted = 1 / (1 + np.exp(-(a * np.log(0.6 / 0.4) + b)))
    assert abs(fitted - 0.36) < 0.08


def test_calibration_is_kept_in_the_card(tmp_path: Path) -> None:
    (tmp_path / "reader.json").write_text('{"format": 1, "name": "toy"}')
    store_calibration(tmp_path, {"knowledge": (0.5, -0.1)})
    card = json.loads((tmp_path / "reader.json").read_text())
    assert card == {"format": 1, "name": "toy", "calibration": {"knowledge": [0.5, -0.1]}}

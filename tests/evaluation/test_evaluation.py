from kgqa.evaluation.evaluation import answer_all, evaluate
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

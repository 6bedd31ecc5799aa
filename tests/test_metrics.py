import random
from pathlib import Path

import pytest
from support.official_squad import official, official_threshold

from kgqa import metrics
from kgqa.data.datasets.json_lines import read_examples
from kgqa.types import Answer, Candidate, Example, Passage, Question, Source, Span


def answer(text: str | None, source: Source, confidence: float = 1.0, *ranked: str) -> Answer:
    candidates = tuple(Candidate(t, source, 1.0) for t in ranked)
    return Answer(Question("?"), text, source, confidence, candidates)


def test_squad_normalisation_is_the_official_one() -> None:
    assert metrics.squad_normalise("The  U.S. of an A") == "us of"
    assert metrics.squad_normalise("Beyoncé's") == "beyoncés"


@pytest.mark.parametrize(
    ("text", "golds", "em", "overlap"),
    [
        ("the trowel", ["trowel"], 1.0, 1.0),
        ("a garden trowel", ["trowel", "spade"], 0.0, 2 / 3),
        ("", [], 1.0, 1.0),
        ("trowel", [], 0.0, 0.0),
        ("", ["trowel"], 0.0, 0.0),
        ("the", ["a"], 1.0, 1.0),
        ("x y", ["z", "x w"], 0.0, 0.5),
    ],
)
def test_exact_match_and_f1(text: str, golds: list[str], em: float, overlap: float) -> None:
    assert metrics.exact_match(text, golds) == em
    assert metrics.f1(text, golds) == pytest.approx(overlap)


def test_a_thousand_predictions_score_as_by_the_official_script() -> None:
    reading = (
        Path(__file__).parents[1] / "training" / "data" / "reading" / "development" / "reading_dev.jsonl"
    )
    examples = [e for e in read_examples(reading) if e.yes_no_label is None and not e.concepts]
    draw, answers, reported = random.Random(0), [], []
    examples = [draw.choice(examples) for _ in range(1_000)]
    for example in examples:
        words = (draw.choice(example.golds) if example.golds else "").split()
        words += draw.choices(
            ["the", "an", "A", "–", "cooks", "Ünder", "it's", "  ", ""], k=draw.randrange(4)
        )
        draw.shuffle(words)
        text = draw.choice([" ".join(words), " ".join(words[1:]), "", draw.choice(["The U.S.", "cook."])])
        answers.append(answer(text or None, Source.PASSAGE, 1.0, text))
        reported.append(official(text, list(example.golds)))
    figures = metrics.score_answers(examples, answers, normalise=lambda text: text[:1])
    assert 0.1 < figures["exact_match"] < 0.9
    assert figures["exact_match"] == pytest.approx(sum(em for em, _ in reported) / 1_000)
    assert figures["f1"] == pytest.approx(sum(f1 for _, f1 in reported) / 1_000)


def test_the_best_threshold_is_the_official_one() -> None:
    draw = random.Random(0)
    for _ in range(50):
        has = {q: draw.random() < 0.6 for q in range(40)}
        none = {q: draw.betavariate(2, 4) if has[q] else draw.betavariate(4, 2) for q in has}
        scores = {q: draw.choice([0.0, 0.4, 1.0]) for q in has}
        ours = metrics.best_threshold(list(none.values()), list(scores.values()), list(has.values()))
        assert ours == pytest.approx(official_threshold(none, scores, has))


def test_a_choice_is_right_by_its_place_not_by_its_words() -> None:
    asked = Example(Question("?", choices=("will", "won't", "The will")), choice=0)
    output = [metrics.is_correct(asked, text, lambda t: "same") for text in asked.question.choices]
    assert output == [1.0, 0.0, 0.0]


def test_score_answers_separates_sources() -> None:
    passage = Passage("She used a spoon.")
    examples = [
        Example(Question("?", passage=passage), spans=(Span(9, 16),)),
        Example(Question("?"), concepts=("trowel", "spade")),
        Example(Question("?")),
        Example(Question("?", choices=("a shop", "a pond")), choice=1),
    ]
    answers = [
        answer("a spoon", Source.PASSAGE, 0.9, "a spoon"),
        answer("hoe", Source.KNOWLEDGE, 0.6, "hoe", "the hoe", "spades"),
        answer("hoe", Source.KNOWLEDGE, 0.2, "hoe"),
        answer("a pond", Source.CHOICE, 0.8, "a pond"),
    ]
    figures = metrics.score_answers(
        examples, answers, normalise=lambda t: metrics.squad_normalise(t).rstrip("s")
    )
    assert figures["count"] == 4
    assert figures["exact_match"] == 0.5
    assert figures["choice_accuracy"] == 1.0
    assert figures["no_answer_f1"] == 0.0
    assert figures["source_accuracy"] == pytest.approx(2 / 3)
    assert figures["source_accuracy_none"] == 0.0
    assert figures["hits@1"] == 0.5
    assert figures["hits@3"] == 1.0
    assert figures["mrr"] == 0.75  # "hoe" and "the hoe" are one answer
    assert figures["knowledge_exact_match"] == 0.0
    assert figures["passage_exact_match"] == 1.0
    with pytest.raises(ValueError):
        metrics.score_answers(examples, answers[:1])


def test_score_answers_of_nothing() -> None:
    assert metrics.score_answers([], []) == {"count": 0.0}


def test_no_answer_is_right_without_gold() -> None:
    figures = metrics.score_answers([Example(Question("?"))], [answer(None, Source.NONE, 0.7)])
    assert figures["no_answer_exact_match"] == figures["source_accuracy"] == 1.0
    assert "hits@1" not in figures


def test_calibration() -> None:
    assert metrics.expected_calibration_error([1, 1, 0, 0], [1, 1, 0, 0]) == 0
    assert metrics.expected_calibration_error([1.0, 1.0], [1, 0]) == 0.5
    assert metrics.expected_calibration_error([0.75] * 4, [1, 1, 1, 0]) == 0
    assert metrics.expected_calibration_error([], []) == 0


def test_risk_coverage() -> None:
    assert metrics.risk_coverage_auc([0.9, 0.1], [1, 0]) == 0.25
    assert metrics.risk_coverage_auc([0.1, 0.9], [1, 0]) == 0.75
    assert (
        metrics.risk_coverage_auc([0.5, 0.5], [1, 0]) == metrics.risk_coverage_auc([0.5, 0.5], [0, 1]) == 0.5
    )


def test_paired_bootstrap() -> None:
    better = metrics.paired_bootstrap([1] * 60 + [0] * 40, [1] * 40 + [0] * 60, samples=500)
    assert better["difference"] == pytest.approx(0.2)
    assert better["low"] > 0 and better["p"] == 0
    same = metrics.paired_bootstrap([1, 0], [1, 0], samples=50)
    assert same["p"] == 1
    assert metrics.paired_bootstrap([1, 0, 1], [0, 1, 0], samples=50, seed=3) == metrics.paired_bootstrap(
        [1, 0, 1], [0, 1, 0], samples=50, seed=3
    )
    with pytest.raises(ValueError):
        metrics.paired_bootstrap([1], [1, 0])


def test_pairs_and_seeds() -> None:
    assert metrics.pair_accuracy(["a", "a", "b", "b", "", "c"], [1, 1, 1, 0, 1, 1]) == 0.5
    assert metrics.over_seeds([{"f1": 1.0, "x": 0.0}, {"f1": 3.0}]) == {"f1": (2.0, pytest.approx(2**0.5))}
    assert metrics.over_seeds([{"f1": 1.0}]) == {"f1": (1.0, 0.0)}


def test_entity_f1_is_seqevals() -> None:
    import random

    from kgqa.metrics import entity_f1

    seqeval = pytest.importorskip("seqeval.metrics")
    chance = random.Random(0)
    tags = ["O", "B-A", "I-A", "B-B", "I-B"]
    gold, output = ([[chance.choice(tags) for _ in range(9)] for _ in range(200)] for _ in range(2))
    assert entity_f1(output, gold) == pytest.approx(seqeval.f1_score(gold, output))
    assert entity_f1(gold, gold) == 1.0 and entity_f1([["O"]], [["O"]]) == 0.0


def test_surface_forms() -> None:
    assert metrics.accepts(("a trowel", "spade"), "Trowels") and not metrics.accepts(("glass",), "glas")

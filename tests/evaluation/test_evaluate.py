from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from support.official_squad import official

from kgqa.data.datasets.load import load_dataset
from kgqa.evaluation import (
    answer_all,
    calibrate,
    control_paths,
    deletion_test,
    evaluate,
    fit_answer_type,
    fit_calibration,
    fit_platt,
    fit_sure,
    near_duplicates,
    store_calibration,
)
from kgqa.graph.load import open_graph
from kgqa.metrics import expected_calibration_error
from kgqa.models.load import LoadedReader
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.qa.answerer import Answerer
from kgqa.qa.decide import DecisionConfig
from kgqa.qa.retrieve import Retriever
from kgqa.types import (
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    Example,
    InputError,
    Passage,
    Question,
    Source,
    Span,
    Subgraph,
)


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


def test_pairs_are_of_any_source_and_of_two() -> None:
    trowel, passage = (Span(2, 8),), Passage("A trowel.")
    rows = (
        ("p1-a", True),
        ("p1-b", True),
        ("p2-a", True),
        ("p2-b", False),
        *((f"p3-{n}", False) for n in "abc"),
    )
    examples = [Example(Question("?", (), passage, n), spans=trowel if right else ()) for n, right in rows]
    assert evaluate(lambda questions: [reply(q) for q in questions], examples)["pair_exact_match"] == 0.5


def test_wordings_of_one_question_agree_if_all_their_answers_are_the_same() -> None:
    said = {
        "where?": "hook",
        "where to?": "a hook",
        "to where?": "hall",
        "where else?": "hall",
        "why?": "rain",
    }
    groups = ("w1", "w1", "w2", "w2", "")
    examples = [
        Example(Question(text, id=f"x-{n}"), concepts=("hook",), same=same)
        for n, text, same in zip("abcde", said, groups, strict=True)
    ]

    def answers(questions: Sequence[Question]) -> list[Answer]:
        return [Answer(q, said[q.text], Source.KNOWLEDGE, 0.9) for q in questions]

    assert evaluate(answers, examples)["wordings_agree"] == 1.0
    said["where else?"] = "hook"
    assert evaluate(answers, examples)["wordings_agree"] == 0.5


def test_sure_answers_of_each_source_have_a_share_of_right_ones() -> None:
    said = [
        ("hoe", Source.KNOWLEDGE, 0.95, "hoe"),
        ("rake", Source.KNOWLEDGE, 0.9, "hoe"),
        ("rake", Source.KNOWLEDGE, 0.8, "hoe"),
        ("hoe", Source.PASSAGE, 0.92, "hoe"),
        (None, Source.NONE, 0.9, ""),
        (None, Source.NONE, 0.7, "hoe"),
    ]
    examples = [
        Example(Question(str(n)), concepts=(gold,) if gold else ()) for n, (*_, gold) in enumerate(said)
    ]
    figures = evaluate(lambda questions: [Answer(q, *said[int(q.text)][:3]) for q in questions], examples)
    assert {name: value for name, value in figures.items() if "_at_" in name} == {
        "right_at_90": 0.75,
        "told_at_90": 4,
        "right_at_90_knowledge": 0.5,
        "told_at_90_knowledge": 2,
        "right_at_90_passage": 1.0,
        "told_at_90_passage": 1,
        "right_at_90_none": 1.0,
        "told_at_90_none": 1,
        "right_at_70_none": 0.5,
        "told_at_70_none": 2,
    }


def test_figures_of_near_duplicates_and_of_all_others() -> None:
    near = [Example(Question("Marta plants a tulip bulb with what?"), concepts=("trowel",))]
    far = [Example(Question("Who stirs the porridge?"), concepts=("spade",))]
    figures = evaluate(lambda questions: [reply(q) for q in questions], near + far, near=near)
    assert figures["near_duplicates"] == 1
    assert figures["exact_match_near"] == figures["knowledge_hits@1_near"] == 1.0
    assert figures["exact_match_far"] == figures["knowledge_hits@1_far"] == 0.0


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


def test_the_gate_learns_what_it_overlooks() -> None:
    torch.manual_seed(0)
    right = torch.randint(0, 3, (600,))
    scores = torch.nn.functional.one_hot(right, 3) * 6.0 + 3 * torch.randn(600, 3)
    scores[:, 2] -= 4  # never "none"
    scale, shift = fit_answer_type(scores, right)
    fitted = scores * scale + torch.tensor(shift)
    before, after = ((s.argmax(1) == right).float().mean() for s in (scores, fitted))
    assert after > before + 0.05 and shift[2] > max(shift[:2]) and 0.2 < scale < 2


def test_one_that_is_right_already_is_left(tokenizer) -> None:
    right = torch.arange(90) % 3
    scale, shift = fit_answer_type(torch.log(torch.nn.functional.one_hot(right, 3) * 0.97 + 0.01), right)
    assert 0.8 < scale < 2 and max(map(abs, shift)) < 0.1


def test_a_reader_is_fitted_and_keeps_it(tokenizer, encoder, tools_file: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    torch.manual_seed(0)
    reader = Reader(encoder, ReasonerSettings(graph_size=16, num_layers=1, num_heads=2))
    answerer = Answerer(LoadedReader(reader, tokenizer), Retriever(open_graph(str(tools_file))))
    question = Question("what did i dig with", passage=Passage("i plant flowers"))
    examples = [Example(question)] * 40
    fitted = calibrate(answerer, examples)
    assert answerer.answer(question).source is Source.NONE
    (tmp_path / "reader.json").write_text('{"format": 1, "name": "toy"}')
    store_calibration(tmp_path, fitted)
    card = json.loads((tmp_path / "reader.json").read_text())
    assert card["name"] == "toy" and card["answer_type"]["shift"][2] > 0 and "calibration" in card["decision"]
    with pytest.raises(InputError, match="30 or more"):
        calibrate(answerer, examples[:5])


@pytest.mark.parametrize("mean", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("steepness", [3.0, 6.0, 12.0])
def test_overconfident_scores_are_brought_down(mean: float, steepness: float) -> None:
    for seed in range(20):
        draw = np.random.default_rng(seed)
        odds = draw.normal(mean, 1, 2_000)
        right = (draw.random(2_000) < 1 / (1 + np.exp(-odds))).astype(float)
        score = 1 / (1 + np.exp(-steepness * (odds + 1)))
        a, b = fit_platt(score[:1_000], right[:1_000])
        clipped = score[1_000:].clip(1e-6, 1 - 1e-6)
        fitted = 1 / (1 + np.exp(-a * np.log(clipped / (1 - clipped)) - b))
        before, after = (expected_calibration_error(s, right[1_000:]) for s in (score[1_000:], fitted))
        assert after < 0.09 and after < 0.7 * before


@pytest.mark.parametrize("least", [0.0, 0.9, 0.99, 0.999, 1.0])
def test_scores_that_are_always_high_and_tell_nothing_become_the_share_of_right_ones(least: float) -> None:
    for seed in range(20):
        draw = np.random.default_rng(seed)
        score, right = draw.uniform(least, 1, 600), (draw.random(600) < 0.5).astype(float)
        a, b = fit_platt(score, right)
        clipped = score.clip(1e-6, 1 - 1e-6)
        fitted = 1 / (1 + np.exp(-a * np.log(clipped / (1 - clipped)) - b))
        assert abs(fitted.mean() - right.mean()) < 1e-3 and fitted.std() < 0.07


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


def answers_with(
    scores: Sequence[float], right: Sequence[bool], choices: tuple[str, ...] = ()
) -> tuple[list[Example], list[Answer]]:
    examples, answers = [], []
    source = Source.CHOICE if choices else Source.KNOWLEDGE
    for n, (score, is_right) in enumerate(zip(scores, right, strict=True)):
        question = Question(str(n), choices)
        gold = {"choice": 0 if is_right else 1} if choices else {"concepts": ("yes" if is_right else "no",)}
        examples.append(Example(question, **gold))
        answers.append(Answer(question, "yes", source, score, (Candidate("yes", source, score),)))
    return examples, answers


def test_choices_are_calibrated_alone() -> None:
    draw = np.random.default_rng(0)
    scores = draw.uniform(0.05, 0.95, 400)
    open_ones = answers_with(scores, draw.random(400) < scores)
    with_choices = answers_with(scores, draw.random(400) < scores**3, ("yes", "no"))
    both = [one + other for one, other in zip(open_ones, with_choices, strict=True)]
    fitted = fit_calibration(*both)
    assert fitted["knowledge"] == fit_calibration(*open_ones)["knowledge"]
    assert fitted["choice"][1] < fitted["knowledge"][1] - 0.5


def test_answers_are_told_as_sure_from_where_enough_are_right() -> None:
    scores = [0.99 - n / 1000 for n in range(100)]
    examples, answers = answers_with(scores, [n < 40 or n % 4 > 0 for n in range(100)])
    level = fit_sure(examples, answers, {})["knowledge"]
    assert level == 0.947
    decision = DecisionConfig(sure={"knowledge": level})
    told = [decision.cautious("knowledge", score) for score in scores]
    assert told == sorted(told, reverse=True) and [p >= 0.9 for p in told].count(True) == 44
    assert decision.cautious("knowledge", 0.7) == 0.7 and decision.cautious("passage", 0.95) == 0.95
    assert fit_sure(*answers_with(scores, [True] * 100), {}) == {}
    assert fit_sure(*answers_with(scores, [False] * 100), {})["knowledge"] > 0.99


def test_calibration_is_kept_in_the_card(tmp_path: Path) -> None:
    (tmp_path / "reader.json").write_text('{"format": 1, "name": "toy"}')
    store_calibration(tmp_path, {"decision": {"calibration": {"knowledge": (0.5, -0.1)}}})
    card = json.loads((tmp_path / "reader.json").read_text())
    assert card.pop("checksums") == {}
    assert card == {"format": 1, "name": "toy", "decision": {"calibration": {"knowledge": [0.5, -0.1]}}}


TROWEL = Candidate("trowel", Source.KNOWLEDGE, 0.5, concept="ev:trowel")


@pytest.fixture
def garden(digging: Subgraph) -> Subgraph:
    """The digging subgraph with a second way to the trowel and two facts elsewhere."""
    more = np.array([[2, 0, 1], [3, 0, 1], [4, 0, 0]], dtype=np.int32)
    return replace(
        digging,
        edges=np.concatenate([digging.edges, more]),
        weights=np.append(digging.weights, [1.0, 1.0, 1.0]).astype(np.float32),
    )


class FormCalibration:
    """An answerer whose answer is as sure as the facts it has of some that matter."""

    def __init__(self, graph: Subgraph, matters: dict[tuple[int, int, int], float], shown: int) -> None:
        self.graph, self.matters, self.shown = graph, matters, shown

    def log_odds_drops(self, answer: Answer, removed: Sequence[Sequence[int]]) -> list[float]:
        edges = self.graph.edges.tolist()
        return [sum(self.matters.get(tuple(edges[row]), 0.0) for row in rows) for rows in removed]

    def answer(self, question: Question) -> Answer:
        paths = (EvidencePath((self.shown,), (False,), 1.0),)
        evidence = Evidence(paths=paths, subgraph=self.graph)
        return Answer(question, "trowel", Source.KNOWLEDGE, 0.5, (TROWEL,), evidence)


def test_the_shown_path_is_held_against_all_paths_of_its_size(garden: Subgraph) -> None:
    matters = {(2, 0, 0): 0.5, (2, 0, 1): 0.2}
    questions = [Question("what did i dig with")]
    assert deletion_test(FormCalibration(garden, matters, shown=0), questions) == [1.0]
    assert deletion_test(FormCalibration(garden, matters, shown=3), questions) == [0.0]
    far = {(2, 0, 0): 0.2, (3, 0, 4): -0.9, (2, 0, 1): 0.1}
    # a fact elsewhere matters more
    assert deletion_test(FormCalibration(garden, far, shown=0), questions) == [0.0]


def test_rivals_have_the_size_of_the_shown_path_and_are_not_it(garden: Subgraph) -> None:
    answer = FormCalibration(garden, {}, shown=0).answer(Question("what"))
    found = control_paths(answer, answer.evidence.paths[0])
    assert (3,) in found and (0,) not in found and all(len(steps) == 1 for steps in found)
    longer = EvidencePath((2, 4), (True, True), 1.0)
    assert all(len(steps) == 2 and set(steps) != {2, 4} for steps in control_paths(answer, longer))


def example(passage: str, question: str, *answers: str) -> Example:
    return Example(Question(question, passage=Passage(passage)), concepts=answers)


OTHERS = [
    example(f"The {word} stood there.", f"Who saw the {word}?", f"the {word}")
    for word in ("cow", "sun", "rake")
]


def test_the_same_in_other_forms_of_the_words_is_found() -> None:
    asked = example("The pond has frozen hard.", "What do the twins put on?", "ice skates", "skates")
    near = example("The ponds froze hard, and the twin waits.", "What does she put on?", "Skates")
    (pair,) = near_duplicates([asked, *OTHERS[:1]], [*OTHERS[1:], near])
    assert (pair.measured, pair.trained) == (0, 2) and 0.5 <= pair.share <= 1


def test_another_answer_or_other_words_are_no_duplicate() -> None:
    asked = example("The pond has frozen hard.", "What do the twins put on?", "ice skates")
    other_answer = example("The pond has frozen hard.", "What do the twins put on?", "scarf")
    other_words = example("Marta walks on the rink of the school.", "What is on her feet?", "ice skates")
    assert not list(near_duplicates([asked], [other_answer, other_words, *OTHERS]))


def test_a_short_row_inside_a_long_one_is_no_duplicate() -> None:
    asked = example("Snow fell.", "What fell?", "snow")
    long = " ".join(
        f"The {word} of the village met the {word} of the town." for word in ("mayor", "baker", "smith")
    )
    assert not list(near_duplicates([asked], [example(f"Snow fell. {long}", "What fell?", "snow"), *OTHERS]))


def test_yes_and_no_and_no_answer_are_answers() -> None:
    yes, no = (Example(Question("Can a penguin swim?"), yes_no_label=label) for label in (True, False))
    assert [p.trained for p in near_duplicates([yes], [no, yes])] == [1]
    none = Example(Question("Who painted the barn?"))
    assert len(list(near_duplicates([none], [none]))) == 1
    assert not list(near_duplicates([], [none])) and not list(near_duplicates([none], []))

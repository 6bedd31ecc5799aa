import math
from dataclasses import replace

import pytest
import torch

from kgqa.batch import QABatch, ReasonerOutput
from kgqa.models.collation.collate import ANSWER_TYPES, Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.heads import AnswerTypeHead
from kgqa.types import Example, Passage, Question, Source, Span


def test_without_a_passage_nothing_can_be_read_in_it(tokenizer, digging) -> None:
    torch.manual_seed(0)
    passage = Example(Question("what", passage=Passage("a red house")), spans=(Span(0, 5),))
    batch = Collator(tokenizer)([Example(Question("what")), passage], [[digging]] * 2, with_gold=True).batch
    fused = ReasonerOutput(torch.zeros(2, 5, 8), torch.randn(2, 8), torch.zeros(12, 8), torch.randn(2, 8))
    answer_type = AnswerTypeHead(8)
    scores = answer_type(fused, batch, span_margin=torch.tensor([-20.0, 3.0]), best_concept=torch.zeros(2, 2))
    probabilities = scores.softmax(-1)
    assert probabilities[0, ANSWER_TYPES.index(Source.PASSAGE)] == 0 and probabilities[1, 0] > 0
    loss, count = answer_type.loss(scores, batch)
    assert count == 2 and torch.isfinite(loss)


def test_a_yes_known_beside_a_passage_teaches_the_gate_that_it_is_not_read_there(tokenizer, digging) -> None:
    question = Question("is it red", passage=Passage("a blue house"))
    read, known = Example(question, yes_no_label=True), Example(question, yes_no_label=True, known=True)
    batch = Collator(tokenizer)([read, known], [[digging]] * 2, with_gold=True).batch
    assert batch.gold.ground.tolist() == [0, 1] and batch.gold.source.tolist() == [3, 3]
    scores = torch.zeros(2, 5, requires_grad=True)
    loss, count = AnswerTypeHead(8, yes_no=True).loss(scores, batch)
    loss.backward()
    assert count == 2
    (read_passage, read_known), (known_passage, known_known) = scores.grad[:, :2].tolist()
    assert read_passage < read_known and known_known < known_passage
    assert torch.equal(scores.grad[0, 2:], scores.grad[1, 2:])  # yes is yes


def test_one_window_with_the_answer_is_not_drowned_by_those_without(tokenizer, digging) -> None:
    torch.manual_seed(0)
    long = Example(Question("what", passage=Passage("a red house " * 40)), spans=(Span(0, 5),))
    short = Example(Question("what", passage=Passage("a red house")))
    reading = InputConfig(max_tokens=48, stride=8)
    batch = Collator(tokenizer, reading)([long, short], [[digging]] * 2, with_gold=True).batch
    windows = batch.num_rows - 1
    assert windows > 3
    fused = ReasonerOutput(
        *(torch.randn(*size, 8) for size in ((windows + 1, 5), (windows + 1,), (12,), (windows + 1,)))
    )
    given = {"span_margin": torch.tensor([1.0, 1.0]), "best_concept": torch.zeros(2, 2)}
    answer_type = AnswerTypeHead(8).eval()
    each = torch.stack([answer_type(*window(fused, batch, row), **one(given))[0] for row in range(windows)])
    best = each[(each[:, 0] - each[:, 2]).argmax()]
    mean = answer_type(fused, batch, **given)
    answer_type.none_per_window = 0.5
    scores = answer_type(fused, batch, **given)
    assert torch.allclose(scores[1], mean[1])  # of one window there is but one way to take it
    assert torch.allclose(scores[0, :2], best[:2]) and not torch.allclose(scores[0], mean[0])
    assert scores[0, 2].item() == pytest.approx(best[2].item() + 0.5 * math.log(windows), rel=1e-5)
    assert (scores[0, 0] - scores[0, 2] + 0.5 * math.log(windows)) >= (each[:, 0] - each[:, 2]).max() - 1e-5


def window(fused: ReasonerOutput, batch: QABatch, row: int) -> tuple[ReasonerOutput, QABatch]:
    """One row as the only one of one question."""
    part = ReasonerOutput(
        fused.tokens[row : row + 1], fused.summary[row : row + 1], fused.nodes, fused.pooled[row : row + 1]
    )
    return part, replace(batch.part(row, row + 1), num_questions=1)


def one(given: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: value[:1] for name, value in given.items()}

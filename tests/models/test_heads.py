from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from support.tiny import fit

from kgqa.batch import QABatch, ReasonerOutput
from kgqa.models.collation.collate import ANSWER_TYPES, Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.heads import MAX_SPAN_TOKENS, NOT_A_TOKEN, AnswerTypeHead, ChoiceHead, ConceptHead, SpanHead
from kgqa.types import Example, Passage, Question, Source, Span, Subgraph

TEXT = "a red shovel was in the garden and he was in the house"


def scored(tokenizer, at: dict[int, tuple[float, float]], text: str = TEXT):
    question = Question("what was it", passage=Passage(text))
    collated = Collator(tokenizer)([Example(question)], [[Subgraph()]])
    width = collated.batch.tokens.input_ids.shape[1]
    scores = torch.full((1, width, 2), NOT_A_TOKEN)
    scores[collated.batch.passage_mask] = 0.0
    scores[0, 0] = 0.0
    first = int(collated.batch.passage_mask[0].nonzero()[0])
    for token, (start, end) in at.items():
        scores[0, first + token] = torch.tensor([start, end])
    return SpanHead(8).decode(scores, collated)[0]


def test_start_and_end_are_chosen_together(tokenizer) -> None:
    # Taken apart, the best start (6) lies behind the best end (2).
    best = scored(tokenizer, {1: (4.0, 0.0), 2: (0.0, 6.0), 6: (5.0, 0.0)})[0]
    assert best.text == "red shovel" and TEXT[best.span.start : best.span.end] == best.text


@pytest.mark.parametrize(("last", "taken"), [(MAX_SPAN_TOKENS - 1, True), (MAX_SPAN_TOKENS, False)])
def test_no_span_is_longer_than_allowed(last: int, taken: bool, tokenizer) -> None:
    text = "the house and " * 40
    found = scored(tokenizer, {0: (9.0, 0.0), last: (0.0, 9.0)}, text)
    lengths = [len(candidate.text.split()) for candidate in found]
    assert (lengths[0] == last + 1) is taken and max(lengths) <= MAX_SPAN_TOKENS


def test_learns_a_span_and_no_span(tokenizer, encoder) -> None:
    from kgqa.models.encoders.layerwise import LayerwiseEncoder
    from kgqa.models.reasoners import ReasonerSettings
    from kgqa.models.reasoners.base import TextOnly

    torch.manual_seed(0)
    layerwise = LayerwiseEncoder(encoder)
    reasoner, head = TextOnly(layerwise, ReasonerSettings(name="text-only")), SpanHead(32)
    shovel = Example(Question("what", passage=Passage(TEXT)), spans=(Span(2, 12),))
    nothing = Example(Question("who", passage=Passage(TEXT)))
    collated = Collator(tokenizer)([shovel, nothing], [[Subgraph()], [Subgraph()]], with_gold=True)

    def scored() -> torch.Tensor:
        return head(reasoner(layerwise, collated.batch), collated.batch)

    assert head.loss(scored(), collated.batch)[1] == 2
    fit(lambda: head.loss(scored(), collated.batch)[0], [*encoder.parameters(), *head.parameters()], 60)
    scores = scored()
    margin = head.margin(scores, collated.batch)
    assert head.decode(scores, collated)[0][0].text == "red shovel" and margin[0] > 0 > margin[1]


EXAMPLE = Example(Question("what", ("bee", "hive", "honey")), choice=2)


def test_the_best_choice_comes_first_and_scores_sum_to_one(tokenizer) -> None:
    collated = Collator(tokenizer)([EXAMPLE], [[Subgraph()] * 3], with_gold=True)
    found = ChoiceHead(8).decode(torch.tensor([0.0, 2.0, 1.0]), collated)[0]
    assert [c.text for c in found] == ["hive", "honey", "bee"]
    assert abs(sum(c.score for c in found) - 1) < 1e-6


def test_the_loss_is_cross_entropy_over_the_rows(tokenizer) -> None:
    collated = Collator(tokenizer)(
        [EXAMPLE, Example(Question("why"))], [[Subgraph()] * 3, [Subgraph()]], True
    )
    scores = torch.tensor([0.0, 2.0, 1.0, 5.0])
    loss, count = ChoiceHead(8).loss(scores, collated.batch)
    assert count == 1
    assert torch.isclose(loss, torch.nn.functional.cross_entropy(scores[:3], torch.tensor(2)))


def test_what_the_concept_head_thinks_of_a_choice_counts_once_learned(tokenizer) -> None:
    known = Subgraph(
        nodes=("hive", "wax"),
        labels=("hive", "wax"),
        roles=np.array([2, 3]),
        scores=np.array([1, 0.5], np.float32),
    )
    batch = Collator(tokenizer)([EXAMPLE], [[Subgraph(), known, Subgraph()]]).batch
    head = ChoiceHead(8).eval()
    nodes = len(batch.graph.role)
    fused = ReasonerOutput(
        torch.zeros(*batch.tokens.input_ids.shape, 8),
        torch.zeros(3, 8),
        torch.zeros(nodes, 8),
        torch.zeros(3, 8),
    )
    concept = torch.full((nodes,), 9.0)
    concept[batch.graph.role == 2] = 3.0
    before = head(fused, batch, concept)
    assert torch.equal(before, before[:1].expand(3))
    with torch.no_grad():
        head.known.copy_(torch.tensor([0.5, 0.25]))
    assert torch.allclose(head(fused, batch, concept) - before, torch.tensor([0.0, 1.75, 0.0]))


def test_points_at_nodes_and_never_at_the_context(tokenizer, digging) -> None:
    collated = Collator(tokenizer)([Example(Question("what"))], [[digging]])
    scores = torch.tensor([-1e4, 0.0, 0.0, 3.0, 1.0, 0.0])
    found = ConceptHead(8).decode(scores, collated)[0]
    assert found[0].text == "trowel" and found[0].concept == "ev:trowel"
    assert found[0].source is Source.KNOWLEDGE and found[1].text == "excavator"


def test_any_accepted_concept_counts(tokenizer, digging) -> None:
    example = Example(Question("what"), concepts=("trowel", "excavator"))
    batch = Collator(tokenizer)([example, Example(Question("why"))], [[digging]] * 2, with_gold=True).batch
    scores = torch.zeros(12)
    scores[[0, 6]] = -1e4
    loss, count = ConceptHead(8).loss(scores, batch)
    assert count == 1 and torch.isclose(loss, torch.tensor(2 / 5).log().neg())


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

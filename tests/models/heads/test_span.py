import pytest
import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.heads import MAX_SPAN_TOKENS, NOT_A_TOKEN, SpanHead
from kgqa.types import Example, Passage, Question, Span, Subgraph

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
    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], 3e-3)
    for _ in range(60):
        loss, count = head.loss(head(reasoner(layerwise, collated.batch), collated.batch), collated.batch)
        assert count == 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scores = head(reasoner(layerwise, collated.batch), collated.batch)
    margin = head.margin(scores, collated.batch)
    assert head.decode(scores, collated)[0][0].text == "red shovel" and margin[0] > 0 > margin[1]

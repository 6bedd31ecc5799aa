import torch

from kgqa.batch import Fused
from kgqa.models.collation.collate import GATED, Collator
from kgqa.models.heads.gate import Gate
from kgqa.types import Example, Passage, Question, Source, Span


def test_without_a_passage_nothing_can_be_read_in_it(tokenizer, digging) -> None:
    torch.manual_seed(0)
    passage = Example(Question("what", passage=Passage("a red house")), spans=(Span(0, 5),))
    batch = Collator(tokenizer)([Example(Question("what")), passage], [[digging]] * 2, with_gold=True).batch
    fused = Fused(torch.zeros(2, 5, 8), torch.randn(2, 8), torch.zeros(12, 8), torch.randn(2, 8))
    gate = Gate(8)
    scores = gate(fused, batch, span_margin=torch.tensor([-20.0, 3.0]), best_concept=torch.zeros(2, 2))
    chances = scores.softmax(-1)
    assert chances[0, GATED.index(Source.PASSAGE)] == 0 and chances[1, 0] > 0
    loss, count = gate.loss(scores, batch)
    assert count == 2 and torch.isfinite(loss)

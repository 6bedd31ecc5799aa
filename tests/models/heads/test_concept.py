import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.heads import ConceptHead
from kgqa.types import Example, Question, Source


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

import numpy as np
import torch

from kgqa.batch import ReasonerOutput
from kgqa.models.collation.collate import Collator
from kgqa.models.heads import ChoiceHead
from kgqa.types import Example, Question, Subgraph

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

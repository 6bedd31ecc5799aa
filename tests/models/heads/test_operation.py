import torch

from kgqa.batch import Fused
from kgqa.models.collation.collate import Collator
from kgqa.models.heads.operation import OperationHead
from kgqa.types import OPERATIONS, Example, Question, Subgraph


def test_the_operation_is_learnt_from_the_questions_that_tell_one(tokenizer) -> None:
    torch.manual_seed(0)
    examples = [
        Example(Question("how many"), operation="count"),
        Example(Question("what")),
        Example(Question("which"), operation="most"),
    ]
    batch = Collator(tokenizer)(examples, [[Subgraph()]] * 3, with_gold=True).batch
    fused = Fused(torch.zeros(3, 5, 8), torch.randn(3, 8), torch.zeros(3, 8), torch.zeros(3, 8))
    head = OperationHead(8)
    scores = head(fused, batch)
    assert scores.shape == (3, len(OPERATIONS))
    loss, count = head.loss(scores, batch)
    gold = torch.tensor([OPERATIONS.index("count"), OPERATIONS.index("most")])
    assert count == 2
    assert torch.isclose(loss, torch.nn.functional.cross_entropy(scores[[0, 2]], gold, reduction="sum"))

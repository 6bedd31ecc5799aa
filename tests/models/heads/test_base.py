import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.heads.base import row_mean
from kgqa.types import Example, Question, Subgraph


def test_means_over_a_questions_rows(tokenizer) -> None:
    examples = [Example(Question("what", ("bee", "hive"))), Example(Question("why"))]
    batch = Collator(tokenizer)(examples, [[Subgraph(), Subgraph()], [Subgraph()]]).batch
    assert row_mean(torch.tensor([1.0, 3.0, 5.0]), batch).tolist() == [2.0, 5.0]

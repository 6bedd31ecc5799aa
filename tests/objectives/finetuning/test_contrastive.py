import torch

from kgqa.models.dense_retrieval import FactEncoder
from kgqa.objectives.finetuning import Contrastive, FactBatch


def test_a_question_comes_nearer_to_the_fact_that_answers_it(tokenizer, encoder) -> None:
    torch.manual_seed(0)
    reads = FactEncoder(encoder, tokenizer)
    batch = FactBatch(
        reads.tokens(["what did i dig with", "what calms bees"]),
        reads.tokens(["trowel is used for dig", "honey", "shovel", "hole in the ground"]),
        torch.ones(2, 4, dtype=torch.bool),
    )
    assert batch.input_ids.numel() == 2 * 8 + 4 * 8
    objective = Contrastive(reads, 0.05, lambda *_: None)
    optimizer = torch.optim.Adam(objective.parameters(), 1e-3)
    first = float(objective(batch).total.detach())
    for _ in range(20):
        optimizer.zero_grad()
        loss = objective(batch)
        loss.total.backward()
        optimizer.step()
    assert float(loss.total.detach()) < 0.5 * first and float(loss.parts["found"]) == 1.0


def test_a_fact_that_answers_it_too_is_not_held_against_a_question(tokenizer, encoder) -> None:
    reads = FactEncoder(encoder.eval(), tokenizer)
    both = reads.tokens(["dig", "dig"]), reads.tokens(["trowel", "trowel"])
    objective = Contrastive(reads, 0.05, lambda *_: None)
    alone = torch.eye(2, dtype=torch.bool)
    assert float(objective(FactBatch(*both, alone)).total.detach()) < 1e-4
    assert float(objective(FactBatch(*both, torch.ones(2, 2, dtype=torch.bool))).total.detach()) > 0.5

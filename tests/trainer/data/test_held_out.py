import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.trainer.data.held_out import is_held_out, measure
from kgqa.types import Example, Passage, Question


def test_the_same_questions_are_held_out_whatever_stands_beside_them() -> None:
    texts = [f"what is {i}" for i in range(2000)]
    held = {t for t in texts if is_held_out(Question(t), 0.1)}
    assert held == {t for t in texts if is_held_out(Question(t, ("a", "b"), Passage("x")), 0.1)}
    assert 140 < len(held) < 260 and held < {t for t in texts if is_held_out(Question(t), 0.3)}
    assert not any(is_held_out(Question(t), 0.0) for t in texts)


def test_loss_and_accuracy_over_all_kinds_of_questions(encoder, tokenizer, digging) -> None:
    torch.manual_seed(0)
    reader = Reader(encoder, ReasonerSettings(graph_size=16, num_layers=1, num_heads=2)).eval()
    examples = [
        Example(Question("what is it", ("bee", "bee")), choice=1),
        Example(Question("what did i dig with"), concepts=tuple(digging.labels)),
        Example(Question("where")),
    ]
    collated = Collator(tokenizer)(examples, [[digging]] * 3, with_gold=True)
    figures = measure(reader, [collated, collated])
    assert figures["accuracy"] == 1.0 and figures["loss"] > 0

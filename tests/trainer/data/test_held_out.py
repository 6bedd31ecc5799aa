import torch

from kgqa.data.augment import renamed
from kgqa.models.collation.collate import Collator
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.trainer.data.held_out import is_held_out, measure
from kgqa.types import Example, Passage, Question, Subgraph


def test_no_passage_is_on_both_sides() -> None:
    stories = [
        Passage(f"{name} dug the garden on day {day}.") for day in range(200) for name in ("Ann", "She")
    ]
    asked = [Question(f"what {i}?", passage=story) for i in range(3) for story in stories]
    kept, held = ({q.passage_text for q in asked if is_held_out(q, 0.2) is side} for side in (False, True))
    assert not kept & held and 40 < len(held) < 120
    for copy in renamed([Example(q, concepts=("spade",)) for q in asked], seed=0, share=1.0):
        before = copy.question.passage
        assert before and before.text != before.made_of
        assert is_held_out(copy.question, 0.2) is (before.made_of in held)


def test_the_same_questions_are_held_out_whatever_stands_beside_them() -> None:
    texts = [f"what is {i}" for i in range(2000)]
    held = {t for t in texts if is_held_out(Question(t), 0.1)}
    assert held == {t for t in texts if is_held_out(Question(t, ("a", "b")), 0.1)}
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
    assert {name for name in figures if "_" in name} == {"accuracy_choice", "accuracy_knowledge"}


def test_yes_and_no_are_told_apart_by_the_gate(encoder, tokenizer) -> None:
    torch.manual_seed(0)
    reader = Reader(encoder, ReasonerSettings(graph_size=16, num_layers=1, num_heads=2, yes_no=True)).eval()
    output = [
        Example(Question("is it red", passage=Passage("the shovel is red")), yes_no_label=v)
        for v in (True, False)
    ]
    collated = Collator(tokenizer)(output, [[Subgraph()]] * 2, with_gold=True)
    figures = measure(reader, [collated])
    assert figures["accuracy"] == figures["accuracy_verdict"] == 0.5, "the same question, both verdicts"

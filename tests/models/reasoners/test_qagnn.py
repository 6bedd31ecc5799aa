import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.stepping import Stepper
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.qagnn import QAGNN
from kgqa.types import Example, Question


def test_the_graph_never_changes_the_text(tokenizer, encoder, digging) -> None:
    stepper = Stepper(encoder)
    reasoner = QAGNN(stepper, ReasonerSettings(graph_size=16, num_heads=2)).eval()
    batch = Collator(tokenizer)([Example(Question("what did i dig with"))], [[digging]]).batch
    with torch.no_grad():
        assert torch.equal(reasoner(stepper, batch).tokens, stepper.walk(batch.tokens))


def test_the_question_reaches_the_concepts(tokenizer, encoder, digging) -> None:
    stepper = Stepper(encoder)
    reasoner = QAGNN(stepper, ReasonerSettings(graph_size=16, num_heads=2)).eval()
    collate = Collator(tokenizer)
    with torch.no_grad():
        a = reasoner(stepper, collate([Example(Question("what did i dig with"))], [[digging]]).batch)
        b = reasoner(stepper, collate([Example(Question("who is he"))], [[digging]]).batch)
    assert not torch.allclose(a.nodes, b.nodes)

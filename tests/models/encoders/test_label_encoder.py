import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.label_encoder import LabelEncoder
from kgqa.models.encoders.stepping import Stepper
from kgqa.types import Example, Question


def test_equal_labels_have_equal_vectors(tokenizer, encoder, digging) -> None:
    graph = Collator(tokenizer)([Example(Question("what"))], [[digging]]).batch.graph
    labels = LabelEncoder(Stepper(encoder), 8)(Stepper(encoder), graph)
    assert labels.shape == (len(graph.label_ids), 8) and torch.isfinite(labels).all()

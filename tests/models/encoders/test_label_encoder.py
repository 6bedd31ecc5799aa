import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.layerwise import LabelEncoder, LayerwiseEncoder
from kgqa.types import Example, Question


def test_equal_labels_have_equal_vectors(tokenizer, encoder, digging) -> None:
    graph = Collator(tokenizer)([Example(Question("what"))], [[digging]]).batch.graph
    labels = LabelEncoder(LayerwiseEncoder(encoder), 8)(LayerwiseEncoder(encoder), graph)
    assert labels.shape == (len(graph.label_ids), 8) and torch.isfinite(labels).all()

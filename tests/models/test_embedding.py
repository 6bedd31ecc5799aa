import numpy as np
import torch

from kgqa.models.collate import Collator
from kgqa.models.embedding import LabelEncoder, LabelIndex
from kgqa.models.encoders.stepping import Stepper
from kgqa.types import Example, Question


def test_equal_labels_have_equal_vectors(tokenizer, encoder, digging) -> None:
    graph = Collator(tokenizer)([Example(Question("what"))], [[digging]]).batch.graph
    labels = LabelEncoder(16, 8)(Stepper(encoder).embedding, graph)
    assert labels.shape == (len(graph.label_ids), 8) and torch.isfinite(labels).all()


def test_nearest_labels_by_cosine() -> None:
    table = {"trowel": [1.0, 0.0], "hand trowel": [0.9, 0.1], "bee": [0.0, 1.0], "trowels": [1.0, 0.01]}
    index = LabelIndex(
        ["trowel", "hand trowel", "bee"], lambda s: np.array([table[x] for x in s], dtype=np.float32)
    )
    assert [row for row, _ in index.nearest(["trowels"], k=3, least=0.9)[0]] == [0, 1]
    assert index.nearest([], k=3) == []

import copy

import pytest
import torch

from kgqa.data.datasets.labelled import Labelled
from kgqa.models.classifiers import Encoding, load_classifier
from kgqa.models.encoders.variants import EncoderSettings, build_encoder
from kgqa.objectives.distillation import TaughtTask

ROWS = {
    "sentence": [Labelled("i dig", label="a"), Labelled("bees in the hive", label="b")],
    "tagging": [Labelled(words=("i", "dig"), tags=("a", "b")), Labelled(words=("bees",), tags=("b",))],
    "ending": [Labelled("i dig", endings=("hole", "red bees"), label="0")],
}


def taught(kind: str, tokenizer, tmp_path, **options):  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    settings = EncoderSettings(variant="bert", max_position_embeddings=32, **sizes)  # type: ignore[arg-type]
    labels = ["a", "b"]
    encoder = build_encoder(settings, tokenizer.get_vocab_size(), "eager")
    teacher = load_classifier(encoder, tmp_path, kind, labels)  # type: ignore[arg-type]
    teacher.set_attn_implementation("eager")  # type: ignore[operator]
    student = copy.deepcopy(teacher)
    task = TaughtTask(student, kind, teacher=teacher, save=lambda *_: None, **options).eval()
    batch = Encoding(tokenizer, kind, labels, 32, False)(ROWS[kind])  # type: ignore[arg-type]
    return task, student, batch


@pytest.mark.parametrize("kind", list(ROWS))
@pytest.mark.parametrize("layers", [False, True])
def test_no_difference_no_loss_and_any_difference_some(kind: str, layers: bool, tokenizer, tmp_path) -> None:  # type: ignore[no-untyped-def]
    task, student, batch = taught(kind, tokenizer, tmp_path, layers=layers, temperature=2.0)
    with torch.no_grad():
        assert abs(float(task(batch).total)) < 1e-6
        for parameter in student.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
        assert float(task(batch).total) > 1e-5


def test_gold_labels_have_what_the_teacher_leaves(tokenizer, tmp_path) -> None:  # type: ignore[no-untyped-def]
    task, _, batch = taught("sentence", tokenizer, tmp_path, soft=0.25)
    with torch.no_grad():
        found = task(batch)
    assert float(found.total) == pytest.approx(0.75 * float(found.parts["sentence"]), abs=1e-5)

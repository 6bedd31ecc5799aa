import json
from pathlib import Path

import pytest
import torch
from support.tiny import changed, language_model

from kgqa.data.datasets.labelled import Labelled
from kgqa.models.classifiers import Classifier, Encoding
from kgqa.models.encoders.variants import save_model
from kgqa.models.pretrained import copy_tokenizer
from kgqa.objectives.finetuning import Task
from kgqa.trainer.finetuning import classifier as classifier_module
from kgqa.trainer.finetuning.classifier import LabelledBatches, TaskRecipe, labels_of, train_task
from kgqa.types import InputError

GOOD, BAD = "i dig a hole with red trowel", "i dig a hole with blue trowel"
FILES = {
    "sentence": [{"text": GOOD, "label": "yes"}, {"text": BAD, "label": "no"}],
    "pair": [
        {"text": "i dig", "second": GOOD, "label": "yes"},
        {"text": "i dig", "second": BAD, "label": "no"},
    ],
    "tagging": [
        {"tokens": ["red", "bee", "is", "it"], "tags": ["B-X", "I-X", "O", "O"]},
        {"tokens": ["blue", "bee", "is", "it"], "tags": ["O", "B-Y", "O", "O"]},
    ],
    "ending": [
        {"text": "i dig with", "endings": ["red trowel", "blue trowel"], "label": 0},
        {"text": "i dig with", "endings": ["blue trowel", "red trowel"], "label": 1},
    ],
}


def encoder_folder(variant: str, tokenizer, source: Path, folder: Path) -> Path:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    sizes = {"intermediate_size": 32, "max_position_embeddings": 64}
    save_model(language_model(variant, tokenizer.get_vocab_size(), **sizes)[0], folder)
    copy_tokenizer(source, folder)
    return folder


def recipe(kind: str, encoder: Path, tmp_path: Path, **task: object) -> TaskRecipe:
    path = tmp_path / f"{kind}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in FILES[kind] * 16))
    return TaskRecipe.model_validate(
        {
            "encoder": {"folder": str(encoder)},
            "task": {
                "kind": kind,
                "train": str(path),
                "dev": str(path),
                "batch_rows": 8,
                "epochs": 25,
                **task,
            },
            "trainer": {"learning_rate": 3e-3, "encoder_learning_rate": 3e-3},
        }
    )


@pytest.mark.parametrize(("kind", "variant"), [(kind, "electra") for kind in FILES] + [("pair", "gpt1")])
def test_a_file_becomes_a_classifier(
    kind: str, variant: str, tokenizer, tokenizer_folder, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    encoder = encoder_folder(variant, tokenizer, tokenizer_folder, tmp_path / "encoder")
    more = {"auxiliary": 0.5, "both_orders": True} if variant == "gpt1" else {}
    figures = train_task(recipe(kind, encoder, tmp_path, **more), tmp_path / "run").metrics
    assert figures["accuracy"] > 0.9
    if kind == "tagging":
        assert figures["entity_f1"] > 0.9
    classifier = Classifier(tmp_path / "run" / "export", "cpu")
    reported = classifier([Labelled(GOOD, label="")] if kind == "sentence" else [])
    assert kind != "sentence" or reported[0]["label"] == "yes"


def test_a_frozen_encoder_stays_as_it_is(tokenizer, tokenizer_folder, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from transformers import AutoModel

    encoder = encoder_folder("electra", tokenizer, tokenizer_folder, tmp_path / "encoder")
    train_task(recipe("sentence", encoder, tmp_path, frozen=True, epochs=1), tmp_path / "run")
    before, after = (
        AutoModel.from_pretrained(f).state_dict() for f in (encoder, tmp_path / "run" / "export")
    )
    assert all(torch.equal(value, after[name]) for name, value in before.items())


def test_every_example_once_an_epoch_in_a_fixed_order(tokenizer) -> None:  # type: ignore[no-untyped-def]
    rows = [Labelled("dig " * (n % 7 + 1), label=str(n % 2)) for n in range(70)]
    encode = Encoding(tokenizer, "sentence", ["0", "1"], 16, False)
    batches, again = (LabelledBatches(rows, encode, 16, seed=3) for _ in range(2))
    for epoch in range(2):
        steps = range(epoch * batches.steps_per_epoch, (epoch + 1) * batches.steps_per_epoch)
        assert sum(len(batches[step].label) for step in steps) == 70
        assert all(torch.equal(batches[s].tokens.input_ids, again[s].tokens.input_ids) for s in steps)


def test_what_cannot_be_learnt_from_is_said() -> None:
    with pytest.raises(InputError, match="no label"):
        labels_of([Labelled("a")], "sentence")
    with pytest.raises(InputError, match="only one class"):
        labels_of([Labelled("a", label="x")], "sentence")


def test_the_best_classifier_is_kept_and_patience_ends_the_training(
    tokenizer, tokenizer_folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    encoder = encoder_folder("bert", tokenizer, tokenizer_folder, tmp_path / "encoder")
    often = changed(recipe("sentence", encoder, tmp_path), trainer={"evaluate_every_steps": 4, "patience": 2})
    found, measured = [0.5, 0.75, 0.5, 0.5], []

    def measure(task: Task, *_: object) -> dict[str, float]:
        measured.append({name: value.clone() for name, value in task.model.state_dict().items()})
        return {"accuracy": found[len(measured) - 1]}

    monkeypatch.setattr(classifier_module, "measure_task", measure)
    result = train_task(often, tmp_path / "run")
    assert result.metrics == {"accuracy": 0.75} and result.steps == 16
    kept = Classifier(tmp_path / "run" / "export", "cpu").model.state_dict()
    assert all(torch.equal(kept[name], measured[1][name]) for name in kept)


@pytest.mark.parametrize(("kind", "metric"), [("sentence", "acuracy"), ("ending", "matthews")])
def test_what_is_not_measured_is_refused_before_training(  # type: ignore[no-untyped-def]
    kind: str, metric: str, tokenizer, tokenizer_folder, tmp_path: Path
) -> None:
    encoder = encoder_folder("electra", tokenizer, tokenizer_folder, tmp_path / "encoder")
    wrong = changed(recipe(kind, encoder, tmp_path), trainer={"best_metric": metric})
    with pytest.raises(InputError, match=f"best_metric='{metric}' is not measured"):
        train_task(wrong, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_other_labels_are_not_answered_by_an_earlier_run(tokenizer, tokenizer_folder, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    encoder = encoder_folder("bert", tokenizer, tokenizer_folder, tmp_path / "encoder")
    reported = recipe("sentence", encoder, tmp_path, epochs=1)
    train_task(reported, tmp_path / "run")
    train_task(recipe("sentence", encoder, tmp_path, epochs=2), tmp_path / "run")
    path = tmp_path / "sentence.jsonl"
    path.write_text(path.read_text().replace('"no"', '"never"'))
    with pytest.raises(InputError, match="trained with other examples"):
        train_task(reported, tmp_path / "run")


def test_a_teacher_is_learnt_from_in_two_stages(tokenizer, tokenizer_folder, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    encoder = encoder_folder("bert", tokenizer, tokenizer_folder, tmp_path / "encoder")
    train_task(recipe("sentence", encoder, tmp_path, epochs=12), tmp_path / "teacher")
    teacher = str(tmp_path / "teacher" / "export")
    inside = recipe("sentence", encoder, tmp_path, teacher=teacher, layers=True, epochs=6)
    train_task(inside, tmp_path / "inside")
    parts = [json.loads(line) for line in (tmp_path / "inside" / "log.jsonl").read_text().splitlines()]
    assert {"hidden", "attention"} <= parts[-2].keys() and "held_out_accuracy" in parts[-1]
    stage = recipe(
        "sentence", tmp_path / "inside" / "export", tmp_path, teacher=teacher, temperature=2.0, epochs=12
    )
    figures = train_task(stage, tmp_path / "student").metrics
    assert figures["accuracy"] > 0.9
    with pytest.raises(InputError, match="set task.teacher"):
        train_task(recipe("sentence", encoder, tmp_path, temperature=2.0), tmp_path / "none")
    with pytest.raises(InputError, match="other classes"):
        train_task(recipe("pair", encoder, tmp_path, teacher=teacher), tmp_path / "other")

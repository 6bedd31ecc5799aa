from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgqa.data.datasets.labelled import Labelled
from kgqa.metrics import matthews
from kgqa.models.classifiers import Classifier
from kgqa.models.language_model import load_language_model
from kgqa.trainer.finetuning.reader import PretrainedEncoderSettings
from training.experiments.finetune import FINETUNES, RATES, Finetune, finetune
from training.experiments.likelihood import held_out_loss


def quiet(items: Iterable[Any], _text: str, _total: int) -> Iterable[Any]:
    return items


def test_matthews_correlation() -> None:
    assert matthews([1, 0, 1, 0], [1, 0, 1, 0]) == pytest.approx(1)
    assert matthews([1, 0, 1, 0], [0, 1, 0, 1]) == pytest.approx(-1)
    assert matthews([1, 1, 1, 1], [0, 1, 0, 1]) == 0
    gold, reported = np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([1, 1, 0, 1, 0, 0, 0, 0])
    tp, tn, fp, fn = 2, 4, 1, 1
    expected = (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert matthews(reported, gold) == pytest.approx(expected)


@pytest.mark.parametrize("task", ["cola", "rte"])
def test_sentences_are_learnt_and_measured(
    task: str, mlm_folder: Path, glue: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FINETUNES, task, Finetune(10, 8, 32))
    for rate in RATES:
        monkeypatch.setitem(RATES, rate, 5e-3)
    encoder = PretrainedEncoderSettings(folder=str(mlm_folder))
    figures = finetune(task, encoder, glue, tmp_path / "run", quiet, limit=20)
    assert figures["accuracy"] > 0.9 and figures["matthews"] > 0.8
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"export", "made_of.json"}, (
        "no checkpoints are left behind"
    )
    kept = Classifier(tmp_path / "run" / "export", "cpu")
    good, bad = "i dig a hole with red trowel", "i dig a hole with blue trowel"
    rows = [Labelled(*(("i dig", text) if task == "rte" else (text,))) for text in (good, bad)]
    assert [reported["label"] for reported in kept(rows)] == ["1", "0"]


@pytest.mark.parametrize(("task", "figure"), [("csqa", "accuracy"), ("squad1", "f1")])
def test_questions_are_asked(task: str, figure: str, mlm_folder: Path, glue: Path, tmp_path: Path) -> None:
    encoder = PretrainedEncoderSettings(folder=str(mlm_folder), from_scratch=True)
    figures = finetune(task, encoder, glue, tmp_path / "run", quiet, max_tokens=2000, limit=4)
    assert 0 <= figures[figure] <= 1 and figures["steps"] >= 1


@pytest.mark.parametrize("task", ["cola", "csqa"])
def test_with_virtual_adversaries(task: str, mlm_folder: Path, glue: Path, tmp_path: Path) -> None:
    encoder = PretrainedEncoderSettings(folder=str(mlm_folder))
    figures = finetune(task, encoder, glue, tmp_path / "run", quiet, max_tokens=600, limit=4, sift=1.0)
    assert 0 <= figures["accuracy"] <= 1 and (tmp_path / "run" / "export").is_dir()


def test_the_same_seed_gives_the_same_figures(mlm_folder: Path, glue: Path, tmp_path: Path) -> None:
    encoder = PretrainedEncoderSettings(folder=str(mlm_folder))
    runs = [finetune("sst2", encoder, glue, tmp_path / "run", quiet, max_tokens=600) for _ in range(2)]
    assert [runs[0][k] for k in ("accuracy", "matthews")] == [runs[1][k] for k in ("accuracy", "matthews")]


def test_an_encoder_of_few_positions_reads_what_fits(
    mlm_folder: Path, glue: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import BertConfig, BertForMaskedLM

    small = tmp_path / "small"
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertForMaskedLM(BertConfig(vocab_size=200, max_position_embeddings=8, **sizes)).save_pretrained(small)
    (small / "tokenizer.json").write_bytes((mlm_folder / "tokenizer.json").read_bytes())
    monkeypatch.setitem(FINETUNES, "rte", Finetune(0.1, 8, 192))
    figures = finetune(
        "rte", PretrainedEncoderSettings(folder=str(small)), glue, tmp_path / "run", quiet, limit=4
    )
    assert 0 <= figures["accuracy"] <= 1
    model = load_language_model(small)
    assert model and held_out_loss(model, ["dig the garden with a trowel"] * 4, quiet)["masked_tokens"] > 0

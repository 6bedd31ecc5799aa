import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from support.tiny import changed

from kgqa.data.datasets.load import load_dataset
from kgqa.graph.load import open_graph
from kgqa.models.dense_retrieval import FactEncoder, verbalize_facts
from kgqa.models.encoders.variants import save_model
from kgqa.models.pretrained import copy_tokenizer
from kgqa.trainer.data import held_out
from kgqa.trainer.finetuning.fact_encoder import RetrieverRecipe, RetrieverSettings, mine, train_retriever
from kgqa.types import InputError

FACTS = "head\trelation\ttail\ntrowel\tUsedFor\tplant flowers\nsmoker\tUsedFor\tcalm bees\nhive\tIsA\thouse\n"
ROWS = (
    {"question": "what did i dig with", "passage": "i want to plant flowers", "answers": ["trowel"]},
    {"question": "what did he use", "passage": "the bee was there", "answers": ["smoker"]},
    {"question": "who is he", "answers": ["nobody there"]},
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch, tokenizer_folder: Path, encoder) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "g.tsv").write_text(FACTS, encoding="utf-8")
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    folder = tmp_path / "encoder"
    save_model(encoder, folder)
    copy_tokenizer(tokenizer_folder, folder)
    return tmp_path


def recipe(here: Path, **changed: object) -> RetrieverRecipe:
    settings = {
        "graph": str(here / "g.tsv"),
        "data": [str(here / "q.jsonl")],
        "batch_questions": 2,
        "hard": 1,
    }
    return RetrieverRecipe.model_validate(
        {
            "encoder": {"folder": str(here / "encoder")},
            "retriever": {**settings, **changed},
            "trainer": {"max_steps": 3, "precision": "fp32"},
        }
    )


def test_right_facts_lead_to_the_answer_and_hard_ones_do_not(here: Path) -> None:
    graph = open_graph(here / "g.tsv")
    reads = FactEncoder.load(here / "encoder")
    output = verbalize_facts(graph, graph.edges())
    rows = mine(
        list(load_dataset(str(here / "q.jsonl"))),
        graph,
        reads.encode(output).astype(np.float16),
        reads,
        RetrieverSettings(data=("x",), nearest=3),
    )
    assert [[output[fact] for fact in row.right] for row in rows] == [
        [fact for fact in output if "trowel" in fact],
        [fact for fact in output if "smoker" in fact],
    ]
    assert all("trowel" not in output[fact] for fact in rows[0].hard) and len(rows[0].hard) == 2


def test_it_is_trained_and_can_be_named(here: Path) -> None:
    result = train_retriever(recipe(here), here / "run")
    assert result.steps == 3
    trained = FactEncoder.load(here / "run" / "export")
    before = FactEncoder.load(here / "encoder")
    assert not np.allclose(trained.encode(["trowel"]), before.encode(["trowel"]), atol=1e-4)
    assert trained.fingerprint != before.fingerprint


def test_the_best_by_what_is_held_out_is_exported(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        held_out,
        "held_out_sides",
        lambda sets, share: [[share > 0 and "bee" in e.question.passage_text for e in rows] for rows in sets],
    )
    often = {"evaluate_every_steps": 1, "patience": 2}
    result = train_retriever(changed(recipe(here), held_out=0.4, trainer=often), here / "run")
    assert set(result.metrics) == {"loss", "found"} and result.best == result.metrics["loss"]
    best = load_file(next((here / "run").glob("best-*")) / "weights.safetensors")
    exported = load_file(here / "run" / "export" / "model.safetensors")
    assert all(torch.equal(value, best[f"reads.encoder.{name}"]) for name, value in exported.items())


def test_other_questions_or_another_graph_are_refused(here: Path) -> None:
    train_retriever(recipe(here), here / "run")
    (here / "g.tsv").write_text(FACTS + "bee\tIsA\tanimal\n", encoding="utf-8")
    with pytest.raises(InputError, match="graph="):
        train_retriever(recipe(here), here / "run")
    (here / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS[:2]), encoding="utf-8")
    with pytest.raises(InputError, match="questions="):
        train_retriever(recipe(here), here / "run")


def test_answers_that_the_graph_lacks_are_said(here: Path) -> None:
    (here / "q.jsonl").write_text(json.dumps(ROWS[2]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="no answer is a concept"):
        train_retriever(recipe(here), here / "run")

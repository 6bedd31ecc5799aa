from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from support.tiny import changed

from kgqa.models import dense_retrieval
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.dense_retrieval import FactEncoder
from kgqa.models.load import open_reader
from kgqa.models.pretrained import WEIGHTS, copy_tokenizer
from kgqa.models.reader import Reader, read_card, save_reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.qa.answerer import Answerer
from kgqa.trainer.data.mixture import DataSettings
from kgqa.trainer.finetuning import reader as reader_module
from kgqa.trainer.finetuning.reader import (
    PretrainedEncoderSettings,
    ReaderRecipe,
    begin_with,
    build,
    load_encoder,
    load_teacher,
    prepare,
    train_reader,
    with_expanded_names,
)
from kgqa.types import InputError, Question


def test_a_reader_is_trained_from_an_encoder_folder(
    tmp_path: Path, encoder, tokenizer_folder: Path, tools_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = folder_of(encoder, tokenizer_folder, tmp_path / "encoder")
    questions = tmp_path / "own.jsonl"
    row = {
        "id": "1",
        "question": "What did I dig with?",
        "passage": "I plant flowers.",
        "answers": ["trowel"],
    }
    questions.write_text("".join(json.dumps({**row, "source": "knowledge"}) + "\n" for _ in range(8)))
    recipe = ReaderRecipe.model_validate(
        {
            "name": "toy",
            "encoder": {"folder": str(folder)},
            "reasoner": {"name": "fused", "graph_size": 16, "num_layers": 1, "num_heads": 2},
            "data": [{"name": str(questions), "graph": str(tools_file), "batch_questions": 4}],
            "input": {"max_nodes": 16},
            "trainer": {"max_steps": 3, "precision": "fp32", "log_every_steps": 1},
        }
    )
    result = train_reader(recipe, tmp_path / "run")
    assert result.steps == 3
    left = json.loads((tmp_path / "run" / "recipe.json").read_text())
    assert ReaderRecipe.model_validate(left).model_copy(update={"reasoner": recipe.reasoner}) == recipe
    answer = Answerer.load(str(tmp_path / "run" / "export"), str(tools_file)).answer(
        Question("What did I dig with?")
    )
    assert answer.model == "toy"
    served = open_reader(tmp_path / "run" / "export").settings
    assert served == recipe.input.model_copy(update={"max_tokens": served.max_tokens})
    goes_on = changed(recipe, encoder={"folder": str(tmp_path / "run" / "export")})
    reader, _, _ = build(goes_on)
    assert reader.settings == recipe.reasoner
    train_reader(goes_on, tmp_path / "further")
    assert read_card(tmp_path / "further" / "export")["earlier_data"] == [str(questions)]
    beside = changed(goes_on, encoder={"adapter": 2})
    train_reader(beside, tmp_path / "beside")
    with pytest.raises(InputError, match="cannot be combined"):
        train_reader(changed(beside, encoder={"from_scratch": True}), tmp_path / "scratch")
    weights = [(tmp_path / run / "export" / WEIGHTS).read_bytes() for run in ("run", "beside")]
    assert weights[0] == weights[1]
    networks = [open_reader(tmp_path / run / "export", device=None).network for run in ("run", "beside")]
    assert networks[0].state_dict().keys() == networks[1].state_dict().keys()
    assert not all(torch.equal(*both) for both in zip(*(n.parameters() for n in networks), strict=True))
    assert (
        read_card(tmp_path / "beside" / "export")["input"] == read_card(tmp_path / "run" / "export")["input"]
    )
    for rank in (2, 0):
        first, _, _ = build(
            changed(recipe, encoder={"folder": str(tmp_path / "beside" / "export"), "adapter": rank})
        )
        assert any("down" in name for name, _ in first.named_parameters()) == bool(rank)
    adversarial = train_reader(changed(recipe, sift=1.0), tmp_path / "sift")
    assert adversarial.steps == 3 and '"sift"' in (tmp_path / "sift" / "log.jsonl").read_text()
    assert train_reader(changed(recipe, trainer={"max_steps": 5}), tmp_path / "run").steps == 5
    questions.write_text(questions.read_text().replace("dig", "hoe"))
    with pytest.raises(InputError, match="trained with other questions"):
        train_reader(recipe, tmp_path / "run")


def test_held_out_questions_pick_the_best_reader(
    tmp_path: Path, encoder, tokenizer_folder: Path, tools_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TOOLS", str(tmp_path))
    folder_of(encoder, tokenizer_folder, tmp_path / "encoder")
    rows = [{"question": f"what {i} plants flowers?", "answers": ["trowel"]} for i in range(40)]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    recipe = ReaderRecipe.model_validate(
        {
            "encoder": {"folder": "$TOOLS/encoder"},
            "reasoner": {"name": "text-only"},
            "data": [{"name": str(tmp_path / "own.jsonl"), "graph": "$TOOLS/tools.ttl"}],
            "held_out": 0.25,
            "trainer": {
                "max_steps": 40,
                "precision": "fp32",
                "evaluate_every_steps": 2,
                "patience": 2,
                "best_metric": "accuracy",
            },
        }
    )
    for name in ("acuracy", "accuracy_choice"):  # mistyped; of questions that are not there
        with pytest.raises(InputError, match=f"best_metric='{name}' is not measured"):
            train_reader(changed(recipe, trainer={"best_metric": name}), tmp_path / "wrong")
        assert not (tmp_path / "wrong" / "log.jsonl").exists()
    with pytest.raises(InputError, match="no rows would be held out"):
        train_reader(changed(recipe, held_out=1e-9), str(tmp_path / "few"))
    result = train_reader(recipe, tmp_path / "run")
    assert result.steps < 40 and result.best == 1.0
    assert (tmp_path / "run" / "export" / "reader.json").exists()
    asked = [{"name": str(tmp_path / "own.jsonl"), "graph": "$TOOLS/tools.ttl", "limit": 9}]
    other = ReaderRecipe.model_validate(
        {**recipe.model_dump(), "held_out": 0, "development": asked, "name": "measured"}
    )
    result = train_reader(other, tmp_path / "measured")
    assert result.best == result.metrics["accuracy"] == 1.0
    with pytest.raises(InputError, match="held_out=0.25, the recipe has 0.5"):
        train_reader(changed(recipe, held_out=0.5), tmp_path / "run")


def test_a_missing_data_set_is_said_before_anything_is_retrieved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_DATA", "/nowhere")
    recipe = ReaderRecipe.model_validate({"data": [{"name": "synthesis"}, {"name": "csqa-train"}]})
    with pytest.raises(InputError, match="csqa/train"):
        train_reader(recipe, Path("/nowhere/run"))


@pytest.mark.parametrize("setting", ["relevance", "fact_encoder"])
def test_who_finds_and_judges_facts_is_what_a_run_is_made_of(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[str] = []

    def claim(*_: object, weights: str, **__: str) -> None:
        reported.append(weights)
        raise InputError("enough")

    monkeypatch.setattr(reader_module, "claim", claim)
    line = '{"question": "what is red", "passage": "the bee is red", "answers": ["bee"]}\n'
    (tmp_path / "q.jsonl").write_text(line, encoding="utf-8")
    for named in ("", "kgqa-mini"):
        data = [{"name": str(tmp_path / "q.jsonl"), "graph": "none"}]
        recipe = ReaderRecipe.model_validate({"data": data, "input": {setting: named}})
        with pytest.raises(InputError, match="enough"):
            train_reader(recipe, tmp_path / "run")
    assert reported[0] != reported[1]


@pytest.fixture
def teacher(encoder, tokenizer_folder: Path, tmp_path: Path) -> Path:  # type: ignore[no-untyped-def]
    reader = Reader(encoder, ReasonerSettings(name="text-only"))
    save_reader(reader, tokenizer_folder, tmp_path / "teacher", {"input": {"max_tokens": 64}})
    return tmp_path / "teacher"


def test_a_teacher_reads_as_it_was_trained(teacher: Path) -> None:
    reader, collator = load_teacher(str(teacher), InputConfig())
    assert collator.max_tokens == 64 and reader.settings.name == "text-only"
    with pytest.raises(InputError, match="ablation"):
        load_teacher(str(teacher), InputConfig(ablation="shuffled"))


def test_a_recipe_names_a_teacher(
    teacher: Path, tools_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    row = '{"question": "What did I dig with?", "passage": "I plant flowers.", "answers": ["trowel"]}\n'
    (tmp_path / "own.jsonl").write_text(row * 4)
    recipe = {
        "encoder": {"folder": str(teacher)},
        "reasoner": {"name": "text-only"},
        "data": [{"name": str(tmp_path / "own.jsonl"), "graph": str(tools_file), "batch_questions": 2}],
        "teacher": str(teacher),
        "temperature": 3.0,
        "trainer": {"max_steps": 2, "log_every_steps": 1},
    }
    assert train_reader(ReaderRecipe.model_validate(recipe), tmp_path / "run").steps == 2
    assert '"soft_answer_type"' in (tmp_path / "run" / "log.jsonl").read_text()
    del recipe["teacher"]
    with pytest.raises(InputError, match="set teacher"):
        train_reader(ReaderRecipe.model_validate(recipe), tmp_path / "other")


def test_names_are_located_for_use_and_the_recipe_keeps_them_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERE", str(tmp_path))
    data = [{"name": "$HERE/own.jsonl", "graph": "$HERE/own.ttl", "texts": ["$HERE/a.txt"]}]
    recipe = ReaderRecipe.model_validate({"data": data, "entities": "$HERE/entities"})
    found = recipe.located()
    assert found.data[0].name == f"{tmp_path}/own.jsonl" and found.data[0].graph == f"{tmp_path}/own.ttl"
    assert found.data[0].texts == (f"{tmp_path}/a.txt",) and found.entities == f"{tmp_path}/entities"
    assert recipe.data[0].name == "$HERE/own.jsonl"


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(InputError, match="NOT_SET_HERE"):
        with_expanded_names(DataSettings(name="$NOT_SET_HERE/own.jsonl"))


def test_yes_and_no_want_their_classes() -> None:
    with pytest.raises(ValueError, match=r"set reasoner\.yes_no = true as well"):
        ReaderRecipe.model_validate({"data": [{"name": "mine.jsonl"}], "input": {"yes_no": True}})


def folder_of(encoder, tokenizer_folder: Path, folder: Path) -> Path:
    encoder.save_pretrained(folder)
    copy_tokenizer(tokenizer_folder, folder)
    return folder


def test_an_encoder_comes_without_dropout_or_with_frozen_words(
    encoder, tokenizer_folder: Path, tmp_path: Path
) -> None:
    folder = folder_of(encoder, tokenizer_folder, tmp_path / "encoder")
    found, source = load_encoder(
        PretrainedEncoderSettings(folder=str(folder), dropout=0.0, freeze_words=True)
    )
    assert source == folder and not found.get_input_embeddings().weight.requires_grad
    assert all(module.p == 0 for module in found.modules() if isinstance(module, torch.nn.Dropout))
    fresh, _ = load_encoder(PretrainedEncoderSettings(folder=str(folder), from_scratch=True))
    assert not torch.equal(fresh.get_input_embeddings().weight, found.get_input_embeddings().weight)
    with pytest.raises(InputError, match=r"freeze_layers: .* has \d layers; give at most as many"):
        load_encoder(PretrainedEncoderSettings(folder=str(folder), freeze_layers=99))


def test_a_reader_goes_on_from_an_earlier_one(encoder, tokenizer_folder: Path, tmp_path: Path) -> None:
    folder = folder_of(encoder, tokenizer_folder, tmp_path / "encoder")
    recipe = ReaderRecipe.model_validate(
        {
            "encoder": {"folder": str(folder)},
            "reasoner": {"name": "fused", "graph_size": 16, "num_layers": 1, "num_heads": 2},
            "data": [{"name": "synthetic-graphs"}],
        }
    )
    earlier, _, source = build(recipe)
    with torch.no_grad():
        for weights in earlier.parameters():
            weights.add_(0.5)
    save_reader(earlier, source, tmp_path / "earlier", {"name": "earlier", "recipe": {}})
    later, _, _ = build(changed(recipe, encoder={"folder": str(tmp_path / "earlier")}))
    ours, theirs = later.state_dict(), earlier.state_dict()
    assert all(
        torch.allclose(ours[n].float(), theirs[n].float(), atol=1e-2) for n in ours if n.startswith("span.")
    )
    other, _, _ = build(recipe)
    begin_with(other, earlier)
    begun = other.state_dict()
    assert all(torch.equal(begun[name], theirs[name]) for name in begun if name.startswith("span."))


@pytest.fixture
def questions(tmp_path: Path) -> str:
    row = {
        "id": "1",
        "question": "What did I dig with?",
        "passage": "I plant flowers.",
        "answers": ["trowel"],
    }
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({**row, "source": "knowledge"}) + "\n")
    return str(path)


def test_subgraphs_are_stored_or_found_when_asked_for_and_are_the_same(
    tmp_path: Path, tools_file: Path, questions: str
) -> None:
    settings = DataSettings(name=questions, graph=str(tools_file))
    recipe = ReaderRecipe(data=[settings], input=InputConfig(max_nodes=16))
    stored = prepare(settings, recipe, tmp_path / "cache")
    found = prepare(settings, changed(recipe, store_subgraphs=False), tmp_path / "none")
    assert stored.subgraphs[0][0].nodes == found.subgraphs[0][0].nodes
    assert list((tmp_path / "cache").iterdir()) and not (tmp_path / "none").exists()


def test_without_a_graph_every_subgraph_is_empty(tmp_path: Path, questions: str) -> None:
    settings = DataSettings(name=questions, graph="none")
    part = prepare(settings, ReaderRecipe(data=[settings]), tmp_path)
    assert len(part.examples) == 1 and not part.subgraphs[0][0].nodes


def test_what_is_to_be_found_by_meaning_needs_an_index(
    tmp_path: Path, tools_file: Path, questions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Words:
        fingerprint = space = "words"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(FactEncoder, "load", lambda _name: Words())
    monkeypatch.setattr(dense_retrieval, "MADE_AT_ONCE", 0)
    settings = DataSettings(name=questions, graph=str(tools_file))
    recipe = ReaderRecipe(data=[settings], input=InputConfig(fact_encoder="words"))
    with pytest.raises(InputError, match="kgqa graph index .* --encoder words"):
        prepare(settings, recipe, tmp_path)

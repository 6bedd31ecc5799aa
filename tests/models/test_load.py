from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from torch import nn

from kgqa.graph.retrieval.ablation import without_edges
from kgqa.limits.cancellation import Cancelled, cancel_when
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.collation.rows import CandidateRow
from kgqa.models.load import LoadedReader, open_reader
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.types import InputError, Link, NodeRole, Question, Subgraph

WORDS = "What did I dig with?"


@pytest.fixture
def reader(model_folder: Path) -> LoadedReader:
    return open_reader(model_folder)


def rows(digging: Subgraph, *choices: str) -> list[CandidateRow]:
    return [CandidateRow(Question(WORDS, (choice,)), digging) for choice in choices]


def test_rows_are_scored_as_each_would_be_alone(reader: LoadedReader, digging: Subgraph) -> None:
    asked = rows(digging, "trowel", "excavator", "a shovel and a hole in the ground")
    scores = reader.score(asked)
    assert torch.allclose(scores[1:2], reader.score(asked[1:2]), atol=1e-4)


def test_rows_that_are_equal_are_read_once(
    reader: LoadedReader, digging: Subgraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    heads = reader.heads
    monkeypatch.setattr(reader, "heads", lambda batch: (read.append(batch.num_rows), heads(batch))[1])
    first, other, again = reader.score(rows(digging, "trowel", "spade", "trowel")).tolist()
    assert first == again != other and read == [2]


def test_a_folder_without_a_reader_and_a_device_that_is_not_here(tmp_path: Path, model_folder: Path) -> None:
    with pytest.raises(InputError, match="not a reader"):
        open_reader(tmp_path / "nothing")
    with pytest.raises(InputError, match="available: auto"):
        open_reader(model_folder, "typewriter")


def test_a_pass_is_cancelled_between_layers_and_the_network_keeps_no_hooks(
    reader: LoadedReader, digging: Subgraph
) -> None:
    def hooks() -> int:
        return sum(len(module._forward_pre_hooks) for module in reader.network.modules())

    assert not hooks()
    batch = reader.collate([Question(WORDS, ("trowel",))], [[digging]]).batch
    seen: list[int] = []

    def stop() -> bool:
        seen.append(hooks())
        return len(seen) == 2

    with cancel_when(stop), pytest.raises(Cancelled):
        reader.heads(batch)
    layers = len(reader.network.layerwise.layers)
    assert layers >= 2 and seen == [layers, layers] and not hooks()
    assert reader.heads(batch).choice.isfinite().all() and not hooks()


def test_matrices_are_halved_for_answering_and_not_for_training(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_PRECISION", "bf16")
    assert open_reader(model_folder).precision == "bf16"
    assert open_reader(model_folder, device=None).precision == "fp32"


def test_a_choice_has_one_score_whatever_is_read_beside_it(encoder: nn.Module, tokenizer: Tokenizer) -> None:
    settings = ReasonerSettings(name="text-only", graph_size=16, num_layers=1, num_heads=2)
    reader = LoadedReader(Reader(encoder, settings), tokenizer, settings=InputConfig(packed=True))
    questions = [Question(WORDS, ("trowel", "spade", "bee")), Question("what is red", ("house",))]
    for choices, question in zip(reader.choose(questions), questions, strict=True):
        assert choices.shape == (len(question.choices),)
    whole, alone = reader.choose([questions[0], replace(questions[0], choices=("bee",))])
    assert torch.allclose(whole[2], alone[0], atol=0.02)


def test_choices_of_one_question_are_read_in_branches_of_one_row(
    encoder: nn.Module, tokenizer: Tokenizer, digging: Subgraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ReasonerSettings(name="text-only", graph_size=16, num_layers=1, num_heads=2)
    reader = LoadedReader(Reader(encoder, settings), tokenizer, settings=InputConfig(packed=True, facts=1))
    read: list[int] = []
    heads = reader.heads
    monkeypatch.setattr(reader, "heads", lambda batch: (read.append(batch.num_rows), heads(batch))[1])
    reported = replace(digging, links=(Link(NodeRole.CHOICE, 0, 6, digging.labels.index("trowel")),))
    bare = without_edges(reported, range(len(reported.edges)))
    asked = [*rows(reported, "trowel", "spade", "trowel"), *rows(bare, "trowel")]
    scores = reader.score(asked)
    assert read == [2], "the second trowel stands beside other facts, in a row of its own"
    alone = torch.cat([reader.score([row]) for row in asked])
    assert torch.allclose(scores, alone, atol=1e-4) and scores[0] == scores[2] != scores[3]


def test_a_reader_that_computes_no_numbers_says_so_in_one_line(
    reader: LoadedReader, digging: Subgraph
) -> None:
    for weight in reader.network.parameters():
        weight.data.fill_(3e38)
    with pytest.raises(InputError, match="scores are NaN"):
        reader.score(rows(digging, "trowel"))

"""The forward passes that are read here are Hugging Face's, number by number, and take no transformers along."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModel

from kgqa.batch import TokenBatch
from kgqa.models.adapters import adapted
from kgqa.models.encoders.bert import BertEncoder, new_encoder, open_encoder
from kgqa.models.encoders.layerwise import LayerwiseEncoder, additive, takes_segments
from kgqa.models.pretrained import load_pretrained
from kgqa.models.reader import Reader, load_reader, save_reader
from kgqa.models.reasoners import REASONERS, ReasonerSettings
from kgqa.settings import FACT_ENCODER, MODELS, SMALLER
from kgqa.types import InputError

SIZES = {
    "vocab_size": 50,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 300,
}
KINDS: dict[str, dict[str, Any]] = {
    "bert": {},
    "electra": {"embedding_size": 16},
    "electra-wide": {"embedding_size": 32},
    "mpnet": {},
}


def pair(kind: str, folder: Path) -> tuple[Any, BertEncoder]:
    """Hugging Face's encoder with random weights, and ours with the same."""
    torch.manual_seed(0)
    config = AutoConfig.for_model(kind.removesuffix("-wide"), **SIZES, **KINDS[kind])
    theirs = AutoModel.from_config(config).eval()
    for value in theirs.parameters():
        torch.nn.init.normal_(value, std=0.5)
    config.save_pretrained(folder)
    ours = new_encoder(folder)
    assert isinstance(ours, BertEncoder)
    state = {name: value for name, value in theirs.state_dict().items() if "pooler" not in name}
    ours.load_state_dict(state, assign=True)
    return theirs, ours.eval()


def rows(length: int, padding: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.randint(2, 50, (3, length), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    if padding:
        mask[1, -padding:] = 0
        ids[1, -padding:] = 1
    return ids, mask


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_states_are_equal(kind: str, autocast: bool, tmp_path: Path) -> None:
    theirs, ours = pair(kind, tmp_path)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        for length, padding in ((7, 0), (7, 3), (200, 0), (260, 90)):
            ids, mask = rows(length, padding)
            expected = theirs(input_ids=ids, attention_mask=mask).last_hidden_state
            assert torch.equal(ours(input_ids=ids, attention_mask=mask).last_hidden_state, expected)
        if kind != "mpnet":
            segments = (torch.arange(260) > 50).long().expand(3, -1)
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments}
            assert torch.equal(ours(**given).last_hidden_state, theirs(**given).last_hidden_state)


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_walk_over_branches_is_equal(kind: str, autocast: bool, tmp_path: Path) -> None:
    ids, mask = rows(40, 5)
    branch = (torch.arange(40) // 10).expand(3, -1)
    position = torch.where(branch == 0, torch.arange(40), 10 + torch.arange(40) % 10)
    tokens = TokenBatch(ids, mask.bool(), torch.zeros_like(ids), candidate_index=branch, position=position)
    found, visited = [], []
    for encoder in pair(kind, tmp_path):
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            layerwise = LayerwiseEncoder(encoder)
            seen: list[torch.Tensor] = []
            found.append(layerwise.encode(tokens, lambda _, hidden, seen=seen: seen.append(hidden) or hidden))
            visited.append(seen)
            assert (layerwise.max_tokens, layerwise.first_position, len(layerwise.layers)) == (
                298 if kind == "mpnet" else 300,
                2 if kind == "mpnet" else 0,
                3,
            )
    assert torch.equal(*found) and len(visited[0]) == 3
    assert all(map(torch.equal, *visited))
    assert additive(mask.bool()).shape == (3, 1, 40)


@pytest.mark.parametrize("name", [SMALLER, "kgqa-base", FACT_ENCODER])
def test_shipped_encoders_are_equal(name: str) -> None:
    folder = MODELS / name
    theirs, ours = load_pretrained(AutoModel, folder), open_encoder(folder)
    assert isinstance(ours, BertEncoder)
    ids, mask = rows(30, 6)
    with torch.no_grad():
        expected = theirs(input_ids=ids, attention_mask=mask).last_hidden_state
        assert torch.equal(ours(input_ids=ids, attention_mask=mask).last_hidden_state, expected)


def test_what_is_not_known_here_is_read_by_transformers(tmp_path: Path) -> None:
    pair("bert", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    for other in ({"hidden_act": "relu"}, {"is_decoder": True}, {"model_type": "roberta"}):
        (tmp_path / "config.json").write_text(json.dumps(config | other))
        assert not isinstance(new_encoder(tmp_path), BertEncoder)


@pytest.mark.parametrize("kind", KINDS)
def test_what_reasoners_ask_of_an_encoder_has_the_same_answer(kind: str, tmp_path: Path) -> None:
    theirs, ours = pair(kind, tmp_path)
    for name in ("relative_attention", "relative_attention_num_buckets", "type_vocab_size"):
        assert hasattr(theirs.config, name) == hasattr(ours.config, name) or name == "type_vocab_size"
    assert theirs.config._attn_implementation == ours.config._attn_implementation
    assert takes_segments(theirs) == takes_segments(ours)
    for name in sorted(set(REASONERS) - {"pyg"}):
        made = []
        for encoder in (theirs, ours):
            try:
                made.append(
                    type(Reader(encoder, ReasonerSettings(name=name, graph_size=16, num_heads=2)).reasoner)
                )
            except InputError as error:
                made.append(str(error))
        assert made[0] == made[1], name


def test_a_reader_of_hugging_faces_encoder_is_read_by_ours(tmp_path: Path, tokenizer_folder: Path) -> None:
    theirs, _ = pair("mpnet", tmp_path)
    reader = Reader(theirs, ReasonerSettings(graph_size=16, num_layers=2, num_heads=2))
    save_reader(reader, tokenizer_folder, tmp_path / "reader", {"name": "toy"})
    again, _ = load_reader(tmp_path / "reader")
    assert isinstance(again.encoder, BertEncoder) and adapted(again, 2)
    kept = {name: value for name, value in reader.state_dict().items() if "pooler" not in name}
    assert again.state_dict().keys() == kept.keys()
    assert all(torch.equal(value.half().float(), again.state_dict()[name]) for name, value in kept.items())


def test_who_asks_imports_nothing_heavy_and_keeps_threads_and_environment() -> None:
    program = (
        "import os, sys, kgqa, torch\n"
        "torch.set_num_threads(2)\n"
        f"kgqa.load('{SMALLER}').answer('What is a trowel for?')\n"
        "heavy = 'transformers torch_geometric accelerate torch._dynamo pandas sympy sklearn'\n"
        "found = set(heavy.split()) & set(sys.modules)\n"
        "found |= {name for name in os.environ if name.startswith('OMP_')}\n"
        "print(found, torch.get_num_threads())\nsys.exit(bool(found) or torch.get_num_threads() != 2)"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)

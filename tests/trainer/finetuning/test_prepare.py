import json
from pathlib import Path

import pytest

from kgqa.models import dense_retrieval
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.dense_retrieval import FactEncoder
from kgqa.trainer.data.mixture import DataSettings
from kgqa.trainer.finetuning.reader import ReaderRecipe, prepare
from kgqa.types import InputError


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
    found = prepare(settings, recipe.model_copy(update={"store_subgraphs": False}), tmp_path / "none")
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

import json
from pathlib import Path

import pytest

from kgqa.models import meaning
from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.fact_encoder import FactEncoder
from kgqa.trainer.data.mixture import DataSettings
from kgqa.trainer.finetuning.answering_recipe import AnsweringRecipe
from kgqa.trainer.finetuning.preparing import prepare
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
    recipe = AnsweringRecipe(data=[settings], reading=ReadingSettings(max_nodes=16))
    stored = prepare(settings, recipe, tmp_path / "cache")
    found = prepare(settings, recipe.model_copy(update={"store_subgraphs": False}), tmp_path / "none")
    assert stored.subgraphs[0][0].nodes == found.subgraphs[0][0].nodes
    assert list((tmp_path / "cache").iterdir()) and not (tmp_path / "none").exists()


def test_without_a_graph_every_subgraph_is_empty(tmp_path: Path, questions: str) -> None:
    settings = DataSettings(name=questions, graph="none")
    part = prepare(settings, AnsweringRecipe(data=[settings]), tmp_path)
    assert len(part.examples) == 1 and not part.subgraphs[0][0].nodes


def test_what_is_to_be_found_by_meaning_needs_an_index(
    tmp_path: Path, tools_file: Path, questions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Words:
        fingerprint = "words"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(FactEncoder, "load", lambda _name: Words())
    monkeypatch.setattr(meaning, "MADE_AT_ONCE", 0)
    settings = DataSettings(name=questions, graph=str(tools_file))
    recipe = AnsweringRecipe(data=[settings], reading=ReadingSettings(meaning="words"))
    with pytest.raises(InputError, match="kgqa graph index .* --encoder words"):
        prepare(settings, recipe, tmp_path)

from pathlib import Path

import pytest

from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.reader import Reader, save_reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.trainer.finetuning.answering import AnsweringRecipe, train_reader
from kgqa.trainer.finetuning.teaching import load_teacher
from kgqa.types import InputError


@pytest.fixture
def teacher(encoder, tokenizer_folder: Path, tmp_path: Path) -> Path:  # type: ignore[no-untyped-def]
    reader = Reader(encoder, ReasonerSettings(name="text-only"))
    save_reader(reader, tokenizer_folder, tmp_path / "teacher", {"reading": {"max_tokens": 64}})
    return tmp_path / "teacher"


def test_a_teacher_reads_as_it_was_trained(teacher: Path) -> None:
    reader, collator = load_teacher(str(teacher), ReadingSettings())
    assert collator.max_tokens == 64 and reader.settings.name == "text-only"
    with pytest.raises(InputError, match="ablation"):
        load_teacher(str(teacher), ReadingSettings(ablation="shuffled"))


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
    assert train_reader(AnsweringRecipe.model_validate(recipe), tmp_path / "run").steps == 2
    assert '"soft_gate"' in (tmp_path / "run" / "log.jsonl").read_text()
    del recipe["teacher"]
    with pytest.raises(InputError, match="name one in teacher"):
        train_reader(AnsweringRecipe.model_validate(recipe), tmp_path / "other")

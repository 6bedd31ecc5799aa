import json
from pathlib import Path

import pytest

from kgqa.data.datasets.cards import (
    CARD,
    HASHES,
    DataUse,
    card_above,
    known_hashes,
    read_data_card,
    text_hash,
)
from kgqa.types import InputError, Passage, Question
from training.data_cards import hashes_of

TEXT = """about = "two files"
licence = "CC BY 4.0"

[[parts]]
files = "test/*.jsonl"
role = "test"
asks = "one question"
author = "nobody"

[[parts]]
files = "*/*.jsonl"
role = "train"
asks = "another"
author = "nobody"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for split, passage in (("test", "It rained."), ("train", "It snowed.")):
        (tmp_path / split).mkdir()
        row = {"question": "What fell?", "passage": passage, "answers": []}
        (tmp_path / split / "weather.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (tmp_path / CARD).write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_a_file_belongs_to_the_first_part_that_fits(folder: Path) -> None:
    roles = {path.parent.name: part.role for path, part in read_data_card(folder / CARD).files().items()}
    assert roles == {"test": DataUse.TEST, "train": DataUse.TRAIN}


def test_passages_are_hashed_of_what_may_not_be_trained_on(folder: Path) -> None:
    card = read_data_card(folder / CARD)
    known = hashes_of(card)
    assert known["test/weather.jsonl"]["texts"] == [text_hash(Question("?", passage=Passage("it RAINED")))]
    assert list(known) == ["test/weather.jsonl"]
    assert known_hashes(card) == {}
    (folder / HASHES).write_text(json.dumps(known), encoding="utf-8")
    assert known_hashes(card) == known


def test_a_question_without_a_passage_is_known_by_its_own_text() -> None:
    assert text_hash(Question("Can a stone float?")) == text_hash(
        Question("can a stone float", passage=Passage(" "))
    )
    assert text_hash(Question("What?", passage=Passage("A."))) != text_hash(Question("What?"))


def test_the_card_of_a_file_is_found_above_it(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    found = card_above(folder / "test" / "weather.jsonl")
    assert found is not None and found.about == "two files"
    assert card_above(tmp_path_factory.mktemp("other") / "mine.jsonl") is None


def test_a_card_that_is_wrong_says_where(folder: Path) -> None:
    (folder / CARD).write_text(TEXT.replace('role = "test"', 'role = "exam"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"card.toml: parts.0.role"):
        read_data_card(folder / CARD)
    (folder / CARD).write_text("about", encoding="utf-8")
    with pytest.raises(InputError, match="no TOML"):
        read_data_card(folder / CARD)
    (folder / HASHES).write_text("{", encoding="utf-8")
    (folder / CARD).write_text(TEXT, encoding="utf-8")
    with pytest.raises(InputError, match="damaged"):
        known_hashes(read_data_card(folder / CARD))

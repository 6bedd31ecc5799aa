from pathlib import Path

import pytest
from tokenizers import Tokenizer

from kgqa.batch import QABatch
from kgqa.trainer.pretraining import CorpusSettings, grounded_batches, in_turn, passages
from kgqa.types import InputError


def test_sources_take_turns() -> None:
    first, second = [["a"], ["b"], ["c"]], [["x"]]
    assert list(in_turn([iter(first), iter(second)])) == [["a"], ["x"], ["b"], ["c"]]


def test_passages_are_whole_sentences() -> None:
    document = ["one two three", "four five", "six " * 40, "seven"]
    assert list(passages(document, 12)) == ["one two three four five", ("six " * 8), "seven"]
    assert list(passages([], 12)) == []


def data(graph: Path, **changed: object) -> CorpusSettings:
    sizes = {"sequence_tokens": 48, "batch_rows": 4, "passages": 16, "max_nodes": 8, "held_out": 0.2}
    return CorpusSettings.model_validate({"sources": {"x": 1.0}, "graph": str(graph), **sizes, **changed})


def documents() -> list[list[str]]:
    return [[f"On day {n} I wanted to plant flowers.", "So I took a trowel."] for n in range(40)]


def test_text_meets_its_facts(
    tools_file: Path, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    train = grounded_batches(data(tools_file), [iter(documents())], tokenizer, "train", 0)
    batch = train[0]
    assert isinstance(batch, QABatch) and batch.num_questions == 4
    assert len(batch.graph.mention_row) >= 8 and batch.graph.edge_index.shape[1] >= 4
    again = grounded_batches(data(tools_file), [iter(documents())], tokenizer, "train", 0)
    assert (again[5].tokens.input_ids == train[5].tokens.input_ids).all()
    held_out = grounded_batches(data(tools_file), [iter(documents())], tokenizer, "held_out", 0)
    seen = {e.question.passage_text for e in train.parts[0].examples}
    assert not seen & {e.question.passage_text for e in held_out.parts[0].examples}


def test_text_that_names_nothing_is_refused(
    tools_file: Path, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(InputError, match="mentions its concepts"):
        grounded_batches(data(tools_file), [iter([["Nothing here."]] * 9)], tokenizer, "train", 0)

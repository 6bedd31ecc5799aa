from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa import settings
from kgqa.models.dense_retrieval import FactEncoder, open_fact_encoder
from kgqa.types import InputError


def test_vectors_are_unit_and_do_not_depend_on_what_is_read_beside(tokenizer, encoder) -> None:
    torch.manual_seed(0)
    reads = FactEncoder(encoder.eval(), tokenizer)
    texts = ["trowel", "a trowel is used to plant flowers in the garden", "bee"]
    together = reads.encode(texts)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.allclose(together[1], reads.encode(texts[1:2])[0], atol=1e-5)
    assert np.allclose(together[2], reads.encode(texts[2:])[0], atol=1e-5)


def test_of_a_long_text_the_end_is_read(tokenizer, encoder) -> None:
    reads = FactEncoder(encoder.eval(), tokenizer)
    long = "bee " * 300
    first, second = reads.encode([long + "trowel", long + "hive"])
    assert not np.allclose(first, second, atol=1e-4)


@pytest.mark.parametrize("card", ["", "[1]", '{"checksums": 1}', "[" * 100_000])
def test_a_damaged_card_is_told_in_one_line(tmp_path: Path, card: str) -> None:
    for path in (settings.MODELS / settings.FACT_ENCODER).iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "retriever.json").unlink()
    (tmp_path / "retriever.json").write_text(card)
    with pytest.raises(InputError, match=r"(?s)\A[^\n]*copy the (folder|checkpoint) again\Z"):
        FactEncoder.load(tmp_path)


def test_the_shipped_encoder_may_be_missing_and_another_may_not(tmp_path: Path, monkeypatch, caplog) -> None:
    settings.tell_once.cache_clear()
    monkeypatch.setattr(settings, "MODELS", tmp_path)
    monkeypatch.setattr(settings, "entry_points", lambda **_: ())
    assert open_fact_encoder("") is None
    assert open_fact_encoder(settings.FACT_ENCODER) is None
    assert "kgqa-facts is not installed" in caplog.messages[0]
    with pytest.raises(InputError, match="not an encoder"):
        open_fact_encoder(str(tmp_path / "mine"))

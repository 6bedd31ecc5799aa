from pathlib import Path

import pytest

from kgqa.text.corpus.tokenizer import (
    SPECIAL_TOKENS,
    check_special_tokens,
    load_tokenizer,
    save_tokenizer,
    train_tokenizer,
)
from kgqa.types import InputError

LINES = [
    "I dug the ground with a trowel to plant flowers.",
    "Das Gras ist grün und naß.",
    "꽃을 심었다.",
] * 20


@pytest.mark.parametrize("kind", ["wordpiece", "bpe"])
def test_ids_offsets_and_round_trip(kind: str, tmp_path: Path) -> None:
    tokenizer = train_tokenizer(LINES, vocab_size=512, kind=kind)  # type: ignore[arg-type]
    assert tokenizer.get_vocab_size() == 512
    assert [tokenizer.token_to_id(token) for token in SPECIAL_TOKENS] == [0, 1, 2, 3, 4]
    save_tokenizer(tokenizer, tmp_path)
    loaded = load_tokenizer(tmp_path)
    text = "I dug with a Trowel"
    encoded = loaded.encode(text)
    assert encoded.ids == tokenizer.encode(text).ids
    pieces = "".join(text[start:end] for start, end in encoded.offsets)
    assert pieces.replace(" ", "") == text.replace(" ", "")
    pair = loaded.encode("what?", "a trowel")
    assert pair.type_ids[0] == 0 and pair.type_ids[-1] == 1


def test_byte_level_knows_every_character() -> None:
    tokenizer = train_tokenizer(LINES, vocab_size=512, kind="bpe")
    assert 1 not in tokenizer.encode("€ ☂ 葉").ids


def test_hugging_face_loads_it(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = train_tokenizer(LINES, vocab_size=512)
    save_tokenizer(tokenizer, tmp_path, max_tokens=128)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    assert theirs("Dig the ground", "now")["input_ids"] == tokenizer.encode("Dig the ground", "now").ids
    assert (theirs.mask_token_id, theirs.pad_token_id, theirs.model_max_length) == (4, 0, 128)


def test_bad_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="multiple of 64"):
        train_tokenizer(LINES, vocab_size=500)
    with pytest.raises(InputError, match="tokenizer.json"):
        load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(InputError, match="not a tokenizer"):
        load_tokenizer(tmp_path)


def test_special_tokens_elsewhere_are_refused(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models

    check_special_tokens(train_tokenizer(LINES, vocab_size=512), tmp_path)
    pieces = ["[PAD]", *(f"[unused{n}]" for n in range(99)), "[UNK]", "[CLS]", "[SEP]", "[MASK]", "trowel"]
    bert = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    with pytest.raises(InputError, match=r"\[UNK\] is id 100, pretraining needs it as id 1"):
        check_special_tokens(bert, tmp_path)
    with pytest.raises(InputError, match=r"\[PAD\] is missing"):
        check_special_tokens(Tokenizer(models.WordPiece({"<s>": 0}, unk_token="<s>")), tmp_path)

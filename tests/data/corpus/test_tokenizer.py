import json
import shutil
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models

from kgqa.data.corpus import tokenizer as tokenizers_here
from kgqa.data.corpus.tokenizer import (
    SPECIAL_TOKENS,
    check_special_tokens,
    load_tokenizer,
    save_tokenizer,
    train_tokenizer,
)
from kgqa.limits.sandbox import SandboxLimits
from kgqa.settings import MODELS, SMALLER
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
    check_special_tokens(train_tokenizer(LINES, vocab_size=512), tmp_path)
    pieces = ["[PAD]", *(f"[unused{n}]" for n in range(99)), "[UNK]", "[CLS]", "[SEP]", "[MASK]", "trowel"]
    bert = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    with pytest.raises(InputError, match=r"\[UNK\] is id 100, pretraining needs it as id 1"):
        check_special_tokens(bert, tmp_path)
    with pytest.raises(InputError, match=r"\[PAD\] is missing"):
        check_special_tokens(Tokenizer(models.WordPiece({"<s>": 0}, unk_token="<s>")), tmp_path)


HOSTILE: dict[str, dict[str, object]] = {
    "a panic when it is loaded": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
    "a panic when it reads": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "BAAAAP////8="}},
    "a template of what is not there": {
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "[X]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {},
        }
    },
    "an expression that goes back for ever": {
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": r"(?:a|aa)+\1?$(?<!a)|((a+)+)+b"},
            "behavior": "Isolated",
            "invert": False,
        }
    },
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_a_tokenizer_that_ends_whoever_reads_with_it_is_refused_in_one_line(
    change: dict[str, object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tokenizers_here, "_TRYING", SandboxLimits(time_s=10))
    whole = json.loads(train_tokenizer(LINES, vocab_size=512).to_str())
    (tmp_path / "tokenizer.json").write_text(json.dumps({**whole, **change}))
    with pytest.raises(InputError, match=r"(?s)\A[^\n]*tokenizer\.json: [^\n]*\Z"):
        load_tokenizer(tmp_path)
    assert "panicked" not in capfd.readouterr().err


def test_a_tokenizer_that_ends_its_process_ends_a_child_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizers_here, "_TRYING", SandboxLimits(memory_bytes=1 << 30, time_s=8))
    whole = json.loads(train_tokenizer(LINES, vocab_size=512).to_str())
    longer = {"type": "Replace", "pattern": {"String": "a"}, "content": "x" * 2_000_000}
    (tmp_path / "tokenizer.json").write_text(json.dumps({**whole, "normalizer": longer}))
    with pytest.raises(InputError, match="exhausts its reader|not read within"):
        load_tokenizer(tmp_path)


def test_a_tokenizer_is_tried_once_and_a_shipped_one_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(
        tokenizers_here, "run_sandboxed", lambda task, subject, *_, **__: tried.append(subject)
    )
    monkeypatch.setattr(tokenizers_here, "_SOUND", set())
    save_tokenizer(train_tokenizer(LINES, vocab_size=512), tmp_path / "first")
    for name in ("first", shutil.copytree(tmp_path / "first", tmp_path / "copy").name):
        load_tokenizer(tmp_path / name)
    load_tokenizer(MODELS / SMALLER)
    assert tried == [str(tmp_path / "first" / "tokenizer.json")]

"""Tokenizers with character offsets, trained here and saved in the format of Hugging Face's AutoTokenizer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from kgqa.limits.cancellation import report_panics
from kgqa.limits.sandbox import SandboxLimits, run_sandboxed
from kgqa.settings import is_shipped, write_whole
from kgqa.types import InputError, report_damage

PAD, UNK, CLS, SEP, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
SPECIAL_TOKENS = (PAD, UNK, CLS, SEP, MASK)
"""In the order of their ids, 0 to 4, for every type of tokenizer."""

TokenizerType = Literal["wordpiece", "bpe"]
TEST_TEXTS = (
    *(
        "",
        " ",
        "What did I dig with?",
        "I'd said: 3,141 x 10^5 (don't!)\n\n\t…",
        "Ünïcödé ﬁ Ⅷ 한글 漢字 عربي 🙂\u200d🙂",
    ),
    *(unit * 2_000 for unit in ("a", " ", "1", ".", "ab ", "\u0301")),
)
"""Texts on which an untrusted tokenizer is tested in a subprocess; the last ones provoke catastrophic backtracking."""
_TRYING = SandboxLimits(memory_bytes=4 << 30, time_s=60)
_SOUND: set[bytes] = set()
"""Hashes of the tokenizers that passed the test in a subprocess of this process."""


def train_tokenizer(
    lines: Iterable[str], *, vocab_size: int = 8192, kind: TokenizerType = "wordpiece", lowercase: bool = True
) -> Tokenizer:
    """Train a tokenizer with exactly `vocab_size` tokens, so that the embedding has a round size.

    `wordpiece` is BERT's (Devlin et al., 2019); `bpe` is byte-level BPE, RoBERTa's and GPT-2's (Radford et
    al., 2019, section 2.2), which can encode every character. If the text is too small for the vocabulary, unused
    tokens fill it up. The library breaks ties at random, so training again gives another tokenizer: keep it.
    """
    if vocab_size % 64 or vocab_size < 320:
        raise InputError(f"vocab_size={vocab_size}: use a multiple of 64, at least 320, such as 8192")
    options: dict[str, Any] = {
        "vocab_size": vocab_size,
        "special_tokens": list(SPECIAL_TOKENS),
        "show_progress": False,
    }
    trainer: trainers.Trainer
    if kind == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token=UNK))
        steps: list[normalizers.Normalizer] = [normalizers.BertNormalizer(lowercase=lowercase)]
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece()
        trainer = trainers.WordPieceTrainer(limit_alphabet=min(400, vocab_size // 4), **options)
    else:
        tokenizer = Tokenizer(models.BPE(unk_token=UNK))
        steps = [normalizers.NFC(), *([normalizers.Lowercase()] if lowercase else [])]
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **options)
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.train_from_iterator(lines, trainer)
    missing = vocab_size - tokenizer.get_vocab_size()
    tokenizer.add_tokens([f"[unused{number}]" for number in range(missing)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{CLS} $A {SEP}",
        pair=f"{CLS} $A {SEP} $B:1 {SEP}:1",
        special_tokens=[(CLS, tokenizer.token_to_id(CLS)), (SEP, tokenizer.token_to_id(SEP))],
    )
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path, max_tokens: int = 512) -> None:
    """Write `tokenizer.json` and `tokenizer_config.json`, which `AutoTokenizer.from_pretrained` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": max_tokens,
        "pad_token": PAD,
        "unk_token": UNK,
        "cls_token": CLS,
        "sep_token": SEP,
        "mask_token": MASK,
        "bos_token": CLS,
        "eos_token": SEP,
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
    }
    write_whole(folder / "tokenizer.json", tokenizer.to_str(pretty=False))
    write_whole(folder / "tokenizer_config.json", json.dumps(config, indent=2) + "\n")


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of any Hugging Face folder, without padding or truncation.

    One that is not shipped is tested in a subprocess first (once per process and content), since a malicious file
    can abort the process that loads it or keep it busy for ever.
    """
    path = Path(folder) / "tokenizer.json"
    if not path.is_file():
        raise InputError(
            f"{folder}: holds no tokenizer.json; transformers writes it: "
            "AutoTokenizer.from_pretrained(...).save_pretrained(...)"
        )
    content = path.read_bytes()
    key = blake2b(content, digest_size=16).digest()
    if key not in _SOUND and not is_shipped(path.parent):
        run_sandboxed(f"{__name__}:try_tokenizer", str(path), _TRYING, content, path=str(path))
        _SOUND.add(key)
    return _read(str(path), content)


def _read(path: str, content: bytes) -> Tokenizer:
    with report_damage(f"{path}: not a tokenizer", "save it again"), report_panics(path, "save it again"):
        tokenizer = Tokenizer.from_buffer(content)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer


def try_tokenizer(content: bytes, path: str) -> None:
    """In a subprocess: tokenize texts of many shapes, alone and in pairs. Raises InputError if the tokenizer fails."""
    tokenizer = _read(path, content)
    again = "save it again"
    with report_damage(f"{path}: cannot read a text", again), report_panics(path, again):
        for text in TEST_TEXTS:
            tokenizer.encode(text)
            tokenizer.encode(text, "and this", add_special_tokens=False)


def check_special_tokens(tokenizer: Tokenizer, folder: Path) -> None:
    """Check that the special tokens have the ids that pretraining expects."""
    for number, token in enumerate(SPECIAL_TOKENS):
        found = tokenizer.token_to_id(token)
        if found != number:
            place = "missing" if found is None else f"id {found}"
            raise InputError(
                f"{folder}: {token} is {place}, pretraining needs it as id {number}; take a tokenizer of kgqa, "
                "or leave out tokenizer.folder and have one trained"
            )

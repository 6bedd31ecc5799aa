"""multilingual-e5-small's file is read as it is laid out; a tiny one is written here."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa.data.corpus.tokenizer import load_tokenizer
from kgqa.types import InputError
from training.e5_file import BLANK, SPECIAL, from_blocks, kept_pieces, read_e5, to_hugging_face

WIDTH, INNER, POSITIONS = 32, 64, 16
PIECES = (*SPECIAL, BLANK, f"{BLANK}땅", "을", f"{BLANK}dig", f"{BLANK}พ", "?", "<mask>")
SHAPES = {"q": WIDTH, "k": WIDTH, "v": WIDTH, "ao": WIDTH, "fi": INNER, "fo": WIDTH}
draw = np.random.default_rng(5)


def blocks(count: int) -> bytes:
    """Random numbers in blocks of 32."""
    made = b""
    for _ in range(count // 32):
        made += struct.pack("<e", draw.uniform(-0.1, 0.1)) + draw.integers(0, 256, 16, np.uint8).tobytes()
    return made


def tensors() -> dict[str, tuple[int, int, bytes]]:
    """Name to kind, count and bytes."""

    def floats(count: int) -> tuple[int, int, bytes]:
        return 0, count, draw.normal(size=count).astype("<f4").tobytes()

    def packed(count: int) -> tuple[int, int, bytes]:
        return 1, count, blocks(count)

    made = {"emb.word": packed(len(PIECES) * WIDTH), "emb.pos": floats(POSITIONS * WIDTH)}
    made |= {"emb.type": floats(2 * WIDTH), "emb.ln.w": floats(WIDTH), "emb.ln.b": floats(WIDTH)}
    for part, rows in SHAPES.items():
        columns = INNER if part == "fo" else WIDTH
        made |= {f"l0.{part}.w": packed(rows * columns), f"l0.{part}.b": floats(rows)}
    for part in ("aln", "oln"):
        made |= {f"l0.{part}.w": floats(WIDTH), f"l0.{part}.b": floats(WIDTH)}
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of one layer and a handful of pieces."""
    texts = [piece.encode() for piece in PIECES]
    starts = np.cumsum([0, *map(len, texts)]).astype("<u4")
    head = b"E5S1" + struct.pack("<8ifi", 1, WIDTH, 1, 4, INNER, len(PIECES), POSITIONS, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(starts[-1]))
    head += starts.tobytes() + np.linspace(0, -9, len(PIECES)).astype("<f4").tobytes() + b"".join(texts)
    head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 0xA0, 1, 0x20)
    made = tensors()
    size = len(head) + 4 + sum(2 + len(name) + 1 + 4 + 8 + 8 for name in made)
    table, body = struct.pack("<i", len(made)), b""
    for name, (kind, count, data) in made.items():
        output = name.encode()
        table += struct.pack("<H", len(output)) + output
        table += struct.pack("<BIQQ", kind, count, size + len(body), len(data))
        body += data
    (tmp_path / "e5.bin").write_bytes(head + table + body)
    return tmp_path / "e5.bin"


def test_a_block_is_a_scale_and_32_halves_of_a_byte() -> None:
    stored = struct.pack("<e", 0.5) + bytes([0x80, 0x19, *[0x88] * 14])
    found = from_blocks(stored)
    assert found[:2].tolist() == [-4.0, 0.5] and found[16:18].tolist() == [0.0, -3.5]
    assert not found[2:16].any() and not found[18:].any()


def test_the_folder_is_read_by_transformers(path: Path, tmp_path: Path) -> None:
    from transformers import AutoModel

    read = read_e5(path)
    to_hugging_face(path, tmp_path)
    model = AutoModel.from_pretrained(tmp_path, dtype=torch.float32).eval()
    rows = kept_pieces(read.pieces, read.scores)
    assert [read.pieces[row] for row in rows] == [*SPECIAL, BLANK, f"{BLANK}땅", "을", f"{BLANK}dig", "?"]
    words = model.get_input_embeddings().weight
    assert torch.allclose(words, read.weights["embeddings.word_embeddings.weight"][rows], atol=1e-3)
    tokenizer = load_tokenizer(tmp_path)
    encoding = tokenizer.encode("땅을\tdig?")
    assert encoding.tokens == ["<s>", f"{BLANK}땅", "을", f"{BLANK}dig", "?", "</s>"]
    assert encoding.offsets[1:-1] == [(0, 1), (1, 2), (2, 6), (6, 7)]
    states = model(input_ids=torch.tensor([encoding.ids])).last_hidden_state
    assert states.shape == (1, 6, WIDTH) and states.isfinite().all()


@pytest.mark.parametrize("damage", [lambda data: data[:900], lambda data: b"GGUF" + data[4:]])
def test_a_damaged_file_is_told(path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match="fetch it again"):
        read_e5(path)

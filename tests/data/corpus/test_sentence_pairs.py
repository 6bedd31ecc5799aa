from pathlib import Path

import numpy as np
import pytest

from kgqa.data.corpus.shards import Corpus, PairMaker, write_corpus
from kgqa.data.corpus.tokenizer import train_tokenizer
from kgqa.types import InputError


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    words = [f"w{n}" for n in range(40)]
    documents = [[f"{words[n]} {words[m]} speaks." for m in range(6)] for n in range(40)]
    tokenizer = train_tokenizer((s for d in documents for s in d), vocab_size=320)
    return write_corpus({"all": documents}, tokenizer, tmp_path / "c", held_out=0.0)


@pytest.mark.parametrize("task", ["nsp", "sop"])
def test_pairs_are_well_formed_and_repeat(corpus: Corpus, task: str) -> None:
    maker = PairMaker(corpus, task, length=24)  # type: ignore[arg-type]
    rows = maker.rows(64, seed=1, step=7)
    again = maker.rows(64, seed=1, step=7)
    assert all((a == b).all() for a, b in zip(rows, again, strict=True))
    assert 10 < rows.label.sum() < 54
    assert ((rows.input_ids == corpus.sep).sum(1) == 2).all()
    assert (rows.input_ids[:, 0] == corpus.cls).all()
    assert ((rows.input_ids > 0) == rows.attention_mask).all()
    assert (rows.token_type_ids.sum(1) > 1).all()


def test_true_pairs_stand_together_in_the_text(corpus: Corpus) -> None:
    stream = "".join(chr(i + 64) for i in corpus.tokens())
    for task in ("nsp", "sop"):
        rows = PairMaker(corpus, task, length=64).rows(40, seed=0, step=0)  # type: ignore[arg-type]
        for ids, label in zip(rows.input_ids, rows.label, strict=True):
            first, second, _ = np.split(ids, np.flatnonzero(ids == corpus.sep) + 1)
            a, b = ("".join(chr(i + 64) for i in part[:-1]) for part in (first[1:], second))
            assert ((a + b) in stream) == (label == 0)
            if task == "sop" and label:
                assert (b + a) in stream


def test_long_sentences_fit(corpus: Corpus) -> None:
    rows = PairMaker(corpus, "sop", length=9).rows(32, 0, 0)
    assert rows.input_ids.shape == (32, 9) and ((rows.input_ids == corpus.sep).sum(1) == 2).all()


def test_lonely_sentences_are_refused(tmp_path: Path) -> None:
    documents = [[f"only {n} one"] for n in range(20)]
    tokenizer = train_tokenizer((d[0] for d in documents), vocab_size=320)
    corpus = write_corpus({"all": documents}, tokenizer, tmp_path / "c", held_out=0.0)
    with pytest.raises(InputError, match="two sentences"):
        PairMaker(corpus, "nsp", 24)


def best_rule(length: np.ndarray, label: np.ndarray) -> float:
    """Accuracy of the best threshold on the length of a row."""
    order = np.argsort(length, kind="stable")
    right = np.concatenate([[0], np.cumsum(np.where(label[order] == 1, 1, -1))]) + (label == 0).sum()
    ends = np.append(np.diff(length[order]) > 0, True)  # a rule cannot part equal lengths
    right = right[np.concatenate([[True], ends])]
    return max(right.max(), len(label) - right.min()) / len(label)


@pytest.mark.parametrize(("length", "unit"), [(48, "segments"), (256, "segments"), (48, "sentences")])
def test_the_length_of_a_row_does_not_tell_whether_the_second_follows(
    length: int, unit: str, tmp_path: Path
) -> None:
    draw = np.random.default_rng(0)
    words = [f"w{n}" for n in range(30)]
    documents = [
        [" ".join(draw.choice(words, draw.integers(2, 14))) + "." for _ in range(draw.integers(2, 25))]
        for _ in range(300)
    ]
    tokenizer = train_tokenizer((s for d in documents for s in d), vocab_size=320)
    corpus = write_corpus({"all": documents}, tokenizer, tmp_path / "c", held_out=0.0)
    maker = PairMaker(corpus, "nsp", length, unit=unit)  # type: ignore[arg-type]
    rows = maker.rows(3000, seed=0, step=0)
    assert best_rule(rows.attention_mask.sum(1), rows.label) < 0.54
    assert best_rule(rows.token_type_ids.sum(1), rows.label) < 0.54


def test_single_sentences_make_pairs(corpus: Corpus) -> None:
    rows = PairMaker(corpus, "nsp", 64, unit="sentences").rows(32, 0, 0)
    sizes = set(np.diff(np.append(corpus.sentences(), len(corpus.tokens()))).tolist())
    for ids in rows.input_ids:
        first, second, _ = np.split(ids, np.flatnonzero(ids == corpus.sep) + 1)
        assert {len(first) - 2, len(second) - 1} <= sizes

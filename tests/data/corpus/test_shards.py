from pathlib import Path

import numpy as np
import pytest
import zstandard

from kgqa.data.corpus.shards import Corpus, is_document_held_out, read_documents, write_corpus
from kgqa.data.corpus.tokenizer import train_tokenizer
from kgqa.types import InputError

TEXT = 'I dug a hole. It was deep! "Why?" she asked.\nA new line.\n\nSecond document here.\n'


def many(count: int = 60) -> list[list[str]]:
    return [[f"document {n} tells of a garden.", f"its number is {n}.", "the end."] for n in range(count)]


@pytest.fixture(scope="module")
def tokenizer():  # type: ignore[no-untyped-def]
    return train_tokenizer((s for d in many() for s in d), vocab_size=320)


def test_documents_plain_and_compressed(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.txt", tmp_path / "a.txt.zst"
    plain.write_text(TEXT)
    packed.write_bytes(zstandard.compress(TEXT.encode()))
    expected = [
        ["I dug a hole.", "It was deep!", '"Why?" she asked.', "A new line."],
        ["Second document here."],
    ]
    assert list(read_documents(plain)) == list(read_documents(packed)) == expected


def test_shards_keep_every_token_in_order(tmp_path: Path, tokenizer) -> None:  # type: ignore[no-untyped-def]
    corpus = write_corpus({"garden": many()}, tokenizer, tmp_path / "c", held_out=0.2, shard_tokens=300)
    assert len(corpus.manifest["splits"]["train"]["shards"]) > 1
    train = [d for d in many() if not is_document_held_out(d, 0.2)]
    ids = [i for d in train for s in d for i in tokenizer.encode(s, add_special_tokens=False).ids]
    assert corpus.tokens().tolist() == ids
    assert 0 < len(corpus.tokens("held_out")) < len(ids)
    assert len(corpus.documents()) == len(train) and len(corpus.sentences()) == 3 * len(train)
    rows = Corpus(tmp_path / "c").rows(16)
    assert (rows[:, 0] == 2).all() and (rows[:, -1] == 3).all()
    assert rows[:, 1:-1].ravel().tolist() == ids[: rows[:, 1:-1].size]
    assert corpus.manifest["sources"]["garden"]["documents"] == 60


def test_document_rows_end_with_their_document(tmp_path: Path, tokenizer) -> None:  # type: ignore[no-untyped-def]
    corpus = write_corpus({"garden": many()}, tokenizer, tmp_path / "c")
    rows = corpus.rows(16, documents=True)
    assert np.isin(rows[rows > 3], corpus.tokens()).all()
    assert int((rows > 4).sum()) == int((corpus.tokens() > 4).sum())
    assert (rows[:, 0] == 2).all() and ((rows == 3).sum(1) == 1).all()


def test_held_out_never_changes_sides() -> None:
    documents = many(4000)
    share = np.mean([is_document_held_out(d, 0.05) for d in documents])
    assert 0.03 < share < 0.07
    assert [is_document_held_out(d) for d in documents] == [is_document_held_out(list(d)) for d in documents]


def test_bad_input_is_named(tmp_path: Path, tokenizer) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match="no such text file"):
        list(read_documents(tmp_path / "no.txt"))
    (tmp_path / "latin.txt").write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(InputError, match="line .*UTF-8"):
        list(read_documents(tmp_path / "latin.txt"))
    with pytest.raises(InputError, match="empty"):
        write_corpus({"none": []}, tokenizer, tmp_path / "c")
    with pytest.raises(InputError, match="no corpus"):
        Corpus(tmp_path)
    with pytest.raises(InputError, match="not empty"):
        write_corpus({"garden": many()}, tokenizer, tmp_path)
    assert (tmp_path / "latin.txt").exists()
    corpus = write_corpus({"garden": many()}, tokenizer, tmp_path / "c")
    shard = tmp_path / "c" / corpus.manifest["splits"]["train"]["shards"][0]
    shard.write_bytes(shard.read_bytes()[:100])
    with pytest.raises(InputError, match="write the corpus again"):
        corpus.tokens()


@pytest.mark.parametrize("kind", ["wordpiece", "bpe"])
def test_words_of_a_concept_are_joined(kind, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    output = [
        ["A garden\u00a0spade is used for digging\u00a0deep\u00a0holes."],
        ["Plain text of a garden."],
    ] * 20
    plain = [[s.replace("\u00a0", " ") for s in d] for d in output]
    made = train_tokenizer((s for d in plain for s in d), vocab_size=320, kind=kind)
    corpus = write_corpus({"facts": output}, made, tmp_path / "c", held_out=0)
    assert (
        corpus.tokens().tolist()
        == write_corpus({"x": plain}, made, tmp_path / "d", held_out=0).tokens().tolist()
    )
    tokens, joined = corpus.tokens(), corpus.joined()
    begins = {made.decode([int(t)]).strip()[:1] for t in tokens[joined]}
    assert begins == {"s", "d", "h"} and joined.sum() == 20 * 3
    for rows, flags in (
        (corpus.rows(16), corpus.joined_rows(16)),
        (corpus.rows(16, documents=True), corpus.joined_rows(16, documents=True)),
    ):
        assert rows.shape == flags.shape and set(rows[flags]) == set(tokens[joined])

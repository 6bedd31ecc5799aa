"""Corpora as shards of token ids on disk, pairs of segments drawn from them for NSP and SOP, and verbalized facts."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kgqa.data.corpus.tokenizer import CLS, SEP, save_tokenizer
from kgqa.data.files import read_lines
from kgqa.settings import write_whole
from kgqa.types import InputError, Triple
from kgqa.verbalize.fact_sentences import corpus_sentence, corpus_templates

T = TypeVar("T")
Document = list[str]
"""Sentences (or lines) in order."""

_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]*[A-Z0-9])")
SPLITS = ("train", "held_out")
FACT_SENTENCES = 6
"""Maximum number of facts in a document."""
JOINT = "\u00a0"
"""Character for the space between two words of one concept; it sets `joined` and is not a token itself."""


def thinned(stream: Iterable[T], share: float) -> Iterator[T]:
    """An evenly spaced share of the items.

    >>> list(thinned(range(6), 0.5))
    [1, 3, 5]
    """
    due = 0.0
    for item in stream:
        due += share
        if due >= 1.0:
            due -= 1.0
            yield item


def read_documents(path: Path) -> Iterator[Document]:
    """Documents of a text file (`.txt` or `.txt.zst`): one paragraph per line, a blank line between documents."""
    document: Document = []
    for raw in read_lines(path):
        line = raw.strip()
        if line:
            document.extend(_SENTENCE.split(line))
        elif document:
            yield document
            document = []
    if document:
        yield document


def find_text(folder: Path, name: str) -> Path:
    """The text file called `name` in a folder: its full name, or without `.txt` or `.txt.zst`."""
    candidates = [folder / f"{name}{ending}" for ending in ("", ".txt", ".txt.zst")]
    return next((path for path in candidates if path.is_file()), candidates[-1])


def is_document_held_out(document: Document, share: float = 0.005) -> bool:
    """Whether a document is held out for evaluation, by a hash of its text, so that it never changes its split."""
    return zlib.crc32("\n".join(document).encode()) < share * 2**32


def write_corpus(
    sources: Mapping[str, Iterable[Document]],
    tokenizer: Tokenizer,
    folder: Path,
    *,
    held_out: float = 0.005,
    shard_tokens: int = 1 << 24,
    made_of: Mapping[str, object] | None = None,
) -> Corpus:
    """Tokenize documents into shards of uint16 ids: one stream per split, with indices of documents and sentences.

    The folder is written atomically. `manifest.json` counts tokens and documents of each source and keeps `made_of`
    unchanged; the tokenizer is stored beside it.
    """
    if tokenizer.get_vocab_size() > 1 << 16:
        raise InputError(
            "a vocabulary of more than 65,536 tokens does not fit the shards; train a smaller one"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: not empty, and not a corpus; name another folder")
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    writers = {split: _ShardWriter(part, split, shard_tokens) for split in SPLITS}
    counts: dict[str, dict[str, int]] = {}
    for name, documents in sources.items():
        count = counts.setdefault(name, {"documents": 0, "tokens": 0, "held_out_tokens": 0})
        coming = iter(documents)
        while batch := list(islice(coming, 64)):
            plain = [s.replace(JOINT, " ") for d in batch for s in d]
            encoded = iter(tokenizer.encode_batch_fast(plain, add_special_tokens=False))
            for document in batch:
                split = "held_out" if is_document_held_out(document, held_out) else "train"
                joined = [_joined(sentence, tokenizer) for sentence in document]
                size = writers[split].add([next(encoded).ids for _ in document], joined)
                count["documents"] += 1
                count["tokens" if split == "train" else "held_out_tokens"] += size
    manifest = {
        "vocab_size": tokenizer.get_vocab_size(),
        "cls": tokenizer.token_to_id(CLS),
        "sep": tokenizer.token_to_id(SEP),
        "sources": counts,
        "made_of": dict(made_of or {}),
        "splits": {split: writer.close() for split, writer in writers.items()},
    }
    if not writers["train"].total:
        raise InputError("the corpus is empty: its sources contain no training text")
    save_tokenizer(tokenizer, part)
    write_whole(part / "manifest.json", json.dumps(manifest, indent=2) + "\n")
    if folder.exists():
        folder.rmdir()  # it is empty
    os.replace(part, folder)
    return Corpus(folder)


def _joined(sentence: str, tokenizer: Tokenizer) -> list[int]:
    """Flags (0 or 1) of the tokens that begin another word of the same concept."""
    if JOINT not in sentence:
        return []
    offsets = tokenizer.encode(sentence.replace(JOINT, " "), add_special_tokens=False).offsets
    # a byte-level BPE token includes the space before its word, a WordPiece token does not
    return [i for i, (a, b) in enumerate(offsets) if b > a and JOINT in sentence[max(a - 1, 0) : a + 1]]


class _ShardWriter:
    """Writes one split to disk."""

    def __init__(self, folder: Path, split: str, shard_tokens: int) -> None:
        self.folder, self.split, self.shard_tokens = folder, split, shard_tokens
        self.total = 0
        self._tokens: list[int] = []
        self._sentences: list[int] = []
        self._documents: list[int] = []
        self._joined: list[int] = []
        self._shards: list[str] = []

    def add(self, sentences: list[list[int]], joined: list[list[int]]) -> int:
        before = self.total
        self._documents.append(len(self._sentences))
        for sentence, places in zip(sentences, joined, strict=True):
            if sentence:
                self._joined.extend(self.total + place for place in places)
                self._sentences.append(self.total)
                self._tokens.extend(sentence)
                self.total += len(sentence)
        if len(self._tokens) >= self.shard_tokens:
            self._flush()
        return self.total - before

    def _flush(self) -> None:
        name = f"{self.split}-{len(self._shards):05d}.bin"
        np.asarray(self._tokens, dtype="<u2").tofile(self.folder / name)
        self._shards.append(name)
        self._tokens = []

    def close(self) -> dict[str, object]:
        if self._tokens:
            self._flush()
        np.save(self.folder / f"{self.split}-sentences.npy", np.asarray(self._sentences, dtype=np.int64))
        np.save(self.folder / f"{self.split}-documents.npy", np.asarray(self._documents, dtype=np.int64))
        if self._joined:
            np.save(self.folder / f"{self.split}-joined.npy", np.asarray(self._joined, dtype=np.int64))
        return {"tokens": self.total, "documents": len(self._documents), "shards": self._shards}


class Corpus:
    """A corpus on disk. The shards are memory-mapped, so that a corpus of any size opens at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        path = self.folder / "manifest.json"
        if not path.is_file():
            raise InputError(f"{folder}: contains no corpus (manifest.json); write it with `kgqa pretrain`")
        self.manifest = json.loads(path.read_text(encoding="utf-8"))
        self.vocab_size = int(self.manifest["vocab_size"])
        self.cls, self.sep = int(self.manifest["cls"]), int(self.manifest["sep"])

    def tokens(self, split: str = "train") -> NDArray[np.uint16]:
        """The token stream of a split: one memory-mapped shard, or several concatenated."""
        entry = self.manifest["splits"][split]
        shards = [self._shard(name) for name in entry["shards"]]
        stream = shards[0] if len(shards) == 1 else np.concatenate([np.empty(0, dtype="<u2"), *shards])
        if len(stream) != entry["tokens"]:
            raise InputError(
                f"{self.folder}: {len(stream)} tokens of {entry['tokens']}; write the corpus again"
            )
        return stream

    def _shard(self, name: str) -> NDArray[np.uint16]:
        path = self.folder / name
        if not path.is_file():
            raise InputError(f"{path}: shard is missing; write the corpus again")
        return np.memmap(path, dtype="<u2", mode="r")

    def sentences(self, split: str = "train") -> NDArray[np.int64]:
        """Index of the first token of each sentence in the stream."""
        places: NDArray[np.int64] = np.load(self.folder / f"{split}-sentences.npy")
        return places

    def documents(self, split: str = "train") -> NDArray[np.int64]:
        """Index of the first sentence of each document."""
        places: NDArray[np.int64] = np.load(self.folder / f"{split}-documents.npy")
        return places

    def joined(self, split: str = "train") -> NDArray[np.bool_]:
        """Whether each token of the stream begins another word of the same concept (in verbalized facts)."""
        flags = np.zeros(int(self.manifest["splits"][split]["tokens"]), dtype=np.bool_)
        path = self.folder / f"{split}-joined.npy"
        if path.is_file():
            flags[np.load(path)] = True
        return flags

    def rows(self, length: int, split: str = "train", documents: bool = False) -> NDArray[np.uint16]:
        """The split as rows (n, length) of [CLS] text [SEP].

        Packed across documents without padding, RoBERTa's FULL-SENTENCES (Liu et al., 2019, section 4.2) without its
        extra separator; with `documents` no row crosses a document boundary, and rows are padded with id 0: RoBERTa's
        DOC-SENTENCES.
        """
        return self._laid_out(self.tokens(split), length, split, documents, self.cls, self.sep)

    def joined_rows(self, length: int, split: str = "train", documents: bool = False) -> NDArray[np.bool_]:
        """`joined` in the layout of `rows`."""
        return self._laid_out(self.joined(split), length, split, documents, 0, 0)

    def _laid_out(
        self, stream: NDArray[Any], length: int, split: str, documents: bool, first: int, last: int
    ) -> NDArray[Any]:
        body = length - 2
        if not documents:
            count = len(stream) // body
            rows = np.empty((count, length), dtype=stream.dtype)
            rows[:, 0], rows[:, -1] = first, last
            rows[:, 1:-1] = stream[: count * body].reshape(count, body)
            return rows
        begins = np.append(self.sentences(split), len(stream))
        borders = np.append(begins[self.documents(split)], len(stream))
        cuts = [
            (place, min(place + body, int(end)))
            for start, end in zip(borders[:-1], borders[1:], strict=True)
            for place in range(int(start), int(end), body)
        ]
        rows = np.zeros((len(cuts), length), dtype=stream.dtype)
        for row, (start, end) in zip(rows, cuts, strict=True):
            row[0], row[1 : 1 + end - start], row[1 + end - start] = first, stream[start:end], last
        return rows


# Pairs of text segments for NSP and SOP, drawn on the fly from a corpus on disk.

PairTask = Literal["nsp", "sop"]
Unit = Literal["segments", "sentences"]
LOOKED_AT = 1024
"""Number of sentences searched for the second segment of a negative pair."""


class PairRows(NamedTuple):
    """Rows of [CLS] first [SEP] second [SEP], padded."""

    input_ids: NDArray[np.int64]  # (B, T)
    attention_mask: NDArray[np.bool_]  # (B, T)
    token_type_ids: NDArray[np.int64]  # (B, T)
    label: NDArray[np.int64]  # (B,) 1: the second segment does not follow the first


class PairMaker:
    """Draws pairs of segments as a pure function of (seed, step).

    A pair is a run of sentences of one document, cut in two at a random sentence; with `sentences` it is two single
    sentences (Liu et al., 2019, section 4.2). In half of the pairs the second segment comes from another document
    (`nsp`; Devlin et al., 2019, appendix A.2) or the two are swapped (`sop`; Lan et al., 2020, section 3.1). A segment
    from another document is a run of whole sentences with as many tokens as the one it replaces, so that neither the
    length of a row nor its last token gives the label away.
    """

    def __init__(
        self, corpus: Corpus, task: PairTask, length: int, split: str = "train", unit: Unit = "segments"
    ) -> None:
        self.corpus, self.task, self.length, self.unit = corpus, task, length, unit
        self.tokens = corpus.tokens(split)
        self.begins = np.append(corpus.sentences(split), len(self.tokens))
        first = np.append(corpus.documents(split), len(self.begins) - 1)
        self._ends = first[1:]  # end of each document, as an index of sentences
        counts = np.diff(first)
        usable = np.flatnonzero(counts >= 2)
        if not len(usable):
            raise InputError(f"{corpus.folder}: no document of two sentences in {split}; pairs need them")
        self.documents = np.stack([first[usable], first[usable + 1]], axis=1)  # half-open range of sentences
        self._weights = counts[usable] / counts[usable].sum()

    def rows(self, count: int, seed: int, step: int) -> PairRows:
        """The `count` pairs of a training step."""
        draw, shape = np.random.default_rng([seed, step]), (count, self.length)
        ids, kinds = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        made = PairRows(ids, np.zeros(shape, dtype=np.bool_), kinds, draw.integers(0, 2, count))
        for row, number in enumerate(draw.choice(len(self.documents), count, p=self._weights)):
            first, second = self._segments(number, draw)
            if made.label[row]:
                if self.task == "sop":
                    first, second = second, first
                else:
                    second = self._elsewhere(number, len(second), draw)
            first, second = self._fit(first, second)
            parts = [self.corpus.cls, *first, self.corpus.sep, *second, self.corpus.sep]
            made.input_ids[row, : len(parts)] = parts
            made.attention_mask[row, : len(parts)] = True
            made.token_type_ids[row, len(first) + 2 : len(parts)] = 1
        return made

    def _elsewhere(self, number: int, size: int, draw: np.random.Generator) -> NDArray[Any]:
        """A run of sentences of another document with `size` tokens, or as close to that as can be found.

        The runs that begin at the `LOOKED_AT` sentences after a random one compete; the first of the closest wins.
        """
        sentences = len(self.begins) - 1
        starts = (int(draw.integers(0, sentences)) + np.arange(min(LOOKED_AT, sentences))) % sentences
        ends = np.searchsorted(self._ends, starts, side="right")  # the document of each
        ends = self._ends[ends]
        own, own_end = self.documents[number]
        far = np.searchsorted(self.begins, self.begins[starts] + size, side="left")
        if self.unit == "sentences":
            far = starts + 1
        # the longest shorter run, and the shortest that is long enough
        stops = np.concatenate([far - 1, far])
        starts, ends = np.tile(starts, 2), np.tile(ends, 2)
        stops = np.clip(stops, starts + 1, ends)
        apart = np.abs(self.begins[stops] - self.begins[starts] - size)
        if len(self.documents) > 1:
            apart = np.where((starts >= own) & (starts < own_end), np.iinfo(np.int64).max, apart)
        best = int(apart.argmin())
        return self.tokens[int(self.begins[starts[best]]) : int(self.begins[stops[best]])]

    def _segments(self, number: int, draw: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        start, end = self.documents[number]
        begin = int(draw.integers(start, end - 1))
        if self.unit == "sentences":
            one, two, three = (int(self.begins[begin + turn]) for turn in range(3))
            return self.tokens[one:two], self.tokens[two:three]
        room = int(self.begins[begin]) + self.length - 3
        stop = max(int(np.searchsorted(self.begins, room, side="right")) - 1, begin + 2)
        stop = min(stop, int(end))
        cut = int(draw.integers(begin + 1, stop))
        one, two, three = (int(self.begins[place]) for place in (begin, cut, stop))
        return self.tokens[one:two], self.tokens[two:three]

    def _fit(self, first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        room = self.length - 3
        over = len(first) + len(second) - room
        if over > 0:
            keep = max(min(len(first), room - min(len(second), room // 2)), 1)
            first, second = first[:keep], second[: room - keep]
        return first, second


def fact_documents(facts: Iterable[Triple]) -> Iterator[list[str]]:
    """Short documents of facts that share a concept, with templates and order drawn at random.

    Facts of relations without a template, and of a weight below 1, are left out.

    Facts of one concept next to each other let the encoder learn a fact from its neighbours
    (Agarwal et al., 2021, section 3, verbalise entity subgraphs likewise). The words of a concept are separated by
    `JOINT`, so that they can be masked together.
    """
    groups: dict[str, list[Triple]] = defaultdict(list)
    for fact in facts:
        if fact.relation in corpus_templates() and not fact.weight < 1.0:
            groups[fact.head].append(fact)
    draw = random.Random(0)
    heads = list(groups)
    draw.shuffle(heads)

    def fact_sentences() -> Iterator[str]:
        for concept in heads:
            draw.shuffle(groups[concept])
            for fact in groups[concept]:
                head, tail = (side.replace(" ", JOINT) for side in (fact.head, fact.tail))
                yield corpus_sentence(Triple(head, fact.relation, tail), draw.randrange(12))

    coming = fact_sentences()
    while document := list(islice(coming, FACT_SENTENCES)):
        yield document

"""Dense retrieval over a graph: the index of its verbalized facts, built once and cached, and the search."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import TextBatch
from kgqa.data.corpus.tokenizer import load_tokenizer
from kgqa.fingerprint import fingerprint
from kgqa.graph.overlay import OverlayGraph
from kgqa.graph.retrieval.dense import CODE_BYTES, FEW, DenseSearch, FactHits, FactIndex
from kgqa.graph.retrieval.expansion import join, take
from kgqa.graph.storage.store import GraphStore
from kgqa.limits.cancellation import report_panics
from kgqa.models.collation.rows import padded
from kgqa.models.devices import cast_linear_layers, find_precision, matmul_precision
from kgqa.models.encoders.bert import open_encoder
from kgqa.models.pretrained import FACT_ENCODER_CARD, check_regular, check_sums, checksum
from kgqa.settings import FACT_ENCODER, GET_BASE, INDEXES, cache_folder, find_encoder, warn_once
from kgqa.types import Edges, InputError, KnowledgeGraph, report_damage
from kgqa.verbalize import fact_sentences, inflection
from kgqa.verbalize.fact_sentences import verbalize_triple

# The fact encoder: a small sentence encoder that embeds facts and questions in one space.


MAX_TOKENS = 128
"""Maximum length of a text in tokens; a longer one is truncated at the start, since the question is at the end."""
AT_ONCE = 64
"""Number of texts encoded at a time."""


class FactEncoder(nn.Module):
    """Sentence embeddings: the normalized mean of an encoder's last states (Reimers and Gurevych, 2019, section 3).

    `fingerprint` identifies the encoder in the names of cached indexes; `space` is the fingerprint of the encoder whose
    vector space it shares.
    """

    def __init__(
        self, encoder: nn.Module, tokenizer: Tokenizer, fingerprint: str = "", precision: str = "fp32"
    ) -> None:
        super().__init__()
        self.encoder, self.tokenizer, self.precision = encoder, tokenizer, precision
        self.fingerprint = self.space = fingerprint

    @property
    def size(self) -> int:
        """Dimension of the vectors."""
        found: int = self.encoder.config.hidden_size  # type: ignore[union-attr,assignment]
        return found

    @classmethod
    def load(cls, name: str | Path) -> FactEncoder:
        """Load the encoder of a folder or shipped name for inference."""
        folder = find_encoder(str(name))
        check_regular(folder)
        if (card := folder / FACT_ENCODER_CARD).exists():
            with report_damage(f"{card}: damaged", "copy the folder again"):
                sums = json.loads(card.read_text(encoding="utf-8"))
            check_sums(folder, sums)
        encoder = open_encoder(folder)
        made_of = checksum(folder / "tokenizer.json", *sorted(folder.glob("*.safetensors")), size=8)
        precision = find_precision(encoder.device, encoder.config.hidden_size)
        cast_linear_layers(encoder, precision)
        return cls(encoder, load_tokenizer(folder), made_of, precision).eval()

    def tokens(self, texts: Sequence[str]) -> TextBatch:
        """Tokenized texts, padded to a multiple of 8. Raises InputError if the tokenizer fails."""
        with report_panics("a text", "leave it out, or use another fact encoder"):
            read = self.tokenizer.encode_batch(list(texts))
        rows = [_last_tokens(text) for text in read]
        width = -(-max(map(len, rows)) // 8) * 8
        mask = padded([[1] * len(row) for row in rows], width, 0).bool()
        return TextBatch(padded(rows, width, 0), mask)

    def states(self, batch: TextBatch) -> Tensor:
        """States (n, T, d) of the tokens, before pooling."""
        assert batch.attention_mask is not None
        found: Tensor = self.encoder(
            input_ids=batch.input_ids, attention_mask=batch.attention_mask.long()
        ).last_hidden_state
        return found.float()

    def pooled(self, batch: TextBatch) -> Tensor:
        """Unit vectors (n, d) of tokenized texts."""
        assert batch.attention_mask is not None
        mask = batch.attention_mask.long()
        mean = (self.states(batch) * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)  # (n, d)
        return F.normalize(mean, dim=-1)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors (n, d) of texts, batched by length to avoid padding."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found = np.zeros((len(texts), self.size), dtype=np.float32)
        device = next(self.encoder.parameters()).device
        with torch.inference_mode(), matmul_precision(device, self.precision):
            for at in range(0, len(order), AT_ONCE):
                rows = order[at : at + AT_ONCE]
                found[rows] = self.pooled(self.tokens([texts[i] for i in rows]).to(device)).cpu().numpy()
        return found


def _last_tokens(text: Encoding) -> list[int]:
    """At most `MAX_TOKENS` token ids of a text: leading special tokens, then the last ones."""
    excess = len(text.ids) - MAX_TOKENS
    if excess <= 0:
        return text.ids
    first = text.special_tokens_mask.index(0)
    return text.ids[:first] + text.ids[first + excess :]


def open_fact_encoder(name: str) -> FactEncoder | None:
    """The fact encoder of a reader; None if it has none, or if the shipped one is not installed.

    In the latter case, retrieval falls back to entity linking alone, which is reported on standard error.
    """
    if not name:
        return None
    try:
        find_encoder(name)
    except InputError:
        if name != FACT_ENCODER:
            raise
        warn_once(f"{FACT_ENCODER} is not installed: facts are retrieved by entity linking alone; {GET_BASE}")
        return None
    return FactEncoder.load(name)


HITS = 128
"""Number of facts retrieved per question."""
MADE_AT_ONCE = 3_000
"""Graphs of at most this many facts are indexed when opened, which takes some seconds on one core."""
MADE_ON_IMPORT = 200_000
"""Maximum number of facts of an open-world graph that `kgqa graph import` indexes, which takes minutes.

Larger ones, and closed-world graphs above `MADE_AT_ONCE`, are indexed only by `kgqa graph index`."""
_PART = 4096
"""Number of facts verbalized and embedded at a time."""


def verbalize_facts(graph: KnowledgeGraph, edges: Edges) -> list[str]:
    """Verbalize each fact."""
    ends = np.unique(np.concatenate([edges.head, edges.tail]))
    labels = dict(zip(ends.tolist(), graph.labels(ends), strict=True))
    relations = graph.relations
    rows = zip(edges.head.tolist(), edges.relation.tolist(), edges.tail.tolist(), strict=True)
    return [
        verbalize_triple(
            labels[head], relations[r].name, relations[r].words or relations[r].label, labels[tail]
        )
        for head, r, tail in rows
    ]


def index_name(graph: GraphStore, encoder: FactEncoder) -> str:
    """File name of the index for a graph, an encoder and the code that builds it.

    A large graph has one index for all encoders of a vector space. A small one, whose labels may be in any language,
    has one for each encoder.
    """
    made_by = encoder.fingerprint if graph.edge_count <= MADE_AT_ONCE else encoder.space
    return f"{graph.hash[:16]}-{made_by[:8]}-{build_code()}.faiss"


def build_code() -> str:
    """Fingerprint of the code that turns facts into an index: their verbalization, embedding and compression."""
    verbalization = fact_sentences, inflection, verbalize_facts
    embedding = FactEncoder.states, FactEncoder.pooled, _last_tokens, MAX_TOKENS
    return fingerprint(*verbalization, *embedding, make_index, FactIndex.build, FEW, CODE_BYTES)[:8]


def index_file(graph: GraphStore, encoder: FactEncoder) -> Path:
    """Path of a graph's index: shipped, or in the cache. A shipped index that other code built, or from another wording
    of the facts, is not used, and a warning says so."""
    name = index_name(graph, encoder)
    if (shipped := INDEXES / name).is_file():
        return shipped
    cached = cache_folder("facts") / name
    stale = INDEXES.glob(f"{name.removesuffix(f'-{build_code()}.faiss')}-*.faiss")
    if not cached.is_file() and any(stale):
        warn_once(
            f"{graph.name}: the shipped index of facts was built by other code or from another wording, so facts are "
            f"retrieved by entity linking alone; `kgqa graph index {graph.name}` builds it anew, which takes minutes"
        )
    return cached


def make_index(
    graph: GraphStore,
    encoder: FactEncoder,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
    quantizer: FactIndex | None = None,
) -> FactIndex:
    """Embed every fact of a graph; `progress` iterates over the parts. With the `quantizer` of another index, facts
    that both graphs have keep their codes."""
    parts = [
        encoder.encode(verbalize_facts(graph, graph.edges(start, start + _PART))).astype(np.float16)
        for start in progress(range(0, graph.edge_count, _PART))
    ]
    return FactIndex.build(np.concatenate(parts), quantizer)


def open_fact_index(
    graph: KnowledgeGraph, encoder: FactEncoder, below: DenseSearch | None = None
) -> DenseSearch | None:
    """Open dense search over a graph's facts; None if it has no index and is too large to build one now.

    Facts added by an edit are found, removed ones are not; `below` is the search over the unedited graph, if open.
    Remote graphs have no index.
    """
    if isinstance(graph, OverlayGraph):
        below = below or open_fact_index(graph.base, encoder)
        return _Edited(graph, below, encoder) if below else None
    if not isinstance(graph, GraphStore) or not graph.edge_count:
        return None
    path = index_file(graph, encoder)
    if path.is_file():
        try:
            return _Search(graph, FactIndex.load(path, graph.edge_count), encoder)
        except InputError:
            if path.parent != cache_folder("facts") or graph.edge_count > MADE_AT_ONCE:
                raise  # only a small index in the cache is rebuilt silently
    if graph.edge_count > MADE_AT_ONCE:
        return None
    index = make_index(graph, encoder)
    index.save(path)
    return _Search(graph, index, encoder)


class _Search:
    """Dense search over an index."""

    def __init__(self, graph: GraphStore, index: FactIndex, encoder: FactEncoder) -> None:
        self.graph, self.index, self.encoder = graph, index, encoder
        self._last: tuple[tuple[str, ...], list[FactHits]] = ((), [])

    def __call__(self, texts: Sequence[str]) -> list[FactHits]:
        last, found = self._last
        if last == tuple(texts):  # attribution searches with the same texts for each fact that it leaves out
            return found
        rows, similarity = self.index.search(self.encoder.encode(texts), HITS)
        facts = self.graph.edges()
        found = [FactHits(take(facts, own), near) for own, near in zip(rows, similarity, strict=True)]
        self._last = (tuple(texts), found)
        return found


class _Edited:
    """Dense search over an edited graph."""

    def __init__(self, graph: OverlayGraph, below: DenseSearch, encoder: FactEncoder) -> None:
        self.graph, self.below, self.encoder = graph, below, encoder
        self.vectors = encoder.encode(verbalize_facts(graph, graph.added_edges)) if len(graph.added) else None

    def __call__(self, texts: Sequence[str]) -> list[FactHits]:
        queries = self.encoder.encode(texts) if self.vectors is not None else [None] * len(texts)
        return [self._edited(hits, query) for hits, query in zip(self.below(texts), queries, strict=True)]

    def _edited(self, hits: FactHits, query: NDArray[np.float32] | None) -> FactHits:
        kept = self.graph.unhidden(hits.edges)
        edges, similarity = take(hits.edges, kept), hits.similarity[kept]
        if self.vectors is not None and query is not None:
            edges = join([edges, self.graph.added_edges])
            similarity = np.append(similarity, self.vectors @ query)
        order = np.argsort(-similarity, kind="stable")[:HITS]
        return FactHits(take(edges, order), similarity[order].astype(np.float32))

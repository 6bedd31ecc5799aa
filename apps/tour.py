"""From a sentence to an answer in five steps, with the reader's actual intermediate values. No Streamlit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kgqa.models.collation.collate import ANSWER_TYPES
from kgqa.qa.answerer import Answerer
from kgqa.qa.render import sentence
from kgqa.types import NO, YES, Answer, NodeRole, Question

BEST = 8


@dataclass(frozen=True, slots=True)
class Tour:
    """The steps of one question; if there are several choices or windows, of the first."""

    linked: tuple[tuple[NodeRole, str, tuple[str, ...]], ...]
    """Mentions, with their candidate concepts."""
    concepts: int
    facts: int
    retrieved: tuple[tuple[str, float], ...]
    """The most relevant concepts without a mention, with their relevance (0 to 1)."""
    pieces: tuple[str, ...]
    """The encoder's tokens, including special tokens."""
    hidden_size: int
    layers: int
    scored: tuple[tuple[str, float], ...]
    """The best-scored concepts, with their probability among all retrieved ones."""
    attended: tuple[tuple[str, float], ...]
    """The facts with the most attention, with their share; empty if the reader has no such attention."""
    sources: tuple[tuple[str, float], ...]
    """Probability of each source or answer type: passage, knowledge, none, yes, no."""
    answer: Answer
    read_as: Question
    """The reader's input: for a Korean question its English translation."""


def tour(answerer: Answerer, question: Question) -> Tour:
    """Answer a question, step by step. Raises InputError if the question is empty or far too long."""
    answer = answerer.shown(answerer.answer(question))
    question = answerer.read_as(question)
    subgraphs = answerer.retrieve(question)
    graph = subgraphs[0]
    collated = answerer.reader.collate([question], [subgraphs])
    scores = answerer.reader.heads(collated.batch)
    row = collated.rows[0]
    texts = {
        NodeRole.QUESTION: question.text,
        NodeRole.PASSAGE: question.passage_text,
        NodeRole.CHOICE: question.choices[0] if question.choices else "",
    }
    meant: dict[tuple[NodeRole, int, int], list[str]] = {}
    for link in graph.links:
        meant.setdefault((link.part, link.start, link.end), []).append(graph.labels[link.node])
    found = [n for n, role in enumerate(graph.roles.tolist()) if role == NodeRole.OTHER]
    found.sort(key=lambda n: -float(graph.scores[n]))
    first = row.first_node + 1
    nodes = scores.concept[first : first + len(graph.nodes)].softmax(0).tolist() if graph.nodes else []
    ids = collated.batch.tokens.input_ids[0][collated.batch.tokens.attention_mask[0].bool()].tolist()
    answer_type = scores.answer_type[0].softmax(-1).tolist()
    names = [*(source.value for source in ANSWER_TYPES), YES, NO]
    attention = scores.fused.attention
    attended: list[tuple[str, float]] = []
    if attention is not None and len(graph.edges):
        shares = attention[row.first_edge : row.first_edge + len(graph.edges)].float().numpy()
        for edge in np.argsort(-shares, kind="stable")[:BEST].tolist():
            attended.append((sentence(graph, edge), float(shares[edge])))
    config: Any = answerer.reader.network.layerwise.encoder.config
    return Tour(
        tuple(
            (part, texts[part][a:b], tuple(dict.fromkeys(labels)))
            for (part, a, b), labels in sorted(meant.items())
        ),
        len(graph.nodes),
        len(graph.edges),
        tuple((graph.labels[n], float(graph.scores[n])) for n in found[:BEST]),
        tuple(str(answerer.reader.collator.tokenizer.id_to_token(i)) for i in ids),
        config.hidden_size,
        config.num_hidden_layers,
        tuple(sorted(zip(graph.labels, nodes, strict=True), key=lambda pair: -pair[1])[:BEST]),
        tuple(attended),
        tuple(zip(names, answer_type, strict=False)),
        answer,
        question,
    )

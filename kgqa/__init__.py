"""kgqa: question answering over text and knowledge graphs.

>>> import kgqa
>>> answerer = kgqa.load()                                   # the shipped reader and graph
>>> answer = answerer.answer("What did I dig with?", passage="I want to plant flowers, so I dug the ground.")
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from kgqa.settings import DEFAULT_READER, find_model
from kgqa.types import Answer, Evidence, InputError, KnowledgeGraph, Passage, Question, Source
from kgqa.validation import checked_language, checked_threshold

if TYPE_CHECKING:
    from kgqa.qa.answerer import Answerer

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Answerer",
    "Evidence",
    "InputError",
    "KnowledgeGraph",
    "Passage",
    "Question",
    "Source",
    "load",
]


def __getattr__(name: str) -> object:
    """Import `Answerer` on first use, since it imports torch, which takes seconds."""
    if name != "Answerer":
        raise AttributeError(f"module 'kgqa' has no attribute {name!r}")
    from kgqa.qa.answerer import Answerer

    return Answerer


def load(
    model: str | os.PathLike[str] = DEFAULT_READER,
    graph: Any = "everyday",
    *,
    device: str = "auto",
    language: str = "auto",
    no_answer_threshold: float | None = None,
    once: bool = False,
) -> Answerer:
    """Open a reader (folder or shipped name) over a graph.

    The graph is a file, a folder, a shipped name, a SPARQL URL or an open graph, or is held in memory: an rdflib Graph
    or Dataset, a networkx DiGraph or MultiDiGraph (relations are the edges' attribute `relation` or `label`, or their
    keys), a pandas or Arrow table (one fact per row if its columns are head, relation and tail, else one entity per
    row), or an iterable of triples.

    `device` is "cpu", "cuda" or "mps"; "auto" takes cuda, else mps, else cpu. Environment variables and thread count of
    the process are not changed; for single questions, a second thread does not help (`torch.set_num_threads`).
    `language` is that of the questions: a code such as "de", or "auto", which detects it. The answer is None if the
    probability of "unanswerable" exceeds `no_answer_threshold`, by default the value in the reader's card. With `once`,
    the reader loads faster and answers more slowly, which pays for a single question.

    >>> answerer = load(graph="graph_data/examples/beekeeping.ttl")

    Raises:
        InputError: the model, the graph, the device, the language or the threshold cannot be found or used.
    """
    checked_language(language)
    checked_threshold(no_answer_threshold)
    if not isinstance(model, str | os.PathLike):
        raise InputError(f"the model is of type {type(model).__name__}; give a folder or a shipped name")
    model = os.fspath(model)
    find_model(model)
    from kgqa.graph.load import open_graph

    graph = open_graph(graph)
    from kgqa.qa.answerer import Answerer

    return Answerer.load(
        model, graph, device=device, language=language, no_answer_threshold=no_answer_threshold, once=once
    )

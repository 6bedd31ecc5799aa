"""kgqa: reading comprehension fused with a knowledge graph.

>>> import kgqa
>>> answerer = kgqa.load()                                   # the shipped reader and graph
>>> answer = answerer.answer(kgqa.Question("What did I dig with?",
...     passage=kgqa.Passage("I want to plant flowers, so I dug the ground.")))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgqa.assets import DEFAULT_READER, find_model
from kgqa.checking import checked_language
from kgqa.types import Answer, InputError, KnowledgeGraph, Passage, Question

if TYPE_CHECKING:
    from kgqa.answering.answerer import Answerer

__version__ = "0.1.0"
__all__ = ["Answer", "InputError", "Passage", "Question", "load"]


def load(
    model: str = DEFAULT_READER,
    graph: str | KnowledgeGraph = "everyday",
    *,
    device: str = "auto",
    language: str = "auto",
    none_above: float | None = None,
) -> Answerer:
    """Open a reader (folder or shipped name) over a graph (file, folder, shipped name, SPARQL URL, or an open one).

    It runs on `device`: "auto" takes cuda, else mps, else cpu. Environment and threads of the process are left as they
    are; a single question is answered no faster by two threads than by one (`torch.set_num_threads`). Questions are in
    `language`: "en", "ko", or "auto". Nothing is answered where that is likelier than `none_above`; None leaves what
    the reader's card says.

    Raises:
        InputError: the model, the graph, the device or the language cannot be found or used.
    """
    checked_language(language)
    find_model(model)
    if isinstance(graph, str):
        from kgqa.graph.opening import open_graph

        graph = open_graph(graph)
    from kgqa.answering.answerer import Answerer

    return Answerer.load(model, graph, device=device, language=language, none_above=none_above)

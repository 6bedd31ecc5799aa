"""kgqa: reading comprehension fused with a knowledge graph.

>>> import kgqa
>>> answerer = kgqa.load()                                   # the shipped reader and graph
>>> answer = answerer.answer(kgqa.Question("What did I dig with?",
...     passage=kgqa.Passage("I want to plant flowers, so I dug the ground.")))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgqa.assets import DEFAULT_READER
from kgqa.types import Answer, InputError, Passage, Question

if TYPE_CHECKING:
    from kgqa.answerer import Answerer

__version__ = "0.1.0"
__all__ = ["Answer", "InputError", "Passage", "Question", "load"]


def load(model: str = DEFAULT_READER, graph: str = "everyday", *, device: str = "auto") -> Answerer:
    """Open a reader (folder or shipped name) over a graph (file, folder, shipped name or SPARQL URL).

    It runs on `device`: "auto" takes cuda, else mps, else cpu.

    Raises:
        InputError: the model, the graph or the device cannot be found or used.
    """
    from kgqa.answerer import Answerer

    return Answerer.load(model, graph, device=device)

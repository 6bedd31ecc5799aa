"""Tools of the Model Context Protocol, so that an agent can ask a graph: `answer`, `explain`, `graph_search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kgqa import explain as explaining
from kgqa.graph.concepts import candidates, rows_of
from kgqa.types import Passage, Question

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from kgqa.answerer import Answerer

MOST_FACTS = 50
INSTRUCTIONS = (
    "Answers questions from a passage and a knowledge graph, each answer with the facts it rests on. "
    "An answer of null means that neither passage nor graph says it."
)


def tool_server(answerer: Answerer) -> MCPServer:
    """A server with the three tools over one reader and graph; `run()` serves standard input and output."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("kgqa", instructions=INSTRUCTIONS)

    def asked(question: str, passage: str, choices: list[str] | None) -> Question:
        return Question(question, tuple(choices or ()), Passage(passage) if passage else None)

    @server.tool()
    def answer(question: str, passage: str = "", choices: list[str] | None = None) -> dict[str, Any]:
        """Answer a question from a passage, from the knowledge graph, or from given choices, with its evidence."""
        (found,) = answerer.answer_many([asked(question, passage, choices)])
        return explaining.answer_json(answerer.shown(found))

    @server.tool()
    def explain(question: str, passage: str = "", choices: list[str] | None = None) -> dict[str, Any]:
        """Answer a question and say how far the answer's probability falls without each fact near it."""
        found = answerer.answer(asked(question, passage, choices))
        falls = explaining.influences(answerer, found)
        return {
            **explaining.answer_json(answerer.shown(found)),
            "influences": [{"sentence": item.sentence, "change": round(item.change, 4)} for item in falls],
        }

    @server.tool()
    def graph_search(text: str, limit: int = 10) -> dict[str, Any]:
        """Concepts of the graph that a text names, likeliest first, and the facts of the first of them."""
        graph, most = answerer.graph, max(1, min(limit, MOST_FACTS))
        found = candidates(graph, text)[:most]
        names, labels = graph.names(found), graph.labels(found)
        facts = rows_of(graph, graph.neighbours(found[:1].astype(np.int32), limit=most)) if len(found) else []
        concepts = [{"name": name, "label": label} for name, label in zip(names, labels, strict=True)]
        return {"concepts": concepts, "facts": facts[: 2 * most]}

    return server

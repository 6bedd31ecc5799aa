"""Tools of the Model Context Protocol, so that an agent can ask a graph: `answer`, `explain`, `graph_search`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from kgqa import __version__
from kgqa.answering.presentation.answer_json import answer_json, influences_json
from kgqa.checking import check_question
from kgqa.graph.concepts import candidates, rows_of
from kgqa.limits.stopping import Stopped, until
from kgqa.serving.problems import of_validation
from kgqa.types import InputError, Passage, Question

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from kgqa.answering.answerer import Answerer

MOST_FACTS = 50
LIMIT_S = 60.0
"""For one call of a tool."""
INSTRUCTIONS = (
    "Answers questions from a passage and a knowledge graph, each answer with the facts it rests on. "
    "An answer of null means that neither passage nor graph says it."
)


def tool_server(answerer: Answerer) -> MCPServer:
    """A server with the three tools over one reader and graph; `run()` serves standard input and output."""
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import ValidationError

    class Server(MCPServer):
        """Whose errors are one line: what is wrong with which argument, and the remedy."""

        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            try:
                return await super().call_tool(name, arguments, context)
            except ToolError as error:
                if not isinstance(error.__cause__, ValidationError):
                    raise
                said = "{field}: {detail}; {remedy}".format(**of_validation(error.__cause__.errors())[0])
                raise ToolError(" ".join(said.split())) from None

    server = Server("kgqa", version=__version__, instructions=INSTRUCTIONS)

    def asked(question: str, passage: str, choices: list[str] | None) -> Question:
        return Question(question, tuple(choices or ()), Passage(passage) if passage else None)

    @contextmanager
    def limited() -> Iterator[None]:
        """What an agent does wrong is told to it, and what takes too long is given up."""
        end = time.monotonic() + LIMIT_S
        try:
            with until(lambda: time.monotonic() > end):
                yield
        except (InputError, Stopped) as error:
            raise ToolError(str(error)) from None
        except (Exception, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # of a native library: it would end the server
            raise ToolError(f"the tool failed ({type(error).__name__}); ask something else") from None

    @server.tool()
    def answer(
        question: str, passage: str = "", choices: list[str] | None = None, full: bool = False
    ) -> dict[str, Any]:
        """Answer a question from a passage, from the knowledge graph, or from given choices, with its evidence;
        `full` adds the graph around it."""
        with limited():
            (found,) = answerer.answer_many([asked(question, passage, choices)])
            return answer_json(answerer.shown(found), full)

    @server.tool()
    def explain(question: str, passage: str = "", choices: list[str] | None = None) -> dict[str, Any]:
        """Answer a question and say how far the answer's probability falls without each fact near it."""
        with limited():
            found = answerer.answer(asked(question, passage, choices))
            falls = influences_json(found, answerer.influences(found))
            return {**answer_json(answerer.shown(found)), "influences": falls}

    @server.tool()
    def graph_search(text: str, limit: int = 10) -> dict[str, Any]:
        """Concepts of the graph that a text names, likeliest first, and the facts of the first of them."""
        graph, most = answerer.graph, max(1, min(limit, MOST_FACTS))
        with limited():
            check_question(asked(text, "", None))
            found = candidates(graph, text)[:most]
            facts = (
                rows_of(graph, graph.neighbours(found[:1].astype(np.int32), limit=most)) if len(found) else []
            )
            named = zip(graph.names(found), graph.labels(found), strict=True)
            return {
                "concepts": [{"name": name, "label": label} for name, label in named],
                "facts": facts[: 2 * most],
            }

    return server

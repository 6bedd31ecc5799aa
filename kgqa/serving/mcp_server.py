"""Model Context Protocol server with the tools `answer`, `explain` and `graph_search` for agents."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from kgqa import __version__
from kgqa.graph.concepts import candidates, fact_rows
from kgqa.limits.cancellation import Cancelled, cancel_when
from kgqa.qa.render import attributions_json, response_json
from kgqa.serving.middleware import of_validation
from kgqa.types import InputError, Question
from kgqa.validation import check_question

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from kgqa.qa.answerer import Answerer

MAX_FACTS = 50
LIMIT_S = 60.0
"""Timeout of a tool call, in seconds."""
INSTRUCTIONS = (
    "Answers questions from a passage and a knowledge graph, with the facts that support each answer. "
    "An answer of null means that neither passage nor graph answers the question. If `care` is not null, it is "
    "about harm to somebody: pass on its message, and answer nothing else."
)


def tool_server(answerer: Answerer) -> MCPServer:
    """A server with the three tools over one reader and graph; `run()` serves standard input and output."""
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import ValidationError

    class Server(MCPServer):
        """An MCP server whose errors are one line: the argument, what is wrong, and the remedy."""

        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            try:
                return await super().call_tool(name, arguments, context)
            except ToolError as error:
                if not isinstance(error.__cause__, ValidationError):
                    raise
                message = "{field}: {detail}; {remedy}".format(**of_validation(error.__cause__.errors())[0])
                raise ToolError(" ".join(message.split())) from None

    server = Server("kgqa", version=__version__, instructions=INSTRUCTIONS)

    def asked(question: str, passage: str, choices: list[str] | None) -> Question:
        return Question(question, choices or (), passage)

    @contextmanager
    def limited() -> Iterator[None]:
        """Context with the timeout, in which errors are reported to the agent."""
        end = time.monotonic() + LIMIT_S
        try:
            with cancel_when(lambda: time.monotonic() > end):
                yield
        except (InputError, Cancelled) as error:
            raise ToolError(str(error)) from None
        except (Exception, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # panics of native libraries would end the server
            raise ToolError(f"the tool failed ({type(error).__name__}); ask something else") from None

    @server.tool()
    def answer(
        question: str, passage: str = "", choices: list[str] | None = None, full: bool = False
    ) -> dict[str, Any]:
        """Answer a question from a passage, from the knowledge graph, or from given choices, with one reason; `full`
        adds all candidates, all facts and the graph around them."""
        with limited():
            (found,) = answerer.answer_many([asked(question, passage, choices)])
            return response_json(answerer.shown(found), full)

    @server.tool()
    def explain(question: str, passage: str = "", choices: list[str] | None = None) -> dict[str, Any]:
        """Answer a question, with how far the answer's probability drops without each fact near it."""
        with limited():
            found = answerer.answer(asked(question, passage, choices))
            log_odds_drops = attributions_json(found, answerer.attributions(found))
            return {**response_json(answerer.shown(found), False), "attributions": log_odds_drops}

    @server.tool()
    def graph_search(text: str, limit: int = 10) -> dict[str, Any]:
        """Concepts of the graph that a text refers to, most likely first, and the facts of the first of them."""
        graph, most = answerer.graph, max(1, min(limit, MAX_FACTS))
        with limited():
            check_question(asked(text, "", None))
            found = candidates(graph, text)[:most]
            facts = (
                fact_rows(graph, graph.neighbours(found[:1].astype(np.int32), limit=most))
                if len(found)
                else []
            )
            named = zip(graph.names(found), graph.labels(found), strict=True)
            return {
                "concepts": [{"name": name, "label": label} for name, label in named],
                "facts": facts[: 2 * most],
            }

    return server

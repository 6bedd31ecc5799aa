"""Tools of the Model Context Protocol, so that an agent can ask a graph: `answer`, `explain`, `graph_search`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from kgqa import __version__
from kgqa.graph.concepts import candidates, rows_of
from kgqa.limits.cancellation import Cancelled, cancel_when
from kgqa.qa.render import attributions_json, response_json
from kgqa.serving.middleware import of_validation
from kgqa.types import InputError, Passage, Question
from kgqa.validation import check_question

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from kgqa.qa.answerer import Answerer

MAX_FACTS = 50
LIMIT_S = 60.0
"""For one call of a tool."""
INSTRUCTIONS = (
    "Answers questions from a passage and a knowledge graph, each answer with the facts it rests on. "
    "An answer of null means that neither passage nor graph says it. Where `care` is not null, the question is "
    "of harm to somebody: pass its message on, and answer nothing else."
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
                message = "{field}: {detail}; {remedy}".format(**of_validation(error.__cause__.errors())[0])
                raise ToolError(" ".join(message.split())) from None

    server = Server("kgqa", version=__version__, instructions=INSTRUCTIONS)

    def asked(question: str, passage: str, choices: list[str] | None) -> Question:
        return Question(question, tuple(choices or ()), Passage(passage) if passage else None)

    @contextmanager
    def limited() -> Iterator[None]:
        """What an agent does wrong is told to it, and what takes too long is given up."""
        end = time.monotonic() + LIMIT_S
        try:
            with cancel_when(lambda: time.monotonic() > end):
                yield
        except (InputError, Cancelled) as error:
            raise ToolError(str(error)) from None
        except (Exception, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # of a native library: it would end the server
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
        """Answer a question and say how far the answer's probability falls without each fact near it."""
        with limited():
            found = answerer.answer(asked(question, passage, choices))
            log_odds_drops = attributions_json(found, answerer.attributions(found))
            return {**response_json(answerer.shown(found), False), "influences": log_odds_drops}

    @server.tool()
    def graph_search(text: str, limit: int = 10) -> dict[str, Any]:
        """Concepts of the graph that a text names, likeliest first, and the facts of the first of them."""
        graph, most = answerer.graph, max(1, min(limit, MAX_FACTS))
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

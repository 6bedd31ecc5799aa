"""What agents send to the tools (Model Context Protocol, over pipes): malformed calls, each followed by a good one."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from reliability import SyntheticGraph, Try, broken

from kgqa.types import InputError

SAID = "Dr Kim works in the hospital and mends bones, so she was tired. "


class Agents:
    """What each sends, drawn at random; the tools start with the first in each process."""

    def __init__(self, world: SyntheticGraph) -> None:
        self.world = world

    def tries(self) -> dict[str, Try]:
        """What is sent, by name."""
        return {"tool request": self._tool_request}

    @cached_property
    def _tools(self) -> _Tools:
        return _Tools(self.world)

    def _tool_request(self, draw: Random, folder: Path) -> None:
        name = draw.choice(("answer", "explain", "graph_search"))
        output: dict[str, Any] = {"text": "hospital", "limit": 3}
        if name != "graph_search":
            output = {"question": "Who works in the hospital?", "passage": SAID, "choices": ["Kim", "he"]}
        called: dict[str, Any] = {"name": name, "arguments": output}
        if draw.random() < 0.5:  # of another type than the tool takes
            output[draw.choice(sorted(output))] = draw.choice(
                (None, 3, [], {}, [[]], "", "x" * 300_000, -1e99)
            )
        line = json.dumps(
            {"jsonrpc": "2.0", "id": "broken", "method": "tools/call", "params": called}
        ).encode()
        if draw.random() < 0.7:
            line = broken(line, draw)
        if refusal := self._tools.refusal(line.replace(b"\n", b" ")):
            raise InputError(refusal)


class _Tools:
    """`kgqa mcp` on pipes, in a process of its own."""

    LATE_S = 100

    def __init__(self, world: SyntheticGraph) -> None:
        from kgqa.serving.mcp_server import tool_server

        ours, theirs = os.pipe(), os.pipe()
        self.child = os.fork()
        if not self.child:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(ours[0], 0), os.dup2(theirs[1], 1), os.dup2(quiet, 2)
            for end in (*ours, *theirs):
                os.close(end)
            sys.stdin, sys.stdout = os.fdopen(0, "r"), os.fdopen(1, "w")
            with suppress(BaseException):
                tool_server(world.answerer).run()
            os._exit(0)
        os.close(ours[0]), os.close(theirs[1])
        self._to, self._from = os.fdopen(ours[1], "wb", 0), os.fdopen(theirs[0], "rb")
        about = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "0"},
        }
        self._send({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": about})
        self._heard("first")
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._number = 0

    def refusal(self, line: bytes) -> str:
        """Send a line, then ask something well: why the first was refused, where it was; RuntimeError for no answer."""
        self._number += 1
        last = f"good {self._number}"
        called = {"name": "graph_search", "arguments": {"text": "hospital"}}
        self._to.write(line + b"\n")
        self._send({"jsonrpc": "2.0", "id": last, "method": "tools/call", "params": called})
        info = self._heard(last)
        for row in info[:-1]:
            if "error" in row:
                return str(row["error"]["message"])
            if row.get("result", {}).get("isError"):
                return str(row["result"]["content"][0]["text"])
        if "concepts" not in info[-1]["result"].get("structuredContent", {}):
            raise RuntimeError(f"another answer: {info[-1]}")
        return ""

    def _send(self, message: dict[str, Any]) -> None:
        self._to.write(json.dumps(message).encode() + b"\n")

    def _heard(self, last: str) -> list[dict[str, Any]]:
        """All messages until the one that answers `last`."""
        info: list[dict[str, Any]] = []
        while not info or info[-1].get("id") != last:
            signal.alarm(self.LATE_S)
            line = self._from.readline()
            if not line:
                raise RuntimeError(f"the server has ended; before: {info[-1:]}")
            info.append(json.loads(line))
        return info

"""A thin client of the service: one call a question, plain dictionaries back. Needs nothing but Python."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from kgqa.types import InputError


class Client:
    """Asks a service at `url`, such as `http://127.0.0.1:8600`.

    `model` and `graph` are of those it serves; empty means its first. With `full`, answers have the graph around their
    evidence. Every method raises `InputError` where the service cannot be reached or refuses, in its words.
    """

    def __init__(
        self,
        url: str,
        key: str = "",
        timeout_s: float = 60.0,
        model: str = "",
        graph: str = "",
        full: bool = False,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise InputError(f"{url}: not the address of a service; expected http(s)://host:port")
        self.url, self.key, self.timeout_s, self.full = url.rstrip("/"), key, timeout_s, full
        self.named = {name: value for name, value in (("model", model), ("graph", graph)) if value}

    def answer(self, question: str, passage: str = "", choices: Sequence[str] = ()) -> dict[str, Any]:
        """The answer to a question, as `kgqa ask --json` prints it.

        Raises:
            InputError: as `post`.
        """
        return self.post("/v1/answer", self._asked(question, passage, choices))

    def answers(self, questions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The answers to many, in order; each question is a dictionary as a line of `kgqa predict`'s input.

        Raises:
            InputError: as `post`.
        """
        found = self.post("/v1/answers", {"questions": [{**self.named, **asked} for asked in questions]})
        return list(found["answers"])

    def explain(self, question: str, passage: str = "", choices: Sequence[str] = ()) -> dict[str, Any]:
        """The answer with its evidence tested, and the `influences` of the facts near it.

        Raises:
            InputError: as `post`.
        """
        return self.post("/v1/explain", self._asked(question, passage, choices))

    def what_if(
        self,
        question: str,
        passage: str = "",
        choices: Sequence[str] = (),
        *,
        add: Sequence[dict[str, str]] = (),
        strike: Sequence[dict[str, str]] = (),
    ) -> dict[str, Any]:
        """The answers `before` and `after` facts (head, relation, tail) are added or struck out.

        Raises:
            InputError: as `post`.
        """
        asked = self._asked(question, passage, choices)
        return self.post("/v1/what-if", {**asked, "add": list(add), "strike": list(strike)})

    def _asked(self, question: str, passage: str, choices: Sequence[str]) -> dict[str, Any]:
        return {**self.named, "question": question, "passage": passage or None, "choices": list(choices)}

    def get(self, path: str) -> dict[str, Any]:
        """The JSON of a path that is only read, such as `/v1/graphs`.

        Raises:
            InputError: as `post`.
        """
        return self._asking(path, None)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The JSON that the service answers a body with.

        Raises:
            InputError: the service is not there, refuses the body (its own words and remedy), or answers no JSON.
        """
        return self._asking(f"{path}?full=true" if self.full else path, json.dumps(body).encode())

    def _asking(self, path: str, body: bytes | None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.url + path, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_s) as response:
                return dict(json.load(response))
        except urllib.error.HTTPError as error:
            raise InputError(f"{self.url}: {_detail(error)}") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise InputError(f"{self.url}: no answer ({reason}); is `kgqa serve` running there?") from None


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])
    except (OSError, ValueError, LookupError, TypeError):
        return f"refused with status {error.code}"

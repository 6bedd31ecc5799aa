"""Errors of the service as problems (RFC 9457): one form for all, naming field and remedy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from starlette.responses import Response

_FIELDS = ("passage", "choices", "choice", "question", "graph", "model", "relation")
TITLES = {
    400: "The request cannot be read",
    401: "A key is needed",
    404: "There is no such thing here",
    405: "Not asked in this way",
    408: "The request did not come in time",
    413: "The request is too large",
    421: "The service has another name",
    422: "The question cannot be answered",
    429: "Too many requests",
    500: "A fault of the service",
    503: "The service is not ready",
    504: "The question took too long",
}
REMEDIES = {
    400: "send one JSON object in UTF-8, not compressed and not deeply nested",
    404: "see /docs for what is served",
    405: "see /docs for how it is asked",
    408: "send it again, in one go",
}
_OF_FAULTS = {
    "extra_forbidden": "leave it out",
    "missing": "add it",
    "string_too_short": "write something",
    "string_too_long": "shorten it",
    "too_long": "send fewer",
    "model_attributes_type": "send a JSON object, with the header Content-Type: application/json",
}


def problem(
    status: int,
    detail: str,
    instance: str,
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
    title: str = "",
) -> Response:
    """The response that tells of an error; its title is that of its status where none is given."""
    body = {
        "type": "about:blank",
        "title": title or TITLES.get(status, "An error"),
        "status": status,
        "detail": detail,
        "instance": instance,
        "errors": list(errors),
    }
    content = json.dumps(body).encode()  # ASCII: what is wrong may be half a letter
    return Response(content, status, dict(headers or {}), "application/problem+json")


def busy_problem(wait_s: float, instance: str) -> Response:
    """The response to what would not be answered in time, with the seconds after which it may be."""
    again = max(1, ceil(wait_s))
    detail = f"too many questions wait; come again in {again} s"
    return problem(503, detail, instance, headers={"Retry-After": str(again)}, title="The service is busy")


def of_input(error: Exception) -> dict[str, str]:
    """Field, detail and remedy of an error whose line reads "what; remedy"."""
    what, _, remedy = str(error).rpartition("; ")
    what, remedy = (what, remedy) if what else (str(error), "")
    words = what.lower()
    field = next((name for name in _FIELDS if name in words), "question")
    return {"field": "choices" if field == "choice" else field, "detail": what, "remedy": remedy}


def of_validation(errors: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The same of what a check of the body found."""
    found = []
    for error in errors[:20]:
        if error["type"] == "json_invalid":  # its place is a character
            detail = f"not JSON ({error.get('ctx', {}).get('error', 'at character')}, character {error['loc'][-1]})"
            found.append({"field": "body", "detail": detail, "remedy": "send a JSON object"})
            continue
        place = [str(part) for part in error["loc"] if part not in ("body", "query", "path")]
        remedy = _OF_FAULTS.get(error["type"], "see /docs for what is expected")
        found.append(
            {"field": ".".join(place)[:200] or "body", "detail": str(error["msg"])[:300], "remedy": remedy}
        )
    return found

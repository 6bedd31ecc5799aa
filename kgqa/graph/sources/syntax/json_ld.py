"""JSON-LD that names schema.org's context gets one of ours, since the network is never asked."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from kgqa.graph.sources.files import Checked
from kgqa.types import InputError

MAX_DEPTH = 200
"""Objects and lists within each other; the parser walks them on the stack."""
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NEITHER = bytes(set(range(256)) - set(b"{}[]"))
_ADDRESS = re.compile(r"https?://(www\.)?schema\.org(/docs/jsonldcontext\.(json|jsonld))?/?")
CONTEXT: dict[str, Any] = {
    "@vocab": "https://schema.org/",
    "schema": "https://schema.org/",
    "type": "@type",
    "id": "@id",
    **{
        name: {"@type": "@id"}
        for name in ("sameAs", "url", "image", "license", "additionalType", "mainEntityOfPage")
    },
}
"""Terms of schema.org as its vocabulary has them: each is its own name, some are addresses."""


def with_context(path: Path) -> bytes | None:
    """The file with schema.org's context written out, or None where it names none and is read as it stands.

    Raises InputError for a file that is damaged, or nested to exhaust its reader.
    """
    with io.BufferedReader(Checked(path), 1 << 20) as stream:
        content = stream.read()
    if depth(content) > MAX_DEPTH:
        raise InputError(f"{path}: objects and lists nested over {MAX_DEPTH} deep; flatten the file")
    if b"schema.org" not in content:
        return None
    try:
        document = json.loads(content)
        found = _written_out(document)
        return json.dumps(found, ensure_ascii=False).encode() if found != document else None
    except (ValueError, RecursionError):  # no JSON, or half a letter in it
        return None  # the parser says where


def depth(content: bytes) -> int:
    """How deep the objects and lists of a JSON text lie within each other, whether or not it is well formed."""
    brackets = np.frombuffer(_TEXT.sub(b"", content).translate(None, _NEITHER), dtype=np.uint8)
    steps = np.where((brackets == ord("{")) | (brackets == ord("[")), 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def _written_out(value: Any, is_context: bool = False) -> Any:
    if isinstance(value, str) and is_context and _ADDRESS.fullmatch(value.strip()):
        return CONTEXT
    if isinstance(value, list):
        return [_written_out(item, is_context) for item in value]
    if isinstance(value, dict):
        return {key: _written_out(item, key == "@context") for key, item in value.items()}
    return value

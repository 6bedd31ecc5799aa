"""RDF/XML is looked over before it is parsed: entities that multiply, and nesting without end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from xml.parsers import expat

from kgqa.graph.sources.files import COMPRESSIONS, Checked
from kgqa.types import InputError

MAX_DEPTH = 1_000
MAX_ATTRIBUTES = 1_000
"""Of one element; parsers compare each with all others."""
MAX_PARTS = 10
"""Elements and attributes that one compressed byte may stand for, each of which takes its reader a microsecond."""
FREE_PARTS = 1_000_000
"""What any archive may hold, whatever its size."""
MAX_ENTITY = 1_000
"""Characters an entity may stand for; namespaces, which entities are for, are far shorter."""


def check_markup(path: Path) -> None:
    """Raise `InputError` for XML that is not well formed or that is built to exhaust its reader."""
    parser = expat.ParserCreate()
    parser.ordered_attributes = True
    depth = parts = 0
    compressed = path.suffix.lower() in COMPRESSIONS
    most = max(FREE_PARTS, MAX_PARTS * path.stat().st_size) if compressed else sys.maxsize

    def place() -> str:
        return f"{path}:{parser.CurrentLineNumber}:{parser.CurrentColumnNumber + 1}"

    def start(name: str, attributes: Any) -> None:
        nonlocal depth, parts
        depth += 1
        parts += 1 + len(attributes) // 2
        if parts > most:
            raise InputError(
                f"{place()}: elements and attributes of over {MAX_PARTS} to a byte of the archive; decompress it "
                "yourself if that is meant"
            )
        if depth > MAX_DEPTH:
            raise InputError(f"{place()}: elements nested over {MAX_DEPTH} deep; flatten the file")
        if len(attributes) > 2 * MAX_ATTRIBUTES:
            raise InputError(
                f"{place()}: over {MAX_ATTRIBUTES} attributes in one element; write elements instead"
            )

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    def entity(name: str, is_parameter: bool, value: str | None, *rest: Any) -> None:
        if value is None or is_parameter:
            raise InputError(
                f"{place()}: entity {name!r} lies outside the file; write its value in its place"
            )
        if "&" in value or len(value) > MAX_ENTITY:
            raise InputError(f"{place()}: entity {name!r} expands others or is very long; write it out")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = entity
    with Checked(path) as stream:
        try:
            while data := stream.read(1 << 20):
                parser.Parse(data, False)
            parser.Parse(b"", True)
        except (expat.ExpatError, LookupError, ValueError) as error:  # the last: UTF-7 and the like
            if isinstance(error, InputError):
                raise
            said = str(error).split(":")[0]
            raise InputError(
                f"{place()}: not RDF/XML here: {said}; correct the file, or its ending if it is something else"
            ) from None

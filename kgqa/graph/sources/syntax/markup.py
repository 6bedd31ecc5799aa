"""RDF/XML is looked over before it is parsed: entities that multiply, and nesting without end."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

from kgqa.graph.sources.files import Checked
from kgqa.types import InputError

MAX_DEPTH = 1_000
MAX_ATTRIBUTES = 1_000
"""Of one element; parsers compare each with all others."""
MAX_ENTITY = 1_000
"""Characters an entity may stand for; namespaces, which entities are for, are far shorter."""


def check_markup(path: Path) -> None:
    """Raise `InputError` for XML that is not well formed or that is built to exhaust its reader."""
    parser = expat.ParserCreate()
    depth = 0

    def place() -> str:
        return f"{path}:{parser.CurrentLineNumber}:{parser.CurrentColumnNumber + 1}"

    def start(name: str, attributes: Any) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise InputError(f"{place()}: elements nested over {MAX_DEPTH} deep; flatten the file")
        if len(attributes) > MAX_ATTRIBUTES:
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

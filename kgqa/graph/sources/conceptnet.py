"""ConceptNet's assertion dump (Speer et al., 2017): `/a/[...] /r/Relation /c/en/head /c/en/tail {json}`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from kgqa.graph.sources.files import numbered_lines
from kgqa.graph.sources.statements import Tally
from kgqa.types import InputError, Triple

_SKIPPED = frozenset({"/r/ExternalURL"})


def read_conceptnet(path: Path, tally: Tally, languages: tuple[str, ...] = ("en",)) -> Iterator[Triple]:
    """Facts whose both ends are in one of `languages` (all, where none is named).

    A term's part of speech and sense are dropped (`/c/en/dig/v` is `/c/en/dig`), as retrieval by surface
    form cannot tell them apart. Raises `InputError` with the line that is no assertion.
    """
    wanted = tuple(f"/c/{language}/" for language in languages) or ("/c/",)
    for number, line in numbered_lines(path, "utf-8"):
        cells = line.split("\t")
        if len(cells) != 5 or not line.startswith("/a/"):
            if not line.strip():
                continue
            raise InputError(
                f"{path}:{number}: no ConceptNet assertion; expected /a/[...], relation, start, end "
                "and JSON, with tabs between"
            )
        _, relation, head, tail, details = cells
        if not (head.startswith(wanted) and tail.startswith(wanted)):
            tally.skipped["assertion in another language"] += 1
        elif relation in _SKIPPED:
            tally.skipped["link to another site"] += 1
        else:
            yield Triple(_term(head), relation, _term(tail), _weight(path, number, details))


def _term(term: str) -> str:
    return "/".join(term.split("/", 4)[:4])


def _weight(path: Path, number: int, details: str) -> float:
    try:
        return float(json.loads(details).get("weight", 1.0))
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise InputError(f"{path}:{number}:5: details are not JSON with a weight; fetch it again") from None

"""The manifest of a store: its contents, checksums, and the types of its relations."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from kgqa.graph.relation_types import is_closed_world, types_by_name, types_by_values, types_by_vocabulary
from kgqa.settings import write_whole
from kgqa.types import Edges, InputError, Ints

# Reading and writing the manifest, which ends with a checksum of itself.

FORMAT = 2
"""Version of the store format; raised when older stores can no longer be read."""
MANIFEST = "manifest.json"
_SEAL = ',\n "checksum": "'
_END = '"\n}'


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a store's manifest atomically, with its own checksum as the last key."""
    text = json.dumps(manifest, ensure_ascii=False, indent=1).removesuffix("\n}")
    write_whole(folder / MANIFEST, f"{text}{_SEAL}{_checksum(text)}{_END}")


def read_manifest(folder: Path, remedy: str) -> dict[str, Any]:
    """The manifest of a store."""
    path = folder / MANIFEST
    try:
        text = path.read_text(encoding="utf-8")
        manifest: dict[str, Any] = json.loads(text)
        if manifest["format"] != FORMAT:
            raise InputError(
                f"{folder}: store format {manifest['format']}, this kgqa reads {FORMAT}; {remedy}"
            )
        body, _, seal = text.rpartition(_SEAL)
        if seal != _checksum(body) + _END:
            raise ValueError("wrong checksum")
        del manifest["checksum"]
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        why = f"no {error} in it" if isinstance(error, KeyError) else getattr(error, "strerror", 0) or error
        raise InputError(f"{path}: damaged ({why}); {remedy}") from None
    return manifest


def _checksum(text: str) -> str:
    return xxhash.xxh3_64_hexdigest(text.encode("utf-8"))


# Relation types and closed world of a graph: determined once and stored in its manifest.

SEEN = 100_000
"""Maximum number of facts sampled, evenly spaced."""
VALUES = 50
"""Maximum number of values sampled per relation."""


def described(
    manifest: dict[str, Any], edges: Callable[[], Edges], names: Callable[[Ints], Sequence[str]]
) -> dict[str, Any]:
    """The manifest with the types of each relation and whether the graph is closed-world; existing entries are kept.

    Its entry `declared` holds what the sources state: `means` and `wider` by relation, and `complete`.
    """
    rows = manifest["relations"]
    if "complete" in manifest and all("means" in row for row in rows):
        return manifest
    declared, facts = manifest.get("declared", {}), edges()
    step = max(1, len(facts.head) // SEEN)
    relation, tail = facts.relation[::step], facts.tail[::step]
    order = np.argsort(relation, kind="stable")
    starts = np.searchsorted(relation[order], np.arange(len(rows) + 1))
    made = []
    for number, row in enumerate(rows):
        if "means" in row:
            made.append(row)
            continue
        own = declared.get("means", {}).get(row["name"])
        if own is not None:
            found, unit = types_by_name(own), ""
        else:
            wider = declared.get("wider", {}).get(row["name"], "")
            declared_types = types_by_vocabulary(row["name"], row["label"], row["words"], wider)
            seen = tail[order[starts[number] : starts[number + 1]][:VALUES]]
            found, unit = types_by_values(declared_types, row["label"], names(seen))
        made.append(row | {"means": sorted(found), "unit": unit})
    weight = facts.weight[::step]
    complete = declared.get("complete")
    if complete is None:
        # weights that differ are typicalities, as in ConceptNet
        weighed = bool(len(weight)) and bool((weight != weight[0]).any())
        complete = is_closed_world([(row["name"], row["count"]) for row in rows], weighed)
    return {"complete": complete, **manifest, "relations": made}

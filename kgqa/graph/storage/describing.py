"""What is known of a graph besides its facts: worked out once, and written into its manifest."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from kgqa.graph.meanings import meanings_called, meanings_told, says_all
from kgqa.types import Floats, InputError


def described(manifest: dict[str, Any], weights: Floats) -> dict[str, Any]:
    """A manifest with what each relation means and whether the graph is complete; what it says already stays.

    `declared` in it is what the sources say of this: `means` and `wider` relations by name, and `complete`. `weights`
    are those of all facts (E,).

    Raises:
        InputError: it says that a relation means what no relation can mean.
    """
    rows = manifest["relations"]
    if "complete" in manifest and all("means" in row for row in rows):
        return manifest
    declared = manifest.get("declared", {})

    def means(row: dict[str, Any]) -> list[str]:
        own = declared.get("means", {}).get(row["name"])
        if own is not None:
            return sorted(meanings_called(own))
        wider = declared.get("wider", {}).get(row["name"], "")
        return sorted(meanings_told(row["name"], row["label"], row["words"], wider))

    complete = declared.get("complete")
    if complete is None:
        weighed = bool((weights != weights[:1]).any())
        complete = says_all([(row["name"], row["count"]) for row in rows], weighed)
    known = [row if "means" in row else row | {"means": means(row)} for row in rows]
    return {"complete": complete, **manifest, "relations": known}


def write_manifest(path: Path, manifest: dict[str, Any]) -> None:
    """Write a store's manifest, atomically.

    Raises:
        InputError: it cannot be written there.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(json.dumps(manifest, ensure_ascii=False, indent=1), encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another folder") from None

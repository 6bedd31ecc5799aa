"""The manifest of a store: what it holds, the checksums of its files, and one of itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import xxhash

from kgqa.assets import write_whole
from kgqa.types import InputError

FORMAT = 2
"""Version of the store folder; raised whenever older folders can no longer be read."""
MANIFEST = "manifest.json"
_SEAL = ',\n "checksum": "'
_END = '"\n}'


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a store's manifest, atomically, and its own checksum as the last of its keys.

    Raises:
        InputError: it cannot be written.
    """
    text = json.dumps(manifest, ensure_ascii=False, indent=1).removesuffix("\n}")
    write_whole(folder / MANIFEST, f"{text}{_SEAL}{_checksum(text)}{_END}")


def read_manifest(folder: Path, remedy: str) -> dict[str, Any]:
    """The manifest of a store.

    Raises:
        InputError: it cannot be read, is damaged, or is that of another format; the message ends with `remedy`.
    """
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
            raise ValueError("its checksum is another")
        del manifest["checksum"]
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        why = f"no {error} in it" if isinstance(error, KeyError) else getattr(error, "strerror", 0) or error
        raise InputError(f"{path}: damaged ({why}); {remedy}") from None
    return manifest


def _checksum(text: str) -> str:
    return xxhash.xxh3_64_hexdigest(text.encode("utf-8"))

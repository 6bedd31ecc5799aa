"""What a store holds: its columns, its label index (sorted hashes of all keys that find an entity) and its manifest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from kgqa.graph.linking.label_keys import (
    BOOLEAN,
    default_label,
    hash_keys,
    is_value,
    keys_of,
    part_keys,
    plain_key,
    split_literal,
)
from kgqa.graph.linking.normalize import is_known, local_name, split_local_name
from kgqa.graph.relation_types import is_closed_world, types_by_name, types_by_values, types_by_vocabulary
from kgqa.renamed import current_manifest
from kgqa.settings import write_whole
from kgqa.types import Edges, InputError, Ints

ARRAYS = {
    "edge_head": "<i4",  # (E,) facts in the order of heads, heaviest first within one
    "edge_relation": "<i4",  # (E,)
    "edge_tail": "<i4",  # (E,)
    "edge_weight": "<f4",  # (E,)
    "edge_graph": "<i4",  # (E,), or empty if no fact has a named graph
    "out_pointer": "<i8",  # (V + 1,) rows of edge_* by head
    "in_pointer": "<i8",  # (V + 1,) rows of in_edge by tail
    "in_edge": "<i4",  # (E,) rows of edge_* in the order of tails, heaviest first within one
    "name_offsets": "<i8",  # (V + 1,)
    "name_text": "u1",
    "label_pointer": "<i8",  # (V + 1,) rows of label_* by entity, preferred first
    "label_offsets": "<i8",  # (L + 1,)
    "label_text": "u1",
    "label_language": "<i4",  # (L,)
    "label_preferred": "u1",  # (L,)
    "key_hash": "<u8",  # (K,) sorted
    "key_entity": "<i4",  # (K,)
    "kind": "u1",  # (V,) type: 1 + index into the manifest's kinds, 0 for none; empty without kinds
}
MAX_OF_PART = 3
"""Maximum number of entities with a word in their name for the word alone to find them."""
FOREIGN = "\2"
"""Prefix of the key of a label in another language that is another entity's label in the main one, or an English
word."""
_AT_ONCE = 50_000

_Keys = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Hashes of keys (K,), the entities with these keys (K,), and ranks (K,): 0 for preferred labels and names, 1 for other
labels and their variants, 2 for labels in another language."""
_FOREIGN = 2


def memory_map(path: Path, dtype: str) -> NDArray[Any]:
    """A file that holds one column, memory-mapped."""
    if not path.stat().st_size:
        return np.zeros(0, dtype=dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))


def column(folder: Path, name: str) -> NDArray[Any]:
    """A column of a store, mapped into memory."""
    return memory_map(folder / f"{name}.bin", ARRAYS[name])


def write_label_index(
    folder: Path, degrees: NDArray[np.int64], foreign: NDArray[np.bool_], foreign_only: NDArray[np.bool_]
) -> None:
    """Write `key_hash` and `key_entity`: the keys of all names, labels and parts of names.

    The entities of a key are sorted by rank, then by degree. A label in another language that is also another entity's
    label in the main language, or an English word, has its key marked by `FOREIGN`: German "Gift" (poison) must not be
    found by English "gift", nor French "lit" (bed) by "lit". `degrees` is (V,), `foreign` (L,); entities in
    `foreign_only` (V,) have labels only in other languages, so they are also found by the words of their name.
    """
    found, parts = [_hashed(())], [_hashed(())]
    for start, names in _texts(folder, "name"):
        found.append(_hashed(("\0" + name, entity, 0) for entity, name in enumerate(names, start)))
    for labels in _labels(folder, foreign, foreign_only):
        found.append(
            _hashed(
                (key, entity, max(rank, int(place > 0)))
                for entity, text, rank in labels
                for place, key in enumerate(_keys_of(text, rank))
            )
        )
        parts.append(_hashed((key, entity, 1) for entity, text, _ in labels for key in part_keys(text)))
    part, owner, rank = _distinct(parts)
    _, place, count = np.unique(part, return_inverse=True, return_counts=True)
    rare = count[place] <= MAX_OF_PART
    found.append((part[rare], owner[rare], rank[rare]))
    key, entity, rank = _distinct(found)
    _, place = np.unique(key, return_inverse=True)
    known = np.bincount(place, rank < _FOREIGN) > 0
    kept = (rank < _FOREIGN) | ~known[place]
    if not kept.all():
        marked = _marked(_labels(folder, foreign, foreign_only), np.unique(key[~kept]))
        key, entity, rank = _distinct([(key[kept], entity[kept], rank[kept]), *marked])
    order = np.lexsort((entity, -degrees[entity], rank, key))
    key[order].tofile(folder / "key_hash.bin")
    entity[order].tofile(folder / "key_entity.bin")


def _keys_of(label: str, rank: int) -> list[str]:
    """Keys of a label; those of one in another language are as written, and marked where they are English words."""
    keys = keys_of(label)
    if rank != _FOREIGN:
        return keys
    plain = [key for key in keys if key == plain_key(label) or "(" in label]
    return [FOREIGN + key if is_known(key) else key for key in plain]


def _marked(chunks: Iterable[list[tuple[int, str, int]]], left_out: NDArray[Any]) -> Iterator[_Keys]:
    """Marked keys of the labels in other languages whose own keys are among `left_out` (sorted)."""
    for labels in chunks:
        rows = [
            (key, entity) for entity, text, rank in labels if rank == _FOREIGN for key in _keys_of(text, rank)
        ]
        hashes = hash_keys(key for key, _ in rows)
        place = np.searchsorted(left_out, hashes).clip(max=len(left_out) - 1)
        at = np.flatnonzero(left_out[place] == hashes).tolist()
        yield _hashed((FOREIGN + rows[n][0], rows[n][1], _FOREIGN) for n in at)


def _texts(folder: Path, name: str) -> Iterator[tuple[int, list[str]]]:
    """Strings of a column in chunks, each with the row of its first string."""
    offsets, text = column(folder, f"{name}_offsets"), column(folder, f"{name}_text")
    for start in range(0, len(offsets) - 1, _AT_ONCE):
        cuts = offsets[start : start + _AT_ONCE + 1]
        raw = text[cuts[0] : cuts[-1]].tobytes()
        yield start, [raw[a:b].decode("utf-8") for a, b in pairwise((cuts - cuts[0]).tolist())]


def _labels(
    folder: Path, foreign: NDArray[np.bool_], foreign_only: NDArray[np.bool_]
) -> Iterator[list[tuple[int, str, int]]]:
    """(entity, label, rank) in chunks."""
    counts = np.diff(column(folder, "label_pointer"))
    for start, names in _texts(folder, "name"):
        bare = (counts[start : start + len(names)] == 0).tolist()
        yield [
            (entity, text, int(not preferred))
            for entity, name, is_bare in zip(range(start, start + len(names)), names, bare, strict=True)
            if is_bare or foreign_only[entity]
            for text, preferred in _names_as_labels(name)
        ]
    owner, preferred = np.repeat(np.arange(len(counts)), counts), column(folder, "label_preferred")
    ranks = np.where(foreign, _FOREIGN, 1 - preferred.astype(np.int64))
    for start, texts in _texts(folder, "label"):
        rows = slice(start, start + len(texts))
        yield list(zip(owner[rows].tolist(), texts, ranks[rows].tolist(), strict=True))


def _names_as_labels(name: str) -> Iterator[tuple[str, bool]]:
    """Default labels of an entity, each with whether it is preferred; for a literal, also its text as written."""
    if not name.endswith(f"<{BOOLEAN}>"):  # a Boolean must not be found by "no" or "yes"
        yield default_label(name), True
        if "://" in name:  # the split form is not preferred: "YouTube" should not rank as "You Tube"
            yield local_name(name).replace("_", " "), False
            yield split_local_name(name), False
    if is_value(name):
        yield split_literal(name)[0], False


def _hashed(rows: Iterable[tuple[str, int, int]]) -> _Keys:
    known = list(rows)
    entities = np.array([entity for _, entity, _ in known], dtype=np.int32)
    return hash_keys(key for key, _, _ in known), entities, np.array([r for _, _, r in known], dtype=np.uint8)


def _distinct(parts: Sequence[_Keys]) -> _Keys:
    """Sorted keys, each once per entity, with its best rank."""
    key, entity, rank = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((rank, entity, key))
    key, entity, rank = key[order], entity[order], rank[order]
    new = np.ones(len(key), dtype=bool)
    new[1:] = (key[1:] != key[:-1]) | (entity[1:] != entity[:-1])
    return key[new], entity[new], rank[new]


# Reading and writing the manifest, which ends with a checksum of itself.

FORMAT = 2
"""Version of the store format; raised when older stores can no longer be read.

A number and no fingerprint of code: it is no cache key. Stores of `kgqa graph import --out` are kept and passed on, and
must outlive every edit of this code that reads them as before. Compiled graphs in the cache are keyed by fingerprint.
"""
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
        raise InputError(f"{path}: damaged ({damage(error)}); {remedy}") from None
    return manifest


def damage(error: Exception) -> object:
    """What is wrong with a file of a store, by the error that reading it raised."""
    return f"no {error} in it" if isinstance(error, KeyError) else getattr(error, "strerror", 0) or error


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

    Its entry `declared` holds what the sources state: `types` and `wider` by relation, and `closed_world`.
    """
    manifest = current_manifest(manifest)
    rows = manifest["relations"]
    if "closed_world" in manifest and all("types" in row for row in rows):
        return manifest
    declared, facts = manifest.get("declared", {}), edges()
    step = max(1, len(facts.head) // SEEN)
    relation, tail = facts.relation[::step], facts.tail[::step]
    order = np.argsort(relation, kind="stable")
    starts = np.searchsorted(relation[order], np.arange(len(rows) + 1))
    made = []
    for number, row in enumerate(rows):
        if "types" in row:
            made.append(row)
            continue
        own = declared.get("types", {}).get(row["name"])
        if own is not None:
            found, unit = types_by_name(own), ""
        else:
            wider = declared.get("wider", {}).get(row["name"], "")
            declared_types = types_by_vocabulary(row["name"], row["label"], row["words"], wider)
            seen = tail[order[starts[number] : starts[number + 1]][:VALUES]]
            found, unit = types_by_values(declared_types, row["label"], names(seen))
        made.append(row | {"types": sorted(found), "unit": unit})
    weight = facts.weight[::step]
    closed_world = declared.get("closed_world")
    if closed_world is None:
        # weights that differ are typicalities, as in ConceptNet
        weighed = bool(len(weight)) and bool((weight != weight[0]).any())
        closed_world = is_closed_world([(row["name"], row["count"]) for row in rows], weighed)
    return {"closed_world": closed_world, **manifest, "relations": made}

"""Statements to a store folder, in a stream and within bounded memory.

Names become ids as they come; facts go to scratch files and are sorted part by part, so that the memory
needed grows with the number of entities (about 30 bytes each), not of facts. The folder appears whole, by
one rename, or not at all.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.label_keys import (
    MOST_OF_PART,
    default_labels,
    hash_keys,
    other_base_keys,
    part_keys,
    plain_keys,
    without_brackets,
)
from kgqa.graph.linking.literals import BOOLEAN, is_value, split_literal
from kgqa.graph.sources.statements import Statement, batches
from kgqa.graph.sources.vocabulary import steps_of
from kgqa.graph.storage.advice import advise
from kgqa.graph.storage.csr import sort_by_head, sort_by_tail
from kgqa.graph.storage.relation_names import name_relations
from kgqa.graph.storage.scratch import Names, Scratch
from kgqa.types import InputError, Relation

FORMAT = 1
MANIFEST = "manifest.json"
ARRAYS = {
    "edge_head": "<i4",  # (E,) facts in the order of heads, heaviest first within one
    "edge_relation": "<i4",  # (E,)
    "edge_tail": "<i4",  # (E,)
    "edge_weight": "<f4",  # (E,)
    "edge_graph": "<i4",  # (E,), or empty where no fact has a named graph
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
    "kind": "u1",  # (V,) one more than the place in the manifest's kinds, 0 for none; empty without kinds
}
_CHUNK = 200_000
_MOST_KINDS = 255
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Progress = Callable[[str, int], None]


def write_store(
    statements: Iterable[Statement],
    folder: str | Path,
    relations: Iterable[Relation] = (),
    name: str = "",
    language: str = "en",
    about: dict[str, Any] | None = None,
    progress: Progress | None = None,
    inverses: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Write a store of `statements` to `folder`, whole or not at all, and return its manifest.

    `language` is preferred for labels; `relations` name relations, before the labels of the source do;
    `about` is added to the manifest (licence, sources); `inverses` names for a relation the one that says it the other
    way round; `kinds` says what kind of thing an entity is. All four may still be filled while statements are read.
    `progress` hears (stage, count). A store that stands at `folder` is replaced; any other non-empty folder
    is an `InputError`.
    """
    folder = Path(folder)
    if folder.is_symlink():  # what it points to is replaced, not the link
        folder = folder.resolve()
    if folder.exists() and not (folder / MANIFEST).is_file() and _holds_something(folder):
        raise InputError(f"{folder}: is not a graph store and not empty; choose another --out")
    temporary, lock = _scratch_folder(folder)
    try:
        turned, sorts = {} if inverses is None else inverses, {} if kinds is None else kinds
        manifest = _write(
            statements, temporary, relations, name or folder.name, language, progress, turned, sorts
        )
        manifest |= about or {}
        manifest["warnings"] = advise(manifest, _unlabelled(temporary))
        text = json.dumps(manifest, ensure_ascii=False, indent=1)
        (temporary / MANIFEST).write_text(text, encoding="utf-8")
        temporary.chmod(0o755)
        _put_in_place(temporary, folder)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise InputError(f"{folder}: {error.strerror}; make room, or choose another --out") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        os.close(lock)
    return manifest


def _holds_something(folder: Path) -> bool:
    return not folder.is_dir() or any(folder.iterdir())


def _scratch_folder(folder: Path) -> tuple[Path, int]:
    """A new hidden folder beside `folder`, locked as long as this process lives."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        clear_abandoned(folder)
        while True:
            made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=".part", dir=folder.parent))
            try:
                lock = os.open(made, os.O_RDONLY)
            except FileNotFoundError:  # another import has swept it away before it was locked
                continue
            fcntl.flock(lock, fcntl.LOCK_EX)
            if made.exists():  # or has just before it was
                return made, lock
            os.close(lock)
    except OSError as error:
        raise InputError(f"{folder}: cannot write here ({error.strerror}); choose another --out") from None


def clear_abandoned(folder: Path) -> None:
    """Remove what a killed import left: a scratch folder that nobody holds locked."""
    for path in folder.parent.glob(f".{glob.escape(folder.name)}-*.part*"):
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(handle)


def _put_in_place(temporary: Path, folder: Path) -> None:
    """Rename; a store that stands there is moved aside first. Of two that race, the later one stays."""
    for _ in range(100):
        aside = temporary.with_name(temporary.name + ".old")
        with suppress(FileNotFoundError):
            os.rename(folder, aside)
        try:
            os.rename(temporary, folder)
        except OSError as error:
            last = error
            continue
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return
    raise InputError(f"{folder}: cannot be replaced ({last.strerror}); choose another --out")


def _write(
    statements: Iterable[Statement],
    folder: Path,
    given: Iterable[Relation],
    name: str,
    language: str,
    progress: Progress | None,
    inverses: Mapping[str, str],
    kinds: Mapping[str, str],
) -> dict[str, Any]:
    report = progress or (lambda stage, count: None)
    scratch = Scratch(folder / "scratch")
    read = 0
    for batch in batches(statements):
        scratch.add(batch)
        read += len(batch)
        report("reading", read)
    scratch.close()
    keep = scratch.used_entities()
    ids = np.cumsum(keep, dtype=np.int64) - 1  # old id -> new id, where kept
    report("sorting", scratch.edge_count)
    counts = sort_by_head(scratch, ids, int(keep.sum()), folder)
    sort_by_tail(folder, len(counts))
    report("labels", len(counts))
    steps = {step for relation in scratch.relations for step in steps_of(relation)}
    relation_labels = scratch.write_labels(keep, folder, language, steps | set(inverses.values()))
    kind_table = _write_kinds(kinds, scratch.names, ids, keep, folder)
    _copy_names(scratch.names, keep, folder)
    _index(folder, counts, report)
    shutil.rmtree(folder / "scratch")

    sizes = {
        key: (folder / f"{key}.bin").stat().st_size // np.dtype(dtype).itemsize
        for key, dtype in ARRAYS.items()
    }
    used = np.bincount(_read(folder, "edge_relation"), minlength=len(scratch.relations)).tolist()
    table = name_relations(list(scratch.relations), tuple(given), relation_labels, inverses)
    return {
        "format": FORMAT,
        "name": name,
        "hash": _content_hash(folder, table),
        "entities": len(counts),
        "edges": sizes["edge_tail"],
        "labels": sizes["label_language"],
        "labelled": int((np.diff(_read(folder, "label_pointer")) > 0).sum()),
        "self_loops_dropped": scratch.self_loops,
        "largest_degree": int(counts.max()) if len(counts) else 0,
        "languages": list(scratch.languages),
        "graphs": list(scratch.graphs),
        "kinds": kind_table,
        "relations": [
            {
                "name": relation.name,
                "label": relation.label,
                "words": relation.words,
                "inverse": relation.inverse,
                "count": count,
                "labelled": relation.name in relation_labels,
            }
            for relation, count in zip(table, used, strict=True)
        ],
        "sizes": sizes,
    }


def _write_kinds(
    kinds: Mapping[str, str], names: Names, ids: NDArray[np.int64], keep: NDArray[np.bool_], folder: Path
) -> list[str]:
    """The names of the kinds; the column counts from one, since most graphs say nothing of most entities."""
    found = [(names.find(name), kind) for name, kind in kinds.items()]
    table = sorted({kind for at, kind in found if at >= 0 and keep[at]})[:_MOST_KINDS]
    place = {kind: number for number, kind in enumerate(table, 1)}
    column = np.zeros(int(keep.sum()) if table else 0, dtype=np.uint8)
    for at, kind in found:
        if at >= 0 and keep[at]:
            column[ids[at]] = place.get(kind, 0)
    column.tofile(folder / "kind.bin")
    return table


def _read(folder: Path, name: str) -> NDArray[Any]:
    path = folder / f"{name}.bin"
    if not path.stat().st_size:
        return np.zeros(0, dtype=ARRAYS[name])
    return np.asarray(np.memmap(path, dtype=ARRAYS[name], mode="r"))


def _unlabelled(folder: Path, most: int = 2000) -> list[str]:
    """Names of entities without label, a sample at equal distances."""
    bare = np.flatnonzero(np.diff(_read(folder, "label_pointer")) == 0)
    offsets, text = _read(folder, "name_offsets"), _read(folder, "name_text")
    chosen = bare[:: max(1, len(bare) // most)].tolist()
    return [text[offsets[i] : offsets[i + 1]].tobytes().decode("utf-8") for i in chosen]


def _copy_names(names: Names, keep: NDArray[np.bool_], folder: Path) -> None:
    lengths = names.lengths()
    np.concatenate([[0], np.cumsum(lengths[keep])]).astype("<i8").tofile(folder / "name_offsets.bin")
    if keep.all():
        os.replace(names.path, folder / "name_text.bin")
        return
    with (folder / "name_text.bin").open("wb") as file, names.path.open("rb") as old:
        for start in range(0, len(keep), _CHUNK):
            part = lengths[start : start + _CHUNK]
            text = np.frombuffer(old.read(int(part.sum())), dtype=np.uint8)
            file.write(text[np.repeat(keep[start : start + _CHUNK], part)].tobytes())


def _texts(text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
    """Strings of one stretch of a text column."""
    base = int(offsets[0])
    raw = text[base : int(offsets[-1])].tobytes()
    cuts = (offsets - base).tolist()
    if raw.isascii():
        whole = raw.decode("ascii")
        return [whole[a:b] for a, b in pairwise(cuts)]
    return [raw[a:b].decode("utf-8") for a, b in pairwise(cuts)]


def _surfaces(folder: Path) -> Iterator[tuple[list[str], NDArray[np.int64], NDArray[np.bool_], bool]]:
    """Texts to be found, in chunks: names (flag set), words of names where there is no label, labels."""
    offsets, text = _read(folder, "name_offsets"), _read(folder, "name_text")
    pointer = _read(folder, "label_pointer")
    for start in range(0, len(offsets) - 1, _CHUNK):
        names = _texts(text, offsets[start : start + _CHUNK + 1])
        ids = np.arange(start, start + len(names))
        yield ["\0" + name for name in names], ids, np.ones(len(names), dtype=bool), True
        bare = np.diff(pointer[start : start + len(names) + 1]) == 0
        unsaid = [name for name, is_bare in zip(names, bare.tolist(), strict=True) if is_bare]
        texts = default_labels(unsaid)
        said = np.array(
            [not name.endswith(f"<{BOOLEAN}>") for name in unsaid], dtype=bool
        )  # "no" names nothing
        yield (
            [text for text, is_said in zip(texts, said, strict=True) if is_said],
            ids[bare][said],
            said[said],
            False,
        )
        values = [(i, value) for i, name in zip(ids[bare], unsaid, strict=True) if (value := _value(name))]
        yield (
            [value for _, value in values],
            np.array([i for i, _ in values], dtype=np.int64),
            _none(values),
            False,
        )
    offsets, text = _read(folder, "label_offsets"), _read(folder, "label_text")
    owner = np.repeat(np.arange(len(pointer) - 1), np.diff(pointer))
    preferred = _read(folder, "label_preferred").astype(bool)
    for start in range(0, len(owner), _CHUNK):
        stop = start + _CHUNK
        texts = _texts(text, offsets[start : stop + 1])
        yield texts, owner[start:stop], preferred[start:stop], False


def _value(name: str) -> str:
    """What a literal is written as, where that is not how it is shown."""
    return split_literal(name)[0] if is_value(name) else ""


def _none(rows: Sequence[object]) -> NDArray[np.bool_]:
    return np.zeros(len(rows), dtype=bool)


def _index(folder: Path, degrees: NDArray[np.int64], report: Progress) -> None:
    """Sorted hashes of every key: of a name, of a label's plain words, of a label's words in base form, of a part."""
    hashes: list[NDArray[Any]] = []
    entities: list[NDArray[Any]] = []
    ranks: list[NDArray[Any]] = []
    part_hashes, part_entities = [np.zeros(0, dtype="<u8")], [np.zeros(0, dtype=np.int32)]
    for texts, ids, preferred, is_name in _surfaces(folder):
        if not is_name and texts:
            for found, keep in ((without_brackets, hashes), (part_keys, part_hashes)):
                places, keys = found(texts)
                keep.append(hash_keys(keys))
                (entities if keep is hashes else part_entities).append(ids[places].astype(np.int32))
                if keep is hashes:
                    ranks.append(np.ones(len(places), dtype=np.uint8))
        keys = texts if is_name else plain_keys(texts)
        if "" in keys:
            filled = np.array([bool(key) for key in keys])
            keys, ids, preferred = [key for key in keys if key], ids[filled], preferred[filled]
        hashes.append(hash_keys(keys))
        entities.append(ids.astype(np.int32))
        ranks.append((~preferred).astype(np.uint8))
        if is_name:
            continue
        other, bases = other_base_keys(keys)
        hashes.append(hash_keys(bases))
        entities.append(ids[other].astype(np.int32))
        ranks.append(np.ones(len(other), dtype=np.uint8))
        report("indexing", len(texts))
    part, owner = np.concatenate(part_hashes), np.concatenate(part_entities)
    order = np.lexsort((owner, part))
    part, owner = part[order], owner[order]
    new = np.append(True, (part[1:] != part[:-1]) | (owner[1:] != owner[:-1]))[: len(part)]
    part, owner = part[new], owner[new]
    _, place, count = np.unique(part, return_inverse=True, return_counts=True)
    rare = count[place] <= MOST_OF_PART
    hashes.append(part[rare])
    entities.append(owner[rare])
    ranks.append(np.ones(int(rare.sum()), dtype=np.uint8))
    key, entity, rank = (
        np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)
        for parts, dtype in ((hashes, "<u8"), (entities, "<i4"), (ranks, "u1"))
    )
    order = np.argsort(key)
    key, entity, rank = key[order], entity[order], rank[order]
    alike = np.zeros(len(key) + 1, dtype=bool)
    alike[1:-1] = key[1:] == key[:-1]
    shared = np.flatnonzero(alike[1:] | alike[:-1])  # most keys are of one entity, and in their place
    order = shared[np.lexsort((entity[shared], -degrees[entity[shared]], rank[shared], key[shared]))]
    entity[shared] = entity[order]
    # The same entity may bear one key twice (two languages, plain and base): keep its best place.
    pairs = shared[np.lexsort((shared, entity[shared], key[shared]))]
    again = np.zeros(len(key), dtype=bool)
    again[pairs[1:]] = (key[pairs[1:]] == key[pairs[:-1]]) & (entity[pairs[1:]] == entity[pairs[:-1]])
    key[~again].tofile(folder / "key_hash.bin")
    entity[~again].tofile(folder / "key_entity.bin")


def _content_hash(folder: Path, relations: list[Relation]) -> str:
    said = [f"Relation(name={r.name!r}, label={r.label!r}, words={r.words!r})" for r in relations]
    digest = blake2b(f"({FORMAT}, [{', '.join(said)}])".encode(), digest_size=16)
    for name in ARRAYS:
        with (folder / f"{name}.bin").open("rb") as file:
            while chunk := file.read(1 << 22):
                digest.update(chunk)
    return digest.hexdigest()

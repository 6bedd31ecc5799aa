"""Write a stream of statements to a store folder, in bounded memory.

Names are converted to ids as they arrive; facts are written to scratch files and sorted part by part. So memory grows
with the number of entities (about 30 bytes each), not with that of facts. The folder is put in place by a single
rename.
"""

from __future__ import annotations

import errno
import glob
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import xxhash
from numpy.typing import NDArray

from kgqa.graph.formats.source_files import UNSTATED, Batch, Statement, batches
from kgqa.graph.formats.vocabulary import steps_of
from kgqa.graph.linking.label_keys import default_label
from kgqa.graph.storage.layout import (
    ARRAYS,
    FORMAT,
    MANIFEST,
    column,
    memory_map,
    write_label_index,
    write_manifest,
)
from kgqa.graph.storage.relation_names import name_relations
from kgqa.settings import hold
from kgqa.types import InputError, Relation

_LABELS_AT_ONCE = 200_000
_FACTS = ("head", "relation", "tail", "weight", "graph")
_LABELS = ("label_entity", "label_language", "label_preferred", "label_length", "label_text")


class Names:
    """Maps names to ids, in order of first appearance. It takes 12 bytes of memory per name; the text is on disk.

    Names are distinguished by Python's keyed 64-bit string hash (SipHash): among 10 million names, the probability of a
    collision is 3 in a million, and since the key is random, no file can provoke one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb")
        self._hashes = np.zeros(0, dtype=np.int64)  # sorted
        self._ids = np.zeros(0, dtype=np.int32)
        self._lengths = [np.zeros(0, dtype=np.int32)]

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, names: list[str]) -> NDArray[np.int32]:
        """Id of each name; new names get the next ids. Raises InputError if there are more than 2^31."""
        hashes = np.fromiter(map(hash, names), dtype=np.int64, count=len(names))
        ordered, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        at = np.searchsorted(self._hashes, ordered)
        known = np.zeros(len(ordered), dtype=bool)
        inside = at < len(self._hashes)
        known[inside] = self._hashes[at[inside]] == ordered[inside]
        ids = np.empty(len(ordered), dtype=np.int32)
        ids[known] = self._ids[at[known]]
        fresh = np.flatnonzero(~known)
        if len(fresh):
            if len(self) + len(fresh) >= 2**31:
                raise InputError("more than 2^31 entities: serve this graph from a SPARQL endpoint instead")
            fresh = fresh[np.argsort(first[fresh])]
            ids[fresh] = np.arange(len(self), len(self) + len(fresh), dtype=np.int32)
            text, lengths = _encoded([names[i] for i in first[fresh].tolist()])
            self._lengths.append(lengths)
            self._file.write(text)
            self._ids = np.insert(self._ids, at[~known], ids[~known])
            self._hashes = np.insert(self._hashes, at[~known], ordered[~known])
        return ids[inverse]

    def find(self, name: str) -> int:
        at = int(np.searchsorted(self._hashes, hash(name)))
        return int(self._ids[at]) if at < len(self) and self._hashes[at] == hash(name) else -1

    def lengths(self) -> NDArray[np.int64]:
        """Length of each name in bytes, in the order of ids."""
        return np.concatenate(self._lengths).astype(np.int64)

    def close(self) -> None:
        self._file.close()


class Scratch:
    """Columns of facts and labels in scratch files of `folder`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.names = Names(folder / "names.bin")
        self.relations: dict[str, int] = {}
        self.graphs: dict[str, int] = {"": 0}
        self.languages: dict[str, int] = {"": 0}
        self.edge_count = 0
        self.self_loops = 0
        self._files: dict[str, BinaryIO] = {
            name: (folder / f"{name}.bin").open("wb") for name in (*_FACTS, *_LABELS)
        }

    def add(self, batch: Batch) -> None:
        """Append a batch; facts from an entity to itself are dropped and counted.

        Raises InputError if there are more than 2^31 facts or entities.
        """
        if batch.heads:
            count = len(batch.heads)
            both = self.names.add(batch.heads + batch.tails)
            head, tail = both[:count], both[count:]
            kept = head != tail
            self.self_loops += count - int(kept.sum())
            self.edge_count += int(kept.sum())
            if self.edge_count >= 2**31:
                raise InputError("more than 2^31 facts: serve this graph from a SPARQL endpoint instead")
            graph = _codes(self.graphs, batch.graphs) if batch.graphs else np.zeros(count, dtype=np.int32)
            weight = np.array(batch.weights or [UNSTATED] * count, dtype=np.float32)
            relation = _codes(self.relations, batch.relations)
            for name, column in zip(_FACTS, (head, relation, tail, weight, graph), strict=True):
                self._files[name].write(column[kept].tobytes())
        if batch.labels:
            self._add_labels(batch)

    def _add_labels(self, batch: Batch) -> None:
        text, lengths = _encoded([label.text for label in batch.labels])
        languages = [label.language.lower() for label in batch.labels]
        columns: dict[str, NDArray[Any]] = {
            "label_entity": self.names.add([label.name for label in batch.labels]),
            "label_language": _codes(self.languages, languages),
            "label_preferred": np.array([label.preferred for label in batch.labels], dtype=np.uint8),
            "label_length": lengths,
        }
        for name, values in columns.items():
            self._files[name].write(values.tobytes())
        self._files["label_text"].write(text)

    def close(self) -> None:
        self.names.close()
        for file in self._files.values():
            file.close()

    def column(self, name: str, dtype: str = "<i4") -> NDArray[Any]:
        return memory_map(self.folder / f"{name}.bin", dtype)

    def used_entities(self) -> NDArray[np.bool_]:
        """Which names occur in a fact."""
        used = np.zeros(len(self.names), dtype=bool)
        for name in ("head", "tail"):
            used[self.column(name)] = True
        return used

    def named_entities(self, but: Iterable[str]) -> NDArray[np.bool_]:
        """Which names have a preferred label, except relations and the names in `but`."""
        named = np.zeros(len(self.names), dtype=bool)
        named[self.column("label_entity")[self.column("label_preferred", "u1") > 0]] = True
        for name in (*self.relations, *but):
            if (found := self.names.find(name)) >= 0:
                named[found] = False
        return named

    def foreign_labels(self, folder: Path, language: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which labels (L,) of a store are foreign (neither in the wanted language, nor English, nor without a
        language), of entities that have others too; and which entities (V,) have foreign labels only."""
        grade = np.array([_grade(known, language) for known in self.languages], dtype=np.int64)
        pointer = memory_map(folder / "label_pointer.bin", "<i8")
        foreign = grade[memory_map(folder / "label_language.bin", "<i4")] > NEUTRAL + 1
        counts = np.diff(pointer)
        foreign_only = np.zeros(len(counts), dtype=bool)
        labelled = np.flatnonzero(counts)
        if len(labelled):
            foreign_only[labelled] = np.logical_and.reduceat(foreign, pointer[labelled])
        return foreign & ~np.repeat(foreign_only, counts), foreign_only

    def write_labels(
        self, keep: NDArray[np.bool_], folder: Path, language: str, relations: Iterable[str]
    ) -> dict[str, list[str]]:
        """Write the label columns of a store; return for each of `relations` its labels in the language of the best
        one, best first.

        The order is: preferred labels in the wanted language or without one, alternative labels in these, labels in
        English, labels in other languages. Latin counts as without a language, since names of species are the same
        everywhere.
        """
        entity = self.column("label_entity").astype(np.int64)
        code = self.column("label_language")
        preferred = self.column("label_preferred", "u1")
        length = self.column("label_length").astype(np.int64)
        start = np.cumsum(length) - length
        text = self.column("label_text", "u1")

        grade = np.array([_grade(known, language) for known in self.languages], dtype=np.int64)
        also, grade = 1 - preferred.astype(np.int64), grade[code]
        rank = np.where(grade <= NEUTRAL, also * (NEUTRAL + 1) + grade, 2 * grade + also)
        order = np.lexsort((rank + (grade > NEUTRAL) * NEUTRAL, entity))
        owners = entity[order]
        relation_labels: dict[str, list[str]] = {}
        for name in relations:
            found = self.names.find(name)
            if found < 0:
                continue
            rows = order[np.searchsorted(owners, found) : np.searchsorted(owners, found, side="right")]
            label_texts = [
                text[start[row] : start[row] + length[row]].tobytes().decode("utf-8")
                for row in rows
                if code[row] == code[rows[0]]
            ]
            if label_texts:
                relation_labels[name] = list(dict.fromkeys(label_texts))

        order = order[keep[entity[order]]]
        if len(order):
            order = _without_repeats(order, entity, code, start, length, text)
        counts = np.bincount(entity[order], minlength=len(keep))[keep]
        np.concatenate([[0], np.cumsum(counts)]).astype("<i8").tofile(folder / "label_pointer.bin")
        np.concatenate([[0], np.cumsum(length[order])]).astype("<i8").tofile(folder / "label_offsets.bin")
        code[order].astype("<i4").tofile(folder / "label_language.bin")
        preferred[order].tofile(folder / "label_preferred.bin")
        with (folder / "label_text.bin").open("wb") as file:
            for first in range(0, len(order), _LABELS_AT_ONCE):
                rows = order[first : first + _LABELS_AT_ONCE]
                cuts = zip(start[rows].tolist(), (start[rows] + length[rows]).tolist(), strict=True)
                file.write(b"".join([text[a:b].tobytes() for a, b in cuts]))
        return relation_labels


def _without_repeats(
    order: Any, entity: Any, code: Any, start: Any, length: Any, text: Any
) -> NDArray[np.int64]:
    """Rows of `order` without repetitions of entity, language and text."""
    owners = entity[order]
    beside = owners[1:] == owners[:-1]
    # the slow comparison below is only for these; most entities have a single label
    shared = np.flatnonzero(np.append(beside, False) | np.append(False, beside))
    again = np.zeros(len(order), dtype=bool)
    seen: set[bytes] = set()
    last = -1
    for first in range(0, len(shared), _LABELS_AT_ONCE):
        places = shared[first : first + _LABELS_AT_ONCE]
        rows = order[places]
        for place, row, owner in zip(places.tolist(), rows.tolist(), entity[rows].tolist(), strict=True):
            if owner != last:
                seen, last = set(), owner
            mark = code[row].tobytes() + text[start[row] : start[row] + length[row]].tobytes()
            again[place] = mark in seen
            seen.add(mark)
    kept: NDArray[np.int64] = order[~again]
    return kept


NEUTRAL = 3
"""Grade of Latin labels, the worst of those that count as without a language (see `_grade`)."""
SHARED = ("mul", "zxx", "la")
"""Language codes of names that are the same in every language: "multiple", "none", and Latin for species."""


def _grade(known: str, wanted: str) -> int:
    """Grade of a label's language, 0 best: the wanted one, its variants, none, Latin, English, others."""
    base, wanted = known.split("-")[0], wanted.lower()
    if known == wanted:
        return 0
    if base == wanted.split("-")[0]:
        return 1
    if not known or base in SHARED:
        return NEUTRAL if base == "la" else NEUTRAL - 1
    return NEUTRAL + (1 if base == "en" else 2)


def _encoded(texts: list[str]) -> tuple[bytes, NDArray[np.int32]]:
    """All texts in UTF-8, concatenated, and the length of each in bytes."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    return b"".join(encoded), np.fromiter(map(len, encoded), dtype=np.int32, count=len(encoded))


def _codes(table: dict[str, int], values: list[str]) -> NDArray[np.int32]:
    for value in dict.fromkeys(values):
        table.setdefault(value, len(table))
    return np.fromiter(map(table.__getitem__, values), dtype=np.int32, count=len(values))


# Sort facts into compressed sparse rows, part by part, so that memory does not grow with their number.

PART = 4_000_000
"""Number of facts that are sorted at a time."""


def _parts(column: NDArray[Any], size: int, part: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """(lowest id, rows) of consecutive ranges of ids with about `part` facts each."""
    if len(column) <= part:
        yield 0, np.arange(len(column))
        return
    counts = np.zeros(size, dtype=np.int64)
    for first in range(0, len(column), part):
        counts += np.bincount(column[first : first + part], minlength=size)
    total = np.cumsum(counts)
    low, done = 0, 0
    while low < size:
        high = max(int(np.searchsorted(total, done + part, side="right")), low + 1)
        rows = [
            first + np.flatnonzero((piece >= low) & (piece < high))
            for first in range(0, len(column), part)
            for piece in (column[first : first + part],)
        ]
        yield low, np.concatenate(rows)
        done, low = int(total[high - 1]), high


def _descending(weight: NDArray[np.float32]) -> NDArray[np.int64]:
    """Integers whose ascending order is the descending order of the weights, so that one integer sort suffices."""
    bits = weight.view(np.uint32).astype(np.int64)
    ascending = np.where(bits >> 31, 0xFFFFFFFF - bits, bits + 0x80000000)
    return 0xFFFFFFFF - ascending


def sort_by_head(
    scratch: Scratch, ids: NDArray[np.int64], size: int, folder: Path, part: int = PART
) -> NDArray[np.int64]:
    """Write the columns of facts, by head and heaviest first; return the degree of each entity.

    A repeated fact is kept once, with its greatest stated weight (1 if none is stated) and the first of its named
    graphs.
    """
    columns = {name: scratch.column(name) for name in ("head", "relation", "tail", "graph")}
    weights = scratch.column("weight", "<f4")
    has_graphs = len(scratch.graphs) > 1
    out = np.zeros(size, dtype=np.int64)
    into = np.zeros(size, dtype=np.int64)
    names = ("edge_head", "edge_relation", "edge_tail", "edge_weight", "edge_graph")
    files = {name: (folder / f"{name}.bin").open("wb") for name in names}
    for low, rows in _parts(columns["head"], len(ids), part):
        facts = [column[rows] for column in columns.values()]
        head, relation, tail, weight, graph = _distinct(low, weights[rows], *facts)
        head, tail = ids[head], ids[tail]
        out += np.bincount(head, minlength=size)
        into += np.bincount(tail, minlength=size)
        for name, values in zip(names, (head, relation, tail, weight, graph), strict=True):
            if name != "edge_graph" or has_graphs:
                files[name].write(values.astype("<f4" if name == "edge_weight" else "<i4").tobytes())
    for file in files.values():
        file.close()
    for name, counts in (("out_pointer", out), ("in_pointer", into)):
        np.concatenate([[0], np.cumsum(counts)]).astype("<i8").tofile(folder / f"{name}.bin")
    return out + into


def _distinct(low: int, weight: Any, head: Any, relation: Any, tail: Any, graph: Any) -> Any:
    """Distinct facts sorted by head (the lowest is `low`), heaviest first, with weight and graph."""
    order = np.lexsort((tail, relation, head))
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for values in (head, relation, tail):
        same &= np.diff(values[order]) == 0
    first = np.flatnonzero(np.concatenate([[True], ~same])) if len(order) else order
    # fmax ignores NaN, the weight of facts that state none
    weight = np.fmax.reduceat(weight[order], first) if len(order) else weight
    weight = np.where(np.isnan(weight), np.float32(1.0), weight)
    order = order[first]
    head, relation, tail, graph = (column[order] for column in (head, relation, tail, graph))
    key = ((head.astype(np.int64) - low) << 32) | _descending(weight)
    order = np.argsort(key, kind="stable")
    return tuple(column[order] for column in (head, relation, tail, weight, graph))


def sort_by_tail(folder: Path, size: int, part: int = PART) -> None:
    """Write `in_edge`: the rows of facts sorted by tail, heaviest first."""
    tails, weights = (
        memory_map(folder / "edge_tail.bin", "<i4"),
        memory_map(folder / "edge_weight.bin", "<f4"),
    )
    with (folder / "in_edge.bin").open("wb") as file:
        for low, rows in _parts(tails, size, part):
            key = (tails[rows].astype(np.int64) - low) << 32
            order = np.argsort(key | _descending(weights[rows]), kind="stable")
            file.write(rows[order].astype("<i4").tobytes())


_CHUNK = 200_000
_MAX_KINDS = 255  # types are numbered from 1 in a column of bytes
_SAMPLE = 2_000  # unlabelled entities whose names are examined
_HUB_SHARE = 0.1  # share of all facts from which an entity is reported as a hub
# a full disk; None, since numpy's tofile raises an OSError without errno
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, None)

ProgressCallback = Callable[[str, int], None]


def write_store(
    statements: Iterable[Statement],
    folder: str | Path,
    relations: Iterable[Relation] = (),
    name: str = "",
    language: str = "en",
    about: Mapping[str, Any] = {},
    progress: ProgressCallback | None = None,
    inverses: Mapping[str, str] = {},
    entity_types: Mapping[str, str] = {},
    apart: Iterable[str] = (),
    described: Callable[[Path], dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Write a store of `statements` to `folder`, atomically, and return its manifest.

    Labels in `language` are preferred. `relations` take precedence over the source's labels of relations; `about` is
    added to the manifest (licence, sources); `inverses` maps relations to their inverses, `entity_types` entities to
    their types; `apart` are names with a label that are not entities. These five are used after all
    statements are read, so reading may still fill them. `progress` is called with (stage, count). `described` makes the
    final manifest from the finished store, before it is put in place. An existing store at `folder` is
    replaced; other non-empty folders raise `InputError`.
    """
    folder = Path(folder)
    if folder.is_symlink():  # replace the target, not the link
        folder = folder.resolve()
    is_taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if is_taken and not _is_store_alone(folder):
        raise InputError(f"{folder}: contains other files than a graph store; choose another --out")
    with _replacing(folder) as made:
        report = progress or (lambda stage, count: None)
        scratch = Scratch(made / "scratch")
        read = 0
        for batch in batches(statements):
            scratch.add(batch)
            read += len(batch)
            report("reading", read)
        scratch.close()
        keep = scratch.used_entities() | scratch.named_entities(apart)
        ids = np.cumsum(keep, dtype=np.int64) - 1  # old id -> new id, valid where `keep` is true
        report("sorting", scratch.edge_count)
        counts = sort_by_head(scratch, ids, int(keep.sum()), made)
        sort_by_tail(made, len(counts))
        report("labels", len(counts))
        steps = {step for relation in scratch.relations for step in steps_of(relation)}
        relation_labels = scratch.write_labels(keep, made, language, steps | set(inverses.values()))
        type_table = _write_entity_types(entity_types, scratch.names, ids, keep, made)
        _copy_names(scratch.names, keep, made)
        report("indexing", len(counts))
        write_label_index(made, counts, *scratch.foreign_labels(made, language))
        shutil.rmtree(made / "scratch")
        sizes = {
            key: (made / f"{key}.bin").stat().st_size // np.dtype(dtype).itemsize
            for key, dtype in ARRAYS.items()
        }
        used = np.bincount(column(made, "edge_relation"), minlength=len(scratch.relations)).tolist()
        table = name_relations(list(scratch.relations), tuple(relations), relation_labels, inverses)
        content, sums = _hashes(made, table)
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "name": name or folder.name,
            "hash": content,
            "entities": len(counts),
            "edges": sizes["edge_tail"],
            "labels": sizes["label_language"],
            "labelled": int((np.diff(column(made, "label_pointer")) > 0).sum()),
            "self_loops_dropped": scratch.self_loops,
            "largest_degree": int(counts.max()) if len(counts) else 0,
            "languages": list(scratch.languages),
            "graphs": list(scratch.graphs),
            "kinds": type_table,
            "relations": [
                {key: getattr(relation, key) for key in ("name", "label", "words", "inverse")}
                | {"count": count, "labelled": relation.name in relation_labels}
                for relation, count in zip(table, used, strict=True)
            ],
            "sizes": sizes,
            "checksums": sums,
        }
        manifest |= about
        manifest["warnings"] = _advise(manifest, *_unlabelled(made))
        write_manifest(made, manifest)
        if described is not None:
            manifest = described(made)
            write_manifest(made, manifest)
    return manifest


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """Context with a scratch folder: it replaces `folder` when the block ends, and is removed if the block fails."""
    temporary, lock = _scratch_folder(folder)
    try:
        yield temporary
        temporary.chmod(0o755)
        _put_in_place(temporary, folder)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise InputError(f"{folder}: {error.strerror or error}; make room, or choose another --out") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _is_store_alone(folder: Path) -> bool:
    """Whether a folder holds nothing but a store, of any version, so that replacing it loses nothing else."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir() if path.is_file() or path.is_symlink()}
    arrays = {name for name in names if name.endswith(".bin")}
    return bool(arrays) and names == arrays | {MANIFEST} and len(names) == len(list(folder.iterdir()))


def _scratch_folder(folder: Path) -> tuple[Path, int | None]:
    """A new hidden folder next to `folder`, locked while this process lives."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        clear_abandoned(folder)
        while True:
            made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=".part", dir=folder.parent))
            try:
                lock = os.open(made, os.O_RDONLY)
                held = hold(lock)
            except (ImportError, PermissionError):  # Windows cannot open folders
                return made, None
            except FileNotFoundError:  # another import has removed it before it was locked
                continue
            if held and made.exists():  # it may have been removed just before the lock
                return made, lock
            os.close(lock)
    except OSError as error:
        raise InputError(f"{folder}: cannot write here ({error.strerror}); choose another --out") from None


def clear_abandoned(folder: Path) -> None:
    """Remove scratch folders of killed imports: those that no process has locked."""
    for path in folder.parent.glob(f".{glob.escape(folder.name)}-*.part*"):
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY)
            try:
                if hold(handle):
                    shutil.rmtree(path, ignore_errors=True)
            except ImportError:  # Windows: folders cannot be locked, so they may be in use
                return
            finally:
                os.close(handle)


def _put_in_place(temporary: Path, folder: Path) -> None:
    """Rename; an existing store is moved aside first. If two imports race, the later one wins."""
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


def _write_entity_types(
    entity_types: Mapping[str, str],
    names: Names,
    ids: NDArray[np.int64],
    keep: NDArray[np.bool_],
    folder: Path,
) -> list[str]:
    """Write the column of types and return their names; 0 is unknown, since most graphs state none for most
    entities."""
    found = [
        (ids[at], kind) for name, kind in entity_types.items() if (at := names.find(name)) >= 0 and keep[at]
    ]
    table = sorted({kind for _, kind in found})[:_MAX_KINDS]
    place = {kind: number for number, kind in enumerate(table, 1)}
    column = np.zeros(int(keep.sum()) if table else 0, dtype=np.uint8)
    for entity, kind in found:
        column[entity] = place.get(kind, 0)
    column.tofile(folder / "kind.bin")
    return table


def _unlabelled(folder: Path) -> tuple[list[str], int, int]:
    """Names of entities without a label (an evenly spaced sample), their number, and the number of all entities.

    Literals are not counted: their text is their label.
    """
    offsets, text = column(folder, "name_offsets"), column(folder, "name_text")
    things = text[offsets[:-1]] != ord('"') if len(text) else np.zeros(0, dtype=bool)
    bare = np.flatnonzero((np.diff(column(folder, "label_pointer")) == 0) & things)
    chosen = bare[:: max(1, len(bare) // _SAMPLE)].tolist()
    names = [text[offsets[i] : offsets[i + 1]].tobytes().decode("utf-8") for i in chosen]
    return names, len(bare), int(things.sum())


def _advise(manifest: dict[str, Any], unlabelled: Sequence[str], bare: int, things: int) -> list[str]:
    """Warnings about a store, each with its remedy.

    `unlabelled` is a sample of names of the `bare` entities without a label, out of `things`.
    """
    warnings = []
    edges = manifest["edges"]
    if not edges:
        return ["No facts: nothing can be answered from this graph; `skipped` lists what was left out."]
    opaque = [name for name in unlabelled if _says_nothing(default_label(name))]
    if opaque and len(opaque) * 2 > len(unlabelled) and bare * 2 > things:
        warnings.append(
            f"{bare:,} of {things:,} concepts have no label, and names without words such as "
            f"{opaque[0]}: no text can be linked to them; import their rdfs:labels too."
        )
    if manifest["largest_degree"] > max(1000, _HUB_SHARE * edges):
        warnings.append(
            f"One concept is in {manifest['largest_degree']:,} of {edges:,} facts: it connects "
            "everything with everything; leave it out, or retrieval will cap its facts."
        )
    mute = [
        row["name"]
        for row in manifest["relations"]
        if row["count"] and not row["words"] and not row.get("labelled") and _says_nothing(row["label"])
    ]
    if mute:
        warnings.append(
            f"{len(mute)} of {len(manifest['relations'])} relations have no label, and names without words such as "
            f"{mute[0]}; add an rdfs:label or <https://kgqa.org/ontology#words>."
        )
    return warnings


def _says_nothing(label: str) -> bool:
    """Whether a label contains no word: an identifier such as Q42 or p108."""
    return not any(len(word) > 1 and word.isalpha() for word in label.split())


def _copy_names(names: Names, keep: NDArray[np.bool_], folder: Path) -> None:
    lengths = names.lengths()
    np.concatenate([[0], np.cumsum(lengths[keep])]).astype("<i8").tofile(folder / "name_offsets.bin")
    with (folder / "name_text.bin").open("wb") as file, names.path.open("rb") as old:
        for start in range(0, len(keep), _CHUNK):
            part = lengths[start : start + _CHUNK]
            text = np.frombuffer(old.read(int(part.sum())), dtype=np.uint8)
            file.write(text[np.repeat(keep[start : start + _CHUNK], part)].tobytes())


def _hashes(folder: Path, relations: list[Relation]) -> tuple[str, dict[str, str]]:
    """Hash of a graph's content (blake2b), and the checksum of each column (XXH3)."""
    described_relations = [
        f"Relation(name={r.name!r}, label={r.label!r}, words={r.words!r})" for r in relations
    ]
    # the 1 and the repr format are frozen: FAISS indexes are named by this hash
    content = blake2b(f"(1, [{', '.join(described_relations)}])".encode(), digest_size=16)
    sums = {}
    for name in ARRAYS:
        column = xxhash.xxh3_64()
        with (folder / f"{name}.bin").open("rb") as file:
            while chunk := file.read(1 << 22):
                content.update(chunk)
                column.update(chunk)
        sums[name] = column.hexdigest()
    return content.hexdigest(), sums

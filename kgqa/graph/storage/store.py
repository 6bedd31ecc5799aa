"""A memory-mapped graph: facts by head and by tail, labels, and an index of surface forms.

Opening takes the same time whatever its size, and processes that open the same folder share its pages.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from kgqa.graph.formats import SUFFIXES
from kgqa.graph.formats.source_files import bare_suffix
from kgqa.graph.linking.label_keys import PART, default_label, hash_keys, keys_of, plain_key
from kgqa.graph.storage.layout import ARRAYS, FOREIGN, MANIFEST, damage, described, read_manifest
from kgqa.graph.storage.writer import write_store
from kgqa.types import DamagedError, Edges, InputError, Ints, Label, Relation, Triple

_SOURCES = frozenset(SUFFIXES) - {".json", ".xml"}
"""Suffixes of graph files suggested if a folder is given by mistake; .json and .xml are often something else."""
_COLUMNS = ("edge_head", "edge_relation", "edge_tail", "edge_weight")
# bytes; a large graph must not push the weights of the reader out of a small machine's memory
_MOST = 64 << 20
_AT_ONCE = 16 << 20
"""Bytes of a column that are verified between checks of resident memory."""
_REMEDY = "make the graph again with `kgqa graph import`"
_STATM = Path("/proc/self/statm")


def is_store(folder: Path) -> bool:
    """Whether a folder holds a store."""
    return (folder / MANIFEST).is_file()


def _nothing_in(folder: Path) -> str:
    """Error message for a folder without a store, with a remedy."""
    remedy = "make one with `kgqa graph import SOURCE... --out FOLDER`"
    if not folder.is_dir():
        return f"no such folder; {remedy}"
    files = sorted(path.name for path in folder.iterdir() if bare_suffix(path) in _SOURCES)
    if files:
        more = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
        return f"a folder of files, not an imported graph; name the file: {folder / files[0]}{more}"
    return f"a folder without a graph (no {MANIFEST}); give a graph file, or {remedy}"


def _ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenation of `arange(start, start + count)` for each row."""
    total = int(counts.sum())
    before = np.cumsum(counts) - counts
    places: NDArray[np.int64] = np.arange(total, dtype=np.int64) + np.repeat(starts - before, counts)
    return places


def _strings(text: memoryview, offsets: NDArray[np.int64], rows: NDArray[np.int64]) -> list[str]:
    """Strings of a column at the given rows; "" beyond the last row."""
    starts, stops = (offsets.take(at, mode="clip").tolist() for at in (rows, rows + 1))
    return [str(text[a:b], "utf-8") for a, b in zip(starts, stops, strict=True)]


class Residence:
    """Memory-mapped files whose pages are released when more than `most` bytes of them are resident.

    Each random access makes the kernel map 64 KB around it, so that a few hundred questions would make a large graph
    resident as a whole. Released pages stay in the kernel's cache, which all processes share, and are mapped again in
    about a microsecond. Nothing is released for small graphs, nor on systems where the number of resident pages is
    unknown (it is known on Linux).
    """

    def __init__(self, most: int = _MOST) -> None:
        self.most = most
        self._maps: list[mmap.mmap] = []
        self._mapped = 0
        self._base = 0

    def map(self, path: Path, dtype: str) -> NDArray[Any]:
        """A file as a read-only array."""
        if not self._maps:
            self._base = _file_pages()
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._maps.append(mapped)
        self._mapped += len(mapped)
        return np.frombuffer(mapped, dtype=dtype)

    def check(self) -> None:
        """Release the mapped pages if more than `most` bytes are resident."""
        if self._mapped <= self.most:
            return
        resident = _file_pages()
        self._base = min(self._base, resident)
        if resident - self._base > self.most:
            for mapped in self._maps:
                mapped.madvise(mmap.MADV_DONTNEED)
            self._base = _file_pages()


def _file_pages() -> int:
    """Bytes of files that are resident in this process; 0 if that is unknown."""
    try:
        return int(_STATM.read_text().split()[2]) * mmap.PAGESIZE
    except (OSError, IndexError, ValueError):
        return 0


class Columns(dict[str, NDArray[Any]]):
    """The columns of a store by name. The checksum of each is verified on first access, so opening a large graph is
    fast. Raises InputError, which ends with `remedy`, if a column is damaged.
    """

    def __init__(
        self, folder: Path, manifest: dict[str, Any], mapped: Residence, in_memory: bool, remedy: str
    ) -> None:
        super().__init__()
        self._folder, self._sums, self._mapped, self._remedy = folder, manifest["checksums"], mapped, remedy
        self._unverified: dict[str, NDArray[Any]] = {}
        for name, dtype in ARRAYS.items():
            path, expected = folder / f"{name}.bin", manifest["sizes"][name]
            size = path.stat().st_size // np.dtype(dtype).itemsize
            if size != expected or not path.is_file():
                raise InputError(
                    f"{path}: not a file of {expected} items, as the manifest requires; {remedy}"
                )
            # an empty file cannot be mapped
            whole = in_memory or not size
            self._unverified[name] = np.fromfile(path, dtype=dtype) if whole else mapped.map(path, dtype)
        if in_memory:
            for name in ARRAYS:
                self[name]

    def __missing__(self, name: str) -> NDArray[Any]:
        column = self._unverified[name]
        content, found = column.view(np.uint8), xxhash.xxh3_64()
        for start in range(0, len(content), _AT_ONCE):
            found.update(content[start : start + _AT_ONCE].data)
            self._mapped.check()
        if found.hexdigest() != self._sums[name]:
            path = self._folder / f"{name}.bin"
            raise DamagedError(f"{path}: damaged (wrong checksum); {self._remedy}")
        self[name] = column
        return column


class GraphStore:
    """A `KnowledgeGraph` over compressed sparse rows by head and by tail. Raises InputError as `described` does."""

    def __init__(self, manifest: dict[str, Any], columns: Columns, mapped: Residence) -> None:
        self.name: str = manifest["name"]
        self.hash: str = manifest["hash"]
        self._a, self._mapped = columns, mapped
        self.entity_count: int = manifest["sizes"]["name_offsets"] - 1
        """Number of entities; ids are below it."""
        self.edge_count: int = manifest["sizes"]["edge_tail"]
        self.manifest = described(manifest, self.edges, self.names)
        self.closed_world: bool = self.manifest["closed_world"]
        self.relations: Sequence[Relation] = tuple(
            Relation(row["name"], row["label"], row["words"], row.get("inverse", ""), frozenset(row["types"]))
            for row in self.manifest["relations"]
        )

    @classmethod
    def open(cls, folder: str | Path, in_memory: bool = False, remedy: str = _REMEDY) -> GraphStore:
        """Memory-map a store folder, or load it with `in_memory`.

        Raises `InputError` if the folder is not a store, has another version, or is damaged; a damaged column raises it
        on first access. The message ends with `remedy`.
        """
        folder = Path(folder)
        if not is_store(folder):
            raise InputError(f"{folder}: {_nothing_in(folder)}")
        manifest, mapped = read_manifest(folder, remedy), Residence()
        try:
            return cls(manifest, Columns(folder, manifest, mapped, in_memory, remedy), mapped)
        except (OSError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{folder}: damaged ({damage(error)}); {remedy}") from None

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[Triple],
        labels: Iterable[Label] = (),
        relations: Iterable[Relation] = (),
        name: str = "graph",
        language: str = "en",
    ) -> GraphStore:
        """An in-memory store of given facts. Raises InputError as `write_store` does."""
        with tempfile.TemporaryDirectory(prefix="kgqa-") as folder:
            target = Path(folder) / "store"
            write_store(chain(labels, triples), target, relations=relations, name=name, language=language)
            return cls.open(target, in_memory=True)

    is_remote = False
    added_entities = np.zeros(0, dtype=np.int32)

    @property
    def type_names(self) -> Sequence[str]:
        return tuple(self.manifest.get("kinds", ()))

    def types_of(self, entities: Ints) -> Ints:
        column = self._a["kind"]
        if not len(column):
            return np.full(len(entities), -1, dtype=np.int32)
        return column.take(entities).astype(np.int32) - 1

    def find(self, surfaces: Sequence[str], language: str = "") -> list[Ints]:
        """Entities with each surface form, plain or normalized, as a key.

        Those with exactly this preferred label come first; then they are sorted by degree, highest first. With a
        `language`, an entity that has labels in it is found by these alone: German "die" is no dice.
        """
        keys = [plain_key(surface) for surface in surfaces]
        found = self._look_up(keys)
        if not language:
            return found
        others = self._look_up([FOREIGN + key for key in keys])
        both = [np.concatenate(pair) for pair in zip(others, found, strict=True)]
        return [
            ids[[self._is_called(entity, key, language) for entity in ids.tolist()]] if len(ids) else ids
            for key, ids in zip(keys, both, strict=True)
        ]

    def _is_called(self, entity: int, key: str, language: str) -> bool:
        """Whether an entity has this name in the language, or none in it at all."""
        own = [label.text for label in self.all_labels(entity) if label.language.split("-")[0] == language]
        return not own or any(key in keys_of(text) for text in own)

    def find_parts(self, words: Sequence[str]) -> list[Ints]:
        """Entities with each (lower-case) word in their name: "curie" finds Marie Curie; empty for frequent words."""
        return self._look_up([PART + word for word in words])

    def ids(self, names: Sequence[str]) -> Ints:
        found = self._look_up(["\0" + name for name in names])
        return np.array([ids[0] if len(ids) else -1 for ids in found], dtype=np.int32)

    def _look_up(self, keys: list[str]) -> list[Ints]:
        hashes = hash_keys(keys)
        left = np.searchsorted(self._a["key_hash"], hashes, side="left").tolist()
        right = np.searchsorted(self._a["key_hash"], hashes, side="right").tolist()
        entities = self._a["key_entity"]
        return [entities[a:b] if key else entities[:0] for key, a, b in zip(keys, left, right, strict=True)]

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        return self._edges(np.union1d(*self._rows(entities, limit)))

    def facts_among(self, entities: Ints, others: Ints, limit: int | None = None) -> Edges:
        """Facts of `neighbours(entities, limit)` with both head and tail in `others`; several times faster than
        filtering."""
        known = np.zeros(self.entity_count, dtype=bool)
        known[others] = True
        out, into = self._rows(entities, limit)
        out = out[known.take(self._a["edge_tail"].take(out))]
        into = into[known.take(self._a["edge_head"].take(into))]
        return self._edges(np.union1d(out, into))

    def _rows(self, entities: Ints, limit: int | None) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows of the facts with one of `entities` as head, and of those with one as tail."""
        chosen = np.unique(np.asarray(entities, dtype=np.int64))
        rows = []
        for direction in ("out", "in"):
            pointer = self._a[f"{direction}_pointer"]
            starts = pointer[chosen]
            counts = pointer[chosen + 1] - starts
            if limit is not None:
                counts = np.minimum(counts, limit)
            rows.append(_ranges(starts, counts))
        return rows[0].astype(np.int32), self._a["in_edge"].take(rows[1])

    def edges(self, start: int = 0, stop: int | None = None) -> Edges:
        """Facts by row, sorted by head: all, or a range."""
        return Edges(*(self._a[name][start:stop] for name in _COLUMNS))

    def _edges(self, rows: NDArray[np.int64]) -> Edges:
        facts = Edges(*(self._a[name].take(rows) for name in _COLUMNS))
        self._mapped.check()
        return facts

    def provenance(self, edges: Edges) -> list[str]:
        """Named graph of each fact; "" for the default graph."""
        graphs, column = self.manifest["graphs"], self._a["edge_graph"]
        if not len(column):
            return [""] * len(edges.head)
        found = []
        for head, relation, tail in zip(*(part.tolist() for part in edges[:3]), strict=True):
            start, stop = self._a["out_pointer"][head : head + 2].tolist()
            same = (self._a["edge_tail"][start:stop] == tail) & (
                self._a["edge_relation"][start:stop] == relation
            )
            at = np.flatnonzero(same)
            found.append(graphs[column[start + at[0]]] if len(at) else "")
        return found

    def labels(self, entities: Ints) -> list[str]:
        """Preferred label of each entity; the words of its name if it has none; "" for a blank node."""
        ids = np.asarray(entities, dtype=np.int64)
        first, after = self._a["label_pointer"][ids], self._a["label_pointer"][ids + 1]
        found = _strings(self._a["label_text"].data, self._a["label_offsets"], first)
        bare = np.flatnonzero(first == after)
        for row, name in zip(bare.tolist(), self.names(ids[bare].astype(np.int32)), strict=True):
            found[row] = default_label(name)
        return found

    def all_labels(self, entity: int) -> list[Label]:
        name = self.names(np.array([entity], dtype=np.int32))[0]
        rows = np.arange(*self._a["label_pointer"][entity : entity + 2])
        texts = _strings(self._a["label_text"].data, self._a["label_offsets"], rows)
        languages = [self.manifest["languages"][code] for code in self._a["label_language"][rows]]
        preferred = self._a["label_preferred"][rows].astype(bool).tolist()
        return [Label(name, *label) for label in zip(texts, languages, preferred, strict=True)]

    def names(self, entities: Ints) -> list[str]:
        ids = np.asarray(entities, dtype=np.int64)
        found = _strings(self._a["name_text"].data, self._a["name_offsets"], ids)
        self._mapped.check()
        return found

    def degrees(self, entities: Ints) -> Ints:
        ids = np.asarray(entities, dtype=np.int64)
        out, into = self._a["out_pointer"], self._a["in_pointer"]
        counts: Ints = (out[ids + 1] - out[ids] + into[ids + 1] - into[ids]).astype(np.int32)
        return counts

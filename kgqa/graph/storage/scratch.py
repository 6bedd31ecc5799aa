"""Scratch files for statements until they are sorted: names with ids, facts and labels in columns."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.formats.source_files import UNSTATED, Batch
from kgqa.types import InputError

_LABELS_AT_ONCE = 200_000
_FACTS = ("head", "relation", "tail", "weight", "graph")
_LABELS = ("label_entity", "label_language", "label_preferred", "label_length", "label_text")


def mapped(path: Path, dtype: str) -> NDArray[Any]:
    """A file that holds one column, memory-mapped."""
    if not path.stat().st_size:
        return np.zeros(0, dtype=dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))


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
        """Id of a name, -1 if it is unknown."""
        at = int(np.searchsorted(self._hashes, hash(name)))
        return int(self._ids[at]) if at < len(self) and self._hashes[at] == hash(name) else -1

    def lengths(self) -> NDArray[np.int64]:
        """Length of each name in bytes, in the order of ids."""
        return np.concatenate(self._lengths).astype(np.int64)

    def close(self) -> None:
        """Flush the text."""
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
        for name, column in columns.items():
            self._files[name].write(column.tobytes())
        self._files["label_text"].write(text)

    def close(self) -> None:
        """Close the files after the last batch."""
        self.names.close()
        for file in self._files.values():
            file.close()

    def column(self, name: str, dtype: str = "<i4") -> NDArray[Any]:
        """A column, memory-mapped."""
        return mapped(self.folder / f"{name}.bin", dtype)

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
        language) while their entity also has others; and which entities (V,) have foreign labels only."""
        grade = np.array([_grade(known, language) for known in self.languages], dtype=np.int64)
        pointer = mapped(folder / "label_pointer.bin", "<i8")
        foreign = grade[mapped(folder / "label_language.bin", "<i4")] > NEUTRAL + 1
        counts = np.diff(pointer)
        foreign_only = np.zeros(len(counts), dtype=bool)
        labelled = np.flatnonzero(counts)
        if len(labelled):
            foreign_only[labelled] = np.logical_and.reduceat(foreign, pointer[labelled])
        return foreign & ~np.repeat(foreign_only, counts), foreign_only

    def write_labels(
        self, keep: NDArray[np.bool_], folder: Path, language: str, relations: Iterable[str]
    ) -> dict[str, list[str]]:
        """Write the label columns of a store; return the labels of `relations`, best first, in the language of the
        best.

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
    shared = np.flatnonzero(
        np.append(beside, False) | np.append(False, beside)
    )  # the slow comparison below is only for these; most entities have a single label
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
"""Worst grade of a label that counts as without a language, which is that of Latin."""
SHARED = ("mul", "zxx", "la")
"""Language codes of names that are the same in every language: "multiple", "none", and Latin for species."""


def _grade(known: str, wanted: str) -> int:
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

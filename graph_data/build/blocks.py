"""The compact source format of a graph: text files of blocks, one concept a block.

domain: garden and farm

trowel
  also: hand trowel
  ko: 모종삽
  UsedFor: plant flowers *2; dig a small hole
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from graph_data.build.tables import RelationWords
from kgqa.types import InputError

_LABEL = re.compile(r"^(?P<label>[^():;*#\[\]{}<>\"\\|]+?)(?: \((?P<sense>[^():;*]+)\))?$")
_WEIGHT = re.compile(r"\s+\*\s*(?P<weight>\S+)$")


@dataclass(frozen=True, slots=True)
class SourceFact:
    """A fact as it is written in a block: relation, the tail's words, weight, and where it stands."""

    relation: str
    tail: str
    weight: float
    where: str


@dataclass(frozen=True, slots=True)
class Block:
    """A concept as it is written in one file."""

    label: str
    domain: str
    where: str
    also: tuple[str, ...] = ()
    ko: tuple[str, ...] = ()
    kind: str = ""
    facts: list[SourceFact] = field(default_factory=list)


def split_sense(label: str) -> tuple[str, str]:
    """`bat (animal)` gives ("bat", "animal"); without a sense the second part is empty."""
    match = _LABEL.match(label)
    return (match["label"], match["sense"] or "") if match else (label, "")


def read_blocks(path: Path, relations: Mapping[str, RelationWords]) -> Iterator[Block]:
    """Blocks of one source file. Raises InputError naming file, line, what is wrong and the remedy."""
    domain = ""
    block: Block | None = None
    for number, line in enumerate(_lines(path), start=1):
        where = f"{path}:{number}"
        text = re.sub(r"(^|\s)#.*$", "", line).rstrip()
        if not text:
            continue
        if "\t" in text:
            raise InputError(f"{where}: a tab; indent facts by two spaces")
        if not text.startswith(" "):
            if block is not None:
                yield block
            block = None
            if text.startswith("domain:"):
                domain = text.removeprefix("domain:").strip()
                continue
            if not domain:
                raise InputError(f"{where}: no domain yet; begin the file with a line `domain: ...`")
            block = Block(_concept(text, where), domain, where)
        elif block is None:
            raise InputError(f"{where}: a fact outside a block; put the concept's label unindented above it")
        else:
            block = _with_line(block, text.strip(), where, relations)
    if block is not None:
        yield block


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; name a folder of .txt files") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}; save the file as UTF-8") from None


def _with_line(block: Block, text: str, where: str, relations: Mapping[str, RelationWords]) -> Block:
    key, colon, rest = (part.strip() for part in text.partition(":"))
    if not colon:
        raise InputError(f"{where}: {text!r} has no colon; write `Relation: tail; tail *2`")
    parts = [part.strip() for part in rest.split(";") if part.strip()]
    if not parts:
        raise InputError(f"{where}: nothing after `{key}:`; add a value or drop the line")
    if key == "also":
        return replace(block, also=(*block.also, *parts))
    if key == "ko":
        return replace(block, ko=(*block.ko, *parts))
    if key == "type":
        return replace(block, kind=parts[0])
    if key not in relations:
        raise InputError(
            f"{where}: unknown relation {key!r}; {_nearest(key, [*relations, 'also', 'ko', 'type'])}"
        )
    block.facts.extend(_fact(key, part, where) for part in parts)
    return block


def _fact(relation: str, text: str, where: str) -> SourceFact:
    weight = 1.0
    if match := _WEIGHT.search(text):
        try:
            weight = float(match["weight"])
        except ValueError:
            weight = -1.0
        if not 0 < weight <= 10:
            raise InputError(
                f"{where}: weight {match['weight']!r} of {text!r}; write one over 0 and up to 10, as in *2"
            )
        text = text[: match.start()]
    return SourceFact(relation, _concept(text, where), weight, where)


def _concept(text: str, where: str) -> str:
    label = " ".join(text.split())
    if not _LABEL.match(label):
        raise InputError(f"{where}: {text!r} is no label; write words, a sense in brackets: `bat (animal)`")
    return label


def _nearest(name: str, known: Sequence[str]) -> str:
    folded = {item.lower(): item for item in known}
    close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.0)
    return f"did you mean {folded[close[0]]!r}?" if close else "relations.toml is empty"

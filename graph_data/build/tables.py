"""The tables that stand beside a graph's source files: relations, types, what is typical by order, scales."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from kgqa.types import InputError

Rows = TypeVar("Rows")


@dataclass(frozen=True, slots=True)
class RelationWords:
    """A row of relations.toml: how a relation is called, said and asked, in English and Korean."""

    name: str
    label: str
    words: str
    inverse: str = ""
    ko: str = ""
    ko_words: str = ""
    conceptnet: str = ""
    symmetric: bool = False
    between: str = ""
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConceptType:
    """A row of types.toml: the concepts that stand for a type, and the relations whose ends are of it."""

    name: str
    ko: str = ""
    roots: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """A row of typical.toml: tails of one head and relation, the most typical first."""

    head: str
    relation: str
    tails: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scale:
    """A row of scales.toml: things by levels of a comparative relation, the lowest level first."""

    relation: str
    levels: tuple[tuple[str, ...], ...]


def read_relations(path: Path) -> dict[str, RelationWords]:
    """The table of relations, by name. Raises InputError for a file that is missing or malformed."""
    if not path.exists():
        raise InputError(f"{path}: no such file; name the table of relations with --relations")
    return _read(path, "relations", lambda table: _by_name(RelationWords, table))


def read_concept_types(path: Path) -> dict[str, ConceptType]:
    """The table of types, by name; empty where there is no such file. Raises InputError where it is malformed."""
    return _read(path, "types", lambda table: _by_name(ConceptType, table))


def read_orders(path: Path) -> list[Order]:
    """The rows `[[order]]` of a table of typicality; none where there is no such file.

    Raises InputError where it is malformed.
    """

    def orders(table: dict[str, Any]) -> list[Order]:
        found = [Order(row["head"], row["relation"], tuple(row["tails"])) for row in table.get("order", [])]
        if short := next((order for order in found if len(order.tails) < 2), None):
            raise ValueError(f"{short.head} {short.relation} has fewer than two tails")
        return found

    return _read(path, "typical", orders)


def read_scales(path: Path) -> list[Scale]:
    """The rows `[[scale]]` of a table of scales; none where there is no such file.

    Raises InputError where it is malformed.
    """

    def scales(table: dict[str, Any]) -> list[Scale]:
        found = [Scale(row["relation"], tuple(map(tuple, row["levels"]))) for row in table.get("scale", [])]
        if empty := next((scale for scale in found if len(scale.levels) < 2 or not all(scale.levels)), None):
            raise ValueError(f"{empty.relation} has fewer than two levels, or an empty one")
        return found

    return _read(path, "scales", scales)


def read_labels(folder: Path) -> dict[str, dict[str, list[str]]]:
    """Names of concepts by language, then by slug, the preferred one first: a file LANGUAGE.tsv each in the folder.

    Raises InputError with file and line where one is malformed.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(folder.glob("*.tsv")):
        rows = found[path.stem] = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            slug, _, names = line.partition("\t")
            if not names.strip() or slug in rows:
                raise InputError(
                    f'{path}:{number}: a line is a slug, a tab and names parted by ";", each slug once'
                )
            rows[slug] = list(dict.fromkeys(name.strip() for name in names.split(";")))
    return found


def _by_name(kind: Callable[..., Any], table: dict[str, Any]) -> dict[str, Any]:
    """A row for each part of a table; TypeError where one has a key that no row has."""
    return {
        name: kind(
            name, **{key: tuple(entry) if isinstance(entry, list) else entry for key, entry in row.items()}
        )
        for name, row in table.items()
    }


def _read(path: Path, name: str, rows: Callable[[dict[str, Any]], Rows]) -> Rows:
    """The rows of a table; those of an empty one where there is no such file."""
    try:
        return rows(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return rows({})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: no table of {name} ({error}); see graph_data/{name}.toml") from None

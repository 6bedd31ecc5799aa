"""What is typical, by order: the table that the weights of a graph of source files are held to."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from kgqa.types import InputError


@dataclass(frozen=True, slots=True)
class Order:
    """A row of typical.toml: tails of one head and relation, the most typical first."""

    head: str
    relation: str
    tails: tuple[str, ...]


def read_orders(path: Path) -> list[Order]:
    """The rows `[[order]]` of a table of typicality; none where there is no such file.

    Raises InputError where it is malformed.
    """
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8")).get("order", [])
        return [Order(row["head"], row["relation"], tuple(row["tails"])) for row in rows]
    except FileNotFoundError:
        return []
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, TypeError, KeyError) as error:
        raise InputError(f"{path}: no table of orders ({error}); see graph_data/typical.toml") from None

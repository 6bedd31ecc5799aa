"""Parts that are found by name: rows of this package's tables, and entry points of installed packages."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from kgqa.types import InputError, did_you_mean


def named(kind: str, name: str, table: Mapping[str, Any], group: str, base: type) -> Any:
    """Find a part by its name: a row of `table`, else an entry point of `group`, else the name is itself
    `package.module:NAME`. The latter two are imported (see `imported`), as are rows of that form.

    Raises:
        InputError: there is none, or its module cannot be imported.
    """
    found = table.get(name) or installed(group).get(name, name)
    if not isinstance(found, str):
        return found
    if ":" not in found:
        known = sorted({*table, *installed(group)})
        hint = did_you_mean(name, known, f"known: {', '.join(known)}; name your own as package.module:Class")
        raise InputError(f"unknown {kind} {name!r}; {hint}")
    return imported(kind, found, base)


def imported(kind: str, place: str, base: type) -> Any:
    """The subclass or instance of `base` at `package.module:NAME`.

    Raises:
        InputError: there is none, or the module cannot be imported.
    """
    module, _, name = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except Exception as error:  # a module of the user's may raise any
        remedy = "is its folder on PYTHONPATH?" if isinstance(error, ModuleNotFoundError) else "correct it"
        raise InputError(
            f"{kind} {place}: cannot import {module} ({type(error).__name__}: {error}); {remedy}"
        ) from error
    if isinstance(found, base) or (isinstance(found, type) and issubclass(found, base)):
        return found
    raise InputError(
        f"{kind} {place}: {module} has no subclass of {base.__module__}.{base.__name__} of that name"
    )


def installed(group: str) -> dict[str, str]:
    """Entry points of a group by name: `package.module:NAME`."""
    return {entry.name: entry.value for entry in entry_points(group=group)}

"""Fingerprints as cache keys, so that no cache depends on a version number that somebody must remember to raise."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b, file_digest
from pathlib import Path
from types import FunctionType, MethodType, ModuleType


def fingerprint(*sources: object) -> str:
    """Hash of the inputs of a cached file: modules by source and TOML table of the same name, packages by all
    modules and tables in them, functions by source, files by content, all else by `repr`."""
    digest = blake2b(digest_size=12)
    for source in sources:
        if isinstance(source, ModuleType):
            digest.update(_text(source))
        elif isinstance(source, FunctionType | MethodType):
            digest.update(_code(source))
        elif isinstance(source, Path):
            digest.update(_content(source))
        else:
            digest.update(repr(source).encode() + b"\0")
    return digest.hexdigest()


@cache  # the code of this process does not change
def _text(module: ModuleType) -> bytes:
    return b"".join(map(_content, _files(Path(str(module.__file__)))))


@cache
def _code(function: FunctionType | MethodType) -> bytes:
    return inspect.getsource(function).encode() + b"\0"


def _files(module: Path) -> Iterator[Path]:
    if module.stem == "__init__":
        yield from sorted(path for path in module.parent.rglob("*") if path.suffix in (".py", ".toml"))
        return
    yield module
    if (table := module.with_suffix(".toml")).is_file():
        yield table


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=12)).digest()

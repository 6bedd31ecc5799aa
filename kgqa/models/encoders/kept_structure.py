"""What transformers finds out by reading its 3,000 files at every start, found out once and kept."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

from kgqa.assets import cache_folder

Structure = dict[frozenset[str], dict[str, set[str]]]
"""What a class needs -> the module that has it -> its names."""


def import_transformers() -> None:
    """Import transformers with the structure of its models as it was kept; does nothing where it is imported already.

    Raises:
        ImportError: this version of transformers is put together in another way; import it whole.
    """
    if "transformers" in sys.modules:
        return
    spec = find_spec("transformers")
    if spec is None or spec.loader is None:
        raise ImportError("transformers is not installed")
    package = module_from_spec(spec)
    package.__dict__["__version__"] = version("transformers")
    sys.modules["transformers"] = package  # not run yet, so that its part can be replaced before it is used
    from transformers.utils import import_utils

    models = Path(package.__path__[0], "models")
    import_utils.__dict__["define_import_structure"] = _keeping(import_utils.define_import_structure, models)
    spec.loader.exec_module(package)


def _keeping(find: Callable[..., Structure], models: Path) -> Callable[..., Structure]:
    def found(module_path: Any, prefix: str | None = None) -> Structure:
        path = Path(module_path)
        if models not in (path, path.parent):
            return find(module_path, prefix=prefix)
        structure = kept(lambda: find(module_path), version("transformers"))
        put = f"{prefix}." if prefix else ""
        return {
            needs: {put + module: names for module, names in modules.items()}
            for needs, modules in structure.items()
        }

    return found


def kept(find: Callable[[], Structure], of_version: str) -> Structure:
    """What `find` gives, from the file of this version where there is one; what is under development is not kept."""
    file = cache_folder("imports") / f"transformers-{of_version}.json"
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
        return {frozenset(needs): {m: set(names) for m, names in modules.items()} for needs, modules in rows}
    except (OSError, ValueError, TypeError, AttributeError):
        found = find()
    if "dev" not in of_version:
        rows = [
            [sorted(needs), {m: sorted(names) for m, names in modules.items()}]
            for needs, modules in found.items()
        ]
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            written = file.with_suffix(f".{os.getpid()}")
            written.write_text(json.dumps(rows), encoding="utf-8")
            written.replace(file)
        except OSError:
            pass  # nowhere to keep it: it is found out again next time
    return found

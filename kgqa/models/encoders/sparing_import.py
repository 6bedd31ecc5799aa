"""Hugging Face's encoders without what surrounds them, for processes that only answer: `kgqa ask`, the app."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from kgqa.models.encoders.kept_structure import import_transformers

UNUSED = ("PIL", "accelerate", "jinja2", "pandas", "scipy", "sklearn")
"""Packages that transformers imports wherever they are installed: for pictures, chats, shards and losses."""
COMPILER = "torch._dynamo"
TRACING = f"{COMPILER}._trace_wrapped_higher_order_op"
"""Modules of torch's compiler that transformers imports for a decorator and one name."""
SHAPES = "torch._meta_registrations"
"""What tensors without values need, and torch's decompositions with it: a third of the time torch takes to import."""
SHAPES_PARTS = ("torch._decomp", "torch._prims", "torch._refs", "torch.utils._content_store")
"""Modules that come with it. They import each other in circles, which only work when it comes first."""


def import_encoders() -> None:
    """Import torch and transformers' models in half the time: as if those packages, torch.distributed, the compiler and
    tensors without values were not there.

    They are there again afterwards, but transformers has made up its mind and does without them in this process. Does
    nothing where it is imported already; a version that cannot do without is imported whole.
    """
    if "transformers" in sys.modules:
        return
    torch = _torch()
    hidden = [name for name in UNUSED if name not in sys.modules]
    stand_ins = [name for name in (COMPILER, TRACING) if name not in sys.modules]
    distributed = torch.distributed.is_available
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # counts as not installed
    sys.modules.update({name: _StandIn(name) for name in stand_ins})
    torch.distributed.is_available = lambda: False
    try:
        import_transformers()
        import transformers.masking_utils
        import transformers.modeling_utils  # noqa: F401
    except (AttributeError, ImportError):
        for name in [name for name in sys.modules if name.partition(".")[0] == "transformers"]:
            del sys.modules[name]
    finally:
        torch.distributed.is_available = distributed
        for name in (*hidden, *stand_ins):
            sys.modules.pop(name, None)


def _torch() -> ModuleType:
    """Torch, imported without `SHAPES` where that can be; they come when somebody asks for a part of them."""
    if "torch" not in sys.modules:
        sys.modules[SHAPES] = ModuleType(SHAPES)
        try:
            import torch

            sys.meta_path.insert(0, _Shapes())
        except (AttributeError, ImportError):
            for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
                del sys.modules[name]
        finally:
            sys.modules.pop(SHAPES, None)
    import torch

    return torch


class _Shapes(MetaPathFinder, Loader):
    """Imports `SHAPES` before the first of its parts, once."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Nothing but for a part: that has been imported on the way, and is handed out as it is."""
        if name == SHAPES:
            sys.meta_path.remove(self)
        if name not in SHAPES_PARTS:
            return None
        import_module(SHAPES)
        part = sys.modules[name]
        self.own_spec, part.__spec__ = part.__spec__, None  # with one of its own it would be run again
        return ModuleSpec(name, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The part that is there already."""
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """It has been run."""
        module.__spec__ = self.own_spec


class _StandIn(ModuleType):
    """A module of the compiler: what it is asked for leaves functions as they are."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Indexing if name == "TransformGetItemToIndex" else _as_it_is


class _Indexing:
    """The one name that is used later, if at all: the real one is imported then."""

    def __new__(cls) -> Any:
        """What `TransformGetItemToIndex()` gives."""
        from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

        return TransformGetItemToIndex()


def _as_it_is(function: Any = None, *_: Any, **__: Any) -> Any:
    return _as_it_is if function is None else function

"""Hugging Face's encoders without what surrounds them, for processes that only answer: `kgqa ask`, the app.

Without it a first answer takes 6.4 s of processor time, with it 4.1 (`kgqa ask` over a small graph, in pairs).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

UNUSED = ("PIL", "accelerate", "jinja2", "pandas", "scipy", "sklearn")
"""Packages that transformers imports wherever they are installed: for pictures, chats, shards and losses."""
COMPILER = "torch._dynamo"
TRACING = f"{COMPILER}._trace_wrapped_higher_order_op"
"""Modules of torch's compiler that transformers imports for a decorator and one name."""


def import_encoders() -> None:
    """Import transformers' models as if those packages, torch.distributed and the compiler were not there.

    They are there again afterwards, but transformers has made up its mind and does without them in this process. Does
    nothing where it is imported already; a version that cannot do without is imported whole.
    """
    if "transformers" in sys.modules:
        return
    import torch

    hidden = [name for name in UNUSED if name not in sys.modules]
    stand_ins = [name for name in (COMPILER, TRACING) if name not in sys.modules]
    distributed = torch.distributed.is_available
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # counts as not installed
    sys.modules.update({name: _StandIn(name) for name in stand_ins})
    torch.distributed.is_available = lambda: False
    try:
        import transformers.masking_utils
        import transformers.modeling_utils  # noqa: F401
    except (AttributeError, ImportError):
        for name in [name for name in sys.modules if name.partition(".")[0] == "transformers"]:
            del sys.modules[name]
    finally:
        torch.distributed.is_available = distributed
        for name in (*hidden, *stand_ins):
            sys.modules.pop(name, None)


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

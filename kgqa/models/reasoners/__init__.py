"""Reasoners by name. A new one is one file and one line here; one of another package is named by its recipe."""

import importlib
import sys

from kgqa.assets import trusted_modules
from kgqa.models.reasoners.base import Reasoner, ReasonerSettings
from kgqa.types import InputError

_ROOM = "kgqa.models.reasoners"
REASONERS: dict[str, str] = {
    "text-only": f"{_ROOM}.base:TextOnly",
    "gsc": f"{_ROOM}.gsc:GSC",
    "ernie": f"{_ROOM}.ernie:Ernie",
    "kagnet": f"{_ROOM}.kagnet:KagNet",
    "k-bert": f"{_ROOM}.kbert:KBert",
    "mhgrn": f"{_ROOM}.mhgrn:MHGRN",
    "qagnn": f"{_ROOM}.qagnn:QAGNN",
    "greaselm": f"{_ROOM}.greaselm:GreaseLM",
    "dragon": f"{_ROOM}.greaselm:Dragon",
    "pyg": f"{_ROOM}.pyg:PyG",
    "fused": f"{_ROOM}.fused:FusedReasoner",
}
"""Where each is: it is imported when it is asked for, since most import PyG, which takes seconds."""

__all__ = ["REASONERS", "Reasoner", "ReasonerSettings", "find_reasoner"]


def find_reasoner(name: str, *, from_card: bool = False) -> type[Reasoner]:
    """The reasoner of that name: a row of `REASONERS`, or the `package.module:Class` of another package.

    To import a module is to run it. A recipe is its user's word, so what it names is imported. A checkpoint's card
    may be anyone's (`from_card`): the class it names is used only where the module has been imported already, or is
    named in the environment by `KGQA_REASONERS`.

    Raises:
        InputError: there is no such reasoner, or a card names one that nobody here has asked for.
    """
    module, colon, attribute = REASONERS.get(name, name).partition(":")
    if not colon:
        known = ", ".join(sorted(REASONERS))
        raise InputError(
            f"unknown reasoner {name!r}; known: {known}; one's own is named package.module:Class"
        )
    if from_card and name not in REASONERS and module not in sys.modules and module not in trusted_modules():
        raise InputError(
            f"the checkpoint's reasoner is {name}, code that is not part of kgqa; "
            f"if you trust it, import {module} first or set KGQA_REASONERS={module}"
        )
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except (ImportError, ValueError, TypeError) as error:
        raise InputError(
            f"reasoner {name}: cannot import {module} ({error}); is its folder on PYTHONPATH?"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Reasoner)):
        raise InputError(
            f"reasoner {name}: {module} has no subclass of kgqa.models.reasoners.Reasoner of that name"
        )
    return found

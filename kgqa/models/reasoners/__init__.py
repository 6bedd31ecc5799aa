"""Reasoners by name. A new one is one file and one row here, or an entry point of another package."""

import sys

from kgqa.models.reasoners.base import Reasoner, ReasonerSettings
from kgqa.plugins import installed, named
from kgqa.settings import trusted_modules
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
"""Module and class of each reasoner, imported on demand, since most import PyG, which takes seconds."""
INSTALLED = "kgqa.reasoners"
"""Entry point group in which installed packages register reasoners: a name, and `package.module:Class`."""

__all__ = ["REASONERS", "Reasoner", "ReasonerSettings", "find_reasoner"]


def find_reasoner(name: str, *, from_card: bool = False) -> type[Reasoner]:
    """The reasoner of that name: a row of `REASONERS`, an entry point of an installed package, or the
    `package.module:Class` of a module.

    Importing a module runs its code. A recipe is trusted, so its module is imported. A checkpoint's card is not
    (`from_card`): its class is used only if an installed package registers it as an entry point, or its module is
    imported already.

    Raises:
        InputError: there is no such reasoner, or a card names one that is not trusted.
    """
    place = REASONERS.get(name) or installed(INSTALLED).get(name, name)
    module = place.partition(":")[0]
    if from_card and name not in REASONERS and ":" in place:
        vouched_for = {*REASONERS.values(), *installed(INSTALLED).values()}
        if place not in vouched_for and module not in {*sys.modules, *trusted_modules()}:
            raise InputError(
                f"the checkpoint's reasoner is {name}, code that is not part of kgqa; if you trust it, install the "
                f"package that has it as an entry point of {INSTALLED}, or import {module} first"
            )
    found: type[Reasoner] = named("reasoner", name, REASONERS, INSTALLED, Reasoner)
    return found

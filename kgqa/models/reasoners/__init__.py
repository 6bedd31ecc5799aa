"""Reasoners by name. A new one is one file and one line here."""

from kgqa.models.reasoners.base import Reasoner, ReasonerSettings, TextOnly
from kgqa.models.reasoners.fused import FusedReasoner

REASONERS: dict[str, type[Reasoner]] = {"text-only": TextOnly, "fused": FusedReasoner}

__all__ = ["REASONERS", "Reasoner", "ReasonerSettings"]

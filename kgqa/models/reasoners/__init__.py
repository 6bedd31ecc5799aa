"""Reasoners by name. A new one is one file and one line here."""

from kgqa.models.reasoners.base import Reasoner, ReasonerSettings, TextOnly
from kgqa.models.reasoners.ernie import Ernie
from kgqa.models.reasoners.fused import FusedReasoner
from kgqa.models.reasoners.greaselm import Dragon, GreaseLM
from kgqa.models.reasoners.gsc import GSC
from kgqa.models.reasoners.kagnet import KagNet
from kgqa.models.reasoners.kbert import KBert
from kgqa.models.reasoners.mhgrn import MHGRN
from kgqa.models.reasoners.qagnn import QAGNN

REASONERS: dict[str, type[Reasoner]] = {
    "text-only": TextOnly,
    "gsc": GSC,
    "ernie": Ernie,
    "kagnet": KagNet,
    "k-bert": KBert,
    "mhgrn": MHGRN,
    "qagnn": QAGNN,
    "greaselm": GreaseLM,
    "dragon": Dragon,
    "fused": FusedReasoner,
}

__all__ = ["REASONERS", "Reasoner", "ReasonerSettings"]

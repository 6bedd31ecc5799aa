"""Answer heads: each scores (`forward`), learns (`loss`) and speaks (`decode`: tensors to words)."""

from kgqa.models.heads.choice import ChoiceHead
from kgqa.models.heads.concept import ConceptHead
from kgqa.models.heads.gate import Gate
from kgqa.models.heads.span import SpanHead

__all__ = ["ChoiceHead", "ConceptHead", "Gate", "SpanHead"]

"""What will not be usable of a graph, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgqa.graph.linking.label_keys import default_label

HUB_SHARE = 0.1
"""Of all facts, that one entity may take part in before it is called a hub."""


def advise(manifest: dict[str, Any], unlabelled: Sequence[str]) -> list[str]:
    """Warnings about a store, each with its remedy. `unlabelled` is a sample of names without label."""
    warnings = []
    edges, entities = manifest["edges"], manifest["entities"]
    if not edges:
        return ["No facts: nothing can be answered from this graph; look at `skipped` for what was left out."]
    opaque = [name for name in unlabelled if _is_opaque(name)]
    if opaque and len(opaque) * 2 > len(unlabelled) and manifest["labelled"] * 2 < entities:
        warnings.append(
            f"{entities - manifest['labelled']:,} of {entities:,} concepts have no label and a name such as "
            f"{opaque[0]} that says nothing: no text can be linked to them; import rdfs:labels with it."
        )
    if manifest["largest_degree"] > max(1000, HUB_SHARE * edges):
        warnings.append(
            f"One concept takes part in {manifest['largest_degree']:,} of {edges:,} facts: it connects "
            "everything with everything; leave it out, or expect it to be capped at retrieval."
        )
    mute = [row["name"] for row in manifest["relations"] if not row["words"] and row["count"]]
    if mute:
        warnings.append(
            f"{len(mute)} of {len(manifest['relations'])} relations have no words and are read by their "
            f"label, as {mute[0]}; say them with <https://kgqa.org/ontology#words> or rdfs:label."
        )
    return warnings


def _is_opaque(name: str) -> bool:
    label = default_label(name)
    return not any(len(word) > 2 and word.isalpha() for word in label.split())

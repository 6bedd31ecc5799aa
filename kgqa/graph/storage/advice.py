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
    mute = [
        row["name"]
        for row in manifest["relations"]
        if row["count"] and not row["words"] and not row.get("labelled") and says_nothing(row["label"])
    ]
    if mute:
        warnings.append(
            f"{len(mute)} of {len(manifest['relations'])} relations have no label and a name that says nothing, as "
            f"{mute[0]}; say them with rdfs:label or <https://kgqa.org/ontology#words>."
        )
    return warnings


def _is_opaque(name: str) -> bool:
    return says_nothing(default_label(name))


def says_nothing(label: str) -> bool:
    """Whether a label has no word in it: an identifier such as Q42 or p108."""
    return not any(len(word) > 1 and word.isalpha() for word in label.split())

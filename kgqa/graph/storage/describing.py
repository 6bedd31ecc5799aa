"""What is known of a graph besides its facts: worked out once, and written into its manifest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kgqa.graph.meanings import meanings_called, meanings_of_values, meanings_told, says_all
from kgqa.types import Edges, Ints

SEEN = 100_000
"""Facts that are looked at, at equal distances."""
VALUES = 50
"""Of one relation."""


def described(
    manifest: dict[str, Any], edges: Callable[[], Edges], names: Callable[[Ints], Sequence[str]]
) -> dict[str, Any]:
    """A manifest with what each relation means and whether the graph is complete; what it says already stays.

    `declared` in it is what the sources say of this: `means` and `wider` relations by name, and `complete`.

    Raises:
        InputError: it says that a relation means what no relation can mean.
    """
    rows = manifest["relations"]
    if "complete" in manifest and all("means" in row for row in rows):
        return manifest
    declared, facts = manifest.get("declared", {}), edges()
    step = max(1, len(facts.head) // SEEN)
    relation, tail = facts.relation[::step], facts.tail[::step]
    order = np.argsort(relation, kind="stable")
    starts = np.searchsorted(relation[order], np.arange(len(rows) + 1))
    made = []
    for number, row in enumerate(rows):
        if "means" in row:
            made.append(row)
            continue
        own = declared.get("means", {}).get(row["name"])
        if own is not None:
            found, unit = meanings_called(own), ""
        else:
            wider = declared.get("wider", {}).get(row["name"], "")
            told = meanings_told(row["name"], row["label"], row["words"], wider)
            seen = tail[order[starts[number] : starts[number + 1]][:VALUES]]
            found, unit = meanings_of_values(told, row["label"], names(seen))
        made.append(row | {"means": sorted(found), "unit": unit})
    weight = facts.weight[::step]
    complete = declared.get("complete")
    if complete is None:
        weighed = bool(len(weight)) and bool((weight != weight[0]).any())
        complete = says_all([(row["name"], row["count"]) for row in rows], weighed)
    return {"complete": complete, **manifest, "relations": made}

"""One bit of what is on disk is another: a graph's folder, the index of its facts, the encoder they are found by.

Good is one line that says so, or that everything is told as before, as where the bit stands in a file that nobody
reads. Anything else told in silence is a fault.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from reliability import ENCODER, SyntheticGraph, Try, tiny_encoder

ASKED = ("Who works in the hospital?", "Kim", "a nurse", "ward 3")
KINDS = ("flipped bit of a store", "flipped bit of an index", "flipped bit of a fact encoder")


class FlippedBits:
    """Whole things on disk, what they say, and a bit of them flipped."""

    def __init__(self, world: SyntheticGraph) -> None:
        from kgqa.graph.storage.store import GraphStore
        from kgqa.models.dense_retrieval import FactEncoder, make_index

        self.encoder, self.store = tiny_fact_encoder(world.folder / "facts"), world.store
        self.index = world.folder / "index" / "facts.faiss"
        self.graph, reads = GraphStore.open(self.store), FactEncoder.load(self.encoder)
        self.queries = reads.encode(ASKED)
        make_index(self.graph, reads).save(self.index)
        self.info = {
            self.store: self._of_store(self.store),
            self.index.parent: self._of_index(self.index.parent),
            self.encoder: self._of_encoder(self.encoder),
        }

    def tries(self) -> dict[str, Try]:
        """Each kind of thing, by name."""
        places = (
            (self.store, self._of_store),
            (self.index.parent, self._of_index),
            (self.encoder, self._of_encoder),
        )
        return {name: self._flip(*place) for name, place in zip(KINDS, places, strict=True)}

    def _flip(self, whole: Path, say: Any) -> Try:
        def attempt(draw: Random, folder: Path) -> None:
            copy = folder / "copy"
            shutil.copytree(whole, copy, copy_function=os.link)
            path = draw.choice(sorted(path for path in copy.iterdir() if path.stat().st_size))
            content = bytearray(path.read_bytes())
            bit = draw.randrange(8 * len(content))
            content[bit // 8] ^= 1 << bit % 8
            path.unlink()  # the link, not the whole file
            path.write_bytes(content)
            if say(copy) != self.info[whole]:
                raise RuntimeError(f"bit {bit} of {path.name} is told in silence")

        return attempt

    def _of_store(self, folder: Path) -> str:
        """Everything that a graph says."""
        from kgqa.graph.storage.store import GraphStore

        graph = GraphStore.open(folder)
        everyone = np.arange(graph.entity_count, dtype=np.int32)
        names, labels, edges = graph.names(everyone), graph.labels(everyone), graph.neighbours(everyone)
        found = [ids.tolist() for ids in graph.find([*labels, *ASKED])]
        found += [
            ids.tolist() for ids in graph.find_parts([word for label in labels for word in label.split()])
        ]
        more = [graph.all_labels(entity) for entity in everyone.tolist()]
        columns = [part.tolist() for part in edges]
        return repr((graph.relations, names, labels, more, columns, found, graph.provenance(edges)))

    def _of_index(self, folder: Path) -> str:
        from kgqa.graph.retrieval.dense import FactIndex

        return repr(FactIndex.load(folder / self.index.name, self.graph.edge_count).search(self.queries, 20))

    def _of_encoder(self, folder: Path) -> str:
        from kgqa.models.dense_retrieval import FactEncoder

        return repr(FactEncoder.load(folder).encode(ASKED).tolist())


def tiny_fact_encoder(folder: Path) -> Path:
    """An encoder of random weights with the checksums of its files."""
    from kgqa.models.pretrained import FACT_ENCODER_CARD, copy_tokenizer, write_card

    tiny_encoder().save_pretrained(folder)
    copy_tokenizer(ENCODER, folder)
    write_card(folder, {}, FACT_ENCODER_CARD)
    return folder

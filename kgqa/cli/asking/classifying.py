"""`kgqa predict` with a classifier."""

from __future__ import annotations

import json
import os
from pathlib import Path


def classify_file(source: Path, target: Path, folder: Path, batch: int, device: str = "auto") -> None:
    """Label the rows of a JSON-lines file: each comes back with what was decided beside it, in the same order.

    Raises:
        InputError: a row cannot be used, or the folder holds no classifier.
    """
    from kgqa.models.classifiers import Classifier
    from kgqa.text.datasets.labelled import as_labelled
    from kgqa.text.files import rows_of

    classifier = Classifier(folder, device)
    given = [
        (row, as_labelled(classifier.kind, row, f"{source}:{number}")) for number, row in rows_of(source)
    ]
    part = target.with_name(target.name + ".part")
    with part.open("w", encoding="utf-8") as out:
        for at in range(0, len(given), batch):
            chosen = given[at : at + batch]
            for (row, _), told in zip(chosen, classifier([read for _, read in chosen]), strict=True):
                kept = {name: value for name, value in row.items() if name not in told}
                out.write(json.dumps({**kept, **told}, ensure_ascii=False) + "\n")
    os.replace(part, target)

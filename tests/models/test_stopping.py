from pathlib import Path

import pytest

from kgqa.models.collation.rereading import CandidateRow
from kgqa.models.opening import open_reader
from kgqa.models.stopping import Stopped
from kgqa.types import Question, Subgraph


def test_a_reading_ends_soon_after_its_time(model_folder: Path, digging: Subgraph) -> None:
    reader = open_reader(model_folder)
    rows = [CandidateRow(Question("What did I dig with?", ("trowel",)), digging)]
    for allowed in (0, 1):  # before the first layer, and between two
        checks = iter([False] * allowed + [True] * 9)
        with pytest.raises(Stopped), reader.stopping.until(lambda checks=checks: next(checks)):
            reader.score(rows)
    with reader.stopping.until(lambda: True), pytest.raises(Stopped):
        reader.stopping.check()
    assert len(reader.score(rows)) == 1

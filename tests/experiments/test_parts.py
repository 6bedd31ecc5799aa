from pathlib import Path

from kgqa.qa.answerer import Answerer
from kgqa.types import Example, Passage, Question
from training.experiments.parts import WAYS, calibration, measured


def test_each_way_is_measured(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    asked = Question("What did I dig with?", (), Passage("I want to plant flowers."))
    found = measured(answerer, [Example(asked, concepts=("trowel",)), Example(asked)])
    assert found["count"] == 2 and {row["way"] for row in found["shares"]} == set(WAYS)
    assert all(0 <= row["right"] <= 1 for row in found["shares"]) and found["sure"]


def test_confidences_are_grouped() -> None:
    found = calibration([0.1, 0.2, 0.9, 1.0], [False, False, True, True], bins=2)
    assert (
        found == [{"confidence": 0.15, "right": 0.0}, {"confidence": 0.95, "right": 1.0}]
        and calibration([], []) == []
    )

from pathlib import Path

import pytest

from apps.tour import tour
from kgqa.qa.answerer import Answerer
from kgqa.types import InputError, NodeRole, Passage, Question


def test_the_steps_of_a_question(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    steps = tour(answerer, Question("What did I dig with?", (), Passage("I want to plant flowers.")))
    assert (NodeRole.PASSAGE, "plant flowers", ("plant flowers",)) in steps.linked
    assert steps.concepts >= 2 and steps.facts >= 1 and steps.pieces[0] == "[CLS]" and steps.hidden_size == 32
    assert sum(value for _, value in steps.scored) <= 1.0001 and sum(p for _, p in steps.sources) <= 1.0001
    assert [name for name, _ in steps.sources][:3] == ["passage", "knowledge", "none"]
    assert steps.answer.text is not None or steps.answer.source.value == "none"
    with pytest.raises(InputError):
        tour(answerer, Question(" "))

"""The table of numbers that depend on a reader: in its card, and nowhere else."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import kgqa
from kgqa.qa.decide import RETIRED, DecisionConfig
from kgqa.renamed import current_keys
from kgqa.settings import MODELS
from kgqa.types import Candidate, InputError, Source

SPADE = Candidate("spade", Source.KNOWLEDGE, 0.9, concept="x:spade")
PACKAGE = Path(kgqa.__file__).parent
ELSEWHERE = {"decision_config.py"}
"""The table itself."""


def test_confidence_is_as_the_card_says() -> None:
    decision = DecisionConfig.of_card({"decision": {"calibration": {"knowledge": [1.0, -1.0]}}})
    assert decision.confidence(SPADE) < 0.9
    assert (
        decision.no_answer_threshold is None
        and DecisionConfig(no_answer_threshold=0.4).no_answer_threshold == 0.4
    )
    assert DecisionConfig.of_card({}).confidence(SPADE) == pytest.approx(0.9)


@pytest.mark.parametrize(
    "table",
    [{"calibration": ["knowledge"]}, {"followed": {"shared": 1.0}}, {"no_answer_threshold": "much"}],
)
def test_another_form_is_refused_in_one_line(table: dict[str, object]) -> None:
    with pytest.raises(
        InputError, match=r"the reader's card: decision (calibration|followed|no_answer_threshold)"
    ):
        DecisionConfig.of_card({"decision": table})


def test_what_an_older_card_still_names_is_dropped() -> None:
    assert (
        DecisionConfig.of_card({"decision": {name: {"shared": 1.0} for name in RETIRED}}) == DecisionConfig()
    )


def test_a_table_is_written_and_read_as_it_is() -> None:
    decision = DecisionConfig(no_answer_threshold=0.4, calibration={"none": (1.0, 0.5)})
    reported = json.loads(json.dumps(decision.model_dump(mode="json")))
    assert DecisionConfig.of_card({"decision": reported}) == decision


def test_the_shipped_readers_are_fitted() -> None:
    for card in MODELS.glob("*/reader.json"):
        table = current_keys(json.loads(card.read_text(encoding="utf-8")))
        assert {"knowledge", "passage", "none"} <= DecisionConfig.of_card(table).calibration.keys(), card


def test_no_number_of_several_digits_stands_in_the_floor_of_answers() -> None:
    """A number with two decimals was fitted to something."""
    for path in (PACKAGE / "qa").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value > 1e-3:
                figures = f"{node.value:g}".replace("0.", "").replace(".", "").strip("0")
                fine = len(figures) < 2 or path.name in ELSEWHERE
                assert fine, f"{path.name}:{node.lineno}: {node.value} belongs into the reader's card"

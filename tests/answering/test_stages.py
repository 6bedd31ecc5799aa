"""The list of stages: each has what it requires, a new one is added from outside, and nothing climbs."""

from pathlib import Path

import pytest

from kgqa.answering.answerer import Answerer
from kgqa.answering.draft import Draft
from kgqa.types import Passage, Question

QUESTION = Question("What did I dig with?", passage=Passage("I want to plant flowers so I dug the ground."))


@pytest.fixture
def answerer(model_folder: Path, tools_file: Path) -> Answerer:
    return Answerer.load(str(model_folder), str(tools_file))


def test_each_stage_requires_what_those_before_it_provide(answerer: Answerer) -> None:
    fields = set(Draft.__slots__)
    known = {"question"}
    for stage in answerer.stages:
        assert set(stage.requires.split()) <= known, stage.name
        known |= set(stage.provides.split())
        assert known <= fields

"""The gallery's questions have the answers that a visitor expects, from the shipped reader."""

import pytest

from apps.examples import EXAMPLES, GALLERY, SAMPLES
from apps.texts import TEXTS
from kgqa.answerer import Answerer
from kgqa.assets import DEFAULT_READER, GRAPHS, MODELS
from kgqa.types import Passage, Question

EXPECTED = {
    "plant flowers": {"trowel", "spade"},
    "build a house": {"excavator"},
    "clean the carpet": {"vacuum cleaner"},
    "hang a picture": {"hammer"},
    "tighten a screw": {"screwdriver"},
    "a sore tooth": {"dentist"},
    "a leaking pipe": {"plumber"},
    "borrow a book": {"library"},
    "in the passage": {"wooden spoon", "a wooden spoon", "with a wooden spoon"},
    "among choices": {"telescope"},
    "said nowhere": {None},
}


def asked(values: tuple[str, str, str]) -> Question:
    passage, question, choices = values
    return Question(question, tuple(choices.split()), Passage(passage))


def test_rows_have_their_words() -> None:
    assert set(GALLERY) <= set(TEXTS) and list(EXPECTED) == list(EXAMPLES)
    assert {path.stem for path in (GRAPHS / "examples").glob("*.ttl")} == set(SAMPLES)


@pytest.fixture(scope="module")
def answerer() -> Answerer:
    if not (MODELS / DEFAULT_READER).exists():
        pytest.skip("no shipped reader here: train one with training/recipes/answer/kgqa-base.toml")
    return Answerer.load()


@pytest.mark.parametrize("name", EXPECTED)
def test_the_shipped_reader_answers_the_gallery(answerer: Answerer, name: str) -> None:
    assert answerer.answer(asked(EXAMPLES[name])).text in EXPECTED[name]


def test_a_graph_of_ones_own_is_answered_from(answerer: Answerer) -> None:
    from apps.views.own import uploaded

    path = GRAPHS / "examples" / "beekeeping.ttl"
    graph, _ = uploaded(path.name, path.read_bytes())
    assert answerer.with_graph(graph).answer(asked(SAMPLES["beekeeping"])).text == "smoker"

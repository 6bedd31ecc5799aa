from pathlib import Path

import pytest
import torch

from kgqa.models.language_model import (
    Prompter,
    answer_text,
    asking,
    first_line,
    load_prompter,
)
from kgqa.types import Example, InputError, Passage, Question, Source

ASKED = "what did i dig with?"
HOLE, HOUSE = "i dig a hole .", "i build a house ."
SHOWN = Example(Question("where ?", (), Passage("bees in the hive .")), concepts=("garden",))


@pytest.fixture
def prompter(gpt_folder: Path) -> Prompter:
    return load_prompter(gpt_folder, device="cpu")


def test_a_prompt_ends_where_the_answer_begins() -> None:
    assert asking(Question("Why?", (), Passage("It rained."))) == "It rained.\nQ: Why?\nA:"
    assert answer_text(SHOWN) == "garden" and answer_text(Example(Question("who ?"))) == "unknown"
    assert first_line(' "A trowel."\nQ: and then') == "A trowel" and first_line("bees q: where") == "bees"


def test_open_answers_are_decoded_greedily(prompter: Prompter) -> None:
    for passage, answer in ((HOLE, "trowel"), (HOUSE, "excavator")):
        found = prompter.answer(Question(ASKED, (), Passage(passage)))
        assert found.text == answer and found.source is Source.KNOWLEDGE and found.confidence > 0.5
    assert prompter.generate("i dig a", 2).startswith("hole")
    drawn = [prompter.generate("i dig a", 4, temperature=1.0, seed=1) for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_choices_are_told_by_likelihood(gpt_folder: Path) -> None:
    for choice_score in ("token", "sum", "unconditional"):
        found = load_prompter(gpt_folder, device="cpu", choice_score=choice_score).answer(
            Question(ASKED, ("shovel", "excavator", "trowel"), Passage(HOUSE))
        )
        assert found.text == "excavator" and found.source is Source.CHOICE, choice_score
        assert sum(candidate.score for candidate in found.candidates) == pytest.approx(1)


def test_examples_stand_before_the_question_and_give_way(prompter: Prompter) -> None:
    question = Question(ASKED, (), Passage(HOLE))
    bare = prompter.prompt(question, 60)
    few = Prompter(prompter.language, [SHOWN] * 2)
    assert bare[0] == prompter.language.special_tokens.start
    assert few.prompt(question, 60)[-len(bare) + 1 :] == bare[1:]
    assert len(few.prompt(question, 60)) > len(few.prompt(question, len(bare) + 20)) > len(bare)
    assert few.prompt(question, len(bare)) == bare
    assert len(few.prompt(question, 8)) == 8


def test_a_long_passage_loses_its_beginning(prompter: Prompter) -> None:
    found = prompter.answer(Question(ASKED, (), Passage("bees . " * 100 + HOLE)))
    assert found.candidates and prompter.max_tokens == 64


def test_masked_models_cannot_be_prompted(prompter: Prompter) -> None:
    from dataclasses import replace

    with pytest.raises(InputError, match="use a causal one"):
        Prompter(replace(prompter.language, causal=False))


def test_likelihoods_are_those_of_one_pass(prompter: Prompter) -> None:
    prompt, ending = [2, 7, 8], [9, 10]
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        logits = prompter.language.model(input_ids=torch.tensor([prompt + ending])).logits[0].float()
    expected = -logits.log_softmax(-1)[[2, 3], ending]
    assert torch.allclose(prompter.language.losses_after(prompt, [ending])[0], expected, atol=0.05)

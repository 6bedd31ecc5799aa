"""A causal language model that has learnt two questions, and its folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from support.tiny import fit, language_model

from kgqa.models.encoders.variants import save_model
from kgqa.models.language_model import (
    LabelRelevance,
    Prompter,
    answer_text,
    first_generated_line,
    is_causal,
    language_model_fingerprint,
    load_language_model,
    load_prompter,
    open_relevance,
    prompt_of,
)
from kgqa.models.pretrained import copy_tokenizer
from kgqa.types import Example, InputError, Passage, Question, Source

QUESTIONS = {"i dig a hole .": "trowel", "i build a house .": "excavator"}


@pytest.fixture(scope="session")
def gpt_folder(tokenizer, tokenizer_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:  # type: ignore[no-untyped-def]
    """A GPT-2 of one layer, trained for seconds on two passages with their answers."""
    torch.manual_seed(0)
    model, _ = language_model("gpt2", tokenizer.get_vocab_size(), max_position_embeddings=64)
    rows = [
        [
            2,
            *tokenizer.encode(
                f"{reported}\nQ: what did i dig with?\nA: {answer}", add_special_tokens=False
            ).ids,
            3,
        ]
        for reported, answer in QUESTIONS.items()
    ]
    assert len({len(row) for row in rows}) == 1
    ids = torch.tensor(rows)
    fit(lambda: model(input_ids=ids, labels=ids).loss, model.parameters(), 200, 5e-3)
    folder = tmp_path_factory.mktemp("gpt")
    save_model(model.eval(), folder)
    copy_tokenizer(tokenizer_folder, folder)
    return folder


def test_what_a_configuration_reads_like() -> None:
    assert is_causal("gpt2", ()) and is_causal("llama", ["LlamaForCausalLM"])
    assert is_causal("openai-gpt", ["OpenAIGPTLMHeadModel"])
    assert not is_causal("bert", ["BertForMaskedLM"]) and not is_causal("xlnet", ["XLNetLMHeadModel"])


def test_a_causal_model_is_judged_by_what_stands_before(
    tokenizer, tokenizer_folder: Path, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    save_model(language_model("gpt1", tokenizer.get_vocab_size())[0], tmp_path)
    copy_tokenizer(tokenizer_folder, tmp_path)
    model = load_language_model(tmp_path, device="cpu")
    assert model is not None and model.causal and model.device.type == "cpu"
    row = [2, 7, 8, 9]
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        logits = model.model(input_ids=torch.tensor([row])).logits[0].float()
    found = model.losses([row], [([8, 9], torch.tensor([2, 3]))])
    assert torch.allclose(found, -logits.log_softmax(-1)[[1, 2], [8, 9]], atol=0.05)


ASKED = "what did i dig with?"
HOLE, HOUSE = "i dig a hole .", "i build a house ."
SHOWN = Example(Question("where ?", (), Passage("bees in the hive .")), concepts=("garden",))


@pytest.fixture
def prompter(gpt_folder: Path) -> Prompter:
    return load_prompter(gpt_folder, device="cpu")


def test_a_prompt_ends_where_the_answer_begins() -> None:
    assert prompt_of(Question("Why?", (), Passage("It rained."))) == "It rained.\nQ: Why?\nA:"
    assert answer_text(SHOWN) == "garden" and answer_text(Example(Question("who ?"))) == "unknown"
    assert (
        first_generated_line(' "A trowel."\nQ: and then') == "A trowel"
        and first_generated_line("bees q: where") == "bees"
    )


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


LABELS = ["trowel", "excavator", "plant flowers", "bee"]


@pytest.fixture
def masked(tokenizer, tokenizer_folder: Path, tmp_path: Path) -> Path:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    save_model(language_model("bert", tokenizer.get_vocab_size())[0], tmp_path / "bert")
    copy_tokenizer(tokenizer_folder, tmp_path / "bert")
    return tmp_path / "bert"


def test_a_masked_model_guesses_the_words_in_the_texts_place(masked: Path) -> None:
    judge = open_relevance(str(masked))
    assert judge is not None
    language = judge.language
    found = judge("i dig a hole", LABELS)
    encode = language.tokenizer.encode
    reported = [2, *encode("i dig a hole", add_special_tokens=False).ids]
    for label, value in zip(LABELS, found, strict=True):
        ids = encode(label, add_special_tokens=False).ids
        row = torch.tensor([[*reported, *[4] * len(ids), 3]])
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            logits = language.model(input_ids=row).logits[0, len(reported) : len(reported) + len(ids)].float()
        expected = logits.log_softmax(-1)[range(len(ids)), ids].mean()
        assert value == pytest.approx(float(expected), abs=0.05)


def test_a_causal_model_reads_text_and_label(gpt_folder: Path) -> None:
    judge = LabelRelevance(load_prompter(gpt_folder, device="cpu").language)
    text = "i build a house . Q: what did i dig with? A:"
    found = judge(text, LABELS)
    assert LABELS[int(np.argmax(found))] == "excavator" and (found <= 0).all()
    assert judge("hole " * 300, [""]).shape == (1,)


def test_the_hook_of_retrieval_hears_it(masked: Path, tools_file: Path) -> None:
    from kgqa.graph.linking.fuzzy import fuzzy_linker
    from kgqa.graph.load import open_graph
    from kgqa.graph.retrieval.subgraph import retrieve_subgraphs
    from kgqa.types import Question

    graph = open_graph(str(tools_file))
    asked: list[int] = []

    def judge(text: str, labels):  # type: ignore[no-untyped-def]
        asked.append(len(labels))
        return LabelRelevance(open_relevance(str(masked)).language)(text, labels)  # type: ignore[union-attr]

    plain = retrieve_subgraphs(Question("I plant flowers"), graph, fuzzy_linker(graph), max_nodes=8)[0]
    judged = retrieve_subgraphs(
        Question("I plant flowers"), graph, fuzzy_linker(graph), max_nodes=8, relevance=judge
    )[0]
    assert asked and set(judged.nodes) and plain.scores.tolist() != judged.scores.tolist()


def test_who_judges_is_told_and_must_be_one(
    masked: Path, encoder, tokenizer_folder: Path, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    assert open_relevance("") is None and len(language_model_fingerprint(str(masked))) == 16
    encoder.save_pretrained(tmp_path / "body")
    copy_tokenizer(tokenizer_folder, tmp_path / "body")
    with pytest.raises(InputError, match="no language model"):
        open_relevance(str(tmp_path / "body"))

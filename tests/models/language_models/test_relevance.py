from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa.models.encoders.variants import EncoderSettings, build_language_model, save_model
from kgqa.models.language_model import (
    LabelRelevance,
    fingerprint,
    load_prompter,
    open_relevance,
)
from kgqa.types import InputError

LABELS = ["trowel", "excavator", "plant flowers", "bee"]


@pytest.fixture
def masked(tokenizer, tokenizer_folder: Path, tmp_path: Path) -> Path:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    settings = EncoderSettings(variant="bert", max_position_embeddings=64, **sizes)  # type: ignore[arg-type]
    save_model(build_language_model(settings, tokenizer.get_vocab_size()), tmp_path / "bert")
    (tmp_path / "bert" / "tokenizer.json").write_bytes((tokenizer_folder / "tokenizer.json").read_bytes())
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
    from kgqa.graph.retrieval.subgraph import retrieve
    from kgqa.types import Question

    graph = open_graph(str(tools_file))
    asked: list[int] = []

    def judge(text: str, labels):  # type: ignore[no-untyped-def]
        asked.append(len(labels))
        return LabelRelevance(open_relevance(str(masked)).language)(text, labels)  # type: ignore[union-attr]

    plain = retrieve(Question("I plant flowers"), graph, fuzzy_linker(graph), max_nodes=8)[0]
    judged = retrieve(Question("I plant flowers"), graph, fuzzy_linker(graph), max_nodes=8, relevance=judge)[
        0
    ]
    assert asked and set(judged.nodes) and plain.scores.tolist() != judged.scores.tolist()


def test_who_judges_is_told_and_must_be_one(
    masked: Path, encoder, tokenizer_folder: Path, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    assert open_relevance("") is None and len(fingerprint(str(masked))) == 16
    encoder.save_pretrained(tmp_path / "body")
    (tmp_path / "body" / "tokenizer.json").write_bytes((tokenizer_folder / "tokenizer.json").read_bytes())
    with pytest.raises(InputError, match="no language model"):
        open_relevance(str(tmp_path / "body"))

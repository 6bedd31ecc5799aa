"""A causal language model that has learnt two questions, and its folder."""

from pathlib import Path

import pytest
import torch

QUESTIONS = {"i dig a hole .": "trowel", "i build a house .": "excavator"}


@pytest.fixture(scope="session")
def gpt_folder(tokenizer, tokenizer_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:  # type: ignore[no-untyped-def]
    """A GPT-2 of one layer, trained for seconds on two passages with their answers."""
    from torch.nn.functional import cross_entropy

    from kgqa.models.encoders.variants import EncoderSettings, build_language_model, save_model

    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    settings = EncoderSettings(variant="gpt2", max_position_embeddings=64, **sizes)  # type: ignore[arg-type]
    model = build_language_model(settings, tokenizer.get_vocab_size())
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
    optimizer = torch.optim.AdamW(model.parameters(), 5e-3)
    for _ in range(200):
        logits = model(input_ids=ids).logits
        loss = cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    folder = tmp_path_factory.mktemp("gpt")
    save_model(model.eval(), folder)
    (folder / "tokenizer.json").write_bytes((tokenizer_folder / "tokenizer.json").read_bytes())
    return folder

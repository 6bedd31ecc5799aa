import pytest
import torch
import transformers

from kgqa.batch import TokenBatch
from kgqa.models.encoders.stepping import Stepper

SIZES = {
    "vocab_size": 100,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 64,
}
EXTRA: dict[str, dict[str, object]] = {
    "mobilebert": {"embedding_size": 16, "intra_bottleneck_size": 16},
    "deberta-v2": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 16},
    "modernbert": {f"{name}_token_id": i for i, name in enumerate(("pad", "bos", "eos", "cls", "sep"))},
    "gpt2": {"bos_token_id": 1, "eos_token_id": 2},
    "openai-gpt": {"bos_token_id": 1, "eos_token_id": 2},
}
FAMILIES = ["bert", "roberta", "electra", "albert", "distilbert", "mobilebert", "deberta-v2", "modernbert"]


@pytest.mark.parametrize("family", [*FAMILIES, "xlnet", "gpt2", "openai-gpt"])
def test_walking_equals_running_and_can_change_a_layer(family: str) -> None:
    torch.manual_seed(0)
    sizes = {**SIZES, **EXTRA.get(family, {})}
    if family == "xlnet":
        sizes = {"vocab_size": 100, "d_model": 32, "n_layer": 3, "n_head": 2, "d_inner": 64}
    config = transformers.AutoConfig.for_model(family, **sizes)
    stepper = Stepper(transformers.AutoModel.from_config(config).eval())
    mask = torch.ones(2, 7, dtype=torch.bool)
    mask[1, 5:] = False
    tokens = TokenBatch(torch.randint(5, 100, (2, 7)), mask, torch.zeros(2, 7, dtype=torch.long))
    seen: list[int] = []

    def look(layer: int, hidden: torch.Tensor) -> torch.Tensor:
        seen.append(layer)
        return hidden

    with torch.no_grad():
        plain = stepper.walk(tokens)
        walked = stepper.walk(tokens, look)
        noise = torch.randn(1, 1, 32)
        changed = stepper.walk(tokens, lambda layer, hidden: hidden + noise if layer == 1 else hidden)
    assert torch.equal(plain, walked) and seen == [0, 1, 2]
    assert not torch.allclose(plain, changed)
    expected = [6, 4] if stepper.causal else [0, 0]
    assert stepper.summary_position(tokens).tolist() == expected
    assert stepper.summary(plain, tokens).shape == (2, 32)


def test_rows_are_as_long_as_the_position_table_allows() -> None:
    sizes = {**SIZES, "max_position_embeddings": 20}
    for family, longest in (("bert", 20), ("roberta", 18), ("xlnet", 512)):
        config = transformers.AutoConfig.for_model(family, **({} if family == "xlnet" else sizes))
        if family == "xlnet":
            config = transformers.XLNetConfig(vocab_size=100, d_model=32, n_layer=1, n_head=2, d_inner=64)
        encoder = transformers.AutoModel.from_config(config).eval()
        stepper = Stepper(encoder)
        assert stepper.max_tokens == longest
        rows = torch.randint(5, 100, (1, stepper.max_tokens))
        tokens = TokenBatch(rows, torch.ones_like(rows, dtype=torch.bool), torch.zeros_like(rows))
        assert stepper.walk(tokens).shape == (1, longest, 32)

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


@pytest.mark.parametrize("family", [*FAMILIES, "gpt2", "openai-gpt"])
def test_walking_equals_running_and_can_change_a_layer(family: str) -> None:
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(family, **SIZES, **EXTRA.get(family, {}))
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

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


@pytest.mark.parametrize("family", [*FAMILIES, "mpnet", "xlnet", "gpt2", "openai-gpt"])
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
    for family, longest in (("bert", 20), ("roberta", 18), ("mpnet", 18), ("xlnet", 512)):
        config = transformers.AutoConfig.for_model(family, **({} if family == "xlnet" else sizes))
        if family == "xlnet":
            config = transformers.XLNetConfig(vocab_size=100, d_model=32, n_layer=1, n_head=2, d_inner=64)
        encoder = transformers.AutoModel.from_config(config).eval()
        stepper = Stepper(encoder)
        assert stepper.max_tokens == longest
        rows = torch.randint(5, 100, (1, stepper.max_tokens))
        tokens = TokenBatch(rows, torch.ones_like(rows, dtype=torch.bool), torch.zeros_like(rows))
        assert stepper.walk(tokens).shape == (1, longest, 32)


def branched(second: int) -> TokenBatch:
    """A trunk of four tokens with branches of two and of three; `second` is a token of the second branch."""
    ids = torch.tensor([[5, 6, 7, 8, 9, 10, 11, second, 12]])
    branch = torch.tensor([[0, 0, 0, 0, 1, 1, 2, 2, 2]])
    position = torch.tensor([[0, 1, 2, 3, 4, 5, 4, 5, 6]])
    zeros = torch.zeros_like(ids)
    return TokenBatch(ids, torch.ones_like(ids, dtype=torch.bool), zeros, branch=branch, position=position)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("family", ["bert", "electra", "mpnet", "roberta"])
def test_a_branch_is_read_as_if_it_stood_alone(family: str, attention: str) -> None:
    if family == "mpnet" and attention == "sdpa":
        pytest.skip("MPNet is written out in transformers")
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(family, **SIZES)
    encoder = transformers.AutoModel.from_config(config, attn_implementation=attention).eval()
    stepper = Stepper(encoder)
    with torch.no_grad():
        whole, other = stepper.walk(branched(20)), stepper.walk(branched(21))
        alone = stepper.walk(plain([5, 6, 7, 8]))
        joined = stepper.walk(plain([5, 6, 7, 8, 9, 10]))
    assert torch.allclose(
        whole[:, :6], other[:, :6], atol=1e-5
    )  # neither trunk nor first branch sees the second
    assert not torch.allclose(whole[:, 6:], other[:, 6:], atol=1e-3)
    assert torch.allclose(whole[:, :4], alone, atol=1e-5)  # the trunk sees no branch
    assert not torch.allclose(joined[:, :4], alone, atol=1e-3)


def test_mpnet_sees_the_same_in_half_precision() -> None:
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model("mpnet", **SIZES)
    stepper = Stepper(transformers.AutoModel.from_config(config, attn_implementation="eager").eval())
    with torch.no_grad():
        whole = stepper.walk(branched(20))
        with torch.autocast("cpu", torch.bfloat16):
            half, other = stepper.walk(branched(20)).float(), stepper.walk(branched(21)).float()
    assert torch.allclose(half, whole, atol=0.1)
    assert torch.equal(half[:, :6], other[:, :6]) and not torch.equal(half[:, 6:], other[:, 6:])


def plain(ids: list[int]) -> TokenBatch:
    row = torch.tensor([ids])
    return TokenBatch(row, torch.ones_like(row, dtype=torch.bool), torch.zeros_like(row))

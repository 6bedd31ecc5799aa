import pytest
import torch
import transformers

from kgqa.batch import TokenBatch
from kgqa.models.encoders.layerwise import LayerwiseEncoder

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
    layerwise = LayerwiseEncoder(transformers.AutoModel.from_config(config).eval())
    mask = torch.ones(2, 7, dtype=torch.bool)
    mask[1, 5:] = False
    tokens = TokenBatch(torch.randint(5, 100, (2, 7)), mask, torch.zeros(2, 7, dtype=torch.long))
    seen: list[int] = []

    def look(layer: int, hidden: torch.Tensor) -> torch.Tensor:
        seen.append(layer)
        return hidden

    with torch.no_grad():
        plain = layerwise.encode(tokens)
        walked = layerwise.encode(tokens, look)
        noise = torch.randn(1, 1, 32)
        changed = layerwise.encode(tokens, lambda layer, hidden: hidden + noise if layer == 1 else hidden)
    assert torch.equal(plain, walked) and seen == [0, 1, 2]
    assert not torch.allclose(plain, changed)
    expected = [6, 4] if layerwise.causal else [0, 0]
    assert layerwise.summary_position(tokens).tolist() == expected
    assert layerwise.summary(plain, tokens).shape == (2, 32)


def test_rows_are_as_long_as_the_position_table_allows() -> None:
    sizes = {**SIZES, "max_position_embeddings": 20}
    for family, longest in (("bert", 20), ("roberta", 18), ("mpnet", 18), ("xlnet", 512)):
        config = transformers.AutoConfig.for_model(family, **({} if family == "xlnet" else sizes))
        if family == "xlnet":
            config = transformers.XLNetConfig(vocab_size=100, d_model=32, n_layer=1, n_head=2, d_inner=64)
        encoder = transformers.AutoModel.from_config(config).eval()
        layerwise = LayerwiseEncoder(encoder)
        assert layerwise.max_tokens == longest
        rows = torch.randint(5, 100, (1, layerwise.max_tokens))
        tokens = TokenBatch(rows, torch.ones_like(rows, dtype=torch.bool), torch.zeros_like(rows))
        assert layerwise.encode(tokens).shape == (1, longest, 32)


NEAR: dict[str, dict[str, object]] = {
    "deberta-v2": {"position_biased_input": False, "share_att_key": True, "norm_rel_ebd": "layer_norm"},
    "modernbert": {"local_attention": 4, "layer_types": ["full_attention", *["sliding_attention"] * 2]},
}
"""As the published ones are."""


def branched(second: int, order: list[int] | None = None) -> TokenBatch:
    """A trunk of four tokens with branches of two and of three; `second` is a token of the second branch."""
    ids = torch.tensor([[5, 6, 7, 8, 9, 10, 11, second, 12]])
    branch = torch.tensor([[0, 0, 0, 0, 1, 1, 2, 2, 2]])
    position = torch.tensor([[0, 1, 2, 3, 4, 5, 4, 5, 6]])
    if order:
        ids, branch, position = ids[:, order], branch[:, order], position[:, order]
    zeros = torch.zeros_like(ids)
    return TokenBatch(
        ids, torch.ones_like(ids, dtype=torch.bool), zeros, candidate_index=branch, position=position
    )


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("family", ["bert", "electra", "mpnet", "roberta", "deberta-v2", "modernbert"])
def test_a_branch_is_read_as_if_it_stood_alone(family: str, attention: str) -> None:
    if family in ("mpnet", "deberta-v2") and attention == "sdpa":
        pytest.skip("written out in transformers")
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(
        family, **{**SIZES, **EXTRA.get(family, {}), **NEAR.get(family, {})}
    )
    encoder = transformers.AutoModel.from_config(config, attn_implementation=attention).eval()
    layerwise = LayerwiseEncoder(encoder)
    with torch.no_grad():
        whole, other = layerwise.encode(branched(20)), layerwise.encode(branched(21))
        alone = layerwise.encode(plain([5, 6, 7, 8]))
        joined = layerwise.encode(plain([5, 6, 7, 8, 9, 10]))
        swapped = layerwise.encode(branched(20, order=[0, 1, 2, 3, 6, 7, 8, 4, 5]))
    # neither trunk nor first branch sees the second
    assert torch.allclose(whole[:, :6], other[:, :6], atol=1e-5)
    assert not torch.allclose(whole[:, 6:], other[:, 6:], atol=1e-3)
    assert torch.allclose(whole[:, :4], alone, atol=1e-5)  # the trunk sees no branch
    assert not torch.allclose(joined[:, :4], alone, atol=1e-3)
    assert torch.allclose(swapped[:, 4:7], whole[:, 6:], atol=1e-5)  # where a branch stands tells nothing


def test_mpnet_sees_the_same_in_half_precision() -> None:
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model("mpnet", **SIZES)
    layerwise = LayerwiseEncoder(
        transformers.AutoModel.from_config(config, attn_implementation="eager").eval()
    )
    with torch.no_grad():
        whole = layerwise.encode(branched(20))
        with torch.autocast("cpu", torch.bfloat16):
            half, other = layerwise.encode(branched(20)).float(), layerwise.encode(branched(21)).float()
    assert torch.allclose(half, whole, atol=0.1)
    assert torch.equal(half[:, :6], other[:, :6]) and not torch.equal(half[:, 6:], other[:, 6:])


def plain(ids: list[int]) -> TokenBatch:
    row = torch.tensor([ids])
    return TokenBatch(row, torch.ones_like(row, dtype=torch.bool), torch.zeros_like(row))


def test_a_branch_behind_a_full_row_stays_on_the_last_position() -> None:
    """Else the position table of an encoder of absolute positions would be read beyond its end."""
    config = transformers.BertConfig(**SIZES, max_position_embeddings=8)
    layerwise = LayerwiseEncoder(transformers.BertModel(config).eval())
    ids, position = torch.randint(5, 100, (1, 10)), torch.arange(10).unsqueeze(0)
    branch = (position >= 7).long()
    ones, zeros = torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids)
    tokens = TokenBatch(ids, ones, zeros, candidate_index=branch, position=position)
    assert layerwise.inputs(tokens)["position_ids"].tolist() == [[0, 1, 2, 3, 4, 5, 6, 7, 7, 7]]
    assert layerwise.encode(tokens).shape == (1, 10, 32)

"""Every reasoner works with every encoder family and every kind of question."""

from __future__ import annotations

import pytest
import torch
import transformers

from kgqa.models.collation.collate import Collator
from kgqa.models.reader import Reader
from kgqa.models.reasoners import REASONERS, ReasonerSettings
from kgqa.types import Example, InputError, Passage, Question, Span, Subgraph

FAMILIES = ["bert", "electra", "albert", "deberta-v2", "modernbert", "mpnet", "xlnet", "gpt2"]
WITH_POSITIONS = {"bert", "electra", "albert", "modernbert"}
"""Families that K-BERT can read, since they take positions; over the others it says that it cannot."""
EXAMPLES = [
    Example(Question("what did i dig with", passage=Passage("plant flowers")), concepts=("trowel",)),
    Example(Question("what is red", passage=Passage("the shovel is red")), spans=(Span(0, 10),)),
    Example(Question("where")),
    Example(Question("what is it", ("bee", "hive")), choice=1),
]


def build(family: str, reasoner: str, vocab_size: int) -> Reader:
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    if family == "xlnet":
        sizes = {"d_model": 32, "n_layer": 2, "n_head": 2, "d_inner": 64}
    config = transformers.AutoConfig.for_model(
        family,
        **sizes,
        vocab_size=vocab_size,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
    )
    encoder = transformers.AutoModel.from_config(config)
    settings = ReasonerSettings(name=reasoner, graph_size=16, num_layers=2, num_heads=2, dropout=0.0)
    return Reader(encoder, settings)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("reasoner", sorted(REASONERS))
def test_trains_and_answers(family: str, reasoner: str, tokenizer, digging) -> None:
    if reasoner == "k-bert" and family not in WITH_POSITIONS:
        with pytest.raises(InputError, match="bidirectional"):
            build(family, reasoner, tokenizer.get_vocab_size())
        return
    reader = build(family, reasoner, tokenizer.get_vocab_size())
    graphs = [[digging], [digging], [Subgraph()], [digging, Subgraph()]]
    collated = Collator(tokenizer)(EXAMPLES, graphs, with_gold=True)
    loss = reader.loss(collated.batch)
    loss.total.backward()
    assert torch.isfinite(loss.total)
    with torch.no_grad():
        scores = reader.eval()(collated.batch)
    assert len(reader.concept.decode(scores.concept, collated)[0]) == 5
    assert reader.span.decode(scores.span, collated)[1]
    assert len(reader.choice.decode(scores.choice, collated)[3]) == 2


@pytest.mark.parametrize("reasoner", sorted(REASONERS))
def test_a_long_batch_is_read_in_parts(
    reasoner: str, tokenizer, digging, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = build("electra", reasoner, tokenizer.get_vocab_size()).eval()
    graphs = [[digging], [digging], [Subgraph()], [digging, Subgraph()]]
    batch = Collator(tokenizer)(EXAMPLES, graphs).batch
    sizes: list[int] = []
    reader.layerwise.encoder.register_forward_pre_hook(
        lambda _m, _a, given: sizes.append(len(given["input_ids"])), with_kwargs=True
    )
    with torch.no_grad():
        whole = reader(batch)
        monkeypatch.setattr("kgqa.models.reader.MAX_TOKENS_PER_PASS", 2 * batch.tokens.input_ids.shape[1])
        sizes.clear()
        parts = reader(batch)
    assert max(sizes) == (5 if reader.reasoner.decodes_paths else 2)
    for name in ("span", "choice", "concept", "answer_type"):
        assert torch.allclose(getattr(whole, name), getattr(parts, name), atol=1e-4)
    if whole.fused.attention is not None:
        assert torch.allclose(whole.fused.attention, parts.fused.attention, atol=1e-4)

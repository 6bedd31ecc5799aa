from dataclasses import replace

import pytest
import torch
from support.tiny import tiny

from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.encoders.variants import build_encoder
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.kbert import KBert
from kgqa.types import Example, Link, NodeRole, Passage, Question, Subgraph

QUESTION = Question("what did i dig with", passage=Passage("he has the trowel"))


def test_branches_hang_on_their_mention(tokenizer, encoder, digging) -> None:
    graph = replace(digging, links=(Link(NodeRole.PASSAGE, 11, 17, 2),))
    reasoner = KBert(LayerwiseEncoder(encoder), ReasonerSettings(name="k-bert"))
    batch = Collator(tokenizer)([Example(QUESTION)], [[graph]]).batch
    width = batch.tokens.input_ids.shape[1]
    ids, positions, visible = reasoner._sentence_tree(batch)
    branch = [tokenizer.id_to_token(i) for i in ids[0, width:].tolist()]
    assert branch == ["is", "used", "for", "plant", "flowers"]
    mention = batch.tokens.input_ids[0].tolist().index(tokenizer.token_to_id("trowel"))
    assert positions[0, width:].tolist() == [mention + i for i in range(1, 6)]
    assert visible[0, mention, width:].all() and not visible[0, 0, width:].any()
    assert visible[0, width, mention] and visible[0, width].sum() == 6


@pytest.mark.parametrize("attention", ["eager", "sdpa", "flash_attention_2"])
def test_branches_are_seen_by_their_mention_alone(attention: str, tokenizer, digging) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    network = build_encoder(tiny("electra", num_hidden_layers=1), tokenizer.get_vocab_size()).eval()
    network.config._attn_implementation = attention
    layerwise = LayerwiseEncoder(network)
    reasoner = KBert(layerwise, ReasonerSettings(name="k-bert")).eval()
    graph = replace(digging, links=(Link(NodeRole.PASSAGE, 11, 17, 2),))
    other = replace(graph, labels=tuple(label.replace("flowers", "bee") for label in graph.labels))
    batches = [Collator(tokenizer)([Example(QUESTION)], [[g]]).batch for g in (graph, other, Subgraph())]
    with torch.no_grad():
        reported, said_otherwise, bare = (reasoner(layerwise, batch).tokens[0] for batch in batches)
    mention = batches[0].tokens.input_ids[0].tolist().index(tokenizer.token_to_id("trowel"))
    others = [place for place in range(len(reported)) if place != mention]
    assert not torch.allclose(reported[mention], said_otherwise[mention])
    assert torch.equal(reported[others], said_otherwise[others])
    assert torch.allclose(reported[others], bare[others], atol=1e-6)


def test_training_reads_as_serving_does(tokenizer, encoder, digging) -> None:  # type: ignore[no-untyped-def]
    graph = replace(digging, links=(Link(NodeRole.PASSAGE, 11, 17, 2),))
    batch = Collator(tokenizer)([Example(QUESTION)], [[graph]]).batch
    reasoner, read = KBert(LayerwiseEncoder(encoder), ReasonerSettings(name="k-bert")).eval(), []
    with torch.no_grad():
        for attention in ("eager", "sdpa"):
            encoder.set_attn_implementation(attention)
            read.append(reasoner(LayerwiseEncoder(encoder), batch).tokens)
    assert torch.allclose(*read, atol=1e-5)


def test_without_facts_it_is_the_plain_encoder(tokenizer, encoder) -> None:
    layerwise = LayerwiseEncoder(encoder)
    reasoner = KBert(layerwise, ReasonerSettings(name="k-bert")).eval()
    batch = Collator(tokenizer)([Example(QUESTION)], [[Subgraph()]]).batch
    with torch.no_grad():
        assert torch.allclose(reasoner(layerwise, batch).tokens, layerwise.encode(batch.tokens), atol=1e-5)


def test_over_roberta_and_at_the_end_of_a_full_row(tokenizer, digging) -> None:  # type: ignore[no-untyped-def]
    network = build_encoder(tiny("roberta", max_position_embeddings=32), tokenizer.get_vocab_size())
    layerwise = LayerwiseEncoder(network.eval())
    assert layerwise.max_tokens == 32
    question = Question("what did i dig with", passage=Passage("red " * 23 + "trowel"))
    graph = replace(digging, links=(Link(NodeRole.PASSAGE, 92, 98, 2),))
    reading = InputConfig(max_tokens=32)
    full, plain = (
        Collator(tokenizer, reading)([Example(question)], [[g]]).batch for g in (graph, Subgraph())
    )
    assert full.tokens.input_ids.shape[1] == 32
    reasoner = KBert(layerwise, ReasonerSettings(name="k-bert")).eval()
    with torch.no_grad():
        reported = reasoner(layerwise, full).tokens
        assert torch.allclose(reasoner(layerwise, plain).tokens, layerwise.encode(plain.tokens), atol=1e-5)
    assert reported.shape == (1, 32, 32) and torch.isfinite(reported).all()


def test_choices_read_in_branches_do_not_see_each_other(tokenizer, encoder, digging) -> None:  # type: ignore[no-untyped-def]
    collate = Collator(tokenizer, InputConfig(packed=True))
    first, other = (
        collate(
            [Example(Question(QUESTION.text, ("the trowel", output), QUESTION.passage), choice=0)], [[g, g]]
        ).batch
        for output, g in (("red flowers", digging), ("the bee", digging))
    )
    layerwise = LayerwiseEncoder(encoder)
    reasoner = KBert(layerwise, ReasonerSettings(name="k-bert")).eval()
    with torch.no_grad():
        reported, otherwise = (reasoner(layerwise, batch).tokens[0] for batch in (first, other))
        bare = replace(first, graph=collate([Example(QUESTION)], [[Subgraph()]]).batch.graph)
        plain = reasoner(layerwise, bare).tokens[0]
        walked = layerwise.encode(first.tokens)[0]
    branch = first.tokens.candidate_index[0]
    assert torch.allclose(reported[branch == 1], otherwise[other.tokens.candidate_index[0] == 1], atol=1e-5)
    assert torch.allclose(plain[: len(branch)], walked, atol=1e-5)

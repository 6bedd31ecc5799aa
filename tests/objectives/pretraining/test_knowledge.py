from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from support.tiny import language_model

from kgqa.models.pretrained import copy_tokenizer
from kgqa.models.reader import Reader, load_reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.objectives.pretraining import knowledge as link_prediction
from kgqa.objectives.pretraining.knowledge import (
    EntityDenoising,
    Joint,
    LinkPrediction,
    corrupt,
    is_fact,
    others,
    without,
)
from kgqa.objectives.pretraining.mlm import MASK_ID


def make(kind: Any, vocab_size: int, reasoner: str = "fused", entity_size: int = 0, **options: object) -> Any:
    """An objective over a tiny ModernBERT and a reasoner."""
    torch.manual_seed(0)
    model, predict = language_model("modernbert", vocab_size)
    sizes = ReasonerSettings(name=reasoner, graph_size=32, num_layers=1, num_heads=2, entity_size=entity_size)
    return kind(model, predict, Reader(model.base_model, sizes), **options)


def test_text_is_hidden_and_the_graph_is_read(grounded, tokenizer) -> None:  # type: ignore[no-untyped-def]
    objective = make(Joint, tokenizer.get_vocab_size(), share=0.3).eval()
    seen = []
    objective.encoder.register_forward_pre_hook(
        lambda _module, _arguments, inputs: seen.append(inputs["input_ids"]), with_kwargs=True
    )
    batch = grounded(0)
    torch.manual_seed(1)
    fused, term = objective.read(batch, batch.graph)
    loss = term.total
    assert term.count == objective.counts(batch)["mlm"] > 0
    assert (seen[0] == MASK_ID).any() and not (batch.tokens.input_ids == MASK_ID).any()
    assert fused.nodes.shape == (len(batch.graph.node_label), 32) and torch.isfinite(loss)
    loss.backward()
    assert all(p.grad is not None for p in objective.model.head.parameters())
    torch.manual_seed(1)
    empty = replace(
        batch.graph, edge_index=batch.graph.edge_index[:, :0], edge_label=batch.graph.edge_label[:0]
    )
    without = replace(empty, edge_weight=batch.graph.edge_weight[:0])
    assert not torch.allclose(objective.read(batch, without)[0].nodes, fused.nodes)


def test_export_is_a_reader_to_go_on_from(
    grounded, tokenizer, tokenizer_folder: Path, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    from transformers import AutoModel

    def save(folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        copy_tokenizer(tokenizer_folder, folder)

    objective = make(Joint, tokenizer.get_vocab_size(), "ernie", save=save).eval()
    objective.export(tmp_path / "run" / "export")
    reader, card = load_reader(tmp_path / "run" / "export")
    assert reader.settings == objective.reader.settings and card["name"] == "run"
    ids = grounded(0).tokens.input_ids
    ours = objective.encoder(input_ids=ids).last_hidden_state
    loaded = AutoModel.from_pretrained(tmp_path / "run" / "export", dtype=torch.float32).eval()
    theirs = loaded(input_ids=ids).last_hidden_state
    assert torch.allclose(ours, theirs, atol=2e-2), "half precision apart"


def test_another_encoder_is_refused(tokenizer, encoder) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="own encoder"):
        Joint(*language_model("modernbert"), Reader(encoder, ReasonerSettings(name="text-only")))


@pytest.mark.parametrize("variant", ["bert", "roberta", "albert", "tinybert", "mobilebert", "ib-bert"])
def test_exports_of_encoders_without_pooler_can_be_opened(
    variant: str, tokenizer, tokenizer_folder: Path, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    model, predict = language_model(variant, tokenizer.get_vocab_size())
    reader = Reader(model.base_model, ReasonerSettings(name="text-only"))
    Joint(model, predict, reader).export(tmp_path)
    opened, _ = load_reader(tmp_path)
    ids = torch.randint(5, 40, (2, 12))
    ours, theirs = (
        net.encoder.eval()(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        for net in (reader, opened)
    )
    assert torch.allclose(ours, theirs, atol=5e-2), "half precision apart"


def test_held_out_loss_falls(grounded, tokenizer, learn) -> None:  # type: ignore[no-untyped-def]
    objective = make(LinkPrediction, tokenizer.get_vocab_size())
    before, after = learn(objective, steps=40, rate=3e-3, part="link", batch=grounded)
    assert after < before - 0.3
    objective.eval()
    assert float(objective(grounded(10_000)).parts["link_accuracy"]) > 0.8


def test_held_out_facts_are_not_read(grounded, tokenizer) -> None:  # type: ignore[no-untyped-def]
    objective = make(LinkPrediction, tokenizer.get_vocab_size(), held_out=0.5)
    graph = grounded(0).graph
    torch.manual_seed(0)
    held = objective.draw(graph)
    assert 0.3 < float(held.float().mean()) < 0.7
    rest = without(graph, held)
    assert rest.edge_index.shape[1] == int((~held).sum()) == len(rest.edge_label) == len(rest.edge_weight)
    assert make(LinkPrediction, tokenizer.get_vocab_size(), held_out=0.0).draw(graph).sum() == 1, (
        "one at least"
    )


def test_distmult_by_hand(tokenizer) -> None:  # type: ignore[no-untyped-def]
    objective = make(LinkPrediction, tokenizer.get_vocab_size())
    head, relation, tail = torch.randn(3, 5, 32)
    expected = torch.stack([(head[i] @ torch.diag(relation[i]) @ tail[i]) / 32**0.5 for i in range(5)])
    assert torch.allclose(objective.score(head, relation, tail), expected, atol=1e-5)


def test_a_graph_without_facts_leaves_the_text(grounded, tokenizer) -> None:  # type: ignore[no-untyped-def]
    batch = grounded(0)
    bare = without(batch.graph, torch.ones(batch.graph.edge_index.shape[1], dtype=torch.bool))
    loss = make(LinkPrediction, tokenizer.get_vocab_size())(replace(batch, graph=bare))
    assert loss.parts["link"] == 0 and torch.isfinite(loss.total)


def test_a_fact_is_no_wrong_fact(grounded) -> None:  # type: ignore[no-untyped-def]
    graph = grounded(0).graph
    head, tail = graph.edge_index
    assert is_fact(graph, head, graph.edge_label, tail).all()
    assert not is_fact(graph, tail, graph.edge_label, head).any()
    assert not is_fact(graph, head, graph.edge_label + 1, tail).any()
    wide = is_fact(graph, head.unsqueeze(1).expand(-1, 3), graph.edge_label.unsqueeze(1), tail.unsqueeze(1))
    assert wide.shape == (len(head), 3) and wide.all()


def test_true_facts_teach_nothing_as_wrong_ones(grounded, tokenizer, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    objective, batch = make(LinkPrediction, tokenizer.get_vocab_size()), grounded(0)
    monkeypatch.setattr(
        link_prediction,
        "is_fact",
        lambda _graph, head, _r, tail: torch.ones_like(head + tail, dtype=torch.bool),
    )
    torch.manual_seed(0)
    assert float(objective(batch).parts["link_accuracy"]) == 0, (
        "nothing is left to be told from the right one"
    )


def test_wrong_facts_are_made_of_their_own_subgraph(grounded, tokenizer, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    objective = make(LinkPrediction, tokenizer.get_vocab_size())
    batch, seen = grounded(0), []
    plain = objective.read

    def read(*arguments):  # type: ignore[no-untyped-def]
        fused, mlm = plain(*arguments)
        marked = torch.zeros_like(fused.nodes)
        marked[:, 0] = batch.graph.batch + 1.0
        return replace(fused, nodes=marked), mlm

    def score(head, _relation, tail):  # type: ignore[no-untyped-def]
        seen.append((head[..., 0] == tail[..., 0]).all())
        return (head * tail).sum(-1)

    monkeypatch.setattr(objective, "read", read)
    monkeypatch.setattr(objective, "score", score)
    objective(batch)
    assert len(seen) == 2 and all(seen)


def test_no_wrong_fact_is_about_one_node(grounded, tokenizer, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Every other node that is drawn is the fact's own other end: nothing is left to score against."""
    objective, batch = make(LinkPrediction, tokenizer.get_vocab_size(), held_out=0.99).eval(), grounded(0)
    head, tail = batch.graph.edge_index
    far = dict(zip([*head.tolist(), *tail.tolist()], [*tail.tolist(), *head.tolist()], strict=True))
    monkeypatch.setattr(
        link_prediction, "others", lambda _graph, nodes: torch.tensor([far[n] for n in nodes.tolist()])
    )
    assert objective(batch).parts["link_accuracy"] == 0
    monkeypatch.setattr(link_prediction.LinkPrediction, "score", lambda _self, h, _r, _t: h.sum(-1) * 0.0)
    loss = objective(batch)
    assert torch.allclose(loss.parts["link"], torch.tensor(2.0).log(), atol=1e-5), "of the right facts alone"


def test_held_out_loss_of_denoising_falls(grounded, tokenizer, learn) -> None:  # type: ignore[no-untyped-def]
    objective = make(EntityDenoising, tokenizer.get_vocab_size(), "ernie")
    before, after = learn(objective, steps=30, rate=3e-3, part="dea", batch=grounded)
    assert after < before - 0.3
    objective.eval()
    batch = grounded(10_000)
    assert float(objective(batch).parts["entity_accuracy"]) > 0.6, "four candidates: 0.25 by chance"
    nothing = batch.graph.mention_row[:0]
    graph = replace(batch.graph, mention_row=nothing, mention_token=nothing, mention_node=nothing)
    assert torch.isfinite(objective(replace(batch, graph=graph)).total), "text that names nothing"


def test_given_vectors_are_learnt_towards(grounded, tokenizer) -> None:
    objective = make(EntityDenoising, tokenizer.get_vocab_size(), "ernie", entity_size=16)
    batch = grounded(0)
    nodes = len(batch.graph.batch)
    vectors = torch.nn.functional.normalize(torch.randn(nodes, 16), dim=-1)
    batch = replace(batch, graph=replace(batch.graph, node_vector=vectors))
    adam = torch.optim.Adam(objective.parameters(), lr=3e-3)
    output = []
    for step in range(40):
        torch.manual_seed(step)
        adam.zero_grad()
        loss = objective(batch)
        loss.total.backward()
        adam.step()
        output.append(float(loss.parts["entity_accuracy"]))
    assert sum(output[-5:]) > sum(output[:5]) + 1, "each mention finds its concept's vector"
    for name, weight in objective.entities.named_parameters():
        assert weight.grad is None or not weight.grad.any(), f"{name}: labels speak only for unknown concepts"
    with torch.no_grad():
        found = float(objective(batch).parts["dea"])
        other = replace(batch, graph=replace(batch.graph, node_vector=vectors.flip(0)))
        torch.manual_seed(39)
        assert float(objective(other).parts["dea"]) > found


def test_5_15_80(grounded) -> None:  # type: ignore[no-untyped-def]
    kept = wrong = total = 0
    torch.manual_seed(0)
    for seed in range(40):
        graph = grounded(seed).graph
        before = dict(
            zip(
                zip(graph.mention_row.tolist(), graph.mention_token.tolist(), strict=True),
                graph.mention_node.tolist(),
                strict=True,
            )
        )
        changed = corrupt(graph)
        after = zip(changed.mention_row.tolist(), changed.mention_token.tolist(), strict=True)
        for place, node in zip(after, changed.mention_node.tolist(), strict=True):
            kept += before[place] == node
            wrong += before[place] != node
        total += len(before)
        assert (graph.batch[changed.mention_node] == changed.mention_row).all(), "stays in its row"
    assert abs(kept / total - 0.80) < 0.03 and abs(wrong / total - 0.05) < 0.02


def test_a_concept_shares_one_fate(grounded) -> None:  # type: ignore[no-untyped-def]
    graph = grounded(0).graph
    nodes = graph.mention_node.unique()
    twice = replace(
        graph,
        mention_row=graph.mention_row.repeat(2),
        mention_token=torch.cat([graph.mention_token, graph.mention_token + 1]),
        mention_node=graph.mention_node.repeat(2),
    )
    torch.manual_seed(0)  # a wrong concept may by chance be one that is mentioned too
    changed = corrupt(twice)
    gone = set(nodes.tolist()) - set(changed.mention_node.tolist())
    before, after = (
        set(zip(g.mention_row.tolist(), g.mention_token.tolist(), g.mention_node.tolist(), strict=True))
        for g in (twice, changed)
    )
    kept = [node for _, _, node in before & after]
    assert gone and all(kept.count(node) % 2 == 0 for node in nodes.tolist())


def test_another_concept_is_another_and_never_the_context(grounded) -> None:  # type: ignore[no-untyped-def]
    graph = grounded(0).graph
    for _ in range(20):
        drawn = others(graph, graph.mention_node)
        assert (drawn != graph.mention_node).all()
        assert (graph.batch[drawn] == graph.batch[graph.mention_node]).all()
        assert (graph.role[drawn] != 4).all()
    alone = replace(graph, batch=torch.tensor([0, 0]))
    assert others(alone, torch.tensor([1])).tolist() == [1]

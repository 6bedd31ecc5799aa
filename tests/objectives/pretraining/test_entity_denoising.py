from dataclasses import replace

import torch

from kgqa.models.encoders.variants import ENCODERS, EncoderSettings, build_language_model
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.objectives.pretraining.knowledge import EntityDenoising, corrupt, others

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def make(vocab_size: int, entity_size: int = 0) -> EntityDenoising:
    torch.manual_seed(0)
    settings = EncoderSettings(variant="modernbert", max_position_embeddings=64, **SIZES)  # type: ignore[arg-type]
    model = build_language_model(settings, vocab_size)
    sizes = ReasonerSettings(name="ernie", graph_size=32, num_layers=1, num_heads=2, entity_size=entity_size)
    return EntityDenoising(model, ENCODERS["modernbert"].predict, Reader(model.base_model, sizes))  # type: ignore[arg-type]


def test_held_out_loss_falls(grounded, tokenizer, learn) -> None:  # type: ignore[no-untyped-def]
    objective = make(tokenizer.get_vocab_size())
    before, after = learn(objective, steps=30, rate=3e-3, part="dea", batch=grounded)
    assert after < before - 0.3
    objective.eval()
    batch = grounded(10_000)
    assert float(objective(batch).parts["entity_accuracy"]) > 0.6, "four candidates: 0.25 by chance"
    nothing = batch.graph.mention_row[:0]
    graph = replace(batch.graph, mention_row=nothing, mention_token=nothing, mention_node=nothing)
    assert torch.isfinite(objective(replace(batch, graph=graph)).total), "text that names nothing"


def test_given_vectors_are_learnt_towards(grounded, tokenizer) -> None:
    objective = make(tokenizer.get_vocab_size(), entity_size=16)
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
